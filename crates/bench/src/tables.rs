//! The report for people: the machine and the data, answers, times, single URLs, memory, growth and
//! remarks, as [`markdown`] and as an HTML [`page`].

use super::document::{self, Bar, Part};
use super::engine::EngineKind;
use super::judge::{Standing, Verification};
use super::questions::Order;
use super::report::{
    Cell, CorpusFacts, Curve, CurveLine, EngineReport, Measurement, Model, Per, Report,
};

/// The columns of times.
const COLUMNS: [(&str, Cell); 8] = [
    ("parse, µs a file", Cell::of(Model::Parse, None)),
    ("compile, µs a file", Cell::of(Model::Compile, None)),
    ("first touch, shuffled", Cell::of(Model::FirstTouch, Some(Order::Shuffled))),
    ("first touch, grouped", Cell::of(Model::FirstTouch, Some(Order::Grouped))),
    ("decide hot, shuffled", Cell::of(Model::DecideHot, Some(Order::Shuffled))),
    ("decide hot, grouped", Cell::of(Model::DecideHot, Some(Order::Grouped))),
    ("batch, shuffled", Cell::of(Model::Batch, Some(Order::Shuffled))),
    ("batch, grouped", Cell::of(Model::Batch, Some(Order::Grouped))),
];

const PER_URL: &str = "ns a URL";

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    document::markdown(&parts(report))
}

/// The report as an HTML page, which opens without a network.
pub fn page(report: &Report) -> String {
    document::html(&format!("portcullis {} bench", report.version), &parts(report))
}

fn parts(report: &Report) -> Vec<Part> {
    let mut parts = vec![Part::Text(heading(report)), Part::Section("Answers"), answers(report)];
    parts.push(Part::Section("Times"));
    parts.extend(times(report));
    parts.extend(charts(report));
    parts.extend(singles(report));
    parts.push(Part::Section("Memory"));
    parts.push(memory(report));
    if !report.curves.is_empty() {
        parts.push(Part::Section("Growth"));
        parts.extend(report.curves.iter().cloned().map(Part::Curve));
    }
    parts.push(Part::Section("Remarks"));
    let remarks = |engine| Part::List(engine_name(engine), remarks(engine, report));
    parts.extend(report.engines.iter().map(remarks));
    parts
}

fn engine_name(engine: &EngineReport) -> String {
    engine.name.clone()
}

fn heading(report: &Report) -> String {
    let Report { command, machine, corpus, settings, baseline, .. } = report;
    let CorpusFacts { files, texts, texts_cut, questions, timed, left_out, .. } = corpus;
    format!(
        "`{command}`\n\n{}, {} cores, load {} at the start, {}; {}; {}.\n\n{files} files ({texts} distinct \
         texts, {texts_cut} cut at the limit), {questions} URLs of {}, dialect {}, agent {}. {timed} URLs are \
         answered by every timed engine. Left out: {} lines that are not URLs, {} URLs of origins without a \
         file, {} that are not UTF-8. The oracle judged every URL in {:.1} s: {} allowed, checksum {}.\n\n\
         Median of {} round{} (least–most), and its ratio to the median of {baseline}. Passes are repeated \
         for {} s; seed {}.",
        machine.processor,
        machine.cores,
        machine.load.as_deref().unwrap_or("not known"),
        machine.system,
        machine.compiler,
        machine.date,
        corpus.list,
        corpus.dialect,
        corpus.agent,
        left_out.invalid,
        left_out.without_file,
        left_out.not_text,
        corpus.oracle_seconds,
        corpus.allowed,
        corpus.checksum,
        settings.rounds,
        if settings.rounds == 1 { "" } else { "s" },
        settings.seconds_per_pass,
        settings.seed,
    )
}

/// A table with a row per engine; the first column is its name and version, marked if it was timed on
/// a sample.
fn engine_table(
    report: &Report,
    head: &[&str],
    cells: impl Fn(&EngineReport) -> Vec<String>,
) -> Part {
    let head = std::iter::once(&"engine").chain(head).map(|&name| name.to_owned()).collect();
    let row = |engine: &EngineReport| {
        let mark = if is_sampled(engine, report) { " †" } else { "" };
        let title = format!("{} {}{mark}", engine.name, engine.version);
        std::iter::once(title).chain(cells(engine)).collect()
    };
    Part::Table(head, report.engines.iter().map(row).collect())
}

