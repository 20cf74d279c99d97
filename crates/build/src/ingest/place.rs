//! The key under which a capture is filed.
//!
//! An origin is filed under its host's key as [`host_key`] has it, with the scheme in front if it is
//! neither http nor https. Any other resource counts only as the target of a redirect and is filed
//! under its whole URL: scheme, host and port normalised, then path and query byte by byte. No host
//! contains a `/`, so the two kinds of key never collide.
//!
//! Cost: one allocation per key. A subject that is no URL or no host is an error.

use memchr::memchr;

use portcullis_captures::Subject;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_robots::url::{BadUrl, ROBOTS_TXT_PATH, SplitUrl, host_key, split};
use portcullis_set::stored::{self, key_with_scheme};

/// One of the two origins of a host. Every scheme except https uses the first; the key contains the
/// scheme unless it is http.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    Http = 0,
    Https = 1,
}

/// A key, and the slot under it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) key: Vec<u8>,
    pub(super) slot: Slot,
}

/// The one or two places of a capture.
pub(super) type Places = (Place, Option<Place>);

impl Place {
    /// Returns the places of a capture.
    pub(super) fn of(subject: &Subject<'_>) -> Result<Places, BadUrl> {
        match subject {
            Subject::Url(url) => Ok((Place::from_url(url)?, None)),
            // The keys differ if the host has one scheme's default port.
            Subject::Host(host) => {
                Ok((Place::from_host(b"http", host)?, Some(Place::from_host(b"https", host)?)))
            }
        }
    }

    /// Returns the place of the resource with this URL.
    pub(super) fn from_url(url: &[u8]) -> Result<Place, BadUrl> {
        let parts = split(url, RFC_9309.paths.path_start)?;
        if parts.path == ROBOTS_TXT_PATH {
            return Place::from_origin(&parts);
        }
        let mut key = key_with_scheme(parts.scheme, host_key(&parts, &mut Vec::new())?);
        if !parts.path.starts_with(b"/") {
            key.push(b'/');
        }
        key.extend_from_slice(parts.path);
        Ok(Place { key, slot: Slot::Http })
    }

    fn from_host(scheme: &[u8], host: &[u8]) -> Result<Place, BadUrl> {
        let url = [scheme, b"://", host, b"/"].concat();
        let parts = split(&url, RFC_9309.paths.path_start)?;
        // The host must be alone, without user information or a path.
        if parts.path != b"/" || memchr(b'@', host).is_some() {
            return Err(BadUrl::BadHost);
        }
        Place::from_origin(&parts)
    }

    fn from_origin(parts: &SplitUrl<'_>) -> Result<Place, BadUrl> {
        let mut host = Vec::new();
        let key = host_key(parts, &mut host)?;
        let (slot, key) = match stored::place(parts.scheme) {
            stored::Place::Https => (Slot::Https, key.to_vec()),
            stored::Place::Http => (Slot::Http, key.to_vec()),
            stored::Place::Other => (Slot::Http, key_with_scheme(parts.scheme, key)),
        };
        Ok(Place { key, slot })
    }
}

/// Returns whether `key` is the key of an origin, not of another resource.
pub(super) fn is_origin(key: &[u8]) -> bool {
    match memchr(b'/', key) {
        None => true,
        // After the second slash of `://`, a resource has the slash of its path.
        Some(slash) => key.get(slash + 2..).is_some_and(|behind| memchr(b'/', behind).is_none()),
    }
}

/// Returns whether `key` is that of a host of http and https, which has both origins. With the default port of
/// one of them, it has the other alone: no URL of that one has the port.
pub(super) fn has_both_schemes(key: &[u8]) -> bool {
    memchr(b'/', key).is_none() && !key.ends_with(b":80") && !key.ends_with(b":443")
}

/// Returns the URL of the resource in a slot under a key: of an origin, its robots.txt.
pub(super) fn url_of(key: &[u8], slot: Slot) -> Vec<u8> {
    if !is_origin(key) {
        return key.to_vec();
    }
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
        let (first, second) = Place::of(&subject)?;
        let text = |place: Place| (String::from_utf8(place.key).unwrap(), place.slot);
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
                let found = keys(Subject::Url(url.as_bytes().into()));
                assert_eq!(found, Ok(vec![(key.into(), slot)]), "{url}");
                assert_eq!(is_origin(key.as_bytes()), origin, "{key}");
                let is_default = |slot| {
                    let url = url_of(key.as_bytes(), slot);
                    keys(Subject::Url(url.into())) != Ok(vec![(key.into(), slot)])
                };
                let has_both = origin && ![Slot::Http, Slot::Https].into_iter().any(is_default);
                assert_eq!(has_both_schemes(key.as_bytes()), has_both, "{key}");
                let url = url_of(key.as_bytes(), slot);
                assert_eq!(keys(Subject::Url((&url).into())), Ok(vec![(key.into(), slot)]));
            }
        }
        assert_eq!(keys(Subject::Url(b"a.example/robots.txt".into())), Err(BadUrl::NoScheme));
    }

    #[test]
    fn hosts() {
        for (host, http, https) in [
            ("A.example", "a.example", "a.example"),
            ("a.example:8080", "a.example:8080", "a.example:8080"),
            ("a.example:443", "a.example:443", "a.example"),
            ("a.example:80", "a.example", "a.example:80"),
        ] {
            let both = vec![(http.to_owned(), Slot::Http), (https.to_owned(), Slot::Https)];
            assert_eq!(keys(Subject::Host(host.as_bytes().into())), Ok(both));
        }
        for host in ["u@a.example", "a.example/x", "a.example?", "a b", "", "a.example#"] {
            assert!(keys(Subject::Host(host.as_bytes().into())).is_err(), "{host}");
        }
    }
}
