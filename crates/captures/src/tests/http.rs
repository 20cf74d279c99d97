//! Tests of responses as found in archives: unusual heads; bodies that are whole, truncated,
//! encoded, or encoded in name only.

use std::borrow::Cow;
use std::io::Write;

use flate2::write::{DeflateEncoder, ZlibEncoder};

use portcullis_dialect::Fetched;

use super::notes;
use crate::ReadConfig;
use crate::body::Settled;
use crate::decoding::Budget;
use crate::http::{HeadProblem, Message, unchunk};
use crate::limits::{DECODED_BYTES_MIN, GZIP_MEMBER_BYTES, HEADER_BLOCK_BYTES_MAX};
use portcullis_dialect::limits::BODY_BYTES_MAX;
use portcullis_files::compression::Coding;
use portcullis_robots::access::CaptureNote;
use portcullis_testkit::files::{gzip, zstd};

const TEXT: &[u8] = b"User-agent: *\nDisallow: /private\nDisallow: /tmp\n";

/// [`TEXT`] in Brotli, compressed by the reference program.
const TEXT_BROTLI: &[u8] = include_bytes!("text.br");

const OK: Fetched = Fetched::Status(200);
const BROKEN: Fetched = Fetched::BrokenBody;

fn zlib(text: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn deflate(text: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Returns [`TEXT`] in each coding. There are two kinds of deflate.
fn coded() -> [(Coding, &'static str, Vec<u8>); 5] {
    [
        (Coding::Gzip, "gzip", gzip(TEXT)),
        (Coding::Deflate, "deflate", zlib(TEXT)),
        (Coding::Deflate, "deflate", deflate(TEXT)),
        (Coding::Brotli, "br", TEXT_BROTLI.to_vec()),
        (Coding::Zstd, "zstd", zstd(TEXT)),
    ]
}

fn in_chunks(text: &[u8]) -> Vec<u8> {
    let mut chunks = Vec::new();
    for chunk in text.chunks(10) {
        write!(chunks, "{:x}\r\n", chunk.len()).unwrap();
        chunks.extend([chunk, b"\r\n"].concat());
    }
    chunks.extend(b"0\r\n\r\n");
    chunks
}

fn read_with(
    fields: &str,
    body: &[u8],
    is_truncated: bool,
    robots_bytes_max: Option<usize>,
) -> Settled<'static> {
    let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let bytes = [head.as_bytes(), body].concat();
    let message = Message::split(&bytes).unwrap();
    let config = ReadConfig { robots_bytes_max };
    let Settled { answer, body, notes } =
        message.settle(is_truncated, &config, &mut Budget::new(&config));
    Settled { answer, body: Cow::Owned(body.into_owned()), notes }
}

#[track_caller]
fn check(
    fields: &str,
    body: &[u8],
    answer: Fetched,
    expected: &[u8],
    expected_notes: &[CaptureNote],
) {
    let read = read_with(fields, body, false, None);
    assert_eq!(read.answer, answer, "{fields}");
    assert_eq!(read.body, expected, "{fields}");
    assert_eq!(read.notes, notes(expected_notes), "{fields}");
}

#[test]
fn bodies_without_coding() {
    use CaptureNote::{HtmlContentType, ShortBody};
    check("", TEXT, OK, TEXT, &[]);
    check("", b"", OK, b"", &[]);
    check("Content-Length: 0\r\n", b"", OK, b"", &[]);
    check(&format!("content-length: {}\r\n", TEXT.len()), TEXT, OK, TEXT, &[]);
    check("Content-Length: 3\r\n", TEXT, OK, TEXT, &[]);
    check("Content-Length: many\r\n", TEXT, OK, TEXT, &[]);
    check("Content-Type: Text/HTML; charset=x\r\n", TEXT, OK, TEXT, &[HtmlContentType]);
    check("Content-Length: 1000\r\n", TEXT, BROKEN, b"", &[ShortBody]);
    check("Content-Length: 1\r\nContent-Length: 1000\r\n", TEXT, BROKEN, b"", &[ShortBody]);
    check("Content-Length: 1, 1000\r\n", TEXT, BROKEN, b"", &[ShortBody]);
    check("Content-Length: 1\r\n", b"", BROKEN, b"", &[ShortBody]);
    check("Transfer-Encoding: identity\r\nContent-Length: 9\r\n", b"", BROKEN, b"", &[ShortBody]);
}

/// A part of a file is no file, unless the part is all of it.
#[test]
fn parts_of_files() {
    let rows = [
        ("Content-Range: bytes 0-46/47\r\n", Fetched::Status(206)),
        ("content-range:  bytes 0-46/47\r\n", Fetched::Status(206)),
        ("Content-Range: bytes 0-46/47\r\nContent-Range: bytes 0-46/47\r\n", Fetched::Status(206)),
        ("Content-Range: bytes 0-46/47\r\nContent-Range: bytes 0-9/47\r\n", BROKEN),
        ("Content-Range: bytes 0-99/100\r\n", BROKEN),
        ("Content-Range: bytes 0-46/50\r\n", BROKEN),
        ("Content-Range: bytes 1-46/47\r\n", BROKEN),
        ("Content-Range: bytes 0-46/*\r\n", BROKEN),
        ("Content-Range: bytes 0-18446744073709551615/0\r\n", BROKEN),
        ("Content-Range: lines 0-46/47\r\n", BROKEN),
        ("Content-Type: multipart/byteranges; boundary=a\r\n", BROKEN),
        ("", BROKEN),
    ];
    for (header, expected) in rows {
        let bytes = [b"HTTP/1.1 206 Part\r\n", header.as_bytes(), b"\r\n", TEXT].concat();
        let config = ReadConfig { robots_bytes_max: None };
        let message = Message::split(&bytes).unwrap();
        let settled = message.settle(false, &config, &mut Budget::new(&config));
        assert_eq!(settled.answer, expected, "{header}");
        let is_broken = expected == BROKEN;
        assert_eq!(settled.notes.contains(CaptureNote::Truncated), is_broken, "{header}");
    }
}

#[test]
fn chunks_are_put_together() {
    use CaptureNote::BadChunks;
    let chunked = "Transfer-Encoding: Chunked\r\n";
    check(chunked, &in_chunks(TEXT), OK, TEXT, &[]);
    check(chunked, &in_chunks(b""), OK, b"", &[]);
    check(chunked, TEXT, OK, TEXT, &[]);
    check(chunked, &in_chunks(TEXT)[..30], BROKEN, b"", &[BadChunks]);
    check(chunked, b"", BROKEN, b"", &[BadChunks]);
    // A CR is the last byte of a chunk whose size is too large.
    let large = b"16\r\nUser-agent: *\nDisallo\r\n5\r\nw: /\n\r\n0\r\n\r\n";
    check(chunked, large, BROKEN, b"", &[BadChunks]);
    let bare = b"15\nUser-agent: *\nDisallo\n5\nw: /\n\n0\n\n";
    check(chunked, bare, OK, b"User-agent: *\nDisallow: /\n", &[]);
    // A length besides chunks is ignored.
    check(&format!("{chunked}Content-Length: 1000\r\n"), &in_chunks(TEXT), OK, TEXT, &[]);
    // Trailer fields follow the last chunk, and nothing else does.
    let with_trailer = [&in_chunks(TEXT)[..in_chunks(TEXT).len() - 2], b"A: b\r\n\r\n"].concat();
    check(chunked, &with_trailer, OK, TEXT, &[]);
    check(chunked, &[&in_chunks(TEXT)[..], TEXT].concat(), BROKEN, b"", &[BadChunks]);
    let twice = "Transfer-Encoding: chunked, chunked\r\n";
    check(twice, &in_chunks(&in_chunks(TEXT)), BROKEN, b"", &[CaptureNote::UnknownCoding]);
    let endless = "Content-Length: 99999999999999999999\r\n";
    check(endless, TEXT, BROKEN, b"", &[CaptureNote::ShortBody]);
    for fields in ["Content-Encoding: gzip\r\nTransfer-Encoding: ", "Transfer-Encoding: gzip, "] {
        check(&format!("{fields}chunked\r\n"), &in_chunks(&gzip(TEXT)), OK, TEXT, &[]);
    }
}

#[test]
fn every_coding_is_undone() {
    let gzips = [
        ("X-GZip", gzip(TEXT)),
        ("gzip", [gzip(&TEXT[..9]), gzip(&TEXT[9..])].concat()),
        ("gzip", [gzip(TEXT), b"\0\0\r\n".to_vec()].concat()),
    ];
    for (name, stored) in coded().map(|(_, name, stored)| (name, stored)).into_iter().chain(gzips) {
        let coding = format!("Content-Encoding: {name}\r\n");
        let length = format!("{coding}Content-Length: {}\r\n", stored.len());
        check(&length, &stored, OK, TEXT, &[]);
        // The archive decoded the body and kept the header.
        check(&length, TEXT, OK, TEXT, &[]);
        check(&format!("{coding}Content-Length: 9999\r\n"), TEXT, OK, TEXT, &[]);
        check(&format!("{coding}Content-Length: 0\r\n"), b"", OK, b"", &[]);
        check(&format!("{coding}Transfer-Encoding: chunked\r\n"), b"0\r\n\r\n", OK, b"", &[]);
    }
}

#[test]
fn codings_in_a_list_are_undone_from_its_end() {
    check("Content-Encoding: br, gzip\r\n", &gzip(TEXT_BROTLI), OK, TEXT, &[]);
    let two = "Content-Encoding: deflate\r\nContent-Encoding: , identity,zstd\r\n";
    check(two, &zstd(&zlib(TEXT)), OK, TEXT, &[]);
    let both = "Content-Encoding: gzip\r\nTransfer-Encoding: zstd\r\n";
    check(both, &zstd(&gzip(TEXT)), OK, TEXT, &[]);
    // The coding is named twice and applied once.
    check("Content-Encoding: gzip, gzip\r\n", &gzip(TEXT), OK, TEXT, &[]);
    let many = "Content-Encoding: gzip, gzip, gzip\r\n";
    check(many, TEXT, BROKEN, b"", &[CaptureNote::UnknownCoding]);
}

#[test]
fn what_is_in_no_known_coding_is_broken() {
    for name in ["compress", "aws-chunked", "gzip, dcb", "\"gzip\"", "utf-8"] {
        let fields = format!("Content-Encoding: {name}\r\n");
        check(&fields, &gzip(TEXT), BROKEN, b"", &[CaptureNote::UnknownCoding]);
        check(&fields, TEXT, BROKEN, b"", &[CaptureNote::UnknownCoding]);
    }
}

#[test]
fn data_that_is_cut_anywhere_is_broken() {
    for (_, name, stored) in coded() {
        for bytes in 0..stored.len() {
            let fields = format!("Content-Encoding: {name}\r\n");
            let read = read_with(&fields, &stored[..bytes], false, None);
            assert_eq!(read.answer, BROKEN, "{name}: {bytes} of {}", stored.len());
            assert_eq!(read.notes, notes(&[CaptureNote::BadCompression]), "{name}: {bytes}");
            assert!(read.body.is_empty());
        }
    }
}

#[test]
fn damage_is_no_file() {
    let damaged = |mut stored: Vec<u8>| {
        let middle = stored.len() / 2;
        stored[middle] ^= 0xff;
        stored
    };
    for (name, stored) in [
        ("gzip", damaged(gzip(TEXT))),
        ("deflate", damaged(zlib(TEXT))),
        ("gzip", zlib(TEXT)),
        ("gzip", [gzip(TEXT), b"<!-- served -->".to_vec()].concat()),
        ("gzip", gzip(TEXT)[1..].to_vec()),
        ("zstd", gzip(TEXT)),
        ("br", vec![0xff; 50]),
    ] {
        let fields = format!("Content-Encoding: {name}\r\n");
        check(&fields, &stored, BROKEN, b"", &[CaptureNote::BadCompression]);
    }
}

/// Damaged or missing bytes past the limit have no effect.
#[test]
fn what_counts_is_enough() {
    let long = TEXT.repeat(100);
    let cut_gzip = gzip(&(0..100_000_u32).flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>());
    let rows: [(&str, Vec<u8>, &[CaptureNote]); 4] = [
        ("", long.clone(), &[]),
        ("Content-Length: 1000000\r\n", long.clone(), &[CaptureNote::ShortBody]),
        ("Transfer-Encoding: chunked\r\n", in_chunks(&long)[..3000].to_vec(), {
            &[CaptureNote::BadChunks]
        }),
        ("Content-Encoding: gzip\r\n", cut_gzip[..cut_gzip.len() / 2].to_vec(), &[]),
    ];
    for (fields, body, with) in rows {
        let read = read_with(fields, &body, false, Some(100));
        assert_eq!((read.answer, read.body.len()), (OK, 102), "{fields}");
        assert_eq!(read.notes, notes(with).with(CaptureNote::BodyCut), "{fields}");
        let read = read_with(fields, &body, true, Some(100));
        assert_eq!((read.answer, read.body.len()), (OK, 102), "{fields}");
        assert!(read.notes.contains(CaptureNote::Truncated));
    }
    let read = read_with("", TEXT, true, Some(100));
    assert_eq!((read.answer, read.body.len()), (BROKEN, 0));
    assert_eq!(read.notes, notes(&[CaptureNote::Truncated]));
}

#[test]
fn a_bomb_is_decoded_as_far_as_counts() {
    let zeros = vec![b' '; BODY_BYTES_MAX + 1000];
    let brotli = include_bytes!("bomb.br").to_vec();
    let bombs = [
        ("gzip", gzip(&zeros)),
        ("deflate", deflate(&zeros)),
        ("zstd", zstd(&zeros)),
        ("gzip, gzip", gzip(&gzip(&zeros))),
        ("br", brotli),
    ];
    for (name, bomb) in bombs {
        let fields = format!("Content-Encoding: {name}\r\n");
        let read = read_with(&fields, &bomb, false, Some(5000));
        assert_eq!((read.answer, read.body.len()), (OK, 5002), "{name}");
        assert_eq!(read.notes, notes(&[CaptureNote::BodyCut]), "{name}");
        let read = read_with(&fields, &bomb, false, None);
        assert_eq!((read.answer, read.body.len()), (BROKEN, 0), "{name}");
        assert_eq!(read.notes, notes(&[CaptureNote::BodyCut]), "{name}");
    }
    // Decoding the first of two codings exceeds the limit before the second yields any byte.
    let hidden = zstd(&[gzip(b""), vec![0; BODY_BYTES_MAX + 1000], gzip(TEXT)].concat());
    let read = read_with("Content-Encoding: gzip, zstd\r\n", &hidden, false, Some(5000));
    assert_eq!(read.answer, BROKEN);
    assert!(read.notes.contains(CaptureNote::BodyCut));
}

#[test]
fn decoding_stops_where_it_is_told() {
    for (coding, _, stored) in coded() {
        for bytes_max in 1..TEXT.len() {
            let decoded = coding.undo(&stored, bytes_max, usize::MAX);
            assert_eq!(
                (&*decoded.bytes, decoded.is_whole),
                (&TEXT[..bytes_max], false),
                "{coding:?}"
            );
        }
        let decoded = coding.undo(&stored, TEXT.len() + 1, 1);
        assert_eq!((&*decoded.bytes, decoded.is_whole), (TEXT, true), "{coding:?}");
    }
}

/// Members that give nothing are counted, between two codings too.
#[test]
fn members_of_gzip_are_bounded() {
    let count = DECODED_BYTES_MIN / GZIP_MEMBER_BYTES;
    for (empty, is_read) in [(count / 2, true), (count + 1, false)] {
        let members = [gzip(b"").repeat(empty), gzip(TEXT)].concat();
        for (coding, stored) in [("gzip", members.clone()), ("gzip, zstd", zstd(&members))] {
            let read =
                read_with(&format!("Content-Encoding: {coding}\r\n"), &stored, false, Some(5000));
            assert_eq!(read.answer, if is_read { OK } else { BROKEN }, "{coding} {empty}");
        }
    }
}

/// The decoded size of small bodies is bounded for all of a batch, and a usual body has a share of its own.
#[test]
fn the_bodies_of_a_batch_share_a_budget() {
    let config = ReadConfig { robots_bytes_max: Some(500_000) };
    let mut budget = Budget::new(&config);
    let mut read = |body: &[u8]| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
        let bytes = [&head[..], &gzip(body)].concat();
        Message::split(&bytes).unwrap().settle(false, &config, &mut budget).answer
    };
    let bomb = vec![b'\n'; 500_002];
    let whole = (0..100).filter(|_| read(&bomb) == OK).count();
    assert!((30..95).contains(&whole), "{whole}");
    assert_eq!(read(TEXT), OK);
}

#[test]
fn status_lines() {
    let rows: [(&[u8], Option<u16>); 18] = [
        (b"HTTP/1.1 200 OK", Some(200)),
        (b"HTTP/1.1 200", Some(200)),
        (b"HTTP/1.1 200 ", Some(200)),
        (b"HTTP/1.0  404\tNot Found", Some(404)),
        (b"http/1.1 200 OK", Some(200)),
        (b"HTTP/2 301", Some(301)),
        (b"HTTP/2.0 301 ", Some(301)),
        (b"HTTP/1.1\t200 \xff", Some(200)),
        (b"HTTP/1.1 999 Request denied", Some(999)),
        (b"HTTP/1.1", None),
        (b"HTTP/1.1 ", None),
        (b"HTTP/1.1 20", None),
        (b"HTTP/1.1 2000", None),
        (b"HTTP/1.1 200OK", None),
        (b"HTTP/1.1 OK 200", None),
        (b"HTTP/ 200 OK", None),
        (b"HTTP/1.1200 OK", None),
        (b"HTTP/x 200 OK", None),
    ];
    for (line, expected) in rows {
        let status = Message::split(&[line, b"\r\n\r\n"].concat()).ok().map(|it| it.status);
        assert_eq!(status, expected, "{}", line.escape_ascii());
    }
}

#[track_caller]
fn parts(bytes: &[u8], expected: Result<(u16, &[u8]), HeadProblem>) {
    let found = Message::split(bytes);
    assert_eq!(found.as_ref().map(|m| (m.status, m.body)).map_err(|p| *p), expected);
}

#[test]
fn heads_end_at_an_empty_line() {
    parts(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", Ok((200, b"body")));
    parts(b"HTTP/1.1 200 OK\nA: b\n\nbody\n\n", Ok((200, b"body\n\n")));
    parts(b"HTTP/1.1 200 OK\r\n\r\n", Ok((200, b"")));
    parts(b"\r\n\nHTTP/1.1 200 OK\r\n\r\n\r\nx", Ok((200, b"\r\nx")));
    parts(b"HTTP/1.1 200 OK\r\nA: b\r\n", Err(HeadProblem::NoEnd));
    parts(b"HTTP/1.1 200 OK", Err(HeadProblem::NoEnd));
    parts(b"", Err(HeadProblem::NoStatusLine));
    parts(b"User-agent: *\n\n", Err(HeadProblem::NoStatusLine));
    parts(b"HTTP/1.1 two hundred\r\n\r\n", Err(HeadProblem::NoStatusLine));
}

#[test]
fn responses_that_announce_another_are_passed_over() {
    let hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n";
    parts(&[&hints[..], b"HTTP/1.1 404 No\r\n\r\nbody"].concat(), Ok((404, b"body")));
    parts(hints, Ok((103, b"")));
    parts(b"HTTP/1.1 101 Switch\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", {
        Ok((101, b"HTTP/1.1 200 OK\r\n\r\n"))
    });
    parts(&[&hints[..], b"HTTP/1.1 404 No\r\n"].concat(), Err(HeadProblem::NoEnd));
}

#[test]
fn a_head_has_a_longest_length() {
    let head = |bytes: usize| {
        let mut head = b"HTTP/1.1 200 OK\r\nA: ".to_vec();
        head.resize(bytes - 4, b'a');
        head.extend(b"\r\n\r\n");
        head
    };
    parts(&head(HEADER_BLOCK_BYTES_MAX), Ok((200, b"")));
    parts(&head(HEADER_BLOCK_BYTES_MAX + 1), Err(HeadProblem::TooLong));
}

#[test]
fn fields_are_found_in_any_case() {
    let bytes = b"HTTP/1.1 301 Moved\r\nlocation: /a\r\n b\r\nLocation: /c\r\n\r\n";
    let message = Message::split(bytes).unwrap();
    assert_eq!(message.field(b"Location"), Some(&b"/a   b"[..]));
    assert_eq!(message.field(b"Loc"), None);
    assert_eq!(message.fields().count(), 2);
}

#[test]
fn whole_bodies() {
    let rows: [(&[u8], &[u8]); 11] = [
        (b"0\r\n\r\n", b""),
        (b"0", b""),
        (b"000;a=b", b""),
        (b"4\r\nUser\r\n0\r\n\r\n", b"User"),
        (b"4\nUser\n0\n\n", b"User"),
        (b"4\r\nUser\r\n6\r\n-agent\r\n0\r\n\r\n", b"User-agent"),
        (b"4  \r\nUser\r\n0\r\n", b"User"),
        (b"4 ; a=\"b\"\r\nUser\r\n0\r\nTrailer: x\r\n\r\n", b"User"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"0000000000000001\r\n\n\r\n0\r\n\r\n\r\n", b"\n"),
        (b"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", b"\r\n0\r\n\r\n"),
    ];
    for (body, expected) in rows {
        let found = unchunk(body);
        assert_eq!((&*found.0, found.1), (expected, true), "{}", body.escape_ascii());
    }
}

#[test]
fn broken_bodies() {
    let rows: [(&[u8], &[u8]); 15] = [
        (b"", b""),
        (b"1\r\n\n\r\n0\r\n\r\nrest", b"\n"),
        (b"1\r\n\n\r\n0\r\nUser-agent: *", b"\n"),
        (b"4", b""),
        (b"4\r\n", b""),
        (b"4\r\nUs", b"Us"),
        (b"4\r\nUser", b"User"),
        (b"4\r\nUser\r", b"User"),
        (b"4\r\nUser\r\n", b"User"),
        (b"4\r\nUser-agent", b"User"),
        (b"4\r\nUser\r\nx\r\n", b"User"),
        (b"4\r\nUser\r\n\r\n0\r\n\r\n", b"User"),
        (b"ffffffffffffffff\r\nUser", b"User"),
        (b"x4\r\nUser\r\n0\r\n\r\n", b""),
        (b"4\r\nUser\r\n10000000000000000\r\n", b"User"),
    ];
    for (body, expected) in rows {
        let found = unchunk(body);
        assert_eq!((&*found.0, found.1), (expected, false), "{}", body.escape_ascii());
    }
}

#[test]
fn bodies_without_chunks() {
    let rows: [&[u8]; 7] = [
        b"User-agent: *\nDisallow: /\n",
        b"Allow: /\n",
        b"Disallow: /\n",
        b"\n",
        b"# 4\n",
        b"\xef\xbb\xbfUser-agent: *\n",
        b"10000000000000000\r\n",
    ];
    for body in rows {
        assert_eq!(unchunk(body), (Cow::Borrowed(body), true), "{}", body.escape_ascii());
    }
}
