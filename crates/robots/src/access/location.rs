//! Resolves the value of a `Location` field (RFC 9110, section 10.2.2; RFC 3986, section 5.2).
//!
//! Bytes are kept as they are, because the resource is looked up under the URL as the archive
//! spells it. The `url` crate, with which the tests compare the results, escapes and normalises the
//! bytes instead. Use [`url`](crate::url) to split a URL. Cost: one pass and one
//! copy.

use memchr::{memchr, memmem};

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
    let base = Url::split(without_fragment(base_url))?;
    let reference = trim(reference, b" \t\r\n\x0c");
    if reference.is_empty() {
        return None;
    }
    let reference = without_fragment(reference);
    if has_scheme(reference) {
        return Some(Url::split(reference)?.write());
    }
    if let Some(rest) = reference.strip_prefix(b"//") {
        return Some(Url::split_after(base.scheme, rest)?.write());
    }
    let (path, query) = split_query(reference);
    Some(if path.is_empty() {
        Url { query: query.or(base.query), ..base }.write()
    } else if path.starts_with(b"/") {
        Url { path, query, ..base }.write()
    } else {
        let folder =
            &base.path[..base.path.iter().rposition(|&o| o == b'/').map_or(0, |at| at + 1)];
        // A base without a path means the root (RFC 3986, section 5.2.3).
        let folder = if folder.is_empty() { b"/" } else { folder };
        Url { path: &[folder, path].concat(), query, ..base }.write()
    })
}

/// The parts of a URL (RFC 3986, section 3).
#[derive(Clone, Copy)]
struct Url<'u> {
    /// `http` or `https`.
    scheme: &'static [u8],
    authority: &'u [u8],
    path: &'u [u8],
    query: Option<&'u [u8]>,
}

impl<'u> Url<'u> {
    fn split(text: &'u [u8]) -> Option<Url<'u>> {
        let (scheme, rest) = text.split_at(memmem::find(text, b"://")?);
        let schemes: [&[u8]; 2] = [b"http", b"https"];
        let scheme = schemes.into_iter().find(|known| known.eq_ignore_ascii_case(scheme))?;
        Url::split_after(scheme, &rest[3..])
    }

    /// Splits the bytes after `//`.
    fn split_after(scheme: &'static [u8], rest: &'u [u8]) -> Option<Url<'u>> {
        let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (path, query) = split_query(rest);
        (!authority.is_empty()).then_some(Url { scheme, authority, path, query })
    }

    fn write(self) -> Vec<u8> {
        let mut url = [self.scheme, b"://", self.authority].concat();
        push_without_dot_segments(&mut url, self.path);
        if let Some(query) = self.query {
            url.push(b'?');
            url.extend_from_slice(query);
        }
        url
    }
}

fn without_fragment(text: &[u8]) -> &[u8] {
    &text[..memchr(b'#', text).unwrap_or(text.len())]
}

fn split_query(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr(b'?', text) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Whether a reference begins with any scheme (RFC 3986, section 3.1).
fn has_scheme(reference: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let name = reference.iter().take_while(|byte| is_name(byte)).count();
    reference.first().is_some_and(u8::is_ascii_alphabetic) && reference.get(name) == Some(&b':')
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
