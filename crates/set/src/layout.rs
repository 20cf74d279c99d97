//! The layout of the sections of a set, as defined by `FORMAT.md`: constants shared by writing and
//! reading.

use std::mem::offset_of;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use portcullis_dialect::AccessRules;

use crate::limits::{TIMELINE_INPUTS_MAX, TIMELINE_SECONDS_END};

/// The key of the only host of a set whose one file applies to every URL.
pub const EVERY_HOST: &[u8] = b"*";

/// Represents an absent position or number.
pub const NONE: u32 = u32::MAX;

/// Returns the stored form of a position or number that may be absent.
pub fn stored(position: Option<u32>) -> U32 {
    U32::new(position.unwrap_or(NONE))
}

/// Returns a position or number that may be absent.
#[inline]
pub fn position(word: U32) -> Option<u32> {
    Some(word.get()).filter(|&position| position != NONE)
}

/// Slots in a line of the host table. A line is the tags of its slots, then the position + 1 of each
/// slot's host (0 if the slot is free): 64 bytes, a cache line.
pub const LINE_SLOTS: usize = 8;

/// A line of the host table.
pub type SlotLine = [U32; 2 * LINE_SLOTS];

/// Returns whether a search continues after this line. The slots of a line are taken in order.
#[inline(always)]
pub fn is_full(line: &SlotLine) -> bool {
    line[2 * LINE_SLOTS - 1].get() != 0
}

/// The first line of a host. Lines that follow have the rest of its key.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct HostLine {
    pub key_bytes: U32,
    /// The policies for http and https; [`NONE`] for none.
    pub policies: [U32; 2],
    /// The captures for http and https; [`NONE`] for none.
    pub captures: [U32; 2],
    pub key: [u8; HostLine::KEY_BYTES],
}

impl HostLine {
    /// The bytes of a key that fit into the first line.
    pub const KEY_BYTES: usize = 44;

    /// Returns the number of lines of a host whose key has this many bytes.
    pub fn lines(key_bytes: usize) -> usize {
        (offset_of!(HostLine, key) + key_bytes).div_ceil(size_of::<HostLine>())
    }
}

const _: () = assert!(size_of::<HostLine>() == 64);

/// A capture: half a cache line.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct CaptureRow {
    pub date: [u8; CaptureRow::DATE_BYTES],
    pub redirects: u8,
    pub status: U16,
    pub capture_notes: U16,
    pub file_notes: U16,
    /// [`NONE`] if it is not known.
    pub serves_seconds: U32,
    pub file_bytes: U32,
    pub others: U32,
    pub input: U32,
    pub span_seconds: U32,
}

impl CaptureRow {
    pub const DATE_BYTES: usize = 5;
    /// The date that is not known.
    const NO_DATE: u64 = TIMELINE_SECONDS_END - 1;

    /// Returns a row with a date in seconds since 1970, of which a later one than the last is the last.
    /// The other fields are zero.
    pub fn dated(seconds: Option<u64>) -> CaptureRow {
        let seconds = seconds.map_or(CaptureRow::NO_DATE, |it| it.min(CaptureRow::NO_DATE - 1));
        let date = *seconds.to_le_bytes().first_chunk().expect("eight bytes");
        CaptureRow { date, ..CaptureRow::new_zeroed() }
    }

    /// Returns the date in seconds since 1970.
    pub fn captured_at(&self) -> Option<u64> {
        let mut bytes = [0; size_of::<u64>()];
        bytes[..CaptureRow::DATE_BYTES].copy_from_slice(&self.date);
        Some(u64::from_le_bytes(bytes)).filter(|&seconds| seconds != CaptureRow::NO_DATE)
    }
}

const _: () = assert!(size_of::<CaptureRow>() == 32);
const _: () = assert!(TIMELINE_SECONDS_END.trailing_zeros() as usize == 8 * CaptureRow::DATE_BYTES);

/// The head of the timelines of a set: what their standings depend on besides captures.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct TimelinesHead {
    /// The choice for long outages, as a [`LongOutage`](portcullis_robots::access::LongOutage).
    pub long_outage: U32,
    /// The policy of each of the dialect's outcomes, in their order; [`NONE`] for none.
    pub policies: [U32; AccessRules::OUTCOMES],
}

/// Returns the word of an origin in `timelines`: the number of its resource, and whether the other one of
/// its key counts before its first capture.
pub fn timeline_word(resource: u32, is_joined: bool) -> u32 {
    resource << 1 | u32::from(is_joined)
}

/// A capture of a resource.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct HistoryRow {
    /// Its date, and its input in the lowest [`INPUT_BITS`](HistoryRow::INPUT_BITS). 0 without a date.
    pub date_and_input: U64,
    /// The policy from then on, if it follows from the captures of the resource at all times until the next
    /// one; otherwise [`NONE`].
    pub policy: U32,
    /// The number of its response.
    pub response: U32,
}

