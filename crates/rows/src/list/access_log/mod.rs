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
//! 192.0.2.7:5 [10/Oct/2025:20:55:36.123] in a/1 0/0/1/2/3 200 10 - - ---- 1/1/1/1/0 0/0 {a.example|ABot/1.0} "GET /a HTTP/1.1"
//! ```
//!
//! The first lines of a list show how its lines are read ([`AccessLine`]): which of the texts in quotes is the request,
//! and where the host and the agent are. Every line is then read by it. A client can send words outside of quotes
//! too, as the name of a user or as a chain of proxies. So a word behind them counts from the end, or if the line
//! has as many words as most; else the record has no host, which is never the host given for all.
//!
//! In quotes, a backslash escapes the byte after it, and `\xNN` is a byte. A request that is not one
//! for a page has no URL: `-`, the bytes of another protocol, `OPTIONS *`, `CONNECT`. A client writes
//! everything in quotes, so what cannot be read is a [`Problem`], or no agent, and never a guess.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memrchr};

use super::host::{NO_HOST, is_absolute, target};
use super::values::{Values, kept};
use super::{Arena, Problem};
use crate::limits::RECORDS_LOOKED_AT_MAX;
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
    host: At,
    /// Where some lines have a host, if most have none.
    rare_host: At,
    agent: At,
    /// Whether the time is read.
    has_time: bool,
}

/// Where the host of a request or the agent is. Words and texts in quotes are counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Nowhere,
    /// Before the client, as [`host_before_client`] finds it.
    BeforeClient(Place),
    Word(Word),
    Quoted(usize),
    /// The second text in quotes after the request, directly behind the first, as in the combined
    /// log format.
    Combined,
}

/// The words before a host that is before the client, and those before the `-` behind the client.
type Place = (usize, usize);

/// A word of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    part: Part,
    place: usize,
    /// How many words the part has in most lines.
    words: usize,
}

/// A part of a line outside of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    BeforeTime,
    BehindTime,
    BehindQuotes,
}

