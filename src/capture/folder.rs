//! Folders of robots.txt files named by host: `example.com`, `example.com.txt`,
//! `example.com.robots.txt`, `example.com:8080`.
//!
//! Each file is an answer with status 200 and the file as its body. When it was fetched is not
//! known: the time of a file is when it was written here.
//!
//! What is no regular file (or a link to one), or has a name that is no host, is broken and may be
//! passed over. A file that the system will not give is
//! [unreadable](super::BrokenKind::Unreadable).
//!
//! Cost: a file is opened, read to its end and closed, without asking for its size, on the thread
//! that reads its batch. The list of names is held in memory and sorted, so that nothing depends on
//! the file system's order; folders within the folder are not entered.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! use portcullis::capture::{BatchReader, BrokenRecord, Capture, CaptureSink, ReadConfig, folder};
//!
//! struct Show;
//!
//! impl CaptureSink for Show {
//!     fn capture(&mut self, capture: Capture<'_>) {
//!         assert_eq!(&*capture.body, b"User-agent: *\nDisallow: /\n");
//!     }
//!     fn broken(&mut self, broken: BrokenRecord) {
//!         panic!("{}: {}", broken.place, broken.problem);
//!     }
//! }
//!
//! std::fs::write(folder.join("a.example"), "User-agent: *\nDisallow: /\n")?;
//! let mut reader = folder::open(folder)?;
//! while let Some(batch) = reader.next_batch()? {
//!     batch.read(&ReadConfig { robots_octets_max: None }, &mut Show);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::CachingHeaders;
use crate::dialect::RFC_9309;
use crate::limits::{FILE_READ_OCTETS, FOLDER_BATCH_FILES};
use crate::target::{host_key, split};

use super::body::{Settled, settle};
use super::{
    Batch, BatchReader, BrokenRecord, Capture, CaptureError, CaptureFormat, CaptureSink,
    ReadConfig, Subject,
};

/// What may follow the host in a file's name.
const ENDINGS: [&[u8]; 2] = [b".robots.txt", b".txt"];

/// The status that a file stands for.
const STATUS: u16 = 200;

/// Cuts a folder into batches of files; [`open`] makes it.
pub struct Folder {
    path: Arc<Path>,
    entries: std::vec::IntoIter<Entry>,
}

/// Lists the folder at `path`.
///
/// # Errors
///
/// If it is no folder, or its list cannot be read.
pub fn open(path: &Path) -> Result<Folder, CaptureError> {
    let entries = list(path).map_err(|source| {
        let name = path.display().to_string();
        CaptureError::Unreadable { name, source }
    })?;
    Ok(Folder { path: path.into(), entries: entries.into_iter() })
}

/// A name in the folder.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    name: OsString,
    kind: Kind,
}

/// What stands behind a name, as far as the list tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    File,
    Link,
    Other,
}

/// The names in the folder, sorted.
fn list(path: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        // Most file systems tell the kind with the name.
        let kind = match entry.file_type()? {
            kind if kind.is_file() => Kind::File,
            kind if kind.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        entries.push(Entry { name: entry.file_name(), kind });
    }
    entries.sort_unstable();
    Ok(entries)
}

impl BatchReader for Folder {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>, CaptureError> {
        let entries: Vec<Entry> = self.entries.by_ref().take(FOLDER_BATCH_FILES).collect();
        if entries.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(Files { folder: Arc::clone(&self.path), entries })))
    }
}

/// Some files of a folder.
struct Files {
    folder: Arc<Path>,
    entries: Vec<Entry>,
}

impl Batch for Files {
    /// Always 0: the sizes of files are not asked for.
    fn stored_octets(&self) -> u64 {
        0
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        let mut scratch = Scratch::default();
        let mut path = self.folder.to_path_buf();
        for entry in &self.entries {
            path.push(&entry.name);
            if let Err(broken) = read_entry(entry, &path, config, &mut scratch, sink) {
                sink.broken(broken);
            }
            path.pop();
        }
    }
}

/// Memory that is used for one file after the other.
#[derive(Default)]
struct Scratch {
    text: Vec<u8>,
    url: Vec<u8>,
    key: Vec<u8>,
}

