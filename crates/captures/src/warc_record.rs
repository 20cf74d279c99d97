//! Reads one WARC record: parses its header (ISO 28500, sections 4 to 6), decides whether it is an
//! answer to `GET /robots.txt`, and builds the capture from its block.
//!
//! Use [`warc`](super::warc) to find the records of a file. Cost: one pass over the header, and
//! over the block of a record that is kept. A malformed header has an error for its [`Fate`].

use std::borrow::Cow;

use memchr::{memchr, memmem};

use portcullis_engine::bytes::trim;
use portcullis_files::kind;
use portcullis_robots::access::{CachingHeaders, CaptureNote, UnixSeconds};

use super::body::{Settled, is_html, is_redirect, notes, settle};
use super::capture::{Problem, names_robots_txt};
use super::decoding::Budget;
use super::fields::{WHITE_SPACE, byte_count, fields, lines};
use super::http::{HeadProblem, Message};
use super::{Capture, Confirms, PayloadNames, ReadConfig, Subject};
use crate::limits::HEADER_BLOCK_BYTES_MAX;
use portcullis_files::input::{InputError, Source};

/// The length of the longest version line, such as `WARC/1.1`, its line end included.
pub(super) const VERSION_LINE_BYTES_MAX: usize = 16;

/// The treatment of a record: what is kept if it is, or may be, an answer to GET /robots.txt, and
/// `None` if it is not. The error says why the record is malformed.
pub(super) type Fate = Result<Option<Kept>, Problem>;

/// The parts of a header that are kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) kind: Kind,
    pub(super) url: Vec<u8>,
    pub(super) captured_at: Option<UnixSeconds>,
    /// The file that a revisit repeats.
    pub(super) repeats: Confirms,
    /// Whether the record says when that file was captured, also if it cannot be read.
    pub(super) names_date: bool,
    /// The names of the file, or of the one that a revisit repeats.
    pub(super) payload: PayloadNames,
    /// Whether the block is only a part of the received bytes.
    pub(super) is_truncated: bool,
    /// Whether the block itself, not a body in it, is HTML.
    pub(super) is_html: bool,
}

/// The kind of block in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A response with its header.
    Response,
    /// A file without a response header.
    Resource,
    /// At most the header of an earlier response.
    Revisit,
}

/// Whether `bytes` begin with the version line of a record.
pub(crate) fn begins_record(bytes: &[u8]) -> bool {
    let window = &bytes[..bytes.len().min(VERSION_LINE_BYTES_MAX)];
    let Some(line) = window.strip_prefix(kind::WARC) else { return false };
    let Some(end) = memchr(b'\n', line) else { return false };
    let mut numbers = trim(&line[..end], WHITE_SPACE).split(|&byte| byte == b'.');
    let (major, minor) = (numbers.next(), numbers.next());
    matches!(major, Some(b"0" | b"1"))
        && minor.is_some_and(|minor| !minor.is_empty() && minor.iter().all(u8::is_ascii_digit))
        && numbers.next().is_none()
}

/// Skips line ends, and buffers the header of the next record as far as it may be long. Returns `false`
/// at the end.
pub(super) fn find_header(window: &mut Source) -> Result<bool, InputError> {
    while window.fill(1) && b"\r\n".contains(&window.buffer()[0]) {
        window.consume(1);
    }
    window.fill(HEADER_BLOCK_BYTES_MAX);
    match window.buffer() {
        [] => window.take_failure().map_or(Ok(false), Err),
        [..] => Ok(true),
    }
}

/// A header, with the fields that are used.
#[derive(Default)]
pub(super) struct Header<'h> {
    /// The length of the block after the header; `None` if the header does not say.
    pub(super) block_bytes: Option<u64>,
    /// Whether lines end in CRLF, as the standard requires, instead of LF alone.
    pub(super) has_crlf: bool,
    record_type: Option<&'h [u8]>,
    target: Option<&'h [u8]>,
    date: Option<&'h [u8]>,
    content_type: Option<&'h [u8]>,
    profile: Option<&'h [u8]>,
    repeated_target: Option<&'h [u8]>,
    repeated_date: Option<&'h [u8]>,
    repeated_id: Option<&'h [u8]>,
    id: Option<&'h [u8]>,
    digest: Option<&'h [u8]>,
    is_truncated: bool,
}

