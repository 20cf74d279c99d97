//! Where another dialect or set decides otherwise.

use super::shown;
use crate::audit::findings::{Example, Findings, Side};
use crate::audit::model::{ComparedUrl, Comparison, ToldDecision, VerdictChange};
use crate::audit::tally::{ComparedTally, Tally};
use crate::audit::{Audit, Compared, change};
use crate::decision::Verdict;

/// The comparisons, one by one.
pub(super) fn comparisons(audit: &Audit, tally: &Tally, findings: &Findings) -> Vec<Comparison> {
    let found = tally.compared.iter().zip(&findings.compared);
    let comparisons = audit.comparisons.iter().zip(found);
    comparisons.map(|(side, (tally, examples))| comparison(side, tally, examples)).collect()
}

fn comparison(side: &Compared, tally: &ComparedTally, examples: &[Example]) -> Comparison {
    let pairs =
        || Verdict::ALL.into_iter().flat_map(|here| Verdict::ALL.map(|there| (here, there)));
    let changes = pairs().map(|(here, there)| VerdictChange {
        here: here.as_str().to_owned(),
        there: there.as_str().to_owned(),
        count: tally.changes[here as usize][there as usize],
    });
    let mut ordered: Vec<&Example> = examples.iter().collect();
    // Stable, so that those of one change stay in the order of the input.
    ordered.sort_by_key(|example| {
        change(example.here.decision.verdict, example.there.decision.verdict)
    });
    Comparison {
        kind: side.kind.as_str().to_owned(),
        name: side.name.clone(),
        dialect: side.classifier.dialect().name.to_owned(),
        hash: format!("{:016x}", side.classifier.set().hash()),
        urls: tally.urls,
        by_agent: tally.by_agent.clone(),
        changes: changes.filter(|change| change.count > 0).collect(),
        examples: ordered.into_iter().map(compared_url).collect(),
    }
}

fn compared_url(example: &Example) -> ComparedUrl {
    ComparedUrl {
        url: shown(&example.url),
        agent: example.agent,
        here: told(&example.here),
        there: told(&example.there),
    }
}

fn told(side: &Side) -> ToldDecision {
    ToldDecision {
        verdict: side.decision.verdict.as_str().to_owned(),
        reason: side.decision.reason.as_str().to_owned(),
        line: side.decision.line.map(|line| line.get()),
        rule: side.rule.as_ref().map(|rule| shown(rule)),
    }
}
