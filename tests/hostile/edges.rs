//! Input at a limit, and one byte past it.

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::{Dialect, GOOGLE, RFC_9309};
use portcullis_dialect::limits::{GOOGLE_LINE_BYTES_MAX, ROBOTS_BYTES_MAX, URL_BYTES_MAX};
use portcullis_testkit::{Configuration, Form, World, origin};

use crate::AGENT;

/// Returns the engine's decision after comparing it with the oracle's.
fn decide(dialect: &'static Dialect, robots: &[u8], url: &[u8]) -> Decision {
    let mut world = World::new(dialect, Some(ROBOTS_BYTES_MAX), &[AGENT]);
    world.add(robots, [url.to_vec()]);
    world.agrees(&world.engine(&world.set(Form::Compiled), &Configuration::default()));
    let answer = world.questions[0].judged[0].as_ref().expect("it is judged");
    answer.usage.access
}

/// Returns a URL with this path.
fn url(path: &[u8]) -> Vec<u8> {
    [origin(0).as_bytes(), path].concat()
}

fn line(decision: Decision) -> Option<u32> {
    decision.line.map(|line| line.get())
}

#[test]
fn a_url_of_the_largest_size_and_one_past_it() {
    let head = url(b"/");
    for dialect in Dialect::ALL {
        // A record that is too long is invalid even without a rule.
        for robots in [&b"User-agent: *\nDisallow: /a\n"[..], b""] {
            let longest = [&head[..], &vec![b'a'; URL_BYTES_MAX - head.len()]].concat();
            assert_ne!(decide(dialect, robots, &longest).verdict, Verdict::Invalid);
            let longer = [&longest[..], b"a"].concat();
            assert_eq!(decide(dialect, robots, &longer), Decision::INVALID);
            // Surrounding white space does not count.
            let padded = [b" \t", &longest[..], b"\r"].concat();
            assert_ne!(decide(dialect, robots, &padded).verdict, Verdict::Invalid);
        }
    }
}

#[test]
fn a_line_of_the_largest_size_and_past_it() {
    let field = b"Disallow: ";
    let rows: [(usize, &[u8]); 6] = [
        (GOOGLE_LINE_BYTES_MAX - 1, b"\n"),
        (GOOGLE_LINE_BYTES_MAX, b"\n"),
        (GOOGLE_LINE_BYTES_MAX, b"\r\n"),
        (GOOGLE_LINE_BYTES_MAX + 1, b"\n"),
        (GOOGLE_LINE_BYTES_MAX + 1, b""),
        (GOOGLE_LINE_BYTES_MAX + 2, b"\r"),
    ];
    for (length, end) in rows {
        let path = [b"/", &vec![b'a'; length - field.len() - 1][..]].concat();
        let robots = [b"User-agent: *\n", &field[..], &path, end].concat();
        let kept = &path[..path.len().min(GOOGLE_LINE_BYTES_MAX - field.len())];
        assert_eq!(line(decide(&GOOGLE, &robots, &url(kept))), Some(2));
        assert_eq!(line(decide(&GOOGLE, &robots, &url(&kept[..kept.len() - 1]))), None);
        // Other dialects do not cut lines.
        assert_eq!(line(decide(&RFC_9309, &robots, &url(&path))), Some(2));
        assert_eq!(line(decide(&RFC_9309, &robots, &url(&path[..path.len() - 1]))), None);
    }
}

#[test]
fn the_line_limit_can_cut_off_an_anchor() {
    let field = b"Disallow: ";
    for over in 0..3 {
        let letters = vec![b'a'; GOOGLE_LINE_BYTES_MAX - field.len() - 2 + over];
        let path = [b"/", &letters[..]].concat();
        let robots = [b"User-agent: *\n", &field[..], &path, b"$\n"].concat();
        let longer = [&path[..], b"a"].concat();
        assert_eq!(line(decide(&GOOGLE, &robots, &url(&path))), Some(2));
        let beyond = line(decide(&GOOGLE, &robots, &url(&longer)));
        assert_eq!(beyond, (over > 0).then_some(2), "{over}");
    }
}

#[test]
fn a_file_of_the_largest_size_and_past_it() {
    let head = b"User-agent: *\nDisallow: /kept\n#";
    for tail in [&b"\nDisallow: /last"[..], b"\nDisallow: /last\n", b"\r\nDisallow: /last\r\n"] {
        for over in 0..4 {
            let filled = ROBOTS_BYTES_MAX + over - head.len() - tail.len();
            let robots = [&head[..], &vec![b'.'; filled], tail].concat();
            assert_eq!(robots.len(), ROBOTS_BYTES_MAX + over);
            let ends = tail.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
            for dialect in Dialect::ALL {
                assert_eq!(line(decide(dialect, &robots, &url(b"/kept"))), Some(2));
                let last = decide(dialect, &robots, &url(b"/last"));
                assert_eq!(line(last), (over <= ends).then_some(4), "{} {over}", dialect.name);
            }
        }
    }
}

#[test]
fn a_group_far_past_the_largest_size_is_ignored() {
    let mut robots = b"User-agent: *\nDisallow: /a\n".to_vec();
    robots.extend(b"# nothing\n".repeat(ROBOTS_BYTES_MAX / 10));
    robots.extend(b"User-agent: ExampleBot\nAllow: /\n");
    for dialect in Dialect::ALL {
        let decision = decide(dialect, &robots, &url(b"/a"));
        assert_eq!((decision.verdict, decision.reason), (Verdict::Disallow, Reason::Rule));
    }
}