impl<'h> Header<'h> {
    /// Parses an [unfolded](super::fields::unfold) header, from its version line to its empty line. The error says
    /// what is wrong with it.
    ///
    /// † A writer that was killed leaves a part of a header, and what is appended later continues it. So a header
    /// with another version line, or twice with what no record has twice (ISO 28500, section 4), is no header.
    pub(super) fn read(block: &'h [u8]) -> Result<Header<'h>, &'static str> {
        let mut found = Header {
            has_crlf: memchr(b'\n', block).is_some_and(|at| block[..at].ends_with(b"\r")),
            ..Header::default()
        };
        // The cut may be in the name of a field.
        let is_version =
            |line: &[u8]| memchr(b':', line).is_none() && memmem::find(line, kind::WARC).is_some();
        let after_version = block.get(kind::WARC.len()..).unwrap_or_default();
        if memmem::find(after_version, kind::WARC).is_some() && lines(block).skip(1).any(is_version)
        {
            return Err("another record begins in its header");
        }
        let mut length = None;
        for (name, value) in fields(block) {
            let field = match &*name.to_ascii_lowercase() {
                b"warc-type" => &mut found.record_type,
                b"warc-target-uri" => &mut found.target,
                b"warc-date" => &mut found.date,
                b"warc-profile" => &mut found.profile,
                b"warc-refers-to-target-uri" => &mut found.repeated_target,
                b"warc-refers-to-date" => &mut found.repeated_date,
                b"warc-refers-to" => &mut found.repeated_id,
                b"warc-record-id" => &mut found.id,
                b"warc-payload-digest" => &mut found.digest,
                b"content-length" => &mut length,
                b"content-type" => &mut found.content_type,
                // A block with a segment number is the first of several.
                b"warc-truncated" | b"warc-segment-number" => {
                    found.is_truncated = true;
                    continue;
                }
                _ => continue,
            };
            if field.replace(value).is_some() {
                return Err("its header has a field twice");
            }
        }
        found.block_bytes = length.and_then(byte_count);
        found.target = found.target.map(without_brackets);
        found.repeated_target = found.repeated_target.map(without_brackets);
        Ok(found)
    }

    /// Whether the record is one of several that stand for a capture, as in a WAT file.
    pub(super) fn is_metadata(&self) -> bool {
        self.record_type.is_some_and(|it| it.eq_ignore_ascii_case(b"metadata"))
    }

