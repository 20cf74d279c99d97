//! Finds host, target, time and agent in a line of an access log.
//!
//! The lines are those of the common and the combined log format, which Apache and nginx write, and
//! of formats near them:
//!
//! ```text
//! 192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 2326 "https://b.example/" "ABot/1.0"
//! a.example:443 192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 2326
//! 192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] (a.example) [0.003] "GET /a?b HTTP/1.1" 200 2326
//! https 2025-10-10T20:55:36.186641Z app/a/5 192.0.2.7:2817 192.0.2.9:80 0.1 0.0 0.0 200 200 0 57 "GET https://a.example:443/ HTTP/1.1" "ABot/1.0"
//! [2025-10-10T20:55:36Z] - a.example - 192.0.2.7 - 200 - GET - "/a?b" - "ABot/1.0"
//! 79a5 bucket [10/Oct/2025:20:55:36 +0000] 192.0.2.7 - 3E57 REST.GET.OBJECT a "GET /a HTTP/1.1" 200 "-" "ABot/1.0" - SigV4 a.example TLSv1.2
//! ```
//!
//! The first lines of a list show how its lines are read ([`AccessLine`]): which of the texts in quotes is the request,
//! and where the host and the agent are. Every line is then read by it. A client can send words outside of quotes
//! too, as the name of a user or as a chain of proxies. So a host is read where nothing that a client sends is before
//! it, or behind it, or else if the line is built as most are: as many words, texts in quotes and times; and hosts
//! only where most have them, if words are empty or joined by commas. Else the record has no host, which is never
//! the one given for all.
//!
//! In quotes, a backslash escapes the byte after it, and `\xNN` is a byte. A request that is not one
//! for a page has no URL: `-`, the bytes of another protocol, `OPTIONS *`, `CONNECT`. A client writes
//! everything in quotes, so what cannot be read is a [`Problem`], or no agent, and never a guess.

mod find;
pub(super) mod words;

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use self::words::{
    behind_quotes, blanks, fields, first_quote, has_method, has_time, in_quotes, is_blank, is_host,
    is_named, is_status, quoted, times, without_blank, without_blank_end, without_brackets, words,
};
use super::host::{NO_HOST, is_absolute, target};
use super::values::{Values, kept};
use super::{Arena, Problem};
use portcullis_engine::bytes::hex_value;
use portcullis_robots::access::UnixSeconds;

/// Where the values of a line are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AccessLine {
    /// The number of the request among the texts in quotes, from 0.
    request: usize,
    /// Whether the request is a path alone, with its method elsewhere.
    is_path: bool,
    /// The number of words that a log of many programs has before a line.
    prefix: usize,
    /// Whether the time is in brackets.
    is_bracketed: bool,
    /// Whether the second word is a `-` in most lines, as behind a client.
    has_dash: bool,
    /// The number of times before the first quote in most lines, and of texts in quotes; 0 if not known yet.
    times: usize,
    texts: usize,
    host: At,
    /// Where some lines have a host, if most have none.
    rare_host: At,
    agent: At,
    /// Whether the time is read.
    has_time: bool,
    /// Whether few of the lines that show the layout have a request for a page.
    is_scarce: bool,
}

/// Where the host of a request or the agent is. Words and texts in quotes are counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Nowhere,
    Word(Word),
    Quoted(usize),
    /// The second text in quotes after the request, directly behind the first, as in the combined
    /// log format.
    Combined,
}

/// A word of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    part: Part,
    place: usize,
    /// How the part is built in most lines.
    shape: Shape,
}

/// How many words a part has, and a bit for each that is the name of a host.
type Shape = (usize, u64);

/// A part of a line outside of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    BeforeTime,
    BehindTime,
    BehindQuotes,
}

/// The parts of a line.
struct Parts<'t> {
    /// The text before the first quote, without the words of another program: client, user, time.
    before: &'t [u8],
    /// The request, with its escapes.
    request: &'t [u8],
    /// The text after the closing quote of the request.
    after: &'t [u8],
}

impl AccessLine {
    /// Returns the values of a line. The URL may be a path alone.
    pub(super) fn read<'c>(&self, text: &'c [u8], arena: &'c Arena) -> Values<'c> {
        let Some(parts) = self.parts(text) else {
            return Values::from_url(Err(Problem::NoUrl));
        };
        let time = || UnixSeconds::from_log(&parts.before[self.time_in(parts.before)?]);
        let agent = match self.agent {
            At::Nowhere | At::Word(_) => None,
            At::Quoted(number) => quoted(text).nth(number),
            At::Combined => combined_agent(parts.after),
        };
        let host = self.host_of(text, &parts);
        Values {
            url: self.target(kept(without_escapes(parts.request), arena)).ok_or(Problem::NoRequest),
            host,
            time: self.has_time.then(time).flatten(),
            lacks_unit: false,
            agent: agent.map(|text| kept(without_escapes(text), arena)),
        }
    }

