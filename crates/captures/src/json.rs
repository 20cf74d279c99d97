//! Reads JSON (RFC 8259) in place, one value after another, as the caller asks for them.
//!
//! For texts with many escapes, such as a robots.txt with one in each line: [`Json`] copies 32 bytes at
//! once up to the next escape, which takes half of the instructions of `serde_json`. It accepts what that
//! accepts; `serde_json` describes what it does not.
//!
//! Cost: one pass, and one before it over lines that are read as a [`JsonBlock`], where the ends of texts are
//! found at once. Texts are borrowed unless they have escapes.

use bumpalo::Bump;
use serde::de::IgnoredAny;
use wide::u8x32;

use portcullis_engine::bytes::hex_value;
use portcullis_engine::marks::Marks;
use portcullis_engine::vectors::{Kind, Vectors, Work};

/// Why a text is no JSON, or has other values than it may. It is one pointer, so that results with it are
/// returned in registers.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct JsonError(pub(crate) Box<JsonProblem>);

#[derive(Debug, thiserror::Error)]
pub(crate) enum JsonProblem {
    #[error(transparent)]
    Syntax(serde_json::Error),
    /// A value that cannot be used, which ends at a column.
    #[error("{problem} at line 1 column {column}")]
    Value { column: usize, problem: String },
}

/// Texts that follow each other, which are checked and searched together.
#[derive(Clone, Copy, Debug)]
pub struct JsonBlock<'l> {
    /// `None` if some are not UTF-8.
    text: Option<&'l str>,
    /// The places at which a text does not just go on.
    specials: Marks<'l>,
}

impl<'l> JsonBlock<'l> {
    /// Searches the texts. The marks are in `arena`.
    pub fn new(text: &'l [u8], arena: &'l Bump) -> JsonBlock<'l> {
        let words = |count| arena.alloc_slice_fill_default(count);
        JsonBlock { text: str::from_utf8(text).ok(), specials: Marks::of(text, is_special, words) }
    }

    /// Returns a text that begins at a place in the block; `None` if it is not UTF-8.
    #[inline]
    pub fn checked(&self, text: &'l [u8], start: usize) -> Option<&'l str> {
        match self.text {
            Some(all) => all.get(start..start + text.len()),
            None => str::from_utf8(text).ok(),
        }
    }
}

/// A text of JSON that was read up to a position.
pub struct Json<'l> {
    text: &'l [u8],
    at: usize,
    /// The marks of the block that the text is in, and where it begins there. The text is UTF-8, so that none of
    /// it has to be checked.
    marks: Option<(Marks<'l>, usize)>,
    /// How many lists and objects may be entered.
    depth_left: u8,
    /// The memory for texts with escapes.
    scratch: Vec<u8>,
}

