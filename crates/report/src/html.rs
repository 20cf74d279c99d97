//! Builds HTML and SVG in which all text is escaped: tables and charts for the
//! [`page`](crate::page)s.
//!
//! This module has the type [`Html`], the macro `html!` that builds it, tables, and charts. Hosts,
//! URLs and rules come from untrusted files, so no text becomes markup unescaped: a format string
//! of `html!` is a literal, and each argument is escaped by its type. Only another [`Html`] is
//! inserted as it is. Characters that are invisible or reorder their neighbours are shown by
//! number.
//!
//! Charts are drawn in percent of their width, so they fit a phone and a sheet of paper while their
//! text keeps its size. To a screen reader, a chart is an image whose name points to the table with
//! its numbers. Colours are classes of the page's style sheet.
//!
//! Cost: one pass over each text. No function fails.

use std::fmt::{self, Display, Formatter, Write};
use std::ops::AddAssign;

use portcullis_robots::visible::{cut_characters, is_hidden};

/// Markup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

/// Builds [`Html`] from a literal and arguments. Arguments are escaped unless they are [`Html`].
///
/// Only `{}` is allowed in the literal. `{name}` does not compile, because it would not be escaped.
#[macro_export]
macro_rules! html {
    ($literal:literal $(, $argument:expr)* $(,)?) => {
        $crate::html::Html::formatted(format_args!(
            concat!($literal) $(, $crate::html::Escaped(&$argument))*
        ))
    };
}

/// A value that may be an argument of `html!`.
pub trait ToHtml {
    /// Writes the value as markup.
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result;
}

/// An argument of `html!`.
pub struct Escaped<'a, T: ?Sized>(pub &'a T);

impl<T: ToHtml + ?Sized> Display for Escaped<'_, T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.write_html(out)
    }
}

impl ToHtml for Html {
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl ToHtml for str {
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for character in self.chars() {
            match character {
                '&' => out.write_str("&amp;"),
                '<' => out.write_str("&lt;"),
                '>' => out.write_str("&gt;"),
                '"' => out.write_str("&quot;"),
                '\'' => out.write_str("&#39;"),
                // The control pictures of Unicode.
                '\0'..='\x1f' => {
                    let picture = char::from_u32(0x2400 + u32::from(character));
                    out.write_char(picture.unwrap_or(char::REPLACEMENT_CHARACTER))
                }
                '\x7f' => out.write_char('\u{2421}'),
                hidden if is_hidden(hidden) => write!(out, "‹U+{:04X}›", u32::from(hidden)),
                other => out.write_char(other),
            }?;
        }
        Ok(())
    }
}

impl ToHtml for String {
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.as_str().write_html(out)
    }
}

/// Writes a number with its digits in groups of three.
impl ToHtml for u64 {
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&number(*self))
    }
}

impl ToHtml for usize {
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result {
        (*self as u64).write_html(out)
    }
}

/// Writes a coordinate.
impl ToHtml for f64 {
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{self:.2}")
    }
}

impl<T: ToHtml + ?Sized> ToHtml for &T {
    fn write_html(&self, out: &mut Formatter<'_>) -> fmt::Result {
        (**self).write_html(out)
    }
}

impl Html {
    /// Builds markup from formatted arguments. For `html!`, which escapes them.
    pub fn formatted(arguments: fmt::Arguments<'_>) -> Html {
        Html(arguments.to_string())
    }

    /// Returns markup from the program's source, such as a style sheet.
    pub fn of_source(text: &'static str) -> Html {
        Html(text.to_owned())
    }

    /// Joins items. The items after the first `shown` unfold on a click.
    pub fn folded(
        items: impl IntoIterator<Item = Html>,
        shown: usize,
        separator: &'static str,
    ) -> Html {
        let mut items: Vec<Html> = items.into_iter().collect();
        let rest = items.split_off(items.len().min(shown));
        let first = Html::join(items, separator);
        match rest.len() {
            0 => first,
            more => html!(
                "{}<details><summary>{} more</summary>{}</details>",
                first,
                more,
                Html::join(rest, separator)
            ),
        }
    }

