//! From files and agents to decisions: which groups speak to an agent, which rule decides.
//!
//! Owns the meaning of a parsed file for a list of agents. [`PolicyTable::compile`] takes many files
//! at once, because files repeat one another: equal rule sets are compiled once and shared, whatever
//! files and agents they come from. [`PolicyTable::decide`] answers for all agents in one pass over
//! a path, and walks a rule set that several agents share once. Use [`batch`](crate::batch) for
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
mod explain;
mod rules;
mod select;

use crate::automaton::{Cache, Limits, Strategy};
use crate::decision::{Decision, PolicyState, Reason, Verdict};
use crate::dialect::{AccessOutcome, Dialect, RobotsTxtUrl};
use crate::id::{LineNumber, RuleID};
use crate::limits::ROBOTS_OCTETS_MAX;
use crate::syntax::Span;

pub use crate::automaton::Detail;
pub use agent::{AgentChain, AgentError};
pub use explain::{ExplainedGroup, ExplainedRule, Explanation, Loss, explain};
pub use rules::{OrderedRules, RuleAnswer, RuleSet, outcomes};
pub use select::{Audience, NamedRobot, Selection, is_name_of, robot_name, robot_named};

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

/// The policies of many files for a list of agents, compiled.
///
/// It is immutable and shared by threads; each thread has its own [`Memory`].
#[derive(Debug)]
pub struct PolicyTable {
    dialect: &'static Dialect,
    detail: Detail,
    agents: Vec<AgentChain>,
    /// By policy, then by agent.
    entries: Vec<Entry>,
    rule_sets: Vec<RuleSet>,
    /// The rules of files, for the patterns of rule sets.
    file_rules: Vec<FileRule>,
}

/// What one agent gets from one file.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// The same for every path.
    Fixed(Decision),
    /// What a rule set says.
    Rules {
        rule_set: u32,
        /// Where the rules of its patterns stand in `file_rules`.
        file_rules: u32,
        /// The first agent of this file with the same rules.
        first_agent: u32,
        /// The value of the user-agent line that speaks to the agent, in the first such group.
        group: Span,
    },
}

/// The rule that a pattern stands for, in one file.
#[derive(Clone, Copy, Debug)]
struct FileRule {
    rule: RuleID,
    line: LineNumber,
    /// The rule's value.
    value: Span,
    /// The value of the user-agent line that speaks to the agent, in the rule's group.
    group: Span,
}

/// Where in a file a decision comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The value of the rule that decides.
    pub rule: Option<Span>,
    /// The value of the user-agent line of that rule's group, or of the first group that speaks to
    /// the agent if no rule decides.
    pub group: Option<Span>,
}

/// A thread's memory for decisions of one [`PolicyTable`].
#[derive(Clone, Debug, Default)]
pub struct Memory {
    decisions: Vec<Decision>,
    provenances: Vec<Provenance>,
    /// By rule set, as far as one has been asked.
    caches: Vec<Cache>,
    /// For automata that need no memory.
    none: Cache,
}

/// How the rule sets of a table are answered, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Policies.
    pub policies: usize,
    /// Distinct rule sets.
    pub rule_sets: usize,
    /// Rule sets with one outcome whatever the path.
    pub constant: usize,
    /// Rule sets built ahead.
    pub ahead: usize,
    /// Rule sets built on demand.
    pub on_demand: usize,
    /// Nodes built ahead.
    pub nodes: usize,
    /// Octets of all rule sets.
    pub rule_set_octets: usize,
    /// Octets of the largest rule set.
    pub largest_rule_set_octets: usize,
}

impl Memory {
    /// Where the decision for `agent` comes from, in the file of the policy that was asked last.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn provenance(&self, agent: usize) -> Provenance {
        self.provenances[agent]
    }

    #[inline]
    fn cache(&mut self, rule_set: usize) -> &mut Cache {
        if rule_set >= self.caches.len() {
            self.caches.resize_with(rule_set + 1, Cache::default);
        }
        &mut self.caches[rule_set]
    }
}

impl PolicyTable {
    /// The dialect that the policies were compiled for.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The agents, in the order of decisions.
    pub fn agents(&self) -> &[AgentChain] {
        &self.agents
    }

