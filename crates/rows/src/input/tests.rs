//! Tests of inputs end to end: opened, decompressed, cut and split.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::list::{Arena, Block, ListConfig, ListFormat, Rows};
use portcullis_files::input::Coding;
use portcullis_testkit::files::{gzip, zstd as zstd_frame};

/// Chunks so small that every record occurs at every position in a chunk.
const SMALL: ChunkConfig =
    ChunkConfig { chunk_bytes: 8, record_bytes_max: 12, by_row_group: false, pause: None };

/// A reader that returns one byte per read and is sometimes interrupted by a signal.
struct Dribble<R> {
    inner: R,
    reads: usize,
}

impl<R: Read> Read for Dribble<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.inner.read(&mut out[..1])
    }
}

fn dribble<R>(inner: R) -> Dribble<R> {
    Dribble { inner, reads: 0 }
}

/// A reader that fails after some bytes.
struct Failing(io::Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::other("the cable is cut")),
            count => Ok(count),
        }
    }
}

fn failing_after(bytes: &[u8]) -> Failing {
    Failing(io::Cursor::new(bytes.to_vec()))
}

fn from_bytes(bytes: &[u8]) -> Source {
    let reader = io::Cursor::new(bytes.to_vec());
    Source::from_reader("list", reader)
}

/// Returns the config of plain records with this terminator.
fn plain_lists(terminator: Terminator) -> ListConfig {
    ListConfig { format: Some(ListFormat::Lines), terminator, ..ListConfig::default() }
}

/// Returns the chunks up to the end or an error, and the error.
fn cut(source: Source, config: ChunkConfig) -> (Vec<Vec<u8>>, Option<InputError>) {
    cut_at(source, config, Terminator::LineFeed)
}

/// Like [`cut`], for records with this terminator.
fn cut_at(
    source: Source,
    config: ChunkConfig,
    terminator: Terminator,
) -> (Vec<Vec<u8>>, Option<InputError>) {
    let mut chunks = Chunks::new(source, config, plain_lists(terminator));
    let mut whole = Vec::new();
    let mut failure = None;
    for chunk in chunks.by_ref() {
        match chunk {
            Ok(chunk) => whole.push(chunk.to_vec()),
            Err(error) => failure = Some(error),
        }
    }
    assert!(chunks.next().is_none(), "after the end there is no more");
    (whole, failure)
}

/// Returns the bytes of an input without an error.
fn read_whole(source: Source) -> Vec<u8> {
    let (chunks, failure) = cut(source, ChunkConfig::default());
    assert!(failure.is_none(), "{failure:?}");
    chunks.concat()
}

