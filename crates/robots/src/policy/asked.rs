//! The rules of an agent: tried one by one as they are written, then compiled.
//!
//! Most programs that fetch one robots.txt ask it once, or a few times. Trying a rule costs such a
//! question a few nanoseconds, and compiling it some hundred times as much. So [`AskedRules`] try the
//! rules until the paths have paid for compiling, then become a
//! [rule set](portcullis_engine::ruleset), which decides all later paths. Both ways give the same
//! answer: the first pattern in order of precedence that matches.
//!
//! The rules are copied as they are written, all at once. Nine of ten differ from a path in their first bytes
//! that are the same in normal form; only the others are brought to it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::syntax::{Group, RobotsTxt, Rule};
use crate::url::{IsPlain, are_plain, index_page};
use portcullis_dialect::{Decision, LineNumber, PathRules, Reason, RuleID, Verdict};
use portcullis_engine::bytes::first_bytes;
use portcullis_engine::pattern::Pattern;
use portcullis_engine::vectors::Vectors;
use portcullis_engine::{Outcome, Settings, SharedRuleSet};
use wide::u8x16;

use super::rules::{RuleText, RuleTexts, WrittenRule, rank};

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
    /// The [number](known_bytes) of bytes at the start that a path has too that matches.
    known: u8,
    /// Whether the rule has a second pattern, which may match where the first differs.
    names_page: bool,
}

impl WrittenRules {
    /// Returns the rules of the groups at `groups` of `file`, which was parsed from `text`.
    pub(super) fn new(
        file: &RobotsTxt<'_>,
        text: &[u8],
        groups: &[usize],
        paths: &PathRules,
    ) -> WrittenRules {
        let groups = || groups.iter().map(|&group| &file.groups()[group]);
        let rules = groups().map(|group| group.rules.len()).sum();
        let mut all = WrittenRules { text: Vec::new(), places: Vec::with_capacity(rules) };
        groups().for_each(|group| all.push(file, text, group, paths));
        all
    }

    #[inline(never)]
    fn push(&mut self, file: &RobotsTxt<'_>, text: &[u8], group: &Group, paths: &PathRules) {
        let rules = file.rules_of(group);
        let ([first, ..], [.., last]) = (rules, rules) else { return };
        // A value ends where its record does.
        let from = first.span.start;
        let shift = (self.text.len() as u32).wrapping_sub(from);
        self.text.extend_from_slice(&text[from as usize..last.span.end as usize]);
        self.places.extend(rules.iter().zip(group.rules.start..).map(|(rule, number)| {
            let Rule { value, verdict, line, span } = *rule;
            let end = span.end.wrapping_add(shift);
            let (start, id) = (end - value.len() as u32, RuleID(number));
            let names_page = verdict == Verdict::Allow && names_page(value, paths);
            let known = match names_page {
                true => 0,
                false => known_bytes(first_bytes_at(text, span.end as usize - value.len()), value),
            };
            Place { start, end, id, line, verdict, known, names_page }
        }));
    }

