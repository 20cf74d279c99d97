//! Resolves the value of a `Location` field (RFC 9110, section 10.2.2; RFC 3986, section 5.2).
//!
//! Bytes are kept as they are, because the resource is looked up under the URL as the archive
//! spells it. The `url` crate, with which the tests compare the results, escapes and normalises the
//! bytes instead. Use [`url`](crate::url) to split a URL. Cost: one pass and one
//! copy.

use memchr::{memchr, memmem};

use crate::url::scheme_name_bytes;
use portcullis_engine::bytes::trim;

/// Returns the absolute http or https URL to which `reference` resolves in the answer to
/// `base_url`, without its fragment. `None` if it does not resolve to such a URL.
///
/// White space around the reference is ignored. An empty reference is not a URL.
///
/// † `http:x` and `https:/x`, which some clients accept, are not URLs here.
///
/// ```
/// use portcullis_robots::access::location::resolve;
///
/// let base = b"http://a.example/robots.txt";
/// let url = resolve(base, b"//www.a.example/../robots.txt#top");
/// assert_eq!(url.as_deref(), Some(&b"http://www.a.example/robots.txt"[..]));
/// assert_eq!(resolve(base, b"mailto:joe@a.example"), None);
/// ```
pub fn resolve(base_url: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    let (scheme, authority, base) = split(without_fragment(base_url))?;
    let reference = trim(reference, b" \t\r\n\x0c");
    if reference.is_empty() {
        return None;
    }
    let reference = without_fragment(reference);
    let base_path = &base[..path_bytes(base)];
    let scheme_bytes = scheme_name_bytes(reference);
    let url = match reference {
        _ if scheme_bytes > 0 && reference[scheme_bytes..].starts_with(b":") => reference.to_vec(),
        [b'/', b'/', ..] => [scheme, b":", reference].concat(),
        _ => {
            let kept = match reference.first() {
                None => base,
                Some(b'?') => base_path,
                Some(b'/') => b"",
                // A base without a path means the root (RFC 3986, section 5.2.3).
                Some(_) => match base_path.iter().rposition(|&byte| byte == b'/') {
                    Some(slash) => &base_path[..=slash],
                    None => b"/",
                },
            };
            [scheme, b"://", authority, kept, reference].concat()
        }
    };
    let (scheme, authority, rest) = split(&url)?;
    let (path, query) = rest.split_at(path_bytes(rest));
    let mut resolved = [scheme, b"://", authority].concat();
    push_without_dot_segments(&mut resolved, path);
    resolved.extend_from_slice(query);
    Some(resolved)
}

/// Splits a URL into its scheme, which is http or https, its authority, and the rest (RFC 3986, section 3).
fn split(url: &[u8]) -> Option<(&'static [u8], &[u8], &[u8])> {
    let (scheme, rest) = url.split_at(memmem::find(url, b"://")?);
    let schemes: [&[u8]; 2] = [b"http", b"https"];
    let scheme = schemes.into_iter().find(|known| known.eq_ignore_ascii_case(scheme))?;
    let rest = &rest[3..];
    let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
    (end > 0).then(|| (scheme, &rest[..end], &rest[end..]))
}

fn without_fragment(text: &[u8]) -> &[u8] {
    &text[..memchr(b'#', text).unwrap_or(text.len())]
}

/// Returns the length of the path at the start of what follows an authority.
fn path_bytes(rest: &[u8]) -> usize {
    memchr(b'?', rest).unwrap_or(rest.len())
}

/// Appends `path`, which is empty or begins with a slash, without `.` and `..` (RFC 3986, section
/// 5.2.4).
fn push_without_dot_segments(url: &mut Vec<u8>, path: &[u8]) {
    let start = url.len();
    let mut segments = path.split(|&byte| byte == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            b"." => {}
            b".." => {
                let parent = url[start..].iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                url.truncate(start + parent);
            }
            _ => {
                url.push(b'/');
                url.extend_from_slice(segment);
                continue;
            }
        }
        // A dot segment at the end names a folder.
        if is_last {
            url.push(b'/');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASES: &str = "http://a.example https://a.example/ http://a.example/robots.txt \
        http://a.example/b/c/d;p?q https://joe@a.example:8080/b/../robots.txt?x/y \
        HTTP://A.example/b/ http://[::1]:81/robots.txt#top";

    /// The examples of RFC 3986, section 5.4, and references that servers send.
    const REFERENCES: &str = "g ./g g/ /g //g ?y g?y #s g#s g?y#s ;x g;x g;x?y#s . ./ .. ../ ../g \
        ../.. ../../ ../../g ../../../g /./g /../g g. .g g.. ..g ./../g ./g/. g/./h g/../h \
        g;x=1/./y g;x=1/../y g?y/./x g?y/../x g#s/./x http://b.example \
        HTTPS://b.example/x/../robots.txt https://b.example:443/robots.txt?a=b#c \
        http://b.example?x http://b.example#x //b.example/robots.txt //b.example //b.example?x \
        /robots.txt robots.txt /a//b/ //b.example//..//c/ /a/b/..//../c ? /? http://b.example/..";

    /// References with white space, which that list cannot hold.
    const WITH_SPACES: [&str; 2] = [" /robots.txt ", "\t/a b/robots.txt\r\n"];

    /// Normalises both results with the `url` crate before comparing, because they differ in
    /// spelling only.
    #[test]
    fn as_the_url_crate_resolves() {
        for base in BASES.split(' ') {
            for reference in REFERENCES.split(' ').chain(WITH_SPACES) {
                let mut expected = url::Url::parse(base).unwrap().join(reference).unwrap();
                expected.set_fragment(None);
                let found = resolve(base.as_bytes(), reference.as_bytes());
                let found = String::from_utf8(found.expect(reference)).unwrap();
                assert_eq!(url::Url::parse(&found), Ok(expected), "{base} {reference}: {found}");
            }
        }
    }

    #[test]
    fn bytes_are_kept() {
        let rows: [(&[u8], &[u8], &[u8]); 7] = [
            (b"http://A.example:80/x", b"/%7e\xff b", b"http://A.example:80/%7e\xff b"),
            (b"HTTPS://a.example/x", b"//B.example", b"https://B.example"),
            (b"http://a.example/x", b"HTTP://b.example/", b"http://b.example/"),
            (b"http://a.example", b"x", b"http://a.example/x"),
            (b"http://a.example?q", b"x", b"http://a.example/x"),
            (b"http://a.example/x?q", b"#", b"http://a.example/x?q"),
            (b"http://a.example/a\\b/c", b"d\\e", b"http://a.example/a\\b/d\\e"),
        ];
        for (base, reference, expected) in rows {
            let found = resolve(base, reference);
            assert_eq!(found.as_deref(), Some(expected), "{}", reference.escape_ascii());
        }
    }

    #[test]
    fn places_that_are_none() {
        let references: [&[u8]; 12] = [
            b"",
            b"  ",
            b"mailto:joe@a.example",
            b"ftp://a.example/robots.txt",
            b"javascript:void(0)",
            b"http:robots.txt",
            b"http:/robots.txt",
            b"https:///robots.txt",
            b"///robots.txt",
            b"//",
            b"http://",
            b"http://?x",
        ];
        for reference in references {
            let found = resolve(b"http://a.example/robots.txt", reference);
            assert_eq!(found, None, "{}", reference.escape_ascii());
        }
        for base in [&b""[..], b"a.example", b"ftp://a.example/", b"http:///x", b"urn:x"] {
            assert_eq!(resolve(base, b"http://b.example/"), None, "{}", base.escape_ascii());
        }
    }
}
