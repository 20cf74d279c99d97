//! The report of an audit, and that of a survey, as one HTML page for people: engineers, SEO specialists,
//! lawyers.
//!
//! It begins with a sheet for a person in a hurry; what is not there follows, in sections. This module
//! decides what the page says; its parts come from [`portcullis_report::page`]. Programs read
//! [`to_json`](Report::to_json), which has more figures and longer lists.
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

use std::cmp::Reverse;
use std::iter::once;

use maud::{Markup, html};
use portcullis_dialect::decision::{PolicyState, Reason, Verdict};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_lint::Diagnostic;
use portcullis_report::page::{
    Bar, Page, Part, SHOWN, Section, bars, code, count, facts, folded, table, text,
};
use portcullis_report::{AgentRecords, Figures, PolicyFacts};
use portcullis_text::figures::{counted, few, grouped, share, size};
use portcullis_text::visible::cut_characters;

use crate::agents::AgentFigures;
use crate::audit::{CrawlerRequests, Report};
use crate::limits::AUDIT_PAGE_BYTES_MAX;
use crate::list::List;

mod crawlers;
mod sheet;
mod survey;

use self::sheet::others;
pub use self::survey::survey;

/// The smallest number of rows per list. If the page is still too long with so few, rows are not
/// the cause.
const ROWS_MIN: usize = 10;
/// The most agents with their own columns in the table of hosts. More would not fit side by side.
const AGENT_COLUMNS_MAX: usize = 6;
/// The most characters of an agent's name, which occurs in many places.
const AGENT_CHARACTERS: usize = 40;
/// The items of a list that are named before the others unfold.
const NAMED: usize = 12;

const SHARES: [Part<'_>; 5] = [
    ("allow", "all"),
    ("part", "part"),
    ("disallow", "none by rule"),
    ("failing", "none (server fails)"),
    ("unknown", "not known"),
];
/// The preferences in the order of the page, which is that of [`STATED`].
const PREFERENCES: [Preference; 4] =
    [Preference::Yes, Preference::No, Preference::Unstated, Preference::NoAccess];
const STATED: [Part<'_>; 4] = [
    ("allow", "permitted (y)"),
    ("disallow", "not permitted (n)"),
    ("part", "not stated"),
    ("unknown", "no access, or not known"),
];

/// Renders the page: a sheet for a person in a hurry, then what is not there. `problems` are the findings in
/// the file, if there is one for all URLs.
pub fn audit(report: &Report, problems: &[Diagnostic]) -> String {
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

/// Returns the last line of a page.
fn footer(version: &str) -> String {
    format!("Made by portcullis {version} from stored files; nothing was fetched.")
}

/// Returns the lengths of the lists.
fn lists(report: &Report) -> [usize; 4] {
    let Report { hosts, rules, survey, others, .. } = report;
    let licenses = survey.usage.most_common_licenses.len();
    let products = others.as_ref().map_or(0, |others| others.products.rows.len());
    [hosts.most_affected.rows.len(), rules.deciding.rows.len(), licenses, products]
}

/// Some agents by position.
struct Names<'n>(Vec<&'n str>);

impl Names<'_> {
    /// Returns the agents at these positions in a few words.
    fn few(&self, positions: &[usize]) -> String {
        let name = |&it: &usize| cut_characters(self.0[it], AGENT_CHARACTERS);
        few(positions.iter().map(name), self.0.len())
    }

    /// Returns the agents at these positions, as [`some_of`] does.
    fn folded(&self, positions: &[usize]) -> Markup {
        some_of(self.0.len(), positions.iter().map(|&it| self.0[it]))
    }
}

/// Returns the names of some of `all` agents: `Googlebot, GPTBot`, or `all 15`. Those after the third unfold.
fn some_of<'n>(all: usize, names: impl ExactSizeIterator<Item = &'n str>) -> Markup {
    match names.len() == all && all > 2 {
        true => html! { "all " (all) },
        false => folded(names.map(agent_name), 3),
    }
}