    fn rule(&self, place: &Place) -> WrittenRule<'_> {
        let Place { start, end, id, line, verdict, .. } = *place;
        WrittenRule { value: &self.text[start as usize..end as usize], verdict, line, id }
    }

    fn rules(&self) -> impl Iterator<Item = WrittenRule<'_>> + Clone {
        self.places.iter().map(|place| self.rule(place))
    }

    /// Passes the rules with patterns that match `path`, a path in normal form, to `each`, with the normal text of the
    /// pattern.
    fn each_match(
        &self,
        path: &[u8],
        paths: &PathRules,
        mut each: impl FnMut(&WrittenRule<'_>, &[u8]),
    ) {
        let (head, bytes) = (first_bytes_at(path, 0), set_of(path));
        for place in &self.places {
            let own = first_bytes_at(&self.text, place.start as usize);
            let is_like = (head ^ own) & MASKS[usize::from(place.known) % MASKS.len()] == 0;
            if is_like && self.may_consist(place, bytes) {
                self.each_match_of(place, path, paths, &mut each);
            }
        }
    }

    /// Returns whether a path with this [set](set_of) of bytes, and with the known ones of a rule, may match it:
    /// whether it has all that stand for themselves before an escape.
    #[inline(never)]
    fn may_consist(&self, place: &Place, bytes: u64) -> bool {
        let unknown = place.start as usize + usize::from(place.known)..place.end as usize;
        let mut before_escape = self.text[unknown].iter().take_while(|byte| **byte != b'%');
        place.names_page
            || before_escape
                .all(|&byte| !STANDS_FOR_ITSELF[usize::from(byte)] || bytes >> (byte % 64) & 1 == 1)
    }

    /// Passes the rule at `place` as [`WrittenRules::each_match`], if it matches a path.
    #[inline(never)]
    fn each_match_of(
        &self,
        place: &Place,
        path: &[u8],
        paths: &PathRules,
        each: &mut impl FnMut(&WrittenRule<'_>, &[u8]),
    ) {
        let matches = |text: &[u8]| Pattern::from_text(text, paths.wildcards).matches(path);
        let rule = self.rule(place);
        if place.names_page || !is_normal(rule.value, paths) {
            let texts = RuleTexts::of_rule(&rule, paths);
            let texts = texts.entries.iter().map(|it| texts.text(it));
            texts.filter(|text| matches(text)).for_each(|text| each(&rule, text));
        } else if matches(rule.value) {
            each(&rule, rule.value);
        }
    }

    /// Returns the patterns that match `path`, a path in normal form.
    pub(super) fn matching(&self, path: &[u8], paths: &PathRules) -> RuleTexts {
        let mut matching = RuleTexts::default();
        self.each_match(path, paths, |rule, text| matching.add(rule, text));
        matching
    }

    /// Returns the decision of the pattern that decides `path`, a path in normal form; `None` if none matches.
    fn deciding(&self, path: &[u8], paths: &PathRules) -> Option<Decision> {
        let mut best: Option<(u64, Decision)> = None;
        self.each_match(path, paths, |&WrittenRule { verdict, line, id, .. }, text| {
            let rank = rank(text.len(), verdict, paths);
            if best.is_none_or(|(best, _)| rank > best) {
                let (rule, line) = (Some(id), Some(line));
                best = Some((rank, Decision { verdict, reason: Reason::Rule, rule, line }));
            }
        });
        best.map(|(_, decision)| decision)
    }
}

/// Returns whether a rule's value is surely the normal text of its pattern.
fn is_normal(value: &[u8], paths: &PathRules) -> bool {
    matches!(value.first(), Some(b'/' | b'*'))
        && are_plain(value, usize::from(value.ends_with(b"$")), paths)
}

/// Returns the eight bytes of a text from `start` on.
#[inline(always)]
fn first_bytes_at(text: &[u8], start: usize) -> u64 {
    match text.get(start..start + 8).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => first_bytes(&text[start..]) as u64,
    }
}

/// For each number of bytes up to eight, the mask of so many first bytes.
const MASKS: [u64; 16] = {
    let (mut all, mut bytes) = ([0; 16], 1);
    while bytes <= 8 {
        all[bytes] = all[bytes - 1] << 8 | 0xff;
        bytes += 1;
    }
    all
};

/// Returns how many of the first eight bytes of the pattern that is written as `value`, which `first` begins with, a path
/// has that matches: those up to the first that may not stand for itself, or none if the slash may be lacking.
#[inline]
fn known_bytes(first: u64, value: &[u8]) -> u8 {
    let chunk = u8x16::new(u128::from(first).to_le_bytes());
    let is_within = |chunk: u8x16, first, last| {
        chunk.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(chunk)
    };
    let letters = is_within(chunk | u8x16::splat(0x20), b'a', b'z');
    let known = (letters | is_within(chunk, b'-', b'9')).to_bitmask();
    match first as u8 {
        b'/' => known.trailing_ones().min(value.len() as u32) as u8,
        _ => 0,
    }
}

/// Returns whether the pattern of a rule that allows has a second one: that of a folder.
#[inline(never)]
fn names_page(value: &[u8], paths: &PathRules) -> bool {
    index_page(value, paths).is_some()
}

/// Returns the set of the bytes of a text, modulo 64.
fn set_of(text: &[u8]) -> u64 {
    text.iter().fold(0, |set, &byte| set | 1 << (byte % 64))
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
        let rules = WrittenRules::new(file, text, groups, paths);
        let bytes: u64 = rules.places.iter().map(|it| u64::from(it.end - it.start)).sum();
        let bytes_max = TRIED_BYTES_MAX / (bytes as usize).max(1);
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

    /// Like [`AskedRules::deciding`], for a path as written. The outer `None` if the path may have another
    /// normal form, or it needs an automaton.
    #[inline]
    pub(crate) fn deciding_if_plain(&self, path: &[u8]) -> Option<Option<Decision>> {
        let is_plain = IsPlain { path, escapes: self.paths.escapes };
        let Some(compiled) = self.compiled.get() else {
            return Vectors::detect().run(is_plain).then(|| self.try_or_compile(path));
        };
        let outcome = compiled.rules.decide_if(is_plain, path)?;
        Some(compiled.decision(outcome))
    }

    #[inline(never)]
    fn try_or_compile(&self, path: &[u8]) -> Option<Decision> {
        // Threads that count at once may compile a little later.
        match self.bytes_left.load(Ordering::Relaxed).checked_sub(path.len()) {
            Some(left) => {
                self.bytes_left.store(left, Ordering::Relaxed);
                self.rules.deciding(path, self.paths)
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
