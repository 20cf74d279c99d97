//! The URL that a text means: itself, or the URL of a path whose other parts are in other fields of its
//! record, or given for all.
//!
//! The request of a log means its target, and an absolute target the path on the host of its record.
//! A URL that begins with `/` is a path. Its origin is the host of its record, or else the one that
//! is given for all. Clients choose the hosts that servers log, so a host with more than a name and a
//! port is none: it could put another path before that of the record.

use std::net::Ipv6Addr;

use bumpalo::collections::Vec as ArenaVec;
use memchr::{memchr, memmem, memrchr};

use super::log::words::is_host;
use super::noticed::Doubts;
use super::place::LeftPart;
use super::request::{Named, asked, is_of_origin, parts_of, port_of, target, without_fragment};
use super::short::first_of;
use super::{Arena, Problem};
use portcullis_dialect::dialect::RFC_9309;
use portcullis_engine::bytes::{are_same, trim};
use portcullis_files::input::stands_for_none;
use portcullis_robots::url::compared_path;

/// The value of a record that cannot be read. No host or query is so.
pub(super) const UNREADABLE: &[u8] = b"\0";

/// The host of a line that has none where others have theirs.
pub(super) const NO_HOST: &[u8] = b"?";

/// The parts of a URL that are in other fields of its record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UrlParts<'c> {
    pub host: Option<&'c [u8]>,
    pub query: Option<&'c [u8]>,
    pub scheme: Option<&'c [u8]>,
}

/// Returns the URL that a text means, and what is in doubt: itself, the target of the request of a log, or a
/// path on its host if `hosts` completes paths.
#[inline]
pub(super) fn url_of_text<'c>(
    text: &'c [u8],
    parts: impl Fn() -> UrlParts<'c>,
    hosts: Option<&Hosts>,
    arena: &'c Arena,
) -> Result<(&'c [u8], Doubts), Problem> {
    // Blanks around a delimiter are no part of a path.
    let text = match hosts {
        Some(hosts) if !hosts.is_log => trim(text, b" "),
        _ => text,
    };
    // The name of a method. Few URLs begin so.
    let (url, doubts) = match text.first() {
        Some(first) if first.is_ascii_uppercase() => {
            let named = || hosts.and_then(|hosts| hosts.named(parts().host));
            url_in(text, named, arena)?
        }
        _ => (text, Doubts::default()),
    };
    let url = match hosts {
        Some(hosts) if text.starts_with(b"//") && !hosts.is_log => Err(Problem::TwoSlashes),
        Some(hosts) if hosts.completes_urls || url.starts_with(b"/") => {
            // A client chooses the scheme of a target.
            let is_asked = url.len() != text.len();
            let parts = parts();
            let scheme = parts.scheme.filter(|_| !is_asked || url.starts_with(b"/"));
            hosts.url_of(url, UrlParts { scheme, ..parts }, arena)
        }
        _ => Ok(url),
    };
    url.map(|url| (url, doubts))
}

/// Returns the URL or path in a text, which may be the request of a log, and what is in doubt.
#[cold]
fn url_in<'c, 'n>(
    text: &'c [u8],
    named: impl FnOnce() -> Option<Named<'n>>,
    arena: &'c Arena,
) -> Result<(&'c [u8], Doubts), Problem> {
    let target = memmem::find(text, b" HTTP/").and_then(|_| target(text));
    match target {
        Some(url) if !url.starts_with(b"/") => asked(url, named(), arena),
        _ => Ok((target.unwrap_or(text), Doubts::default())),
    }
}

/// Returns the URL that a URL or a path, and the host, the query and the scheme of its record, are.
///
/// # Errors
///
/// As for a record of a table.
pub fn joined_url<'c>(
    text: &'c [u8],
    [host, query, scheme]: [Option<&'c [u8]>; 3],
    arena: &'c Arena,
) -> Result<&'c [u8], Problem> {
    let hosts = Hosts { completes_urls: true, has_queries: query.is_some(), ..Hosts::default() };
    let parts = || UrlParts { host, query, scheme };
    url_of_text(text, parts, Some(&hosts), arena).map(|(url, _)| url)
}

