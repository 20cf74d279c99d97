//! Makes up one URL.

use super::draw::PATH_BYTES;
use super::random::SplitMix64;
use super::site::Site;
use super::words::{EXTENSIONS, PARAMETERS, write_number};

// Shares of the URLs, in ten thousand, as measured.
const COMMON_SECTION: u64 = 2_500;
const QUERY: u64 = 1_200;
// A root path has none, so the others have a little more.
const ESCAPE: u64 = 425;
const NON_ASCII: u64 = 13;
const FRAGMENT: u64 = 30;
const TRAILING_SLASH: u64 = 3_500;
const EXTENSION: u64 = 3_500;

/// Appends a URL's part after the origin, without a line end. The sections of its path are those of
/// its own site or, now and then, those that sites everywhere have.
pub(super) fn write(mut random: SplitMix64, [own, common]: [Site; 2], out: &mut Vec<u8>) {
    let site = if random.chance(COMMON_SECTION) { common } else { own };
    write_path(&mut random, site, out);
    if random.chance(QUERY) {
        write_query(&mut random, out);
    }
    if random.chance(FRAGMENT) {
        out.extend_from_slice(b"#top");
    }
}

fn write_path(random: &mut SplitMix64, site: Site, out: &mut Vec<u8>) {
    let start = out.len();
    let bytes = PATH_BYTES.draw(random) as usize;
    out.push(b'/');
    if bytes <= 1 {
        return;
    }
    site.write_section(random, out);
    while out.len() - start < bytes {
        out.push(random.pick(b"///-"));
        site.write_section(random, out);
    }
    if random.chance(ESCAPE) {
        let escape = random.pick(&["%20", "%C3%A9", "%2F", "%7e", "%e4%bd%a0", "%28"]);
        out.extend_from_slice(escape.as_bytes());
    }
    if random.chance(NON_ASCII) {
        out.extend_from_slice(random.pick(&["é", "ü", "日本", "ж"]).as_bytes());
    }
    if random.chance(TRAILING_SLASH) {
        out.push(b'/');
    } else if random.chance(EXTENSION) {
        out.extend_from_slice(random.pick(&EXTENSIONS).as_bytes());
    }
}

fn write_query(random: &mut SplitMix64, out: &mut Vec<u8>) {
    let parameters = random.below(3) + 1;
    for position in 0..parameters {
        out.push(if position == 0 { b'?' } else { b'&' });
        out.extend_from_slice(random.pick(&PARAMETERS).as_bytes());
        out.push(b'=');
        write_number(random.below(10_000), out);
    }
}
