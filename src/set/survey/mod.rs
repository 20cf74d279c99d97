//! What is in a compiled set: counted, and the few policies and rule sets that stand out.
//!
//! Owns the figures of `portcullis inspect`. A [`Survey`] goes once over the hosts, the rule sets and
//! the policies of a [`PolicySet`]; [`portraits`] shows the policies of one host. To compare every
//! byte with its checksum use [`PolicySet::verify`], to ask about URLs a
//! [`Classifier`](crate::batch::Classifier).
//!
//! Cost: a few dozen nanoseconds for each host, policy and node of an automaton, and some hundred
//! for each record that decides nothing, on the calling thread's rayon pool. Memory is bounded by
//! the distinct policies, rule sets and lists of records, some fifty bytes each, whatever the
//! number of origins.
//!
//! What can fail: everything that is read, with the [`Damage`] that says where. Nothing is left out
//! of a count in silence; what a set does not tell (whether a rule set that is built on demand
//! disallows everything) is counted as not known.
//!
//! ```no_run
//! use std::path::Path;
//! use portcullis::decision::PolicyState;
//! use portcullis::set::{PolicySet, survey::Survey};
//!
//! let set = PolicySet::open(Path::new("robots.pcs"))?;
//! let survey = Survey::of(&set, 10)?;
//! let standings = &survey.origins.standings;
//! println!("{} of {} have rules", standings.in_state(PolicyState::Rules), standings.origins);
//! for robot in &survey.robots.most_named {
//!     println!("{}: {} policies", robot.name.escape_ascii(), robot.count.policies);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod extremes;
mod origins;
mod policies;
mod portrait;
mod records;
mod robots;
mod rule_sets;
mod sharing;
#[cfg(test)]
mod tests;

use super::PolicySet;
use super::file::Damage;

use origins::Hosts;
use policies::PolicyPass;
use rule_sets::RuleSets;

pub use extremes::largest;
pub use origins::OriginSurvey;
pub use policies::{PolicySurvey, SurveyedPolicy};
pub use portrait::{HostQuery, ListedRecord, Portrait, PortrayedGroup, PortrayedRobot, portraits};
pub use records::{FieldCount, RecordSurvey};
pub use robots::{RobotCount, RobotSurvey, SurveyedRobot};
pub use rule_sets::{
    RuleSetFigures, RuleSetStrategy, RuleSetSurvey, StrategyCount, SurveyedRuleSet,
};
pub use sharing::{Sharing, Tier};

/// What is in a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey<'s> {
    /// The name and the bytes of each section, in the order of the file.
    pub sections: Vec<(String, u64)>,
    /// Bytes of the file that stand in no section: its header, its checksums, and what fills blocks
    /// up.
    pub other_bytes: u64,
    /// Origins, and how their policies came to be known.
    pub origins: OriginSurvey,
    /// Records that decide nothing.
    pub records: RecordSurvey,
    /// The robots that policies speak to.
    pub robots: RobotSurvey<'s>,
    /// Rule sets.
    pub rule_sets: RuleSetSurvey<'s>,
    /// Policies.
    pub policies: PolicySurvey<'s>,
}

impl<'s> Survey<'s> {
    /// Surveys `set`. Lists of what stands out have `top` items at most; of two that are equal the
    /// one that comes first in the file goes first.
    ///
    /// # Errors
    ///
    /// With the first damage.
    pub fn of(set: &'s PolicySet, top: usize) -> Result<Survey<'s>, Damage> {
        let Hosts { origins, uses, others } = Hosts::of(set)?;
        let records = RecordSurvey::of(set, &others, top)?;
        let mut rule_sets = RuleSets::of(set)?;
        let passed = PolicyPass::of(set, uses, &mut rule_sets)?;
        let sections: Vec<(String, u64)> = set.section_bytes().collect();
        let in_sections: u64 = sections.iter().map(|&(_, bytes)| bytes).sum();
        Ok(Survey {
            sections,
            other_bytes: set.bytes().saturating_sub(in_sections),
            origins,
            records,
            robots: passed.robots.finish(top),
            policies: PolicySurvey::new(set, passed.policies, top)?,
            rule_sets: rule_sets.finish(top),
        })
    }
}
