//! The report as Markdown: the machine, the data, a table for each question, and where answers differ.

use std::fmt::Write;

use super::engine::EngineKind;
use super::judge::{Standing, Verification};
use super::questions::Order;
use super::report::{Cell, CorpusFacts, EngineReport, Measurement, Model, Report};
use crate::visible::visible;

/// The columns of times.
pub(super) const COLUMNS: [(&str, Cell); 8] = [
    ("parse, µs a file", cell(Model::Parse, None)),
    ("compile, µs a file", cell(Model::Compile, None)),
    ("first touch, shuffled", cell(Model::FirstTouch, Some(Order::Shuffled))),
    ("first touch, grouped", cell(Model::FirstTouch, Some(Order::Grouped))),
    ("decide hot, shuffled", cell(Model::DecideHot, Some(Order::Shuffled))),
    ("decide hot, grouped", cell(Model::DecideHot, Some(Order::Grouped))),
    ("batch, shuffled", cell(Model::Batch, Some(Order::Shuffled))),
    ("batch, grouped", cell(Model::Batch, Some(Order::Grouped))),
];

const fn cell(model: Model, order: Option<Order>) -> Cell {
    Cell { model, order, threads: 1 }
}

/// The whole report.
pub fn markdown(report: &Report) -> String {
    let mut text = heading(report);
    text += &answers(report);
    text += &times(report);
    text += &singles_and_memory(report);
    text += &file_runs(report);
    for engine in &report.engines {
        text += &remarks(engine, report);
    }
    for curve in &report.curves {
        text += &curve.markdown();
    }
    text.split_inclusive('\n').map(shown_line).collect()
}

/// A line as people may see it: names, URLs and what runners answer are strangers' text.
fn shown_line(line: &str) -> String {
    let text = line.trim_end_matches('\n');
    format!("{}{}", visible(text), &line[text.len()..])
}

fn heading(report: &Report) -> String {
    let Report { command, machine, corpus, settings, .. } = report;
    let CorpusFacts { files, texts, texts_cut, questions, timed, left_out, .. } = corpus;
    let load = machine.load.as_deref().unwrap_or("not known");
    format!(
        "`{command}`\n\n{}, {} cores, load {load} at the start, {}; {}; {}.\n\n{files} files ({texts} \
         distinct texts, {texts_cut} of them cut at the limit), {questions} URLs of {}, dialect {}, agent {}. {timed} URLs are \
         answered by every timed engine. Left out: {} lines that are no URL, {} URLs of origins without a \
         file, {} that are not UTF-8. Every URL was judged by the oracle in {:.1} s: {} allowed, checksum {}.\n\nMedian of {} rounds \
         (least–most), and how many times the median of {}. Passes are repeated for {} s; seed {}.\n",
        machine.processor,
        machine.cores,
        machine.system,
        machine.compiler,
        machine.date,
        visible(&corpus.list),
        corpus.dialect,
        corpus.agent,
        left_out.invalid,
        left_out.without_file,
        left_out.not_text,
        corpus.oracle_seconds,
        corpus.allowed,
        corpus.checksum,
        settings.rounds,
        report.baseline,
        settings.seconds_per_pass,
        settings.seed,
    )
}

fn answers(report: &Report) -> String {
    let mut text =
        "\n| engine | answers | asked | allowed | other answers | no answer | checksum |\n\
                    |---|---|---|---|---|---|---|\n"
            .to_owned();
    for engine in &report.engines {
        let Verification { asked, answered, allowed, differing, checksum, .. } =
            &engine.verification;
        let open = asked - answered;
        let _ = writeln!(
            text,
            "| {} | {} | {asked} | {allowed} | {differing} | {open} | {checksum} |",
            title(engine, report),
            standing(&engine.verification.standing),
        );
    }
    text
}

/// What a standing is called.
pub(super) fn standing(standing: &Standing) -> &'static str {
    match standing {
        Standing::Verified => "verified",
        Standing::Differs => "differ",
        Standing::Wrong => "**WRONG**",
        Standing::Failed(_) => "**FAILED**",
    }
}

/// Name and version, the name marked if it was timed on a sample.
pub(super) fn title(engine: &EngineReport, report: &Report) -> String {
    let mark = if is_sampled(engine, report) { " †" } else { "" };
    format!("{} {}{mark}", engine.name, engine.version)
}

fn is_sampled(engine: &EngineReport, report: &Report) -> bool {
    engine.questions > 0 && engine.questions < report.corpus.timed
}

/// Columns in which somebody has a time.
pub(super) fn columns(report: &Report) -> Vec<(&'static str, Cell)> {
    let has_time = |cell: Cell| report.engines.iter().any(|engine| engine.result(cell).is_some());
    COLUMNS.into_iter().filter(|&(_, cell)| has_time(cell)).collect()
}

