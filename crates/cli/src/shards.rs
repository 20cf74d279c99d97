//! The parts of a run over lists: all lists together, or one after the other.
//!
//! Outputs of a run appear together. With `--skip-existing` or `--keep-going`, which need one output
//! for each list, a list is a run of its own: its output appears when it is complete, so that a run
//! that was stopped, or had a broken list, goes on where it ended.

use std::mem;

use anyhow::ensure;
use portcullis_set::Damage;

use super::args::ShardArgs;
use super::exit::ExitStatus;
use super::message::{Notes, counted};
use super::output::OutputFailed;
use super::outputs::{Destinations, Outputs};
use super::plan::StreamPlan;
use super::summary::Outcome;

/// The parts of a run, each with its outputs.
pub struct Shards {
    parts: Vec<(StreamPlan, Outputs)>,
    keeps_going: bool,
    notes: Notes,
}

impl Shards {
    /// Divides a run. An output for all lists is opened now, so that what cannot be written is known
    /// before any work.
    ///
    /// # Errors
    ///
    /// If the output cannot be opened, or records of all lists go to a file as well.
    pub fn of(
        mut stream: StreamPlan,
        destinations: Destinations,
        ShardArgs { skip_existing, keep_going }: ShardArgs,
        sets_aside: bool,
    ) -> anyhow::Result<Shards> {
        stream.shows_cuts |= destinations.are_compressed();
        let paths = match destinations {
            Destinations::Each(paths) if skip_existing || keep_going => paths,
            all => {
                let notes = stream.notes.clone();
                let outputs = Outputs::open(all)?;
                return Ok(Shards { parts: vec![(stream, outputs)], keeps_going: false, notes });
            }
        };
        ensure!(
            !sets_aside,
            "--skip-existing and --keep-going write one output for each list, and --rejects, \
             --unknown FILE, --invalid FILE and --unknown-hosts one for all; omit either"
        );
        let mut notes = mem::take(&mut stream.notes);
        let are_hidden = notes.are_hidden;
        let lists = mem::take(&mut stream.inputs);
        let count = lists.len();
        let mut parts = Vec::with_capacity(count);
        for (list, path) in lists.into_iter().zip(paths) {
            if skip_existing && path.exists() {
                continue;
            }
            let notes = Notes { are_hidden, kept: Vec::new() };
            let part = StreamPlan { inputs: vec![list], notes, ..stream.clone() };
            parts.push((part, Outputs::open(Destinations::Each(vec![path]))?));
        }
        if parts.len() < count {
            let skipped = counted((count - parts.len()) as u64, "list");
            notes.add(format!("{skipped} left out, whose outputs exist (--skip-existing)"));
        }
        Ok(Shards { parts, keeps_going: keep_going, notes })
    }

    /// Calls `run` for every part, and returns the sum of the outcomes and the exit status.
    ///
    /// # Errors
    ///
    /// The first error of `run`. With `--keep-going`, a list that cannot be read is none: it is
    /// reported, and the status is that of a failure.
    pub fn run(
        self,
        mut run: impl FnMut(&StreamPlan, Outputs) -> anyhow::Result<Outcome>,
    ) -> anyhow::Result<(Outcome, ExitStatus)> {
        let Shards { parts, keeps_going, mut notes } = self;
        let (count, mut failed) = (parts.len(), 0_u64);
        let mut sum: Option<Outcome> = None;
        for (mut stream, outputs) in parts {
            if let Some(sum) = &mut sum {
                stream.noted = mem::take(&mut sum.noted);
            }
            match (run(&stream, outputs), &mut sum) {
                (Ok(outcome), None) => sum = Some(outcome),
                (Ok(outcome), Some(sum)) => sum.merge(outcome),
                (Err(error), _) if keeps_going && is_of_list(&error) => {
                    failed += 1;
                    notes.show("", format!("error: {error:#}"));
                }
                (Err(error), _) => return Err(error),
            }
        }
        let mut sum = sum.unwrap_or_default();
        if count == 1 && failed == 0 && !keeps_going {
            return Ok((sum, ExitStatus::Done));
        }
        if failed > 0 {
            let lists = counted(count as u64, "list");
            notes
                .add(format!("{failed} of {lists} failed; the outputs of the others are complete"));
        }
        sum.notes.splice(0..0, notes.kept);
        Ok((sum, if failed == 0 { ExitStatus::Done } else { ExitStatus::Failed }))
    }
}

/// Whether an error is about one list, and neither about the set nor about an output.
fn is_of_list(error: &anyhow::Error) -> bool {
    !error.chain().any(|cause| cause.is::<Damage>() || cause.is::<OutputFailed>())
}
