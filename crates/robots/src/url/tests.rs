//! Tables: valid and invalid URLs, and server keys. The origins that robots.txt files apply to are in
//! `tests/data/scope.toml`.

use super::*;
use bstr::ByteSlice;
use portcullis_dialect::Escapes;
use portcullis_dialect::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};

const PLAIN: &[u8] = b"/?";
const GOOGLE: &[u8] = b"/?;";

/// Returns the key of a URL's server and its path, or the error.
fn key(url: &[u8], path_start: &[u8]) -> Result<(String, String), BadUrl> {
    let url = split(url, path_start)?;
    let mut scratch = b"left from another URL".to_vec();
    let key = host_key(&url, &mut scratch)?.to_str().expect("a key is ASCII").to_owned();
    Ok((key, url.path.escape_ascii().to_string()))
}

#[test]
fn urls_that_split() {
    let rows: [(&str, &str, &str); 38] = [
        ("http://example.com/?a\\b#c\\d", "example.com", "/?a\\\\b"),
        ("http://example.com/\u{b}a", "example.com", "/\\x0ba"),
        ("http://example.com", "example.com", ""),
        ("http://example.com/", "example.com", "/"),
        ("HTTPS://example.com/a?b#c", "example.com", "/a?b"),
        ("http://example.com?a/b#", "example.com", "?a/b"),
        ("http://example.com#a", "example.com", ""),
        (" \t http://example.com/a b \r", "example.com", "/a b"),
        ("http://example.com/a://b@c", "example.com", "/a://b@c"),
        ("foo+bar-1.x://example.com/", "example.com", "/"),
        ("http://Example.COM/A", "example.com", "/A"),
        ("http://example.com./", "example.com.", "/"),
        ("http://a_b.example.com/", "a_b.example.com", "/"),
        ("http://-a.example.com/", "-a.example.com", "/"),
        ("http://a;b,c!d/", "a;b,c!d", "/"),
        ("http://joe@example.com/", "example.com", "/"),
        ("http://joe:pass@word@[@example.com/", "example.com", "/"),
        ("http://<joe>@example.com", "example.com", ""),
        ("http://example.com:80/", "example.com", "/"),
        ("http://example.com:0080/", "example.com", "/"),
        ("HTTP://example.com:/", "example.com", "/"),
        ("http://example.com:443/", "example.com:443", "/"),
        ("https://example.com:443/", "example.com", "/"),
        ("ftp://example.com:21", "example.com", ""),
        ("foo://example.com:80/", "example.com:80", "/"),
        ("http://Example.com:0?q", "example.com:0", "?q"),
        ("http://example.com:065535/", "example.com:65535", "/"),
        ("http://127.0.0.1/", "127.0.0.1", "/"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080", "/"),
        ("http://127.1./", "127.0.0.1", "/"),
        ("http://0x7F.0.0.1/", "127.0.0.1", "/"),
        ("http://017700000001/", "127.0.0.1", "/"),
        ("http://2130706433/", "127.0.0.1", "/"),
        ("http://[::1]/", "[::1]", "/"),
        ("http://[2001:DB8:0:0::1]:80/", "[2001:db8::1]", "/"),
        ("http://[2001:db8::1]:8080", "[2001:db8::1]:8080", ""),
        ("http://joe@[::1]:81?q", "[::1]:81", "?q"),
        ("http://1.example/", "1.example", "/"),
    ];
    for (url, host, path) in rows {
        let expected = Ok((host.to_owned(), path.to_owned()));
        assert_eq!(key(url.as_bytes(), PLAIN), expected, "{url}");
    }
}

#[test]
fn international_hosts() {
    let rows: [(&str, &str); 9] = [
        ("http://ex\u{e4}mple.com/", "xn--exmple-cua.com"),
        ("http://EX\u{c4}MPLE.com:81/", "xn--exmple-cua.com:81"),
        ("http://ex%C3%A4mple.com/", "xn--exmple-cua.com"),
        ("http://XN--exmple-CUA.com/", "xn--exmple-cua.com"),
        ("http://ex%61mple.com/", "example.com"),
        ("http://fa\u{df}.de/", "xn--fa-hia.de"),
        ("http://a_b.\u{e4}.com/", "a_b.xn--4ca.com"),
        ("http://a\u{3002}b/", "a.b"),
        ("http://\u{ff11}\u{ff12}7.1/", "127.0.0.1"),
    ];
    for (url, expected) in rows {
        let found = key(url.as_bytes(), PLAIN).map(|(host, _)| host);
        assert_eq!(found, Ok(expected.to_owned()), "{url}");
    }
}

#[test]
fn dialects_decide_where_paths_begin_but_not_where_hosts_end() {
    let pair = |key: &str, path: &str| Ok((key.to_owned(), path.to_owned()));
    assert_eq!(key(b"http://a.b;c@d/e", GOOGLE), pair("d", ";c@d/e"));
    assert_eq!(key(b"http://a.b;c@d/e", PLAIN), pair("d", "/e"));
    assert_eq!(key(b"http://a.b;c:81#e", GOOGLE), pair("a.b;c:81", ";c:81"));
    assert_eq!(key(b"http://a.b;c:81#e", PLAIN), pair("a.b;c:81", ""));
    assert_eq!(key(b"http://;c", GOOGLE), pair(";c", ";c"));
    assert_eq!(key(b"http://c#;", GOOGLE), pair("c", ""));
}

#[test]
fn records_that_are_not_urls() {
    use BadUrl::*;
    let rows: [(&[u8], BadUrl); 58] = [
        (b"", Empty),
        (b" \t\r", Empty),
        (b"example.com/x", NoScheme),
        (b"//example.com/x", NoScheme),
        (b"://example.com/x", NoScheme),
        (b"/x", Path),
        (b"x", NoScheme),
        (b"http", NoScheme),
        (b"http:", NoSlashes),
        (b"http:/example.com", NoSlashes),
        (b"http:example.com", NoSlashes),
        (b"1http://example.com", NoScheme),
        (b"ht_tp://example.com", NoScheme),
        (b"mailto:joe@example.com", NoSlashes),
        (b"\xef\xbb\xbfhttp://example.com", NoScheme),
        (b"http://", NoAuthority),
        (b"file:///x", NoAuthority),
        (b"http://?x", NoAuthority),
        (b"http://#x", NoAuthority),
        (b"http://@", NoHost),
        (b"http://joe@/", NoHost),
        (b"http://:80/", NoHost),
        (b"http://joe@:80/", NoHost),
        (b"http://example.com:65536/", BadPort),
        (b"http://example.com:x/", BadPort),
        (b"http://example.com:+1/", BadPort),
        (b"http://example.com:8 0/", BadPort),
        (b"http://[::1]:x/", BadPort),
        (b"http://exa mple.com/", BadHost),
        (b"http://exa\tmple.com/", TabOrLineEnd),
        (b"http://example.com/pri\tvate", TabOrLineEnd),
        (b"http://example.com/pri\rvate", TabOrLineEnd),
        (b"http://example.com/private\n", TabOrLineEnd),
        (b"http://example.com/#\t.", TabOrLineEnd),
        (b"http:// example.com/", BadHost),
        (b"http://exa\0mple.com/", BadHost),
        (b"http://example.com\\x/", Backslash),
        (b"http://a\\@example.com/", Backslash),
        (b"http://a:\\x@example.com:x", Backslash),
        (b"http://example.com/x\\y", Backslash),
        (b"http://example.com/\\#y", Backslash),
        (b"http://example.com/x\x0b", ControlAtEnd),
        (b"http://example.com/x\0 ", ControlAtEnd),
        (b"http://example.com/x?y#z\x1f", ControlAtEnd),
        (b"http://<b>/", BadHost),
        (b"http://a:1:80/", BadHost),
        (b"http://::1/", BadHost),
        (b"http://ex[ample].com/", BadHost),
        (b"http://ample]/", BadHost),
        (b"http://[::1/", BadHost),
        (b"http://[::1]a/", BadHost),
        (b"http://[]/", BadHost),
        (b"http://[::1%25eth0]/", BadHost),
        (b"http://1.2.3.4.5/", BadHost),
        (b"http://256.1.1.1/", BadHost),
        (b"http://09.1.1.1/", BadHost),
        (b"http://example.1/", BadHost),
        (b"http://4294967296/", BadHost),
    ];
    for (url, expected) in rows {
        assert_eq!(key(url, PLAIN), Err(expected), "{}", url.as_bstr());
    }
    for byte in b"<>^|\"{}`\x01\x1f\x7f" {
        let url = [b"http://a", &[*byte][..], b"b/"].concat();
        assert_eq!(key(&url, PLAIN), Err(BadHost), "{}", url.as_bstr());
    }
}

#[test]
fn invalid_international_hosts() {
    let rows: [&[u8]; 11] = [
        b"http://\xff\xfe/",
        b"http://%ff/",
        b"http://a%/",
        b"http://a%zz/",
        b"http://a%2fb/",
        b"http://a%3ab/",
        b"http://a%20b/",
        b"http://a%00b/",
        b"http://\xc2\xad/",
        b"http://\xef\xbc\x91.2.3.4.5/",
        b"http://xn--\xc3\xa4.com/",
    ];
    for url in rows {
        assert_eq!(key(url, PLAIN), Err(BadUrl::BadHost), "{}", url.as_bstr());
    }
}

#[test]
fn lengths() {
    let url =
        |host: usize, path: usize| format!("http://{}/{}", "a".repeat(host), "b".repeat(path));
    let longest = URL_BYTES_MAX - "http://a/".len();
    assert!(key(url(1, longest).as_bytes(), PLAIN).is_ok());
    assert_eq!(key(url(1, longest + 1).as_bytes(), PLAIN), Err(BadUrl::TooLong));
    assert!(key(url(HOST_BYTES_MAX, 1).as_bytes(), PLAIN).is_ok());
    assert_eq!(key(url(HOST_BYTES_MAX + 1, 1).as_bytes(), PLAIN), Err(BadUrl::TooLong));
    let labels = format!("http://{}/", "\u{e4}.".repeat(500));
    assert_eq!(key(labels.as_bytes(), PLAIN), Err(BadUrl::TooLong));
    assert_eq!(Origin::from_url(labels.as_bytes()), Err(BadUrl::TooLong));
}

#[test]
fn assumed_schemes() {
    let host = |record: &'static [u8]| {
        let url = split_assuming(record, PLAIN, Some(b"https"))?;
        let mut scratch = Vec::new();
        let key = host_key(&url, &mut scratch)?.to_str_lossy().into_owned();
        Ok((url.scheme.to_str_lossy().into_owned(), key))
    };
    /// The record, then scheme and key.
    type AssumedRow = (&'static [u8], Result<(&'static str, &'static str), BadUrl>);
    let rows: [AssumedRow; 18] = [
        (b"example.com/x", Ok(("https", "example.com"))),
        (b" //example.com:443/x", Ok(("https", "example.com"))),
        (b"//joe@example.com/x", Ok(("https", "example.com"))),
        (b"localhost:8080", Ok(("https", "localhost:8080"))),
        (b"example.com/joe@x?http://y", Ok(("https", "example.com"))),
        (b"http://example.com/x", Ok(("http", "example.com"))),
        (b"gopher://example.com/x", Ok(("gopher", "example.com"))),
        (b"//tel:911", Ok(("https", "tel:911"))),
        (b"[::1]:80/x", Ok(("https", "[::1]:80"))),
        (b"ht_tp://example.com/x", Err(BadUrl::NoScheme)),
        (b"tel:911", Err(BadUrl::NoSlashes)),
        (b"http:/example.com", Err(BadUrl::NoSlashes)),
        (b"Https:example.com", Err(BadUrl::NoSlashes)),
        (b"mailto:joe@example.com", Err(BadUrl::NoSlashes)),
        (b"javascript:void(0)", Err(BadUrl::NoSlashes)),
        (b"/x", Err(BadUrl::Path)),
        (b"http:///x", Err(BadUrl::NoAuthority)),
        (b" ", Err(BadUrl::Empty)),
    ];
    for (record, expected) in rows {
        let expected = expected.map(|(scheme, key)| (scheme.to_owned(), key.to_owned()));
        assert_eq!(host(record), expected, "{}", record.as_bstr());
    }
}

#[test]
fn compared_paths() {
    let rows: [(&str, Escapes, &str); 12] = [
        ("", Escapes::Uri, "/"),
        ("", Escapes::AsWritten, "/"),
        ("/", Escapes::Uri, "/"),
        ("?q", Escapes::Uri, "/?q"),
        ("?\u{e4}", Escapes::Uri, "/?%C3%A4"),
        (";q", Escapes::Google, "/;q"),
        (";%c3", Escapes::Google, "/;%C3"),
        ("/a//b/../c", Escapes::Uri, "/a//b/../c"),
        ("/%7ea%2fb*", Escapes::Uri, "/~a%2Fb%2A"),
        ("/%7ea%2fb", Escapes::Decoded, "/~a%2Fb"),
        ("/%7ea%2fb", Escapes::AsWritten, "/%7ea%2fb"),
        ("/%7ea%2fb", Escapes::Google, "/%7Ea%2Fb"),
    ];
    for (path, escapes, expected) in rows {
        let mut scratch = b"left from another URL".to_vec();
        let found = compared_path(path.as_bytes(), escapes, &mut scratch);
        assert_eq!(found.as_bytes().as_bstr(), expected.as_bytes().as_bstr(), "{path}");
    }
}

#[test]
fn urls_without_changes_are_not_copied() {
    for url in ["http://example.com/a?b", "https://x@a_b.example:443/a"] {
        let url = split(url.as_bytes(), PLAIN).unwrap();
        let mut scratch = Vec::new();
        let key = host_key(&url, &mut scratch).unwrap();
        assert!(key.as_ptr() == url.host.as_ptr());
        let path = compared_path(url.path, Escapes::Uri, &mut scratch);
        assert!(std::ptr::eq(path.as_bytes(), url.path));
    }
}

#[test]
fn urls_that_are_not_robots_txt() {
    let rows: [&[u8]; 6] = [
        b"https://example.com/folder/robots.txt",
        b"https://example.com/robots.txt?x",
        b"https://example.com/ROBOTS.TXT",
        b"https://example.com//robots.txt",
        b"https://example.com/robots%2Etxt",
        b"https://example.com",
    ];
    for url in rows {
        assert_eq!(Origin::from_robots_txt(url), Err(BadUrl::NotRobotsTxt), "{}", url.as_bstr());
    }
    assert_eq!(Origin::from_robots_txt(b"/robots.txt"), Err(BadUrl::Path));
    assert!(Origin::from_robots_txt(b"https://example.com/robots.txt#x").is_ok());
}

#[test]
fn origins_and_keys_agree() {
    for url in ["HTTPS://Joe@Ex\u{e4}mple.com:8181/a", "http://0x7f.1:80", "foo://[::1]:1/"] {
        let origin = Origin::from_url(url.as_bytes()).unwrap();
        assert_eq!(Ok(origin.key()), key(url.as_bytes(), PLAIN).map(|(key, _)| key));
        let shown = origin.to_string();
        assert_eq!(Origin::from_url(shown.as_bytes()), Ok(origin), "{shown}");
    }
    assert_eq!(Origin::from_url(b"http://A:80/").unwrap().to_string(), "http://a");
}
