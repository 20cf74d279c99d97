//! Builds the report from counts and findings.

mod files;
mod policies;
mod rules;
mod usage;

use std::cmp::Reverse;
use std::collections::HashSet;

use super::Audit;
use super::catalog::{Catalog, Policy};
use super::counting::{Findings, OriginCounts, Tally};
use super::model::{
    AgentVerdicts, Captured, HostFigures, HostRow, InvalidFigures, LimitCount, List, NoteCount,
    REPORT_FORMAT, ReasonCount, RecordCounts, Report, SourceFacts, StateCount, UnknownFigures,
    UnknownRow,
};
use portcullis_dialect::decision::{PolicyState, Reason, Verdict};
use portcullis_dialect::limits::{
    AUDIT_ANALYSIS_POSITIONS_MAX, AUDIT_UNKNOWN_ORIGINS_MAX, URL_BYTES_MAX,
};
use portcullis_io::access::UnixSeconds;
use portcullis_report::{AgentCounts, Unknown};
use portcullis_robots::syntax::NoteKind;
use portcullis_robots::visible::cut_to_show;
use portcullis_set::Damage;
use portcullis_set::stats::largest;

use policies::Policies;

/// Builds the report of an audit.
pub(super) fn report(
    audit: &Audit,
    tally: &Tally,
    findings: &Findings,
    top: usize,
) -> Result<Report, Damage> {
    let catalog = &audit.catalog;
    let agents = audit.classifier.agents();
    let counts = tally.counts.agents();
    let asked = Asked::of(catalog, tally);
    let Policies { reach, robots, sizes } = Policies::of(catalog, agents)?;
    let never = rules::never(audit, &asked, top)?;
    let files = files::of(catalog, &sizes, top)?;
    let too_many_rules = [never.policies_not_known, robots.policies_not_known];
    let records = records(tally, counts);
    Ok(Report {
        format: REPORT_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: Vec::new(),
        source: source_facts(catalog),
        agents: agents.iter().map(|agent| agent.name().to_owned()).collect(),
        records,
        verdicts: agents
            .iter()
            .zip(counts)
            .map(|(it, counts)| verdicts(it.name(), counts))
            .collect(),
        states: states(catalog, &asked.urls, findings.unknown.urls()),
        hosts: hosts(catalog, tally, agents.len(), top),
        rules: rules::figures(audit, tally, findings, &asked, never, top)?,
        reach,
        robots: robots.figures(agents, top),
        usage: usage::figures(audit, tally, &asked, top)?,
        unknown: unknown(&findings.unknown, top),
        invalid: InvalidFigures {
            empty: tally.empty,
            others: records.invalid - tally.empty,
            examples: findings.invalid.iter().map(|text| shown(text)).collect(),
        },
        files: files.figures,
        crawl_delays: files.crawl_delays,
        sitemaps: files.sitemaps,
        limits: limits(catalog, tally, findings, &files.notes, too_many_rules),
        notes: files.notes,
    })
}

/// The URLs of the list that were checked against each policy.
struct Asked<'a> {
    /// The number of these URLs.
    urls: Vec<u64>,
    /// The host that names the policy: of the hosts that share it, the one with the most URLs, or
    /// else the first by name.
    hosts: Vec<&'a [u8]>,
}

impl<'a> Asked<'a> {
    fn of(catalog: &'a Catalog, tally: &'a Tally) -> Asked<'a> {
        let mut urls = vec![0; catalog.policies.len()];
        let first = |policy: &'a Policy| (0, Reverse(&*policy.first_host));
        let mut leading: Vec<(u64, Reverse<&[u8]>)> = catalog.policies.iter().map(first).collect();
        for (key, origins) in &tally.hosts {
            for origin in origins.iter().flatten() {
                urls[origin.policy] += origin.urls;
                // http and https often share a policy.
                let same = origins.iter().flatten().filter(|it| it.policy == origin.policy);
                let of_host = (same.map(|it| it.urls).sum(), Reverse(&**key));
                leading[origin.policy] = leading[origin.policy].max(of_host);
            }
        }
        Asked { urls, hosts: leading.into_iter().map(|(_, Reverse(host))| host).collect() }
    }
}

/// Returns a text for display, cut if it is long.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&cut_to_show(bytes)).into_owned()
}

fn source_facts(catalog: &Catalog) -> SourceFacts {
    let set = &catalog.set;
    let counts = (!set.is_universal()).then(|| set.counts());
    let date = |seconds| UnixSeconds(seconds).to_rfc3339();
    let captured = counts.as_ref().and_then(|counts| counts.captured);
    SourceFacts {
        kind: if counts.is_some() { "set" } else { "file" },
        name: String::new(),
        hash: format!("{:016x}", set.hash()),
        dialect: set.dialect().name,
        robots_bytes_max: set.robots_bytes_max(),
        hosts: counts.as_ref().map(|_| catalog.hosts),
        origins: counts.as_ref().map(|counts| counts.origins),
        policies: catalog.policies.len() as u64,
        captured: captured.map(|(first, last)| Captured { first: date(first), last: date(last) }),
    }
}

fn records(tally: &Tally, counts: &[AgentCounts]) -> RecordCounts {
    // Whether a policy is known does not depend on the agent.
    let verdict = |verdict| counts.first().map_or(0, |agent| agent.verdict(verdict));
    RecordCounts {
        records: tally.counts.records,
        bytes: tally.counts.bytes,
        known: verdict(Verdict::Allow) + verdict(Verdict::Disallow),
        unknown: verdict(Verdict::Unknown),
        invalid: verdict(Verdict::Invalid),
    }
}

