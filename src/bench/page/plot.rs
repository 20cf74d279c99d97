//! Bars and lines as SVG. Both axes of lines and the length of bars are logarithmic: costs differ by
//! orders of magnitude.

use std::fmt::Write;

use crate::report::html::escaped;

/// Colours that the style sheet has.
const SERIES: usize = 8;
/// Width of a plot, in its own units.
const WIDTH: f64 = 900.0;
/// Room for names on the left of bars.
const NAMES: f64 = 260.0;
/// Room for the figures on the right of bars.
const FIGURES: f64 = 90.0;
const BAR_HEIGHT: f64 = 20.0;
/// The area of lines: left, top, right, bottom.
const AREA: [f64; 4] = [70.0, 15.0, 660.0, 330.0];
const LINES_HEIGHT: f64 = 380.0;

/// A bar, and a mark over it for the spread.
pub(super) struct Bar {
    pub name: String,
    pub value: f64,
    pub spread: Option<(f64, f64)>,
    pub series: usize,
}

/// A line through points.
pub(super) struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Lines over two logarithmic axes.
pub(super) struct Plot<'p> {
    pub title: &'p str,
    pub x: &'p str,
    pub y: &'p str,
    pub lines: &'p [Line],
}

fn figure(title: &str, height: f64, content: &str) -> String {
    let title = escaped(title);
    format!(
        "<figure>\n<figcaption>{title}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{title}\">\n{content}</svg>\n</figure>\n"
    )
}

/// Horizontal bars; nothing, if there is none.
pub(super) fn bars(title: &str, bars: &[Bar]) -> String {
    if bars.is_empty() {
        return String::new();
    }
    let values = bars.iter().flat_map(|bar| {
        let (min, max) = bar.spread.unwrap_or((bar.value, bar.value));
        [bar.value, min, max]
    });
    let axis = Axis::over(values, NAMES, WIDTH - FIGURES);
    let mut content = String::new();
    for (index, bar) in bars.iter().enumerate() {
        let y = index as f64 * BAR_HEIGHT;
        let (middle, end) = (y + BAR_HEIGHT / 2.0, axis.place(bar.value));
        let series = bar.series % SERIES;
        let _ = writeln!(
            content,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"fill{series}\" x=\"{NAMES}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            NAMES - 8.0,
            middle + 4.0,
            escaped(&bar.name),
            y + 3.0,
            (end - NAMES).max(1.0),
            BAR_HEIGHT - 6.0,
        );
        let mut right = end;
        if let Some((min, max)) = bar.spread {
            right = right.max(axis.place(max));
            let (from, to) = (axis.place(min), axis.place(max));
            let _ = writeln!(
                content,
                "<line class=\"mark\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\"/>"
            );
        }
        let _ = writeln!(
            content,
            "<text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            right + 6.0,
            middle + 4.0,
            short(bar.value)
        );
    }
    figure(&format!("{title} (logarithmic)"), bars.len() as f64 * BAR_HEIGHT + 4.0, &content)
}

impl Plot<'_> {
    /// The figure; nothing, if there is no line.
    pub fn draw(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let [left, top, right, bottom] = AREA;
        let points = || self.lines.iter().flat_map(|line| line.points.iter());
        let across = Axis::over(points().map(|point| point.0), left, right);
        let up = Axis::over(points().map(|point| point.1), bottom, top);
        let mut content = String::new();
        for value in up.ticks() {
            let y = up.place(value);
            let _ = writeln!(
                content,
                "<line class=\"rule\" x1=\"{left}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                 <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                y + 4.0,
                short(value)
            );
        }
        for value in across.ticks() {
            let x = across.place(value);
            let _ = writeln!(
                content,
                "<line class=\"rule\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>\
                 <text class=\"soft\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                short(value)
            );
        }
        for (index, line) in self.lines.iter().enumerate() {
            content += &self.line(index, line, &across, &up);
        }
        let _ = writeln!(
            content,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (left + right) / 2.0,
            bottom + 38.0,
            escaped(self.x)
        );
        figure(&format!("{}, {} (logarithmic)", self.title, self.y), LINES_HEIGHT, &content)
    }

    fn line(&self, index: usize, line: &Line, across: &Axis, up: &Axis) -> String {
        let series = index % SERIES;
        let (legend_x, legend_y) = (AREA[2] + 20.0, AREA[1] + 12.0 + index as f64 * 20.0);
        let mut text = format!(
            "<rect class=\"fill{series}\" x=\"{legend_x}\" y=\"{:.1}\" width=\"12\" height=\"4\"/>\
             <text x=\"{:.1}\" y=\"{legend_y:.1}\">{}</text>\n",
            legend_y - 6.0,
            legend_x + 18.0,
            escaped(&line.name)
        );
        let places: Vec<String> = line
            .points
            .iter()
            .map(|&(x, y)| format!("{:.1},{:.1}", across.place(x), up.place(y)))
            .collect();
        // Lines past the last colour begin the colours anew, broken.
        let dashes = if index < SERIES { "" } else { " stroke-dasharray=\"5 4\"" };
        let _ = writeln!(
            text,
            "<polyline class=\"line line{series}\"{dashes} points=\"{}\"/>",
            places.join(" ")
        );
        for place in &places {
            let (x, y) = place.split_once(',').unwrap_or_default();
            let _ =
                writeln!(text, "<circle class=\"fill{series}\" cx=\"{x}\" cy=\"{y}\" r=\"2.5\"/>");
        }
        text
    }
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
    /// Over values; what is not positive stands at the lower end.
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

    /// Powers of ten, and what lies between where there are few of them.
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
    match value {
        value if value >= 1e6 => format!("{} M", trimmed(value / 1e6)),
        value if value >= 1e4 => format!("{} k", trimmed(value / 1e3)),
        value => trimmed(value),
    }
}

fn trimmed(value: f64) -> String {
    let digits = match value {
        value if value >= 100.0 || value.fract() == 0.0 => 0,
        value if value >= 1.0 => 1,
        _ => 4,
    };
    format!("{value:.digits$}")
}
