//! Tests of cutting files: valid files in many spellings, damaged files, long files.

use std::io::{self, Read};

use portcullis_dialect::Fetched;

use super::{Keeper, lost, read_all};
use crate::limits::{
    HEADER_BLOCK_BYTES_MAX, WARC_DAMAGES_MAX, WARC_PASSED_BYTES_MAX, WARC_RECORD_BYTES_MAX,
};
use crate::warc::{End, WarcReader, end_of_record, open};
use crate::{BatchReader, Confirms, ReadConfig};
use portcullis_files::input::{InputError, Source};
use portcullis_files::limits::CHUNK_BYTES;
use portcullis_robots::access::{CaptureNote, CaptureNotes, UnixSeconds};
use portcullis_testkit::files::{gzip, zstd};

fn record(record_type: &str, url: &str, block: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC/1.0\r\nWARC-Type: {record_type}\r\nWARC-Target-URI: {url}\r\n\
         WARC-Date: 2024-01-02T03:04:05Z\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(url: &str, body: &str) -> Vec<u8> {
    record("response", url, format!("HTTP/1.1 200 OK\r\n\r\n{body}").as_bytes())
}

fn robots(number: usize) -> Vec<u8> {
    let body = format!("User-agent: *\nDisallow: /{number}\n");
    response(&format!("http://h{number}.example/robots.txt"), &body)
}

fn reader(file: &[u8]) -> WarcReader {
    open(Source::from_reader("a.warc", io::Cursor::new(file.to_vec())))
}

/// Returns everything before the end or an error, and the error.
fn read_to_error(mut reader: WarcReader) -> (Keeper, Option<InputError>) {
    let mut keeper = Keeper::default();
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => {
                keeper.stored_bytes += batch.stored_bytes;
                batch.read(&ReadConfig { robots_bytes_max: None }, &mut |read| keeper.keep(read));
            }
            Ok(None) => return (keeper, None),
            Err(error) => {
                assert!(reader.next_batch().unwrap().is_none());
                return (keeper, Some(error));
            }
        }
    }
}

fn subjects(keeper: &Keeper) -> Vec<&str> {
    keeper.captures.iter().map(|kept| kept.subject.as_str()).collect()
}

#[track_caller]
fn check(file: &[u8], captures: usize, broken: &[u64]) {
    let keeper = read_all(&mut reader(file), None);
    assert_eq!(keeper.captures.len(), captures, "{:?}", subjects(&keeper));
    let places: Vec<String> =
        broken.iter().map(|position| format!("record at byte {position}")).collect();
    assert_eq!(keeper.broken.iter().map(|broken| &*broken.place).collect::<Vec<_>>(), places);
    assert_eq!(keeper.stored_bytes, file.len() as u64);
}