fn read_entry(
    entry: &Entry,
    path: &PathBuf,
    config: &ReadConfig,
    scratch: &mut Scratch,
    sink: &mut dyn CaptureSink,
) -> Result<(), BrokenRecord> {
    let place = || format!("file {}", entry.name.display());
    let senseless = |problem: &str| BrokenRecord::senseless(place(), problem);
    let unreadable = |error: io::Error| {
        let problem = format!("cannot be read ({error}); mend it or take it out of the folder");
        BrokenRecord::unreadable(place(), problem)
    };
    const NO_FILE: &str = "is no regular file; a folder of hosts has nothing else";
    let is_file = match entry.kind {
        Kind::File => true,
        Kind::Link => std::fs::metadata(path).map_err(unreadable)?.is_file(),
        Kind::Other => false,
    };
    if !is_file {
        return Err(senseless(NO_FILE));
    }
    if CaptureFormat::of_name(path).is_some() {
        return Err(senseless(
            "holds captures itself, by its name; give it as an input of its own",
        ));
    }
    let Some(host) = host_of(entry.name.as_encoded_bytes(), &mut scratch.url, &mut scratch.key)
    else {
        return Err(senseless("its name is no host; name it by the host, like example.com.txt"));
    };
    let octets_max = config.body_octets_max().saturating_add(1); // which shows whether it is cut
    let text = match read(path, octets_max, &mut scratch.text) {
        // Some systems list a folder as a file.
        Err(error) if error.kind() == ErrorKind::IsADirectory => return Err(senseless(NO_FILE)),
        result => result.map_err(unreadable)?,
    };
    let Settled { answer, body, notes } = settle(STATUS, Cow::Borrowed(text), true, config);
    sink.capture(Capture {
        subject: Subject::Host(host),
        captured_at: None,
        redirects_followed: 0,
        answer,
        location: None,
        caching: CachingHeaders::default(),
        body,
        notes,
    });
    Ok(())
}