fn agent_name(name: &str) -> Markup {
    text(&*cut_characters(name, AGENT_CHARACTERS))
}

/// Returns the cells of a row: a name, then counts.
fn row(name: Markup, counts: impl IntoIterator<Item = u64>) -> Vec<Markup> {
    once(name).chain(counts.into_iter().map(count)).collect()
}

/// Returns the names of columns with numbers, after the first column.
fn numbered<'n>(first: &'n str, names: &'n [String]) -> Vec<&'n str> {
    once(first).chain(names.iter().map(String::as_str)).collect()
}

/// A report, and the number of rows to show per list.
#[derive(Clone, Copy)]
struct View<'r> {
    report: &'r Report,
    rows: usize,
}

impl<'r> View<'r> {
    fn html(self, problems: &[Diagnostic]) -> String {
        let account = &self.report.account;
        let records = account.records.records;
        let mut sections = vec![self.reach()];
        if records > 0 {
            sections.extend(self.others());
            sections.extend([self.reasons(), self.hosts(), self.unknown()]);
        }
        sections.extend(self.usage().into_iter().chain([self.account()]));
        let title = match (self.policies().kind, records) {
            (_, 0) => "robots.txt files, without a URL to decide".to_owned(),
            ("file", _) => "URLs that crawlers may fetch by this robots.txt".to_owned(),
            _ => {
                let hosts = counted(self.report.hosts.count, "host");
                format!("URLs that crawlers may fetch on {hosts}")
            }
        };
        let (facts, sheet) = (self.facts(), self.sheet(problems));
        let (sheet, footer) = (&sheet[..], footer(account.version));
        Page { title: &title, facts: &facts, sheet, sections: &sections, footer: &footer }.html()
    }

    /// Returns the facts under the heading.
    fn facts(self) -> Vec<(&'static str, Markup)> {
        let Report { account, inputs, survey_at, .. } = self.report;
        let source = self.policies();
        let list = match &inputs[..] {
            [list] => html! { " from " (code(list)) },
            lists => html! { " from " (lists.len()) " lists" },
        };
        let agents = account.run.agents.iter().map(|agent| agent_name(agent));
        let mut facts = vec![
            ("robots.txt", code(&source.name)),
            ("Records", html! { (grouped(account.records.records)) (list) }),
            ("Crawlers", folded(agents, NAMED)),
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

    /// Returns a caption: `Licences: the first 50 of 2,434`.
    fn caption<T>(self, title: &str, rows: &[T], total: u64) -> String {
        match rows.len().min(self.rows) as u64 {
            shown if shown < total => {
                format!("{title}: the first {} of {}", grouped(shown), grouped(total))
            }
            _ => title.to_owned(),
        }
    }

    /// Returns the agents of the survey.
    fn surveyed(self) -> Names<'r> {
        Names(self.report.survey.reach.iter().map(|row| &*row.agent).collect())
    }

    /// Returns the agents of decisions.
    fn decided(self) -> Names<'r> {
        Names(self.report.account.run.agents.iter().map(String::as_str).collect())
    }

    /// Returns the agents with counts, or the crawlers of records and their requests.
    fn counted(self, by_agent: &[u64], crawlers: &[CrawlerRequests]) -> Markup {
        match self.report.others {
            Some(_) => folded(crawlers.iter().map(|it| html! { (it) }), 3),
            None => self.decided().folded(&occurring(by_agent)),
        }
    }

    /// Returns the table of reasons. Reasons that do not occur have no column.
    fn reasons(self) -> Section {
        let rows = &self.report.account.records.per_agent;
        let occurs = |it: &Reason| rows.iter().any(|row| row.reasons.get(it.as_str()) > 0);
        let reasons: Vec<Reason> = Reason::ALL.into_iter().filter(occurs).collect();
        let heads: Vec<String> = reasons.iter().map(|it| format!("#{}", it.as_str())).collect();
        let columns = numbered("crawler", &heads);
        let cells = |it: &AgentRecords| {
            row(agent_name(&it.agent), reasons.iter().map(|reason| it.reasons.get(reason.as_str())))
        };
        let title = "URLs by crawler and reason";
        Section {
            id: "reasons",
            title: "Why URLs are allowed or not",
            body: table("reasons-table", title, SHOWN, &columns, rows.iter().map(cells)),
            ..Section::default()
        }
    }