#[test]
fn records_of_every_type() {
    let url = "http://a.example/robots.txt";
    let redirect = b"HTTP/1.1 301 Moved\r\nLocation: /x/robots.txt\r\nAge: 5\r\n\r\ngone";
    let file = [
        record("warcinfo", "", b"software: x\r\n"),
        record("request", url, b"GET /robots.txt HTTP/1.1\r\n\r\n"),
        record("response", url, b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nfile"),
        record("metadata", url, b"a: b\r\n"),
        record("response", "http://a.example/", b"HTTP/1.1 200 OK\r\n\r\npage"),
        record("response", &format!("<{url}>"), redirect),
        record("response", url, b"HTTP/1.1 404 Not Found\r\n\r\n"),
        record("resource", url, b"HTTP/1.1 is no header here"),
        record("revisit", url, b""),
        record("revisit", url, b"HTTP/1.1 200 OK\r\nAge: 7\r\n\r\n"),
        record("revisit", url, redirect),
        record("conversion", url, b"text"),
        record("response", url, b"HTTP/1.1 500 Oops\r\nLocation: /x\r\n\r\n<html>"),
    ]
    .concat();
    let keeper = read_all(&mut reader(&file), None);
    assert!(keeper.broken.is_empty(), "{:?}", keeper.broken);
    let found: Vec<_> = keeper
        .captures
        .iter()
        .map(|kept| {
            let capture = &kept.capture;
            assert_eq!((kept.subject.as_str(), kept.is_host), (url, false));
            assert_eq!(capture.captured_at.unwrap().0, 1_704_164_645);
            let Fetched::Status(status) = capture.answer else { panic!("{capture:?}") };
            let location = capture.location.as_deref().unwrap_or_default();
            (status, location, &*capture.body, capture.caching.age)
        })
        .collect();
    let place: &[u8] = b"/x/robots.txt";
    let expected: [(u16, &[u8], &[u8], u64); 8] = [
        (200, b"", b"file", 0),
        (301, place, b"", 5),
        (404, b"", b"", 0),
        (200, b"", b"HTTP/1.1 is no header here", 0),
        (304, b"", b"", 0),
        (304, b"", b"", 7),
        (301, place, b"", 5),
        (500, b"/x", b"", 0),
    ];
    assert_eq!(found, expected);
    // A response that a resource has.
    let block = b"HTTP/1.1 503 Busy\r\n\r\nUser-agent: *\n";
    let resource = String::from_utf8(record("resource", url, block)).unwrap();
    let resource =
        resource.replace("\r\n\r\nHTTP", "\r\nContent-Type: application/http\r\n\r\nHTTP");
    let answers = read_all(&mut reader(resource.as_bytes()), None).captures;
    assert_eq!(answers[0].capture.answer, Fetched::Status(503));
    assert_eq!(keeper.captures[0].capture.caching.max_age, Some(60));
    let is_revisit = |index: usize| {
        let notes: CaptureNotes = keeper.captures[index].capture.notes;
        notes.contains(CaptureNote::Revisit)
    };
    assert_eq!((0..8).filter(|&index| is_revisit(index)).collect::<Vec<_>>(), [4, 5, 6]);
}

#[test]
fn revisits_name_what_they_repeat() {
    let url = "https://a.example/robots.txt";
    let head = b"HTTP/1.1 200 OK\r\n\r\n";
    let identical =
        "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    let not_modified = "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified";
    let date = "WARC-Refers-To-Date: 2024-01-02T03:04:05Z";
    let own = format!("WARC-Refers-To-Target-URI: <{url}>");
    let other = "WARC-Refers-To-Target-URI: https://b.example/robots.txt";
    let known = Confirms::CapturedAt(Some(UnixSeconds(1_704_164_645)));
    let unknown = Confirms::CapturedAt(None);
    let status_304 = b"HTTP/1.1 304 Not Modified\r\n\r\n";
    let rows: [(&[&str], &[u8], Confirms); 13] = [
        (&[identical, &own, date], head, known),
        (&[identical, date], b"", known),
        (&[identical, other, date], head, unknown),
        (&[identical, &own], head, unknown),
        (&[identical, "WARC-Payload-Digest: sha1:AAAA"], head, unknown),
        (&[], head, unknown),
        (&[not_modified, &own, date], head, known),
        (&[not_modified, date], status_304, known),
        (&[not_modified, other, date], status_304, unknown),
        (&[not_modified, "WARC-Refers-To-Date: Mon, 01 Jan 2024"], status_304, unknown),
        (&[not_modified], b"", Confirms::Newest),
        (&[not_modified], status_304, Confirms::Newest),
        (&[identical], status_304, Confirms::Newest),
    ];
    let lacks_target = |fields: &str, head: &[u8]| {
        let record = String::from_utf8(record("response", url, head)).unwrap();
        let file = record.replacen("WARC-Date", &format!("{fields}WARC-Date"), 1);
        let keeper = read_all(&mut reader(file.as_bytes()), None);
        let notes = keeper.captures[0].capture.notes;
        notes.contains(CaptureNote::RedirectTargetMissing)
    };
    let (cut, moved) =
        ("WARC-Truncated: length\r\n", b"HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\n");
    assert!(lacks_target(cut, b"HTTP/1.1 301 Moved\r\n\r\n"));
    assert!(!lacks_target("", b"HTTP/1.1 301 Moved\r\n\r\n") && !lacks_target(cut, moved));
    for (fields, block, expected) in rows {
        let record = String::from_utf8(record("revisit", url, block)).unwrap();
        let lines = fields.iter().map(|field| format!("{field}\r\n")).collect::<String>();
        let file = record.replacen("WARC-Date", &format!("{lines}WARC-Date"), 1);
        let keeper = read_all(&mut reader(file.as_bytes()), None);
        let capture = &keeper.captures[0].capture;
        assert_eq!(
            (capture.answer, capture.confirms),
            (Fetched::Status(304), expected),
            "{fields:?}"
        );
    }
}

#[test]
fn spellings_of_records() {
    let lf_only = String::from_utf8(robots(1)).unwrap().replace("\r\n", "\n").replace(
        "Content-Length: ",
        // The block is shorter, without its two CRs.
        "Content-Length:\t",
    );
    let block_bytes =
        robots(1).len() - robots(1).windows(4).position(|w| w == b"\r\n\r\n").unwrap() - 8;
    let lf_only = lf_only.replace(&block_bytes.to_string(), &(block_bytes - 2).to_string());
    let one = robots(1);
    let without_end = &one[..one.len() - 4];
    let files: [Vec<u8>; 9] = [
        [&one[..], &robots(2)].concat(),
        [b"\r\n\n\r\n", &one[..], b"\r\n\r\n\r\n\r\n\n\n", &robots(2), b"\r\n\r\n\r\n"].concat(),
        [without_end, &robots(2)].concat(),
        [without_end, b"\r\n", &robots(2)].concat(),
        [without_end, b"\n\n", &robots(2)].concat(),
        [without_end, b"oops", &robots(2)].concat(),
        [&one[..], &robots(2)[..robots(2).len() - 4]].concat(),
        [&one[..], &robots(2)[..robots(2).len() - 1]].concat(),
        [lf_only.as_bytes(), lf_only.as_bytes()].concat(),
    ];
    for file in files {
        check(&file, 2, &[]);
    }
}

#[test]
fn ends_of_records() {
    let sure = |bytes| Some(End { bytes, is_sure: true });
    let likely = |bytes| Some(End { bytes, is_sure: false });
    let rows: &[(&[u8], bool, bool, Option<End>)] = &[
        (b"", true, true, sure(0)),
        (b"\r\n", true, true, sure(2)),
        (b"\r\n\r\n", true, true, sure(4)),
        (b"\r\n\r\nWARC/", true, false, sure(4)),
        (b"\r\n\r\nWAR", true, true, sure(4)),
        (b"\r\n\r\nrests", true, false, likely(4)),
        (b"\r\n\r\n\r\n\r\n\r", true, false, likely(4)),
        (b"\r\n\r\n\r\n\r\n\r", true, true, sure(9)),
        (b"\n\nWARC/1.", true, false, sure(2)),
        (b"WARC/1.0\r", true, false, sure(0)),
        (b"abcdWARC/", true, false, sure(4)),
        (b"\n\nrest...", true, false, None),
        (b"\n\nrest...", false, false, likely(2)),
        (b"\nrest....", false, false, None),
        (b"abWARC/1.", false, false, sure(2)),
        (b"rest.....", false, false, None),
        (b"x", true, true, None),
    ];
    for (rest, has_crlf, is_last, expected) in rows {
        let found = end_of_record(rest, *has_crlf, *is_last);
        assert_eq!(found, *expected, "{}", rest.escape_ascii());
    }
}

#[test]
fn a_record_that_makes_no_sense_is_counted() {
    let (one, two) = (robots(1), robots(2));
    let at = one.len() as u64;
    let damaged = |from: &str, to: &str| {
        let text = String::from_utf8(robots(3)).unwrap();
        assert!(text.contains(from));
        [&one[..], text.replacen(from, to, 1).as_bytes(), &two].concat()
    };
    check(&damaged("WARC-Type", "WARC-Kind"), 2, &[at]);
    check(&damaged("WARC-Type: response", "WARC-Type: responds"), 2, &[at]);
    check(&damaged("WARC-Target-URI: http://h3.example/robots.txt", "X: y"), 2, &[at]);
    check(&damaged("HTTP/1.1", "HTP/1.1"), 2, &[at]);
    // A response without the end of its header, in a record that is whole.
    let headless =
        record("response", "http://a.example/robots.txt", b"HTTP/1.1 200 OK\r\nA: b\r\n");
    check(&[&one[..], &headless, &two].concat(), 2, &[at]);
}

/// Its writer was killed after the header, and the next record became its file.
#[test]
fn no_record_begins_in_a_file() {
    for kind in ["resource", "response"] {
        let next = robots(1);
        let torn = record(kind, "http://victim.example/robots.txt", &next);
        let torn = [torn.as_slice(), &robots(2)].concat();
        let (keeper, error) = read_to_error(reader(&torn));
        assert_eq!(keeper.captures, [], "{kind}");
        assert!(
            error.unwrap().to_string().contains("another record begins in its block"),
            "{kind}"
        );
    }
}

/// Its writer was killed anywhere, and the site of the next record chooses where its blank lines lead.
#[test]
fn a_block_with_another_record_is_damage() {
    let url = "http://victim.example/robots.txt";
    let long = format!("User-agent: *\nDisallow: /\n{}", "# a comment\n".repeat(300));
    let victim = response(url, &long);
    let page = response("http://victim.example/", &long);
    let forged = response("http://other.example/robots.txt", "");
    let forging = format!("{}{}", "\r\n".repeat(4000), String::from_utf8(forged).unwrap());
    let next = response("http://next.example/robots.txt", &forging);
    let last = robots(1);
    let header_bytes = memchr::memmem::find(&victim, b"\r\n\r\n").unwrap() + 4;
    for cut in (header_bytes..header_bytes + 200).step_by(7) {
        for (torn, expected) in [(&victim, format!("{url} 1704164645")), (&page, String::new())] {
            let file = [&torn[..cut], &next, &last].concat();
            let (keeper, error) = read_to_error(reader(&file));
            assert_eq!(subjects(&keeper), [""; 0], "{cut}");
            assert_eq!(lost(&keeper).join(" "), expected, "{cut}");
            let error = error.unwrap().to_string();
            assert!(error.contains("another record begins in its block"), "{error}");
        }
    }
    // As members, the next record is where it should be.
    let torn = [&victim[..header_bytes + 50], &next[..]].concat();
    let torn = &torn[..victim.len() - 4];
    let keeper = read_all(&mut reader(&members(&[torn, &last])), None);
    assert_eq!(subjects(&keeper), ["http://h1.example/robots.txt"]);
    assert_eq!(lost(&keeper), [format!("{url} 1704164645")]);
    // Nobody reads a page about records.
    let about = record("response", "http://a.example/", &robots(2));
    let keeper = read_all(&mut reader(&members(&[&about, &last])), None);
    assert_eq!((keeper.captures.len(), keeper.broken.len()), (1, 0));
    check_end(&[&last[..], &about, &last].concat());
    let bytes = CHUNK_BYTES as u64 + 1000;
    let torn = [&long_record("request", bytes)[..], &vec![b' '; CHUNK_BYTES - 10], &next].concat();
    let spaces = vec![b' '; 10_000];
    check_end(&[&last[..], &torn, &spaces, &last].concat());
}

#[test]
fn a_body_that_looks_like_a_record_is_a_body() {
    let url = "http://evil.example/robots.txt";
    for body in ["WARC/1.0\r\nUser-agent: *\nDisallow: /\n", "WARC/1.0\n\nWARC-Type: x\n"] {
        for torn in [record("resource", url, body.as_bytes()), response(url, body)] {
            check(&[&torn[..], &robots(1)].concat(), 2, &[]);
        }
    }
}

/// Whatever else is wrong with a record, its server answered.
#[test]
fn a_record_with_a_known_url_is_lost() {
    let (one, two) = (robots(1), robots(2));
    let replaced = |from: &str, to: &str| {
        let text = String::from_utf8(robots(3)).unwrap();
        assert!(text.contains(from));
        text.replacen(from, to, 1).into_bytes()
    };
    let long = format!("X: {}\r\nContent-Length", "a".repeat(HEADER_BLOCK_BYTES_MAX));
    for (from, to, time) in [
        ("Content-Length", "Content-Lenght", "1704164645"),
        ("Content-Length: ", "Content-Length: x", "1704164645"),
        ("Content-Length", &long, "1704164645"),
        ("WARC-Type: response", "WARC-Typo: response", "1704164645"),
        ("WARC-Type: response", "WARC-Type: responds", "1704164645"),
        ("Content-Length: ", "Content-Length: 1", "1704164645"),
        ("2024-01-02", "yesterday", "?"),
        ("WARC-Date", "WARC-Data", ""),
    ] {
        let keeper = read_all(&mut reader(&members(&[&one, &replaced(from, to), &two])), None);
        let expected = match time {
            "" => Vec::new(),
            time => vec![format!("http://h3.example/robots.txt {time}")],
        };
        assert_eq!(lost(&keeper), expected, "{to:.20}");
        assert_eq!(keeper.captures.len(), 3 - expected.len(), "{to:.20}");
    }
    // The file ends before the date.
    let at = memchr::memmem::find(&one, b"WARC-Date").unwrap();
    let (keeper, _) = read_to_error(reader(&one[..at + 4]));
    assert_eq!(lost(&keeper), ["http://h1.example/robots.txt ?"]);
    // A request, and a header that may be of two records.
    for (from, to) in
        [("response\r\n", "request\r\nX"), ("WARC-Type", "WARC-Date: 2024-01-01\r\nWARC-Type")]
    {
        let damaged = replaced(from, to);
        let damaged = String::from_utf8(damaged).unwrap().replace("Content-Length", "C");
        let keeper = read_all(&mut reader(&members(&[&one, damaged.as_bytes(), &two])), None);
        assert_eq!((keeper.broken.len(), lost(&keeper)), (1, Vec::new()));
    }
    // So is the last one before the rest is given up, or missing.
    let url = "http://h3.example/robots.txt 1704164645";
    for damaged in [
        [&one[..], &replaced("Content-Length: ", "Content-Length: 1"), &two].concat(),
        [&one[..], &replaced("Content-Length: ", "Content-Length: 9")].concat(),
        [&one[..], &robots(3)[..robots(3).len() - 9]].concat(),
        [&one[..], &replaced("Content-Length: ", "Content-Length: x"), &two].concat(),
    ] {
        let (keeper, error) = read_to_error(reader(&damaged));
        assert_eq!((lost(&keeper), keeper.captures.len()), (vec![url.to_owned()], 1));
        assert!(error.is_some());
    }
}

/// Returns the records as members of gzip.
fn members(records: &[&[u8]]) -> Vec<u8> {
    records.iter().flat_map(|record| gzip(record)).collect()
}

/// Checks that nothing is read after the first record.
#[track_caller]
fn check_end(file: &[u8]) {
    check_end_after(file, &["http://h1.example/robots.txt"]);
}

/// Checks that nothing is read after these captures.
#[track_caller]
fn check_end_after(file: &[u8], expected: &[&str]) {
    let (keeper, error) = read_to_error(reader(file));
    assert_eq!(subjects(&keeper), expected);
    assert!(error.unwrap().to_string().contains("it is not known where the next record begins"));
}

#[test]
fn behind_a_record_without_a_known_end_the_next_member_is_read() {
    let (one, two) = (robots(1), robots(2));
    let replaced = |from: &str, to: &str| {
        let text = String::from_utf8(robots(3)).unwrap();
        assert!(text.contains(from));
        text.replacen(from, to, 1).into_bytes()
    };
    for damaged in [
        replaced("WARC/1.0", "WARC/2.0"),
        replaced("WARC/1.0", "GARB/1.0"),
        replaced("Content-Length", "Content-Lenght"),
        replaced("Content-Length: ", "Content-Length: -"),
        replaced("Content-Length: ", "Content-Length: 1"),
        replaced("Content-Length: ", "Content-Length: 1,"),
        replaced("User-agent", "and then\nUser-agent"),
        b"garbage\r\nWARC/\r\nWARC/1.0 is not this\n".to_vec(),
        vec![0; 10],
    ] {
        check(&members(&[&one, &damaged, &two]), 2, &[one.len() as u64]);
        let plain = [&one[..], &damaged, &two].concat();
        // The length of the first record may be the damage, if no record begins after it.
        let begins = damaged.starts_with(b"WARC/");
        let before = if begins { &["http://h1.example/robots.txt"][..] } else { &[] };
        check_end_after(&plain, before);
        check_end_after(&gzip(&plain), before);
        check_end_after(&zstd(&plain), before);
        // A member may hold several records, and then begin anywhere.
        check_end_after(&members(&[&[&one[..], &damaged].concat(), &two]), before);
    }
}

#[test]
fn a_record_that_was_given_up_hides_none_behind_it() {
    let aborted = &robots(3)[..robots(3).len() - 20];
    let one = robots(1);
    let file = members(&[&one, aborted, &robots(2), &robots(4), &robots(5)]);
    check(&file, 4, &[one.len() as u64]);
}

/// A server decides what a body says, and a writer that counts characters makes its record too short.
#[test]
fn a_body_never_passes_for_records() {
    let forged = response("http://h1.example/robots.txt", "Allow: /\n");
    let body = format!("#\r\n\r\n{}# end", String::from_utf8(forged).unwrap());
    let long = response("http://other.example/robots.txt", &body);
    let at = memchr::memmem::find(&long, b"\r\n\r\n").unwrap();
    let bytes = long.len() - at - 8;
    let long = String::from_utf8(long).unwrap();
    let short = long.replacen(&bytes.to_string(), &(bytes - 3).to_string(), 1).into_bytes();
    let (one, two) = (robots(1), robots(2));
    check_end(&[&one[..], &short, &two].concat());
    let keeper = read_all(&mut reader(&members(&[&one, &short, &two])), None);
    assert_eq!(subjects(&keeper), ["http://h1.example/robots.txt", "http://h2.example/robots.txt"]);
    assert_eq!(
        keeper.broken[0].problem,
        "its block is longer or shorter than its Content-Length says (the capture of \
         http://other.example/robots.txt); the rest of its gzip member is left out too; write \
         the archive anew"
    );
}

#[test]
fn damages_are_bounded() {
    let (one, two) = (robots(1), robots(2));
    let damages = [&gzip(&one)[..], &gzip(b"x\r\n").repeat(WARC_DAMAGES_MAX)].concat();
    let keeper = read_all(&mut reader(&[&damages[..], &gzip(&two)].concat()), None);
    assert_eq!((keeper.captures.len(), keeper.broken.len()), (2, WARC_DAMAGES_MAX));
    check_end(&[&damages[..], &gzip(b"x\r\n"), &gzip(&two)].concat());
    // Each line begins a record, whose header is searched for its end.
    check_end(&[&one[..], &b"WARC/1.0\n".repeat(HEADER_BLOCK_BYTES_MAX)].concat());
}

#[test]
fn a_file_that_is_cut_is_an_error_after_its_whole_records() {
    let (one, two) = (robots(1), robots(2));
    let file = [&one[..], &two].concat();
    for bytes in 1..file.len() {
        let (keeper, error) = read_to_error(reader(&file[..bytes]));
        let whole = usize::from(bytes >= one.len() - 4) + usize::from(bytes >= file.len() - 4);
        let is_between = bytes >= file.len() - 4 || (one.len() - 4..=one.len()).contains(&bytes);
        match error {
            Some(error) if error.to_string().contains("ends inside") => assert!(!is_between),
            // A file cut within its first line may have any format.
            Some(InputError::List { .. }) => assert!(bytes < 10, "{bytes}"),
            Some(error) => panic!("{error}"),
            None => assert!(is_between, "{bytes}"),
        }
        // A header that is there says which capture is lost.
        assert_eq!(lost(&keeper).len(), keeper.broken.len());
        assert!(keeper.broken.len() <= usize::from(!is_between), "{bytes}");
        assert_eq!(keeper.captures.len(), whole, "{bytes}");
    }
}

#[test]
fn compressed_files_and_their_damage() {
    let files = [
        ((1..=3).flat_map(|number| gzip(&robots(number))).collect::<Vec<u8>>(), 2),
        // The third frame yields no byte, so there is no proof that the second one ended.
        ((1..=3).flat_map(|number| zstd(&robots(number))).collect(), 1),
    ];
    for (file, captures) in files {
        check(&file, 3, &[]);
        for bytes in [file.len() - 1, file.len() - 6] {
            let (keeper, error) = read_to_error(reader(&file[..bytes]));
            assert_eq!(keeper.captures.len(), captures);
            assert!(error.unwrap().to_string().contains("cut short"));
        }
    }
    // The text is complete; only the checksum shows the damage.
    let mut file = [gzip(&robots(1)), gzip(&robots(2))].concat();
    let checksum = file.len() - 8;
    file[checksum] ^= 1;
    let (keeper, error) = read_to_error(reader(&file));
    assert_eq!(subjects(&keeper), ["http://h1.example/robots.txt"]);
    assert!(error.unwrap().to_string().contains("damaged"));
}

#[test]
fn what_is_no_warc_file_is_refused() {
    for file in
        [&b"User-agent: *\nDisallow: /\n"[..], b"{\"url\":1}\n", b"warc/1.0\r\n\r\n", b"WARC"]
    {
        let (keeper, found) = read_to_error(reader(file));
        assert!(keeper.captures.is_empty() && keeper.broken.is_empty());
        let Some(InputError::List { name, problem }) = found else { panic!("{found:?}") };
        assert_eq!(name, "a.warc");
        assert!(problem.contains("WARC"));
    }
    for file in [&b""[..], b"\r\n\r\n"] {
        check(file, 0, &[]);
    }
}

#[test]
fn headers_have_a_longest_length() {
    let with_header = |bytes: usize| {
        let text = String::from_utf8(robots(2)).unwrap();
        let header_bytes = text.find("\r\n\r\n").unwrap() + 4;
        let field = format!("X: {}\r\n", "x".repeat(bytes - header_bytes - 5));
        text.replacen("WARC-Type", &format!("{field}WARC-Type"), 1).into_bytes()
    };
    let (one, three) = (robots(1), robots(3));
    let file = |bytes| [&one[..], &with_header(bytes), &three].concat();
    check(&file(HEADER_BLOCK_BYTES_MAX), 3, &[]);
    let long = with_header(HEADER_BLOCK_BYTES_MAX + 1);
    check(&members(&[&one, &long, &three]), 2, &[one.len() as u64]);
}

/// Returns a reader of `front`, then `spaces` spaces, then `back`.
fn long_file(front: Vec<u8>, spaces: u64, back: Vec<u8>) -> WarcReader {
    let file =
        io::Cursor::new(front).chain(io::repeat(b' ').take(spaces)).chain(io::Cursor::new(back));
    open(Source::from_reader("a.warc", file))
}

fn long_record(record_type: &str, bytes: u64) -> Vec<u8> {
    let header = |length: u64| {
        format!(
            "WARC/1.1\r\nWARC-Type: {record_type}\r\nWARC-Target-URI: http://b.example/robots.txt\
             \r\nContent-Length: {length:012}\r\n\r\n"
        )
    };
    header(bytes - header(0).len() as u64).into_bytes()
}

#[test]
fn records_have_a_longest_length() {
    let one = robots(1);
    let rest = [b"\r\n\r\n", &robots(2)[..]].concat();
    for (record_type, bytes, captures, broken) in [
        ("resource", WARC_RECORD_BYTES_MAX, 3, 0),
        ("resource", WARC_RECORD_BYTES_MAX + 1, 2, 1),
        ("request", WARC_RECORD_BYTES_MAX + 1, 2, 0),
        ("request", CHUNK_BYTES, 2, 0),
        ("request", CHUNK_BYTES + 1, 2, 0),
        ("robots", CHUNK_BYTES + 1, 2, 1),
    ] {
        let header = long_record(record_type, bytes as u64);
        let spaces = (bytes - header.len()) as u64;
        let front = [&one[..], &header].concat();
        let keeper = read_all(&mut long_file(front.clone(), spaces, rest.clone()), Some(10));
        assert_eq!(keeper.captures.len(), captures, "{record_type} {bytes}");
        assert_eq!(keeper.broken.len(), broken, "{record_type} {bytes}");
        let (keeper, error) = read_to_error(long_file(front, spaces - 1, Vec::new()));
        assert_eq!(keeper.captures.len(), 1, "{record_type} {bytes}");
        assert!(error.unwrap().to_string().contains("ends inside the record at byte"));
    }
}

#[test]
fn batches_are_of_bounded_size_and_come_on_the_way() {
    let body = "a".repeat(CHUNK_BYTES / 4);
    let record = response("http://a.example/robots.txt", &body);
    let mut reader = reader(&record.repeat(10));
    let mut batches = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        let mut keeper = Keeper::default();
        batch.read(&ReadConfig { robots_bytes_max: None }, &mut |read| keeper.keep(read));
        assert!(keeper.captures.len() <= 4);
        batches += 1;
    }
    assert_eq!(batches, 3);
    // An archive without captures is skipped in countable steps.
    let bytes = 4 * WARC_PASSED_BYTES_MAX as u64;
    let page = long_record("request", CHUNK_BYTES as u64);
    let page = [&page[..], &vec![b' '; CHUNK_BYTES - page.len()], b"\r\n\r\n"].concat();
    let mut reader = open(Source::from_reader(
        "a.warc",
        io::Cursor::new(page.repeat((bytes / page.len() as u64) as usize)),
    ));
    let mut batches = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        assert!(batch.stored_bytes > 0);
        batches += 1;
    }
    assert_eq!(batches, 4);
}