/// How paths become URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hosts {
    /// The origin of records that have no host.
    pub given: Option<Given>,
    /// Whether records are requests that a server logged, so that `//` begins a path. In a table it begins a
    /// reference to another host (RFC 3986, section 4.2).
    pub is_log: bool,
    /// Whether records have queries or schemes in fields, also of URLs that are no paths.
    pub completes_urls: bool,
    /// Whether records have queries in fields, so that their paths are parts of targets.
    pub has_queries: bool,
    /// Whether queries never begin with the `?` that separates them from the path.
    pub are_queries_bare: bool,
}

/// The origin that is given for all records: `a.example`, with a scheme or a port if needed. It is read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    text: String,
    has_scheme: bool,
    /// `None` if the text is no origin.
    origin: Option<Origin>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    /// With `://`: its own, or that of its port.
    scheme: Vec<u8>,
    /// With the port, and with brackets if it is an address that needs them.
    host: Vec<u8>,
}

impl Given {
    pub fn new(text: &str) -> Given {
        let origin = origin_of(text.as_bytes()).map(|(scheme, host)| Origin {
            scheme: scheme.unwrap_or(scheme_of_port(host)).to_vec(),
            host: match is_bare_address(host) {
                true => [b"[", host, b"]"].concat(),
                false => host.to_vec(),
            },
        });
        Given { text: text.to_owned(), has_scheme: text.contains("://"), origin }
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Returns the host with its port; `None` if the text has a scheme too.
    pub fn host_alone(&self) -> Option<&[u8]> {
        (!self.has_scheme).then_some(self.as_bytes())
    }
}

impl Hosts {
    /// Returns the origin that a record with this host names.
    fn named<'n>(&'n self, host: Option<&'n [u8]>) -> Option<Named<'n>> {
        let own = host.and_then(some_host).map(|origin| Named { origin, decides: true });
        own.or_else(|| Some(Named { origin: self.given.as_ref()?.as_bytes(), decides: false }))
    }

    /// Returns the URL that a URL or a path and the other parts of a record are.
    fn url_of<'c>(
        &self,
        url: &'c [u8],
        UrlParts { host, query, scheme }: UrlParts<'c>,
        arena: &'c Arena,
    ) -> Result<&'c [u8], Problem> {
        let is_path = url.starts_with(b"/");
        let url = if is_path && self.has_queries { without_fragment(url, arena) } else { url };
        let query = query.filter(|it| !is_none(it));
        let query = match self.are_queries_bare {
            true => query,
            false => query.map(|it| it.strip_prefix(b"?").unwrap_or(it)),
        };
        let Some(query) = query else {
            return match is_path {
                true => self.url_of_path(&[url], host, scheme, arena),
                false => has_scheme(url, scheme).map(|()| url),
            };
        };
        let query = without_fragment(query, arena);
        let end = memchr(b'#', url).unwrap_or(url.len());
        let mark = memchr(b'?', &url[..end]);
        let (path, own) = match mark {
            Some(mark) => (&url[..mark], &url[mark + 1..end]),
            None => (&url[..end], &b""[..]),
        };
        if is_target(query, path) {
            return Err(Problem::TwoQueries);
        }
        if query == UNREADABLE {
            return Err(Problem::NotAString);
        }
        let query = if query.is_empty() { own } else { query };
        if !own.is_empty() && own != query {
            return Err(Problem::TwoQueries);
        }
        if !is_path {
            has_scheme(url, scheme)?;
            let is_whole = mark.is_some() && own == query;
            return Ok(if is_whole { url } else { joined(&[path, b"?", query], arena) });
        }
        self.url_of_path(&[path, b"?", query], host, scheme, arena)
    }

    /// Returns the URL of a path, whose parts these are, on the host and with the scheme of its record.
    fn url_of_path<'c>(
        &self,
        path: &[&[u8]],
        host: Option<&'c [u8]>,
        scheme: Option<&'c [u8]>,
        arena: &'c Arena,
    ) -> Result<&'c [u8], Problem> {
        let scheme = scheme_of(scheme)?;
        let Some(host) = host.and_then(some_host) else {
            let given = self.given.as_ref().and_then(|given| given.origin.as_ref());
            let Origin { scheme: usual, host } = given.ok_or(Problem::NoHost)?;
            return Ok(url_of_parts(&[scheme.unwrap_or(usual), host], path, arena));
        };
        let (own, host) = origin_of(host).ok_or(Problem::NoHost)?;
        let is_other = |it: &[u8]| own.is_some_and(|own| !own.eq_ignore_ascii_case(it));
        if scheme.is_some_and(is_other) {
            return Err(Problem::BadScheme);
        }
        let scheme = scheme.or(own).unwrap_or_else(|| scheme_of_port(host));
        Ok(match is_bare_address(host) {
            true => url_of_parts(&[scheme, b"[", host, b"]"], path, arena),
            false => url_of_parts(&[scheme, host], path, arena),
        })
    }
}

