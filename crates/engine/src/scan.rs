//! A scan: all patterns of a rule set in one pass over a path, without states.
//!
//! It stands in where an automaton would not pay. A pattern matches if its first literal is a prefix
//! of the path, each later literal follows the one before, and an anchored last literal ends the path.
//!
//! Patterns that begin with the same literals are found together: the *steps* of all patterns are a
//! tree. A step is found where its literal first occurs after the step before it, and the steps
//! after it wait from there. So a path visits a step at most twice: when it begins to wait, and when
//! it is found.
//!
//! The first literals, which are prefixes, are sorted, and each knows its *parent*, the longest other
//! one that is a prefix of it. A binary search finds the last one not above the path; only it and
//! its ancestors can begin the path.
//!
//! The distinct literals after stars are sorted in the same way. At each position of the path, a
//! binary search finds the last literal not above the rest of the path, and compares no byte that is
//! known to be equal; only this literal and its ancestors can occur there. Of those, the ones that a step waits for are marked in a bit set, in
//! which a literal and its ancestors are a few ranges (a heavy path decomposition). Literals longer
//! than [`SEARCHED_BYTES_MAX`] are few, and each is searched for when a step begins to wait for it.
//!
//! Cost per path: one search of the prefixes; for each byte a binary search, and the bytes that it
//! has in common with a literal; for each step of the tree two visits; for each step with a long literal a
//! search. Building sorts the literals and the patterns. Memory: about forty bytes per literal.

use memchr::memmem;

use crate::bytes::first_bytes;
use crate::limits::SEARCHED_BYTES_MAX;
use crate::pattern::Pattern;

/// No literal, step or pattern.
const NONE: u32 = u32::MAX;

/// In [`Step::literal`]: the literal is the last of an anchored pattern, and ends the path.
const ENDS_PATH: u32 = 1 << 31;

/// In [`Step::literal`]: nothing, the prefix before it is the whole path.
const WHOLE: u32 = NONE;

/// The literals of a rule set, and the tree of its steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner {
    /// The literals of all patterns, one after another.
    bytes: Vec<u8>,
    /// The distinct prefixes, ascending.
    prefixes: Vec<Prefix>,
    /// The distinct literals after stars, ascending: `searched` of them, then the long ones.
    literals: Vec<ScannedLiteral>,
    searched: usize,
    /// For each first byte: the first literal that starts with it; then the number of literals.
    starts: Vec<u32>,
    /// A bit for each searched literal, by its slot: whether a step waits for it.
    waiting: Vec<u64>,
    /// The patterns that wait from the beginning of a path: they have no prefix.
    waiting_first: Vec<u64>,
    /// Steps without a prefix that are compared or searched for at the beginning of a path.
    compared_first: Vec<u32>,
    /// The literal of each slot.
    of_slots: Vec<u32>,
    /// The steps, each before those after it.
    steps: Vec<Step>,
    /// By position of the path: the first step whose followers wait from there on.
    found_at: Vec<u32>,
    /// The number of paths so far; marks per-path state as current.
    round: u32,
}

/// A text of a rule set, in a sorted list of distinct ones.
#[derive(Clone, Copy, Debug, Default)]
struct Text {
    /// The position in the bytes of all patterns.
    start: u32,
    length: u32,
    /// The longest other text of the list that is a prefix of this one.
    parent: u32,
}

impl Text {
    #[inline]
    fn of<'p>(&self, bytes: &'p [u8]) -> &'p [u8] {
        &bytes[self.start as usize..][..self.length as usize]
    }

    fn is_long(&self) -> bool {
        self.length as usize > SEARCHED_BYTES_MAX
    }
}

