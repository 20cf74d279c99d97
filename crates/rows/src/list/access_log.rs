//! Finds host, target, time and agent in a line of an access log.
//!
//! The lines are those of the common and the combined log format, which Apache and nginx write:
//!
//! ```text
//! 192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 2326 "https://b.example/" "ABot/1.0"
//! a.example:443 192.0.2.7 - - [10/Oct/2025:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 2326
//! ```
//!
//! In quotes, a backslash escapes the byte after it, and `\xNN` is a byte. A request that is not one
//! for a page has no URL: `-`, the bytes of another protocol, `OPTIONS *`, `CONNECT`. A client writes
//! everything in quotes, so what cannot be read is a [`Problem`], or no agent, and never a guess.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem, memrchr};

use super::values::Values;
use super::{Arena, Problem};
use portcullis_robots::access::UnixSeconds;

/// The values that are read from a line, besides the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AccessLine {
    /// Whether the first word is the host of the request.
    pub has_host: bool,
    pub has_time: bool,
    pub has_agent: bool,
}

/// The parts of a line.
struct Parts<'t> {
    /// Client and user, and the host before them if the list has it.
    before: &'t [u8],
    time: &'t [u8],
    /// The request, with its escapes.
    request: &'t [u8],
    /// The text after the closing quote of the request.
    after: &'t [u8],
}

impl AccessLine {
    /// Returns the values of a line. The URL may be a path alone.
    pub(super) fn read<'c>(self, text: &'c [u8], arena: &'c Arena) -> Values<'c> {
        let Some(Parts { before, time, request, after }) = parts(text) else {
            return Values::of_url(Err(Problem::NoUrl));
        };
        let AccessLine { has_host, has_time, has_agent } = self;
        Values {
            url: target(unescaped(request, arena)).ok_or(Problem::NoRequest),
            host: before.split(|&byte| byte == b' ').next().filter(|_| has_host),
            time: has_time.then(|| UnixSeconds::from_log(time)).flatten(),
            agent: has_agent.then(|| agent(after)).flatten().map(|text| unescaped(text, arena)),
        }
    }
}

/// Cuts a line into its parts; `None` if it is no line of an access log.
fn parts(text: &[u8]) -> Option<Parts<'_>> {
    // A user may have brackets in the name, so the time is what the request follows.
    let close = memmem::find(text, b"] \"")?;
    let open = memrchr(b'[', &text[..close])?;
    let before = text[..open].strip_suffix(b" ")?;
    let (request, after) = in_quotes(&text[close + 3..])?;
    Some(Parts { before, time: &text[open + 1..close], request, after })
}

/// Returns the text up to a closing quote, and the text after it; `None` if no quote closes it.
fn in_quotes(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut end = 0;
    loop {
        end += memchr2(b'"', b'\\', text.get(end..)?)?;
        match text[end] {
            b'"' => return Some((&text[..end], &text[end + 1..])),
            _ => end += 2,
        }
    }
}

/// Returns the User-Agent header in the text after a request: status, bytes, the page that links
/// here, the header. Other fields may follow.
fn agent(after: &[u8]) -> Option<&[u8]> {
    let quote = memchr(b'"', after)?;
    let (_, rest) = in_quotes(&after[quote + 1..])?;
    Some(in_quotes(rest.strip_prefix(b" \"")?)?.0)
}

/// Returns the URL or the path that a request asks for.
fn target(request: &[u8]) -> Option<&[u8]> {
    let (method, rest) = request.split_at(memchr(b' ', request)?);
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
    if method.is_empty() || !method.iter().all(is_word) || method == b"CONNECT" {
        return None;
    }
    let rest = &rest[1..];
    let target = match memrchr(b' ', rest) {
        Some(space) if rest[space + 1..].starts_with(b"HTTP/") => &rest[..space],
        _ => rest,
    };
    let is_absolute = || {
        let scheme = &target[..memmem::find(target, b"://").unwrap_or(0)];
        !scheme.is_empty() && scheme.iter().all(u8::is_ascii_alphabetic)
    };
    (target.starts_with(b"/") || is_absolute()).then_some(target)
}

/// Returns a text without its escapes.
fn unescaped<'c>(text: &'c [u8], arena: &'c Arena) -> &'c [u8] {
    match without_escapes(text) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => arena.alloc_slice_copy(&text),
    }
}

fn without_escapes(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut at) = memchr(b'\\', text) else { return Cow::Borrowed(text) };
    let mut found = text[..at].to_vec();
    while let Some(&byte) = text.get(at) {
        let (byte, bytes) = match (byte, &text[at + 1..]) {
            (b'\\', [b'x', high, low, ..]) => match (digit(*high), digit(*low)) {
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

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Whether `line` is a line of an access log: a time, a request, and a status.
pub(super) fn is_access_log(line: &[u8]) -> bool {
    let is_status = |after: &[u8]| matches!(after, [b' ', status @ ..] if status.len() >= 3 && status[..3].iter().all(u8::is_ascii_digit));
    parts(line)
        .is_some_and(|parts| is_status(parts.after) && UnixSeconds::from_log(parts.time).is_some())
}

/// Whether the first word of a line is the host of its request: the client and the user `-` follow.
/// `None` if it is no line of an access log.
pub(super) fn begins_with_host(line: &[u8]) -> Option<bool> {
    let before = parts(line)?.before;
    let words: Vec<&[u8]> = before.split(|&byte| byte == b' ').collect();
    Some(words.len() >= 4 && words[2] == b"-" && words[0] != b"-" && words[1] != b"-")
}

/// Whether a line asks for a path, so that it needs a host. `None` if it has no request.
pub(super) fn asks_for_path(line: &[u8]) -> Option<bool> {
    let request = without_escapes(parts(line)?.request);
    target(&request).map(|target| target.starts_with(b"/"))
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
        let all = AccessLine { has_host: true, has_time: true, has_agent: true };
        let Values { url, time, agent, .. } = all.read(line, &arena);
        (url.map(<[u8]>::to_vec), time.map(|time| time.0), agent.map(<[u8]>::to_vec))
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
            assert_eq!(begins_with_host(line.as_bytes()), Some(false));
            let line = format!("a.example:443 {line}");
            assert_eq!(begins_with_host(line.as_bytes()), Some(client != "-"));
        }
        // Users may have spaces and brackets in their names.
        for user in ["john", "john doe", "x [y", "x [y]"] {
            let line = LINE.replace("- - [", &format!("- {user} ["));
            assert_eq!(read(line.as_bytes()), (ok("/a?b"), time, agent.clone()), "{user}");
            assert_eq!(begins_with_host(line.as_bytes()), Some(false), "{user}");
        }
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
}
