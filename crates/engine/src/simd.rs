//! All vector instructions of x86-64 processors, and all `unsafe` code for them.
//!
//! Each entry point takes an [`Avx2`] or [`Avx512`] as proof that the processor has the instructions;
//! [`vectors`](crate::vectors) chooses between them and the portable code beside each caller, which
//! gives the same answers. Three parts: the byte pairs and Bloom filters of a
//! [prefilter](crate::filter), its first probe for eight paths at once, and plain URLs by masks of
//! 64 bytes, which take a few operations instead of loops whose ends the processor mispredicts.

#![allow(unsafe_code, reason = "calls vector instructions")]

use std::arch::x86_64::*;

use portcullis_dialect::dialect::Escapes;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

use crate::bytes::{CHUNK_BYTES, short_chunk};
use crate::filter::HEAD_WORDS;
use crate::filter::bloom::{FACTOR, HIGH_FACTOR, LEVELS, SHIFTS, half_masks};
use crate::filter::probe::{self, FirstProbes, beginning};
use crate::filter::teddy::{POSITIONS, WINDOW, valid_positions};
use crate::outcome::Outcome;
use crate::plain::{PlainUrl, UrlHead, has_tab_or_line_end, may_be_plain};
use crate::ruleset::{LINE_WORDS, Line};
use crate::vectors::Work;

/// Proof of AVX2 and the bit-manipulation instructions; see [`Kind::avx2`](crate::vectors::Kind::avx2).
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

/// Proof of AVX-512 F, BW, DQ and VL; see [`Kind::avx512`](crate::vectors::Kind::avx512).
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

