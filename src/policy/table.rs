//! Policies laid out for deciding: what is looked at for every path lies close together.
//!
//! Deciding one of many policies waits for memory more than it computes. So a policy is, for each
//! agent, two words: where in the *arena* the automaton of its rules stands and where a walk starts.
//! The arena holds the automata of all rule sets, one behind the other. What only tells where a
//! decision comes from stands elsewhere and is looked at if somebody asks.

use std::hint::black_box;

use zerocopy::little_endian::U32;

use crate::automaton::{Cache, Outcome, StoredAutomaton};
use crate::decision::{Decision, Reason, Verdict};
use crate::dialect::{Dialect, RobotsTxtUrl};
use crate::id::{LineNumber, RuleID};
use crate::syntax::Span;

use super::{AgentChain, Census, Detail, RuleAnswer, RuleSet};

/// The policies of many files for a list of agents, compiled.
///
/// It is immutable and shared by threads; each thread has its own [`Memory`].
#[derive(Debug)]
pub struct PolicyTable {
    pub(super) dialect: &'static Dialect,
    pub(super) detail: Detail,
    pub(super) agents: Vec<AgentChain>,
    /// By policy, then by agent.
    pub(super) starts: Vec<Start>,
    /// The automata that were built ahead.
    pub(super) arena: Vec<U32>,
    /// The others.
    pub(super) on_demand: Vec<RuleSet>,
    /// The decisions that hold for every path of some policy.
    pub(super) fixed: Vec<Decision>,
    /// By policy, then by agent: where decisions come from.
    pub(super) entries: Vec<Entry>,
    /// The rules of files, for the patterns of rule sets.
    pub(super) file_rules: Vec<FileRule>,
    /// Of what was built ahead.
    pub(super) census: Census,
}

/// Where deciding a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// Where in the arena the automaton stands, or one of the kinds below.
    pub place: u32,
    /// The target at which a walk starts, or what the kind says.
    pub word: u32,
    /// Whether the start is that of a path whose first octet, `/`, has been read. The start of other
    /// paths is then the first node.
    pub is_after_slash: bool,
}

impl Start {
    /// The decision with this number holds for every path.
    pub const FIXED: u32 = u32::MAX;
    /// As for the agent with this number, which comes before.
    pub const SHARED: u32 = u32::MAX - 1;
    /// The automaton with this number is built on demand.
    pub const ON_DEMAND: u32 = u32::MAX - 2;
    /// The largest place in the arena.
    const PLACE_MAX: u32 = u32::MAX - 3;
    /// The first node of an automaton, if its outcome is still open there.
    const FIRST_NODE: u32 = 0;

    /// Where nothing is walked, or not in the arena.
    pub fn of_kind(kind: u32, word: u32) -> Start {
        Start { place: kind, word, is_after_slash: false }
    }

    /// The start of `automaton`, which stands at a place in the arena; nothing if that is too far.
    pub fn at(place: usize, automaton: &StoredAutomaton<'_>) -> Option<Start> {
        let place = u32::try_from(place).ok().filter(|&place| place <= Start::PLACE_MAX)?;
        let is_open = automaton.start == Start::FIRST_NODE && !automaton.words.is_empty();
        let after_slash = if is_open { automaton.after(b'/') } else { None };
        let word = after_slash.unwrap_or(*automaton).start;
        Some(Start { place, word, is_after_slash: after_slash.is_some() })
    }
}

/// What else is known of one agent and one file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Where the rules of its patterns stand in `file_rules`.
    pub file_rules: u32,
    /// The value of the user-agent line that speaks to the agent, in the first such group; none if
    /// no rule is looked at.
    pub group: Option<Span>,
}

/// The rule that a pattern stands for, in one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRule {
    pub rule: RuleID,
    pub line: LineNumber,
    /// The rule's value.
    pub value: Span,
    /// The value of the user-agent line that speaks to the agent, in the rule's group.
    pub group: Span,
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
    /// By question, then by agent.
    decisions: Vec<Decision>,
    sources: Vec<Source>,
    /// Of automata that are built on demand, as far as one has been asked.
    caches: Vec<Cache>,
}

/// What a decision was made from.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Its entry, or [`Source::NONE`].
    entry: u32,
    /// Its pattern, or [`Source::NONE`].
    pattern: u32,
}

impl Source {
    const NONE: u32 = u32::MAX;
    const NOWHERE: Source = Source { entry: Source::NONE, pattern: Source::NONE };
}

