//! Splits a record into the parts of a URL: scheme, host, port and path, as written.
//!
//! One pass over the authority finds its end, the host, the port, and whether the host is already a
//! key. A table classifies bytes; nine in ten are [`PLAIN`] and need no work.

use memchr::{memchr, memrchr};

use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_engine::bytes::trim;

use super::plain::{ends_in_number, has_backslash, has_tab_or_line_end, http_scheme_bytes};

/// Bytes trimmed from both ends of a record.
const AROUND: &[u8] = b" \t\r";

/// Why a record is not a usable URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BadUrl {
    /// The record is empty or only white space.
    #[error("empty record: give a URL")]
    Empty,
    /// The URL or its host exceeds the limit.
    #[error(
        "URL too long: it has more than {URL_BYTES_MAX} bytes, or its host more than \
         {HOST_BYTES_MAX}"
    )]
    TooLong,
    /// There is no scheme followed by `://`.
    #[error("no scheme; write https://…")]
    NoScheme,
    /// It begins with `/`.
    #[error("a path without a host")]
    Path,
    /// A scheme is followed by `:` alone, as in `mailto:joe@example.com` and `http:/example.com`.
    #[error("no // after the scheme: a web URL begins with https:// or http://")]
    NoSlashes,
    /// Nothing is between `://` and the path.
    #[error("no server: write its host after ://")]
    NoAuthority,
    /// The authority has user information or a port, but no host.
    #[error("no host: write one before the port")]
    NoHost,
    /// The text after the host's colon is not a number up to 65535.
    #[error("invalid port: it must be a number from 0 to 65535")]
    BadPort,
    /// The host is neither a name nor an address.
    #[error("invalid host: it is neither a name nor an address")]
    BadHost,
    /// A backslash is before the query; clients disagree on the host or the path.
    #[error("backslash in the host or the path: write / or %5C")]
    Backslash,
    /// A control character ends the URL; clients disagree on whether it is part of the URL.
    #[error("control character at the end of the URL: write it as %XX, or remove it")]
    ControlAtEnd,
    /// A TAB, CR or LF is inside the URL; clients disagree on whether it is part of the URL.
    #[error("TAB, CR or LF inside the URL: write %09, %0D or %0A, or remove it")]
    TabOrLineEnd,
    /// It has to be the URL of a robots.txt, and its path is not `/robots.txt`.
    #[error("not the URL of a robots.txt: its path must be exactly /robots.txt")]
    NotRobotsTxt,
}

/// The parts of a URL, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitUrl<'u> {
    /// The scheme as written.
    pub scheme: &'u [u8],
    /// The host, not empty; an IPv6 address keeps its brackets.
    pub host: &'u [u8],
    /// The port, or `None` if none is written.
    pub port: Option<u16>,
    /// From the end of the authority, or from the first `path_start` byte within it (`;x` of
    /// `http://example.com;x`), up to `#`. It may be empty or start with `?` instead of `/`.
    pub path: &'u [u8],
    /// The work that turns the host into a key.
    pub(super) host_form: HostForm,
}

/// Splits a URL.
///
/// `path_start` lists the bytes that begin the compared path (a dialect's
/// [`path_start`](portcullis_dialect::PathRules::path_start)): no letter, digit, `-`, `.` or `_`.
/// The authority always ends at `/`, `?` or `#`. SP, TAB and CR around the URL are trimmed; TAB, CR
/// and LF inside it, another control character at its end, and a backslash before the query are an
/// error.
///
/// # Errors
///
/// [`BadUrl`]. Hosts that are not ASCII, have escapes, or are addresses, are only checked by
/// [`host_key`](super::host_key).
#[inline]
pub fn split<'u>(record: &'u [u8], path_start: &[u8]) -> Result<SplitUrl<'u>, BadUrl> {
    split_assuming(record, path_start, None)
}

/// Splits a URL, or a record without a scheme as if it began with `assumed_scheme` (`https`).
///
/// Accepts `example.com/x` and `//example.com/x`. Mail addresses are [`BadUrl::NoScheme`], and schemes
/// without `//` such as `tel:911` [`BadUrl::NoSlashes`]: RFC 3986 (section 4.2) and the URL Standard read
/// everything before the first colon as a scheme.
///
/// Contrary to both, `example.com:8080/x` and `localhost:8080` are read as host and port: lists
/// contain them, few schemes have a dot (`soap.beep`), and `localhost` is reserved for hosts (RFC
/// 6761, section 6.3). Other names without a dot are schemes; write `//myhost:8080`.
///
/// # Errors
///
/// As [`split`].
#[inline]
pub fn split_assuming<'u>(
    record: &'u [u8],
    path_start: &[u8],
    assumed_scheme: Option<&'u [u8]>,
) -> Result<SplitUrl<'u>, BadUrl> {
    let url = trim_record(record);
    if url.is_empty() {
        return Err(BadUrl::Empty);
    }
    if url.len() > URL_BYTES_MAX {
        return Err(BadUrl::TooLong);
    }
    if ends_in_control(url) {
        return Err(BadUrl::ControlAtEnd);
    }
    match scheme_bytes(url) {
        Some(bytes) => split_after(&url[..bytes], &url[bytes + 3..], path_start),
        None => {
            let rest = without_scheme(url)?;
            split_after(assumed_scheme.ok_or(BadUrl::NoScheme)?, rest, path_start)
        }
    }
}