/// The first literal of patterns.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    text: Text,
    /// The step of the prefix.
    step: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct ScannedLiteral {
    text: Text,
    /// The bit in [`Scanner::waiting`]. An ancestor on the same heavy path has a lower one.
    slot: u32,
    /// The first slot of the heavy path.
    first_slot: u32,
    /// Bytes in common with the literals on both sides of it that a binary search compares before it.
    common_low: u32,
    common_high: u32,
    /// The step without a prefix whose literal this is; it waits at the beginning of each path.
    first: u32,
    /// In this round: the first step that waits for the literal.
    list: u32,
    round: u32,
}

/// Patterns up to one of their literals.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Its last literal, which may be [`ENDS_PATH`] or [`WHOLE`].
    literal: u32,
    /// The first step after it.
    child: u32,
    /// The next step after the same one.
    sibling: u32,
    /// The first pattern that ends with this step; [`NONE`] if none does.
    pattern: u32,
    /// The first pattern that has this step.
    best: u32,
    /// The next step in the list of [`ScannedLiteral::list`] or [`Scanner::found_at`].
    next: u32,
}

/// One path, and the matches found so far.
struct Pass<'p> {
    /// The bytes of all patterns.
    bytes: &'p [u8],
    path: &'p [u8],
    /// The first pattern that matches.
    best: u32,
    /// Steps that wait, or whose followers will.
    live: u32,
    /// Bytes, steps and literals visited; bytes are compared 64 at a time.
    work: u64,
}

/// Bytes of a head.
const HEAD_BYTES: u32 = u64::BITS / 8;

/// Returns the first bytes of `text` as a number with the same order.
fn head(text: &[u8]) -> u64 {
    (first_bytes(text) as u64).swap_bytes()
}

/// Texts of a rule set, numbered as they come; equal ones too.
#[derive(Default)]
struct Texts {
    /// By number. Most texts differ in their heads, which are compared without a memory access.
    texts: Vec<(u64, Text)>,
}

impl Texts {
    /// Returns the number of the text at `start` of the bytes.
    #[inline]
    fn number(&mut self, text: &[u8], start: usize) -> u32 {
        let number = self.texts.len() as u32;
        let length = text.len() as u32;
        // Until the texts are sorted, `parent` is the number.
        self.texts.push((head(text), Text { start: start as u32, length, parent: number }));
        number
    }

    /// Returns the distinct texts, ascending, and the place of each number among them. `bytes` are
    /// the bytes of all patterns.
    fn sorted(mut self, bytes: &[u8]) -> (Vec<Text>, Vec<u32>) {
        let of = |text: &Text| text.of(bytes);
        self.texts.sort_unstable_by(|(head, text), (other_head, other)| {
            head.cmp(other_head).then_with(|| match text.length.max(other.length) {
                // All of both is in their heads, but for zeros at the end.
                ..=HEAD_BYTES => text.length.cmp(&other.length),
                _ => of(text).cmp(of(other)),
            })
        });
        let mut ranks = vec![0; self.texts.len()];
        let mut sorted: Vec<Text> = Vec::new();
        let mut last_head = 0;
        for (head, text) in self.texts {
            let is_same = |last: &Text| {
                let is_whole = text.length <= HEAD_BYTES;
                let are_alike = (last_head, last.length) == (head, text.length);
                are_alike && (is_whole || of(last) == of(&text))
            };
            if !sorted.last().is_some_and(is_same) {
                last_head = head;
                let parent = parent_of(of(&text), &sorted, bytes);
                sorted.push(Text { parent, ..text });
            }
            ranks[text.parent as usize] = sorted.len() as u32 - 1;
        }
        (sorted, ranks)
    }
}

/// Returns the longest of the `smaller` texts that is a prefix of `text`, or [`NONE`].
fn parent_of(text: &[u8], smaller: &[Text], bytes: &[u8]) -> u32 {
    let mut parent = (smaller.len() as u32).wrapping_sub(1);
    while let Some(before) = smaller.get(parent as usize) {
        if text.starts_with(before.of(bytes)) {
            break;
        }
        parent = before.parent;
    }
    parent
}

