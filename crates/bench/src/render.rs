//! Renders a report for people: as Markdown, and as an HTML page with one chart.
//!
//! Both have the same headline, the same table with a row for each engine, and the same remarks.

use maud::{Markup, html};
use portcullis_report::page::{Bar, Page, Part, Section, bars, table, text};
use portcullis_text::figures::{grouped, plural};
use portcullis_text::visible::visible;

use super::engine::EngineKind;
use super::judge::{Status, Verification};
use super::questions::Order;
use super::report::{Cell, EngineReport, Measurement, Model, Per, Report};

const MIB: f64 = (1 << 20) as f64;

/// Renders the report as Markdown.
pub fn markdown(report: &Report) -> String {
    let table = EngineTable::of(report);
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|it| one_line(it).replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut rows = vec![line(&table.head), format!("|{}", "---|".repeat(table.head.len()))];
    rows.extend(table.rows.iter().map(|row| line(row)));
    let facts = facts(report);
    let facts: Vec<String> =
        facts.iter().map(|(name, fact)| format!("{name}: {}", one_line(fact))).collect();
    let remarks: Vec<String> =
        remarks(report).iter().map(|remark| format!("- {}", one_line(remark))).collect();
    let blocks = [
        one_line(&headline(report)),
        facts.join("  \n"),
        rows.join("\n"),
        table.note.to_owned(),
        remarks.join("\n"),
    ];
    blocks.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// Returns text on one line with its hidden characters escaped.
fn one_line(text: &str) -> String {
    visible(&text.replace('\n', " ")).to_string()
}

/// Renders the report as an HTML page, which opens without a network.
pub fn page(report: &Report) -> String {
    let facts = facts(report);
    let facts: Vec<(&str, Markup)> = facts.iter().map(|(name, fact)| (*name, all(fact))).collect();
    let table = EngineTable::of(report);
    let body = html! { (table.html()) p { (table.note) } };
    let remarks = html! { ul { @for remark in remarks(report) { li { (all(&remark)) } } } };
    let sections = [
        Section { id: "chart", title: "Speed", body: chart(report), ..Section::default() },
        Section { id: "engines", title: "Engines", body, ..Section::default() },
        Section { id: "remarks", title: "Remarks", body: remarks, ..Section::default() },
    ];
    let footer = format!("Made by portcullis {}.", report.version);
    Page {
        title: &headline(report),
        facts: &facts,
        sections: &sections,
        footer: &footer,
        sheet: &[],
    }
    .html()
}

/// Shows a text of any length.
fn all(text: &str) -> Markup {
    html! { (one_line(text)) }
}

/// Returns a grouped number with its noun: "2,434 files".
fn counted(count: u64, noun: &str) -> String {
    format!("{} {}", grouped(count), plural(count, noun))
}

/// Returns the column that the headline and the chart compare: the one that most engines of other
/// projects have, because a runner has no batch.
fn compared(report: &Report) -> Option<Cell> {
    let baseline = report.engines.iter().find(|engine| engine.name == report.baseline)?;
    let others = |cell: Cell| {
        let is_other = |it: &&EngineReport| it.kind != EngineKind::BuiltIn;
        report.engines.iter().filter(is_other).filter(|it| it.result(cell).is_some()).count()
    };
    [Model::FirstTouch, Model::DecideHot, Model::Batch]
        .map(|model| Cell { model, order: Some(Order::Shuffled) })
        .into_iter()
        .filter(|&cell| baseline.result(cell).is_some())
        .max_by_key(|&cell| others(cell))
}

/// Returns the result in one sentence: the baseline's time, and the fastest engine of another
/// project.
fn headline(report: &Report) -> String {
    let Some(cell) = compared(report) else {
        return format!("{} was not timed per URL.", report.baseline);
    };
    let time = |engine: &EngineReport| engine.result(cell).map(|it| it.median_ns);
    let ours = report.engines.iter().find(|it| it.name == report.baseline).and_then(time);
    let others: Vec<(&EngineReport, f64)> = report
        .engines
        .iter()
        .filter(|it| it.kind != EngineKind::BuiltIn)
        .filter_map(|it| Some((it, time(it)?)))
        .collect();
    let ours = ours.unwrap_or(f64::NAN);
    let (name, model) = (&report.baseline, cell.model.as_str());
    let start = format!("{name} decides a URL in {} ({model}, shuffled)", nanoseconds(ours));
    match others.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
        None => format!("{start}; no engine of another project was timed."),
        Some((other, time)) => format!(
            "{start}; the fastest of {} of other projects, {}, takes {}, {:.1} times as long.",
            counted(others.len() as u64, "engine"),
            other.name,
            nanoseconds(*time),
            time / ours
        ),
    }
}

