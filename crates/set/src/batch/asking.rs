//! Where answers begin, and blocks of questions about them.
//!
//! A policy and a *column*, such as an agent, form an *entry*: policy number × columns + column. The
//! answers of an entry begin at a stored rule set, which the
//! [engine](portcullis_engine::block) asks, or are special: one decision holds for every path, an earlier
//! column has the same answers, or the rule set is too large to be stored and is built when it is asked.
//! Threads find starts once and share them.
//!
//! No answer is left from a block before: an entry whose start is not known, and a question that was not
//! answered, are unknown and never allowed.

use std::sync::atomic::{AtomicU32, Ordering};

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use zerocopy::FromZeros;

use portcullis_dialect::decision::{Decision, PolicyState, Reason, Verdict};
use portcullis_dialect::dialect::{AccessOutcome, PathRules};
use portcullis_engine::block::{Block, BlockMemory, Start};
use portcullis_engine::pattern::Pattern;
use portcullis_engine::{Cache, Line, Outcome, RuleSetBuf, Settings, StepCounts};
use portcullis_robots::policy::PatternKey;

use crate::Damage;
use crate::stored::{PolicyNumber, may_be_directory};

/// Replaces a policy number: no policy is known.
pub const NO_POLICY: u32 = u32::MAX;
/// Replaces a policy number: the record is not a URL.
pub const NO_URL: u32 = u32::MAX - 1;

/// The number of an entry: policy number × columns + column. The number of a policy is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(super) struct EntryNumber(u32);

impl EntryNumber {
    /// Replaces the entry of a question without a policy.
    pub const NO_POLICY: EntryNumber = EntryNumber(NO_POLICY);
    pub const NO_URL: EntryNumber = EntryNumber(NO_URL);

    /// Returns the entry of a policy that is there, where each has so many columns.
    #[inline]
    pub fn of(policy: PolicyNumber, columns: usize, column: usize) -> EntryNumber {
        EntryNumber((policy.index() * columns + column) as u32)
    }

    /// Returns the policy and the column; `None` without a policy.
    #[inline]
    pub fn parts(self, columns: usize) -> Option<(PolicyNumber, usize)> {
        let (number, is_marker) = (self.0 as usize, self.0 >= NO_URL);
        (!is_marker).then(|| (PolicyNumber((number / columns) as u32), number % columns))
    }
}

/// The entries that the questions of a block are about.
#[derive(Clone, Copy)]
pub(super) enum Entries<'b> {
    /// For each question, all entries of a policy, as many as are said: a policy, [`NO_POLICY`] or
    /// [`NO_URL`].
    OfPolicies(&'b [u32], usize),
    /// For each question one entry.
    Each(&'b [EntryNumber]),
}

impl Entries<'_> {
    /// Returns the number of questions.
    fn len(&self) -> usize {
        match self {
            Entries::OfPolicies(policies, _) => policies.len(),
            Entries::Each(entries) => entries.len(),
        }
    }

    /// Returns the number of answers to each question.
    fn columns(&self) -> usize {
        match self {
            Entries::OfPolicies(_, columns) => *columns,
            Entries::Each(_) => 1,
        }
    }

    /// Returns the entry of an answer to a question.
    fn entry(&self, question: usize, column: usize) -> EntryNumber {
        match *self {
            Entries::OfPolicies(policies, columns) => {
                EntryNumber::of(PolicyNumber(policies[question]), columns, column)
            }
            Entries::Each(entries) => entries[question],
        }
    }
}

/// The start of each entry, by which threads share what they find. Memory that was never written takes
/// no room.
///
/// The first [`MARKERS`] belong to questions without a policy, [`NO_URL`] and [`NO_POLICY`]: lists have such
/// questions at random, and a branch would be mispredicted.
#[derive(Debug)]
pub(super) struct Starts(Box<[AtomicU32]>);

/// The markers of questions without a policy. Added to one of them, this gives its place.
const MARKERS: u32 = 2;

/// The start of an entry that is not known yet. Its answer is unknown.
const UNRESOLVED: u32 = u32::MAX;

/// The answers of an entry are those of the column with the number above this.
const SHARED: u32 = 1 << 30;

/// The rule set of an entry is not stored.
const UNSTORED: u32 = SHARED - 1;