/// The origins of paths, of which lists have few: those that were found last.
pub(super) struct Origins<'h, 'c> {
    hosts: &'h Hosts,
    pub arena: &'c Arena,
    /// Hosts and their origins, which are empty if there is none.
    known: [(&'c [u8], &'c [u8]); 64],
}

/// An odd number whose multiples differ in their highest bits: 2⁶⁴ divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl<'h, 'c> Origins<'h, 'c> {
    pub fn new(hosts: &'h Hosts, arena: &'c Arena) -> Origins<'h, 'c> {
        Origins { hosts, arena, known: [(b"", b""); 64] }
    }

    /// Returns the beginning of the URLs of paths whose record has this host; `None` if it is invalid.
    /// `as_in_url` writes it as URLs have it.
    #[inline]
    pub fn of(
        &mut self,
        host: &'c [u8],
        as_in_url: impl FnOnce(&'c [u8]) -> &'c [u8],
    ) -> Option<&'c [u8]> {
        let word = |text: &[u8]| text.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        // Most differ in their first bytes, or after `www.`.
        let sum = word(host) ^ word(host.get(4..).unwrap_or_default()).rotate_left(20);
        let place = (sum ^ host.len() as u64).wrapping_mul(SPREAD) >> 58;
        let (known, origin) = self.known[place as usize];
        if !origin.is_empty() && are_same(known, host) {
            return Some(origin);
        }
        let own = Some(host).filter(|host| !is_none(host)).map(as_in_url);
        let origin = self.hosts.url_of_path(&[b""], own, None, self.arena).ok()?;
        self.known[place as usize] = (host, origin);
        Some(origin)
    }
}

/// Returns a URL of these parts.
#[inline]
fn url_of_parts<'c>(origin: &[&[u8]], path: &[&[u8]], arena: &'c Arena) -> &'c [u8] {
    match (origin, path) {
        ([scheme, host], [path]) => joined(&[scheme, host, path], arena),
        _ => joined(&[origin, path].concat(), arena),
    }
}

/// Returns the scheme of a host without one, by its port.
fn scheme_of_port(host: &[u8]) -> &'static [u8] {
    match host.ends_with(b":80") && !is_bare_address(host) {
        true => b"http://",
        false => b"https://",
    }
}

/// Whether the URL of a path differs in a part from the value of a field that is not read.
pub(super) fn differs(url: &[u8], part: LeftPart, value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let Some((scheme, host, rest)) = parts_of(url).filter(|_| !is_none(value)) else {
        return false;
    };
    match part {
        LeftPart::Query => lacks_query(rest) && value != b"?",
        LeftPart::Target => {
            let query = query_of_target(value, rest).unwrap_or(value);
            lacks_query(rest) && matches!(query, [b'?', _, ..])
        }
        // A machine that writes logs may have a name too, but no whole one.
        LeftPart::Host => origin_of(value)
            .is_some_and(|(_, name)| is_host(name) && !is_of_origin(scheme, host, value)),
        LeftPart::Scheme => {
            let other = scheme_of(Some(value)).ok().flatten();
            other.is_some_and(|other| !other.eq_ignore_ascii_case(scheme))
        }
        LeftPart::Port => {
            let is_port = value.iter().all(u8::is_ascii_digit);
            is_port
                && port_of(scheme, host)
                    != str::from_utf8(value).ok().and_then(|it| it.parse().ok())
        }
    }
}

