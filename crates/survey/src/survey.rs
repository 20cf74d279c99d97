//! What a set holds, computed in one pass over its hosts and one over its policies.

use std::sync::Arc;

use portcullis_robots::policy::AgentChain;
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::origins::{HostPass, NoteFigures, OriginFigures, OtherRecords};
use crate::policies::{AgentFigures, Depth, Policy, RobotFigures, Sums};
use crate::storage::Storage;
use crate::usage::UsageFigures;

/// What a set holds, independent of any list of URLs.
///
/// A file counts once per host that serves it, even if it applies to both http and https. A host
/// whose files for http and https differ counts once for each file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// The number of hosts.
    pub hosts: u64,
    /// Origins, and the captures of their policies.
    #[serde(flatten)]
    pub origins: OriginFigures,
    /// Problems in files, the most common first. Kinds that do not occur are left out.
    pub problems: Vec<NoteFigures>,
    /// Records that have no effect on decisions, such as sitemaps and crawl-delays.
    pub other_records: OtherRecords,
    /// Usage preferences.
    pub usage: UsageFigures,
    /// The robots that files name.
    pub robots: RobotFigures,
    /// What each agent may fetch. Empty if no agent was named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reach: Vec<AgentFigures>,
}

impl Survey {
    /// Surveys `set` and how it stores its rules. Lists have at most `top` rows. Runs on the
    /// calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// The first damage.
    pub fn with_storage(set: &PolicySet, top: usize) -> Result<(Survey, Storage<'_>), Damage> {
        let pass = HostPass::of(set)?;
        let storage = Storage::of(set, &pass.uses, top)?;
        let (survey, _) = read(set, pass, &[], Depth::Figures, top)?;
        Ok((survey, storage))
    }

    /// Surveys `set` for `agents`, and keeps of each policy what an audit needs.
    pub(crate) fn with_policies(
        set: &Arc<PolicySet>,
        agents: &[AgentChain],
        top: usize,
    ) -> Result<(Survey, Vec<Policy>), Damage> {
        read(set, HostPass::of(set)?, agents, Depth::Rules, top)
    }
}

fn read(
    set: &PolicySet,
    pass: HostPass<'_>,
    agents: &[AgentChain],
    depth: Depth,
    top: usize,
) -> Result<(Survey, Vec<Policy>), Damage> {
    let other_records = OtherRecords::of(set, &pass.others, top)?;
    let (sums, policies) = Sums::of(set, &pass.uses, agents, depth)?;
    let (robots, reach, usage) = sums.figures(agents, top);
    let HostPass { hosts, origins, problems, .. } = pass;
    let survey = Survey { hosts, origins, problems, other_records, usage, robots, reach };
    Ok((survey, policies))
}
