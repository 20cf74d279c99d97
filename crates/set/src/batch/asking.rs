//! Where answers begin, and blocks of questions about them.
//!
//! A policy and a *column*, such as an agent, form an *entry*: policy number × columns + column. The
//! answers of an entry begin at a rule set, which the [engine](portcullis_engine::block) asks, or are special
//! ([`Beginning`]): one decision holds for every path, an earlier column has the same answers, or several rule
//! sets are asked, and the best of their patterns decides. Threads find starts once and share them.
//!
//! The rule sets of entries with several are asked next to the block, as a block of their own.
//!
//! No answer is left from a block before: an entry whose start is not known, and a question that was not
//! answered, are unknown and never allowed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use zerocopy::FromZeros;

use portcullis_dialect::decision::{Answer, Decision, Reason, Verdict};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_engine::block::{Block, BlockMemory, Start};
use portcullis_engine::vectors::{Kind, Work};
use portcullis_engine::{Line, Outcome, Settings, StepCounts};

use super::pieces::Pieces;
use crate::Damage;
use crate::stored::{PatternKey, PolicyNumber, RecordPolicy, RuleGroupPlace};

/// The number of an entry: policy number × columns + column. The number of a policy is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(super) struct EntryNumber(u32);

impl EntryNumber {
    /// Returns what replaces the entry of a question without a policy.
    pub const fn without(policy: RecordPolicy) -> EntryNumber {
        EntryNumber(policy.0)
    }

    pub fn has_policy(self) -> bool {
        RecordPolicy(self.0).number().is_some()
    }

    /// Returns the entry of a policy that is there, where each has so many columns.
    #[inline]
    pub fn of(policy: PolicyNumber, columns: usize, column: usize) -> EntryNumber {
        EntryNumber((policy.index() * columns + column) as u32)
    }

    /// Returns the policy and the column; `None` without a policy.
    #[inline]
    pub fn parts(self, columns: usize) -> Option<(PolicyNumber, usize)> {
        let number = self.0 as usize;
        let parts = || (PolicyNumber((number / columns) as u32), number % columns);
        self.has_policy().then(parts)
    }
}

/// The entries that the questions of a block are about.
#[derive(Clone, Copy)]
pub(super) enum Entries<'b> {
    /// For each question, all entries of a policy, as many as are said.
    OfPolicies(&'b [RecordPolicy], usize),
    /// For each URL, the only entry of its policy.
    OfUrls(&'b Pieces),
    /// For each question one entry.
    Each(&'b [EntryNumber]),
}

impl Entries<'_> {
    /// Returns the number of questions.
    fn len(&self) -> usize {
        match self {
            Entries::OfPolicies(policies, _) => policies.len(),
            Entries::OfUrls(pieces) => pieces.len(),
            Entries::Each(entries) => entries.len(),
        }
    }

    /// Returns the number of answers to each question.
    fn columns(&self) -> usize {
        match self {
            Entries::OfPolicies(_, columns) => *columns,
            Entries::OfUrls(_) | Entries::Each(_) => 1,
        }
    }
}

/// The start of each entry, by which threads share what they find. Memory that was never written takes
/// no room.
///
/// The first [`MARKERS`] belong to questions without a policy, [`RecordPolicy::NO_URL`] and
/// [`RecordPolicy::UNKNOWN`]: lists have such questions at random, and a branch would be mispredicted.
#[derive(Debug)]
pub(super) struct Starts {
    words: Box<[AtomicU32]>,
    /// The rule groups of entries with several.
    several: RwLock<Vec<Box<[Part]>>>,
}

/// Where the answers of an entry begin.
pub(super) enum Beginning {
    /// The same decision for each path: without rules, or without a group for the agent if that is `None`.
    Fixed(Option<AccessOutcome>),
    /// A rule set.
    RuleSet(Start),
    /// The answers equal an earlier column.
    Shared(usize),
    /// Several rule sets, in the order of the entry.
    Several(Box<[Part]>),
}

/// A rule group of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub start: Start,
    pub place: RuleGroupPlace,
}

