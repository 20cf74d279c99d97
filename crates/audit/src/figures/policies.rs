//! Figures about policies: how much they allow each agent, and the robots that they name.

use std::cmp::Reverse;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::{largest, shown};
use crate::catalog::{Catalog, Policy};
use crate::model::{AddressCounts, AgentReach, List, ReachCounts, RobotFigures, RobotRow};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::limits::POLICY_PATTERNS_MAX;
use portcullis_engine::automaton::Reach;
use portcullis_robots::policy::{AgentChain, Audience, Selection, reach};
use portcullis_robots::syntax::RobotsTxt;
use portcullis_set::Damage;

/// The number of policies that are read before their findings are summed. Bounds the memory for
/// findings.
const POLICIES_AT_ONCE: usize = 4_096;

/// How much a robot may fetch. `None` if a limit ended the search.
type KnownReach = Option<Reach>;

/// The findings over all policies.
pub(super) struct Policies {
    /// The reach by agent.
    pub reach: Vec<AgentReach>,
    pub robots: Robots,
    /// The sizes by policy.
    pub sizes: Vec<Sizes>,
}

/// The size of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    /// The number of rules in each group.
    pub groups: Vec<u32>,
    /// How much robots that the file does not name may fetch. `None` if no group applies to them.
    pub default: Option<KnownReach>,
}

impl Sizes {
    /// Returns the number of rules in the file.
    pub fn rules(&self) -> u64 {
        self.groups.iter().map(|&rules| u64::from(rules)).sum()
    }
}

/// How a file addresses an agent.
#[derive(Clone, Copy)]
enum Addressed {
    ByName,
    ByDefault,
    NotAtAll,
}

/// The findings in one policy.
struct ReadPolicy {
    /// How the policy addresses each agent, and the agent's reach.
    agents: Vec<(Addressed, KnownReach)>,
    robots: Vec<(Vec<u8>, KnownReach)>,
    has_rules: bool,
    sizes: Sizes,
}

/// The robots that files name.
#[derive(Default)]
pub(super) struct Robots {
    named: HashMap<Vec<u8>, RobotRow, foldhash::fast::RandomState>,
    others: RobotRow,
    naming_origins: u64,
    naming_hosts: u64,
    without_default: u64,
    hosts_without_default: u64,
    /// The number of policies with more rules than the limit.
    pub policies_not_known: u64,
}

impl Policies {
    pub fn of(catalog: &Catalog, agents: &[AgentChain]) -> Result<Policies, Damage> {
        let reach = |agent: &AgentChain| AgentReach {
            agent: agent.name().to_owned(),
            ..AgentReach::default()
        };
        let mut policies = Policies {
            reach: agents.iter().map(reach).collect(),
            robots: Robots::default(),
            sizes: Vec::with_capacity(catalog.policies.len()),
        };
        let numbers: Vec<usize> = (0..catalog.policies.len()).collect();
        for numbers in numbers.chunks(POLICIES_AT_ONCE) {
            let read = |&number: &usize| read(catalog, number, agents);
            let read: Vec<Result<ReadPolicy, Damage>> =
                numbers.par_iter().with_min_len(16).map(read).collect();
            for (&number, read) in numbers.iter().zip(read) {
                policies.add(&catalog.policies[number], read?);
            }
        }
        Ok(policies)
    }

    fn add(&mut self, policy: &Policy, read: ReadPolicy) {
        for (sum, (addressed, reach)) in self.reach.iter_mut().zip(read.agents) {
            sum.origins.add(policy.origins, addressed, reach);
            sum.hosts.add(policy.hosts, addressed, reach);
        }
        let robots = &mut self.robots;
        let default = read.sizes.default;
        let is_not_known =
            read.robots.iter().any(|(_, reach)| reach.is_none()) || default == Some(None);
        robots.policies_not_known += u64::from(is_not_known);
        if !read.robots.is_empty() {
            robots.naming_origins += policy.origins;
            robots.naming_hosts += policy.hosts;
        }
        match default {
            Some(reach) => robots.others.add(policy, reach),
            None if read.has_rules => {
                robots.without_default += policy.origins;
                robots.hosts_without_default += policy.hosts;
            }
            None => {}
        }
        for (name, reach) in read.robots {
            robots.named.entry(name).or_default().add(policy, reach);
        }
        self.sizes.push(read.sizes);
    }
}