    /// Returns the host of a line; [`NO_HOST`] if the line is not like most.
    fn host_of<'t>(&self, line: &'t [u8], parts: &Parts<'t>) -> Option<&'t [u8]> {
        match self.host {
            At::Nowhere | At::Combined => {
                // A host where most lines have none: theirs is not the host of this request.
                if !self.has_dash || words(parts.before).nth(1)? == b"-" {
                    return None;
                }
                let (first, second) = (fields(parts.before).next()?, fields(parts.before).nth(1)?);
                (second != b"-" && (is_named(first) || is_host(second))).then_some(NO_HOST)
            }
            At::Word(word) => self.word(word, line, parts).or(Some(NO_HOST)),
            At::Quoted(number) => {
                let text = quoted(line).nth(number).filter(|_| self.has_texts(line));
                text.filter(|text| text.is_empty() || !text.trim_ascii().is_empty())
                    .or(Some(NO_HOST))
            }
        }
    }

    /// Returns the word of a line; `None` if it cannot be told from what a client sends.
    fn word<'t>(&self, word: Word, line: &'t [u8], parts: &Parts<'t>) -> Option<&'t [u8]> {
        let Word { part, place, shape } = word;
        let is_first = (part, place) == (Part::BeforeTime, 0);
        let before = parts.before.trim_ascii_start();
        if is_first && let Some(first) = words(before).next() {
            // The client of another format has a `-` behind it.
            if !matches!(before[first.len()..].trim_ascii_start(), [b'-', b' ' | b'\t', ..]) {
                return Some(first);
            }
        }
        let text = self.part(part, line, parts)?;
        let blanks = text.iter().filter(|&&byte| is_blank(byte)).count();
        let is_as_most = |word: &&[u8]| {
            let (count, hosts) = shape_of(text);
            // Words that a client adds make up for words that it takes away, and move others.
            let is_plain = blanks + 1 == count && fields(text).all(|word| !word.is_empty());
            count == shape.0 && (is_plain || hosts & !shape.1 == 0 && is_bare(word))
        };
        let found = match place {
            0 if is_first && !self.has_dash => None,
            0 => fields(text).next(),
            place if place + 1 == shape.0 => words(text).next_back(),
            place => fields(text).nth(place).filter(is_as_most),
        };
        let found = found.filter(|_| blanks + 1 >= shape.0).map(without_brackets);
        found.filter(|word| !word.is_empty())
    }

    /// Whether a line has as many texts in quotes as most, and no quote that is not closed.
    fn has_texts(&self, line: &[u8]) -> bool {
        quoted(line).count() == self.texts && behind_quotes(line).is_some()
    }

    /// Returns a part of a line without a blank beside it; `None` if a client may have moved its bounds.
    fn part<'t>(&self, part: Part, line: &'t [u8], parts: &Parts<'t>) -> Option<&'t [u8]> {
        let before = parts.before;
        match part {
            Part::BeforeTime => {
                let text = &before[..self.only_time_in(before)?.start];
                Some(without_blank_end(text.strip_suffix(b"[").unwrap_or(text)))
            }
            Part::BehindTime => {
                let text = &before[self.only_time_in(before)?.end..];
                let text = text.strip_prefix(b"]").unwrap_or(text);
                Some(without_blank_end(without_blank(text)))
            }
            Part::BehindQuotes => {
                behind_quotes(line).filter(|_| self.has_texts(line)).map(without_blank)
            }
        }
    }

    /// Returns the place of the time if there are as many as in most lines.
    fn only_time_in(&self, before: &[u8]) -> Option<Range<usize>> {
        let mut times = times(before, self.is_bracketed);
        times.next().filter(|_| times.count() + 1 == self.times)
    }

    /// Returns the place of the time, without its brackets; `None` if there are more than in most lines.
    fn time_in(&self, before: &[u8]) -> Option<Range<usize>> {
        let mut times = times(before, self.is_bracketed);
        times.next().filter(|_| times.count() < self.times)
    }

