//! `portcullis audit`: a report on how robots.txt affects a list of URLs.

use std::cmp::Reverse;
use std::time::Instant;

use portcullis_build::{LoadConfig, read_text};
use portcullis_lint::{Diagnostic, LintConfig, Severity, lint};
use portcullis_report::Account;
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::list::Place;
use portcullis_survey::{Audit, Findings, page, tables};

use super::args::{AUDIT_FORMATS, AuditArgs, PolicyArgs};
use super::engine::{self, thread_pool};
use super::files::Files;
use super::output::{CompleteOutput, Output, OutputFile, SummaryForm};
use super::plan::{self, TimePlan, VisitPlan};
use super::records::note_nothing;
use super::stream;
use super::summary;
use super::values::Format;

/// The number of rows per list, unless a flag says otherwise.
const TOP: usize = 50;

pub fn run(mut args: AuditArgs, files: &Files) -> anyhow::Result<()> {
    let policy_args = args.policies;
    let prints = args.output.is_empty();
    if prints {
        args.output.push(OutputFile::default());
    }
    let formats = args.output.iter().map(|path| plan::format(args.format, path, AUDIT_FORMATS));
    let formats: Vec<Format> = formats.collect::<anyhow::Result<_>>()?;
    args.output
        .iter()
        .zip(&formats)
        .try_for_each(|(path, format)| plan::no_page_on_terminal(path, *format))?;
    let mut summary = plan::summary(&args.run)?;
    if prints && args.run.summary.is_empty() {
        // The report says it all.
        summary.form = SummaryForm::None;
    }
    let mut questions = plan::questions(args.agents, &args.input.reading, policy_args.dialect())?;
    let baseline = plan::baseline(args.baseline)?;
    plan::record_agents(args.agent_of_record, &[], &mut questions)?;
    if let Some(each) = &mut questions.each {
        each.visits = Some(VisitPlan {
            clients: Place::named(args.client_field).or(Place::offered()),
            // Without a time to decide by, the log's times have the unit.
            unit: args.times.unit.time_unit.take_if(|_| args.times.time_field.is_empty()),
        });
        questions.has_every_delay = true;
    }
    questions.times = plan::times(args.times, false, None, &policy_args)?;
    let strictness = policy_args.faults.strictness();
    let (reading, rejects, run) = (args.input.reading, args.rejects, &args.run);
    let mut stream = plan::stream(reading, files, rejects, &questions, run, strictness, false)?;

    let started = Instant::now();
    // Before the pass over the list, so that a wrong name fails early.
    let outputs = args.output.iter().map(Output::create).collect::<Result<Vec<_>, _>>()?;
    let pool = thread_pool(stream.threads)?;
    let policies = engine::load(&pool, &policy_args, &questions)?;
    policies.show_notes(summary.form);
    let classifier = engine::classifier(&policies.set, &questions)?;
    let baseline = baseline.map(|it| it.noted_agents(&policies.set, summary.form)).transpose()?;
    let baseline = baseline.as_deref().and_then(<[_]>::first);
    let top = args.top.top.unwrap_or(TOP);
    let audit = Audit::new(classifier, baseline, top);
    let loaded = Instant::now();
    let mut findings = Findings::default();
    let assumed_scheme = questions.assumed_scheme.as_deref();
    let (invalid, rejected) = stream::run(
        &mut stream,
        &questions,
        || audit.worker(assumed_scheme),
        |worker, piece, found: &mut Findings| Ok(worker.work(piece, found)?),
        |_, found| {
            findings.add(found);
            Ok(())
        },
    )?;
    findings.counts.invalid = invalid;
    note_nothing(&findings.counts, &mut stream.notes);
    let (notes, times) = (&stream.notes.kept, [started, loaded]);
    let inputs: Vec<String> = stream.names().collect();
    let mut account = summary::account(&policies, &inputs, &findings.counts, notes, times);
    // Equal inputs give equal reports.
    let time = account.time.take();
    let mut report = pool.install(|| audit.report(&findings, account))?;
    policies.set.is_whole()?;
    let newest = || "newest".to_owned();
    let as_of = |times: &TimePlan| times.all.map_or_else(newest, UnixSeconds::to_rfc3339);
    report.survey_at = questions.times.as_ref().map(as_of);
    report.inputs = inputs;
    let mut complete = Vec::new();
    for (output, format) in outputs.into_iter().zip(formats) {
        let text = match format {
            Format::Json => report.to_json(),
            Format::Html => page::audit(&report, &problems(&policy_args)?),
            _ => tables::audit(&report, &problems(&policy_args)?),
        };
        complete.push(output.complete_with(text.as_bytes())?);
    }
    complete.extend(rejected);
    CompleteOutput::publish_all(complete)?;
    summary::write(&summary, &Account { time, ..report.account })
}

/// Returns what `lint` finds in the file for all URLs, the worst first. Empty for other policies,
/// and for a file that can be read only once.
fn problems(PolicyArgs { robots, text, .. }: &PolicyArgs) -> anyhow::Result<Vec<Diagnostic>> {
    let Some(path) = robots.as_ref().filter(|path| path.is_file()) else {
        return Ok(Vec::new());
    };
    let (dialect, bytes_max) = (text.dialect(), text.bytes_max());
    let config = LoadConfig { robots_bytes_max: bytes_max, ..LoadConfig::new(dialect) };
    let (text, _) = read_text(path, &config)?;
    let found = lint(&text, &LintConfig { bytes_max, ..LintConfig::new(dialect) });
    let mut found = found.diagnostics;
    found.retain(|it| it.code.severity() > Severity::Info);
    found.sort_by_key(|it| Reverse(it.code.severity()));
    Ok(found)
}
