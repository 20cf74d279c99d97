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
//! it, or behind it, or else if the line is built as most are: as many words, texts in quotes and times; and names
//! where most have them, if words are empty or joined by commas. Else the record has no host, which is never the one
//! given for all.
//!
//! In quotes, a backslash escapes the byte after it, and `\xNN` is a byte. A request that is not one
//! for a page has no URL: `-`, the bytes of another protocol, `OPTIONS *`, `CONNECT`. A client writes
//! everything in quotes, so what cannot be read is a [`Problem`], or no agent, and never a guess.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::host::{NO_HOST, is_absolute, target};
use super::values::{Values, kept};
use super::{Arena, Problem};
use crate::limits::{LOG_LINES_MIN as LINES_MIN, RECORDS_LOOKED_AT_MAX};
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

/// How many words a part has, and a bit for each that is a name.
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
    /// Finds the places in the first lines of a list.
    pub(super) fn find<'l>(
        lines: impl Iterator<Item = &'l [u8]>,
        has_time: bool,
        has_agent: bool,
    ) -> AccessLine {
        let lines: Vec<&[u8]> = lines.take(RECORDS_LOOKED_AT_MAX).collect();
        let mut found = AccessLine { has_time, ..AccessLine::default() };
        (found.request, found.is_path) = find_request(&lines);
        let parts = || lines.iter().filter_map(|line| found.parts(line));
        let bracketed = parts().filter(|it| times(it.before, true).next().is_some()).count();
        found.is_bracketed = 2 * bracketed > parts().count();
        let prefixes = lines.iter().filter_map(|line| found.parts(line));
        let prefixes = prefixes.filter_map(|it| prefix_words(it.before, found.is_bracketed));
        found.prefix = most(prefixes).map_or(0, |(words, _)| words);
        let counts = lines.iter().filter_map(|line| found.parts(line));
        let counts = counts.map(|it| times(it.before, found.is_bracketed).count());
        found.times = most(counts).map_or(0, |(times, _)| times);
        // What asks for no page often has no host.
        let targets: Vec<&[u8]> =
            lines.iter().filter(|line| found.has_target(line, |_| true)).copied().collect();
        found.is_scarce = targets.len() < LINES_MIN && 2 * targets.len() < lines.len();
        found.texts = most(targets.iter().map(|line| quoted(line).count())).map_or(0, |it| it.0);
        let agent = found.find_agent(&targets);
        found.find_host(&targets, agent);
        found.agent = if has_agent { agent } else { At::Nowhere };
        found
    }

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
        let is_as_most = || {
            let (count, names) = part.shape_of(text);
            // Words that a client adds make up for words that it takes away, and move others.
            let is_plain = blanks + 1 == count && part.fields(text).all(|word| !word.is_empty());
            count == shape.0 && (is_plain || names & !shape.1 == 0)
        };
        let found = match place {
            0 if is_first && !self.has_dash => None,
            0 => part.fields(text).next(),
            place if place + 1 == shape.0 => words(text).next_back(),
            place => part.fields(text).nth(place).filter(|_| is_as_most()),
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
                let text = &before[..self.time_in(before)?.start];
                Some(without_blank_end(text.strip_suffix(b"[").unwrap_or(text)))
            }
            Part::BehindTime => {
                let text = &before[self.time_in(before)?.end..];
                let text = text.strip_prefix(b"]").unwrap_or(text);
                Some(without_blank_end(without_blank(text)))
            }
            Part::BehindQuotes => {
                behind_quotes(line).filter(|_| self.has_texts(line)).map(without_blank)
            }
        }
    }

    /// Returns the place of the time, without its brackets; `None` if there are more than in most lines.
    fn time_in(&self, before: &[u8]) -> Option<Range<usize>> {
        let mut times = times(before, self.is_bracketed);
        times.next().filter(|_| times.count() < self.times)
    }

    /// Returns the place of the agent: the text in quotes that names a product in most lines, or that of the
    /// combined log format.
    fn find_agent(&self, lines: &[&[u8]]) -> At {
        let is_agent =
            |(number, text): &(usize, &[u8])| *number != self.request && names_product(text);
        let numbers = lines.iter().flat_map(|line| quoted(line).enumerate().filter(is_agent));
        match most(numbers.map(|(number, _)| number)) {
            Some((number, count)) if 2 * count > lines.len() && number != self.request + 2 => {
                At::Quoted(number)
            }
            _ => At::Combined,
        }
    }

    /// Finds the place of the host: beside the client, behind the time, or in quotes that hold neither the
    /// request nor the agent. Nearly all lines have it, or most; what more than a quarter has is a doubt.
    fn find_host(&mut self, lines: &[&[u8]], agent: At) {
        let sample = Sample::of(self, lines);
        // Blanks that fill columns move no client.
        let before = sample.texts(Part::BeforeTime).iter();
        let before = before.map(|(text, _)| fields(text).filter(|word| !word.is_empty()).collect());
        let (client, has_dash) = client_among(before);
        let is_before_client = |place: usize| client.is_some_and(|client| place < client);
        // lighttpd has it where others have a `-` for the user by RFC 1413; others behind the user.
        let is_beside = |place: usize| match client {
            Some(1..) => Some(place) == client,
            _ => place == 1 || place > 2,
        };
        let is_other = |text: usize| match agent {
            At::Quoted(agent) => text != self.request && text != agent,
            _ => !(self.request..=self.request + 2).contains(&text),
        };
        let in_quotes = || {
            let rows = lines.iter().map(|line| quoted(line).collect());
            column_of(rows, is_host, &is_other).map(|(text, count)| (At::Quoted(text), count))
        };
        let places = [
            sample.column(Part::BeforeTime, is_host, &is_before_client),
            sample.column(Part::BeforeTime, is_host, &is_beside),
            sample.column(Part::BehindTime, is_host, &|_| true),
            in_quotes(),
            sample.column(Part::BehindQuotes, is_host, &|_| true),
        ];
        let places: Vec<(At, usize)> = places.into_iter().flatten().collect();
        let has_most = |share: usize| move |(_, count): &&(At, usize)| share * count > lines.len();
        let named = sample.column(Part::BeforeTime, is_named, &is_before_client);
        let found = first_of(&places).filter(has_most(2)).or(named.as_ref().filter(has_most(2)));
        let is_sure = found.is_some_and(|(_, count)| 10 * count > 9 * lines.len());
        let other = places.iter().find(|(at, _)| found.is_none_or(|(best, _)| best != at));
        let rare = other.filter(|_| !is_sure).filter(has_most(4));
        let [found, mut rare] = [found, rare].map(|place| place.map_or(At::Nowhere, |it| it.0));
        // A host before a `-` for the client looks like a client, but for one word more.
        if (found, rare) == (At::Nowhere, At::Nowhere) && client == Some(0) {
            let first = sample.column(Part::BeforeTime, is_host, &|place| place == 0);
            let first = first.filter(|first| has_most(2)(&first));
            rare = first.map_or(At::Nowhere, |(at, _)| sample.shaped(at));
            let is_longer = matches!(rare, At::Word(Word { shape: (4.., _), .. }));
            rare = if is_longer { rare } else { At::Nowhere };
        }
        (self.host, self.rare_host, self.has_dash) = (sample.shaped(found), rare, has_dash);
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

    /// Whether more lines may show another layout.
    pub(super) fn is_shown_by_few<'l>(&self, lines: impl Iterator<Item = &'l [u8]>) -> bool {
        lines.filter(|line| self.has_target(line, |_| true)).take(LINES_MIN).count() < LINES_MIN
    }

    /// Whether lines have requests, and no text where the agent is.
    pub(super) fn lacks_agents<'l>(&self, lines: impl Iterator<Item = &'l [u8]>) -> bool {
        let lines = lines.take(RECORDS_LOOKED_AT_MAX);
        let mut agents = lines.filter_map(|line| {
            let parts = self.parts(line)?;
            Some(match self.agent {
                At::Quoted(number) => quoted(line).nth(number).is_some(),
                _ => combined_agent(parts.after).is_some(),
            })
        });
        agents.next().is_some_and(|first| !first && agents.all(|has_agent| !has_agent))
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

impl Part {
    /// Returns the words of the part. Blanks behind the first word of a line fill a column.
    fn fields(self, text: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut fields = fields(text);
        let first = fields.next();
        let is_filled = self == Part::BeforeTime;
        first.into_iter().chain(fields.skip_while(move |word| is_filled && word.is_empty()))
    }

    fn shape_of(self, text: &[u8]) -> Shape {
        let names = self.fields(text).zip(0..u64::BITS).filter(|(word, _)| {
            // All of a chain are alike.
            words(word).next().is_some_and(|word| Hop::of(word).is_none())
        });
        (self.fields(text).count(), names.map(|(_, at)| 1 << at).sum())
    }
}

/// The parts of the first lines, with the lines.
struct Sample<'l> {
    texts: [Vec<(&'l [u8], &'l [u8])>; 3],
    is_bracketed: bool,
}

