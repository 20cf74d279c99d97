//! Tables: one row per decision point on lines and groups.

use super::*;
use bstr::ByteSlice;
use portcullis_dialect::limits::GOOGLE_LINE_BYTES_MAX;
use portcullis_dialect::{DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

/// Shows the structure of a file on one line: groups end with `|` and list user-agent lines before
/// rules (`+` allows, `-` disallows); other records follow `;`.
fn shape(file: &RobotsTxt<'_>) -> String {
    let mut out = String::new();
    for group in file.groups() {
        for line in file.user_agents_of(group) {
            out += &format!("[{}]", line.value.escape_ascii());
        }
        for rule in file.rules_of(group) {
            let sign = if rule.verdict == Verdict::Allow { '+' } else { '-' };
            out += &format!("{sign}{}", rule.value.escape_ascii());
        }
        out.push('|');
    }
    for record in file.other_records() {
        let (name, value) = (record.name.as_bstr(), record.value.as_bstr());
        out += &format!(";{name}={value}");
    }
    out
}

fn parse<'t>(text: &'t [u8], dialect: &Dialect) -> RobotsTxt<'t> {
    let file = RobotsTxt::parse(text, dialect, None);
    check_spans(text, &file);
    file
}

/// Checks that a record's span ends with its value and that a note's span lies in the file.
fn check_spans(text: &[u8], file: &RobotsTxt<'_>) {
    let agents = file.user_agents().iter().map(|line| (line.span, line.value));
    let rules = file.rules().iter().map(|rule| (rule.span, rule.value));
    let others = file.other_records().iter().map(|record| (record.span, record.value));
    for (span, value) in agents.chain(rules).chain(others) {
        assert!(text[span.range()].ends_with(value));
    }
    for note in file.notes() {
        assert!(note.span.range().end <= text.len());
    }
}

fn kinds(file: &RobotsTxt<'_>) -> Vec<(NoteKind, u32)> {
    let notes = file.notes().iter();
    notes.map(|note| (note.kind, note.line.get())).collect()
}

const LATER: [&Dialect; 4] = [&KOSTER_1996, &DRAFT_2019, &RFC_9309, &GOOGLE];
const STANDARDS: [&Dialect; 3] = [&KOSTER_1996, &DRAFT_2019, &RFC_9309];
const RECENT: [&Dialect; 3] = [&DRAFT_2019, &RFC_9309, &GOOGLE];
const IETF: [&Dialect; 2] = [&DRAFT_2019, &RFC_9309];
const OLD: [&Dialect; 2] = [&ORIGINAL_1994, &KOSTER_1996];

type Row = (&'static [&'static Dialect], &'static [u8], &'static str);

fn check(rows: &[Row]) {
    for &(dialects, text, expected) in rows {
        for dialect in dialects {
            let file = parse(text, dialect);
            assert_eq!(shape(&file), expected, "{} {}", dialect.name, text.as_bstr());
        }
    }
}

/// Lines and groups on their own are in the case suite; these rows have other records and odd
/// values.
#[test]
fn shapes() {
    check(&[
        (&Dialect::ALL, b"", ""),
        (&Dialect::ALL, b" \tuser-agent\t : \ta\t \n disallow:/x y\n", "[a]-/x y|"),
        (&Dialect::ALL, b"user-agent:a#b\n#disallow:/w\ndisallow: /x#y:z #\n", "[a]-/x|"),
        (&Dialect::ALL, b"user-agent: a\ndisallow: http://x:1/\n", "[a]-http://x:1/|"),
        (&Dialect::ALL, b"user-agent:\ndisallow:\n", "[]-|"),
        (&Dialect::ALL, b"user-agent: a\ndisallow: /\xff\x80\n", "[a]-/\\xff\\x80|"),
        (&LATER, b"user-agent: a\nallow: /x\n", "[a]+/x|"),
        (&[&ORIGINAL_1994], b"user-agent: a\nallow: /x\n", "[a]|;allow=/x"),
        (&Dialect::ALL, b"sitemap: /s\ncrawl-delay: 1\n", ";sitemap=/s;crawl-delay=1"),
        (&RECENT, b"user-agent: a\n\nuser-agent: b\n\ndisallow: /x\n", "[a][b]-/x|"),
        (&OLD, b"user-agent: a\n \t\ndisallow: /x\nuser-agent: b\n", "[a]|[b]|"),
        (&OLD, b"user-agent: a\n # \ndisallow: /x\n#\ndisallow: /y\n", "[a]-/x-/y|"),
        (
            &Dialect::ALL,
            b"user-agent: a\nsitemap: s\nfoo: b\nuser-agent: b\ndisallow: /x\n",
            "[a][b]-/x|;sitemap=s;foo=b",
        ),
    ]);
    let outside = parse(b"disallow: /x\nuser-agent: a\n\ndisallow: /y\n", &KOSTER_1996);
    assert_eq!(kinds(&outside), [(NoteKind::RuleOutsideGroup, 1), (NoteKind::RuleOutsideGroup, 4)]);
    assert!(outside.rules().is_empty());
    assert_eq!(outside.groups()[0].rule_ids().count(), 0);
}