impl<'l> Json<'l> {
    /// Reads a text.
    pub fn new(text: &'l [u8]) -> Json<'l> {
        Json { text, at: 0, marks: None, depth_left: LISTS_MAX, scratch: Vec::new() }
    }

    /// Reads a text, which begins at a place in a block.
    pub fn in_block(text: &'l str, (block, start): (JsonBlock<'l>, usize)) -> Json<'l> {
        Json { marks: Some((block.specials, start)), ..Json::new(text.as_bytes()) }
    }

    /// Returns the first byte of what comes next.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        if byte > b' ' { Some(byte) } else { self.peek_after_blanks() }
    }

    fn peek_after_blanks(&mut self) -> Option<u8> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        while is_blank(self.text.get(self.at)?) {
            self.at += 1;
        }
        Some(self.text[self.at])
    }

    /// Takes a byte, if it comes next.
    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes the end of the text.
    pub fn end(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("trailing characters"),
        }
    }

    /// Returns the error of what comes next, or what else is damaged.
    #[cold]
    pub(crate) fn fail<T>(&self, problem: impl ToString) -> Result<T, JsonError> {
        Err(JsonError(Box::new(match serde_json::from_slice::<IgnoredAny>(self.text) {
            Err(error) => JsonProblem::Syntax(error),
            Ok(_) => JsonProblem::Value { column: self.at, problem: problem.to_string() },
        })))
    }

    /// Takes any value, and returns the error that it is of another kind, or what else is damaged.
    #[cold]
    pub(crate) fn refuse<T>(&mut self, problem: impl ToString) -> Result<T, JsonError> {
        self.skip()?;
        self.fail(problem)
    }

    /// Whether a list or an object, whose first byte was taken, has another item. Takes what is before it, or
    /// the end.
    #[inline]
    pub fn goes_on(&mut self, is_first: bool, end: u8) -> Result<bool, JsonError> {
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.at += 1;
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            _ => self.fail("expected `,`, `]` or `}`"),
        }
    }

    /// Takes the first byte of a list or an object that the caller reads by a call of itself, which takes stack.
    pub(crate) fn enter(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        match self.depth_left.checked_sub(1) {
            Some(left) => self.depth_left = left,
            None => return self.fail("too many lists in each other"),
        }
        Ok(())
    }

    /// Called after the last byte of what was entered.
    pub(crate) fn leave(&mut self) {
        self.depth_left += 1;
    }

    /// Returns the next name of an object; `None` at its end.
    #[inline]
    pub(crate) fn next_name<'a>(
        &mut self,
        is_first: bool,
        arena: &'a Bump,
    ) -> Result<Option<&'a [u8]>, JsonError>
    where
        'l: 'a,
    {
        if !self.goes_on(is_first, b'}')? {
            return Ok(None);
        }
        let name = self.text(arena)?;
        match self.take(b':') {
            true => Ok(Some(name)),
            false => self.fail("expected `:`"),
        }
    }

    /// Takes a text. One with escapes is decoded into `arena`.
    #[inline]
    pub fn text<'a>(&mut self, arena: &'a Bump) -> Result<&'a [u8], JsonError>
    where
        'l: 'a,
    {
        match self.marked_text() {
            Some(text) => Ok(text),
            None => self.rare_text(arena),
        }
    }

    /// Takes a text in a block, which is UTF-8, if it has no escapes.
    #[inline(always)]
    fn marked_text(&mut self) -> Option<&'l [u8]> {
        let (marks, place) = self.marks.filter(|_| self.peek() == Some(b'"'))?;
        let start = self.at + 1;
        let end = marks.next(place + start)? - place;
        (self.text.get(end)? == &b'"').then(|| {
            self.at = end + 1;
            &self.text[start..end]
        })
    }

    fn rare_text<'a>(&mut self, arena: &'a Bump) -> Result<&'a [u8], JsonError>
    where
        'l: 'a,
    {
        let (start, end) = self.first_run()?;
        let read = match self.text[end] {
            b'"' => {
                self.at = end + 1;
                &self.text[start..end]
            }
            _ => self.decoded(start, end, arena)?,
        };
        match self.marks.is_some() || read.is_ascii() || str::from_utf8(read).is_ok() {
            true => Ok(read),
            false => self.fail("invalid unicode code point"),
        }
    }

    /// Returns where the next text begins, and where its first escape or its end is.
    #[inline]
    fn first_run(&mut self) -> Result<(usize, usize), JsonError> {
        if self.peek() != Some(b'"') {
            return self.fail("expected a text");
        }
        let end = self.special_after(self.at + 1);
        match self.text.get(end) {
            Some(b'"' | b'\\') => Ok((self.at + 1, end)),
            _ => self.fail("control character in a text"),
        }
    }

    /// Returns the first position from `at` on at which a text does not just go on.
    #[inline]
    fn special_after(&self, at: usize) -> usize {
        let Some((marks, start)) = self.marks else { return self.sought_after(at) };
        marks.next(start + at).map_or(self.text.len(), |special| special - start)
    }

    /// Does that in a text that is in no block.
    fn sought_after(&self, mut at: usize) -> usize {
        loop {
            let special = special_in(self.chunk(at));
            if special != 0 {
                return at + special.trailing_zeros() as usize;
            }
            at += CHUNK_BYTES;
        }
    }

    /// Returns the bytes from `at` on. Zeros, which are in no text, are after the last.
    #[inline]
    fn chunk(&self, at: usize) -> [u8; CHUNK_BYTES] {
        let rest = &self.text[at..];
        rest.first_chunk().copied().unwrap_or_else(|| last_chunk(rest))
    }

    /// Takes the text that begins at `start`, and has its first escape at `from`.
    fn decoded<'a>(
        &mut self,
        start: usize,
        from: usize,
        arena: &'a Bump,
    ) -> Result<&'a [u8], JsonError> {
        let (text, mut out) = (self.text, std::mem::take(&mut self.scratch));
        out.clear();
        // Of memory that is not written, nothing is taken.
        out.reserve(text.len() - start + CHUNK_BYTES);
        out.extend_from_slice(&text[start..from]);
        match Vectors::detect().run(Decoding { text, from, out: &mut out }) {
            Ok(end) => self.at = end + 1,
            Err(problem) => return self.fail(problem),
        }
        let read = arena.alloc_slice_copy(&out);
        self.scratch = out;
        Ok(read)
    }

    /// Takes a number.
    pub(crate) fn number(&mut self) -> Result<f64, JsonError> {
        let start = self.at;
        self.skip_number()?;
        let number = str::from_utf8(&self.text[start..self.at]).ok();
        match number.and_then(|number| number.parse().ok()).filter(|it: &f64| it.is_finite()) {
            Some(number) => Ok(number),
            None => self.fail("number out of range"),
        }
    }

    fn skip_number(&mut self) -> Result<(), JsonError> {
        self.at += usize::from(self.is_at(b"-"));
        let has_zero = self.is_at(b"0");
        let digits = self.skip_digits();
        let mut is_number = digits > 0 && !(has_zero && digits > 1);
        if is_number && !self.is_at(b".eE") {
            return Ok(());
        }
        if self.is_at(b".") {
            self.at += 1;
            is_number &= self.skip_digits() > 0;
        }
        if self.is_at(b"eE") {
            self.at += 1;
            self.at += usize::from(self.is_at(b"+-"));
            is_number &= self.skip_digits() > 0;
        }
        if is_number { Ok(()) } else { self.fail("invalid number") }
    }

    /// Whether one of `bytes` comes next.
    #[inline]
    fn is_at(&self, bytes: &[u8]) -> bool {
        self.text.get(self.at).is_some_and(|byte| bytes.contains(byte))
    }

    /// Takes the digits that come next, eight bytes at once, and returns their number.
    #[inline]
    fn skip_digits(&mut self) -> usize {
        let start = self.at;
        while let Some(bytes) = self.text.get(self.at..).and_then(|rest| rest.first_chunk()) {
            // The bits that are not zero in a digit, and a carry into the highest bit above nine.
            let word = u64::from_le_bytes(*bytes) ^ 0x3030_3030_3030_3030;
            let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
            self.at += others.trailing_zeros() as usize / 8;
            if others != 0 {
                return self.at - start;
            }
        }
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        self.at - start
    }

    /// Takes `true`, `false` or `null`, and returns its first byte.
    pub(crate) fn word(&mut self) -> Result<u8, JsonError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let words: [&[u8]; 3] = [b"true", b"false", b"null"];
        match words.into_iter().find(|word| rest.starts_with(word)) {
            Some(word) => {
                self.at += word.len();
                Ok(word[0])
            }
            None => self.fail("expected value"),
        }
    }

    /// Takes any value. Nothing but its form is checked.
    #[inline]
    pub fn skip(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            Some(b'{' | b'[') => self.skip_nested(),
            first => self.skip_plain(first),
        }
    }

    /// Takes a value that begins with a byte, and is no list and no object.
    #[inline]
    fn skip_plain(&mut self, first: Option<u8>) -> Result<(), JsonError> {
        match first {
            Some(b'"') => self.skip_text(),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            _ => self.word().map(|_| ()),
        }
    }

    fn skip_nested(&mut self) -> Result<(), JsonError> {
        // The ends of the lists and objects around what comes next.
        let mut ends = Vec::new();
        loop {
            let mut is_first = false;
            match self.peek() {
                Some(start @ (b'{' | b'[')) => {
                    self.at += 1;
                    ends.push(if start == b'{' { b'}' } else { b']' });
                    is_first = true;
                }
                first => self.skip_plain(first)?,
            }
            loop {
                let Some(&end) = ends.last() else { return Ok(()) };
                if self.goes_on(is_first, end)? {
                    if end == b'}' {
                        self.skip_text()?;
                        if !self.take(b':') {
                            return self.fail("expected `:`");
                        }
                    }
                    break;
                }
                ends.pop();
                is_first = false;
            }
        }
    }

    fn skip_text(&mut self) -> Result<(), JsonError> {
        if self.marked_text().is_some() {
            return Ok(());
        }
        let (_, mut end) = self.first_run()?;
        loop {
            match self.text.get(end) {
                Some(b'"') => {
                    self.at = end + 1;
                    return Ok(());
                }
                Some(b'\\') => match self.skipped_escape(end + 1) {
                    Some(after) => end = self.special_after(after),
                    None => return self.fail("invalid escape"),
                },
                _ => return self.fail("control character in a text"),
            }
        }
    }

    /// Returns where an escape ends that nobody reads: half of a pair is as good as any.
    fn skipped_escape(&self, at: usize) -> Option<usize> {
        match self.text.get(at)? {
            b'u' => {
                let digits: &[u8; 4] = self.text.get(at + 1..)?.first_chunk()?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 5)
            }
            letter => (SIMPLE_ESCAPES[usize::from(*letter)] != 0).then_some(at + 1),
        }
    }

    /// Takes any value and returns it as it is written.
    pub(crate) fn raw(&mut self) -> Result<&'l str, JsonError> {
        self.peek();
        let start = self.at;
        self.skip()?;
        match str::from_utf8(&self.text[start..self.at]) {
            Ok(raw) => Ok(raw),
            Err(_) => self.fail("invalid unicode code point"),
        }
    }
}