    /// Returns the URL that the record is about, if it is a capture, or stands for one. That of a capture
    /// without a URL is empty.
    pub(super) fn target(&self) -> Option<&'h [u8]> {
        let json = b"application/json";
        let start = |it: &'h [u8]| it.get(..json.len());
        let is_json = self.content_type.and_then(start);
        let is_json = is_json.is_some_and(|it| it.eq_ignore_ascii_case(json));
        match self.record_type.map(<[u8]>::to_ascii_lowercase).as_deref() {
            Some(b"response" | b"resource" | b"revisit" | b"conversion") => {
                Some(self.target.unwrap_or_default())
            }
            _ => self.target.filter(|_| self.is_metadata() && is_json),
        }
    }

    /// Returns the file that a revisit repeats (ISO 28500, section 6.7): one of the same URL, by its date.
    /// A file of another URL may be a copy, but is not looked up.
    fn repeats(&self) -> Confirms {
        const NOT_MODIFIED: &[u8] = b"/revisit/server-not-modified";
        let is_of = |profile: &[u8]| without_brackets(profile).ends_with(NOT_MODIFIED);
        if self.repeated_date.is_none() && self.profile.is_some_and(is_of) {
            return Confirms::Newest;
        }
        let is_other = self.repeated_target.is_some_and(|target| Some(target) != self.target);
        Confirms::CapturedAt(self.repeated_date.filter(|_| !is_other).and_then(date))
    }

    /// Returns the problem of the record, of which nothing but this header can be read.
    pub(super) fn problem(&self, text: String) -> Problem {
        let lost = match self.fate() {
            Ok(Some(kept)) => return kept.lost(text),
            Ok(None) => None,
            Err(problem) => problem.lost,
        };
        Problem { lost, ..text.into() }
    }

    /// Returns the treatment of the record.
    pub(super) fn fate(&self) -> Fate {
        let record_type = self.record_type.map(<[u8]>::to_ascii_lowercase).unwrap_or_default();
        // Types that are not answers (ISO 28500, section 5.5). A `continuation` is the rest of a
        // response whose first part is marked as segmented.
        if let b"warcinfo" | b"request" | b"metadata" | b"conversion" | b"continuation" =
            &*record_type
        {
            return Ok(None);
        }
        let Some(url) = self.target.filter(|url| !url.is_empty()) else {
            return Err("its header has no WARC-Target-URI; write the archive anew".into());
        };
        if !names_robots_txt(url) && !record_type.is_empty() {
            return Ok(None);
        }
        let no_date = || "its WARC-Date is no date; write the archive anew".to_owned();
        let time = self.date.map(|it| date(it).ok_or_else(no_date)).transpose();
        let kind = match &*record_type {
            b"response" => Ok(Kind::Response),
            b"resource" if self.content_type.is_some_and(is_response) => Ok(Kind::Response),
            b"resource" => Ok(Kind::Resource),
            b"revisit" => Ok(Kind::Revisit),
            b"" => Err("its header has no WARC-Type; write the archive anew".to_owned()),
            _ => Err("its WARC-Type is not known; convert it to `response`".to_owned()),
        };
        let (kind, captured_at) = match (kind, time) {
            (Ok(kind), Ok(time)) => (kind, time),
            (Ok(_), Err(problem)) => return Err(lost(problem.clone(), url, Err(problem))),
            (Err(problem), time) => return Err(lost(problem, url, time)),
        };
        Ok(Some(Kept {
            kind,
            url: url.to_vec(),
            captured_at,
            repeats: self.repeats(),
            names_date: self.repeated_date.is_some(),
            payload: match kind {
                Kind::Revisit => PayloadNames::of(self.digest, self.repeated_id),
                Kind::Response | Kind::Resource => PayloadNames::of(self.digest, self.id),
            },
            is_truncated: self.is_truncated,
            is_html: kind == Kind::Resource && self.content_type.is_some_and(is_html),
        }))
    }
}

/// Returns the problem of a record that is the capture of a URL, if that is one of a robots.txt.
fn lost(text: String, url: &[u8], time: Result<Option<UnixSeconds>, String>) -> Problem {
    if !names_robots_txt(url) {
        return text.into();
    }
    // Each record has a date (ISO 28500, section 5.4), which may stand after the damage.
    let time = time.and_then(|date| date.map(Some).ok_or_else(String::new));
    Problem::of_capture(text, Subject::Url(Cow::Borrowed(url)), time)
}

/// Whether the type of a block says that it is an HTTP message (RFC 9112, section 10.2).
fn is_response(content_type: &[u8]) -> bool {
    const TYPE: &[u8] = b"application/http";
    content_type.get(..TYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(TYPE))
}

/// Strips the angle brackets that older versions of the format put around a URL.
fn without_brackets(value: &[u8]) -> &[u8] {
    let inside = value.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">"));
    trim(inside.unwrap_or(value), WHITE_SPACE)
}

impl Kept {
    /// Returns the name of the capture, after what is wrong with its record.
    pub(super) fn name(&self) -> String {
        format!(" (the capture of {})", String::from_utf8_lossy(&self.url))
    }

    /// Returns the problem of its record, of which nothing else can be read.
    pub(super) fn lost(&self, text: String) -> Problem {
        lost(text, &self.url, Ok(self.captured_at))
    }

