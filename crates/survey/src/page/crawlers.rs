//! The crawlers that records name: what each requested, who else did, and how soon requests came.

use maud::{Markup, html};
use portcullis_dialect::decision::Verdict;
use portcullis_report::page::{SHOWN, SHOWN_ON_SHEET, Section, code, count, folded, table, text};
use portcullis_report::{Figures, Pace, RecordAgent};
use portcullis_text::figures::{counted, grouped, share};

use super::{NAMED, View, agent_name, row};
use crate::crawlers::{Crawlers, disallowed, name, not_compared, reading};
use crate::list::List;

/// Returns the number of records, of disallowed ones with their share, and of unknown ones.
fn verdict_cells(verdicts: &Figures) -> [Markup; 4] {
    let (all, disallowed) = (verdicts.sum(), disallowed(verdicts));
    let unknown = verdicts.get(Verdict::Unknown.as_str());
    [count(all), count(disallowed), html! { (share(disallowed, all)) }, count(unknown)]
}

const COLUMNS: [&str; 6] =
    ["crawler", "#requests", "#disallow", "#share", "#unknown", "reads differently"];

impl View<'_> {
    /// Returns the requests of crawlers; `None` if there are no records, or they have no agents of their own.
    pub(super) fn crawlers(self) -> Option<Section> {
        let crawlers = Crawlers::of(self.report)?;
        if self.report.account.records.records == 0 {
            return None;
        }
        let columns = &COLUMNS[..if crawlers.read_differently() { 6 } else { 5 }];
        let cells = |it: &&RecordAgent| {
            let mut cells = vec![agent_name(name(it))];
            cells.extend(verdict_cells(&it.verdicts));
            cells.push(text(reading(it)));
            cells.truncate(columns.len());
            cells
        };
        let (bound, not_bound) = (crawlers.bound.iter(), crawlers.not_bound.iter());
        let requests =
            |rows: &[&RecordAgent]| -> u64 { rows.iter().map(|it| disallowed(&it.verdicts)).sum() };
        let offenders: Vec<&RecordAgent> = crawlers.with_disallowed().collect();
        let of_others = requests(&crawlers.not_bound);
        let (caption, apart) = ("Requests by crawler", "Not bound, by their operators");
        Some(Section {
            id: "crawlers",
            title: "Who requested what robots.txt disallows",
            finding: html! {
                @if offenders.is_empty() {
                    "No known crawler that robots.txt binds requested what it must not fetch."
                } @else {
                    (folded(offenders.iter().map(|it| agent_name(name(it))), NAMED))
                    " made " (counted(requests(&crawlers.bound), "request")) " that robots.txt disallows."
                }
                @if of_others > 0 {
                    " Crawlers that are not bound by robots.txt made " (counted(of_others, "request"))
                    " that it disallows."
                }
            },
            meaning: "Each request is decided for the crawler that its User-Agent header names, as its \
                operator documents that it reads robots.txt. Others can send the same header.",
            body: html! {
                (table("crawlers-table", caption, SHOWN_ON_SHEET, columns, bound.map(cells)))
                (table("not-bound-table", apart, SHOWN_ON_SHEET, columns, not_bound.map(cells)))
            },
            ..Section::default()
        })
    }

    /// Returns how soon the requests of crawlers came; `None` if no policy asks one for a delay.
    pub(super) fn paces(self) -> Option<Section> {
        let crawlers = Crawlers::of(self.report)?;
        let cells = |(it, pace): (&RecordAgent, &Pace)| {
            let counts = [pace.requests, pace.compared, pace.sooner].map(count);
            let mut cells = vec![agent_name(name(it)), text(it.delay_use()), text(pace.delays())];
            cells.extend(counts);
            cells.push(html! { (share(pace.sooner, pace.compared)) });
            cells.push(text(not_compared(pace).to_string()));
            cells
        };
        let rows: Vec<Vec<Markup>> = crawlers.with_pace().map(cells).collect();
        if rows.is_empty() {
            return None;
        }
        let columns = [
            "crawler",
            "its use",
            "delay (seconds)",
            "#requests",
            "#compared",
            "#sooner",
            "#share",
            "not compared",
        ];
        let keeps = |(it, pace): &(&RecordAgent, &Pace)| {
            it.reading.as_ref().is_some_and(|it| it.keeps_delay) && pace.sooner > 0
        };
        let breaking: Vec<_> = crawlers.with_pace().filter(keeps).collect();
        Some(Section {
            id: "paces",
            title: "Who came sooner than Crawl-delay",
            finding: html! {
                @if breaking.is_empty() {
                    "No crawler that keeps Crawl-delay in seconds, by its operator, came sooner."
                } @else {
                    (folded(breaking.iter().map(|(it, _)| agent_name(name(it))), NAMED))
                    " came sooner than the seconds that they keep, by their operators."
                }
            },
            meaning: "A request is compared with the one before it of the same crawler, client and host. \
                It came sooner if that is certain by times in seconds, so the figures are lower bounds.",
            body: table("paces-table", "Requests by crawler", SHOWN_ON_SHEET, &columns, rows),
            ..Section::default()
        })
    }

    /// Returns the requests that no known crawler sent; `None` if records have no agents of their own.
    pub(super) fn others(self) -> Option<Section> {
        let others = self.report.others.as_ref()?;
        let List { total, rows: all } = &others.products;
        let cells = |name: Markup, verdicts: &Figures| {
            let mut cells = row(name, []);
            cells.extend(verdict_cells(verdicts));
            cells
        };
        let together = [
            ("browsers", &others.browsers),
            ("no name", &others.nameless),
            ("products that were not counted one by one", &others.uncounted),
        ];
        let together = together.into_iter().filter(|(_, verdicts)| verdicts.sum() > 0);
        let together = together.map(|(name, verdicts)| cells(html! { em { (name) } }, verdicts));
        let named = self.rows(all).iter().map(|it| cells(code(&it.product), &it.verdicts));
        let caption = self.caption("Requests by product", all, *total);
        let columns = ["sender", "#requests", "#disallow", "#share", "#unknown"];
        Some(Section {
            id: "others",
            title: "Who else sent requests",
            finding: html! {
                @if *total > 0 {
                    "Headers name " (grouped(*total)) " products that are no known crawler."
                }
            },
            meaning: "Browsers, tools, and unknown crawlers. The groups for * apply to them. The verdict is unknown if \
                a file names such a crawler and -a does not.",
            advice: "-a NAME,@ai-all,@search,@documented gives the crawler NAME among them a row of its own.",
            body: table("others-table", &caption, SHOWN, &columns, together.chain(named)),
        })
    }
}