/// Lists in each other that are read, and not skipped.
///
/// Source: that of `serde_json`. Each takes stack.
const LISTS_MAX: u8 = 126;

/// Bytes that are read at once: most lines of a robots.txt are shorter.
const CHUNK_BYTES: usize = 32;

/// Decodes a text from its first escape on. Returns where its last quote is.
struct Decoding<'d> {
    text: &'d [u8],
    from: usize,
    out: &'d mut Vec<u8>,
}

impl Work for Decoding<'_> {
    type Output = Result<usize, &'static str>;

    #[inline(always)]
    fn with(self, _: impl Kind) -> Result<usize, &'static str> {
        let Decoding { text, mut from, out } = self;
        loop {
            let plain = push_plain(&text[from..], out);
            from += plain;
            if plain == CHUNK_BYTES {
                continue;
            }
            let escape = match &text[from..] {
                [b'\\', letter, ..] => SIMPLE_ESCAPES[usize::from(*letter)],
                [b'"', ..] => return Ok(from),
                _ => return Err("control character in a text"),
            };
            if escape != 0 {
                out.push(escape);
                from += 2;
                continue;
            }
            let (letter, after) = unit_escape(text, from + 1).ok_or("invalid escape")?;
            out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            from = after;
        }
    }
}

/// Appends what precedes the first special byte of a text, or its first chunk. Returns how many bytes.
#[inline(always)]
fn push_plain(text: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(chunk) = text.first_chunk() else { return push_last(text, out) };
    out.extend_from_slice(chunk);
    let plain = special_in(*chunk).trailing_zeros() as usize;
    out.truncate(out.len() - CHUNK_BYTES + plain);
    plain
}