impl<'l> Sample<'l> {
    fn of(line: &AccessLine, lines: &[&'l [u8]]) -> Sample<'l> {
        let texts = [Part::BeforeTime, Part::BehindTime, Part::BehindQuotes].map(|part| {
            let text = |text: &&'l [u8]| {
                let parts = line.parts(text)?;
                Some((line.part(part, text, &parts)?, *text))
            };
            lines.iter().filter_map(text).collect()
        });
        Sample { texts, is_bracketed: line.is_bracketed }
    }

    fn texts(&self, part: Part) -> &[(&'l [u8], &'l [u8])] {
        &self.texts[part as usize]
    }

    /// Returns the words of a part that may be hosts, and those between them.
    fn words(&self, part: Part, text: &'l [u8], line: &'l [u8]) -> Option<Vec<&'l [u8]>> {
        // A name is that of the client unless another word is the client.
        let has_client = || {
            let start = text.as_ptr().addr() - line.as_ptr().addr();
            let mut times = times(&line[..start], self.is_bracketed);
            times.any(|time| words(&line[..time.start]).any(|it| it != b"["))
                || words(line).map(without_brackets).any(is_address)
        };
        // Behind `REST.GET.OBJECT`, an operation of S3, is the name of a file.
        let is_operation = |word: &&[u8]| is_host(word) && !word.iter().any(u8::is_ascii_lowercase);
        let words = part.fields(text).map(without_brackets);
        match part {
            Part::BehindTime => {
                has_client().then(|| words.take_while(|it| !is_operation(it)).collect())
            }
            _ => Some(words.collect()),
        }
    }

