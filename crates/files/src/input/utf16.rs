//! Text in UTF-16, as spreadsheets and Windows programs write it, read as UTF-8.
//!
//! A byte order mark at the start shows the encoding (Unicode 16.0, section 23.8). A surrogate without the
//! other half, or an odd byte at the end, is an error: what replaced it could be another URL.
//!
//! Cost: one pass, in blocks of [`BLOCK_BYTES`].

use std::io::{self, Read};

use super::InputError;
use super::source::Source;

/// Bytes of UTF-16 that are read at once: 64 KiB, which become 96 KiB of UTF-8 at most.
///
/// Source: our choice, a part of a chunk.
const BLOCK_BYTES: usize = 64 * 1024;

const LITTLE_ENDIAN: [u8; 2] = [0xff, 0xfe];
const BIG_ENDIAN: [u8; 2] = [0xfe, 0xff];

impl Source {
    /// Returns the input in UTF-8, without its byte order mark, if it begins with that of UTF-16; otherwise as
    /// it is. Reads the first few bytes.
    #[must_use]
    pub fn in_utf8(mut self) -> Source {
        match self.begins_as_utf16() {
            true => self.through(Utf16::new),
            false => self,
        }
    }

    /// Whether the input begins with the byte order mark of UTF-16. Reads the first few bytes.
    pub fn begins_as_utf16(&mut self) -> bool {
        self.fill(LITTLE_ENDIAN.len());
        [LITTLE_ENDIAN, BIG_ENDIAN].iter().any(|mark| self.buffer().starts_with(mark))
    }
}

/// Reads UTF-16 as UTF-8.
pub(super) struct Utf16 {
    source: Source,
    unit: fn([u8; 2]) -> u16,
    text: String,
    /// The delivered bytes of the text.
    taken: usize,
}

impl Utf16 {
    /// Reads from `source`, which begins with a byte order mark.
    pub(super) fn new(mut source: Source) -> Utf16 {
        let is_big = source.buffer().starts_with(&BIG_ENDIAN);
        source.consume(BIG_ENDIAN.len());
        let unit = if is_big { u16::from_be_bytes } else { u16::from_le_bytes };
        Utf16 { source, unit, text: String::new(), taken: 0 }
    }

    /// Decodes the next block.
    fn decode(&mut self) -> Result<(), InputError> {
        (self.taken, _) = (0, self.text.clear());
        let is_last = !self.source.fill(BLOCK_BYTES);
        let block = self.source.buffer();
        let (units, odd) = block[..block.len().min(BLOCK_BYTES)].as_chunks::<2>();
        let units = units.iter().map(|&bytes| (self.unit)(bytes));
        let mut decoded = 0;
        for letter in char::decode_utf16(units) {
            match letter {
                Ok(letter) => {
                    self.text.push(letter);
                    decoded += 2 * letter.len_utf16();
                }
                // The other half may be in the next block.
                Err(half)
                    if !is_last
                        && decoded + 2 == BLOCK_BYTES
                        && half.unpaired_surrogate() < 0xdc00 =>
                {
                    break;
                }
                Err(_) => return Err(self.problem(decoded, "half of a character")),
            }
        }
        let has_odd = is_last && !odd.is_empty();
        if is_last && let Some(failure) = self.source.take_failure() {
            return Err(failure);
        }
        if has_odd {
            return Err(self.problem(decoded, "an odd byte"));
        }
        self.source.consume(decoded);
        Ok(())
    }

    fn problem(&self, decoded: usize, what: &str) -> InputError {
        let at = self.source.position() + decoded as u64;
        self.source.problem(format!(
            "not UTF-16: {what} at byte {at}; fetch it again, or write it as UTF-8"
        ))
    }
}

impl Read for Utf16 {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            self.decode().map_err(io::Error::other)?;
        }
        let count = (&self.text.as_bytes()[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, is_big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
    }

    fn read(stored: Vec<u8>) -> (Vec<u8>, Option<String>) {
        let mut source = Source::from_reader("a", io::Cursor::new(stored)).in_utf8();
        source.fill(usize::MAX);
        let text = source.buffer().to_vec();
        (text, source.take_failure().map(|it| it.to_string()))
    }

    #[test]
    fn both_orders_are_read_wherever_blocks_end() {
        for before in
            [0, 1, BLOCK_BYTES / 2 - 3, BLOCK_BYTES / 2 - 2, BLOCK_BYTES / 2 - 1, BLOCK_BYTES]
        {
            let text = format!("{}\u{1f577}é\nb", "a".repeat(before));
            for is_big in [false, true] {
                assert_eq!(
                    read(encoded(&text, is_big)),
                    (text.clone().into_bytes(), None),
                    "{before}"
                );
            }
        }
        assert_eq!(read(encoded("", true)), (Vec::new(), None));
    }

    #[test]
    fn other_text_is_as_it_was() {
        for text in [&b""[..], b"a", b"\xff", b"\xef\xbb\xbfa", b"a\0b\0"] {
            assert_eq!(read(text.to_vec()), (text.to_vec(), None));
        }
    }

    #[test]
    fn halves_of_characters_are_errors() {
        for (end, expected) in [
            (&[0xd8, 0x3d][..], "half of a character at byte 4"),
            (&[0xdd, 0x77], "half of a character at byte 4"),
            (&[0xd8, 0x3d, 0, b'b'], "half of a character at byte 4"),
            (&[0], "an odd byte at byte 4"),
        ] {
            let stored = [&encoded("a", true)[..], end].concat();
            let (text, problem) = read(stored);
            assert_eq!(text, b"");
            assert!(problem.as_ref().is_some_and(|it| it.contains(expected)), "{problem:?}");
        }
    }

    #[test]
    fn half_of_a_character_at_the_end_of_a_block_is_an_error_too() {
        let text = "a".repeat(BLOCK_BYTES / 2 - 2);
        for more in [&[0xd8, 0x3d][..], &[0xd8, 0x3d, 0, b'b'], &[0xdd, 0x77]] {
            let stored = [&encoded(&text, true)[..], more].concat();
            assert!(read(stored).1.is_some(), "{more:?}");
        }
    }
}