/// The markers of questions without a policy. Added to one of them, this gives its place.
const MARKERS: u32 = 2;

/// The start of an entry that is not known yet. Its answer is unknown.
const UNRESOLVED: u32 = u32::MAX;

/// The answers of an entry equal the column with the number above this.
const SHARED: u32 = 1 << 30;

/// The rule groups of an entry are those at the place with the number above this.
const SEVERAL: u32 = 1 << 29;

/// An opaque start, as its number says.
enum Special {
    Fixed,
    Several(usize),
    Shared(usize),
}

impl Special {
    /// Returns what a start is; `None` for a rule set.
    #[inline(always)]
    fn of(start: Start) -> Option<Special> {
        Some(match start.as_opaque()? {
            number @ SHARED.. => Special::Shared((number - SHARED) as usize),
            number @ SEVERAL.. => Special::Several((number - SEVERAL) as usize),
            _ => Special::Fixed,
        })
    }
}

/// The answers that hold for every path, whose codes are opaque starts.
const NO_GROUP: Answer = Answer::new(Verdict::Allow, Reason::NoGroup);
const UNKNOWN: Answer = Decision::UNKNOWN.answer();
const INVALID: Answer = Decision::INVALID.answer();

/// Returns the start of an answer that holds for every path.
const fn fixed(answer: Answer) -> Start {
    Start::opaque(answer.code() as u32)
}

/// Returns the answer of an outcome.
#[inline(always)]
fn answer_of(outcome: Outcome) -> Answer {
    const NO_RULE: Answer = Answer::new(Verdict::Allow, Reason::NoRule);
    const ALLOWS: Answer = Answer::new(Verdict::Allow, Reason::Rule);
    const DISALLOWS: Answer = Answer::new(Verdict::Disallow, Reason::Rule);
    // Numbers as wide as outcomes, and no branch: vectors answer several at once.
    let code = |answer: Answer| u32::from(answer.code());
    let of_rule = if outcome.allows() { code(ALLOWS) } else { code(DISALLOWS) };
    let of_rules = if outcome == Outcome::NONE { code(NO_RULE) } else { of_rule };
    Answer::of_code(outcome.as_opaque().unwrap_or(of_rules))
}

/// Writes the answers of outcomes into an empty list.
struct ToAnswers<'a> {
    outcomes: &'a [Outcome],
    answers: &'a mut Vec<Answer>,
}

impl Work for ToAnswers<'_> {
    type Output = ();

    #[inline(always)]
    fn with(self, _: impl Kind) {
        self.answers.resize(self.outcomes.len(), UNKNOWN);
        for (answer, outcome) in self.answers.iter_mut().zip(self.outcomes) {
            *answer = answer_of(*outcome);
        }
    }
}

impl Starts {
    /// Returns the starts of so many entries, none of which is known. `None` if the system refuses the
    /// memory.
    pub fn new(entries: usize) -> Option<Starts> {
        let entries = entries.checked_add(MARKERS as usize)?;
        let words = <[AtomicU32]>::new_box_zeroed_with_elems(entries).ok()?;
        let starts = Starts { words, several: RwLock::default() };
        starts.set_at(0, fixed(INVALID));
        starts.set_at(1, fixed(UNKNOWN));
        Some(starts)
    }

    /// Returns the word of the start at a place; [`UNRESOLVED`] if it is not known.
    #[inline(always)]
    fn word_at(&self, place: usize) -> u32 {
        // A thread that sees a start sees what was stored before it.
        !self.words[place].load(Ordering::Acquire)
    }

    fn set_at(&self, place: usize, start: Start) {
        self.words[place].store(!start.word(), Ordering::Release);
    }

    /// Returns whether the start of an entry is known.
    #[inline(always)]
    pub fn has(&self, entry: EntryNumber) -> bool {
        self.word_at(entry.0.wrapping_add(MARKERS) as usize) != UNRESOLVED
    }

