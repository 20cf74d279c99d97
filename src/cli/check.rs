//! `portcullis check`: a few URLs, one line each.

use std::env;
use std::io::{self, IsTerminal};

use portcullis::batch::Session;
use portcullis::decision::{Decision, Verdict};
use portcullis::policy::Detail;
use portcullis::report::{explanation, explanation_json, tsv};
use portcullis::visible::visible;

use super::args::Color;
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{Destination, Output};
use super::plan::{CheckPlan, Telling};

/// One a processor: a folder of policies takes longer than the few URLs.
const THREADS: usize = 0;

pub fn run(plan: &CheckPlan) -> anyhow::Result<ExitStatus> {
    let engine = Engine::new(THREADS)?;
    let policies = engine.load(&plan.policies, &plan.questions)?;
    let classifier = policies.classifier(&plan.questions, Detail::Rule)?;
    let mut session = Session::new(&classifier, plan.questions.assumed_scheme.as_deref());
    let colored = is_colored(plan.color);
    let mut all_allowed = true;
    let mut out = Vec::new();
    for url in &plan.urls {
        let url = url.as_encoded_bytes();
        let decisions = session.decide(&[url])?.to_vec();
        all_allowed &= decisions.iter().all(|decision| decision.verdict == Verdict::Allow);
        if plan.telling != Telling::Json {
            for decision in &decisions {
                push_verdict(decision.verdict, colored, &mut out);
            }
            match plan.telling {
                Telling::Explanation => out.extend(visible(url).to_string().into_bytes()),
                _ => out.extend_from_slice(url),
            }
            out.push(b'\n');
        }
        if matches!(plan.telling, Telling::Explanation | Telling::Json) {
            for (agent, decision) in decisions.iter().enumerate() {
                explain(&mut session, (url, agent, decision), plan.telling, &mut out)?;
            }
        }
    }
    policies.set.is_whole()?;
    if plan.telling != Telling::Nothing {
        let mut output = Output::open(&Destination::StandardOutput)?;
        output.write(&out)?;
        output.finish()?;
    }
    Ok(if all_allowed { ExitStatus::Done } else { ExitStatus::Negative })
}

/// Appends the block or the object of one agent.
fn explain(
    session: &mut Session<'_>,
    (url, agent, decision): (&[u8], usize, &Decision),
    telling: Telling,
    out: &mut Vec<u8>,
) -> anyhow::Result<()> {
    let classifier = session.classifier();
    let name = classifier.agents()[agent].name();
    let dialect = classifier.dialect();
    let (told, problem) = match session.explain(url, agent)? {
        Ok(told) => (told, None),
        Err(problem) => (None, Some(problem.to_string())),
    };
    let (told, problem) = (told.as_ref(), problem.as_deref());
    if telling == Telling::Json {
        let provenance = session.provenance(0, agent)?;
        let told = explanation_json::Facts { explanation: told, problem, dialect };
        explanation_json::write(url, name, decision, provenance, told, out);
        return Ok(());
    }
    Ok(explanation::write(name, decision, told, problem, dialect, out)?)
}

/// Whether verdicts are coloured: NO_COLOR (any value but an empty one) says no, a flag outdoes it.
pub(super) fn is_colored(asked: Color) -> bool {
    match asked {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && io::stdout().is_terminal()
        }
    }
}

/// Appends a verdict's column, coloured or not.
fn push_verdict(verdict: Verdict, colored: bool, out: &mut Vec<u8>) {
    if !colored {
        return tsv::push_column(verdict, out);
    }
    // ECMA-48, section 8.3.117: green, red, yellow.
    let color = match verdict {
        Verdict::Allow => 32,
        Verdict::Disallow => 31,
        Verdict::Unknown | Verdict::Invalid => 33,
    };
    out.extend_from_slice(format!("\x1b[{color}m{verdict}\x1b[0m\t").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_and_without_color() {
        let mut out = Vec::new();
        push_verdict(Verdict::Allow, false, &mut out);
        push_verdict(Verdict::Disallow, true, &mut out);
        assert_eq!(out, b"allow\t\x1b[31mdisallow\x1b[0m\t");
    }
}
