//! What stands between `://` and the path: user information, host and port.
//!
//! One pass over its bytes finds where it ends, where the host starts, whether a colon follows, and
//! whether the host is in the form of a key already. A table tells the bytes apart; nine in ten
//! are [`Class::Plain`] and need nothing.

use memchr::{memchr, memrchr};

use super::split::BadUrl;
use portcullis_dialect::limits::HOST_BYTES_MAX;

/// What a host needs to become a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostForm {
    /// Nothing: it is a name in lower case.
    Key,
    /// Lower case: it is a name with ASCII letters in upper case.
    UpperCase,
    /// Decoding and IDNA: it has escapes or bytes outside ASCII.
    International,
    /// Its last part is a number, so it has to be an IPv4 address.
    Ipv4,
    /// It stands in brackets, so it has to be an IPv6 address.
    Ipv6,
}

/// An authority and its parts, as written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Authority<'u> {
    /// The bytes from its start to where the compared path starts: its length, or fewer if the
    /// dialect's path can start within it.
    pub(super) path_start: usize,
    pub(super) host: &'u [u8],
    /// All after the user information.
    pub(super) host_and_port: &'u [u8],
    pub(super) port: Option<u16>,
    pub(super) form: HostForm,
}

/// What a byte is in an authority.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// Lower-case letters, digits, `-`, `.` and `_`.
    Plain,
    /// Other characters that a name may hold.
    Other,
    Upper,
    /// Bytes outside ASCII, and `%`.
    International,
    Colon,
    At,
    OpenBracket,
    CloseBracket,
    /// `\`, which no authority may hold: WHATWG clients end the host there (URL Standard, section
    /// 4.4), and RFC 3986 reads it as user information or host.
    Backslash,
    /// No byte of any host.
    Bad,
    /// `/`, `?` and `#`.
    End,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = class(byte as u8);
        byte += 1;
    }
    table
}

const fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => Class::Plain,
        b'A'..=b'Z' => Class::Upper,
        128.. | b'%' => Class::International,
        b':' => Class::Colon,
        b'@' => Class::At,
        b'[' => Class::OpenBracket,
        b']' => Class::CloseBracket,
        b'/' | b'?' | b'#' => Class::End,
        b'\\' => Class::Backslash,
        0..=b' ' | 0x7f => Class::Bad,
        b'<' | b'>' | b'^' | b'|' | b'"' | b'{' | b'}' | b'`' => Class::Bad,
        _ => Class::Other,
    }
}

/// The classes that occur in a host, as bits.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Classes(u16);

impl Classes {
    const NONE: Classes = Classes(0);

    fn add(&mut self, class: Class) {
        self.0 |= 1 << class as u8;
    }

    fn has(self, class: Class) -> bool {
        self.0 >> class as u8 & 1 == 1
    }
}

/// Whether `byte` ends an authority: `/`, `?` and `#` in every dialect (RFC 3986, section 3.2).
pub(super) fn ends_authority(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == Class::End
}

/// Reads the authority at the start of `rest`, and finds where the path starts that is compared: at
/// the authority's end, or within it at a byte of `path_start`.
#[inline]
pub(super) fn read_authority<'u>(
    rest: &'u [u8],
    path_start: &[u8],
) -> Result<Authority<'u>, BadUrl> {
    let mut host_start = 0;
    let mut seen = Classes::NONE;
    let mut bytes = rest.len();
    let mut path = None;
    for (position, &byte) in rest.iter().enumerate() {
        let class = CLASSES[usize::from(byte)];
        if class == Class::Plain {
            continue;
        }
        if path.is_none() && path_start.contains(&byte) {
            path = Some(position);
        }
        match class {
            Class::End => {
                bytes = position;
                break;
            }
            Class::Backslash => return Err(BadUrl::Backslash),
            // All before the last `@` is user information, whatever its bytes.
            Class::At => {
                host_start = position + 1;
                seen = Classes::NONE;
            }
            _ => seen.add(class),
        }
    }
    if bytes == 0 {
        return Err(BadUrl::NoAuthority);
    }
    let host_and_port = &rest[host_start..bytes];
    let (host, port) = split_port(host_and_port, seen)?;
    let path_start = path.unwrap_or(bytes);
    Ok(Authority { path_start, host, host_and_port, port, form: host_form(host, seen)? })
}

/// Splits host and port, whose bytes are of the classes `seen`.
#[inline]
fn split_port(text: &[u8], seen: Classes) -> Result<(&[u8], Option<u16>), BadUrl> {
    let (host, after) = if seen.has(Class::OpenBracket) {
        let close = memchr(b']', text).ok_or(BadUrl::BadHost)?;
        text.split_at(close + 1)
    } else if seen.has(Class::Colon) {
        text.split_at(memrchr(b':', text).unwrap_or(text.len()))
    } else {
        (text, &[][..])
    };
    if host.is_empty() {
        return Err(BadUrl::NoHost);
    }
    Ok((host, port(after)?))
}

/// The port that `text`, what follows the host, writes. A colon alone writes none (RFC 3986,
/// section 3.2.3).
#[inline]
fn port(text: &[u8]) -> Result<Option<u16>, BadUrl> {
    let Some((&colon, digits)) = text.split_first() else {
        return Ok(None);
    };
    if colon != b':' {
        return Err(BadUrl::BadHost);
    }
    let mut number = None;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return Err(BadUrl::BadPort);
        }
        let value = number.unwrap_or(0_u16).checked_mul(10);
        let value = value.and_then(|tens| tens.checked_add(u16::from(digit - b'0')));
        number = Some(value.ok_or(BadUrl::BadPort)?);
    }
    Ok(number)
}

/// What `host` needs. `seen` are the classes of its bytes and of those of the port.
#[inline]
fn host_form(host: &[u8], seen: Classes) -> Result<HostForm, BadUrl> {
    if seen.has(Class::OpenBracket) {
        return match host {
            [b'[', .., b']'] => Ok(HostForm::Ipv6),
            _ => Err(BadUrl::BadHost),
        };
    }
    // A second colon would make the key `host:port` ambiguous.
    let colons = seen.has(Class::Colon) && memchr(b':', host).is_some();
    if seen.has(Class::Bad) || seen.has(Class::CloseBracket) || colons {
        return Err(BadUrl::BadHost);
    }
    if seen.has(Class::International) {
        return Ok(HostForm::International);
    }
    if host.len() > HOST_BYTES_MAX {
        return Err(BadUrl::TooLong);
    }
    if ends_in_number(host) {
        return Ok(HostForm::Ipv4);
    }
    Ok(if seen.has(Class::Upper) { HostForm::UpperCase } else { HostForm::Key })
}

/// Whether the last part of `host` is a number, decimal or hexadecimal; a final dot is no part.
/// Such a host is an IPv4 address or nothing (URL Standard, section 3.5, "ends in a number").
#[inline]
pub(super) fn ends_in_number(host: &[u8]) -> bool {
    // The last byte of most names, the `m` of `.com`, settles it without a search for the dot.
    host.last().is_some_and(|byte| byte.is_ascii_hexdigit() || b"xX.".contains(byte))
        && last_part_is_number(host)
}

fn last_part_is_number(host: &[u8]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let start = host.iter().rposition(|&byte| byte == b'.');
    let last = &host[start.map_or(0, |dot| dot + 1)..];
    match last {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        [b'0'..=b'9', ..] => last.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
