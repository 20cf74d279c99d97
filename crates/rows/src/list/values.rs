//! The values that are read from a record: the URL, and its host, the time, the agent and the client if
//! they are asked for.
//!
//! Each format finds all values in one pass. [`Values`] is what it found, and a [`Block`] the
//! records with them.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::bytes::percent_triplet;

use super::host::{Hosts, UrlParts, differs, url_of_text};
pub use bumpalo::Bump as Arena;

use super::noticed::{Doubts, Left};
use super::request::is_whole_url;
use super::short::first_of;
use super::{OpenStreams, Problem};
use crate::input::Record;
use portcullis_captures::json_path::FieldValue;
use portcullis_robots::access::{TimeUnit, UnixSeconds};

/// The values in a record.
pub(super) struct Values<'c> {
    pub url: Result<&'c [u8], Problem>,
    /// `None` if there is none, it cannot be read, or it is not asked for.
    pub time: Option<UnixSeconds>,
    /// `None` if there is none, it is no text, or it is not asked for.
    pub agent: Option<&'c [u8]>,
    /// The host of a URL that is a path alone. `None` if there is none, or it is not asked for.
    pub host: Option<&'c [u8]>,
    /// The query of a URL without one, and the scheme of a path. `None` as for the host.
    pub query: Option<&'c [u8]>,
    pub scheme: Option<&'c [u8]>,
    /// The client that sent a request. `None` as for the agent.
    pub client: Option<&'c [u8]>,
    /// The doubts about the record.
    pub doubts: Doubts,
    /// The values that an object has: a bit for each in the order of
    /// [`Value::ALL`](super::place::Value::ALL), and one for the object.
    pub seen: u8,
    /// The parts of the URL of a path in fields that are not read.
    pub left: &'c [Left<'c>],
}

/// When a request came, and from which client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit<'c> {
    /// `None` if the record has none.
    pub time: Option<UnixSeconds>,
    /// The address or the name, without a port. `None` if the record has none.
    pub client: Option<&'c [u8]>,
}

impl<'c> Visit<'c> {
    /// Returns the visit of a request with a time and a client as it is written.
    pub(super) fn new(time: Option<UnixSeconds>, client: Option<&'c [u8]>) -> Visit<'c> {
        let client = client.map(|text| without_port(text.trim_ascii()));
        Visit { time, client: client.filter(|text| !matches!(*text, b"" | b"-")) }
    }
}

/// Returns a client without the port that some servers write after it.
fn without_port(client: &[u8]) -> &[u8] {
    let Some(colon) = memchr::memrchr(b':', client) else { return client };
    let (host, port) = (&client[..colon], &client[colon + 1..]);
    // The colons of an IPv6 address without brackets are its own.
    let ends = host.ends_with(b"]") || memchr::memchr(b':', host).is_none();
    if ends && port.iter().all(u8::is_ascii_digit) { host } else { client }
}

impl<'c> Values<'c> {
    pub(super) fn from_url(url: Result<&'c [u8], Problem>) -> Values<'c> {
        let ([agent, host, query, scheme, client], doubts) = ([None; 5], Doubts::default());
        Values { url, time: None, agent, host, query, scheme, client, doubts, seen: 0, left: &[] }
    }

    /// Returns `record` with the URL that its text means, and what is in doubt. `hosts` completes paths.
    #[inline]
    pub(super) fn of_record(
        &self,
        record: Record<'c>,
        hosts: Option<&Hosts>,
        arena: &'c Arena,
    ) -> (Record<'c>, Doubts) {
        let doubts = self.doubts;
        let url = self.url.and_then(|text| self.url_of(text, hosts, arena));
        match url {
            _ if record.text().iter().all(u8::is_ascii_whitespace) => {
                (record.with_url(b""), doubts)
            }
            Ok((url, own)) => (record.with_url(url), doubts.and(own)),
            Err(problem) => (record.with_problem(problem), doubts),
        }
    }
}

impl<'c> Values<'c> {
    /// Returns the URL that a text means with these values, and what is in doubt. `hosts` completes paths.
    #[inline]
    pub(super) fn url_of(
        &self,
        text: &'c [u8],
        hosts: Option<&Hosts>,
        arena: &'c Arena,
    ) -> Result<(&'c [u8], Doubts), Problem> {
        let Values { host, query, scheme, left, .. } = *self;
        let parts = || UrlParts { host, query, scheme };
        let (url, doubts) = url_of_text(text, parts, hosts, arena)?;
        let is_path = || hosts.is_some() && !is_whole_url(text);
        let has_left = !left.is_empty() && is_path();
        Ok((url, if has_left { doubts.and(doubts_of_left(url, left)) } else { doubts }))
    }
}

/// Returns the doubts about the URL of a path, of whose record these parts are not read.
#[cold]
fn doubts_of_left(url: &[u8], left: &[Left<'_>]) -> Doubts {
    let doubt = |left: &Left<'_>| {
        let doubt = left.part.doubt();
        Doubts::default().with(doubt, differs(url, left.part, left.value))
    };
    left.iter().map(doubt).fold(Doubts::default(), Doubts::and)
}

/// Returns the doubt about a value that is no time: it may be a number whose unit is not known.
#[cold]
pub(super) fn doubt_of_time(value: &FieldValue<'_>, unit: Option<TimeUnit>) -> Doubts {
    let is_number = || value.seconds(Some(TimeUnit::Seconds)).is_some();
    Doubts::default().with(Doubts::NO_UNIT, unit.is_none() && is_number())
}

/// Returns the User-Agent header that a value stands for. Servers and collectors that write it without blanks
/// have `%20` or `+` for them, which no browser or crawler sends so.
#[inline]
pub fn agent_of<'c>(value: &'c [u8], arena: &'c Arena) -> &'c [u8] {
    let is_plain = first_of([b' '; 2], value).is_some() || first_of([b'+', b'%'], value).is_none();
    if is_plain { value } else { agent_without_blanks(value, arena) }
}

#[cold]
fn agent_without_blanks<'c>(value: &'c [u8], arena: &'c Arena) -> &'c [u8] {
    let has = |text: &[u8], part: &[u8]| memchr::memmem::find(text, part).is_some();
    let plus: [&[u8]; 5] = [b"+(", b";+", b"/5.0+", b"+%28", b"%3B+"];
    let has_plus = plus.iter().any(|part| has(value, part));
    if !has_plus && !has(value, b"%20") && !has(value, b"%2520") {
        return value;
    }
    let blank = |&byte: &u8| if has_plus && byte == b'+' { b' ' } else { byte };
    let mut text = without_percent(&value.iter().map(blank).collect::<Vec<u8>>());
    // CloudFront wrote `%2520` for a blank.
    if has(&text, b"%20") {
        text = without_percent(&text);
    }
    arena.alloc_slice_copy(&text)
}

/// Returns a text with its percent escapes decoded.
pub(super) fn without_percent(text: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        let escaped = percent_triplet(rest);
        found.push(escaped.unwrap_or(byte));
        rest = &rest[if escaped.is_some() { 3 } else { 1 }..];
    }
    found
}

/// Returns a text in `arena`, unless it is borrowed from the record.
#[inline]
pub(super) fn kept<'c>(text: Cow<'c, [u8]>, arena: &'c Arena) -> &'c [u8] {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_slice_copy(&text),
    }
}

