//! The meaning of answers: by themselves, as redirects and as confirmations, and the choice among
//! the captures of an origin. Each case holds in every dialect, and when its captures are merged
//! from two parts.

use portcullis_dialect::{Access, AccessRules};

use super::*;
use crate::provenance::SettleConfig;

/// Captures, in the form of [`made`], and what they lead to, in the form of [`Ingested::says`].
/// `OTHER` and `TOO-MANY` are the dialect's outcomes of odd answers and of too many redirects, `AS`
/// is that of the status after it.
const CASES: &[(&str, &str, &str)] = &[
    (
        "a host applies to both schemes, and a URL to one",
        "*a.example - 200 /host
         *b.example:443 - 200 /443
         *c.example:8080 - 200 /8080
         http://d.example/robots.txt 1 200 /http
         ftp://e.example/robots.txt 1 200 /ftp
         https://a.example/robots.txt 1 200 /https
         https://f.example/x/robots.txt 1 200 /x
         https://f.example/robots.txt?q 1 200 /q",
        "http://a.example: -/host 200@-
         https://a.example: -/https 200@1
         https://b.example: -/443 200@-
         http://b.example:443: -/443 200@-
         http://b.example: nothing
         http://c.example:8080: -/8080 200@-
         https://c.example:8080: -/8080 200@-
         https://c.example: nothing
         http://d.example: -/http 200@1
         https://d.example: nothing
         ftp://e.example: -/ftp 200@1
         https://e.example: nothing
         https://f.example: nothing",
    ),
    (
        "the newest by date counts, whatever comes last",
        "a 3 200 /3
         a 5 200 /5
         a 4 404
         a 1 200 /1
         b 6 404
         b 5 200 /5",
        "a: -/5 200@5
         b: AS 404@6",
    ),
    (
        "a date is newer than none, and without dates the later place is",
        "a 1 200 /dated
         a - 200 /undated
         b - 200 /undated
         b 0 200 /dated
         c - 200 /1
         c - 200 /2
         d 7 200 /1
         d 7 200 /2",
        "a: -/dated 200@1
         b: -/dated 200@0
         c: -/2 200@-
         d: -/2 200@7",
    ),
    (
        "a file expires as its answer says",
        "a 1000 200 /a max-age=60
         b - 200 /b max-age=60",
        "a: -/a 200@1000 until 1060
         b: -/b 200@-",
    ),
    (
        "a confirmation gives the file its date",
        "a 50 304 max-age=1 !revisit
         a 10 200 /10 !html-content-type
         a 20 200 /20 !body-cut",
        "a: -/20 304@50 until 51 !body-cut !revisit",
    ),
    (
        "other answers between them change nothing",
        "a 10 200 /10
         a 20 404
         a 30 301 @other
         a 35 304
         a 40 304
         b 10 200 /10
         b 20 404
         b 40 304
         b 50 404
         c 10 200 /10
         c 20 404
         c 40 304
         c 45 200 /45",
        "a: -/10 304@40
         b: AS 404@50
         c: -/45 200@45",
    ),
    (
        "a confirmation without a file is no permission",
        "a 50 304
         b 50 304
         b 40 404
         c 10 301 /b
         c 50 304 !revisit
         d 50 304
         http://d.example/robots.txt 40 200 /http",
        "a: OTHER 304@50
         b: OTHER 304@50
         c: OTHER 304@50 !revisit
         d: OTHER 304@50
         http://d.example: -/http 200@40",
    ),
    (
        "a revisit confirms the file of its date, and no other",
        "a 10 200 /10
         a 20 200 /20
         a 50 304 =10
         b 10 200 /10
         b 20 200 /20
         b 50 304 =20 !revisit
         c 10 200 /10
         c 20 304 =10
         c 30 304 =20
         c 40 304
         d 10 200 /10
         d 20 304 =5
         d 30 304 =20
         e 10 200 /10
         e 20 304 =5
         e 30 304
         f 10 200 /10
         f 20 304 =5
         f 30 304 =10
         g 10 200 /10
         g 20 304 =
         h 20 304 =10
         i 10 200 /10
         i 20 304 =5
         i 30 200 /30
         i 40 304
         j 60 301 @a
         k 60 301 @b",
        "a: OTHER 304@50
         b: -/20 304@50 !revisit
         c: -/10 304@40
         d: OTHER 304@30
         e: OTHER 304@30
         f: -/10 304@30
         g: OTHER 304@20
         h: OTHER 304@20
         i: -/30 304@40
         j: OTHER 304@50..60 +1
         k: -/20 304@50..60 +1 !revisit",
    ),
    (
        "no file is confirmed since one that the archive lacks",
        "a 50 304
         a 10 200 /10
         a 20 broken !truncated
         b 20 broken !short-body
         b 10 200 /10
         b 30 200 /30
         b 50 304
         c 10 200 /10
         c 50 304
         c 20 304
         c 30 broken !bad-compression
         c 40 304 =10
         d 10 200 /10
         d 20 none
         d 50 304
         e 60 301 @a
         f - 200 /0
         f - broken !truncated
         f 50 304
         g 10 200 /10
         g 20 broken !body-cut
         g 30 404
         g 50 304",
        "a: OTHER 304@50
         b: -/30 304@50
         c: -/10 304@50
         d: -/10 304@50
         e: OTHER 304@50..60 +1
         f: OTHER 304@50
         g: OTHER 304@50",
    ),
    (
        "without dates the later place is confirmed",
        "a - 200 /0
         a - 304
         b - 304
         b - 200 /0",
        "a: -/0 304@-
         b: -/0 200@-",
    ),
    (
        "the target of a redirect can be confirmed",
        "b 1 200 /b
         b 2 304
         a 9 301 @b",
        "a: -/b 304@2..9 +1
         b: -/b 304@2",
    ),
    (
        "the result applies to the first origin of five redirects, and six are too many",
        "h0 1 301 @h1
         h1 2 301 @h2
         h2 3 301 @h3
         h3 4 301 @h4
         h4 5 301 @h5
         h5 6 301 @h6
         h6 100 200 /6 !html-content-type",
        "h0: TOO-MANY 301@1..6 +5 !too-many-redirects
         h1: -/6 200@2..100 +5 !html-content-type
         h2: -/6 200@3..100 +4 !html-content-type
         h3: -/6 200@4..100 +3 !html-content-type
         h4: -/6 200@5..100 +2 !html-content-type
         h5: -/6 200@6..100 +1 !html-content-type
         h6: -/6 200@100 !html-content-type",
    ),
    (
        "the answer at the end counts as if it was the first",
        "a 1 301 @not-found
         not-found 1 404
         b 1 301 @failing
         failing 1 500
         c 1 301 @odd
         odd 1 999",
        "a: AS 404@1 +1
         not-found: AS 404@1
         b: AS 500@1 +1
         failing: AS 500@1
         c: AS 999@1 +1
         odd: AS 999@1",
    ),
    (
        "loops end",
        "self 1 301 /robots.txt#x
         a 1 301 @b
         b 1 301 @a
         into 1 301 @a",
        "self: TOO-MANY 301@1 +5 !too-many-redirects
         a: TOO-MANY 301@1 +5 !too-many-redirects
         b: TOO-MANY 301@1 +5 !too-many-redirects
         into: TOO-MANY 301@1 +5 !too-many-redirects",
    ),
    (
        "a redirect to nowhere is no permission",
        "without 1 302
         unknown 1 302 !redirect-target-missing
         far 1 302 !redirect-target-missing +5
         nameless 1 nowhere
         mail 1 301 mailto:joe@a.example
         empty 1 301 ''
         port 1 301 https://a.example:99999/robots.txt
         host 1 301 https://a|b/robots.txt
         missing 1 301 @never-captured
         path 1 301 /other
         later 1 301 @missing",
        "without: OTHER 302@1 !redirect-to-nowhere
         unknown: OTHER 302@1 !redirect-target-missing
         far: OTHER 302@1 +5 !redirect-target-missing
         nameless: OTHER 0@1 !redirect-to-nowhere
         mail: OTHER 301@1 !redirect-to-nowhere
         empty: OTHER 301@1 !redirect-to-nowhere
         port: OTHER 301@1 !redirect-to-nowhere
         host: OTHER 301@1 !redirect-to-nowhere
         missing: OTHER 301@1 !redirect-target-missing
         path: OTHER 301@1 !redirect-target-missing
         later: OTHER 301@1 +1 !redirect-target-missing",
    ),
    (
        "other resources are found by their whole URL",
        "a 1 301 /folder/robots.txt?v=1#top
         https://A.example:443/folder/robots.txt?v=1 1 200 /v1
         https://a.example/folder/robots.txt?v=2 1 200 /v2
         https://a.example/folder/robots.txt 1 200 /v
         b 1 301 HTTPS://A.Example/folder/robots.txt
         c 1 301 https://a.example/folder/Robots.txt
         d 1 301 //ex\u{e4}mple.example
         https://xn--exmple-cua.example/ 1 410
         e 1 301 ?
         https://e.example/robots.txt? 1 200 /query
         http://f.example/robots.txt 1 301 https://f.example/robots.txt
         https://f.example/robots.txt 1 200 /f",
        "a: -/v1 200@1 +1
         b: -/v 200@1 +1
         c: OTHER 301@1 !redirect-target-missing
         d: AS 410@1 +1
         e: -/query 200@1 +1
         http://f.example: -/f 200@1 +1
         f: -/f 200@1
         xn--exmple-cua: nothing",
    ),
    (
        "the newest capture of the target counts",
        "a 5 301 /there
         https://a.example/there 1 200 /old
         https://a.example/there 9 200 /new
         https://a.example/there 3 200 /middle
         b 5 301 @c
         *c.example - 200 /host
         c 1 404",
        "a: -/new 200@5..9 +1
         b: AS 404@1..5 +1
         http://c.example: -/host 200@-
         c: AS 404@1",
    ),
    (
        "redirects within a capture count",
        "five 1 200 /five +5
         six 1 200 /six +6
         many 1 200 /many +1000
         on 1 301 @five +5
         four 1 301 @end +4
         end 1 200 /end
         not-modified 2 304 +6
         not-modified 1 200 /not-modified",
        "five: -/five 200@1 +5
         six: TOO-MANY 200@1 +6 !too-many-redirects
         many: TOO-MANY 200@1 +255 !too-many-redirects
         on: TOO-MANY 301@1 +5 !too-many-redirects
         four: -/end 200@1 +5
         end: -/end 200@1
         not-modified: TOO-MANY 304@2 +6 !too-many-redirects",
    ),
    (
        "a host without a scheme redirects within each scheme",
        "*a.example 1 301 /there
         http://a.example/there 1 200 /http
         https://a.example/there 1 200 /https",
        "http://a.example: -/http 200@1 +1
         https://a.example: -/https 200@1 +1",
    ),
];

