//! The form of a host under which policies are filed.

use std::borrow::Cow;
use std::io::Write;
use std::net::Ipv6Addr;

use idna::AsciiDenyList;

use super::authority::{HostForm, ends_in_number};
use super::ipv4;
use super::origin::default_port;
use super::split::{BadUrl, SplitUrl};
use portcullis_dialect::limits::HOST_BYTES_MAX;
use portcullis_matcher::bytes::percent_triplet;

/// ASCII that no name may hold after mapping. `_` is not among them: real hosts have it, and it
/// makes no name ambiguous.
const DENIED: AsciiDenyList = AsciiDenyList::new(true, "%#/:<>?@[\\]^|\"{}`");

/// The key of the URL's server: `host`, or `host:port` if the port is not the scheme's own.
///
/// The host is in lower case, its labels are A-labels (UTS 46, non-transitional), an IPv4 address is
/// four decimal numbers, an IPv6 address has its shortest form in brackets. A final dot stays,
/// except on an IPv4 address: `example.com.` is another name. The scheme is no part of the key.
///
/// The key is a piece of the URL if it has that form there, else it is in `scratch`.
///
/// # Errors
///
/// [`BadUrl::BadHost`] if the host is no name and no address, [`BadUrl::TooLong`] if it is longer
/// than [`HOST_BYTES_MAX`] in that form.
#[inline]
pub fn host_key<'a>(url: &SplitUrl<'a>, scratch: &'a mut Vec<u8>) -> Result<&'a [u8], BadUrl> {
    if url.host_form == HostForm::Key {
        match url.port {
            None => return Ok(url.host),
            port if port == default_port(url.scheme) => return Ok(url.host),
            Some(_) => {}
        }
    }
    write_key(url, scratch)
}

fn write_key<'a>(url: &SplitUrl<'a>, scratch: &'a mut Vec<u8>) -> Result<&'a [u8], BadUrl> {
    scratch.clear();
    write_host(url, scratch)?;
    if let Some(port) = own_port(url) {
        write_to(scratch, format_args!(":{port}"));
    }
    if *scratch == url.host_and_port {
        return Ok(url.host_and_port);
    }
    Ok(scratch)
}

/// The port that is written and is not the scheme's default.
pub(super) fn own_port(url: &SplitUrl<'_>) -> Option<u16> {
    url.port.filter(|&port| default_port(url.scheme) != Some(port))
}

/// Writes the canonical form of the host to `out`, which is empty.
pub(super) fn write_host(url: &SplitUrl<'_>, out: &mut Vec<u8>) -> Result<(), BadUrl> {
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
    let address = ipv4::parse(host).ok_or(BadUrl::BadHost)?;
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
    // Full-width digits and escaped ones make addresses too.
    if ends_in_number(name.as_bytes()) {
        return write_ipv4(name.as_bytes(), out);
    }
    out.extend_from_slice(name.as_bytes());
    Ok(())
}

/// `host` with each percent triplet decoded. A `%` that starts none stays, and is denied later.
fn decode(host: &[u8]) -> Cow<'_, [u8]> {
    if !host.contains(&b'%') {
        return Cow::Borrowed(host);
    }
    let mut out = Vec::with_capacity(host.len());
    let mut rest = host;
    while let Some((&byte, after)) = rest.split_first() {
        match percent_triplet(rest) {
            Some(value) => {
                out.push(value);
                rest = &rest[3..];
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    Cow::Owned(out)
}

fn write_to(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all bytes");
}
