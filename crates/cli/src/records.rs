//! The run of `classify` and `filter`: records of lists in, an output for them, and files next to it.
//!
//! A command turns its flags into a [`Request`], says how records are written ([`Writing`]), and gets
//! the outcome. Everything else is here, once: the order in which files are opened and policies loaded,
//! the work on a piece, and what happens with it in the order of the input.
//!
//! Outputs of a run appear together. With `--skip-existing` or `--keep-going`, which need one output
//! for each list, a list is a run of its own: its output appears when it is complete, so that a run
//! that was stopped, or had a broken list, goes on where it ended.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{bail, ensure};
use portcullis_dialect::decision::Reason;
use portcullis_dialect::usage::Label;
use portcullis_files::expand::Input;
use portcullis_report::account::phrase;
use portcullis_report::limits::SUMMARY_UNKNOWN_HOSTS_MAX;
use portcullis_report::{Counts, Format, InvalidRecord, TRAINING, Written};
use portcullis_robots::policy::Crawler;
use portcullis_rows::output::Encoded;
use portcullis_set::Damage;
use portcullis_set::batch::Classifier;

use super::args::{PolicyArgs, RecordsArgs};
use super::engine::{self, Policies, thread_pool};
use super::exit::ExitStatus;
use super::files::Files;
use super::lists;
use super::message::{Notes, counted};
use super::output::{
    CompleteOutput, Compressor, OutputFailed, OutputFile, OutputFolder, SummaryForm,
    is_standard_output,
};
use super::plan::{self, QuestionPlan, StreamPlan, SummaryPlan};
use super::rows::{Destinations, Head, RowOutput};
use super::stream;
use super::summary;
use super::unknown_hosts::HostCounts;

/// The request for a run, before any file is opened.
pub struct Request {
    pub started: Instant,
    pub summary: SummaryPlan,
    pub policies: PolicyArgs,
    pub questions: QuestionPlan,
    pub labels: Vec<Label>,
    pub stream: StreamPlan,
    pub output: OutputFile,
    pub folder: Option<OutputFolder>,
    skip_existing: bool,
    keep_going: bool,
    /// Whether no list is named, so that standard input is read.
    names_no_list: bool,
    unknown_hosts: Option<OutputFile>,
}

impl Request {
    /// Checks the flags that both commands have. `labels` are the uses that are asked about, and `writes`
    /// says whether records are written.
    ///
    /// # Errors
    ///
    /// If flags contradict each other, or a list or an agent cannot be found.
    pub fn new(
        args: RecordsArgs,
        files: &Files,
        labels: Vec<Label>,
        writes: bool,
    ) -> anyhow::Result<Request> {
        let started = Instant::now();
        let summary = plan::summary(&args.run)?;
        let policies = args.policies;
        let mut questions = plan::questions(args.agents, &args.input.reading, policies.dialect())?;
        questions.freshness = plan::freshness(args.max_age, args.now);
        questions.times = plan::times(args.times, args.and_now, args.now, &policies)?;
        questions.reads_usage = !labels.is_empty();
        plan::record_agents(args.agent_of_record, &labels, &mut questions)?;
        let output = args.output.output.unwrap_or_default();
        let folder = args.out_dir;
        let prints = output.is_dash() && writes && folder.is_none();
        let strictness = policies.faults.strictness();
        ensure!(
            args.unknown_hosts.as_deref().is_none_or(|path| !is_standard_output(path)),
            "--unknown-hosts cannot go to standard output; name a file"
        );
        let (reading, rejects, run) = (args.input.reading, args.rejects, &args.run);
        let stream = plan::stream(reading, files, rejects, &questions, run, strictness, prints)?;
        Ok(Request {
            started,
            summary,
            policies,
            questions,
            labels,
            stream,
            output,
            folder,
            skip_existing: args.skip_existing,
            keep_going: args.keep_going,
            names_no_list: files.names_no_list,
            unknown_hosts: args.unknown_hosts,
        })
    }

    /// Decides records for tokens of a purpose too, after the agents and by the groups that name them.
    pub fn ask_purpose_tokens(&mut self, tokens: &[String]) {
        self.questions.asked.add_purpose_tokens(tokens);
    }