/// Compares every origin; those that are not listed have no standing.
#[track_caller]
fn compare(name: &str, found: &Ingested, expected: &str, dialect: &Dialect) {
    let mut origins = 0;
    let AccessRules { other_status, too_many_redirects, .. } = dialect.access;
    let expected = expected.replace("OTHER", &said(other_status));
    let expected = expected.replace("TOO-MANY", &said(too_many_redirects));
    let as_status = |rest: &str| {
        let status = rest.split_once('@').unwrap().0.parse().unwrap();
        match dialect.access.resolve(Fetched::Status(status), 0) {
            Access::Outcome(outcome) => format!("{} {rest}", said(outcome)),
            _ => unreachable!("{rest}"),
        }
    };
    for line in expected.lines().map(str::trim) {
        let (origin, expected) = line.rsplit_once(": ").unwrap();
        let whole = format!("https://{origin}.example");
        let origin = if origin.contains("://") { origin } else { &whole };
        let said = found.says(origin, dialect);
        let expected = expected.strip_prefix("AS ").map_or(expected.to_owned(), as_status);
        assert_eq!(said, expected, "{name}, {}: {origin}", dialect.name);
        origins += u64::from(said != "nothing");
    }
    assert_eq!(found.counts().origins, origins, "{name}: {:#?}", found.all());
    assert!(found.hosts().is_sorted_by(|one, other| one.key < other.key));
}

