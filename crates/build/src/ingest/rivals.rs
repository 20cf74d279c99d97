//! Different files of a resource in one second of an input: which of them counts is a guess.
//!
//! Most are answers to two requests, and are noted if one of them counts. If two of a table are single lines,
//! they are rows of a table with a row for each rule or line, which was read as one with a row for each file.
//! As a file, nearly every line allows everything, so all single lines of that second are left out, and the
//! input is unreadable. The second without a date is one too; its files are noted elsewhere.
//!
//! Whether a single line is such a row is known when all captures are sorted. Until then it neither replaces
//! another capture nor is replaced, so inputs have the same meaning together and apart. Those of one second
//! take the place of one. Cost: a comparison of neighbours each time captures are put in order.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;

use portcullis_captures::BrokenRecord;
use portcullis_robots::access::UnixSeconds;

use super::known::Known;
use super::place::{self, Slot};
use super::read::OpenReport;

/// The other files that an input has of a resource, in its second. Empty in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rivals {
    /// Whether two files differ.
    pub(super) differ: bool,
    /// The hash of a single line of a table, until all captures are sorted.
    pub(super) line: Option<NonZeroU64>,
    /// The number of other such lines whose place this one takes.
    pub(super) lines: u32,
    /// Whether two such lines differ.
    pub(super) are_rows: bool,
}

impl Rivals {
    /// Adds the rivals of the same second.
    fn join(&mut self, other: Rivals) {
        self.lines = self.lines.saturating_add(other.lines).saturating_add(1);
        self.are_rows |= other.are_rows || self.line != other.line;
    }
}

/// The second of an input that a file is of.
type Second = (Option<UnixSeconds>, u32);

fn second_of<B>(known: &Known<B>) -> Second {
    (known.facts.captured_at, known.facts.input)
}

/// Tells each file whether it differs from one before it in its second. Captures come in order.
pub(super) fn compare<B: PartialEq>(captures: &mut [Known<B>]) {
    let mut last: Option<usize> = None;
    for at in 0..captures.len() {
        if !captures[at].is_file() {
            continue;
        }
        let before = last.replace(at).map(|before| &captures[before]);
        let before = before.filter(|before| second_of(before) == second_of(&captures[at]));
        let differ = before.is_some_and(|it| it.rivals.differ || it.held != captures[at].held);
        captures[at].rivals.differ |= differ;
    }
}

/// Takes single lines out of the captures of a resource, one for all of a second.
pub(super) fn take_lines<B>(captures: &mut Vec<Known<B>>) -> Vec<Known<B>> {
    let mut lines: Vec<_> = captures.extract_if(.., |it| it.rivals.line.is_some()).collect();
    lines.sort_by_key(|line| (second_of(line), line.position));
    lines.dedup_by(|later, line| {
        let is_same = second_of(later) == second_of(line);
        if is_same {
            std::mem::swap(later, line);
            line.rivals.join(later.rivals);
        }
        is_same
    });
    lines
}

/// Returns the number of dated files that count although their second has a different one. A capture of both
/// schemes counts once.
pub(super) fn count<B>(resources: &[Vec<Known<B>>; 2]) -> u64 {
    if !resources.iter().flatten().any(|known| known.rivals.differ) {
        return 0;
    }
    let such = |captures: &[Known<B>]| -> BTreeSet<(u32, u64)> {
        let files: Vec<_> = captures.iter().filter(|known| known.is_file()).collect();
        let seconds = files.chunk_by(|one, other| second_of(one) == second_of(other));
        let last = seconds.filter_map(|second| second.last());
        let last = last.filter(|it| it.rivals.differ && it.facts.captured_at.is_some());
        last.map(|known| (known.facts.input, known.position)).collect()
    };
    let [http, https] = resources;
    such(http).union(&such(https)).count() as u64
}

/// The rows of rules of an input.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The number of captures that are left out.
    pub(super) captures: u64,
    pub(super) left_out: OpenReport,
}

/// The rows of rules of each input, by its number.
#[derive(Debug, Default)]
pub(super) struct RowsOfInputs(pub(super) BTreeMap<u32, Rows>);

impl RowsOfInputs {
    /// Takes the rows of rules under a key out; the last of a second is a capture without a file.
    /// Other single lines are files like all others from now on. Those of a capture of both schemes are
    /// left out once.
    pub(super) fn take<B>(&mut self, key: &[u8], resources: &mut [Vec<Known<B>>; 2]) {
        if !resources.iter().flatten().any(|known| known.rivals.line.is_some()) {
            return;
        }
        let mut of_http = BTreeMap::new();
        for (slot, captures) in [Slot::Http, Slot::Https].into_iter().zip(resources) {
            let rows = rows_in(captures);
            captures.retain_mut(|known| {
                let line = known.rivals.line.take();
                let row = line.and_then(|_| rows.get(&second_of(known)));
                let Some(&(last, _)) = row else { return true };
                known.lose_file();
                known.position == last
            });
            for (second, row) in &rows {
                if of_http.get(second) != Some(row) {
                    self.0.entry(second.1).or_default().leave_out(key, slot, *row);
                }
            }
            of_http = rows;
        }
    }

    /// Adds the rows of others.
    pub(super) fn add(&mut self, other: RowsOfInputs) {
        for (input, Rows { captures, left_out }) in other.0 {
            let rows = self.0.entry(input).or_default();
            rows.captures += captures;
            rows.left_out.add(left_out);
        }
    }
}

/// Returns the seconds of which a resource has rows of rules: the position of the last, and the number of
/// captures.
fn rows_in<B>(captures: &[Known<B>]) -> BTreeMap<Second, (u64, u64)> {
    let mut lines: BTreeMap<Second, (u64, Rivals)> = BTreeMap::new();
    for line in captures.iter().filter(|known| known.rivals.line.is_some()) {
        let joined = lines.entry(second_of(line)).and_modify(|(position, rivals)| {
            *position = line.position.max(*position);
            rivals.join(line.rivals);
        });
        joined.or_insert((line.position, line.rivals));
    }
    let rows = lines.into_iter().filter(|(_, (_, rivals))| rivals.are_rows);
    rows.map(|(second, (at, rivals))| (second, (at, u64::from(rivals.lines) + 1))).collect()
}

impl Rows {
    fn leave_out(&mut self, key: &[u8], slot: Slot, (position, captures): (u64, u64)) {
        let url = place::url_of(key, slot);
        let problem = format!(
            "its {captures} bodies with one date or none are different single lines: this looks like a table with a row \
             for each rule or line, as advertools writes it; join the rows of a URL to one text of lines `field: value` \
             first"
        );
        let place = format!("the captures of {}", String::from_utf8_lossy(&url));
        self.captures += captures;
        self.left_out.push_broken(position, BrokenRecord::unreadable(place, problem));
    }
}