/// Returns the query, with its `?`, of a whole target with this path: a path, a URL, perhaps without its scheme, or
/// a request line.
fn query_of_target<'t>(target: &'t [u8], path: &[u8]) -> Option<&'t [u8]> {
    let target = target.split(|byte| *byte == b' ').nth(1).unwrap_or(target);
    let target = match parts_of(target) {
        Some((_, _, path)) => path,
        None => {
            let text = target.strip_prefix(b"//").unwrap_or(target);
            let (host, rest) = text.split_at(memchr(b'/', text).unwrap_or(text.len()));
            if is_host(host) { rest } else { target }
        }
    };
    target.strip_prefix(path).filter(|query| query.is_empty() || query.starts_with(b"?"))
}

/// Whether the text in the place of a query is a whole target of the URL with this path: a path or a URL that has a query
/// and ends like it, perhaps in a request line, or the path itself.
fn is_target(text: &[u8], path: &[u8]) -> bool {
    let path = parts_of(path).map_or(path, |(_, _, path)| path);
    let (method, rest) = text.split_at(memchr(b' ', text).unwrap_or(0));
    let is_line = !method.is_empty() && method.iter().all(u8::is_ascii_uppercase);
    let text =
        if is_line { rest[1..].split(|it| *it == b' ').next().unwrap_or_default() } else { text };
    let is_root = path == b"/";
    let target = match parts_of(text) {
        // A path alone says nothing where it is that of most URLs.
        Some((_, _, own)) if !is_root => own,
        _ => text,
    };
    if !target.starts_with(b"/") {
        return false;
    }
    let Some(mark) = memchr(b'?', target) else { return !is_root && text == path };
    let normal = |path| compared_path(path, RFC_9309.paths.escapes, &mut Vec::new()).to_owned();
    let (own, path) = (normal(&target[..mark]), normal(path));
    if is_root { own == path } else { own.ends_with(&path) }
}

/// Whether the path of a URL, with all that follows it, has no query, or an empty one.
fn lacks_query(path: &[u8]) -> bool {
    let path = &path[..memchr(b'#', path).unwrap_or(path.len())];
    memchr(b'?', path).is_none_or(|mark| mark + 1 == path.len())
}

/// Returns the host of a record without blanks around it; `None` if it stands for none.
fn some_host(host: &[u8]) -> Option<&[u8]> {
    Some(host.trim_ascii()).filter(|host| !is_none(host))
}

/// Whether a value is empty or stands for none.
fn is_none(value: &[u8]) -> bool {
    value.trim_ascii().is_empty() || stands_for_none(value)
}

/// Returns the scheme with `://` that a value means: http or https in any case, with or without `:` or `://`;
/// `None` if it has none, as a protocol (`HTTP/1.1`).
fn scheme_of(value: Option<&[u8]>) -> Result<Option<&'static [u8]>, Problem> {
    let Some(value) = value.map(<[u8]>::trim_ascii).filter(|value| !is_none(value)) else {
        return Ok(None);
    };
    let name = value.strip_suffix(b"://").or(value.strip_suffix(b":")).unwrap_or(value);
    let is_protocol = name.len() > 5 && name[..5].eq_ignore_ascii_case(b"HTTP/");
    match () {
        () if name.eq_ignore_ascii_case(b"https") => Ok(Some(b"https://")),
        () if name.eq_ignore_ascii_case(b"http") => Ok(Some(b"http://")),
        () if is_protocol => Ok(None),
        () => Err(Problem::BadScheme),
    }
}

/// Checks that a URL has the scheme of its record, if that has one.
fn has_scheme(url: &[u8], scheme: Option<&[u8]>) -> Result<(), Problem> {
    let (Some(scheme), Some((own, ..))) = (scheme_of(scheme)?, parts_of(url)) else {
        return Ok(());
    };
    if own.eq_ignore_ascii_case(scheme) { Ok(()) } else { Err(Problem::BadScheme) }
}