#[test]
fn byte_order_marks() {
    const WHOLE: &[u8] = b"\xef\xbb\xbfuser-agent: a\n";
    check(&[
        (&Dialect::ALL, WHOLE, "[a]|"),
        (&[&GOOGLE], b"\xef\xbbuser-agent: a\n", "[a]|"),
        (&[&GOOGLE], b"\xefuser-agent: a\n", "[a]|"),
        (&[&GOOGLE], b"\xef", ""),
        (&[&GOOGLE], b"\xef\xbb\xbf\xef\xbb\xbfuser-agent: a\n", ";\u{feff}user-agent=a"),
        (&[&GOOGLE], b"\xef\xbf user agent: a\n", ";\u{fffd} user agent=a"),
        (&[&GOOGLE], b"\n\xef\xbb\xbfuser-agent: a\n", ";\u{feff}user-agent=a"),
        (&IETF, b"\xef\xbbuser-agent: a\n", ";\u{fffd}user-agent=a"),
    ]);
    let file = parse(WHOLE, &RFC_9309);
    assert_eq!(kinds(&file), [(NoteKind::ByteOrderMark, 1)]);
    assert_eq!(file.user_agents()[0].span, Span { start: 3, end: 16 });
    let mark = parse(b"\xef\xbb\xbf", &RFC_9309);
    assert_eq!(kinds(&mark), [(NoteKind::ByteOrderMark, 1)]);
}

#[test]
fn nul_and_other_controls() {
    check(&[
        (&OLD, b"user-agent: a\ndisallow: /x\0y#\0\n", "[a]-/x\\x00y|"),
        (&IETF, b"user-agent: a\ndisallow: /x\0y\n", "[a]|"),
        (&IETF, b"user-agent: a\ndisallow: /x # \0\n", "[a]|"),
        (&[&GOOGLE], b"user-agent: a\ndisallow: /x\0y\n", "[a]-/x|"),
        (&[&GOOGLE], b"user-agent: a\ndisallow: /x#\0y\n", "[a]-/x|"),
        (&[&GOOGLE], b"user-agent: a\ndisallow\0: /x\n", "[a]|"),
        (&[&ORIGINAL_1994, &GOOGLE], b"user-agent: a\ndisallow: /x\x01y\n", "[a]-/x\\x01y|"),
        (&IETF, b"user-agent: a\ndisallow: /x\x01y\n", "[a]|"),
        (&IETF, b"user-agent: a\ndisallow: /x\ty\x7f\n", "[a]-/x\\ty\\x7f|"),
        (&IETF, b"user-agent: a\ndisallow: /x # \x01\n", "[a]-/x|"),
        (&IETF, b"user-agent: a\ndisallow: /x\x0b\n", "[a]|"),
        (&OLD, b"user-agent: a\ndisallow: /x\x0b\n", "[a]-/x\\x0b|"),
        (&[&GOOGLE], b"\x0cuser-agent\x0b:\x0ca\ndisallow: /x\x0b\x0c\n", "[a]-/x|"),
        // A user-agent line is kept; its value ends there.
        (&IETF, b"user-agent: a \x01b\ndisallow: /x\nuser-agent: \x01\n", "[a]-/x|[]|"),
        (&IETF, b"user-agent: a\0b # \x01\ndisallow: /x\nuser-agent: b # \0\n", "[a]-/x|[b]|"),
        (&IETF, b"user-agent\0: a\ndisallow: /x\n\0user-agent: a\n", ""),
    ]);
    let cut = parse(b"user-agent: a\0 b\x01 # c\n", &RFC_9309);
    assert_eq!(kinds(&cut)[..2], [(NoteKind::NulInLine, 1), (NoteKind::ControlInLine, 1)]);
    assert_eq!(cut.user_agents()[0].span, Span { start: 0, end: 13 });
    assert_eq!(kinds(&parse(b"sitemap: \0", &RFC_9309))[0], (NoteKind::NulInLine, 1));
    assert_eq!(kinds(&parse(b"\nsitemap: \x01", &RFC_9309))[0], (NoteKind::ControlInLine, 2));
    assert_eq!(kinds(&parse(b"sitemap: \0", &GOOGLE))[0], (NoteKind::NulInLine, 1));
}