#[test]
fn captures_settle_as_expected() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.access.redirects_max, 5);
        assert_ne!(dialect.access.other_status.verdict, Verdict::Allow);
        for &(name, captures, expected) in CASES {
            let captures = all_made(captures);
            compare(name, &ingest_made(&captures, dialect).unwrap(), expected, dialect);
            for split in 1..captures.len() {
                let (one, other) = captures.split_at(split);
                let parts = [one, other].map(|part| ingest_made(part, dialect));
                // A part without a robots.txt is no archive.
                let [Ok(one), Ok(other)] = parts else { continue };
                let merged = merge(&[&one, &other], dialect, SettleConfig::default());
                compare(&format!("{name}, merged at {split}"), &merged, expected, dialect);
            }
        }
    }
}

/// Names of payloads are valid within a run: a set does not store them.
#[test]
fn a_revisit_names_its_file_by_digest_or_record() {
    let captures = all_made(
        "a 10 200 /10 #7
         a 20 304 = #7
         b 10 200 /10 id=7
         b 20 304 = id=7
         c 10 200 /10 #7
         c 15 200 /15 #8
         c 20 304 = #7
         d 10 200 /10 #7 id=1
         d 20 304 = #8 id=2
         e 10 200 /10 #7
         e 20 304 = #7
         e 30 304 = #7
         f 10 200 /10
         f 20 304 =",
    );
    let expected = "a: -/10 304@20
         b: -/10 304@20
         c: OTHER 304@20
         d: OTHER 304@20
         e: -/10 304@30
         f: OTHER 304@20";
    for dialect in Dialect::ALL {
        compare("payloads", &ingest_made(&captures, dialect).unwrap(), expected, dialect);
        let mut config = config(dialect);
        config.history = true;
        let inputs: Vec<(Pieces, bool)> = captures
            .iter()
            .map(|capture| (vec![vec![Record::Capture(capture.clone())]], false))
            .collect();
        let found = ingest_pieces(&inputs, &config, 2).unwrap();
        compare("payloads, with history", &found, expected, dialect);
    }
}