    fn hosts(self) -> Section {
        let (hosts, agents) = (&self.report.hosts, &self.report.account.run.agents);
        let List { total, rows: all } = &hosts.most_affected;
        let rows = self.rows(all);
        let bar = |row: &crate::HostRow| {
            Bar::new(row.host.to_string(), grouped(row.disallowed), [row.disallowed])
        };
        let has_columns = agents.len() <= AGENT_COLUMNS_MAX && self.report.others.is_none();
        let mut columns = vec!["#URLs".to_owned(), "#decisions".into()];
        match has_columns {
            true => columns.extend(agents.iter().map(|agent| format!("#{agent}"))),
            false => columns.push("crawlers".into()),
        }
        let cells = |it: &crate::HostRow| {
            let mut cells = row(code(&it.host), [it.records, it.disallowed]);
            match has_columns {
                true => cells.extend(it.by_agent.iter().map(|urls| count(*urls))),
                false => cells.push(self.counted(&it.by_agent, &it.crawlers)),
            }
            cells
        };
        let caption = self.caption("Hosts with URLs that a crawler must not fetch", all, *total);
        let title = "Decisions that disallow, by host";
        Section {
            id: "hosts",
            title: "Hosts most affected",
            finding: html! {
                @if hosts.count == 0 { "No URL is on a host with a known robots.txt." }
                @else if hosts.affected == 0 { "No host disallows a URL for a crawler." }
                @else {
                    "On " (grouped(hosts.affected)) " of " (counted(hosts.count, "host"))
                    ", a URL is disallowed for some crawler."
                }
            },
            meaning: "A decision is one URL for one crawler. The column of a crawler counts the \
                host’s URLs that it must not fetch.",
            advice: "",
            body: html! {
                (bars(title, "hosts-table", &[("disallow", "")], false, rows.iter().map(bar)))
                (table("hosts-table", &caption, SHOWN, &numbered("host", &columns), rows.iter().map(cells)))
            },
        }
    }

    fn unknown(self) -> Section {
        let records = &self.report.account.records;
        let unknown = &records.unknown_hosts;
        let caption = self.caption("Hosts", &unknown.largest, unknown.names as u64);
        let [all_unknown, all_invalid] =
            [Verdict::Unknown, Verdict::Invalid].map(|it| records.of_first(it));
        let no_agent = Reason::NoAgent.as_str();
        let without_agent = records.per_agent.first().map_or(0, |it| it.reasons.get(no_agent));
        let without_time = all_unknown.saturating_sub(unknown.records + without_agent);
        let invalid = records.invalid.clone().unwrap_or_default();
        let hosts = unknown.largest.iter().map(|it| row(code(&it.name), [it.records]));
        Section {
            id: "unknown",
            title: "URLs without a known robots.txt",
            finding: html! {
                @if unknown.records == 0 {
                    @if without_time == 0 { "A robots.txt is known for every URL." }
                } @else {
                    "For " (counted(unknown.records, "URL")) " of "
                    @if unknown.uncounted_records > 0 { "at least " }
                    (counted(unknown.names as u64, "host")) " no robots.txt is known. Unknown does not \
                    mean allowed."
                }
                @if without_time > 0 {
                    " URLs without a time, or from before the first capture of their origin: "
                    (grouped(without_time)) "."
                }
                @if without_agent > 0 {
                    " URLs whose agent is not known: " (grouped(without_agent)) "."
                }
                @if all_invalid > 0 {
                    " Records that are not URLs: " (grouped(all_invalid))
                    ", of them empty: " (grouped(invalid.kinds.get("empty"))) "."
                }
            },
            advice: match unknown.names > unknown.largest.len() {
                true => {
                    "portcullis classify --unknown-hosts FILE lists all hosts whose robots.txt is missing."
                }
                false => "",
            },
            body: html! {
                (table("unknown-table", &caption, SHOWN, &["host", "#URLs"], hosts))
                (table("invalid-table", "The first records that are not URLs", SHOWN, &["record"],
                    invalid.samples.iter().map(|it| vec![code(&it.record)])))
            },
            ..Section::default()
        }
    }

