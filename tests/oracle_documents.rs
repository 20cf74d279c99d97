//! The examples of the four documents, checked by hand, as the oracle answers them.
//!
//! The oracle judges the engines, so it is judged here by what the standards themselves print: the
//! consensus of 1994, M. Koster's draft of 1996, the Internet-Draft of 2019 and Google's page.

use portcullis::decision::{Decision, Reason, Verdict};
use portcullis::dialect::{DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};
use portcullis::oracle::{compared_path, decide, pattern_matches};

/// A chain of agents, the path of a URL, and the line of the rule that decides: negative if it
/// disallows, 0 if all is allowed because no rule matches.
type Question<'a> = (&'a [&'a str], &'a str, i32);

fn check(dialect: &Dialect, robots: &str, questions: &[Question<'_>]) {
    for (agents, path, want) in questions {
        let url = format!("https://example.com{path}");
        let decision = decide(dialect, robots.as_bytes(), None, agents, url.as_bytes());
        let got = signed_line(decision);
        assert_eq!(got, *want, "{} {agents:?} {path}\n{robots}", dialect.name);
    }
}

fn signed_line(decision: Decision) -> i32 {
    let line = decision.line.map_or(0, |line| line.get() as i32);
    match (decision.verdict, decision.reason) {
        (Verdict::Allow, Reason::Rule | Reason::NoRule) => line,
        (Verdict::Disallow, Reason::Rule) => -line,
        other => panic!("no answer of a rule: {other:?}"),
    }
}

/// Whether a pattern of a file matches the path of a URL, both as written.
fn matches(dialect: &Dialect, pattern: &str, path: &str) -> bool {
    let url = format!("https://example.com{path}");
    let path = compared_path(dialect, url.as_bytes()).expect("a URL");
    pattern_matches(dialect, pattern.as_bytes(), &path)
}

#[test]
fn consensus_of_1994_examples() {
    let all = "User-agent: *\nDisallow:\n";
    let none = "User-agent: *\nDisallow: /\n";
    let folders = "User-agent: *\nDisallow: /cgi-bin/\nDisallow: /images/\n";
    let roverdog = "User-agent: Roverdog\nDisallow: /\n\nUser-agent: *\nDisallow:\n";
    let cheese = "User-agent: Googlebot\nDisallow: cheese.htm\n";
    let comment = "# a comment\nUser-agent: *\n Disallow: bob #comment\n";
    let bob = "User-agent: *\nDisallow:/bob\n";
    let rows: &[(&str, &[Question<'_>])] = &[
        (all, &[(&["AnyBot"], "/", 0), (&["AnyBot"], "/a/b", 0)]),
        (none, &[(&["AnyBot"], "/", -2), (&["AnyBot"], "/a/b", -2)]),
        (folders, &[(&["AnyBot"], "/cgi-bin/a/b", -2), (&["AnyBot"], "/images/a.gif", -3)]),
        (folders, &[(&["AnyBot"], "/cgi-bin", 0), (&["AnyBot"], "/a/images/", 0)]),
        (roverdog, &[(&["Roverdog"], "/a", -2), (&["AnyBot"], "/a", 0)]),
        (cheese, &[(&["Googlebot"], "/cheese.htm", -2), (&["Googlebot"], "/a/cheese.htm", 0)]),
        (comment, &[(&["AnyBot"], "/bob", -3), (&["AnyBot"], "/a", 0)]),
        (bob, &[(&["AnyBot"], "/bob.html", -2), (&["AnyBot"], "/bob/indes.html", -2)]),
        (bob, &[(&["AnyBot"], "/a/bob.html", 0)]),
    ];
    for (robots, questions) in rows {
        check(&ORIGINAL_1994, robots, questions);
    }
}

#[test]
fn consensus_of_1994_knows_no_allow() {
    let robots = "User-agent: *\nAllow: /a\nDisallow: /\n";
    check(&ORIGINAL_1994, robots, &[(&["AnyBot"], "/a", -3)]);
}

#[test]
fn koster_1996_path_table() {
    let rows = [
        ("/tmp", "/tmp", true),
        ("/tmp", "/tmp.html", true),
        ("/tmp", "/tmp/a.html", true),
        ("/tmp/", "/tmp", false),
        ("/tmp/", "/tmp/", true),
        ("/tmp/", "/tmp/a.html", true),
        ("/a%3cd.html", "/a%3cd.html", true),
        ("/a%3Cd.html", "/a%3cd.html", true),
        ("/a%3cd.html", "/a%3Cd.html", true),
        ("/a%3cd.html", "/a%3cd.html", true),
        ("/a%2fb.html", "/a%2fb.html", true),
        ("/a%2fb.html", "/a%2Fb.html", true),
        ("/a%2fb.html", "/a/b.html", false),
        ("/%7ejoe/index.html", "/~joe/index.html", true),
        ("/~joe/index.html", "/%7Ejoe/index.html", true),
    ];
    for (pattern, path, want) in rows {
        let got = matches(&KOSTER_1996, pattern, path);
        assert_eq!(got, want, "{pattern} on {path}");
        let robots = format!("User-agent: *\nDisallow: {pattern}\n");
        let line = if want { -2 } else { 0 };
        check(&KOSTER_1996, &robots, &[(&["AnyBot"], path, line)]);
    }
}

#[test]
fn koster_1996_record_of_section_3_2() {
    let robots = "User-agent: webcrawler\nUser-agent: infoseek\nAllow: /tmp/ok.html\n\
        Disallow: /tmp\nDisallow: /user/foo\n\nUser-agent: figtree\nDisallow: /\n\n\
        User-agent: *\nDisallow: /default\n";
    for agent in ["webcrawler", "infoseek", "InfoSeek"] {
        let agent: &[&str] = &[agent];
        check(
            &KOSTER_1996,
            robots,
            &[
                (agent, "/tmp/ok.html", 3),
                (agent, "/tmp/a.html", -4),
                (agent, "/user/foo/a", -5),
                (agent, "/user", 0),
                (agent, "/default", 0),
            ],
        );
    }
    check(&KOSTER_1996, robots, &[(&["FigTree"], "/a", -8), (&["AnyBot"], "/default", -11)]);
}

#[test]
fn koster_1996_first_match_decides() {
    let robots = "User-agent: *\nDisallow: /a\nAllow: /a/b\n";
    check(&KOSTER_1996, robots, &[(&["AnyBot"], "/a/b", -2)]);
}

#[test]
fn draft_2019_simple_example() {
    let robots = "User-Agent : foobot\nDisallow : /example/page.html\n\
        Disallow : /example/disallowed.gif\n\nUser-Agent : barbot\nUser-Agent : bazbot\n\
        Allow : /example/page.html\nDisallow : /example/disallowed.gif\n\n\
        User-Agent: quxbot\n\n/eof\n";
    for dialect in [&DRAFT_2019, &RFC_9309, &GOOGLE] {
        let questions: &[Question<'_>] = &[
            (&["foobot"], "/example/page.html", -2),
            (&["foobot"], "/example/disallowed.gif", -3),
            (&["foobot"], "/example/allowed.gif", 0),
            (&["barbot"], "/example/page.html", 7),
            (&["BazBot"], "/example/page.html", 7),
            (&["barbot"], "/example/disallowed.gif", -8),
            (&["bazbot"], "/example/disallowed.gif", -8),
            (&["quxbot"], "/example/page.html", 0),
            (&["quxbot"], "/example/disallowed.gif", 0),
        ];
        check(dialect, robots, questions);
    }
}

#[test]
fn draft_2019_longest_match_example() {
    let robots =
        "User-Agent : foobot\nAllow : /example/page/\nDisallow : /example/page/disallowed.gif\n";
    for dialect in [&DRAFT_2019, &RFC_9309, &GOOGLE] {
        let questions: &[Question<'_>] = &[
            (&["foobot"], "/example/page/disallowed.gif", -3),
            (&["foobot"], "/example/page/allowed.gif", 2),
        ];
        check(dialect, robots, questions);
    }
}

#[test]
fn draft_2019_encoding_table() {
    let rows = [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        (
            "/foo/bar?baz=http%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=http%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=http%3A%2F%2Ffoo.bar",
        ),
        (
            "/foo/bar?baz=http://foo.bar",
            "/foo/bar?baz=http://foo.bar",
            "/foo/bar?baz=http://foo.bar",
        ),
        ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/bar/baz"),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A", "/foo/bar/baz"),
    ];
    for dialect in [&DRAFT_2019, &RFC_9309] {
        for (pattern, path, compared) in rows {
            assert!(matches(dialect, pattern, path), "{pattern} on {path}");
            for spelling in [pattern, path] {
                let url = format!("https://example.com{spelling}");
                let got = compared_path(dialect, url.as_bytes()).expect("a URL");
                assert_eq!(got, compared.as_bytes(), "{spelling}");
            }
        }
        // A reserved character and its escape are two things (RFC 3986, section 2.2).
        let written = "/foo/bar?baz=http://foo.bar";
        let escaped = "/foo/bar?baz=http%3A%2F%2Ffoo.bar";
        assert!(!matches(dialect, written, escaped));
        assert!(!matches(dialect, escaped, written));
    }
}

#[test]
fn draft_2019_special_characters() {
    let robots = "user-agent: *\ndisallow: /\nallow: /in/line # comment in line\n\
        # comment at the end\nallow: /this/path/exactly$\nallow: /this/*/exactly\n";
    for dialect in [&DRAFT_2019, &RFC_9309, &GOOGLE] {
        let questions: &[Question<'_>] = &[
            (&["foobot"], "/in/line", 3),
            (&["foobot"], "/this/path/exactly", 5),
            (&["foobot"], "/this/path/exactly/not", 6),
            (&["foobot"], "/this/other/path/exactly", 6),
            (&["foobot"], "/this//exactly", 6),
            (&["foobot"], "/this/exactly", -2),
        ];
        check(dialect, robots, questions);
    }
}

#[test]
fn draft_2019_special_characters_verbatim() {
    let rows = [
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
    ];
    for dialect in [&DRAFT_2019, &RFC_9309] {
        for (pattern, path) in rows {
            assert!(matches(dialect, pattern, path), "{pattern} on {path}");
        }
        assert!(!matches(dialect, rows[0].0, "/path/file-with-a-b.html"));
        assert!(!matches(dialect, rows[1].0, "/path/foo-"));
    }
}

#[test]
fn draft_2019_group_and_robots_txt_rules() {
    let robots = "disallow: /outside\nuser-agent: *\ndisallow: /first\n\n\
        user-agent: foobot\ndisallow: /a\n\nuser-agent: FooBot\ndisallow: /b\n\n\
        user-agent: *\ndisallow: /second\n";
    let questions: &[Question<'_>] = &[
        (&["foobot"], "/a", -6),
        (&["foobot"], "/b", -9),
        (&["foobot"], "/first", 0),
        (&["foobot"], "/outside", 0),
        (&["AnyBot"], "/first", -3),
        (&["AnyBot"], "/second", 0),
    ];
    check(&DRAFT_2019, robots, questions);
    let everything = b"user-agent: *\ndisallow: /\n";
    let url = b"https://example.com/robots.txt";
    let decision = decide(&DRAFT_2019, everything, None, &["foobot"], url);
    assert_eq!(decision, Decision::ROBOTS_TXT);
}

#[test]
fn google_page_path_matching() {
    let fish: &[&str] = &[
        "/fish",
        "/fish.html",
        "/fish/salmon.html",
        "/fishheads",
        "/fishheads/yummy.html",
        "/fish.php?id=anything",
    ];
    let no_fish: &[&str] = &["/Fish.asp", "/catfish", "/?id=fish", "/desert/fish"];
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("/", &["/", "/fish", "/a/b?c"], &[]),
        ("/*", &["/", "/fish", "/a/b?c"], &[]),
        ("/$", &["/"], &["/fish", "/?id=fish"]),
        ("/fish", fish, no_fish),
        ("/fish*", fish, no_fish),
        (
            "/fish/",
            &["/fish/", "/fish/?id=anything", "/fish/salmon.htm"],
            &["/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.asp"],
        ),
        (
            "/*.php",
            &[
                "/index.php",
                "/filename.php",
                "/folder/filename.php",
                "/folder/filename.php?parameters",
                "/folder/any.php.file.html",
                "/filename.php/",
            ],
            &["/", "/windows.PHP"],
        ),
        (
            "/*.php$",
            &["/filename.php", "/folder/filename.php"],
            &["/filename.php?parameters", "/filename.php/", "/filename.php5", "/windows.PHP"],
        ),
        ("/fish*.php", &["/fish.php", "/fishheads/catfish.php?parameters"], &["/Fish.PHP"]),
    ];
    for dialect in [&GOOGLE, &RFC_9309, &DRAFT_2019] {
        for (pattern, yes, no) in rows {
            for path in *yes {
                assert!(matches(dialect, pattern, path), "{pattern} on {path}");
            }
            for path in *no {
                assert!(!matches(dialect, pattern, path), "{pattern} on {path}");
            }
        }
    }
}

#[test]
fn google_page_order_of_precedence_for_rules() {
    let rows = [
        ("/page", "allow: /p\ndisallow: /", 2),
        ("/folder/page", "allow: /folder\ndisallow: /folder", 2),
        ("/page.htm", "allow: /page\ndisallow: /*.htm", -3),
        ("/page.php5", "allow: /page\ndisallow: /*.ph", 2),
        ("/", "allow: /$\ndisallow: /", 2),
        ("/page.htm", "allow: /$\ndisallow: /", -3),
    ];
    for dialect in [&GOOGLE, &RFC_9309, &DRAFT_2019] {
        for (path, rules, line) in rows {
            let robots = format!("user-agent: *\n{rules}\n");
            check(dialect, &robots, &[(&["Googlebot"], path, line)]);
        }
    }
}

#[test]
fn google_page_groups_of_several_agents() {
    let robots = "user-agent: a\ndisallow: /c\n\nuser-agent: b\ndisallow: /d\n\n\
        user-agent: e\nuser-agent: f\ndisallow: /g\n\nuser-agent: h\n";
    let questions: &[Question<'_>] = &[
        (&["a"], "/c", -2),
        (&["a"], "/d", 0),
        (&["b"], "/d", -5),
        (&["b"], "/c", 0),
        (&["e"], "/g", -9),
        (&["f"], "/g", -9),
        (&["f"], "/d", 0),
        (&["h"], "/c", 0),
        (&["h"], "/g", 0),
    ];
    for dialect in [&GOOGLE, &RFC_9309] {
        check(dialect, robots, questions);
    }
}

#[test]
fn google_page_order_of_precedence_for_agents() {
    let robots = "user-agent: googlebot-news\ndisallow: /1\n\nuser-agent: *\ndisallow: /2\n\n\
        user-agent: googlebot\ndisallow: /3\n";
    // An agent, and the group that it follows: its number is the path that is disallowed.
    let rows: &[(&[&str], &str, i32)] = &[
        (&["Googlebot-News", "Googlebot"], "/1", -2),
        (&["Googlebot"], "/3", -8),
        (&["Storebot-Google"], "/2", -5),
        (&["Otherbot"], "/2", -5),
        (&["Otherbot-News"], "/2", -5),
    ];
    for (agents, path, line) in rows {
        for other in ["/1", "/2", "/3"] {
            let want = if other == *path { *line } else { 0 };
            check(&GOOGLE, robots, &[(agents, other, want)]);
        }
    }
}

#[test]
fn google_page_ignores_text_after_the_token() {
    for value in ["googlebot", "googlebot/1.2", "googlebot*", "GoogleBot 2.1"] {
        let robots = format!("user-agent: {value}\ndisallow: /\n");
        check(&GOOGLE, &robots, &[(&["Googlebot"], "/", -2)]);
    }
}

#[test]
fn google_page_merges_groups_of_one_agent() {
    let robots = "user-agent: googlebot-news\ndisallow: /fish\n\nuser-agent: *\n\
        disallow: /carrots\n\nuser-agent: googlebot-news\ndisallow: /shrimp\n";
    let questions: &[Question<'_>] = &[
        (&["Googlebot-News"], "/fish", -2),
        (&["Googlebot-News"], "/shrimp", -8),
        (&["Googlebot-News"], "/carrots", 0),
        (&["Otherbot"], "/carrots", -5),
        (&["Otherbot"], "/fish", 0),
        (&["Otherbot"], "/shrimp", 0),
    ];
    for dialect in [&GOOGLE, &RFC_9309] {
        check(dialect, robots, questions);
    }
}

#[test]
fn google_page_sitemap_does_not_end_a_run_of_agents() {
    let robots = "user-agent: a\nsitemap: https://example.com/sitemap.xml\n\n\
        user-agent: b\ndisallow: /\n";
    for dialect in [&GOOGLE, &RFC_9309] {
        check(dialect, robots, &[(&["a"], "/", -5), (&["b"], "/", -5)]);
    }
}

#[test]
fn google_page_first_example() {
    let robots = "# All crawlers are disallowed, but Googlebot is allowed.\n\
        User-agent: *\nDisallow: /includes/\n\nUser-agent: Googlebot\nAllow: /includes/\n\n\
        Sitemap: https://example.com/sitemap.xml\n";
    let questions: &[Question<'_>] = &[
        (&["Otherbot"], "/includes/a.js", -3),
        (&["Otherbot"], "/a.js", 0),
        (&["Googlebot"], "/includes/a.js", 6),
        (&["Googlebot"], "/a.js", 0),
    ];
    for dialect in [&GOOGLE, &RFC_9309] {
        check(dialect, robots, questions);
    }
}
