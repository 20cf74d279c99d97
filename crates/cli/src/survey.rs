//! `portcullis survey`: a row for each origin and agent, and the totals of each agent.
//!
//! Threads encode blocks of hosts, while the blocks before them are written in order.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::ensure;
use portcullis_domain::LIST;
use portcullis_report::{Account, NoRecords, Run};
use portcullis_rows::input::Terminator;
use portcullis_rows::output::columns::Field;
use portcullis_rows::output::csv::Csv;
use portcullis_rows::output::json_lines::JsonLines;
use portcullis_rows::output::parquet::{EncodedGroup, ParquetError, RowColumns, Template};
use portcullis_rows::output::tsv::Tsv;
use portcullis_rows::output::{Added, TextRows};
use portcullis_set::Damage;
use portcullis_set::stored::StoredHost;
use portcullis_survey::limits::SURVEY_LIST_BYTES;
use portcullis_survey::{
    AgentFigures, HostBlock, RowConfig, RowTotals, RowWorker, SurveyRows, tables,
};
use portcullis_text::figures::{self, counted};
use rayon::prelude::*;
use serde::Serialize;

use super::args::{ClassifyFormat, SurveyArgs};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::limits::{
    SURVEY_GROUP_LIST_BYTES, SURVEY_GROUP_ROWS, SURVEY_LIST_BYTES_AT_ONCE, SURVEY_TEXT_ROWS,
};
use super::output::{self, CompleteOutput, Compressor, Destination, Output};
use super::plan::{self, PolicyPlan, QuestionPlan, SummaryForm};
use super::rows::{self, RowFile};
use super::stream::{Bar, Progress};
use super::summary;

/// The blocks of hosts that each thread encodes before they are written.
const BLOCKS_PER_THREAD: usize = 2;

pub fn run(args: SurveyArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let summary = plan::summary(&args.run)?;
    let form = summary.form;
    let policies = plan::policies(args.policies);
    let is_named = args.output.is_some();
    let destination = Destination::new(args.output);
    let format = plan::format(args.format, &destination, ClassifyFormat::NAMED)?;
    let prints = destination == Destination::StandardOutput;
    let has_rows = is_named || !(form == SummaryForm::Json || io::stdout().is_terminal());
    if has_rows && format == ClassifyFormat::Parquet {
        rows::not_to_terminal(prints, "-o FILE.parquet, or --format tsv")?;
        rows::not_compressed(&destination)?;
    }
    let questions = plan::agents(args.agents, policies.dialect())?;
    let questions = QuestionPlan { usage: true, ..questions };
    let output = has_rows.then(|| match format {
        ClassifyFormat::Parquet => Output::open_as_is(&destination),
        _ => Output::open(&destination),
    });
    let output = output.transpose()?;
    let threads = args.run.threads.threads;
    let engine = Engine::new(threads)?;
    let loaded = engine.load(&policies, &questions)?;
    loaded.show_notes(if has_rows { form } else { SummaryForm::Text });
    ensure!(!args.history || loaded.set.has_history(), plan::no_history(&loaded.set));
    let agents = questions.agents(loaded.set.dialect())?;
    let config = RowConfig { history: args.history, lists: args.lists };
    let survey = SurveyRows::new(&loaded.set, &agents, config)?;
    let run = summary::run(&loaded, &questions);
    let progress = Progress::over(&inputs(&policies), !args.run.no_progress);
    let surveying = Surveying { survey: &survey, engine: &engine, progress, prints };
    let complete = match output {
        None => {
            surveying.count()?;
            Vec::new()
        }
        Some(output) => surveying.write(output, format, &run)?,
    };
    loaded.set.is_whole()?;
    CompleteOutput::publish_all(complete)?;
    let RowTotals { hosts, rows, .. } = survey.totals();
    let object = Summary {
        account: Account { run, ..Account::default() },
        public_suffix_list: LIST,
        hosts,
        rows,
        totals: survey.figures(),
        seconds: started.elapsed().as_secs_f64(),
    };
    if has_rows {
        summary::write(&summary, &object)?;
        return Ok(ExitStatus::Done);
    }
    let printed = match form {
        SummaryForm::Json => summary::to_json_line(&object)?,
        SummaryForm::Text | SummaryForm::None => tables::totals(&object.totals).into_bytes(),
    };
    output::print(&printed)?;
    Ok(ExitStatus::Done)
}

