//! Hosts in canonical form: the keys and origins under which policies are stored.

use std::fmt;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use idna::AsciiDenyList;

use super::plain::ends_in_number;
use super::split::{BadUrl, HostForm, SplitUrl, split};
use portcullis_dialect::limits::HOST_BYTES_MAX;
use portcullis_engine::bytes::percent_triplet;

/// ASCII that no name may contain after mapping. `_` is allowed: real hosts have it, and it is not
/// ambiguous.
const DENIED: AsciiDenyList = AsciiDenyList::new(true, "%#/:<>?@[\\]^|\"{}`");

/// Returns the key of the URL's server: `host`, or `host:port` if the port is not the scheme's
/// default.
///
/// The host is in lower case with A-labels (UTS 46, non-transitional), an IPv4 address is four
/// decimal numbers, and an IPv6 address is in its shortest form in brackets. A final dot is kept,
/// except on an IPv4 address: `example.com.` is another name. The scheme is not part of the key.
///
/// The key is a slice of the URL if the host is in this form and the key has no port, otherwise it is
/// in `scratch`.
///
/// # Errors
///
/// [`BadUrl::BadHost`] if the host is neither a name nor an address, [`BadUrl::TooLong`] if its key
/// is longer than [`HOST_BYTES_MAX`].
#[inline]
pub fn host_key<'a>(url: &SplitUrl<'a>, scratch: &'a mut Vec<u8>) -> Result<&'a [u8], BadUrl> {
    let port = own_port(url);
    if url.host_form == HostForm::Key && port.is_none() {
        return Ok(url.host);
    }
    scratch.clear();
    write_host(url, scratch)?;
    if let Some(port) = port {
        write_to(scratch, format_args!(":{port}"));
    }
    Ok(scratch)
}

/// Returns the port, or `None` if it is the scheme's default.
#[inline]
fn own_port(url: &SplitUrl<'_>) -> Option<u16> {
    url.port.filter(|&port| default_port(url.scheme) != Some(port))
}

/// Writes the canonical host to `out`, which is empty.
fn write_host(url: &SplitUrl<'_>, out: &mut Vec<u8>) -> Result<(), BadUrl> {
    match url.host_form {
        HostForm::Key => out.extend_from_slice(url.host),
        HostForm::UpperCase => out.extend(url.host.iter().map(u8::to_ascii_lowercase)),
        HostForm::Ipv4 => write_ipv4(url.host, out)?,
        HostForm::Ipv6 => write_ipv6(url.host, out)?,
        HostForm::International => write_international(url.host, out)?,
    }
    if out.len() > HOST_BYTES_MAX {
        return Err(BadUrl::TooLong);
    }
    Ok(())
}

fn write_ipv4(host: &[u8], out: &mut Vec<u8>) -> Result<(), BadUrl> {
    let address = parse_ipv4(host).ok_or(BadUrl::BadHost)?;
    write_to(out, format_args!("{address}"));
    Ok(())
}

fn write_ipv6(host: &[u8], out: &mut Vec<u8>) -> Result<(), BadUrl> {
    let text = str::from_utf8(&host[1..host.len() - 1]).map_err(|_| BadUrl::BadHost)?;
    let address: Ipv6Addr = text.parse().map_err(|_| BadUrl::BadHost)?;
    write_to(out, format_args!("[{address}]"));
    Ok(())
}

/// Decodes the escapes of `host` and writes its name in ASCII.
fn write_international(host: &[u8], out: &mut Vec<u8>) -> Result<(), BadUrl> {
    let decoded = decode(host);
    let name = idna::domain_to_ascii_cow(&decoded, DENIED).map_err(|_| BadUrl::BadHost)?;
    if name.is_empty() {
        return Err(BadUrl::BadHost);
    }
    // Full-width and escaped digits form addresses too.
    if ends_in_number(name.as_bytes()) {
        return write_ipv4(name.as_bytes(), out);
    }
    out.extend_from_slice(name.as_bytes());
    Ok(())
}

/// Decodes the percent triplets of `host`. Any other `%` stays, and is denied later.
fn decode(host: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(host.len());
    let mut rest = host;
    while let Some(&byte) = rest.first() {
        let triplet = percent_triplet(rest);
        out.push(triplet.unwrap_or(byte));
        rest = &rest[if triplet.is_some() { 3 } else { 1 }..];
    }
    out
}

fn write_to(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all bytes");
}

