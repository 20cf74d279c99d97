//! Makes up one URL.

use super::draw::PATH_OCTETS;
use super::random::SplitMix64;
use super::site::{Site, write_number};
use super::words::{EXTENSIONS, PARAMETERS};

// Shares of the URLs, in ten thousand, as measured.
const HTTPS: u64 = 8_800;
const QUERY: u64 = 1_200;
// A root path has none, so the others have a little more.
const ESCAPE: u64 = 425;
const NON_ASCII: u64 = 13;
const FRAGMENT: u64 = 30;
const TRAILING_SLASH: u64 = 3_500;
const EXTENSION: u64 = 3_500;

/// Appends a URL on `host`, without a line end.
pub(super) fn write(mut random: SplitMix64, host: &str, site: Site, out: &mut Vec<u8>) {
    let scheme: &[u8] = if random.chance(HTTPS) { b"https://" } else { b"http://" };
    out.extend_from_slice(scheme);
    out.extend_from_slice(host.as_bytes());
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
    let octets = PATH_OCTETS.draw(random) as usize;
    out.push(b'/');
    if octets <= 1 {
        return;
    }
    site.write_section(random, out);
    while out.len() - start < octets {
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