fn is_sampled(engine: &EngineReport, report: &Report) -> bool {
    engine.questions > 0 && engine.questions < report.corpus.timed
}

fn or_dash<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}

fn answers(report: &Report) -> Part {
    let head = ["answers", "asked", "allowed", "other answers", "no answer", "checksum"];
    engine_table(report, &head, |engine| {
        let Verification { standing, asked, answered, allowed, differing, checksum, .. } =
            &engine.verification;
        let standing = match standing {
            Standing::Verified => "verified",
            Standing::Differs => "differ",
            Standing::Wrong => "**WRONG**",
            Standing::Failed(_) => "**FAILED**",
        };
        let counts = [*asked as u64, *allowed, *differing as u64, (asked - answered) as u64];
        let mut cells = vec![standing.to_owned()];
        cells.extend(counts.iter().map(u64::to_string));
        cells.push(checksum.clone());
        cells
    })
}

/// The table of times, with the columns that have some, and runs over the file.
fn times(report: &Report) -> Vec<Part> {
    let has_time = |cell: Cell| report.engines.iter().any(|engine| engine.result(cell).is_some());
    let columns: Vec<_> = COLUMNS.into_iter().filter(|&(_, cell)| has_time(cell)).collect();
    let head: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut parts = vec![
        Part::Text("Nanoseconds per URL, except where a column has a unit.".to_owned()),
        engine_table(report, &head, |engine| {
            columns.iter().map(|&(_, cell)| or_dash(engine.result(cell), time)).collect()
        }),
    ];
    if report.engines.iter().any(|engine| is_sampled(engine, report)) {
        let note = "† too slow for all URLs; timed on a sample, whose size is among the remarks.";
        parts.push(Part::Text(note.to_owned()));
    }
    let mut runs = Vec::new();
    for engine in &report.engines {
        for result in of_list(engine) {
            let threads = result.cell.threads;
            let plural = if threads == 1 { "" } else { "s" };
            let (rate, time) = (1e3 / result.median_ns, time(result));
            runs.push(format!(
                "{}, {threads} thread{plural}: {time} ns a line of the list, {rate:.2} million a second",
                engine.name
            ));
        }
    }
    parts.push(Part::List("From the mapped file to counted verdicts".to_owned(), runs));
    parts
}

fn of_list(engine: &EngineReport) -> impl Iterator<Item = &Measurement> {
    engine.results.iter().filter(|result| result.cell.model == Model::FileToVerdict)
}

/// `median (least–most), ratio×`, in microseconds per file or nanoseconds per URL.
fn time(result: &Measurement) -> String {
    let unit_ns = if result.per == Per::File { 1e3 } else { 1.0 };
    let [median, min, max] =
        [result.median_ns, result.min_ns, result.max_ns].map(|value| value / unit_ns);
    let digits = usize::from(median < 100.0);
    let ratio = result.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2}×"));
    format!("{median:.digits$} ({min:.digits$}–{max:.digits$}){ratio}")
}

/// Bars for each model that has an order, and the cost of a run over the file by threads.
fn charts(report: &Report) -> Vec<Part> {
    let bars = |model: Model| {
        let mut bars = Vec::new();
        for engine in &report.engines {
            for order in Order::ALL {
                let Some(result) = engine.result(Cell::of(model, Some(order))) else { continue };
                bars.push(Bar {
                    name: format!("{}, {}", engine.name, order.as_str()),
                    value: result.median_ns,
                    spread: (result.min_ns, result.max_ns),
                    series: order as usize,
                });
            }
        }
        Part::Bars(format!("{}, {PER_URL}", model.as_str()), bars)
    };
    let mut parts: Vec<Part> = [Model::DecideHot, Model::Batch, Model::FirstTouch].map(bars).into();
    parts.push(plot("From the file to counted verdicts", ["threads", PER_URL], report, |engine| {
        of_list(engine).map(|it| (it.cell.threads as f64, it.median_ns)).collect()
    }));
    parts
}

