//! What a set holds, computed in one pass over its hosts and one over its policies.

use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::exclusions::Exclusions;
use crate::facts::FactReader;
use crate::origins::{HostPass, NoteFigures, OriginFigures};
use crate::policies::{AgentFigures, PolicyRules, RobotFigures, Sums};
use crate::usage::UsageFigures;

/// What a set holds, independent of any list of URLs.
///
/// A file counts once per host that serves it, even if it applies to both http and https. A host
/// whose files for http and https differ counts once for each file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survey {
    /// The number of hosts.
    pub hosts: u64,
    /// Origins, and the captures of their policies.
    #[serde(flatten)]
    pub origins: OriginFigures,
    /// Problems in files, the most common first. Kinds that do not occur are left out.
    pub problems: Vec<NoteFigures>,
    /// Usage preferences.
    pub usage: UsageFigures,
    /// The robots that files name.
    pub robots: RobotFigures,
    /// What each agent may fetch. Empty if no agent was named.
    #[serde(rename = "per_agent", skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<AgentFigures>,
    /// How many hosts exclude each agent over time, if the set has history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusions: Option<Exclusions>,
}

impl Survey {
    /// Surveys `set`. Lists have at most `top` rows. Runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// The first damage.
    pub fn of(set: &PolicySet, top: usize) -> Result<Survey, Damage> {
        Survey::each_policy(FactReader::new(set, &[])?, (top, top), drop)
    }

    /// Surveys the set of `facts` for its agents, and calls `keep` with the rules of each policy, by
    /// number. Names the `top` robots, and at most `hosts_max` hosts for a problem.
    pub(crate) fn each_policy(
        facts: FactReader<'_>,
        (top, hosts_max): (usize, usize),
        keep: impl FnMut(PolicyRules),
    ) -> Result<Survey, Damage> {
        let HostPass { hosts, origins, problems, uses, agents, times, .. } =
            HostPass::of(&facts, hosts_max)?;
        let mut sums = Sums::of(facts, &uses, times.as_ref(), agents, keep)?;
        let exclusions = sums.exclusions.take();
        let (robots, reach, usage) = sums.figures(top);
        Ok(Survey { hosts, origins, problems, usage, robots, reach, exclusions })
    }
}