impl AddressCounts {
    fn add(&mut self, count: u64, addressed: Addressed, reach: KnownReach) {
        *match addressed {
            Addressed::ByName => &mut self.named,
            Addressed::ByDefault => &mut self.by_default,
            Addressed::NotAtAll => &mut self.unnamed,
        } += count;
        self.reach.add(count, reach);
    }
}

impl ReachCounts {
    fn add(&mut self, count: u64, reach: KnownReach) {
        *match reach {
            Some(Reach::Everything) => &mut self.everything,
            Some(Reach::Part) => &mut self.part,
            Some(Reach::Nothing) => &mut self.nothing,
            None => &mut self.not_known,
        } += count;
    }
}

impl RobotRow {
    fn add(&mut self, policy: &Policy, reach: KnownReach) {
        self.origins += policy.origins;
        self.hosts += policy.hosts;
        self.reach.add(policy.origins, reach);
        self.by_host.add(policy.hosts, reach);
    }
}

fn read(catalog: &Catalog, number: usize, agents: &[AgentChain]) -> Result<ReadPolicy, Damage> {
    let policy = &catalog.policies[number];
    if policy.has_file() {
        return catalog.with_file(number, |file| read_file(catalog, file, agents));
    }
    let reach = match policy.access.verdict {
        Verdict::Disallow => Reach::Nothing,
        _ => Reach::Everything,
    };
    Ok(ReadPolicy {
        agents: vec![(Addressed::NotAtAll, Some(reach)); agents.len()],
        robots: Vec::new(),
        has_rules: false,
        sizes: Sizes::default(),
    })
}

fn read_file(catalog: &Catalog, file: &RobotsTxt<'_>, agents: &[AgentChain]) -> ReadPolicy {
    let dialect = catalog.set.dialect();
    let rules_of = |group: usize| file.rules_of(&file.groups()[group]).len();
    let mut known: HashMap<_, _, foldhash::fast::RandomState> = HashMap::default();
    // The number of patterns in all combinations of groups so far.
    let mut patterns = 0;
    let mut reach = |groups: &[usize]| {
        if let Some(&known) = known.get(groups) {
            return known;
        }
        patterns += groups.iter().map(|&group| rules_of(group)).sum::<usize>();
        let found = (patterns <= POLICY_PATTERNS_MAX).then(|| reach(file, groups, dialect));
        *known.entry(groups.to_vec()).or_insert(found.flatten())
    };
    let agents = agents.iter().map(|agent| {
        let Selection { groups, token } = Selection::of(file, agent, dialect);
        match token {
            Some(_) => (Addressed::ByName, reach(&groups)),
            None if groups.is_empty() => (Addressed::NotAtAll, Some(Reach::Everything)),
            None => (Addressed::ByDefault, reach(&groups)),
        }
    });
    let agents = agents.collect();
    let audience = Audience::of(file, dialect);
    let default = &audience.default_groups;
    let default = (!default.is_empty()).then(|| reach(default));
    let robots = audience.robots.iter().map(|robot| {
        // Names are compared as displayed.
        let name = String::from_utf8_lossy(&robot.name).into_owned().into_bytes();
        (name, reach(&robot.groups))
    });
    let robots = robots.collect();
    let groups = (0..file.groups().len()).map(|group| rules_of(group) as u32).collect();
    ReadPolicy {
        agents,
        robots,
        has_rules: !file.rules().is_empty(),
        sizes: Sizes { groups, default },
    }
}

impl Robots {
    /// Returns the figures, and the `top` robots that most hosts name.
    pub fn figures(self, agents: &[AgentChain], top: usize) -> RobotFigures {
        let is_asked = |name: &[u8]| {
            let mut tokens = agents.iter().flat_map(AgentChain::tokens);
            tokens.any(|token| token.as_bytes().eq_ignore_ascii_case(name))
        };
        let total = self.named.len() as u64;
        let most =
            largest(self.named, top, |(name, row)| (row.hosts, row.origins, Reverse(name.clone())));
        let row = |(name, row): (Vec<u8>, RobotRow)| RobotRow {
            name: shown(&name),
            asked: is_asked(&name),
            ..row
        };
        RobotFigures {
            naming_origins: self.naming_origins,
            naming_hosts: self.naming_hosts,
            without_default: self.without_default,
            hosts_without_default: self.hosts_without_default,
            others: RobotRow { name: "*".to_owned(), ..self.others },
            most_named: List { total, rows: most.into_iter().map(row).collect() },
        }
    }
}
