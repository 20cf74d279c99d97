//! The shortcut for plain URLs, compared with the parser: every byte in every place, and every length.

use std::cell::RefCell;
use std::collections::HashMap;

use portcullis_dialect::Dialect;
use portcullis_engine::vectors::Vectors;

use super::*;
use crate::url::{compared_path, host_key, normalise, split, unclear_path};

/// Returns what is seen at some records, by all kinds of vectors alike.
#[track_caller]
fn plain_urls_at(records: &[&[u8]], escapes: Escapes) -> Vec<Option<PlainUrl>> {
    let mut kinds = Vectors::all().into_iter().map(|vectors| {
        let see = |remembers| {
            let marked = marked(records);
            let mut found = Found { records, urls: Vec::new(), remembers, next: None };
            plain_urls(&marked, escapes, vectors, &mut found);
            assert_eq!(found.urls.len(), records.len());
            found.urls
        };
        let found = see(false);
        // What was seen at other records, of other tests too, changes nothing.
        assert_eq!(see(true), found, "{:?}", Shown(records));
        assert_eq!(see(true), found, "{:?}", Shown(records));
        found
    });
    let portable = kinds.next().expect("every processor has portable vectors");
    kinds.for_each(|found| assert_eq!(found, portable, "{:?}", Shown(records)));
    portable
}

/// Returns the records, half of them with what is known of their bytes.
fn marked<'r>(records: &[&'r [u8]]) -> Vec<Marked<'r>> {
    let is_usual =
        |(place, text): (usize, &&[u8])| (place + text.len()).is_multiple_of(2) && are_usual(text);
    records.iter().enumerate().map(|it| Marked { text: it.1, is_usual: is_usual(it) }).collect()
}

/// A record, and what is known of its bytes.
struct Marked<'r> {
    text: &'r [u8],
    is_usual: bool,
}

impl UrlText for Marked<'_> {
    fn url(&self) -> &[u8] {
        self.text
    }

    fn is_usual(&self) -> bool {
        self.is_usual
    }
}

/// Returns whether no byte of a text is unusual.
fn are_usual(text: &[u8]) -> bool {
    text.iter().all(|byte| is_usual(*byte)) && !text.windows(2).any(|pair| pair == b"/.")
}

fn is_usual(byte: u8) -> bool {
    let stays =
        |dialect: &&Dialect| matches!(treatment(byte, dialect.paths.escapes), Treatment::Keep);
    byte > b' ' && !b"#\\'%".contains(&byte) && Dialect::ALL.iter().all(stays)
}

#[test]
fn unusual_bytes_are_marked() {
    struct Marks<'t>(&'t [u8; 1 + WINDOW_BYTES]);
    impl Work for Marks<'_> {
        type Output = Option<u64>;
        fn with(self, kind: impl Kind) -> Option<u64> {
            let [before, window] = [self.0.first_chunk()?, self.0.last_chunk()?];
            Some(UnusualBytes::new(kind)?.marks(before, window))
        }
    }
    for place in 0..WINDOW_BYTES {
        for [before, byte] in (0..=u16::MAX).map(u16::to_be_bytes) {
            let mut text = [b'a'; 1 + WINDOW_BYTES];
            (text[place], text[1 + place]) = (before, byte);
            let expected = (0..WINDOW_BYTES)
                .filter(|at| !is_usual(text[1 + at]) || text[*at..].starts_with(b"/."))
                .fold(0, |all, at| all | 1 << at);
            for marks in Vectors::all().into_iter().filter_map(|vectors| vectors.run(Marks(&text)))
            {
                assert_eq!(marks, expected, "{}", text.escape_ascii());
            }
        }
    }
}

thread_local! {
    /// The heads of the records of a thread, by their beginnings.
    static HEADS: RefCell<HashMap<UrlBeginning, UrlHead>> = RefCell::default();
}

struct Found<'r> {
    records: &'r [&'r [u8]],
    urls: Vec<Option<PlainUrl>>,
    remembers: bool,
    /// The number and the head of the record that comes next, if it shares none.
    next: Option<(usize, UrlHead)>,
}

impl<'r> EachUrl<'r> for Found<'r> {
    fn recall(&mut self, beginning: &UrlBeginning) -> Option<UrlHead> {
        let known = HEADS.with_borrow(|heads| heads.get(beginning).copied());
        let head = known.filter(|_| self.remembers)?;
        self.head(self.records[self.urls.len()], head, Some(beginning));
        Some(head)
    }

    fn head(&mut self, record: &'r [u8], head: UrlHead, beginning: Option<&UrlBeginning>) {
        if let Some(beginning) = beginning {
            assert!(record.starts_with(&beginning[..head.bytes()]));
            HEADS.with_borrow_mut(|heads| heads.insert(*beginning, head));
        }
        assert_eq!(self.next.replace((self.urls.len(), head)), None);
    }

    fn url(&mut self, record: &'r [u8], plain_url: Option<PlainUrl>) {
        let number = self.urls.len();
        assert_eq!(record, self.records[number]);
        let next = self.next.take();
        match plain_url {
            Some(it) => assert_eq!(next, (!it.is_shared).then_some((number, it.head))),
            None => assert!(next.is_none_or(|(next, _)| next == number)),
        }
        self.urls.push(plain_url);
    }
}