/// Returns the scheme with `://`, if there is one, and the host with its port, of the origin that `text`
/// means; `None` if it is none.
#[inline]
fn origin_of(text: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    // Most are the host alone.
    if !text.is_empty() && text.iter().all(is_part_of_host) {
        return Some((None, text));
    }
    let (scheme, host) = text.split_at(memmem::find(text, b"://")? + 3);
    let is_web = [&b"http://"[..], b"https://"].iter().any(|it| it.eq_ignore_ascii_case(scheme));
    let is_origin = is_web && !host.is_empty() && host.iter().all(is_part_of_host);
    is_origin.then_some((Some(scheme), host))
}

/// Whether a host is an IPv6 address without brackets, and so without a port, as Apache's `%V` has it.
pub(super) fn is_bare_address(host: &[u8]) -> bool {
    let is_address = |text: &str| text.parse::<Ipv6Addr>().is_ok();
    first_of([b':'; 2], host).is_some() && std::str::from_utf8(host).is_ok_and(is_address)
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

/// The host of a request that a server logged, and what it logged apart from it.
pub(super) struct Served<'c> {
    pub host: Option<&'c [u8]>,
    /// Whether the host is a header, which has the port that is not usual.
    pub is_header: bool,
    /// `http` or `https`; with another one there is no host.
    pub scheme: Option<&'c [u8]>,
    pub port: Option<&'c [u8]>,
}

impl<'c> Served<'c> {
    /// Returns the host with the scheme and the port of the request. The scheme and the port complete the host
    /// that is given for all too, unless it has a scheme; `None` if it is that host alone.
    #[inline]
    pub fn origin(self, given: Option<&Given>, arena: &'c Arena) -> Option<&'c [u8]> {
        let Served { host: found, is_header, scheme, port } = self;
        let Some(host) = found.or(given.and_then(Given::host_alone)) else { return found };
        let scheme = match scheme {
            Some(b"http") => Some(&b"http://"[..]),
            Some(b"https") => Some(&b"https://"[..]),
            Some(_) => return Some(NO_HOST),
            None => None,
        };
        let is_header = found.is_some() && is_header;
        let port = port.filter(|_| !has_port(host));
        let usual_port: &[u8] = if scheme == Some(b"http://") { b"80" } else { b"443" };
        let (scheme, port) = match (scheme, port.filter(|port| *port != usual_port)) {
            (None, Some(b"80")) => (Some(&b"http://"[..]), None),
            (scheme, port) => (scheme, port.filter(|_| !is_header)),
        };
        match (scheme, port) {
            (None, None) => found,
            (scheme, None) => Some(joined(&[scheme.unwrap_or_default(), host], arena)),
            (scheme, Some(port)) => {
                Some(joined(&[scheme.unwrap_or_default(), host, b":", port], arena))
            }
        }
    }
}

/// Whether a host has a port. Addresses have brackets.
fn has_port(host: &[u8]) -> bool {
    let behind = memrchr(b']', host).map_or(host, |end| &host[end..]);
    memchr(b':', behind).is_some()
}

/// Checks the host of `--host`. The error says what it may be.
///
/// # Errors
///
/// If it is no host, or an IPv6 address without brackets whose last part could be a port: what is before it is
/// an address too, and it has digits alone.
pub fn given_host(text: &str) -> Result<String, &'static str> {
    let Some((_, host)) = origin_of(text.as_bytes()) else {
        return Err("expected a host such as example.com, http://example.com or example.com:8080");
    };
    let (address, last) =
        memrchr(b':', host).map_or((host, &b""[..]), |colon| host.split_at(colon));
    let could_be_port = last.len() > 1 && last[1..].iter().all(u8::is_ascii_digit);
    let has_brackets = host.starts_with(b"[");
    if !has_brackets && memchr(b':', address).is_some() {
        let is_clear = is_bare_address(host) && !(could_be_port && is_bare_address(address));
        if !is_clear {
            return Err("an IPv6 address that could end in a port; write it in brackets, such as \
                        [2001:db8::1] or [2001:db8::1]:443");
        }
    }
    Ok(text.to_owned())
}