impl HistoryRow {
    pub const INPUT_BITS: u32 = 24;

    pub fn new(date: u64, input: u32, policy: Option<u32>, response: u32) -> HistoryRow {
        let date_and_input = (date << HistoryRow::INPUT_BITS | u64::from(input)).into();
        HistoryRow { date_and_input, policy: stored(policy), response: response.into() }
    }

    /// Returns a bound on `date_and_input`: captures at or before a time have less.
    #[inline]
    pub fn end_of(seconds: u64) -> u64 {
        let last = u64::MAX >> HistoryRow::INPUT_BITS;
        if seconds < last { (seconds + 1) << HistoryRow::INPUT_BITS } else { u64::MAX }
    }

    #[inline]
    pub fn since(&self) -> u64 {
        self.date_and_input.get() >> HistoryRow::INPUT_BITS
    }

    /// Returns the policy, if it depends on the captures of the resource alone.
    #[inline]
    pub fn own_policy(&self) -> Option<u32> {
        position(self.policy)
    }

    pub fn input(&self) -> u32 {
        self.date_and_input.get() as u32 & ((1 << HistoryRow::INPUT_BITS) - 1)
    }
}

const _: () = assert!(TIMELINE_SECONDS_END.trailing_zeros() + HistoryRow::INPUT_BITS == u64::BITS);
const _: () = assert!(TIMELINE_INPUTS_MAX == 1 << HistoryRow::INPUT_BITS);

/// An answer without its date: captures of resources share it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct ResponseRow {
    pub status: U16,
    pub redirects: u8,
    /// 1 if it has a date, 0 if not.
    pub has_date: u8,
    pub capture_notes: U16,
    pub file_notes: U16,
    /// [`NONE`] if it is not known.
    pub serves_seconds: U32,
    pub file_bytes: U32,
    /// The position of the other records of a file, or the number of the resource to which a redirect
    /// leads: [`NONE`] for none, and [`NOT_CAPTURED`] for a URL that was not captured.
    pub others_or_target: U32,
    /// The newest file of the resource then, and the first failure of the outage: which capture of the
    /// resource it is; [`NONE`] if there is none, or it makes no difference.
    pub file: U32,
    pub first_failure: U32,
}

/// The target of a redirect to a URL that was not captured.
pub const NOT_CAPTURED: u32 = NONE - 1;

/// An outage, with the number of its capture.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct OutageRow {
    pub capture: U32,
    pub since: U64,
    pub copy: U64,
}

/// The head of a policy: all that decides for an agent that the file does not name. Half a cache line.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct PolicyHead {
    /// The position of the rest.
    pub rest: U32,
    pub document: U32,
    /// The position of the usage records.
    pub usage_records: U32,
    /// The entry of the default groups, and the lines of its rule set if it has one rule group.
    pub default_entry: U32,
    pub default_line: U32,
    pub default_lines: U32,
    /// A bit for each name of a crawler; then, in the highest byte, the state + 1, and the verdict above
    /// [`PolicyHead::STATE_BITS`]. The byte is never 0, so a head without its end is not a head.
    pub names_and_state: U64,
}

impl PolicyHead {
    /// Bits for names.
    pub const NAME_BITS: u32 = 56;
    pub const STATE_BITS: u32 = 4;

    pub fn state_of(state: u32, verdict: u32) -> u64 {
        u64::from((verdict << PolicyHead::STATE_BITS) + state + 1) << PolicyHead::NAME_BITS
    }

    /// Returns the bit of a name with this number.
    #[inline]
    pub fn name_bit(number: u32) -> u64 {
        let hash = number.wrapping_mul(0x9e37_79b9);
        1 << ((u64::from(hash) * u64::from(PolicyHead::NAME_BITS)) >> u32::BITS)
    }
}

const _: () = assert!(size_of::<PolicyHead>() == 32);

/// Pairs of numbers that count within one file, in a policy. A pair is one word, the first number in
/// its lower half; two words if some number of the policy needs more.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'s> {
    words: &'s [U32],
    are_wide: bool,
}

impl<'s> Pairs<'s> {
    /// Returns the word that has a number of pairs, and whether they have two words.
    pub fn head(count: usize, are_wide: bool) -> u32 {
        (count as u32) << 1 | u32::from(are_wide)
    }

    /// Returns what [`Pairs::head`] has.
    #[inline]
    pub fn of_head(head: u32) -> (usize, bool) {
        (head as usize >> 1, head & 1 != 0)
    }

    /// Returns the words of each pair.
    #[inline]
    pub fn words(are_wide: bool) -> usize {
        1 + usize::from(are_wide)
    }

    /// Returns whether a pair with this number needs two words.
    pub fn needs_wide(number: u32) -> bool {
        number > u16::MAX.into()
    }

