//! The report as one HTML page: tables, and plots as inline SVG. It opens without a network, in light
//! and dark, and has no script.

mod plot;

use std::fmt::Write;

use super::judge::Verification;
use super::questions::Order;
use super::report::{Cell, EngineReport, Model, Report};
use super::table;
use crate::report::html::escaped;

use plot::{Bar, Line, Plot};

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub fn page(report: &Report) -> String {
    let mut body = heading(report);
    body += &section("Answers", &answers(report));
    body += &section("Times", &times(report));
    body += &section("Nanoseconds a URL, by engine", &bars(report));
    body += &section("Single URLs", &singles(report));
    body += &section("Memory", &memory(report));
    if !report.curves.is_empty() {
        let plots: String = report.curves.iter().map(curve).collect();
        body += &section("Growth", &plots);
    }
    body += &section("Remarks", &remarks(report));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>portcullis bench</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn section(title: &str, content: &str) -> String {
    match content.is_empty() {
        true => String::new(),
        false => format!("<section>\n<h2>{title}</h2>\n{content}</section>\n"),
    }
}

fn heading(report: &Report) -> String {
    let Report { machine, corpus, settings, .. } = report;
    format!(
        "<header>\n<h1>portcullis {} bench</h1>\n<p><code>{}</code></p>\n\
         <p>{}, {} cores, load {} at the start, {}; {}; {}.</p>\n\
         <p>{} files, {} URLs of {}, dialect {}, agent {}; {} are timed. Every URL was judged by the \
         oracle: {} allowed, checksum <code>{}</code>. Median of {} rounds; ratios are to {}.</p>\n</header>\n",
        escaped(&report.version),
        escaped(&report.command),
        escaped(&machine.processor),
        machine.cores,
        escaped(machine.load.as_deref().unwrap_or("not known")),
        escaped(&machine.system),
        escaped(&machine.compiler),
        escaped(&machine.date),
        corpus.files,
        corpus.questions,
        escaped(&corpus.list),
        escaped(&corpus.dialect),
        escaped(&corpus.agent),
        corpus.timed,
        corpus.allowed,
        corpus.checksum,
        settings.rounds,
        escaped(&report.baseline),
    )
}

/// A table of escaped cells; the first of each row is its heading.
fn html_table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let heads: String = head.iter().map(|name| format!("<th>{name}</th>")).collect();
    let mut text = format!("<div class=\"wide\"><table>\n<tr>{heads}</tr>\n");
    for row in rows {
        let mut cells = row.iter();
        let first = cells.next().map_or("", String::as_str);
        let rest: String = cells.map(|cell| format!("<td>{cell}</td>")).collect();
        let _ = writeln!(text, "<tr><th>{first}</th>{rest}</tr>");
    }
    text + "</table></div>\n"
}

fn answers(report: &Report) -> String {
    let head = ["engine", "answers", "asked", "allowed", "other answers", "no answer", "checksum"];
    let row = |engine: &EngineReport| {
        let Verification { asked, answered, allowed, differing, checksum, .. } =
            &engine.verification;
        let standing = table::standing(&engine.verification.standing).replace('*', "");
        let class = if engine.verification.may_be_timed() { "" } else { " class=\"bad\"" };
        vec![
            escaped(&table::title(engine, report)),
            format!("<span{class}>{standing}</span>"),
            asked.to_string(),
            allowed.to_string(),
            differing.to_string(),
            (asked - answered).to_string(),
            format!("<code>{checksum}</code>"),
        ]
    };
    html_table(&head, report.engines.iter().map(row))
}

fn times(report: &Report) -> String {
    let columns = table::columns(report);
    let mut head = vec!["engine"];
    head.extend(columns.iter().map(|(name, _)| *name));
    let row = |engine: &EngineReport| {
        let mut cells = vec![escaped(&table::title(engine, report))];
        cells.extend(columns.iter().map(|&(_, cell)| {
            engine
                .result(cell)
                .map_or_else(|| "–".to_owned(), |result| escaped(&table::time(result)))
        }));
        cells
    };
    html_table(&head, report.engines.iter().map(row))
}

