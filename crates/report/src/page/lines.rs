//! Lines over time.

use maud::{Markup, html};

use portcullis_text::figures::{grouped, percent};

use super::text;

/// The number of lines that can be told apart, by colour and by dashes.
pub const LINES_MAX: usize = 6;

/// A line of a chart.
pub struct Line {
    /// The name in the legend.
    pub label: String,
    /// The values, from the left to the right.
    pub values: Vec<u64>,
}

/// Draws the first [`LINES_MAX`] of some lines from 0 up, between the names of the first and of the
/// last point. The chart is as wide as the page, and its texts are not part of the drawing, so they
/// have the same size on a phone. To a screen reader, the chart is an image whose name points to the
/// table with its numbers. Empty without a value above 0.
pub fn lines(title: &str, table: &str, ends: [&str; 2], all: &[Line]) -> Markup {
    let shown = &all[..all.len().min(LINES_MAX)];
    let highest = shown.iter().flat_map(|line| &line.values).copied().max().unwrap_or(0);
    if highest == 0 {
        return html! {};
    }
    let points = |values: &[u64]| {
        let last = values.len().saturating_sub(1).max(1) as u64;
        let point = |(place, value): (usize, &u64)| {
            format!("{:.2},{:.2}", percent(place as u64, last), 100.0 - percent(*value, highest))
        };
        values.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
    };
    html! {
        figure {
            figcaption { (title) }
            ul.legend {
                @for (place, line) in shown.iter().enumerate() {
                    li {
                        svg.key width="26" height="14" aria-hidden="true" {
                            line class={ "l" (place) } x1="0" y1="7" x2="26" y2="7" {}
                        }
                        (text(&line.label))
                    }
                }
            }
            div.lines role="img" aria-label={ "Chart: " (title) ". The table has the numbers." }
                aria-describedby={ (table) "-caption" } {
                span { (grouped(highest)) }
                svg width="100%" height="180" viewBox="0 0 100 100" preserveAspectRatio="none" {
                    @for y in [0, 50, 100] { line.rule x1="0" y1=(y) x2="100" y2=(y) {} }
                    @for (place, line) in shown.iter().enumerate() {
                        polyline class={ "l" (place) } points=(points(&line.values)) {}
                    }
                }
                span { "0" }
                span.ends { span { (ends[0]) } span { (ends[1]) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_span_the_chart() {
        let line =
            |label: &str, values: &[u64]| Line { label: label.into(), values: values.into() };
        let all = [line("<a>", &[0, 5, 10]), line("b", &[10, 10, 0])];
        let html = lines("t", "x", ["2020", "2024"], &all).0;
        assert!(html.contains("points=\"0.00,100.00 50.00,50.00 100.00,0.00\""), "{html}");
        assert!(html.contains("&lt;a&gt;") && html.contains("class=\"l1\""));
        assert_eq!(lines("t", "x", ["", ""], &[line("a", &[0, 0])]).0, "");
        assert_eq!(lines("t", "x", ["", ""], &[]).0, "");
        let many: Vec<Line> = (0..9).map(|_| line("a", &[1])).collect();
        assert_eq!(lines("t", "x", ["", ""], &many).0.matches("<polyline").count(), LINES_MAX);
    }
}