/// Records in messages.
struct Shown<'r>(&'r [&'r [u8]]);

impl std::fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|record| record.escape_ascii().to_string()))
            .finish()
    }
}

/// Compares what is seen at records with [`plain_head`], [`is_plain`] and the parser. Returns whether
/// the last URL is plain in every dialect.
#[track_caller]
fn check(records: &[&[u8]]) -> bool {
    let mut all = true;
    for dialect in Dialect::ALL {
        let escapes = dialect.paths.escapes;
        let found = plain_urls_at(records, escapes);
        let mut last: Option<(UrlHead, &[u8])> = None;
        for (&record, &plain_url) in records.iter().zip(&found) {
            check_paths(record, escapes);
            let head =
                plain_head(record).filter(|it| unclear_path(&record[it.bytes()..]).is_none());
            assert_eq!(plain_url.map(|it| it.head), head, "{:?}", Shown(records));
            let Some(PlainUrl { head, is_shared, has_plain_path }) = plain_url else {
                (all, last) = (false, None);
                continue;
            };
            let may_share = |&(head, other): &(UrlHead, &[u8])| {
                head.bytes() < other.len() && head.is_shared(other, record)
            };
            let shared = last.filter(may_share);
            assert_eq!(is_shared, shared.is_some(), "{:?}", Shown(records));
            assert!(shared.is_none_or(|(other, _)| other == head), "{:?}", Shown(records));
            last = Some((head, record));
            check_split(record, dialect, head, has_plain_path);
            all &= has_plain_path;
        }
    }
    all
}

/// The parser agrees with what was seen at a record.
#[track_caller]
fn check_split(record: &[u8], dialect: &Dialect, head: UrlHead, has_plain_path: bool) {
    let escapes = dialect.paths.escapes;
    let shown = record.escape_ascii();
    let url = split(record, dialect.paths.path_start).unwrap();
    assert_eq!(head.scheme(record), url.scheme);
    assert_eq!(head.key(record), host_key(&url, &mut Vec::new()).unwrap());
    let mut scratch = Vec::new();
    let path = compared_path(url.path, escapes, &mut scratch);
    let stays = path == path_of(record, head) && !record.contains(&b'#');
    // Some escapes that stay are not recognised, and controls and backslashes are left to the parser.
    let has_dots = record.windows(2).any(|pair| pair == b"/.");
    let may_stay = has_dots || record.iter().any(|byte| b"%\\'".contains(byte) || *byte <= b' ');
    assert!(has_plain_path == stays || stays && may_stay, "{escapes:?} {shown}");
}

/// Every kind of vectors accepts the same paths, which stay as they are.
#[track_caller]
fn check_paths(path: &[u8], escapes: Escapes) {
    let mut scratch = Vec::new();
    let stays = normalise(path, escapes, &mut scratch) == path;
    let is_whole = !path.contains(&b'#') && unclear_path(path).is_none();
    let found = Vectors::all().into_iter().map(|vectors| is_plain(path, escapes, vectors));
    let found: Vec<bool> = found.collect();
    assert!(found.iter().all(|it| *it == found[0]), "{escapes:?} {}", path.escape_ascii());
    assert!(!found[0] || stays && is_whole, "{escapes:?} {}", path.escape_ascii());
}

/// Returns the path as written, `/` if there is none.
fn path_of(record: &[u8], head: UrlHead) -> &[u8] {
    match &record[head.bytes()..] {
        b"" => b"/",
        path => path,
    }
}