fn times(report: &Report) -> String {
    let columns = columns(report);
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "\nNanoseconds a URL where nothing else is said.\n\n| engine | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(columns.len())
    );
    for engine in &report.engines {
        let cells: Vec<String> = columns
            .iter()
            .map(|&(_, cell)| engine.result(cell).map_or_else(|| "–".to_owned(), time))
            .collect();
        let _ = writeln!(text, "| {} | {} |", title(engine, report), cells.join(" | "));
    }
    if report.engines.iter().any(|engine| is_sampled(engine, report)) {
        text += "\n† too slow for all URLs; timed on a sample, whose size stands below.\n";
    }
    text
}

/// `median (least–most), ratio×`, in the unit of the model.
pub(super) fn time(result: &Measurement) -> String {
    let unit = unit_ns(result.cell.model);
    let [median, min, max] =
        [result.median_ns, result.min_ns, result.max_ns].map(|value| value / unit);
    let digits = usize::from(median < 100.0);
    let ratio = result.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2}×"));
    format!("{median:.digits$} ({min:.digits$}–{max:.digits$}){ratio}")
}

/// Nanoseconds of the unit in which a model is shown: microseconds a file, nanoseconds a URL.
pub(super) fn unit_ns(model: Model) -> f64 {
    match model {
        Model::Parse | Model::Compile => 1e3,
        Model::FirstTouch | Model::DecideHot | Model::Batch | Model::FileToVerdict => 1.0,
    }
}

fn singles_and_memory(report: &Report) -> String {
    let mut text = "\nSingle URLs, hot, shuffled, in nanoseconds; memory in MiB, of a process with this engine \
                    alone, beside the corpus.\n\n\
                    | engine | p50 | p90 | p99 | p99.9 | slowest | matchers | peak, added |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for engine in &report.engines {
        let single = engine.single.as_ref();
        let of = |value: Option<u32>| value.map_or_else(|| "–".to_owned(), |it| it.to_string());
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            title(engine, report),
            of(single.map(|it| it.p50_ns)),
            of(single.map(|it| it.p90_ns)),
            of(single.map(|it| it.p99_ns)),
            of(single.map(|it| it.p999_ns)),
            of(single.map(|it| it.max_ns)),
            mebibytes(engine.matcher_bytes),
            mebibytes(engine.memory.map(|memory| memory.added())),
        );
    }
    if let Some(single) = report.engines.iter().find_map(|engine| engine.single.as_ref()) {
        let _ = writeln!(
            text,
            "\nThe clock itself takes {} ns, which are subtracted; what a question costs less than that is noise.",
            single.clock_ns
        );
    }
    text
}

/// Bytes as MiB.
pub(super) fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1048576.0))
}

fn file_runs(report: &Report) -> String {
    let mut text = String::new();
    for engine in &report.engines {
        let of_file = |result: &&Measurement| result.cell.model == Model::FileToVerdict;
        for result in engine.results.iter().filter(of_file) {
            let threads = result.cell.threads;
            let rate = 1e3 / result.median_ns;
            let plural = if threads == 1 { "" } else { "s" };
            let _ = writeln!(
                text,
                "- {}, {threads} thread{plural}: {} ns a line of the list, {rate:.2} million a second",
                engine.name,
                time(result)
            );
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("\nFrom the mapped file to counted verdicts:\n\n{text}")
}

/// What else is to be said of an engine.
fn remarks(engine: &EngineReport, report: &Report) -> String {
    let mut text = String::new();
    for remark in remark_lines(engine, report) {
        let _ = writeln!(text, "- {remark}");
    }
    if text.is_empty() { text } else { format!("\n{}:\n\n{text}", engine.name) }
}

/// Each remark is one line.
pub(super) fn remark_lines(engine: &EngineReport, report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let Verification { standing, files_refused, examples, asked, .. } = &engine.verification;
    if let Standing::Failed(why) = standing {
        lines.push(format!("failed: {}", why.replace('\n', " ")));
    }
    if is_sampled(engine, report) {
        let questions = engine.questions;
        lines.push(format!(
            "timed on a sample of {questions} URLs, its answers compared on {asked}"
        ));
    }
    lines.extend(engine.notes.iter().cloned());
    for (reason, count) in files_refused {
        lines.push(format!("files refused: {count} ({})", reason.replace('\n', " ")));
    }
    for example in examples {
        lines.push(format!("{} (oracle: {}): {}", example.answer, example.oracle, example.url));
    }
    let is_wrong = engine.kind == EngineKind::BuiltIn && *standing == Standing::Wrong;
    if is_wrong {
        lines.push("it is wrong, so no time of it is shown".to_owned());
    }
    lines
}
