//! Surveys and hosts as lines and tables of text, for a terminal.
//!
//! The first column of a table is left-aligned; numbers are right-aligned. Untrusted text is
//! escaped, and long cells are cut. Nothing fails.

use std::fmt::{Display, Write as _};

use portcullis_build::{InputReport, Provenance};
use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::usage::{Label, Preference, Stance};
use portcullis_lint::Diagnostic;
use portcullis_lint::analysis::{Reach, Relation};
use portcullis_report::page::{SHOWN, SHOWN_ON_SHEET, alike};
use portcullis_report::{Figures, RecordAgent, RecordFigures};
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::NoteKind;
use portcullis_set::PolicySet;
use portcullis_text::figures::{counted, few, grouped, share, size};
use portcullis_text::visible::{cut_characters, visible};

use crate::agents::{AgentFigures, ReachFigures};
use crate::audit::{CrawlerRequests, Report};
use crate::crawlers::{self, Crawlers, disallowed, not_compared, reading};
use crate::host::{
    AccessChange, HostDetail, HostGroup, HostPeriod, HostPolicy, OriginHistory, Robot,
};
use crate::limits::{ROBOTS_NAMED_MAX, TABLE_CELL_CHARACTERS_MAX};
use crate::list::List;
use crate::origins::SharedFigures;
use crate::survey::{OriginFigures, RobotFigures, Survey};
use crate::usage::{HostUsage, UsageCount, UsageFigures};

/// Builds the text for people. Writing to a string cannot fail.
#[derive(Default)]
struct TextTables(String);

impl TextTables {
    fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.0, "{line}");
    }

    /// Appends an empty line and a table. A table without rows is left out.
    ///
    /// `heading` has the names of the columns, the first of which names the table. A row may end early.
    /// Hidden characters are escaped, and cells longer than [`TABLE_CELL_CHARACTERS_MAX`] are cut.
    fn table(&mut self, heading: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let cell = |text: &str| {
            let text = visible(text).to_string();
            cut_characters(&text, TABLE_CELL_CHARACTERS_MAX).into_owned()
        };
        let mut table: Vec<Vec<String>> = vec![heading.iter().map(|text| cell(text)).collect()];
        table.extend(rows.into_iter().map(|row| row.iter().map(|text| cell(text)).collect()));
        if table.len() < 2 {
            return;
        }
        let columns = table.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = table.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        self.0.push('\n');
        for (number, row) in table.iter().enumerate() {
            let indent = if number == 0 { "" } else { "  " };
            let mut line = format!("{indent}{:<1$}", row[0], widths[0] + 2 - indent.len());
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                line += &format!("  {cell:>width$}");
            }
            self.0.push_str(line.trim_end());
            self.0.push('\n');
        }
    }

    /// Appends the number of origins by name, with their share of all. Names without an origin are
    /// left out.
    fn origins(&mut self, title: &str, all: u64, counts: impl IntoIterator<Item = (String, u64)>) {
        let counts = counts.into_iter().filter(|&(_, origins)| origins > 0);
        let row =
            |(name, origins): (String, u64)| vec![name, grouped(origins), share(origins, all)];
        self.table(&[title, "origins"], counts.map(row));
    }
}

/// Returns a row of a table: a name, then numbers.
fn row(name: impl Into<String>, numbers: &[u64]) -> Vec<String> {
    std::iter::once(name.into()).chain(numbers.iter().copied().map(grouped)).collect()
}

fn named(counts: &Figures) -> impl Iterator<Item = (String, u64)> {
    counts.0.iter().map(|(name, count)| ((*name).to_owned(), *count))
}

