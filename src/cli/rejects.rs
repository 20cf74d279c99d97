//! Records that are not URLs. They are counted for the summary and written to `--rejects`. A list
//! that begins with nothing else is an error.
//!
//! If none of the first [`RECORDS_WITHOUT_URL_MAX`] records of a list is a URL, the list is surely
//! read in the wrong format. The error says what the list looks like and which flag to pass. Empty
//! records do not count, so an empty list is not an error.

use anyhow::bail;
use portcullis_dialect::limits::{RECORDS_WITHOUT_URL_MAX, REJECTS_SHOWN};
use portcullis_io::list::{List, ListFormat};
use portcullis_report::{InvalidRecord, InvalidRecords, Reject, Rejects};
use portcullis_robots::kind::FileKind;
use portcullis_robots::visible::cut_to_show;

use super::message::{counted, say_plainly};
use super::output::{Output, OutputFailed};
use super::plan::StreamPlan;

/// Watches the records of a run, list by list.
pub struct Watch {
    /// Whether `--assume-scheme` was given.
    assumes_scheme: bool,
    output: Option<Output>,
    invalid: InvalidRecords,
    /// The number of records in the current list.
    records: u64,
    /// The number of URLs in the current list.
    urls: u64,
    /// The number of nonempty records before the first URL of the current list.
    leading: u64,
    /// The number of records in all lists so far.
    all_records: u64,
    /// The first record of the current list that is neither empty nor a URL.
    first: Option<InvalidRecord>,
    /// Whether notes on how lists are read are shown.
    notes: bool,
    /// The last note on how a list is read.
    noted: String,
}

/// The account of a run's records.
pub struct Account {
    /// The records that are not URLs.
    pub invalid: InvalidRecords,
    /// The file of rejects, to be completed with the other outputs.
    pub output: Option<Output>,
}

impl Watch {
    /// Opens the file for rejects, if there is one.
    pub fn open(plan: &StreamPlan, assumes_scheme: bool) -> Result<Watch, OutputFailed> {
        Ok(Watch {
            assumes_scheme,
            notes: plan.notes,
            output: plan.rejects.as_ref().map(Output::create).transpose()?,
            invalid: InvalidRecords::default(),
            records: 0,
            urls: 0,
            leading: 0,
            all_records: 0,
            first: None,
            noted: String::new(),
        })
    }

    /// Whether every reject is needed, not only the first ones.
    pub fn keeps_all(&self) -> bool {
        self.output.is_some()
    }

    /// Returns the number of records in all lists so far.
    pub fn all_records(&self) -> u64 {
        self.all_records
    }

    /// Begins a list. Shows a note on how it is read if the format was detected and differs from
    /// the last note.
    pub fn begin(&mut self, list: &List) {
        (self.records, self.urls, self.leading, self.first) = (0, 0, 0, None);
        let noted = list.note().unwrap_or_default();
        if self.notes && !noted.is_empty() && noted != self.noted {
            say_plainly(format_args!("note: {}: {noted}", list.name()));
        }
        noted.clone_into(&mut self.noted);
    }

    /// Adds the rejects of a chunk. `is_last` marks the last chunk of the list.
    ///
    /// # Errors
    ///
    /// If the list begins with too many records that are not URLs, an unclosed quoted field runs to
    /// its end, or a reject cannot be written.
    pub fn see(&mut self, list: &List, rejects: &Rejects, is_last: bool) -> anyhow::Result<()> {
        if let Some(record) = rejects.open_quote() {
            bail!(
                "{}: {}: a quoted field is not closed, so every row behind it is part of it; close it, \
                 or pass --input-format lines if quotes mean nothing",
                list.name(),
                list.place(self.records + record)
            );
        }
        for reject in rejects.found() {
            self.keep(list, reject)?;
        }
        self.invalid.add_counts(rejects);
        self.records += rejects.records();
        self.all_records += rejects.records();
        self.leading += if self.urls == 0 { rejects.leading() } else { 0 };
        self.urls += rejects.urls();
        let has_none = is_last && self.urls == 0;
        match &self.first {
            Some(first) if has_none || self.leading >= RECORDS_WITHOUT_URL_MAX => {
                bail!(self.without_urls(list, first))
            }
            _ => Ok(()),
        }
    }

    fn keep(&mut self, list: &List, reject: &Reject) -> Result<(), OutputFailed> {
        let is_sample = self.invalid.samples.len() < REJECTS_SHOWN && !reject.is_empty;
        let is_first = self.first.is_none() && !reject.is_empty;
        if !is_sample && !is_first && self.output.is_none() {
            return Ok(());
        }
        let record = InvalidRecord::new(list, self.records, reject);
        if let Some(output) = &mut self.output {
            let mut line = Vec::new();
            record.write_json(&mut line);
            output.write(&line)?;
        }
        if is_sample || is_first {
            let text = cut_to_show(record.record.as_bytes()).into_owned();
            let shown =
                InvalidRecord { record: String::from_utf8_lossy(&text).into_owned(), ..record };
            if is_first {
                self.first = Some(shown.clone());
            }
            if is_sample {
                self.invalid.samples.push(shown);
            }
        }
        Ok(())
    }