/// Returns the fields at these places, which are counted from 0, and the number of all fields.
#[inline(always)]
pub(super) fn at_places<F: Copy, const PLACES: usize>(
    fields: impl Iterator<Item = F>,
    places: [Option<usize>; PLACES],
) -> ([Option<F>; PLACES], usize) {
    let (mut found, mut count) = ([None; PLACES], 0);
    for field in fields {
        for (place, found) in places.iter().zip(&mut found) {
            if *place == Some(count) {
                *found = Some(field);
            }
        }
        count += 1;
    }
    (found, count)
}

/// A block of records, and the times, agents and visits that were read with them.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    records: &'b [Record<'b>],
    times: Option<&'b [Option<UnixSeconds>]>,
    agents: Option<&'b [&'b [u8]]>,
    visits: Option<&'b [Visit<'b>]>,
}

impl<'b> Block<'b> {
    /// Returns the time of each record, which may be missing. `None` if times are not read.
    pub fn times(&self) -> Option<&'b [Option<UnixSeconds>]> {
        self.times
    }

    /// Returns the agent of a record; empty if it has none, or agents are not read.
    ///
    /// # Panics
    ///
    /// If there is no such record.
    pub fn agent(&self, record: usize) -> &'b [u8] {
        self.agents.map_or(b"", |agents| agents[record])
    }

    /// Returns when a request came and from which client; neither if visits are not read.
    ///
    /// # Panics
    ///
    /// If there is no such record.
    pub fn visit(&self, record: usize) -> Visit<'b> {
        self.visits.map_or_else(Visit::default, |visits| visits[record])
    }
}

impl<'b> Deref for Block<'b> {
    type Target = [Record<'b>];

    fn deref(&self) -> &[Record<'b>] {
        self.records
    }
}

/// The memory of a block. Times, agents and visits are empty if they are not read.
#[derive(Debug)]
pub(crate) struct BlockBuffer<'c> {
    pub(crate) records: Vec<Record<'c>>,
    pub(crate) times: Vec<Option<UnixSeconds>>,
    pub(crate) agents: Vec<&'c [u8]>,
    pub(crate) visits: Vec<Visit<'c>>,
    /// The doubts about each record. Empty for lists of URLs alone.
    pub(crate) doubts: Vec<Doubts>,
    /// The values that some object has, as [`Values::seen`].
    pub(crate) seen: u8,
    /// The streams of a log whose last line goes on after the block.
    pub(crate) open: OpenStreams,
}

impl<'c> BlockBuffer<'c> {
    /// Returns a buffer with records to write over.
    pub(crate) fn new() -> BlockBuffer<'c> {
        let records = vec![Record::default(); RECORDS_AT_ONCE];
        let (times, agents, visits, doubts, open) = Default::default();
        BlockBuffer { records, times, agents, visits, doubts, seen: 0, open }
    }

    #[inline]
    pub(super) fn block(&self, records: Range<usize>) -> Block<'_> {
        let (times, agents) = (self.times.get(records.clone()), self.agents.get(records.clone()));
        let visits = self.visits.get(records.clone());
        Block { records: &self.records[records], times, agents, visits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_without_blanks_are_decoded() {
        let arena = Arena::new();
        let agent = "Mozilla/5.0 (compatible; GPTBot/1.2)";
        for written in [
            agent,
            "Mozilla/5.0%20(compatible;%20GPTBot/1.2)",
            "Mozilla%2F5.0%20%28compatible%3B%20GPTBot%2F1.2%29",
            "Mozilla/5.0%2520(compatible;%2520GPTBot/1.2)",
            "Mozilla/5.0+(compatible;+GPTBot/1.2)",
            "Mozilla%2F5.0+%28compatible%3B+GPTBot%2F1.2%29",
        ] {
            assert_eq!(agent_of(written.as_bytes(), &arena), agent.as_bytes(), "{written}");
        }
        for written in ["GPTBot/1.2", "a+b", "a%2Fb", "-", "", "a%20b c", "Bot+(x) y"] {
            assert_eq!(agent_of(written.as_bytes(), &arena), written.as_bytes());
        }
    }
}