    /// Returns the column of a part that most lines have, of those that may be it, and how many have it.
    fn column(
        &self,
        part: Part,
        is: fn(&[u8]) -> bool,
        may_be: &dyn Fn(usize) -> bool,
    ) -> Option<(At, usize)> {
        let texts = self.texts(part).iter();
        let rows = texts.filter_map(|(text, line)| self.words(part, text, line));
        let (place, count) = column_of(rows, is, may_be)?;
        Some((At::Word(Word { part, place, shape: Shape::default() }), count))
    }

    /// Adds the shape that its part has in most lines.
    fn shaped(&self, at: At) -> At {
        let At::Word(word) = at else { return at };
        let shapes = self.texts(word.part).iter().map(|(text, _)| word.part.shape_of(text));
        let shapes: Vec<Shape> = shapes.collect();
        let words = most(shapes.iter().map(|(words, _)| *words)).map_or(0, |(words, _)| words);
        let alike = || shapes.iter().filter(|shape| shape.0 == words);
        let is_name = |at: &u32| {
            2 * alike().filter(|(_, names)| names >> at & 1 == 1).count() > alike().count()
        };
        let names = (0..u64::BITS).filter(is_name).map(|at| 1 << at).sum();
        At::Word(Word { shape: (words, names), ..word })
    }
}

