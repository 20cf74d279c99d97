//! Places of bytes in a text, found 64 bytes at a time before the text is read.

use wide::u8x32;

use crate::vectors::{Kind, Vectors, Work};

/// The number of bytes that are scanned at once.
pub const WINDOW_BYTES: usize = 64;

/// The marked places of a text: a bit for each byte.
#[derive(Clone, Copy, Debug)]
pub struct Marks<'m>(&'m [u64]);

impl<'m> Marks<'m> {
    /// Marks the bytes of a text that `is` has, in memory from `words`, which is given the number of words.
    pub fn of(
        text: &[u8],
        is: impl Fn(u8x32) -> u8x32,
        words: impl FnOnce(usize) -> &'m mut [u64],
    ) -> Marks<'m> {
        let words = words(text.len().div_ceil(WINDOW_BYTES));
        Vectors::detect().run(Marking { text, is, words: &mut *words });
        Marks(words)
    }

    /// Returns the first mark from a place on; `None` if there is none.
    #[inline]
    pub fn next(self, place: usize) -> Option<usize> {
        let (mut number, within) = (place / WINDOW_BYTES, place % WINDOW_BYTES);
        let mut marks = self.0.get(number)? >> within << within;
        while marks == 0 {
            number += 1;
            marks = *self.0.get(number)?;
        }
        Some(number * WINDOW_BYTES + marks.trailing_zeros() as usize)
    }
}

/// See [`Marks::of`].
struct Marking<'m, 't, F> {
    text: &'t [u8],
    is: F,
    words: &'m mut [u64],
}

impl<F: Fn(u8x32) -> u8x32> Work for Marking<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn with(self, _: impl Kind) {
        for (window, marks) in self.text.chunks(WINDOW_BYTES).zip(self.words) {
            *marks = marks_in(window, &self.is);
        }
    }
}

/// Returns a bit for each byte of the first window of a text that `is` has.
#[inline(always)]
pub fn marks_in(text: &[u8], is: impl Fn(u8x32) -> u8x32) -> u64 {
    let marks = |window: &[u8; WINDOW_BYTES]| {
        let (chunks, _) = window.as_chunks::<32>();
        let marks = |chunk: &[u8; 32]| is(u8x32::new(*chunk)).to_bitmask();
        chunks.iter().rev().fold(0, |all, chunk| all << 32 | u64::from(marks(chunk)))
    };
    if let Some(window) = text.first_chunk() {
        return marks(window);
    }
    let mut window = [0; WINDOW_BYTES];
    window[..text.len()].copy_from_slice(text);
    marks(&window) & ((1 << text.len()) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_is_found_wherever_windows_end() {
        for bytes in 0..200 {
            for step in [1, 2, 7, 63, 64, 65, 150] {
                let text: Vec<u8> =
                    (0..bytes).map(|at| b"ax"[usize::from(at % step == 0)]).collect();
                let mut words = Vec::new();
                let is_x = |chunk: u8x32| chunk.simd_eq(u8x32::splat(b'x'));
                let marks = Marks::of(&text, is_x, |count| {
                    words.resize(count, 0);
                    &mut words
                });
                for place in 0..bytes + 70 {
                    let expected = (place..bytes).find(|at| text[*at] == b'x');
                    assert_eq!(marks.next(place), expected, "{bytes} {step} {place}");
                }
            }
        }
    }
}
