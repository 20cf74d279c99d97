//! Policies, each read once: what they leave to the agents that ask, and to the robots they name.

use std::cmp::Reverse;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::shown;
use crate::audit::library::{Library, Policy};
use crate::audit::model::{AgentReach, List, RobotFigures, RobotRow};
use crate::automaton::Reach;
use crate::decision::Verdict;
use crate::limits::POLICY_PATTERNS_MAX;
use crate::policy::reach;
use crate::policy::{AgentChain, Audience, Selection};
use crate::set::Damage;
use crate::set::survey::largest;
use crate::syntax::RobotsTxt;

/// Policies that are read before what they say is added up. It bounds the memory for what is waiting.
const POLICIES_AT_ONCE: usize = 4_096;

/// What going over the policies finds.
pub(super) struct Policies {
    /// By agent.
    pub reach: Vec<AgentReach>,
    pub robots: Robots,
    /// By policy.
    pub sizes: Vec<Sizes>,
}

/// How much there is in a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    /// By group: its rules.
    pub groups: Vec<u32>,
    /// What robots are left that it does not name, if it has groups for them.
    pub default: Option<Option<Reach>>,
}

/// Who of the agents is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spoken {
    ByName,
    ByDefault,
    NotAtAll,
}

/// What a policy says.
struct ReadPolicy {
    /// By agent.
    agents: Vec<(Spoken, Option<Reach>)>,
    robots: Vec<(Vec<u8>, Option<Reach>)>,
    has_rules: bool,
    sizes: Sizes,
}

/// A robot in the counting.
#[derive(Clone, Copy, Debug, Default)]
struct RobotCount {
    origins: u64,
    everything: u64,
    part: u64,
    nothing: u64,
    not_known: u64,
}

/// Robots in the counting.
#[derive(Debug, Default)]
pub(super) struct Robots {
    named: HashMap<Vec<u8>, RobotCount, foldhash::fast::RandomState>,
    others: RobotCount,
    naming_origins: u64,
    without_default: u64,
    /// Policies of which not everything is known.
    not_known: u64,
}

impl Policies {
    pub(super) fn of(library: &Library, agents: &[AgentChain]) -> Result<Policies, Damage> {
        let reach = |agent: &AgentChain| AgentReach {
            agent: agent.name().to_owned(),
            ..AgentReach::default()
        };
        let mut policies = Policies {
            reach: agents.iter().map(reach).collect(),
            robots: Robots::default(),
            sizes: Vec::with_capacity(library.policies.len()),
        };
        let numbers: Vec<u32> = (0..library.policies.len() as u32).collect();
        for numbers in numbers.chunks(POLICIES_AT_ONCE) {
            let read = |&policy: &u32| read(library, policy, agents);
            let read: Vec<Result<ReadPolicy, Damage>> =
                numbers.par_iter().with_min_len(16).map(read).collect();
            for (&number, read) in numbers.iter().zip(read) {
                policies.add(&library.policies[number as usize], read?);
            }
        }
        Ok(policies)
    }

    fn add(&mut self, policy: &Policy, read: ReadPolicy) {
        let ReadPolicy { agents, robots, has_rules, sizes } = read;
        for (sum, (spoken, reach)) in self.reach.iter_mut().zip(agents) {
            *match spoken {
                Spoken::ByName => &mut sum.named,
                Spoken::ByDefault => &mut sum.by_default,
                Spoken::NotAtAll => &mut sum.unnamed,
            } += policy.origins;
            *match reach {
                Some(Reach::Everything) => &mut sum.everything,
                Some(Reach::Part) => &mut sum.part,
                Some(Reach::Nothing) => &mut sum.nothing,
                None => &mut sum.not_known,
            } += policy.origins;
        }
        self.robots.add(policy.origins, &robots, sizes.default, has_rules);
        self.sizes.push(sizes);
    }
}

