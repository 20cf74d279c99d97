//! Records of a list that are not URLs: counts them by kind, keeps samples, and sets them aside.
//! Records without a time are only set aside, where times are asked for.
//!
//! A thread notes them chunk by chunk in [`Rejects`]. Their places in the list are known only in
//! input order, where a [`Watch`] sees them. Cost: one counter per URL. A reject that is kept is copied,
//! and its problem is found by parsing it again.
//!
//! A list without URLs is an error, which says what the list looks like and which flag to pass.

use std::io::{self, Write};
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use portcullis_dialect::decision::{Reason, Verdict};
use portcullis_files::kind::{FileKind, is_robots_record};
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::{BadUrl, is_requested_otherwise};
use portcullis_rows::input::{InputError, Record};
use portcullis_rows::list::{
    Block, List, ListConfig, ListFormat, LogFormat, OPEN_QUOTE, Problem, Rows, holds_more, of_html,
    of_row, of_text, other_fields,
};
use portcullis_rows::runner::Part;
use portcullis_set::batch::{AgentKind, Answers, Classifier, Session};
use portcullis_text::figures::counted;
use portcullis_text::json::write_json;
use portcullis_text::visible::{cut_characters, cut_to_show, visible};
use serde::Serialize;

use super::Figures;
use crate::limits::{RECORDS_WITHOUT_URL_MAX, REJECTS_SHOWN};

impl Reject {
    /// Returns a record that is no sample of those that are not URLs.
    fn new(record: u64, problem: &str, text: &[u8]) -> Reject {
        Reject { record, problem: problem.to_owned(), is_sample: false, text: text.to_vec() }
    }
}

/// The kinds of records without text, and of those whose text, or URL field, is not a URL. The other kinds
/// are as in [`Problem`].
const EMPTY: &str = "empty";
const NOT_A_URL: &str = "not-a-url";

/// Returns why the agent of a record is not known, and what to do.
fn lack_of_agent(agent: &[u8], classifier: &Classifier) -> &'static str {
    let is_token = || {
        let token = std::str::from_utf8(agent).ok();
        token.is_some_and(|it| Crawler::parse(it, classifier.dialect()).is_ok())
    };
    match classifier.agent_kind() {
        _ if matches!(agent, b"" | b"-") => "no agent",
        Some(AgentKind::Token) if !is_token() => "the agent is not a product token",
        _ => {
            "unknown agent: add its product token to -a, whose default is @ai-all,@search,@documented"
        }
    }
}

fn kind(record: &Record<'_>) -> &'static str {
    match record.problem() {
        Some(problem) => problem.as_str(),
        None if record.url().trim_ascii().is_empty() => EMPTY,
        None => NOT_A_URL,
    }
}

/// A record that is not a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reject {
    /// The number of the record in the chunk, from 0.
    record: u64,
    problem: String,
    /// Whether it is worth showing as a sample of the records that are not URLs.
    is_sample: bool,
    /// The text of the record. Cut for display unless all records are kept.
    text: Vec<u8>,
}

/// The records of a chunk that are not URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejects {
    keeps_all: bool,
    /// The number of records in the chunk.
    records: u64,
    /// The number of records by kind.
    kinds: Figures,
    /// The number of nonempty records before the first URL.
    leading: u64,
    /// The record with an unclosed quoted field, which swallows the records after it, or the line
    /// after which a log has other fields.
    broken: Option<(u64, Problem)>,
    /// Whether the records are lines with nothing but a URL.
    are_lines: bool,
    /// The number of lines that hold more than a URL, and the first of them.
    more: Option<(u64, Reject)>,
    /// The number of URLs that clients request in another form, and the first of them.
    otherwise: Option<(u64, Reject)>,
    /// The number of agents that are User-Agent headers and were read as tokens, and the first of them.
    headers: Option<(u64, Reject)>,
    /// The kept records, in order.
    found: Vec<Reject>,
}

impl Rejects {
    /// Clears the rejects for the next chunk. With `keeps_all`, every reject is kept with its whole text;
    /// otherwise the first few.
    pub fn begin(&mut self, rows: &Rows<'_>, keeps_all: bool) {
        let are_lines = rows.list().is_of_lines();
        *self = Rejects { keeps_all, are_lines, ..Rejects::default() };
    }