/// Returns the circumstances of the measurement as names and texts.
fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let Report { command, machine, corpus, settings, baseline, .. } = report;
    let left_out = corpus.left_out;
    let urls = |count: usize| counted(count as u64, "URL");
    vec![
        ("Command", command.clone()),
        (
            "Machine",
            format!(
                "{}, {} cores, load {} at the start; {}; {}; {}",
                machine.processor,
                machine.cores,
                machine.load.as_deref().unwrap_or("not known"),
                machine.system,
                machine.compiler,
                machine.date
            ),
        ),
        (
            "Data",
            format!(
                "{} ({} distinct texts, {} cut at the limit), {}, dialect {}, agent {}. Left out: {} \
                 records that are not URLs, {} of origins without a file, {} that are not UTF-8",
                counted(corpus.files as u64, "file"),
                grouped(corpus.texts as u64),
                grouped(corpus.texts_cut as u64),
                urls(corpus.questions),
                corpus.dialect,
                corpus.agent,
                grouped(left_out.invalid as u64),
                urls(left_out.without_file),
                urls(left_out.not_text)
            ),
        ),
        (
            "Answers",
            format!(
                "the oracle judged every URL in {:.1} s and allows {}, checksum {}. Every answer of every \
                 engine was compared with it before anything was timed",
                corpus.oracle_seconds,
                grouped(corpus.allowed),
                corpus.checksum
            ),
        ),
        (
            "Times",
            format!(
                "{}, answered by every timed engine; median of {} (least–most), and × the median of \
                 {baseline}. Passes fill {} s; seed {}",
                urls(corpus.timed),
                counted(settings.rounds, "round"),
                settings.seconds_per_pass,
                settings.seed
            ),
        ),
    ]
}

/// The table with a row for each engine.
struct EngineTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// What is under the table.
    note: &'static str,
}

impl EngineTable {
    /// Returns the table with the columns that have values.
    fn of(report: &Report) -> EngineTable {
        let has_time = |cell: &Cell| report.engines.iter().any(|it| it.result(*cell).is_some());
        let cells: Vec<Cell> = Cell::ALL.into_iter().filter(has_time).collect();
        let title = |cell: &Cell| match (cell.model.per(), cell.order) {
            (Per::File, _) => format!("{}, µs a file", cell.model),
            (Per::Url, Some(order)) => format!("{}, {order}, ns", cell.model),
            (Per::Url, None) => format!("{}, ns", cell.model),
        };
        let mut head = vec!["engine".to_owned(), "answers".to_owned()];
        head.extend(cells.iter().map(title));
        head.push("matchers, MiB".to_owned());
        let row = |engine: &EngineReport| {
            let mark = if is_sampled(engine, report) { " †" } else { "" };
            let mut row = vec![format!("{} {}{mark}", engine.name, engine.version)];
            row.push(answers(&engine.verification));
            row.extend(cells.iter().map(|&cell| or_dash(engine.result(cell), time)));
            row.push(or_dash(engine.matcher_bytes, |bytes| figure(bytes as f64 / MIB)));
            row
        };
        let is_any_sampled = report.engines.iter().any(|engine| is_sampled(engine, report));
        let note = match is_any_sampled {
            true => "† too slow for all URLs; timed on a sample, whose size is among the remarks.",
            false => "",
        };
        EngineTable { head, rows: report.engines.iter().map(row).collect(), note }
    }

    fn html(&self) -> Markup {
        let columns = self.head.iter().enumerate();
        let columns: Vec<String> = columns
            .map(|(column, name)| if column < 2 { name.clone() } else { format!("#{name}") })
            .collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let cell = |cell: &String| {
            if let Some(bad) = cell.strip_prefix("**").and_then(|it| it.strip_suffix("**")) {
                return html! { span.bad { (text(bad)) } };
            }
            // The median alone, so that columns stay narrow.
            text(cell.split(" (").next().unwrap_or_default())
        };
        let rows = self.rows.iter().map(|row| row.iter().map(cell).collect());
        table("times", "Medians by engine", &columns, rows)
    }
}

fn answers(verification: &Verification) -> String {
    match &verification.status {
        Status::Verified => "verified".to_owned(),
        Status::Differs => format!("{} differ", grouped(verification.differing as u64)),
        Status::Wrong => "**WRONG**".to_owned(),
        Status::Failed(_) => "**FAILED**".to_owned(),
    }
}

