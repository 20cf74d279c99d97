//! Runs over lists: threads work on chunks, and outputs are written in order. A [`Watch`] collects the
//! records that are not URLs, and ends the run if a list begins with nothing else.

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use portcullis_files::input::ChunkConfig;
use portcullis_report::{InvalidRecord, InvalidRecords, NotedRecords, Piece, Rejects, Watch};
use portcullis_rows::list::Rows;
pub use portcullis_rows::runner::Part;
use portcullis_rows::runner::{self, Config};
use portcullis_text::figures::counted;
use portcullis_text::visible::cut_characters;

use super::limits::PAUSE;
use super::mapped;
use super::output::{CompleteOutput, Output};
use super::plan::{QuestionPlan, StreamPlan};
use super::progress::Progress;

/// Calls `work` for every piece of the lists and `sink` for every output, in input order. Returns the
/// records that are not URLs, and the file of `--rejects`; the notes on how lists were read are in `plan`.
///
/// Each thread has a `session`. Every list has at least one piece, which may be empty. Outputs are
/// reused, so `work` receives an output that still holds its previous content.
///
/// # Errors
///
/// The first of: an input that cannot be read to its end, or has no URLs; a damaged policy set; an
/// output that cannot be written. Outputs before it have been passed to `sink`.
pub fn run<S: Send, O: Default + Send + 'static>(
    plan: &mut StreamPlan,
    questions: &QuestionPlan,
    session: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Piece<'_, '_>, &mut O) -> anyhow::Result<()> + Sync,
    mut sink: impl FnMut(&Part<'_>, &mut O) -> anyhow::Result<()>,
) -> anyhow::Result<(InvalidRecords, Option<CompleteOutput>)> {
    let assumes_scheme = questions.assumed_scheme.is_some();
    let keeps_all = plan.rejects.is_some();
    let mut rejects = plan.rejects.as_ref().map(Output::create).transpose()?;
    let mut lines = Vec::new();
    // What the requests of the list before lack.
    let mut lacked = None;
    let mut watch = Watch::new(keeps_all, assumes_scheme, plan.is_strict, Arc::clone(&plan.lists));
    let (notes, noted) = (&mut plan.notes, &mut plan.noted);
    let prints_to_terminal = plan.prints && io::stdout().is_terminal();
    let paths: Vec<&Path> = plan.inputs.iter().map(|input| &*input.path).collect();
    let progress = Progress::over(&paths, plan.progress && !prints_to_terminal);
    let sources = plan.inputs.iter().map(|input| mapped::list(&input.path));
    let config = Config {
        threads: plan.threads,
        // The output must not depend on how a pipe delivers.
        chunks: ChunkConfig { pause: (!plan.shows_cuts).then_some(PAUSE), ..plan.chunks },
        lists: Arc::clone(&plan.lists),
        open_ahead: plan.inputs.iter().all(|input| input.path.is_file()),
        progress: Some(&progress.bytes_done),
    };
    let work_on = |session: &mut S, rows: &mut Rows<'_>, (output, rejects): &mut (O, Rejects)| {
        rejects.begin(rows, keeps_all);
        work(session, Piece { rows, rejects }, output)
    };
    runner::run(
        sources,
        &config,
        session,
        work_on,
        |part: &Part<'_>, (output, rejected): &mut _| {
            let of_list = |note: &dyn Display| format!("{}: {note}", part.list.name());
            if part.is_first {
                watch.begin();
                // How the list is read, if its format was detected and is not that of the list before.
                let new = part.list.note().unwrap_or_default();
                if !new.is_empty() && new != *noted {
                    notes.add(of_list(&new));
                }
                new.clone_into(noted);
                if let Some(doubt) = part.list.doubt() {
                    anyhow::ensure!(!plan.is_strict, of_list(&doubt));
                    notes.add(of_list(&doubt));
                }
                let lack = part.list.note_on_visits();
                if let Some(note) = lack.filter(|_| lack != lacked) {
                    notes.add(of_list(&note));
                }
                lacked = lack;
            }
            lines.clear();
            watch.see(part, rejected, &mut lines)?;
            rejects.as_mut().map_or(Ok(()), |rejects| rejects.write(&lines))?;
            if part.is_last {
                for damage in part.list.take_damages() {
                    notes.add(format!("{damage}; the entries before the damage were read"));
                }
                if let Some(note) = part.list.note_on_units(part.noticed) {
                    notes.add(of_list(&note));
                }
                for doubt in part.list.doubts_of_requests(part.noticed) {
                    let doubt = of_list(&doubt);
                    anyhow::ensure!(!plan.is_strict, "{doubt}; omit --strict to decide them");
                    notes.add(format!("{doubt} (--strict makes this an error)"));
                }
                for note in part.list.notes_on_parts(part.noticed) {
                    anyhow::ensure!(!plan.is_strict, of_list(&note));
                    notes.add(of_list(&note));
                }
            }
            progress.draw(Some(watch.all_records));
            sink(part, output)
        },
    )?;
    if let Some(NotedRecords { records, first: InvalidRecord { file, place, record, .. } }) =
        watch.headers
    {
        let (all, are) = (counted(records, "agent"), if records == 1 { "is a" } else { "are" });
        let header = cut_characters(&record, 80);
        notes.add(format!(
            "{all} {are} User-Agent header{}, read as product tokens (first: {file}, {place}: `{header}`); \
             --agent-kind header reads {}",
            if records == 1 { "" } else { "s" },
            if records == 1 { "it" } else { "them" },
        ));
    }
    Ok((watch.invalid, rejects.map(Output::complete).transpose()?))
}