    /// Counts the records of a block, and notes the ones that are not URLs. `has_invalid` is false only
    /// if all of them are URLs.
    #[inline]
    pub fn add_block(&mut self, block: &Block<'_>, answers: &Answers<'_>, has_invalid: bool) {
        let is_blank = |it: &Record<'_>| it.text().is_empty() && it.problem().is_none();
        if !self.keeps_all && has_invalid && block.iter().all(is_blank) {
            // Records without a byte but their ends are no URLs, and no samples.
            self.kinds.add(EMPTY, block.len() as u64);
        } else if self.keeps_all || has_invalid {
            self.note_block(block, answers);
        }
        for record in answers.odd() {
            self.note_odd(u64::from(*record), &block[*record as usize]);
        }
        self.records += block.len() as u64;
    }

    /// Notes agents that were read as product tokens, and are User-Agent headers. Call it before the block of
    /// their records is added.
    pub(crate) fn note_headers(&mut self, agents: &[&[u8]]) {
        let is_header = |(_, agent): &(u64, &&[u8])| agent.starts_with(b"Mozilla/");
        for (place, agent) in (self.records..).zip(agents).filter(is_header) {
            let first = || (0, Reject::new(place, "", &cut_to_show(agent)));
            self.headers.get_or_insert_with(first).0 += 1;
        }
    }

    /// Notes a record that may hold more than a URL, or whose URL clients may request otherwise.
    #[cold]
    fn note_odd(&mut self, place: u64, record: &Record<'_>) {
        let number = self.records + place;
        let add = |notes: &mut Option<(u64, Reject)>, what| {
            let first = || (0, Reject::new(number, what, &cut_to_show(record.text())));
            notes.get_or_insert_with(first).0 += 1;
        };
        let has_blank = || record.text().contains(&b' ');
        if self.are_lines && has_blank() && holds_more(record.text()) {
            add(&mut self.more, "text after the URL");
        }
        if record.problem().is_none() && is_requested_otherwise(record.url()) {
            add(&mut self.otherwise, "clients request it otherwise");
        }
    }

    fn note_block(&mut self, block: &Block<'_>, answers: &Answers<'_>) {
        let firsts = answers.decisions().iter().step_by(answers.per_record().max(1));
        for (place, first) in firsts.enumerate() {
            let (number, record) = (self.records + place as u64, &block[place]);
            if first.verdict() == Verdict::Invalid {
                self.reject(number, record, answers.session());
                continue;
            }
            // A URL may lack what else is needed to decide it.
            let lack = match first.reason() {
                Reason::NoTime if self.keeps_all => "no time that can be read",
                Reason::NoAgent if self.keeps_all => {
                    lack_of_agent(block.agent(place), answers.session().classifier())
                }
                _ => continue,
            };
            self.found.push(Reject::new(number, lack, record.text()));
        }
    }

    #[cold]
    fn reject(&mut self, number: u64, record: &Record<'_>, session: &Session) {
        let (kind, found) = (kind(record), record.problem());
        let is_leading = number == self.kinds.sum();
        self.leading += u64::from(is_leading && kind != EMPTY);
        self.kinds.add(kind, 1);
        let broken = found.filter(|problem| match problem {
            Problem::OpenQuote => record.text().contains(&b'\n'),
            problem => *problem == Problem::OtherFields,
        });
        self.broken = self.broken.or(broken.map(|problem| (number, problem)));
        // An empty record is not a useful sample.
        let is_kept = self.keeps_all || kind != EMPTY && self.found.len() < REJECTS_SHOWN;
        if !is_kept {
            return;
        }
        let problem = match (found, session.explain(record.url(), 0, None)) {
            (Some(problem), _) => problem.describe().to_owned(),
            (None, Ok(Err(problem))) => problem.to_string(),
            _ => "not a URL".to_owned(),
        };
        let text = record.text();
        let text = if self.keeps_all { text.into() } else { cut_to_show(text) };
        let is_sample = kind != EMPTY;
        self.found.push(Reject { is_sample, ..Reject::new(number, &problem, &text) });
    }

    /// Returns the number of records in the chunk that are URLs.
    fn urls(&self) -> u64 {
        self.records - self.kinds.sum()
    }
}

/// The records of a run that are not URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InvalidRecords {
    /// The number of records by problem.
    pub kinds: Figures,
    /// The first few nonempty records.
    pub samples: Vec<InvalidRecord>,
    /// The plain lines that hold more than a URL, and were decided as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_than_url: Option<NotedRecords>,
    /// The URLs that clients of the URL Standard request in another form, and that were decided as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_otherwise: Option<NotedRecords>,
}

