//! Renders the report for people as [`markdown`] and as an HTML [`page`]: the machine and the data,
//! answers, times, single URLs, memory, growth and remarks.

use portcullis_report::html;
use portcullis_report::html::counted;
use portcullis_report::page::Page;

use super::document::{self, Part, PointRow, nanoseconds};
use super::engine::EngineKind;
use super::engines::meaning;
use super::judge::{Status, Verification};
use super::questions::Order;
use super::report::{
    Cell, CorpusFacts, Curve, CurveLine, EngineReport, Measurement, Model, Per, Report,
};

/// The columns of times.
const COLUMNS: [(&str, Cell); 8] = [
    ("parse, µs per file", Cell::of(Model::Parse, None)),
    ("compile, µs per file", Cell::of(Model::Compile, None)),
    ("first touch, shuffled", Cell::of(Model::FirstTouch, Some(Order::Shuffled))),
    ("first touch, grouped", Cell::of(Model::FirstTouch, Some(Order::Grouped))),
    ("decide hot, shuffled", Cell::of(Model::DecideHot, Some(Order::Shuffled))),
    ("decide hot, grouped", Cell::of(Model::DecideHot, Some(Order::Grouped))),
    ("batch, shuffled", Cell::of(Model::Batch, Some(Order::Shuffled))),
    ("batch, grouped", Cell::of(Model::Batch, Some(Order::Grouped))),
];

const PER_URL: &str = "ns per URL";

/// Renders the report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut all = vec![Part::Text(headline(report)), Part::Text(heading(report))];
    all.extend(parts(report));
    document::markdown(&all)
}

/// Renders the report as an HTML page, which opens without a network.
pub fn page(report: &Report) -> String {
    let Report { command, machine, corpus, settings, baseline, version, .. } = report;
    let mut all = vec![
        Part::Section("summary", "In short"),
        Part::Text(verified(report)),
        Part::Section("terms", "What is measured"),
        Part::Terms(terms(report)),
    ];
    all.extend(parts(report));
    let load = machine.load.as_deref().unwrap_or("not known");
    let facts = [
        ("Command", html!("<code>{}</code>", command)),
        (
            "Machine",
            html!("{}, {} cores, load {} at the start", machine.processor, machine.cores, load),
        ),
        ("System", html!("{}; {}", machine.system, machine.compiler)),
        ("Date", html!("{}", machine.date)),
        (
            "Data",
            html!(
                "{} ({} distinct), {} of {} ({})",
                counted(corpus.files as u64, "file", "files"),
                corpus.texts,
                counted(corpus.questions as u64, "URL", "URLs"),
                corpus.list,
                corpus.list_format
            ),
        ),
        ("Agent and dialect", html!("{}, {}", corpus.agent, corpus.dialect)),
        (
            "Times",
            html!(
                "median of {} (least–most); × is the ratio to {}",
                counted(settings.rounds as u64, "round", "rounds"),
                baseline
            ),
        ),
    ];
    let footer = html!(
        "Made by portcullis {}. Every answer was compared with the oracle’s before anything was timed.",
        version
    );
    let sections = document::sections(&all);
    Page { title: &headline(report), facts: &facts, sections: &sections, footer }
        .html()
        .into_string()
}