/// Does that for a text that is shorter than a chunk.
#[cold]
fn push_last(text: &[u8], out: &mut Vec<u8>) -> usize {
    let plain = special_in(last_chunk(text)).trailing_zeros() as usize;
    out.extend_from_slice(&text[..plain]);
    plain
}

/// Returns what `u` at `at` and its digits stand for, a unit of UTF-16 or the first of two, and where it
/// ends.
#[cold]
fn unit_escape(text: &[u8], at: usize) -> Option<(char, usize)> {
    let unit = |at: usize| -> Option<u16> {
        let digits: &[u8; 4] = text.get(at..)?.strip_prefix(b"u")?.first_chunk()?;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | u16::from(hex_value(digit)?)))
    };
    let first = unit(at)?;
    if let Some(letter) = char::from_u32(first.into()) {
        return Some((letter, at + 5));
    }
    let second = unit(at + 6).filter(|_| text[at + 5] == b'\\')?;
    let letter = char::decode_utf16([first, second]).next()?.ok()?;
    Some((letter, at + 11))
}

/// The bytes that escapes of one letter stand for, by that letter; 0 for other letters.
const SIMPLE_ESCAPES: [u8; 256] = {
    let pairs = [
        (b'n', b'\n'),
        (b't', b'\t'),
        (b'r', b'\r'),
        (b'b', 0x08),
        (b'f', 0x0c),
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
    ];
    let mut escapes = [0; 256];
    let mut index = 0;
    while index < pairs.len() {
        escapes[pairs[index].0 as usize] = pairs[index].1;
        index += 1;
    }
    escapes
};

/// Returns a mask of the bytes at which a text does not just go on: its end, escapes, and control characters.
#[inline(always)]
fn special_in(chunk: [u8; CHUNK_BYTES]) -> u32 {
    is_special(u8x32::new(chunk)).to_bitmask()
}

