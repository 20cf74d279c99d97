//! The URL that a text means, and the host of records that have a path alone: given for all, or read from
//! each record.
//!
//! The request of a log means its target.
//! A URL that begins with `/` is a path. Its origin is the host of its record, or else the one that
//! is given for all. Clients choose the hosts that servers log, so a host with more than a name and a
//! port is none: it could put another path before that of the record.

use memchr::memmem;

use super::log::target;
use super::{Arena, Problem};

/// The host of a record whose host cannot be read, which is none.
pub(super) const NO_HOST: &[u8] = b"?";

/// Returns the URL that a text means: itself, the target of the request of a log, or a path on its host
/// if `hosts` completes paths.
#[inline]
pub(super) fn url_of_text<'c>(
    text: &'c [u8],
    host: impl FnOnce() -> Option<&'c [u8]>,
    hosts: Option<&Hosts>,
    arena: &'c Arena,
) -> Result<&'c [u8], Problem> {
    // The name of a method. Few URLs begin so.
    let url = if text.first().is_some_and(u8::is_ascii_uppercase) { url_in(text) } else { text };
    match (url, hosts) {
        (path @ [b'/', ..], Some(hosts)) => hosts.url_of(path, host(), arena),
        (url, _) => Ok(url),
    }
}

/// Returns the URL or path in a text, which may be the request of a log.
#[cold]
fn url_in(text: &[u8]) -> &[u8] {
    match memmem::find(text, b" HTTP/") {
        Some(_) => target(text).unwrap_or(text),
        None => text,
    }
}

/// Returns whether a target begins with a scheme.
pub(super) fn is_absolute(target: &[u8]) -> bool {
    let scheme = &target[..memmem::find(target, b"://").unwrap_or(0)];
    !scheme.is_empty() && scheme.iter().all(u8::is_ascii_alphabetic)
}

/// The hosts of URLs that are paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hosts {
    /// The host of records that have none: `a.example`, with a scheme or a port if needed.
    pub given: Option<String>,
}

impl Hosts {
    /// Returns the URL of a path on `host`, or else on the host that is given.
    pub(super) fn url_of<'c>(
        &self,
        path: &[u8],
        host: Option<&[u8]>,
        arena: &'c Arena,
    ) -> Result<&'c [u8], Problem> {
        let host = host.map(<[u8]>::trim_ascii).filter(|host| !matches!(*host, b"" | b"-"));
        let host = host.or(self.given.as_deref().map(str::as_bytes)).ok_or(Problem::NoHost)?;
        let (scheme, host) = origin_of(host).ok_or(Problem::NoHost)?;
        Ok(joined(&[scheme, host, path], arena))
    }
}

/// Returns the scheme with `://`, and the host with its port, of the origin that `text` means; `None` if
/// it is none. The scheme is https unless it is given, or the port is that of http.
#[inline]
fn origin_of(text: &[u8]) -> Option<(&[u8], &[u8])> {
    // Most are the host alone.
    if !text.is_empty() && text.iter().all(is_part_of_host) {
        let scheme: &[u8] = if text.ends_with(b":80") { b"http://" } else { b"https://" };
        return Some((scheme, text));
    }
    let (scheme, host) = text.split_at(memmem::find(text, b"://")? + 3);
    let is_scheme = [&b"http://"[..], b"https://"].iter().any(|it| it.eq_ignore_ascii_case(scheme));
    (is_scheme && !host.is_empty() && host.iter().all(is_part_of_host)).then_some((scheme, host))
}

/// Whether a byte may stand in a host with its port.
#[inline]
fn is_part_of_host(byte: &u8) -> bool {
    const IS_PART: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            let it = byte as u8;
            table[byte] = it.is_ascii_alphanumeric()
                || !it.is_ascii()
                || matches!(it, b'-' | b'.' | b'_' | b':' | b'[' | b']' | b'%');
            byte += 1;
        }
        table
    };
    IS_PART[usize::from(*byte)]
}

/// Checks the host of `--host`. The error says what it may be.
///
/// # Errors
///
/// If it is no host.
pub fn given_host(text: &str) -> Result<String, &'static str> {
    match origin_of(text.as_bytes()) {
        Some(_) => Ok(text.to_owned()),
        None => Err("expected a host such as example.com, http://example.com or example.com:8080"),
    }
}

/// Returns one text of several.
pub(super) fn joined<'c>(parts: &[&[u8]], arena: &'c Arena) -> &'c [u8] {
    let text = arena.alloc_slice_fill_copy(parts.iter().map(|part| part.len()).sum(), 0);
    let mut start = 0;
    for part in parts {
        text[start..start + part.len()].copy_from_slice(part);
        start += part.len();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_get_the_host_of_their_record_or_the_one_for_all() {
        let given = Hosts { given: Some("http://all.example".into()) };
        let none = Hosts::default();
        let arena = Arena::new();
        let url = |config: &Hosts, host: Option<&str>| {
            let url = config.url_of(b"/a?b", host.map(str::as_bytes), &arena);
            url.map(|url| String::from_utf8(url.to_vec()).unwrap())
        };
        for (host, expected) in [
            ("a.example", "https://a.example/a?b"),
            (" A.example ", "https://A.example/a?b"),
            ("a.example:80", "http://a.example:80/a?b"),
            ("a.example:443", "https://a.example:443/a?b"),
            ("a.example:8080", "https://a.example:8080/a?b"),
            ("http://a.example:81", "http://a.example:81/a?b"),
            ("[2001:db8::1]:80", "http://[2001:db8::1]:80/a?b"),
            ("m\u{fc}nchen.example", "https://m\u{fc}nchen.example/a?b"),
        ] {
            for config in [&given, &none] {
                assert_eq!(url(config, Some(host)).as_deref(), Ok(expected));
            }
        }
        for host in [None, Some(""), Some(" "), Some("-")] {
            assert_eq!(url(&given, host).as_deref(), Ok("http://all.example/a?b"));
            assert_eq!(url(&none, host), Err(Problem::NoHost));
        }
        // A client must not choose another path, nor the host that is given.
        for host in [
            "a.example/x",
            "a.example?",
            "a.example#",
            "u@a.example",
            "a b",
            "a\nb",
            "ftp://a",
            "http://",
        ] {
            for config in [&given, &none] {
                assert_eq!(url(config, Some(host)), Err(Problem::NoHost), "{host}");
            }
            assert!(given_host(host).is_err());
        }
    }
}
