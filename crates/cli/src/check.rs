//! `portcullis check`: the verdicts on a few URLs, one line each.

use std::env;
use std::io::{self, ErrorKind, IsTerminal};

use clap::ColorChoice;
use portcullis_dialect::decision::Verdict;
use portcullis_report::{explanation, explanation_json};
use portcullis_text::visible::visible;

use super::args::{CheckArgs, ListTimeArgs};
use super::engine::{self, THREADS, thread_pool};
use super::exit::ExitStatus;
use super::output::SummaryForm;
use super::values::Format;
use super::{output, plan};

pub fn run(args: CheckArgs) -> anyhow::Result<ExitStatus> {
    let policies = args.policies;
    let mut questions = plan::questions(args.asked.questions, policies.dialect())?;
    let labels = plan::labels(args.usage)?;
    let times = ListTimeArgs { time: args.time, ..ListTimeArgs::default() };
    questions.times = plan::times(times, false, None, &policies)?;
    let policies = engine::load(&thread_pool(THREADS)?, &policies, &questions)?;
    policies.show_notes(SummaryForm::None);
    if !args.quiet {
        policies.agents.show_misspelt();
    }
    let classifier = engine::classifier(&policies.set, &questions)?.with_usage(&labels);
    let mut session = questions.session(&classifier.into());
    let json = args.format == Format::Jsonl;
    let colored = is_colored(args.color.color);
    let escapes = args.explain || io::stdout().is_terminal();
    let mut all_allowed = true;
    let mut out = Vec::new();
    for url in &args.urls {
        let url = url.as_encoded_bytes();
        let mut answers = session.decide(&[url])?;
        let decisions = answers.decisions().to_vec();
        all_allowed &= decisions.iter().all(|decision| decision.verdict == Verdict::Allow);
        if !json {
            let mut preferences = answers.preferences().iter();
            for decision in &decisions {
                push_verdict(decision.verdict, colored, &mut out);
                for preference in preferences.by_ref().take(labels.len()) {
                    out.extend_from_slice(preference.as_str().as_bytes());
                    out.push(b'\t');
                }
            }
            match escapes {
                true => out.extend(visible(url).to_string().into_bytes()),
                false => out.extend_from_slice(url),
            }
            out.push(b'\n');
        }
        if args.explain || json {
            for (agent, decision) in decisions.iter().enumerate() {
                let facts = explanation::explain(answers.session(), url, agent, None)?;
                match json {
                    true => explanation_json::write(url, answers.rule(agent)?, &facts, &mut out),
                    false => out.extend(explanation::text(decision, &facts).into_bytes()),
                }
            }
        }
    }
    policies.set.is_whole()?;
    let status = if all_allowed { ExitStatus::Done } else { ExitStatus::Negative };
    match if args.quiet { Ok(()) } else { output::print(&out) } {
        // The status is an answer too, which does not change if nobody reads the other.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(status),
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
