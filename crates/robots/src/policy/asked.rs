//! The rules of an agent: tried one by one as they are written, then compiled.
//!
//! Most programs that fetch one robots.txt ask it once, or a few times. Trying a rule costs such a
//! question a few nanoseconds, and compiling it some hundred times as much. So [`AskedRules`] try the
//! rules until the paths have paid for compiling, then become a
//! [rule set](portcullis_engine::ruleset), which decides all later paths. Both ways give the same
//! answer: the first pattern in order of precedence that matches.
//!
//! The rules are copied as they are written, all at once. Nine of ten differ from a path in their first bytes,
//! in a byte that is the same in normal form; only the others are brought to it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::syntax::{Group, RobotsTxt};
use crate::url::IsPlain;
use portcullis_dialect::dialect::IndexPage;
use portcullis_dialect::{Decision, LineNumber, PathRules, RuleID, Verdict};
use portcullis_engine::bytes::first_bytes;
use portcullis_engine::{Outcome, Settings, SharedRuleSet};

use super::rules::{RuleText, RuleTexts, WrittenRule};

/// The rules of groups as they are written.
#[derive(Debug)]
pub(super) struct WrittenRules {
    /// The lines of the groups from their first rule to their last, with all that is between them.
    text: Vec<u8>,
    places: Vec<Place>,
}

/// The place of a rule's value in a text.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    end: u32,
    id: RuleID,
    line: LineNumber,
    verdict: Verdict,
}

impl WrittenRules {
    /// Returns the rules of the groups at `groups` of `file`, which was parsed from `text`.
    pub(super) fn new(file: &RobotsTxt<'_>, text: &[u8], groups: &[usize]) -> WrittenRules {
        let groups = || groups.iter().map(|&group| &file.groups()[group]);
        let rules = groups().map(|group| group.rules.len()).sum();
        let mut all = WrittenRules { text: Vec::new(), places: Vec::with_capacity(rules) };
        groups().for_each(|group| all.push(file, text, group));
        all
    }

    fn push(&mut self, file: &RobotsTxt<'_>, text: &[u8], group: &Group) {
        let rules = file.rules_of(group);
        let ([first, ..], [.., last]) = (rules, rules) else { return };
        // A value ends where its record does.
        let (from, offset) = (first.span.start, self.text.len() as u32);
        self.text.extend_from_slice(&text[from as usize..last.span.end as usize]);
        self.places.extend(rules.iter().zip(group.rules.clone()).map(|(rule, number)| {
            let end = rule.span.end - from + offset;
            let (start, id) = (end - rule.value.len() as u32, RuleID(number));
            Place { start, end, id, line: rule.line, verdict: rule.verdict }
        }));
    }

    fn rule(&self, place: &Place) -> WrittenRule<'_> {
        let Place { start, end, id, line, verdict } = *place;
        WrittenRule { value: &self.text[start as usize..end as usize], verdict, line, id }
    }

    fn rules(&self) -> impl Iterator<Item = WrittenRule<'_>> + Clone {
        self.places.iter().map(|place| self.rule(place))
    }

    /// Returns the patterns that match `path`, a path in normal form.
    pub(super) fn matching(&self, path: &[u8], paths: &PathRules) -> RuleTexts {
        let (head, names_pages) = (PathHead::of(path), paths.index_page != IndexPage::NoMeaning);
        let mut matching = RuleTexts::default();
        for place in &self.places {
            // The second pattern of a rule that allows may match where its first differs.
            let is_page = names_pages && place.verdict == Verdict::Allow;
            if is_page || head.may_match(&self.text, place) {
                matching.push_matching(&self.rule(place), paths, path);
            }
        }
        matching
    }
}

/// The first bytes of a path.
#[derive(Clone, Copy)]
struct PathHead {
    bytes: u64,
    /// The bytes before the first `%` or star: a pattern with the same bytes has them in normal form.
    exact: u32,
}

impl PathHead {
    fn of(path: &[u8]) -> PathHead {
        let bytes = first_bytes(path) as u64;
        let exact =
            bytes.to_le_bytes().iter().take_while(|byte| !matches!(byte, b'%' | b'*')).count();
        PathHead { bytes, exact: exact as u32 }
    }