impl PolicyTable {
    /// In the place of a policy: none is known.
    pub const NO_POLICY: u32 = u32::MAX;
    /// In the place of a policy: there is no URL to ask about.
    pub const NO_URL: u32 = u32::MAX - 1;

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
        self.starts.len() / self.agents.len().max(1)
    }

    /// Whether there is no policy.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// A new thread's memory.
    pub fn memory(&self) -> Memory {
        Memory::default()
    }

    /// One decision for each agent on `path`, which is in normal form, by the policy at `policy`.
    ///
    /// # Panics
    ///
    /// If there is no such policy.
    #[inline]
    pub fn decide<'m>(&self, policy: usize, path: &[u8], memory: &'m mut Memory) -> &'m [Decision] {
        memory.decisions.clear();
        memory.sources.clear();
        self.decide_known(policy, path, memory);
        &memory.decisions
    }

    /// As [`PolicyTable::decide`], for a block of paths, question by question. `path` tells the path
    /// of a question by its number. Policies may be [`PolicyTable::NO_POLICY`] and
    /// [`PolicyTable::NO_URL`].
    ///
    /// Some dozen questions at once cost less for each than one.
    ///
    /// # Panics
    ///
    /// If there is no such policy.
    #[inline]
    pub fn decide_block<'p, 'm>(
        &self,
        policies: &[u32],
        path: impl Fn(usize) -> &'p [u8],
        memory: &'m mut Memory,
    ) -> &'m [Decision] {
        memory.decisions.clear();
        memory.sources.clear();
        self.touch(policies, memory);
        for (index, &policy) in policies.iter().enumerate() {
            match policy {
                PolicyTable::NO_POLICY => self.decide_without(Decision::UNKNOWN, memory),
                PolicyTable::NO_URL => self.decide_without(Decision::INVALID, memory),
                _ => self.decide_known(policy as usize, path(index), memory),
            }
        }
        &memory.decisions
    }

    /// Looks at the first node of each automaton that will be walked. These accesses do not depend on
    /// one another, so the processor waits for many at once; those of walks come one by one.
    #[inline]
    fn touch(&self, policies: &[u32], memory: &Memory) {
        let mut seen = 0;
        for &policy in policies {
            let start = self.starts.get(policy as usize * self.agents.len());
            let Some(&Start { place, word, .. }) = start else { continue };
            seen ^= self.arena.get(place as usize).map_or(0, |word| word.get());
            if place == Start::ON_DEMAND {
                seen ^= memory.caches.get(word as usize).map_or(0, Cache::touch);
            }
        }
        black_box(seen);
    }

    #[inline]
    fn decide_known(&self, policy: usize, path: &[u8], memory: &mut Memory) {
        if self.dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed && path == b"/robots.txt" {
            return self.decide_without(Decision::ROBOTS_TXT, memory);
        }
        let count = self.agents.len();
        let first = policy * count;
        let first_decision = memory.decisions.len();
        for (entry, &start) in (first..).zip(&self.starts[first..first + count]) {
            let (decision, source) = match start.place {
                Start::FIXED => (self.fixed[start.word as usize], Source::NOWHERE),
                Start::SHARED => {
                    let other = first_decision + start.word as usize;
                    (memory.decisions[other], memory.sources[other])
                }
                _ => self.decision(self.outcome(start, path, memory), entry),
            };
            memory.decisions.push(decision);
            memory.sources.push(source);
        }
    }

    fn decide_without(&self, decision: Decision, memory: &mut Memory) {
        let count = self.agents.len();
        memory.decisions.extend(std::iter::repeat_n(decision, count));
        memory.sources.extend(std::iter::repeat_n(Source::NOWHERE, count));
    }

    #[inline]
    fn outcome(&self, start: Start, path: &[u8], memory: &mut Memory) -> Outcome {
        if start.place == Start::ON_DEMAND {
            return self.outcome_on_demand(start.word as usize, path, memory);
        }
        let words = &self.arena[start.place as usize..];
        let (word, consumed) = match (start.is_after_slash, path.first()) {
            (true, Some(b'/')) => (start.word, 1),
            (true, _) => (Start::FIRST_NODE, 0),
            (false, _) => (start.word, 0),
        };
        let automaton = StoredAutomaton { start: word, words };
        let outcome = automaton.decide_rest(path, consumed, self.detail);
        outcome.expect("what was built here is whole")
    }

    #[inline]
    fn outcome_on_demand(&self, number: usize, path: &[u8], memory: &mut Memory) -> Outcome {
        if number >= memory.caches.len() {
            memory.caches.resize_with(self.on_demand.len(), Cache::default);
        }
        let automaton = self.on_demand[number].automaton();
        automaton.decide(path, self.detail, &mut memory.caches[number])
    }

    #[inline]
    fn decision(&self, outcome: Outcome, entry: usize) -> (Decision, Source) {
        let by_group = Source { entry: entry as u32, pattern: Source::NONE };
        let Some(RuleAnswer { verdict, pattern }) = RuleAnswer::of(outcome, self.detail) else {
            return (Decision::without_rule(Verdict::Allow, Reason::NoRule), by_group);
        };
        let Some(pattern) = pattern else {
            return (Decision::without_rule(verdict, Reason::Rule), by_group);
        };
        let FileRule { rule, line, .. } = self.file_rule(entry, pattern);
        let decision =
            Decision { verdict, reason: Reason::Rule, rule: Some(rule), line: Some(line) };
        (decision, Source { pattern, ..by_group })
    }

    #[inline]
    fn file_rule(&self, entry: usize, pattern: u32) -> FileRule {
        self.file_rules[(self.entries[entry].file_rules + pattern) as usize]
    }

    /// Where the decision for `agent` on the question with this number, of those that `memory` was
    /// used for last, comes from in the file of its policy.
    ///
    /// # Panics
    ///
    /// If there is no such question or agent, or `memory` is another table's.
    pub fn provenance(&self, question: usize, agent: usize, memory: &Memory) -> Provenance {
        let Source { entry, pattern } = memory.sources[question * self.agents.len() + agent];
        match (entry, pattern) {
            (Source::NONE, _) => Provenance::default(),
            (entry, Source::NONE) => {
                Provenance { rule: None, group: self.entries[entry as usize].group }
            }
            (entry, pattern) => {
                let FileRule { value, group, .. } = self.file_rule(entry as usize, pattern);
                Provenance { rule: Some(value), group: Some(group) }
            }
        }
    }

    /// Counts strategies and memory.
    pub fn census(&self) -> Census {
        let mut census = Census { policies: self.len(), ..self.census };
        self.on_demand.iter().for_each(|rule_set| census.add(rule_set));
        census
    }
}
