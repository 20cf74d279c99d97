//! Bytes to lines and records.

use super::{ALL, MODERN, OLD, STANDARD, ask, check, decide, words};
use portcullis_dialect::dialect::{DRAFT_2019, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};
use portcullis_dialect::limits::GOOGLE_LINE_BYTES_MAX;

#[test]
fn lines_end_at_cr_lf_or_both() {
    check(&[
        (ALL, b"User-agent: *\rDisallow: /a\r", "x", "/a", "disallow rule 2"),
        (ALL, b"User-agent: *\nDisallow: /a", "x", "/a", "disallow rule 2"),
        (ALL, b"User-agent: *\r\nDisallow: /a\r\n", "x", "/a", "disallow rule 2"),
        (MODERN, b"User-agent: *\n\rDisallow: /a", "x", "/a", "disallow rule 3"),
        (MODERN, b"User-agent: *\r\r\nDisallow: /a", "x", "/a", "disallow rule 3"),
        (OLD, b"User-agent: *\n\rDisallow: /a", "x", "/a", "allow no-rules"),
    ]);
}

#[test]
fn a_byte_order_mark_is_skipped_once() {
    let but_google = &[&ORIGINAL_1994, &KOSTER_1996, &DRAFT_2019, &RFC_9309];
    check(&[
        (ALL, b"\xef\xbb\xbfUser-agent: *\nDisallow: /", "x", "/", "disallow rule 2"),
        (&[&GOOGLE], b"\xef\xbbUser-agent: *\nDisallow: /", "x", "/", "disallow rule 2"),
        (&[&GOOGLE], b"\xefUser-agent: *\nDisallow: /", "x", "/", "disallow rule 2"),
        (but_google, b"\xef\xbbUser-agent: *\nDisallow: /", "x", "/", "allow no-rules"),
        (ALL, b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /", "x", "/", "allow no-rules"),
    ]);
}

#[test]
fn a_nul_is_ordinary_or_drops_or_cuts_its_line() {
    let in_value = b"User-agent: *\nDisallow: /a\0b";
    let in_comment = b"User-agent: *\nDisallow: /a # \0";
    let before_comment = b"User-agent: *\nDisallow: /a\0# b";
    check(&[
        (OLD, in_value, "x", "/a\0b", "disallow rule 2"),
        (OLD, in_value, "x", "/ab", "allow no-rule"),
        (OLD, in_comment, "x", "/a", "disallow rule 2"),
        (STANDARD, in_value, "x", "/a", "allow no-rules"),
        (STANDARD, in_comment, "x", "/a", "allow no-rules"),
        (&[&GOOGLE], in_value, "x", "/a", "disallow rule 2"),
        (&[&GOOGLE], before_comment, "x", "/a", "disallow rule 2"),
        (&[&GOOGLE], b"User-agent: *\n\0Disallow: /", "x", "/a", "allow no-rules"),
    ]);
}

#[test]
fn other_control_bytes_drop_a_line_only_in_its_value() {
    let in_value = b"User-agent: *\nDisallow: /\x01a";
    let in_comment = b"User-agent: *\nDisallow: /a #\x01";
    let at_the_end = b"User-agent: *\nDisallow: /a\x0b";
    check(&[
        (OLD, in_value, "x", "/\x01a", "disallow rule 2"),
        (STANDARD, in_value, "x", "/\x01a", "allow no-rules"),
        (&[&GOOGLE], in_value, "x", "/\x01a", "disallow rule 2"),
        (ALL, in_comment, "x", "/a", "disallow rule 2"),
        (ALL, b"User-agent: *\nDisallow: /a\tb", "x", "/a\tbc", "disallow rule 2"),
        (ALL, b"User-agent: *\nDisallow: /a\x7f", "x", "/a\x7fb", "disallow rule 2"),
        (STANDARD, at_the_end, "x", "/a", "allow no-rules"),
        (&[&GOOGLE], at_the_end, "x", "/a", "disallow rule 2"),
    ]);
}

#[test]
fn a_user_agent_line_is_never_dropped() {
    let control = b"User-agent: x\nDisallow: /a\nUser-agent: y\x01z\nDisallow: /b";
    let nul = b"User-agent: x\nDisallow: /a\nUser-agent: y\0z # \0\nDisallow: /b";
    for robots in [&control[..], nul] {
        check(&[
            (MODERN, robots, "x", "/a", "disallow rule 2"),
            (MODERN, robots, "x", "/b", "allow no-rule"),
            (MODERN, robots, "y", "/b", "disallow rule 4"),
            (MODERN, robots, "yz", "/b", "allow no-group"),
            (OLD, robots, "y", "/b", "allow no-group"),
        ]);
    }
    check(&[
        (STANDARD, b"User-agent: * \x01\nDisallow: /a", "x", "/a", "disallow rule 2"),
        (STANDARD, b"User-agent: *\nUser-agent: \0x\nDisallow: /", "y", "/", "disallow rule 3"),
    ]);
}

#[test]
fn a_field_is_a_name_a_colon_and_a_value() {
    let trimmed = b" \tUSER-AGENT\t : *\n DisAllow : /a \t# b";
    let colons = b"User-agent: *\nDisallow: /a:b";
    let longer = b"User-agents: *\nDisallowed: /a";
    let no_colon = b"User-agent *\nDisallow \t/a";
    let three_words = b"User-agent: *\nDisallow /a b";
    let no_name = b"User-agent: *\n: /a";
    let colon_in_comment = b"User-agent: *\nDisallow /a # why: because";
    let but_google = &[&ORIGINAL_1994, &KOSTER_1996, &DRAFT_2019, &RFC_9309];
    check(&[
        (ALL, trimmed, "x", "/a", "disallow rule 2"),
        (ALL, colons, "x", "/a:b", "disallow rule 2"),
        (but_google, longer, "x", "/a", "allow no-rules"),
        (&[&GOOGLE], longer, "x", "/a", "disallow rule 2"),
        (but_google, no_colon, "x", "/a", "allow no-rules"),
        (&[&GOOGLE], no_colon, "x", "/a", "disallow rule 2"),
        (ALL, three_words, "x", "/a", "allow no-rules"),
        (ALL, no_name, "x", "/a", "allow no-rules"),
        (but_google, colon_in_comment, "x", "/a", "allow no-rules"),
        (&[&GOOGLE], colon_in_comment, "x", "/a", "disallow rule 2"),
    ]);
}

#[test]
fn google_knows_frequent_misspellings() {
    for agent in ["useragent", "user agent", "User-Agent-x"] {
        for name in ["dissallow", "dissalow", "disalow", "diasllow", "disallaw"] {
            let robots = format!("{agent}: *\n{name}: /a\n");
            let google = words(ask(&GOOGLE, robots.as_bytes(), "x", "/a"));
            assert_eq!(google, "disallow rule 2", "{robots}");
            let standard = words(ask(&RFC_9309, robots.as_bytes(), "x", "/a"));
            assert_eq!(standard, "allow no-rules", "{robots}");
        }
    }
}

#[test]
fn google_cuts_a_long_line_and_counts_it_once() {
    let padded = |bytes: usize| {
        let mut line = b"Disallow: /a".to_vec();
        line.resize(bytes - 1, b' ');
        [b"User-agent: *\n", &line[..], b"b\nDisallow: /c\n"].concat()
    };
    let (kept, cut) = (padded(GOOGLE_LINE_BYTES_MAX), padded(GOOGLE_LINE_BYTES_MAX + 1));
    check(&[
        (&[&GOOGLE], &kept, "x", "/a", "allow no-rule"),
        (&[&GOOGLE], &cut, "x", "/a", "disallow rule 2"),
        (STANDARD, &cut, "x", "/a", "allow no-rule"),
        (ALL, &cut, "x", "/c", "disallow rule 3"),
    ]);
}

#[test]
fn a_line_that_the_size_limit_cuts_is_dropped() {
    let robots = b"User-agent: *\nDisallow: /ab\r\nDisallow: /c";
    let rows = [
        (13, "allow no-rules"),
        (26, "allow no-rules"),
        (27, "disallow rule 2"),
        (28, "disallow rule 2"),
        (29, "disallow rule 2"),
        (30, "disallow rule 2"),
        (0, "allow no-rules"),
    ];
    for dialect in ALL {
        for (limit, want) in rows {
            let url = b"http://example.com/abc";
            let decision = decide(dialect, robots, Some(limit), &["x"], url);
            assert_eq!(words(decision), want, "{} {limit}", dialect.name);
        }
        for (limit, want) in [(40, "allow no-rule"), (41, "disallow rule 3")] {
            let url = b"http://example.com/c";
            let decision = decide(dialect, robots, Some(limit), &["x"], url);
            assert_eq!(words(decision), want, "{} {limit}", dialect.name);
        }
    }
}