    /// Opens the outputs and loads the policies. `extension` is that of outputs for each list, if they do
    /// not have the list's own format, and `aside` are the files for records that are set aside.
    ///
    /// # Errors
    ///
    /// If an output cannot be opened, or the policies cannot be loaded.
    pub fn open(
        mut self,
        files: &Files,
        extension: Option<&str>,
        aside: &[Option<&OutputFile>],
    ) -> anyhow::Result<Opened> {
        let destinations = match &self.folder {
            None => Destinations { paths: vec![self.output.clone()], is_joined: true },
            Some(folder) => {
                let paths = lists::outputs(&self.stream.inputs, folder, extension)?;
                files.check_outputs_of_lists(&paths)?;
                Destinations { paths, is_joined: false }
            }
        };
        let sets_aside = self.stream.rejects.is_some()
            || self.unknown_hosts.is_some()
            || aside.iter().any(Option::is_some);
        let (parts, notes) = self.parts(destinations, sets_aside)?;
        let hosts = self.unknown_hosts.as_ref().map(HostCounts::create).transpose()?;
        let aside = (1..).zip(aside).filter_map(|(place, path)| Some((place, (*path)?.clone())));
        let aside = aside.map(|(place, path)| {
            let destinations = Destinations { paths: vec![path], is_joined: true };
            Ok((place, RowOutput::open(destinations)?))
        });
        let aside = aside.collect::<anyhow::Result<_>>()?;
        let (pool, questions) = (thread_pool(self.stream.threads)?, &self.questions);
        let policies = engine::load(&pool, &self.policies, questions)?;
        policies.show_notes(self.summary.form);
        let trainers = self.trainers(&policies)?;
        let classifier = engine::classifier(&policies.set, questions)?;
        let labels = if trainers.is_empty() { &*self.labels } else { &TRAINING };
        let mut classifier = classifier.with_usage(labels);
        classifier.has_usage_of_disallowed = !trainers.is_empty();
        let loaded = Instant::now();
        Ok(Opened {
            request: self,
            parts,
            notes,
            hosts,
            aside,
            policies,
            classifier: classifier.into(),
            trainers,
            loaded,
        })
    }

    /// Returns the agents that train models, by number, if files of the set reserve uses and nobody asks which.
    fn trainers(&self, policies: &Policies) -> anyhow::Result<Vec<usize>> {
        let is_asked = !self.labels.is_empty() || self.questions.each.is_some();
        if is_asked || !policies.set.has_usage() {
            return Ok(Vec::new());
        }
        let agents = self.questions.agents(policies.set.dialect())?;
        let trains =
            |agent: &Crawler| agent.tokens().next().is_some_and(portcullis_crawlers::trains);
        Ok((0..agents.len()).filter(|&number| trains(&agents[number])).collect())
    }

    /// Divides a run into parts, and notes what is left out. An output for all lists is opened now, so that
    /// what cannot be written is known before any work.
    ///
    /// # Errors
    ///
    /// If the output cannot be opened, or records of all lists go to a file as well.
    fn parts(
        &mut self,
        destinations: Destinations,
        sets_aside: bool,
    ) -> anyhow::Result<(Vec<RunPart>, Notes)> {
        let Request { stream, skip_existing, keep_going, .. } = self;
        stream.shows_cuts |= destinations.paths.iter().any(|path| path.coding().is_some());
        let lists = mem::take(&mut stream.inputs);
        let mut notes = Notes { are_hidden: stream.notes.are_hidden, kept: Vec::new() };
        if destinations.is_joined || !(*skip_existing || *keep_going) {
            return Ok((vec![(lists, RowOutput::open(destinations)?)], notes));
        }
        ensure!(
            !sets_aside,
            "--skip-existing and --keep-going write one output for each list, and --rejects, \
             --unknown FILE, --invalid FILE and --unknown-hosts one for all; omit either"
        );
        mem::swap(&mut notes, &mut stream.notes);
        let count = lists.len();
        let mut parts = Vec::with_capacity(count);
        for (list, path) in lists.into_iter().zip(destinations.paths) {
            if !*skip_existing || !path.exists() {
                let destinations = Destinations { paths: vec![path], is_joined: false };
                parts.push((vec![list], RowOutput::open(destinations)?));
            }
        }
        if parts.len() < count {
            let skipped = counted((count - parts.len()) as u64, "list");
            notes.add(format!("{skipped} skipped: outputs exist (--skip-existing)"));
        }
        Ok((parts, notes))
    }
}

