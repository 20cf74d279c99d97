//! What rules and URLs of one site have in common: its sections.

use super::draw::SECTION;
use super::random::{Purpose, SplitMix64};
use super::words::{ADJECTIVES, NOUNS};

/// A site: the sections of its paths, counted from the most frequent.
///
/// A file's rules and its hosts' URLs name the same sections, so that rules match URLs about as
/// often as they do on the web.
#[derive(Clone, Copy)]
pub(super) struct Site {
    seed: u64,
}

impl Site {
    pub(super) fn new(mut random: SplitMix64) -> Site {
        Site { seed: random.next_u64() }
    }

    /// Appends the name of one of the site's sections.
    pub(super) fn write_section(self, random: &mut SplitMix64, out: &mut Vec<u8>) {
        let position = SECTION.draw(random);
        self.write_section_at(position, out);
    }

    /// Appends the name of the section at `position`: a noun, or two words, or a noun and a number.
    fn write_section_at(self, position: u64, out: &mut Vec<u8>) {
        let mut random = SplitMix64::stream(self.seed, Purpose::Site, position);
        let shape = random.below(10);
        if shape >= 6 {
            out.extend_from_slice(random.pick(&ADJECTIVES).as_bytes());
            out.push(random.pick(b"-_-"));
        }
        out.extend_from_slice(random.pick(&NOUNS).as_bytes());
        if shape >= 8 {
            out.push(b'-');
            write_number(random.below(100_000), out);
        }
    }
}

/// Appends a number in decimal digits.
pub(super) fn write_number(number: u64, out: &mut Vec<u8>) {
    if number >= 10 {
        write_number(number / 10, out);
    }
    out.push(b'0' + (number % 10) as u8);
}