/// Finds the request: its number among the texts in quotes, and whether it is a path alone.
fn find_request(lines: &[&[u8]]) -> (usize, bool) {
    // What is no request for a page has a status behind it.
    let request = |line: &&[u8]| {
        let mut texts = quoted(line);
        let mut all = quoted_with_rest(line);
        let target = texts.position(|text| target(&without_escapes(text)).is_some());
        target.or_else(|| all.position(|(_, after)| is_status(after)))
    };
    let path = |line: &&[u8]| quoted(line).position(|text| text.starts_with(b"/"));
    let (request, count) = most(lines.iter().filter_map(request)).unwrap_or_default();
    let has_methods = || lines.iter().any(|line| has_method(line));
    match most(lines.iter().filter_map(path)) {
        Some((path, paths)) if paths > count && has_methods() => (path, true),
        _ => (request, false),
    }
}

/// Returns the place of the client, which is the last word with a `-` behind it in most rows, and whether the
/// second word is a `-`.
fn client_among<'l>(rows: impl Iterator<Item = Vec<&'l [u8]>>) -> (Option<usize>, bool) {
    let rows: Vec<Vec<&[u8]>> = rows.collect();
    let count = most(rows.iter().map(Vec::len)).map_or(0, |(count, _)| count);
    let is_dash = |place: usize| {
        let dashes = rows.iter().filter(|row| row.get(place).is_some_and(|word| *word == b"-"));
        2 * dashes.count() > rows.len()
    };
    let is_client = |place: &usize| !is_dash(*place) && is_dash(place + 1);
    ((0..count.saturating_sub(1)).rev().find(is_client), is_dash(1))
}

/// Returns the text up to a quote that is not escaped, and the text after it; `None` if there is none.
fn in_quotes(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut end = 0;
    loop {
        end += memchr(b'"', &text[end..])?;
        // Of two backslashes, the first escapes the second.
        let escapes = text[..end].iter().rev().take_while(|byte| **byte == b'\\').count();
        if escapes.is_multiple_of(2) {
            return Some((&text[..end], &text[end + 1..]));
        }
        end += 1;
    }
}

/// Returns the place of the first quote of a text in quotes. A user may have escaped quotes in the name;
/// Apache has `""` for no name.
fn first_quote(line: &[u8]) -> Option<usize> {
    let quote = in_quotes(line)?.0.len();
    let is_empty = matches!(line[quote..], [b'"', b'"', b' ' | b'\t', ..]);
    if !is_empty || has_time(&line[..quote]) {
        return Some(quote);
    }
    Some(quote + 2 + in_quotes(&line[quote + 2..])?.0.len())
}

/// Returns the texts in quotes, with their escapes.
fn quoted(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    quoted_with_rest(line).map(|(text, _)| text)
}

/// Returns the texts in quotes, with their escapes, each with what is behind it.
fn quoted_with_rest(line: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = first_quote(line).map(|quote| &line[quote..]);
    std::iter::from_fn(move || {
        let (text, after) = in_quotes(in_quotes(rest?)?.1)?;
        rest = Some(after);
        Some((text, after))
    })
}

/// Returns the text behind the last quote; `None` if a quote is not closed, so that the line was cut.
fn behind_quotes(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = quoted_with_rest(line).last()?;
    memchr(b'"', rest).is_none().then_some(rest)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn words(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_blank(**byte)).count()
}

fn without_blank(text: &[u8]) -> &[u8] {
    text.split_first().filter(|(byte, _)| is_blank(**byte)).map_or(text, |(_, rest)| rest)
}

fn without_blank_end(text: &[u8]) -> &[u8] {
    text.split_last().filter(|(byte, _)| is_blank(**byte)).map_or(text, |(_, rest)| rest)
}