/// A line for each engine that has points.
fn plot(
    title: &str,
    [x, y]: [&str; 2],
    report: &Report,
    points: impl Fn(&EngineReport) -> Vec<(f64, f64)>,
) -> Part {
    let line = |engine: &EngineReport| {
        let points = points(engine);
        let line = CurveLine { engine: engine_name(engine), points, note: None };
        Some(line).filter(|line| !line.points.is_empty())
    };
    let lines = report.engines.iter().filter_map(line).collect();
    Part::Plot(Curve { title: title.to_owned(), x: x.to_owned(), y: y.to_owned(), lines })
}

fn singles(report: &Report) -> Vec<Part> {
    let Some(single) = report.engines.iter().find_map(|engine| engine.single.as_ref()) else {
        return Vec::new();
    };
    let head = ["p50", "p90", "p99", "p99.9", "slowest", "URLs timed"];
    let table = engine_table(report, &head, |engine| {
        let numbers = engine.single.as_ref().map(|it| {
            [it.p50_ns, it.p90_ns, it.p99_ns, it.p999_ns, it.max_ns]
                .map(u64::from)
                .into_iter()
                .chain([it.questions])
                .map(|number| number.to_string())
                .collect()
        });
        numbers.unwrap_or_else(|| vec!["–".to_owned(); head.len()])
    });
    let timed = || report.engines.iter().filter_map(|it| Some((it, it.single.as_ref()?)));
    let bars = timed().map(|(engine, single)| Bar {
        name: engine_name(engine),
        value: f64::from(single.p99_ns),
        spread: (f64::from(single.p50_ns), f64::from(single.p999_ns)),
        series: 0,
    });
    let title = "p99 of single URLs, ns; the mark spans p50 to p99.9".to_owned();
    let histogram = |engine: &EngineReport| {
        let single = engine.single.iter();
        let counts = single.flat_map(|it| it.histogram.iter().map(|row| (it.questions, row)));
        let share = |(all, &(bound, count)): (u64, &(u32, u64))| {
            (f64::from(bound), count as f64 * 100.0 / all as f64)
        };
        counts.filter(|(_, (_, count))| *count > 0).map(share).collect()
    };
    vec![
        Part::Section("Single URLs"),
        Part::Text("Single URLs, hot, shuffled, in nanoseconds.".to_owned()),
        table,
        Part::Text(format!(
            "Reading the clock takes {} ns, which are subtracted; a cost below that is noise.",
            single.clock_ns
        )),
        Part::Bars(title, bars.collect()),
        plot(
            "Distribution of single URLs",
            ["ns, upper bound", "percentage of URLs"],
            report,
            histogram,
        ),
    ]
}

fn memory(report: &Report) -> Part {
    let head = ["matchers, MiB", "corpus", "after building", "after asking", "peak, added"];
    engine_table(report, &head, |engine| {
        let use_of = engine.memory.as_ref();
        let bytes = [
            engine.matcher_bytes,
            use_of.map(|memory| memory.corpus),
            use_of.map(|memory| memory.built),
            use_of.map(|memory| memory.asked),
            use_of.map(|memory| memory.added()),
        ];
        let mebibytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1048576.0);
        bytes.map(|bytes| or_dash(bytes, mebibytes)).to_vec()
    })
}

/// What else a reader has to know about an engine.
fn remarks(engine: &EngineReport, report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let Verification { standing, files_refused, examples, asked, .. } = &engine.verification;
    if let Standing::Failed(why) = standing {
        lines.push(format!("failed: {why}"));
    }
    if is_sampled(engine, report) {
        let questions = engine.questions;
        lines.push(format!("timed on a sample of {questions} URLs, compared on {asked}"));
    }
    lines.extend(engine.notes.iter().cloned());
    for (reason, count) in files_refused {
        lines.push(format!("files refused: {count} ({reason})"));
    }
    for example in examples {
        lines.push(format!("{} (oracle: {}): {}", example.answer, example.oracle, example.url));
    }
    if engine.kind == EngineKind::BuiltIn && *standing == Standing::Wrong {
        lines.push("it is wrong, so it has no times".to_owned());
    }
    lines
}