#[inline(always)]
fn is_special(chunk: u8x32) -> u8x32 {
    // One bit makes the quote the byte after the control characters, which stay below it.
    let swapped = chunk ^ u8x32::splat(b'"' ^ 0x20);
    let ends = swapped.min(u8x32::splat(0x20)).simd_eq(swapped);
    ends | chunk.simd_eq(u8x32::splat(b'\\'))
}

/// Returns a text that is shorter than a chunk, and zeros.
#[cold]
fn last_chunk(text: &[u8]) -> [u8; CHUNK_BYTES] {
    let mut chunk = [0; CHUNK_BYTES];
    chunk[..text.len()].copy_from_slice(text);
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares what is read with what `serde_json` reads, alone and in a block.
    #[track_caller]
    fn check(text: &[u8]) {
        let arena = Bump::new();
        check_with(text, &arena, || Json::new(text));
        let all = [b"\"\\\n", text, b"\n"].concat();
        if let Some(text) = JsonBlock::new(&all, &arena).checked(&all[3..all.len() - 1], 3) {
            let json = || Json::in_block(text, (JsonBlock::new(&all, &arena), 3));
            check_with(text.as_bytes(), &arena, json);
        }
    }

    #[track_caller]
    fn check_with<'l>(text: &[u8], arena: &'l Bump, new: impl Fn() -> Json<'l>) {
        let shown = text.escape_ascii().to_string();
        let ends = |json: &mut Json<'_>| json.end().is_ok();
        let mut json = new();
        let skipped = json.skip().is_ok() && ends(&mut json);
        assert_eq!(skipped, serde_json::from_slice::<IgnoredAny>(text).is_ok(), "{shown}");
        let mut json = new();
        let read = json.text(arena).ok().filter(|_| ends(&mut json));
        let expected = serde_json::from_slice::<String>(text).ok();
        assert_eq!(read, expected.as_deref().map(str::as_bytes), "{shown}");
        let mut json = new();
        let is_number = matches!(json.peek(), Some(b'-' | b'0'..=b'9'));
        let number = is_number.then(|| json.number().ok()).flatten().filter(|_| ends(&mut json));
        assert_eq!(number, serde_json::from_slice::<f64>(text).ok(), "{shown}");
    }

    #[test]
    fn values_are_those_of_serde_json() {
        let texts = r#"" "" "a" b "a\ "\n\r\t\b\f\"\/\\" "\x" "\u0041\u00e9\u20ac\ud83d\ude00" "\ud83d"
            "\ud83d\u0041" "\ude00" "\ud83dx" "\u00g0" "\u00 "é\n€" 0 -0 01 - 1. 1.5 .5 1e 1e5 1E+5 1e-5
            1e999 -1e999 12345678901 -17.25 true tru nullx null false [] [ ] [1] [1,] [,1] [1} {} {"a":1}
            {"a"} {"a":} {"a":1,} {,} {1:2} {"a":[{"b":[]},{}],"c":{}} ["a\"]"] NaN {"a":"\ud83d"}"#;
        texts.split_whitespace().for_each(|text| check(text.as_bytes()));
        for text in
            ["", " ", " \"a\" ", "\"a\" b", "\"a\nb\"", "\"\x7f\"", "1 2", "[1 2]", "\u{feff}1"]
        {
            check(text.as_bytes());
        }
        check(b"{\"a\" : 1 , \"b\"\n:\t2 }");
        for byte in 0..=u8::MAX {
            check(&[b'"', byte, b'"']);
            check(&[b'"', b'\\', byte, b'"']);
        }
        check(b"[\"\xff\"]");
        check(&[b'['; 1000]);
        check(&[[b'['; 1000], [b']'; 1000]].concat());
    }

    #[test]
    fn texts_of_every_length_are_decoded() {
        for before in 0..40 {
            for after in 0..40 {
                for escape in ["\\n", "\\u00e9", "\\ud83d\\ude00", "\\\\\\\"", "\u{1}", "é"] {
                    let (before, after) = ("a".repeat(before), "b".repeat(after));
                    let text = format!("\"{before}{escape}{after}\"");
                    check(text.as_bytes());
                    check(&text.as_bytes()[..text.len() - 1]);
                }
            }
        }
        for escapes in [100, 1000, 5000] {
            check(format!("\"{}\"", "\\n".repeat(escapes)).as_bytes());
            check(format!("\"{}\"", "ab\\u00e9".repeat(escapes)).as_bytes());
        }
    }
}
