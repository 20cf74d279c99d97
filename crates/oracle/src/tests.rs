//! Tests beyond the case suite: size limits, URLs and patterns on their own, and wildcards compared
//! with their definition. Lines, groups and precedence are in `tests/data`.

use portcullis_dialect::limits::URL_BYTES_MAX;
use portcullis_dialect::{
    DRAFT_2019, Decision, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309,
};
use portcullis_testkit::words;

use crate::{compared_path, decide, pattern, pattern_matches};

const OLD: &[&Dialect] = &[&ORIGINAL_1994, &KOSTER_1996];
const STANDARD: &[&Dialect] = &[&DRAFT_2019, &RFC_9309];
const MODERN: &[&Dialect] = &[&DRAFT_2019, &RFC_9309, &GOOGLE];
const ALL: &[&Dialect] = &Dialect::ALL;

#[test]
fn a_line_cut_by_the_size_limit_is_dropped() {
    let robots = b"User-agent: *\nDisallow: /ab\r\nDisallow: /c";
    // The bytes that are read, the path, and the line of the deciding rule.
    let rows = [
        (0, "/abc", None),
        (13, "/abc", None),
        (26, "/abc", None),
        (27, "/abc", Some(2)),
        (28, "/abc", Some(2)),
        (29, "/abc", Some(2)),
        (30, "/abc", Some(2)),
        (40, "/c", None),
        (41, "/c", Some(3)),
    ];
    for dialect in ALL {
        for (limit, path, want) in rows {
            let url = format!("http://example.com{path}");
            let decision = decide(dialect, robots, Some(limit), &["x"], url.as_bytes());
            assert_eq!(decision.line.map(|line| line.get()), want, "{} {limit}", dialect.name);
        }
    }
}

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
        (STANDARD, "http://h/\"<>^`{|}\x01\x7f", "/%22%3C%3E%5E%60%7B%7C%7D%01%7F"),
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
fn records_that_are_not_urls() {
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
        "http://h/a\tb",
        "http://h/a\rb",
        "http://h/a\n",
        "http://h/#a\tb",
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

#[test]
fn patterns_match_as_the_dialect_says() {
    let rows: &[(&[&Dialect], &str, &str, bool)] = &[
        (ALL, "/a", "/ab", true),
        (ALL, "/A", "/a", false),
        (ALL, "", "/", false),
        (ALL, "/a/../b", "/b", false),
        (OLD, "a", "/ab", true),
        (MODERN, "a", "/ab", false),
        (MODERN, "$", "/", false),
        (OLD, "*a", "/a", false),
        (MODERN, "*a", "/ba", true),
        (MODERN, "*", "/", true),
        (MODERN, "*$", "/a", true),
        (OLD, "/*b", "/ab", false),
        (OLD, "/*b", "/*bc", true),
        (OLD, "/b$", "/b", false),
        (OLD, "/b$", "/b$", true),
        (MODERN, "/*.php$", "/a.php/b.php", true),
        (MODERN, "/**//*", "/a//b", true),
        (STANDARD, "/a$b", "/a%24b", true),
        (STANDARD, "/a$$", "/a%24", true),
        (STANDARD, "/a%2ab", "/a%2Ab", true),
        (&[&GOOGLE], "/a$b", "/a$b", true),
        (&[&GOOGLE], "/a$$", "/a$", true),
        (&[&GOOGLE], "/a%2ab", "/a*b", false),
        (&[&GOOGLE], "/a%7e", "/a~", false),
        (STANDARD, "/a%7e", "/a~", true),
        (&[&KOSTER_1996], "%2fa", "/%2Fab", true),
        (&[&KOSTER_1996], "/%252f", "/%2fa", true),
        (&[&ORIGINAL_1994], "/%7e", "/~", false),
        (STANDARD, "/a\u{e9}", "/a%C3%A9", true),
        (STANDARD, "/a b", "/a%20b", true),
        (STANDARD, "/a%2", "/a%2", true),
    ];
    for (dialects, pattern, path, want) in rows {
        for dialect in *dialects {
            let got = pattern_matches(dialect, pattern.as_bytes(), path.as_bytes());
            assert_eq!(got, *want, "{}: {pattern} on {path}", dialect.name);
        }
    }
}

/// Returns whether `pattern` matches `path` by the definition of wildcards, one line per case.
/// Exponential, for patterns of a few bytes.
fn matches_by_definition(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|n| matches_by_definition(rest, &path[n..])),
        [byte, rest @ ..] => path.first() == Some(byte) && matches_by_definition(rest, &path[1..]),
    }
}

#[test]
fn wildcards_match_by_definition_for_all_short_patterns_and_paths() {
    let paths = words(b"ab/$", 4);
    for tail in words(b"a/*$", 4) {
        for first in [b"/", b"*"] {
            let pattern = [&first[..], &tail].concat();
            let normal = pattern::normal_form(&GOOGLE.paths, &pattern);
            for rest in &paths {
                let path = [b"/", &rest[..]].concat();
                let want = matches_by_definition(&pattern, &path);
                let got = pattern::matches(&GOOGLE.paths, &normal, &path);
                let (pattern, path) = (pattern.escape_ascii(), path.escape_ascii());
                assert_eq!(got, want, "{pattern} on {path}");
            }
        }
    }
}
