//! Folders of robots.txt files named by host: `example.com`, `example.com.txt`,
//! `example.com.robots.txt`, `example.com:8080`, or `example.com/robots.txt` as in a mirror (`wget
//! -x`), each optionally followed by `.gz` or `.zst`.
//!
//! Each file is an answer with status 200 and the file as its body, decompressed if it is gzip or
//! zstd. The time of the fetch is not known: a file's time is when it was written locally.
//!
//! A host has a dot (`example.com`), or is `localhost` or an IPv6 address in brackets; a port may
//! follow. Other names, such as `Makefile` and hidden files, are not hosts.
//!
//! If several files are for one host, the one whose name sorts first is used. These entries are
//! broken records that may be skipped: the other files for the host; an entry that is not a regular
//! file or a link to one; a file whose name is not a host; a file that is surely of another kind; a
//! subfolder without a robots.txt; the `robots.txt.1` of a subfolder. All other files in a
//! subfolder are ignored. A file that the system cannot read, or whose compression is damaged, is
//! [unreadable](super::BrokenKind::Unreadable).
//!
//! Cost: the thread that reads a batch opens, reads and closes each of its files. In a subfolder,
//! four names are looked up. The list of names is held in memory and sorted, so the file system's
//! order does not matter.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limits::FOLDER_BATCH_FILES;
use portcullis_dialect::dialect::RFC_9309;
use portcullis_files::input::{InputError, fill_robots_txt};
use portcullis_robots::url::{host_key, split};

use super::body::settle;
use super::{
    Batch, BatchReader, BrokenRecord, CaptureFormat, CaptureSink, ReadConfig, Subject, check_file,
};

/// The endings that may follow the host in a file name, before the extension of a compression.
const ENDINGS: [&[u8]; 2] = [b".robots.txt", b".txt"];
const COMPRESSIONS: [&[u8]; 2] = [b".gz", b".zst"];

/// Extensions of files that are copies, pages or lists, and no top-level domains.
const EXTENSIONS: [&[u8]; 20] = [
    b"bak", b"bz2", b"csv", b"gz", b"html", b"htm", b"json", b"jsonl", b"log", b"old", b"orig",
    b"part", b"pdf", b"php", b"swp", b"tmp", b"tsv", b"txt", b"xml", b"xz",
];

/// The end of the names of files that are being written.
const UNFINISHED: &[u8] = b".unfinished";

/// The files that are looked up in a subfolder named by a host.
const OF_SUBFOLDER: [&str; 3] = ["robots.txt", "robots.txt.gz", "robots.txt.zst"];

/// The first file in a subfolder that `wget -P` did not write over an older one.
const OF_SECOND_DOWNLOAD: &str = "robots.txt.1";

/// The names of files that are read, for a message.
pub const NAMES: &str =
    "example.com, example.com.txt, example.com.robots.txt or example.com/robots.txt";

/// Lists the folder at `path`. Returns a reader that cuts it into batches of files.
///
/// # Errors
///
/// If `path` is not a folder, or the folder cannot be listed.
pub fn open(path: &Path) -> Result<impl BatchReader + use<>, InputError> {
    let entries = list(path).map_err(|error| match error.kind() {
        ErrorKind::NotADirectory => {
            InputError::list(path, "a file, not a folder; omit ‹input_format› folder")
        }
        _ => InputError::open(path, error),
    });
    let (folder, mut entries): (Arc<Path>, _) = (path.into(), entries?.into_iter());
    Ok(move || {
        let entries: Vec<Entry> = entries.by_ref().take(FOLDER_BATCH_FILES).collect();
        if entries.is_empty() {
            return Ok(None);
        }
        let folder = Arc::clone(&folder);
        // The sizes of files are not read.
        Ok(Some(Batch::new(0, move |config, sink| read(&folder, &entries, config, sink))))
    })
}

const NO_FILE: &str = "not a regular file";
const NO_ROBOTS: &str = "a folder without a robots.txt";
const ARCHIVE: &str = "its name is that of an archive; pass it as a separate input";
const NO_HOST: &str = "its name is not a host; name it by the host, such as example.com.txt";
const FOLDER_NO_HOST: &str = "a folder whose name is not a host; call it by its host, such as example.com, or \
     pass it alone if its entries are named after hosts";
const SAME_HOST: &str = "a file whose name sorts before it is for the same host; keep one of them";
const NUMBERED: &str =
    "another download next to robots.txt, which wget numbers; keep one of them, as robots.txt";

