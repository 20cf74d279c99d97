//! Sequences of hosts, before they are stored in a set: in memory or in a temporary file.

use portcullis_files::error::WriteError;
use portcullis_files::scratch::{Scratch, Spool, SpoolReader};

use crate::codec;
use crate::ingest::Captured;
use crate::limits::CAPTURES_AT_ONCE;
use crate::pool::BlobPool;
use crate::standing::HostStanding;

/// What is known about each origin: what a set is compiled from.
#[derive(Debug, Default)]
pub struct Standings {
    /// The hosts, sorted by key.
    pub hosts: Hosts,
    /// The content of their files.
    pub pool: BlobPool,
    /// The captures that count, from which the hosts follow: the log of the set. `None` for files that
    /// were never captured, and for what is asked and not stored.
    pub captured: Option<Captured>,
}

impl Standings {
    /// Creates standings of hosts in the order of their keys, in memory, without history.
    pub fn in_memory(hosts: impl IntoIterator<Item = HostStanding>, pool: BlobPool) -> Standings {
        let mut standings = Standings { pool, ..Standings::default() };
        for host in hosts {
            standings.hosts.push(&host).expect("memory does not fail");
        }
        standings
    }
}

/// Hosts in the order of their keys, in memory or in a temporary file.
#[derive(Debug, Default)]
pub struct Hosts {
    records: Spool,
    count: u64,
    /// Whether some host has timelines.
    has_history: bool,
    record: Vec<u8>,
}

impl Hosts {
    /// Creates an empty list.
    pub fn new(scratch: &Scratch) -> Hosts {
        Hosts { records: Spool::new(scratch), ..Hosts::default() }
    }

    /// Appends a host, whose key is greater than those before it.
    pub fn push(&mut self, host: &HostStanding) -> Result<(), WriteError> {
        self.record.clear();
        codec::push_host(&mut self.record, host);
        self.count += 1;
        self.has_history |= host.timelines.is_some();
        self.records.write_record(&self.record)
    }

    /// Returns the number of hosts.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether the history of some host was kept.
    pub fn has_history(&self) -> bool {
        self.has_history
    }

    /// Reads all hosts into memory.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be read.
    pub fn to_vec(&self) -> Result<Vec<HostStanding>, WriteError> {
        self.iter().collect()
    }

    /// Reads the hosts in order.
    pub fn iter(&self) -> HostReader<'_> {
        HostReader { hosts: self, reader: self.records.reader(), record: Vec::new() }
    }
}

/// Reads [`Hosts`].
#[derive(Debug)]
pub struct HostReader<'h> {
    hosts: &'h Hosts,
    reader: SpoolReader<'h>,
    record: Vec<u8>,
}

impl HostReader<'_> {
    fn read(&mut self) -> Result<HostStanding, WriteError> {
        self.reader.read_record(&mut self.record)?;
        codec::host(&self.record).ok_or_else(|| self.hosts.records.changed())
    }
}

impl Iterator for HostReader<'_> {
    type Item = Result<HostStanding, WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.reader.is_at_end()).then(|| self.read())
    }
}

/// Reads hosts until they have [`CAPTURES_AT_ONCE`] captures, which `captures` counts.
pub(crate) fn next_piece<T>(
    reader: &mut impl Iterator<Item = Result<T, WriteError>>,
    captures: impl Fn(&T) -> usize,
) -> Result<Vec<T>, WriteError> {
    let (mut piece, mut count) = (Vec::new(), 0);
    while count < CAPTURES_AT_ONCE
        && let Some(host) = reader.next().transpose()?
    {
        count += captures(&host);
        piece.push(host);
    }
    Ok(piece)
}
