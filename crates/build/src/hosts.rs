//! The hosts that a set is compiled from, in the order of their keys, piece by piece.

use std::borrow::Cow;

use portcullis_files::error::WriteError;
use portcullis_robots::access::LongOutage;

use crate::ingest::{Captures, Settler, Settling, StandingCounts};
use crate::pool::BlobPool;
use crate::standing::{Content, HostStanding};

/// The standing of each origin, from which a set is compiled.
#[derive(Debug, Default)]
pub struct Standings {
    /// Hosts that were never captured, sorted by key.
    known: Vec<HostStanding>,
    /// Captures, from which the hosts follow each time that they are read.
    settling: Option<Box<Settling>>,
    /// The content of their files.
    pub pool: BlobPool,
}

impl Standings {
    /// Creates standings of hosts in the order of their keys, in memory.
    pub fn in_memory(hosts: impl IntoIterator<Item = HostStanding>, pool: BlobPool) -> Standings {
        Standings { known: hosts.into_iter().collect(), settling: None, pool }
    }

    pub(crate) fn from_captures(settling: Settling, pool: BlobPool) -> Standings {
        Standings { known: Vec::new(), settling: Some(Box::new(settling)), pool }
    }

    /// Returns whether there are captures, which are the log of the set. There are none for files that were
    /// never captured, and for what is known as of another time, which is asked and not stored.
    pub(crate) fn has_captures(&self) -> bool {
        self.settling.is_some()
    }

    /// Returns whether the history of hosts is known.
    pub fn has_history(&self) -> bool {
        self.settling.as_ref().is_some_and(|settling| settling.has_history())
    }

    /// Returns the choice for long outages.
    pub(crate) fn long_outage(&self) -> LongOutage {
        self.settling.as_ref().map_or(LongOutage::NoChange, |it| it.settle.long_outage)
    }

    /// Reads the hosts in order.
    pub(crate) fn pieces(&self) -> HostPieces<'_> {
        let settler = self.settling.as_ref().map(|settling| settling.settler(&self.pool));
        HostPieces { known: &self.known, settler }
    }

    /// Returns all hosts.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be read.
    pub fn to_vec(&self) -> Result<Vec<HostStanding>, WriteError> {
        let mut hosts = Vec::new();
        for piece in self.pieces() {
            hosts.extend(piece?.hosts.into_owned().into_iter().filter(HostStanding::is_host));
        }
        Ok(hosts)
    }

    /// Counts all hosts and origins, as compiling them does.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be read.
    pub fn counts(&self) -> Result<StandingCounts, WriteError> {
        let mut counts = StandingCounts::default();
        for piece in self.pieces() {
            piece?.hosts.iter().for_each(|host| counts.add_host(host));
        }
        Ok(counts)
    }
}

/// Some hosts in the order of their keys. With captures, other resources are among them.
pub(crate) struct Piece<'s> {
    pub hosts: Cow<'s, [HostStanding]>,
    /// The captures of each; none at all if they were never captured.
    pub captures: Vec<Captures>,
}

impl Piece<'_> {
    /// Returns what each host and its captures have, in the order in which a set uses them.
    pub(crate) fn contents(&self) -> impl Iterator<Item = Content> {
        let captured = self.captures.iter().map(Some).chain(std::iter::repeat(None));
        self.hosts.iter().zip(captured).flat_map(|(host, captures)| {
            let files = captures.into_iter().flat_map(Captures::files).map(|(file, _)| file);
            host.contents().chain(files)
        })
    }
}

/// Reads hosts in the order of their keys.
pub(crate) struct HostPieces<'s> {
    known: &'s [HostStanding],
    settler: Option<Settler<'s>>,
}

impl<'s> Iterator for HostPieces<'s> {
    type Item = Result<Piece<'s>, WriteError>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = match &mut self.settler {
            None => {
                let hosts = Cow::Borrowed(std::mem::take(&mut self.known));
                Ok(Piece { hosts, captures: Vec::new() })
            }
            Some(settler) => settler.next_piece(),
        };
        Some(piece).filter(|piece| piece.as_ref().map_or(true, |piece| !piece.hosts.is_empty()))
    }
}