fn write_file(folder: &TempDir, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn open(path: &Path) -> Source {
    Source::open(path).unwrap()
}

/// Opens a file to be mapped. Tests own theirs.
#[allow(unsafe_code, reason = "tests own their files")]
fn open_mapped(path: &Path) -> Source {
    // SAFETY: no other process knows the file.
    unsafe { open(path).mapped() }
}

#[test]
fn chunks_do_not_depend_on_how_the_bytes_arrive() {
    let folder = TempDir::new().unwrap();
    let lists: &[&[u8]] = &[
        b"a",
        b"\n",
        b"\n\n\n\n\n\n\n\n\n\n",
        b"1234567\n",
        b"12345678",
        b"12345678\n",
        b"123456789\n1\n",
        b"a\r\nbb\r\nccc\r\ndddd\r\neeeee\r\n",
        b"a\n\xff\xfe\0\n\n123456789012\nb\nc\nd\n123456789012",
        b"aaaa\nbbb\ncccc\ndddddddddd\ne\nf\ng\nh\ni\nj\nk\nl\nm",
    ];
    for &list in lists {
        let path = write_file(&folder, "list", list);
        let expected = cut(open(&path), SMALL);
        assert!(expected.1.is_none(), "{list:?}");
        assert_eq!(expected.0.concat(), list);
        for chunk in &expected.0[..expected.0.len() - 1] {
            assert!(chunk.ends_with(b"\n"), "{list:?}");
        }
        assert_eq!(cut(open_mapped(&path), SMALL).0, expected.0, "{list:?}");
        assert_eq!(cut(from_bytes(list), SMALL).0, expected.0, "{list:?}");
        assert_eq!(cut(from_bytes(&gzip(list)), SMALL).0, expected.0);
        assert_eq!(cut(from_bytes(&zstd_frame(list)), SMALL).0, expected.0);
        let slow = dribble(io::Cursor::new(list));
        let slow = Source::from_reader("slow", slow);
        assert_eq!(cut(slow, SMALL).0, expected.0, "{list:?}");
    }
}

#[test]
fn every_length_of_record_at_every_place() {
    let folder = TempDir::new().unwrap();
    for before in 0..20 {
        for bytes in 0..20 {
            let mut list = b"x\n".repeat(before);
            list.extend(b"y".repeat(bytes));
            list.extend(b"\nz\n\nz");
            let (chunks, failure) = cut(from_bytes(&list), SMALL);
            let mapped = cut(open_mapped(&write_file(&folder, "list", &list)), SMALL);
            assert_eq!(mapped.0, chunks, "{before}, {bytes}");
            let place = |failure: &Option<InputError>| match failure {
                Some(InputError::RecordTooLong { offset, .. }) => Some(*offset),
                _ => None,
            };
            assert_eq!(place(&mapped.1), place(&failure), "{before}, {bytes}");
            let Some(InputError::RecordTooLong { offset, .. }) = failure else {
                assert!(bytes <= SMALL.record_bytes_max);
                assert_eq!(chunks.concat(), list);
                continue;
            };
            assert!(bytes > SMALL.record_bytes_max, "{before}, {bytes}");
            assert_eq!(offset, 2 * before as u64);
            assert!(failure.unwrap().to_string().contains("12 bytes"));
        }
    }
}

#[test]
fn the_limits_themselves() {
    use portcullis_files::limits::{CHUNK_BYTES, RECORD_BYTES_MAX};

    let mut list = b"short\n".to_vec();
    list.resize(list.len() + RECORD_BYTES_MAX, b'a');
    list.extend(b"\nshort\n");
    list.extend(b"x\n".repeat(2 * CHUNK_BYTES));
    let (chunks, failure) = cut(from_bytes(&list), ChunkConfig::default());
    assert!(failure.is_none());
    let lengths: Vec<usize> = chunks.iter().map(Vec::len).collect();
    assert_eq!(lengths[..2], [6, RECORD_BYTES_MAX + 1]);
    assert!(lengths[2..].iter().all(|&bytes| bytes <= CHUNK_BYTES));
    assert!(chunks.concat() == list);

    list.insert(6, b'a');
    let (chunks, failure) = cut(from_bytes(&list), ChunkConfig::default());
    assert_eq!(chunks.concat(), b"short\n");
    assert!(matches!(failure, Some(InputError::RecordTooLong { offset: 6, .. })));
}

#[test]
fn nul_data_is_not_cut_at_line_feeds() {
    let (chunks, _) = cut_at(from_bytes(b"a\nb\nc\nd\0\ne\0f"), SMALL, Terminator::Nul);
    assert_eq!(chunks, [&b"a\nb\nc\nd\0"[..8], b"\ne\0f"]);
}

#[test]
fn a_read_error_comes_after_the_whole_records_before_it() {
    let source = |bytes: &[u8]| Source::from_reader("pipe", failing_after(bytes));
    for (bytes, whole) in [
        (&b"one\ntwo\nthree"[..], &b"one\ntwo\n"[..]),
        (b"one\n", b"one\n"),
        (b"on", b""),
        (b"", b""),
        (b"1\n2\n3\n4\n5\n6\n7\n8\n9", b"1\n2\n3\n4\n5\n6\n7\n8\n"),
    ] {
        let (chunks, failure) = cut(source(bytes), SMALL);
        assert_eq!(chunks.concat(), whole);
        assert!(matches!(failure, Some(InputError::Read { .. })));
    }
    // A system failure below the decompressor is not damage.
    let (_, failure) = cut(source(&gzip(b"one\ntwo\n")[..15]), SMALL);
    assert!(matches!(failure, Some(InputError::Read { .. })));
}

#[test]
fn a_failed_stream_stays_failed() {
    let stored = gzip(b"one\ntwo\n");
    let mut stream = from_bytes(&stored[..stored.len() - 1]);
    assert!(!stream.fill(100) && stream.has_failed());
    assert!(matches!(stream.take_failure(), Some(InputError::Truncated { .. })));
    assert!(!stream.fill(100) && stream.take_failure().is_some());

    let mut source = Source::from_reader("pipe", failing_after(b""));
    assert!(!source.fill(8));
    assert!(source.coding().is_err());
    assert!(cut(source, SMALL).1.is_some());
}

#[test]
fn what_cannot_be_opened() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path(), &folder.path().join("nothing")] {
        let Err(error) = Source::open(path) else {
            panic!("{} was opened", path.display());
        };
        assert!(matches!(error, InputError::Open { .. } | InputError::WrongKind(_)));
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
}

#[test]
fn an_empty_file_is_an_empty_list() {
    let folder = TempDir::new().unwrap();
    let source = open(&write_file(&folder, "list", b""));
    assert_eq!(source.stored_bytes(), 0);
    assert_eq!(cut(source, SMALL).0, [b""]);
}