/// Reads a policy's file.
fn read(library: &Library, policy: u32, agents: &[AgentChain]) -> Result<ReadPolicy, Damage> {
    let access = library.policies[policy as usize].access;
    if !library.policies[policy as usize].has_file() {
        let reach = match access.verdict {
            Verdict::Disallow => Reach::Nothing,
            _ => Reach::Everything,
        };
        return Ok(ReadPolicy {
            agents: vec![(Spoken::NotAtAll, Some(reach)); agents.len()],
            robots: Vec::new(),
            has_rules: false,
            sizes: Sizes::default(),
        });
    }
    let extract = library.extract(policy)?;
    let file = RobotsTxt::read_extract(&extract).ok_or_else(|| library.misfiled())?;
    let dialect = library.set.dialect();
    let audience = Audience::of(&file, dialect);
    let mut known = Known { file: &file, library, reaches: HashMap::default(), patterns: 0 };
    let spoken =
        |agent: &AgentChain, known: &mut Known<'_>| match Selection::of(&file, agent, dialect) {
            Selection::NoRules | Selection::NoGroup => (Spoken::NotAtAll, Some(Reach::Everything)),
            Selection::Groups { groups, token } => {
                let spoken = if token.is_some() { Spoken::ByName } else { Spoken::ByDefault };
                (spoken, known.reach(&groups))
            }
        };
    let agents = agents.iter().map(|agent| spoken(agent, &mut known)).collect();
    let default = &audience.default_groups;
    let default = (!default.is_empty()).then(|| known.reach(default));
    let robots = audience.robots.iter().map(|robot| {
        let name = String::from_utf8_lossy(&robot.name).into_owned().into_bytes();
        (name, known.reach(&robot.groups))
    });
    let robots = robots.collect();
    let groups = file.groups().iter().map(|group| file.rules_of(group).len() as u32).collect();
    let sizes = Sizes { groups, default };
    Ok(ReadPolicy { agents, robots, has_rules: !file.rules().is_empty(), sizes })
}

/// What combinations of a file's groups leave.
struct Known<'f> {
    file: &'f RobotsTxt<'f>,
    library: &'f Library,
    reaches: HashMap<Vec<usize>, Option<Reach>, foldhash::fast::RandomState>,
    /// Rules that were looked at, each as often as a combination has it.
    patterns: usize,
}

impl Known<'_> {
    fn reach(&mut self, groups: &[usize]) -> Option<Reach> {
        if let Some(&known) = self.reaches.get(groups) {
            return known;
        }
        let rules = |&group: &usize| self.file.rules_of(&self.file.groups()[group]).len();
        self.patterns += groups.iter().map(rules).sum::<usize>();
        let found = match self.patterns > POLICY_PATTERNS_MAX {
            true => None,
            false => reach(self.file, groups, self.library.set.dialect()),
        };
        self.reaches.insert(groups.to_vec(), found);
        found
    }
}

impl RobotCount {
    fn add(&mut self, origins: u64, reach: Option<Reach>) {
        self.origins += origins;
        *match reach {
            Some(Reach::Everything) => &mut self.everything,
            Some(Reach::Part) => &mut self.part,
            Some(Reach::Nothing) => &mut self.nothing,
            None => &mut self.not_known,
        } += origins;
    }

    fn row(self, name: String, asked: bool) -> RobotRow {
        let RobotCount { origins, everything, part, nothing, not_known } = self;
        RobotRow { name, asked, origins, everything, part, nothing, not_known }
    }
}

impl Robots {
    fn add(
        &mut self,
        origins: u64,
        robots: &[(Vec<u8>, Option<Reach>)],
        default: Option<Option<Reach>>,
        has_rules: bool,
    ) {
        for (name, reach) in robots {
            match self.named.get_mut(name) {
                Some(count) => count.add(origins, *reach),
                None => self.named.entry(name.clone()).or_default().add(origins, *reach),
            }
        }
        if !robots.is_empty() {
            self.naming_origins += origins;
        }
        match default {
            Some(reach) => self.others.add(origins, reach),
            None if has_rules => self.without_default += origins,
            None => {}
        }
        let not_known = robots.iter().any(|(_, reach)| reach.is_none()) || default == Some(None);
        self.not_known += u64::from(not_known);
    }

    /// Policies of which it is not known what they leave to somebody.
    pub(super) fn not_known(&self) -> u64 {
        self.not_known
    }

    /// The figures, and the `top` robots that most origins name.
    pub(super) fn figures(self, agents: &[AgentChain], top: usize) -> RobotFigures {
        let is_asked = |name: &[u8]| {
            let mut tokens = agents.iter().flat_map(AgentChain::tokens);
            tokens.any(|token| token.as_bytes().eq_ignore_ascii_case(name))
        };
        let total = self.named.len() as u64;
        let most = largest(self.named, top, |(name, count)| (count.origins, Reverse(name.clone())));
        let row = |(name, count): (Vec<u8>, RobotCount)| count.row(shown(&name), is_asked(&name));
        RobotFigures {
            naming_origins: self.naming_origins,
            without_default: self.without_default,
            others: self.others.row("*".to_owned(), false),
            most_named: List { total, rows: most.into_iter().map(row).collect() },
        }
    }
}