#[test]
fn usual_urls_are_plain() {
    for record in [
        "https://www.example.com/",
        "https://www.example.com",
        "http://a-b_c.example0.museum/path/to?q=1&r=[2]",
        "https://a-name-that-is-longer-than-a-chunk.of.bytes.example/a/longer/path/behind-it",
        "https://a.example:443/pages/pages/pages",
        "http://a-name-that-is-longer-than-a-chunk.of.bytes.example:80",
    ] {
        assert!(check(&[record.as_bytes()]), "{record}");
    }
    for record in [
        "https://EXAMPLE.com/pages",
        "https://example.com:80/pages",
        "http://example.com:443/pages",
        "https://example.com:4430/pages",
        "https://example.com:0443/pages",
        "https://example.com:443?pages",
        "https://:443/pages",
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
fn plain_urls_need_no_second_look() {
    for length in 1..200 {
        let url = format!("https://a.example/{}", "b".repeat(length));
        for (odd, place) in ["/.", "'", " ", "\\", "/%2E"].into_iter().zip(0..) {
            for at in "https://a.example/".len()..url.len() {
                let (start, end) = url.split_at(at);
                let record = [start, odd, end].concat();
                let found = plain_urls_at(&[record.as_bytes()], Escapes::Google);
                let is_plain = found[0].is_some_and(|it| it.has_plain_path);
                assert!(!is_plain, "{record} {place}");
            }
        }
    }
}

#[test]
fn every_byte_in_every_place() {
    let long = format!("https://www.example.com/{}", "a-path/".repeat(20));
    let urls = [
        "http://a.example/",
        "https://example.com/a/page/of/some?bytes",
        "https://b.0c/d",
        "https://a.example:443/b",
        "http://a.example:80/b",
    ];
    for url in urls.into_iter().chain([long.as_str()]) {
        for place in 0..=url.len() {
            for byte in 0..=255 {
                let mut record = url.as_bytes().to_vec();
                record.insert(place, byte);
                check(&[&record]);
            }
        }
    }
}

#[test]
fn every_escape() {
    let mut kept = 0;
    for bytes in 0..=u16::MAX {
        let [high, low] = bytes.to_be_bytes();
        let record = [b"https://a.example/a/directory%", &[high, low][..], b"/page"].concat();
        check(&[&record]);
        let plain_urls = plain_urls_at(&[&record], Escapes::Uri);
        kept += usize::from(plain_urls[0].is_some_and(|it| it.has_plain_path));
    }
    // Of 256 escapes in upper case, 66 are decoded, and those from 40 to 7F are not recognised.
    assert_eq!(kept, 256 - 12 - 64);
    for place in 0..200 {
        let record = format!("https://a.example/{}%D0%BF/page", "a".repeat(place));
        check(&[record.as_bytes()]);
        let plain_urls = plain_urls_at(&[record.as_bytes()], Escapes::Uri);
        let is_long = record.len() >= WIDTH + 2;
        assert_eq!(plain_urls[0].is_some_and(|it| it.has_plain_path), is_long, "{record}");
    }
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
                check(&[&record]);
            }
        }
    }
}

#[test]
fn hosts_and_paths_of_every_length() {
    for bytes in 0..80 {
        for host in ["a", "0", "a.0", ".", "b.example"] {
            check(&[format!("https://{}{host}/", "a".repeat(bytes)).as_bytes()]);
            check(&[format!("http://{}{host}?/", "a.".repeat(bytes)).as_bytes()]);
        }
    }
    for bytes in 1..300 {
        for (place, byte) in [(0, "/"), (bytes / 2, "%"), (bytes - 1, "#")] {
            let mut path = "a".repeat(bytes);
            path.replace_range(place..=place, byte);
            check(&[format!("https://a-name.of-some.bytes.example/{path}").as_bytes()]);
        }
    }
}

#[test]
fn heads_are_shared_whole() {
    let long = "a-name.of-some.bytes.and-some-more.example";
    for host in ["a.example", "a.example:443", long] {
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
            check(&records);
            let found = plain_urls_at(&records, Escapes::Google);
            assert_eq!(found[1].is_some_and(|found| found.is_shared), is_shared, "{other}");
            assert_eq!(found[2].is_some_and(|found| found.is_shared), is_shared, "{other}");
        }
    }
}

/// A record after another one shares its head only if the parser finds the same scheme and host:
/// whatever byte follows the head, at every offset of a vector, with and without a path before it.
#[test]
fn a_head_is_shared_with_the_same_head_alone() {
    let bytes = [0, 1, b'\t', b'\n', 0x1f, b' ', b'#', b'.', b'/', b':', b'?', b'a', 0x7f, 0x80];
    for length in "https://a.b".len()..=2 * WIDTH + 2 {
        let host = "a".repeat(length - "https://.b".len());
        let head = format!("https://{host}.b");
        for before in [head.clone(), format!("{head}/"), format!("{head}/path")] {
            for rest in ["", "x", "/x", "x/\0", "\0\0"] {
                let seconds = bytes.iter().map(|byte| {
                    [head.as_bytes(), std::slice::from_ref(byte), rest.as_bytes()].concat()
                });
                for second in seconds.chain([head.clone().into_bytes()]) {
                    check(&[before.as_bytes(), &second]);
                }
            }
        }
    }
}

/// Every kind of vectors sees the same in a record that has an odd byte at any place: in the scheme,
/// the host or the path, at the end, and after a record with or without the same head.
#[test]
fn every_kind_of_vectors_sees_the_same() {
    let odd: [&[u8]; 12] =
        [b"\0", b"\t", b"\n", b"\r", b"\x1f", b"\x7f", b"\xff", b" ", b"#", b"%", b"%2F", b"%c3"];
    for length in (0..70).chain([95, 96, 97, 127, 128, 129]) {
        for host in ["https://a.example", "https://a.longer-name.of-more-bytes.example"] {
            let url = format!("{host}/{}", "a".repeat(length)).into_bytes();
            for place in (0..=url.len()).filter(|place| length < 40 || url.len() - place < 36) {
                for odd in odd {
                    let mut record = url.clone();
                    record.splice(place..place, odd.iter().copied());
                    check(&[&url, &record, &url, host.as_bytes(), &record]);
                }
            }
        }
    }
}