/// A chart of bars for each model that has an order, and one for runs over the file.
fn bars(report: &Report) -> String {
    let mut text = String::new();
    for model in [Model::DecideHot, Model::Batch, Model::FirstTouch] {
        let mut bars = Vec::new();
        for engine in &report.engines {
            for order in Order::ALL {
                let cell = Cell { model, order: Some(order), threads: 1 };
                let Some(result) = engine.result(cell) else { continue };
                bars.push(Bar {
                    name: format!("{}, {}", engine.name, order.as_str()),
                    value: result.median_ns,
                    spread: Some((result.min_ns, result.max_ns)),
                    series: order as usize,
                });
            }
        }
        text += &plot::bars(&format!("{}, ns a URL", model.as_str()), &bars);
    }
    text + &threads(report)
}

/// The cost of a run over the file, by threads.
fn threads(report: &Report) -> String {
    let mut lines = Vec::new();
    for engine in &report.engines {
        let of_file = engine.results.iter().filter(|it| it.cell.model == Model::FileToVerdict);
        let points: Vec<(f64, f64)> =
            of_file.map(|it| (it.cell.threads as f64, it.median_ns)).collect();
        if !points.is_empty() {
            lines.push(Line { name: engine.name.clone(), points });
        }
    }
    let plot = Plot {
        title: "From the file to counted verdicts",
        x: "threads",
        y: "ns a URL",
        lines: &lines,
    };
    plot.draw()
}

fn singles(report: &Report) -> String {
    let head = ["engine", "p50", "p90", "p99", "p99.9", "slowest", "URLs timed"];
    let timed = || report.engines.iter().filter_map(|it| Some((it, it.single.as_ref()?)));
    if timed().next().is_none() {
        return String::new();
    }
    let rows = timed().map(|(engine, single)| {
        let times = [single.p50_ns, single.p90_ns, single.p99_ns, single.p999_ns, single.max_ns];
        let mut row = vec![escaped(&table::title(engine, report))];
        row.extend(times.iter().map(u32::to_string));
        row.push(single.questions.to_string());
        row
    });
    let mut text = html_table(&head, rows);
    let bars: Vec<Bar> = timed()
        .map(|(engine, single)| Bar {
            name: engine.name.clone(),
            value: f64::from(single.p99_ns),
            spread: Some((f64::from(single.p50_ns), f64::from(single.p999_ns))),
            series: 0,
        })
        .collect();
    text += &plot::bars("p99 of single URLs, ns; the mark goes from p50 to p99.9", &bars);
    let lines: Vec<Line> = timed()
        .map(|(engine, single)| {
            let all = single.questions as f64;
            let counts = single.histogram.iter().filter(|(_, count)| *count > 0);
            let points =
                counts.map(|&(bound, count)| (f64::from(bound), count as f64 * 100.0 / all));
            Line { name: engine.name.clone(), points: points.collect() }
        })
        .collect();
    let plot = Plot {
        title: "Distribution of single URLs",
        x: "ns, under which",
        y: "URLs in a hundred",
        lines: &lines,
    };
    text + &plot.draw()
}

fn memory(report: &Report) -> String {
    let head =
        ["engine", "matchers, MiB", "corpus", "after building", "after asking", "peak, added"];
    let row = |engine: &EngineReport| {
        let memory = engine.memory;
        vec![
            escaped(&table::title(engine, report)),
            table::mebibytes(engine.matcher_bytes),
            table::mebibytes(memory.map(|memory| memory.corpus)),
            table::mebibytes(memory.map(|memory| memory.built)),
            table::mebibytes(memory.map(|memory| memory.asked)),
            table::mebibytes(memory.map(|memory| memory.added())),
        ]
    };
    html_table(&head, report.engines.iter().map(row))
}

fn curve(curve: &super::curves::Curve) -> String {
    let lines: Vec<Line> = curve
        .lines
        .iter()
        .map(|line| Line { name: line.engine.clone(), points: line.points.clone() })
        .collect();
    let plot = Plot { title: &curve.title, x: &curve.x, y: &curve.y, lines: &lines };
    let mut text = plot.draw();
    for line in &curve.lines {
        if let Some(note) = &line.note {
            let _ = writeln!(text, "<p>{}: {}</p>", escaped(&line.engine), escaped(note));
        }
    }
    text
}

fn remarks(report: &Report) -> String {
    let mut text = String::new();
    for engine in &report.engines {
        let lines = table::remark_lines(engine, report);
        if lines.is_empty() {
            continue;
        }
        let items: String = lines.iter().map(|it| format!("<li>{}</li>\n", escaped(it))).collect();
        let _ = writeln!(text, "<h3>{}</h3>\n<ul>\n{items}</ul>", escaped(&engine.name));
    }
    text
}