/// Parses an IPv4 address: one to four numbers between dots, decimal, octal (`0…`) or hexadecimal
/// (`0x…`), the last of which fills the remaining bytes (URL Standard, section 3.5, "IPv4 parser").
/// Ignores one final dot.
fn parse_ipv4(host: &[u8]) -> Option<Ipv4Addr> {
    let host = host.strip_suffix(b".").unwrap_or(host);
    let mut address = 0_u32;
    let mut bytes_left = 4_u32;
    let mut parts = host.split(|&byte| byte == b'.').peekable();
    while let Some(part) = parts.next() {
        let number = number(part)?;
        let last = parts.peek().is_none();
        // Each number before the last fills one byte, and leaves at least one for the last.
        let width = if last { bytes_left } else { 1 };
        if width == 0 || (!last && bytes_left == 1) || number >> (8 * width) != 0 {
            return None;
        }
        bytes_left -= width;
        address |= u32::try_from(number << (8 * bytes_left)).ok()?;
    }
    Some(Ipv4Addr::from(address))
}

/// Parses a 32-bit number. `0x` alone is zero, as in browsers; an empty text is invalid.
fn number(text: &[u8]) -> Option<u64> {
    let (digits, base) = match text {
        [] => return None,
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', digits @ ..] => (digits, 8),
        digits => (digits, 10),
    };
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = char::from(digit).to_digit(base)?;
        let number = number * u64::from(base) + u64::from(digit);
        (number <= u64::from(u32::MAX)).then_some(number)
    })
}

pub use portcullis_dialect::ROBOTS_TXT_PATH;

/// The bytes that begin a path, if only the origin or the path of robots.txt matters.
const PATH_START: &[u8] = b"/?";

/// The default ports of schemes.
const DEFAULT_PORTS: [(&[u8], u16); 3] = [(b"https", 443), (b"http", 80), (b"ftp", 21)];

/// Returns the default port of `scheme`, ignoring case; `None` except for http, https and ftp.
#[inline]
pub fn default_port(scheme: &[u8]) -> Option<u16> {
    DEFAULT_PORTS
        .into_iter()
        .find(|(name, _)| scheme.eq_ignore_ascii_case(name))
        .map(|(_, port)| port)
}

/// Returns the URL of the robots.txt file that applies to a URL (RFC 9309, section 2.3).
///
/// ```
/// use portcullis_robots::url::robots_txt_url;
///
/// let url = robots_txt_url("https://Example.com:8443/a?b#c")?;
/// assert_eq!(url, "https://example.com:8443/robots.txt");
/// # Ok::<(), portcullis_robots::url::BadUrl>(())
/// ```
///
/// # Errors
///
/// [`BadUrl`] if it is not a URL or its host is invalid.
pub fn robots_txt_url(url: impl AsRef<[u8]>) -> Result<String, BadUrl> {
    Ok(format!("{}/robots.txt", Origin::from_url(url.as_ref())?))
}

/// Scheme, host and port in canonical form. URLs of equal origins share one robots.txt.
///
/// Scheme and host are in lower case, the host as in [`host_key`], and a default port is left out.
///
/// ```
/// use portcullis_robots::url::Origin;
///
/// let file = Origin::from_robots_txt(b"https://ex\xc3\xa4mple.com:443/robots.txt")?;
/// assert_eq!(file, Origin::from_url(b"https://xn--exmple-cua.com/page")?);
/// assert_eq!(file.to_string(), "https://xn--exmple-cua.com");
/// # Ok::<(), portcullis_robots::url::BadUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// Returns the origin of a URL.
    ///
    /// # Errors
    ///
    /// [`BadUrl`] if it is not a URL or its host is invalid.
    pub fn from_url(url: &[u8]) -> Result<Origin, BadUrl> {
        split(url, PATH_START)?.origin()
    }

    /// Returns the origin that the robots.txt file with this URL applies to.
    ///
    /// # Errors
    ///
    /// [`BadUrl::NotRobotsTxt`] if the path differs; otherwise as [`Origin::from_url`].
    pub fn from_robots_txt(url: &[u8]) -> Result<Origin, BadUrl> {
        let url = split(url, PATH_START)?;
        if url.path != ROBOTS_TXT_PATH {
            return Err(BadUrl::NotRobotsTxt);
        }
        url.origin()
    }

    /// Returns the scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns the canonical host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port, or `None` if it is the scheme's default.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the key of the origin's server, as [`host_key`] does for its URLs.
    pub fn key(&self) -> String {
        match self.port {
            None => self.host.clone(),
            Some(port) => format!("{}:{port}", self.host),
        }
    }
}

impl SplitUrl<'_> {
    /// Returns the origin, for the `path_start` of any dialect.
    ///
    /// # Errors
    ///
    /// As [`host_key`].
    pub fn origin(&self) -> Result<Origin, BadUrl> {
        let mut host = Vec::with_capacity(self.host.len());
        write_host(self, &mut host)?;
        Ok(Origin {
            scheme: String::from_utf8_lossy(self.scheme).to_ascii_lowercase(),
            host: String::from_utf8(host).map_err(|_| BadUrl::BadHost)?,
            port: own_port(self),
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.key())
    }
}
