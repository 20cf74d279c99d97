//! The run of `classify` and `filter`: records of lists in, an output for them, and files beside it.
//!
//! A command turns its flags into a [`Request`], says how records are written ([`Writing`]), and gets
//! the outcome. Everything else is here, once: the order in which files are opened and policies loaded,
//! the work on a piece, and what happens with it in the order of the input. A [`SideFile`] is a file
//! that gets something of each piece, such as the records that are set aside.

use std::sync::Arc;
use std::time::Instant;

use portcullis_dialect::usage::Label;
use portcullis_report::{Counts, Encoded, Format, Selection, Tally, Written};
use portcullis_set::batch::Classifier;

use super::args::{PolicyArgs, RecordsArgs, ShardArgs};
use super::engine::{self, Policies, thread_pool};
use super::exit::ExitStatus;
use super::files::Files;
use super::output::{CompleteOutput, Compressor, Destination, Output, OutputFile, OutputFolder};
use super::outputs::{Compressions, Outputs};
use super::plan::{self, QuestionPlan, StreamPlan, SummaryForm, SummaryPlan};
use super::rows::RowOutput;
use super::shards::Shards;
use super::stream::{self, Part};
use super::summary::{self, Clock, Outcome};
use super::unknown_hosts::HostCounts;

/// What is asked of a run, before any file is opened.
pub struct Request {
    pub started: Instant,
    pub summary: SummaryPlan,
    pub policies: PolicyArgs,
    pub questions: QuestionPlan,
    pub labels: Vec<Label>,
    pub stream: StreamPlan,
    pub destination: Destination,
    pub folder: Option<OutputFolder>,
    shards: ShardArgs,
    unknown_hosts: Option<OutputFile>,
}

impl Request {
    /// Checks the flags that both commands have. `labels` are the uses that are asked about, and `writes`
    /// says whether records are written.
    ///
    /// # Errors
    ///
    /// If flags contradict each other, or a list or an agent cannot be found.
    pub fn new(args: RecordsArgs, labels: Vec<Label>, writes: bool) -> anyhow::Result<Request> {
        let started = Instant::now();
        let summary = plan::summary(&args.run)?;
        let policies = args.policies;
        let mut questions = plan::questions(args.questions, policies.dialect())?;
        questions.freshness = plan::freshness(&args.freshness);
        questions.times = plan::times(args.times, args.now, Some(&args.freshness), &policies)?;
        questions.usage = !labels.is_empty();
        plan::record_agents(args.agent, &mut questions)?;
        let destination = Destination::new(args.output.joined.output);
        let folder = args.output.out_dir;
        let prints = destination == Destination::StandardOutput && writes && folder.is_none();
        let strictness = policies.strictness();
        let (input, rejects) = (args.input, args.rejects);
        let stream = plan::stream(input, rejects, &questions, &args.run, strictness, prints)?;
        Ok(Request {
            started,
            summary,
            policies,
            questions,
            labels,
            stream,
            destination,
            folder,
            shards: args.output.shards,
            unknown_hosts: args.output.unknown_hosts,
        })
    }

    /// Whether records go to standard output.
    pub fn prints(&self) -> bool {
        self.stream.prints
    }

    /// Opens the outputs and loads the policies. `extension` is that of outputs for each list, if they do
    /// not have the list's own format, and `aside` are the files for records that are set aside.
    ///
    /// # Errors
    ///
    /// If an output cannot be opened, or the policies cannot be loaded.
    pub fn open(
        self,
        files: &Files,
        extension: Option<&str>,
        aside: &[Option<&OutputFile>],
    ) -> anyhow::Result<Opened> {
        let Request { stream, questions, folder, .. } = &self;
        let destination = self.destination.clone();
        let destinations =
            plan::destinations(destination, folder.as_ref(), stream, extension, files)?;
        let sets_aside = stream.rejects.is_some()
            || self.unknown_hosts.is_some()
            || aside.iter().any(Option::is_some);
        let shards = Shards::of(stream.clone(), destinations, self.shards, sets_aside)?;
        let rejects = stream.rejects.as_ref().map(Output::create).transpose()?;
        let hosts = self.unknown_hosts.as_ref().map(HostCounts::create).transpose()?;
        let aside = aside.iter().map(|path| path.map(Output::create).transpose());
        let aside = aside.collect::<Result<Vec<_>, _>>()?;
        let policies = engine::load(&thread_pool(stream.threads)?, &self.policies, questions)?;
        policies.show_notes(self.summary.form);
        let classifier =
            engine::classifier(&policies.set, questions)?.with_usage(&self.labels)?.into();
        let clock = Clock::loaded(self.started);
        Ok(Opened { request: self, shards, rejects, hosts, aside, policies, classifier, clock })
    }
}

/// A run whose outputs are open and whose policies are loaded.
pub struct Opened {
    pub request: Request,
    pub policies: Policies,
    shards: Shards,
    rejects: Option<Output>,
    hosts: Option<HostCounts>,
    aside: Vec<Option<Output>>,
    classifier: Arc<Classifier>,
    clock: Clock,
}

/// How a command writes records.
pub struct Writing<'w> {
    /// What encodes them.
    pub format: &'w dyn Format,
    /// Makes an output of open files: that of the records, or for `false` one for records set aside.
    pub output: &'w dyn Fn(Outputs, bool) -> RowOutput<'w>,
    /// Whether each output has an account, as Parquet files do.
    pub has_accounts: bool,
    /// What is kept, for a command that does not keep all records.
    pub selection: Option<Selection>,
    /// Whether the output has the number of the records instead of them.
    pub prints_count: bool,
}