/// Returns the result in one sentence: the baseline's time, and the fastest engine of another
/// project.
fn headline(report: &Report) -> String {
    let engine = |name: &str| report.engines.iter().find(|engine| engine.name == *name);
    let models = [Model::Batch, Model::DecideHot, Model::FirstTouch];
    let cells = models.map(|model| Cell::of(model, Some(Order::Shuffled)));
    let measured = cells
        .into_iter()
        .filter_map(|cell| Some((cell, engine(&report.baseline)?.result(cell)?.median_ns)));
    let others = |cell: Cell| {
        let others = report.engines.iter().filter(|it| it.kind != EngineKind::BuiltIn);
        others.filter_map(move |it| Some((it, it.result(cell)?.median_ns)))
    };
    // A runner has no batch. The first model that most other engines have is compared.
    let Some((cell, ours)) = measured.rev().max_by_key(|&(cell, _)| others(cell).count()) else {
        return format!("{} was not timed per URL.", report.baseline);
    };
    let others = others(cell);
    let fastest = others.clone().min_by(|a, b| a.1.total_cmp(&b.1));
    let start = format!(
        "{} decides a URL in {} ({}, shuffled)",
        report.baseline,
        nanoseconds(ours),
        cell.model.as_str()
    );
    match fastest {
        None => format!("{start}; no engine of another project was timed."),
        Some((other, time)) => format!(
            "{start}; the fastest of {} of other projects, {}, takes {}, {:.1} times as long.",
            counted(others.count() as u64, "engine", "engines"),
            other.name,
            nanoseconds(time),
            time / ours
        ),
    }
}

/// Returns the paragraph on which engines' answers are right.
fn verified(report: &Report) -> String {
    let of = |status: fn(&Status) -> bool| {
        let engines = report.engines.iter().filter(|it| status(&it.verification.status));
        engines.map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "Compared with the oracle on {}:",
        counted(report.corpus.questions as u64, "URL", "URLs")
    );
    for (what, names) in [
        ("every answer is right", of(|it| *it == Status::Verified)),
        ("some answers differ", of(|it| *it == Status::Differs)),
        ("wrong, so not timed", of(|it| *it == Status::Wrong)),
        ("failed, so not timed", of(|it| matches!(it, Status::Failed(_)))),
    ] {
        if !names.is_empty() {
            text += &format!(" {what}: {names}.");
        }
    }
    text
}

/// Returns the models, orders and engines of the measurement with their meaning.
fn terms(report: &Report) -> Vec<(String, String)> {
    let is_timed = |model: &Model| {
        report.engines.iter().any(|it| it.results.iter().any(|it| it.cell.model == *model))
    };
    let models =
        Model::ALL.into_iter().filter(is_timed).map(|model| (model.as_str(), model.describe()));
    let orders = Order::ALL.map(|order| match order {
        Order::Shuffled => (order.as_str(), "URLs in random order, as in the list of a crawl."),
        Order::Grouped => (order.as_str(), "All URLs of a host together."),
    });
    let terms = models.chain(orders).map(|(name, meaning)| (name.to_owned(), meaning.to_owned()));
    let engines = report.engines.iter().map(|engine| {
        let meaning = match engine.kind {
            EngineKind::BuiltIn => meaning(&engine.name),
            EngineKind::Peer => "An engine of another project, from crates.io.",
            EngineKind::Runner => "Another program, asked through the runner protocol.",
        };
        (engine.name.clone(), meaning.to_owned())
    });
    terms.chain(engines).collect()
}

fn parts(report: &Report) -> Vec<Part> {
    let mut parts = vec![Part::Section("answers", "Answers"), answers(report)];
    parts.push(Part::Section("times", "Times"));
    parts.extend(times(report));
    parts.extend(charts(report));
    parts.extend(singles(report));
    parts.push(Part::Section("memory", "Memory"));
    parts.push(memory(report));
    if !report.curves.is_empty() {
        parts.push(Part::Section("growth", "Growth"));
        parts.extend(report.curves.iter().cloned().map(Part::Curve));
    }
    parts.push(Part::Section("remarks", "Remarks"));
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
         texts, {texts_cut} cut at the limit), {questions} URLs of {} ({}), dialect {}, agent {}. {timed} URLs \
         are answered by every timed engine. Left out: {} records that are not URLs, {} URLs of origins without a \
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
        corpus.list_format,
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