/// The first octets of the file, `octets_max` at most.
fn read<'t>(path: &Path, octets_max: usize, text: &'t mut Vec<u8>) -> io::Result<&'t [u8]> {
    let mut file = File::open(path)?;
    let mut filled = 0;
    while filled < octets_max {
        if filled == text.len() {
            let room = (2 * filled).max(FILE_READ_OCTETS);
            text.resize(room, 0);
        }
        let end = text.len().min(octets_max);
        match file.read(&mut text[filled..end]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(&text[..filled])
}

/// The host that a file is named by, as the name has it.
fn host_of<'n>(name: &'n [u8], url: &mut Vec<u8>, key: &mut Vec<u8>) -> Option<&'n [u8]> {
    let stripped = ENDINGS.iter().find_map(|ending| name.strip_suffix(*ending));
    let host = stripped.unwrap_or(name);
    url.clear();
    url.extend_from_slice(b"https://");
    url.extend_from_slice(host);
    url.push(b'/');
    let parts = split(url, RFC_9309.paths.path_start).ok()?;
    // The name has to be the host alone, without user information or a path.
    let is_whole = parts.path == b"/" && !host.contains(&b'@');
    (is_whole && host_key(&parts, key).is_ok()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Answer;
    use crate::capture::testing::{Keeper, read_all};
    use crate::capture::{BrokenKind, CaptureNote, CaptureNotes};

    fn read_folder(path: &Path) -> Keeper {
        read_all(&mut open(path).unwrap(), Some(10))
    }

    #[test]
    fn names_are_hosts() {
        let host = |name: &'static str| {
            let host = host_of(name.as_bytes(), &mut Vec::new(), &mut Vec::new())?;
            Some(str::from_utf8(host).unwrap())
        };
        assert_eq!(host("Example.COM"), Some("Example.COM"));
        assert_eq!(host("example.com.txt"), Some("example.com"));
        assert_eq!(host("example.com.robots.txt"), Some("example.com"));
        assert_eq!(host("exämple.com"), Some("exämple.com"));
        assert_eq!(host("a.example:8443"), Some("a.example:8443"));
        assert_eq!(host("[::1]:80.txt"), Some("[::1]:80"));
        for name in ["user@a.example", "a b", ".txt", "a.example?", "a:x", "a#b", "a:0x50"] {
            assert_eq!(host(name), None, "{name}");
        }
    }

    #[test]
    fn files_are_captures_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let files: &[(&str, &str)] = &[
            ("c.example", ""),
            ("b.example.txt", "0123456789ab"),
            ("a.example", "0123456789abc"),
            ("d.example", &"d".repeat(3 * FILE_READ_OCTETS)),
            ("user@e.example", "no host"),
            ("dump.warc.gz", "another format"),
        ];
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("f.example")).unwrap();
        let found = read_folder(folder.path());

        let cut = CaptureNotes::EMPTY.with(CaptureNote::BodyCut);
        let expected = [
            ("a.example", "0123456789ab", cut),
            ("b.example", "0123456789ab", CaptureNotes::EMPTY),
            ("c.example", "", CaptureNotes::EMPTY),
            ("d.example", "dddddddddddd", cut),
        ];
        assert_eq!(found.captures.len(), expected.len(), "{found:?}");
        for (kept, (host, body, notes)) in found.captures.iter().zip(expected) {
            assert!(kept.is_host);
            assert_eq!(kept.subject, host);
            assert_eq!(&*kept.capture.body, body.as_bytes());
            assert_eq!(kept.capture.notes, notes);
            assert_eq!(kept.capture.answer, Answer::Status(200));
            assert_eq!(kept.capture.captured_at, None);
        }
        let broken: Vec<_> =
            found.broken.iter().map(|broken| (broken.place.as_str(), broken.kind)).collect();
        let senseless = |place| (place, BrokenKind::Senseless);
        let expected =
            ["file dump.warc.gz", "file f.example", "file user@e.example"].map(senseless);
        assert_eq!(broken, expected);
    }

    #[test]
    fn a_long_file_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..5 * FILE_READ_OCTETS + 1).map(|index| index as u8).collect();
        std::fs::write(folder.path().join("a.example"), &text).unwrap();
        let found = read_all(&mut open(folder.path()).unwrap(), None);
        assert!(found.captures[0].capture.body == text, "the file came out changed");
        assert_eq!(found.captures[0].capture.notes, CaptureNotes::EMPTY);
    }

    #[test]
    fn more_files_than_a_batch_has() {
        let folder = tempfile::tempdir().unwrap();
        let count = 2 * FOLDER_BATCH_FILES + 1;
        for index in 0..count {
            std::fs::write(folder.path().join(format!("h{index:04}.example")), "x").unwrap();
        }
        let found = read_folder(folder.path());
        let hosts: Vec<_> = found.captures.iter().map(|kept| kept.subject.as_str()).collect();
        assert_eq!(hosts.len(), count);
        assert!(hosts.is_sorted());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_a_dead_one_is_unreadable() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("file"), "text").unwrap();
        symlink(other.path().join("file"), folder.path().join("a.example")).unwrap();
        symlink(other.path(), folder.path().join("b.example")).unwrap();
        symlink(other.path().join("nothing"), folder.path().join("c.example")).unwrap();
        let found = read_folder(folder.path());
        assert_eq!(found.captures.len(), 1);
        assert_eq!(&*found.captures[0].capture.body, b"text");
        let kinds: Vec<_> = found.broken.iter().map(|broken| broken.kind).collect();
        assert_eq!(kinds, [BrokenKind::Senseless, BrokenKind::Unreadable]);
        assert!(found.broken[1].problem.starts_with("cannot be read ("), "{found:?}");
    }

    #[test]
    fn a_file_that_goes_before_it_is_read_is_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.example"), "text").unwrap();
        let mut reader = open(folder.path()).unwrap();
        std::fs::remove_file(folder.path().join("a.example")).unwrap();
        let found = read_all(&mut reader, None);
        assert_eq!((found.captures.len(), found.broken.len()), (0, 1));
        assert_eq!(found.broken[0].kind, BrokenKind::Unreadable);
    }

    #[test]
    fn what_is_no_folder_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(open(file.path()).is_err());
        assert!(open(&file.path().join("nothing")).is_err());
    }
}