/// Returns the words between single blanks, so that what a client leaves empty is one. A chain such as
/// `192.0.2.7, 192.0.2.8` is one.
fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = (!text.is_empty()).then_some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let word_at = |at: usize| {
            let blank = text[at..].iter().position(|&byte| is_blank(byte));
            at..blank.map_or(text.len(), |blank| at + blank)
        };
        let mut word = word_at(0);
        let mut end = word.end;
        while text[word.clone()].ends_with(b",") && end < text.len() {
            let next = word_at(end + 1);
            let hops = [&word, &next].map(|word| Hop::of(&text[word.clone()]));
            if hops[0].is_none() || hops[0] != hops[1] {
                break;
            }
            (end, word) = (next.end, next);
        }
        rest = text.get(end + 1..);
        Some(&text[..end])
    })
}

/// What is in a chain: addresses of proxies, or times of servers.
#[derive(PartialEq, Eq)]
enum Hop {
    Address,
    Number,
}

impl Hop {
    fn of(word: &[u8]) -> Option<Hop> {
        let word = without_brackets(memchr(b'=', word).map_or(word, |at| &word[at + 1..]));
        match word {
            b"" => None,
            b"-" | b"unknown" => Some(Hop::Address),
            _ if is_address(word) => Some(Hop::Address),
            _ => (!is_named(word)).then_some(Hop::Number),
        }
    }
}

/// Returns the times in the text before the first quote, without brackets: those in brackets from the end, or
/// the others.
fn times(before: &[u8], is_bracketed: bool) -> impl Iterator<Item = Range<usize>> {
    let is_time = |text: &[u8]| text.len() >= 19 && UnixSeconds::from_log(text).is_some();
    let mut end = if is_bracketed { before.len() } else { 0 };
    let in_brackets = std::iter::from_fn(move || {
        let open = memrchr(b'[', &before[..end])?;
        let close = memchr(b']', &before[open..end]).map_or(end, |at| open + at);
        end = open;
        Some(open + 1..close)
    });
    let text = if is_bracketed { &[] } else { before };
    let starts = words(text).map(|word| word.as_ptr().addr() - before.as_ptr().addr());
    let others = starts.filter(|&at| before[at].is_ascii_digit()).filter_map(move |at| {
        // The date and the time may be two words.
        let lengths =
            [1, 2].map(|count| words(&before[at..]).take(count).map(<[u8]>::len).sum::<usize>());
        let ranges = [at..at + lengths[0], at..(at + lengths[1] + 1).min(before.len())];
        ranges.into_iter().find(|range| is_time(&before[range.clone()]))
    });
    in_brackets.filter(move |range| is_time(&before[range.clone()])).chain(others)
}

fn has_time(before: &[u8]) -> bool {
    times(before, true).chain(times(before, false)).next().is_some()
}

/// Returns the number of words that a log of many programs writes before a line: in syslog up to the name
/// of the program or the machine, in Compose up to a bar, in Kubernetes up to the flag behind the stream, a time
/// or the name of a pod. `None` if there is no time.
fn prefix_words(before: &[u8], is_bracketed: bool) -> Option<usize> {
    let last = times(before, is_bracketed).max_by_key(|time| time.start)?;
    let words: Vec<&[u8]> = words(&before[..last.start]).collect();
    let is_pod = |word: &[u8]| word.starts_with(b"[") && word.ends_with(b"]");
    let is_last = |at: usize| {
        let is_of_stream = || at > 0 && [&b"stdout"[..], b"stderr"].contains(&words[at - 1]);
        let is_tag = words[at].ends_with(b":") && !is_address(words[at]);
        let is_first = at == 0 && (is_pod(words[0]) || has_time(words[0]));
        is_tag || words[at] == b"|" || is_of_stream() || is_first
    };
    let last = (0..words.len()).rev().find(|&at| is_last(at));
    // Oct 10 13:55:36 web1
    let is_clock = |word: &&[u8]| word.len() == 8 && word[2] == b':' && word[5] == b':';
    let machine = words.get(2).filter(|word| is_clock(word)).and(Some(3));
    Some(last.or(machine).map_or(0, |at| at + 1))
}