/// Shows what a set holds.
pub fn survey(set: &PolicySet, survey: &Survey, provenance: Option<&Provenance<'_>>) -> String {
    let mut text = TextTables::default();
    let origins = &survey.origins;
    let limit =
        set.robots_bytes_max().map(|bytes| format!("robots.txt read up to {}", size(bytes)));
    let limit = limit.as_deref().unwrap_or("robots.txt of any length");
    let (name, hash) = (visible(set.name()), set.hash());
    let (dialect, bytes) = (set.dialect().name, size(set.bytes()));
    text.line(format_args!("{name}: {bytes}, set {hash:.16}, dialect {dialect}, {limit}"));
    let counts = set.counts();
    text.line(format_args!(
        "{}, {}, {} with {} of files, {}, {}",
        counted(survey.hosts, "host"),
        counted(origins.origins, "origin"),
        counted(origins.captures, if set.has_history() { "newest capture" } else { "capture" }),
        size(origins.file_bytes),
        counted(counts.policies, "policy"),
        counted(counts.rule_sets, "rule set")
    ));
    let undated = match origins.undated {
        0 => String::new(),
        undated => format!("; {} undated", counted(undated, "origin")),
    };
    let as_of = provenance.and_then(|it| it.settle().time());
    let as_of = as_of.map_or_else(String::new, |time| format!(", as of {}", time.to_rfc3339()));
    match origins.capture_dates {
        Some(dates) => text.line(format_args!("captured: {dates}{undated}{as_of}")),
        None => text.line(format_args!("captured: no dates{as_of}")),
    }
    if set.has_history() {
        let dates = counts.captured().map_or_else(String::new, |dates| format!(", {dates}"));
        let captures = counted(set.history_captures(), "capture");
        text.line(format_args!("history: {captures}{dates}"));
    }
    if origins.in_outage > 0 {
        let origins = counted(origins.in_outage, "origin");
        text.line(format_args!("outages: {origins} unreachable"));
    }
    let inputs: Vec<InputReport> = provenance.into_iter().flat_map(|it| it.inputs()).collect();
    push_origins(&mut text, origins, &inputs);
    push_usage(&mut text, &survey.usage);
    push_robots(&mut text, &survey.robots);
    text.0
}

/// Shows the sections of a set with their bytes.
pub fn sections(set: &PolicySet) -> String {
    let mut text = TextTables::default();
    let sections = || set.section_bytes();
    let in_sections: u64 = sections().map(|(_, bytes)| bytes).sum();
    let rest = ("(header, checksums, padding)".to_owned(), set.bytes().saturating_sub(in_sections));
    let section =
        |(name, bytes): (String, u64)| vec![name, grouped(bytes), share(bytes, set.bytes())];
    text.table(&["section", "bytes"], sections().chain([rest]).map(section));
    text.0
}

fn push_origins(text: &mut TextTables, origins: &OriginFigures, inputs: &[InputReport]) {
    let all = origins.origins;
    text.origins("state", all, named(&origins.states));
    let status = |(&code, &count): (&u16, &u64)| match code {
        0 => ("none".to_owned(), count),
        code => (code.to_string(), count),
    };
    text.origins("status", all, origins.statuses.iter().map(status));
    text.origins("note on the response", all, named(&origins.capture_notes));
    text.origins("note on the file", all, named(&origins.file_notes));
    let input = |input: &InputReport| {
        let format = input.format.as_deref().unwrap_or("-");
        let counts = [input.captures, input.broken + input.later].map(grouped);
        [input.name.clone(), format.to_owned()].into_iter().chain(counts).collect()
    };
    text.table(&["input", "format", "captures", "left out"], inputs.iter().map(input));
    for input in inputs {
        if let Some(failure) = &input.failure {
            let name = visible(&input.name);
            text.line(format_args!("{name}: not read to its end: {}", visible(failure)));
        }
    }
}

fn push_usage(text: &mut TextTables, stats: &UsageFigures) {
    let count = |name: String, count: &UsageCount| {
        row(name, &[count.records, count.policies, count.origins])
    };
    let sources = stats.sources.0.iter().map(|(name, by)| count(name.to_string(), by));
    let stated = stats.labels.0.iter().flat_map(|(label, stated)| {
        stated.0.iter().map(move |(value, by)| count(format!("{label}={value}"), by))
    });
    let all = count("(any)".into(), &stats.all);
    let rows = (stats.all.records > 0).then(|| std::iter::once(all).chain(sources).chain(stated));
    let columns = ["records", "policies", "origins"];
    text.table(&[&["usage"][..], &columns].concat(), rows.into_iter().flatten());
    let heading = format!("licence ({} distinct)", grouped(stats.licenses));
    let licenses = stats.most_common_licenses.iter();
    let licenses = licenses.map(|it| count(it.value.to_string(), &it.count));
    text.table(&[&[heading.as_str()][..], &columns].concat(), licenses);
}

