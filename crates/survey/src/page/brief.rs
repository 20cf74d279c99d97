//! The first sheet of the page of an audit, for a person in a hurry: what crawlers may fetch, by
//! which rules, and what to fix. What does not occur has no section.

use maud::{Markup, html};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::usage::Label;
use portcullis_report::AgentRecords;
use portcullis_report::page::{
    Bar, Section, alike, bars, code, count, prose, short_code, table, text,
};
use portcullis_text::figures::{few, grouped, largest, share};
use portcullis_text::visible::cut_characters;

use super::{AGENT_CHARACTERS, VERDICTS, View, field, many, others};
use crate::NoteFigures;
use crate::policies::{AgentFigures, StanceCounts};
use crate::report::{DecidingRule, Report};

/// The crawlers named under the heading before the others unfold.
pub(super) const NAMED: usize = 12;
/// The rows of each table.
pub(super) const ROWS: usize = 6;

/// A problem of a file, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The line.
    pub line: u32,
    /// What is wrong, in a sentence without full stop, with code between backticks.
    pub what: String,
}

impl View<'_> {
    /// Returns the sections of the sheet. `problems` are those of the file, if there is one for all
    /// URLs.
    pub(super) fn sheet(self, problems: &[Problem]) -> Vec<Section> {
        let report = self.report;
        let is_site = self.policies().kind == "file";
        let sections = [
            (report.account.records.records > 0).then(|| self.brief_verdicts()),
            (!report.rules.deciding.rows.is_empty()).then(|| self.brief_rules(is_site)),
            self.brief_problems(problems),
            self.brief_uses(is_site),
        ];
        sections.into_iter().flatten().collect()
    }

    /// Returns the verdicts by crawler. Crawlers with equal numbers share a row.
    fn brief_verdicts(self) -> Section {
        let Report { account, unknown_origins: unknown, .. } = self.report;
        let whole = account.records.records;
        let invalid = account.records.of_first(Verdict::Invalid);
        let figures = |row: &AgentRecords| Verdict::ALL.map(|it| row.verdict(it));
        let mut rows = alike(account.records.per_agent.iter().map(figures));
        // If there are many rows, those of crawlers that may fetch least are shown.
        if rows.len() > ROWS {
            rows.sort_by_key(|([allow, ..], _)| *allow);
        }
        let rest = rows.split_off(rows.len().min(ROWS));
        let left: usize = rest.iter().map(|(_, crawlers)| crawlers.len()).sum();
        let bar = |(values, crawlers): &([u64; 4], Vec<usize>)| Bar {
            label: self.few_agents(crawlers),
            figure: format!("may fetch {}", share(values[0], whole)),
            values: values.to_vec(),
        };
        let row = |([allow, disallow, ..], crawlers): &([u64; 4], Vec<usize>)| {
            let share = |urls| html! { (share(urls, whole)) };
            let crawlers = text(self.few_agents(crawlers));
            vec![crawlers, count(*allow), share(*allow), count(*disallow), share(*disallow)]
        };
        let columns = ["crawlers", "#may fetch", "#share", "#must not fetch", "#share"];
        let charted: Vec<Bar> = rows.iter().map(bar).collect();
        Section {
            id: "sheet-agents",
            title: "What crawlers may fetch",
            finding: html! {
                (self.best_and_worst("crawlers"))
                @if unknown.records > 0 {
                    " For " (many(unknown.records, "URL")) " no robots.txt is known; this does not mean \
                     that they are allowed."
                }
                @if invalid > 0 {
                    " Records of the list that are not URLs: " (grouped(invalid)) "."
                }
            },
            body: html! {
                (bars("Share of the URLs", "sheet-crawlers-table", &VERDICTS, true, &charted))
                (table("sheet-crawlers-table", "URLs by crawler", &columns, rows.iter().map(row)))
                @if left > 0 { p { "Crawlers that may fetch as much or more: " (left) "." } }
            },
            ..Section::default()
        }
    }

    /// Returns the names of the agents at the given positions, in a few words.
    fn few_agents(self, positions: &[usize]) -> String {
        let agents = self.report.agents();
        let names: Vec<_> =
            positions.iter().map(|&it| cut_characters(&agents[it], AGENT_CHARACTERS)).collect();
        few(names.iter().map(|name| &**name), agents.len())
    }

    fn brief_rules(self, is_site: bool) -> Section {
        let list = &self.report.rules.deciding;
        let row = |it: &DecidingRule| {
            let decides = (0..it.by_agent.len()).filter(|&agent| it.by_agent[agent] > 0);
            let decides: Vec<usize> = decides.collect();
            let rule = html! {
                span class={ "is-" (it.verdict) } { (field(it.verdict)) ":" } " "
                (short_code(&it.rule))
            };
            let mut cells = vec![rule, count(it.line.into()), count(it.records)];
            if !is_site {
                cells.push(html! { (short_code(&it.host)) (others(it.hosts)) });
            }
            cells.push(text(self.few_agents(&decides)));
            cells.push(html! {
                @if let Some(url) = it.samples.first() { (short_code(url.as_ref().trim_ascii())) }
            });
            cells
        };
        let mut columns = vec!["rule", "#line", "#URLs", "site", "crawlers", "for example"];
        if is_site {
            columns.remove(3);
        }
        let caption = self.caption("Rules by URLs decided", &list.rows, list.total);
        let rows = self.rows(&list.rows).iter().map(row);
        Section {
            id: "sheet-rules",
            title: "Rules that decide most",
            body: table("sheet-rules-table", &caption, &columns, rows),
            ..Section::default()
        }
    }

    /// Returns the problems of one file, or of all files by kind; `None` if there are none.
    fn brief_problems(self, problems: &[Problem]) -> Option<Section> {
        let kinds = &self.report.survey.problems;
        let body = if !problems.is_empty() {
            let caption = self.caption("Lines to fix", problems, problems.len() as u64);
            let row = |it: &Problem| vec![html! { "line " (it.line) }, prose(&it.what)];
            let rows = problems.iter().take(ROWS).map(row);
            html! {
                (table("sheet-problems-table", &caption, &["where", "what"], rows))
                @if problems.len() > ROWS { p { code { "portcullis lint" } " shows all of them." } }
            }
        } else if !kinds.is_empty() {
            let caption = self.caption("Files by problem", kinds, kinds.len() as u64);
            let row = |it: &NoteFigures| {
                let hosts: Vec<String> = it.hosts.iter().map(ToString::to_string).collect();
                let hosts = few(hosts.iter().map(String::as_str), usize::MAX);
                vec![prose(it.meaning), count(it.files), text(hosts)]
            };
            let rows = kinds.iter().take(ROWS).map(row);
            table("sheet-problems-table", &caption, &["what", "#files", "first sites"], rows)
        } else {
            return None;
        };
        Some(Section { id: "sheet-problems", title: "What to fix", body, ..Section::default() })
    }

    /// Returns the preferences that are stated; `None` if there are none. Crawlers with equal
    /// preferences share a row.
    fn brief_uses(self, is_site: bool) -> Option<Section> {
        let of_agent = |row: &AgentFigures| {
            let labels = row.hosts.preferences.by_label();
            labels.map(|(label, StanceCounts { y, n, mixed, .. })| (label, [y, n, mixed]))
        };
        let stated = self.report.survey.reach.iter().flat_map(of_agent);
        let mut rows = alike(stated);
        rows.retain(|((_, counts), _)| counts.iter().any(|&sites| sites > 0));
        if rows.is_empty() {
            return None;
        }
        let total = rows.len() as u64;
        // Preferences against a use are shown if not all are.
        let mut rows = largest(rows, ROWS, |((_, [_, n, _]), _)| *n);
        rows.sort_by_key(|((label, _), _)| *label);
        let row = |((label, counts), positions): &((Label, [u64; 3]), Vec<usize>)| {
            let agents: Vec<usize> = positions.iter().map(|it| it / Label::ALL.len()).collect();
            let stated: Vec<Markup> = match is_site {
                true => {
                    let words = ["fine", "not wanted", "differs by path"];
                    let words = words.into_iter().zip(counts).find(|(_, sites)| **sites > 0);
                    words.map(|(word, _)| html! { (word) }).into_iter().collect()
                }
                false => counts.map(count).into(),
            };
            let crawlers = text(self.few_agents(&agents));
            std::iter::once(code(label.as_str())).chain(stated).chain([crawlers]).collect()
        };
        let columns: &[&str] = match is_site {
            true => &["use", "preference", "crawlers"],
            false => &["use", "#fine (y)", "#not wanted (n)", "#differs by path", "crawlers"],
        };
        let caption = if is_site { "Preferences by use" } else { "Sites by use and preference" };
        let caption = self.caption(caption, &rows, total);
        let body = table("sheet-uses-table", &caption, columns, rows.iter().map(row));
        let title = "What pages may be used for";
        Some(Section { id: "sheet-uses", title, body, ..Section::default() })
    }
}
