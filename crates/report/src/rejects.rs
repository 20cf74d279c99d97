//! Records of a list that are not URLs: counts them by kind, keeps samples, and sets them aside.
//!
//! A thread notes them chunk by chunk in [`Rejects`]. Their places in the list are known only in
//! input order. Cost: one counter per URL. A reject that is kept is copied, and its problem is
//! found by parsing it again.

use std::io::{self, Write};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::limits::REJECTS_SHOWN;
use portcullis_io::input::Record;
use portcullis_io::list::{List, Problem};
use portcullis_robots::visible::{cut_to_show, visible};
use portcullis_set::batch::Session;
use serde::Serialize;

use super::Figures;
use super::json_lines::write_object;

/// The problem of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The record is empty or white space.
    Empty,
    /// The text of the record, or of its URL field, is not a URL.
    NotAUrl,
    /// The record has no URL.
    Without(Problem),
}

impl Kind {
    const COUNT: usize = 2 + Problem::ALL.len();

    fn of(record: &Record<'_>) -> Kind {
        match record.problem() {
            Some(problem) => Kind::Without(problem),
            None if record.url().trim_ascii().is_empty() => Kind::Empty,
            None => Kind::NotAUrl,
        }
    }

    fn all() -> impl Iterator<Item = Kind> {
        [Kind::Empty, Kind::NotAUrl].into_iter().chain(Problem::ALL.map(Kind::Without))
    }

    fn as_str(self) -> &'static str {
        match self {
            Kind::Empty => "empty",
            Kind::NotAUrl => "not-a-url",
            Kind::Without(problem) => problem.as_str(),
        }
    }

    fn index(self) -> usize {
        match self {
            Kind::Empty => 0,
            Kind::NotAUrl => 1,
            Kind::Without(problem) => 2 + problem as usize,
        }
    }
}

/// A record that is not a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The number of the record in the chunk, from 0.
    pub record: u64,
    /// The problem of the record.
    pub problem: String,
    /// Whether the record is empty.
    pub is_empty: bool,
    /// The text of the record. Cut for display unless all records are kept.
    pub text: Vec<u8>,
}

/// The records of a chunk that are not URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejects {
    keeps_all: bool,
    records: u64,
    kinds: [u64; Kind::COUNT],
    leading: u64,
    open_quote: Option<u64>,
    found: Vec<Reject>,
}

impl Rejects {
    /// Clears the rejects for the next chunk. With `keeps_all`, every reject is kept with its whole
    /// text; otherwise the first few.
    pub fn begin(&mut self, keeps_all: bool) {
        self.found.clear();
        *self = Rejects { keeps_all, found: std::mem::take(&mut self.found), ..Rejects::default() };
    }

    /// Counts the records of the block that `session` classified last, and notes the ones that are
    /// not URLs.
    #[inline]
    pub fn add_block(&mut self, block: &[Record<'_>], session: &Session) {
        let decisions = session.decisions();
        let agents = decisions.len() / block.len().max(1);
        for (place, first) in decisions.iter().step_by(agents.max(1)).enumerate() {
            if first.verdict == Verdict::Invalid {
                self.reject(place, &block[place], session);
            }
        }
        self.records += block.len() as u64;
    }

    #[cold]
    fn reject(&mut self, place: usize, record: &Record<'_>, session: &Session) {
        let kind = Kind::of(record);
        let number = self.records + place as u64;
        let is_leading = number == self.kinds.iter().sum::<u64>();
        self.leading += u64::from(is_leading && kind != Kind::Empty);
        self.kinds[kind.index()] += 1;
        if kind == Kind::Without(Problem::OpenQuote) && record.text().contains(&b'\n') {
            self.open_quote = Some(number);
        }
        // An empty record is not a useful sample.
        let is_kept = self.keeps_all || kind != Kind::Empty && self.found.len() < REJECTS_SHOWN;
        if !is_kept {
            return;
        }
        let problem = match kind {
            Kind::Without(problem) => problem.describe().to_owned(),
            Kind::Empty | Kind::NotAUrl => match session.explain(record.url(), 0) {
                Ok(Err(problem)) => problem.to_string(),
                _ => "not a URL".to_owned(),
            },
        };
        let text = match self.keeps_all {
            true => record.text().to_vec(),
            false => cut_to_show(record.text()).into_owned(),
        };
        let (record, is_empty) = (number, kind == Kind::Empty);
        self.found.push(Reject { record, problem, is_empty, text });
    }

    /// Returns the number of records in the chunk.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of nonempty records before the first URL.
    pub fn leading(&self) -> u64 {
        self.leading
    }

    /// Returns the number of records in the chunk that are URLs.
    pub fn urls(&self) -> u64 {
        self.records - self.kinds.iter().sum::<u64>()
    }

    /// Returns the record with an unclosed quoted field, which swallows the records after it.
    pub fn open_quote(&self) -> Option<u64> {
        self.open_quote
    }

    /// Returns the kept records, in order.
    pub fn found(&self) -> &[Reject] {
        &self.found
    }
}

/// The records of a run that are not URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InvalidRecords {
    /// The number of records by problem.
    pub kinds: Figures,
    /// The first few nonempty records.
    pub samples: Vec<InvalidRecord>,
}

