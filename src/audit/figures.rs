//! From counts and findings to the report.

mod distribution;
mod files;
mod hosts;
mod never;
mod policies;
mod rules;
mod sides;

use super::findings::Findings;
use super::library::Library;
use super::model::files::NoteCount;
use super::model::{
    AgentVerdicts, Captured, InvalidFigures, LimitCount, REPORT_FORMAT, ReasonCount, RecordCounts,
    Report, SourceFacts, StateCount,
};
use super::tally::Tally;
use super::{Audit, library};
use crate::access::UnixSeconds;
use crate::decision::{PolicyState, Reason, Verdict};
use crate::limits::{AUDIT_ANALYSIS_POSITIONS_MAX, AUDIT_UNKNOWN_ORIGINS_MAX, URL_BYTES_MAX};
use crate::report::AgentCounts;
use crate::set::Damage;
use crate::syntax::NoteKind;
use crate::visible::cut_to_show;

use files::Files;
use hosts::Asked;
use never::Never;
use policies::Policies;

/// The report of an audit.
pub(super) fn report(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    top: usize,
) -> Result<Report, Damage> {
    let library = &audit.library;
    let agents = audit.classifier.agents();
    let asked = Asked::of(audit, tally);
    let Policies { reach, robots, sizes } = Policies::of(library, agents)?;
    let Files { figures: files, notes, crawl_delays, sitemaps } = Files::of(library, &sizes, top)?;
    let never = Never::of(audit, &asked, top)?;
    let limits_hit = never.limits_hit;
    let rules = rules::figures(audit, tally, findings, &asked, never, top)?;
    let unknown = findings.unknown.figures(top);
    let unknown_reach = robots.not_known();
    let mut report = Report {
        format: REPORT_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: Vec::new(),
        source: source_facts(library),
        agents: agents.iter().map(|agent| agent.name().to_owned()).collect(),
        records: records(tally),
        verdicts: Vec::new(),
        states: states(library, &asked, unknown.urls),
        hosts: hosts::figures(audit, tally, top),
        rules,
        reach,
        robots: robots.figures(agents, top),
        comparisons: sides::comparisons(audit, tally, findings),
        unknown,
        invalid: invalid(tally, findings),
        files,
        notes,
        crawl_delays,
        sitemaps,
        limits: Vec::new(),
    };
    let counted = report.agents.iter().zip(tally.counts.agents());
    report.verdicts = counted.map(|(agent, counts)| verdicts(agent, counts)).collect();
    report.limits = limits(audit, tally, findings, &report.notes, (limits_hit, unknown_reach));
    Ok(report)
}

/// Text of a file or a URL, to be shown; cut where it is long.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&cut_to_show(bytes)).into_owned()
}

fn source_facts(library: &Library) -> SourceFacts {
    let set = &library.set;
    let origins = (!set.is_universal()).then(|| set.counts().origins);
    let (kind, captured) = match origins {
        None => ("file", None),
        Some(_) => ("set", set.counts().captured),
    };
    let date = |seconds| UnixSeconds(seconds).to_rfc3339();
    SourceFacts {
        kind: kind.to_owned(),
        name: String::new(),
        hash: format!("{:016x}", set.hash()),
        dialect: set.dialect().name.to_owned(),
        robots_bytes_max: set.robots_bytes_max(),
        hosts: origins.map(|_| library.hosts.len() as u64),
        origins,
        policies: library.policies.len() as u64,
        captured: captured.map(|(first, last)| Captured { first: date(first), last: date(last) }),
    }
}

fn records(tally: &Tally) -> RecordCounts {
    let verdict = |verdict| tally.counts.agents().first().map_or(0, |agent| agent.verdict(verdict));
    RecordCounts {
        records: tally.counts.records,
        bytes: tally.counts.bytes,
        known: verdict(Verdict::Allow) + verdict(Verdict::Disallow),
        unknown: verdict(Verdict::Unknown),
        invalid: verdict(Verdict::Invalid),
    }
}

fn verdicts(agent: &str, counts: &AgentCounts) -> AgentVerdicts {
    let reason = |reason: Reason| ReasonCount {
        reason: reason.as_str().to_owned(),
        count: counts.reason(reason),
    };
    AgentVerdicts {
        agent: agent.to_owned(),
        allow: counts.verdict(Verdict::Allow),
        disallow: counts.verdict(Verdict::Disallow),
        unknown: counts.verdict(Verdict::Unknown),
        invalid: counts.verdict(Verdict::Invalid),
        reasons: Reason::ALL.map(reason).to_vec(),
    }
}

/// Origins and URLs by the state of their policy.
fn states(library: &Library, asked: &Asked, unknown: u64) -> Vec<StateCount> {
    let mut counts = PolicyState::ALL.map(|state| StateCount {
        state: state.as_str().to_owned(),
        origins: 0,
        urls: if state == PolicyState::Unknown { unknown } else { 0 },
    });
    for (policy, urls) in library.policies.iter().zip(&asked.urls) {
        let count = &mut counts[policy.access.state as usize];
        count.origins += policy.origins;
        count.urls += urls;
    }
    counts.to_vec()
}

fn invalid(tally: &Tally, findings: &Findings) -> InvalidFigures {
    InvalidFigures {
        empty: tally.empty,
        others: records(tally).invalid - tally.empty,
        examples: findings.invalid.iter().map(|text| shown(text)).collect(),
    }
}

/// The limits, hit or not.
fn limits(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    notes: &[NoteCount],
    (analyses, unknown_reach): (u64, u64),
) -> Vec<LimitCount> {
    let noted = |kind: NoteKind| {
        let found = notes.iter().find(|note| note.kind == kind.as_str());
        found.map_or(0, |note| note.files)
    };
    let set = &audit.library.set;
    let line_bytes = set.dialect().lines.line_bytes_max.map(|bytes| bytes as u64);
    let limit = |name: &str, value: Option<u64>, what: &str, hits: u64, unit: &str| LimitCount {
        name: name.to_owned(),
        value,
        what: what.to_owned(),
        hits,
        unit: unit.to_owned(),
    };
    vec![
        limit(
            "robots-bytes",
            set.robots_bytes_max(),
            "bytes of a robots.txt that count; what follows is ignored",
            noted(NoteKind::FileCut),
            "files",
        ),
        limit(
            "line-bytes",
            line_bytes,
            "bytes of a line that count in this dialect; what follows is ignored",
            noted(NoteKind::LineCut),
            "files",
        ),
        limit(
            "url-bytes",
            Some(URL_BYTES_MAX as u64),
            "bytes of a URL; a longer one is invalid",
            tally.too_long,
            "records",
        ),
        limit(
            "unknown-origins",
            Some(AUDIT_UNKNOWN_ORIGINS_MAX as u64),
            "origins without a policy that are counted one by one; the counts of others are bounds",
            findings.unknown.forgotten_origins,
            "origins",
        ),
        limit(
            "analysis",
            Some(AUDIT_ANALYSIS_POSITIONS_MAX),
            "positions of patterns that finding rules that never decide may look at; of the others \
             it is not known",
            analyses,
            "policies",
        ),
        limit(
            "reach",
            None,
            "work for telling how much a robot is left; where it is too much it is not known",
            unknown_reach,
            "policies",
        ),
    ]
}

/// The number of a host, as it is shown.
fn host_name(library: &Library, host: u32) -> String {
    match host {
        library::NONE => String::new(),
        host => shown(library.key(host)),
    }
}
