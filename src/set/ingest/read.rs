//! All inputs to the captures that may count, by as many threads as there are.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::capture::{Batch, BatchReader, CaptureError, ReadConfig};

use super::digest::{Digest, Digester};
use super::inputs::{InputReport, OpenReport};
use super::newest::Newest;
use super::turns::{OpenInput, Taken, Turn, Turns};
use super::{IngestConfig, IngestObserver, Progress};

/// Opens the input at a position.
pub(super) type Open<'o> = dyn Fn(usize) -> Result<Box<dyn BatchReader>, CaptureError> + Sync + 'o;

/// What all threads work on.
struct Reading<'r> {
    turns: Turns,
    open: &'r Open<'r>,
    config: &'r IngestConfig,
    observer: &'r dyn IngestObserver,
    ingested: Mutex<(Newest, Vec<OpenReport>)>,
}

/// Reads each input, of which there is a report each, to its end or as far as it can be read.
///
/// Every thread of the current pool takes part.
pub(super) fn read_all(
    reports: Vec<OpenReport>,
    open: &Open<'_>,
    config: &IngestConfig,
    observer: &dyn IngestObserver,
) -> (Newest, Vec<InputReport>) {
    let reading = Reading {
        turns: Turns::new(reports.len()),
        open,
        config,
        observer,
        ingested: Mutex::new((Newest::new(&config.dialect.access), reports)),
    };
    // Once on each thread: a task that waits for a turn keeps no other from running, as one could
    // if a thread took it up while it has an input.
    rayon::broadcast(|_| reading.work());
    let (newest, reports) = reading.ingested.into_inner().unwrap_or_else(PoisonError::into_inner);
    (newest, reports.into_iter().map(OpenReport::close).collect())
}

impl Reading<'_> {
    /// Reads pieces until there are none.
    fn work(&self) {
        let (mut digest, mut scratch) = (Digest::default(), Vec::new());
        while let Some(turn) = self.turns.take() {
            let cut = match turn {
                Turn::Open(input, taken) => self.open(input, taken),
                Turn::Read(open, taken) => self.cut(open, taken),
            };
            if let Some((input, piece, batch)) = cut {
                self.read(input, piece, &*batch, &mut digest, &mut scratch);
            }
        }
    }

    /// Opens an input and cuts its first piece off.
    fn open(&self, input: usize, taken: Taken<'_>) -> Option<(u32, u32, Box<dyn Batch>)> {
        let number = u32::try_from(input).expect("fewer than 2^32 inputs");
        match (self.open)(input) {
            Ok(reader) => self.cut(OpenInput { input: number, reader, pieces: 0 }, taken),
            Err(error) => {
                self.fail(number, &error);
                None
            }
        }
    }

    /// Cuts the next piece off an input and puts the rest back.
    fn cut(&self, mut open: OpenInput, taken: Taken<'_>) -> Option<(u32, u32, Box<dyn Batch>)> {
        match open.reader.next_batch() {
            Ok(Some(batch)) => {
                let (input, piece) = (open.input, open.pieces);
                open.pieces = piece.checked_add(1).expect("fewer than 2^32 pieces");
                taken.put_back(open);
                Some((input, piece, batch))
            }
            Ok(None) => None,
            Err(error) => {
                self.fail(open.input, &error);
                None
            }
        }
    }

    fn read(
        &self,
        input: u32,
        piece: u32,
        batch: &dyn Batch,
        digest: &mut Digest,
        scratch: &mut Vec<u8>,
    ) {
        digest.clear();
        let config = ReadConfig { robots_bytes_max: self.config.robots_bytes_max };
        batch.read(&config, &mut Digester::new(self.config, digest, scratch, input, piece));
        let bytes = batch.stored_bytes();
        let progress = Progress {
            bytes,
            captures: digest.captures().len() as u64,
            broken: digest.broken_count,
        };
        let mut ingested = self.ingested();
        ingested.0.take_digest(digest);
        ingested.1[input as usize].add(bytes, digest);
        drop(ingested);
        self.observer.progressed(&progress);
    }

    fn fail(&self, input: u32, error: &CaptureError) {
        self.ingested().1[input as usize].set_failure(error);
    }

    fn ingested(&self) -> MutexGuard<'_, (Newest, Vec<OpenReport>)> {
        // A panic of another thread ends the whole as soon as this one is done.
        self.ingested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
