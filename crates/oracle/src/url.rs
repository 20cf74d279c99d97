//! URLs: the compared path, and the origin that a robots.txt file applies to.

use std::net::{Ipv4Addr, Ipv6Addr};

use idna::AsciiDenyList;

use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_dialect::{PathRules, RFC_9309};

use crate::lines::trim;
use crate::pattern::normalise;

/// Returns the compared path and query in normal form, or `None` if `url` is not a URL.
pub(super) fn compared_path(rules: &PathRules, url: &[u8]) -> Option<Vec<u8>> {
    let path = parts(rules, url)?.path;
    let root: &[u8] = if path.starts_with(b"/") { b"" } else { b"/" };
    Some(normalise(&[root, path].concat(), rules.escapes))
}

/// The parts of a URL, as written.
struct Parts<'u> {
    scheme: &'u [u8],
    authority: &'u [u8],
    /// The compared path and query, up to `#`.
    path: &'u [u8],
}

fn parts<'u>(rules: &PathRules, url: &'u [u8]) -> Option<Parts<'u>> {
    let url = trim(url, b" \t\r");
    // Clients disagree on whether these bytes are part of the URL.
    let ends_in_control = url.last().is_some_and(|byte| *byte < b' ');
    let has_line_end = url.iter().any(|byte| b"\t\r\n".contains(byte));
    if url.len() > URL_BYTES_MAX || has_line_end || ends_in_control {
        return None;
    }
    let colon = url.iter().position(|&byte| byte == b':')?;
    let after_scheme = url[colon..].strip_prefix(b"://")?;
    let authority = after_scheme.split(|byte| b"/?#".contains(byte)).next()?;
    // Clients disagree on whether a backslash before the query ends the host, or a segment of the path.
    if after_scheme.split(|byte| b"?#".contains(byte)).next()?.contains(&b'\\') {
        return None;
    }
    // The path may begin within the authority, and ends where a fragment begins.
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

/// Returns whether `text` is a letter, then letters, digits, `+`, `-` and `.` (RFC 3986, section
/// 3.1).
fn is_scheme(text: &[u8]) -> bool {
    let may_follow = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    text.first().is_some_and(u8::is_ascii_alphabetic) && text.iter().all(may_follow)
}

/// Returns whether `authority` is optional user information, a host and an optional port.
///
/// This rejects the hosts that no standard allows. The engine rejects more, because it needs a key
/// for each host.
fn is_authority(authority: &[u8]) -> bool {
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

/// Returns whether `text` is empty, or decimal digits of a 16-bit number, without a sign.
fn is_port(text: &[u8]) -> bool {
    let digits = std::str::from_utf8(text).unwrap_or("none");
    text.is_empty() || (text.iter().all(u8::is_ascii_digit) && digits.parse::<u16>().is_ok())
}

/// Scheme, host and port. Equal origins share one robots.txt file.
#[derive(PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    host: String,
    /// The scheme's default port if none is written.
    port: Option<u16>,
}

/// Returns the origin of `url`, or `None` if it is not a URL or its host is invalid.
pub(super) fn origin(rules: &PathRules, url: &[u8]) -> Option<Origin> {
    origin_of_parts(&parts(rules, url)?)
}

/// Returns the origin that the file at `url` applies to, or `None` if `url` is not that of a
/// robots.txt.
pub(super) fn origin_of_robots_txt(url: &[u8]) -> Option<Origin> {
    // All dialects agree on this path, though not on where a path can begin.
    let parts = parts(&RFC_9309.paths, url)?;
    if parts.path != b"/robots.txt" {
        return None;
    }
    origin_of_parts(&parts)
}

/// A resource: an origin, and a path with its query.
pub(super) type Resource = (Origin, Vec<u8>);

/// Returns the resource of `url`, or `None` if it is not a URL.
pub(super) fn resource(url: &[u8]) -> Option<Resource> {
    let parts = parts(&RFC_9309.paths, url)?;
    let root: &[u8] = if parts.path.starts_with(b"/") { b"" } else { b"/" };
    Some((origin_of_parts(&parts)?, [root, parts.path].concat()))
}

