//! The meaning of an answer: by itself, as a redirect, and as a confirmation.

use super::*;

/// Returns the dialect's outcome in the form of [`Ingested::says`].
fn other_status(dialect: &Dialect) -> String {
    let outcome = dialect.access.other_status;
    format!("{} {}", outcome.state, outcome.verdict)
}

fn too_many(dialect: &Dialect) -> String {
    let outcome = dialect.access.too_many_redirects;
    format!("{} {}", outcome.state, outcome.verdict)
}

#[test]
fn each_answer_is_what_the_dialect_says() {
    use Answer::{BrokenBody, NoAnswer, RedirectToNowhere, Status};
    let answers = [401, 403, 404, 410, 418, 429, 451, 500, 503, 599, 100, 304, 600].map(Status);
    for dialect in Dialect::ALL {
        let rules = &dialect.access;
        for answer in answers.into_iter().chain([RedirectToNowhere, BrokenBody, NoAnswer]) {
            let found = ingest_made(&[Made::new(A, 9, answer)], dialect);
            let expected = match portcullis_io::access::resolve(answer, 0, rules) {
                portcullis_io::access::Access::Outcome(outcome) => outcome,
                _ => rules.other_status,
            };
            let standing = found.find(ORIGIN).unwrap();
            assert_eq!(standing.content, Content::Access(expected), "{}: {answer:?}", dialect.name);
            assert_ne!((expected.verdict, answer), (Verdict::Allow, NoAnswer));
            let status = if let Status(status) = answer { status } else { 0 };
            assert_eq!(standing.facts.status, status);
            assert_eq!(standing.facts.captured_at, Some(UnixSeconds(9)));
            let seconds = rules.freshness.default_seconds;
            assert_eq!(standing.facts.expires_at, Some(UnixSeconds(9).after(seconds.into())));
        }
    }
}

#[test]
fn a_page_instead_of_a_file_is_a_file_without_rules_and_with_a_note() {
    use portcullis_dialect::decision::PolicyState;
    use portcullis_robots::syntax::NoteKind;
    let page = |url: &str, body: &str| Made { body: body.into(), ..status(url, 1, 200) };
    let captures = [
        page(A, "<!DOCTYPE html><p>not here").noted(CaptureNote::HtmlContentType),
        page(&url("b"), "\0\x01\x02\x03"),
        page(&url("c"), ""),
        page(&url("d"), "User-agent: *\n").after(3),
        file(&url("e"), 1, "/e"),
    ];
    let found = ingest_made(&captures, &RFC_9309);
    for origin in ["https://a.example", "https://b.example", "https://c.example"] {
        assert_eq!(found.says(origin), "", "{origin}");
    }
    let counts = &found.counts;
    assert_eq!((counts.hosts, counts.origins, counts.redirected), (5, 5, 1));
    assert_eq!(counts.in_state(PolicyState::NoRules), 4);
    assert_eq!(counts.in_state(PolicyState::Rules), 1);
    assert_eq!(counts.with_file_note(NoteKind::LooksLikeHtml), 1);
    assert_eq!(counts.with_file_note(NoteKind::LooksBinary), 1);
    assert_eq!(counts.with_capture_note(CaptureNote::HtmlContentType), 1);
    assert_eq!(counts.captured, Some(UnixSeconds(1).into()));
    let facts = found.find("https://d.example").unwrap().facts;
    assert_eq!((facts.redirects_followed, facts.file_bytes), (3, 14));
}

#[test]
fn a_file_expires_as_the_dialect_says() {
    for dialect in Dialect::ALL {
        let dated = Made { max_age: Some(60), ..file(A, 1_000, "/a") };
        let undated = file(A, 1_000, "/a").undated();
        for (made, expires_at) in [(dated, Some(UnixSeconds(1_060))), (undated, None)] {
            let facts = ingest_made(&[made], dialect).find(ORIGIN).unwrap().facts;
            assert_eq!(facts.expires_at, expires_at, "{}", dialect.name);
        }
    }
}

