//! `--unknown-hosts FILE`: every host without a policy, with the number of its URLs, in any number.
//!
//! Hosts are counted in a table of at most [`UNKNOWN_HOSTS_AT_ONCE`]. A full table is written as a
//! [sorted run](SortedRuns) next to the output, and begun anew; in the end the runs are merged.
//!
//! Cost: one lookup for each host of a chunk; without runs no file but the output. Memory: the table,
//! and a buffer for each run.

use portcullis_files::runs::{SortedRuns, merge};
use portcullis_files::scratch::Scratch;
use portcullis_report::NameCounts;

use super::limits::{UNKNOWN_HOSTS_AT_ONCE, UNKNOWN_HOSTS_RUNS_MEMORY};
use super::output::{CompleteOutput, Output, OutputFailed, OutputFile};

/// Bytes of lines that are handed to the output at once.
const LINES_BYTES: usize = 64 * 1024;

/// The counts of a run.
pub struct HostCounts {
    output: Output,
    at_once: usize,
    table: NameCounts,
    /// Hosts, each with its count in eight bytes.
    runs: SortedRuns,
}

impl HostCounts {
    /// Opens the output.
    pub fn create(path: &OutputFile) -> Result<HostCounts, OutputFailed> {
        Ok(HostCounts {
            output: Output::create(path)?,
            at_once: UNKNOWN_HOSTS_AT_ONCE,
            table: NameCounts::default(),
            runs: SortedRuns::new(&Scratch::new(Some(path), Some(UNKNOWN_HOSTS_RUNS_MEMORY))),
        })
    }

    /// Adds the hosts of the next piece, all of which are counted.
    pub fn add(&mut self, piece: &NameCounts) -> Result<(), OutputFailed> {
        if self.table.names() > 0 && self.table.names() + piece.names() > self.at_once {
            self.spill()?;
        }
        self.table.merge(piece, usize::MAX);
        Ok(())
    }

    /// Writes the counts by host. The file does not have its name yet.
    pub fn complete(mut self) -> Result<CompleteOutput, OutputFailed> {
        if !self.runs.is_empty() {
            self.spill()?;
        }
        let (output, mut text) = (&mut self.output, Vec::new());
        let mut write = |host: &[u8], urls: u64| {
            text.extend_from_slice(host);
            text.extend_from_slice(format!("\t{urls}\n").as_bytes());
            let is_long = text.len() >= LINES_BYTES;
            if is_long { output.write(&std::mem::take(&mut text)) } else { Ok(()) }
        };
        sorted(&self.table).into_iter().try_for_each(|(host, urls)| write(host, urls))?;
        for joined in merge(self.runs.readers()) {
            let (host, counts) = joined?;
            let urls =
                |count: &Vec<u8>| count.first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
            write(&host, counts.iter().map(urls).sum())?;
        }
        self.output.complete_with(&text)
    }

    /// Writes the table as a sorted run.
    fn spill(&mut self) -> Result<(), OutputFailed> {
        self.runs.push(|run| {
            sorted(&self.table).into_iter().try_for_each(|(host, urls)| {
                run.write_record(host)?;
                run.write_record(&urls.to_le_bytes())
            })
        })?;
        self.table.clear();
        Ok(())
    }
}

/// Returns the hosts of a table with their counts, sorted.
fn sorted(table: &NameCounts) -> Vec<(&[u8], u64)> {
    let mut hosts: Vec<(&[u8], u64)> = table.iter().collect();
    hosts.sort_unstable();
    hosts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

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
            let file = OutputFile::parse(path.clone().into()).unwrap();
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
            CompleteOutput::publish_all([counts.complete().unwrap()]).unwrap();
            let lines = expected.iter().map(|(host, urls)| format!("{host}\t{urls}\n"));
            assert_eq!(fs::read_to_string(&path).unwrap(), lines.collect::<String>());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
