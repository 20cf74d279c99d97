//! "Not modified": which file is confirmed, and what else then counts.

use super::*;

const A: &str = "https://a.example/robots.txt";
const ORIGIN: &str = "https://a.example";

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
fn a_confirmation_of_nothing_is_no_permission() {
    for dialect in Dialect::ALL {
        for captures in [
            vec![status(A, 50, 304)],
            vec![status(A, 50, 304), status(A, 40, 404)],
            vec![redirect(A, 10, "/b"), status(A, 50, 304).noted(CaptureNote::Revisit)],
            // The file is a later one's, or another's.
            vec![status(A, 50, 304), file("http://a.example/robots.txt", 40, "/http")],
        ] {
            let found = ingest_made(&captures, dialect);
            assert_eq!(found.says(ORIGIN), other_status(dialect), "{}", dialect.name);
            assert_eq!(found.find(ORIGIN).unwrap().facts.expires_at, None);
        }
    }
}

#[test]
fn without_dates_the_place_says_what_is_newer() {
    let captures = [file(A, 0, "/0").undated(), status(A, 0, 304).undated()];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says(ORIGIN), "-/0");
    assert_eq!(found.find(ORIGIN).unwrap().facts.captured_at, None);
    let captures = [status(A, 0, 304).undated(), file(A, 0, "/0").undated()];
    assert_eq!(ingest_made(&captures, &RFC_9309).find(ORIGIN).unwrap().facts.status, 200);
}

#[test]
fn the_target_of_a_redirect_can_be_confirmed() {
    let b = "https://b.example/robots.txt";
    let captures = [file(b, 1, "/b"), status(b, 2, 304), redirect(A, 9, b)];
    let found = ingest_made(&captures, &RFC_9309);
    assert_eq!(found.says(ORIGIN), "-/b");
    let facts = found.find(ORIGIN).unwrap().facts;
    assert_eq!((facts.status, facts.redirects_followed), (304, 1));
    assert_eq!(facts.captured_at, Some(UnixSeconds(9)));
}