    /// Builds the capture of a record from its block and the HTTP response in it.
    pub(super) fn capture<'c>(
        &'c self,
        message: Option<&'c Message<'c>>,
        block: &'c [u8],
        config: &ReadConfig,
        budget: &mut Budget,
    ) -> Capture<'c> {
        let status = message.map(|message| message.status);
        // The file equals an earlier one, which `repeats` names.
        let is_repeated = self.kind == Kind::Revisit && matches!(status, None | Some(200..=299));
        let settled = match (self.kind, message) {
            (Kind::Response, Some(message)) => message.settle(self.is_truncated, config, budget),
            (Kind::Resource | Kind::Response, _) => {
                let body = Some(Cow::Borrowed(block));
                let settled = settle(200, body, !self.is_truncated, config);
                let notes = notes([
                    (CaptureNote::HtmlContentType, self.is_html),
                    (CaptureNote::Truncated, self.is_truncated),
                ]);
                Settled { notes: settled.notes.union(notes), ..settled }
            }
            // Archives also write revisits for redirects and errors, whose bodies are often identical.
            // Their head alone gives the answer.
            (Kind::Revisit, _) => {
                let status = status.filter(|_| !is_repeated).unwrap_or(304);
                let notes = notes([(CaptureNote::Revisit, true)]);
                Settled { notes, ..settle(status, None, true, config) }
            }
        };
        let location = message.and_then(|message| message.field(b"Location"));
        // A record that was cut may lack header fields, too.
        let lacks_target = is_redirect(settled.answer) && location.is_none() && self.is_truncated;
        let target_missing = notes([(CaptureNote::RedirectTargetMissing, lacks_target)]);
        let settled = Settled { notes: settled.notes.union(target_missing), ..settled };
        Capture {
            location: location.map(Cow::Borrowed),
            confirms: match self.repeats {
                Confirms::CapturedAt(None) if !is_repeated && !self.names_date => Confirms::Newest,
                repeats => repeats,
            },
            payload: self.payload,
            caching: message.map(|it| CachingHeaders::read(it.fields())).unwrap_or_default(),
            ..settled.capture(Subject::Url(Cow::Borrowed(&self.url)), self.captured_at)
        }
    }

    /// Splits the HTTP response in the block. `None` if there is none.
    pub(super) fn message<'b>(&self, block: &'b [u8]) -> Result<Option<Message<'b>>, HeadProblem> {
        match self.kind {
            Kind::Resource => Ok(None),
            Kind::Revisit if block.iter().all(u8::is_ascii_whitespace) => Ok(None),
            Kind::Response | Kind::Revisit => Message::split(block).map(Some),
        }
    }
}