#[test]
fn a_confirmation_gives_the_file_its_date() {
    for dialect in Dialect::ALL {
        let captures = [
            Made { max_age: Some(1), ..status(A, 50, 304).noted(CaptureNote::Revisit) },
            file(A, 10, "/10").noted(CaptureNote::HtmlContentType),
            file(A, 20, "/20").noted(CaptureNote::BodyCut),
        ];
        let found = ingest_made(&captures, dialect);
        assert_eq!(found.says(ORIGIN), "-/20", "{}", dialect.name);
        let facts = found.find(ORIGIN).unwrap().facts;
        assert_eq!(facts.captured_at, Some(UnixSeconds(50)));
        assert_eq!(facts.expires_at, Some(UnixSeconds(51)));
        assert_eq!((facts.status, facts.file_bytes), (304, file(A, 20, "/20").body.len() as u32));
        assert_eq!(found.notes(ORIGIN), [CaptureNote::BodyCut, CaptureNote::Revisit]);
    }
}

#[test]
fn other_answers_between_them_change_nothing() {
    let captures = [
        file(A, 10, "/10"),
        status(A, 20, 404),
        redirect(A, 30, "https://b.example/"),
        status(A, 35, 304),
        status(A, 40, 304),
    ];
    assert_eq!(ingest_made(&captures, &RFC_9309).says(ORIGIN), "-/10");
    let then = [&captures[..], &[status(A, 50, 404)]].concat();
    assert_eq!(ingest_made(&then, &RFC_9309).says(ORIGIN), "unavailable allow");
    let then = [&captures[..], &[file(A, 45, "/45")]].concat();
    assert_eq!(ingest_made(&then, &RFC_9309).says(ORIGIN), "-/45");
}

#[test]
fn a_confirmation_without_a_file_allows_nothing() {
    for dialect in Dialect::ALL {
        for captures in [
            vec![status(A, 50, 304)],
            vec![status(A, 50, 304), status(A, 40, 404)],
            vec![redirect(A, 10, "/b"), status(A, 50, 304).noted(CaptureNote::Revisit)],
            // The file is newer, or that of another resource.
            vec![status(A, 50, 304), file("http://a.example/robots.txt", 40, "/http")],
        ] {
            let found = ingest_made(&captures, dialect);
            assert_eq!(found.says(ORIGIN), other_status(dialect), "{}", dialect.name);
        }
    }
}

#[test]
fn without_dates_the_later_place_is_newer() {
    let captures = [file(A, 0, "/0").undated(), status(A, 0, 304).undated()];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says(ORIGIN), "-/0");
    assert_eq!(found.find(ORIGIN).unwrap().facts.captured_at, None);
    let captures = [status(A, 0, 304).undated(), file(A, 0, "/0").undated()];
    assert_eq!(ingest_made(&captures, &RFC_9309).find(ORIGIN).unwrap().facts.status, 200);
}

#[test]
fn the_target_of_a_redirect_can_be_confirmed() {
    let b = &url("b");
    let captures = [file(b, 1, "/b"), status(b, 2, 304), redirect(A, 9, b)];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says(ORIGIN), "-/b");
    let facts = found.find(ORIGIN).unwrap().facts;
    assert_eq!((facts.status, facts.redirects_followed), (304, 1));
    assert_eq!(facts.dates(), Some((UnixSeconds(2), UnixSeconds(9)).into()));
}

/// Returns captures of the hosts `h0`, `h1` …, each of which redirects to the next.
fn chain(redirects: u64) -> Vec<Made> {
    let host = |number| format!("h{number}");
    (0..redirects).map(|hop| redirect(&url(host(hop)), hop + 1, &url(host(hop + 1)))).collect()
}

