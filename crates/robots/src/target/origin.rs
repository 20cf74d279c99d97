//! Scheme, host and port: what one robots.txt file speaks for.

use std::fmt;

use super::host::{own_port, write_host};
use super::split::{BadUrl, SplitUrl, split};

/// The path at which a file of rules stands, compared byte by byte (RFC 9309, section 2.3).
pub const ROBOTS_TXT_PATH: &[u8] = b"/robots.txt";

/// Where a path starts when only the origin or the path of robots.txt is asked for.
const PATH_START: &[u8] = b"/?";

/// The schemes whose default ports are known, with those ports.
const DEFAULT_PORTS: [(&[u8], u16); 3] = [(b"https", 443), (b"http", 80), (b"ftp", 21)];

/// The default port of `scheme`, in any case: http, https or ftp.
#[inline]
pub fn default_port(scheme: &[u8]) -> Option<u16> {
    DEFAULT_PORTS
        .into_iter()
        .find(|(name, _)| scheme.eq_ignore_ascii_case(name))
        .map(|(_, port)| port)
}

/// An origin in its canonical form: two are equal exactly if one robots.txt speaks for both.
///
/// Scheme and host are in lower case, the host as [`host_key`](super::host_key) has it, and a port
/// that is the scheme's default is none.
///
/// ```
/// use portcullis_robots::target::Origin;
///
/// let file = Origin::of_robots_txt(b"https://ex\xc3\xa4mple.com:443/robots.txt")?;
/// assert_eq!(file, Origin::of_url(b"https://xn--exmple-cua.com/page")?);
/// assert_eq!(file.to_string(), "https://xn--exmple-cua.com");
/// # Ok::<(), portcullis_robots::target::BadUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// The origin of a URL.
    ///
    /// # Errors
    ///
    /// [`BadUrl`] if it is no URL or its host is none.
    pub fn of_url(url: &[u8]) -> Result<Origin, BadUrl> {
        Origin::of_split(&split(url, PATH_START)?)
    }

    /// The origin that the robots.txt file with this URL speaks for.
    ///
    /// # Errors
    ///
    /// [`BadUrl::NotRobotsTxt`] if the path is another, and as [`Origin::of_url`].
    pub fn of_robots_txt(url: &[u8]) -> Result<Origin, BadUrl> {
        let url = split(url, PATH_START)?;
        if url.path != ROBOTS_TXT_PATH {
            return Err(BadUrl::NotRobotsTxt);
        }
        Origin::of_split(&url)
    }

    /// The origin of a URL that is split already, by the
    /// [`path_start`](portcullis_dialect::dialect::PathRules::path_start) of any dialect.
    ///
    /// # Errors
    ///
    /// As [`host_key`](super::host_key).
    pub fn of_split(url: &SplitUrl<'_>) -> Result<Origin, BadUrl> {
        let mut host = Vec::with_capacity(url.host.len());
        write_host(url, &mut host)?;
        Ok(Origin {
            scheme: String::from_utf8_lossy(url.scheme).to_ascii_lowercase(),
            host: String::from_utf8(host).map_err(|_| BadUrl::BadHost)?,
            port: own_port(url),
        })
    }

    /// Whether `url` is that of a robots.txt file: its path is exactly `/robots.txt`, without a
    /// query. What is no URL is not.
    pub fn is_robots_txt(url: &[u8]) -> bool {
        split(url, PATH_START).is_ok_and(|url| url.path == ROBOTS_TXT_PATH)
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host, in its canonical form.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, if it is not the scheme's default.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The key of the origin's server, as [`host_key`](super::host_key) has it for its URLs.
    pub fn key(&self) -> String {
        match self.port {
            None => self.host.clone(),
            Some(port) => format!("{}:{port}", self.host),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        match self.port {
            None => Ok(()),
            Some(port) => write!(f, ":{port}"),
        }
    }
}
