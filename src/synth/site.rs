//! What rules and URLs of one site have in common: its sections.

use super::draw::SECTION;
use super::layout::Layout;
use super::random::{Purpose, SplitMix64};
use super::words::{ADJECTIVES, NOUNS, write_number};

/// A site: the sections of its paths, counted from the most frequent.
///
/// A file's rules and its hosts' URLs name the same sections, so that rules match URLs about as
/// often as they do on the web.
#[derive(Clone, Copy)]
pub(super) struct Site {
    seed: u64,
}

impl Site {
    /// The site of all hosts that have a layout.
    pub(super) fn of_layout(seed: u64, layout: Layout) -> Site {
        Site { seed: SplitMix64::stream(seed, Purpose::Site, layout.number()).next_u64() }
    }

    /// The sections that sites everywhere have.
    pub(super) fn common(seed: u64) -> Site {
        Site { seed: SplitMix64::stream(seed, Purpose::Site, u64::MAX).next_u64() }
    }

    /// Appends the name of one of the site's sections.
    pub(super) fn write_section(self, random: &mut SplitMix64, out: &mut Vec<u8>) {
        let position = SECTION.draw(random);
        self.write_section_at(position, out);
    }

    /// Appends the name of the section at `position`: a noun, or two words, or a noun and a number.
    fn write_section_at(self, position: u64, out: &mut Vec<u8>) {
        // A URL has some six sections, so each takes one number and shares it out.
        let word = SplitMix64::stream(self.seed, Purpose::Site, position).next_u64();
        let shape = ((word & 0xffff) * 10) >> 16;
        if shape >= 6 {
            let adjective = ADJECTIVES[((word >> 16) % ADJECTIVES.len() as u64) as usize];
            out.extend_from_slice(adjective.as_bytes());
            out.push(b"-_-"[((word >> 24) % 3) as usize]);
        }
        let noun = NOUNS[((word >> 32) % NOUNS.len() as u64) as usize];
        out.extend_from_slice(noun.as_bytes());
        if shape >= 8 {
            out.push(b'-');
            write_number((word >> 40) % 100_000, out);
        }
    }
}
