//! The first sheet of the page of an audit, for a person in a hurry: what crawlers may fetch, by
//! which rules, who is favoured, what to fix, and what pages may be used for. On paper, it has the first
//! rows of each table. What does not occur has no section.

use std::iter::once;

use maud::html;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::usage::{Label, Stance};
use portcullis_lint::Diagnostic;
use portcullis_report::page::{
    Bar, Part, SHOWN_ON_SHEET, Section, alike, bars, code, count, folded, prose, short_code, table,
};
use portcullis_report::{AgentRecords, RecordFigures};
use portcullis_text::figures::{counted, grouped, share};
use portcullis_text::visible::cut_characters;

use super::{View, agent_name, row};
use crate::NoteFigures;
use crate::agents::{AgentFigures, StanceCounts};
use crate::audit::DecidingRule;
use crate::list::List;

/// The most characters of a host in the label of a rule.
const HOST_CHARACTERS: usize = 40;

const VERDICTS: [Part<'_>; 4] =
    [("allow", "allow"), ("disallow", "disallow"), ("unknown", "unknown"), ("invalid", "invalid")];
const RULES: [Part<'_>; 2] =
    [("allow", "URLs that the rule allows"), ("disallow", "URLs that the rule disallows")];
const RELATIONS: [Part<'_>; 5] = [
    ("allow", "the same"),
    ("s1", "more"),
    ("disallow", "less"),
    ("part", "other paths"),
    ("unknown", "not known"),
];

/// Returns the words after one of `hosts` hosts or crawlers. Empty if there are no others.
pub(super) fn others(hosts: u64) -> String {
    if hosts < 2 { String::new() } else { format!(" and {}", counted(hosts - 1, "other")) }
}

/// Returns `Disallow` or `Allow`.
fn field(verdict: &str) -> &'static str {
    if verdict == "allow" { "Allow" } else { "Disallow" }
}

impl View<'_> {
    /// Returns the sections of the sheet. `problems` are the findings in the file, if there is one for all
    /// URLs.
    pub(super) fn sheet(self, problems: &[Diagnostic]) -> Vec<Section> {
        let is_site = self.policies().kind == "file";
        let has_rules = !self.report.rules.deciding.rows.is_empty();
        let sections = [
            Some(self.crawlers().unwrap_or_else(|| self.verdicts())),
            self.paces(),
            has_rules.then(|| self.rules(is_site)),
            self.relations(is_site),
            self.problems(problems),
            self.uses(is_site),
        ];
        sections.into_iter().flatten().collect()
    }

    /// Returns the verdicts by crawler. Crawlers with equal numbers share a row.
    fn verdicts(self) -> Section {
        let RecordFigures { records: whole, per_agent, unknown_hosts, .. } =
            &self.report.account.records;
        let (id, title) = ("agents", "What crawlers may fetch");
        if *whole == 0 {
            let finding = html! {
                "The list of URLs is empty: no record was read, so there is nothing to decide. The \
                parts below describe the files alone."
            };
            return Section { id, title, finding, ..Section::default() };
        }
        let invalid = self.report.account.records.of_first(Verdict::Invalid);
        let unknown = self.report.account.records.of_first(Verdict::Unknown);
        let figures = |row: &AgentRecords| Verdict::ALL.map(|it| row.verdict(it));
        let mut rows = alike(per_agent.iter().map(figures));
        rows.sort_by_key(|([allow, ..], _)| *allow);
        let bar = |(values, crawlers): &([u64; 4], Vec<usize>)| {
            let figure = format!("allow {}", share(values[0], *whole));
            Bar::new(self.decided().few(crawlers), figure, *values)
        };
        // The columns add up to the records.
        let is_shown = [true, true, rows.iter().any(|(values, _)| values[2] > 0), invalid > 0];
        let shown = |place: &usize| is_shown[*place];
        let cells = |(values, crawlers): &([u64; 4], Vec<usize>)| {
            let counts = (0..4).filter(shown).flat_map(|place| {
                let share = (place < 2).then(|| html! { (share(values[place], *whole)) });
                once(count(values[place])).chain(share)
            });
            once(self.decided().folded(crawlers)).chain(counts).collect()
        };
        let names: [&[&str]; 4] =
            [&["#allow", "#share"], &["#disallow", "#share"], &["#unknown"], &["#invalid"]];
        let names = (0..4).filter(shown).flat_map(|place| names[place].iter().copied());
        let columns: Vec<&str> = once("crawlers").chain(names).collect();
        Section {
            id,
            title,
            finding: html! {
                (self.best_and_worst())
                @if unknown > 0 {
                    " For " (counted(unknown, "URL"))
                    @if unknown_hosts.records == unknown {
                        " no robots.txt is known."
                    } @else {
                        " the answer is not known: " (grouped(unknown_hosts.records))
                        " are on hosts without a known robots.txt."
                    }
                    " Unknown does not mean allowed."
                }
                @if invalid > 0 {
                    " Records of the list that are not URLs: " (grouped(invalid)) "."
                }
            },
            body: html! {
                (bars("Share of the records", "agents-table", &VERDICTS, true, rows.iter().map(bar)))
                (table("agents-table", "URLs by crawler", SHOWN_ON_SHEET, &columns, rows.iter().map(cells)))
            },
            ..Section::default()
        }
    }

    /// Returns the sentence about the crawlers that may fetch most and least. Of several, the first is named.
    fn best_and_worst(self) -> maud::Markup {
        let RecordFigures { per_agent: verdicts, records, .. } = &self.report.account.records;
        let share = |row: &AgentRecords| share(row.verdict(Verdict::Allow), *records);
        let allow = |row: &&AgentRecords| row.verdict(Verdict::Allow);
        let may_fetch = |row: &AgentRecords| {
            let alike = verdicts.iter().filter(|it| allow(it) == allow(&row)).count() as u64;
            html! { strong { (agent_name(&row.agent)) } (others(alike)) " may fetch " (share(row)) }
        };
        // Of equal agents, the first counts.
        let most = verdicts.iter().rev().max_by_key(allow);
        let (Some(most), Some(least)) = (most, verdicts.iter().min_by_key(allow)) else {
            return html! {};
        };
        html! {
            @if self.report.known() == 0 {
                "No URL was decided, because no robots.txt is known for any of them."
            } @else if verdicts.len() == 1 {
                (may_fetch(most)) " of all records."
            } @else if allow(&most) == allow(&least) {
                "Each of the " (verdicts.len()) " crawlers may fetch " (share(most)) " of all records."
            } @else {
                "Of " (verdicts.len()) " crawlers, " (may_fetch(most)) " of all records, the most, and "
                (may_fetch(least)) ", the least."
            }
        }
    }

    fn rules(self, is_site: bool) -> Section {
        let figures = &self.report.rules;
        let List { total, rows: all } = &figures.deciding;
        let rows = self.rows(all);
        let bar = |it: &DecidingRule| {
            let (host, others) = (it.host.to_string(), others(it.hosts));
            let host = cut_characters(&host, HOST_CHARACTERS);
            let (field, is_allow) = (field(it.verdict), it.verdict == "allow");
            let rule = format!("{field}: {} (line {})", it.rule, it.line);
            let label = if is_site { rule } else { format!("{host}{others} · {rule}") };
            let values = if is_allow { [it.records, 0] } else { [0, it.records] };
            Bar::new(label, grouped(it.records), values)
        };
        let cells = |it: &DecidingRule| {
            let rule = html! {
                span class={ "is-" (it.verdict) } { (field(it.verdict)) ":" } " "
                (short_code(&it.rule))
            };
            let mut cells = row(rule, [it.line.into(), it.records]);
            if !is_site {
                cells.push(html! { (short_code(&it.host)) (others(it.hosts)) });
            }
            cells.push(self.counted(&it.by_agent, &it.crawlers));
            let samples = it.samples.iter().map(|url| short_code(url.as_ref().trim_ascii()));
            cells.push(folded(samples, 1));
            cells
        };
        let mut columns = vec!["rule", "#line", "#URLs", "host", "crawlers", "for example"];
        if is_site {
            columns.remove(3);
        }
        let caption = self.caption("Rules by URLs decided", all, *total);
        Section {
            id: "rules",
            title: "Rules that decide most",
            finding: html! {
                (grouped(*total)) " of " (counted(figures.in_use, "rule"))
                " for these crawlers on the hosts of the URLs decided a URL."
            },
            body: html! {
                (bars("URLs decided, by rule", "rules-table", &RULES, false, rows.iter().map(bar)))
                (table("rules-table", &caption, SHOWN_ON_SHEET, &columns, rows.iter().map(cells)))
            },
            ..Section::default()
        }
    }

    /// Returns what crawlers may fetch compared with another; `None` if they are not compared. Crawlers with
    /// equal numbers share a bar.
    fn relations(self, is_site: bool) -> Option<Section> {
        let reach = &self.report.survey.reach;
        let baseline = &reach.iter().find_map(|row| row.relations.as_ref())?.baseline;
        let hosts = |row: &AgentFigures| row.relations.as_ref().map_or([0; 5], |it| it.hosts);
        let mut rows = alike(reach.iter().map(hosts));
        rows.sort_by_key(|([same, ..], _)| *same);
        let bar = |(hosts, crawlers): &([u64; 5], Vec<usize>)| {
            let less = || format!("less on {}", share(hosts[2], hosts.iter().sum()));
            let figure = if is_site { String::new() } else { less() };
            Bar::new(self.surveyed().few(crawlers), figure, *hosts)
        };
        let cells = |(hosts, crawlers): &([u64; 5], Vec<usize>)| {
            row(self.surveyed().folded(crawlers), *hosts)
        };
        let columns = ["crawlers", "#same", "#more", "#less", "#other", "#not known"];
        let (id, title) = ("relations-table", "Hosts by what crawlers may fetch");
        Some(Section {
            id: "relations",
            title: "Compared with the baseline",
            finding: html! {
                "What each crawler may fetch, compared with what " strong { (agent_name(baseline)) }
                " may, over all paths of a host: the same, more, less, or other paths."
            },
            body: html! {
                (bars(title, id, &RELATIONS, true, rows.iter().map(bar)))
                (table(id, title, SHOWN_ON_SHEET, &columns, rows.iter().map(cells)))
            },
            ..Section::default()
        })
    }

    /// Returns the problems of one file, or of all files by kind; `None` if there are none.
    fn problems(self, problems: &[Diagnostic]) -> Option<Section> {
        let (id, kinds) = ("problems-table", &self.report.survey.problems);
        let body = if !problems.is_empty() {
            let cells =
                |it: &Diagnostic| vec![html! { "line " (it.place.line) }, prose(&it.message)];
            table(
                id,
                "Lines to fix",
                SHOWN_ON_SHEET,
                &["where", "what"],
                problems.iter().map(cells),
            )
        } else if !kinds.is_empty() {
            let cells = |it: &NoteFigures| {
                vec![prose(it.meaning), count(it.files), folded(it.hosts.iter().map(code), 3)]
            };
            let columns = ["what", "#files", "first hosts"];
            table(id, "Files by problem", SHOWN_ON_SHEET, &columns, kinds.iter().map(cells))
        } else {
            return None;
        };
        Some(Section { id: "problems", title: "What to fix", body, ..Section::default() })
    }

    /// Returns the preferences that are stated; `None` if there are none. Crawlers with equal
    /// preferences share a row.
    fn uses(self, is_site: bool) -> Option<Section> {
        let of_agent = |row: &AgentFigures| Label::ALL.into_iter().zip(row.hosts.stances);
        let mut rows = alike(self.report.survey.reach.iter().flat_map(of_agent));
        // A level of use is neither permitted nor not.
        rows.retain(|((label, counts), _)| counts.has_stated() && *label != Label::Use);
        if rows.is_empty() {
            return None;
        }
        rows.sort_by_key(|((label, _), _)| *label);
        let cells = |((label, counts), positions): &((Label, StanceCounts), Vec<usize>)| {
            let [y, n, unstated, mixed] =
                [Stance::Yes, Stance::No, Stance::Unstated, Stance::Mixed].map(|it| counts.of(it));
            let (no_access, not_known) = (counts.no_access(), counts.not_known());
            let mut cells = match is_site {
                true => {
                    let words =
                        [(y, "permitted"), (n, "not permitted"), (mixed, "differs by path")];
                    let stated = words.into_iter().find(|(sites, _)| *sites > 0);
                    let stated = stated.map_or("", |(_, word)| word);
                    vec![code(label.as_str()), html! { (stated) }]
                }
                false => {
                    let counts = [y, n, mixed, unstated, no_access, not_known];
                    row(code(label.as_str()), counts)
                }
            };
            let agents: Vec<usize> = positions.iter().map(|it| it / Label::ALL.len()).collect();
            cells.push(self.surveyed().folded(&agents));
            cells
        };
        let columns: &[&str] = match is_site {
            true => &["use", "preference", "crawlers"],
            false => &[
                "use",
                "#permitted (y)",
                "#not permitted (n)",
                "#mixed",
                "#not stated",
                "#no access",
                "#not known",
                "crawlers",
            ],
        };
        let caption = if is_site { "Preferences by use" } else { "Hosts by use and preference" };
        let body = table("uses-table", caption, SHOWN_ON_SHEET, columns, rows.iter().map(cells));
        Some(Section {
            id: "uses",
            title: "What pages may be used for",
            body,
            ..Section::default()
        })
    }
}
