//! The target of a request, and the origin that it is for.

use memchr::{memchr, memmem};

use super::noticed::Doubts;
use super::{Arena, Problem};

/// Returns the target of `METHOD SP target [SP HTTP/x]`; `None` if it asks for no page.
///
/// Blanks around the target are none of it (RFC 9112, section 3). Without `HTTP/x`, a last word that is a bare
/// version is none of it either, and a target has no blank.
#[inline]
pub(super) fn target(request: &[u8]) -> Option<&[u8]> {
    let request = request.trim_ascii_end();
    // A method has few bytes, for which a search takes longer.
    let (method, rest) = request.split_at(request.iter().position(|byte| *byte == b' ')?);
    if !is_method(method) {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let (target, last) = match rest.iter().rposition(|byte| *byte == b' ') {
        Some(blank) => (rest[..blank].trim_ascii_end(), &rest[blank + 1..]),
        None => (rest, &b""[..]),
    };
    if !last.is_empty() && !is_protocol(last) {
        return None;
    }
    is_target(target).then_some(target)
}

/// Returns the target of a request that is like most: `GET /a?b HTTP/1.1`. It is the one of [`target`].
#[inline]
pub(super) fn usual_path(request: &[u8]) -> Option<&[u8]> {
    let (start, version) = request.split_last_chunk::<9>()?;
    let is_digit = |at: usize| version[at].is_ascii_digit();
    if version[..6] != *b" HTTP/" || version[7] != b'.' || !is_digit(6) || !is_digit(8) {
        return None;
    }
    let is_method = |method: &[u8; 5]| start.starts_with(method);
    let path = match () {
        () if start.starts_with(b"GET /") => &start[4..],
        () if is_method(b"POST ") || is_method(b"HEAD ") => &start[5..],
        () => return None,
    };
    matches!(path, [b'/'] | [b'/', .., b'!'..=u8::MAX]).then_some(path)
}

/// Returns a path or a query that a program took out of a target or decoded, where `#` stands for `%23`. In a whole
/// URL and in a target as it was sent, it begins a fragment, which servers leave out.
#[inline]
pub(super) fn without_fragment<'c>(part: &'c [u8], arena: &'c Arena) -> &'c [u8] {
    if memchr(b'#', part).is_none() {
        return part;
    }
    let pieces: Vec<&[u8]> = part.split(|byte| *byte == b'#').collect();
    arena.alloc_slice_copy(&pieces.join(&b"%23"[..]))
}

/// Whether a request ends with a protocol or its version.
pub(super) fn has_version(request: &[u8]) -> bool {
    let mut words = request.trim_ascii_end().rsplit(|byte| *byte == b' ');
    words.next().is_some_and(is_protocol)
}

/// Whether a word is `HTTP/x`, or the bare version that hypercorn writes.
fn is_protocol(word: &[u8]) -> bool {
    word.starts_with(b"HTTP/") || matches!(word, [b'0'..=b'9'] | [b'0'..=b'9', b'.', b'0'..=b'9'])
}

/// Whether a word is a method by which pages are asked for.
pub(super) fn is_method(word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
    match word {
        b"GET" | b"HEAD" | b"POST" => true,
        b"" | b"-" | b"CONNECT" | b"UNKNOWN" => false,
        _ => word.iter().all(is_part),
    }
}

/// Whether a text is a path or a URL.
pub(super) fn is_target(text: &[u8]) -> bool {
    text.starts_with(b"/") || is_absolute(text)
}

/// Whether a text is a URL, or a request for one, and no path that other fields complete.
pub(super) fn is_whole_url(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let target = target(text).filter(|_| !text.starts_with(b"/")).unwrap_or(text);
    !target.starts_with(b"/")
}

/// Returns whether a target begins with a scheme.
fn is_absolute(target: &[u8]) -> bool {
    let scheme = &target[..memmem::find(target, b"://").unwrap_or(0)];
    !scheme.is_empty() && scheme.iter().all(u8::is_ascii_alphabetic)
}

/// Returns the scheme with `://`, the host with its port, and the rest of a URL.
pub(super) fn parts_of(url: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let start = memmem::find(url, b"://")? + 3;
    let bytes = url[start..].iter().take_while(|byte| !b"/?#".contains(byte)).count();
    Some((&url[..start], &url[start..start + bytes], &url[start + bytes..]))
}

/// The origin that something else than the target names: the record of the request, or what is given for all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'n> {
    /// A host, perhaps with a scheme and a port.
    pub origin: &'n [u8],
    /// Whether it decides if the target names another one.
    pub decides: bool,
}