/// A path in the folder, and the reason if it is not read.
type Entry = (PathBuf, Option<&'static str>);

/// Returns the path of each entry of the folder at `path`, and whether it is read as a robots.txt.
///
/// # Errors
///
/// If the folder cannot be listed.
pub fn entries(path: &Path) -> io::Result<impl Iterator<Item = (PathBuf, bool)>> {
    let entries = list(path)?.into_iter();
    Ok(entries.map(|(name, problem)| (path.join(name), problem.is_none())))
}

/// Lists the folder, sorted by path. Of two files for one host, the first counts.
fn list(path: &Path) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        // An output of this run, or what is left of another (`AtomicFile`).
        if matches!(name.as_os_str().as_encoded_bytes(), [b'.', rest @ ..] if rest.ends_with(UNFINISHED))
        {
            continue;
        }
        // Most file systems list the type with the name. A dead link is reported as unreadable
        // later.
        let kind = match entry.file_type()? {
            kind if kind.is_symlink() => fs::metadata(entry.path()).ok().map(|it| it.file_type()),
            kind => Some(kind),
        };
        match kind {
            Some(kind) if kind.is_dir() => list_subfolder(path, name, &mut found),
            Some(kind) if !kind.is_file() => found.push((name, Some(NO_FILE))),
            Some(_) | None => found.push((name, None)),
        }
    }
    found.sort_unstable();
    let mut origins = HashSet::default();
    for (path, problem) in &mut found {
        *problem = problem.or_else(|| check_name(path, &mut origins).err());
    }
    Ok(found)
}

/// Adds the files of the subfolder `name`, or the reason why it has none.
fn list_subfolder(path: &Path, name: PathBuf, found: &mut Vec<Entry>) {
    if named_host(name.as_os_str().as_encoded_bytes()).is_none() {
        found.push((name, Some(FOLDER_NO_HOST)));
        return;
    }
    let before = found.len();
    for file in OF_SUBFOLDER {
        let file = name.join(file);
        match fs::metadata(path.join(&file)) {
            Ok(metadata) if !metadata.is_file() => found.push((file, Some(NO_FILE))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // A file that cannot be read is reported as unreadable later.
            Ok(_) | Err(_) => found.push((file, None)),
        }
    }
    let second = name.join(OF_SECOND_DOWNLOAD);
    match found.len() - before {
        0 => found.push((name, Some(NO_ROBOTS))),
        _ if path.join(&second).exists() => found.push((second, Some(NUMBERED))),
        _ => {}
    }
}

/// Hosts with their scheme. The hash is seeded at random, because the names are untrusted.
type Origins = HashSet<(bool, Vec<u8>), foldhash::fast::RandomState>;

fn check_name(path: &Path, origins: &mut Origins) -> Result<(), &'static str> {
    if CaptureFormat::from_name(path).is_some() {
        return Err(ARCHIVE);
    }
    let [http, https] = named_host(host_of(path)).ok_or(NO_HOST)?;
    // Both are inserted, so that a file applies to all origins of its host or to none.
    let is_new = origins.insert((false, http)) & origins.insert((true, https));
    if is_new { Ok(()) } else { Err(SAME_HOST) }
}

/// Returns the keys of a host that is a file name, or `None` if the name does not look like a host.
/// `a.example_robots` is none: no top-level domain is written so. Nor is `a.example+8443`, as a mirror has on a
/// system whose names have no `:`: no URL would have the file.
fn named_host(host: &[u8]) -> Option<[Vec<u8>; 2]> {
    let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default().to_ascii_lowercase();
    let is_domain = !last.contains(&b'_') && !last.ends_with(b"~") && !last.ends_with(b"-robots");
    if !is_domain || EXTENSIONS.contains(&&*last) || host.contains(&b'+') {
        return None;
    }
    let local = host.strip_prefix(b"localhost");
    let is_local = local.is_some_and(|rest| rest.is_empty() || rest.starts_with(b":"));
    let is_named = host.contains(&b'.') && !host.starts_with(b".");
    (is_local || is_named || host.starts_with(b"[")).then(|| host_keys(host))?
}

/// Reads some files of a folder.
fn read(folder: &Path, entries: &[Entry], config: &ReadConfig, sink: &mut CaptureSink<'_>) {
    let mut text = Vec::new();
    for (path, problem) in entries {
        let read = match problem {
            Some(problem) => Err(BrokenRecord::senseless(place(path), *problem)),
            None => read_file(folder, path, config, &mut text),
        };
        sink(read.map(|()| {
            let host = Subject::Host(Cow::Borrowed(host_of(path)));
            settle(200, Some(Cow::Borrowed(&text)), true, config).capture(host, None)
        }));
    }
}

