//! A corpus as files in a folder, made on all threads of the calling rayon pool.
//!
//! | file | has |
//! |---|---|
//! | `robots/HOST` | the file of each host, or of all: |
//! | `robots.jsonl`, `robots.warc.gz` | the answers to GET /robots.txt, with histories if the corpus has them |
//! | `urls.txt` | the list of URLs, or of them: |
//! | `urls.tsv` | URL and time, if the corpus has histories |
//!
//! The list is written last, so a corpus with a list is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::{ArchiveFormat, Corpus};

/// The captures and URLs in one unit of work, which is about 400 KiB.
const CAPTURES_AT_ONCE: u64 = 256;
const URLS_AT_ONCE: u64 = 5_000;

/// The units of work per thread that are generated before they are written.
const PIECES_PER_THREAD: usize = 4;

impl Corpus {
    /// Writes the corpus with this number of URLs to `folder`, which is made if it does not exist. Without
    /// the format of an archive, each host has a file.
    ///
    /// # Errors
    ///
    /// If a file to write exists, or cannot be written; the message names it. A folder of files cannot
    /// have histories.
    pub fn write_files(
        &self,
        folder: &Path,
        urls: u64,
        archive: Option<ArchiveFormat>,
    ) -> io::Result<()> {
        fs::create_dir_all(folder).map_err(cannot_write(folder))?;
        let has_times = self.captures > 1;
        match archive {
            None if has_times => {
                let wrong = "a folder has one file per host; histories need JSON Lines or WARC";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, wrong));
            }
            None => self.write_folder(&folder.join("robots"))?,
            Some(format @ ArchiveFormat::JsonLines) => {
                self.write_archive(format, &folder.join("robots.jsonl"))?;
            }
            Some(format @ ArchiveFormat::Warc) => {
                self.write_archive(format, &folder.join("robots.warc.gz"))?;
            }
        }
        let list = folder.join(if has_times { "urls.tsv" } else { "urls.txt" });
        let head: &[u8] = if has_times { b"url\ttime\n" } else { b"" };
        write(&list, head, (urls, URLS_AT_ONCE), |position, out| {
            self.write_url(position, out);
            if has_times {
                out.push(b'\t');
                self.write_url_time(position, out);
            }
            out.push(b'\n');
        })
    }

    fn write_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder).map_err(cannot_write(folder))?;
        (0..self.hosts).into_par_iter().try_for_each_init(Vec::new, |robots, host| {
            robots.clear();
            self.write_robots(host, robots);
            let path = folder.join(self.host(host));
            fs::write(&path, robots).map_err(cannot_write(&path))
        })
    }

    fn write_archive(&self, format: ArchiveFormat, path: &Path) -> io::Result<()> {
        let mut head = Vec::new();
        self.write_archive_head(format, &mut head);
        let at_once = (CAPTURES_AT_ONCE / self.captures).max(1);
        write(path, &head, (self.hosts, at_once), |host, out| {
            self.write_archived(host, format, out)
        })
    }
}

/// Adds the name of a file to an error.
fn cannot_write(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}

/// Writes a new file: `head`, then the items up to an end in order, which are generated in units of
/// `at_once` on all threads.
fn write(
    path: &Path,
    head: &[u8],
    (end, at_once): (u64, u64),
    make: impl Fn(u64, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let pieces_at_once = rayon::current_num_threads() * PIECES_PER_THREAD;
    let piece = |positions: Range<u64>| {
        let mut bytes = Vec::new();
        positions.for_each(|position| make(position, &mut bytes));
        bytes
    };
    let written = || {
        let mut file = BufWriter::new(File::create_new(path)?);
        file.write_all(head)?;
        let mut start = 0;
        while start < end {
            let starts = (0..pieces_at_once as u64).map(|number| start + number * at_once);
            let starts: Vec<u64> = starts.take_while(|&start| start < end).collect();
            let made = starts.into_par_iter().map(|start| piece(start..end.min(start + at_once)));
            made.collect::<Vec<_>>().iter().try_for_each(|bytes| file.write_all(bytes))?;
            start = end.min(start + pieces_at_once as u64 * at_once);
        }
        file.flush()
    };
    written().map_err(cannot_write(path))
}