#[test]
fn a_file_is_taken_from_where_it_stands_to_its_end() {
    let folder = TempDir::new().unwrap();
    let path = write_file(&folder, "list", b"skip\none\ntwo\n");
    for (start, rest) in [(5, &b"one\ntwo\n"[..]), (13, b""), (20, b"")] {
        let mut file = File::open(&path).unwrap();
        file.seek(SeekFrom::Start(start)).unwrap();
        // Standard input is shared with later processes in the same way.
        let mut shared = file.try_clone().unwrap();
        let source = Source::from_file("list".to_owned(), file).unwrap();
        assert_eq!(read_whole(source), rest);
        assert!(shared.stream_position().unwrap() >= 13);

        shared.seek(SeekFrom::Start(start)).unwrap();
        let source = Source::from_file("list".to_owned(), shared.try_clone().unwrap()).unwrap();
        #[allow(unsafe_code, reason = "tests own their files")]
        // SAFETY: no other process knows the file.
        let (chunks, failure) = cut(unsafe { source.mapped() }, SMALL);
        assert!(failure.is_none() && chunks.concat() == rest);
        assert!(shared.stream_position().unwrap() >= 13);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_says_it_is_empty_and_is_not() {
    assert!(!read_whole(open(Path::new("/proc/self/status"))).is_empty());
}

#[test]
fn a_pipe_is_not_read_before_it_is_asked() {
    let (reader, mut writer) = io::pipe().unwrap();
    let mut source = Source::from_reader("pipe", reader);
    writer.write_all(b"one\ntw").unwrap();
    // The writer is still there: no more is read than what is wanted.
    assert!(source.fill(6));
    assert_eq!(source.buffer(), b"one\ntw");
    writer.write_all(b"o\n").unwrap();
    drop(writer);
    assert_eq!(source.coding().unwrap(), None);
    assert_eq!(read_whole(source), b"one\ntwo\n");
}

/// The texts of chunks, each read when its bytes were written, with a config that sees pauses.
#[cfg(unix)]
#[test]
fn a_pipe_that_pauses_gives_what_it_has() {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    let pause = Some(Duration::from_millis(20));
    let config = ChunkConfig { pause, ..ChunkConfig::default() };
    let begin = |stored: OwnedFd| {
        let source = Source::from_file("pipe".into(), stored.into());
        Chunks::new(source.unwrap(), config, ListConfig::default())
    };
    let (reader, mut writer) = io::pipe().unwrap();
    let mut chunks = begin(reader.into());
    for (written, chunk, is_first) in [
        ("a.example\nb.exa", "a.example\n", true),
        ("mple\n", "b.example\n", false),
        ("c\nd\ne", "c\nd\n", false),
    ] {
        writer.write_all(written.as_bytes()).unwrap();
        let found = chunks.next().unwrap().unwrap();
        assert_eq!((&**found, found.is_first, found.is_last), (chunk.as_bytes(), is_first, false));
    }
    drop(writer);
    let last = chunks.next().unwrap().unwrap();
    assert_eq!((&**last, last.is_last), (&b"e"[..], true));
    assert!(chunks.next().is_none());

    // The end of a list comes after its last record.
    let (reader, mut writer) = io::pipe().unwrap();
    let mut chunks = begin(reader.into());
    writer.write_all(b"a.example\n").unwrap();
    assert!(!chunks.next().unwrap().unwrap().is_last);
    drop(writer);
    let end = chunks.next().unwrap().unwrap();
    assert!(end.is_empty() && end.is_last && chunks.next().is_none());

    // What was written before a pause makes no sense alone.
    for (first, rest, url) in [
        ("T 20240102030405\n", "F+ http://a.example/\n", "http://a.example/"),
        ("{\"a\": 1}\n", "{\"url\": \"http://a.example/\"}\n", "http://a.example/"),
        ("\n", "{\"address\": \"http://a.example/\"}\n", "http://a.example/"),
    ] {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut chunks = begin(reader.into());
        writer.write_all(first.as_bytes()).unwrap();
        let writing = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            writer.write_all(rest.as_bytes()).unwrap();
        });
        let mut urls = Vec::new();
        for chunk in chunks.by_ref() {
            let (chunk, arena) = (chunk.unwrap(), Arena::new());
            let mut rows = Rows::new(&chunk, &arena, 0);
            let read = |block: &Block<'_>| {
                urls.extend(block.iter().map(|record| record.url().to_vec()));
                Ok::<_, InputError>(true)
            };
            rows.read(1, read).unwrap();
        }
        writing.join().unwrap();
        assert!(urls.contains(&url.as_bytes().to_vec()), "{first}: {urls:?}");
    }
}

#[test]
fn stored_bytes_add_up() {
    let folder = TempDir::new().unwrap();
    let list = b"https://example.com/\n".repeat(50);
    for stored in [list.clone(), gzip(&list), zstd_frame(&list)] {
        let source = open(&write_file(&folder, "list", &stored));
        let small = ChunkConfig { chunk_bytes: 64, ..ChunkConfig::default() };
        let chunks = Chunks::new(source, small, ListConfig::default());
        let sum: u64 = chunks.map(|chunk| chunk.unwrap().stored_bytes).sum();
        assert_eq!(sum, stored.len() as u64);
    }
}

