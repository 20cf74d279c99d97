//! The registrable domain of a host, by the Public Suffix List.
//!
//! A crate of its own, because the list is a hundred thousand lines of code: compiled without
//! optimisation they take two seconds, and with it ten. Lookups take a fraction of a microsecond
//! either way, once a host.
//!
//! ```
//! use portcullis_domain::domain;
//!
//! assert_eq!(domain(b"www.example.co.uk:8080"), Some(&b"example.co.uk"[..]));
//! assert_eq!(domain(b"co.uk"), None);
//! assert_eq!(domain(b"127.0.0.1"), None);
//! ```

use std::net::Ipv4Addr;

/// The list, by the version of the crate that holds it.
pub const LIST: &str = "Public Suffix List of psl 2.1.247";

/// Returns the part of a host that is registered with the owner of its public suffix: the suffix and
/// one label more. `host` is in lower case and in A-labels, and may have a port. `None` for
/// addresses, for public suffixes, and for names whose suffix is not in the list.
// A copy in another crate would be optimised there.
#[inline(never)]
pub fn domain(host: &[u8]) -> Option<&[u8]> {
    let colon = host.iter().position(|&byte| byte == b':');
    let name = &host[..colon.unwrap_or(host.len())];
    let is_address = name.starts_with(b"[")
        || str::from_utf8(name).is_ok_and(|name| name.parse::<Ipv4Addr>().is_ok());
    if is_address {
        return None;
    }
    let domain = psl::domain(name)?.trim();
    domain.suffix().is_known().then(|| domain.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains() {
        let cases: [(&str, Option<&str>); 14] = [
            ("example.com", Some("example.com")),
            ("a.b.example.com", Some("example.com")),
            ("a.example.co.uk:8443", Some("example.co.uk")),
            ("me.github.io", Some("me.github.io")),
            ("www.example.com.", Some("example.com")),
            ("xn--85x722f.xn--55qx5d.cn", Some("xn--85x722f.xn--55qx5d.cn")),
            ("www.city.kawasaki.jp", Some("city.kawasaki.jp")),
            ("co.uk", None),
            ("com", None),
            ("localhost", None),
            ("a.invalid", None),
            ("192.0.2.1", None),
            ("192.0.2.1:80", None),
            ("[2001:db8::1]:443", None),
        ];
        for (host, expected) in cases {
            assert_eq!(domain(host.as_bytes()), expected.map(str::as_bytes), "{host}");
        }
    }

    #[test]
    fn the_list_is_that_of_the_lock_file() {
        let version = LIST.rsplit(' ').next().unwrap();
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let Ok(manifest) = std::fs::read_to_string(manifest) else { return };
        assert!(manifest.contains(&format!("psl = \"={version}\"")), "{version}");
    }
}