fn verdicts(agent: &str, counts: &AgentCounts) -> AgentVerdicts {
    let reason =
        |reason: Reason| ReasonCount { reason: reason.as_str(), count: counts.reason(reason) };
    AgentVerdicts {
        agent: agent.to_owned(),
        allow: counts.verdict(Verdict::Allow),
        disallow: counts.verdict(Verdict::Disallow),
        unknown: counts.verdict(Verdict::Unknown),
        invalid: counts.verdict(Verdict::Invalid),
        reasons: Reason::ALL.map(reason).to_vec(),
    }
}

/// Counts hosts, origins and URLs by the state of their policy.
fn states(catalog: &Catalog, asked: &[u64], unknown: u64) -> Vec<StateCount> {
    let mut counts = PolicyState::ALL.map(|state| StateCount {
        state: state.as_str(),
        hosts: 0,
        origins: 0,
        urls: if state == PolicyState::Unknown { unknown } else { 0 },
    });
    for (policy, urls) in catalog.policies.iter().zip(asked) {
        let count = &mut counts[policy.access.state as usize];
        count.hosts += policy.hosts;
        count.origins += policy.origins;
        count.urls += urls;
    }
    counts.to_vec()
}

/// Returns figures about the hosts of URLs, and the `top` hosts with the most disallowed decisions.
fn hosts(catalog: &Catalog, tally: &Tally, agents: usize, top: usize) -> HostFigures {
    let row = |key: &[u8], origins: &[Option<OriginCounts>]| {
        let mut by_agent = vec![0; agents];
        for origin in origins.iter().flatten() {
            for (count, &class) in
                by_agent.iter_mut().zip(&catalog.policies[origin.policy].class_of)
            {
                *count += origin.disallowed[class as usize];
            }
        }
        HostRow {
            host: shown(key),
            urls: origins.iter().flatten().map(|origin| origin.urls).sum(),
            disallowed: by_agent.iter().sum(),
            by_agent,
        }
    };
    let affected = tally.hosts.iter().filter(|(_, origins)| {
        let mut disallowed = origins.iter().flatten().flat_map(|origin| &origin.disallowed);
        disallowed.any(|&urls| urls > 0)
    });
    let total = affected.clone().count() as u64;
    let rows = affected.map(|(key, origins)| (&**key, row(key, origins)));
    let rows = largest(rows, top, |&(key, ref row)| (row.disallowed, row.urls, Reverse(key)));
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    HostFigures {
        asked: tally.hosts.len() as u64,
        affected: total,
        most_affected: List { total, rows },
    }
}

/// Returns figures about origins without a policy, and the `top` origins with the most URLs.
fn unknown(origins: &Unknown, top: usize) -> UnknownFigures {
    let rows = origins.largest(top);
    let row = |(origin, urls): (&[u8], u64)| UnknownRow {
        origin: String::from_utf8_lossy(origin).into_owned(),
        urls,
        urls_min: urls,
    };
    let total = origins.names() as u64;
    let all = origins.largest(usize::MAX);
    let hosts: HashSet<&[u8]> = all.into_iter().map(|(origin, _)| host_of(origin)).collect();
    UnknownFigures {
        urls: origins.urls(),
        origins: total,
        hosts: hosts.len() as u64,
        exact: origins.uncounted() == 0,
        worth_fetching: List { total, rows: rows.into_iter().map(row).collect() },
    }
}

/// Returns the host of an origin, with its port unless it is the default port.
fn host_of(origin: &[u8]) -> &[u8] {
    let scheme = origin.windows(3).position(|bytes| bytes == b"://");
    scheme.map_or(origin, |colon| &origin[colon + 3..])
}

/// Returns all limits, hit or not.
fn limits(
    catalog: &Catalog,
    tally: &Tally,
    findings: &Findings,
    notes: &[NoteCount],
    [analysis, reach]: [u64; 2],
) -> Vec<LimitCount> {
    let noted = |kind: NoteKind| {
        notes.iter().find(|note| note.kind == kind.as_str()).map_or(0, |note| note.files)
    };
    let set = &catalog.set;
    let line_bytes_max = set.dialect().lines.line_bytes_max.map(|bytes| bytes as u64);
    let limit = |name, value, what, hits, unit| LimitCount { name, value, what, hits, unit };
    vec![
        limit(
            "robots-bytes",
            set.robots_bytes_max(),
            "bytes read from a robots.txt; the rest is ignored",
            noted(NoteKind::FileCut),
            "files",
        ),
        limit(
            "line-bytes",
            line_bytes_max,
            "bytes read from a line in this dialect; the rest is ignored",
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
            "origins without a policy that are counted one by one; URLs of later ones are counted \
             together",
            findings.unknown.uncounted(),
            "URLs",
        ),
        limit(
            "analysis",
            Some(AUDIT_ANALYSIS_POSITIONS_MAX),
            "pattern positions searched for rules that never decide; the rules of a larger policy \
             are not known",
            analysis,
            "policies",
        ),
        limit(
            "reach",
            None,
            "work to find how much a robot may fetch; for a larger policy it is not known",
            reach,
            "policies",
        ),
    ]
}
