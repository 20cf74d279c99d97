//! `--unknown-hosts FILE`: every host without a policy, with the number of its URLs, in any number.
//!
//! Hosts are counted in a table of at most [`UNKNOWN_HOSTS_AT_ONCE`]. A full table is written to a
//! temporary file, sorted, and begun anew; in the end the sorted runs are merged. Temporary files are
//! beside the output and have no name, so nothing is left of them after any exit.
//!
//! Cost: one lookup for each host of a chunk; without runs no file but the output. Memory: the table,
//! and a buffer for each of at most [`SORTED_RUNS_MAX`] runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use portcullis_dialect::limits::{SORTED_RUNS_MAX, UNKNOWN_HOSTS_AT_ONCE};
use portcullis_report::NameCounts;

use super::output::{CompleteOutput, Output, OutputFailed, OutputFile};

/// Bytes of lines that are handed to the output at once.
const LINES_BYTES: usize = 64 * 1024;

/// The counts of a run.
pub struct HostCounts {
    output: Output,
    name: String,
    folder: PathBuf,
    at_once: usize,
    table: NameCounts,
    /// Sorted lines, each a host, TAB and its count.
    runs: Vec<File>,
}

impl HostCounts {
    /// Opens the output.
    pub fn create(path: &OutputFile) -> Result<HostCounts, OutputFailed> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Ok(HostCounts {
            output: Output::create(path)?,
            name: path.display().to_string(),
            folder: folder.unwrap_or(Path::new(".")).to_owned(),
            at_once: UNKNOWN_HOSTS_AT_ONCE,
            table: NameCounts::default(),
            runs: Vec::new(),
        })
    }

    /// Adds the hosts of the next piece, all of which are counted.
    pub fn add(&mut self, piece: &NameCounts) -> Result<(), OutputFailed> {
        if self.table.names() > 0 && self.table.names() + piece.names() > self.at_once {
            self.spill().map_err(|error| OutputFailed::new(&self.name, error))?;
        }
        self.table.merge(piece, usize::MAX);
        Ok(())
    }

    /// Writes the counts by host. The file does not have its name yet.
    pub fn complete(mut self) -> Result<CompleteOutput, OutputFailed> {
        let failed = |error| OutputFailed::new(&self.name, error);
        let mut lines = Lines { text: Vec::new(), sink: Sink(&mut self.output) };
        merge(&mut self.runs, sorted(&self.table), &mut lines).map_err(failed)?;
        lines.flush().map_err(failed)?;
        self.output.complete()
    }

    /// Writes the table as a sorted run. If there are many, all of them become one.
    fn spill(&mut self) -> io::Result<()> {
        let is_full = self.runs.len() == SORTED_RUNS_MAX;
        let mut merged = if is_full { std::mem::take(&mut self.runs) } else { Vec::new() };
        let run = BufWriter::new(tempfile::tempfile_in(&self.folder)?);
        let mut lines = Lines { text: Vec::new(), sink: run };
        merge(&mut merged, sorted(&self.table), &mut lines)?;
        lines.flush()?;
        self.runs.push(lines.sink.into_inner()?);
        self.table.clear();
        Ok(())
    }
}

/// An output as a writer.
struct Sink<'o>(&'o mut Output);

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|failed| io::Error::from(failed.kind()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the hosts of a table with their counts, sorted.
fn sorted(table: &NameCounts) -> Vec<(&[u8], u64)> {
    let mut hosts: Vec<(&[u8], u64)> = table.iter().collect();
    hosts.sort_unstable();
    hosts
}

/// Writes lines to a sink, many at once.
struct Lines<S> {
    text: Vec<u8>,
    sink: S,
}

impl<S: Write> Lines<S> {
    fn push(&mut self, host: &[u8], urls: u64) -> io::Result<()> {
        self.text.extend_from_slice(host);
        writeln!(self.text, "\t{urls}")?;
        if self.text.len() >= LINES_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

/// Merges sorted runs and the hosts of a table, adding the counts of equal hosts.
fn merge<S: Write>(
    runs: &mut [File],
    table: Vec<(&[u8], u64)>,
    lines: &mut Lines<S>,
) -> io::Result<()> {
    let mut readers = Vec::with_capacity(runs.len());
    let mut next = BinaryHeap::new();
    for (number, run) in runs.iter_mut().enumerate() {
        run.rewind()?;
        let mut reader = BufReader::with_capacity(LINES_BYTES, run);
        next.extend(read_line(&mut reader)?.map(|(host, urls)| Reverse((host, urls, number))));
        readers.push(reader);
    }
    let mut table = table.into_iter();
    let mut of_table =
        move || table.next().map(|(host, urls)| Reverse((host.to_vec(), urls, usize::MAX)));
    next.extend(of_table());
    let mut last: Option<(Vec<u8>, u64)> = None;
    while let Some(Reverse((host, urls, number))) = next.pop() {
        next.extend(match readers.get_mut(number) {
            Some(reader) => read_line(reader)?.map(|(host, urls)| Reverse((host, urls, number))),
            None => of_table(),
        });
        match &mut last {
            Some((same, sum)) if *same == host => *sum += urls,
            _ => {
                if let Some((host, urls)) = last.replace((host, urls)) {
                    lines.push(&host, urls)?;
                }
            }
        }
    }
    last.map_or(Ok(()), |(host, urls)| lines.push(&host, urls))
}

/// Reads a line of a run; `None` at its end.
fn read_line(reader: &mut impl BufRead) -> io::Result<Option<(Vec<u8>, u64)>> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a temporary file was changed");
    let tab = line.iter().rposition(|&byte| byte == b'\t').ok_or_else(damaged)?;
    let urls = line.strip_suffix(b"\n").and_then(|line| str::from_utf8(&line[tab + 1..]).ok());
    let urls = urls.and_then(|urls| urls.parse().ok()).ok_or_else(damaged)?;
    line.truncate(tab);
    Ok(Some((line, urls)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use clap::builder::TypedValueParser;

    use super::*;

    /// Made-up pieces, through tables of few hosts, so that runs are written and merged again.
    #[test]
    fn counts_are_exact_for_tables_of_any_size() {
        let folder = tempfile::tempdir().unwrap();
        let mut number = 7_u32;
        let mut random = move |below: u32| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 8) % below
        };
        for (at_once, pieces) in [(1, 300), (2, 40), (50, 200), (5_000, 20), (5_000, 0)] {
            let path = folder.path().join("hosts");
            let command = clap::Command::new("");
            let parser = <OutputFile as clap::builder::ValueParserFactory>::value_parser();
            let file = parser.parse_ref(&command, None, path.as_os_str()).unwrap();
            let mut counts = HostCounts { at_once, ..HostCounts::create(&file).unwrap() };
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for _ in 0..pieces {
                let mut piece = NameCounts::default();
                for _ in 0..random(30) {
                    let (host, urls) = (format!("h{}.example", random(500)), random(9).into());
                    piece.add(host.as_bytes(), urls, usize::MAX);
                    *expected.entry(host).or_default() += urls;
                }
                counts.add(&piece).unwrap();
            }
            assert_eq!(counts.runs.is_empty(), at_once == 5_000);
            assert!(counts.runs.len() <= SORTED_RUNS_MAX);
            CompleteOutput::publish_all([counts.complete().unwrap()]).unwrap();
            let lines = expected.iter().map(|(host, urls)| format!("{host}\t{urls}\n"));
            assert_eq!(fs::read_to_string(&path).unwrap(), lines.collect::<String>());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