/// Returns a table with a row per engine. The first column is its name and version, marked if it
/// was timed on a sample.
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
        let Verification { status, asked, answered, allowed, differing, checksum, .. } =
            &engine.verification;
        let status = match status {
            Status::Verified => "verified",
            Status::Differs => "differ",
            Status::Wrong => "**WRONG**",
            Status::Failed(_) => "**FAILED**",
        };
        let counts = [*asked as u64, *allowed, *differing as u64, (asked - answered) as u64];
        let mut cells = vec![status.to_owned()];
        cells.extend(counts.iter().map(u64::to_string));
        cells.push(checksum.clone());
        cells
    })
}

/// Returns the table of times, with the columns that have values, and runs over the file.
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
                "{}, {threads} thread{plural}: {time} ns per line of the list, {rate:.2} million lines per second",
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

/// Formats a result as `median (least–most), ratio×`, in microseconds per file or nanoseconds per
/// URL.
fn time(result: &Measurement) -> String {
    let unit_ns = if result.per == Per::File { 1e3 } else { 1.0 };
    let [median, min, max] =
        [result.median_ns, result.min_ns, result.max_ns].map(|value| value / unit_ns);
    let digits = usize::from(median < 100.0);
    let ratio = result.ratio.map_or_else(String::new, |ratio| format!(", {ratio:.2}×"));
    format!("{median:.digits$} ({min:.digits$}–{max:.digits$}){ratio}")
}

/// Returns points for each model that has an order, and the cost of a run over the file by threads.
fn charts(report: &Report) -> Vec<Part> {
    let points = |model: Model| {
        let row = |engine: &EngineReport| {
            let points = Order::ALL.map(|order| {
                let result = engine.result(Cell::of(model, Some(order)))?;
                Some((result.median_ns, [result.min_ns, result.max_ns]))
            });
            let is_timed = points.iter().any(Option::is_some);
            is_timed.then(|| PointRow { name: engine_name(engine), points: points.to_vec() })
        };
        let rows = report.engines.iter().filter_map(row).collect();
        let title = format!("{}, time per URL", model.as_str());
        Part::Points(title, Order::ALL.map(Order::as_str).to_vec(), rows)
    };
    let mut parts: Vec<Part> =
        [Model::DecideHot, Model::Batch, Model::FirstTouch].map(points).into();
    parts.push(plot("From the file to counted verdicts", ["threads", PER_URL], report, |engine| {
        of_list(engine).map(|it| (it.cell.threads as f64, it.median_ns)).collect()
    }));
    parts
}

/// Returns a plot with a line for each engine that has points.
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
    let rows = timed().map(|(engine, single)| {
        let of = |it: u32| Some((f64::from(it), [f64::from(it); 2]));
        let points = vec![of(single.p50_ns), of(single.p99_ns), of(single.p999_ns)];
        PointRow { name: engine_name(engine), points }
    });
    let title = "Percentiles of single URLs".to_owned();
    let histogram = |engine: &EngineReport| {
        let single = engine.single.iter();
        let counts = single.flat_map(|it| it.histogram.iter().map(|row| (it.questions, row)));
        let share = |(all, &(bound, count)): (u64, &(u32, u64))| {
            (f64::from(bound), count as f64 * 100.0 / all as f64)
        };
        counts.filter(|(_, (_, count))| *count > 0).map(share).collect()
    };
    vec![
        Part::Section("singles", "Single URLs"),
        Part::Text("Single URLs, hot, shuffled, in nanoseconds.".to_owned()),
        table,
        Part::Text(format!(
            "Reading the clock takes {} ns, which are subtracted; a cost below that is noise.",
            single.clock_ns
        )),
        Part::Points(title, vec!["p50", "p99", "p99.9"], rows.collect()),
        plot(
            "Distribution of single URLs",
            ["ns (upper bound)", "percentage of URLs"],
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

/// Returns remarks on an engine.
fn remarks(engine: &EngineReport, report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let Verification { status, files_refused, examples, asked, .. } = &engine.verification;
    if let Status::Failed(why) = status {
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
    if engine.kind == EngineKind::BuiltIn && *status == Status::Wrong {
        lines.push("it is wrong, so it has no times".to_owned());
    }
    lines
}