    /// Stores where the answers of entries begin, from the first on. Two threads may find and store the same.
    ///
    /// # Panics
    ///
    /// If more than 2^29 entries have several rule groups, which take 24 GiB.
    pub fn set(&self, first: EntryNumber, beginnings: impl IntoIterator<Item = Beginning>) {
        for (place, beginning) in (first.0 as usize + MARKERS as usize..).zip(beginnings) {
            let start = match beginning {
                Beginning::Fixed(outcome) => {
                    fixed(outcome.map_or(NO_GROUP, |it| it.decision().answer()))
                }
                Beginning::RuleSet(start) => start,
                Beginning::Shared(column) => Start::opaque(SHARED + column as u32),
                Beginning::Several(parts) => {
                    let mut several = self.several.write().unwrap_or_else(PoisonError::into_inner);
                    assert!(
                        several.len() < SEVERAL as usize,
                        "too many entries with several rule groups"
                    );
                    several.push(parts);
                    Start::opaque(SEVERAL + several.len() as u32 - 1)
                }
            };
            self.set_at(place, start);
        }
    }

    /// Stores the starts of the answers to each question, and the policies of URLs, in `asked`, and prefetches their
    /// rule sets. Returns the largest number: these loads are independent, so the processor overlaps them.
    #[inline(never)] // Its loops need all registers.
    fn collect(&self, entries: Entries<'_>, lines: &[Line], asked: &mut Asked) -> u32 {
        let mut largest = 0;
        let mut load = |place: usize| {
            let word = self.word_at(place);
            largest = largest.max(word);
            let start = Start::from_word(word);
            start.prefetch(lines);
            start
        };
        let Asked { starts: all, policies, .. } = asked;
        all.resize(entries.len() * entries.columns(), fixed(UNKNOWN));
        // Without a policy, or with one column, an entry has the number of the policy.
        let place = |number: u32| number.wrapping_add(MARKERS) as usize;
        match entries {
            Entries::OfUrls(pieces) => pieces.spread(policies, all, |it| load(place(it.0))),
            Entries::Each(entries) => {
                all.iter_mut().zip(entries).for_each(|(own, entry)| *own = load(place(entry.0)));
            }
            Entries::OfPolicies(policies, 1) => {
                all.iter_mut().zip(policies).for_each(|(own, it)| *own = load(place(it.0)));
            }
            Entries::OfPolicies(policies, columns) => {
                for (starts, policy) in all.chunks_exact_mut(columns.max(1)).zip(policies) {
                    match policy.number() {
                        None => starts.fill(load(place(policy.0))),
                        Some(policy) => {
                            let first = policy.index() * columns + MARKERS as usize;
                            let own = starts.iter_mut().zip(first..);
                            own.for_each(|(own, entry)| *own = load(entry));
                        }
                    }
                }
            }
        }
        largest
    }
}

/// The entries and the path of each question, the rule sets that are asked, and where the answers of each
/// entry begin.
#[derive(Clone, Copy)]
pub(super) struct Questions<'b> {
    /// The lines of all stored rule sets.
    pub lines: &'b [Line],
    pub starts: &'b Starts,
    pub settings: &'b Settings,
    pub entries: Entries<'b>,
    /// In normal form.
    pub paths: &'b [&'b [u8]],
}

/// The memory of one thread for blocks of questions about one table.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    starts: Vec<Start>,
    /// The policies of the URLs of the last block that was asked about by URL.
    pub policies: Vec<RecordPolicy>,
    block: BlockMemory,
    /// For each answer that one of several rule groups decided: its number, and the place of the rule group in
    /// the entry. Ascending.
    deciding: Vec<(usize, usize)>,
    /// The decisions on the last block, by question, then by column.
    pub decisions: Vec<Answer>,
}