/// The numbers of decisions that hold for every path, after those of [`AccessOutcome`]s.
const NO_GROUP: u32 = 32;
const UNKNOWN: u32 = 33;
const INVALID: u32 = 34;
/// What rules decide: no rule matches, one disallows, one allows.
const RULES: u32 = 35;
/// The last number, also of outcomes that have none.
const LAST: u32 = 38;

/// The decisions by number, without their rules; unknown for numbers that have none. Their number is a power
/// of two, by which any number is taken.
static DECISIONS: [Decision; 64] = {
    let mut decisions = [Decision::UNKNOWN; 64];
    let mut state = 0;
    while state < PolicyState::ALL.len() {
        let mut verdict = 0;
        while verdict < Verdict::ALL.len() {
            let outcome =
                AccessOutcome { state: PolicyState::ALL[state], verdict: Verdict::ALL[verdict] };
            decisions[of_access(outcome) as usize] = outcome.decision();
            verdict += 1;
        }
        state += 1;
    }
    decisions[NO_GROUP as usize] = Decision::without_rule(Verdict::Allow, Reason::NoGroup);
    decisions[INVALID as usize] = Decision::INVALID;
    let [none, disallows, allows] = [RULES as usize, RULES as usize + 1, RULES as usize + 2];
    decisions[none] = Decision::without_rule(Verdict::Allow, Reason::NoRule);
    decisions[disallows] = Decision::without_rule(Verdict::Disallow, Reason::Rule);
    decisions[allows] = Decision::without_rule(Verdict::Allow, Reason::Rule);
    decisions
};

/// Returns the number of the decision without a file, or with a file without rules.
const fn of_access(outcome: AccessOutcome) -> u32 {
    outcome.state as u32 | (outcome.verdict as u32) << 3
}

/// Returns the decision of an outcome without its rule.
#[inline(always)]
fn decision_of(outcome: Outcome) -> Decision {
    // Numbers instead of branches, which would be mispredicted.
    let number = match outcome.as_opaque() {
        Some(opaque) => opaque.min(LAST),
        None => RULES + u32::from(outcome != Outcome::NONE) + u32::from(outcome.allows()),
    };
    DECISIONS[number as usize % DECISIONS.len()]
}

/// The start of an entry for which one decision holds.
pub(super) fn fixed(outcome: Option<AccessOutcome>) -> Start {
    Start::opaque(outcome.map_or(NO_GROUP, of_access))
}

/// The start of an entry whose answers are those of an earlier column.
pub(super) fn shared(column: usize) -> Start {
    Start::opaque(SHARED + column as u32)
}

/// The start of an entry whose rule set is not stored.
pub(super) const ON_DEMAND: Start = Start::opaque(UNSTORED);

impl Starts {
    /// Returns the starts of so many entries, none of which is known. `None` if the system refuses the
    /// memory.
    pub fn new(entries: usize) -> Option<Starts> {
        let entries = entries.checked_add(MARKERS as usize)?;
        let starts = Starts(<[AtomicU32]>::new_box_zeroed_with_elems(entries).ok()?);
        starts.set_at(0, &[INVALID, UNKNOWN].map(Start::opaque));
        Some(starts)
    }

    /// Returns the word of the start at a place; [`UNRESOLVED`] if it is not known.
    #[inline(always)]
    fn word_at(&self, place: usize) -> u32 {
        // A thread that sees a start sees what was stored before it.
        !self.0[place].load(Ordering::Acquire)
    }

    fn set_at(&self, first: usize, starts: &[Start]) {
        for (place, start) in (first..).zip(starts) {
            self.0[place].store(!start.word(), Ordering::Release);
        }
    }

    /// Returns whether the start of an entry is known.
    #[inline(always)]
    pub fn has(&self, entry: EntryNumber) -> bool {
        self.word_at(entry.0.wrapping_add(MARKERS) as usize) != UNRESOLVED
    }

    /// Stores the starts of entries, from the first on. Two threads may find and store the same.
    pub fn set(&self, first: EntryNumber, starts: &[Start]) {
        self.set_at(first.0 as usize + MARKERS as usize, starts);
    }

    /// Stores the starts of the answers to each question in `all`, and prefetches their rule sets. Returns
    /// the largest number: these loads are independent, so the processor overlaps them.
    fn collect(&self, entries: Entries<'_>, lines: &[Line], all: &mut Vec<Start>) -> u32 {
        match entries {
            Entries::Each(entries) => {
                self.collect_by(1, entries.len(), entries.iter().map(|it| it.0), lines, all)
            }
            Entries::OfPolicies(policies, columns) => {
                self.collect_by(columns, policies.len(), policies.iter().copied(), lines, all)
            }
        }
    }