/// A part of a run: its lists and their output.
type RunPart = (Vec<Input>, RowOutput<'static>);

/// A run whose outputs are open and whose policies are loaded.
pub struct Opened {
    pub request: Request,
    pub policies: Policies,
    parts: Vec<RunPart>,
    /// The notes on the parts, before those on the lists.
    notes: Notes,
    hosts: Option<HostCounts>,
    /// The outputs for records that are set aside, by their places in [`Written`].
    aside: Vec<(usize, RowOutput<'static>)>,
    classifier: Arc<Classifier>,
    /// The agents that train models, if their records are counted.
    trainers: Vec<usize>,
    loaded: Instant,
}

/// How a command writes records.
pub struct Writing<'w> {
    /// The format that encodes them.
    pub format: &'w dyn Format,
    /// Returns how an output begins: that of the records, or for `false` one for records set aside.
    pub head: &'w dyn Fn(bool) -> Head<'w>,
    /// Whether the output has the number of the records instead of them.
    pub prints_count: bool,
}

/// The output for a piece: what is written, what is counted, and what compresses it.
type Done = (Written, Counts, Compressor);

impl Opened {
    /// Runs, writes the summary, and returns what was counted and the exit status.
    ///
    /// # Errors
    ///
    /// If a list cannot be read, the set is damaged, or an output cannot be written.
    pub fn run(self, writing: &Writing<'_>) -> anyhow::Result<(Counts, ExitStatus)> {
        let Opened { request, policies, parts, mut notes, classifier, trainers, loaded, .. } = self;
        let (mut hosts, mut aside) = (self.hosts, self.aside);
        let Request { started, summary, questions, labels, mut stream, keep_going, .. } = request;
        let names_no_list = request.names_no_list;
        let agents = policies.agents.run.agents.len();
        let counts_all = summary.counts_all();
        // A Parquet file has an account.
        let has_account = matches!((writing.head)(true), Head::Parquet(_));
        let counts_hosts = has_account || counts_all || summary.form == SummaryForm::Text;
        let hosts_max = match hosts {
            Some(_) => usize::MAX,
            None if counts_hosts => SUMMARY_UNKNOWN_HOSTS_MAX,
            None => 0,
        };
        let mut run = |stream: &mut StreamPlan, output: RowOutput<'static>| {
            let mut records: Vec<(usize, RowOutput<'_>)> = vec![(0, output)];
            records.extend(mem::take(&mut aside));
            records.iter_mut().for_each(|(place, it)| it.head = (writing.head)(*place == 0));
            let destinations: Vec<(usize, Destinations)> =
                records.iter().map(|(place, it)| (*place, it.destinations.clone())).collect();
            let mut hosts = hosts.take();
            let mut sum = Counts::default();
            let (invalid, rejected) = stream::run(
                stream,
                &questions,
                || questions.session(&classifier),
                |session, piece, (written, counts, compressor): &mut Done| {
                    written.iter_mut().for_each(Encoded::clear);
                    counts.clear(agents, hosts_max);
                    if counts_all {
                        counts.ask_preferences(&labels);
                    }
                    counts.ask_training(&trainers);
                    if counts_all || summary.form == SummaryForm::Text {
                        counts.ask_drops();
                    }
                    let list = piece.rows.list_number();
                    writing.format.encode(piece.work(session, counts), written)?;
                    for (place, destinations) in &destinations {
                        let text = &mut written[*place].text;
                        compressor.compress(destinations.of_list(list).coding(), text)?;
                    }
                    Ok(())
                },
                |part, (written, counts, _)| {
                    policies.check_ages(counts, &questions)?;
                    sum.merge(counts);
                    for (place, output) in &mut records {
                        if part.is_first {
                            output.begin(part, counts.records == 0)?;
                        }
                        output.write(part.list, &mut written[*place], counts)?;
                    }
                    Ok(hosts.as_mut().map_or(Ok(()), |hosts| hosts.add(&counts.unknown_hosts))?)
                },
            )?;
            policies.set.is_whole()?;
            if writing.prints_count {
                let kept = sum.kept.unwrap_or(0);
                records[0].1.write_text(format!("{kept}\n").as_bytes())?;
            }
            let mut complete = Vec::from_iter(rejected);
            let (main, aside): (Vec<_>, Vec<_>) =
                records.into_iter().partition(|(place, _)| *place == 0);
            for (_, output) in aside {
                complete.extend(output.complete()?);
            }
            complete.extend(hosts.map(HostCounts::complete).transpose()?);
            let replaced = complete.iter().find_map(CompleteOutput::replaced);
            if let Some(name) = replaced.filter(|_| names_no_list && sum.records == 0) {
                // Likely a list, named where a flag takes the next word.
                bail!(
                    "standard input is empty, so {name} would be replaced by an empty file; name a \
                     list, or - for standard input"
                );
            }
            for (_, output) in main {
                complete.extend(output.complete()?);
            }
            CompleteOutput::publish_all(complete)?;
            sum.invalid = invalid;
            anyhow::Ok(sum)
        };
        let (count, mut failed, mut sum) = (parts.len(), 0_u64, Counts::default());
        let mut inputs = Vec::new();
        for (lists, output) in parts {
            stream.inputs = lists;
            inputs.extend(stream.names());
            let kept = stream.notes.kept.len();
            match run(&mut stream, output) {
                Ok(counts) => sum.merge(&counts),
                // A list that cannot be read is reported, and the status is that of a failure.
                Err(error) if keep_going && is_of_list(&error) => {
                    failed += 1;
                    notes.show("", format!("error: {error:#}"));
                    // An account says nothing of how this list was read.
                    stream.notes.kept.truncate(kept);
                    stream.noted.clear();
                }
                Err(error) => return Err(error),
            }
        }
        if failed > 0 {
            let lists = counted(count as u64, "list");
            let others = match count as u64 - failed {
                0 => "no output was written",
                _ => "the outputs of the others are complete",
            };
            notes.add(format!("{failed} of {lists} failed; {others}"));
        }
        notes.kept.append(&mut stream.notes.kept);
        if failed == 0 && count > 0 {
            note_nothing(&sum, &mut notes);
        }
        if let Some(records @ 1..) = sum.reserved {
            notes.add(format!(
                "crawlers that train models may fetch {} whose robots.txt reserves this use. Drop the URLs: \
                 filter --purpose train-ai --unstated keep (for levels of use: --purpose use=full \
                 --unstated keep). List them: classify --usage train-ai,use",
                counted(records, "URL")
            ));
        }
        let (notes, times) = (&notes.kept, [started, loaded]);
        summary::write(&summary, &summary::account(&policies, &inputs, &sum, notes, times))?;
        Ok((sum, if failed == 0 { ExitStatus::Done } else { ExitStatus::Failed }))
    }
}

/// Notes that there was no record, that none was decided, or that most are not URLs.
pub fn note_nothing(counts: &Counts, notes: &mut Notes) {
    if counts.records == 0 {
        notes.show("warning: ", "no list has a record; did a download fail?".to_owned());
    }
    if let Some(reason) = counts.undecided() {
        let hosts = counts.unknown_hosts.top(1).largest;
        let host = hosts.first().filter(|_| reason == Reason::NoPolicy);
        let host = host.map(|host| format!(" (such as {})", host.name)).unwrap_or_default();
        notes.add(format!("no record was decided; most are {}{host}", phrase(reason)));
    }
    if let Some((invalid, InvalidRecord { file, place, problem, .. })) = counts.mostly_invalid() {
        notes.add(format!(
            "{invalid} of {} are not URLs (first: {file}, {place}: {problem}); --rejects FILE lists them",
            counted(counts.records, "record")
        ));
    }
}

/// Whether an error is about one list, and neither about the set nor about an output.
fn is_of_list(error: &anyhow::Error) -> bool {
    !error.chain().any(|cause| cause.is::<Damage>() || cause.is::<OutputFailed>())
}