impl Asked {
    /// Answers each question. `resolve` finds the starts of entries that are asked about for the first time.
    /// `key_of` returns the key of a pattern of a rule group.
    ///
    /// # Errors
    ///
    /// Returns the errors of both. There are no outcomes then.
    #[inline]
    pub fn ask(
        &mut self,
        questions: Questions<'_>,
        resolve: impl FnOnce() -> Result<(), Damage>,
        key_of: impl Fn(&RuleGroupPlace, Outcome) -> Result<PatternKey, Damage>,
    ) -> Result<(), Damage> {
        let Questions { lines, starts, settings, entries, paths } = questions;
        assert_eq!(entries.len(), paths.len(), "one path per question");
        self.block.clear();
        self.decisions.clear();
        let mut largest = starts.collect(entries, lines, self);
        if largest == UNRESOLVED {
            resolve()?;
            largest = starts.collect(entries, lines, self);
        }
        self.block.query(Block { lines, starts: &self.starts, paths, settings });
        if largest >= Start::opaque(SEVERAL).word()
            && let Err(damage) = self.answer_special(questions, &key_of)
        {
            self.block.clear();
            return Err(damage);
        }
        let (outcomes, answers) = (self.block.outcomes(), &mut self.decisions);
        settings.vectors.run(ToAnswers { outcomes, answers });
        Ok(())
    }

    /// Answers the questions about entries with several rule groups, and those that share an answer.
    #[inline(never)]
    fn answer_special(
        &mut self,
        questions: Questions<'_>,
        key_of: KeyOf<'_>,
    ) -> Result<(), Damage> {
        let Asked { starts, block, deciding, .. } = self;
        let columns = questions.entries.columns();
        deciding.clear();
        let several = questions.starts.several.read().unwrap_or_else(PoisonError::into_inner);
        let mut asked = AskedParts::default();
        let mut has_shared = false;
        for (chunk, first) in starts.chunks(STARTS_AT_ONCE).zip((0..).step_by(STARTS_AT_ONCE)) {
            // Not less than the largest, and vectors find it.
            let bits = chunk.iter().fold(0, |bits, start| bits | start.word());
            if bits < Start::opaque(SEVERAL).word() {
                continue;
            }
            for (answer, &start) in (first..).zip(chunk) {
                match Special::of(start) {
                    Some(Special::Several(place)) => {
                        let question = answer / columns;
                        if asked.starts.len() + several[place].len() > PARTS_AT_ONCE {
                            asked.answer(questions, block, key_of, deciding)?;
                        }
                        asked.add((answer, question), &several[place], questions, columns > 1);
                    }
                    Some(Special::Shared(_)) => has_shared = true,
                    Some(Special::Fixed) | None => {}
                }
            }
        }
        asked.answer(questions, block, key_of, deciding)?;
        if has_shared {
            let outcomes = block.outcomes_mut();
            for (starts, outcomes) in
                starts.chunks_exact(columns).zip(outcomes.chunks_exact_mut(columns))
            {
                copy_shared(starts, outcomes);
            }
        }
        Ok(())
    }

    /// Returns the outcomes of the last block, by question, then by column.
    pub fn outcomes(&self) -> &[Outcome] {
        self.block.outcomes()
    }

    /// Returns the place in its entry of the rule group that decided an answer of the last block.
    pub fn deciding_part(&self, mut answer: usize, columns: usize) -> usize {
        if let Some(Special::Shared(column)) = Special::of(self.starts[answer]) {
            answer = answer - answer % columns + column;
        }
        let place = self.deciding.binary_search_by_key(&answer, |&(answer, _)| answer);
        match Special::of(self.starts[answer]) {
            Some(Special::Several(_)) => place.map_or(0, |place| self.deciding[place].1),
            _ => 0,
        }
    }

    /// Returns the bytes held by automata. The lists of one block are not counted.
    pub fn memory_bytes(&self) -> usize {
        self.block.memory_bytes()
    }

    /// Returns how often each step answered.
    pub fn step_counts(&self) -> StepCounts {
        self.block.step_counts()
    }
}

/// Copies the answers that columns share with earlier ones.
fn copy_shared(starts: &[Start], outcomes: &mut [Outcome]) {
    for (column, &start) in starts.iter().enumerate() {
        if let Some(Special::Shared(other)) = Special::of(start)
            && other < column
        {
            outcomes[column] = outcomes[other];
        }
    }
}