#[test]
fn the_result_applies_to_the_first_origin() {
    for dialect in Dialect::ALL {
        let mut captures = chain(3);
        captures.push(file(&url("h3"), 100, "/3").noted(CaptureNote::HtmlContentType));
        let found = ingest_made(&captures, dialect);
        for hop in 0..=3_u8 {
            let origin = format!("https://h{hop}.example");
            assert_eq!(found.says(&origin), "-/3", "{}: {hop}", dialect.name);
            let facts = found.find(&origin).unwrap().facts;
            let date = if hop == 3 { 100 } else { u64::from(hop) + 1 };
            assert_eq!((facts.redirects_followed, facts.status), (3 - hop, 200));
            assert_eq!(facts.dates(), Some((UnixSeconds(date), UnixSeconds(100)).into()));
            assert_eq!(found.notes(&origin), [CaptureNote::HtmlContentType]);
            let seconds = dialect.access.freshness.default_seconds;
            assert_eq!(facts.expires_at, Some(UnixSeconds(date).after(seconds.into())));
        }
        assert_eq!(found.counts.redirected, 3);
    }
}

#[test]
fn five_are_followed_and_six_are_too_many() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.access.redirects_max, 5);
        for (redirects, within, too_many_for) in [(5, 0, 0), (6, 0, 1), (7, 0, 2), (4, 2, 1)] {
            let mut captures = chain(redirects);
            captures.push(file(&url(format!("h{redirects}")), 100, "/end").after(within));
            let found = ingest_made(&captures, dialect);
            for hop in 0..=redirects {
                let origin = format!("https://h{hop}.example");
                let (expected, notes) = match hop < too_many_for {
                    true => (too_many(dialect), vec![CaptureNote::TooManyRedirects]),
                    false => ("-/end".to_owned(), vec![]),
                };
                assert_eq!(found.says(&origin), expected, "{}: {redirects} {hop}", dialect.name);
                assert_eq!(found.notes(&origin), notes);
            }
        }
    }
}

#[test]
fn the_answer_at_the_end_counts_as_if_it_was_the_first() {
    for dialect in Dialect::ALL {
        for answer in [404, 403, 429, 500, 304, 999] {
            let end = status(&url("end"), 1, answer);
            let expected = ingest_made(std::slice::from_ref(&end), dialect);
            let found = ingest_made(&[end, redirect(&url("a"), 1, &url("end"))], dialect);
            let said = expected.says("https://end.example");
            assert_eq!(found.says("https://a.example"), said, "{}: {answer}", dialect.name);
            assert_eq!(found.find("https://a.example").unwrap().facts.status, answer);
        }
    }
}

#[test]
fn loops_end() {
    for dialect in Dialect::ALL {
        let captures = [
            redirect(&url("self"), 1, "/robots.txt#x"),
            redirect(&url("a"), 1, &url("b")),
            redirect(&url("b"), 1, &url("a")),
            redirect(&url("into"), 1, &url("a")),
        ];
        let found = ingest_made(&captures, dialect);
        for host in ["self", "a", "b", "into"] {
            let origin = format!("https://{host}.example");
            assert_eq!(found.says(&origin), too_many(dialect), "{} {host}", dialect.name);
            assert_eq!(found.notes(&origin), [CaptureNote::TooManyRedirects]);
        }
    }
}

#[test]
fn a_redirect_to_nowhere_allows_nothing() {
    let nowhere = [CaptureNote::RedirectToNowhere];
    let missing = [CaptureNote::RedirectTargetMissing];
    for dialect in Dialect::ALL {
        let to = |host: &str, location: &str| redirect(&url(host), 1, location);
        let rows = [
            ("without", status(&url("without"), 1, 302), nowhere, 0),
            ("nameless", Made::new(&url("nameless"), 1, Answer::RedirectToNowhere), nowhere, 0),
            ("mail", to("mail", "mailto:joe@a.example"), nowhere, 0),
            ("empty", to("empty", ""), nowhere, 0),
            ("port", to("port", "https://a.example:99999/robots.txt"), nowhere, 0),
            ("host", to("host", "https://a b/robots.txt"), nowhere, 0),
            ("missing", to("missing", &url("never-captured")), missing, 0),
            ("path", to("path", "/other"), missing, 0),
            ("later", to("later", &url("missing")), missing, 1),
        ];
        let captures = rows.each_ref().map(|(_, made, ..)| made.clone());
        let found = ingest_made(&captures, dialect);
        for (host, _, notes, followed) in rows {
            let origin = format!("https://{host}.example");
            assert_eq!(found.says(&origin), other_status(dialect), "{}: {host}", dialect.name);
            assert_eq!(found.notes(&origin), notes, "{host}");
            assert_eq!(found.find(&origin).unwrap().facts.redirects_followed, followed);
            assert_ne!(dialect.access.other_status.verdict, Verdict::Allow);
        }
    }
}

