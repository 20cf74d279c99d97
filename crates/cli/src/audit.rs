//! `portcullis audit`: a report on how robots.txt affects a list of URLs.

use std::cmp::Reverse;
use std::time::Instant;

use portcullis_build::{LoadConfig, read_text};
use portcullis_files::scratch::Scratch;
use portcullis_lint::{Diagnostic, LintConfig, Severity, lint};
use portcullis_report::{Account, Tally};
use portcullis_robots::access::UnixSeconds;
use portcullis_survey::page::{self, Problem};
use portcullis_survey::{Audit, ChunkFindings, Findings, Report};

use super::args::{AuditArgs, NowArgs};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{Destination, Output, OutputFailed, OutputFile};
use super::plan::{self, PolicyPlan, QuestionPlan, StreamPlan, SummaryPlan};
use super::stream;
use super::summary::{self, Clock};

/// The number of rows per list, unless a flag says otherwise.
const TOP: usize = 50;

pub fn run(args: AuditArgs) -> anyhow::Result<ExitStatus> {
    let plan = &Plan::new(args)?;
    let started = Instant::now();
    let outputs = Outputs::open(plan)?;
    let engine = Engine::new(plan.stream.threads)?;
    let policies = engine.load(&plan.policies, &plan.questions)?;
    policies.show_notes(plan.summary.form);
    let classifier = policies.classifier(&plan.questions)?;
    let scratch = Scratch::in_folder(std::env::temp_dir(), Scratch::default_memory());
    let audit = engine.install(|| Audit::new(classifier, plan.top, &scratch))?;
    let clock = Clock::loaded(started);
    let mut findings = Findings::default();
    let assumed_scheme = plan.questions.assumed_scheme.as_deref();
    let read = stream::run_with(
        &plan.stream,
        &plan.questions,
        || audit.worker(assumed_scheme),
        |worker, piece, found: &mut ChunkFindings| Ok(worker.work(piece, found)?),
        |_, found| {
            findings.add(&audit, found);
            Ok(())
        },
    )?;
    let stream::Account { invalid, notes, noted, output } = read;
    let tally = Tally { counts: audit.counts(&findings), invalid, ..Tally::default() };
    let outcome = summary::Outcome { tally, notes, noted };
    let mut account = outcome.account(summary::run(&policies, &plan.questions), &clock);
    // Equal inputs give equal reports.
    let time = account.time.take();
    let mut report = engine.install(|| audit.report(&findings, account))?;
    policies.set.is_whole()?;
    describe(plan, &mut report);
    outputs.write(plan, &report, output)?;
    let account = Account { time, ..report.account };
    summary::write(&plan.summary, &account)?;
    Ok(ExitStatus::Done)
}

/// The plan of a run.
struct Plan {
    policies: PolicyPlan,
    questions: QuestionPlan,
    stream: StreamPlan,
    summary: SummaryPlan,
    /// The destination of the page.
    page: Option<Destination>,
    /// The destination of the JSON report.
    json: Option<Destination>,
    /// The number of rows per list.
    top: usize,
    /// Whether the page is the short one.
    brief: bool,
}

impl Plan {
    fn new(args: AuditArgs) -> anyhow::Result<Plan> {
        let policies = plan::policies(args.policies);
        let destination = |path: Option<OutputFile>| path.map(|path| Destination::new(Some(path)));
        let page = destination(args.output);
        let json = destination(args.report);
        let summary = plan::summary(&args.run)?;
        let questions = plan::questions(args.questions, policies.dialect())?;
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
        Ok(Plan {
            questions,
            policies,
            stream,
            summary,
            page,
            json,
            top: args.top.top.unwrap_or(TOP),
            brief: args.brief,
        })
    }

    /// Returns what `lint` finds in the file for all URLs, the worst first. Empty for other policies,
    /// and for a file that can be read only once.
    fn problems(&self) -> anyhow::Result<Vec<Problem>> {
        let PolicyPlan::Robots { path, dialect, bytes_max, .. } = &self.policies else {
            return Ok(Vec::new());
        };
        if !path.is_file() {
            return Ok(Vec::new());
        }
        let config = LoadConfig { robots_bytes_max: *bytes_max, ..LoadConfig::new(dialect) };
        let (text, _) = read_text(path, &config)?;
        let found = lint(&text, &LintConfig { bytes_max: *bytes_max, ..LintConfig::new(dialect) });
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

/// The outputs. They are opened before the pass over the list, so that a wrong name fails early.
struct Outputs {
    page: Option<Output>,
    json: Option<Output>,
}

impl Outputs {
    fn open(plan: &Plan) -> Result<Outputs, OutputFailed> {
        let open =
            |destination: &Option<Destination>| destination.as_ref().map(Output::open).transpose();
        Ok(Outputs { page: open(&plan.page)?, json: open(&plan.json)? })
    }

    fn write(self, plan: &Plan, report: &Report, rejects: Option<Output>) -> anyhow::Result<()> {
        let Outputs { mut page, mut json } = self;
        if let Some(output) = &mut page {
            let html = match plan.brief {
                true => page::brief(report, &plan.problems()?),
                false => page::audit(report),
            };
            output.write(html.as_bytes())?;
        }
        if let Some(output) = &mut json {
            output.write(report.to_json().as_bytes())?;
        }
        Ok(Output::finish_all([page, json, rejects].into_iter().flatten())?)
    }
}