#[test]
fn each_answer_is_what_the_dialect_says() {
    let answers = "401 403 404 410 418 429 451 500 503 599 100 304 600 nowhere broken none";
    for dialect in Dialect::ALL {
        let rules = &dialect.access;
        for answer in answers.split(' ') {
            let made = made(&format!("a 9 {answer}"));
            let expected = match rules.resolve(made.answer, 0) {
                Access::Outcome(outcome) => outcome,
                _ => rules.other_status,
            };
            let found = ingest_made(std::slice::from_ref(&made), dialect).unwrap();
            let Standing { content, facts } = found.find("https://a.example").unwrap();
            assert_eq!(content, Content::Access(expected), "{}: {answer}", dialect.name);
            assert_ne!((expected.verdict, made.answer), (Verdict::Allow, Fetched::NoResponse));
            assert_eq!(facts.status, answer.parse().unwrap_or(0));
            let seconds = rules.freshness.default_seconds;
            assert_eq!(facts.expires_at, Some(UnixSeconds(9).after(seconds.into())));
        }
    }
}

#[test]
fn a_page_instead_of_a_file_states_nothing_and_is_counted_apart() {
    use portcullis_dialect::decision::PolicyState;
    use portcullis_robots::syntax::NoteKind;
    let page = |line: &str, body: &str| Made { body: body.into(), ..made(line) };
    let captures = [
        page("a 1 200 !html-content-type", "<!DOCTYPE html><p>not here"),
        page("b 1 200", "\0\x01\x02\x03"),
        page("c 1 200", ""),
        page("d 1 200 +3", "User-agent: *\n"),
        made("e 1 200 /e"),
    ];
    let found = ingest_made(&captures, &RFC_9309).unwrap();
    let expected = "a: page allow 200@1 !html-content-type\nb: page allow 200@1\nc:  200@1\nd:  200@1 +3\n\
                    e: -/e 200@1";
    compare("pages", &found, expected, &RFC_9309);
    let counts = &found.counts();
    assert_eq!((counts.hosts, counts.origins, counts.redirected), (5, 5, 1));
    assert_eq!(counts.in_state(PolicyState::Page), 2);
    assert_eq!(counts.in_state(PolicyState::NoRules), 2);
    assert_eq!(counts.in_state(PolicyState::Rules), 1);
    assert_eq!(counts.with_file_note(NoteKind::LooksLikeHtml), 1);
    assert_eq!(counts.with_file_note(NoteKind::LooksBinary), 1);
    assert_eq!(counts.with_capture_note(CaptureNote::HtmlContentType), 1);
    assert_eq!(counts.captured, Some(UnixSeconds(1).into()));
    assert_eq!(found.find("https://d.example").unwrap().facts.file_bytes, 14);
}

