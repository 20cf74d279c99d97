//! Scheme, host and port: what a file speaks for.

use std::net::{Ipv4Addr, Ipv6Addr};

use idna::AsciiDenyList;

use portcullis_dialect::dialect::{PathRules, RFC_9309};
use portcullis_dialect::limits::HOST_BYTES_MAX;

use super::url::{Parts, parts};

/// What one robots.txt file speaks for; equal exactly if one file speaks for both.
#[derive(PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    host: String,
    /// The scheme's own if none is written.
    port: Option<u16>,
}

/// The origin of `url`; `None` if it is no URL or its host is none.
pub(super) fn of(rules: &PathRules, url: &[u8]) -> Option<Origin> {
    of_parts(&parts(rules, url)?)
}

/// The origin that the file at `url` speaks for; `None` if no robots.txt stands there.
pub(super) fn of_robots_txt(url: &[u8]) -> Option<Origin> {
    // Where a path starts differs between dialects, but not the path of this file.
    let parts = parts(&RFC_9309.paths, url)?;
    if parts.path != b"/robots.txt" {
        return None;
    }
    of_parts(&parts)
}

fn of_parts(parts: &Parts<'_>) -> Option<Origin> {
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

/// The host in its one form: an address by its number, a name in lower case and A-labels.
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

/// A name with its labels in ASCII (UTS 46). `_` is in the names of real hosts, so of ASCII only
/// what could part a URL is denied.
fn a_labels(name: &[u8]) -> Option<String> {
    let denied = AsciiDenyList::new(true, "%#/:<>?@[\\]^|\"{}`");
    Some(idna::domain_to_ascii_cow(name, denied).ok()?.into_owned())
}

/// `host` with what `%` escapes.
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

/// One to four numbers between dots; the last fills what the others leave (URL Standard, 3.5).
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

/// A number as C writes it: hexadecimal after `0x`, octal after `0`, else decimal.
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
    // A number that does not fit is no part of an address either.
    Some(u64::from_str_radix(digits, base).unwrap_or(u64::MAX))
}
