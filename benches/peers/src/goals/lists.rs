//! Long lists of a short one: all its lines several times over, shuffled and grouped by host.
//!
//! Shuffled, hosts alternate as in the list of a crawl. Grouped, a host's lines stand together in the
//! order of the short list, one round of them after the other, so that no URL follows itself.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A list of URLs in memory.
pub struct ShortList<'l> {
    lines: Vec<&'l [u8]>,
}

impl<'l> ShortList<'l> {
    /// The lines of `text`; an end without a line feed is a line too.
    pub fn new(text: &'l [u8]) -> ShortList<'l> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        ShortList { lines: text.split(|&byte| byte == b'\n').collect() }
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Writes all lines `copies` times, in an order that `seed` gives.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_shuffled(&self, copies: usize, seed: u64, path: &Path) -> io::Result<()> {
        let count = self.lines.len();
        let mut order: Vec<u32> = (0..count * copies).map(|place| (place % count) as u32).collect();
        let mut random = Random(seed);
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
        write(path, order.iter().map(|&line| self.lines[line as usize]))
    }

    /// Writes all lines `copies` times, by host.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write_grouped(&self, copies: usize, path: &Path) -> io::Result<()> {
        let mut lines = self.lines.clone();
        lines.sort_by_key(|line| host(line));
        let groups = lines.chunk_by(|one, other| host(one) == host(other));
        write(path, groups.flat_map(|group| (0..copies).flat_map(|_| group.iter().copied())))
    }
}

fn write<'l>(path: &Path, lines: impl Iterator<Item = &'l [u8]>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for line in lines {
        file.write_all(line)?;
        file.write_all(b"\n")?;
    }
    file.into_inner()?.sync_all()
}

/// What stands where a host does.
fn host(line: &[u8]) -> &[u8] {
    let start = line.windows(3).position(|window| window == b"://").map_or(0, |place| place + 3);
    let rest = &line[start..];
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    &rest[..end]
}

/// A SplitMix64 generator.
pub(super) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// So many of `letters`.
    pub fn word(&mut self, letters: &[u8], length: usize) -> Vec<u8> {
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"http://b/2\nhttp://a/1\nhttp://b/1\nno URL";

    fn written(write: impl Fn(&ShortList<'_>, &Path) -> io::Result<()>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        write(&ShortList::new(TEXT), &path).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_grouped_list_has_each_host_once_and_no_url_twice_in_a_row() {
        let grouped = written(|list, path| list.write_grouped(2, path));
        let hosts = "http://a/1\nhttp://a/1\nhttp://b/2\nhttp://b/1\nhttp://b/2\nhttp://b/1\n";
        assert_eq!(grouped, [hosts, "no URL\nno URL\n"].concat());
    }

    #[test]
    fn a_shuffled_list_has_the_same_lines_in_an_order_of_its_seed() {
        let shuffled = |seed| written(|list, path| list.write_shuffled(3, seed, path));
        let sorted = |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let grouped = written(|list, path| list.write_grouped(3, path));
        assert_eq!(sorted(shuffled(1)), sorted(grouped));
    }
}
