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
            most(lines.iter().filter_map(place))
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
        found.prefix = most(befores.map(prefix_words)).unwrap_or(0);
        let agent = found.find_agent(&lines);
        found.host = found.find_host(&lines, agent, 2);
        if found.host == At::Nowhere {
            found.rare_host = found.find_host(&lines, agent, 4);
        }
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
                let found = host_before_client(chained(parts.before).skip(self.prefix));
                // Before the first word is only what servers write.
                let found = found.filter(|(at, _)| at.0 == place.0 && (at.0 == 0 || *at == place));
                Some(found.map_or(NO_HOST, |(_, host)| host))
            }
            host => value_at(host, line, parts),
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
        most(numbers.map(|(number, _)| number)).map_or(At::Combined, At::Quoted)
    }

    /// Returns the place of the host: beside the client, behind the time, or in quotes that hold neither
    /// the request nor the agent. More than one of `share` lines has it.
    fn find_host(&self, lines: &[&[u8]], agent: At, share: usize) -> At {
        let is_other = |text: usize| match agent {
            At::Quoted(agent) => text != self.request && text != agent,
            _ => !(self.request..=self.request + 2).contains(&text),
        };
        // What asks for no page often has no host.
        let is_asked = |line: &&&[u8]| self.has_target(line, |_| true);
        let lines: Vec<&[u8]> = lines.iter().filter(is_asked).copied().collect();
        let befores = || lines.iter().filter_map(|line| Some(self.parts(line)?.before));
        let places = || befores().filter_map(|before| Some(self.before_client(before)?.0));
        if let Some(place) = most(places())
            && share * places().filter(|it| *it == place).count() > lines.len()
        {
            return At::BeforeClient(place);
        }
        // lighttpd has it where others have a `-` for the user by RFC 1413; others behind the user.
        let is_beside = |place| [self.prefix + 1, self.prefix + 3].contains(&place);
        let word = |part: Part, may_be: &dyn Fn(usize) -> bool| {
            let rows = lines.iter().filter_map(|line| part.words(line));
            let place = column_of_hosts(rows, may_be, share)?;
            let words = most(lines.iter().filter_map(|line| Some(chained(part.of(line)?).count())));
            Some(At::Word(Word { part, place, words: words? }))
        };
        let texts = || lines.iter().map(|line| quoted(line).collect());
        let found =
            word(Part::BeforeTime, &is_beside).or_else(|| word(Part::BehindTime, &|_| true));
        let found = found.or_else(|| column_of_hosts(texts(), &is_other, share).map(At::Quoted));
        found.or_else(|| word(Part::BehindQuotes, &|_| true)).unwrap_or(At::Nowhere)
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
    /// Returns the part of a line.
    fn of(self, line: &[u8]) -> Option<&[u8]> {
        let before = || Some(&line[..first_quote(line)?]);
        match self {
            Part::BeforeTime => before_time(before()?),
            Part::BehindTime => Some(&before()?[time_in(before()?)?.end..]),
            Part::BehindQuotes => Some(&line[memrchr(b'"', line)? + 1..]),
        }
    }

    /// Returns the words of the part that may be hosts, and those between them.
    fn words(self, line: &[u8]) -> Option<Vec<&[u8]>> {
        // A name is that of the client unless another word is the client.
        let has_client = || {
            Part::BeforeTime.of(line).is_some_and(|text| words(text).next().is_some())
                || words(line).map(without_brackets).any(is_address)
        };
        // Behind `REST.GET.OBJECT`, an operation of S3, is the name of a file.
        let is_operation = |word: &&[u8]| is_host(word) && !word.iter().any(u8::is_ascii_lowercase);
        let words = chained(self.of(line)?).map(without_brackets);
        match self {
            Part::BehindTime => {
                has_client().then(|| words.take_while(|it| !is_operation(it)).collect())
            }
            _ => Some(words.collect()),
        }
    }
}

impl Word {
    /// Returns the word of a line, [`NO_HOST`] if it cannot be told: a client may send several words as one.
    fn of<'t>(&self, line: &'t [u8]) -> Option<&'t [u8]> {
        let text = self.part.of(line)?;
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
        At::Word(word) => word.of(line).or(Some(NO_HOST)),
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
        is_address(word) || word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
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

