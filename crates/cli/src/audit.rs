//! `portcullis audit`: a report on how robots.txt affects a list of URLs.

use std::cmp::Reverse;
use std::time::Instant;

use portcullis_build::{LoadConfig, read_text};
use portcullis_files::scratch::Scratch;
use portcullis_lint::{Diagnostic, LintConfig, Severity, lint};
use portcullis_report::{Account, Tally};
use portcullis_robots::access::UnixSeconds;
use portcullis_survey::page::{self, Problem};
use portcullis_survey::{Audit, Findings, Report};

use super::args::{AUDIT_FORMATS, AuditArgs, NowArgs, PolicyArgs};
use super::engine::{self, thread_pool};
use super::exit::ExitStatus;
use super::output::{Destination, Output, OutputFailed};
use super::plan::{self, QuestionPlan, StreamPlan, SummaryPlan};
use super::stream;
use super::summary::{self, Clock};
use super::values::Format;

/// The number of rows per list, unless a flag says otherwise.
const TOP: usize = 50;

pub fn run(args: AuditArgs) -> anyhow::Result<ExitStatus> {
    let plan = &Plan::new(args)?;
    let started = Instant::now();
    // Before the pass over the list, so that a wrong name fails early.
    let open = |(destination, format): &(Destination, Format)| {
        Ok::<_, OutputFailed>((Output::open(destination)?, *format))
    };
    let mut outputs = plan.outputs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let pool = thread_pool(plan.stream.threads)?;
    let policies = engine::load(&pool, &plan.policies, &plan.questions)?;
    policies.show_notes(plan.summary.form);
    let classifier = engine::classifier(&policies.set, &plan.questions)?;
    let scratch = Scratch::in_folder(std::env::temp_dir(), Scratch::default_memory());
    let beside = plan.beside.as_ref().map(|it| it.agents(classifier.dialect())).transpose()?;
    let beside = beside.as_deref().and_then(<[_]>::first);
    let audit = pool.install(|| Audit::new(classifier, beside, plan.top, &scratch))?;
    let clock = Clock::loaded(started);
    let mut rejects = plan.stream.rejects.as_ref().map(Output::create).transpose()?;
    let mut findings = Findings::default();
    let assumed_scheme = plan.questions.assumed_scheme.as_deref();
    let read = stream::run_with(
        &plan.stream,
        &plan.questions,
        || audit.worker(assumed_scheme),
        |worker, piece, found: &mut Findings| Ok(worker.work(piece, found)?),
        |_, lines, found| {
            findings.add(found);
            rejects.as_mut().map_or(Ok(()), |rejects| Ok(rejects.write(lines)?))
        },
    )?;
    let stream::Account { invalid, notes, noted } = read;
    let tally = Tally { counts: findings.counts.clone(), invalid, ..Tally::default() };
    let outcome = summary::Outcome { tally, notes, noted };
    let mut account = outcome.account(summary::run(&policies, &plan.questions), &clock);
    // Equal inputs give equal reports.
    let time = account.time.take();
    let mut report = pool.install(|| audit.report(&findings, account))?;
    policies.set.is_whole()?;
    describe(plan, &mut report);
    for (file, format) in &mut outputs {
        let text = match format {
            Format::Json => report.to_json(),
            _ => page::audit(&report, &plan.problems()?),
        };
        file.write(text.as_bytes())?;
    }
    Output::finish_all(outputs.into_iter().map(|(file, _)| file).chain(rejects))?;
    let account = Account { time, ..report.account };
    summary::write(&plan.summary, &account)?;
    Ok(ExitStatus::Done)
}

/// The plan of a run.
struct Plan {
    policies: PolicyArgs,
    questions: QuestionPlan,
    /// The agent that others are compared with.
    beside: Option<QuestionPlan>,
    stream: StreamPlan,
    summary: SummaryPlan,
    /// The destinations of the report, and its form in each.
    outputs: Vec<(Destination, Format)>,
    /// The number of rows per list.
    top: usize,
}

impl Plan {
    fn new(args: AuditArgs) -> anyhow::Result<Plan> {
        let policies = args.policies;
        let mut outputs: Vec<Destination> =
            args.output.into_iter().map(|path| Destination::new(Some(path))).collect();
        if outputs.is_empty() {
            outputs.push(Destination::StandardOutput);
        }
        let with_format = |destination| {
            let format = plan::format(args.format, &destination, AUDIT_FORMATS)?;
            anyhow::Ok((destination, format))
        };
        let outputs = outputs.into_iter().map(with_format).collect::<anyhow::Result<_>>()?;
        let summary = plan::summary(&args.run)?;
        let questions = plan::questions(args.questions, policies.dialect())?;
        let beside = plan::beside(args.beside)?;
        let times = plan::times(args.times, NowArgs::default(), None, &policies)?;
        let questions = QuestionPlan { usage: true, all_robots: true, times, ..questions };
        let stream = plan::stream(
            args.input,
            args.rejects,
            &questions,
            &args.run,
            policies.strictness(),
            false,
        )?;
        let top = args.top.top.unwrap_or(TOP);
        Ok(Plan { questions, beside, policies, stream, summary, outputs, top })
    }

    /// Returns what `lint` finds in the file for all URLs, the worst first. Empty for other policies,
    /// and for a file that can be read only once.
    fn problems(&self) -> anyhow::Result<Vec<Problem>> {
        let PolicyArgs { robots, text, .. } = &self.policies;
        let Some(path) = robots.as_ref().filter(|path| path.is_file()) else {
            return Ok(Vec::new());
        };
        let (dialect, bytes_max) = (text.dialect(), text.bytes_max());
        let config = LoadConfig { robots_bytes_max: bytes_max, ..LoadConfig::new(dialect) };
        let (text, _) = read_text(path, &config)?;
        let found = lint(&text, &LintConfig { bytes_max, ..LintConfig::new(dialect) });
        let mut found = found.diagnostics;
        found.retain(|it| it.severity() > Severity::Info);
        found.sort_by_key(|it| Reverse(it.severity()));
        let problem = |it: Diagnostic| Problem { line: it.place.line.get(), what: it.message };
        Ok(found.into_iter().map(problem).collect())
    }
}

fn describe(plan: &Plan, report: &mut Report) {
    let of_survey = |time: Option<UnixSeconds>| {
        time.map_or_else(|| "newest".to_owned(), UnixSeconds::to_rfc3339)
    };
    report.survey_at = plan.questions.times.as_ref().map(|times| of_survey(times.all));
    report.inputs = plan.stream.inputs.iter().map(|list| list.path.display().to_string()).collect();
}