fn push_robots(text: &mut TextTables, robots: &RobotFigures) {
    let count = |name: String, count: &ReachFigures| {
        row(name, &[&[count.policies, count.origins][..], &count.by_origin].concat())
    };
    let others = count("(any other)".into(), &robots.others);
    let named = robots.most_named.iter();
    let named = named.map(|robot| count(robot.name.to_string(), &robot.count));
    let heading = match robots.names {
        0 => "crawler".to_owned(),
        names => format!("crawler ({})", counted(names, "name")),
    };
    let columns = [&heading, "policies", "origins", "all", "part", "none", "not known"];
    text.table(&columns, std::iter::once(others).chain(named));
    let (naming, without) = (robots.naming_policies, robots.policies_without_others);
    if naming == 0 {
        return;
    }
    let names = if naming == 1 { "names" } else { "name" };
    let of_others = match without {
        0 => String::new(),
        _ => format!(
            "; {} of them ({}) {} no rules for anyone else",
            grouped(without),
            counted(robots.origins_without_others, "origin"),
            if without == 1 { "has" } else { "have" },
        ),
    };
    text.line(format_args!("{} {names} crawlers{of_others}", counted(naming, "policy")));
}

/// Shows the first sheet of an audit: what crawlers may fetch, the rules that decide most, what to fix, and
/// what pages may be used for. `problems` are the findings in the file, if there is one for all URLs.
pub fn audit(report: &Report, problems: &[Diagnostic]) -> String {
    let mut text = TextTables::default();
    let RecordFigures { records, per_agent, .. } = &report.account.records;
    let policies = report.account.run.policies.as_ref().map_or("", |policies| &policies.name);
    let as_of = report.account.run.at.as_ref();
    let as_of = as_of.map_or_else(String::new, |time| format!(" as of {time}"));
    let lists = report.inputs.join(", ");
    text.line(visible(&format!(
        "{} of {lists}, policies: {policies}{as_of}",
        counted(*records, "record")
    )));
    let crawlers = Crawlers::of(report);
    if let Some(crawlers) = &crawlers {
        push_crawlers(&mut text, crawlers, report);
    }
    let per_agent = if crawlers.is_some() { &[][..] } else { per_agent };
    // Crawlers with equal numbers share a row, and those that may fetch least come first.
    let mut by_verdicts = alike(per_agent.iter().map(|row| Verdict::ALL.map(|it| row.verdict(it))));
    by_verdicts.sort_by_key(|([allow, ..], _)| *allow);
    let rest = by_verdicts.split_off(by_verdicts.len().min(SHOWN));
    let agents = by_verdicts.into_iter().map(|([allow, disallow, unknown, invalid], places)| {
        let share = |records_of| share(records_of, *records);
        let names = places.iter().map(|&place| &*per_agent[place].agent);
        vec![
            few(names, per_agent.len()),
            grouped(allow),
            share(allow),
            grouped(disallow),
            share(disallow),
            grouped(unknown),
            grouped(invalid),
        ]
    });
    text.table(&["crawler", "allow", "", "disallow", "", "unknown", "invalid"], agents);
    if !rest.is_empty() {
        let crawlers = rest.iter().map(|(_, places)| places.len() as u64).sum();
        text.line(format_args!("  and {} that may fetch more", counted(crawlers, "other crawler")));
    }
    let rules = report.rules.deciding.rows.iter().take(SHOWN_ON_SHEET).map(|it| {
        let field = if it.verdict == "allow" { "Allow" } else { "Disallow" };
        let (line, records, host) = (it.line, it.records, it.host.to_string());
        let crawlers = few(it.crawlers.iter().map(CrawlerRequests::to_string), usize::MAX);
        vec![format!("{field}: {}", it.rule), line.to_string(), grouped(records), host, crawlers]
    });
    let heads = ["rule", "line", "URLs", "host", "crawlers"];
    text.table(&heads[..if crawlers.is_some() { 5 } else { 4 }], rules);
    let to_fix = problems.iter().take(SHOWN_ON_SHEET);
    let to_fix = to_fix.map(|it| vec![format!("line {}: {}", it.place.line, it.message)]);
    text.table(&["to fix"], to_fix);
    let kinds = report.survey.problems.iter().filter(|_| problems.is_empty());
    let heading = ["to fix, in all robots.txt files", "files"];
    text.table(&heading, kinds.map(|it| row(it.meaning, &[it.files])));
    let uses = report.survey.reach.iter().flat_map(|agent| {
        let stated = agent.hosts.stated().filter(|(label, _)| *label != Label::Use);
        stated.map(move |(label, counts)| {
            let counts = [Stance::Yes, Stance::No, Stance::Mixed].map(|it| counts.of(it));
            ((label, counts), &*agent.agent)
        })
    });
    let (uses, names): (Vec<_>, Vec<_>) = uses.unzip();
    let uses = alike(uses).into_iter().map(|((label, counts), places)| {
        let names = places.iter().map(|&place| names[place]);
        row(format!("{label} by {}", few(names, per_agent.len())), &counts)
    });
    text.table(&["hosts that permit (y) or reserve (n) a use", "y", "n", "mixed"], uses);
    push_relations(&mut text, &report.survey.reach);
    text.0
}