/// Returns the robots.txt that applies to `url`, or `None` if it is not a URL.
pub(super) fn robots_txt_of(url: &[u8]) -> Option<Resource> {
    Some((resource(url)?.0, b"/robots.txt".to_vec()))
}

fn origin_of_parts(parts: &Parts<'_>) -> Option<Origin> {
    let scheme = String::from_utf8(parts.scheme.to_ascii_lowercase()).ok()?;
    let server = parts.authority.rsplit(|&byte| byte == b'@').next()?;
    let port_colon = server.iter().rposition(|&byte| byte == b':');
    // A colon within brackets belongs to the address.
    let port_colon = port_colon.filter(|&colon| !server[colon..].contains(&b']'));
    let (host, port) = server.split_at(port_colon.unwrap_or(server.len()));
    let digits = std::str::from_utf8(port).ok()?.trim_start_matches(':');
    let port = match (digits, scheme.as_str()) {
        ("", "http") => Some(80),
        ("", "https") => Some(443),
        ("", "ftp") => Some(21),
        ("", _) => None,
        (digits, _) => Some(digits.parse().ok()?),
    };
    Some(Origin { host: host_name(host)?, scheme, port })
}

/// Returns the canonical host: an address in its standard form, or a lower-case name of A-labels.
fn host_name(host: &[u8]) -> Option<String> {
    if let Some(address) = host.strip_prefix(b"[") {
        let address = std::str::from_utf8(address.strip_suffix(b"]")?).ok()?;
        return Some(address.parse::<Ipv6Addr>().ok()?.to_string());
    }
    let is_plain = |byte: &u8| byte.is_ascii() && !b"%[]".contains(byte);
    let name = match host.iter().all(is_plain) {
        true => String::from_utf8(host.to_ascii_lowercase()).ok()?,
        false => a_labels(&decoded(host))?,
    };
    let without_dot = name.strip_suffix('.').unwrap_or(&name);
    let last_part = without_dot.rsplit('.').next()?;
    let is_number = number(last_part).is_some()
        || (!last_part.is_empty() && last_part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_number {
        return Some(ipv4(without_dot)?.to_string());
    }
    Some(name).filter(|name| (1..=HOST_BYTES_MAX).contains(&name.len()))
}

/// Converts the labels of a name to ASCII (UTS 46). Real host names contain `_`, so the only ASCII
/// denied is what delimits parts of a URL.
fn a_labels(name: &[u8]) -> Option<String> {
    let denied = AsciiDenyList::new(true, "%#/:<>?@[\\]^|\"{}`");
    Some(idna::domain_to_ascii_cow(name, denied).ok()?.into_owned())
}

/// Decodes the percent escapes of `host`.
fn decoded(host: &[u8]) -> Vec<u8> {
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let mut out = Vec::new();
    let mut position = 0;
    while position < host.len() {
        let digits = host.get(position + 1..position + 3).filter(|_| host[position] == b'%');
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        match digits.and_then(hex) {
            Some(byte) => {
                out.push(byte);
                position += 3;
            }
            None => {
                out.push(host[position]);
                position += 1;
            }
        }
    }
    out
}

/// Reads one to four numbers between dots; the last fills the remaining bytes (URL Standard, 3.5).
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let numbers: Vec<u64> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, others) = numbers.split_last()?;
    if others.len() > 3 || others.iter().any(|&number| number > 255) {
        return None;
    }
    let left = 4 - others.len();
    if *last >= 1 << (8 * left) {
        return None;
    }
    let high = others.iter().fold(0_u64, |sum, number| sum * 256 + number);
    u32::try_from((high << (8 * left)) + last).ok().map(Ipv4Addr::from)
}

/// Reads a number in C notation: hexadecimal after `0x`, octal after `0`, otherwise decimal.
fn number(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (digits, base) = match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(""), _) | (_, Some("")) => return Some(0),
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) => (digits, 8),
        (None, None) => (text.as_str(), 10),
    };
    let in_base = |digit: char| digit.is_digit(base);
    (!digits.is_empty() && digits.chars().all(in_base)).then_some(())?;
    // A number that overflows is not part of a valid address either.
    Some(u64::from_str_radix(digits, base).unwrap_or(u64::MAX))
}