/// A record that is not a URL, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvalidRecord {
    /// The list.
    pub file: String,
    /// The place in the list: "line 12", "row 3".
    pub place: String,
    /// The problem of the record.
    pub problem: String,
    /// The text of the record.
    pub record: String,
    /// The exact bytes, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_base64: Option<String>,
}

impl InvalidRecord {
    /// Returns a reject with its place. `before` is the number of records before its chunk.
    pub fn new(list: &List, before: u64, reject: &Reject) -> InvalidRecord {
        let record = String::from_utf8_lossy(&reject.text).into_owned();
        let is_exact = record.as_bytes() == reject.text;
        InvalidRecord {
            file: list.name().to_owned(),
            place: list.place(before + reject.record),
            problem: reject.problem.clone(),
            record,
            record_base64: (!is_exact).then(|| BASE64_STANDARD.encode(&reject.text)),
        }
    }

    /// Appends the record as a line of JSON.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        write_object(self, out);
    }
}

impl InvalidRecords {
    /// Writes the counts and the samples as text. Writes no text if there are none.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let kinds = self.kinds.to_string();
        if kinds.is_empty() {
            return Ok(());
        }
        writeln!(out, "invalid records: {kinds}")?;
        for InvalidRecord { file, place, problem, record, .. } in &self.samples {
            let (file, record) = (visible(file), visible(record));
            writeln!(out, "  {file}, {place}: {problem}: {record}")?;
        }
        Ok(())
    }

    /// Adds the counts of a chunk. The caller adds samples, because it knows their places.
    pub fn add_counts(&mut self, rejects: &Rejects) {
        if self.kinds.0.is_empty() {
            self.kinds = Figures::of(Kind::all(), Kind::as_str, |_| 0);
        }
        for ((_, sum), count) in self.kinds.0.iter_mut().zip(rejects.kinds) {
            *sum += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counts;
    use crate::filter::{self, Fate, Plan, Quantifier};
    use crate::tests::{SCHEME, classifier, piece};
    use portcullis_io::input::Terminator;

    fn rejects(input: &[u8], keeps_all: bool) -> Rejects {
        let classifier = classifier(&["a"], &["d"], 1);
        let (mut counts, mut out) = (Counts::new(1), filter::Output::default());
        let quantifier = Quantifier::All;
        let (unknown, invalid) = (Fate::Drop, Fate::Drop);
        let plan = Plan { quantifier, invert: false, unknown, invalid, purpose: None };
        let mut session = Session::new(classifier, SCHEME);
        let mut rejects = Rejects::default();
        rejects.begin(keeps_all);
        piece(input, Terminator::LineFeed, &mut rejects, |piece| {
            filter::write_chunk(piece, &plan, &mut session, &mut counts, &mut out)
        })
        .unwrap();
        rejects
    }

    #[test]
    fn records_are_counted_by_kind() {
        let found = rejects(b"a\n\nx:\nd\n \r\nu\n", true);
        assert_eq!((found.records(), found.urls(), found.leading()), (6, 3, 0));
        let places: Vec<(u64, bool)> =
            found.found().iter().map(|reject| (reject.record, reject.is_empty)).collect();
        assert_eq!(places, [(1, true), (2, false), (4, true)]);
        assert_eq!(found.found()[1].text, b"x:");
        assert!(found.found()[0].problem.starts_with("empty record"));
    }

    #[test]
    fn the_first_few_are_samples() {
        let found = rejects(&b"\nx:\n".repeat(9), false);
        assert_eq!((found.records(), found.leading(), found.urls()), (18, 9, 0));
        assert_eq!(found.found().len(), REJECTS_SHOWN);
        assert!(found.found().iter().all(|reject| !reject.is_empty));
        let mut sum = InvalidRecords::default();
        sum.add_counts(&found);
        sum.add_counts(&found);
        assert_eq!(sum.kinds.to_string(), "empty 18, not-a-url 18");
    }
}