/// Reads a file of a folder into `text`.
fn read_file(
    folder: &Path,
    name: &Path,
    config: &ReadConfig,
    text: &mut Vec<u8>,
) -> Result<(), BrokenRecord> {
    let path = folder.join(name);
    let path_name = path.display().to_string();
    let bytes_max = config.body_bytes_max().saturating_add(1); // which shows whether it is cut
    let opened = File::open(&path).map_err(|error| InputError::open(&path, error));
    let read = opened.and_then(|file| fill_robots_txt(&path_name, file, bytes_max, text));
    if read.is_ok() {
        return check_file(text).map_err(|problem| BrokenRecord::senseless(place(name), problem));
    }
    read.map_err(|error| {
        // The place has the name already.
        let text = error.to_string();
        let problem = text.strip_prefix(&format!("{path_name}: ")).unwrap_or(&text).to_owned();
        match error {
            InputError::WrongKind(_) => BrokenRecord::senseless(place(name), problem),
            // Some systems list a folder as a file.
            InputError::Open { error, .. } if error.kind() == ErrorKind::IsADirectory => {
                BrokenRecord::senseless(place(name), NO_FILE)
            }
            _ => BrokenRecord::unreadable(place(name), problem),
        }
    })
}

fn place(path: &Path) -> String {
    format!("file {}", path.display())
}

/// Returns the host in the name of a file or its subfolder. It may not be valid.
fn host_of(path: &Path) -> &[u8] {
    match path.parent().map(Path::as_os_str).map(OsStr::as_encoded_bytes) {
        Some(subfolder @ [_, ..]) => subfolder,
        _ => without(without(path.as_os_str().as_encoded_bytes(), COMPRESSIONS), ENDINGS),
    }
}

/// Returns a name without its ending, in any case, if it has one of these.
fn without<'n>(name: &'n [u8], endings: [&[u8]; 2]) -> &'n [u8] {
    let stem = |ending: &[u8]| {
        let (stem, tail) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
        tail.eq_ignore_ascii_case(ending).then_some(stem)
    };
    endings.into_iter().find_map(stem).unwrap_or(name)
}

