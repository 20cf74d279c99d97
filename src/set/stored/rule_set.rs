//! Rule sets: an automaton to walk, or what one is built from.

use zerocopy::little_endian::U32;

use crate::automaton::StoredAutomaton;

use super::super::file::Damage;
use super::super::layout::rule_set;
use super::StoredSet;

/// Where a rule set stands. Equal rule sets have the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleSetPosition(pub(super) u32);

/// A rule set.
#[derive(Clone, Copy, Debug)]
pub struct StoredRuleSet<'s> {
    position: u32,
    kind: RuleSetKind,
    patterns: u32,
    start: u32,
    words: &'s [U32],
}

/// How a rule set is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleSetKind {
    /// As an automaton.
    Automaton,
    /// As patterns, from which states are built when a path asks for them.
    Patterns,
    /// Not at all: it is ordered anew from a policy's groups when an agent asks.
    OfGroups,
}

impl StoredSet {
    /// The rule set at a position.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    #[inline]
    pub fn rule_set(&self, position: RuleSetPosition) -> Result<StoredRuleSet<'_>, Damage> {
        let section = self.sections.rule_sets;
        let head = self.words(section, position.0, rule_set::HEAD_WORDS)?;
        let word = head[rule_set::KIND_AND_WORDS].get();
        let kind = match word & ((1 << rule_set::KIND_BITS) - 1) {
            rule_set::AUTOMATON => RuleSetKind::Automaton,
            rule_set::PATTERNS_ONLY => RuleSetKind::Patterns,
            rule_set::OF_GROUPS => RuleSetKind::OfGroups,
            _ => return Err(self.malformed(section, position.0, "a rule set has no kind")),
        };
        let words = (word >> rule_set::KIND_BITS) as usize;
        let first = position.0.saturating_add(rule_set::HEAD_WORDS as u32);
        Ok(StoredRuleSet {
            position: position.0,
            kind,
            patterns: head[rule_set::PATTERNS].get(),
            start: head[rule_set::START].get(),
            words: self.words(section, first, words)?,
        })
    }

    #[inline]
    pub(super) fn touch_rule_set(&self, position: RuleSetPosition) {
        self.touch(self.sections.rule_sets, position.0);
    }

    /// All rule sets, in the order of the file. After damage there is no next one.
    pub fn rule_sets(&self) -> impl Iterator<Item = Result<StoredRuleSet<'_>, Damage>> {
        let end = self.sections.rule_sets.octets() / size_of::<u32>() as u64;
        let mut next = Some(0_u32);
        std::iter::from_fn(move || {
            let position = next.filter(|&position| u64::from(position) < end)?;
            let rule_set = self.rule_set(RuleSetPosition(position));
            next = rule_set.as_ref().ok().and_then(|rule_set| {
                position.checked_add((rule_set::HEAD_WORDS + rule_set.words.len()) as u32)
            });
            Some(rule_set)
        })
    }

    #[cold]
    pub(super) fn broken_rule_set(&self, position: u32) -> Damage {
        self.malformed(self.sections.rule_sets, position, "an automaton leads nowhere")
    }

    /// Damage for whoever looks at a rule set and finds no automaton where one has to be.
    #[cold]
    pub(in crate::set) fn no_automaton(&self, rule_set: &StoredRuleSet<'_>) -> Damage {
        self.broken_rule_set(rule_set.position)
    }
}

impl<'s> StoredRuleSet<'s> {
    /// Where it stands.
    pub fn position(&self) -> RuleSetPosition {
        RuleSetPosition(self.position)
    }

    /// How it is kept.
    #[inline]
    pub fn kind(&self) -> RuleSetKind {
        self.kind
    }

    /// The number of its patterns; 0 where they are not kept.
    pub fn patterns(&self) -> u32 {
        self.patterns
    }

    /// Octets that it takes.
    pub fn octets(&self) -> usize {
        (rule_set::HEAD_WORDS + self.words.len()) * size_of::<u32>()
    }

    /// The automaton; broken if the kind is another.
    #[inline]
    pub fn automaton(&self) -> StoredAutomaton<'s> {
        StoredAutomaton { start: self.start, words: self.words }
    }

    /// Where the automaton's walk starts, or the number among those that are no automaton.
    pub(super) fn start(&self) -> u32 {
        self.start
    }

    /// The words of patterns.
    pub(super) fn pattern_words(&self) -> &'s [U32] {
        self.words
    }
}