    /// Joins items: `a, b, c`.
    pub fn join(items: impl IntoIterator<Item = Html>, separator: &'static str) -> Html {
        let mut joined = Html::default();
        for item in items {
            if !joined.is_empty() {
                joined.0 += separator;
            }
            joined += item;
        }
        joined
    }

    /// Whether there is no markup.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the markup as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the markup as text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl AddAssign for Html {
    fn add_assign(&mut self, other: Html) {
        self.0 += &other.0;
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(items: I) -> Html {
        Html::join(items, "")
    }
}

/// The text for a missing number.
pub const NONE: &str = "–";

/// Returns a number with its digits in groups of three: `370,387`.
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with its noun: `1 URL`, `2,434 hosts`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(value), if value == 1 { one } else { many })
}

/// Returns a part of a whole in percent. Rounding never gives 0 % unless the part is 0, or 100 %
/// unless it is the whole.
pub fn share(part: u64, whole: u64) -> String {
    let percent = percent(part, whole);
    match part {
        _ if whole == 0 => NONE.to_owned(),
        0 => "0 %".to_owned(),
        part if part == whole => "100 %".to_owned(),
        _ if percent < 0.05 => "under 0.1 %".to_owned(),
        _ if (99.95..100.0).contains(&percent) => "over 99.9 %".to_owned(),
        _ => format!("{percent:.1} %"),
    }
}

/// Returns a part of a whole, from 0 to 100. 0 if the whole is 0.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Returns a number of bytes in a readable unit: `495 B`, `17.3 KiB`.
pub fn bytes(value: u64) -> String {
    if value < 1024 {
        return format!("{value} B");
    }
    let power = value.ilog2() / 10;
    let power = power.min(4);
    let scaled = value as f64 / 1024_f64.powi(power as i32);
    let digits = if scaled >= 100.0 || scaled.fract() == 0.0 { 0 } else { 1 };
    format!("{scaled:.digits$} {}iB", ["K", "M", "G", "T"][power as usize - 1])
}

/// A table that is complete without a script, built column by column. The first column has the row
/// headings.
///
/// A script finds tables by their class, and sorts and filters them: columns of class `t` as text,
/// the others as numbers.
pub struct Table<'a, R> {
    id: String,
    caption: Html,
    rows: &'a [R],
    head: Html,
    cells: Vec<Cell<'a, R>>,
}

/// Builds the cell of a row.
type Cell<'a, R> = Box<dyn Fn(&R) -> Html + 'a>;

