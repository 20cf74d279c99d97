//! The target of a request, and the site that a server takes it to ask.

use memchr::{memchr, memmem};

/// Returns the target of `METHOD SP target [SP HTTP/x]`; `None` if it asks for no page.
///
/// Blanks around the target are none of it (RFC 9112, section 3). Without `HTTP/x`, a last word that is a bare version
/// is none of it either, and a target has no blank.
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
    let is_known = !matches!(word, b"" | b"-" | b"CONNECT" | b"UNKNOWN");
    is_known && word.iter().all(is_part)
}

/// Whether a text is a path or a URL.
pub(super) fn is_target(text: &[u8]) -> bool {
    text.starts_with(b"/") || is_absolute(text)
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

/// Whether the host of a target is followed by another URL: Varnish joins its scheme, the host and the target.
pub(super) fn is_joined(host: &[u8], rest: &[u8]) -> bool {
    (host.ends_with(b"http:") || host.ends_with(b"https:")) && rest.starts_with(b"//")
}

/// Whether two texts name one host, whatever their schemes and ports.
pub(super) fn is_same_host(one: &[u8], other: &[u8]) -> bool {
    name_of(one).eq_ignore_ascii_case(name_of(other))
}

/// Returns the host of an origin without scheme, user, port and the dot at its end.
fn name_of(text: &[u8]) -> &[u8] {
    let text = memmem::find(text, b"://").map_or(text, |at| &text[at + 3..]);
    let text = memchr(b'@', text).map_or(text, |at| &text[at + 1..]);
    let port = text.iter().rposition(|byte| *byte == b':');
    let port = port.filter(|at| text[at + 1..].iter().all(u8::is_ascii_digit));
    let name = &text[..port.unwrap_or(text.len())];
    name.strip_suffix(b".").unwrap_or(name)
}
