//! `portcullis check`: the verdicts on URLs of arguments and lists, one line each.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{bail, ensure};
use clap::ColorChoice;
use portcullis_dialect::decision::Verdict;
use portcullis_report::{ChunkError, Counts, Piece, explanation, explanation_json};
use portcullis_robots::url::is_requested_otherwise;
use portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX;
use portcullis_rows::list::{Arena, Problem, joined_url};
use portcullis_set::Damage;
use portcullis_set::batch::{Answers, Session};
use portcullis_text::visible::visible;

use super::args::{CheckArgs, ListTimeArgs, RejectArgs, RunArgs, ThreadArgs, UrlOrList};
use super::engine::{self, THREADS, thread_pool};
use super::exit::ExitStatus;
use super::files::Files;
use super::message::say;
use super::output::{Output, OutputFailed, SummaryForm};
use super::plan;
use super::stream;
use super::values::Format;

pub fn run(args: CheckArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    let has_lists = !files.lists.inputs.is_empty();
    let is_of_lists = |flag: &&str| !has_lists && *flag != "--host";
    if let Some(flag) = args.reading.given().filter(is_of_lists) {
        bail!(
            "{flag} is for lists of URLs: pass one as @FILE, or - for standard input, or write whole URLs"
        );
    }
    let (policies, host) = (args.policies, args.reading.host.clone());
    let strictness = policies.faults.strictness();
    let mut questions = plan::questions(args.agents, &args.reading, policies.dialect())?;
    let labels = plan::labels(args.usage)?;
    questions.reads_usage = !labels.is_empty();
    let times = ListTimeArgs { time: args.time, ..ListTimeArgs::default() };
    questions.times = plan::times(times, false, None, &policies)?;
    let lists = has_lists.then(|| {
        let run =
            RunArgs { threads: ThreadArgs::default(), summary: Vec::new(), no_progress: true };
        let rejects = RejectArgs { rejects: None };
        plan::stream(args.reading, files, rejects, &questions, &run, strictness, !args.quiet)
    });
    let mut lists = lists.transpose()?;
    let policies = engine::load(&thread_pool(THREADS)?, &policies, &questions)?;
    policies.show_notes(if args.quiet { SummaryForm::Quiet } else { SummaryForm::None });
    let classifier = engine::classifier(&policies.set, &questions)?.with_usage(&labels).into();
    let form = Form {
        json: args.format == Format::Jsonl,
        explains: args.explain,
        labels: labels.len(),
        colored: is_colored(args.color.color),
        escapes: args.explain || io::stdout().is_terminal(),
        is_quiet: args.quiet,
    };
    let mut printed = Printed {
        all_allowed: true,
        output: (!args.quiet).then(|| Output::styled().until_closed()),
    };
    let mut session = questions.session(&classifier);
    let mut checked = CheckedUrls::default();
    for url in &args.urls {
        let UrlOrList::Url(name) = url else { continue };
        let arena = Arena::new();
        let url = on_host(name.as_encoded_bytes(), host.as_deref(), &arena);
        let mut answers = session.decide(&[url])?;
        form.add(0, (url, None), &mut answers, &mut checked)?;
        let is_url = answers.decisions().iter().all(|it| it.verdict() != Verdict::Invalid);
        if !is_url && !form.is_quiet && Path::new(name).is_file() {
            let name = name.display();
            say(format_args!("note: {name} is a file; @{name} checks the URLs in it"));
        } else if !is_url && !form.is_quiet && url.starts_with(b"/") && !url.starts_with(b"//") {
            say("note: a URL that begins with / is a path; --host names its host");
        }
        if is_url && !form.is_quiet && is_requested_otherwise(url) {
            let url = String::from_utf8_lossy(url);
            say(format_args!(
                "note: {url}: clients request another URL (dot segments, ' in a query, or not UTF-8); it is decided as \
                 written"
            ));
        }
    }
    // A run that fails prints nothing of the URLs that are arguments.
    policies.set.is_whole()?;
    printed.add(&checked)?;
    if let Some(lists) = &mut lists {
        let mut urls = 0;
        let (invalid, _) = stream::run(
            lists,
            &questions,
            || questions.session(&classifier),
            |session, piece, checked: &mut CheckedUrls| Ok(form.work(session, piece, checked)?),
            |part, checked| {
                urls = if part.is_first { checked.urls } else { urls + checked.urls };
                let name = part.list.name();
                ensure!(urls > 0 || !part.is_last, "{name}: no URL to check; did a download fail?");
                Ok(printed.add(checked)?)
            },
        )?;
        policies.set.is_whole()?;
        if !args.quiet {
            invalid.doubts().for_each(|doubt| say(format_args!("note: {doubt}")));
        }
    }
    printed.output.map_or(Ok(()), Output::finish)?;
    Ok(if printed.all_allowed { ExitStatus::Done } else { ExitStatus::Negative })
}

/// Returns the URL that an argument means: a path is on the host that is given.
fn on_host<'c>(url: &'c [u8], host: Option<&'c str>, arena: &'c Arena) -> &'c [u8] {
    let host = host.filter(|_| url.starts_with(b"/"));
    let joined = host.map(|host| joined_url(url, [Some(host.as_bytes()), None, None], arena));
    joined.and_then(Result::ok).unwrap_or(url)
}

