//! Text, tables and charts, written once and rendered as Markdown or as an HTML page.
//!
//! The page opens without a network, in light and dark colours, and has no script; charts are inline
//! SVG with logarithmic axes, because costs differ by orders of magnitude. Names, URLs and what
//! runners answer are escaped here, so that callers pass plain text.

use std::fmt::Write;

use portcullis_report::html::escaped;
use portcullis_robots::visible::visible;

use super::report::{Curve, CurveLine};

const STYLE: &str = include_str!("style.css");

/// Colours of the style sheet.
const SERIES: usize = 8;

/// A part of a document.
pub enum Part {
    /// Starts a section. Markdown has no headings: its tables follow each other.
    Section(&'static str),
    /// A paragraph.
    Text(String),
    /// Rows of cells under headings. A cell in `**…**` is emphasised.
    Table(Vec<String>, Vec<Vec<String>>),
    /// An introduction and items.
    List(String, Vec<String>),
    /// Bars, in HTML only.
    Bars(String, Vec<Bar>),
    /// A plot in HTML, a table in Markdown.
    Curve(Curve),
    /// A plot, in HTML only.
    Plot(Curve),
}

/// A bar with a mark for the spread.
pub struct Bar {
    /// What it shows.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// The ends of the mark.
    pub spread: (f64, f64),
    /// Its colour.
    pub series: usize,
}

/// The parts as Markdown.
pub fn markdown(parts: &[Part]) -> String {
    let mut blocks = Vec::new();
    for part in parts {
        match part {
            Part::Section(_) | Part::Bars(..) | Part::Plot(_) => {}
            Part::Text(text) => blocks.push(shown(text)),
            Part::Table(head, rows) => blocks.push(markdown_table(head, rows)),
            Part::List(_, items) if items.is_empty() => {}
            Part::List(introduction, items) => {
                let items: Vec<String> =
                    items.iter().map(|item| format!("- {}", one_line(item))).collect();
                blocks.push(format!("{}:\n\n{}", one_line(introduction), items.join("\n")));
            }
            Part::Curve(curve) => {
                blocks.push(format!("{}, {}:", one_line(&curve.title), curve.y));
                let (head, rows) = curve_table(curve);
                blocks.push(markdown_table(&head, &rows));
                blocks.extend(curve_notes(curve).map(|note| one_line(&note)));
            }
        }
    }
    blocks.join("\n\n") + "\n"
}

fn markdown_table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|it| one_line(it).replace('|', "\\|")).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![line(head), format!("|{}", "---|".repeat(head.len()))];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

/// Text with its lines kept, and what would deceive a reader made visible.
fn shown(text: &str) -> String {
    text.split('\n').map(|line| visible(line).to_string()).collect::<Vec<_>>().join("\n")
}

fn one_line(text: &str) -> String {
    shown(&text.replace('\n', " "))
}

/// A row for each value of the horizontal axis, a column for each line.
fn curve_table(curve: &Curve) -> (Vec<String>, Vec<Vec<String>>) {
    let points = curve.lines.iter().flat_map(|line| &line.points);
    let mut xs: Vec<f64> = points.map(|point| point.0).collect();
    xs.sort_unstable_by(f64::total_cmp);
    xs.dedup();
    let names = curve.lines.iter().map(|line| line.engine.clone());
    let row = |x: f64| {
        let at = |line: &CurveLine| {
            let found = line.points.iter().find(|point| point.0 == x);
            found.map_or_else(|| "–".to_owned(), |point| format!("{:.1}", point.1))
        };
        std::iter::once(x.to_string()).chain(curve.lines.iter().map(at)).collect()
    };
    (std::iter::once(curve.x.clone()).chain(names).collect(), xs.into_iter().map(row).collect())
}

fn curve_notes(curve: &Curve) -> impl Iterator<Item = String> {
    let note = |line: &CurveLine| Some(format!("{}: {}", line.engine, line.note.as_ref()?));
    curve.lines.iter().filter_map(note)
}

