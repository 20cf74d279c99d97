//! Records to groups, and whom they speak to.

use super::{ALL, MODERN, OLD, STANDARD, ask, check, decide, words};
use portcullis_dialect::dialect::{
    DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309,
};

#[test]
fn groups_begin_and_end_as_the_dialect_says() {
    let blank = b"User-agent: a\n \t\nDisallow: /a\nUser-agent: b\nDisallow: /b";
    let comment = b"User-agent: a\n#\nDisallow: /a";
    let between = b"User-agent: a\nSitemap: s\nCrawl-delay: 1\nUser-agent: b\nDisallow: /";
    let before = b"Disallow: /a\nUser-agent: a\nDisallow: /b";
    let empty_value = b"User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /";
    let unread_rule = b"User-agent: a\nAllow: /x\nUser-agent: b\nDisallow: /";
    check(&[
        (OLD, blank, "a", "/a", "allow no-rule"),
        (OLD, blank, "b", "/b", "disallow rule 5"),
        (MODERN, blank, "a", "/a", "disallow rule 3"),
        (ALL, comment, "a", "/a", "disallow rule 3"),
        (ALL, between, "a", "/", "disallow rule 5"),
        (ALL, between, "b", "/", "disallow rule 5"),
        (ALL, before, "a", "/a", "allow no-rule"),
        (ALL, empty_value, "a", "/", "allow no-rule"),
        (ALL, empty_value, "b", "/", "disallow rule 4"),
        (&[&ORIGINAL_1994], unread_rule, "a", "/", "disallow rule 4"),
        (&[&KOSTER_1996], unread_rule, "a", "/", "allow no-rule"),
        (ALL, b"Disallow: /", "a", "/", "allow no-rules"),
        (ALL, b"User-agent: b\nDisallow: /", "a", "/", "allow no-group"),
    ]);
}

#[test]
fn a_user_agent_line_names_the_agent_as_the_dialect_says() {
    let group = |value: &str| format!("User-agent: {value}\nDisallow: /").into_bytes();
    let rows: &[(&[&Dialect], &str, &str, bool)] = &[
        (ALL, "FOO", "foo", true),
        (ALL, "", "foo", false),
        (ALL, "foobar", "foo", false),
        (&[&ORIGINAL_1994], "oo", "Foo/1.0", true),
        (&[&ORIGINAL_1994], "foo bar", "x Foo Bar", true),
        (&[&KOSTER_1996], "foo", "foobot", false),
        (&[&KOSTER_1996], "foo/1.0", "foo", false),
        (MODERN, "foo/1.0", "foo", true),
        (MODERN, "foo*", "foo", true),
        (STANDARD, "MJ12bot", "mj12bot", true),
        (&[&GOOGLE], "MJ12bot", "mj", true),
        (ALL, "*", "foo", true),
        (&[&GOOGLE], "* anything", "foo", true),
        (&[&GOOGLE], "*\x0c", "foo", true),
        (&[&KOSTER_1996, &DRAFT_2019, &RFC_9309], "* anything", "foo", false),
        (ALL, "*foo", "foo", false),
        (ALL, "*", "*", true),
    ];
    for (dialects, value, agent, named) in rows {
        for dialect in *dialects {
            let got = words(ask(dialect, &group(value), agent, "/"));
            let want = if *named { "disallow rule 2" } else { "allow no-group" };
            assert_eq!(got, want, "{} {value:?} {agent}", dialect.name);
        }
    }
}

#[test]
fn several_groups_merge_or_the_first_is_obeyed() {
    let named = b"User-agent: a\nDisallow: /1\n\nUser-agent: a\nDisallow: /2";
    let default = b"User-agent: *\nDisallow: /1\n\nUser-agent: *\nDisallow: /2";
    let both = b"User-agent: a\nUser-agent: *\nDisallow: /1\n\nUser-agent: *\nDisallow: /2";
    check(&[
        (ALL, named, "a", "/1", "disallow rule 2"),
        (OLD, named, "a", "/2", "allow no-rule"),
        (MODERN, named, "a", "/2", "disallow rule 5"),
        (ALL, default, "a", "/1", "disallow rule 2"),
        (OLD, default, "a", "/2", "allow no-rule"),
        (&[&DRAFT_2019], default, "a", "/2", "allow no-rule"),
        (&[&RFC_9309, &GOOGLE], default, "a", "/2", "disallow rule 5"),
        (ALL, both, "a", "/1", "disallow rule 3"),
        (ALL, both, "a", "/2", "allow no-rule"),
        (&[&RFC_9309, &GOOGLE], both, "b", "/2", "disallow rule 6"),
    ]);
}

#[test]
fn agents_are_a_chain_to_fall_back_along() {
    let robots = b"User-agent: b\nDisallow: /b\n\nUser-agent: a\nDisallow: /a\n\n\
        User-agent: *\nDisallow: /c";
    let rows: &[(&[&str], &[u8], &str)] = &[
        (&["a", "b"], b"http://h/a", "disallow rule 5"),
        (&["a", "b"], b"http://h/b", "allow no-rule"),
        (&["z", "b"], b"http://h/b", "disallow rule 2"),
        (&["z", "y"], b"http://h/c", "disallow rule 8"),
        (&[], b"http://h/c", "disallow rule 8"),
    ];
    for dialect in ALL {
        for (agents, url, want) in rows {
            let got = words(decide(dialect, robots, None, agents, url));
            assert_eq!(&got, want, "{} {agents:?}", dialect.name);
        }
    }
}