fn is_sampled(engine: &EngineReport, report: &Report) -> bool {
    engine.questions > 0 && engine.questions < report.corpus.timed
}

fn or_dash<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

/// Formats a result as `median (least–most), ratio×`, in microseconds per file or nanoseconds per
/// URL.
fn time(result: &Measurement) -> String {
    let unit_ns = if result.per == Per::File { 1e3 } else { 1.0 };
    let [median, min, max] =
        [result.median_ns, result.min_ns, result.max_ns].map(|value| figure(value / unit_ns));
    let ratio = result.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2}×"));
    format!("{median} ({min}–{max}){ratio}")
}

/// Formats a value with one decimal if it is small, and otherwise with its digits in groups.
fn figure(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { grouped(value.round() as u64) }
}

/// Formats a time in a unit that keeps it short: `29.9 ns`, `1.2 µs`.
fn nanoseconds(value: f64) -> String {
    match value {
        value if value >= 1e9 => format!("{} s", figure(value / 1e9)),
        value if value >= 1e6 => format!("{} ms", figure(value / 1e6)),
        value if value >= 1e3 => format!("{} µs", figure(value / 1e3)),
        value => format!("{} ns", figure(value)),
    }
}

/// Returns remarks on the engines.
fn remarks(report: &Report) -> Vec<String> {
    let of_engine = |engine: &EngineReport| {
        let Verification { status, files_refused, examples, asked, answered, .. } =
            &engine.verification;
        let mut lines = Vec::new();
        match status {
            Status::Failed(why) => lines.push(format!("failed: {why}")),
            Status::Wrong => lines.push("it is wrong, so it has no times".to_owned()),
            Status::Verified | Status::Differs => {}
        }
        if asked > answered && !matches!(status, Status::Failed(_)) {
            lines.push(format!("{} URLs without an answer", grouped((asked - answered) as u64)));
        }
        if is_sampled(engine, report) {
            let [questions, asked] = [engine.questions, *asked].map(|it| grouped(it as u64));
            lines.push(format!("timed on a sample of {questions} URLs, compared on {asked}"));
        }
        lines.extend(engine.notes.iter().cloned());
        for (reason, count) in files_refused {
            lines.push(format!("files refused: {} ({reason})", grouped(*count as u64)));
        }
        for example in examples {
            lines.push(format!("{} (oracle: {}): {}", example.answer, example.oracle, example.url));
        }
        lines.into_iter().map(|line| format!("{}: {line}", engine.name)).collect::<Vec<_>>()
    };
    let is_measured = |model: &Model| {
        report.engines.iter().any(|it| it.results.iter().any(|it| it.cell.model == *model))
    };
    let models = Model::ALL.into_iter().filter(is_measured);
    let meanings = models.map(|model| format!("{model}: {}", model.describe()));
    meanings.chain(report.engines.iter().flat_map(of_engine)).collect()
}

/// Draws the speed of each engine as a bar, the fastest engine first. Speeds show fast engines apart,
/// where a few slow ones would make all their times look like nothing.
fn chart(report: &Report) -> Markup {
    let Some(cell) = compared(report) else {
        return html! { p { "Nothing was timed per URL." } };
    };
    let timed = report.engines.iter();
    let mut timed: Vec<(&EngineReport, f64)> =
        timed.filter_map(|engine| Some((engine, engine.result(cell)?.median_ns))).collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let bar = |(engine, median_ns): (&EngineReport, f64)| {
        let speed = (1e9 / median_ns).round() as u64;
        let part = match engine.kind {
            _ if engine.name == report.baseline => 0,
            EngineKind::BuiltIn => 1,
            EngineKind::Peer | EngineKind::Runner => 2,
        };
        let mut values = vec![0; 3];
        values[part] = speed;
        Bar { label: engine.name.clone(), figure: millions(1e3 / median_ns), values }
    };
    let charted: Vec<Bar> = timed.into_iter().map(bar).collect();
    let parts: [Part<'_>; 3] =
        [("s0", &report.baseline), ("part", "built in"), ("s1", "of other projects")];
    let title = format!("Million URLs per second ({}, shuffled)", cell.model);
    html! {
        p { (cell.model.as_str()) ": " (cell.model.describe()) ". Longer is faster." }
        (bars(&title, "times", &parts, false, &charted))
    }
}

/// Formats a number of millions, with more digits if it is small.
fn millions(value: f64) -> String {
    match value {
        value if value < 0.1 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.2}"),
        value => format!("{value:.1}"),
    }
}