#[test]
fn different_single_lines_of_a_second_are_rows_wherever_they_are() {
    const FILE: &str = "User-agent: *\nAllow: /";
    let folder = tempfile::tempdir().unwrap();
    let little = Scratch::with_little_memory(folder.path(), 4_000);
    for (date, threads, history) in
        [("-", 1, false), ("-", 4, false), ("5", 1, false), ("5", 4, false), ("5", 4, true)]
    {
        let line = |host: &str, body: &str| {
            Record::Capture(Made { body: body.into(), ..made(&format!("{host} {date} 200")) })
        };
        let pieces = vec![
            vec![line("a", "*"), line("b", "not here"), line("*e.example", "*")],
            vec![line("c", FILE), line("d", "/d"), line("a", FILE), line("h", "User-agent: *\n")],
            vec![line("a", "/x"), line("b", " not here\n"), line("c", "not here"), line("h", "\n")],
            vec![line("*e.example", "/e"), line("g", "*"), line("g", "/x")],
            // Lines with records are rows of lines.
            vec![line("h", "Disallow: /"), line("i", "Disallow: /"), line("i", "Disallow: /\r\n")],
        ];
        // Other inputs and other seconds may have other lines, and answers other than a file.
        let others = ["d 9 404", "g 3 200 /g"].map(|line| Record::Capture(made(line)));
        let later = Made { body: "Allow: /".into(), ..made("i 6 200") };
        let other = vec![others.to_vec(), vec![line("d", "gone"), Record::Capture(later)]];
        let inputs = [(pieces, false), (other, false)];
        for scratch in [Scratch::in_memory(), little.clone()] {
            let config = IngestConfig { history, scratch, ..config(&RFC_9309) };
            let found = ingest_pieces(&inputs, &config, threads).unwrap();
            // What their server sent is lost.
            for host in ["https://e", "http://e", "https://h"] {
                let standing = found.find(&format!("{host}.example")).unwrap();
                assert!(standing.facts.lacks_body(), "{host}");
            }
            // A capture that is left out replaces nothing.
            for host in ["a", "b", "c", "d", "g", "i"] {
                assert!(found.find(&format!("https://{host}.example")).is_some(), "{host}");
            }
            let [of_first, of_second] = &found.inputs[..] else { panic!("two inputs") };
            assert_eq!((of_first.captures, of_first.broken, of_first.unreadable), (8, 4, 4));
            // A file and a line are two answers: of c, and of a, whose lines are left out.
            assert_eq!(found.same_second, u64::from(date != "-"));
            assert_eq!((of_second.captures, of_second.broken), (4, 0));
            let broken = &of_first.broken_named[0];
            assert_eq!(broken.place, "the captures of https://a.example/robots.txt");
            assert!(broken.problem.starts_with("its 2 bodies"), "{}", broken.problem);
            let usual = IngestConfig { strictness: Strictness::Usual, ..config };
            assert!(ingest_pieces(&inputs, &usual, threads).is_err());
        }
    }
}

#[test]
fn files_of_one_second_that_differ_are_noted() {
    let input = |lines: &[&str]| {
        let captures = lines.iter().map(|line| Record::Capture(made(line)));
        (captures.map(|it| vec![it]).collect::<Vec<_>>(), false)
    };
    let inputs = [
        input(&["a 5 200 /x", "a 5 200 /y", "a 5 200 /y", "b 5 200 /x", "b 5 200 /x", "b 5 404"]),
        input(&["a 5 200 /z", "c 5 200 /x", "c 5 200 /y", "c 6 200 /z", "*d.example 5 200 /x"]),
        input(&["*d.example 5 200 /x", "*d.example 5 200 /y", "e - 200 /x", "e - 200 /y"]),
    ];
    for (history, expected) in [(false, 1), (true, 3)] {
        let config = IngestConfig { history, ..config(&RFC_9309) };
        let found = ingest_pieces(&inputs, &config, 2).unwrap();
        assert_eq!(found.same_second, expected);
        let strict = IngestConfig { strictness: Strictness::Strict, ..config };
        let inputs = [input(&["a 5 200 /x", "a 5 200 /y"])];
        let Err(error) = ingest_pieces(&inputs, &strict, 1) else { panic!("no error") };
        assert!(error.to_string().contains("1 capture with another file than one of the same URL"));
    }
}

#[test]
fn a_record_that_shows_that_rows_are_a_guess_fails_its_input() {
    let capture = || Record::Capture(made("a 5 200 /x"));
    let pieces = vec![vec![capture()], vec![Record::Forgeable("line 2")], vec![capture()]];
    let inputs = [(pieces, false), (vec![vec![capture()]], false)];
    // The configuration of these tests is lenient.
    let Err(IngestError::Refused { problem, inputs }) =
        ingest_pieces(&inputs, &config(&RFC_9309), 2)
    else {
        panic!("rows were read")
    };
    assert!(problem.contains("input 0: line 2: is a guess"), "{problem}");
    assert!(inputs[0].is_forgeable && inputs[0].broken == 0 && !inputs[1].is_forgeable);
}