/// Starts that are searched at once for entries of several rule groups, which few have.
const STARTS_AT_ONCE: usize = 16;

/// Rule sets that are asked at once for entries with several: 4,096, or all of one entry.
///
/// Source: our choice; 24 bytes each. A file can name an agent in ten thousand groups.
const PARTS_AT_ONCE: usize = 4 * 1024;

/// Returns the key of a pattern of a rule group.
type KeyOf<'k> = &'k dyn Fn(&RuleGroupPlace, Outcome) -> Result<PatternKey, Damage>;

/// Questions about entries with several rule groups, of which a rule set is asked once for each path.
#[derive(Default)]
struct AskedParts<'b> {
    starts: Vec<Start>,
    paths: Vec<&'b [u8]>,
    /// The answers, each with the rule groups of its entry.
    answers: Vec<(usize, &'b [Part])>,
    /// For each rule group of each answer, which of the rule sets that are asked is its own.
    numbers: Vec<u32>,
    /// The rule sets that are asked about the path of a question.
    known: HashMap<(usize, u32), u32, RandomState>,
}

impl<'b> AskedParts<'b> {
    /// Adds an answer to a question. If a question has several, they may have rule sets in common.
    fn add(
        &mut self,
        (answer, question): (usize, usize),
        parts: &'b [Part],
        Questions { lines, paths, .. }: Questions<'b>,
        has_columns: bool,
    ) {
        self.answers.push((answer, parts));
        for Part { start, .. } in parts {
            let next = self.starts.len() as u32;
            let number = match has_columns {
                true => *self.known.entry((question, start.word())).or_insert(next),
                false => next,
            };
            self.numbers.push(number);
            if number == next {
                start.prefetch(lines);
                self.starts.push(*start);
                self.paths.push(paths[question]);
            }
        }
    }

    /// Answers all, and forgets them.
    fn answer(
        &mut self,
        Questions { lines, settings, .. }: Questions<'_>,
        block: &mut BlockMemory,
        key_of: KeyOf<'_>,
        deciding: &mut Vec<(usize, usize)>,
    ) -> Result<(), Damage> {
        let AskedParts { starts, paths, answers, numbers, known } = self;
        let (found, outcomes) = block.query_next(Block { lines, starts, paths, settings });
        let mut rest = &numbers[..];
        for &(answer, parts) in &*answers {
            let own;
            (own, rest) = rest.split_at(parts.len());
            let of_parts = own.iter().map(|&number| found[number as usize]);
            let (outcome, part) = best(parts, of_parts, key_of)?;
            outcomes[answer] = outcome;
            deciding.extend(part.map(|part| (answer, part)));
        }
        starts.clear();
        paths.clear();
        answers.clear();
        numbers.clear();
        known.clear();
        Ok(())
    }
}

/// Returns the outcome of an entry from its rule groups, and the rule group that decides, if one has
/// a pattern that matches. Keys are read if several have.
fn best(
    parts: &[Part],
    outcomes: impl Iterator<Item = Outcome> + Clone,
    key_of: KeyOf<'_>,
) -> Result<(Outcome, Option<usize>), Damage> {
    let matching = outcomes.clone().enumerate().filter(|(_, outcome)| *outcome != Outcome::NONE);
    let mut least: Option<(PatternKey, (usize, Outcome))> = None;
    let mut only = None;
    let is_one = matching.clone().nth(1).is_none();
    for (part, outcome) in matching {
        if outcome.as_opaque().is_some() {
            return Ok((outcome, None)); // It is lost.
        }
        if is_one {
            only = Some((part, outcome));
            continue;
        }
        let key = key_of(&parts[part].place, outcome)?;
        if least.is_none_or(|(other, _)| key < other) {
            least = Some((key, (part, outcome)));
        }
    }
    let found = only.or(least.map(|(_, found)| found));
    Ok(found.map_or((Outcome::NONE, None), |(part, outcome)| (outcome, Some(part))))
}