#[test]
fn other_resources_are_found_by_their_whole_url() {
    let captures = [
        redirect(&url("a"), 1, "/folder/robots.txt?v=1#top"),
        file("https://A.example:443/folder/robots.txt?v=1", 1, "/v1"),
        file("https://a.example/folder/robots.txt?v=2", 1, "/v2"),
        file("https://a.example/folder/robots.txt", 1, "/v"),
        redirect(&url("b"), 1, "HTTPS://A.Example/folder/robots.txt"),
        redirect(&url("c"), 1, "https://a.example/folder/Robots.txt"),
        redirect(&url("d"), 1, "//ex\u{e4}mple.example"),
        status("https://xn--exmple-cua.example/", 1, 410),
        redirect(&url("e"), 1, "?"),
        file("https://e.example/robots.txt?", 1, "/query"),
        redirect("http://f.example/robots.txt", 1, "https://f.example/robots.txt"),
        file("https://f.example/robots.txt", 1, "/f"),
    ];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says("https://a.example"), "-/v1");
    assert_eq!(found.says("https://b.example"), "-/v");
    assert_eq!(found.says("https://c.example"), other_status(&RFC_9309));
    assert_eq!(found.says("https://d.example"), "unavailable allow");
    assert_eq!(found.says("https://e.example"), "-/query");
    assert_eq!(found.says("http://f.example"), "-/f");
    assert_eq!(found.says("https://xn--exmple-cua.example"), "nothing");
    assert_eq!(found.hosts.len(), 6);
}

#[test]
fn the_newest_capture_of_the_target_counts() {
    let captures = [
        redirect(&url("a"), 5, "/there"),
        file("https://a.example/there", 1, "/old"),
        file("https://a.example/there", 9, "/new"),
        file("https://a.example/there", 3, "/middle"),
        redirect(&url("b"), 5, &url("c")),
        host_file("c.example", "/host"),
        status(&url("c"), 1, 404),
    ];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says("https://a.example"), "-/new");
    assert_eq!(found.says("https://b.example"), "unavailable allow");
    assert_eq!(found.says("http://c.example"), "-/host");
}

#[test]
fn redirects_within_a_capture_count() {
    for dialect in Dialect::ALL {
        let captures = [
            file(&url("five"), 1, "/five").after(5),
            file(&url("six"), 1, "/six").after(6),
            file(&url("many"), 1, "/many").after(1_000),
            redirect(&url("on"), 1, &url("five")).after(5),
            redirect(&url("four"), 1, &url("end")).after(4),
            file(&url("end"), 1, "/end"),
            status(&url("not-modified"), 2, 304).after(6),
            file(&url("not-modified"), 1, "/not-modified"),
        ];
        let found = ingest_made(&captures, dialect);
        assert_eq!(found.says("https://five.example"), "-/five");
        assert_eq!(found.says("https://four.example"), "-/end");
        assert_eq!(found.find("https://four.example").unwrap().facts.redirects_followed, 5);
        for host in ["six", "many", "on", "not-modified"] {
            let origin = format!("https://{host}.example");
            assert_eq!(found.says(&origin), too_many(dialect), "{}: {host}", dialect.name);
            assert_eq!(found.notes(&origin), [CaptureNote::TooManyRedirects]);
        }
    }
}

#[test]
fn a_host_without_a_scheme_redirects_within_each_scheme() {
    let redirect = Made { is_host: true, ..redirect("a.example", 1, "/there") };
    let captures = [
        redirect,
        file("http://a.example/there", 1, "/http"),
        file("https://a.example/there", 1, "/https"),
    ];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says("http://a.example"), "-/http");
    assert_eq!(found.says("https://a.example"), "-/https");
}