/// Returns one text of several.
#[inline(always)]
pub(super) fn joined<'c>(parts: &[&[u8]], arena: &'c Arena) -> &'c [u8] {
    // Not zeroed before.
    let mut text = ArenaVec::with_capacity_in(parts.iter().map(|part| part.len()).sum(), arena);
    parts.iter().for_each(|part| text.extend_from_slice_copy(part));
    text.into_bump_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the URL of a text and its parts.
    fn completed(
        hosts: &Hosts,
        text: &str,
        [host, query, scheme]: [Option<&str>; 3],
    ) -> Result<String, Problem> {
        let arena = Arena::new();
        let [host, query, scheme] = [host, query, scheme].map(|part| part.map(str::as_bytes));
        let parts = || UrlParts { host, query, scheme };
        let url = url_of_text(text.as_bytes(), parts, Some(hosts), &arena);
        url.map(|(url, _)| String::from_utf8(url.to_vec()).unwrap())
    }

    #[test]
    fn paths_get_the_host_of_their_record_or_the_one_for_all() {
        let given = Hosts { given: Some(Given::new("http://all.example")), ..Hosts::default() };
        let none = Hosts::default();
        let url =
            |config: &Hosts, host: Option<&str>| completed(config, "/a?b", [host, None, None]);
        for (host, expected) in [
            ("a.example", "https://a.example/a?b"),
            (" A.example ", "https://A.example/a?b"),
            ("a.example:80", "http://a.example:80/a?b"),
            ("a.example:443", "https://a.example:443/a?b"),
            ("a.example:8080", "https://a.example:8080/a?b"),
            ("http://a.example:81", "http://a.example:81/a?b"),
            ("[2001:db8::1]:80", "http://[2001:db8::1]:80/a?b"),
            ("2001:db8::80", "https://[2001:db8::80]/a?b"),
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
        for host in
            ["2001:db8::1:443", "http://2001:db8::1:8080", "::1:80", "1:2:3:4:5:6:7:8:80", "a:b:c"]
        {
            assert!(given_host(host).unwrap_err().contains("brackets"), "{host}");
        }
        for host in [
            "2001:db8::1",
            "::1",
            "1:2:3:4:5:6:7:8",
            "fe80::a:b",
            "[2001:db8::1]:443",
            "a.example:80",
        ] {
            assert_eq!(given_host(host).as_deref(), Ok(host));
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
            "\0",
        ] {
            for config in [&given, &none] {
                assert_eq!(url(config, Some(host)), Err(Problem::NoHost), "{host}");
            }
            assert!(given_host(host).is_err());
        }
    }

    #[test]
    fn queries_are_joined_once() {
        let hosts = Hosts {
            given: Some(Given::new("a.example")),
            completes_urls: true,
            has_queries: true,
            ..Hosts::default()
        };
        let url = |text: &str, query: &str| completed(&hosts, text, [None, Some(query), None]);
        for (text, query, expected) in [
            ("/list", "sort=price", "https://a.example/list?sort=price"),
            ("/list", "?sort=price", "https://a.example/list?sort=price"),
            ("/list?", "sort=price", "https://a.example/list?sort=price"),
            ("/list#top", "sort=price", "https://a.example/list%23top?sort=price"),
            ("/a#b?c", "c", "https://a.example/a%23b?c"),
            ("/list#top", "", "https://a.example/list%23top"),
            ("/list", "a#b", "https://a.example/list?a%23b"),
            ("http://b.example/list#top", "a#b", "http://b.example/list?a%23b"),
            ("/list?sort=price", "sort=price", "https://a.example/list?sort=price"),
            ("/list?sort#x", "sort#x", "https://a.example/list?sort%23x"),
            ("GET /list HTTP/1.1", "sort=price", "https://a.example/list?sort=price"),
            ("http://b.example/list", "sort=price", "http://b.example/list?sort=price"),
            ("http://b.example/list?a#top", "a", "http://b.example/list?a#top"),
            ("/list?", "", "https://a.example/list?"),
            ("/list", "-", "https://a.example/list"),
            ("/list", "?-", "https://a.example/list?-"),
            ("/list", "?", "https://a.example/list?"),
            ("http://b.example/list", "?", "http://b.example/list?"),
            ("/list?own", "?", "https://a.example/list?own"),
        ] {
            assert_eq!(url(text, query).as_deref(), Ok(expected), "{text} {query}");
        }
        // A whole target in the place of its query.
        for target in [
            "/list?b",
            "/%6Cist?b",
            "/v1/list?b",
            "GET /list?b HTTP/1.1",
            "https://b.example/list?b",
        ] {
            assert_eq!(url("/list", target), Err(Problem::TwoQueries), "{target}");
            let whole = url("http://b.example/list", target);
            assert_eq!(whole, Err(Problem::TwoQueries), "{target}");
        }
        assert_eq!(url("/list", "/list"), Err(Problem::TwoQueries));
        for (path, query) in [
            ("/list", "https://b.example/other?b"),
            ("/list", "next=/list?x=1"),
            ("/list", "next=https://a.example/list"),
            ("/list", "/other?b"),
            ("/list", "u=a /list"),
            ("/", "https://b.example/"),
            ("/", "url=https://b.example/"),
            ("/", "b.example/"),
            ("/", "/x?y"),
        ] {
            assert!(url(path, query).is_ok(), "{path} {query}");
        }
        for text in ["/list?a", "http://b.example/?a#b"] {
            assert_eq!(url(text, "b"), Err(Problem::TwoQueries), "{text}");
        }
        assert_eq!(url("/list", "\0"), Err(Problem::NotAString));
    }

    /// Where a part is not read, the URL is compared with its field.
    #[test]
    fn parts_that_are_not_read_may_differ() {
        use LeftPart::{Host, Port, Query, Scheme, Target};
        for (url, part, value, expected) in [
            ("https://a.example/list", Query, "a", true),
            ("https://a.example/list?", Query, "?a", true),
            ("https://a.example/list?b", Query, "a", false),
            ("https://a.example/list", Query, "", false),
            ("https://a.example/list", Query, "?", false),
            ("https://a.example/list", Target, "?a", true),
            ("https://a.example/list", Target, "/list?a", true),
            ("https://a.example/list", Target, "/list/?a", false),
            ("https://a.example/list", Target, "GET /list?a HTTP/1.1", true),
            ("https://a.example/list", Target, "https://b.example/list?a", true),
            ("https://a.example/list", Target, "//b.example/list?a", true),
            ("https://a.example/list", Target, "b.example/list?a", true),
            ("https://a.example/", Target, "https://b.example/list/?a", false),
            ("https://a.example/list", Target, "shoes?", false),
            ("https://a.example/list?a", Target, "/list?a", false),
            ("https://a.example/list", Host, "b.example", true),
            ("https://a.example/list", Host, "A.example:443", false),
            ("https://a.example/list", Host, "a.example:8443", true),
            ("https://a.example/list", Host, "web-1", false),
            ("https://a.example/list", Host, "b.example/x", false),
            ("https://a.example/list", Scheme, "http", true),
            ("https://a.example/list", Scheme, "HTTPS:", false),
            ("https://a.example/list", Scheme, "HTTP/1.1", false),
            ("https://a.example/list", Port, "443", false),
            ("https://a.example/list", Port, "80", true),
            ("https://a.example:80/list", Port, "80", false),
            ("https://[::1]:8080/", Port, "8080", false),
            ("https://a.example/list", Port, "-", false),
        ] {
            let found = differs(url.as_bytes(), part, value.as_bytes());
            assert_eq!(found, expected, "{url} {part:?} {value}");
        }
    }

    /// A request in a table means what it does in a log.
    #[test]
    fn requests_are_of_the_host_of_their_record() {
        let given = Hosts { given: Some(Given::new("all.example")), ..Hosts::default() };
        let arena = Arena::new();
        let asked = |hosts: &Hosts, text: &str, host: Option<&'static str>| {
            let parts = || UrlParts { host: host.map(str::as_bytes), ..UrlParts::default() };
            let found = url_of_text(text.as_bytes(), parts, Some(hosts), &arena);
            found.map(|(url, doubts)| (str::from_utf8(url).unwrap().to_owned(), doubts))
        };
        let request = |target: &str| format!("GET {target} HTTP/1.1");
        let ok = |url: &str, doubts| Ok((url.to_owned(), doubts));
        let (other, same) = (Doubts::OTHER_HOST, Doubts::default());
        for (target, host, expected) in [
            ("https://b.example/x?y", Some("a.example"), ok("https://a.example/x?y", other)),
            ("http://a.example:8080/x", Some("a.example"), ok("https://a.example/x", other)),
            ("http://a.example/x", Some(" A.example "), ok("https://A.example/x", same)),
            ("https://b.example/x", Some("-"), ok("https://b.example/x", other)),
            ("https://b.example/x", None, ok("https://b.example/x", other)),
            ("https://all.example/x", None, ok("https://all.example/x", same)),
            ("https://b.example/x", Some("a b"), Err(Problem::NoHost)),
            ("https://b.example/x", Some("\0"), Err(Problem::NoHost)),
            ("http://a.example@b.example/x", None, Err(Problem::NoRequest)),
        ] {
            assert_eq!(asked(&given, &request(target), host), expected, "{target} {host:?}");
        }
        // Without a host, the target is all that there is. A URL without a method is one.
        let none = Hosts::default();
        let url = "https://b.example/x";
        assert_eq!(asked(&none, &request(url), None), ok(url, same));
        assert_eq!(asked(&given, url, Some("a.example")), ok(url, same));
    }

    #[test]
    fn schemes_are_of_the_record() {
        let hosts = Hosts { given: Some(Given::new("http://all.example")), ..Hosts::default() };
        let url = |host, scheme| completed(&hosts, "/a", [host, None, Some(scheme)]);
        for (host, scheme, expected) in [
            (Some("a.example"), "http", "http://a.example/a"),
            (Some("a.example"), "HTTPS", "https://a.example/a"),
            (Some("a.example"), "http:", "http://a.example/a"),
            (Some("a.example"), "Http://", "http://a.example/a"),
            (Some("a.example:80"), "https", "https://a.example:80/a"),
            (Some("https://a.example"), "https", "https://a.example/a"),
            (Some("a.example"), "HTTP/1.1", "https://a.example/a"),
            (Some("a.example:80"), "-", "http://a.example:80/a"),
            (None, "https", "https://all.example/a"),
            (None, "", "http://all.example/a"),
        ] {
            assert_eq!(url(host, scheme).as_deref(), Ok(expected), "{host:?} {scheme}");
        }
        for (host, scheme) in
            [(Some("a.example"), "ftp"), (None, "ws"), (Some("http://a.example"), "https")]
        {
            assert_eq!(url(host, scheme), Err(Problem::BadScheme), "{host:?} {scheme}");
        }
        // A URL has its own. A client chooses that of a target.
        let hosts = Hosts { completes_urls: true, ..hosts };
        let url = |text, scheme| completed(&hosts, text, [None, None, Some(scheme)]);
        let whole = "HTTPS://b.example/a";
        for scheme in ["https", "", "HTTP/1.1"] {
            assert_eq!(url(whole, scheme).as_deref(), Ok(whole), "{scheme}");
        }
        for scheme in ["http", "ftp"] {
            assert_eq!(url(whole, scheme), Err(Problem::BadScheme), "{scheme}");
        }
        let target = url("GET https://b.example/a HTTP/1.1", "http");
        assert_eq!(target.as_deref(), Ok("https://b.example/a"));
    }

    #[test]
    fn two_slashes_are_of_another_host_but_in_logs() {
        let table = Hosts { given: Some(Given::new("a.example")), ..Hosts::default() };
        let log = Hosts { is_log: true, ..table.clone() };
        let url = |hosts: &Hosts, text: &str| completed(hosts, text, [None; 3]);
        assert_eq!(url(&table, "//b.example/x"), Err(Problem::TwoSlashes));
        assert_eq!(url(&log, "//b/x").as_deref(), Ok("https://a.example//b/x"));
        assert_eq!(url(&table, "GET //b/x HTTP/1.1").as_deref(), Ok("https://a.example//b/x"));
    }
}
