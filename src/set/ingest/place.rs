//! Where a capture is filed: the key of what it is of.
//!
//! An origin is filed under its host's key as [`host_key`] has it, with the scheme before it if that
//! is neither http nor https. Any other resource, which counts only as what a redirect leads to, is
//! filed under its whole URL: scheme, host and port in their one form, then path and query byte by
//! byte. No host has a `/`, so the two never meet.

use std::ops::Range;

use memchr::memchr;

use crate::capture::Subject;
use crate::dialect::RFC_9309;
use crate::target::{BadUrl, ROBOTS_TXT_PATH, SplitUrl, host_key, split};

use super::hosts::Slot;

/// A key that was appended to some bytes, and the place under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) key: Range<usize>,
    pub(super) slot: Slot,
}

/// The one or two places of a capture.
pub(super) type Places = (Place, Option<Place>);

/// Finds the places of a capture, and appends their keys to `out`.
///
/// # Errors
///
/// If the subject is no URL, or no host. What was appended then means nothing.
pub(super) fn places(
    subject: Subject<'_>,
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<Places, BadUrl> {
    match subject {
        Subject::Url(url) => Ok((of_url(url, scratch, out)?, None)),
        Subject::Host(host) => {
            // They differ if the host has one scheme's default port behind it.
            let http = of_host(b"http", host, scratch, out)?;
            let https = of_host(b"https", host, scratch, out)?;
            Ok((http, Some(https)))
        }
    }
}

/// Finds the place of the resource with this URL, and appends its key to `out`.
///
/// # Errors
///
/// As [`places`].
pub(super) fn of_url(
    url: &[u8],
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<Place, BadUrl> {
    let parts = split(url, RFC_9309.paths.path_start)?;
    if parts.path == ROBOTS_TXT_PATH {
        return of_origin(&parts, scratch, out);
    }
    let start = out.len();
    push_scheme(parts.scheme, out);
    out.extend_from_slice(host_key(&parts, scratch)?);
    if !parts.path.starts_with(b"/") {
        out.push(b'/');
    }
    out.extend_from_slice(parts.path);
    Ok(Place { key: start..out.len(), slot: Slot::Http })
}

fn of_host(
    scheme: &[u8],
    host: &[u8],
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<Place, BadUrl> {
    let url = [scheme, b"://", host, b"/"].concat();
    let parts = split(&url, RFC_9309.paths.path_start)?;
    // It has to be the host alone, without user information or a path.
    if parts.path != b"/" || memchr(b'@', host).is_some() {
        return Err(BadUrl::BadHost);
    }
    of_origin(&parts, scratch, out)
}

fn of_origin(
    parts: &SplitUrl<'_>,
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<Place, BadUrl> {
    let start = out.len();
    let slot = match () {
        () if parts.scheme.eq_ignore_ascii_case(b"https") => Slot::Https,
        () if parts.scheme.eq_ignore_ascii_case(b"http") => Slot::Http,
        () => {
            push_scheme(parts.scheme, out);
            Slot::Http
        }
    };
    out.extend_from_slice(host_key(parts, scratch)?);
    Ok(Place { key: start..out.len(), slot })
}

fn push_scheme(scheme: &[u8], out: &mut Vec<u8>) {
    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
    out.extend_from_slice(b"://");
}

/// Whether an origin is filed under `key`, and no other resource.
pub(super) fn is_origin(key: &[u8]) -> bool {
    match memchr(b'/', key) {
        None => true,
        // The second of `://`, then the path of a resource.
        Some(slash) => key.get(slash + 2..).is_some_and(|behind| memchr(b'/', behind).is_none()),
    }
}

/// The URL of the robots.txt of the origin that is filed under `key`.
pub(super) fn robots_txt_url(key: &[u8], slot: Slot) -> Vec<u8> {
    let scheme: &[u8] = match slot {
        _ if memchr(b'/', key).is_some() => b"",
        Slot::Http => b"http://",
        Slot::Https => b"https://",
    };
    [scheme, key, ROBOTS_TXT_PATH].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(subject: Subject<'_>) -> Result<Vec<(String, Slot)>, BadUrl> {
        let mut out = b"before".to_vec();
        let (first, second) = places(subject, &mut Vec::new(), &mut out)?;
        let text = |place: Place| {
            (String::from_utf8(out[place.key.clone()].to_vec()).unwrap(), place.slot)
        };
        Ok([Some(first), second].into_iter().flatten().map(text).collect())
    }

    #[test]
    fn urls() {
        let origins = [
            ("https://A.example:443/robots.txt", "a.example", Slot::Https),
            ("http://a.example:443/robots.txt", "a.example:443", Slot::Http),
            ("HTTP://a.example/robots.txt#x", "a.example", Slot::Http),
            ("https://u@ex\u{e4}mple.com/robots.txt", "xn--exmple-cua.com", Slot::Https),
            ("http://[::1]:8080/robots.txt", "[::1]:8080", Slot::Http),
            ("FTP://a.example:21/robots.txt", "ftp://a.example", Slot::Http),
        ];
        let others = [
            ("https://a.example/x/robots.txt", "https://a.example/x/robots.txt", Slot::Http),
            ("https://a.example/robots.txt?", "https://a.example/robots.txt?", Slot::Http),
            ("https://a.example/Robots.txt", "https://a.example/Robots.txt", Slot::Http),
            ("https://A.example:443?q#f", "https://a.example/?q", Slot::Http),
            ("https://a.example", "https://a.example/", Slot::Http),
            ("ftp://a.example/x", "ftp://a.example/x", Slot::Http),
            ("https://a.example//robots.txt", "https://a.example//robots.txt", Slot::Http),
        ];
        for (rows, origin) in [(&origins[..], true), (&others[..], false)] {
            for &(url, key, slot) in rows {
                let found = keys(Subject::Url(url.as_bytes()));
                assert_eq!(found, Ok(vec![(key.into(), slot)]), "{url}");
                assert_eq!(is_origin(key.as_bytes()), origin, "{key}");
            }
        }
        assert_eq!(keys(Subject::Url(b"a.example/robots.txt")), Err(BadUrl::NoScheme));
    }

    #[test]
    fn hosts() {
        let both = |http: &str, https: &str| {
            Ok(vec![(http.to_owned(), Slot::Http), (https.to_owned(), Slot::Https)])
        };
        assert_eq!(keys(Subject::Host(b"A.example")), both("a.example", "a.example"));
        assert_eq!(
            keys(Subject::Host(b"a.example:8080")),
            both("a.example:8080", "a.example:8080")
        );
        assert_eq!(keys(Subject::Host(b"a.example:443")), both("a.example:443", "a.example"));
        assert_eq!(keys(Subject::Host(b"a.example:80")), both("a.example", "a.example:80"));
        for host in ["u@a.example", "a.example/x", "a.example?", "a b", "", "a.example#"] {
            assert!(keys(Subject::Host(host.as_bytes())).is_err(), "{host}");
        }
    }

    #[test]
    fn the_url_of_an_origin_is_filed_under_its_key() {
        let rows =
            [("a.example", Slot::Http), ("a.example:81", Slot::Https), ("ftp://a", Slot::Http)];
        for (key, slot) in rows {
            let url = robots_txt_url(key.as_bytes(), slot);
            assert_eq!(keys(Subject::Url(&url)), Ok(vec![(key.into(), slot)]));
        }
    }
}