#[test]
fn fields_and_colons() {
    check(&[
        (&[&GOOGLE], b"useragent: a\ndissallow: /x\ndissalow: /y\n", "[a]-/x-/y|"),
        (&[&GOOGLE], b"user agent: a\ndisalow: /x\ndiasllow: /y\n", "[a]-/x-/y|"),
        (&[&GOOGLE], b"User-agents: a\ndisallaw: /x\nallowed: /y\n", "[a]-/x+/y|"),
        (&[&GOOGLE], b"user-agent: a\nsite-map: s\nsitemaps: t\n", "[a]|;site-map=s;sitemaps=t"),
        (&[&GOOGLE], b"user-agent a\ndisallow \t /x\n", "[a]-/x|"),
        (&[&GOOGLE], b"user-agent a # b\ndisallow /x /y\n", "[a]|"),
        (&[&GOOGLE], b"user agent a\n", ""),
        (&[&GOOGLE], b"user-agent\x0ba\n", ""),
        (&[&GOOGLE], b"user-agent a\ndisallow\t\x0b/x\n", "[a]-/x|"),
        (&STANDARDS, b"user-agent a\n", ""),
        (
            &STANDARDS,
            b"user-agent: a\nuser-agents: b\ndisalow: /\n",
            "[a]|;user-agents=b;disalow=/",
        ),
    ]);
    let accepted = parse(b"useragent a\ndisallow: /\nfoo: bar\ndisallow\nhost: x\n:\n", &GOOGLE);
    assert_eq!(
        kinds(&accepted),
        [
            (NoteKind::WhiteSpaceForColon, 1),
            (NoteKind::MisspeltField, 1),
            (NoteKind::UnknownField, 3),
            (NoteKind::NoColon, 4),
            (NoteKind::NoField, 6),
        ]
    );
    let allow = parse(b"allow: /", &ORIGINAL_1994);
    assert_eq!(kinds(&allow), [(NoteKind::UnknownField, 1)]);
}

#[test]
fn patterns_that_never_match() {
    let text = b"user-agent: a\ndisallow: x\ndisallow: $\ndisallow: *x\ndisallow:\ndisallow: /";
    let noted = [(NoteKind::PatternNeverMatches, 2), (NoteKind::PatternNeverMatches, 3)];
    for dialect in RECENT {
        assert_eq!(kinds(&parse(text, dialect)), noted, "{}", dialect.name);
    }
    for dialect in OLD {
        assert_eq!(kinds(&parse(text, dialect)), [], "{}", dialect.name);
    }
}