/// Returns the column whose cells are names of hosts in more than one of `share` rows: what a client sends now
/// and then is no host, and a host that a client sends does not make it another column. Of several, that with
/// the most names, or else the first.
fn column_of_hosts<'l>(
    rows: impl Iterator<Item = Vec<&'l [u8]>>,
    may_be: &dyn Fn(usize) -> bool,
    share: usize,
) -> Option<usize> {
    let rows: Vec<Vec<&[u8]>> = rows.collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let names = |column: &usize| cells(*column).filter(|cell| is_host(cell)).count();
    let found = (0..columns).filter(|column| may_be(*column) && share * names(column) > rows.len());
    found.rev().max_by_key(names)
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
    let separators = word.iter().filter(|byte| b".:".contains(byte)).count();
    separators >= 3 && word.iter().all(is_part)
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

/// Returns the value that occurs most often, and of several the least.
fn most<T: Copy + Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.chunk_by(T::eq).rev().max_by_key(|equal| equal.len()).map(|equal| equal[0])
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
mod tests {
    use super::*;

    const LINE: &str =
        r#"192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 23 "-" "ABot/1.0""#;

    /// The URL, the time and the agent of a line.
    type Read = (Result<Vec<u8>, Problem>, Option<u64>, Option<Vec<u8>>);

    fn read(line: &[u8]) -> Read {
        let arena = Arena::new();
        let all = AccessLine::find([line].into_iter(), true, true);
        let Values { url, time, agent, .. } = all.read(line, &arena);
        (url.map(<[u8]>::to_vec), time.map(|time| time.0), agent.map(<[u8]>::to_vec))
    }

    /// The host of a line that is a whole list.
    fn host(line: &str) -> Option<String> {
        let all = AccessLine::find([line.as_bytes()].into_iter(), true, true);
        let arena = Arena::new();
        let host = all.read(line.as_bytes(), &arena).host;
        host.map(|host| String::from_utf8(host.to_vec()).unwrap())
    }

    fn url(request: &str) -> Result<String, Problem> {
        let line = LINE.replace("GET /a?b HTTP/1.1", request);
        read(line.as_bytes()).0.map(|url| url.escape_ascii().to_string())
    }

    #[test]
    fn the_formats_of_servers() {
        let time = Some(971_211_336);
        let ok = |path: &str| Ok(path.as_bytes().to_vec());
        let agent = Some(b"ABot/1.0".to_vec());
        assert_eq!(read(LINE.as_bytes()), (ok("/a?b"), time, agent.clone()));
        let more = format!(r#"{LINE} "192.0.2.8" 0.003"#);
        assert_eq!(read(more.as_bytes()), (ok("/a?b"), time, agent.clone()));
        let common = &LINE[..LINE.len() - r#" "-" "ABot/1.0""#.len()];
        assert_eq!(read(common.as_bytes()), (ok("/a?b"), time, None));
        for client in ["2001:db8::7", "host.example", "-"] {
            let line = LINE.replace("192.0.2.7", client);
            assert_eq!(read(line.as_bytes()), (ok("/a?b"), time, agent.clone()));
            assert_eq!(host(&line), None);
            let line = format!("a.example:443 {line}");
            assert_eq!(host(&line).as_deref(), (client != "-").then_some("a.example:443"));
        }
        // lighttpd has the host behind the client, and syslog a prefix.
        assert_eq!(host(&LINE.replace("7 -", "7 a.example")).as_deref(), Some("a.example"));
        for before in
            ["a.example - 192.0.2.7 - -", "192.0.2.7 - - a.example", "192.0.2.7 - u a.example"]
        {
            let line = LINE.replace("192.0.2.7 - -", before);
            assert_eq!(host(&line).as_deref(), Some("a.example"), "{before}");
        }
        assert_eq!(host(&LINE.replace("- -", "- 192.0.2.8 -")), None);
        for prefix in [
            "Oct 10 13:55:36 web1 nginx: ",
            "Oct 10 13:55:36 web1.example ",
            "<190>nginx: ",
            "2025-10-10T20:55:36+00:00 web1.example nginx: ",
            "nginx_1  | ",
            "2025-10-10T20:55:36.1Z stdout F ",
        ] {
            assert_eq!(host(&format!("{prefix}{LINE}")), None, "{prefix}");
            let line = format!("{prefix}a.example:443 {LINE}");
            assert_eq!(host(&line).as_deref(), Some("a.example:443"), "{prefix}");
        }
        // Users may have spaces, brackets and escaped quotes in their names.
        for user in ["john", "john doe", "x [y", "x [y]", r#"\"GET /c HTTP/1.1\""#] {
            let line = LINE.replace("- - [", &format!("- {user} ["));
            assert_eq!(read(line.as_bytes()), (ok("/a?b"), time, agent.clone()), "{user}");
            assert_eq!(host(&line), None, "{user}");
        }
    }

    /// A client cannot choose where the host is: most lines do.
    #[test]
    fn names_that_clients_send_are_no_hosts() {
        let host_of = |others: &str, one: &str| {
            let lines = [others, others, one, others];
            let all = AccessLine::find(lines.iter().map(|line| line.as_bytes()), true, true);
            all.read(one.as_bytes(), &Arena::new()).host.map(<[u8]>::to_vec)
        };
        let forwarded = |by: &str, host: &str| format!(r#"{LINE} "{by}"{host}"#);
        assert_eq!(host_of(&forwarded("-", ""), &forwarded("b.example", "")), None);
        let host = host_of(
            &forwarded("-", r#" "a.example""#),
            &forwarded("b.example", r#" "198.51.100.7""#),
        );
        assert_eq!(host.as_deref(), Some(&b"198.51.100.7"[..]));
        let two = format!("b.example 1.1.1.1, {LINE}");
        // Where most lines have no host, a line with one is of another log.
        assert_eq!(host_of(LINE, &two).as_deref(), Some(NO_HOST));
        let user = LINE.replace("- - [", "- - b.example [");
        assert_eq!(host_of(LINE, &user), None);
        // Nor move it by words outside of quotes.
        let (time, rest) = LINE["192.0.2.7 - - ".len()..].split_at(28);
        let chains = ["1.1.1.1, b.example", "1.1.1.1 b.example", "b.example"];
        let users = ["x b.example", "john doe", "x,", "x:", "x [y", "\"\""];
        for (layout, sent, host) in [
            (format!("192.0.2.7 - @ a.example {time}{rest}"), &users[..], "a.example"),
            (format!("192.0.2.7 a.example @ {time}{rest}"), &users[..2], "?"),
            (format!("a.example 192.0.2.7 - @ {time}{rest}"), &users, "a.example"),
            (format!("@ a.example 192.0.2.7 - - {time}{rest}"), &chains, "?"),
            (format!("192.0.2.7 - - {time} @ a.example{rest}"), &chains, "a.example"),
            (format!("192.0.2.7 - - {time} 0.1 @ a.example 7{rest}"), &chains[1..2], "?"),
            (format!("192.0.2.7 - - {time}{rest} @ a.example"), &chains, "a.example"),
            (
                format!("{time} @ 200 - 192.0.2.9 a.example{rest}"),
                &["502, 200", "- -"],
                "a.example",
            ),
        ] {
            let usual = if layout.starts_with('@') { "1.1.1.1" } else { "-" };
            for words in sent {
                let host = Some(host.as_bytes());
                let [others, one] = [usual, words].map(|words| layout.replace('@', words));
                assert_eq!(host_of(&others, &one).as_deref(), host, "{one}");
                assert_eq!(
                    host_of(&others, &others).as_deref(),
                    Some(&b"a.example"[..]),
                    "{others}"
                );
            }
        }
        // A chain is a client, and a line without the host of the others has none.
        for chain in ["192.0.2.8, 10.0.0.1", "unknown, 10.0.0.2", "b.example, 10.0.0.2"] {
            let line = LINE.replace("192.0.2.7", chain);
            assert_eq!((host_of(LINE, &line), host_of(&line, &line)), (None, None));
        }
        let first = format!("a.example {LINE}");
        assert_eq!(
            host_of(&first, &LINE.replace("192.0.2.7", "b.example")).as_deref(),
            Some(NO_HOST)
        );
        let syslog = format!("Oct 10 13:55:36 web1 nginx: {LINE}");
        let user = syslog.replace("- - [", "- x: b.example 1.1.1.1 - [");
        assert_eq!(host_of(&syslog, &user), None);
        // Nor can it hide the host of the others.
        let behind = |host: &str| format!(r#"{LINE} "{host}""#);
        for odd in ["localhost", "c.example, d", "'or", "_", "*", "c.example/x", "", "-"] {
            let (others, one) = (behind("a.example"), behind(odd));
            assert_eq!(host_of(&others, &one).as_deref(), Some(odd.as_bytes()), "{odd}");
        }
    }

    #[test]
    fn hosts_that_few_lines_have_are_a_doubt() {
        for (share, doubts) in [(3, false), (4, true), (6, true)] {
            let hosts = (0..12).map(|at| if at < share { "b.example" } else { "-" });
            let lines: Vec<String> = hosts.map(|host| format!(r#"{LINE} "{host}""#)).collect();
            let found = AccessLine::find(lines.iter().map(String::as_bytes), true, true);
            assert_eq!((found.host, found.doubt().is_some()), (At::Nowhere, doubts), "{share}");
        }
    }

    #[test]
    fn brackets_take_linear_time() {
        let line = format!("2000-10-10 {} \"GET /a HTTP/1.1\" 200", "[".repeat(1 << 20));
        assert!(!is_access_log(line.as_bytes()));
    }

    #[test]
    fn requests() {
        let urls = [
            ("GET / HTTP/1.0", "/"),
            ("GET /", "/"),
            ("HEAD /a b HTTP/1.1", "/a b"),
            ("M-SEARCH //a HTTP/1.1", "//a"),
            ("GET http://a.example/b HTTP/1.1", "http://a.example/b"),
            (r#"GET /\"a\"\\\x41\x0a\q\x4 HTTP/1.1"#, r#"/\"a\"\\A\n\\q\\x4"#),
        ];
        for (request, expected) in urls {
            assert_eq!(url(request).as_deref(), Ok(expected), "{request}");
        }
        for request in [
            "-",
            "",
            "GET",
            "GET ",
            "OPTIONS * HTTP/1.1",
            "CONNECT a.example:443 HTTP/1.1",
            r"\x16\x03\x01\x00 /a",
            "GET a.example/b HTTP/1.1",
            "GET ://a HTTP/1.1",
        ] {
            assert_eq!(url(request), Err(Problem::NoRequest), "{request}");
        }
    }

    #[test]
    fn lines_that_are_cut_or_hostile_have_no_url_or_no_agent() {
        let whole = read(LINE.as_bytes());
        for cut in 0..LINE.len() {
            let (url, time, agent) = read(&LINE.as_bytes()[..cut]);
            assert!(agent.is_none(), "{cut}");
            match url {
                Ok(_) => assert_eq!((url, time), (whole.0.clone(), whole.1), "{cut}"),
                Err(problem) => assert_eq!(problem, Problem::NoUrl),
            }
        }
        let open = LINE.replace("\"ABot/1.0\"", "\"ABot/1.0\\\"");
        assert_eq!(read(open.as_bytes()).2, None);
        let bytes = LINE.replace("/a?b", "/\0\u{fffd}").replace("ABot", "\0");
        let bytes = bytes.as_bytes();
        assert_eq!(read(bytes).0, Ok("/\0\u{fffd}".into()));
        assert_eq!(read(bytes).2.as_deref(), Some(&b"\0/1.0"[..]));
        for other in ["https://a.example/ [b] \"c\"", "a [b", "[] \"\"", " [] \"", ""] {
            assert!(!is_access_log(other.as_bytes()), "{other}");
        }
        assert!(is_access_log(LINE.as_bytes()));
    }

    #[test]
    fn formats_near_the_combined_one() {
        let time = 1_760_129_736;
        let agent = "Mozilla/5.0 (compatible; ABot/1.0)";
        let combined = |head: &str| format!(r#"{head} "GET /a?b HTTP/1.1" 200 23 "-" "{agent}""#);
        let log = "[10/Oct/2025:13:55:36 -0700]";
        let client = "192.0.2.7 - -";
        let rows = [
            (combined(&format!("{client} {log}")), None),
            // Before the client.
            (combined(&format!("a.example   {client} {log}")), Some("a.example")),
            (combined(&format!("336 {client} {log}")), None),
            (combined(&format!("336 a.example {client} {log}")), Some("a.example")),
            (
                combined(&format!("0.003 a.example:80 client.example - - {log}")),
                Some("a.example:80"),
            ),
            // Behind the time.
            (combined(&format!("{client} {log} (a.example)")), Some("a.example")),
            (combined(&format!("{client} {log} [0.003] [PORT 80]")), None),
            (combined(&format!("{client} {log} [0.003] [PORT 80] [a.example]")), Some("a.example")),
            (combined(&format!("{client} {log} 192.0.2.9:8080 a.example 0.1")), Some("a.example")),
            (combined(&format!(r#"{client} {log} "a.example""#)), Some("a.example")),
            // The time first.
            (combined("2025-10-10T20:55:36Z 192.0.2.7"), None),
            (combined("2025-10-10T20:55:36Z client.example"), None),
            (combined("2025-10-10 20:55:36 192.0.2.7 a.example"), Some("a.example")),
            (combined(&format!("{log} a.example {client}")), Some("a.example")),
            // Behind the agent.
            (
                format!(r#"{} "192.0.2.8" "a.example""#, combined(&format!("{client} {log}"))),
                Some("a.example"),
            ),
            // Load balancers of AWS.
            (
                format!(
                    r#"h2 2025-10-10T20:55:36.186641Z app/a/5 192.0.2.7:2817 192.0.2.9:80 0.0 0.0 0.0 200 200 0 57 "GET /a?b HTTP/1.1" "{agent}" TLS TLSv1.2 arn:aws:x "Root=1-5" "a.example" "arn:aws:acm:certificate/1" 0 2025-10-10T20:55:36Z "forward" "-" "-""#
                ),
                Some("a.example"),
            ),
            (
                format!(
                    r#"2025-10-10T20:55:36.186641Z name 192.0.2.7:2817 192.0.2.9:80 0.0 0.0 0.0 200 200 0 57 "GET /a?b HTTP/1.1" "{agent}" - -"#
                ),
                None,
            ),
            // Nginx Proxy Manager.
            (
                format!(
                    r#"{log} - 200 200 - GET https a.example "/a?b" [Client 192.0.2.7] [Length 1] [Sent-to 192.0.2.9] "{agent}" "-""#
                ),
                Some("a.example"),
            ),
            // A path in quotes, and its method elsewhere.
            (
                format!(
                    r#"[2025-10-10T20:55:36Z] - a.example - 192.0.2.7 - 200 - GET - HTTP/2.0 - 0.003 - "-" - "{agent}" - "/a?b""#
                ),
                Some("a.example"),
            ),
            (format!(r#"{log} 192.0.2.7 200 GET "/a?b" "{agent}""#), None),
            // Buckets of S3, and words behind the agent.
            (
                format!(
                    r#"79a5 bucket {log} 192.0.2.7 79a5 3E57 REST.GET.OBJECT a "GET /a?b HTTP/1.1" 200 - 113 - 7 - "-" "{agent}" - s9lz= SigV4 ECDHE-RSA AuthHeader a.example TLSv1.2"#
                ),
                Some("a.example"),
            ),
            (
                format!("{} a.example 0.003", combined(&format!("{client} {log}"))),
                Some("a.example"),
            ),
        ];
        for (line, expected) in rows {
            assert!(is_access_log(line.as_bytes()), "{line}");
            assert_eq!(host(&line).as_deref(), expected, "{line}");
            let agent = Some(agent.as_bytes().to_vec());
            assert_eq!(read(line.as_bytes()), (Ok(b"/a?b".to_vec()), Some(time), agent), "{line}");
        }
    }

    #[test]
    fn the_layout_is_that_of_most_lines() {
        let log = "192.0.2.7 - - [10/Oct/2025:13:55:36 -0700]";
        let lines = [
            format!(r#"{log} "-" 408 0 "-" "-" "-""#),
            format!(r#"{log} "\x16" 400 0 "GET /x HTTP/1.1" "-" "-""#),
            format!(r#"{log} "GET /1 HTTP/1.1" 200 0 "https://b.example/" "ABot/1.0" "b.example""#),
            format!(r#"{log} "GET /2 HTTP/1.1" 200 0 "GET /x" "GET /y" "a.example""#),
            format!(r#"{log} "GET /3 HTTP/1.1" 200 0 "-" "ABot/1.0" "-""#),
        ];
        let found = AccessLine::find(lines.iter().map(String::as_bytes), true, true);
        assert_eq!((found.request, found.agent), (0, At::Combined));
        assert_eq!(found.host, At::Quoted(3));
    }
}