#[test]
fn a_file_that_shrinks_is_an_error() {
    let folder = TempDir::new().unwrap();
    for open in [open, open_mapped] {
        let path = write_file(&folder, "list", b"one\ntwo\n");
        let source = open(&path);
        File::options().write(true).open(&path).unwrap().set_len(4).unwrap();
        let (chunks, failure) = cut(source, ChunkConfig::default());
        assert_eq!(chunks.concat(), b"one\n");
        assert!(matches!(failure, Some(InputError::Changed { change: "became shorter", .. })));
    }

    let path = write_file(&folder, "list", b"one\ntwo\n123456789\n");
    let plain = plain_lists(Terminator::LineFeed);
    let mut chunks = Chunks::new(open_mapped(&path), SMALL, plain);
    let first = chunks.next().unwrap().unwrap();
    assert!(first.check().is_ok());
    // The page stays mapped, so no access faults. Its end would read as zeros.
    File::options().write(true).open(&path).unwrap().set_len(4).unwrap();
    assert!(matches!(first.check(), Err(InputError::Changed { change: "became shorter", .. })));
    assert_eq!(chunks.by_ref().filter(Result::is_ok).count(), 1);
    assert!(chunks.next().is_none());
}

/// Decisions would be of one version, and written records of another.
#[test]
fn a_mapped_file_that_is_rewritten_is_an_error() {
    let folder = TempDir::new().unwrap();
    let path = write_file(&folder, "list", b"one\ntwo\n123456789\n");
    let plain = plain_lists(Terminator::LineFeed);
    let mut chunks = Chunks::new(open_mapped(&path), SMALL, plain);
    let first = chunks.next().unwrap().unwrap();
    assert!(first.check().is_ok());
    let writer = File::options().append(true).open(&path).unwrap();
    let at = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    writer.set_modified(at(1)).unwrap();
    assert!(matches!(first.check(), Err(InputError::Changed { change: "was written to", .. })));
    // Appending writes after what is read.
    (&writer).write_all(b"more\n").unwrap();
    assert!(first.check().is_ok());
}

#[test]
fn what_threads_pass_on_can_be_passed_on() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<Source>();
    is_send::<Chunks>();
    is_send::<Chunk>();
    is_sync::<Chunk>();
    is_send::<InputError>();
    is_sync::<InputError>();
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
        let slow = Source::from_reader("slow", dribble(io::Cursor::new(stored)));
        assert_eq!(read_whole(slow), b"a\nbc\n");
    }
}

#[test]
fn every_truncation_is_an_error_that_keeps_whole_records_only() {
    let list: Vec<u8> = (0..200).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    let (first, second) = list.split_at(list.len() / 2);
    for (encode, coding) in
        [(gzip as fn(&[u8]) -> Vec<u8>, Coding::Gzip), (zstd_frame, Coding::Zstd)]
    {
        let stored = [encode(first), encode(second)].concat();
        let boundary = encode(first).len();
        // An input shorter than the magic number is plain. See the test of names.
        for bytes in 4..stored.len() {
            let (chunks, failure) = cut(from_bytes(&stored[..bytes]), ChunkConfig::default());
            let read = chunks.concat();
            assert!(list.starts_with(&read));
            if bytes == boundary {
                assert!(failure.is_none());
                continue;
            }
            assert!(read.is_empty() || read.ends_with(b"\n"));
            let failure = failure.unwrap_or_else(|| panic!("{coding}, {bytes} bytes"));
            assert!(
                matches!(&failure, InputError::Truncated { coding: found, .. } if *found == coding),
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
    encoder.window_log(portcullis_files::limits::ZSTD_WINDOW_LOG_MAX + 1).unwrap();
    encoder.write_all(b"a\n").unwrap();
    let stored = encoder.finish().unwrap();
    let (chunks, failure) = cut(from_bytes(&stored), ChunkConfig::default());
    assert!(chunks.is_empty());
    assert!(matches!(failure, Some(InputError::Window { .. })));
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
        assert!(failure.to_string().starts_with(&path.display().to_string()), "{failure}");
    }
    // Plain text under such a name is a plain list, and compressed bytes need no such name.
    let path = write_file(&folder, "list.gz", b"one\n");
    assert_eq!(read_whole(open(&path)), b"one\n");
    let path = write_file(&folder, "list.txt", &gzip(b"one\n"));
    let mut source = open(&path);
    assert_eq!(source.coding().unwrap(), Some(Coding::Gzip));
    assert_eq!(read_whole(source), b"one\n");
}
