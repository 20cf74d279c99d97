//! Patterns, and which rule decides.

use super::{ALL, MODERN, OLD, STANDARD, ask, check};
use crate::oracle::{pattern, pattern_matches};
use portcullis_dialect::dialect::{Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

#[test]
fn one_of_the_rules_that_match_decides() {
    let order = b"User-agent: *\nAllow: /a\nDisallow: /ab\nDisallow: /\n";
    let tie = b"User-agent: *\nDisallow: /a\nAllow: /a\nAllow: /a\n";
    let empty = b"User-agent: *\nAllow:\nDisallow:\n";
    let escaped = b"User-agent: *\nAllow: /\xc3\xa4\nDisallow: /%C3%A\nDisallow: /*A4$";
    check(&[
        (&[&ORIGINAL_1994], order, "x", "/abc", "disallow rule 3"),
        (&[&KOSTER_1996], order, "x", "/abc", "allow rule 2"),
        (MODERN, order, "x", "/abc", "disallow rule 3"),
        (MODERN, tie, "x", "/a", "allow rule 3"),
        (OLD, tie, "x", "/a", "disallow rule 2"),
        (ALL, empty, "x", "/a", "allow no-rule"),
        (MODERN, escaped, "x", "/%c3%a4", "allow rule 2"),
    ]);
    let decision = ask(
        &RFC_9309,
        b"Allow: /\nUser-agent: y\nAllow: q\n\nUser-agent: x\nAllow:\nBad\nDisallow: /",
        "x",
        "/",
    );
    assert_eq!(decision.rule.map(|rule| rule.0), Some(2), "rules outside groups do not count");
}

#[test]
fn robots_txt_itself_is_allowed_where_the_dialect_says_so() {
    let robots = b"User-agent: *\nDisallow: /";
    check(&[
        (STANDARD, robots, "x", "/robots.txt", "allow robots-txt"),
        (STANDARD, robots, "x", "/%72obots.txt#top", "allow robots-txt"),
        (STANDARD, b"", "x", "/robots.txt", "allow robots-txt"),
        (STANDARD, robots, "x", "/robots.txt?", "disallow rule 2"),
        (STANDARD, robots, "x", "/Robots.txt", "disallow rule 2"),
        (STANDARD, robots, "x", "/a/robots.txt", "disallow rule 2"),
        (OLD, robots, "x", "/robots.txt", "disallow rule 2"),
        (&[&GOOGLE], robots, "x", "/robots.txt", "disallow rule 2"),
    ]);
}

#[test]
fn google_takes_an_index_page_for_its_directory() {
    let robots = b"User-agent: *\nDisallow: /\nAllow: /a/index.html\n";
    let longer = b"User-agent: *\nAllow: /aa/index.html\nDisallow: /aa/\nDisallow: /*a/$$";
    let disallow = b"User-agent: *\nDisallow: /index.htm\n";
    let star = b"User-agent: *\nDisallow: /\nAllow: /*/index.htm";
    check(&[
        (&[&GOOGLE], robots, "x", "/a/", "allow rule 3"),
        (&[&GOOGLE], robots, "x", "/a/index.html5", "allow rule 3"),
        (&[&GOOGLE], robots, "x", "/a/x", "disallow rule 2"),
        (&[&GOOGLE], longer, "x", "/aa/", "allow rule 2"),
        (&[&GOOGLE], longer, "x", "/aa/x", "disallow rule 3"),
        (&[&GOOGLE], star, "x", "/b/c/", "allow rule 3"),
        (&[&GOOGLE], disallow, "x", "/", "allow no-rule"),
        (STANDARD, robots, "x", "/a/", "disallow rule 2"),
    ]);
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

/// The meaning of wildcards in one line each, exponential, for patterns of a few bytes.
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
    fn texts(alphabet: &[u8], bytes_max: usize) -> Vec<Vec<u8>> {
        let mut all = vec![vec![]];
        let mut last = all.clone();
        for _ in 0..bytes_max {
            let longer = |text: &Vec<u8>| -> Vec<Vec<u8>> {
                let append = |byte: &u8| [text, &[*byte][..]].concat();
                alphabet.iter().map(append).collect()
            };
            last = last.iter().flat_map(longer).collect();
            all.extend(last.clone());
        }
        all
    }
    let paths = texts(b"ab/$", 4);
    for tail in texts(b"a/*$", 4) {
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