/// Returns the place of each text if the long ones come last.
fn long_last(texts: &[Text]) -> Vec<u32> {
    let (mut short, mut long) = (0, texts.iter().filter(|text| !text.is_long()).count() as u32);
    let place = |text: &Text| {
        let next = if text.is_long() { &mut long } else { &mut short };
        *next += 1;
        *next - 1
    };
    texts.iter().map(place).collect()
}

/// Divides literals, of which parents come first, into heavy paths: each literal is followed by the
/// child with the most descendants. Sets the slots and returns the literal of each slot.
fn set_slots(literals: &mut [ScannedLiteral]) -> Vec<u32> {
    let mut sizes = vec![1_u32; literals.len()];
    let mut heavy = vec![NONE; literals.len()];
    for (number, literal) in literals.iter().enumerate().rev() {
        let parent = literal.text.parent as usize;
        if literal.text.parent != NONE {
            sizes[parent] += sizes[number];
            if heavy[parent] == NONE || sizes[number] > sizes[heavy[parent] as usize] {
                heavy[parent] = number as u32;
            }
        }
    }
    let mut of_slots = Vec::with_capacity(literals.len());
    for number in 0..literals.len() as u32 {
        let parent = literals[number as usize].text.parent;
        if parent != NONE && heavy[parent as usize] == number {
            continue;
        }
        let (first_slot, mut next) = (of_slots.len() as u32, number);
        while next != NONE {
            let literal = &mut literals[next as usize];
            (literal.slot, literal.first_slot) = (of_slots.len() as u32, first_slot);
            of_slots.push(next);
            next = heavy[next as usize];
        }
    }
    of_slots
}

/// Sets what each literal has in common with those that a binary search compares before it. `starts`
/// are the bounds of the searches.
fn set_common(literals: &mut [ScannedLiteral], starts: &[u32], bytes: &[u8]) {
    let neighbours = literals.windows(2).map(|two| {
        let [one, other] = [0, 1].map(|place: usize| two[place].text.of(bytes));
        common_bytes(one, other) as u32
    });
    // By literal: bytes in common with the one before it.
    let common: Vec<u32> = std::iter::once(0).chain(neighbours).collect();
    for bounds in starts.windows(2) {
        let (start, end) = (bounds[0] as usize, bounds[1] as usize);
        set_common_within(literals, &common, (start, end), (start, end));
    }
}

/// Sets what the literals of a range have in common with those around them. Returns what the one before
/// the range and the one after it have in common.
fn set_common_within(
    literals: &mut [ScannedLiteral],
    common: &[u32],
    bounds: (usize, usize),
    (low, high): (usize, usize),
) -> u32 {
    if low >= high {
        // Neighbours. Nothing is in common with what is outside the bounds.
        let is_inside = bounds.0 < low && low < bounds.1;
        return if is_inside { common[low] } else { 0 };
    }
    let middle = usize::midpoint(low, high);
    let with_low = set_common_within(literals, common, bounds, (low, middle));
    let with_high = set_common_within(literals, common, bounds, (middle + 1, high));
    (literals[middle].common_low, literals[middle].common_high) = (with_low, with_high);
    with_low.min(with_high)
}

/// A pattern while the tree is built.
struct Sequence {
    /// The first numbers, in which most sequences differ.
    head: u128,
    /// The numbers of its literals, the prefix first.
    numbers: std::ops::Range<u32>,
    is_anchored: bool,
    pattern: u32,
}

