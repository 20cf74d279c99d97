//! What is a URL, and what of it is compared.

use super::{ALL, STANDARD, decide};
use crate::oracle::compared_path;
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};
use portcullis_dialect::limits::URL_BYTES_MAX;

#[test]
fn the_compared_path_is_in_normal_form() {
    let rows: &[(&[&Dialect], &str, &str)] = &[
        (ALL, "http://h", "/"),
        (ALL, "http://h/", "/"),
        (ALL, "HTTP+x-1.y://h/a//b/../c", "/a//b/../c"),
        (ALL, "http://h?a", "/?a"),
        (ALL, "http://h#a/b", "/"),
        (ALL, "http://h/a?b#c?d#e", "/a?b"),
        (ALL, "http://h/?", "/?"),
        (ALL, " \t\rhttp://h/a\r\t ", "/a"),
        (ALL, "http://u@v:p@h:80/a@b:c", "/a@b:c"),
        (ALL, "http://[::1]:8/a", "/a"),
        (ALL, "http://h:/a", "/a"),
        (ALL, "http://h:65535/a", "/a"),
        (&[&GOOGLE], "http://h;a/b", "/;a/b"),
        (&[&RFC_9309, &KOSTER_1996], "http://h;a/b", "/b"),
        (&[&GOOGLE], "http://u;a@h/b#;", "/;a@h/b"),
        (&[&GOOGLE], "http://h#;a", "/"),
        (&[&RFC_9309, &KOSTER_1996], "http://u;a@h/b", "/b"),
        (&[&ORIGINAL_1994], "http://h/%7e\u{e9}", "/%7e\u{e9}"),
        (&[&KOSTER_1996], "http://h/%7e%2f%2F%252f%g", "/~%2F%2F%2f%g"),
        (STANDARD, "http://h/%7e%2f%41*$ %%4\u{e9}", "/~%2FA%2A%24%20%%4%C3%A9"),
        (STANDARD, "http://h/\"<>\\^`{|}\x01\x7f", "/%22%3C%3E%5C%5E%60%7B%7C%7D%01%7F"),
        (STANDARD, "http://h/:?[]@!&'()+,;=-._~", "/:?[]@!&'()+,;=-._~"),
        (STANDARD, "http://h/%3a%25%32%35", "/%3A%2525"),
        (&[&GOOGLE], "http://h/%7e%2f*$ \"%%4\u{e9}", "/%7E%2F*$ \"%%4%C3%A9"),
    ];
    for (dialects, url, want) in rows {
        for dialect in *dialects {
            let got = compared_path(dialect, url.as_bytes());
            let got = got.map(|path| String::from_utf8_lossy(&path).into_owned());
            assert_eq!(got.as_deref(), Some(*want), "{}: {url}", dialect.name);
        }
    }
}

#[test]
fn what_is_no_url_is_invalid() {
    let rows = [
        "",
        "example.com/a",
        "//h/a",
        "/a",
        "http:/h",
        "http:h",
        "://h",
        "1http://h",
        "ht tp://h",
        "http://",
        "http:///a",
        "http://?a",
        "http://@/a",
        "http://u@",
        "http://:80/a",
        "http://h:65536/a",
        "http://h:99999999999999999999/",
        "http://h:+1/",
        "http://h:8a/",
        "http://h:1:2/",
        "http://a b/",
        "http://a\tb/",
        "http://a<b/",
        "http://a\\b/",
        "http://u\\@h/",
        "http://u@h\\",
        "http://a|b/",
        "http://a`b/",
        "http://a\x7f/",
        "http://[::1/",
        "http://[]/",
        "http://[::1]x/",
        "http://[::1]:x/",
    ];
    for dialect in ALL {
        for url in rows {
            let decision = decide(dialect, b"", None, &["x"], url.as_bytes());
            assert_eq!(decision, Decision::INVALID, "{}: {url:?}", dialect.name);
        }
        let start = "http://h/";
        let longest = format!("{start}{}", "x".repeat(URL_BYTES_MAX - start.len()));
        assert!(compared_path(dialect, format!(" {longest}\r").as_bytes()).is_some());
        assert!(compared_path(dialect, format!("{longest}x").as_bytes()).is_none());
    }
}