    /// Returns whether the pattern that is written at a place of `text` may match the path. It does not if its
    /// first byte that differs stands for itself. One that differs at once may lack its slash.
    #[inline(always)]
    fn may_match(self, text: &[u8], place: &Place) -> bool {
        let text = &text[place.start as usize..];
        let head = match text.first_chunk() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => first_bytes(text) as u64,
        };
        let same = (head ^ self.bytes).trailing_zeros() / 8;
        let is_within =
            same.wrapping_sub(1) < self.exact && same < (place.end - place.start).min(8);
        let differs = (head >> (8 * (same % 8))) as u8;
        !(is_within && STANDS_FOR_ITSELF[usize::from(differs)])
    }
}

/// Some bytes of patterns that are the same in normal form in every dialect, and no wildcards: those that most
/// patterns differ in.
const STANDS_FOR_ITSELF: [bool; 256] = {
    let (mut all, mut byte) = ([false; 256], 0u8);
    while byte < 0x80 {
        all[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'?' | b'=');
        byte += 1;
    }
    all
};

/// Bytes of the paths that the rules are tried with: 2 KiB. Then the rules are compiled.
///
/// Source: measured on popular files. Compiling costs as much as trying some fifty paths.
const TRIED_PATH_BYTES_MAX: usize = 2 * 1024;

/// Bytes of the paths that the rules are tried with, times the bytes of the rules: 16 Mi.
///
/// Source: our choice. It takes some milliseconds at most, whatever the patterns are.
const TRIED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The rules of the groups that apply to an agent, which are compiled once the paths have paid for it.
///
/// Threads share them without a lock, but for those that arrive while they are compiled.
#[derive(Debug)]
pub(crate) struct AskedRules {
    paths: &'static PathRules,
    rules: WrittenRules,
    /// Bytes of the paths that are still tried.
    bytes_left: AtomicUsize,
    compiled: OnceLock<CompiledRules>,
}

#[derive(Debug)]
struct CompiledRules {
    rules: SharedRuleSet,
    /// The source of each pattern.
    entries: Vec<RuleText>,
}

impl AskedRules {
    /// Returns the rules of the groups at `groups` of `file`, which was parsed from `text`.
    pub(crate) fn new(
        file: &RobotsTxt<'_>,
        text: &[u8],
        groups: &[usize],
        paths: &'static PathRules,
    ) -> AskedRules {
        let rules = WrittenRules::new(file, text, groups);
        let bytes_max = TRIED_BYTES_MAX / rules.text.len().max(1);
        let bytes_left = AtomicUsize::new(bytes_max.min(TRIED_PATH_BYTES_MAX));
        AskedRules { paths, rules, bytes_left, compiled: OnceLock::new() }
    }

    /// Returns the decision of the rule that decides `path`, a path in normal form; `None` if no rule matches.
    pub(crate) fn deciding(&self, path: &[u8]) -> Option<Decision> {
        match self.compiled.get() {
            Some(compiled) => compiled.decision(compiled.rules.decide(path)),
            None => self.try_or_compile(path),
        }
    }

    /// Like [`AskedRules::deciding`], for a path as written. The outer `None` if the rules are not compiled,
    /// the path may have another normal form, or it needs an automaton.
    #[inline]
    pub(crate) fn deciding_if_plain(&self, path: &[u8]) -> Option<Option<Decision>> {
        let (compiled, escapes) = (self.compiled.get()?, self.paths.escapes);
        let outcome = compiled.rules.decide_if(IsPlain { path, escapes }, path)?;
        Some(compiled.decision(outcome))
    }

    #[inline(never)]
    fn try_or_compile(&self, path: &[u8]) -> Option<Decision> {
        // Threads that count at once may compile a little later.
        match self.bytes_left.load(Ordering::Relaxed).checked_sub(path.len()) {
            Some(left) => {
                self.bytes_left.store(left, Ordering::Relaxed);
                self.rules.matching(path, self.paths).deciding(self.paths).map(RuleText::decision)
            }
            None => {
                let compile = || CompiledRules::new(&self.rules, self.paths);
                let compiled = self.compiled.get_or_init(compile);
                compiled.decision(compiled.rules.decide(path))
            }
        }
    }
}

impl CompiledRules {
    fn new(rules: &WrittenRules, paths: &PathRules) -> CompiledRules {
        let (entries, ordered) = RuleTexts::new(rules.rules(), paths).ordered(paths, true);
        CompiledRules { rules: SharedRuleSet::new(ordered.compile(), Settings::default()), entries }
    }

    #[inline]
    fn decision(&self, outcome: Outcome) -> Option<Decision> {
        outcome.pattern().map(|pattern| self.entries[pattern].decision())
    }
}