impl<'a, R> Table<'a, R> {
    /// Returns a table of `rows` without columns. The caption gets the id `ID-caption`.
    pub fn new(id: impl Into<String>, caption: Html, rows: &'a [R]) -> Table<'a, R> {
        Table { id: id.into(), caption, rows, head: Html::default(), cells: Vec::new() }
    }

    fn column(mut self, head: Html, cell: impl Fn(&R) -> Html + 'a) -> Table<'a, R> {
        self.head += head;
        self.cells.push(Box::new(cell));
        self
    }

    /// Adds a column of text.
    pub fn text(self, head: &str, cell: impl Fn(&R) -> Html + 'a) -> Table<'a, R> {
        let is_first = self.cells.is_empty();
        self.column(html!(r#"<th scope="col" class="t">{}</th>"#, head), move |row| {
            if is_first {
                html!(r#"<th scope="row" class="t">{}</th>"#, cell(row))
            } else {
                html!(r#"<td class="t">{}</td>"#, cell(row))
            }
        })
    }

    /// Adds a column of figures with words, which sort as numbers.
    pub fn figure<T: ToHtml>(self, head: &str, cell: impl Fn(&R) -> T + 'a) -> Table<'a, R> {
        self.column(html!(r#"<th scope="col">{}</th>"#, head), move |row| {
            html!("<td>{}</td>", cell(row))
        })
    }

    /// Adds a column of numbers.
    pub fn number(self, head: &str, cell: impl Fn(&R) -> u64 + 'a) -> Table<'a, R> {
        self.column(html!(r#"<th scope="col">{}</th>"#, head), move |row| number_cell(cell(row)))
    }

    /// Adds a column of numbers that are parts of wholes. The greater the part, the stronger the
    /// colour.
    pub fn part(self, head: &str, cell: impl Fn(&R) -> (u64, u64) + 'a) -> Table<'a, R> {
        self.column(html!(r#"<th scope="col">{}</th>"#, head), move |row| part_cell(cell(row)))
    }

    /// Returns the table in a box that scrolls sideways if needed, also by keyboard, with a hint
    /// about scrolling. Returns `otherwise` if there are no rows.
    pub fn html_or(&self, otherwise: &str) -> Html {
        if self.rows.is_empty() {
            return html!("<p class=\"none\">{}</p>\n", otherwise);
        }
        let row = |row| {
            let cells: Html = self.cells.iter().map(|cell| cell(row)).collect();
            html!("<tr>{}</tr>\n", cells)
        };
        let rows: Html = self.rows.iter().map(row).collect();
        html!(
            r#"<div class="table" id="{}">
<p class="caption" id="{}-caption">{}</p>
<div class="wide" role="region" tabindex="0" aria-labelledby="{}-caption">
<table aria-labelledby="{}-caption">
<thead><tr>{}</tr></thead>
<tbody>
{}</tbody>
</table>
</div>
</div>
"#,
            self.id,
            self.id,
            self.caption,
            self.id,
            self.id,
            self.head,
            rows
        )
    }
}

fn number_cell(value: u64) -> Html {
    match value {
        0 => html!(r#"<td class="z">0</td>"#),
        value => html!("<td>{}</td>", value),
    }
}

fn part_cell((value, whole): (u64, u64)) -> Html {
    if value == 0 || whole == 0 {
        return number_cell(value);
    }
    let heat = (u128::from(value) * 4).div_ceil(u128::from(whole)).clamp(1, 4) as u64;
    html!(r#"<td class="h{}">{}</td>"#, heat, value)
}

/// The most characters in a label. Longer labels wrap on narrow screens.
const LABEL_CHARACTERS: usize = 80;
/// The number of bars that are shown before the others unfold.
const BARS_SHOWN: usize = 12;
/// The smallest width of a part that is not 0, in percent.
const VISIBLE: f64 = 0.4;

/// The words around a chart.
#[derive(Clone, Copy)]
pub struct Caption<'a> {
    /// The subject of the chart.
    pub title: &'a str,
    /// The units of the axes. May be empty.
    pub axes: &'a str,
    /// The id of the table with the numbers.
    pub table: &'a str,
}

impl Caption<'_> {
    /// Returns a figure: the title, the axes, a legend and a drawing. `more` unfolds below it.
    pub fn figure(&self, legend: &[Part<'_>], drawing: &Html, more: &Html) -> Html {
        let Caption { title, axes, table } = self;
        let axes = match axes.is_empty() {
            true => Html::default(),
            false => html!(" <small>{}</small>", *axes),
        };
        let keys = legend.iter().map(|part| {
            html!(
                "<li><svg class=\"key\" width=\"14\" height=\"14\" aria-hidden=\"true\">\
                 <rect class=\"{}\" width=\"14\" height=\"14\"/></svg>{}</li>",
                part.class,
                part.name
            )
        });
        let legend = match legend.len() {
            0 => Html::default(),
            _ => html!("<ul class=\"legend\">{}</ul>\n", keys.collect::<Html>()),
        };
        html!(
            r#"<figure>
<figcaption>{}{}</figcaption>
{}<div class="plot" role="img" aria-label="Chart: {}. The table has the numbers." aria-describedby="{}-caption">
{}</div>
{}</figure>
"#,
            *title,
            axes,
            legend,
            *title,
            *table,
            drawing,
            more
        )
    }
}

/// A part of each bar.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The CSS class with its colour.
    pub class: &'a str,
    /// The name in the legend.
    pub name: &'a str,
}

/// A bar of a chart.
pub struct Bar {
    /// The label above the bar.
    pub label: String,
    /// The figure on the right.
    pub figure: String,
    /// The parts, in the order of [`Bars::parts`].
    pub values: Vec<u64>,
}

/// A chart of horizontal bars.
pub struct Bars<'a> {
    /// The words around the chart.
    pub caption: Caption<'a>,
    /// The parts of each bar. One part needs no legend.
    pub parts: &'a [Part<'a>],
    /// Whether every bar is as long as the chart, so that its parts are shares.
    pub are_shares: bool,
}

impl Bars<'_> {
    /// Draws the bars. The first few are shown and the others unfold. Empty if there are none.
    pub fn html(&self, bars: &[Bar]) -> Html {
        let sum = |bar: &Bar| bar.values.iter().sum::<u64>();
        let longest = bars.iter().map(sum).max().unwrap_or(0);
        let draw = |bar: &Bar| {
            let whole = if self.are_shares { sum(bar) } else { longest };
            let mut before = 0;
            let mut segments = Html::default();
            for (part, &value) in self.parts.iter().zip(&bar.values) {
                if value > 0 {
                    let width = percent(value, whole).max(VISIBLE);
                    let from = percent(before, whole).min(100.0 - width);
                    segments += rect(part.class, [from, width]);
                }
                before += value;
            }
            html!(
                "<div class=\"bar\"><span>{}</span><span>{}</span>\
                 <svg width=\"100%\" height=\"10\">{}{}</svg></div>\n",
                &*cut_characters(&bar.label, LABEL_CHARACTERS),
                bar.figure,
                rect("track", [0.0, 100.0]),
                segments
            )
        };
        if bars.is_empty() {
            return Html::default();
        }
        let (first, rest) = bars.split_at(bars.len().min(BARS_SHOWN));
        let more = match rest.len() {
            0 => Html::default(),
            more => html!(
                "<details><summary>{} more</summary>\n<div class=\"plot\">\n{}</div></details>\n",
                more,
                rest.iter().map(draw).collect::<Html>()
            ),
        };
        let occurs = |index: usize| bars.iter().any(|bar| bar.values[index] > 0);
        let legend: Vec<Part<'_>> = match self.parts {
            [_] => Vec::new(),
            parts => (0..parts.len()).filter(|&it| occurs(it)).map(|it| parts[it]).collect(),
        };
        self.caption.figure(&legend, &first.iter().map(draw).collect(), &more)
    }
}

fn rect(class: &str, [x, width]: [f64; 2]) -> Html {
    html!(r#"<rect class="{}" x="{}%" width="{}%" height="10"/>"#, class, x, width)
}

/// The area of the columns in pixels, from its upper edge to its lower.
const AREA: [f64; 2] = [12.0, 162.0];
/// Pixels for the numbers on the left of the area.
const AXIS: f64 = 64.0;
/// The number of names along the lower edge. More would touch on a narrow screen.
const NAMES: usize = 6;
/// The position, in percent, from which names are aligned with the end of their column. Centred,
/// they would be cut.
const ENDS: f64 = 78.0;
/// The logarithm at the lower edge. A column that counts one must be visible.
const LOW: f64 = -0.3;

/// A column of a histogram.
pub struct Column {
    /// The name below the column.
    pub name: String,
    /// The range that it counts.
    pub range: String,
    /// The count.
    pub count: u64,
}

/// Draws columns on a logarithmic axis, with the numbers on the left.
pub fn histogram(caption: Caption<'_>, columns: &[Column]) -> Html {
    let most = columns.iter().map(|column| column.count).max().unwrap_or(0).max(10);
    let [top, bottom] = AREA;
    let axis = LogAxis { low: LOW, high: (most as f64).log10(), from: bottom, to: top };
    let mut marks = Html::default();
    let mut content = Html::default();
    for tick in axis.powers() {
        let y = axis.place(tick);
        let (x, middle) = (AXIS - 6.0, y + 4.0);
        marks +=
            html!("<text class=\"soft end\" x=\"{}\" y=\"{}\">{}</text>\n", x, middle, tick as u64);
        content += html!("<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"{}\" y2=\"{}\"/>\n", y, y);
    }
    let width = 100.0 / columns.len().max(1) as f64;
    let step = columns.len().div_ceil(NAMES).max(1);
    for (index, Column { name, range, count }) in columns.iter().enumerate() {
        let left = index as f64 * width;
        let y = axis.place(*count as f64);
        if *count > 0 {
            content += html!(
                "<rect class=\"count\" x=\"{}%\" y=\"{}\" width=\"{}%\" height=\"{}\"><title>{}: {}</title>\
                 </rect>\n",
                left + 0.06 * width,
                y,
                0.88 * width,
                bottom - y,
                range,
                *count
            );
        }
        if index.is_multiple_of(step) {
            let middle = left + width / 2.0;
            let (side, x) = if middle > ENDS { ("end", left + width) } else { ("middle", middle) };
            content += html!(
                "<text class=\"soft {}\" x=\"{}%\" y=\"{}\">{}</text>\n",
                side,
                x,
                bottom + 17.0,
                name
            );
        }
    }
    let height = bottom + 24.0;
    let drawing = html!(
        "<svg width=\"{}\" height=\"{}\">\n{}</svg>\n<svg width=\"100%\" height=\"{}\">\n{}</svg>\n",
        AXIS,
        height,
        marks,
        height,
        content
    );
    caption.figure(&[], &drawing, &Html::default())
}

/// A logarithmic axis, from pixel to pixel.
pub struct LogAxis {
    /// The base-10 logarithm at the start.
    pub low: f64,
    /// The base-10 logarithm at the end.
    pub high: f64,
    /// The pixel of `low`.
    pub from: f64,
    /// The pixel of `high`.
    pub to: f64,
}

impl LogAxis {
    /// Returns the pixel of a value. Values outside the axis are at its ends.
    pub fn place(&self, value: f64) -> f64 {
        let log = if value > 0.0 { value.log10() } else { self.low };
        let share = ((log - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Returns the powers of ten on the axis.
    pub fn powers(&self) -> impl Iterator<Item = f64> {
        (self.low.ceil() as i32..=self.high.floor() as i32).map(|power| 10_f64.powi(power))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        Escaped(text).to_string()
    }

    #[test]
    fn texts_are_escaped_and_markup_is_not() {
        let hostile = "</script><script>alert(\"1\" & '2')</script>";
        let escaped =
            "&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;";
        assert_eq!(html!("{}", hostile).0, escaped);
        assert_eq!(
            html!("<b>{}</b>", html!("<i>{}</i>", hostile)).0,
            format!("<b><i>{escaped}</i></b>")
        );
    }

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(escaped("a\0b\n\t\x1f\x7f"), "a␀b␊␉␟␡");
        assert_eq!(escaped("/\u{202e}txt.stobor\u{200f}"), "/‹U+202E›txt.stobor‹U+200F›");
        assert_eq!(escaped("\u{feff}\u{85}\u{ffff}"), "‹U+FEFF›‹U+0085›‹U+FFFF›");
        assert_eq!(escaped("\u{1fffe}\u{e0041}"), "‹U+1FFFE›‹U+E0041›");
        let letters = "/straße/日本/שלום/\u{fffd}";
        assert_eq!(escaped(letters), letters);
    }

    #[test]
    fn figures() {
        let numbers = [0, 999, 1_000, 370_387, u64::MAX].map(number);
        assert_eq!(numbers, ["0", "999", "1,000", "370,387", "18,446,744,073,709,551,615"]);
        assert_eq!([0, 1].map(|urls| counted(urls, "URL", "URLs")), ["0 URLs", "1 URL"]);
        let sizes = [0, 1023, 1024, 17_700, 512_000, 1 << 20, u64::MAX].map(bytes);
        assert_eq!(
            sizes,
            ["0 B", "1023 B", "1 KiB", "17.3 KiB", "500 KiB", "1 MiB", "16777216 TiB"]
        );
        let shares = [(0, 0), (0, 9), (9, 9), (1, 1_000_000), (999_999, 1_000_000), (953, 1_000)];
        let shares = shares.map(|(part, whole)| share(part, whole));
        assert_eq!(shares, ["–", "0 %", "100 %", "under 0.1 %", "over 99.9 %", "95.3 %"]);
    }

    #[test]
    fn tables_have_scopes_and_a_caption() {
        let table = Table::new("x", html!("{}", "What <is>"), &[("a.example", 1_000)]);
        let html = table.text("host", |row| html!("{}", row.0)).number("URLs", |row| row.1);
        let html = html.html_or("none").0;
        assert!(
            html.contains("<p class=\"caption\" id=\"x-caption\">What &lt;is&gt;</p>"),
            "{html}"
        );
        assert!(html.contains("<th scope=\"row\" class=\"t\">a.example</th><td>1,000</td>"));
        let heat = [(0, 7), (1, u64::MAX), (9, 9)].map(|part| part_cell(part).0);
        let expected =
            ["<td class=\"z\">0</td>", "<td class=\"h1\">1</td>", "<td class=\"h4\">9</td>"];
        assert_eq!(heat, expected);
    }

    const PARTS: [Part<'_>; 2] =
        [Part { class: "allow", name: "may fetch" }, Part { class: "disallow", name: "must not" }];

    fn drawn(are_shares: bool, values: &[[u64; 2]]) -> String {
        let bar = |values: &[u64; 2]| Bar {
            label: "<Bot>".into(),
            figure: String::new(),
            values: values.to_vec(),
        };
        let bars: Vec<Bar> = values.iter().map(bar).collect();
        let caption = Caption { title: "t", axes: "", table: "x" };
        Bars { caption, parts: &PARTS, are_shares }.html(&bars).0
    }

    #[test]
    fn parts_are_adjacent_and_small_ones_visible() {
        let html = drawn(true, &[[1, 3]]);
        assert!(html.contains("class=\"allow\" x=\"0.00%\" width=\"25.00%\""), "{html}");
        assert!(html.contains("class=\"disallow\" x=\"25.00%\" width=\"75.00%\""));
        assert!(html.contains("&lt;Bot&gt;"));
        let html = drawn(true, &[[1_000_000, 1]]);
        assert!(html.contains("class=\"disallow\" x=\"99.60%\" width=\"0.40%\""), "{html}");
        assert!(
            !drawn(true, &[[5, 0]]).contains("must not"),
            "the legend has the parts that occur"
        );
        let html = drawn(false, &[[200, 0], [50, 0], [0, 0]]);
        assert!(html.contains("class=\"allow\" x=\"0.00%\" width=\"25.00%\""), "{html}");
        assert_eq!(drawn(false, &[]), "");
        let many = drawn(false, &[[1, 0]; 15]);
        assert!(many.contains("3 more") && many.matches("class=\"bar\"").count() == 15);
    }

    #[test]
    fn ten_times_the_count_is_one_step_up() {
        let axis = LogAxis { low: LOW, high: 4.0, from: 162.0, to: 12.0 };
        let steps: Vec<f64> = axis.powers().map(|power| axis.place(power)).collect();
        let step = steps[0] - steps[1];
        assert_eq!(steps.len(), 5);
        assert!(steps.windows(2).all(|pair| (pair[0] - pair[1] - step).abs() < 1e-6), "{steps:?}");
        assert!(
            (steps[4] - 12.0).abs() < 1e-6 && steps[0] < 162.0 - 3.0,
            "a single one is visible"
        );
    }
}