/// Returns the problem of a path, with its query and its fragment, that clients of the URL Standard
/// read in another way than by RFC 3986. `None` if there is none.
pub fn unclear_path(path: &[u8]) -> Option<BadUrl> {
    match () {
        () if has_tab_or_line_end(path) => Some(BadUrl::TabOrLineEnd),
        () if has_backslash(path) => Some(BadUrl::Backslash),
        () => None,
    }
}

/// Trims `record`. Most records need no trimming, which their first and last bytes show.
#[inline]
pub(super) fn trim_record(record: &[u8]) -> &[u8] {
    match record {
        // Visible ASCII at both ends.
        [b'!'..=b'~', .., b'!'..=b'~'] => record,
        _ => trim(record, AROUND),
    }
}

/// Whether a control character other than TAB, CR and LF ends a URL. The URL Standard (section 4.4, "basic
/// URL parser") removes it.
pub(crate) fn ends_in_control(url: &[u8]) -> bool {
    matches!(url, [.., 0..=8 | 11 | 12 | 14..=31])
}

/// Returns the length of the scheme, or `None` unless `://` follows (RFC 3986, section 3.1).
#[inline]
fn scheme_bytes(url: &[u8]) -> Option<usize> {
    http_scheme_bytes(url).or_else(|| {
        let bytes = scheme_name_bytes(url);
        (bytes > 0 && url[bytes..].starts_with(b"://")).then_some(bytes)
    })
}

/// Returns the number of bytes at the start of `text` that can be a scheme (RFC 3986, section 3.1).
pub(crate) fn scheme_name_bytes(text: &[u8]) -> usize {
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return 0;
    }
    text.iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte))
        .unwrap_or(text.len())
}

/// Returns the part after `://` of a record whose scheme is assumed.
#[cold]
fn without_scheme(record: &[u8]) -> Result<&[u8], BadUrl> {
    if let Some(rest) = record.strip_prefix(b"//") {
        return Ok(rest);
    }
    if record.starts_with(b"/") {
        return Err(BadUrl::Path);
    }
    let (name, rest) = record.split_at(scheme_name_bytes(record));
    let names_host = memchr(b'.', name).is_some() || name.eq_ignore_ascii_case(b"localhost");
    if !name.is_empty() && rest.starts_with(b":") && !names_host {
        return Err(BadUrl::NoSlashes);
    }
    // `joe@example.com` is not a resource of that server, and a colon without a port belongs to a
    // scheme (`com.example.app:/x`) or to nothing (`ht_tp://x`).
    let authority = record.split(|&byte| ends_authority(byte)).next().unwrap_or_default();
    if authority.ends_with(b":") || memchr(b'@', authority).is_some() {
        return Err(BadUrl::NoScheme);
    }
    Ok(record)
}

/// The work that turns a host into a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostForm {
    /// None: it is a name in lower case.
    Key,
    /// Lower case: it is a name with ASCII letters in upper case.
    UpperCase,
    /// Parsing: it has escapes or bytes outside ASCII, its last part is a number, so that it must be an
    /// IPv4 address, or it is in brackets, so that it must be an IPv6 address.
    Parsed,
}

/// The classes of the bytes of an authority: a set, with a bit for each class.
type Classes = u16;

/// Lower-case letters, digits, `-`, `.` and `_`.
const PLAIN: Classes = 0;
/// Other characters that a name may hold.
const OTHER: Classes = 1;
const UPPER: Classes = 1 << 1;
/// Bytes outside ASCII, and `%`.
const INTERNATIONAL: Classes = 1 << 2;
const COLON: Classes = 1 << 3;
const AT: Classes = 1 << 4;
const OPEN_BRACKET: Classes = 1 << 5;
const CLOSE_BRACKET: Classes = 1 << 6;
/// `\`, which is rejected: WHATWG clients read it as `/` (URL Standard, section 4.4), which ends the host,
/// and RFC 3986 does not allow it.
const BACKSLASH: Classes = 1 << 7;
/// Bytes that no host contains.
const BAD: Classes = 1 << 8;
/// `/`, `?` and `#`.
const END: Classes = 1 << 9;

