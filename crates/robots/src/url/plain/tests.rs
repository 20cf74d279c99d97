//! The shortcut for plain URLs, compared with the parser: every byte in every place, and every length.

use portcullis_dialect::Dialect;
use portcullis_engine::vectors::Vectors;

use super::*;
use crate::url::{compared_path, host_key, normalise, split};

/// Bytes of the vector that a plain_url reads.
const VECTOR_BYTES: usize = 64;

/// Returns the plain_urls at some records, or `None` on a processor without the vectors.
fn plain_urls_at(records: &[&[u8]], escapes: Escapes) -> Option<Vec<Option<PlainUrl>>> {
    let mut found = Vec::new();
    let are_seen = plain_urls(records, escapes, Vectors::detect(), |number, record, plain_url| {
        assert_eq!(record, records[number]);
        found.push(plain_url);
    });
    are_seen.then_some(found)
}

/// Compares both shortcuts with `split`, `host_key` and `compared_path`. Returns whether the
/// URL is plain in every dialect.
#[track_caller]
fn check(record: &[u8]) -> bool {
    let head = plain_head(record);
    let mut all = head.is_some();
    for dialect in Dialect::ALL {
        let escapes = dialect.paths.escapes;
        check_paths(record, escapes);
        if let Some(plain_urls) = plain_urls_at(&[record], escapes) {
            check_plain_url(record, plain_urls[0], escapes);
        }
        let Some(head) = head else { continue };
        let is_plain = is_plain(&record[head.bytes..], escapes, Vectors::all()[0]);
        if has_tab_or_line_end(record) {
            assert!(!is_plain, "{escapes:?} {record:?}");
            all = false;
            continue;
        }
        let url = split(record, dialect.paths.path_start).unwrap();
        assert_eq!(head.scheme(record), url.scheme);
        assert_eq!(head.key(record), host_key(&url, &mut Vec::new()).unwrap());
        let mut scratch = Vec::new();
        let path = compared_path(url.path, escapes, &mut scratch);
        let is_equal = path.as_bytes() == path_of(record, head);
        assert!(!is_plain || is_equal, "{escapes:?} {record:?}");
        all &= is_plain;
    }
    all
}

/// Every kind of vectors accepts only paths that stay as they are.
#[track_caller]
fn check_paths(path: &[u8], escapes: Escapes) {
    let mut scratch = Vec::new();
    let stays = normalise(path, escapes, &mut scratch) == path;
    let is_whole = !path.contains(&b'#') && !has_tab_or_line_end(path);
    for vectors in Vectors::all() {
        assert!(!is_plain(path, escapes, vectors) || stays && is_whole, "{vectors:?} {path:?}");
    }
}

/// Returns the path as written, `/` if there is none.
fn path_of(record: &[u8], head: UrlHead) -> &[u8] {
    match &record[head.bytes..] {
        b"" => b"/",
        path => path,
    }
}

/// A plain_url agrees with the scalar functions, or sees nothing.
#[track_caller]
fn check_plain_url(record: &[u8], plain_url: Option<PlainUrl>, escapes: Escapes) {
    let Some(head) = plain_head(record) else {
        return assert_eq!(plain_url, None, "{record:?}");
    };
    let Some(plain_url) = plain_url else {
        // Hosts that may be addresses, and long heads, are left to `plain_head`.
        let last_part = head.key(record).rsplit(|&byte| byte == b'.').next();
        let first = last_part.and_then(|last_part| last_part.first());
        let may_be_address = first.is_none_or(u8::is_ascii_digit);
        let is_no_url = has_tab_or_line_end(record);
        return assert!(may_be_address || head.bytes >= VECTOR_BYTES || is_no_url, "{record:?}");
    };
    assert_eq!(plain_url.head, head, "{record:?}");
    let is_plain = is_plain(&record[head.bytes..], escapes, Vectors::all()[0]);
    // Vectors of 16 bytes reject all escapes, which a plain_url may accept.
    let may_differ = record.contains(&b'%');
    assert!(plain_url.has_plain_path == is_plain || may_differ && !is_plain, "{record:?}");
    let mut scratch = Vec::new();
    let path = compared_path(&record[head.bytes..], escapes, &mut scratch);
    let is_equal = path.as_bytes() == path_of(record, head) && !record.contains(&b'#');
    assert!(!plain_url.has_plain_path || is_equal, "{record:?}");
}

#[test]
fn usual_urls_are_plain() {
    for record in [
        "https://www.example.com/",
        "https://www.example.com",
        "http://a-b_c.example0.museum/path/to?q=1&r=[2]",
        "https://a-name-that-is-longer-than-a-chunk.of.bytes.example/a/longer/path/behind-it",
    ] {
        assert!(check(record.as_bytes()), "{record}");
    }
    for record in [
        "https://EXAMPLE.com/pages",
        "https://example.com:80/pages",
        "https://joe@example.com/pages",
        "https://127.0.0.1/pages/pages",
        "https://example.com/pages\t",
        " https://example.com/pages",
        "https://example.com?pages=pages",
        "https:///pages/pages/pages",
        "ftp://example.com/pages",
        "HTTPS://example.com/pages",
    ] {
        assert_eq!(plain_head(record.as_bytes()), None, "{record}");
    }
}

#[test]
fn every_byte_in_every_place() {
    let long = format!("https://www.example.com/{}", "a-path/".repeat(20));
    let urls = ["http://a.example/", "https://example.com/a/page/of/some?bytes", "https://b.0c/d"];
    for url in urls.into_iter().chain([long.as_str()]) {
        for place in 0..=url.len() {
            for byte in 0..=255 {
                let mut record = url.as_bytes().to_vec();
                record.insert(place, byte);
                check(&record);
            }
        }
    }
}

