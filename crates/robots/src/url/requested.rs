//! URLs that clients of the URL Standard request in another form than they are written.
//!
//! Rules are compared with URLs as written (RFC 9309, section 2.2.2). Browsers and many libraries resolve dot
//! segments before they send a request (URL Standard, section 4.4, "path state"), and escape the apostrophe in
//! a query. Bytes that are not UTF-8 were text in another encoding, of which browsers request the UTF-8. The path
//! that they request may be one that another rule decides.

use memchr::{memchr, memchr_iter, memchr2};

use super::split::trim_record;

/// Whether clients of the URL Standard request another path or query than `url` has, which is a URL, or one
/// without a scheme: it has a dot segment in its path, also with escapes (`/./`, `/x/../`, `/%2e/`), an
/// apostrophe in its query, or bytes that are not UTF-8.
///
/// ```
/// use portcullis_robots::url::is_requested_otherwise;
///
/// assert!(is_requested_otherwise(b"https://a.example/x/../private"));
/// assert!(is_requested_otherwise(b"https://a.example/?q='"));
/// assert!(!is_requested_otherwise(b"https://a.example/...?q=/../"));
/// ```
pub fn is_requested_otherwise(url: &[u8]) -> bool {
    let url = trim_record(url);
    let url = &url[..memchr(b'#', url).unwrap_or(url.len())];
    let authority = memchr_iter(b'/', url).find(|slash| url.get(slash + 1) == Some(&b'/'));
    let start = authority.map_or(0, |slashes| slashes + 2);
    let rest = &url[start..];
    let Some(end) = rest.iter().position(|byte| b"/?".contains(byte)) else { return false };
    let (path, query) = match memchr(b'?', rest) {
        Some(mark) => (&rest[end..mark.max(end)], &rest[mark + 1..]),
        None => (&rest[end..], &b""[..]),
    };
    let is_text = str::from_utf8(&rest[end..]).is_ok();
    !is_text
        || memchr(b'\'', query).is_some()
        || path.split(|&byte| byte == b'/').skip(1).any(is_dots)
}

/// Whether a segment means this folder or the one above.
fn is_dots(segment: &[u8]) -> bool {
    let mut rest = segment;
    let mut dots = 0;
    while let [b'.', after @ ..] | [b'%', b'2', b'e' | b'E', after @ ..] = rest {
        (rest, dots) = (after, dots + 1);
    }
    rest.is_empty() && matches!(dots, 1 | 2)
}

/// Whether a record has a blank, or a byte of those that make [`is_requested_otherwise`] true. No plain URL has
/// one.
pub fn may_be_odd(record: &[u8]) -> bool {
    let begins_dots = |slash: usize| matches!(record.get(slash + 1), Some(b'.' | b'%'));
    let is_odd = memchr2(b' ', b'\'', record).is_some();
    is_odd || memchr_iter(b'/', record).any(begins_dots) || str::from_utf8(record).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_apostrophes() {
        for url in [
            "https://a.example/.",
            "https://a.example/..?q",
            "https://a.example/./x",
            "https://a.example/x/../y",
            "https://a.example/x/%2e/y",
            "https://a.example/x/.%2E#y",
            "https://a.example/%2e%2e",
            "a.example/./x",
            "//a.example/..",
            "https://a.example?q='",
            " https://a.example/?'#a ",
        ] {
            assert!(is_requested_otherwise(url.as_bytes()), "{url}");
            assert!(may_be_odd(url.as_bytes()), "{url}");
        }
        assert!(is_requested_otherwise(b"https://a.example/caf\xe9"));
        assert!(may_be_odd(b"https://a.example/caf\xe9"));
        for url in [
            "https://a.example/caf\u{e9}",
            "https://a.example",
            "https://a.example/",
            "https://a.example/.x",
            "https://a.example/x.",
            "https://a.example/...",
            "https://a.example/%2e%2e%2e",
            "https://a.example/.well-known/x",
            "https://a.example/it's",
            "https://a.example/x#'/../",
            "https://a.example/x?y=/../z",
            "https://a.example?/../x",
            "https://o'x.example/",
            "",
        ] {
            assert!(!is_requested_otherwise(url.as_bytes()), "{url}");
        }
    }
}
