//! A file appears complete or not at all, and the same content gives the same file.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Cursor, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use twox_hash::XxHash3_64;

use super::*;

/// Stored files outlive the program. If this fails, the format has changed. Increase the format
/// version (`VERSION` and `FORMAT.md`) before you change the number here.
#[test]
fn the_format_stays_as_it_is() {
    let (file, ..) = small();
    assert_eq!(
        XxHash3_64::oneshot(&file),
        GOLDEN,
        "the format has changed: see the comment of this test"
    );
    assert_eq!(file[..16], *b"\xDBPCS\r\n\x1A\n\x11\0\0\0\x03\0\0\0");
}

const GOLDEN: u64 = 9_655_730_131_393_788_284;

#[test]
fn the_sizes_of_writes_make_no_difference() {
    let content = noise(20_000, 7);
    let whole = written(&[(TEXT, &content)]);
    let mut writer = SetFileWriter::in_memory();
    writer.begin(TEXT).unwrap();
    for piece in content.chunks(7) {
        writer.write(piece).unwrap();
        writer.write(b"").unwrap();
    }
    let pieces = writer.finish(&fields()).unwrap();
    assert!(whole.file == pieces.file.into_inner());
    assert_eq!(whole.content_hash, pieces.content_hash);
}

/// Sections end where a piece of the file is handed over, and before and after the padding there.
#[test]
fn pieces_of_a_file_end_anywhere() {
    let in_file = || SetFileWriter::new(Path::new("a.set"), Cursor::<Vec<u8>>::default());
    ends_anywhere(WRITTEN_BYTES, in_file);
    ends_anywhere(WRITTEN_BYTES_IN_MEMORY, SetFileWriter::in_memory);
}

fn ends_anywhere(piece_bytes: usize, writer: impl Fn() -> SetFileWriter<Cursor<Vec<u8>>>) {
    let first = piece_bytes - SET_BLOCK_BYTES;
    for bytes in [first - 65, first - 64, first - 63, first - 1, first, first + 1] {
        let sections = [(WORDS, noise(bytes, 1)), (EMPTY, noise(64, 2)), (TEXT, noise(first, 3))];
        let mut hasher = ContentHasher::default();
        let mut writer = writer();
        for (kind, content) in &sections {
            hasher.begin(*kind);
            hasher.update(content);
            writer.begin(*kind).unwrap();
            content.chunks(100_003).for_each(|piece| writer.write(piece).unwrap());
        }
        let Written { content_hash, file_bytes, file } = writer.finish(&fields()).unwrap();
        assert_eq!(content_hash, hasher.finish(&fields()), "{bytes}");
        let set = opened(file.into_inner()).unwrap();
        assert_eq!(set.verify().unwrap(), file_bytes / BLOCK, "{bytes}");
        for (kind, content) in &sections {
            let section = set.section(*kind).unwrap();
            assert!(set.bytes(section, 0, content.len() as u64).unwrap() == content, "{bytes}");
        }
    }
}

#[test]
fn the_content_hash_is_of_the_content_and_how_it_is_read() {
    let hash = |sections: &[(SectionKind, &[u8])]| written(sections).content_hash;
    let hashes = [
        hash(&[(TEXT, b"ab")]),
        hash(&[(TEXT, b"ab\0")]),
        hash(&[(WORDS, b"ab")]),
        hash(&[(TEXT, b"ab"), (EMPTY, b"")]),
        hash(&[(EMPTY, b""), (TEXT, b"ab")]),
        hash(&[]),
    ];
    for (at, one) in hashes.iter().enumerate() {
        assert!(!hashes[at + 1..].contains(one), "{at}");
    }
    let in_fields = |fields: HeaderFields| {
        let mut writer = SetFileWriter::in_memory();
        writer.begin(TEXT).unwrap();
        writer.write(b"ab").unwrap();
        writer.finish(&fields).unwrap().content_hash
    };
    assert_eq!(in_fields(fields()), hashes[0]);
    let other_name = HeaderFields::name_field("rfc9999");
    assert_ne!(in_fields(HeaderFields { dialect_name: other_name, ..fields() }), hashes[0]);
    assert_ne!(in_fields(HeaderFields { robots_bytes_max: 1, ..fields() }), hashes[0]);
}

#[test]
fn a_file_appears_when_it_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.set");
    fs::write(&path, "before").unwrap();
    let (expected, words, text) = small();
    let mut writer = SetFileWriter::create(&path).unwrap();
    for (kind, bytes) in [(WORDS, &words[..]), (EMPTY, b""), (TEXT, &text)] {
        writer.begin(kind).unwrap();
        writer.write(bytes).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
    }
    publish(writer.finish(&fields()).unwrap());
    assert_eq!(names(folder.path()), ["a.set"]);
    assert!(fs::read(&path).unwrap() == expected);
    let set = SetFile::open(Storage::open(&path).unwrap()).unwrap();
    assert_eq!(set.bytes(set.section(TEXT).unwrap(), 0, 6_001).unwrap(), text);
}

#[test]
fn a_run_that_fails_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.set");
    fs::write(&path, "before").unwrap();
    let mut writer = SetFileWriter::create(&path).unwrap();
    writer.begin(TEXT).unwrap();
    writer.write(&noise(1_000_000, 8)).unwrap();
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), b"before");
    assert_eq!(names(folder.path()), ["a.set"]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = SetFileWriter::create(&folder.path().join("no/a.set")).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("no/a.set") && text.contains("create its folder"), "{text}");
    let error = SetFileWriter::create(folder.path()).err().unwrap();
    assert!(error.to_string().contains("regular files only"), "{error}");
    assert_eq!(names(folder.path()), Vec::<OsString>::new());
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    fs::write(&target, "before").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    publish(SetFileWriter::create(&link).unwrap().finish(&fields()).unwrap());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(SetFile::open(Storage::open(&target).unwrap()).is_ok());
}

fn publish(written: Written<AtomicFile>) {
    written.file.complete().unwrap().publish().unwrap();
}

/// A disk with limited room.
#[derive(Debug)]
struct FullDisk {
    bytes: Cursor<Vec<u8>>,
    room: usize,
}

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room.saturating_sub(self.bytes.position() as usize);
        if room == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        self.bytes.write(&bytes[..bytes.len().min(room)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for FullDisk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

#[test]
fn a_full_disk_is_an_error_wherever_it_happens() {
    let (whole, words, text) = small();
    let write = |room: usize| {
        let disk = FullDisk { bytes: Cursor::default(), room };
        let mut writer = SetFileWriter::new(Path::new("disk/a.set"), disk);
        let mut failure = None;
        for (kind, bytes) in [(WORDS, &words[..]), (EMPTY, b""), (TEXT, &text)] {
            // A caller that ignores errors.
            failure = writer.begin(kind).err().or(failure);
            failure = writer.write(bytes).err().or(failure);
        }
        let finished = writer.finish(&fields()).map_err(CompileError::from);
        assert!(failure.is_none() || finished.is_err(), "{room}");
        failure.map_or(finished, Err)
    };
    for room in (0..whole.len()).step_by(509) {
        let CompileError::Write(error) = write(room).unwrap_err() else { panic!("it is a disk") };
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{room}");
        let message = "cannot write disk/a.set: no storage space; make room, or write elsewhere";
        assert_eq!(error.to_string(), message);
    }
    assert!(*write(whole.len()).unwrap().file.bytes.get_ref() == whole);
}

/// Returns the names of the entries of a folder, sorted.
fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}