/// Appends the crawlers that records name: what each requested, who else did, and how soon requests came.
fn push_crawlers(text: &mut TextTables, crawlers: &Crawlers<'_>, report: &Report) {
    let cells = |name: &str, verdicts: &Figures, reading: String| {
        let (all, disallowed) = (verdicts.sum(), disallowed(verdicts));
        let undecided =
            [Verdict::Unknown, Verdict::Invalid].map(|it| grouped(verdicts.get(it.as_str())));
        let counts = [grouped(all), grouped(disallowed), share(disallowed, all)];
        let name = std::iter::once(name.to_owned());
        name.chain(counts).chain(undecided).chain([reading]).collect::<Vec<_>>()
    };
    let of_crawler = |it: &&RecordAgent| cells(crawlers::name(it), &it.verdicts, reading(it));
    let heading =
        |first| [first, "requests", "disallow", "", "unknown", "invalid", "reads differently"];
    let shown = if crawlers.read_differently() { 7 } else { 6 };
    text.table(&heading("crawler")[..shown], crawlers.bound.iter().map(of_crawler));
    let not_bound = crawlers.not_bound.iter().map(of_crawler);
    text.table(&heading("not bound by robots.txt")[..shown], not_bound);
    if let Some(others) = &report.others {
        let List { total, rows } = &others.products;
        let shown = rows.iter().take(SHOWN_ON_SHEET);
        let rest = total.saturating_sub(shown.len() as u64);
        let named = shown.map(|it| cells(&it.product.to_string(), &it.verdicts, String::new()));
        let together = [
            ("(browsers)", &others.browsers),
            ("(no name)", &others.nameless),
            ("(not counted one by one)", &others.uncounted),
        ];
        let together = together.into_iter().filter(|(_, verdicts)| verdicts.sum() > 0);
        let together = together.map(|(name, verdicts)| cells(name, verdicts, String::new()));
        text.table(&heading("others")[..6], named.chain(together));
        if rest > 0 {
            text.line(format_args!("  and {}", counted(rest, "other product")));
        }
    }
    let paces = crawlers.with_pace().map(|(it, pace)| {
        let counts = [pace.requests, pace.compared, pace.sooner].map(grouped);
        let name = [crawlers::name(it).to_owned(), it.delay_use().to_owned(), pace.delays()];
        let rest = [share(pace.sooner, pace.compared), not_compared(pace).to_string()];
        name.into_iter().chain(counts).chain(rest).collect()
    });
    let heading = [
        "Crawl-delay",
        "its use",
        "delay (s)",
        "requests",
        "compared",
        "sooner",
        "",
        "not compared",
    ];
    text.table(&heading, paces);
}

/// Shows the policies of one host.
pub fn host(detail: &HostDetail) -> String {
    let mut text = TextTables::default();
    for (number, policy) in detail.policies.iter().enumerate() {
        if number > 0 {
            text.line("");
        }
        push_host_policy(&mut text, policy);
    }
    for origin in &detail.unknown {
        text.line(format_args!("\n{}: no policy is known", visible(&origin.to_string())));
    }
    text.0
}