/// The output for a piece.
#[derive(Default)]
struct Done {
    written: Written,
    counts: Counts,
    compressor: Compressor,
}

/// A file that gets something of each piece, in the order of the input.
trait SideFile {
    /// `rejects` are the records of the piece that are not URLs, as lines of JSON.
    fn add(&mut self, part: &Part<'_>, rejects: &[u8], done: &mut Done) -> anyhow::Result<()>;

    /// Completes the files. None has its name yet.
    fn complete(self: Box<Self>) -> anyhow::Result<Vec<CompleteOutput>>;
}

/// The output of the records, or of those of a class that is set aside.
struct Records<'w> {
    output: RowOutput<'w>,
    /// The place in [`Written`].
    place: usize,
}

impl SideFile for Records<'_> {
    fn add(
        &mut self,
        part: &Part<'_>,
        _: &[u8],
        Done { written, counts, .. }: &mut Done,
    ) -> anyhow::Result<()> {
        if part.is_first {
            self.output.begin(part, counts.records == 0)?;
        }
        self.output.write(part.list, &mut written[self.place], counts)
    }

    fn complete(self: Box<Self>) -> anyhow::Result<Vec<CompleteOutput>> {
        self.output.complete()
    }
}

/// The file of `--rejects`.
impl SideFile for Output {
    fn add(&mut self, _: &Part<'_>, rejects: &[u8], _: &mut Done) -> anyhow::Result<()> {
        Ok(self.write(rejects)?)
    }

    fn complete(self: Box<Self>) -> anyhow::Result<Vec<CompleteOutput>> {
        Ok(vec![Output::complete(*self)?])
    }
}

impl SideFile for HostCounts {
    fn add(&mut self, _: &Part<'_>, _: &[u8], done: &mut Done) -> anyhow::Result<()> {
        Ok(HostCounts::add(self, done.counts.unknown_hosts())?)
    }

    fn complete(self: Box<Self>) -> anyhow::Result<Vec<CompleteOutput>> {
        Ok(vec![HostCounts::complete(*self)?])
    }
}

impl Opened {
    /// Runs, writes the summary, and returns what was counted and the exit status.
    ///
    /// # Errors
    ///
    /// If a list cannot be read, the set is damaged, or an output cannot be written.
    pub fn run(self, writing: &Writing<'_>) -> anyhow::Result<(Tally, ExitStatus)> {
        let Opened { request, policies, shards, classifier, clock, .. } = self;
        let (mut rejects, mut hosts, mut aside) = (self.rejects, self.hosts, self.aside);
        let Request { summary, questions, labels, .. } = &request;
        let agents = policies.agents.agents.len();
        let counts_all = summary.counts_all();
        let counts_hosts = writing.has_accounts || counts_all || summary.form != SummaryForm::None;
        let hosts_max = summary::hosts_max(counts_hosts, hosts.is_some());
        let selection = writing.selection.filter(|_| counts_all);
        let (outcome, status) = shards.run(|stream, outputs| {
            let mut compressions = vec![outputs.compressions()];
            let mut records = Records { output: (writing.output)(outputs, true), place: 0 };
            let mut files: Vec<Box<dyn SideFile + '_>> = Vec::new();
            for (number, file) in aside.iter_mut().enumerate() {
                let outputs = file.take().map(Outputs::of);
                compressions
                    .push(outputs.as_ref().map_or(Compressions::none(), Outputs::compressions));
                let output = outputs.map(|outputs| (writing.output)(outputs, false));
                files.extend(output.map(|output| -> Box<dyn SideFile> {
                    Box::new(Records { output, place: 1 + number })
                }));
            }
            files.extend(rejects.take().map(|rejects| -> Box<dyn SideFile> { Box::new(rejects) }));
            files.extend(hosts.take().map(|hosts| -> Box<dyn SideFile> { Box::new(hosts) }));
            let mut tally = Tally::new(agents, selection);
            let account = stream::run(
                stream,
                questions,
                Arc::clone(&classifier),
                |session, piece, Done { written, counts, compressor }| {
                    written.iter_mut().for_each(Encoded::clear);
                    counts.clear(agents, hosts_max);
                    if counts_all {
                        counts.ask_preferences(labels);
                        counts.ask_drops();
                    }
                    let list = piece.rows().list_number();
                    writing.format.encode(piece.work(session, counts), written)?;
                    for (compressions, encoded) in compressions.iter().zip(written) {
                        compressor.compress(compressions.of_list(list), &mut encoded.text)?;
                    }
                    Ok(())
                },
                |part, rejects, done| {
                    policies.check_ages(&done.counts, questions)?;
                    tally.counts.merge(&done.counts);
                    records.add(part, rejects, done)?;
                    files.iter_mut().try_for_each(|file| file.add(part, rejects, done))
                },
            )?;
            policies.set.is_whole()?;
            if writing.prints_count {
                let kept = tally.counts.kept.unwrap_or(0);
                records.output.write_text(format!("{kept}\n").as_bytes())?;
            }
            let mut complete = records.output.complete()?;
            for file in files {
                complete.extend(file.complete()?);
            }
            CompleteOutput::publish_all(complete)?;
            let stream::Account { invalid, notes, noted } = account;
            Ok(Outcome { tally: Tally { invalid, ..tally }, notes, noted })
        })?;
        let run = summary::run(&policies, questions);
        summary::write(summary, &outcome.account(run, &clock))?;
        Ok((outcome.tally, status))
    }
}
