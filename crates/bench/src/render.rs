//! Renders a report for people, as Markdown: a headline, a table with a row for each engine, and
//! remarks.

use portcullis_robots::figures::{grouped, plural};
use portcullis_robots::visible::visible;

use super::engine::EngineKind;
use super::judge::{Status, Verification};
use super::questions::Order;
use super::report::{Cell, EngineReport, Measurement, Model, Per, Report};

const MIB: f64 = (1 << 20) as f64;

/// Renders the report as Markdown.
pub fn markdown(report: &Report) -> String {
    let facts = facts(report).into_iter();
    let facts: Vec<String> =
        facts.map(|(name, fact)| format!("{name}: {}", one_line(&fact))).collect();
    let remarks = remarks(report).into_iter();
    let remarks: Vec<String> = remarks.map(|remark| format!("- {}", one_line(&remark))).collect();
    let is_any_sampled = report.engines.iter().any(|engine| is_sampled(engine, report));
    let note = match is_any_sampled {
        true => "† too slow for all URLs; timed on a sample, whose size is among the remarks.",
        false => "",
    };
    let blocks = [
        one_line(&headline(report)),
        facts.join("  \n"),
        table(report),
        note.to_owned(),
        remarks.join("\n"),
    ];
    blocks.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// Returns text on one line with its hidden characters escaped.
fn one_line(text: &str) -> String {
    visible(&text.replace('\n', " ")).to_string()
}

/// Returns a grouped number with its noun: "2,434 files".
fn counted(count: u64, noun: &str) -> String {
    format!("{} {}", grouped(count), plural(count, noun))
}

/// Returns the result in one sentence: the baseline's time, and the fastest engine of another
/// project, in the last column that the baseline has.
fn headline(report: &Report) -> String {
    let baseline = report.engines.iter().find(|engine| engine.name == report.baseline);
    let shuffled = [Model::Batch, Model::DecideHot, Model::FirstTouch]
        .map(|model| Cell { model, order: Some(Order::Shuffled) });
    let timed = shuffled.into_iter().find_map(|cell| Some((cell, baseline?.result(cell)?)));
    let Some((cell, &Measurement { median_ns: ours, .. })) = timed else {
        return format!("{} was not timed per URL.", report.baseline);
    };
    let others = report.engines.iter().filter(|it| it.kind != EngineKind::BuiltIn);
    let others: Vec<(&EngineReport, f64)> =
        others.filter_map(|it| Some((it, it.result(cell)?.median_ns))).collect();
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

/// Returns the table with a row for each engine, and the columns that have values.
fn table(report: &Report) -> String {
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
        line(&row)
    };
    let mut lines = vec![line(&head), format!("|{}", "---|".repeat(head.len()))];
    lines.extend(report.engines.iter().map(row));
    lines.join("\n")
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|it| one_line(it).replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
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