/// Shows the totals of a survey, by agent: hosts, of them those whose rules allow nothing, those whose
/// server fails, those that allow a part and all, those that name the agent, and the preferences that are
/// stated.
pub fn totals(agents: &[AgentFigures]) -> String {
    let mut text = TextTables::default();
    let heading = [
        "agent",
        "hosts",
        "none by rule",
        "none (server fails)",
        "part",
        "all",
        "not known",
        "named",
        "by group *",
    ];
    let access = agents.iter().map(|AgentFigures { agent, hosts, .. }| {
        let [all, part, by_rule, failing, not_known] = hosts.causes;
        let [named, by_default, _] = hosts.addressed;
        let total = hosts.total();
        row(&**agent, &[total, by_rule, failing, part, all, not_known, named, by_default])
    });
    text.table(&heading, access);
    use Stance::{Full, Immediate, Mixed, No, Reference, Unstated, Yes};
    let stated = |is_level: bool, stances: &'static [Stance]| {
        agents.iter().flat_map(move |AgentFigures { agent, hosts, .. }| {
            let stated =
                hosts.stated().filter(move |(label, _)| (*label == Label::Use) == is_level);
            stated.map(move |(label, counts)| {
                let known = stances.iter().map(|it| counts.of(*it));
                let counts: Vec<u64> = known.chain([counts.not_known()]).collect();
                row(format!("{agent} {label}"), &counts)
            })
        })
    };
    let heading = ["preference", "y", "n", "mixed", "not stated", "not known"];
    text.table(&heading, stated(false, &[Yes, No, Mixed, Unstated]));
    let heading =
        ["use level", "immediate", "reference", "full", "mixed", "not stated", "not known"];
    text.table(&heading, stated(true, &[Immediate, Reference, Full, Mixed, Unstated]));
    push_relations(&mut text, agents);
    text.0
}

/// Appends how much each agent may fetch compared with the baseline, if there is one.
fn push_relations(text: &mut TextTables, agents: &[AgentFigures]) {
    let baseline = agents.iter().find_map(|it| Some(&it.relations.as_ref()?.baseline));
    let relations = agents.iter().filter_map(|AgentFigures { agent, relations, .. }| {
        Some(row(&**agent, &relations.as_ref()?.hosts))
    });
    let heading = format!("compared with {} (hosts)", baseline.map_or("", String::as_str));
    text.table(&[&[heading.as_str()][..], &Relation::WORDS].concat(), relations);
}

/// Shows the files that more than some numbers of origins share.
pub fn shared(figures: &[SharedFigures]) -> String {
    let mut text = TextTables::default();
    let occurs = figures.iter().filter(|it| it.files > 0);
    let rows = occurs.map(|&SharedFigures { more_than, files, origins }| match more_than {
        0 => row("all", &[files, origins]),
        _ => row(format!("of more than {more_than} origins"), &[files, origins]),
    });
    text.table(&["distinct files", "files", "origins"], rows);
    text.0
}

/// Shows the periods of a host, and what changed in each for whom: for all crawlers, or for those that the
/// user named.
pub fn history(history: &[OriginHistory], are_all: bool) -> String {
    let mut text = TextTables::default();
    let mut number = 0;
    for OriginHistory { origins, robots, periods } in history {
        let origins: Vec<String> = origins.iter().map(ToString::to_string).collect();
        let count = counted(periods.len() as u64, "period");
        text.line(format_args!("\n{}: {count}", visible(&origins.join(" and "))));
        for period in periods {
            number += 1;
            let all = are_all.then_some(robots.len());
            push_period(&mut text, number, period, all);
        }
    }
    text.0
}