    fn reach(self) -> Section {
        let rows = &self.report.survey.reach;
        let none = |row: &AgentFigures| row.hosts.causes[2];
        let mut charted: Vec<&AgentFigures> = rows.iter().collect();
        if charted.len() > AGENT_COLUMNS_MAX {
            charted.sort_by_key(|row| Reverse(none(row)));
        }
        let bar = |row: &AgentFigures| {
            let figure = format!("none {}", share(none(row), row.hosts.total()));
            Bar::new(&*row.agent, figure, row.hosts.causes)
        };
        let cells = |it: &AgentFigures| {
            let [all, part, by_rule, failing, not_known] = it.hosts.causes;
            let counts = [it.hosts.total(), by_rule, failing, part, all, not_known];
            row(agent_name(&it.agent), counts.into_iter().chain(it.hosts.addressed))
        };
        let title = "Hosts by crawler and how much it may fetch";
        let columns = [
            "crawler",
            "#hosts",
            "#none by rule",
            "#none (server fails)",
            "#part",
            "#all",
            "#not known",
            "#named",
            "#by group *",
            "#not addressed",
        ];
        // Of equal agents, the first counts.
        let most = rows.iter().rev().max_by_key(|row| none(row));
        Section {
            id: "reach",
            title: "How much each crawler may fetch",
            finding: html! {
                @match most.filter(|row| none(row) > 0) {
                    Some(row) => {
                        @let ties = rows.iter().filter(|it| none(it) == none(row)).count() as u64;
                        "By rule, " strong { (agent_name(&row.agent)) } (others(ties)) " may fetch nothing on "
                        (grouped(none(row))) " of " (counted(row.hosts.total(), "host")) " ("
                        (share(none(row), row.hosts.total())) ")"
                        @if rows.len() as u64 > ties { ": the highest share of " (rows.len()) " crawlers" } "."
                    }
                    None if rows.is_empty() => "",
                    None => "No host excludes a crawler from everything.",
                }
            },
            meaning: "These figures count hosts and do not depend on the list of URLs: hosts that allow the \
                crawler all URLs, a part of them, or none by their rules or while their server fails; and \
                hosts whose file names the crawler, addresses it in the group for all others, or does not \
                address it.",
            body: html! {
                (bars(title, "reach-table", &SHARES, true, charted.into_iter().map(bar)))
                (table("reach-table", title, SHOWN, &columns, rows.iter().map(cells)))
            },
            ..Section::default()
        }
    }

