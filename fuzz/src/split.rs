//! Checks splitting: all parts are within the record, and hosts agree with other parsers.

use std::net::Ipv6Addr;

use portcullis_dialect::dialect::Dialect;
use portcullis_oracle as oracle;
use portcullis_robots::url::{
    BadUrl, Origin, SplitUrl, default_port, host_key, split as split_url,
};
use portcullis_robots::url::{compared_path, split_assuming};
use url::{Host, Url};

use crate::{head, hosts};

/// Checks an input: a dialect and a record.
///
/// # Panics
///
/// If parts are outside the record, its origin has no stable form, or the oracle or the `url` crate
/// disagrees without a reason that this crate lists.
pub fn split(data: &[u8]) {
    let Some((dialect, record)) = head::dialect(data) else { return };
    let mut scratch = b"left over".to_vec();
    let url = split_url(record, dialect.paths.path_start);
    let key = url.and_then(|url| Ok(host_key(&url, &mut scratch)?.to_vec()));
    if let (Ok(url), Ok(key)) = (&url, &key) {
        check_parts(record, url);
        check_key(dialect, url, key);
    }
    check_oracle(dialect, record, url.and_then(|url| key.map(|_| url)));
    check_assumed(dialect, record, url);
    check_url_crate(record);
}

fn check_parts(record: &[u8], url: &SplitUrl<'_>) {
    let within = record.as_ptr_range();
    for part in [url.scheme, url.host, url.path] {
        let range = part.as_ptr_range();
        assert!(within.start <= range.start && range.end <= within.end);
    }
    assert!(!url.host.is_empty() && url.scheme[0].is_ascii_alphabetic());
    assert!(!url.path.contains(&b'#'));
    assert!(!url.host.iter().any(|byte| b"/?#@".contains(byte)));
}

/// Checks that a key is its own key and the origin's key, and cannot be confused with a path or
/// another port.
fn check_key(dialect: &Dialect, url: &SplitUrl<'_>, key: &[u8]) {
    let again = [url.scheme, b"://", key, b"/"].concat();
    let split = split_url(&again, dialect.paths.path_start);
    let split = split.unwrap_or_else(|error| panic!("{key:?} is no host: {error}"));
    assert_eq!(host_key(&split, &mut Vec::new()), Ok(key));
    assert!(!key.iter().any(|byte| b"/?#@% ".contains(byte) || !byte.is_ascii()));
    assert!(!key.iter().any(u8::is_ascii_uppercase));
    let origin = url.origin().expect("a URL with a key has an origin");
    assert_eq!(origin.key().as_bytes(), key);
    assert_eq!(Origin::from_url(origin.to_string().as_bytes()), Ok(origin));
}

/// Checks that engine and oracle agree on whether the record is a URL, except for hosts that only
/// the engine checks.
fn check_oracle(dialect: &Dialect, record: &[u8], url: Result<SplitUrl<'_>, BadUrl>) {
    match (url, oracle::compared_path(dialect, record)) {
        (Ok(url), Some(judged)) => {
            let mut scratch = Vec::new();
            let compared = compared_path(url.path, dialect.paths.escapes, &mut scratch);
            assert_eq!(compared, judged);
        }
        (Ok(_), None) => panic!("the oracle says that this is no URL"),
        (Err(error), Some(_)) => {
            assert!(hosts::only_the_engine_refuses(record), "refused: {error}");
        }
        (Err(_), None) => {}
    }
}

/// Checks that an assumed scheme has no effect on a record that has a scheme.
fn check_assumed(dialect: &Dialect, record: &[u8], url: Result<SplitUrl<'_>, BadUrl>) {
    let assumed = split_assuming(record, dialect.paths.path_start, Some(b"https"));
    match url {
        Err(BadUrl::NoScheme) => {
            if let Ok(url) = assumed {
                assert_eq!(url.scheme, b"https");
            }
        }
        _ => assert_eq!(assumed, url),
    }
}

/// Checks that a record that the `url` crate parses as a URL of a web server has the same origin
/// here.
fn check_url_crate(record: &[u8]) {
    let Ok(text) = std::str::from_utf8(record) else { return };
    let Ok(theirs) = Url::parse(text) else { return };
    if hosts::url_crate_differs(record, &theirs) {
        return;
    }
    let (Some(host), true) = (theirs.host(), default_port(theirs.scheme().as_bytes()).is_some())
    else {
        return;
    };
    let ours = match Origin::from_url(record) {
        // Its clients read a backslash as a slash and drop a control character at the end.
        Err(BadUrl::Backslash | BadUrl::ControlAtEnd) => return,
        ours => ours.unwrap_or_else(|error| panic!("{theirs}: {error}")),
    };
    assert_eq!(ours.scheme(), theirs.scheme());
    assert_eq!(ours.port(), theirs.port());
    match host {
        // An address has many spellings, and the engine chooses which one is the key.
        Host::Ipv6(address) => {
            let own = ours.host().strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            assert_eq!(own.and_then(|own| own.parse::<Ipv6Addr>().ok()), Some(address));
        }
        Host::Ipv4(address) => assert_eq!(ours.host(), address.to_string()),
        Host::Domain(name) => assert_eq!(ours.host(), name),
    }
}