fn push_period(text: &mut TextTables, number: usize, period: &HostPeriod, all: Option<usize>) {
    let since = period.since.map_or("the beginning".to_owned(), UnixSeconds::to_rfc3339);
    let until = period.until.map_or("the end of the set".to_owned(), UnixSeconds::to_rfc3339);
    let policy = match (period.state, period.verdict) {
        (PolicyState::Rules, _) => counted(period.rules as u64, "rule"),
        (state @ PolicyState::NoRules, _) | (state, None) => state.to_string(),
        (state, Some(verdict)) => format!("{state}, {verdict} all"),
    };
    let captures = match period.captures {
        0 => "no capture".to_owned(),
        captures => counted(captures as u64, "capture"),
    };
    text.line(format_args!("\n{number}. {since} to {until}: {policy}, {captures}"));
    let named = |robots: &[Robot]| match robots.len() {
        count if Some(count) == all && count > 1 => "all crawlers".to_owned(),
        _ => robot_names(robots),
    };
    for AccessChange { since, robots, from, to } in &period.changes {
        let to = to.map_or("unknown", Reach::as_str);
        let change = from.map_or(to.to_owned(), |from| format!("{} to {to}", from.as_str()));
        let since = since.map_or_else(String::new, |it| format!(", since {}", it.to_rfc3339()));
        text.line(format_args!("   {}: {change}{since}", named(robots)));
    }
    if !period.other_rules.is_empty() {
        text.line(format_args!("   {}: part, by other rules", named(&period.other_rules)));
    }
    if period.changes.is_empty() && period.other_rules.is_empty() && period.usage.is_none() {
        let whom = if all.is_some() { "all crawlers" } else { "the crawlers named" };
        text.line(format_args!("   the same for {whom}"));
    }
    let Some(usage) = &period.usage else { return };
    for HostUsage { for_others, robots, stated, licenses, .. } in usage {
        let others = for_others.then_some(None);
        let robots: Vec<Robot> =
            others.into_iter().chain(robots.iter().cloned().map(Some)).collect();
        let labels = stated.0.iter().filter(|(_, stated)| !stated.is_empty());
        let labels = labels.map(|(label, stated)| format!("{label}={}", stated.join("|")));
        let licenses = (*licenses > 0).then(|| counted(*licenses as u64, "licence"));
        let stated: Vec<String> = labels.chain(licenses).collect();
        if stated.is_empty() {
            continue;
        }
        text.line(format_args!("   {}: uses {}", robot_names(&robots), stated.join(", ")));
    }
    if usage.is_empty() {
        text.line("   no usage preferences any more");
    }
}

/// Returns the names of crawlers, of which the first [`ROBOTS_NAMED_MAX`] are listed.
fn robot_names(robots: &[Robot]) -> String {
    let name = |robot: &Robot| robot.as_ref().map_or("any other".to_owned(), ToString::to_string);
    let mut names: Vec<String> = robots.iter().take(ROBOTS_NAMED_MAX).map(name).collect();
    if robots.len() > ROBOTS_NAMED_MAX {
        names.push(format!("and {} more", robots.len() - ROBOTS_NAMED_MAX));
    }
    names.join(", ")
}

fn push_host_policy(text: &mut TextTables, policy: &HostPolicy) {
    let origins: Vec<String> = policy.origins.iter().map(ToString::to_string).collect();
    text.line(visible(&origins.join(" and ")));
    let is_file = policy.state.is_file();
    push_facts(text, policy, is_file);
    if !is_file {
        return;
    }
    let robots = policy.robots.iter().map(|robot| {
        let groups: Vec<String> = robot.groups.iter().map(usize::to_string).collect();
        vec![
            robot.name.as_ref().map_or_else(|| "(any other)".to_owned(), ToString::to_string),
            robot.reach.map_or("unknown", Reach::as_str).to_owned(),
            groups.join("+"),
            robot.patterns.map_or_else(|| "-".to_owned(), |it| it.to_string()),
        ]
    });
    text.table(&["crawler", "allowed", "groups", "patterns"], robots);
    push_host_usage(text, &policy.usage);
    push_listing(text, policy);
}

