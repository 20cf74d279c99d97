//! The kernels in portable code: the definition of each, and what they share.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

use crate::bytes::{CHUNK_BYTES, Line, bits, first_bytes};
use crate::filter::bloom::{cut, has};
use crate::filter::head::{Open, OpenQuery, first_probe};
use crate::filter::teddy::{END, class};
use crate::outcome::Outcome;

use super::{FOUR, Four, Kernels, Portable, Probed};

/// Positions that are searched at once.
pub(crate) const WINDOW: usize = 60;

impl Kernels for Portable {
    #[inline(always)]
    fn first_probes(self, lines: &[Line], Four { number, starts, paths }: Four<'_>) -> Probed {
        let mut probed =
            Probed { outcomes: [Outcome::LOST; FOUR], open: Default::default(), left: 0 };
        for (place, (start, path)) in starts.into_iter().zip(paths).enumerate() {
            let (outcome, open) = match Outcome(start).as_opaque() {
                Some(_) => (Outcome(start), Open::default()),
                None => first_probe(lines, start as usize, path),
            };
            probed.outcomes[place] = outcome;
            probed.open[probed.left % FOUR] = OpenQuery::new(number + place as u32, open);
            probed.left += usize::from(open.any());
        }
        probed
    }

    #[inline]
    fn levels_of(self, filter: &[U64], text: &[u8], levels: u8) -> Option<u8> {
        if filter.is_empty() {
            return None;
        }
        let (bytes, mut found) = (first_bytes(text), 0);
        for level in bits(levels.into()) {
            found |= u8::from(has(filter, cut(bytes, level))?) << level;
        }
        Some(found)
    }

    fn positions(self, line: &Line, path: &[u8], start: usize) -> u64 {
        let rest = &path[start..];
        let (rows, _) = line.as_bytes().as_chunks::<CHUNK_BYTES>();
        let [of_first, of_second, of_third, of_classes] = *rows else { return 0 };
        let nibble = |byte: u8| usize::from(byte & 15);
        let window = &rest[..rest.len().min(WINDOW)];
        // From the last one, so that the bytes after each are known.
        let byte = |place: usize| rest.get(place).copied().unwrap_or(END);
        let (mut second, mut third) = (byte(window.len()), byte(window.len() + 1));
        let mut found = 0;
        for &first in window.iter().rev() {
            let classes = usize::from(class(first) << 2 | class(second));
            let buckets = of_first[nibble(first)]
                & of_second[nibble(second)]
                & of_third[nibble(third)]
                & of_classes[classes % CHUNK_BYTES];
            found = found << 1 | u64::from(buckets != 0);
            (second, third) = (first, second);
        }
        found
    }
}
