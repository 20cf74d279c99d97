//! The report of an audit as one HTML page for people: engineers, SEO specialists, lawyers.
//!
//! This module decides what the page says; its parts come from [`portcullis_report::page`].
//! Programs read [`to_json`](Report::to_json), which has more figures and longer lists.
//!
//! Cost: linear in the rows of the report. The page stays below [`AUDIT_PAGE_BYTES_MAX`]: if lists
//! are too long, it shows fewer rows and the total. No function fails.
//!
//! ```
//! use portcullis_survey::{Report, page};
//!
//! let html = page::audit(&Report::default(), &[]);
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! assert!(html.len() < portcullis_survey::limits::AUDIT_PAGE_BYTES_MAX);
//! ```

mod brief;

use std::cmp::Reverse;

use maud::{Markup, html};
use portcullis_dialect::decision::{PolicyState, Reason, Verdict};
use portcullis_dialect::usage::Label;
use portcullis_report::page::{
    Bar, LINES_MAX, Line, Page, Part, Section, bars, code, count, facts, folded, lines, table, text,
};
use portcullis_report::{Account, AgentRecords, Figures, PolicyFacts, RecordFigures};
use portcullis_robots::access::UnixSeconds;
use portcullis_text::figures::{bytes, grouped, plural, share};
use portcullis_text::visible::cut_characters;

use crate::delays::DelayFigures;
use crate::exclusions::Exclusions;
use crate::limits::AUDIT_PAGE_BYTES_MAX;
use crate::policies::{AddressCounts, AgentFigures, ReachCounts, StanceCounts};
use crate::report::{List, Report};
use crate::tables::delay_seconds;

pub use brief::Problem;

/// The smallest number of rows per list. If the page is still too long with so few, rows are not
/// the cause.
const ROWS_MIN: usize = 10;
/// The most agents with their own columns in the table of hosts. More would not fit side by side.
const AGENT_COLUMNS_MAX: usize = 6;
/// The number of times with their own columns in a table.
const TIME_COLUMNS: usize = 6;
/// The most characters of an agent's name, which occurs in many places.
const AGENT_CHARACTERS: usize = 40;
/// The most characters of a host in the label of a rule.
const HOST_CHARACTERS: usize = 40;

const VERDICTS: [Part<'_>; 4] = [
    ("allow", "may fetch"),
    ("disallow", "must not fetch"),
    ("unknown", "not known"),
    ("invalid", "not a URL"),
];
const SHARES: [Part<'_>; 4] =
    [("allow", "all"), ("part", "part"), ("disallow", "none"), ("unknown", "not known")];
const RULES: [Part<'_>; 2] =
    [("allow", "URLs that the rule allows"), ("disallow", "URLs that the rule disallows")];
const STATED: [Part<'_>; 4] = [
    ("allow", "fine (y)"),
    ("disallow", "not wanted (n)"),
    ("part", "not stated"),
    ("unknown", "no access, or not known"),
];

/// Renders the page: a sheet for a person in a hurry, then everything. `problems` are those of the
/// file, if there is one for all URLs.
pub fn audit(report: &Report, problems: &[Problem]) -> String {
    let mut rows = usize::MAX;
    loop {
        let html = View { report, rows }.html(problems);
        let longest = lists(report).into_iter().max().unwrap_or(0).min(rows);
        if html.len() <= AUDIT_PAGE_BYTES_MAX || longest <= ROWS_MIN {
            return html;
        }
        rows = (longest / 2).max(ROWS_MIN);
    }
}

/// Returns the lengths of the lists.
fn lists(report: &Report) -> [usize; 4] {
    let Report { hosts, rules, unknown_origins, survey, .. } = report;
    [
        hosts.most_affected.rows.len(),
        rules.deciding.rows.len(),
        unknown_origins.largest.len(),
        survey.usage.most_common_licenses.len(),
    ]
}

/// Returns a grouped number with its noun: "2,434 hosts".
fn many(count: u64, noun: &str) -> String {
    format!("{} {}", grouped(count), plural(count, noun))
}

/// Returns the words after one of `hosts` hosts. Empty if there are no others.
fn others(hosts: u64) -> String {
    match hosts {
        0 | 1 => String::new(),
        hosts => format!(" and {}", many(hosts - 1, "other")),
    }
}

fn agent_name(name: &str) -> Markup {
    text(&*cut_characters(name, AGENT_CHARACTERS))
}

/// Returns `Disallow` or `Allow`.
fn field(verdict: &str) -> &'static str {
    if verdict == "allow" { "Allow" } else { "Disallow" }
}

/// An agent, a label, and the records by preference.
type UsageRow<'r> = (&'r str, &'r (&'static str, Figures));