#[test]
fn every_escape() {
    let mut kept = 0;
    for bytes in 0..=u16::MAX {
        let [high, low] = bytes.to_be_bytes();
        let record = [b"https://a.example/dir%", &[high, low][..], b"/page"].concat();
        check(&record);
        let plain_urls = plain_urls_at(&[&record], Escapes::Uri);
        kept += usize::from(plain_urls.is_none_or(|it| it[0].is_some_and(|it| it.has_plain_path)));
    }
    for place in 0..200 {
        let record = format!("https://a.example/{}%D0%BF/page", "a".repeat(place));
        check(record.as_bytes());
        if let Some(plain_urls) = plain_urls_at(&[record.as_bytes()], Escapes::Uri) {
            assert!(plain_urls[0].is_some_and(|plain_url| plain_url.has_plain_path), "{record}");
        }
    }
    // Of 256 escapes in upper case, 66 are decoded, and those from 40 to 7F are not recognised.
    assert!(kept == 256 - 12 - 64 || kept == 1 << 16, "{kept}");
}

#[test]
fn delimiters_in_every_two_places() {
    let url = b"https://a.example/b?c#d";
    for first in 0..=url.len() {
        for second in first..=url.len() {
            for delimiters in [b";@", b"\\@", b";;", b"@;", b"@\\", b";/", b"\\/", b";?", b"#;"] {
                let mut record = url.to_vec();
                record.insert(second, delimiters[1]);
                record.insert(first, delimiters[0]);
                check(&record);
            }
        }
    }
}

#[test]
fn hosts_and_paths_of_every_length() {
    for bytes in 0..80 {
        for host in ["a", "0", "a.0", ".", "b.example"] {
            check(format!("https://{}{host}/", "a".repeat(bytes)).as_bytes());
            check(format!("http://{}{host}?/", "a.".repeat(bytes)).as_bytes());
        }
    }
    for bytes in 1..300 {
        for (place, byte) in [(0, "/"), (bytes / 2, "%"), (bytes - 1, "#")] {
            let mut path = "a".repeat(bytes);
            path.replace_range(place..=place, byte);
            check(format!("https://a-name.of-some.bytes.example/{path}").as_bytes());
        }
    }
}

#[test]
fn heads_are_shared_whole() {
    let host = "a-name.of-some.bytes.and-some-more.example";
    let one = format!("https://{host}/one");
    let head = plain_head(one.as_bytes()).unwrap();
    for (other, is_shared) in [
        (format!("https://{host}/other"), true),
        (format!("https://{host}/o%6ee"), true),
        (format!("https://{host}/one/{host}/one/{host}/%6e"), true),
        (format!("http://{host}/one"), false),
        (format!("httpt://{host}/one"), false),
        (format!("https://{host}s/one"), false),
        (format!("https://b{host}/one"), false),
        (format!("https://{host}"), false),
        (format!("https://{host}/one "), false),
        (format!("https://{host}?one/"), false),
    ] {
        assert_eq!(head.is_shared(one.as_bytes(), other.as_bytes()), is_shared, "{other}");
        let records = [one.as_bytes(), other.as_bytes(), one.as_bytes()];
        let Some(found) = plain_urls_at(&records, Escapes::Google) else { continue };
        assert_eq!(found[1].is_some_and(|found| found.is_shared), is_shared, "{other}");
        assert_eq!(found[2].is_some_and(|found| found.is_shared), is_shared, "{other}");
        for number in 0..3 {
            let alone = plain_urls_at(&records[number..=number], Escapes::Google).unwrap()[0];
            let unshared = found[number].map(|found| PlainUrl { is_shared: false, ..found });
            assert_eq!(unshared, alone, "{other}");
        }
    }
}

/// A record behind another one shares its head only if the parser finds the same scheme and host:
/// whatever byte follows the head, at every offset of a vector, with and without a path before it.
#[test]
fn a_head_is_shared_with_the_same_head_alone() {
    let bytes = [0, 1, b'\t', b'\n', 0x1f, b' ', b'#', b'.', b'/', b':', b'?', b'a', 0x7f, 0x80];
    for length in "https://a.b".len()..=VECTOR_BYTES + 2 {
        let host = "a".repeat(length - "https://.b".len());
        let head = format!("https://{host}.b");
        for before in [head.clone(), format!("{head}/"), format!("{head}/path")] {
            for rest in ["", "x", "/x", "x/\0", "\0\0"] {
                let seconds = bytes.iter().map(|byte| {
                    [head.as_bytes(), std::slice::from_ref(byte), rest.as_bytes()].concat()
                });
                for second in seconds.chain([head.clone().into_bytes()]) {
                    check_pair(before.as_bytes(), &second);
                }
            }
        }
    }
}

/// Checks what is seen at a record behind another one.
#[track_caller]
fn check_pair(before: &[u8], record: &[u8]) {
    let one = plain_head(before).expect("a plain URL");
    let shown = record.escape_ascii();
    let is_url = |record| plain_head(record).filter(|_| !has_tab_or_line_end(record));
    let is_same =
        |head: UrlHead| head.bytes == one.bytes && record.starts_with(&before[..one.bytes]);
    if one.is_shared(before, record) {
        assert_eq!(plain_head(record), Some(one), "{shown}");
    }
    let Some(both) = plain_urls_at(&[before, record], Escapes::Uri) else { return };
    check_plain_url(record, both[1], Escapes::Uri);
    if let Some(plain_url) = both[1] {
        assert_eq!(is_url(record), Some(plain_url.head), "{shown}");
        assert!(!plain_url.is_shared || is_same(plain_url.head), "{shown}");
    }
}