    /// Like [`Starts::collect`], for so many questions. With one column, the numbers of policies are those of
    /// entries.
    #[inline(never)] // Its loop needs all registers.
    fn collect_by(
        &self,
        columns: usize,
        questions: usize,
        numbers: impl Iterator<Item = u32>,
        lines: &[Line],
        all: &mut Vec<Start>,
    ) -> u32 {
        let mut largest = 0;
        let mut load = |place: usize| {
            let word = self.word_at(place);
            largest = largest.max(word);
            let start = Start::from_word(word);
            start.prefetch(lines);
            start
        };
        all.resize(questions * columns, ON_DEMAND);
        if columns == 1 {
            // Neighbours in a grouped list share a policy, and those of others nearly never do.
            let (mut last, mut start) = (NO_POLICY, Start::opaque(UNKNOWN));
            for (own, number) in all.iter_mut().zip(numbers) {
                if number != last {
                    (last, start) = (number, load(number.wrapping_add(MARKERS) as usize));
                }
                *own = start;
            }
            return largest;
        }
        for (starts, policy) in all.chunks_exact_mut(columns.max(1)).zip(numbers) {
            match policy {
                NO_POLICY | NO_URL => starts.fill(load(policy.wrapping_add(MARKERS) as usize)),
                _ => {
                    let first = policy as usize * columns + MARKERS as usize;
                    starts.iter_mut().zip(first..).for_each(|(own, entry)| *own = load(entry));
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
    block: BlockMemory,
    unstored: UnstoredRuleSets,
    /// The decisions on the last block, by question, then by column.
    pub decisions: Vec<Decision>,
}

impl Asked {
    /// Answers each question. `resolve` finds the starts of entries that are asked about for the first time.
    /// `groups_of` has the policy and the groups of an entry whose rule set is not stored, and `build` builds
    /// rule sets of groups of a policy.
    ///
    /// # Errors
    ///
    /// Returns the errors of both. There are no outcomes then.
    #[inline]
    pub fn ask(
        &mut self,
        questions: Questions<'_>,
        resolve: impl FnOnce() -> Result<(), Damage>,
        groups_of: impl Fn(EntryNumber) -> Result<(PolicyNumber, Groups), Damage>,
        build: impl Fn(PolicyNumber, &[Groups]) -> Built,
    ) -> Result<(), Damage> {
        let Questions { lines, starts, settings, entries, paths } = questions;
        assert_eq!(entries.len(), paths.len(), "one path per question");
        self.block.clear();
        self.decisions.clear();
        let mut largest = starts.collect(entries, lines, &mut self.starts);
        if largest == UNRESOLVED {
            resolve()?;
            largest = starts.collect(entries, lines, &mut self.starts);
        }
        self.block.ask(Block { lines, starts: &self.starts, paths, settings });
        if largest >= Start::opaque(UNSTORED).word() {
            let answered = self.answer_special(questions, &groups_of, &build);
            if answered.is_err() {
                self.block.clear();
                self.unstored = UnstoredRuleSets::default();
                return answered;
            }
        }
        self.decisions.extend(self.block.outcomes().iter().map(|&outcome| decision_of(outcome)));
        Ok(())
    }

    /// Answers the questions whose rule sets are not stored, and those that share an answer.
    #[cold]
    #[inline(never)]
    fn answer_special(
        &mut self,
        Questions { settings, entries, paths, .. }: Questions<'_>,
        groups_of: &dyn Fn(EntryNumber) -> Result<(PolicyNumber, Groups), Damage>,
        build: &dyn Fn(PolicyNumber, &[Groups]) -> Built,
    ) -> Result<(), Damage> {
        let Asked { starts, block, unstored, .. } = self;
        unstored.deciding.clear();
        let (columns, mut special) = (entries.columns(), Vec::new());
        for (question, starts) in starts.chunks_exact(columns).enumerate() {
            let first = question * columns;
            special.clear();
            copy_shared(starts, &mut block.outcomes_mut()[first..], |column| {
                special.push((first + column, entries.entry(question, column)));
            });
            if special.is_empty() {
                continue;
            }
            let mut rest = &special[..];
            while !rest.is_empty() {
                let (built, others) = rest.split_at(unstored.build_some(rest, groups_of, build)?);
                for &(answer, entry) in built {
                    block.outcomes_mut()[answer] =
                        unstored.decide(answer, entry, paths[question], settings);
                }
                unstored.keep_within(settings.limits.automata_bytes_max, block.memory_bytes());
                rest = others;
            }
            copy_shared(starts, &mut block.outcomes_mut()[first..], |_| {});
        }
        Ok(())
    }

    /// Returns the outcomes of the last block, by question, then by column.
    pub fn outcomes(&self) -> &[Outcome] {
        self.block.outcomes()
    }

    /// Returns the record of the rule that decided an answer of the last block, counted from the first rule
    /// of its entry's first group, and its rule set unless that was forgotten because of the memory. `None`
    /// if the rule set is stored, or no rule decided.
    pub fn unstored(&self, mut answer: usize, columns: usize) -> Option<(u32, Option<&Unstored>)> {
        loop {
            let special = self.starts[answer].as_opaque()?;
            if special == UNSTORED {
                let &(record, number) = self.unstored.deciding.get(&answer)?;
                return Some((record, self.unstored.rule_set(number)));
            }
            let back = (answer % columns).checked_sub(special.checked_sub(SHARED)? as usize)?;
            answer = answer.checked_sub(back).filter(|_| back > 0)?;
        }
    }

    /// Returns the bytes held by automata and rule sets. The lists of one block are not counted.
    pub fn memory_bytes(&self) -> usize {
        self.block.memory_bytes() + self.unstored.memory_bytes()
    }

    /// Returns how often each step answered.
    pub fn step_counts(&self) -> StepCounts {
        let mut counts = self.block.step_counts();
        counts.work += self.unstored.cache.work();
        counts
    }
}

/// Copies the answers that columns share with earlier ones. Passes the columns whose rule sets are not
/// stored.
#[inline(always)]
fn copy_shared(starts: &[Start], outcomes: &mut [Outcome], mut unstored: impl FnMut(usize)) {
    for (column, start) in starts.iter().enumerate() {
        let special = start.as_opaque().unwrap_or_default();
        if special == UNSTORED {
            unstored(column);
        } else if let Some(other) = special.checked_sub(SHARED)
            && (other as usize) < column
        {
            outcomes[column] = outcomes[other as usize];
        }
    }
}

/// The groups of an entry, or some of them: the number and the record of the first rule of each.
type Groups = Vec<(u32, u32)>;

/// The rule sets of some groups each.
type Built = Result<Vec<Unstored>, Damage>;

/// A rule set that is not stored.
#[derive(Clone, Debug)]
pub(super) struct Unstored {
    pub rules: RuleSetBuf,
    /// The record of each pattern, counted from the first rule of its first group. Kept, because to find
    /// them the whole file is read.
    pub records: Vec<u32>,
    /// By pattern: of those of several rule sets of a policy that match, the least decides.
    pub keys: Vec<PatternKey>,
}

impl Unstored {
    /// Returns the pattern that is the text of a deciding rule: `pattern`, or the one of the index page whose
    /// directory it is.
    pub fn pattern_of_rule(&self, pattern: usize, paths: &PathRules) -> Option<Pattern<'_>> {
        let (rules, record) = (self.rules.as_rule_set(), self.records[pattern]);
        let (_, text) = rules.get(pattern)?;
        let first = match may_be_directory(text, paths) {
            true => self.records.iter().position(|it| *it == record)?,
            false => pattern,
        };
        rules.get(first).map(|(_, text)| text)
    }
}

/// Groups of an entry that are asked one by one: 64. The groups of an entry with more are one rule set.
///
/// Source: our choice. Many robots may share a large group beside small ones of their own, and a rule set
/// for each robot would take the large group once more each; asking one takes some 50 ns.
const GROUPS_ASKED_MAX: usize = 64;

/// A rule set that is built, by its number, and what is added to its records for those of an entry.
type Part = (u32, u32);

/// Rule sets that are not stored, as far as they were built: one for each group, which the entries of a policy
/// share. An entry is one policy and one column; nothing else has its number.
#[derive(Clone, Debug, Default)]
struct UnstoredRuleSets {
    entries: HashMap<EntryNumber, Box<[Part]>, RandomState>,
    /// By policy and groups.
    numbers: HashMap<(PolicyNumber, Groups), u32, RandomState>,
    /// From the number `first` on.
    rule_sets: Vec<Unstored>,
    /// One more than the last number that was forgotten.
    first: u32,
    bytes: usize,
    cache: Cache,
    /// For each answer of the block that a rule decided: its record in the entry, and the rule set.
    deciding: HashMap<usize, Part, RandomState>,
}

impl UnstoredRuleSets {
    /// Builds the rule sets of the first of some entries of one policy, as far as they are not known, in one
    /// reading of its file. Returns the number of these entries, at least one: with a rule set of its own,
    /// each entry may take as much memory as the file.
    fn build_some(
        &mut self,
        entries: &[(usize, EntryNumber)],
        groups_of: impl Fn(EntryNumber) -> Result<(PolicyNumber, Groups), Damage>,
        build: impl Fn(PolicyNumber, &[Groups]) -> Built,
    ) -> Result<usize, Damage> {
        let (mut missing, mut count, mut of_policy) = (Vec::new(), 0, None);
        for &(_, entry) in entries {
            count += 1;
            if self.entries.contains_key(&entry) {
                continue;
            }
            let (policy, groups) = groups_of(entry)?;
            of_policy = Some(policy);
            let are_few = groups.len() <= GROUPS_ASKED_MAX;
            let start = groups.first().map_or(0, |&(_, record)| record);
            self.bytes += size_of_val(&*groups);
            let at_once = if are_few { 1 } else { groups.len() };
            let parts = groups.chunks(at_once).map(|groups| {
                let offset = groups[0].1 - start;
                let next = self.first + (self.rule_sets.len() + missing.len()) as u32;
                let number = *self.numbers.entry((policy, groups.into())).or_insert_with(|| {
                    missing.push(groups.to_vec());
                    next
                });
                (number, offset)
            });
            let parts: Box<[Part]> = parts.collect();
            self.bytes += 2 * size_of::<(usize, Box<[Part]>)>() + size_of_val(&*parts);
            self.entries.insert(entry, parts);
            if !are_few {
                break;
            }
        }
        let Some(policy) = of_policy.filter(|_| !missing.is_empty()) else { return Ok(count) };
        for built in build(policy, &missing)? {
            let Unstored { rules, records, keys } = &built;
            self.bytes += 2 * size_of_val(&built)
                + rules.as_bytes().len()
                + size_of_val(&**records)
                + size_of_val(&**keys);
            self.rule_sets.push(built);
        }
        Ok(count)
    }

    fn decide(
        &mut self,
        answer: usize,
        entry: EntryNumber,
        path: &[u8],
        settings: &Settings,
    ) -> Outcome {
        let UnstoredRuleSets { entries, rule_sets, first, cache, deciding, .. } = self;
        let mut least = None;
        for &(number, offset) in &entries[&entry] {
            let Unstored { rules, records, keys } = &rule_sets[(number - *first) as usize];
            let outcome = rules.as_rule_set().decide_as(number, path, settings, cache);
            match outcome.pattern() {
                Some(pattern) => {
                    let found = (keys[pattern], outcome, (records[pattern] + offset, number));
                    least = Some(least.map_or(found, |least| found.min(least)));
                }
                None if outcome != Outcome::NONE => return outcome,
                None => {}
            }
        }
        let Some((_, outcome, place)) = least else { return Outcome::NONE };
        deciding.insert(answer, place);
        outcome
    }

    /// Returns the rule set with a number; `None` if it was forgotten.
    fn rule_set(&self, number: u32) -> Option<&Unstored> {
        self.rule_sets.get(number.checked_sub(self.first)? as usize)
    }

    fn memory_bytes(&self) -> usize {
        self.bytes + self.cache.memory_bytes()
    }

    /// Forgets all rule sets if they take more memory than allowed beside `others`. What decided the block
    /// stays.
    fn keep_within(&mut self, bytes_max: usize, others: usize) {
        if self.memory_bytes() > bytes_max.saturating_sub(others) {
            // Numbers are not given again while answers have them; a block has fewer than 2^31.
            let first = (self.first + self.rule_sets.len() as u32) % (1 << 31);
            let deciding = std::mem::take(&mut self.deciding);
            *self = UnstoredRuleSets { first, deciding, ..UnstoredRuleSets::default() };
        }
    }
}