/// A report, and the number of rows to show per list.
#[derive(Clone, Copy)]
struct View<'r> {
    report: &'r Report,
    rows: usize,
}

impl<'r> View<'r> {
    fn html(self, problems: &[Problem]) -> String {
        let account = &self.report.account;
        let (records, source) = (account.records.records, self.policies());
        let about_urls: &[fn(Self) -> Section] = match records {
            0 => &[],
            _ => &[View::verdicts, View::hosts, View::deciding, View::unknown],
        };
        let about_files: [fn(Self) -> Section; 2] = [View::usage, View::problems];
        let first: [fn(Self) -> Section; 1] = [View::reach];
        let sections = first.iter().chain(about_urls).chain(&about_files);
        let sections = sections.map(|section| section(self));
        let mut sections: Vec<Section> = sections.collect();
        sections.insert(0, self.summary(&sections));
        sections.push(self.account());
        let title = match (source.kind, records) {
            (_, 0) => "What robots.txt says, without a URL to decide".to_owned(),
            ("file", _) => "What robots.txt lets crawlers fetch on this site".to_owned(),
            _ => {
                let sites = many(self.report.hosts.asked, "site");
                format!("What robots.txt lets crawlers fetch on {sites}")
            }
        };
        let sheet = View { rows: brief::ROWS, ..self }.sheet(problems);
        let facts = self.facts();
        let footer = format!(
            "Made by portcullis {}. Nothing on this page was fetched from a site; it shows \
             what the files contained when they were captured.",
            account.run.version
        );
        let sections = &sections;
        Page { title: &title, facts: &facts, sheet: &sheet, sections, footer: &footer }.html()
    }

    /// Returns the facts under the heading.
    fn facts(self) -> Vec<(&'static str, Markup)> {
        let Report { account, inputs, survey_at, .. } = self.report;
        let (source, agents) = (self.policies(), self.report.agents());
        let list = match &inputs[..] {
            [list] => html! { " from " (code(list)) },
            lists => html! { " from " (lists.len()) " lists" },
        };
        let mut facts = vec![
            ("robots.txt", code(&source.name)),
            ("URLs", html! { (grouped(account.records.records)) (list) }),
            ("Crawlers", folded(agents.iter().map(|agent| agent_name(agent)), brief::NAMED)),
        ];
        if let Some(dates) = source.capture_dates {
            facts.push(("Captured", html! { (dates) }));
        }
        if let (Some(urls), Some(survey)) = (&account.run.at, survey_at) {
            facts.push(("URLs decided as of", html! { (text(urls)) }));
            facts.push(("Files as of", html! { (text(survey)) }));
        }
        facts
    }

    fn policies(self) -> PolicyFacts {
        self.report.account.run.policies.clone().unwrap_or_default()
    }