/// Records that were decided, with a doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotedRecords {
    /// The number of records.
    pub records: u64,
    /// The first of them.
    pub first: InvalidRecord,
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
    fn new(list: &List, before: u64, reject: &Reject) -> InvalidRecord {
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
}

impl InvalidRecords {
    /// Adds the records of the next lists. Their samples fill what room is left.
    pub fn merge(&mut self, next: &InvalidRecords) {
        self.kinds.merge(&next.kinds);
        let room = REJECTS_SHOWN.saturating_sub(self.samples.len());
        self.samples.extend(next.samples.iter().take(room).cloned());
        for (notes, next) in [
            (&mut self.more_than_url, &next.more_than_url),
            (&mut self.requested_otherwise, &next.requested_otherwise),
        ] {
            match (&mut *notes, next) {
                (Some(notes), Some(next)) => notes.records += next.records,
                _ => *notes = notes.take().or(next.clone()),
            }
        }
    }

    /// Says of how many records it is in doubt what they mean, and which is the first.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        let all = [
            (&self.more_than_url, "line", "with text after the URL, which is read as a part of it"),
            (&self.requested_otherwise, "URL", OTHERWISE),
        ];
        all.into_iter().filter_map(|(notes, noun, what)| {
            let NotedRecords { records, first } = notes.as_ref()?;
            let InvalidRecord { file, place, record, .. } = first;
            let (records, file, record) = (counted(*records, noun), visible(file), visible(record));
            Some(format!("{records} {what} (first: {file}, {place}: {record})"))
        })
    }

    /// Writes the counts and the samples as text. Writes no text if there are none.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        for doubt in self.doubts() {
            writeln!(out, "{doubt}")?;
        }
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
    fn add_counts(&mut self, rejects: &Rejects) {
        if self.kinds.0.is_empty() {
            let kinds = [EMPTY, NOT_A_URL].into_iter().chain(Problem::ALL.map(Problem::as_str));
            self.kinds = Figures::of(kinds, |kind| kind, |_| 0);
        }
        self.kinds.merge(&rejects.kinds);
    }
}

/// The note about URLs that are not requested as they are written.
const OTHERWISE: &str = "that clients rewrite before the request (dot segments, ' in a query, or not UTF-8), decided as written";

/// Watches the records of a run, list by list.
///
/// If none of the first [`RECORDS_WITHOUT_URL_MAX`] records of a list is a URL, the list is surely
/// read in the wrong format. The error says what the list looks like and which flag to pass. Empty
/// records do not count, so an empty list is not an error.
#[derive(Debug, Default)]
pub struct Watch {
    keeps_all: bool,
    assumes_scheme: bool,
    is_strict: bool,
    /// How lists are read.
    lists: Arc<ListConfig>,
    /// The agents that are User-Agent headers, and were read as tokens.
    pub headers: Option<NotedRecords>,
    /// The records that are not URLs.
    pub invalid: InvalidRecords,
    /// The number of records in the current list.
    records: u64,
    /// The number of URLs in the current list.
    urls: u64,
    /// The number of nonempty records before the first URL of the current list.
    leading: u64,
    /// The number of records in all lists so far.
    pub all_records: u64,
    /// The first record of the current list that is neither empty nor a URL.
    first: Option<InvalidRecord>,
}

impl Watch {
    /// Returns the watch of a run. With `keeps_all`, every reject is passed on, not only the first
    /// few. With `assumes_scheme`, the advice is not to assume one; nor is it a format that `lists` has. If
    /// `is_strict`, a line that holds more than a URL is an error.
    pub fn new(
        keeps_all: bool,
        assumes_scheme: bool,
        is_strict: bool,
        lists: Arc<ListConfig>,
    ) -> Watch {
        Watch { keeps_all, assumes_scheme, is_strict, lists, ..Watch::default() }
    }

    /// Begins a list.
    pub fn begin(&mut self) {
        (self.records, self.urls, self.leading, self.first) = (0, 0, 0, None);
    }