/// Returns the first column whose cells are hosts nearly as often as those of another, and their number: what a
/// client sends now and then is no host, and a host that it sends does not make it another column.
fn column_of<'l>(
    rows: impl Iterator<Item = Vec<&'l [u8]>>,
    is: fn(&[u8]) -> bool,
    may_be: &dyn Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let mut counts = Vec::new();
    for row in rows {
        counts.resize(counts.len().max(row.len()), 0);
        let cells = row.iter().zip(&mut counts).enumerate().filter(|(at, _)| may_be(*at));
        cells.for_each(|(_, (cell, count))| *count += usize::from(is(cell)));
    }
    let counts: Vec<(usize, usize)> = counts.into_iter().enumerate().collect();
    first_of(&counts).copied()
}

/// Returns the first place that is counted nearly as often as any, and at all: a few hosts are addresses.
fn first_of<T>(places: &[(T, usize)]) -> Option<&(T, usize)> {
    let most = places.iter().map(|(_, count)| *count).max().filter(|most| *most > 0)?;
    places.iter().find(|(_, count)| 10 * count >= 9 * most)
}

/// Whether a word is a name, and no number, address or `-`.
fn is_named(word: &[u8]) -> bool {
    let is_number = word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    !is_number && word != b"-" && !is_address(without_brackets(word))
}

/// Whether a word is the name of a host in the Internet, perhaps with a port.
pub(super) fn is_host(word: &[u8]) -> bool {
    let port = memrchr(b':', word).unwrap_or(word.len());
    let (name, port) = word.split_at(port);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte) || *byte > 0x7f;
    let last = memrchr(b'.', name).map(|dot| &name[dot + 1..]);
    let is_suffix = |last: &[u8]| {
        last.len() >= 2 && last.iter().all(|it| it.is_ascii_alphabetic() || *it > 0x7f)
            || last.starts_with(b"xn--")
    };
    name.iter().all(is_part)
        && port.iter().skip(1).all(u8::is_ascii_digit)
        && !name.starts_with(b".")
        && last.is_some_and(is_suffix)
}

/// Whether a word is an address, perhaps with a port.
fn is_address(word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || b".:[]".contains(byte);
    let separators = || word.iter().filter(|byte| b".:".contains(byte)).count();
    word.iter().all(is_part) && (separators() >= 3 || memmem::find(word, b"::").is_some())
}

/// Whether the text behind a request begins with a status.
fn is_status(after: &[u8]) -> bool {
    let status = words(after).next().filter(|_| after.first().is_some_and(|byte| is_blank(*byte)));
    matches!(status, Some([b'1'..=b'5', one, two]) if one.is_ascii_digit() && two.is_ascii_digit())
}

/// Whether a line has the word of a method outside of quotes.
fn has_method(line: &[u8]) -> bool {
    let is_method = |word| [&b"GET"[..], b"HEAD", b"POST"].contains(&word);
    words(line).any(is_method)
}

/// Whether a text begins with a product and its version, as user agents do.
fn names_product(text: &[u8]) -> bool {
    let Some(slash) = memchr(b'/', text) else { return false };
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.+!".contains(byte);
    let (product, version) = (&text[..slash], &text[slash + 1..]);
    !product.is_empty()
        && product.iter().all(is_token)
        && product != b"HTTP"
        && version.first().is_some_and(u8::is_ascii_digit)
}

fn without_brackets(word: &[u8]) -> &[u8] {
    let is_bracket = |byte: &u8| b"()[]{}<>,;".contains(byte);
    let start = word.iter().position(|byte| !is_bracket(byte)).unwrap_or(word.len());
    let end = word.iter().rposition(|byte| !is_bracket(byte)).map_or(start, |at| at + 1);
    &word[start..end]
}

/// Returns the value that occurs most often, and of several the least, and how often it occurs.
fn most<T: Copy + Ord>(values: impl Iterator<Item = T>) -> Option<(T, usize)> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    let equal = values.chunk_by(T::eq).rev().max_by_key(|equal| equal.len())?;
    Some((equal[0], equal.len()))
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
