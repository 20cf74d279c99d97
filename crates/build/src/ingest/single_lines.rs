//! Undated files of one line that is no record: pages of error, or rows of a table with a row for each rule, which
//! was read as one with a row for each file. As files, such rows would allow everything.
//!
//! If an input has different ones for a resource, all of them are left out. They are held until all inputs are
//! read, because the rows of a resource may be in different pieces of an input.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use portcullis_captures::BrokenRecord;

use super::known::Known;
use super::place::{self, Place, Places};
use crate::limits::SINGLE_LINES_BYTES_MAX;
use crate::pool::BlobID;

/// The characters of a line that an error shows.
const LINE_CHARACTERS_SHOWN: usize = 60;

/// A capture, and where it is filed.
pub(super) type Filed = (Places, Known<BlobID>);

/// A capture whose file is a single line.
struct SingleLine {
    /// The index of the input.
    input: u32,
    places: Places,
    known: Known<BlobID>,
    hash: u64,
    /// The beginning of the line.
    shown: Box<str>,
}

/// Captures of an input that are left out: how many, and why, at the position of the first.
pub(super) struct LeftOut {
    pub(super) input: u32,
    pub(super) captures: u64,
    pub(super) position: u64,
    pub(super) broken: BrokenRecord,
}

/// Captures of all inputs whose files are single lines, up to [`SINGLE_LINES_BYTES_MAX`] and an eighth of the
/// memory. If they take more, all are left out.
pub(super) struct SingleLines {
    lines: Vec<SingleLine>,
    /// For each input the number of captures that take too much, and the position of the first.
    too_many: BTreeMap<u32, (u64, u64)>,
    hasher: RandomState,
    bytes: usize,
    bytes_max: usize,
}

impl SingleLines {
    /// Returns a place for captures. The compiler has this `memory`.
    pub(super) fn new(memory: usize) -> SingleLines {
        let bytes_max = SINGLE_LINES_BYTES_MAX.min(memory / 8);
        let (lines, too_many, hasher) = (Vec::new(), BTreeMap::new(), RandomState::default());
        SingleLines { lines, too_many, hasher, bytes: 0, bytes_max }
    }

    /// Holds a capture with the line of its file.
    pub(super) fn push(&mut self, input: u32, (places, known): Filed, line: &[u8]) {
        if self.bytes > self.bytes_max {
            return self.leave_out(input, known.position);
        }
        let hash = self.hasher.hash_one(line);
        let shown: String =
            String::from_utf8_lossy(line).chars().take(LINE_CHARACTERS_SHOWN).collect();
        let key_bytes = places.0.key.len() + places.1.as_ref().map_or(0, |place| place.key.len());
        self.bytes += size_of::<SingleLine>() + key_bytes + shown.len();
        self.lines.push(SingleLine { input, places, known, hash, shown: shown.into() });
        if self.bytes > self.bytes_max {
            for line in std::mem::take(&mut self.lines) {
                self.leave_out(line.input, line.known.position);
            }
        }
    }

    fn leave_out(&mut self, input: u32, position: u64) {
        let (count, first) = self.too_many.entry(input).or_insert((0, position));
        *count += 1;
        *first = position.min(*first);
    }

    /// Returns the captures that count, and those that are left out.
    pub(super) fn settled(self) -> (Vec<Filed>, Vec<LeftOut>) {
        let SingleLines { mut lines, too_many, .. } = self;
        let mut left_out: Vec<LeftOut> = too_many.into_iter().map(too_many_lines).collect();
        let place = |line: &SingleLine| (line.input, line.places.0.clone());
        lines.sort_by(|one, other| {
            let key = |it: &SingleLine| (it.input, it.places.0.slot, it.known.position);
            one.places.0.key.cmp(&other.places.0.key).then(key(one).cmp(&key(other)))
        });
        let mut kept = Vec::new();
        let mut lines = lines.into_iter().peekable();
        while let Some(first) = lines.next() {
            let of = place(&first);
            let mut some = vec![first];
            some.extend(std::iter::from_fn(|| lines.next_if(|line| place(line) == of)));
            match some.iter().find(|line| line.hash != some[0].hash) {
                Some(other) => left_out.push(rows(&some, other)),
                None => kept.extend(some.into_iter().map(|line| (line.places, line.known))),
            }
        }
        (kept, left_out)
    }
}

/// Returns the captures of a resource with different lines.
fn rows(lines: &[SingleLine], other: &SingleLine) -> LeftOut {
    let (first, captures) = (&lines[0], lines.len() as u64);
    let Place { key, slot } = &first.places.0;
    let url = match place::is_origin(key) {
        true => place::robots_txt_url(key, *slot),
        false => key.clone(),
    };
    let problem = format!(
        "its {captures} bodies are single lines and no records of robots.txt, such as {:?} and {:?}: this looks \
         like a table with a row for each rule, as advertools writes it; join the rows of a URL to one text of \
         lines `field: value` first",
        first.shown, other.shown
    );
    let place = format!("the captures of {}", String::from_utf8_lossy(&url));
    let broken = BrokenRecord::unreadable(place, problem);
    LeftOut { input: first.input, captures, position: first.known.position, broken }
}

/// Returns the captures of an input beyond the bound.
fn too_many_lines((input, (captures, position)): (u32, (u64, u64))) -> LeftOut {
    let problem = "they are too many to tell whether this is a table with a row for each rule; add a column with \
                   the dates of the captures, or raise --memory";
    let place =
        format!("{captures} files of one line that is no record of robots.txt, without a date");
    LeftOut { input, captures, position, broken: BrokenRecord::unreadable(place, problem) }
}
