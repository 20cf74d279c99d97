//! Tests of valid, unusual and damaged lines.

use portcullis_dialect::Fetched;
use portcullis_robots::access::{CachingHeaders, TimeUnit, UnixSeconds};

use super::{Keeper, NO_SUBJECT, OwnedCapture, fields, lost, notes, read_all};
use crate::json_lines::{WHITE_SPACE, open};
use crate::limits::{FILES_PER_RECORD_MAX, HEADER_VALUES_MAX};
use crate::{
    BatchReader, BrokenKind, Capture, CaptureField, Confirms, FieldMap, PayloadNames, ReadConfig,
};
use portcullis_files::input::Source;
use portcullis_robots::access::CaptureNote;
use portcullis_testkit::files::zstd;

/// The size limit in these tests. Two bytes more are returned.
const MAX: usize = 10;

fn read(lines: impl AsRef<[u8]>) -> Keeper {
    read_with(lines, &[])
}

/// Like [`read`], with names of fields.
fn read_with(lines: impl AsRef<[u8]>, names: &[&str]) -> Keeper {
    let lines = std::io::Cursor::new(lines.as_ref().to_vec());
    let source = Source::from_reader("lines", lines);
    read_all(&mut open(source, &fields(names)), Some(MAX))
}

/// Returns the single capture of a line with a URL and `members`.
#[track_caller]
fn capture(members: &str) -> Capture<'static> {
    let found = read(format!(r#"{{"url": "u", {members}}}"#));
    assert_eq!(found.broken, [], "{members}");
    let [OwnedCapture { subject, is_host: false, capture }] = &found.captures[..] else {
        panic!("{members}: {found:?}");
    };
    assert_eq!(subject, "u");
    capture.clone()
}

/// Returns the problem of the single line `line`.
#[track_caller]
fn problem(line: &str) -> String {
    let found = read(line);
    assert_eq!(found.captures, [], "{line}");
    let [broken] = &found.broken[..] else { panic!("{line}: {found:?}") };
    assert_eq!((broken.place.as_str(), broken.kind), ("line 1", BrokenKind::Senseless));
    broken.problem.clone()
}

#[test]
fn every_member_is_read() {
    let line = concat!(
        r#"{"unknown": {"url": [1]}, "url": "https://a.example/robots.txt", "status": 200, "#,
        r#""fetched_at": "2024-05-01T12:00:00Z", "headers": {"Content-Type": "text/HTML; a=b", "#,
        r#""CACHE-CONTROL": ["max-age=60", "public"], "age": "7", "X": 1, "#,
        r#""date": "Wed, 01 May 2024 12:00:00 GMT", "Expires": "0", "Location": "/x"}, "#,
        r#""redirects": ["a", {"status": 301, "url": "b"}], "body": "Allow: /é"}"#,
    );
    let found = read(line);
    assert_eq!((found.captures.len(), found.broken.len()), (1, 0), "{found:?}");
    assert_eq!(found.captures[0].subject, "https://a.example/robots.txt");
    let noon = UnixSeconds(1_714_564_800);
    let expected = Capture {
        subject: NO_SUBJECT,
        captured_at: Some(noon),
        redirects_followed: 2,
        answer: Fetched::Status(200),
        location: None,
        confirms: Confirms::Newest,
        payload: PayloadNames::default(),
        caching: CachingHeaders {
            max_age: Some(60),
            no_cache: false,
            expires: Some(UnixSeconds(0)),
            date: Some(noon),
            age: 7,
        },
        body: "Allow: /é".as_bytes().into(),
        notes: notes(&[CaptureNote::HtmlContentType]),
    };
    assert_eq!(found.captures[0].capture, expected);
}

#[test]
fn answers() {
    use Fetched::{BrokenBody, NoResponse, Status};
    let rows = [
        (r#""status": 200, "body": """#, Status(200)),
        (r#""status": 200.0, "body": """#, Status(200)),
        (r#""status": 200, "body": "", "error": null, "truncated": false"#, Status(200)),
        (r#""status": 200, "body": "", "error": "", "truncated": """#, Status(200)),
        (r#""status": 200, "body": "", "error": false, "truncated": 0"#, Status(200)),
        (r#""status": 200, "body": "", "error": 0.0, "truncated": -0"#, Status(200)),
        (r#""status": 200, "body": "", "error": " no ", "truncated": "False""#, Status(200)),
        (r#""status": 200, "body": "", "error": "nobody""#, BrokenBody),
        (r#""status": 200, "body": "a", "error": "reset""#, BrokenBody),
        (r#""status": 200, "body": "a", "truncated": true"#, BrokenBody),
        (r#""status": 200, "body": "a", "truncated": "length""#, BrokenBody),
        (r#""status": 200, "body": "a", "truncated": 1"#, BrokenBody),
        (r#""status": 200, "body": "a", "truncated": -1"#, BrokenBody),
        (r#""status": 200, "body": "a", "error": {"code": [1]}"#, BrokenBody),
        (r#""status": 200, "body": "a", "error": [{}]"#, BrokenBody),
        (r#""status": 204"#, Status(204)),
        (r#""status": 205"#, Status(205)),
        (r#""status": 204, "error": "reset""#, BrokenBody),
        (r#""status": 205, "truncated": "length""#, BrokenBody),
        (r#""status": 206, "body": "a""#, BrokenBody),
        (r#""status": 206, "body": "a", "headers": {"Content-Range": "bytes 0-0/1"}"#, Status(206)),
        (r#""status": 206, "body": "a", "headers": {"Content-Range": "bytes 0-0/2"}"#, BrokenBody),
        (r#""status": 206, "body": "a", "headers": {"Content-Range": "bytes 0-1/2"}"#, BrokenBody),
        (r#""status": 301"#, Status(301)),
        (r#""status": 304"#, Status(304)),
        (r#""status": 404, "error": "not found""#, Status(404)),
        (r#""status": 503, "body": "busy", "truncated": true"#, Status(503)),
        (r#""status": 999"#, Status(999)),
        (r#""status": 1"#, Status(1)),
        (r#""error": "no such host""#, NoResponse),
        (r#""status": null, "error": "no such host""#, NoResponse),
        (r#""status": 0, "error": {"kind": "dns"}, "body": "a""#, NoResponse),
        (r#""error": "reset", "body": "a""#, NoResponse),
        (r#""status": null"#, NoResponse),
        (r#""status": 0, "error": "", "body": """#, NoResponse),
    ];
    for (members, expected) in rows {
        assert_eq!(capture(members).answer, expected, "{members}");
    }
}

#[test]
fn bodies() {
    use CaptureNote::{BodyCut, Truncated};
    let twelve = b"0123456789ab";
    let rows: &[(u16, &str, &[u8], &[CaptureNote])] = &[
        (200, r#""body": "a\r\n\u00e9\ud83d\ude00\u0000""#, "a\r\né😀\0".as_bytes(), &[]),
        (200, r#""body_base64": "/wAK""#, b"\xff\0\n", &[]),
        (200, r#""body_base64": "\/wAK", "body": null"#, b"\xff\0\n", &[]),
        (200, r#""body_base64": "YQ==""#, b"a", &[]),
        (200, r#""body_base64": "YQ""#, b"a", &[]),
        (200, r#""body_base64": " YW\r\nE\n""#, b"aa", &[]),
        (200, r#""body_base64": """#, b"", &[]),
        (200, r#""body": "0123456789ab""#, twelve, &[]),
        (200, r#""body": "0123456789abc""#, twelve, &[BodyCut]),
        (200, r#""body": "0123456789ab\n\n""#, twelve, &[BodyCut]),
        (200, r#""body_base64": "MDEyMzQ1Njc4OWFi""#, twelve, &[]),
        (200, r#""body_base64": "MDEyMzQ1Njc4OWFiYw==""#, twelve, &[BodyCut]),
        // Text past the size limit is not decoded.
        (200, r#""body_base64": "MDEyMzQ1Njc4OWFiY2Rl!""#, twelve, &[BodyCut]),
        (200, r#""body": "0123456789a", "truncated": true"#, b"", &[Truncated]),
        (200, r#""body": "0123456789ab", "truncated": true"#, twelve, &[Truncated]),
        (299, r#""body": "0123456789abc", "truncated": true"#, twelve, &[BodyCut, Truncated]),
        (404, r#""body": "gone", "truncated": true"#, b"", &[Truncated]),
        // The body is not needed.
        (404, r#""body_base64": "!""#, b"", &[]),
    ];
    for &(status, members, body, expected) in rows {
        let found = capture(&format!("\"status\": {status}, {members}"));
        assert_eq!((&*found.body, found.notes), (body, notes(expected)), "{members}");
    }
}

#[test]
fn redirects_and_their_places() {
    let rows: &[(&str, u32, Option<&[u8]>)] = &[
        (r#""status": 404"#, 0, None),
        (r#""status": 404, "redirects": null"#, 0, None),
        (r#""status": 404, "redirects": []"#, 0, None),
        (r#""status": 404, "redirects": ["a\n", "b", {"url": null}]"#, 3, None),
        (r#""status": 404, "headers": {"location": "/a"}"#, 0, None),
        (r#""status": 302, "headers": {"location": "/\u0061"}"#, 0, Some(b"/a")),
        (r#""status": 302, "headers": {"LOCATION": ["/a", "/b"]}"#, 0, Some(b"/a")),
        (r#""status": 302, "headers": {"location": []}"#, 0, None),
        (r#""status": 302, "headers": {"location": null}"#, 0, None),
        (r#""status": 302, "headers": null"#, 0, None),
    ];
    for &(members, followed, location) in rows {
        let found = capture(members);
        assert_eq!(found.redirects_followed, followed, "{members}");
        assert_eq!(found.location.as_deref(), location, "{members}");
    }
}

#[test]
fn a_redirect_without_a_header_has_an_unknown_target() {
    let lacks = |members: &str| capture(members).notes.contains(CaptureNote::RedirectTargetMissing);
    for members in [
        r#""status": 301"#,
        r#""status": 301, "headers": {}"#,
        r#""status": 399, "headers": null"#,
        r#""status": 301, "headers": {"Server": "a"}, "truncated": "length""#,
        r#""status": 301, "headers": {"Server": "a"}, "error": "reset""#,
    ] {
        assert!(lacks(members), "{members}");
    }
    for members in [
        r#""status": 301, "headers": {"Server": "a"}"#,
        r#""status": 301, "headers": {"Location": "/a"}, "truncated": "length""#,
        r#""status": 304"#,
        r#""status": 404"#,
        r#""status": 200, "body": """#,
    ] {
        assert!(!lacks(members), "{members}");
    }
}

#[test]
fn header_fields_may_come_twice() {
    let found = capture(r#""status": 404, "headers": {"Age": "1", "age": ["5", "2"]}"#);
    assert_eq!(found.caching.age, 5);
}

#[test]
fn times() {
    let rows = [
        (r#""status": 404"#, None),
        (r#""status": 404, "fetched_at": null"#, None),
        (r#""status": 404, "fetched_at": "1970-01-01T01:00:01.5+01:00""#, Some(1)),
        (r#""status": 404, "fetched_at": "1970-01-02""#, Some(86_400)),
        (r#""status": 404, "fetched_at": "19700102000001""#, Some(86_401)),
        (r#""status": 404, "fetched_at": "1970-01-02 00:00:02.5""#, Some(86_402)),
        (r#""status": 404, "fetched_at": " 1970-01-02T00:00:03 ""#, Some(86_403)),
    ];
    for (members, seconds) in rows {
        assert_eq!(capture(members).captured_at, seconds.map(UnixSeconds), "{members}");
    }
}

/// Returns the number of captures of a text, and the error that ends it.
fn read_to_error(text: &str) -> (usize, Option<String>) {
    read_to_error_with(text, &[])
}

fn read_to_error_with(text: &str, names: &[&str]) -> (usize, Option<String>) {
    let source = Source::from_reader("a.json", std::io::Cursor::new(text.to_owned()));
    let (mut reader, mut captures) = (open(source, &fields(names)), 0);
    loop {
        let batch = match reader.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => return (captures, None),
            Err(error) => return (captures, Some(error.to_string())),
        };
        batch.read(&ReadConfig { robots_bytes_max: None }, &mut |read| {
            captures += usize::from(read.is_ok());
        });
    }
}

#[test]
fn a_list_of_objects_is_read_item_by_item() {
    let one = r#"{"host": "a.example", "status": 404}"#;
    for (list, captures) in [
        (format!("[{one}]"), 1),
        (format!("[\n  {one},\n  {one}\n]\n"), 2),
        (format!("\u{feff} [{one}] [{one}]"), 2),
        ("[]".to_owned(), 0),
        ("[\n{\n\"host\":\n\"a.example\",\"status\": 404}]".to_owned(), 1),
    ] {
        assert_eq!(read_to_error(&list), (captures, None), "{list}");
    }
    let found = read(format!("[{one}, {{}}]"));
    assert_eq!((found.captures.len(), &*found.broken[0].place), (1, "item 2"));
    for (list, problem) in [
        (format!("[{one}"), "the JSON has no end"),
        (format!("[{one}] {one}"), "other text follows"),
        (format!("[{one}]]"), "other text follows"),
    ] {
        let (captures, error) = read_to_error(&list);
        assert!(captures <= 1, "{list}");
        assert!(error.as_ref().is_some_and(|it| it.contains(problem)), "{list}: {error:?}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let bad_status =
        |found| format!("its status is {found}; expected at most three digits, or null");
    // @ is the column at which the parser stopped.
    let twice = |name: &str| {
        format!(
            "`{name}` occurs twice; if the names differ in case, choose one with ‹fields› {name}=NAME"
        )
    };
    let no_status = "its status is text; expected a number of at most three digits, or null";
    let nothing = "no status, no body and no error, so its outcome is not known";
    let no_subject = "no URL and no host (url, robots_url, uri, host, domain, hostname); name the \
                      field with ‹fields› url=NAME";
    let no_end = "the object does not end on its line; write one object per line, as jq -c does";
    let rows = [
        ("nothing", "not a JSON object; expected one object per line"),
        (r#"["u", 404]"#, "a JSON list; write one object per line, as jq -c '.[]' does"),
        ("{", no_end),
        (r#"{"url": "u","#, no_end),
        (r#"{"status": 404}"#, no_subject),
        (r#"{"url": null}"#, no_subject),
        (r#"{"url": 7, "status": 404}"#, "its url is a number; expected text"),
        (r#"{"url": "u"}"#, nothing),
        (r#"{"url": "u", "body": null}"#, nothing),
        (
            r#"{"url": "u", "status": null, "body": "a"}"#,
            "a body, but no status: name the status with ‹fields› status=NAME, or ‹fields› status= if \
             there is none",
        ),
        (r#"{"url": "u", "url": "u", "status": 404}"#, &twice("url")),
        (r#"{"url": "u", "URL": "u", "status": 404}"#, &twice("url")),
        (r#"{"url": "u", "status": 404, "headers": {}, "headers": {}}"#, &twice("headers")),
        (r#"{"url": "u", "status": 404} {}"#, "@: trailing characters"),
        (r#"{"url": "u", "status": "OK"}"#, no_status),
        (r#"{"url": "u", "status": 1000}"#, &bad_status("1000")),
        (r#"{"url": "u", "status": -1}"#, &bad_status("-1")),
        (r#"{"url": "u", "status": 200.5}"#, &bad_status("200.5")),
        (r#"{"url": "u", "status": 1e9}"#, &bad_status("1000000000")),
        (
            r#"{"url": "u", "status": 404, "headers": ["Age"]}"#,
            "@: expected an object of header fields, or null",
        ),
        (
            r#"{"url": "u", "status": 404, "headers": {"Age": 1}}"#,
            "@: expected a text or a list of texts for a header field",
        ),
        (
            r#"{"url": "u", "status": 404, "redirects": 2}"#,
            "@: expected a list of redirects, or null",
        ),
        (
            r#"{"url": "u", "status": 404, "redirects": [2]}"#,
            "@: expected a URL, or an object with a `url`, for each redirect",
        ),
        (r#"{"url": "u", "status": 404, "redirects": [{}]}"#, "@: a redirect without a `url`"),
        (r#"{"url": "u", "status": 200, "body": "\ud800"}"#, "@: invalid escape"),
        (
            r#"{"url": "u", "status": 200, "body": "", "body_base64": ""}"#,
            "both `body` and `body_base64`; keep the one that is right",
        ),
        (
            r#"{"url": "u", "status": 200, "body_base64": "a"}"#,
            "its body_base64 is not base64: Invalid input length: 1",
        ),
        (
            r#"{"url": "u", "status": 200, "body_base64": "YQ\n=*"}"#,
            "its body_base64 is not base64: Invalid symbol 61, offset 2.",
        ),
        (
            r#"{"url": "u", "status": 404, "fetched_at": "today"}"#,
            "its time is \"today\"; expected a date or time, such as 2024-05-01T12:00:00Z, \
             2024-05-01 or 20240501120000, or a number with ‹time_unit›; it counts as \
             the newest of its input",
        ),
        (
            r#"{"url": "u", "status": 404, "fetched_at": 1}"#,
            "its fetched_at is a number; expected a date or time, such as 2024-05-01T12:00:00Z, \
             2024-05-01 or 20240501120000, or a number with ‹time_unit›; it counts as \
             the newest of its input",
        ),
    ];
    for (line, expected) in rows {
        let found = problem(line);
        let found = match found.strip_prefix("column ").and_then(|rest| rest.split_once(": ")) {
            Some((column, rest)) => {
                assert!((1..=line.len()).contains(&column.parse().unwrap()), "{line}: {found}");
                format!("@: {rest}")
            }
            None => found,
        };
        // The problem of a record whose time was not read ends so.
        let unplaced = "; it counts as the newest of its input";
        let found = found.strip_suffix(unplaced).unwrap_or(&found);
        assert_eq!(found, expected.strip_suffix(unplaced).unwrap_or(expected), "{line}");
    }
}

/// Each row: names, line, and the expected subject, body and status. `None` if the line is broken.
#[test]
fn fields_have_usual_names_and_those_that_are_given() {
    let url = |subject, body| Some((subject, body, false, 200));
    let host = |subject, body| Some((subject, body, true, 200));
    type Found = Option<(&'static str, &'static str, bool, u16)>;
    let rows: [(&[&str], &str, Found); 26] = [
        (&[], r#"{"robots_url": "u", "content": "x"}"#, url("u", "x")),
        (&[], r#"{"domain": "h", "content": "x"}"#, host("h", "x")),
        (
            &[],
            r#"{"host": "h:81", "TEXT": "x", "http_status": 203}"#,
            Some(("h:81", "x", true, 203)),
        ),
        (&[], r#"{"domain": "h", "url": "u", "body": "x"}"#, url("u", "x")),
        (&[], r#"{"domain": "h", "url": null, "body": "x"}"#, host("h", "x")),
        (&[], r#"{"domain": "h", "content": null}"#, None),
        // The value of a losing name is not read.
        (&[], r#"{"url": "u", "uri": 1, "text": {}, "body": "x"}"#, url("u", "x")),
        (&[], r#"{"url": "u", "text": "x", "body_base64": "YQ=="}"#, url("u", "a")),
        (&[], r#"{"url": "u", "text": "x", "body_base64": ""}"#, url("u", "x")),
        (&[], r#"{"url": "u", "text": "", "body_base64": ""}"#, url("u", "")),
        (&[], r#"{"url": "u", "body": "x", "body_base64": ""}"#, url("u", "x")),
        (&[], r#"{"url": "u", "text": "VXNlci1hZ2VudDogKg=="}"#, None),
        (&[], r#"{"url": "u", "content": [1]}"#, None),
        (&["url=a.b"], r#"{"a": {"b": "u"}, "body": "x"}"#, url("u", "x")),
        (&["url=a\\.b"], r#"{"a.b": "u", "body": "x"}"#, url("u", "x")),
        (&["url=a.b"], r#"{"a": {"b": "u"}, "a.b": "v", "body": "x"}"#, url("u", "x")),
        (&["url=a.b"], r#"{"a": {"c": "u"}, "url": "v", "domain": "h", "body": "x"}"#, None),
        (&["url=a.b"], r#"{"a": "u", "body": "x"}"#, None),
        (&["url=a.b", "body=a.c"], r#"{"a": {"c": "x", "b": "u"}}"#, url("u", "x")),
        (&["url=a", "body=a"], r#"{"a": "u"}"#, url("u", "u")),
        (&["url=Link"], r#"{"link": "v", "Link": "u", "body": "x"}"#, url("u", "x")),
        (&["host=url"], r#"{"url": "h", "body": "x"}"#, host("h", "x")),
        (&["status="], r#"{"url": "u", "status": 500, "body": "x"}"#, url("u", "x")),
        (&["status=c"], r#"{"url": "u", "status": 500, "c": 204}"#, Some(("u", "", false, 204))),
        (&["body_base64=b"], r#"{"url": "u", "b": "YQ==", "body": "x"}"#, url("u", "a")),
        (&["body=text"], r#"{"url": "u", "body": "y", "text": "x"}"#, url("u", "x")),
    ];
    for (names, line, expected) in rows {
        let found = read_with(line, names);
        let kept = found.captures.first();
        let kept = kept.map(|OwnedCapture { subject, is_host, capture }| {
            let Fetched::Status(status) = capture.answer else { panic!("{line}: {capture:?}") };
            (subject.clone(), String::from_utf8(capture.body.to_vec()).unwrap(), *is_host, status)
        });
        let broken = usize::from(expected.is_none());
        let expected = expected
            .map(|(subject, body, is_host, status)| (subject.into(), body.into(), is_host, status));
        assert_eq!((kept, found.broken.len()), (expected, broken), "{names:?} {line}");
    }
}

#[test]
fn a_status_that_is_assumed_is_noted() {
    let assumed = |members: &str| capture(members).notes.contains(CaptureNote::StatusAssumed);
    assert!(assumed(r#""body": "a""#));
    assert!(assumed(r#""body": "a", "truncated": true"#));
    assert!(!assumed(r#""status": 200, "body": "a""#));
    assert!(!assumed(r#""error": "reset", "body": "a""#));
}

#[test]
fn bytes_that_are_no_text_are_broken() {
    let found = read(b"{\"url\": \"\xff\", \"status\": 404}\n{\"url\": \"u\", \"status\": 404}\n");
    assert_eq!((found.captures.len(), found.broken.len()), (1, 1));
    assert!(found.broken[0].problem.contains("invalid unicode"), "{found:?}");
}

#[test]
fn deep_values_are_broken_or_passed_over() {
    let deep = |member: &str| {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        read(format!(r#"{{"url": "u", "status": 404, "{member}": {open}{close}}}"#))
    };
    assert_eq!(deep("unknown").captures.len(), 1);
    for member in ["error", "truncated", "status", "redirects", "headers", "body"] {
        let found = deep(member);
        assert_eq!(found.captures.len() + found.broken.len(), 1, "{member}");
    }
}

#[test]
fn lines_are_counted_over_batches() {
    let good = r#"{"url": "u", "status": 404}"#;
    let mut lines = String::from("\u{feff}");
    let mut broken_at = Vec::new();
    for number in 1..=120_000 {
        match number % 1000 {
            7 => lines.push_str("nothing\r\n"),
            8 => lines.push_str(" \t\r\n"),
            9 => lines.push('\n'),
            _ => lines.extend([good, "\n"]),
        }
        if number % 1000 == 7 {
            broken_at.push(format!("line {number}"));
        }
    }
    let found = read(&lines);
    let places: Vec<_> = found.broken.into_iter().map(|broken| broken.place).collect();
    assert_eq!(places, broken_at);
    assert_eq!(found.captures.len(), 120_000 - 3 * 120);
    assert_eq!(found.stored_bytes, lines.len() as u64);
}

#[test]
fn a_mark_counts_at_the_start_alone() {
    let line = "\u{feff}{\"url\": \"u\", \"status\": 404}\n";
    let found = read(line.repeat(2));
    assert_eq!((found.captures.len(), found.broken.len()), (1, 1));
    assert_eq!(found.broken[0].place, "line 2");
}

#[test]
fn a_file_that_is_cut_short_is_an_error() {
    let line = "{\"url\": \"u\", \"status\": 404}\n";
    let stored = zstd(line.repeat(9).as_bytes());
    assert_eq!(read(&stored).captures.len(), 9);
    let short = std::io::Cursor::new(stored[..stored.len() - 1].to_vec());
    let mut reader = open(Source::from_reader("short", short), &FieldMap::default());
    let error = loop {
        match reader.next_batch() {
            Ok(batch) => assert!(batch.is_some(), "the end is missing, but nobody says so"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.starts_with("short is cut short"), "{error}");
}

/// After any damage to the bytes, every nonempty line is a capture or broken.
#[test]
fn damage_loses_no_line() {
    damaged_lines(10_000);
}

#[test]
#[ignore = "takes ten times as long; scripts/check --full runs it"]
fn more_damage_loses_no_line() {
    damaged_lines(100_000);
}

fn damaged_lines(rounds: usize) {
    let lines = [
        r#"{"url":"https://a.example/robots.txt","status":200,"headers":{"Content-Type":"text/plain","Age":["1","2"]},"body":"User-agent: *\nDisallow: /\u00e9"}"#,
        r#"{"url":"https://b.example/robots.txt","status":200,"fetched_at":"2024-05-01T12:00:00Z","body_base64":"VXNlci1hZ2VudDogKgo=","truncated":false}"#,
        r#"{"url":"https://c.example/robots.txt","status":null,"error":{"kind":"dns"},"redirects":["http://c.example/",{"url":"d"}]}"#,
        r#"{"url":"https://d.example/robots.txt","status":301,"headers":{"Location":"/other"},"more":[1,2.5e3,true,{}]}"#,
    ];
    let text = lines.join("\n").into_bytes();
    let mut random = portcullis_testkit::Random::new(2024);
    for round in 0..rounds {
        let mut bytes = text.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = match random.below(4) {
                0 => bytes[at] ^ 1 << random.below(8),
                1 => b"\"\\{}[]:,\n\r \0"[random.below(12)],
                2 => bytes[random.below(bytes.len())],
                _ => random.below(256) as u8,
            };
        }
        let said = bytes
            .split(|&byte| byte == b'\n')
            .filter(|line| !portcullis_engine::bytes::trim(line, WHITE_SPACE).is_empty())
            .count();
        let found = read(&bytes);
        let shown = bytes.escape_ascii();
        assert_eq!(found.captures.len() + found.broken.len(), said, "round {round}: {shown}");
    }
}

/// A study of robots.txt over time publishes one object of hosts, of dates, of files.
#[test]
fn files_of_hosts_by_date() {
    let line = r#"{"a.example": {"2023-01-01": "Disallow: /x", "20240101": ""}, "b.example": {"2023-06-01": null}}"#;
    let found = read(line);
    let rows: Vec<_> = found
        .captures
        .iter()
        .map(|kept| {
            let capture = &kept.capture;
            (&*kept.subject, capture.captured_at, capture.answer, &*capture.body)
        })
        .collect();
    let time = |seconds| Some(UnixSeconds(seconds));
    let expected: [(&str, _, Fetched, &[u8]); 3] = [
        ("a.example", time(1_672_531_200), Fetched::Status(200), b"Disallow: /x"),
        ("a.example", time(1_704_067_200), Fetched::Status(200), b""),
        ("b.example", time(1_685_577_600), Fetched::NoResponse, b""),
    ];
    assert_eq!(rows, expected);
    for line in [
        r#"{"a.example": {"today": "Disallow: /x"}}"#,
        r#"{"a.example": {"2023-01-01": 7}}"#,
        r#"{"a.example": {"2023-01-01": {"2023-01-01": "x"}}}"#,
        r#"{"a.example": 7}"#,
        r#"{"a.example": "x", "b.example": {"today": "x"}, "status": 404}"#,
        r#"{"answer.url": "https://a.example/robots.txt", "answer.body": "x"}"#,
        r#"{"key": {"2023-01-01": "x"}}"#,
        "{}",
    ] {
        let found = read(line);
        assert_eq!((found.captures.len(), found.broken.len()), (0, 1), "{line}");
    }
}

#[test]
fn files_of_hosts_without_dates() {
    let found = read(r#"{"a.example": "Disallow: /x", "b.example": null}"#);
    let rows: Vec<_> = found
        .captures
        .iter()
        .map(|kept| (&*kept.subject, kept.capture.captured_at, kept.capture.answer))
        .collect();
    let expected =
        [("a.example", None, Fetched::Status(200)), ("b.example", None, Fetched::NoResponse)];
    assert_eq!(rows, expected);
}

/// Programs write one object on several lines, which may be longer than any record.
#[test]
fn an_object_of_hosts_on_several_lines_is_read_host_by_host() {
    for text in [
        "{\n \"a.example\": {\n  \"2023-01-01\": \"Disallow: /x\",\n  \"2024-01-01\": null\n },\n \"b.example\": {}\n}\n",
        "{\r\n\"a.example\": \"x\",\r\n\"b.example\": null\r\n}",
        " {\"a.example\":\n\"x\", \"b.example\": \"\"}",
    ] {
        assert_eq!(read_to_error(text), (2, None), "{text}");
    }
    let long = ".".repeat(40 << 20);
    let text = format!("{{\"a.example\": \"{long}\", \"b.example\": \"{long}\"}}");
    assert_eq!(read_to_error(&text), (2, None));
    for (text, captures, problem) in [
        ("{\n\"a.example\": \"x\"\n", 0, "no end"),
        (
            "{\n\"a.example\": \"x\",\n\"url\": \"https://a.example/robots.txt\"\n}",
            1,
            "member 2 is none",
        ),
        ("{\n\"a.example\": {\"2023-01-01\": \"x\"},\n\"b.example\": 7\n}", 1, "member 2 is none"),
    ] {
        let (found, error) = read_to_error(text);
        assert_eq!(found, captures, "{text}");
        assert!(error.as_ref().is_some_and(|it| it.contains(problem)), "{text}: {error:?}");
    }
    let found = read("{\n\"a.example\": {\"today\": \"x\"}, \"b.example\": {\"2023-01-01\": 7}\n}");
    assert_eq!((found.captures.len(), found.broken.len()), (0, 2));
}

/// A capture whose first name has a dot is none of hosts, and neither is a name that a user gives.
#[test]
fn names_with_a_dot_that_are_no_hosts() {
    let capture = r#""url": "https://a.example/robots.txt", "status": 200, "body": """#;
    let long = format!(r#""about": "{}""#, "a".repeat(2 << 20));
    for line in [
        format!(r#"{{"page.id": "1", "score": NaN, {capture}}}"#),
        format!(r#"{{"page.id": "1", {capture}, {long}}}"#),
        format!(r#"{{"page.id": "1", "score": NaN, {capture}, {long}}}"#),
    ] {
        let found = read(format!("{line}\n{line}\n"));
        assert_eq!((found.captures.len(), &*found.broken), (2, &[][..]), "{}", &line[..40]);
    }
    let names = [r"url=http\.request", r"body=http\.response", "status="];
    let lines =
        "{\"http.request\": \"https://a.example/robots.txt\",\n \"http.response\": \"x\"}\n";
    let line = lines.replacen('\n', " ", 1);
    let found = read_with(&line, &names);
    assert_eq!(found.captures[0].subject, "https://a.example/robots.txt");
    for text in [lines, &line.replace("\"https", "null, \"a\": \"https")] {
        let found = read_with(text, &names);
        assert_eq!(found.captures, [], "{text}");
        assert!(!found.broken.is_empty(), "{text}");
    }
    let of_other = "{\"page.id\": \"1\",\n \"http.request\": \"https://a.example/robots.txt\"}";
    let (captures, error) = read_to_error_with(of_other, &names);
    assert!(captures == 1 && error.is_some_and(|it| it.contains("member 2 is none")));
}

#[test]
fn hosts_with_another_value_than_a_file_are_not_left_out() {
    let file = r#""User-agent: *\nDisallow:\n""#;
    for odd in [r#"["User-agent: *", "Disallow: /"]"#, "404", "true", r#"{"2025-01-01": ["x"]}"#] {
        let found = read(format!(
            "{{\"a.example\": {file}}}\n{{\"b.example\": {file}, \"a.example\": {odd}}}\n"
        ));
        assert_eq!(lost(&found), ["b.example ?", "a.example ?"], "{odd}");
        assert_eq!(found.captures.len(), 1, "{odd}");
        for broken in &found.broken {
            assert_eq!(broken.kind, BrokenKind::Unreadable, "{odd}");
            let reason = "; as an object of hosts, \"a.example\" has no text; it counts as";
            assert!(broken.problem.contains(reason), "{odd}");
        }
    }
    for file in [file, r#""USER-AGENT: *""#, r##"{"2025-01-01": "# For HTTP/1.1\n\u0041llow: /"}"##]
    {
        for line in [
            format!(r#"{{"a.example": {file}, "intranet": 1}}"#),
            format!(r#"{{"total": 1, "a.example": {file}}}"#),
        ] {
            let found = read(&line);
            assert_eq!(lost(&found), ["a.example ?"], "{line}");
            assert!(found.broken[0].problem.starts_with("no URL and no host"));
        }
    }
    let request = r#"{"ts": 1, "http.request.raw": "GET /robots.txt HTTP/1.1\r\nUser-agent: x"}"#;
    assert_eq!(read(request).broken[0].kind, BrokenKind::Senseless);
    for line in [r#"{"http.status": 404, "level": "info"}"#, r#"{"level": 1, "http.status": 404}"#]
    {
        assert_eq!(read(line).broken[0].kind, BrokenKind::Senseless, "{line}");
    }
    let found = read(format!(
        r#"{{"localhost": {file}, "[2001:db8::1]:8080": {file}, "a.example": null}}"#
    ));
    let subjects: Vec<_> = found.captures.iter().map(|it| &*it.subject).collect();
    assert_eq!(subjects, ["localhost", "[2001:db8::1]:8080", "a.example"]);
}

#[test]
fn host_is_a_domain_too() {
    let subjects = |text: &str| -> Vec<String> {
        let found = read(text);
        found.captures.into_iter().map(|kept| kept.subject).collect()
    };
    let shops = ["a.example", "shop.host", "b.HOST"];
    for files in [["", "", "Disallow: /"], ["#", "Disallow:", ""], ["x", "a\\nb", "a b"]] {
        let members: Vec<String> =
            shops.iter().zip(files).map(|(host, file)| format!("\"{host}\": \"{file}\"")).collect();
        assert_eq!(subjects(&format!("{{{}}}", members.join(", "))), shops, "{files:?}");
        assert_eq!(subjects(&format!("{{{}}}", members.join(",\n"))), shops, "{files:?}");
        assert_eq!(subjects(&format!("{{{},\n{}}}", members[1], members[0])).len(), 2);
    }
    for value in [
        "\"a.example\"",
        "\"a.example:8080\"",
        "\"https://a.example/\"",
        "null",
        "{\"2024-01-01\": \"\"}",
    ] {
        let text = format!("{{\"log.host\": {value}, \"log.response\": \"x\"}}");
        assert!(subjects(&text).is_empty(), "{text}");
    }
}

/// An object means the same on one line and on several: a host that comes twice has two captures.
#[test]
fn hosts_that_come_twice_have_all_their_files() {
    for members in [
        r#"{"a.example": {"2024-01-01": "x"}, "a.example": {"2024-02-01": ""}}"#,
        r#"{"a.example": {"2024-01-01": "Disallow: /x"}, "A.example": {"20240101": ""}}"#,
        r#"{"a.example": "Disallow: /x", "a.example": ""}"#,
        r#"{"a.example": "Disallow: /x", "a.example:443": null}"#,
    ] {
        let (line, lines) =
            (read(members), read(members.replace("}, ", "},\n").replace("\", ", "\",\n")));
        assert_eq!((line.captures.len(), line.broken.len()), (2, 0), "{members}");
        assert_eq!(line.captures, lines.captures, "{members}");
    }
}

#[test]
fn an_object_that_ends_in_the_other_bracket_is_an_error() {
    for text in [
        "{\"a.example\": \"x\"]",
        "{\n\"a.example\": \"x\"\n]",
        "[{\"url\": \"u\", \"status\": 404}}",
    ] {
        let (found, error) = read_to_error(text);
        assert_eq!(found, 0, "{text}");
        assert!(
            error.as_ref().is_some_and(|it| it.contains("not JSON: an array ends in")),
            "{error:?}"
        );
    }
}

#[test]
fn the_files_of_a_record_have_a_limit() {
    let text =
        |files| format!("{{\"a.example\":{{{}}}}}", vec!["\"20240101\":null"; files].join(","));
    assert_eq!(read(text(FILES_PER_RECORD_MAX)).captures.len(), FILES_PER_RECORD_MAX);
    let found = read(text(FILES_PER_RECORD_MAX + 1));
    assert_eq!((found.captures.len(), found.broken.len()), (0, 1));
    assert!(found.broken[0].problem.starts_with("more than 100000 files of hosts"));
}

#[test]
fn lists_in_a_line_take_no_memory_for_each_item() {
    let many = |count: usize| format!("[{}]", vec!["\"\""; count].join(","));
    let with = |headers: &str, redirects: &str| {
        format!(r#"{{"url": "u", "status": 301, "headers": {headers}, "redirects": {redirects}}}"#)
    };
    let found = read(with("{}", &many(100_000)));
    assert_eq!(found.captures[0].capture.redirects_followed, 100_000);
    let values = |count| format!(r#"{{"location": {}, "x": {}}}"#, many(count), many(9_999));
    assert_eq!(read(with(&values(HEADER_VALUES_MAX), "[]")).captures.len(), 1);
    let problem = problem(&with(&values(HEADER_VALUES_MAX + 1), "[]"));
    assert!(problem.contains("more than 1024 values of header fields"), "{problem}");
}

#[test]
fn names_that_no_record_has_and_fields_with_two_names_are_noted() {
    let noted = |line: &'static str, names: &[&str]| {
        let fields = fields(names);
        let source = Source::from_reader("lines", std::io::Cursor::new(line));
        read_all(&mut open(source, &fields), None);
        fields
    };
    let line = r#"{"url": "u", "status": 200, "http_status": 503, "body": "", "cut": null}"#;
    let found = noted(line, &["truncated=cutt"]);
    let missing = "no capture has the field cutt (‹fields› truncated=cutt); the first has `body`, `cut`, \
                   `http_status`, `status`, `url`; name one that some capture has, or omit it";
    assert_eq!(found.missing().unwrap(), missing);
    assert_eq!(found.doubted(), [CaptureField::Status]);
    assert!(found.renewed().doubted().is_empty());
    let found = noted(line, &["truncated=cut", "status=status", "host="]);
    assert!(found.missing().is_none() && found.doubted().is_empty());
    for (body, doubted) in [("x", &[][..]), ("y", &[CaptureField::Body])] {
        let line = format!(r#"{{"url": "u", "text": "{body}", "body_base64": "eA=="}}"#);
        assert_eq!(noted(line.leak(), &[]).doubted(), doubted);
    }
    // Equal values, null, and a host next to a URL raise no doubt.
    let line = r#"{"url": "u", "uri": "u", "host": "a", "domain": "b", "status": 404, "body": null, "text": "x"}"#;
    assert!(noted(line, &[]).doubted().is_empty());
}

/// Whatever is wrong with a record, an older file of its resource is not the newest.
#[test]
fn a_record_that_cannot_be_used_is_lost() {
    let head = r#""url": "u", "fetched_at": "1970-01-01T00:01:00Z""#;
    let rows: [(String, &[&str], &str); 15] = [
        (format!(r#"{{{head}, "status": 200, "body": "caf\udce9"}}"#), &[], "u 60"),
        (format!(r#"{{"body": "caf\udce9", {head}}}"#), &[], "u 60"),
        (format!(r#"{{"body": "\x0A \ud83d\n \u12", {head}}}"#), &[], "u 60"),
        (
            format!(r#"{{"body": "User-ag", "headers": {{"Location": "\udce9"}}, {head}}}"#),
            &[],
            "u 60",
        ),
        (format!("{{\"body\": \"a\tb\", {head}}}"), &[], "u 60"),
        (format!(r#"{{{head}, "status": 200, "body": "User-ag"#), &[], "u 60"),
        (format!(r#"{{{head}, "r": "{{\"t\": \"User"}}"#), &["body=r.t"], "u 60"),
        (format!(r#"{{"r": "{{\"t\": \"User", {head}}}"#), &["body=r.t"], "u 60"),
        (
            r#"{"r": "{\"t\": \"\", \"at\": 7", "url": "u"}"#.to_owned(),
            &["body=r.t", "fetched_at=r.at"],
            "u ?",
        ),
        (format!(r#"{{{head}, "fetched_at": "1970-01-01", "body": ""}}"#), &[], "u ?"),
        (r#"{"url": "u", "fetched_at": "then", "body": ""}"#.to_owned(), &[], "u ?"),
        (r#"{"url": "u", "fetched_at": null, "body": 7}"#.to_owned(), &[], "u -"),
        (r#"{"url": "u", "url": "u", "host": "h", "body": ""}"#.to_owned(), &[], ""),
        (r#"{"m": "{\"url\": \"u\"", "host": "h", "body": ""}"#.to_owned(), &["url=m.url"], ""),
        (r#"{"url": 7, "host": "h", "body": ""}"#.to_owned(), &[], ""),
    ];
    for (line, names, expected) in rows {
        let found = read_with(&line, names);
        assert_eq!((found.captures.len(), found.broken.len()), (0, 1), "{line}");
        assert_eq!(lost(&found).join(" "), expected, "{line}");
    }
    let latin = [format!("{{{head}, \"body\": \"caf").as_bytes(), b"\xe9\"}"].concat();
    assert_eq!(lost(&read(latin)), ["u 60"]);
}

#[test]
fn digits_that_are_a_date_are_no_number() {
    let lines = "{\"url\": \"u\", \"timestamp\": \"20240201\", \"body\": \"\"}\n\
                 {\"url\": \"u\", \"timestamp\": 20240201, \"body\": \"\"}\n\
                 {\"url\": \"u\", \"timestamp\": 1704067200, \"body\": \"\"}\n";
    let source = Source::from_reader("lines", std::io::Cursor::new(lines));
    let names = FieldMap::default().with_unit(Some(TimeUnit::Seconds));
    let found = read_all(&mut open(source, &names), None);
    assert_eq!(found.captures.len(), 1);
    assert_eq!(lost(&found), ["u ?", "u ?"]);
    for broken in &found.broken {
        assert!(broken.problem.contains("a date, or a number of"), "{}", broken.problem);
    }
}
