//! What is a URL, and what of it is compared.

use portcullis_dialect::dialect::PathRules;
use portcullis_dialect::limits::URL_BYTES_MAX;

use super::lines::trim;
use super::pattern::normalise;

/// The path and query that are compared, in normal form; `None` if `url` is no URL.
pub(super) fn compared_path(rules: &PathRules, url: &[u8]) -> Option<Vec<u8>> {
    let path = parts(rules, url)?.path;
    let root: &[u8] = if path.starts_with(b"/") { b"" } else { b"/" };
    Some(normalise(&[root, path].concat(), rules.escapes))
}

/// A URL in three.
pub(super) struct Parts<'u> {
    pub(super) scheme: &'u [u8],
    pub(super) authority: &'u [u8],
    /// What is compared, up to `#`.
    pub(super) path: &'u [u8],
}

/// The parts of `url`, as written; `None` if it is no URL.
pub(super) fn parts<'u>(rules: &PathRules, url: &'u [u8]) -> Option<Parts<'u>> {
    let url = trim(url, b" \t\r");
    if url.len() > URL_BYTES_MAX {
        return None;
    }
    let colon = url.iter().position(|&byte| byte == b':')?;
    let after_scheme = url[colon..].strip_prefix(b"://")?;
    let authority = after_scheme.split(|byte| b"/?#".contains(byte)).next()?;
    // It may begin within the authority, but is over where a fragment begins.
    let before_fragment = after_scheme.split(|&byte| byte == b'#').next()?;
    let begins_path = |byte: &u8| rules.path_start.contains(byte);
    let path_begins = before_fragment.iter().position(begins_path);
    let scheme = &url[..colon];
    if !is_scheme(scheme) || !is_authority(authority) {
        return None;
    }
    let path = &before_fragment[path_begins.unwrap_or(before_fragment.len())..];
    Some(Parts { scheme, authority, path })
}

/// A letter, then letters, digits, `+`, `-` and `.` (RFC 3986, section 3.1).
fn is_scheme(text: &[u8]) -> bool {
    let may_follow = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    text.first().is_some_and(u8::is_ascii_alphabetic) && text.iter().all(may_follow)
}

/// User information, a host and a port, of which only the host has to be there.
///
/// The engine, which has to find the policy of a host, knows more names that are no hosts; here
/// those are refused that no reading of a URL admits.
fn is_authority(authority: &[u8]) -> bool {
    // Some clients would end the host there, and others not.
    if authority.contains(&b'\\') {
        return false;
    }
    let user_bytes = authority.iter().rposition(|&byte| byte == b'@');
    let host_and_port = &authority[user_bytes.map_or(0, |at| at + 1)..];
    let in_brackets = host_and_port.starts_with(b"[");
    let host_ends_before = |byte: &u8| *byte == if in_brackets { b']' } else { b':' };
    let host_bytes = match host_and_port.iter().position(host_ends_before) {
        Some(end) if in_brackets => end + 1,
        Some(end) => end,
        None if in_brackets => return false,
        None => host_and_port.len(),
    };
    let (host, port) = host_and_port.split_at(host_bytes);
    let is_host = if in_brackets {
        host != b"[]"
    } else {
        !host.is_empty() && !host.iter().any(never_in_host)
    };
    is_host && (port.is_empty() || port.strip_prefix(b":").is_some_and(is_port))
}

fn never_in_host(byte: &u8) -> bool {
    *byte <= b' ' || *byte == 0x7f || b"<>\\^|\"{}`".contains(byte)
}

/// Nothing, or decimal digits for a number of 16 bits. A sign is no digit.
fn is_port(text: &[u8]) -> bool {
    let digits = std::str::from_utf8(text).unwrap_or("none");
    text.is_empty() || (text.iter().all(u8::is_ascii_digit) && digits.parse::<u16>().is_ok())
}
