//! The sections of a site, which its rules and URLs share. Also writes URLs, which consist of
//! sections.

use super::draw::{PATH_BYTES, SECTION};
use super::layout::Layout;
use super::random::{Purpose, SplitMix64};
use super::words::{ADJECTIVES, EXTENSIONS, NOUNS, PARAMETERS};

/// A site: the sections of its paths, counted from the most frequent.
///
/// A file's rules and its hosts' URLs name the same sections, so that rules match URLs about as
/// often as they do on the web.
#[derive(Clone, Copy)]
pub(super) struct Site {
    seed: u64,
}

impl Site {
    /// Returns the site shared by all hosts with a layout.
    pub(super) fn from_layout(seed: u64, layout: Layout) -> Site {
        Site { seed: SplitMix64::stream(seed, Purpose::Site, layout.0).next_u64() }
    }

    /// Appends the name of one of the site's sections: a noun, or two words, or a noun and a number.
    pub(super) fn write_section(self, random: &mut SplitMix64, out: &mut String) {
        // A URL has about six sections, so each one uses a single random number.
        let position = SECTION.draw(random);
        let word = SplitMix64::stream(self.seed, Purpose::Site, position).next_u64();
        let shape = ((word & 0xffff) * 10) >> 16;
        if shape >= 6 {
            out.push_str(ADJECTIVES[((word >> 16) % ADJECTIVES.len() as u64) as usize]);
            out.push(['-', '_', '-'][((word >> 24) % 3) as usize]);
        }
        out.push_str(NOUNS[((word >> 32) % NOUNS.len() as u64) as usize]);
        if shape >= 8 {
            out.push('-');
            out.push_str(&((word >> 40) % 100_000).to_string());
        }
    }
}

// Measured shares of URLs, per ten thousand.
const COMMON_SECTION: u64 = 2_500;
const QUERY: u64 = 1_200;
// A root path has none, so the other paths get a slightly larger share.
const ESCAPE: u64 = 425;
const NON_ASCII: u64 = 13;
const FRAGMENT: u64 = 30;
const TRAILING_SLASH: u64 = 3_500;
const EXTENSION: u64 = 3_500;

/// Appends the part of a URL after the origin, without a line end. The sections of its path come
/// from its own site, and sometimes from the common ones.
pub(super) fn write_url(mut random: SplitMix64, [own, common]: [Site; 2], out: &mut String) {
    let site = if random.chance(COMMON_SECTION) { common } else { own };
    write_path(&mut random, site, out);
    if random.chance(QUERY) {
        write_query(&mut random, out);
    }
    if random.chance(FRAGMENT) {
        out.push_str("#top");
    }
}

fn write_path(random: &mut SplitMix64, site: Site, out: &mut String) {
    let start = out.len();
    let bytes = PATH_BYTES.draw(random) as usize;
    out.push('/');
    if bytes <= 1 {
        return;
    }
    site.write_section(random, out);
    while out.len() - start < bytes {
        out.push(random.pick(&['/', '/', '/', '-']));
        site.write_section(random, out);
    }
    if random.chance(ESCAPE) {
        out.push_str(random.pick(&["%20", "%C3%A9", "%2F", "%7e", "%e4%bd%a0", "%28"]));
    }
    if random.chance(NON_ASCII) {
        out.push_str(random.pick(&["é", "ü", "日本", "ж"]));
    }
    if random.chance(TRAILING_SLASH) {
        out.push('/');
    } else if random.chance(EXTENSION) {
        out.push_str(random.pick(&EXTENSIONS));
    }
}

fn write_query(random: &mut SplitMix64, out: &mut String) {
    for position in 0..random.below(3) + 1 {
        let before = if position == 0 { "?" } else { "&" };
        let parameter = random.pick(&PARAMETERS);
        out.extend([before, parameter, "=", &random.below(10_000).to_string()]);
    }
}
