//! A record to the parts of a URL: scheme, host, port and path, as written.

use memchr::memchr;

use super::authority::{Authority, HostForm, ends_authority, read_authority};
use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use portcullis_matcher::bytes::trim;

/// Bytes around a record that are no part of the URL.
const AROUND: &[u8] = b" \t\r";

/// Why a record is no URL that can be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum BadUrl {
    /// There is nothing but white space.
    #[error("the record is empty: give a URL")]
    Empty,
    /// The URL or its host is over the limit.
    #[error(
        "the URL is longer than {URL_BYTES_MAX} bytes, or its host than {HOST_BYTES_MAX}: \
         leave it out"
    )]
    TooLong,
    /// There is no scheme with `://` after it.
    #[error("the URL has no scheme: write one such as https:// in front of it, or assume one")]
    NoScheme,
    /// Nothing stands between `://` and the path.
    #[error("the URL names no server: write its host after ://")]
    NoAuthority,
    /// The authority has user information or a port, but no host.
    #[error("the URL has no host: write one before the port")]
    NoHost,
    /// What follows the host's colon is no number up to 65535.
    #[error("the URL's port is no number from 0 to 65535: fix it or leave it out")]
    BadPort,
    /// The host is no name and no address.
    #[error("the URL's host is neither a name nor an address: fix its spelling")]
    BadHost,
    /// A backslash stands between `://` and the path; clients disagree which host that is.
    #[error("the URL has a backslash in front of its path: write / or %5C")]
    Backslash,
    /// The URL was to be one of robots.txt, and its path is not `/robots.txt`.
    #[error("the URL is not one of robots.txt: its path has to be exactly /robots.txt")]
    NotRobotsTxt,
}

/// The parts of a URL, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitUrl<'u> {
    /// The scheme, in the case in which it is written.
    pub scheme: &'u [u8],
    /// The host, not empty; an IPv6 address keeps its brackets.
    pub host: &'u [u8],
    /// The port, if one is written.
    pub port: Option<u16>,
    /// From the authority's end to `#`, or from the first of the dialect's bytes that begin a path
    /// if one is in the authority (`;x` of `http://example.com;x`). It may be empty, or start with
    /// `?` instead of `/`.
    pub path: &'u [u8],
    /// Host and port without user information.
    pub(super) host_and_port: &'u [u8],
    /// What the host needs to become a key.
    pub(super) host_form: HostForm,
}

/// Splits a URL.
///
/// `path_start` are the bytes at which what is compared begins (a dialect's
/// [`path_start`](portcullis_dialect::dialect::PathRules::path_start)): delimiters, no letter, digit, `-`, `.`
/// or `_`. The authority ends at `/`, `?` or `#`, whatever they are. SP, TAB and CR around the URL
/// are no part of it.
///
/// # Errors
///
/// [`BadUrl`]. A host that is not ASCII, has escapes, or is an address, is checked by
/// [`host_key`](super::host_key) only, so a URL is good if that succeeds too.
#[inline]
pub fn split<'u>(record: &'u [u8], path_start: &[u8]) -> Result<SplitUrl<'u>, BadUrl> {
    split_assuming(record, path_start, None)
}

/// Splits a URL, and a record without a scheme as if `assumed_scheme` (`https`) stood before it.
///
/// Both `example.com/x` and `//example.com/x` become URLs so. A record that has a scheme and `://`
/// is left alone. [`BadUrl::NoScheme`] are mail addresses, and records that have a scheme without
/// `//` behind it, such as `tel:911`: RFC 3986 (section 4.2) and the URL Standard read all before
/// the first colon as a scheme.
///
/// `example.com:8080/x` and `localhost:8080` are read as host and port all the same, against both:
/// lists have them, few schemes have a dot (`soap.beep`), and `localhost` is reserved for hosts (RFC
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
    match scheme_bytes(url) {
        Some(bytes) => split_after(&url[..bytes], &url[bytes + 3..], path_start),
        None => {
            let scheme = assumed_scheme.ok_or(BadUrl::NoScheme)?;
            split_after(scheme, without_scheme(url)?, path_start)
        }
    }
}

/// `record` without white space around it. Most records have none, which two looks settle.
#[inline]
fn trim_record(record: &[u8]) -> &[u8] {
    match record {
        // Visible ASCII at both ends.
        [b'!'..=b'~', .., b'!'..=b'~'] => record,
        _ => trim(record, AROUND),
    }
}

/// The bytes of the scheme that `url` starts with, if `://` follows (RFC 3986, section 3.1).
#[inline]
fn scheme_bytes(url: &[u8]) -> Option<usize> {
    if url.starts_with(b"https://") {
        return Some(5);
    }
    if url.starts_with(b"http://") {
        return Some(4);
    }
    let bytes = scheme_name_bytes(url);
    (bytes > 0 && url[bytes..].starts_with(b"://")).then_some(bytes)
}

/// The bytes at the start of `text` that can be a scheme.
fn scheme_name_bytes(text: &[u8]) -> usize {
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return 0;
    }
    text.iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte))
        .unwrap_or(text.len())
}

/// What follows the scheme of a record whose scheme is assumed.
#[cold]
fn without_scheme(record: &[u8]) -> Result<&[u8], BadUrl> {
    if let Some(rest) = record.strip_prefix(b"//") {
        return Ok(rest);
    }
    let (name, rest) = record.split_at(scheme_name_bytes(record));
    let names_host = memchr(b'.', name).is_some() || name.eq_ignore_ascii_case(b"localhost");
    let has_scheme = !name.is_empty() && rest.starts_with(b":") && !names_host;
    // `joe@example.com` names no resource of that server, and a colon without a port is a scheme's
    // or nobody's (`com.example.app:/x`, `ht_tp://x`).
    let authority = record.split(|&byte| ends_authority(byte)).next().unwrap_or_default();
    if has_scheme || authority.ends_with(b":") || memchr(b'@', authority).is_some() {
        return Err(BadUrl::NoScheme);
    }
    Ok(record)
}

/// Splits what stands after `://`.
#[inline]
fn split_after<'u>(
    scheme: &'u [u8],
    rest: &'u [u8],
    path_start: &[u8],
) -> Result<SplitUrl<'u>, BadUrl> {
    let Authority { path_start, host, host_and_port, port, form } =
        read_authority(rest, path_start)?;
    let path = &rest[path_start..];
    Ok(SplitUrl {
        scheme,
        host,
        port,
        path: &path[..memchr(b'#', path).unwrap_or(path.len())],
        host_and_port,
        host_form: form,
    })
}
