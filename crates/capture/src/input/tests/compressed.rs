//! gzip and zstd: joined, cut short, damaged, promised by a name.

use super::*;

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn zstd_frame(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

#[test]
fn members_and_frames_are_joined() {
    let skippable = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    let cases = [
        [gzip(b"a\nb"), gzip(b""), gzip(b"c\n")].concat(),
        [zstd_frame(b"a\nb"), zstd_frame(b""), zstd_frame(b"c\n")].concat(),
        [skippable.clone(), zstd_frame(b"a\nbc\n"), skippable].concat(),
    ];
    for stored in cases {
        assert_eq!(read_whole(from_bytes(&stored)), b"a\nbc\n");
        let slow =
            Source::from_reader("slow", dribble(io::Cursor::new(stored)), OpenConfig::default());
        assert_eq!(read_whole(slow), b"a\nbc\n");
    }
}

#[test]
fn every_truncation_is_an_error_that_keeps_whole_records_only() {
    let list: Vec<u8> = (0..200).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    let (first, second) = list.split_at(list.len() / 2);
    for (encode, encoding) in
        [(gzip as fn(&[u8]) -> Vec<u8>, Encoding::Gzip), (zstd_frame, Encoding::Zstd)]
    {
        let stored = [encode(first), encode(second)].concat();
        let boundary = encode(first).len();
        // Shorter than the magic number it is a plain input; see the test of names.
        for bytes in 4..stored.len() {
            let (chunks, failure) = cut(from_bytes(&stored[..bytes]), ChunkConfig::default());
            let read = chunks.concat();
            assert!(list.starts_with(&read));
            if bytes == boundary {
                assert!(failure.is_none());
                continue;
            }
            assert!(read.is_empty() || read.ends_with(b"\n"));
            let failure = failure.unwrap_or_else(|| panic!("{encoding}, {bytes} bytes"));
            assert!(
                matches!(&failure, InputError::Truncated { encoding: found, .. } if *found == encoding),
                "{bytes} bytes: {failure:?}"
            );
            assert!(failure.to_string().starts_with("list is cut short"));
        }
    }
}

#[test]
fn damage_is_an_error() {
    let list = b"https://example.com/\n".repeat(100);
    for stored in [gzip(&list), zstd_frame(&list)] {
        let trailing = [stored.as_slice(), b"no such member"].concat();
        let (chunks, failure) = cut(from_bytes(&trailing), ChunkConfig::default());
        assert_eq!(chunks.concat(), list);
        assert!(matches!(failure, Some(InputError::Damaged { .. })), "{failure:?}");
    }
    let mut stored = gzip(&list);
    let checksum = stored.len() - 8;
    stored[checksum] ^= 1;
    let (_, failure) = cut(from_bytes(&stored), ChunkConfig::default());
    assert!(matches!(failure, Some(InputError::Damaged { .. })));
}

#[test]
fn a_window_that_takes_too_much_memory_is_an_error() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(portcullis_dialect::limits::ZSTD_WINDOW_LOG_MAX + 1).unwrap();
    encoder.write_all(b"a\n").unwrap();
    let stored = encoder.finish().unwrap();
    let (chunks, failure) = cut(from_bytes(&stored), ChunkConfig::default());
    assert!(chunks.is_empty());
    assert!(matches!(failure, Some(InputError::Damaged { .. })));
}

#[test]
fn a_name_that_promises_compression_is_held_to_its_first_bytes() {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in [
        ("list.gz", &b""[..]),
        ("list.GZ", b"\x1f"),
        ("list.zst", b""),
        ("list.zst", b"\x28\xb5\x2f"),
    ] {
        let path = write_file(&folder, name, bytes);
        let (chunks, failure) = cut(open(&path), SMALL);
        assert!(chunks.is_empty());
        let failure = failure.unwrap();
        assert!(matches!(failure, InputError::Truncated { .. }), "{name}");
        assert_eq!(Path::new(failure.name()), path);
    }
    // Plain text under such a name is a plain list, and compressed bytes need no such name.
    let path = write_file(&folder, "list.gz", b"one\n");
    assert_eq!(read_whole(open(&path)), b"one\n");
    let path = write_file(&folder, "list.txt", &gzip(b"one\n"));
    let mut source = open(&path);
    assert_eq!(source.encoding().unwrap(), Encoding::Gzip);
    assert_eq!(read_whole(source), b"one\n");
}

#[test]
fn compression_can_be_left_alone() {
    let folder = TempDir::new().unwrap();
    let config = OpenConfig { decompress: false, ..OpenConfig::MAPPED };
    let stored = gzip(b"one\n");
    for (name, bytes) in [("list.gz", stored.as_slice()), ("empty.gz", b"")] {
        let path = write_file(&folder, name, bytes);
        assert_eq!(read_whole(Source::open(&path, config).unwrap()), bytes);
    }
}
