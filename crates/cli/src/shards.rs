//! The parts of a run over lists: all lists together, or one after the other.
//!
//! Outputs of a run appear together. With `--skip-existing` or `--keep-going`, which need one output
//! for each list, a list is a run of its own: its output appears when it is complete, so that a run
//! that was stopped, or had a broken list, goes on where it ended.

use std::mem;

use anyhow::ensure;
use portcullis_files::expand::Input;
use portcullis_report::Tally;
use portcullis_set::Damage;

use super::args::ShardArgs;
use super::exit::ExitStatus;
use super::message::{Notes, counted};
use super::output::OutputFailed;
use super::outputs::{Destinations, Outputs};
use super::plan::StreamPlan;

/// The parts of a run, each with its lists and their outputs.
pub struct Shards {
    stream: StreamPlan,
    parts: Vec<(Vec<Input>, Outputs)>,
    keeps_going: bool,
    /// The notes on the parts, before those on the lists.
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
        let lists = mem::take(&mut stream.inputs);
        let mut notes = Notes { are_hidden: stream.notes.are_hidden, kept: Vec::new() };
        let paths = destinations.of_lists().filter(|_| skip_existing || keep_going);
        let Some(paths) = paths else {
            let parts = vec![(lists, Outputs::open(destinations)?)];
            return Ok(Shards { stream, parts, keeps_going: false, notes });
        };
        ensure!(
            !sets_aside,
            "--skip-existing and --keep-going write one output for each list, and --rejects, \
             --unknown FILE, --invalid FILE and --unknown-hosts one for all; omit either"
        );
        mem::swap(&mut notes, &mut stream.notes);
        let count = lists.len();
        let mut parts = Vec::with_capacity(count);
        for (list, path) in lists.into_iter().zip(paths) {
            if !skip_existing || !path.exists() {
                let destinations = Destinations::each(vec![path.clone()]);
                parts.push((vec![list], Outputs::open(destinations)?));
            }
        }
        if parts.len() < count {
            let skipped = counted((count - parts.len()) as u64, "list");
            notes.add(format!("{skipped} left out, whose outputs exist (--skip-existing)"));
        }
        Ok(Shards { stream, parts, keeps_going: keep_going, notes })
    }

    /// Calls `run` for every part, and returns the sum of what was counted, the notes and the exit
    /// status.
    ///
    /// # Errors
    ///
    /// The first error of `run`. With `--keep-going`, a list that cannot be read is none: it is
    /// reported, and the status is that of a failure.
    pub fn run(
        self,
        mut run: impl FnMut(&mut StreamPlan, Outputs) -> anyhow::Result<Tally>,
    ) -> anyhow::Result<(Tally, Vec<String>, ExitStatus)> {
        let Shards { mut stream, parts, keeps_going, mut notes } = self;
        let (count, mut failed) = (parts.len(), 0_u64);
        let mut sum: Option<Tally> = None;
        for (lists, outputs) in parts {
            stream.inputs = lists;
            let kept = stream.notes.kept.len();
            match (run(&mut stream, outputs), &mut sum) {
                (Ok(tally), None) => sum = Some(tally),
                (Ok(tally), Some(sum)) => sum.merge(tally),
                (Err(error), _) if keeps_going && is_of_list(&error) => {
                    failed += 1;
                    notes.show("", format!("error: {error:#}"));
                    // An account says nothing of how this list was read.
                    stream.notes.kept.truncate(kept);
                    stream.noted.clear();
                }
                (Err(error), _) => return Err(error),
            }
        }
        if failed > 0 {
            let lists = counted(count as u64, "list");
            notes
                .add(format!("{failed} of {lists} failed; the outputs of the others are complete"));
        }
        notes.kept.append(&mut stream.notes.kept);
        let status = if failed == 0 { ExitStatus::Done } else { ExitStatus::Failed };
        Ok((sum.unwrap_or_default(), notes.kept, status))
    }
}

/// Whether an error is about one list, and neither about the set nor about an output.
fn is_of_list(error: &anyhow::Error) -> bool {
    !error.chain().any(|cause| cause.is::<Damage>() || cause.is::<OutputFailed>())
}