/// Returns the file whose size measures the progress, if the policies are one file.
fn inputs(policies: &PolicyPlan) -> Vec<PathBuf> {
    vec![policies.path().to_owned()]
}

/// A survey that is being computed.
struct Surveying<'a> {
    survey: &'a SurveyRows<'a>,
    engine: &'a Engine,
    progress: Progress,
    /// Whether rows go to standard output.
    prints: bool,
}

/// The bytes of lists that end a block, and those of all blocks that are encoded at once.
#[derive(Clone, Copy)]
struct ListBytes {
    block: u64,
    at_once: u64,
}

/// No list is made.
const NO_BYTES: ListBytes = ListBytes { block: u64::MAX, at_once: u64::MAX };

/// The workers that no thread uses.
type Idle<'a> = Mutex<Vec<RowWorker<'a, 'a>>>;

impl<'a> Surveying<'a> {
    /// Counts all hosts without rows.
    fn count(&self) -> anyhow::Result<()> {
        let count = |worker: &mut RowWorker<'_, 'a>, hosts: Vec<StoredHost<'a>>| {
            worker.count(&mut hosts.into_iter())
        };
        self.run(SURVEY_GROUP_ROWS, NO_BYTES, count, |()| Ok(()))
    }

    /// Writes all rows, and returns the complete output.
    fn write(
        &self,
        output: Output,
        format: ClassifyFormat,
        run: &Run,
    ) -> anyhow::Result<Vec<CompleteOutput>> {
        let fields = self.survey.fields();
        let text: Box<dyn TextRows> = match format {
            ClassifyFormat::Parquet => return self.write_parquet(output, &fields, run),
            ClassifyFormat::Csv => Box::new(Csv::default()),
            ClassifyFormat::Tsv => Box::new(Tsv(Terminator::LineFeed)),
            ClassifyFormat::Jsonl => Box::new(JsonLines::new(&fields)),
        };
        let mut output = output;
        output.write(&text.header(None, &fields))?;
        let compression = output.compression();
        let encode = |worker: &mut RowWorker<'_, 'a>, hosts: Vec<StoredHost<'a>>| {
            let (mut hosts, mut out) = (hosts.into_iter(), Vec::new());
            let mut added = Added::of(fields.iter().map(|field| field.kind));
            loop {
                worker.fill(&mut hosts, &mut added)?;
                if added.rows() == 0 {
                    Compressor::default().compress(compression, &mut out)?;
                    return anyhow::Ok(out);
                }
                text.push(None, &added, &mut out)?;
            }
        };
        let bytes = ListBytes { block: SURVEY_LIST_BYTES, at_once: SURVEY_LIST_BYTES_AT_ONCE };
        self.run(SURVEY_TEXT_ROWS, bytes, encode, |bytes: Vec<u8>| {
            Ok(output.write_compressed(&bytes)?)
        })?;
        Ok(vec![output.complete()?])
    }

    fn write_parquet(
        &self,
        output: Output,
        fields: &[Field],
        run: &Run,
    ) -> anyhow::Result<Vec<CompleteOutput>> {
        let mut file = RowFile::new(output, Template::of_rows(fields))?;
        let columns = RowColumns::new(fields.to_vec());
        let encode = |worker: &mut RowWorker<'_, 'a>, hosts: Vec<StoredHost<'a>>| {
            let mut hosts = hosts.into_iter();
            columns.encode(|added| Ok::<_, Failed>(worker.fill(&mut hosts, added)?))
        };
        let at_once = BLOCKS_PER_THREAD as u64 * SURVEY_GROUP_LIST_BYTES;
        let bytes = ListBytes { block: SURVEY_GROUP_LIST_BYTES, at_once };
        self.run(SURVEY_GROUP_ROWS, bytes, encode, |group: EncodedGroup| file.write(group))?;
        let account = FileAccount { run, public_suffix_list: LIST };
        file.complete(serde_json::to_string(&account)?)
    }

    /// Passes each block of hosts, of so many rows and bytes, to `work`, and the results to `sink`, in
    /// order.
    fn run<T: Send, E: Into<anyhow::Error> + Send>(
        &self,
        rows: usize,
        bytes: ListBytes,
        work: impl Fn(&mut RowWorker<'_, 'a>, Vec<StoredHost<'a>>) -> Result<T, E> + Sync,
        mut sink: impl FnMut(T) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<()> {
        let idle: Idle<'_> = Mutex::default();
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |block: Result<HostBlock<'a>, Damage>| {
            let HostBlock { hosts, .. } = block?;
            let mut worker = lock().pop().unwrap_or_else(|| self.survey.worker());
            let count = hosts.len() as u64;
            let done = work(&mut worker, hosts).map_err(Into::into)?;
            lock().push(worker);
            anyhow::Ok((count, done))
        };
        let all_hosts = self.survey.hosts().max(1);
        let (mut hosts_done, mut bar) = (0, Bar::default());
        let mut blocks = self.survey.blocks(rows, bytes.block);
        let mut before: Vec<anyhow::Result<(u64, T)>> = Vec::new();
        loop {
            let at_once = self.engine.threads() * BLOCKS_PER_THREAD;
            let (mut next, mut list_bytes) = (Vec::new(), 0);
            while next.len() < at_once && list_bytes < bytes.at_once {
                let Some(block) = blocks.next() else { break };
                list_bytes += block.as_ref().map_or(0, |block| block.list_bytes);
                next.push(block);
            }
            let is_last = next.is_empty();
            let mut write = || {
                for done in std::mem::take(&mut before) {
                    let (hosts, done) = done?;
                    sink(done)?;
                    hosts_done += hosts;
                }
                anyhow::Ok(())
            };
            let encode = || next.into_par_iter().map(work).collect::<Vec<_>>();
            let (written, encoded) = self.engine.install(|| rayon::join(&mut write, encode));
            written?;
            if is_last {
                return Ok(());
            }
            before = encoded;
            if !self.prints || !io::stdout().is_terminal() {
                self.progress.set_share(hosts_done, all_hosts);
                self.progress.draw(&mut bar, None);
            }
        }
    }
}

/// A row group that could not be encoded.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Damage(#[from] Damage),
    #[error("cannot encode rows as Parquet: {0}")]
    Encoder(#[from] ParquetError),
}

/// The account of a survey in a Parquet file.
#[derive(Serialize)]
struct FileAccount<'r> {
    #[serde(flatten)]
    run: &'r Run,
    public_suffix_list: &'static str,
}

/// The summary of a survey.
#[derive(Serialize)]
struct Summary {
    account: Account<NoRecords>,
    public_suffix_list: &'static str,
    hosts: u64,
    rows: u64,
    totals: Vec<AgentFigures>,
    seconds: f64,
}

impl summary::Summary for Summary {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let Summary { account, hosts, rows, totals, seconds, .. } = self;
        account.write_run(out)?;
        writeln!(
            out,
            "{}, {} in {}: {} rows/s; domains by the {LIST}",
            counted(*hosts, "host"),
            counted(*rows, "row"),
            figures::seconds(*seconds),
            (*rows as f64 / seconds) as u64,
        )?;
        out.write_all(tables::totals(totals).as_bytes())
    }
}