const CLASSES: [Classes; 256] = {
    let mut table = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => PLAIN,
            b'A'..=b'Z' => UPPER,
            128.. | b'%' => INTERNATIONAL,
            b':' => COLON,
            b'@' => AT,
            b'[' => OPEN_BRACKET,
            b']' => CLOSE_BRACKET,
            b'/' | b'?' | b'#' => END,
            b'\\' => BACKSLASH,
            0..=b' ' | 0x7f => BAD,
            b'<' | b'>' | b'^' | b'|' | b'"' | b'{' | b'}' | b'`' => BAD,
            _ => OTHER,
        };
        byte += 1;
    }
    table
};

/// Returns whether `byte` ends an authority: `/`, `?` and `#` (RFC 3986, section 3.2).
fn ends_authority(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == END
}

/// Splits the part after `://`.
#[inline]
fn split_after<'u>(
    scheme: &'u [u8],
    rest: &'u [u8],
    path_start: &[u8],
) -> Result<SplitUrl<'u>, BadUrl> {
    if has_tab_or_line_end(rest) {
        return Err(BadUrl::TabOrLineEnd);
    }
    let mut host_start = 0;
    let mut seen = 0;
    let mut bytes = rest.len();
    let mut path = None;
    for (position, &byte) in rest.iter().enumerate() {
        let class = CLASSES[usize::from(byte)];
        if class == PLAIN {
            continue;
        }
        if path.is_none() && path_start.contains(&byte) {
            path = Some(position);
        }
        match class {
            END => {
                bytes = position;
                break;
            }
            BACKSLASH => return Err(BadUrl::Backslash),
            // Everything before the last `@` is user information.
            AT => {
                host_start = position + 1;
                seen = 0;
            }
            _ => seen |= class,
        }
    }
    if bytes == 0 {
        return Err(BadUrl::NoAuthority);
    }
    if has_backslash(&rest[bytes..]) {
        return Err(BadUrl::Backslash);
    }
    let (host, port) = split_port(&rest[host_start..bytes], seen)?;
    let path = &rest[path.unwrap_or(bytes)..];
    Ok(SplitUrl {
        scheme,
        host,
        port,
        path: &path[..memchr(b'#', path).unwrap_or(path.len())],
        host_form: host_form(host, seen)?,
    })
}

/// Splits host and port, whose bytes are of the classes `seen`.
#[inline]
fn split_port(text: &[u8], seen: Classes) -> Result<(&[u8], Option<u16>), BadUrl> {
    let (host, after) = if seen & OPEN_BRACKET != 0 {
        let close = memchr(b']', text).ok_or(BadUrl::BadHost)?;
        text.split_at(close + 1)
    } else if seen & COLON != 0 {
        text.split_at(memrchr(b':', text).unwrap_or(text.len()))
    } else {
        (text, &[][..])
    };
    if host.is_empty() {
        return Err(BadUrl::NoHost);
    }
    Ok((host, port(after)?))
}

/// Parses the port in the text after the host. A colon alone is no port (RFC 3986, section 3.2.3).
#[inline]
fn port(text: &[u8]) -> Result<Option<u16>, BadUrl> {
    let digits = match text {
        [] | b":" => return Ok(None),
        [b':', digits @ ..] => digits,
        _ => return Err(BadUrl::BadHost),
    };
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(digits).ok().filter(|_| is_number);
    number.and_then(|number| number.parse().ok()).map(Some).ok_or(BadUrl::BadPort)
}

/// Returns the form of `host`. `seen` has the classes of host and port.
#[inline]
fn host_form(host: &[u8], seen: Classes) -> Result<HostForm, BadUrl> {
    if seen & OPEN_BRACKET != 0 {
        return match host {
            [b'[', .., b']'] => Ok(HostForm::Parsed),
            _ => Err(BadUrl::BadHost),
        };
    }
    // A second colon would make the key `host:port` ambiguous.
    let colons = seen & COLON != 0 && memchr(b':', host).is_some();
    if seen & (BAD | CLOSE_BRACKET) != 0 || colons {
        return Err(BadUrl::BadHost);
    }
    if seen & INTERNATIONAL != 0 {
        return Ok(HostForm::Parsed);
    }
    if host.len() > HOST_BYTES_MAX {
        return Err(BadUrl::TooLong);
    }
    if ends_in_number(host) {
        return Ok(HostForm::Parsed);
    }
    Ok(if seen & UPPER != 0 { HostForm::UpperCase } else { HostForm::Key })
}
