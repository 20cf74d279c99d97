//! Generates a WARC file of answers from a folder of robots.txt files, and the resulting states.
//!
//! Usage: `warc_corpus ROBOTS OUT.warc.gz EXPECTED.tsv`, where ROBOTS is a folder of files named by
//! host. Each file becomes the answer of its host, as on the web: several answers of one origin at
//! different dates, redirects, hosts without a file or too busy to send it, pages instead of a file,
//! bodies that are chunked, compressed or truncated. EXPECTED has a
//! line `scheme://host<TAB>state` for each captured origin, by RFC 9309 and the usual limit on a
//! file's size. Files whose name is not a plain host name are left out. Prints the numbers of
//! hosts, answers and origins.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use portcullis_dialect::dialect::RFC_9309;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_synth::{Answers, Archive, ArchiveFormat, ArchivedFile};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A fixed seed, so that the same files give the same corpus.
const SEED: u64 = 1;

/// The most older answers of an origin. With redirects, a file has about three records.
const OLDER_ANSWERS_MAX: u64 = 4;

/// The number of hosts that are generated before they are written.
const HOSTS_AT_ONCE: usize = 1_024;

/// The output for a host: its records, the states of its origins, and the number of its answers.
type Piece = (Vec<u8>, Vec<u8>, usize);

fn main() -> Result<(), Failure> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [robots, warc, expected] = &arguments[..] else {
        return Err("usage: warc_corpus ROBOTS OUT.warc.gz EXPECTED.tsv".into());
    };
    let hosts = hosts(robots)?;
    let archive =
        Archive::new(SEED, ArchiveFormat::Warc, Answers::AsTheWeb { older_max: OLDER_ANSWERS_MAX });
    let mut warc = BufWriter::new(fs::File::create(warc)?);
    let mut expected = BufWriter::new(fs::File::create(expected)?);
    let mut head = Vec::new();
    archive.write_head(&mut head);
    warc.write_all(&head)?;
    let (mut answers, mut origins) = (0, 0);
    for (chunk, names) in hosts.chunks(HOSTS_AT_ONCE).enumerate() {
        let pieces: Vec<Piece> = names
            .par_iter()
            .enumerate()
            .map(|(host, name)| piece(&archive, chunk * HOSTS_AT_ONCE + host, robots, name))
            .collect::<Result<_, Failure>>()?;
        for (records, states, of_host) in pieces {
            warc.write_all(&records)?;
            expected.write_all(&states)?;
            answers += of_host;
            origins += memchr::memchr_iter(b'\n', &states).count();
        }
    }
    warc.flush()?;
    expected.flush()?;
    println!("{} hosts, {answers} answers, {origins} origins", hosts.len());
    Ok(())
}

/// Returns the names in a folder that are plain host names, sorted.
fn hosts(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
        names.extend(name.to_str().filter(|name| name.bytes().all(is_plain)).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

fn piece(archive: &Archive, position: usize, folder: &Path, name: &str) -> Result<Piece, Failure> {
    let robots = fs::read(folder.join(name))?;
    let file = RobotsTxt::parse(&robots, &RFC_9309, Some(ROBOTS_BYTES_MAX));
    let file = ArchivedFile {
        https: !position.is_multiple_of(8),
        host: name.as_bytes(),
        // The folder may already have names with `www.` and similar prefixes.
        other_host: &[b"made-up-name-of.", name.as_bytes()].concat(),
        robots: &robots,
        has_rules: !file.rules().is_empty(),
    };
    let (mut records, mut states) = (Vec::new(), Vec::new());
    let answers = archive.write_host(position as u64, &file, &mut records, &mut states);
    Ok((records, states, answers))
}