    /// Returns the rows of a list to show.
    fn rows<T>(self, rows: &'r [T]) -> &'r [T] {
        &rows[..rows.len().min(self.rows)]
    }

    /// Returns a caption: `Rules that decided nothing: the first 50 of 2,434`.
    fn caption<T>(self, title: &str, rows: &[T], total: u64) -> String {
        match rows.len().min(self.rows) as u64 {
            shown if shown < total => {
                format!("{title}: the first {} of {}", grouped(shown), grouped(total))
            }
            _ => title.to_owned(),
        }
    }

    /// Returns the agents at the given positions: `Googlebot, GPTBot`, or `all 15`.
    fn agents(self, positions: impl IntoIterator<Item = usize>) -> Markup {
        let agents: Vec<usize> = positions.into_iter().collect();
        let all = self.report.agents().len();
        if agents.len() == all && all > 2 {
            return html! { "all " (all) };
        }
        let agents = agents.into_iter().filter_map(|position| self.report.agents().get(position));
        folded(agents.map(|it| agent_name(it)), 3)
    }

    /// Returns a few large numbers, and the findings of all sections.
    fn summary(self, sections: &[Section]) -> Section {
        let Report { account, hosts, .. } = self.report;
        let Account { records, .. } = account;
        let tiles = [
            (grouped(records.records), "URLs read"),
            (grouped(hosts.asked), "hosts with a known robots.txt"),
            (share(self.report.known(), records.records), "of the URLs decided"),
            (grouped(records.unknown_hosts.names as u64), "hosts without a known robots.txt"),
        ];
        let body = html! {
            @if records.records == 0 {
                p.advice {
                    "The list of URLs is empty: no record was read, so there is nothing to decide. \
                     The parts below describe the files alone."
                }
            } @else {
                dl.tiles { @for (figure, name) in tiles { div { dt { (name) } dd { (figure) } } } }
            }
            ul.short {
                @for section in sections.iter().filter(|section| !section.finding.0.is_empty()) {
                    li { (section.finding) " " a href={ "#" (section.id) } { (section.title) } }
                }
            }
        };
        Section { id: "summary", title: "In short", body, ..Section::default() }
    }

    fn verdicts(self) -> Section {
        let RecordFigures { per_agent: verdicts, records: whole, .. } =
            &self.report.account.records;
        let whole = *whole;
        let allow = |row: &AgentRecords| row.verdict(Verdict::Allow);
        let bar = |row: &AgentRecords| Bar {
            label: row.agent.clone(),
            figure: format!("may fetch {}", share(allow(row), whole)),
            values: Verdict::ALL.map(|it| row.verdict(it)).into(),
        };
        // If there are many agents, the ones that may fetch least come first.
        let mut charted: Vec<&AgentRecords> = verdicts.iter().collect();
        if charted.len() > AGENT_COLUMNS_MAX {
            charted.sort_by_key(|row| allow(row));
        }
        let title = "URLs by agent and verdict";
        let columns = [
            "agent",
            "#may fetch",
            "#share",
            "#must not fetch",
            "#share",
            "#not known",
            "#not a URL",
        ];
        let row = |row: &AgentRecords| {
            let [allow, disallow, unknown, invalid] = Verdict::ALL.map(|it| row.verdict(it));
            let share = |records| html! { (share(records, whole)) };
            let counts = [count(allow), share(allow), count(disallow), share(disallow)];
            let rest = [count(unknown), count(invalid)];
            [agent_name(&row.agent)].into_iter().chain(counts).chain(rest).collect()
        };
        let charted: Vec<Bar> = charted.into_iter().map(bar).collect();
        let body = html! {
            (bars(title, "verdicts-table", &VERDICTS, true, &charted))
            (table("verdicts-table", title, &columns, verdicts.iter().map(row)))
            (self.reasons())
        };
        let meaning = "“Not known” does not mean allowed: no robots.txt of the host is known.";
        let finding = self.best_and_worst("agents");
        Section {
            id: "agents",
            title: "What each agent may fetch",
            finding,
            meaning,
            body,
            advice: "",
        }
    }

    /// Returns the table of reasons. Reasons that do not occur have no column.
    fn reasons(self) -> Markup {
        let rows = &self.report.account.records.per_agent;
        let occurs = |it: &Reason| rows.iter().any(|row| row.reasons.get(it.as_str()) > 0);
        let reasons: Vec<Reason> = Reason::ALL.into_iter().filter(occurs).collect();
        let heads: Vec<String> = reasons.iter().map(|it| format!("#{}", it.as_str())).collect();
        let columns: Vec<&str> =
            std::iter::once("agent").chain(heads.iter().map(String::as_str)).collect();
        let row = |row: &AgentRecords| {
            let counts = reasons.iter().map(|it| count(row.reasons.get(it.as_str())));
            std::iter::once(agent_name(&row.agent)).chain(counts).collect()
        };
        html! {
            h3 { "Why" }
            (table("reasons-table", "URLs by agent and reason", &columns, rows.iter().map(row)))
        }
    }

    /// Returns the sentence about the agents that may fetch most and least, with a noun for them.
    fn best_and_worst(self, agents: &str) -> Markup {
        let RecordFigures { per_agent: verdicts, records, .. } = &self.report.account.records;
        let share = |row: &AgentRecords| share(row.verdict(Verdict::Allow), *records);
        let allow = |row: &&AgentRecords| row.verdict(Verdict::Allow);
        let may_fetch = |row: &AgentRecords| {
            html! { strong { (agent_name(&row.agent)) } " may fetch " (share(row)) }
        };
        // Of equal agents, the first counts.
        let most = verdicts.iter().rev().max_by_key(allow);
        let (Some(most), Some(least)) = (most, verdicts.iter().min_by_key(allow)) else {
            return html! {};
        };
        html! {
            @if self.report.known() == 0 {
                "No URL was decided: for none of them a robots.txt is known."
            } @else if verdicts.len() == 1 {
                (may_fetch(most)) " of all URLs."
            } @else if allow(&most) == allow(&least) {
                "Each of the " (verdicts.len()) " " (agents) " may fetch "
                (share(most)) " of all URLs."
            } @else {
                "Of " (verdicts.len()) " " (agents) ", " (may_fetch(most)) " of all URLs, the most, and "
                (may_fetch(least)) ", the least."
            }
        }
    }

    fn hosts(self) -> Section {
        let (hosts, agents) = (&self.report.hosts, self.report.agents());
        let List { total, rows: all } = &hosts.most_affected;
        let rows = self.rows(all);
        let bar = |row: &crate::HostRow| Bar {
            label: row.host.to_string(),
            figure: grouped(row.disallowed),
            values: vec![row.disallowed],
        };
        let by_agent = agents.len() <= AGENT_COLUMNS_MAX;
        let mut columns = vec!["host".to_owned(), "#URLs".into(), "#decisions".into()];
        match by_agent {
            true => columns.extend(agents.iter().map(|agent| format!("#{agent}"))),
            false => columns.push("agents".into()),
        }
        let row = |row: &crate::HostRow| {
            let mut cells = vec![code(&row.host), count(row.records), count(row.disallowed)];
            match by_agent {
                true => cells.extend(row.by_agent.iter().map(|urls| count(*urls))),
                false => cells
                    .push(self.agents((0..agents.len()).filter(|&agent| row.by_agent[agent] > 0))),
            }
            cells
        };
        let caption = self.caption("Hosts with URLs that an agent must not fetch", all, *total);
        let title = "Decisions that disallow, by host";
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let charted: Vec<Bar> = rows.iter().map(bar).collect();
        Section {
            id: "hosts",
            title: "Hosts most affected",
            finding: html! {
                @if hosts.asked == 0 { "No URL is on a host with a known robots.txt." }
                @else if hosts.affected == 0 { "No host disallows a URL for an agent." }
                @else {
                    (grouped(hosts.affected)) " of " (many(hosts.asked, "host"))
                    " disallow some URL for some agent."
                }
            },
            meaning: "A decision is one URL for one agent. The column of an agent counts the \
                host’s URLs that it must not fetch.",
            advice: "",
            body: html! {
                (bars(title, "hosts-table", &[("disallow", "")], false, &charted))
                (table("hosts-table", &caption, &columns, rows.iter().map(row)))
            },
        }
    }

    fn deciding(self) -> Section {
        let figures = &self.report.rules;
        let List { total, rows: all } = &figures.deciding;
        let rows = self.rows(all);
        let bar = |it: &crate::DecidingRule| {
            let host = it.host.to_string();
            let host = cut_characters(&host, HOST_CHARACTERS);
            let (others, field, is_allow) =
                (others(it.hosts), field(it.verdict), it.verdict == "allow");
            Bar {
                label: format!("{host}{others} · {field}: {} (line {})", it.rule, it.line),
                figure: grouped(it.records),
                values: if is_allow { vec![it.records, 0] } else { vec![0, it.records] },
            }
        };
        let row = |it: &crate::DecidingRule| {
            let decides = (0..it.by_agent.len()).filter(|&agent| it.by_agent[agent] > 0);
            vec![
                html! {
                    span class={ "is-" (it.verdict) } { (field(it.verdict)) ":" } " " (code(&it.rule))
                },
                html! { (code(&it.host)) (others(it.hosts)) },
                count(it.records),
                count(it.line.into()),
                code(&it.group),
                html! { (self.agents(decides)) "; " (folded(it.samples.iter().map(code), 1)) },
            ]
        };
        let columns = ["rule", "host", "#URLs", "#line", "group", "decides for; first URLs"];
        let caption = self.caption("Rules by URLs decided", all, *total);
        let charted: Vec<Bar> = rows.iter().map(bar).collect();
        Section {
            id: "deciding",
            title: "Rules that decide most",
            finding: html! {
                (grouped(*total)) " of " (many(figures.asked, "rule"))
                " that apply to these agents in the files of the URLs’ hosts decided a URL."
            },
            meaning: "A file that several hosts share is counted once, with the host that has most \
                of the URLs.",
            advice: "Read the rules at the top and the URLs beside them: changing one of these \
                lines has the most effect. Disallow: / closes a whole host.",
            body: html! {
                (bars("URLs decided, by rule", "deciding-table", &RULES, false, &charted))
                (table("deciding-table", &caption, &columns, rows.iter().map(row)))
            },
        }
    }

    fn unknown(self) -> Section {
        let unknown = &self.report.unknown_origins;
        let rows = self.rows(&unknown.largest);
        let total = unknown.names as u64;
        let caption = self.caption("Origins to fetch a robots.txt from", &unknown.largest, total);
        let known: u64 = rows.iter().map(|(_, records)| records).sum();
        let records = &self.report.account.records;
        let [all_unknown, all_invalid] =
            [Verdict::Unknown, Verdict::Invalid].map(|it| records.of_first(it));
        let without_time = all_unknown.saturating_sub(unknown.records);
        let invalid = records.invalid.clone().unwrap_or_default();
        let row = |(origin, records): &(String, u64)| vec![code(origin), count(*records)];
        Section {
            id: "unknown",
            title: "URLs without a known robots.txt",
            finding: html! {
                @if unknown.records == 0 {
                    @if without_time == 0 { "For every URL a robots.txt is known." }
                } @else {
                    "For " (many(unknown.records, "URL")) " of "
                    @if unknown.uncounted_records > 0 { "at least " }
                    (many(records.unknown_hosts.names as u64, "host")) " no robots.txt is known. This does not mean \
                    that they are allowed. The origins shown have " (share(known, unknown.records))
                    " of them."
                }
                @if without_time > 0 {
                    " URLs without a time, or from before the first capture of their origin: "
                    (grouped(without_time)) "."
                }
                @if all_invalid > 0 {
                    " Records that are not URLs: " (grouped(all_invalid))
                    ", of them empty: " (grouped(invalid.kinds.get("empty"))) "."
                }
            },
            meaning: "",
            advice: "",
            body: html! {
                (table("unknown-table", &caption, &["origin", "#URLs"], rows.iter().map(row)))
                (table("invalid-table", "The first records that are not URLs", &["record"],
                    invalid.samples.iter().map(|it| vec![code(&it.record)])))
            },
        }
    }

    fn reach(self) -> Section {
        let rows = &self.report.survey.reach;
        let all = |row: &AgentFigures| row.hosts.reach.values().iter().sum::<u64>();
        let mut charted: Vec<&AgentFigures> = rows.iter().collect();
        if charted.len() > AGENT_COLUMNS_MAX {
            charted.sort_by_key(|row| Reverse(row.hosts.reach.nothing));
        }
        let bar = |row: &AgentFigures| Bar {
            label: row.agent.clone(),
            figure: format!("none {}", share(row.hosts.reach.nothing, all(row))),
            values: row.hosts.reach.values(),
        };
        let row = |row: &AgentFigures| {
            let AddressCounts { named, by_default, unnamed, reach, .. } = row.hosts;
            let ReachCounts { everything, part, nothing, not_known } = reach;
            let counts =
                [all(row), nothing, part, everything, not_known, named, by_default, unnamed];
            std::iter::once(agent_name(&row.agent)).chain(counts.into_iter().map(count)).collect()
        };
        let title = "Hosts by agent and by how much it may fetch";
        let columns = [
            "agent",
            "#hosts",
            "#none",
            "#part",
            "#all",
            "#not known",
            "#named",
            "#by default",
            "#not addressed",
        ];
        // Of equal agents, the first counts.
        let most = rows.iter().rev().max_by_key(|row| row.hosts.reach.nothing);
        let charted: Vec<Bar> = charted.into_iter().map(bar).collect();
        Section {
            id: "reach",
            title: "What the files allow each agent",
            finding: html! {
                @match most.filter(|row| row.hosts.reach.nothing > 0) {
                    Some(row) => {
                        strong { (agent_name(&row.agent)) } " may fetch nothing of "
                        (grouped(row.hosts.reach.nothing)) " of " (many(all(row), "host")) " ("
                        (share(row.hosts.reach.nothing, all(row))) ")"
                        @if rows.len() > 1 { ", the most of " (rows.len()) " agents" } "."
                    }
                    None if rows.is_empty() => "",
                    None => "No host excludes an agent from everything.",
                }
            },
            meaning: "Independent of the list of URLs: how many hosts allow the agent all URLs, a \
                part of them, or none, and whether their file names the agent, addresses it by \
                default in the group for all robots, or does not address it.",
            body: html! {
                (bars(title, "reach-table", &SHARES, true, &charted))
                (table("reach-table", title, &columns, rows.iter().map(row)))
                (self.exclusions())
                (self.preferences())
                (self.delays())
            },
            ..Section::default()
        }
    }

    /// Returns the hosts that exclude each agent over time; empty without history.
    fn exclusions(self) -> Markup {
        let survey = &self.report.survey;
        let Some(Exclusions { times, hosts, excluding }) = &survey.exclusions else {
            return html! {};
        };
        let named = survey.reach.iter().zip(excluding);
        let mut agents: Vec<(&str, &Vec<u64>)> =
            named.map(|(row, counts)| (&*row.agent, counts)).collect();
        // The lines that are drawn are the highest at the end.
        agents.sort_by_key(|(_, counts)| Reverse(counts.last().copied()));
        let line = |(agent, counts): &(&str, &Vec<u64>)| Line {
            label: cut_characters(agent, AGENT_CHARACTERS).into_owned(),
            values: counts.to_vec(),
        };
        let charted: Vec<Line> = agents.iter().take(LINES_MAX).map(line).collect();
        let day = |time: &UnixSeconds| time.to_rfc3339().chars().take(10).collect::<String>();
        let days: Vec<String> = times.iter().map(day).collect();
        let steps = days.len().saturating_sub(1);
        let mut places: Vec<usize> =
            (0..TIME_COLUMNS).map(|it| it * steps / (TIME_COLUMNS - 1)).collect();
        places.dedup();
        let heads: Vec<String> = places.iter().map(|it| format!("#{}", days[*it])).collect();
        let columns: Vec<&str> =
            std::iter::once("agent").chain(heads.iter().map(String::as_str)).collect();
        let row = |name: Markup, counts: &[u64]| {
            let counts = places.iter().map(|place| count(counts[*place]));
            std::iter::once(name).chain(counts).collect::<Vec<_>>()
        };
        let known = row(html! { "(hosts known)" }, hosts);
        let rows = agents.iter().map(|(agent, counts)| row(agent_name(agent), counts));
        let title = "Hosts that exclude each agent from everything, over time";
        let ends = [days.first(), days.last()].map(|day| day.map_or("", String::as_str));
        html! {
            h3 { "Over time" }
            (lines(title, "exclusions-table", ends, &charted))
            (table("exclusions-table", title, &columns, std::iter::once(known).chain(rows)))
        }
    }

    /// Returns a table of the crawl delays for each agent; empty if there are none.
    fn delays(self) -> Markup {
        let has_delay = |it: &&AgentFigures| it.crawl_delay.origins + it.crawl_delay.unreadable > 0;
        let row = |row: &AgentFigures| {
            let DelayFigures { origins, least, median, greatest, unreadable } = row.crawl_delay;
            let seconds = [least, median, greatest].map(|it| html! { (delay_seconds(it)) });
            let names = [agent_name(&row.agent), count(origins)];
            names.into_iter().chain(seconds).chain([count(unreadable)]).collect()
        };
        let title = "Crawl delays in seconds, by agent";
        let columns = ["agent", "#origins", "#least", "#median", "#greatest", "#not a number"];
        let rows = self.report.survey.reach.iter().filter(has_delay).map(row);
        table("delay-table", title, &columns, rows)
    }

    /// Returns a table of the preferences about the pages that each agent may fetch; empty if none is
    /// stated.
    fn preferences(self) -> Markup {
        let rows = self.report.survey.reach.iter().flat_map(|row| {
            let preferences = row.hosts.preferences.by_label();
            preferences.map(|(label, counts)| (&row.agent, label, counts))
        });
        let is_stated = |it: &StanceCounts| it.y + it.n + it.mixed > 0;
        let rows: Vec<_> = rows.filter(|(_, _, counts)| is_stated(counts)).collect();
        if rows.is_empty() {
            return html! {};
        }
        let title = "Hosts by agent and by preference about all that it may fetch";
        let columns = ["agent", "use", "#y", "#n", "#mixed", "#not stated", "#none", "#not known"];
        let row = |(agent, label, counts): (&String, Label, StanceCounts)| {
            let StanceCounts { y, n, unstated, mixed, no_access, not_known } = counts;
            let counts = [y, n, mixed, unstated, no_access, not_known];
            let names = [agent_name(agent), text(label.as_str())];
            names.into_iter().chain(counts.into_iter().map(count)).collect()
        };
        table("preference-table", title, &columns, rows.into_iter().map(row))
    }

    fn usage(self) -> Section {
        let Report { account, survey, .. } = self.report;
        let Account { run, records, .. } = account;
        let usage = records.per_agent.iter().flat_map(|it| {
            it.usage.iter().flat_map(|labels| &labels.0).map(|row| (&*it.agent, row))
        });
        let usage: Vec<UsageRow<'_>> = usage.collect();
        let (id, title) = ("usage", "What pages may be used for");
        // The files of earlier times may have said more than those of the survey.
        let is_stated = usage.iter().any(|(_, (_, it))| it.get("y") + it.get("n") > 0);
        if survey.usage.all.hosts == 0 && !is_stated {
            let meaning = "No file says what pages may be used for.";
            return Section { id, title, meaning, ..Section::default() };
        }
        let whole = records.records;
        let values = |it: &Figures| ["y", "n", "?", "-"].map(|value| it.get(value));
        let bar = |(agent, (label, counts)): &UsageRow<'_>| {
            let [y, n, ..] = values(counts);
            Bar {
                label: format!("{agent} · {label}"),
                figure: format!("y {}, n {}", share(y, whole), share(n, whole)),
                values: values(counts).into(),
            }
        };
        // If there are many agents, the ones with the most preferences against a use come first.
        let mut charted: Vec<&UsageRow<'_>> = usage.iter().collect();
        if run.agents.len() > AGENT_COLUMNS_MAX {
            charted.sort_by_key(|(_, (_, counts))| Reverse(counts.get("n")));
        }
        let charted: Vec<Bar> = charted.into_iter().map(bar).collect();
        let row = |(agent, (label, counts)): &UsageRow<'_>| {
            let counts = values(counts).map(count);
            [agent_name(agent), code(*label)].into_iter().chain(counts).collect()
        };
        let chart = "URLs by agent and use";
        let columns = ["agent", "use", "#y", "#n", "#not stated", "#no access"];
        let finding = html! {
            "The files of " (many(survey.usage.all.hosts, "host")) " say what pages may be used \
            for."
        };
        let body = html! {
            (bars(chart, "usage-table", &STATED, true, &charted))
            (table("usage-table", chart, &columns, usage.iter().map(row)))
            (self.licenses())
        };
        Section {
            id,
            title,
            finding,
            meaning: "Content-Usage and Content-Signal state preferences about training AI models \
                (train-ai), other use by AI (ai-use) and search. What nobody states is not \
                permitted by that. A URL that the agent must not fetch has no preference.",
            advice: "Decide what silence means to you before you use these pages: portcullis \
                filter --purpose has no default for it.",
            body,
        }
    }

    fn licenses(self) -> Markup {
        let usage = &self.report.survey.usage;
        let rows = &usage.most_common_licenses;
        let caption = self.caption("Licences", rows, usage.licenses);
        let row =
            |row: &crate::usage::LicenseFigures| vec![code(&row.value), count(row.count.hosts)];
        let rows = self.rows(rows).iter().map(row);
        table("licenses-table", &caption, &["licence", "#hosts"], rows)
    }

    fn problems(self) -> Section {
        let survey = &self.report.survey;
        let files = survey.origins.files;
        let row = |it: &crate::NoteFigures| {
            vec![
                html! { (it.kind.replace('-', " ")) },
                html! { (it.meaning) },
                count(it.files),
                html! { (share(it.files, files)) },
                folded(it.hosts.iter().map(code), 3),
            ]
        };
        let columns = ["problem", "what it is", "#files", "#share", "first hosts"];
        Section {
            id: "problems",
            title: "Files with problems",
            finding: html! {
                @match survey.problems.first() {
                    None => "The files have no problem.",
                    Some(first) => {
                        "Problems of " (many(survey.problems.len() as u64, "kind")) " occur; the \
                        most common, " (first.kind.replace('-', " ")) ", is in "
                        (many(first.files, "file")) "."
                    }
                }
            },
            meaning: "What the parser noted, by kind. Crawlers ignore these lines without notice, \
                so some rules do not do what their author meant. portcullis lint explains each one.",
            advice: "",
            body: table(
                "problems-table",
                "Files by problem",
                &columns,
                survey.problems.iter().map(row),
            ),
        }
    }

    /// Returns the account of what was read.
    fn account(self) -> Section {
        let Report { account, survey, .. } = self.report;
        let (records, source) = (&account.records, self.policies());
        let number = |value: Option<u64>| html! { (value.map_or_else(|| "–".to_owned(), grouped)) };
        let limit = source.robots_bytes_max;
        let limit =
            limit.map_or_else(|| "all of it".to_owned(), |it| format!("at most {}", bytes(it)));
        let cut = lists(self.report).into_iter().any(|rows| rows > self.rows);
        let kind = match source.kind {
            "set" => ", a compiled policy set",
            "folder" => ", a folder of files named by host",
            "file" => ", one file for every URL",
            _ => "",
        };
        let list = [
            ("Policies", html! { (code(&source.name)) (kind) }),
            ("Set hash", code(&source.set_hash)),
            ("Dialect", code(source.dialect)),
            ("Lists", folded(self.report.inputs.iter().map(code), brief::NAMED)),
            ("Records read", html! { (grouped(records.records)) " (" (bytes(records.bytes)) ")" }),
            ("Hosts in the set", number(source.hosts)),
            ("Origins in the set", number(source.origins)),
            ("Distinct policies", html! { (grouped(source.policies)) }),
            (
                "Files",
                html! {
                    (grouped(survey.origins.files)) " (" (bytes(survey.origins.file_bytes)) ")"
                },
            ),
            ("Read of each file", html! { (limit) }),
        ];
        let row = |state: PolicyState| {
            let urls = records.states.as_ref().map(|it| it.get(state.as_str()));
            let urls = urls.map_or_else(|| html! { "–" }, count);
            vec![code(state.as_str()), count(survey.origins.states.get(state.as_str())), urls]
        };
        let (columns, known) = (["state", "#origins", "#URLs"], self.report.known());
        Section {
            id: "account",
            title: "What was read",
            finding: html! {
                "For " (grouped(known)) " of " (many(records.records, "record")) " ("
                (share(known, records.records)) ") a robots.txt is known."
            },
            meaning: "A host counts once, whether its file applies to http, https or both; if the \
                two files differ, the host counts once for each. Equal inputs make the same page, \
                byte for byte.",
            advice: if cut {
                "Lists are cut to keep the page small; read the JSON report, which has more rows."
            } else {
                ""
            },
            body: html! {
                (facts(&list))
                (table("states-table", "Origins and URLs by the state of their robots.txt", &columns,
                    PolicyState::ALL.into_iter().map(row)))
            },
        }
    }
}
