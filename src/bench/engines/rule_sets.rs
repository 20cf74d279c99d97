//! Files reduced to distinct rule sets, on which other constructions than ours are built.

use std::collections::HashMap;

use crate::decision::Verdict;
use crate::dialect::{Dialect, RobotsTxtUrl};
use crate::policy::{AgentChain, OrderedRules, Selection};
use crate::syntax::RobotsTxt;

use super::super::questions::Question;

/// Rule sets in order of precedence, each once, and which file has which.
pub(super) struct RuleSets {
    pub sets: Vec<OrderedRules>,
    pub of_file: FileTargets,
}

/// By file, what answers for it.
pub(super) struct FileTargets {
    targets: Vec<Option<u32>>,
    allows_robots_txt: bool,
}

impl RuleSets {
    /// Parses each file and orders the rules that speak to the agent.
    pub fn of(files: &[&[u8]], agent: &AgentChain, dialect: &Dialect) -> RuleSets {
        let mut known: HashMap<OrderedKey, u32> = HashMap::new();
        let mut sets = Vec::new();
        let mut target = |text: &&[u8]| {
            let file = RobotsTxt::parse(text, dialect, None);
            let Selection::Groups { groups, .. } = Selection::of(&file, agent, dialect) else {
                return None;
            };
            let rules = OrderedRules::new(&file, &groups, &dialect.paths);
            let key = OrderedKey(rules.patterns.clone(), rules.verdicts.clone());
            Some(*known.entry(key).or_insert_with(|| {
                sets.push(rules);
                sets.len() as u32 - 1
            }))
        };
        let targets = files.iter().map(&mut target).collect();
        let allows_robots_txt = dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed;
        RuleSets { sets, of_file: FileTargets { targets, allows_robots_txt } }
    }
}

#[derive(PartialEq, Eq, Hash)]
struct OrderedKey(crate::pattern::PatternList, Vec<Verdict>);

impl FileTargets {
    /// The rule set that answers; nothing if the URL is allowed whatever rules say.
    #[inline]
    pub fn rule_set(&self, question: Question<'_>) -> Option<usize> {
        if self.allows_robots_txt && question.path == "/robots.txt" {
            return None;
        }
        self.targets[question.file].map(|set| set as usize)
    }
}
