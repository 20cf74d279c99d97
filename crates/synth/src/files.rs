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
use std::io::{self, Write};
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
            None => {
                let folder = folder.join("robots");
                fs::create_dir(&folder).map_err(cannot_write(&folder))?;
                (0..self.hosts).into_par_iter().try_for_each(|host| {
                    let path = folder.join(self.host(host));
                    fs::write(&path, self.robots(host)).map_err(cannot_write(&path))
                })?;
            }
            Some(format) => {
                let is_json = format == ArchiveFormat::JsonLines;
                let name = if is_json { "robots.jsonl" } else { "robots.warc.gz" };
                let (path, head) = (folder.join(name), self.archive_head(format));
                let at_once = (CAPTURES_AT_ONCE / self.captures).max(1);
                write(&path, head, (self.hosts, at_once), |host, out| {
                    out.extend(self.archived(host, format));
                })?;
            }
        }
        let (name, head) = if has_times { ("urls.tsv", "url\ttime\n") } else { ("urls.txt", "") };
        write(&folder.join(name), head.into(), (urls, URLS_AT_ONCE), |position, out| {
            out.extend_from_slice(self.url(position).as_bytes());
            if has_times {
                out.push(b'\t');
                out.extend_from_slice(self.url_time(position).as_bytes());
            }
            out.push(b'\n');
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
    head: Vec<u8>,
    (end, at_once): (u64, u64),
    make: impl Fn(u64, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let positions_at_once = at_once * (rayon::current_num_threads() * PIECES_PER_THREAD) as u64;
    let written = || {
        let mut file = File::create_new(path)?;
        file.write_all(&head)?;
        for start in (0..end).step_by(positions_at_once as usize) {
            let stop = end.min(start + positions_at_once);
            let starts: Vec<u64> = (start..stop).step_by(at_once as usize).collect();
            let pieces = starts.into_par_iter().map(|start| {
                let mut bytes = Vec::new();
                (start..stop.min(start + at_once)).for_each(|position| make(position, &mut bytes));
                bytes
            });
            pieces.collect::<Vec<_>>().iter().try_for_each(|piece| file.write_all(piece))?;
        }
        Ok(())
    };
    written().map_err(cannot_write(path))
}
