//! The words of a line, its texts in quotes and its times, and which of them may be hosts.
//!
//! Cost: linear in the bytes of a line, and nothing is kept. Nothing here can fail.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};
use portcullis_robots::access::UnixSeconds;

/// Returns the text up to a quote that is not escaped, and the text after it; `None` if there is none.
pub(super) fn in_quotes(text: &[u8]) -> Option<(&[u8], &[u8])> {
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
pub(super) fn first_quote(line: &[u8]) -> Option<usize> {
    let quote = in_quotes(line)?.0.len();
    let is_empty = matches!(line[quote..], [b'"', b'"', b' ' | b'\t', ..]);
    if !is_empty || has_time(&line[..quote]) {
        return Some(quote);
    }
    Some(quote + 2 + in_quotes(&line[quote + 2..])?.0.len())
}

/// Returns the texts in quotes, with their escapes.
pub(super) fn quoted(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    quoted_with_rest(line).map(|(text, _)| text)
}

/// Returns the texts in quotes, with their escapes, each with what is behind it.
pub(super) fn quoted_with_rest(line: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = first_quote(line).map(|quote| &line[quote..]);
    std::iter::from_fn(move || {
        let (text, after) = in_quotes(in_quotes(rest?)?.1)?;
        rest = Some(after);
        Some((text, after))
    })
}

/// Returns the text behind the last quote; `None` if a quote is not closed, so that the line was cut.
pub(super) fn behind_quotes(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = quoted_with_rest(line).last()?;
    memchr(b'"', rest).is_none().then_some(rest)
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(in super::super) fn words(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

pub(super) fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_blank(**byte)).count()
}

pub(super) fn without_blank(text: &[u8]) -> &[u8] {
    text.split_first().filter(|(byte, _)| is_blank(**byte)).map_or(text, |(_, rest)| rest)
}

pub(super) fn without_blank_end(text: &[u8]) -> &[u8] {
    text.split_last().filter(|(byte, _)| is_blank(**byte)).map_or(text, |(_, rest)| rest)
}

/// Returns the words between single blanks, so that what a client leaves empty is one. A chain such as
/// `192.0.2.7, 192.0.2.8` is one.
pub(super) fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> {
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
            b"-" => None,
            b"unknown" => Some(Hop::Address),
            _ if is_address(word) => Some(Hop::Address),
            _ => (!is_named(word)).then_some(Hop::Number),
        }
    }
}

/// Returns the times in the text before the first quote, without brackets: those in brackets from the end, or
/// the others.
pub(super) fn times(before: &[u8], is_bracketed: bool) -> impl Iterator<Item = Range<usize>> {
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

pub(super) fn has_time(before: &[u8]) -> bool {
    times(before, true).chain(times(before, false)).next().is_some()
}

/// Whether a word is a name, and no number, address or `-`.
pub(super) fn is_named(word: &[u8]) -> bool {
    let is_number = word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    !is_number && word != b"-" && !is_address(without_brackets(word))
}

/// Whether a word is the name of a host in the Internet, perhaps with a port.
pub(in super::super) fn is_host(word: &[u8]) -> bool {
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
pub(super) fn is_address(word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || b".:[]".contains(byte);
    let separators = || word.iter().filter(|byte| b".:".contains(byte)).count();
    word.iter().all(is_part) && (separators() >= 3 || memmem::find(word, b"::").is_some())
}

/// Whether the text behind a request begins with a status.
pub(super) fn is_status(after: &[u8]) -> bool {
    let status = words(after).next().filter(|_| after.first().is_some_and(|byte| is_blank(*byte)));
    matches!(status, Some([b'1'..=b'5', one, two]) if one.is_ascii_digit() && two.is_ascii_digit())
}

pub(super) fn without_brackets(word: &[u8]) -> &[u8] {
    let is_bracket = |byte: &u8| b"()[]{}<>,;".contains(byte);
    let start = word.iter().position(|byte| !is_bracket(byte)).unwrap_or(word.len());
    let end = word.iter().rposition(|byte| !is_bracket(byte)).map_or(start, |at| at + 1);
    &word[start..end]
}

/// Whether a line has the word of a method outside of quotes.
pub(super) fn has_method(line: &[u8]) -> bool {
    let is_method = |word| [&b"GET"[..], b"HEAD", b"POST"].contains(&word);
    words(line).any(is_method)
}
