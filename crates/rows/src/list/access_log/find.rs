//! Finds where the values of a log are in its first lines.
//!
//! A place is what most lines have: what a client sends in a few of them is none. Where more places than one may
//! be the host, that counts which most lines have, and the first of several that all have, in the order of the
//! formats that servers write by default. Some have a host, and most none: that is a doubt, which is noted.
//!
//! Cost: the first [`RECORDS_LOOKED_AT_MAX`] lines, some 20 times.

use super::words::{
    fields, has_method, has_time, is_address, is_host, is_named, is_status, quoted,
    quoted_with_rest, times, without_brackets, words,
};
use super::{AccessLine, At, Part, Shape, Word, combined_agent, shape_of, target, without_escapes};
use crate::limits::{LOG_LINES_MIN, RECORDS_LOOKED_AT_MAX};
use memchr::memchr;

impl AccessLine {
    /// Finds the places in the first lines of a list.
    pub(in super::super) fn find<'l>(
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
        found.is_scarce = targets.len() < LOG_LINES_MIN && 2 * targets.len() < lines.len();
        found.texts = most(targets.iter().map(|line| quoted(line).count())).map_or(0, |it| it.0);
        let agent = found.find_agent(&targets);
        found.find_host(&targets, agent);
        found.agent = if has_agent { agent } else { At::Nowhere };
        found
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

    /// Whether more lines may show another layout.
    pub(in super::super) fn is_shown_by_few<'l>(
        &self,
        lines: impl Iterator<Item = &'l [u8]>,
    ) -> bool {
        lines.filter(|line| self.has_target(line, |_| true)).take(LOG_LINES_MIN).count()
            < LOG_LINES_MIN
    }

    /// Whether lines have requests, and no text where the agent is.
    pub(in super::super) fn lacks_agents<'l>(&self, lines: impl Iterator<Item = &'l [u8]>) -> bool {
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
        let words = fields(text).map(without_brackets);
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
        let shapes = self.texts(word.part).iter().map(|(text, _)| shape_of(text));
        let shapes: Vec<Shape> = shapes.collect();
        let words = most(shapes.iter().map(|(words, _)| *words)).map_or(0, |(words, _)| words);
        let alike = || shapes.iter().filter(|shape| shape.0 == words);
        let is_host = |at: &u32| {
            2 * alike().filter(|(_, hosts)| hosts >> at & 1 == 1).count() > alike().count()
        };
        let hosts = (0..u64::BITS).filter(is_host).map(|at| 1 << at).sum();
        At::Word(Word { shape: (words, hosts), ..word })
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

/// Returns the column with the most cells that are hosts, of several the first, and their number. What a client
/// sends now and then is no host, and where three of four cells are hosts, addresses and other names are hosts too.
fn column_of<'l>(
    rows: impl Iterator<Item = Vec<&'l [u8]>>,
    is: fn(&[u8]) -> bool,
    may_be: &dyn Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let (mut counts, mut all) = (Vec::new(), 0);
    for row in rows {
        all += 1;
        counts.resize(counts.len().max(row.len()), (0, 0));
        let cells = row.iter().zip(&mut counts).enumerate().filter(|(at, _)| may_be(*at));
        for (_, (cell, (hosts, words))) in cells {
            *hosts += usize::from(is(cell));
            *words += usize::from(!cell.is_empty() && *cell != b"-");
        }
    }
    let count = |(hosts, words)| if 4 * hosts > 3 * all { words } else { hosts };
    let counts: Vec<(usize, usize)> = counts.into_iter().map(count).enumerate().collect();
    first_of(&counts).copied()
}

/// Returns the first place that is counted most often, and at all.
fn first_of<T>(places: &[(T, usize)]) -> Option<&(T, usize)> {
    places.iter().rev().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0)
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

/// Returns the value that occurs most often, and of several the least, and how often it occurs.
fn most<T: Copy + Ord>(values: impl Iterator<Item = T>) -> Option<(T, usize)> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    let equal = values.chunk_by(T::eq).rev().max_by_key(|equal| equal.len())?;
    Some((equal[0], equal.len()))
}