/// Appends the usage records of crawlers: their statements and their lines.
fn push_host_usage(text: &mut TextTables, usage: &[HostUsage]) {
    let labels = Label::ALL.map(Label::as_str);
    let heading = [&["usage for crawler"][..], &labels, &["licences", "lines"]].concat();
    let robots = usage.iter().map(|robot| {
        let stated = robot.stated.0.iter().map(|(_, stated)| match stated.is_empty() {
            true => Preference::Unstated.to_string(),
            false => stated.join(" "),
        });
        let mut lines: Vec<String> = robot.lines.iter().map(ToString::to_string).collect();
        if robot.lines_omitted > 0 {
            lines.push(format!("and {} more", robot.lines_omitted));
        }
        let others = robot.for_others.then(|| "(any other)".to_owned());
        let named = robot.robots.iter().map(ToString::to_string);
        let names: Vec<String> = others.into_iter().chain(named).collect();
        let rest = [robot.licenses.to_string(), lines.join(" ")];
        std::iter::once(names.join(", ")).chain(stated).chain(rest).collect()
    });
    text.table(&heading, robots);
}

fn push_facts(text: &mut TextTables, policy: &HostPolicy, is_file: bool) {
    let mut line = |name: &str, value: &dyn Display| {
        text.line(format_args!("  {name:<9} {value}"));
    };
    let time = |time: Option<UnixSeconds>| {
        time.map_or_else(|| "unknown".to_owned(), UnixSeconds::to_rfc3339)
    };
    match policy.verdict {
        Some(verdict) => line("state", &format!("{}: {verdict} for every path", policy.state)),
        None => line("state", &policy.state),
    }
    line("captured", &time(policy.captured_at));
    if policy.newest_captured_at != policy.captured_at {
        line("", &format!("to {}, after redirects", time(policy.newest_captured_at)));
    }
    line("expires", &time(policy.expires_at));
    if let Some(outage) = &policy.outage {
        line("outage", outage);
    }
    line("status", &policy.status.map_or_else(|| "none".to_owned(), |it| it.to_string()));
    if policy.redirects_followed > 0 {
        line("redirects", &format!("{} followed", policy.redirects_followed));
    }
    match &policy.input_name {
        Some(name) => line("input", &visible(name)),
        None => line("input", &format!("number {}", policy.input)),
    }
    let notes: Vec<&str> = policy.capture_notes.iter().map(|note| note.as_str()).collect();
    if !notes.is_empty() {
        line("response", &notes.join(", "));
    }
    if is_file {
        line("file", &size(policy.file_bytes.into()));
        for kind in &policy.file_notes {
            line("", &format!("{kind}: {}", NoteKind::describe(*kind)));
        }
    }
}

/// Lists the records with their lines, and before each group the crawlers to which it applies.
fn push_listing(text: &mut TextTables, policy: &HostPolicy) {
    let Some(last) = policy.records.last() else { return text.line("\nno records") };
    let width = last.line.to_string().len().max(4);
    text.line("");
    let mut groups = 0;
    for (position, record) in policy.records.iter().enumerate() {
        if let Some(number) = record.group.filter(|number| *number > groups) {
            groups = number;
            if position > 0 {
                text.line("");
            }
            let audience = audience(&policy.groups[number - 1]);
            text.line(format_args!("{:width$}  # group {number}: {audience}", ""));
        }
        text.line(format_args!("{:>width$}  {}", record.line, record.text));
    }
}

fn audience(group: &HostGroup) -> String {
    let mut names: Vec<String> = group.robots.iter().map(ToString::to_string).collect();
    if group.for_others {
        names.push("any other crawler".into());
    }
    if names.is_empty() { "unused".into() } else { format!("applies to {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(heading: &[&str], rows: &[&[&str]]) -> String {
        let mut text = TextTables::default();
        let row = |row: &&[&str]| row.iter().map(|&cell| cell.to_owned()).collect();
        text.table(heading, rows.iter().map(row));
        text.0
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let heading = ["states", "origins", ""];
        assert_eq!(table(&heading, &[]), "");
        assert_eq!(
            table(&heading, &[&["rules", "1234567890", &share(1, 3)], &["unavailable", "7"]]),
            "\nstates            origins\n  rules        1234567890  33.3 %\n  unavailable           7\n"
        );
    }

    #[test]
    fn long_cells_are_cut() {
        let long = "a".repeat(70_000);
        let table = table(&["robot", "groups"], &[&[&long, &long]]);
        let lines: Vec<usize> = table.lines().map(|line| line.chars().count()).collect();
        let width = 2 * TABLE_CELL_CHARACTERS_MAX + 4;
        assert_eq!(lines, [0, width, width]);
    }
}