impl Scanner {
    /// Prepares the scan of patterns in order of precedence.
    pub(crate) fn new<'p>(patterns: impl Iterator<Item = Pattern<'p>>) -> Scanner {
        let mut bytes = Vec::new();
        let (mut prefixes, mut literals) = (Texts::default(), Texts::default());
        let (mut numbers, mut sequences) = (Vec::new(), Vec::new());
        for (pattern, index) in patterns.zip(0..) {
            let first = numbers.len();
            for literal in pattern.literals() {
                numbers.push(match numbers.len() == first {
                    true => prefixes.number(literal, bytes.len()),
                    false => literals.number(literal, bytes.len()),
                });
                bytes.extend_from_slice(literal);
            }
            let is_anchored = pattern.is_anchored();
            if is_anchored && numbers.len() == first + 1 {
                numbers.push(WHOLE);
            }
            let numbers = first as u32..numbers.len() as u32;
            sequences.push(Sequence { head: 0, numbers, is_anchored, pattern: index });
        }
        bytes.shrink_to_fit();
        let (prefixes, prefix_ranks) = prefixes.sorted(&bytes);
        let (literals, ranks) = literals.sorted(&bytes);
        let places = long_last(&literals);
        for sequence in &mut sequences {
            let numbers =
                &mut numbers[sequence.numbers.start as usize..sequence.numbers.end as usize];
            let (prefix, rest) = numbers.split_first_mut().expect("a pattern has a prefix");
            *prefix = prefix_ranks[*prefix as usize];
            for number in rest.iter_mut().filter(|number| **number != WHOLE) {
                *number = places[ranks[*number as usize] as usize];
            }
            if let Some(last) = rest.last_mut().filter(|_| sequence.is_anchored) {
                *last |= ENDS_PATH;
            }
            // One more than a number, so that the end of a sequence is below all of them.
            let word = |place: usize| numbers.get(place).map_or(0, |it| it.wrapping_add(1));
            let words = (0..4).map(|place| u128::from(word(place)));
            sequence.head = words.fold(0, |head, word| head << 32 | word);
        }
        drop((prefix_ranks, ranks));
        let prefix = |text| Prefix { text, step: NONE };
        let mut scanner = Scanner::from_literals(&literals, &places, bytes);
        scanner.prefixes = prefixes.into_iter().map(prefix).collect();
        scanner.add_steps(sequences, &numbers);
        scanner
    }

    /// Returns a scanner without prefixes and steps.
    fn from_literals(texts: &[Text], places: &[u32], bytes: Vec<u8>) -> Scanner {
        let new = ScannedLiteral { first: NONE, list: NONE, ..ScannedLiteral::default() };
        let mut literals = vec![new; texts.len()];
        for (text, &place) in texts.iter().zip(places) {
            let parent = places.get(text.parent as usize).copied().unwrap_or(NONE);
            literals[place as usize].text = Text { parent, ..*text };
        }
        let searched = texts.iter().filter(|text| !text.is_long()).count();
        // A parent is shorter, so that of a searched literal is searched too.
        let of_slots = set_slots(&mut literals[..searched]);
        let begins_before = |byte: usize| {
            let is_before = |literal: &ScannedLiteral| {
                literal.text.of(&bytes).first().is_none_or(|&first| usize::from(first) < byte)
            };
            literals[..searched].partition_point(is_before) as u32
        };
        let starts: Vec<u32> = (0..=256).map(begins_before).collect();
        set_common(&mut literals[..searched], &starts, &bytes);
        let waiting = vec![0; searched.div_ceil(WORD_BITS)];
        Scanner {
            bytes,
            literals,
            searched,
            starts,
            waiting_first: waiting.clone(),
            waiting,
            of_slots,
            ..Scanner::default()
        }
    }

    /// Builds the tree of steps.
    fn add_steps(&mut self, mut sequences: Vec<Sequence>, numbers: &[u32]) {
        let numbers_of =
            |it: &Sequence| &numbers[it.numbers.start as usize..it.numbers.end as usize];
        sequences.sort_unstable_by(|one, other| {
            one.head.cmp(&other.head).then_with(|| numbers_of(one).cmp(numbers_of(other)))
        });
        self.steps.reserve(numbers.len().min(2 * sequences.len()));
        // The steps of the sequence before.
        let mut open: Vec<u32> = Vec::new();
        let mut before: &[u32] = &[];
        for sequence in &sequences {
            let own = numbers_of(sequence);
            let shared = own.iter().zip(before).take_while(|(one, other)| one == other).count();
            let mut elder = open.get(shared).copied();
            open.truncate(shared);
            for &literal in &own[shared..] {
                let step = self.steps.len() as u32;
                let [child, sibling, pattern, best, next] = [NONE; 5];
                self.steps.push(Step { literal, child, sibling, pattern, best, next });
                match (elder.take(), open.last()) {
                    (_, None) => self.prefixes[literal as usize].step = step,
                    (Some(elder), _) => self.steps[elder as usize].sibling = step,
                    (None, Some(&parent)) => self.steps[parent as usize].child = step,
                }
                let is_first = open.len() == 1;
                if is_first && self.prefixes[own[0] as usize].text.length == 0 {
                    self.wait_first(step);
                }
                open.push(step);
            }
            let last = open.last().expect("a pattern has a prefix");
            let pattern = &mut self.steps[*last as usize].pattern;
            *pattern = (*pattern).min(sequence.pattern);
            for &step in &open {
                let best = &mut self.steps[step as usize].best;
                *best = (*best).min(sequence.pattern);
            }
            before = own;
        }
        self.steps.shrink_to_fit();
    }

    /// Adds a step without a prefix to those that wait at the beginning of each path.
    fn wait_first(&mut self, step: u32) {
        let number = self.steps[step as usize].literal as usize;
        match self.literals[..self.searched].get_mut(number) {
            Some(literal) => {
                literal.first = step;
                self.waiting_first[literal.slot as usize / WORD_BITS] |= bit_of(literal.slot);
            }
            None => self.compared_first.push(step),
        }
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
            + size_of_val(&*self.prefixes)
            + size_of_val(&*self.literals)
            + size_of_val(&*self.starts)
            + 2 * size_of_val(&*self.waiting)
            + size_of_val(&*self.compared_first)
            + size_of_val(&*self.of_slots)
            + size_of_val(&*self.steps)
            + self.found_at.capacity() * size_of::<u32>()
    }

    /// Returns the first pattern that matches `path`, and the work: pieces of 64 bytes compared, and
    /// literals and steps visited.
    pub(crate) fn first_match(&mut self, path: &[u8]) -> (Option<usize>, u64) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.literals.iter_mut().for_each(|literal| literal.round = 0);
            1
        });
        self.waiting.copy_from_slice(&self.waiting_first);
        self.found_at.clear();
        self.found_at.resize(path.len() + 1, NONE);
        // Taken for the pass: its steps change the rest of the scanner.
        let bytes = std::mem::take(&mut self.bytes);
        let mut pass = Pass { bytes: &bytes, path, best: NONE, live: 0, work: 0 };
        self.begin(&mut pass);
        for place in 0..=path.len() {
            if pass.best == 0 || pass.live == 0 {
                break;
            }
            self.wait_from(place, &mut pass);
            self.find_at(place, &mut pass);
        }
        let (best, work) = (pass.best, pass.work);
        self.bytes = bytes;
        ((best != NONE).then_some(best as usize), work)
    }

    /// Finds the prefixes that begin the path.
    fn begin(&mut self, pass: &mut Pass<'_>) {
        let is_not_above = |prefix: &Prefix| prefix.text.of(pass.bytes) <= pass.path;
        let behind = self.prefixes.partition_point(is_not_above);
        let Some(last) = behind.checked_sub(1) else { return };
        let common = common_bytes(self.prefixes[last].text.of(pass.bytes), pass.path);
        let mut number = last as u32;
        while number != NONE {
            let Prefix { text, step } = self.prefixes[number as usize];
            pass.work += 1;
            match text.length as usize {
                // Its steps wait already.
                0 => self.begin_without_prefix(step, pass),
                length if length <= common => self.find_step(step, length, pass),
                _ => {}
            }
            number = text.parent;
        }
    }

    fn begin_without_prefix(&mut self, step: u32, pass: &mut Pass<'_>) {
        pass.best = pass.best.min(self.steps[step as usize].pattern);
        pass.live += self.waiting.iter().map(|word| word.count_ones()).sum::<u32>();
        for place in 0..self.compared_first.len() {
            self.wait(self.compared_first[place], 0, pass);
        }
    }

    /// Lets the steps wait whose predecessor ends at `place`.
    fn wait_from(&mut self, place: usize, pass: &mut Pass<'_>) {
        let mut found = self.found_at[place];
        while found != NONE {
            let Step { child: mut step, next, .. } = self.steps[found as usize];
            pass.live -= 1;
            while step != NONE {
                self.wait(step, place, pass);
                step = self.steps[step as usize].sibling;
            }
            found = next;
        }
    }

    /// Lets a step wait from `place` on, or decides at once whether it can be found.
    fn wait(&mut self, number: u32, place: usize, pass: &mut Pass<'_>) {
        let Step { literal, best, pattern, .. } = self.steps[number as usize];
        pass.work += 1;
        if best >= pass.best {
            return;
        }
        let rest = &pass.path[place..];
        if literal & ENDS_PATH != 0 {
            let ends = match literal {
                WHOLE => rest.is_empty(),
                _ => {
                    let text = self.literals[(literal & !ENDS_PATH) as usize].text.of(pass.bytes);
                    pass.work += pieces(text.len().min(rest.len()));
                    rest.ends_with(text)
                }
            };
            if ends {
                pass.best = pattern;
            }
            return;
        }
        if literal as usize >= self.searched {
            let text = self.literals[literal as usize].text.of(pass.bytes);
            if text.len() <= rest.len() {
                pass.work += pieces(text.len()) + pieces(rest.len());
                if let Some(position) = memmem::find(rest, text) {
                    self.find_step(number, place + position + text.len(), pass);
                }
            }
            return;
        }
        let literal = &mut self.literals[literal as usize];
        if literal.round != self.round {
            (literal.round, literal.list) = (self.round, literal.first);
        }
        self.waiting[literal.slot as usize / WORD_BITS] |= bit_of(literal.slot);
        self.steps[number as usize].next = std::mem::replace(&mut literal.list, number);
        pass.live += 1;
    }

    /// Finds the literals that occur at `place` and for which steps wait.
    fn find_at(&mut self, place: usize, pass: &mut Pass<'_>) {
        let rest = &pass.path[place..];
        let Some((last, common)) = self.last_not_above(rest, pass) else { return };
        let mut number = last;
        while number != NONE {
            let ScannedLiteral { text, slot, first_slot, .. } = self.literals[number as usize];
            let (first, mut end) = (first_slot as usize, slot as usize + 1);
            if text.length as usize > common {
                let length = |number: u32| self.literals[number as usize].text.length;
                let fits = |&number: &u32| length(number) as usize <= common;
                end = first + self.of_slots[first..end].partition_point(fits);
            }
            while let Some(slot) = self.last_waiting(first, end, pass) {
                self.find(self.of_slots[slot] as usize, place, pass);
                end = slot;
            }
            number = self.literals[self.of_slots[first] as usize].text.parent;
        }
    }

    /// Returns the last literal that is not above `rest`, among those that start with the same byte,
    /// and how many bytes they have in common.
    #[inline]
    fn last_not_above(&self, rest: &[u8], pass: &mut Pass<'_>) -> Option<(u32, usize)> {
        let byte = usize::from(*rest.first()?);
        let (start, mut high) = (self.starts[byte] as usize, self.starts[byte + 1] as usize);
        let mut low = start;
        pass.work += 1;
        // What the rest has in common with the literals on both sides of those that are left. A byte of
        // it that equals one of theirs is compared once (Manber and Myers, "Suffix arrays", 1993).
        let (mut common_low, mut common_high) = (0, 0);
        while low < high {
            let middle = usize::midpoint(low, high);
            let literal = &self.literals[middle];
            let (same, of_middle) = match common_low >= common_high {
                true => (common_low, literal.common_low as usize),
                false => (common_high, literal.common_high as usize),
            };
            let (is_above, common) = if of_middle > same {
                // Like the side, the literal in the middle differs from the rest where the side does.
                (common_low < common_high, same)
            } else if of_middle < same {
                // The rest is like the side where the literal in the middle is not.
                (common_low >= common_high, of_middle)
            } else {
                let text = literal.text.of(pass.bytes);
                let common = same + common_bytes(&text[same..], &rest[same..]);
                pass.work += 1 + pieces(common - same);
                let is_above = match (text.get(common), rest.get(common)) {
                    (None, _) => false,
                    (Some(_), None) => true,
                    (Some(one), Some(other)) => one > other,
                };
                (is_above, common)
            };
            match is_above {
                true => (high, common_high) = (middle, common),
                false => (low, common_low) = (middle + 1, common),
            }
        }
        (low > start).then(|| (low as u32 - 1, common_low))
    }

    /// Returns the last slot from `first` to before `end` whose literal a step waits for.
    #[inline]
    fn last_waiting(&self, first: usize, mut end: usize, pass: &mut Pass<'_>) -> Option<usize> {
        while first < end {
            let word = (end - 1) / WORD_BITS;
            pass.work += 1;
            let below = u64::MAX >> (WORD_BITS - 1 - (end - 1) % WORD_BITS);
            if let Some(bit) = (self.waiting[word] & below).checked_ilog2() {
                let slot = word * WORD_BITS + bit as usize;
                return (slot >= first).then_some(slot);
            }
            end = word * WORD_BITS;
        }
        None
    }

    /// Finds the steps that wait for the literal `number`, which occurs at `place`.
    fn find(&mut self, number: usize, place: usize, pass: &mut Pass<'_>) {
        let literal = &mut self.literals[number];
        let behind = place + literal.text.length as usize;
        let first = literal.first;
        let list = if literal.round == self.round { literal.list } else { first };
        (literal.round, literal.list) = (self.round, NONE);
        self.waiting[literal.slot as usize / WORD_BITS] &= !bit_of(literal.slot);
        let mut step = list;
        while step != NONE {
            // The step without a prefix is the last, and was in another list before.
            let next = if step == first { NONE } else { self.steps[step as usize].next };
            pass.live -= 1;
            self.find_step(step, behind, pass);
            step = next;
        }
    }

    /// Records that a step was found to end at `end`.
    fn find_step(&mut self, number: u32, end: usize, pass: &mut Pass<'_>) {
        let step = &mut self.steps[number as usize];
        pass.work += 1;
        if step.best >= pass.best {
            return;
        }
        pass.best = pass.best.min(step.pattern);
        if step.child != NONE {
            step.next = std::mem::replace(&mut self.found_at[end], number);
            pass.live += 1;
        }
    }
}

/// Bits of a word of a bit set.
const WORD_BITS: usize = u64::BITS as usize;

/// Returns the bit of a slot in its word.
#[inline]
fn bit_of(slot: u32) -> u64 {
    1 << (slot % u64::BITS)
}

/// Bytes that are compared at once.
const PIECE_BYTES: usize = 64;

/// Returns the number of comparisons of so many bytes.
#[inline]
fn pieces(bytes: usize) -> u64 {
    bytes as u64 / PIECE_BYTES as u64
}

/// Returns the length of the common prefix.
#[inline]
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    let (pieces, _) = one.as_chunks::<PIECE_BYTES>();
    let (others, _) = other.as_chunks::<PIECE_BYTES>();
    let same = pieces.iter().zip(others).take_while(|(one, other)| one == other).count();
    let start = same * PIECE_BYTES;
    let rest = one[start..].iter().zip(&other[start..]);
    start + rest.take_while(|(one, other)| one == other).count()
}