    /// Returns the account at the end of the run.
    pub fn finish(self) -> Account {
        Account { invalid: self.invalid, output: self.output }
    }

    fn without_urls(&self, list: &List, first: &InvalidRecord) -> String {
        let records = match self.leading {
            1 => "its only record is not a URL".to_owned(),
            records => {
                let records = counted(records.min(RECORDS_WITHOUT_URL_MAX), "record");
                format!("none of the first {records} is a URL")
            }
        };
        let InvalidRecord { place, problem, record, .. } = first;
        let record = shortened(record);
        let advice = self.advice(list, first);
        let problem = match list.format() {
            ListFormat::Lines => String::new(),
            _ => format!(", {problem}"),
        };
        format!("{}: {records} ({place}: `{record}`{problem}); {advice}", list.name())
    }

    /// Returns what the list looks like and what to try.
    fn advice(&self, list: &List, first: &InvalidRecord) -> String {
        match list.format() {
            ListFormat::Lines => looks_like(list.name(), &first.record, self.assumes_scheme),
            _ if !self.assumes_scheme && first.problem.starts_with("no scheme") => {
                "try --assume-scheme https, or name the place of the URL with --column or --field"
                    .into()
            }
            ListFormat::JsonLines | ListFormat::Cdxj => {
                "name the field with the URL with --field, or the format with --input-format".into()
            }
            ListFormat::Csv | ListFormat::Tsv | ListFormat::Parquet => {
                "name the column with the URL with --column, or the format with --input-format"
                    .into()
            }
            ListFormat::HeritrixJournal | ListFormat::CrawlLog | ListFormat::NutchDump => format!(
                "it does not look like {}; name its format with --input-format",
                list.format().describe()
            ),
        }
    }
}

/// Returns what a list of plain lines looks like if its first record is `text`, and what to try.
fn looks_like(name: &str, text: &str, assumes_scheme: bool) -> String {
    let trimmed = text.trim();
    let has = |part: &str| text.to_ascii_lowercase().contains(part);
    // The number of the first field with a URL.
    let column = |delimiter: char| {
        let mut fields = text.split(delimiter);
        fields.position(|field| field.contains("://")).map(|column| column + 1)
    };
    match FileKind::of(text.as_bytes()) {
        FileKind::Html if has("<urlset") || has("<sitemapindex") || has("<?xml") => {
            return "it looks like XML; if it is a sitemap, extract its <loc> elements".into();
        }
        FileKind::Html => return "it looks like HTML; extract its links first".into(),
        _ => {}
    }
    if ["user-agent", "disallow", "allow", "sitemap"].iter().any(|field| {
        let line = trimmed.to_ascii_lowercase();
        line.strip_prefix(field).is_some_and(|rest| rest.trim_start().starts_with(':'))
    }) {
        return format!("it looks like a robots.txt; use --robots {name}");
    }
    if text.contains('\0') || text.chars().filter(|it| *it == '\u{fffd}').count() > 3 {
        return "it looks like binary data; decompress or export it first".into();
    }
    if text.contains('\t') {
        let number = column('\t').map_or("NAME".to_owned(), |column| column.to_string());
        return format!("it looks like TSV; try --input-format tsv --column {number}");
    }
    if text.contains(',') {
        let number = column(',').map_or("NAME".to_owned(), |column| column.to_string());
        return format!("it looks like CSV; try --input-format csv --column {number}");
    }
    if trimmed.starts_with('/') && !trimmed.starts_with("//") {
        return "it looks like paths; prefix each with its https://HOST".into();
    }
    let is_bare = trimmed.contains('.') || trimmed.starts_with("//");
    if !assumes_scheme && is_bare && !trimmed.contains(' ') && !trimmed.contains('@') {
        return "it looks like URLs without a scheme; try --assume-scheme https".into();
    }
    "pass a list with one URL per line, or name its format with --input-format".into()
}

/// Returns the beginning of a text for a message.
fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 80;
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_look_like_what_they_are() {
        for (text, advice) in [
            ("example.com/x", "--assume-scheme https"),
            ("//example.com/x", "--assume-scheme https"),
            ("/a/b.html", "https://HOST"),
            ("<!doctype html>", "HTML"),
            ("<urlset>", "sitemap"),
            ("User-agent: *", "--robots list"),
            ("1\thttps://a.example/", "--input-format tsv --column 2"),
            ("https://a.example/,1", "--input-format csv --column 1"),
            ("a,b", "--column NAME"),
            ("\0\0", "binary"),
            ("nothing", "--input-format"),
            ("me@example.com", "--input-format"),
        ] {
            let found = looks_like("list", text, false);
            assert!(found.contains(advice), "{text}: {found}");
        }
        assert!(!looks_like("list", "example.com/x", true).contains("--assume-scheme"));
    }
}