    /// Appends a pair.
    pub fn push((first, second): (u32, u32), are_wide: bool, words: &mut Vec<U32>) {
        match are_wide {
            true => words.extend([first, second].map(U32::new)),
            false => words.push(U32::new(second << 16 | first)),
        }
    }

    /// Returns the first `count` pairs of some words; `None` if there are fewer.
    #[inline]
    pub fn first_of(words: &'s [U32], count: usize, are_wide: bool) -> Option<Pairs<'s>> {
        let words = words.get(..count.checked_mul(Pairs::words(are_wide))?)?;
        Some(Pairs { words, are_wide })
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.words.len() / Pairs::words(self.are_wide)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns a pair; `None` after the last.
    #[inline]
    pub fn get(&self, index: usize) -> Option<(u32, u32)> {
        match self.are_wide {
            true => self.words.as_chunks().0.get(index).map(|[a, b]| (a.get(), b.get())),
            false => self.words.get(index).map(|word| (word.get() & 0xffff, word.get() >> 16)),
        }
    }

    /// Returns the pairs, in order.
    pub fn iter(self) -> impl Iterator<Item = (u32, u32)> + use<'s> {
        (0..self.len()).map_while(move |index| self.get(index))
    }
}

/// Returns how many of so many items precede the first one that does not fulfil `is_before`, as those
/// after it. Items are read by their numbers.
pub fn partition_point<E>(
    items: usize,
    is_before: impl Fn(usize) -> Result<bool, E>,
) -> Result<usize, E> {
    let (mut low, mut high) = (0, items);
    while low < high {
        let middle = low.midpoint(high);
        match is_before(middle)? {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(low)
}

/// Words of the rest of a policy before its tokens.
pub mod policy {
    pub const WORDS: usize = 0;
    /// The [head](super::Pairs::head) of the pairs of crawlers.
    pub const TOKENS: usize = 1;
    /// The number of rule groups. The position of one follows from its number.
    pub const RULE_GROUPS: usize = 2;
    pub const DEFAULT_NAMING_LINE: usize = 3;
    pub const HEAD_WORDS: usize = 4;

    /// Words of a rule group: its rule set, its order, and the position of its groups in the policy, or the
    /// narrow pair of its only group. After the rule groups are the positions of the entries with several of
    /// them.
    pub const RULE_GROUP_WORDS: usize = 3;
    /// The flag of the number of a rule set that the pair of the only group follows.
    pub const IS_SINGLE: u32 = 1 << 31;
    pub const RULE_SET: usize = 0;
    pub const ORDER: usize = 1;
    pub const GROUPS: usize = 2;
}

/// The flag in the first byte of an order that the lengths of the patterns follow.
pub const ORDER_HAS_LENGTHS: u8 = 8;

/// A rule set in the index.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RuleSetRow {
    /// Its first line.
    pub line: U32,
    /// The number of its lines.
    pub lines: U32,
}

/// A list of records: the number of records, the number of runs of consecutive lines, the runs, the
/// kinds, and the number of the string of each record that has one.
pub mod record {
    use zerocopy::little_endian::U32;

    use super::Pairs;

    pub const RECORDS: usize = 0;
    /// The [head](Pairs::head) of the runs. A run is its first record, and the line of that record.
    pub const RUNS: usize = 1;
    pub const HEAD_WORDS: usize = 2;

    /// Bits of a kind. In `documents`, the upper ones are the form of the record's text.
    pub const KIND_BITS: u32 = 4;
    pub const KINDS_PER_WORD: usize = (u32::BITS / KIND_BITS) as usize;
    pub const FORM_SHIFT: u32 = 2;
    /// The text is a string of its own, or the pattern of the rule that follows the field, either alone
    /// or followed by a star.
    pub const STRING: u32 = 0;
    pub const PATTERN: u32 = 1;
    pub const PATTERN_AND_STAR: u32 = 2;

    /// The section that a list is in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum In {
        /// Kinds and forms.
        Documents,
        /// Kinds; each record has a string.
        Usage,
        /// Before format 16: kinds of their own; each record has a string.
        Others,
    }

    impl In {
        /// Returns how many of the records with these kinds have no string.
        pub fn patterns(self, kinds: &[U32]) -> usize {
            match self {
                In::Documents => kinds.iter().map(|word| patterns(word.get(), 0)).sum(),
                In::Usage | In::Others => 0,
            }
        }
    }

    /// Returns where in a list the kinds begin, from the word about its runs.
    pub fn kinds_at(runs_word: u32) -> usize {
        let (runs, are_wide) = Pairs::of_head(runs_word);
        HEAD_WORDS + runs * Pairs::words(are_wide)
    }

    /// Returns where in a list of so many records the numbers of strings begin.
    pub fn strings_at(records: usize, runs_word: u32) -> usize {
        kinds_at(runs_word) + records.div_ceil(KINDS_PER_WORD)
    }

    /// Returns how many of the records with these kinds have no string, of those from the one at `first`.
    pub fn patterns(kinds: u32, first: usize) -> usize {
        let forms = kinds >> FORM_SHIFT | kinds >> (FORM_SHIFT + 1);
        let from_first = forms & 0x1111_1111 & (u32::MAX << (first as u32 * KIND_BITS));
        from_first.count_ones() as usize
    }
}

/// The longest key that [`search_of`] copies whole. Nearly all keys are shorter, and bytes of a fixed
/// number are compared without a branch by the length.
pub const PADDED_BYTES: usize = 32;

/// Returns the first line and the tag of a key in a host table with this number of lines and this
/// seed.
pub fn line_of(key: &[u8], lines: u64, seed: u64) -> (u64, u32) {
    search_of(key, lines, seed, &mut [0; PADDED_BYTES])
}

/// Like [`line_of`]. Copies a key of up to [`PADDED_BYTES`] bytes to `padded`, which has to be zeros.
#[inline(always)]
pub fn search_of(key: &[u8], lines: u64, seed: u64, padded: &mut [u8; PADDED_BYTES]) -> (u64, u32) {
    let (words, seed) = match starts_of(key.len()) {
        // Each word is loaded once and copied at once: the processor has few registers.
        Some([a, b, c, d]) => {
            let mut word = |start| copied(key, start, padded);
            ([word(a), word(b), word(c), word(d)], seed)
        }
        None => rare_words(key, seed, padded),
    };
    let hash = hash_of(words, seed).wrapping_add((key.len() as u64).wrapping_mul(FACTORS[3]));
    // The line comes from the high bits, the tag from the low bits.
    (((u128::from(hash) * u128::from(lines)) >> 64) as u64, hash as u32)
}

/// Copies a word of a key to its place, and returns it.
#[inline(always)]
fn copied(key: &[u8], start: usize, padded: &mut [u8; PADDED_BYTES]) -> u64 {
    let word = word(key, start);
    if let Some(place) = padded[start..].first_chunk_mut() {
        *place = word.to_le_bytes();
    }
    word
}

/// Numbers whose bytes no key has, so that no key makes a factor zero or small.
const FACTORS: [u64; 4] =
    [0x9485_e1f8_87d3_92f6, 0xfa8e_c49b_f5d7_8a81, 0xb09f_ecf2_84e9_f793, 0x8bdc_f6e4_9af1_9583];

/// Returns the hash of words, in fewer instructions than a hash of any bytes takes.
#[inline(always)]
fn hash_of([first, second, third, fourth]: [u64; 4], seed: u64) -> u64 {
    fold(first ^ seed, second ^ FACTORS[0]) ^ fold(third ^ seed ^ FACTORS[1], fourth ^ FACTORS[2])
}

/// Copies the beginning of a key that is shorter or longer than nearly all keys. Returns its last words
/// and the seed that has the others.
#[cold]
#[inline(never)]
fn rare_words(key: &[u8], mut seed: u64, padded: &mut [u8; PADDED_BYTES]) -> ([u64; 4], u64) {
    let copied = key.len().min(PADDED_BYTES);
    padded[..copied].copy_from_slice(&key[..copied]);
    let mut rest = key;
    while rest.len() > PADDED_BYTES {
        seed = fold(word(rest, 0) ^ seed, word(rest, 8) ^ FACTORS[0]);
        rest = &rest[16..];
    }
    let byte = |index: usize| u64::from(rest.get(index).copied().unwrap_or(0)) << (8 * index);
    let starts = starts_of(rest.len()).map(|starts| starts.map(|start| word(rest, start)));
    (starts.unwrap_or_else(|| [(0..8).map(byte).sum(), 0, 0, 0]), seed)
}

/// Returns where four words begin that overlap and that have every byte of a key of 8 to 32 bytes, as
/// nearly all keys are; `None` for others. There is no branch by the length, which would be mispredicted.
#[inline(always)]
fn starts_of(key_bytes: usize) -> Option<[usize; 4]> {
    let last = key_bytes.checked_sub(8).filter(|last| *last <= 24)?;
    Some([0, last.min(8), last.saturating_sub(8), last])
}

/// Returns the two halves of a product, added without carry.
#[inline(always)]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn word(bytes: &[u8], start: usize) -> u64 {
    let bytes = bytes[start..].first_chunk();
    u64::from_le_bytes(*bytes.expect("a word begins eight bytes before the end at the latest"))
}

/// Returns the number of lines for a table of `hosts` hosts. Three slots in eight stay free, so that
/// nearly all searches end in their first line.
pub fn lines_for(hosts: usize) -> usize {
    hosts / 5 + 1
}
