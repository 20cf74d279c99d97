//! Prefixes that collectors of logs write before each line.

use memchr::memchr;

use super::words::without_blanks;
use portcullis_robots::access::UnixSeconds;

/// A kind of text before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    /// Docker Compose: `web-1  | `.
    Compose,
    /// Syslog: priority, time, machine and program, of which some may be missing, up to `nginx: `; or the header of
    /// RFC 5424, without structured data.
    Syslog,
    /// Kubernetes: `2025-10-10T20:55:36.1Z stdout F `.
    Stream,
    /// `kubectl logs --prefix`: `[pod/web/nginx] `.
    Pod,
    /// `docker logs -t`, `kubectl logs --timestamps`: `2025-10-10T20:55:36.1Z `.
    Time,
}

impl Prefix {
    pub const ALL: [Prefix; 5] =
        [Prefix::Compose, Prefix::Syslog, Prefix::Stream, Prefix::Pod, Prefix::Time];

    /// Says who writes it.
    pub fn describe(self) -> &'static str {
        match self {
            Prefix::Compose => "what Docker Compose writes before them",
            Prefix::Syslog => "what syslog writes before them",
            Prefix::Stream | Prefix::Pod => "what Kubernetes writes before them",
            Prefix::Time => "the time that a container engine writes before them",
        }
    }

    /// Returns the line without its prefix; `None` if it has none of this kind.
    pub fn without(self, line: &[u8]) -> Option<&[u8]> {
        match self {
            Prefix::Compose => {
                let (name, rest) = word(line)?;
                let is_name =
                    name.iter().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(it));
                without_blanks(rest).strip_prefix(b"| ").filter(|_| is_name)
            }
            Prefix::Syslog => without_syslog(line),
            Prefix::Stream => stream_of(line).map(|(_, _, rest)| rest),
            Prefix::Pod => {
                let (pod, rest) = word(line)?;
                (pod.starts_with(b"[pod/") && pod.ends_with(b"]")).then_some(rest)
            }
            Prefix::Time => {
                let (time, rest) = word(line)?;
                (is_time(time) && time.contains(&b'T')).then_some(rest)
            }
        }
    }
}

/// The streams of a container, by number, whose last line goes on.
///
/// The runtimes of Kubernetes split lines of more than 16 KiB. They mark each part but the last by `P`, so that
/// the next line of its stream, `F` or `P`, is a part too. A client may choose where a line is split, and so
/// what its parts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenStreams([bool; STREAMS.len()]);

const STREAMS: [&[u8]; 2] = [b"stdout", b"stderr"];

impl OpenStreams {
    /// Whether a line, which follows those before it, is a part of a longer one.
    pub(in super::super) fn is_part(&mut self, line: &[u8]) -> bool {
        let Some((stream, goes_on, _)) = stream_of(line) else { return false };
        std::mem::replace(&mut self.0[stream], goes_on) || goes_on
    }
}

/// Returns the number of the stream of a line, whether the line goes on, and the line without its prefix.
fn stream_of(line: &[u8]) -> Option<(usize, bool, &[u8])> {
    let (time, rest) = word(line)?;
    let (stream, rest) = word(rest)?;
    let (flag, rest) = word(rest)?;
    let stream = STREAMS.iter().position(|it| *it == stream)?;
    (matches!(flag, b"F" | b"P") && is_time(time)).then_some((stream, flag == b"P", rest))
}

fn without_syslog(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    if let [b'<', after @ ..] = rest {
        let end = memchr(b'>', after).filter(|end| after[..*end].iter().all(u8::is_ascii_digit))?;
        rest = &after[end + 1..];
        if let Some(header) = rest.strip_prefix(b"1 ") {
            return without_header(header);
        }
    }
    rest = without_date(rest);
    // The machine, and the program, whose name a colon ends.
    for _ in 0..2 {
        let (name, after) = word(rest)?;
        let is_name = |it: &u8| it.is_ascii_alphanumeric() || b"-_./[]:".contains(it);
        if name.is_empty() || !name.iter().all(is_name) {
            return None;
        }
        if let Some(program) = name.strip_suffix(b":") {
            return (!program.contains(&b':')).then_some(after);
        }
        rest = after;
    }
    None
}

/// Returns the text after the header of RFC 5424, section 6.2, that follows its version: time, machine, program,
/// process, message and no structured data.
fn without_header(text: &[u8]) -> Option<&[u8]> {
    const WORDS: usize = 5;
    let rest = (0..WORDS).try_fold(text, |rest, _| Some(word(rest)?.1))?;
    // RFC 3164 has a blank before the message, which some keep.
    rest.strip_prefix(b"- ").map(without_blanks)
}

/// Returns the text after `Oct 10 13:55:36 ` or a time of ISO 8601.
fn without_date(text: &[u8]) -> &[u8] {
    // A fraction may follow.
    let is_clock = |it: &[u8]| {
        matches!(it, [_, _, b':', _, _, b':', _, _] | [_, _, b':', _, _, b':', _, _, b'.', ..])
    };
    let of_bsd = || {
        let (month, rest) = word(text)?;
        let (_, rest) = word(without_blanks(rest))?;
        let (clock, rest) = word(rest)?;
        (month.len() == 3 && is_clock(clock)).then_some(rest)
    };
    let of_iso = || {
        let (time, rest) = word(text)?;
        is_time(time).then_some(rest)
    };
    of_bsd().or_else(of_iso).unwrap_or(text)
}

fn is_time(word: &[u8]) -> bool {
    word.len() >= 19 && UnixSeconds::from_text(word, None).is_some()
}

/// Returns the first word, and what is after the blank after it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(b' ', text)?;
    Some((&text[..end], &text[end + 1..]))
}