    /// Adds the rejects of a part, and writes them to `out` as lines of JSON if all are kept.
    ///
    /// # Errors
    ///
    /// If the list begins with too many records that are not URLs, an unclosed quoted field runs
    /// to its end, or none of its records had a field that was named.
    pub fn see(
        &mut self,
        part: &Part<'_>,
        rejects: &Rejects,
        out: &mut Vec<u8>,
    ) -> Result<(), InputError> {
        let &Part { list, is_last, noticed, .. } = part;
        let wrong = |problem: String| InputError::list(list.name(), problem);
        if let Some((record, problem)) = rejects.broken {
            let place = list.place(self.records + record);
            let what = match problem {
                Problem::OpenQuote => OPEN_QUOTE,
                _ => other_fields(list.format()),
            };
            return Err(wrong(format!("{place}: {what}")));
        }
        let InvalidRecords { more_than_url, requested_otherwise, .. } = &mut self.invalid;
        for (found, notes, problem, fix) in [
            (&rejects.more, more_than_url, "text after the URL", "remove it"),
            (
                &rejects.otherwise,
                requested_otherwise,
                "a URL that clients request in another form",
                "write it as they request it, without dot segments and with %27 for ' in its query",
            ),
        ] {
            let Some((records, first)) = found else { continue };
            let first = InvalidRecord::new(list, self.records, first);
            if self.is_strict {
                let InvalidRecord { place, record, .. } = first;
                let record = cut_characters(&record, RECORD_CHARACTERS);
                return Err(wrong(format!(
                    "{place}: {problem} (`{record}`); {fix}, or omit ‹strict›"
                )));
            }
            notes.get_or_insert(NotedRecords { records: 0, first }).records += records;
        }
        if let Some((records, first)) = &rejects.headers {
            let first = InvalidRecord::new(list, self.records, first);
            self.headers.get_or_insert(NotedRecords { records: 0, first }).records += records;
        }
        for reject in &rejects.found {
            self.keep(list, reject, out);
        }
        self.invalid.add_counts(rejects);
        self.records += rejects.records;
        self.all_records += rejects.records;
        self.leading += if self.urls == 0 { rejects.leading } else { 0 };
        self.urls += rejects.urls();
        let has_none = is_last && self.urls == 0 || self.leading >= RECORDS_WITHOUT_URL_MAX;
        let missing = (is_last || has_none).then(|| list.missing_field(noticed, is_last)).flatten();
        match (missing, &self.first) {
            (Some(problem), _) => Err(wrong(problem)),
            (None, Some(first)) if has_none => Err(wrong(self.without_urls(list, first))),
            _ => Ok(()),
        }
    }

    fn keep(&mut self, list: &List, reject: &Reject, out: &mut Vec<u8>) {
        let mut record = InvalidRecord::new(list, self.records, reject);
        if self.keeps_all {
            write_json(&record, &mut *out).expect("text and numbers are always JSON");
            out.push(b'\n');
        }
        if !reject.is_sample {
            return;
        }
        let shown = cut_to_show(record.record.as_bytes()).into_owned();
        record.record = String::from_utf8_lossy(&shown).into_owned();
        if self.invalid.samples.len() < REJECTS_SHOWN {
            self.invalid.samples.push(record.clone());
        }
        self.first.get_or_insert(record);
    }

    /// Returns the problem of the current list if it has no URL.
    fn without_urls(&self, list: &List, first: &InvalidRecord) -> String {
        let records = match self.leading {
            1 => "its only record is not a URL".to_owned(),
            records => {
                let records = counted(records.min(RECORDS_WITHOUT_URL_MAX), "record");
                format!("none of the first {records} is a URL")
            }
        };
        let InvalidRecord { place, problem, record, .. } = first;
        let record = cut_characters(record, RECORD_CHARACTERS);
        let advice = advice(list, first, self.assumes_scheme, &self.lists);
        let problem = match list.format() {
            ListFormat::Lines => String::new(),
            _ => format!(", {problem}"),
        };
        format!("{records} ({place}: `{record}`{problem}); {advice}")
    }
}

/// The characters of a record in a message: 80, and `…`.
const RECORD_CHARACTERS: usize = 81;