/// Returns what a target that is a URL asks for: the path on the origin that is named, or else the URL. A
/// client chooses the target, so another origin is in doubt.
///
/// # Errors
///
/// If more than a host stands before its path.
pub(super) fn asked<'c>(
    target: &'c [u8],
    named: Option<Named<'_>>,
    arena: &'c Arena,
) -> Result<(&'c [u8], Doubts), Problem> {
    let (scheme, host, rest) = parts_of(target).ok_or(Problem::NoRequest)?;
    if is_joined(host, rest) {
        return Err(Problem::NoRequest);
    }
    let is_other = named.is_some_and(|named| !is_of_origin(scheme, host, named.origin));
    let doubts = Doubts::default().with(Doubts::OTHER_HOST, is_other);
    Ok(match named {
        Some(named) if named.decides || !is_other => (path_of(rest, arena), doubts),
        _ => (target, doubts),
    })
}

/// Returns the path of a URL, which is what stands after its host.
fn path_of<'c>(rest: &'c [u8], arena: &'c Arena) -> &'c [u8] {
    if rest.starts_with(b"/") { rest } else { arena.alloc_slice_copy(&[b"/", rest].concat()) }
}

/// Whether a target has more than a host before its path: a user, or another URL. Varnish joins its scheme, the
/// host and the target, so that `@b.example/` or `https://b.example/` may follow the host.
fn is_joined(host: &[u8], rest: &[u8]) -> bool {
    memchr(b'@', host).is_some() || host.ends_with(b":") && rest.starts_with(b"//")
}

/// Whether a URL with this scheme and host is of an origin, which is a host that may have a scheme and a port.
/// One without them is that of both schemes at their usual ports.
pub(super) fn is_of_origin(scheme: &[u8], host: &[u8], origin: &[u8]) -> bool {
    // A field at the end of a format may have its blanks.
    let origin = origin.trim_ascii();
    let start = memmem::find(origin, b"://").map_or(0, |at| at + 3);
    let (own_scheme, named) = origin.split_at(start);
    let Some(usual_port) = usual_port(scheme) else { return false };
    let ((name, port), (named, named_port)) = (name_and_port(host), name_and_port(named));
    let is_scheme = own_scheme.is_empty() || own_scheme.eq_ignore_ascii_case(scheme);
    let is_port = port.unwrap_or(usual_port) == named_port.unwrap_or(usual_port);
    is_scheme && is_port && name.eq_ignore_ascii_case(named)
}

/// Returns the port of a scheme with `://`; `None` if it is none of the web.
fn usual_port(scheme: &[u8]) -> Option<u32> {
    let ports: [(&[u8], u32); 2] = [(b"http://", 80), (b"https://", 443)];
    ports.into_iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name)).map(|(_, port)| port)
}

/// Returns the port of a URL with this scheme and host.
pub(super) fn port_of(scheme: &[u8], host: &[u8]) -> Option<u32> {
    name_and_port(host).1.or_else(|| usual_port(scheme))
}

/// Returns a host without the dot at its end and the brackets of an address, and its port. An address without
/// brackets has no port.
fn name_and_port(host: &[u8]) -> (&[u8], Option<u32>) {
    let colons = host.iter().filter(|byte| **byte == b':').count();
    let port = host.iter().rposition(|byte| *byte == b':');
    let port = port.filter(|at| {
        let digits = host[at + 1..].iter().all(u8::is_ascii_digit);
        digits && (colons == 1 || host.starts_with(b"["))
    });
    let name = &host[..port.unwrap_or(host.len())];
    let name = name.strip_suffix(b".").unwrap_or(name);
    let name = name.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]")).unwrap_or(name);
    let digits = port.map(|at| &host[at + 1..]).filter(|digits| !digits.is_empty());
    // No port is as great.
    let number = |digits| str::from_utf8(digits).ok()?.parse().ok();
    (name, digits.map(|digits| number(digits).unwrap_or(u32::MAX)))
}