    /// Describes where the host is; `None` if most lines have none.
    pub(super) fn describe_host(&self) -> Option<&'static str> {
        self.host.describe()
    }

    /// Describes the doubt if some lines have a host and most have none.
    pub(super) fn doubt(&self) -> Option<String> {
        let rare = self.rare_host.describe().map(|place| {
            format!(
                "some lines have {place}; it is not read, because most have none; split the log"
            )
        });
        rare.or_else(|| {
            let few = "few of its first lines ask for a page, and those show how all are read; leave out \
                       lines that ask for none";
            self.is_scarce.then(|| few.to_owned())
        })
    }

    /// Whether a line asks for a path, so that it needs a host.
    pub(super) fn asks_for_path(&self, line: &[u8]) -> bool {
        self.has_target(line, |target| target.starts_with(b"/"))
    }

    /// Whether the request of a line has a URL or path that `is` accepts.
    fn has_target(&self, line: &[u8], is: fn(&[u8]) -> bool) -> bool {
        let request = self.parts(line).map(|parts| without_escapes(parts.request));
        request.is_some_and(|request| self.target(&request).is_some_and(is))
    }

    /// Cuts a line into its parts; `None` if it has no request.
    #[inline]
    fn parts<'t>(&self, text: &'t [u8]) -> Option<Parts<'t>> {
        let quote = first_quote(text)?;
        let (mut before, rest) = (&text[..quote], &text[quote + 1..]);
        for _ in 0..self.prefix {
            before = &before[blanks(before)..];
            before = without_blank(&before[words(before).next()?.len()..]);
        }
        if self.request > 0 && self.texts > 0 && !self.has_texts(text) {
            return None;
        }
        let (mut request, mut after) = in_quotes(rest)?;
        for _ in 0..self.request {
            (request, after) = in_quotes(in_quotes(after)?.1)?;
        }
        Some(Parts { before, request, after })
    }

    /// Returns the URL or the path of a request.
    fn target<'t>(&self, request: &'t [u8]) -> Option<&'t [u8]> {
        if !self.is_path {
            return target(request);
        }
        (request.starts_with(b"/") || is_absolute(request)).then_some(request)
    }
}

impl At {
    fn describe(self) -> Option<&'static str> {
        match self {
            At::Nowhere | At::Combined => None,
            At::Word(Word { part: Part::BeforeTime, place: 0, .. }) => Some("the host first"),
            At::Quoted(_) => Some("the host in quotes"),
            At::Word(word) => Some(match word.part {
                Part::BeforeTime => "the host before the time",
                Part::BehindTime => "the host behind the time",
                Part::BehindQuotes => "the host behind the quotes",
            }),
        }
    }
}

/// Returns the shape of a part.
fn shape_of(text: &[u8]) -> Shape {
    let hosts = fields(text).zip(0..u64::BITS).filter(|(word, _)| {
        // A header may write the host with a dot or a port that is none.
        let name = word.split(|byte| *byte == b':').next().unwrap_or_default();
        is_host(without_brackets(name.strip_suffix(b".").unwrap_or(name)))
    });
    (fields(text).count(), hosts.map(|(_, at)| 1 << at).sum())
}

/// Whether a word is written as hosts are in logs, and not as in a URL.
fn is_bare(word: &[u8]) -> bool {
    word.is_ascii() && memchr(b'%', word).is_none() && memchr(b'/', word).is_none()
}

/// Returns the User-Agent header in the text after a request: status, bytes, the page that links
/// here, the header. Other fields may follow.
fn combined_agent(after: &[u8]) -> Option<&[u8]> {
    let quote = memchr(b'"', after)?;
    let (_, rest) = in_quotes(&after[quote + 1..])?;
    Some(in_quotes(rest.strip_prefix(b" \"")?)?.0)
}

/// Returns a text without its escapes.
fn without_escapes(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut at) = memchr(b'\\', text) else { return Cow::Borrowed(text) };
    let mut found = text[..at].to_vec();
    while let Some(&byte) = text.get(at) {
        let (byte, bytes) = match (byte, &text[at + 1..]) {
            (b'\\', [b'x', high, low, ..]) => match (hex_value(*high), hex_value(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (byte, 1),
            },
            (b'\\', [escaped, ..]) => match escaped {
                b'"' | b'\\' => (*escaped, 2),
                b'b' => (0x08, 2),
                b'n' => (b'\n', 2),
                b'r' => (b'\r', 2),
                b't' => (b'\t', 2),
                b'v' => (0x0b, 2),
                _ => (byte, 1),
            },
            _ => (byte, 1),
        };
        found.push(byte);
        at += bytes;
    }
    Cow::Owned(found)
}

/// Whether `line` is a line of an access log: a time, and a request or the status of one.
pub(super) fn is_access_log(line: &[u8]) -> bool {
    let Some(before) = first_quote(line).map(|quote| &line[..quote]) else { return false };
    let has_request = || quoted(line).any(|text| target(&without_escapes(text)).is_some());
    let has_status =
        || AccessLine::default().parts(line).is_some_and(|parts| is_status(parts.after));
    let has_path = || has_method(line) && quoted(line).any(|text| text.starts_with(b"/"));
    has_time(before) && (has_request() || has_status() || has_path())
}

#[cfg(test)]
mod tests;