/// Returns the keys of a host for http and for https (see [`host_key`]). They differ if the host
/// has the default port of one scheme. `None` if `host` is not a host.
pub fn host_keys(host: &[u8]) -> Option<[Vec<u8>; 2]> {
    let key = |scheme: &[u8]| {
        let url = [scheme, b"://", host, b"/"].concat();
        let parts = split(&url, RFC_9309.paths.path_start).ok()?;
        // The text must be the host alone, without user information or a path.
        let is_whole = parts.path == b"/" && !host.contains(&b'@');
        is_whole.then(|| host_key(&parts, &mut Vec::new()).map(<[u8]>::to_vec).ok())?
    };
    Some([key(b"http")?, key(b"https")?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BrokenKind;
    use crate::tests::{Keeper, read_all};
    use portcullis_dialect::Fetched;
    use portcullis_files::limits::FILE_READ_BYTES;
    use portcullis_robots::access::{CaptureNote, CaptureNotes};

    fn read_folder(path: &Path) -> Keeper {
        read_all(&mut open(path).unwrap(), Some(10))
    }

    #[test]
    fn names_are_hosts() {
        let keys = |name: &str| {
            let keys = named_host(host_of(Path::new(name)))?;
            Some(keys.map(|key| String::from_utf8(key).unwrap()))
        };
        let both = |http: &str, https: &str| Some([http.to_owned(), https.to_owned()]);
        assert_eq!(keys("Example.COM"), both("example.com", "example.com"));
        assert_eq!(keys("example.com.txt"), both("example.com", "example.com"));
        assert_eq!(keys("example.com.robots.txt"), both("example.com", "example.com"));
        assert_eq!(keys("exämple.com"), both("xn--exmple-cua.com", "xn--exmple-cua.com"));
        assert_eq!(keys("a.example:8443"), both("a.example:8443", "a.example:8443"));
        assert_eq!(keys("a.example:443"), both("a.example:443", "a.example"));
        assert_eq!(keys("[::1]:80.txt"), both("[::1]", "[::1]:80"));
        assert_eq!(keys("a.example.txt.gz"), both("a.example", "a.example"));
        assert_eq!(keys("WWW.A.EXAMPLE.TXT"), both("www.a.example", "www.a.example"));
        assert_eq!(keys("a.example.zst"), both("a.example", "a.example"));
        assert_eq!(keys("a_b.example"), both("a_b.example", "a_b.example"));
        assert_eq!(keys("localhost.txt"), both("localhost", "localhost"));
        assert_eq!(keys("localhost:8080"), both("localhost:8080", "localhost:8080"));
        assert_eq!(keys("a.example:81/robots.txt"), both("a.example:81", "a.example:81"));
        assert_eq!(keys("192.0.2.1/robots.txt.gz"), both("192.0.2.1", "192.0.2.1"));
        for name in [
            "user@a.example",
            "a.b c",
            ".txt",
            "a.example?",
            "a.b:x",
            "a.b#c",
            "a.b:0x50",
            "robots.txt",
            "Makefile",
            "urls.txt",
            "intranet:8080",
            "localhosts",
            ".DS_Store",
            ".hidden.example",
            "a.example_robots.txt",
            "a.example-Robots.txt",
            "a.example_443",
            "a.example.html",
            "a.example.com.BAK",
            "a.example~",
        ] {
            assert_eq!(keys(name), None, "{name}");
        }
    }

    #[test]
    fn of_two_files_for_one_host_the_first_by_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.example.txt", "a.example", "A.Example.robots.txt", "a.example:443"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let found = read_all(&mut open(folder.path()).unwrap(), None);
        assert_eq!(found.captures.len(), 1);
        assert_eq!(&*found.captures[0].capture.body, b"A.Example.robots.txt");
        assert!(found.broken.iter().all(|broken| broken.problem == SAME_HOST), "{found:?}");
        assert_eq!(found.broken.len(), 3);
    }

    #[test]
    fn files_are_captures_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let files: &[(&str, &str)] = &[
            ("c.example", ""),
            ("b.example.txt", "0123456789ab"),
            ("a.example", "0123456789abc"),
            ("d.example", &"d".repeat(3 * FILE_READ_BYTES)),
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
            assert_eq!(kept.capture.answer, Fetched::Status(200));
            assert_eq!(kept.capture.captured_at, None);
        }
        let broken: Vec<_> =
            found.broken.iter().map(|broken| (broken.place.as_str(), broken.kind)).collect();
        let senseless = |place| (place, BrokenKind::Senseless);
        let expected =
            ["file dump.warc.gz", "file f.example", "file user@e.example"].map(senseless);
        assert_eq!(found.broken[1].problem, NO_ROBOTS);
        assert_eq!(broken, expected);
    }

    #[test]
    fn a_mirror_has_a_folder_per_host() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        file("a.example/robots.txt", b"a");
        file("a.example/index.html", b"a page");
        file("a.example/robots.txt.1", b"later");
        file("b.example:8080/robots.txt", b"b");
        let zstd = zstd::encode_all(&b"c"[..], 1).unwrap();
        file("c.example/robots.txt.zst", &zstd);
        file("d.example/index.html", b"a page");
        file("e.example/robots.txt/index.html", b"a page");
        file("f.example.txt", b"second");
        file("f.example/robots.txt", b"first");
        file("no-host/robots.txt", b"no host");
        let found = read_folder(folder.path());
        let text = |kept: &crate::tests::OwnedCapture| {
            (kept.subject.clone(), String::from_utf8(kept.capture.body.to_vec()).unwrap())
        };
        let captures: Vec<_> = found.captures.iter().map(text).collect();
        let expected = [
            ("a.example", "a"),
            ("b.example:8080", "b"),
            ("c.example", "c"),
            ("f.example", "first"),
        ];
        assert_eq!(captures, expected.map(|(host, body)| (host.to_owned(), body.to_owned())));
        let broken: Vec<_> =
            found.broken.iter().map(|it| (it.place.as_str(), it.problem.as_str())).collect();
        let expected = [
            ("file a.example/robots.txt.1", NUMBERED),
            ("file d.example", NO_ROBOTS),
            ("file e.example/robots.txt", NO_FILE),
            ("file f.example.txt", SAME_HOST),
            ("file no-host", FOLDER_NO_HOST),
        ];
        assert_eq!(broken, expected);
    }

    #[test]
    fn a_long_file_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..5 * FILE_READ_BYTES + 1).map(|index| index as u8).collect();
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
        let BrokenRecord { place, problem, .. } = &found.broken[1];
        assert_eq!([&**place, problem], ["file c.example", "no such file or directory"]);
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
