//! Hosts in canonical form: the keys and origins under which policies are stored.

use std::fmt;
use std::io::Write;

use ::url::Host;

use super::split::{BadUrl, HostForm, SplitUrl, split};
use portcullis_dialect::limits::HOST_BYTES_MAX;

/// Characters that no name may contain, in addition to those that the URL Standard forbids. `_` is allowed:
/// real hosts have it, and it is not ambiguous.
const DENIED: &[char] = &['"', '{', '}', '`'];

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
        HostForm::Parsed => write_parsed(url.host, out)?,
    }
    if out.len() > HOST_BYTES_MAX {
        return Err(BadUrl::TooLong);
    }
    Ok(())
}

/// Parses a host that is an address, has escapes or bytes outside ASCII, and writes its canonical form
/// (URL Standard, section 3.5).
fn write_parsed(host: &[u8], out: &mut Vec<u8>) -> Result<(), BadUrl> {
    let host = str::from_utf8(host).ok().and_then(|host| Host::parse(host).ok());
    match host.ok_or(BadUrl::BadHost)? {
        Host::Domain(name) if name.contains(DENIED) => return Err(BadUrl::BadHost),
        Host::Domain(name) => out.extend_from_slice(name.as_bytes()),
        Host::Ipv4(address) => write_to(out, format_args!("{address}")),
        Host::Ipv6(address) => write_to(out, format_args!("[{address}]")),
    }
    Ok(())
}

fn write_to(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all bytes");
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
/// # use portcullis_robots::url as portcullis;
/// use portcullis::robots_txt_url;
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
/// # use portcullis_robots::url as portcullis;
/// use portcullis::Origin;
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