    /// Returns what URLs may be used for; `None` if nothing is stated about any.
    fn usage(self) -> Option<Section> {
        let Report { account, survey, .. } = self.report;
        let mut rows: Vec<(&str, &str, [u64; 4])> = Vec::new();
        for agent in &account.records.per_agent {
            let labels = agent.usage.iter().flat_map(|labels| &labels.0);
            // A level of use is neither permitted nor not.
            for (label, counts) in labels.filter(|(label, _)| *label != Label::Use.as_str()) {
                rows.push((&agent.agent, label, PREFERENCES.map(|it| counts.get(it.as_str()))));
            }
        }
        let is_stated = |(_, _, [y, n, ..]): &(&str, &str, [u64; 4])| y + n > 0;
        // The files of earlier times may have said more than the files of the survey.
        if survey.usage.all.hosts == 0 && !rows.iter().any(is_stated) {
            return None;
        }
        let whole = account.records.records;
        let bar = |&(agent, label, counts): &(&str, &str, [u64; 4])| {
            let figure = format!("y {}, n {}", share(counts[0], whole), share(counts[1], whole));
            Bar::new(format!("{agent} · {label}"), figure, counts)
        };
        // If there are many agents, the ones with the most preferences against a use come first.
        let mut charted = rows.clone();
        if account.run.agents.len() > AGENT_COLUMNS_MAX {
            charted.sort_by_key(|(.., [_, n, ..])| Reverse(*n));
        }
        let cells = |&(agent, label, counts): &(&str, &str, [u64; 4])| {
            [agent_name(agent), code(label)].into_iter().chain(counts.map(count)).collect()
        };
        let chart = "URLs by crawler and use";
        let columns = ["crawler", "use", "#y", "#n", "#not stated", "#no access"];
        let licenses = &survey.usage.most_common_licenses;
        let caption = self.caption("Licences", licenses, survey.usage.licenses);
        let of_license = |it: &crate::usage::LicenseFigures| row(code(&it.value), [it.count.hosts]);
        let licenses = self.rows(licenses).iter().map(of_license);
        Some(Section {
            id: "usage",
            title: "Permitted uses of the URLs",
            finding: html! {
                "The files of " (counted(survey.usage.all.hosts, "host")) " say what pages may be used \
                for."
            },
            meaning: "Content-Usage and Content-Signal state preferences about training AI models \
                (train-ai), other use by AI (ai-use) and search. Silence is not permission. A URL that the crawler must not fetch has no preference.",
            advice: "Decide whether to use pages without a preference: portcullis filter --purpose \
                has no default for them.",
            body: html! {
                (bars(chart, "usage-table", &STATED, true, charted.iter().map(bar)))
                (table("usage-table", chart, SHOWN, &columns, rows.iter().map(cells)))
                (table("licenses-table", &caption, SHOWN, &["licence", "#hosts"], licenses))
            },
        })
    }

    /// Returns the account of what was read.
    fn account(self) -> Section {
        let Report { account, survey, .. } = self.report;
        let (records, source) = (&account.records, self.policies());
        let limit = source.robots_bytes_max;
        let limit =
            limit.map_or_else(|| "all of it".to_owned(), |it| format!("at most {}", size(it)));
        let (files, file_bytes) = (survey.origins.files, survey.origins.file_bytes);
        let mut list = vec![
            ("Policies", html! { (code(&source.name)) ": " (source) }),
            ("Lists", folded(self.report.inputs.iter().map(code), NAMED)),
            ("Records read", html! { (grouped(records.records)) " (" (size(records.bytes)) ")" }),
            ("Files", html! { (grouped(files)) " (" (size(file_bytes)) ")" }),
            ("Read of each file", html! { (limit) }),
        ];
        if source.left_out > 0 {
            list.push(("Files left out", html! { (grouped(source.left_out)) }));
        }
        let states = records.states.as_ref();
        let cells = |state: PolicyState| {
            let urls = states.map(|it: &Figures| count(it.get(state.as_str())));
            let mut cells = row(code(state.as_str()), [survey.origins.states.get(state.as_str())]);
            cells.push(urls.unwrap_or_else(|| html! { "–" }));
            cells
        };
        let (title, states) =
            ("Origins and URLs by the state of their robots.txt", PolicyState::ALL);
        let is_cut = lists(self.report).into_iter().any(|rows| rows > self.rows);
        Section {
            id: "account",
            title: "What was read",
            meaning: "A host counts once, whether its file applies to http, https or both; if the \
                two files differ, the host counts once for each. Equal inputs make the same page, \
                byte for byte.",
            advice: match is_cut {
                true => {
                    "Lists are cut to keep the page small; read the JSON report, which has more rows."
                }
                false => "",
            },
            body: html! {
                (facts(&list))
                (table("states-table", title, SHOWN, &["state", "#origins", "#URLs"], states.map(cells)))
            },
            ..Section::default()
        }
    }
}

/// Returns the positions of counts that are not 0.
fn occurring(counts: &[u64]) -> Vec<usize> {
    (0..counts.len()).filter(|&place| counts[place] > 0).collect()
}