/// Parses a `WARC-Date`. Version 1.1 allows its end to be omitted; the date is then the first
/// moment of the given period.
fn date(value: &[u8]) -> Option<UnixSeconds> {
    let rest: &[u8] = match value.len() {
        4 => b"-01-01",
        7 => b"-01",
        _ => b"",
    };
    UnixSeconds::from_text(&[value, rest].concat(), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::unfold;

    fn fate(lines: &str) -> Fate {
        let header = format!("WARC/1.0\r\n{lines}Content-Length: 7\r\n\r\n");
        let header = unfold(header.as_bytes());
        let header = Header::read(&header).unwrap();
        assert_eq!((header.block_bytes, header.has_crlf), (Some(7), true));
        header.fate()
    }

    #[test]
    fn version_lines() {
        let good: [&[u8]; 6] = [
            b"WARC/1.0\r\n",
            b"WARC/1.1\n",
            b"WARC/0.18\r\nrest",
            b"WARC/0.17 \r\n",
            b"WARC/ 1.0\r\n",
            b"WARC/1.123456\r\n",
        ];
        assert!(good.iter().all(|bytes| begins_record(bytes)));
        let bad: [&[u8]; 12] = [
            b"",
            b"WARC",
            b"WARC/",
            b"WARC/1.0",
            b"warc/1.0\r\n",
            b"WARC/1\r\n",
            b"WARC/1.\r\n",
            b"WARC/2.0\r\n",
            b"WARC/1.0.0\r\n",
            b"WARC/1.x\r\n",
            b"WARC/1.0 x\r\n",
            b"WARC/1.0            \r\n",
        ];
        assert!(!bad.iter().any(|bytes| begins_record(bytes)));
    }

    #[test]
    fn what_is_kept() {
        let lines = "warc-TYPE: Response\r\nWARC-Target-URI:\r\n <http://a.example/robots.txt>\r\n\
                     Content-Type: text/html\r\n\
                     WARC-Date: 2024-01-02T03:04:05.678Z\r\n";
        let kept = Kept {
            kind: Kind::Response,
            url: b"http://a.example/robots.txt".to_vec(),
            captured_at: Some(UnixSeconds(1_704_164_645)),
            repeats: Confirms::CapturedAt(None),
            names_date: false,
            payload: PayloadNames::default(),
            is_truncated: false,
            is_html: false,
        };
        assert_eq!(fate(lines), Ok(Some(kept)));
        let lines = "WARC-Type: resource\r\nWARC-Target-URI: ftp://a.example/robots.txt\r\n\
                     Content-Type: text/html\r\nWARC-Truncated:\r\n";
        let kept = Kept {
            kind: Kind::Resource,
            url: b"ftp://a.example/robots.txt".to_vec(),
            captured_at: None,
            repeats: Confirms::CapturedAt(None),
            names_date: false,
            payload: PayloadNames::default(),
            is_truncated: true,
            is_html: true,
        };
        assert_eq!(fate(lines), Ok(Some(kept)));
    }

    #[test]
    fn what_is_not() {
        let robots = "WARC-Target-URI: http://a.example/robots.txt\r\n";
        for name in ["request", "WARCINFO", "metadata", "conversion", "continuation"] {
            assert_eq!(fate(&format!("{robots}WARC-Type: {name}\r\n")), Ok(None));
        }
        for name in ["response", "screenshot"] {
            let page = "WARC-Target-URI: http://a.example/\r\n";
            assert_eq!(fate(&format!("{page}WARC-Type: {name}\r\n")), Ok(None));
        }
        let broken = [
            robots.to_owned(),
            "WARC-Type: response\r\n".to_owned(),
            "WARC-Type: response\r\nWARC-Target-URI: <>\r\n".to_owned(),
            format!("{robots}WARC-Type: responze\r\n"),
        ];
        for lines in broken {
            assert!(fate(&lines).is_err(), "{lines}");
        }
        for length in ["", "Content-Length: x\r\n", "Content-Length:\r\n"] {
            let header = format!("WARC/1.0\r\nWARC-Type: response\r\n{length}\r\n");
            assert_eq!(Header::read(header.as_bytes()).unwrap().block_bytes, None);
        }
        let whole = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/robots.txt\r\n\
                     WARC-Date: 2024-01-01T00:00:00Z\r\nContent-Length: 7\r\n\r\n";
        assert!(Header::read(whole.as_bytes()).is_ok());
        // A header that was cut after any byte of its fields, and another record right after it.
        for bytes in 1..whole.len() - "\r\n".len() {
            let torn = [&whole[..bytes], whole].concat();
            assert!(
                !begins_record(torn.as_bytes()) || Header::read(torn.as_bytes()).is_err(),
                "{bytes}"
            );
        }
    }

    #[test]
    fn urls_of_robots_txt() {
        let good = [
            "http://a.example/robots.txt",
            "https://a.example/ROBOTS.TXT?a=b/c",
            "http://a.example/x/robots.txt#a",
            "http://a.example/us-robots.txt",
            "http://a.example//robots.txt",
        ];
        let bad = [
            "",
            "robots.txt",
            "http://robots.txt",
            "http://robots.txt/",
            "http://robots.txt/x",
            "http://a.example/robots.txt/",
            "http://a.example/?robots.txt",
            "http://a.example/robots.txt.gz",
            "dns:robots.txt",
            "urn:pageinfo:https://a.example/robots.txt",
        ];
        assert!(good.iter().all(|url| names_robots_txt(url.as_bytes())));
        for url in bad {
            assert!(!names_robots_txt(url.as_bytes()), "{url}");
        }
    }

    #[test]
    fn dates_whole_and_short() {
        let rows = [
            ("2016-09-01T00:00:00Z", Some(1_472_688_000)),
            ("2016-09-01T00:00:00.5+00:00", Some(1_472_688_000)),
            ("2016-09-01T00:00Z", Some(1_472_688_000)),
            ("2016-09-01", Some(1_472_688_000)),
            ("2016-09", Some(1_472_688_000)),
            ("1970", Some(0)),
            ("2016-09-01 00:00:00", Some(1_472_688_000)),
            ("20160901000000", Some(1_472_688_000)),
            ("2016-09-01T00:00+", None),
            ("2016-9-1", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(date(text.as_bytes()), expected.map(UnixSeconds), "{text}");
        }
    }
}