/// Returns what the list looks like and what to try.
fn advice(list: &List, first: &InvalidRecord, assumes_scheme: bool, lists: &ListConfig) -> String {
    let is_given = lists.format == Some(list.format());
    let other_format = match is_given {
        true => "omit ‹input_format›",
        false => "name its format with ‹input_format›",
    };
    let lacks_scheme = !assumes_scheme && first.problem.starts_with("no scheme");
    let part = match list.format() {
        ListFormat::JsonLines | ListFormat::Cdxj => "field",
        ListFormat::Csv | ListFormat::Tsv | ListFormat::Parquet => "column",
        ListFormat::Lines => {
            return looks_like(&first.record, assumes_scheme).unwrap_or_else(|| match is_given {
                true => "each line must be one URL, such as https://example.com/a".into(),
                false => format!("pass a list with one URL per line, or {other_format}"),
            });
        }
        ListFormat::Sitemap => {
            return "write the scheme and the host in each <loc> of the sitemap".into();
        }
        _ if lacks_scheme => return "try ‹assume_scheme› https".into(),
        ListFormat::Warc => return "its captures have no URLs of the web".into(),
        ListFormat::AccessLog => {
            return match &lists.log_format {
                Some(format) => {
                    let way = match first.record.as_bytes() {
                        line if LogFormat::knows(line) => {
                            "omit ‹log_format›, because a known format fits"
                        }
                        line if line.starts_with(b"http") && is_given => {
                            "the list has plain URLs, so omit ‹log_format› and ‹input_format›"
                        }
                        line if line.starts_with(b"http") => {
                            "the list has plain URLs, so omit ‹log_format›"
                        }
                        _ => {
                            "pass the LogFormat or log_format line of its server with ‹log_format›"
                        }
                    };
                    format!("the format is `{}`; {way}", format.name().unwrap_or(format.text()))
                }
                None => "declare the format of its lines with ‹log_format›".into(),
            };
        }
        format => return format!("it does not look like {}; {other_format}", format.describe()),
    };
    if first.problem == Problem::FieldCount.describe() {
        return "fix the rows (is a delimiter in a value without quotes?)".into();
    }
    let named = match lists.urls.is_asked() {
        true => format!("choose another {part} with ‹url_field›"),
        false => format!("name the {part} with the URL with ‹url_field›"),
    };
    match lacks_scheme {
        _ if first.problem == BadUrl::Path.to_string() => {
            format!("give the host with ‹host›, or name its {part} with ‹host_field›")
        }
        true if first.record.contains("://") => named,
        true => format!("try ‹assume_scheme› https, or {named}"),
        false => format!("{named}, or {other_format}"),
    }
}

/// Returns what a list of plain lines looks like if its first record is `text`, and what to try. `None` if it
/// looks like no other kind of list.
fn looks_like(text: &str, assumes_scheme: bool) -> Option<String> {
    let trimmed = text.trim();
    if trimmed.contains('\n') {
        return Some("its records end with newlines; omit ‹null_data›".into());
    }
    let has = |part: &str| text.to_ascii_lowercase().contains(part);
    let is_quoted = trimmed.starts_with('<') && trimmed.contains("://") && !trimmed.contains(' ');
    if is_quoted && let Some(quoted) = of_row(text) {
        return Some(quoted);
    }
    match FileKind::of(text.as_bytes()) {
        FileKind::Html if has("<urlset") || has("<sitemapindex") => {
            return Some("it looks like a sitemap; try ‹input_format› sitemap".into());
        }
        FileKind::Html if has("<?xml") => {
            return Some(
                "it looks like XML, but not like a sitemap; extract its URLs first".into(),
            );
        }
        FileKind::Html => return Some(of_html()),
        _ => {}
    }
    if is_robots_record(trimmed.as_bytes()) {
        return Some(
            "it looks like a robots.txt: ‹robots› names it, and FILE a list of URLs".into(),
        );
    }
    if text.contains('\0') || text.chars().filter(|it| *it == '\u{fffd}').count() > 3 {
        return Some("it looks like binary data; decompress or export it first".into());
    }
    if let Some(found) = of_text(text).or_else(|| of_row(text)) {
        return Some(found);
    }
    if trimmed.starts_with('/') && !trimmed.starts_with("//") {
        let fix = "it looks like paths; give their host with ‹host›, such as ‹host› example.com";
        return Some(fix.into());
    }
    let is_bare = trimmed.starts_with("//")
        || (trimmed.contains('.') && trimmed.starts_with(|first: char| first.is_alphanumeric()));
    (!assumes_scheme && is_bare && !trimmed.contains(' ') && !trimmed.contains('@'))
        .then(|| "it looks like URLs without a scheme; try ‹assume_scheme› https".into())
}

#[cfg(test)]
mod tests {
    use portcullis_files::input::Terminator;

    use super::*;
    use crate::filter::{Plan, Quantifier};
    use crate::tests::{SCHEME, classifier, piece};
    use crate::{Counts, Filter, Format, Written};

