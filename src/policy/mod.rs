//! From files and agents to decisions: which groups speak to an agent, which rule decides.
//!
//! Owns the meaning of a parsed file for a list of agents. [`PolicyTable::compile`] takes many files
//! at once, because files repeat one another: equal rule sets are compiled once and shared, whatever
//! files and agents they come from. [`PolicyTable::decide`] answers for all agents in one pass over
//! a path, and walks a rule set that several agents share once; [`PolicyTable::decide_block`] does so for
//! many paths, and has their memory accesses wait for one another less. Use [`batch`](crate::batch) for
//! URLs instead of paths and for many of them; use [`explain`] to be told why.
//!
//! Cost: parsing is linear in the file; a rule set costs what [`automaton`](crate::automaton) says,
//! once. Nothing can fail: a file that cannot be used is a [`PolicyState`], never an allowance.
//!
//! ```
//! use portcullis::decision::Verdict;
//! use portcullis::dialect::RFC_9309;
//! use portcullis::policy::{AgentChain, Compilation, PolicySource, PolicyTable};
//!
//! let agents = vec![AgentChain::parse("ExampleBot", &RFC_9309).unwrap()];
//! let file = PolicySource::File(b"User-agent: *\nDisallow: /private\n");
//! let table = PolicyTable::compile(&[file], agents, &Compilation::new(&RFC_9309));
//! let mut memory = table.memory();
//! let decisions = table.decide(0, b"/private/page", &mut memory);
//! assert_eq!(decisions[0].verdict, Verdict::Disallow);
//! assert_eq!(decisions[0].line.unwrap().get(), 2);
//! ```

mod agent;
mod compile;
mod deciding;
mod explain;
mod reach;
mod rules;
mod select;
mod table;

use crate::automaton::Limits;
use crate::decision::{Decision, PolicyState, Reason};
use crate::dialect::{AccessOutcome, Dialect};
use crate::limits::ROBOTS_OCTETS_MAX;

pub use crate::automaton::Detail;
pub use agent::{AgentChain, AgentError};
pub(crate) use deciding::{Block, BlockMemory, Policies, Source};
pub use deciding::{Memory, Ways};
pub use explain::{ExplainedGroup, ExplainedRule, Explanation, Loss, explain};
pub use reach::{reach, reach_of_rules};
pub use rules::{OrderedRules, RuleAnswer, RuleSet, outcomes};
pub use select::{Audience, NamedRobot, Selection, is_name_of, robot_name, robot_named};
pub(crate) use table::Start;
pub use table::{NO_POLICY, NO_URL, PolicyTable, Provenance};

/// What is known of one origin's robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicySource<'t> {
    /// The file.
    File(&'t [u8]),
    /// No file, but what its absence means.
    Access(AccessOutcome),
}

/// How files are compiled.
#[derive(Clone, Copy, Debug)]
pub struct Compilation {
    /// The behaviour.
    pub dialect: &'static Dialect,
    /// Octets of a file that are read; all, if there is no limit.
    pub robots_octets_max: Option<usize>,
    /// What decisions tell apart. Without [`Detail::Rule`] they have no rule and no line.
    pub detail: Detail,
    /// What an automaton may spend.
    pub limits: Limits,
}

impl Compilation {
    /// The usual limits, and rules told apart.
    pub fn new(dialect: &'static Dialect) -> Compilation {
        Compilation {
            dialect,
            robots_octets_max: Some(ROBOTS_OCTETS_MAX),
            detail: Detail::Rule,
            limits: Limits::default(),
        }
    }
}

/// The rule sets of a table, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Policies.
    pub policies: usize,
    /// Distinct rule sets.
    pub rule_sets: usize,
    /// Octets of all rule sets.
    pub rule_set_octets: usize,
    /// Octets of the largest rule set.
    pub largest_rule_set_octets: usize,
}

impl Census {
    /// Counts one rule set of so many bytes.
    fn add(&mut self, bytes: usize) {
        self.rule_sets += 1;
        self.rule_set_octets += bytes;
        self.largest_rule_set_octets = self.largest_rule_set_octets.max(bytes);
    }
}

/// The decision on every URL of an origin whose file could not be read.
fn access_decision(outcome: AccessOutcome) -> Decision {
    let reason = match outcome.state {
        PolicyState::Unavailable => Reason::Unavailable,
        PolicyState::Unreachable => Reason::Unreachable,
        PolicyState::Deferred => Reason::Deferred,
        PolicyState::NoRules => Reason::NoRules,
        PolicyState::Rules | PolicyState::Unknown => return Decision::UNKNOWN,
    };
    Decision::without_rule(outcome.verdict, reason)
}