    /// The number of policies.
    pub fn len(&self) -> usize {
        self.entries.len() / self.agents.len().max(1)
    }

    /// Whether there is no policy.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A new thread's memory.
    pub fn memory(&self) -> Memory {
        let count = self.agents.len();
        Memory {
            decisions: vec![Decision::UNKNOWN; count],
            provenances: vec![Provenance::default(); count],
            ..Memory::default()
        }
    }

    /// One decision for each agent on `path`, which is in normal form, by the policy at `policy`.
    ///
    /// # Panics
    ///
    /// If there is no such policy, or `memory` is of a table with other agents.
    #[inline]
    pub fn decide<'m>(&self, policy: usize, path: &[u8], memory: &'m mut Memory) -> &'m [Decision] {
        if self.dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed && path == b"/robots.txt" {
            return self.decide_all(Decision::ROBOTS_TXT, memory);
        }
        let count = self.agents.len();
        let entries = &self.entries[policy * count..][..count];
        for (agent, entry) in entries.iter().enumerate() {
            match *entry {
                Entry::Fixed(decision) => {
                    memory.decisions[agent] = decision;
                    memory.provenances[agent] = Provenance::default();
                }
                Entry::Rules { first_agent, .. } if (first_agent as usize) < agent => {
                    memory.decisions[agent] = memory.decisions[first_agent as usize];
                    memory.provenances[agent] = memory.provenances[first_agent as usize];
                }
                Entry::Rules { rule_set, file_rules, group, .. } => {
                    let answer = self.answer(rule_set, path, memory);
                    let (decision, provenance) = self.decision(answer, file_rules, group);
                    memory.decisions[agent] = decision;
                    memory.provenances[agent] = provenance;
                }
            }
        }
        &memory.decisions
    }

    /// The same decision for each agent, for a URL whose policy is not known or that is none.
    #[inline]
    pub fn decide_all<'m>(&self, decision: Decision, memory: &'m mut Memory) -> &'m [Decision] {
        memory.decisions.fill(decision);
        memory.provenances.fill(Provenance::default());
        &memory.decisions
    }

    #[inline]
    fn answer(&self, rule_set: u32, path: &[u8], memory: &mut Memory) -> Option<RuleAnswer> {
        let compiled = &self.rule_sets[rule_set as usize];
        let cache = match compiled.automaton().strategy() {
            Strategy::OnDemand => memory.cache(rule_set as usize),
            Strategy::Constant | Strategy::Ahead => &mut memory.none,
        };
        compiled.decide(path, self.detail, cache)
    }

    #[inline]
    fn decision(
        &self,
        answer: Option<RuleAnswer>,
        file_rules: u32,
        group: Span,
    ) -> (Decision, Provenance) {
        let by_group = Provenance { rule: None, group: Some(group) };
        let Some(RuleAnswer { verdict, pattern }) = answer else {
            return (Decision::without_rule(Verdict::Allow, Reason::NoRule), by_group);
        };
        let Some(pattern) = pattern else {
            return (Decision::without_rule(verdict, Reason::Rule), by_group);
        };
        let FileRule { rule, line, value, group } =
            self.file_rules[(file_rules + pattern) as usize];
        let decision =
            Decision { verdict, reason: Reason::Rule, rule: Some(rule), line: Some(line) };
        (decision, Provenance { rule: Some(value), group: Some(group) })
    }

    /// Counts strategies and memory.
    pub fn census(&self) -> Census {
        let mut census =
            Census { policies: self.len(), rule_sets: self.rule_sets.len(), ..Census::default() };
        for rule_set in &self.rule_sets {
            match rule_set.automaton().strategy() {
                Strategy::Constant => census.constant += 1,
                Strategy::Ahead => census.ahead += 1,
                Strategy::OnDemand => census.on_demand += 1,
            }
            let octets = rule_set.memory_octets();
            census.nodes += rule_set.automaton().nodes();
            census.rule_set_octets += octets;
            census.largest_rule_set_octets = census.largest_rule_set_octets.max(octets);
        }
        census
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