fn has_bit_instructions() -> bool {
    is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

impl Avx2 {
    pub(crate) fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2") && has_bit_instructions()).then_some(Avx2(()))
    }

    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the target features are the only requirement, and `self` proves them.
        unsafe { run_by_32(self, work) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_by_32<W: Work>(avx2: Avx2, work: W) -> W::Output {
    work.with(avx2)
}

impl Avx512 {
    pub(crate) fn detect() -> Option<Avx512> {
        let is_there = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && has_bit_instructions();
        is_there.then_some(Avx512(()))
    }

    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: the target features are the only requirement, and `self` proves them.
        unsafe { run_by_64(self, work) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,lzcnt,popcnt")]
fn run_by_64<W: Work>(avx512: Avx512, work: W) -> W::Output {
    work.with(avx512)
}

/// See [`prefetch`](crate::vectors::prefetch).
#[inline(always)]
pub(crate) fn prefetch(byte: &u8) {
    // SAFETY: SSE is part of x86-64, and prefetching has no effect but on the caches.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) }
}

/// Returns a mask of the lowest `count` of 64 bits.
#[inline]
fn first_bits(count: usize) -> u64 {
    if count < 64 { !(u64::MAX << count) } else { u64::MAX }
}

/// Returns the first 64 bytes of `text`, padded with zeros.
///
/// The pointer of an empty text should be readable: a masked load from an unmapped page is
/// slow.
///
/// # Safety
///
/// Safe where AVX-512 F and BW are enabled; elsewhere the caller needs an [`Avx512`] as proof.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn first_bytes(text: &[u8]) -> __m512i {
    // SAFETY: the mask limits the load to the bytes of `text`.
    unsafe { _mm512_maskz_loadu_epi8(first_bits(text.len()), text.as_ptr().cast()) }
}

/// See [`positions`](crate::filter::teddy::positions).
#[inline(always)]
pub(crate) fn positions_by_32(_: Avx2, line: &Line, rest: &[u8]) -> u64 {
    // SAFETY: the target features are the only requirement, and the proof is given.
    unsafe { positions_in_halves(line, rest) }
}

/// See [`positions`](crate::filter::teddy::positions).
#[inline(always)]
pub(crate) fn positions_by_64(_: Avx512, line: &Line, rest: &[u8]) -> u64 {
    // SAFETY: as above.
    unsafe { positions_at_once(line, rest) }
}

/// See [`levels_of`](crate::filter::bloom::levels_of); looks up the first bytes of `text`.
#[inline(always)]
pub(crate) fn levels_of(_: Avx512, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
    // SAFETY: as above.
    (!filter.is_empty()).then(|| unsafe { eight_levels_of(filter, text, levels) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn positions_in_halves(line: &Line, rest: &[u8]) -> u64 {
    let row = |index: usize| {
        let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
        _mm256_broadcastsi128_si256(vector(bytes.expect("a line has four rows")))
    };
    let rows = [row(0), row(1), row(2), row(3)];
    let Some(last) = rest.len().checked_sub(CHUNK_BYTES) else {
        let chunk = _mm256_zextsi128_si256(vector(&short_chunk(rest)));
        return u64::from(positions_of(rows, chunk) & 0xffff);
    };
    let chunk = |start: usize| {
        let bytes = rest[start..].first_chunk();
        vector(bytes.expect("a chunk within the path"))
    };
    let mut positions = 0;
    for start in [0, 2 * POSITIONS] {
        let [one, other] =
            [start, start + POSITIONS].map(|start| start.min(last).min(WINDOW - POSITIONS));
        let found = positions_of(rows, _mm256_set_m128i(chunk(other), chunk(one)));
        let valid =
            |found: u32, start: usize| (u64::from(found) & valid_positions(start == last)) << start;
        positions |= valid(found, one) | valid(found >> CHUNK_BYTES, other);
        if last <= start + POSITIONS {
            break;
        }
    }
    positions
}

#[inline]
fn vector(bytes: &[u8; CHUNK_BYTES]) -> __m128i {
    // SAFETY: both types are sixteen bytes, and any bytes are valid.
    unsafe { std::mem::transmute(*bytes) }
}

/// Returns a mask of the positions of two chunks that match a bucket.
#[inline]
#[target_feature(enable = "avx2")]
fn positions_of(rows: [__m256i; 4], first: __m256i) -> u32 {
    let half = _mm256_set1_epi8(15);
    let low = |bytes| _mm256_and_si256(bytes, half);
    let high = |bytes| _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
    let second = _mm256_bsrli_epi128::<1>(first);
    let of_first = _mm256_and_si256(
        _mm256_shuffle_epi8(rows[0], low(first)),
        _mm256_shuffle_epi8(rows[1], high(first)),
    );
    let of_second = _mm256_and_si256(
        _mm256_shuffle_epi8(rows[2], low(second)),
        _mm256_shuffle_epi8(rows[3], high(second)),
    );
    let buckets = _mm256_and_si256(of_first, of_second);
    let unmatched = _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256());
    !_mm256_movemask_epi8(unmatched).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn positions_at_once(line: &Line, rest: &[u8]) -> u64 {
    let bytes = |text: &[u8]| {
        // SAFETY: the mask limits the load to the bytes of `text`.
        unsafe { _mm512_maskz_loadu_epi8(first_bits(text.len()), text.as_ptr().cast()) }
    };
    let row = |index: usize| {
        let bytes = line.as_bytes()[index * CHUNK_BYTES..].first_chunk();
        _mm512_broadcast_i32x4(vector(bytes.expect("a line has four rows")))
    };
    let half = _mm512_set1_epi8(15);
    let low = |bytes| _mm512_and_si512(bytes, half);
    let high = |bytes| _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), half);
    let (first, second) = (bytes(rest), bytes(rest.get(1..).unwrap_or_default()));
    let of_first = _mm512_and_si512(
        _mm512_shuffle_epi8(row(0), low(first)),
        _mm512_shuffle_epi8(row(1), high(first)),
    );
    let of_second = _mm512_and_si512(
        _mm512_shuffle_epi8(row(2), low(second)),
        _mm512_shuffle_epi8(row(3), high(second)),
    );
    _mm512_test_epi8_mask(of_first, of_second) & first_bits(WINDOW)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn all(number: u64) -> __m512i {
    _mm512_set1_epi64(number.cast_signed())
}

/// Looks up all levels at once, one per 64-bit lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn eight_levels_of(filter: &[U64], text: &[u8], levels: u8) -> u8 {
    let numbers = |numbers: [u64; LEVELS.len()]| -> __m512i {
        // SAFETY: both types are eight words, and any words are valid.
        unsafe { std::mem::transmute(numbers) }
    };
    let mask = first_bits(text.len().min(CHUNK_BYTES)) as u16;
    // SAFETY: the mask limits the load to the bytes of `text`.
    let bytes = unsafe { _mm_maskz_loadu_epi8(mask, text.as_ptr().cast()) };
    // SAFETY: both types are sixteen bytes, and any bytes are valid.
    let [low, high]: [u64; 2] = unsafe { std::mem::transmute(bytes) };
    let (low_masks, high_masks) = const { (half_masks(0), half_masks(64)) };
    let low = _mm512_and_si512(all(low), numbers(low_masks));
    let high = _mm512_and_si512(all(high), numbers(high_masks));
    let strings = _mm512_xor_si512(low, _mm512_mullo_epi64(high, all(HIGH_FACTOR)));
    has_eight(filter, levels, strings)
}

/// Returns a mask of the `asked` strings that a filter may have; the filter is not empty.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn has_eight(filter: &[U64], asked: u8, strings: __m512i) -> u8 {
    let hashes = hashes_of(strings);
    let words = words_of(hashes, all(filter.len() as u64));
    let found = if filter.len() <= LEVELS.len() {
        let mask = first_bits(filter.len()) as u8;
        // SAFETY: the mask limits the load to the words of `filter`.
        let filter = unsafe { _mm512_maskz_loadu_epi64(mask, filter.as_ptr().cast()) };
        _mm512_permutexvar_epi64(words, filter)
    } else {
        let none = _mm512_setzero_si512();
        // SAFETY: the high half of a product of a number below 2^32 and the filter's length, also
        // below 2^32, is below the length.
        unsafe { _mm512_mask_i64gather_epi64::<8>(none, asked, words, filter.as_ptr().cast()) }
    };
    let bits = bits_of(hashes);
    _mm512_mask_cmpeq_epi64_mask(asked, _mm512_and_si512(found, bits), bits)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn hashes_of(strings: __m512i) -> __m512i {
    let hashes = _mm512_mullo_epi64(strings, all(FACTOR));
    _mm512_xor_si512(hashes, _mm512_srli_epi64::<29>(hashes))
}

/// Returns the words of eight hashes in filters with so many words.
#[inline]
#[target_feature(enable = "avx512f")]
fn words_of(hashes: __m512i, counts: __m512i) -> __m512i {
    _mm512_srli_epi64::<32>(_mm512_mul_epu32(_mm512_srli_epi64::<32>(hashes), counts))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn bits_of(hashes: __m512i) -> __m512i {
    let bit = |hashes| _mm512_sllv_epi64(all(1), _mm512_and_si512(hashes, all(63)));
    _mm512_or_si512(
        _mm512_or_si512(bit(hashes), bit(_mm512_srli_epi64::<{ SHIFTS[1] }>(hashes))),
        bit(_mm512_srli_epi64::<{ SHIFTS[2] }>(hashes)),
    )
}

/// The most lines for which the arithmetic here cannot overflow.
const LINES_MAX: usize = 1 << 28;

/// The base-2 logarithm of the words of a line.
const LINE_SHIFT: u32 = LINE_WORDS.ilog2();

/// See [`Probe::probe_eight`](crate::filter::Probe::probe_eight).
#[inline(always)]
pub(crate) fn probe_eight(
    _: Avx512,
    lines: &[Line],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstProbes, [Outcome; 8]) {
    match lines.len() {
        // SAFETY: as above.
        1..=LINES_MAX => unsafe { by_eight(lines, starts, paths) },
        _ => probe::probe_eight(lines, starts, paths),
    }
}

/// The bytes of eight paths after the first.
struct Beginnings {
    bytes: __m512i,
    /// The paths that start with `/`.
    valid: u8,
}

#[inline]
#[target_feature(enable = "avx512f")]
fn beginnings_of(paths: &[&[u8]; 8]) -> Beginnings {
    let bytes = paths.map(|path| beginning(path).cast_signed());
    let bytes = _mm512_setr_epi64(
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
    );
    let valid = _mm512_cmpeq_epi64_mask(low(bytes, 0xff), all(b'/'.into()));
    Beginnings { bytes: _mm512_srli_epi64::<8>(bytes), valid }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn by_eight(
    lines: &[Line],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstProbes, [Outcome; 8]) {
    let Beginnings { bytes, valid } = beginnings_of(paths);
    // SAFETY: both types are eight words of eight bytes.
    let starts = unsafe { _mm512_loadu_si512(starts.as_ptr().cast()) };
    let prefilters = low(starts, u32::MAX.into());
    let is_within =
        _mm512_cmple_epu64_mask(_mm512_add_epi64(prefilters, all(1)), all(lines.len() as u64));
    let places = _mm512_slli_epi64::<LINE_SHIFT>(prefilters);
    let word = |within: u8, places: __m512i| {
        // SAFETY: the mask limits the load to words of `lines`.
        unsafe {
            let none = _mm512_setzero_si512();
            _mm512_mask_i64gather_epi64::<8>(none, within, places, lines.as_ptr().cast())
        }
    };
    let outcomes = word(is_within, places);
    let levels = word(is_within, _mm512_add_epi64(places, all(1)));
    let otherwise = low(outcomes, u32::MAX.into());
    let first_lines = _mm512_srli_epi64::<32>(levels);
    let ends = _mm512_add_epi64(prefilters, first_lines);
    let is_whole = _mm512_cmple_epu64_mask(ends, all(lines.len() as u64))
        & _mm512_test_epi64_mask(first_lines, first_lines)
        & is_within;
    let is_valid = _mm512_mask_cmpneq_epi64_mask(is_whole, otherwise, all(1));

    let masks = _mm512_srli_epi64::<32>(outcomes);
    let hashes = hashes_of(_mm512_and_si512(bytes, masks));
    let head = all(HEAD_WORDS as u64);
    let words = _mm512_slli_epi64::<LINE_SHIFT>(first_lines);
    let words = _mm512_add_epi64(words_of(hashes, _mm512_sub_epi64(words, head)), head);
    // Within the first lines: the high half of a product of a number below 2^32 and the count of
    // words is below the count.
    let found = word(is_whole, _mm512_add_epi64(places, words));
    let bits = bits_of(hashes);
    let valid = valid & is_valid;
    let otherwise = _mm512_cvtepi64_epi32(otherwise);
    // SAFETY: both types are eight words of four bytes.
    let otherwise: [u32; 8] = unsafe { std::mem::transmute(otherwise) };
    let probes = FirstProbes {
        undecided: !valid,
        probe_prefixes: _mm512_mask_cmpeq_epi64_mask(valid, _mm512_and_si512(found, bits), bits),
        has_literals: _mm512_test_epi64_mask(levels, all(0xff00)),
    };
    (probes, otherwise.map(Outcome))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn low(numbers: __m512i, mask: u64) -> __m512i {
    _mm512_and_si512(numbers, all(mask))
}

/// Bytes of a vector.
const WIDTH: usize = 64;

/// Bytes from one vector of a path to the next, which begins with the last two bytes of the one before:
/// an escape that a vector cuts off is whole in the next.
const STEP: usize = WIDTH - 2;

/// Calls `each` with the plain_url at each record, in order: `None` if it is not plain, and for some
/// that are.
#[inline]
pub(crate) fn plain_urls<'r, R: AsRef<[u8]>>(
    _: Avx512,
    records: &'r [R],
    escapes: Escapes,
    each: impl FnMut(usize, &'r [u8], Option<PlainUrl>),
) {
    // SAFETY: the function only requires its instruction sets, and a value of `Avx512` proves them.
    unsafe { plain_urls_by_64(records, escapes, each) }
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn plain_urls_by_64<'r, R: AsRef<[u8]>>(
    records: &'r [R],
    escapes: Escapes,
    mut each: impl FnMut(usize, &'r [u8], Option<PlainUrl>),
) {
    // The last record is loaded again: vector registers do not survive the call of `each`.
    let mut last: Option<(UrlHead, &[u8])> = None;
    for (number, record) in records.iter().enumerate() {
        let record = record.as_ref();
        let first = first_bytes(record);
        let same = |&(head, other): &(UrlHead, &[u8])| {
            // Including the `/` after the head.
            let bytes = u64::MAX >> (WIDTH - 1 - head.bytes);
            let same = _mm512_cmpeq_epi8_mask(first_bytes(other), first);
            // Without one, what is behind the head is padding, which equals a NUL.
            let is_behind = other.len() > head.bytes || record.len() == head.bytes;
            same & bytes == bytes && is_behind && may_be_plain(record)
        };
        let shared = last.filter(same);
        let head = match shared {
            Some((head, _)) => Some(head),
            None => head_of(record, first),
        };
        let plain_url = head.and_then(|head| {
            let has_plain_path = !path_changes(record, first, head.bytes, escapes);
            let is_url = has_plain_path || !has_tab_or_line_end(record);
            is_url.then_some(PlainUrl { head, is_shared: shared.is_some(), has_plain_path })
        });
        last = plain_url.map(|plain_url| (plain_url.head, record));
        each(number, record, plain_url);
    }
}

/// Returns the head of a plain URL that begins with `first`, or `None` if it is not plain.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn head_of(record: &[u8], first: __m512i) -> Option<UrlHead> {
    let word = _mm_cvtsi128_si64(_mm512_castsi512_si128(first)).cast_unsigned();
    let (scheme_bytes, is_http) = scheme(word);
    let start = scheme_bytes + 3;
    let digits = within(first, b'0', b'9');
    let dots = equal(first, b'.');
    let letters = within(first, b'a', b'z');
    let names = letters | digits | dots | equal(first, b'-') | equal(first, b'_');
    let behind_start = u64::MAX << start;
    let bytes = (!names & behind_start).trailing_zeros() as usize;
    // A host whose last part is empty or begins with a digit may be an address.
    let inside = dots & first_bits(bytes) & behind_start;
    let last_part = start.max(WIDTH - inside.leading_zeros() as usize);
    let is_name = last_part < bytes && digits >> last_part & 1 == 0;
    let is_behind = equal(first, b'/') >> (bytes % WIDTH) & 1 == 1;
    let ends = is_behind | (bytes == record.len());
    let is_plain = is_http & is_name & ends & (bytes < WIDTH) & may_be_plain(record);
    is_plain.then_some(UrlHead { scheme_bytes, bytes })
}

/// Returns the length of the scheme of a URL that begins with `word`, and whether it is http or
/// https.
#[inline]
fn scheme(word: u64) -> (usize, bool) {
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0");
    let (is_https, is_http) = (word == HTTPS, word << 8 == HTTP << 8);
    (4 + usize::from(is_https), is_https | is_http)
}

/// See [`is_plain`](crate::plain::is_plain).
#[inline(always)]
pub(crate) fn is_plain(_: Avx512, path: &[u8], escapes: Escapes) -> bool {
    // SAFETY: as above.
    unsafe { !path_changes(path, first_bytes(path), 0, escapes) }
}

/// Returns whether a byte of the path, which begins at `start`, ends the path or might change.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn path_changes(record: &[u8], first: __m512i, start: usize, escapes: Escapes) -> bool {
    let own = |text: &[u8]| first_bits(if text.len() > WIDTH { STEP } else { text.len() });
    let changed_in = |text: &[u8]| changed(first_bytes(text), escapes) & own(text);
    // Half of all URLs are longer than one vector, and few than two: the second is always read.
    let mut rest = &record[STEP.min(record.len())..];
    let mut found = (changed(first, escapes) & own(record)) >> start | changed_in(rest);
    while rest.len() > WIDTH {
        rest = &rest[STEP..];
        found |= changed_in(rest);
    }
    found != 0
}

/// See the function of the same name in [`plain`](crate::plain). Unlike that one, it knows most escapes
/// that stay as they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn changed(bytes: __m512i, escapes: Escapes) -> u64 {
    let any = |of: &[u8]| of.iter().fold(0, |any, &byte| any | equal(bytes, byte));
    let others = match escapes {
        // TAB, CR and LF are among the controls.
        Escapes::AsWritten => return any(b"#") | within(bytes, 0, 0x1f),
        Escapes::Decoded => return any(b"#%") | within(bytes, 0, 0x1f),
        Escapes::Google => any(b"#") | within(bytes, 0, 0x1f) | _mm512_movepi8_mask(bytes),
        Escapes::Uri => in_table(bytes, &URI_CHANGED) | _mm512_movepi8_mask(bytes),
    };
    match equal(bytes, b'%') {
        0 => others,
        percents => others | percents & !kept_escapes(bytes, escapes),
    }
}

/// The ASCII bytes that [`Escapes::Uri`] changes, and `#`: by their lower half, a bit for each upper half.
/// `%` is not among them.
const URI_CHANGED: [u8; 16] = {
    let mut table = [0; 16];
    let mut byte = 0;
    while byte < 128 {
        let is_kept = matches!(byte, b'!' | b'%' | b'&'..=b')' | b'+'..=b';' | b'=' | b'?'..=b'[')
            || matches!(byte, b']' | b'_' | b'a'..=b'z' | b'~');
        if !is_kept {
            table[byte as usize & 15] |= 1 << (byte >> 4);
        }
        byte += 1;
    }
    table
};

/// Returns the positions of the ASCII bytes in a table that has, by their lower half, a bit for each upper
/// half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn in_table(bytes: __m512i, table: &[u8; 16]) -> u64 {
    const UPPER: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
    let rows = |table: &[u8; 16]| {
        // SAFETY: both types are sixteen bytes, and any bytes are valid.
        _mm512_broadcast_i32x4(unsafe { std::mem::transmute::<[u8; 16], __m128i>(*table) })
    };
    let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
    // A shuffle reads the lower half of an ASCII byte, and returns 0 for others.
    let (of_lower, of_upper) =
        (_mm512_shuffle_epi8(rows(table), bytes), _mm512_shuffle_epi8(rows(&UPPER), upper));
    _mm512_test_epi8_mask(of_lower, of_upper)
}

/// Returns the positions before two digits that form an escape which stays as it is: both in upper case,
/// and for [`Escapes::Uri`] not of a character that is decoded. Some are not recognised: those from 40
/// to 7F that are not decoded, and those that the vector cuts off.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt")]
fn kept_escapes(bytes: __m512i, escapes: Escapes) -> u64 {
    let (numbers, letters) = (within(bytes, b'0', b'9'), within(bytes, b'A', b'F'));
    let hex = numbers | letters;
    if escapes != Escapes::Uri {
        return hex >> 1 & hex >> 2;
    }
    // `-` and `.` are 2D and 2E, digits 30 to 39; no unreserved character is outside 20 to 7F.
    let others = (letters | within(bytes, b'8', b'9') | within(bytes, b'0', b'1')) >> 1 & hex >> 2;
    let after_two = hex & !within(bytes, b'D', b'E');
    let (two, three) = (equal(bytes, b'2'), equal(bytes, b'3'));
    others | two >> 1 & after_two >> 2 | three >> 1 & letters >> 2
}

/// Returns the positions of `byte`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal(bytes: __m512i, byte: u8) -> u64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()))
}

/// Returns the positions of bytes from `first` to `last`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn within(bytes: __m512i, first: u8, last: u8) -> u64 {
    let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed()));
    _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first).cast_signed()))
}