#[test]
fn size_limit() {
    let text = b"user-agent: a\ndisallow: /x\r\nallow: /yz";
    /// The limit, the structure, and the line and start of the note.
    type LimitRow = (usize, &'static str, Option<(u32, u32)>);
    let rows: [LimitRow; 9] = [
        (100, "[a]-/x+/yz|", None),
        (38, "[a]-/x+/yz|", None),
        (37, "[a]-/x|", Some((3, 28))),
        (28, "[a]-/x|", Some((3, 28))),
        (27, "[a]-/x|", Some((3, 27))),
        (26, "[a]-/x|", Some((3, 26))),
        (25, "[a]|", Some((2, 14))),
        (13, "[a]|", Some((2, 13))),
        (0, "", Some((1, 0))),
    ];
    for (bytes_max, expected, cut) in rows {
        for dialect in LATER {
            let file = RobotsTxt::parse(text, dialect, Some(bytes_max));
            assert_eq!(shape(&file), expected, "{bytes_max}");
            let notes = file.notes().iter();
            let notes: Vec<_> =
                notes.map(|note| (note.kind, note.line.get(), note.span.start)).collect();
            let cut = cut.map(|(line, start)| (NoteKind::FileCut, line, start));
            assert_eq!(notes, Vec::from_iter(cut), "{bytes_max}");
        }
    }
}

#[test]
fn line_limit() {
    let value = "/".to_owned() + &"x".repeat(17_000);
    let text = format!("user-agent: a\ndisallow: {value}\ndisallow: /y\n");
    let cut = parse(text.as_bytes(), &GOOGLE);
    assert_eq!(cut.rules()[0].value.len(), GOOGLE_LINE_BYTES_MAX - "disallow: ".len());
    assert_eq!(cut.rules()[1].line.get(), 3);
    assert_eq!(kinds(&cut), [(NoteKind::LineCut, 2)]);
    let whole = parse(text.as_bytes(), &RFC_9309);
    assert_eq!(whole.rules()[0].value.len(), value.len());
    assert!(whole.notes().is_empty());
    // The byte order mark does not count towards the limit on its line.
    let agent = "a".repeat(GOOGLE_LINE_BYTES_MAX - "user-agent:".len());
    let marked = format!("\u{feff}user-agent:{agent}");
    assert_eq!(parse(marked.as_bytes(), &GOOGLE).user_agents()[0].value, agent.as_bytes());
}

#[test]
fn text_that_is_not_robots_txt() {
    let rows: [(&[u8], Option<NoteKind>); 19] = [
        (b"\n <!DOCTYPE html>\n<p>a: b</p>", Some(NoteKind::LooksLikeHtml)),
        (b"\xef\xbb\xbf<?xml?>", Some(NoteKind::LooksLikeHtml)),
        (b"\x1f\x8b\x08\0\0", Some(NoteKind::LooksBinary)),
        (b"\x01\x02abcdefgh", Some(NoteKind::LooksBinary)),
        (b"\x1f\x8b\x08 words that are kept as they were in the text", Some(NoteKind::LooksBinary)),
        (b"\x28\xb5\x2f\xfd words that are kept as they were", Some(NoteKind::LooksBinary)),
        (b"{\"error\": \"not found\"}\n", Some(NoteKind::LooksLikeJson)),
        (br#""User-agent: *\nDisallow: /\n""#, Some(NoteKind::LooksLikeJson)),
        (br"b'User-agent: *\nDisallow: /\n'", Some(NoteKind::LooksBinary)),
        (br#"b"User-agent: *\nDisallow: /\n""#, Some(NoteKind::LooksBinary)),
        (br"\x557365722d6167656e743a202a0a", Some(NoteKind::LooksBinary)),
        (b"\"a\"\nb'\n", None),
        (b"{\nuser-agent: *\ndisallow: /\n", None),
        (b"# nothing is disallowed here, so there is no rule at all\n\x1a", None),
        (b"user-agent: *\n", None),
        (b"<p>\nuser-agent: *\ndisallow: /\n", None),
        (b"<p>\n<html>\nuser-agent: *\ndisallow: /\n", None),
        (
            b"\n<!DocType html>\nuser-agent: *<br>\ndisallow: /<br>\nuser-agent: a\ndisallow: /\n",
            Some(NoteKind::LooksLikeHtml),
        ),
        (b"<HTML>\nuser-agent: a\ndisallow: /\n", Some(NoteKind::LooksLikeHtml)),
    ];
    for (text, expected) in rows {
        for dialect in Dialect::ALL {
            let file = parse(text, dialect);
            let mut looks = file.notes().iter().map(|note| note.kind);
            let found = looks.find(|kind| *kind >= NoteKind::LooksLikeHtml);
            assert_eq!(found, expected, "{}", text.as_bstr());
        }
    }
}

/// A line that begins as one before it takes a shorter way.
#[test]
fn lines_do_not_depend_on_the_lines_before() {
    let long = format!("Disallow: /{}", "a".repeat(60));
    let wide = format!("Disallow:{}/a", " ".repeat(9));
    let lines: [&[u8]; 27] = [
        b"# c",
        b"## c#\t",
        b"#\x01",
        b"Disallow: /a",
        b"Disallow: ",
        b"Disallow:",
        b"Disallow:/",
        b"Disallow: \t/b",
        b"Disallow:  /b \t",
        b"Disallow: #/c",
        b"Disallow: /c # d",
        b"Disallow: /\xe9",
        b"Disallow: /\x01d",
        b"Disallow: /\0d",
        b"Disallow: :/a",
        b"Disallow: a",
        b"Disallow : /a",
        b"Disallow /a",
        b"Disallow",
        b" Disallow: /a",
        b"disallow: /a",
        b"Disalow: /a",
        b"Dis#allow: /a",
        b"D: a",
        b"Disallow: /a:b",
        long.as_bytes(),
        wide.as_bytes(),
    ];
    for dialect in Dialect::ALL {
        for (first, second) in lines.iter().flat_map(|one| lines.map(|other| (one, other))) {
            for third in [second, b"Disallow: /a"] {
                let text = [first, second, third].join(&b'\n');
                let start = (text.len() - third.len()) as u32;
                let last = records(&text, dialect, None).last().unwrap();
                let alone = records(third, dialect, None).next().unwrap();
                let moved = |span: Span| Span { start: span.start + start, end: span.end + start };
                let content = match alone.content {
                    Content::Record(it) => Content::Record(Record { span: moved(it.span), ..it }),
                    other => other,
                };
                let number = last.number;
                let expected = Line { number, span: moved(alone.span), content, ..alone };
                assert_eq!(last, expected, "{}", text.as_bstr());
            }
        }
    }
}

/// Some starts of lines are known before the first, in dialects with certain lists of fields.
#[test]
fn fields_do_not_depend_on_where_their_list_is() {
    let text = b"User-agent: a\nDisallow: /a\nSitemap: /s\nAllow: /b\nDisallow: /c\nSitemap: /t\n";
    for dialect in Dialect::ALL {
        for white_space in [dialect.lines.white_space, b"\t"] {
            let (mut own, mut other) = (*dialect, *dialect);
            (own.lines.white_space, other.lines.white_space) = (white_space, white_space);
            other.lines.fields = dialect.lines.fields.to_vec().leak();
            assert_eq!(parse(text, &own), parse(text, &other), "{}", dialect.name);
        }
    }
}

/// Line ends, comments and control bytes are found 64 bytes at a time.
#[test]
fn lines_of_every_length_end_where_they_end() {
    for (length, end) in
        (0..200).flat_map(|length| ["\n", "\r\n", "\r", ""].map(|end| (length, end)))
    {
        let filler = "x".repeat(length);
        for first in [
            filler.clone(),
            format!("# {filler}"),
            format!("Allow: /{filler}#"),
            format!("a\x01{filler}"),
        ] {
            let text = format!("{first}{end}Disallow: /{filler}{end}{end}# {filler}");
            let expected = match end {
                "" => vec![text.as_str()],
                _ => text.split(end).collect(),
            };
            let lines = records(text.as_bytes(), &RFC_9309, None);
            let found: Vec<&str> = lines.map(|line| &text[line.span.range()]).collect();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn line_numbers_count_every_line_end() {
    let file = parse(b"\n\r\r\n\n\ruser-agent: a\n\n\r\n\rdisallow: /", &RFC_9309);
    assert_eq!(file.user_agents()[0].line.get(), 6);
    assert_eq!(file.rules()[0].line.get(), 10);
}

#[test]
fn every_byte_anywhere_is_fine() {
    for dialect in Dialect::ALL {
        for byte in 0..=255_u8 {
            for text in ["", "@", "@@", "@user-agent: a", "user@-agent: @", "disallow@/ @ #@"] {
                let text = text.as_bytes().replace(b"@", [byte]);
                for bytes_max in 0..=text.len() {
                    let file = RobotsTxt::parse(&text, dialect, Some(bytes_max));
                    check_spans(&text, &file);
                }
            }
        }
    }
}

#[test]
fn note_kinds_are_numbered_and_named() {
    for (number, kind) in NoteKind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, number);
        assert!(!kind.describe().is_empty());
        assert!(NoteSet::EMPTY.with(kind).iter().eq([kind]));
    }
}