/// The parts of a line.
struct Parts<'t> {
    /// The text before the first quote: client, user, time.
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
        let requests = |is: fn(&[u8]) -> bool| {
            let place = |line: &&[u8]| quoted(line).position(|text| is(&without_escapes(text)));
            most(lines.iter().filter_map(place)).map(|(place, _)| place)
        };
        let is_request = |text: &[u8]| target(text).is_some();
        let mut found = AccessLine { has_time, ..AccessLine::default() };
        if let Some(request) = requests(is_request) {
            found.request = request;
        } else if lines.iter().any(|line| has_method(line))
            && let Some(path) = requests(|text| text.starts_with(b"/"))
        {
            (found.request, found.is_path) = (path, true);
        }
        let befores = lines.iter().filter_map(|line| before_time(found.parts(line)?.before));
        found.prefix = most(befores.map(prefix_words)).map_or(0, |(words, _)| words);
        let agent = found.find_agent(&lines);
        (found.host, found.rare_host) = found.find_host(&lines, agent);
        found.agent = if has_agent { agent } else { At::Nowhere };
        found
    }

    /// Returns the values of a line. The URL may be a path alone.
    pub(super) fn read<'c>(&self, text: &'c [u8], arena: &'c Arena) -> Values<'c> {
        let Some(parts) = self.parts(text) else {
            return Values::from_url(Err(Problem::NoUrl));
        };
        let time = || UnixSeconds::from_log(&parts.before[time_in(parts.before)?]);
        let agent = value_at(self.agent, text, &parts);
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
            At::Nowhere => {
                // A host where most lines have none: theirs is not the host of this request.
                let (_, host) = self.before_client(parts.before)?;
                (host != b"-").then_some(NO_HOST)
            }
            At::BeforeClient(place) => {
                // Before the first word is only what servers write, and behind it is a client.
                if place.0 == 0
                    && self.prefix == 0
                    && let Some(host) = words(parts.before).next()
                {
                    let rest = parts.before.trim_ascii_start()[host.len()..].trim_ascii_start();
                    if !rest.starts_with(b"- ") {
                        return Some(host);
                    }
                }
                let found = host_before_client(chained(parts.before).skip(self.prefix));
                let found = found.filter(|(at, _)| *at == place);
                Some(found.map_or(NO_HOST, |(_, host)| host))
            }
            host => value_at(host, line, parts).or(Some(NO_HOST)),
        }
    }

    /// Returns the host before the client and its place, if there is a time behind them.
    fn before_client<'t>(&self, before: &'t [u8]) -> Option<(Place, &'t [u8])> {
        // Nearly all lines begin with a client and a `-`.
        let mut next = words(before).skip(self.prefix + 1);
        if next.next()? == b"-" && !is_address(next.next()?) {
            return None;
        }
        host_before_client(chained(before_time(before)?).skip(self.prefix))
    }

    /// Returns the place of the agent: that of the combined log format if some line has it, or else
    /// the text in quotes that names a product most often.
    fn find_agent(&self, lines: &[&[u8]]) -> At {
        let is_combined = |line: &&[u8]| {
            let parts = self.parts(line);
            parts.is_some_and(|parts| combined_agent(parts.after).is_some_and(|it| it != b"-"))
        };
        if !self.is_path && lines.iter().any(is_combined) {
            return At::Combined;
        }
        let is_agent =
            |(number, text): &(usize, &[u8])| *number != self.request && names_product(text);
        let numbers = lines.iter().flat_map(|line| quoted(line).enumerate().filter(is_agent));
        most(numbers.map(|(number, _)| number)).map_or(At::Combined, |(text, _)| At::Quoted(text))
    }

    /// Returns the place of the host: beside the client, behind the time, or in quotes that hold neither
    /// the request nor the agent. Most lines have it; the second place has what more than a quarter has.
    fn find_host(&self, lines: &[&[u8]], agent: At) -> (At, At) {
        let is_other = |text: usize| match agent {
            At::Quoted(agent) => text != self.request && text != agent,
            _ => !(self.request..=self.request + 2).contains(&text),
        };
        // What asks for no page often has no host.
        let lines = lines.iter().filter(|line| self.has_target(line, |_| true));
        let lines: Vec<(&[u8], &[u8])> =
            lines.filter_map(|line| Some((*line, self.parts(line)?.before))).collect();
        let before_client = || {
            let found = lines.iter().filter_map(|(_, before)| self.before_client(before));
            let (place, count) = most(found.map(|(place, _)| place))?;
            Some((At::BeforeClient(place), count))
        };
        let word = |part: Part, may_be: &dyn Fn(usize) -> bool| {
            let rows = lines.iter().filter_map(|(line, before)| part.words(line, before));
            let (place, count) = column_of_hosts(rows, may_be)?;
            let texts = lines.iter().filter_map(|(line, before)| part.of(line, before));
            let (words, _) = most(texts.map(|text| chained(text).count()))?;
            Some((At::Word(Word { part, place, words }), count))
        };
        // lighttpd has it where others have a `-` for the user by RFC 1413; others behind the user.
        let is_beside = |place| [self.prefix + 1, self.prefix + 3].contains(&place);
        let in_quotes = || {
            let rows = lines.iter().map(|(line, _)| quoted(line).collect());
            column_of_hosts(rows, &is_other).map(|(text, count)| (At::Quoted(text), count))
        };
        let finders: [&dyn Fn() -> Option<(At, usize)>; 5] = [
            &before_client,
            &|| word(Part::BeforeTime, &is_beside),
            &|| word(Part::BehindTime, &|_| true),
            &in_quotes,
            &|| word(Part::BehindQuotes, &|_| true),
        ];
        let mut rare = At::Nowhere;
        for (at, count) in finders.iter().filter_map(|find| find()) {
            if 2 * count > lines.len() {
                return (at, At::Nowhere);
            }
            if rare == At::Nowhere && 4 * count > lines.len() {
                rare = at;
            }
        }
        (At::Nowhere, rare)
    }

    /// Describes where the host is; `None` if most lines have none.
    pub(super) fn describe_host(&self) -> Option<&'static str> {
        self.host.describe()
    }

    /// Describes the doubt if some lines have a host and most have none.
    pub(super) fn doubt(&self) -> Option<String> {
        let place = self.rare_host.describe()?;
        Some(format!(
            "some lines have {place}; it is not read, because most have none; split the log"
        ))
    }

    /// Whether lines have requests, and no text where the agent is.
    pub(super) fn lacks_agents<'l>(&self, lines: impl Iterator<Item = &'l [u8]>) -> bool {
        let lines = lines.take(RECORDS_LOOKED_AT_MAX);
        let mut agents = lines.filter_map(|line| {
            let parts = self.parts(line)?;
            Some(value_at(self.agent, line, &parts).is_some())
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
        let (before, rest) = (&text[..quote], &text[quote + 1..]);
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
            At::BeforeClient((0, _)) => Some("the host first"),
            At::BeforeClient(_) => Some("the host before the time"),
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
    /// Returns the part of a line, whose text up to the first quote is `before`.
    fn of<'t>(self, line: &'t [u8], before: &'t [u8]) -> Option<&'t [u8]> {
        match self {
            Part::BeforeTime => before_time(before),
            Part::BehindTime => Some(&before[time_in(before)?.end..]),
            Part::BehindQuotes => Some(&line[memrchr(b'"', line)? + 1..]),
        }
    }

    /// Returns the words of the part that may be hosts, and those between them.
    fn words<'t>(self, line: &'t [u8], before: &'t [u8]) -> Option<Vec<&'t [u8]>> {
        // A name is that of the client unless another word is the client.
        let has_client = || {
            before_time(before).is_some_and(|text| words(text).next().is_some())
                || words(line).map(without_brackets).any(is_address)
        };
        // Behind `REST.GET.OBJECT`, an operation of S3, is the name of a file.
        let is_operation = |word: &&[u8]| is_host(word) && !word.iter().any(u8::is_ascii_lowercase);
        let words = chained(self.of(line, before)?).map(without_brackets);
        match self {
            Part::BehindTime => {
                has_client().then(|| words.take_while(|it| !is_operation(it)).collect())
            }
            _ => Some(words.collect()),
        }
    }
}

impl Word {
    /// Returns the word in its part; `None` if it cannot be told, because a client may send several as one.
    fn of<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let word = match self.place {
            place if place + 1 == self.words => words(text).next_back(),
            0 => words(text).next(),
            place => chained(text).nth(place).filter(|_| chained(text).count() == self.words),
        };
        word.map(without_brackets)
    }
}

/// Returns the value at a place of a line.
fn value_at<'t>(at: At, line: &'t [u8], parts: &Parts<'t>) -> Option<&'t [u8]> {
    match at {
        At::Nowhere | At::BeforeClient(_) => None,
        At::Word(word) => {
            let text = word.part.of(line, parts.before);
            text.and_then(|text| word.of(text))
        }
        At::Quoted(number) => quoted(line).nth(number),
        At::Combined => combined_agent(parts.after),
    }
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
    if !line[quote..].starts_with(b"\"\" ") || time_in(&line[..quote]).is_some() {
        return Some(quote);
    }
    Some(quote + 2 + in_quotes(&line[quote + 2..])?.0.len())
}

/// Returns the texts in quotes, with their escapes.
fn quoted(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = first_quote(line).map(|quote| &line[quote..]);
    std::iter::from_fn(move || {
        let (text, after) = in_quotes(in_quotes(rest?)?.1)?;
        rest = Some(after);
        Some(text)
    })
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn words(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

/// Returns the words, of which a chain such as `192.0.2.7, 192.0.2.8` is one.
fn chained(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let mut end = 0;
        loop {
            let blank = rest[end..].iter().position(|&byte| is_blank(byte));
            end = blank.map_or(rest.len(), |at| end + at);
            if end == rest.len() || rest[end - 1] != b',' {
                break;
            }
            end += 1;
        }
        let word = rest.split_off(..end)?;
        (!word.is_empty()).then_some(word)
    })
}

/// Returns the time in the text before the first quote, without its brackets. A user may have
/// brackets in the name, so the last one counts.
fn time_in(before: &[u8]) -> Option<Range<usize>> {
    let is_time = |text: &[u8]| text.len() >= 19 && UnixSeconds::from_log(text).is_some();
    let mut end = before.len();
    while let Some(open) = memrchr(b'[', &before[..end]) {
        let close = memchr(b']', &before[open..end]).map_or(end, |at| open + at);
        if is_time(&before[open + 1..close]) {
            return Some(open + 1..close);
        }
        end = open;
    }
    let starts = words(before).map(|word| word.as_ptr().addr() - before.as_ptr().addr());
    let mut times = starts.filter(|&at| before[at].is_ascii_digit()).flat_map(|at| {
        // The date and the time may be two words.
        let lengths =
            [1, 2].map(|count| words(&before[at..]).take(count).map(<[u8]>::len).sum::<usize>());
        [at..at + lengths[0], at..(at + lengths[1] + 1).min(before.len())]
    });
    times.find(|range| is_time(&before[range.clone()]))
}

/// Returns the text before the time and its bracket.
fn before_time(before: &[u8]) -> Option<&[u8]> {
    let text = &before[..time_in(before)?.start];
    Some(text.strip_suffix(b"[").unwrap_or(text))
}

/// Returns the number of words that a log of many programs writes before a line: in syslog up to the name
/// of the program or the machine, in Compose up to a bar, in Kubernetes up to the flag behind the stream.
fn prefix_words(text: &[u8]) -> usize {
    let words: Vec<&[u8]> = chained(text).collect();
    let is_last = |at: usize| {
        let is_of_stream = || at > 0 && [&b"stdout"[..], b"stderr"].contains(&words[at - 1]);
        words[at].ends_with(b":") || words[at] == b"|" || is_of_stream()
    };
    let last = (0..words.len()).rev().find(|&at| is_last(at));
    // Oct 10 13:55:36 web1
    let is_clock = |word: &&[u8]| word.len() == 8 && word[2] == b':' && word[5] == b':';
    let machine = words.get(2).filter(|word| is_clock(word)).and(Some(3));
    last.or(machine).map_or(0, |at| at + 1)
}

/// Returns the host before a client, if there are a client and a `-` behind it, or a `-` between them.
fn host_before_client<'t>(words: impl Iterator<Item = &'t [u8]>) -> Option<(Place, &'t [u8])> {
    let is_number = |word: &[u8]| {
        word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') || is_address(word)
    };
    let (mut host, mut client, mut has_dash) = (None, &b"-"[..], false);
    for (at, word) in words.enumerate() {
        let is_dash = word == b"-";
        if is_dash && at >= 2 {
            let (place, host) = host?;
            let is_client = client != b"-" && (!has_dash || at == 3 && is_address(client));
            return (is_client && place + 1 < at).then_some(((place, at), host));
        }
        if host.is_none() && !is_number(word) && (at == 0 || !is_dash) {
            host = Some((at, word));
        }
        has_dash |= is_dash && at == 1;
        client = word;
    }
    None
}

