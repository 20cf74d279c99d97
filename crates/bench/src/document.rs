//! Text, tables and charts, written once and rendered as Markdown or as an HTML page.
//!
//! The frame of the page and its escaping come from [`portcullis_report`]. Charts have logarithmic
//! axes, because costs differ by orders of magnitude. They show points, because a bar on such an
//! axis has no meaningful length.

use portcullis_report::html;
use portcullis_report::html::{Caption, Html, LogAxis, Part as Key, Table};
use portcullis_report::page::{Section, fact_list};
use portcullis_robots::visible::visible;

use super::report::{Curve, CurveLine};

/// The classes of the colours in the style sheet.
const SERIES: [&str; 8] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];

/// A part of a document.
pub enum Part {
    /// Starts a section with an id and a title. Markdown has no headings: its tables follow each
    /// other.
    Section(&'static str, &'static str),
    /// A paragraph.
    Text(String),
    /// Rows of cells under headings. A cell in `**…**` is emphasised.
    Table(Vec<String>, Vec<Vec<String>>),
    /// An introduction and items.
    List(String, Vec<String>),
    /// A title, the names of the points of each row, and the rows. In HTML only.
    Points(String, Vec<&'static str>, Vec<PointRow>),
    /// Terms and their meaning. In HTML only.
    Terms(Vec<(String, String)>),
    /// A plot in HTML, a table in Markdown.
    Curve(Curve),
    /// A plot. In HTML only.
    Plot(Curve),
}

/// The times of one engine in nanoseconds.
pub struct PointRow {
    /// The engine.
    pub name: String,
    /// For each name of the points, the value and the ends of its spread.
    pub points: Vec<Option<(f64, [f64; 2])>>,
}

/// Renders the parts as Markdown.
pub fn markdown(parts: &[Part]) -> String {
    let mut blocks = Vec::new();
    for part in parts {
        match part {
            Part::Section(..) | Part::Points(..) | Part::Plot(_) | Part::Terms(_) => {}
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

/// Returns text with its hidden characters escaped, except line ends.
fn shown(text: &str) -> String {
    text.split('\n').map(|line| visible(line).to_string()).collect::<Vec<_>>().join("\n")
}

fn one_line(text: &str) -> String {
    shown(&text.replace('\n', " "))
}

/// Returns a table with a row for each value on the horizontal axis and a column for each line.
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

/// Renders the parts as sections of a page.
pub fn sections(parts: &[Part]) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for part in parts {
        if let Part::Section(id, title) = *part {
            sections.push(Section { id, title, ..Section::default() });
        } else if let Some(section) = sections.last_mut() {
            let number = section.body.as_str().matches("<table").count();
            let id = format!("{}-table-{number}", section.id);
            section.body += html_part(part, section.title, &id);
        }
    }
    sections
}

fn html_part(part: &Part, section: &str, id: &str) -> Html {
    match part {
        Part::Section(..) => Html::default(),
        Part::Text(text) => {
            let paragraphs = text.split("\n\n");
            paragraphs.map(|it| html!("<p>{}</p>\n", it.replace('\n', " "))).collect()
        }
        Part::Table(head, rows) => html_table(id, &format!("{section} by engine"), head, rows),
        Part::List(_, items) if items.is_empty() => Html::default(),
        Part::List(introduction, items) => {
            let items: Html = items.iter().map(|it| html!("<li>{}</li>\n", it)).collect();
            html!("<h3>{}</h3>\n<ul>\n{}</ul>\n", introduction, items)
        }
        Part::Terms(terms) => {
            let terms: Vec<_> =
                terms.iter().map(|(name, meaning)| (&**name, html!("{}", meaning))).collect();
            fact_list(&terms)
        }
        Part::Points(title, names, rows) => points(title, id, names, rows),
        Part::Curve(curve) | Part::Plot(curve) => plot(curve, id),
    }
}

/// Renders a table. The first cell of each row is its heading.
fn html_table(id: &str, caption: &str, head: &[String], rows: &[Vec<String>]) -> Html {
    let mut table = Table::new(id, html!("{}", caption), rows);
    for (column, name) in head.iter().enumerate() {
        let cell = move |row: &Vec<String>| {
            let text = &row[column];
            let text = match text.strip_prefix("**").and_then(|it| it.strip_suffix("**")) {
                Some(text) => return html!("<span class=\"bad\">{}</span>", text),
                None => text,
            };
            // The spread is put below the median, so that columns stay narrow.
            match text.split_once(" (") {
                Some((median, rest)) if column > 0 => {
                    html!("{}<br/><small>({}</small>", median, rest)
                }
                _ => html!("{}", text),
            }
        };
        table = if column == 0 { table.text(name, cell) } else { table.figure(name, cell) };
    }
    table.html_or("Nothing was measured.")
}

/// Returns an axis in percent over the powers of ten from below the least value to above the
/// greatest.
fn axis_over(values: impl Iterator<Item = f64>) -> LogAxis {
    let logs = values.filter(|value| *value > 0.0).map(f64::log10);
    let (low, high) =
        logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
    let (low, high) = if low > high { (0.0, 1.0) } else { (low.floor(), high.ceil()) };
    LogAxis { low, high: high.max(low + 1.0), from: 0.0, to: 100.0 }
}

/// Returns the names of ticks below a drawing, at the height `y`. Only a few, because more would
/// touch.
fn tick_names(axis: &LogAxis, y: f64, name: impl Fn(f64) -> String) -> Html {
    let tick = |value| {
        let x = axis.place(value);
        let side = match x {
            x if x < 8.0 => "",
            x if x > 92.0 => "end",
            _ => "middle",
        };
        html!("<text class=\"soft {}\" x=\"{}%\" y=\"{}\">{}</text>\n", side, x, y, name(value))
    };
    let step = axis.powers().count().div_ceil(6);
    axis.powers().step_by(step).map(tick).collect()
}

/// Draws the points of each engine on one line over a common axis, the fastest engine first.
fn points(title: &str, table: &str, names: &[&str], rows: &[PointRow]) -> Html {
    const HEIGHT: f64 = 12.0;
    if rows.is_empty() {
        return Html::default();
    }
    let all = rows.iter().flat_map(|row| row.points.iter().flatten());
    let axis = axis_over(all.flat_map(|(value, [low, high])| [*value, *low, *high]));
    let lines: Html = axis
        .powers()
        .map(|tick| {
            let x = axis.place(tick);
            html!("<line class=\"rule\" x1=\"{}%\" x2=\"{}%\" y1=\"0\" y2=\"{}\"/>", x, x, HEIGHT)
        })
        .collect();
    let point = |(series, (value, [low, high])): (usize, (f64, [f64; 2]))| {
        let [x, low, high] = [value, low, high].map(|it| axis.place(it));
        html!(
            "<line class=\"mark\" x1=\"{}%\" x2=\"{}%\" y1=\"{}\" y2=\"{}\"/>\
             <circle class=\"{}\" cx=\"{}%\" cy=\"{}\" r=\"5\"/>",
            low,
            high,
            HEIGHT / 2.0,
            HEIGHT / 2.0,
            SERIES[series % SERIES.len()],
            x,
            HEIGHT / 2.0
        )
    };
    let least = |row: &PointRow| {
        row.points.iter().flatten().fold(f64::MAX, |least, (value, _)| least.min(*value))
    };
    let mut rows: Vec<&PointRow> = rows.iter().collect();
    rows.sort_by(|a, b| least(a).total_cmp(&least(b)));
    let row = |row: &PointRow| {
        let places = row.points.iter().enumerate().filter_map(|(it, point)| Some((it, (*point)?)));
        let figures: Vec<String> = places.clone().map(|(_, (it, _))| nanoseconds(it)).collect();
        html!(
            "<div class=\"bar\"><span>{}</span><span>{}</span>\
             <svg width=\"100%\" height=\"{}\">{}{}</svg></div>\n",
            row.name,
            figures.join(" · "),
            HEIGHT,
            lines,
            places.map(point).collect::<Html>()
        )
    };
    let drawing = html!(
        "{}<svg width=\"100%\" height=\"18\">\n{}</svg>\n",
        rows.into_iter().map(row).collect::<Html>(),
        tick_names(&axis, 13.0, nanoseconds)
    );
    let keys = names.iter().zip(SERIES).map(|(name, class)| Key { class, name });
    let keys: Vec<Key<'_>> = if names.len() > 1 { keys.collect() } else { Vec::new() };
    let axes = "logarithmic axis; the thin line spans the rounds";
    Caption { title, axes, table }.figure(&keys, &drawing, &Html::default())
}

/// Draws lines over two axes, and their table. Empty if there are none.
fn plot(curve: &Curve, id: &str) -> Html {
    /// The area of lines, from its upper edge to its lower, in pixels.
    const AREA: [f64; 2] = [12.0, 262.0];
    /// The width of the numbers on the left, in pixels.
    const LEFT: f64 = 64.0;
    if curve.lines.is_empty() {
        return Html::default();
    }
    let [top, bottom] = AREA;
    let values = || curve.lines.iter().flat_map(|line| line.points.iter());
    let across = axis_over(values().map(|point| point.0));
    let up = LogAxis { from: bottom, to: top, ..axis_over(values().map(|point| point.1)) };
    let (mut marks, mut content) = (Html::default(), Html::default());
    for tick in up.powers() {
        let y = up.place(tick);
        marks += html!(
            "<text class=\"soft end\" x=\"{}\" y=\"{}\">{}</text>\n",
            LEFT - 6.0,
            y + 4.0,
            short(tick)
        );
        content += html!("<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"{}\" y2=\"{}\"/>\n", y, y);
    }
    content += tick_names(&across, bottom + 17.0, short);
    let mut lines = Html::default();
    for (index, line) in curve.lines.iter().enumerate() {
        let class = SERIES[index % SERIES.len()];
        // After the last colour, the colours repeat with dashed lines.
        let dashed = if index < SERIES.len() { "" } else { "dashed" };
        let places = line.points.iter().map(|&(x, y)| (across.place(x), up.place(y)));
        let joined = places.clone().map(|(x, y)| format!("{x:.2},{y:.1}"));
        let joined = joined.collect::<Vec<_>>().join(" ");
        lines += html!("<polyline class=\"line {} {}\" points=\"{}\"/>\n", class, dashed, joined);
        content += places
            .map(|(x, y)| {
                html!("<circle class=\"{}\" cx=\"{}%\" cy=\"{}\" r=\"3\"/>\n", class, x, y)
            })
            .collect();
    }
    let height = bottom + 24.0;
    let drawing = html!(
        "<svg width=\"{}\" height=\"{}\">\n{}</svg>\n<svg width=\"100%\" height=\"{}\">\n\
         <svg width=\"100%\" height=\"{}\" viewBox=\"0 0 100 {}\" preserveAspectRatio=\"none\">\n{}</svg>\n{}\
         </svg>\n",
        LEFT,
        height,
        marks,
        height,
        height,
        height,
        lines,
        content
    );
    let keys = curve.lines.iter().zip(SERIES.iter().cycle());
    let keys: Vec<Key<'_>> = keys.map(|(line, class)| Key { class, name: &line.engine }).collect();
    let (head, rows) = curve_table(curve);
    let notes: Html = curve_notes(curve).map(|note| html!("<p>{}</p>\n", note)).collect();
    let more = html!(
        "{}<details>\n<summary>The numbers</summary>\n{}</details>\n",
        notes,
        html_table(id, &curve.title, &head, &rows)
    );
    let axes = format!("{} by {}; both axes are logarithmic", curve.y, curve.x);
    Caption { title: &curve.title, axes: &axes, table: id }.figure(&keys, &drawing, &more)
}

/// Formats a time in a unit that keeps it short: `29.9 ns`, `1.2 µs`.
pub fn nanoseconds(value: f64) -> String {
    match value {
        value if value >= 1e9 => format!("{} s", short(value / 1e9)),
        value if value >= 1e6 => format!("{} ms", short(value / 1e6)),
        value if value >= 1e3 => format!("{} µs", short(value / 1e3)),
        value => format!("{} ns", short(value)),
    }
}

/// Formats a number in few characters.
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
