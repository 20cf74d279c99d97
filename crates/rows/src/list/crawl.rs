//! Finds the URLs and times in the lines that crawlers write: CDXJ, Heritrix's journals and logs, Nutch's
//! dumps.

use bumpalo::Bump;
use memchr::memchr;

use super::Problem;
use super::json::{ObjectValues, TextAt};
use super::log::words::{is_number, words};
use super::values::Values;
use portcullis_robots::access::UnixSeconds;

/// Returns the values of a CDXJ line: members of the object after key and timestamp, or the
/// timestamp if `has_time`.
pub(super) fn cdxj<'c>(
    (text, block, start): TextAt<'c>,
    members: &ObjectValues,
    has_time: bool,
    arena: &'c Bump,
) -> Values<'c> {
    let Some((timestamp, object)) = cdxj_parts(text) else {
        return Values::from_url(Err(Problem::NoUrl));
    };
    let mut values = members.read((object, block, start + text.len() - object.len()), arena);
    if has_time {
        values.time = UnixSeconds::from_text(timestamp, None);
    }
    values
}

/// Returns the text between the first two spaces, and the text after them.
fn cdxj_parts(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = &text[memchr(b' ', text)? + 1..];
    let (timestamp, object) = rest.split_at(memchr(b' ', rest)?);
    Some((timestamp, &object[1..]))
}

/// Whether `line` is a line of CDXJ: a sort-friendly key, digits, an object.
pub(super) fn is_cdxj(line: &[u8]) -> bool {
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let (Some(key), Some(time), Some(object)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let is_time = (4..=17).contains(&time.len()) && time.iter().all(u8::is_ascii_digit);
    !key.is_empty() && is_time && object.trim_ascii_start().starts_with(b"{")
}

/// Returns the URL of a line in a recover journal: `F+ URL …`, or a later event of the URL (`Fs`,
/// `Fd`, `Ff`, `F-`, …). A URL has the same verdict in each of its lines, so the kept lines are
/// still a journal.
pub(super) fn journal_url(text: &[u8]) -> Result<&[u8], Problem> {
    match text {
        [b'F', _, b' ', rest @ ..] => Ok(&rest[..memchr(b' ', rest).unwrap_or(rest.len())]),
        _ => Err(Problem::NoUrl),
    }
}

/// Whether a text with these first lines is a recover journal: its first line is one with a URL, or `T`
/// and a time that begins with the year, with nothing or such a line after it.
pub(super) fn is_journal(line: &[u8], next: Option<&[u8]>) -> bool {
    let has_url = |line: &[u8]| {
        let is_kind = matches!(line, [b'F', kind, b' ', ..] if b"+-sdfiero".contains(kind));
        is_kind && journal_url(line).is_ok_and(|url| memchr(b':', url).is_some())
    };
    let is_time = matches!(line, [b'T', b' ', year @ ..] if year.len() >= 8 && year[..4].iter().all(u8::is_ascii_digit));
    has_url(line) || is_time && next.is_none_or(|next| next.is_empty() || has_url(next))
}

/// Returns the URL of a line in a crawl.log, its fourth word, and its first word as time if
/// `has_time`.
pub(super) fn log(text: &[u8], has_time: bool) -> Values<'_> {
    let mut words = words(text);
    let time = words.next().filter(|_| has_time);
    let url = words.nth(2).ok_or(Problem::NoUrl);
    let time = time.and_then(|time| UnixSeconds::from_text(time, None));
    Values { time, ..Values::from_url(url) }
}

/// Whether `line` is a line in a crawl.log: time, status, size, URL.
pub(super) fn is_log(line: &[u8]) -> bool {
    let mut words = words(line);
    let is_time = |word: &[u8]| {
        word.len() >= 20 && word.ends_with(b"Z") && word[4] == b'-' && word[10] == b'T'
    };
    let is_count = |word: &[u8]| {
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        word == b"-" || is_number(digits)
    };
    words.next().is_some_and(is_time)
        && words.next().is_some_and(is_count)
        && words.next().is_some_and(is_count)
        && words.next().is_some_and(|url| memchr(b':', url).is_some())
}

/// Returns the URL of a record in a dump, whose first line is the URL, TAB, `Version: ` and a
/// number.
pub(super) fn dump_url(text: &[u8]) -> Result<&[u8], Problem> {
    let tab = memchr(b'\t', text).ok_or(Problem::NoUrl)?;
    let (url, rest) = (&text[..tab], &text[tab + 1..]);
    let is_first_line = memchr(b'\n', url).is_none();
    if is_first_line && rest.starts_with(b"Version: ") { Ok(url) } else { Err(Problem::NoUrl) }
}