/// Returns the column with the most cells that are names of hosts, or else the first, and their number: what a
/// client sends now and then is no host, and a host that it sends does not make it another column.
fn column_of_hosts<'l>(
    rows: impl Iterator<Item = Vec<&'l [u8]>>,
    may_be: &dyn Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let rows: Vec<Vec<&[u8]>> = rows.collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let names = |column| cells(column).filter(|cell| is_host(cell)).count();
    let counts =
        (0..columns).filter(|column| may_be(*column)).map(|column| (column, names(column)));
    counts.rev().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0)
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
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || b".:".contains(byte);
    let separators = || word.iter().filter(|byte| b".:".contains(byte)).count();
    word.iter().all(is_part) && separators() >= 3
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
    let is_status = |after: &[u8]| matches!(after, [b' ', status @ ..] if status.len() >= 3 && status[..3].iter().all(u8::is_ascii_digit));
    let has_request = || quoted(line).any(|text| target(&without_escapes(text)).is_some());
    let has_status =
        || AccessLine::default().parts(line).is_some_and(|parts| is_status(parts.after));
    let has_path = || has_method(line) && quoted(line).any(|text| text.starts_with(b"/"));
    time_in(before).is_some() && (has_request() || has_status() || has_path())
}

#[cfg(test)]
mod tests;