    fn rejects(input: &[u8], keeps_all: bool) -> Rejects {
        let classifier = classifier(&["a"], &["d"], 1);
        let (mut counts, mut out) = (Counts::new(1), Written::default());
        let plan = Plan::of(Quantifier::All);
        let filter = Filter { plan, are_rows: false, counts_only: false };
        let mut session = Session::new(classifier).assume_scheme(SCHEME);
        let mut rejects = Rejects { keeps_all, ..Rejects::default() };
        piece(input, Terminator::LineFeed, &mut rejects, |piece| {
            filter.encode(piece.work(&mut session, &mut counts), &mut out)
        })
        .unwrap();
        rejects
    }

    #[test]
    fn records_are_counted_by_kind() {
        let found = rejects(b"a\n\nx:\nd\n \r\nu\n", true);
        assert_eq!((found.records, found.urls(), found.leading), (6, 3, 0));
        let places: Vec<(u64, bool)> =
            found.found.iter().map(|reject| (reject.record, !reject.is_sample)).collect();
        assert_eq!(places, [(1, true), (2, false), (4, true)]);
        assert_eq!(found.found[1].text, b"x:");
        assert!(found.found[0].problem.starts_with("empty record"));
    }

    #[test]
    fn the_first_few_are_samples() {
        let found = rejects(&b"\nx:\n".repeat(9), false);
        assert_eq!((found.records, found.leading, found.urls()), (18, 9, 0));
        assert_eq!(found.found.len(), REJECTS_SHOWN);
        assert!(found.found.iter().all(|reject| reject.is_sample));
        let mut sum = InvalidRecords::default();
        sum.add_counts(&found);
        sum.add_counts(&found);
        assert_eq!(sum.kinds.to_string(), "empty 18, not-a-url 18");
    }

    #[test]
    fn lists_look_like_what_they_are() {
        for (text, advice) in [
            ("example.com/x", "‹assume_scheme› https"),
            ("//example.com/x", "‹assume_scheme› https"),
            ("/a/b.html", "‹host› example.com"),
            ("<!doctype html>", "HTML"),
            ("<urlset>", "‹input_format› sitemap"),
            ("<?xml version='1.0'?>", "XML"),
            ("User-agent: *", "‹robots› names it"),
            ("1\thttps://a.example/", "‹input_format› tsv ‹url_field› 2"),
            ("https://a.example/,1", "‹input_format› csv ‹url_field› 1"),
            ("1,a.example", "‹input_format› csv ‹url_field› 2 ‹assume_scheme› https"),
            ("1;x;https://a.example/", "‹input_format› csv ‹url_field› 3"),
            ("1|/x|a.example", "‹input_format› csv ‹url_field› 2 ‹host_field› 3"),
            ("1\t/x\tGET", "‹input_format› tsv ‹url_field› 2, and ‹host_field› with"),
            ("/x,\"A, b\",a.example", "‹input_format› csv ‹url_field› 1 ‹host_field› 3"),
            ("\"A, b\",https://a.example/", "‹input_format› csv ‹url_field› 2"),
            ("\"A; b\";/x", "‹input_format› csv ‹url_field› 2, and"),
            ("A,https://a.example/,https://b.example/", "the number of the requested URL"),
            ("GET,/x,https://b.example/,a.example", "the number of the requested URL"),
            ("\"A b\" https://a.example/", "JSON Lines"),
            ("  1 https://a.example/", "awk '{print $2}'"),
            (
                "\"https://a.example/a b\"",
                "pipe it through sed 's/^[[:space:]]*\"\\(.*\\)\"[[:space:]]*$/\\1/'",
            ),
            ("'a.example'", r#"sed "s/^[[:space:]]*'\(.*\)'[[:space:]]*\$/\1/""#),
            ("<https://a.example/>", r"sed 's/^[[:space:]]*<\(.*\)>[[:space:]]*$/\1/'"),
            ("<p>https://a.example/</p>", "HTML"),
            ("\0\0", "binary"),
        ] {
            let found = looks_like(text, false).unwrap_or_default();
            assert!(found.contains(advice), "{text}: {found}");
        }
        for (text, assumes_scheme) in
            [("nothing", false), ("a,b", false), ("me@example.com", false), ("example.com/x", true)]
        {
            assert_eq!(looks_like(text, assumes_scheme), None);
        }
    }
}