/// The form in which a URL is printed.
struct Form {
    json: bool,
    explains: bool,
    /// The number of labels of --usage.
    labels: usize,
    colored: bool,
    escapes: bool,
    is_quiet: bool,
}

/// The lines about some URLs.
#[derive(Default)]
struct CheckedUrls {
    /// Their number.
    urls: u64,
    text: Vec<u8>,
    /// Whether a URL is not allowed for some agent.
    has_other: bool,
    counts: Counts,
}

impl Form {
    /// Adds the URLs of a piece of a list. An empty line is none, but a row of a file is a record.
    fn work(
        &self,
        session: &mut Session,
        piece: Piece<'_, '_>,
        checked: &mut CheckedUrls,
    ) -> Result<(), ChunkError> {
        let mut counts = std::mem::take(&mut checked.counts);
        (checked.urls, checked.text, checked.has_other) = (0, Vec::new(), false);
        counts.clear(session.classifier().agents().len(), 0);
        let are_rows = piece.rows.part().is_some();
        let decided = piece.work(session, &mut counts).decide(1, |block, mut answers, _| {
            for (number, record) in block.iter().enumerate() {
                if are_rows || !record.text().is_empty() {
                    let problem = record.problem();
                    let url = if problem.is_some() { record.text() } else { record.url() };
                    self.add(number, (url, problem), &mut answers, checked)?;
                }
            }
            Ok(checked.text.len() < CHUNK_OUTPUT_BYTES_MAX)
        });
        checked.counts = counts;
        decided
    }

    /// Adds the lines about a URL, or about a record that has none for the reason next to it.
    fn add(
        &self,
        number: usize,
        (url, problem): (&[u8], Option<Problem>),
        answers: &mut Answers<'_>,
        CheckedUrls { urls, text, has_other, .. }: &mut CheckedUrls,
    ) -> Result<(), Damage> {
        *urls += 1;
        let agents = answers.per_record();
        let own = number * agents..(number + 1) * agents;
        let decisions = answers.decisions()[own.clone()].to_vec();
        *has_other |= decisions.iter().any(|decision| decision.verdict() != Verdict::Allow);
        if self.is_quiet {
            return Ok(());
        }
        if !self.json {
            let preferences = answers.preferences();
            for (answer, decision) in own.clone().zip(&decisions) {
                push_verdict(decision.verdict(), self.colored, text);
                for preference in &preferences[answer * self.labels..][..self.labels] {
                    text.extend_from_slice(preference.as_str().as_bytes());
                    text.push(b'\t');
                }
            }
            // A record may have the end of a line in it.
            match self.escapes || problem.is_some() || url.iter().any(u8::is_ascii_control) {
                true => text.extend(visible(url).to_string().into_bytes()),
                false => text.extend_from_slice(url),
            }
            if !self.explains {
                let unknown = decisions.iter().find(|it| it.verdict() == Verdict::Unknown);
                if let Some(problem) = problem {
                    text.extend(format!("\t{}", problem.describe()).into_bytes());
                } else if let Err(problem) = answers.session().explain(url, 0, None)? {
                    text.extend(format!("\t{problem}").into_bytes());
                } else if let Some(unknown) = unknown {
                    text.extend(format!("\t{}", unknown.reason().as_str()).into_bytes());
                }
            }
            text.push(b'\n');
        }
        if self.explains || self.json {
            let explained = if problem.is_some() { b"" } else { url };
            for (agent, (answer, decision)) in own.zip(&decisions).enumerate() {
                let mut facts = explanation::explain(answers.session(), explained, agent, None)?;
                let own = problem.map(|problem| problem.describe().to_owned());
                facts.problem = own.or(facts.problem);
                let crawler = &answers.session().classifier().agents()[agent];
                facts.read_source = portcullis_crawlers::page_of_answers(crawler);
                match self.json {
                    true => explanation_json::write(url, answers.rule(answer)?, &facts, text),
                    false => text.extend(explanation::text(*decision, &facts).into_bytes()),
                }
            }
        }
        Ok(())
    }
}

/// Facts about the printed lines.
struct Printed {
    all_allowed: bool,
    /// `None` with --quiet.
    output: Option<Output>,
}

impl Printed {
    fn add(&mut self, checked: &CheckedUrls) -> Result<(), OutputFailed> {
        self.all_allowed &= !checked.has_other;
        self.output.as_mut().map_or(Ok(()), |output| output.write(&checked.text))
    }
}

/// Whether output is coloured. The flag overrides NO_COLOR. An empty NO_COLOR is ignored.
pub(super) fn is_colored(asked: ColorChoice) -> bool {
    match asked {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && io::stdout().is_terminal()
        }
    }
}

/// Appends the column with a verdict.
fn push_verdict(verdict: Verdict, colored: bool, out: &mut Vec<u8>) {
    if !colored {
        out.extend_from_slice(verdict.as_str().as_bytes());
        return out.push(b'\t');
    }
    // ECMA-48, section 8.3.117: green, red, yellow.
    let color = match verdict {
        Verdict::Allow => 32,
        Verdict::Disallow => 31,
        Verdict::Unknown | Verdict::Invalid => 33,
    };
    out.extend_from_slice(format!("\x1b[{color}m{verdict}\x1b[0m\t").as_bytes());
}