/// The parts as one HTML page.
pub fn html(title: &str, parts: &[Part]) -> String {
    let mut body = String::new();
    for part in parts {
        match part {
            Part::Section(title) => _ = writeln!(body, "<h2>{}</h2>", escaped(title)),
            Part::Text(text) => {
                for paragraph in text.split("\n\n") {
                    _ = writeln!(body, "<p>{}</p>", escaped(&paragraph.replace('\n', " ")));
                }
            }
            Part::Table(head, rows) => body += &html_table(head, rows),
            Part::List(_, items) if items.is_empty() => {}
            Part::List(introduction, items) => {
                let items: String =
                    items.iter().map(|it| format!("<li>{}</li>\n", escaped(it))).collect();
                _ = writeln!(body, "<h3>{}</h3>\n<ul>\n{items}</ul>", escaped(introduction));
            }
            Part::Bars(title, bars) => body += &bar_chart(title, bars),
            Part::Curve(curve) | Part::Plot(curve) => {
                body += &plot(curve);
                for note in curve_notes(curve) {
                    _ = writeln!(body, "<p>{}</p>", escaped(&note));
                }
            }
        }
    }
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

/// The first cell of each row is its heading.
fn html_table(head: &[String], rows: &[Vec<String>]) -> String {
    let cell = |text: &String| match text.strip_prefix("**").and_then(|it| it.strip_suffix("**")) {
        Some(text) => format!("<span class=\"bad\">{}</span>", escaped(text)),
        None => escaped(text),
    };
    let heads: String = head.iter().map(|name| format!("<th>{}</th>", cell(name))).collect();
    let mut text = format!("<div class=\"wide\"><table>\n<tr>{heads}</tr>\n");
    for row in rows {
        let tag = |column| if column == 0 { "th" } else { "td" };
        let cells = row.iter().enumerate();
        let cells = cells.map(|(column, it)| format!("<{0}>{1}</{0}>", tag(column), cell(it)));
        _ = writeln!(text, "<tr>{}</tr>", cells.collect::<String>());
    }
    text + "</table></div>\n"
}

/// The width of a chart, in its own units.
const WIDTH: f64 = 900.0;

fn figure(title: &str, height: f64, content: &str) -> String {
    let title = escaped(&format!("{title} (logarithmic)"));
    format!(
        "<figure>\n<figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{title}\">\n{content}</svg>\n</figure>\n"
    )
}

/// Horizontal bars; empty if there are none.
fn bar_chart(title: &str, bars: &[Bar]) -> String {
    /// Room for names on the left, and for figures on the right.
    const ROOM: [f64; 2] = [260.0, 90.0];
    const HEIGHT: f64 = 20.0;
    if bars.is_empty() {
        return String::new();
    }
    let values = bars.iter().flat_map(|bar| [bar.value, bar.spread.0, bar.spread.1]);
    let left = ROOM[0];
    let axis = Axis::over(values, left, WIDTH - ROOM[1]);
    let mut content = String::new();
    for (index, bar) in bars.iter().enumerate() {
        let top = index as f64 * HEIGHT;
        let (middle, end) = (top + HEIGHT / 2.0, axis.place(bar.value));
        let [from, to] = [bar.spread.0, bar.spread.1].map(|value| axis.place(value));
        _ = writeln!(
            content,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"fill{}\" x=\"{left}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\n\
             <line class=\"mark\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>\n\
             <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 8.0,
            middle + 4.0,
            escaped(&bar.name),
            bar.series % SERIES,
            top + 3.0,
            (end - left).max(1.0),
            HEIGHT - 6.0,
            end.max(to) + 6.0,
            middle + 4.0,
            short(bar.value)
        );
    }
    figure(title, bars.len() as f64 * HEIGHT + 4.0, &content)
}

/// Lines over two axes; empty if there are none.
fn plot(curve: &Curve) -> String {
    /// The area of lines: left, top, right, bottom.
    const AREA: [f64; 4] = [70.0, 15.0, 660.0, 330.0];
    if curve.lines.is_empty() {
        return String::new();
    }
    let [left, top, right, bottom] = AREA;
    let points = || curve.lines.iter().flat_map(|line| line.points.iter());
    let across = Axis::over(points().map(|point| point.0), left, right);
    let up = Axis::over(points().map(|point| point.1), bottom, top);
    let mut content = String::new();
    let mut rule = |[x1, x2, y1, y2]: [f64; 4], [x, y]: [f64; 2], anchor: &str, value: f64| {
        _ = writeln!(
            content,
            "<line class=\"rule\" x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\"/>\
             <text class=\"soft\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            short(value)
        );
    };
    for value in up.ticks() {
        let y = up.place(value);
        rule([left, right, y, y], [left - 6.0, y + 4.0], "end", value);
    }
    for value in across.ticks() {
        let x = across.place(value);
        rule([x, x, top, bottom], [x, bottom + 18.0], "middle", value);
    }
    for (index, line) in curve.lines.iter().enumerate() {
        let series = index % SERIES;
        let (legend_x, legend_y) = (right + 20.0, top + 12.0 + index as f64 * 20.0);
        let place = |&(x, y): &(f64, f64)| (across.place(x), up.place(y));
        let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
        let joined: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        // After the last colour the colours start again, dashed.
        let dashes = if index < SERIES { "" } else { " stroke-dasharray=\"5 4\"" };
        _ = writeln!(
            content,
            "<rect class=\"fill{series}\" x=\"{legend_x}\" y=\"{:.1}\" width=\"12\" height=\"4\"/>\
             <text x=\"{:.1}\" y=\"{legend_y:.1}\">{}</text>\n\
             <polyline class=\"line line{series}\"{dashes} points=\"{}\"/>",
            legend_y - 6.0,
            legend_x + 18.0,
            escaped(&line.engine),
            joined.join(" ")
        );
        for (x, y) in places {
            let dot = format!("cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\"");
            _ = writeln!(content, "<circle class=\"fill{series}\" {dot}/>");
        }
    }
    _ = writeln!(
        content,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        (left + right) / 2.0,
        bottom + 38.0,
        escaped(&curve.x)
    );
    figure(&format!("{}, {}", curve.title, curve.y), bottom + 50.0, &content)
}

/// A logarithmic axis.
struct Axis {
    /// The base-10 logarithms of its ends.
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis over values. A value that is not positive is at the lower end.
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Axis {
        let logs = values.filter(|value| *value > 0.0).map(f64::log10);
        let (low, high) =
            logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low.floor(), high) };
        Axis { low, high: high.max(low + 0.3), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let log = if value > 0.0 { value.log10() } else { self.low };
        let share = ((log - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Powers of ten, with steps between them where they are few.
    fn ticks(&self) -> Vec<f64> {
        let powers = self.low as i32..=self.high as i32;
        let steps: &[f64] = if powers.clone().count() > 2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        powers
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
            .filter(|tick| tick.log10() <= self.high + 1e-9)
            .collect()
    }
}

/// A number in few characters.
fn short(value: f64) -> String {
    let trimmed = |value: f64| {
        let digits = match value {
            value if value >= 100.0 || value.fract() == 0.0 => 0,
            value if value >= 1.0 => 1,
            _ => 4,
        };
        format!("{value:.digits$}")
    };
    match value {
        value if value >= 1e6 => format!("{} M", trimmed(value / 1e6)),
        value if value >= 1e4 => format!("{} k", trimmed(value / 1e3)),
        value => trimmed(value),
    }
}
