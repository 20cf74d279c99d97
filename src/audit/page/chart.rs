//! Charts of bars as inline SVG, drawn in per cent of their width so that they fit a telephone and a
//! sheet of paper while their letters keep their size.
//!
//! To programs that read aloud a chart is an image whose name tells which table has its numbers.

use std::fmt::Write;

use super::text::per_cent;
use crate::report::html::escaped;
use crate::visible::cut_characters;

/// Height of a bar with the line of text above it, in pixels.
const ROW: usize = 34;
/// Characters of a label: on a narrow screen there is no room for more beside the figure.
const LABEL_CHARACTERS: usize = 36;
/// The smallest width of what is not nothing, in per cent.
const VISIBLE: f64 = 0.4;

/// A bar.
pub(super) struct Bar {
    /// Who.
    pub label: String,
    /// What stands at the right.
    pub figure: String,
    /// How long.
    pub value: u64,
}

/// What a part of stacked bars is.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The class of the style sheet that colours it.
    pub class: &'static str,
    /// Its name in the legend.
    pub name: &'static str,
}

/// A bar of parts.
pub(super) struct Stack {
    /// Who.
    pub label: String,
    /// What stands at the right.
    pub figure: String,
    /// As many as there are parts.
    pub values: Vec<u64>,
}

/// Bars from nought, on one scale; nothing, if there is none.
pub(super) fn bars(title: &str, table: &str, bars: &[Bar]) -> String {
    let longest = bars.iter().map(|bar| bar.value).max().unwrap_or(0);
    let mut content = String::new();
    for (index, bar) in bars.iter().enumerate() {
        content += &label(index, &bar.label, &bar.figure);
        content += &segment(index, "track", 0.0, 100.0);
        if bar.value > 0 {
            let width = per_cent(bar.value, longest).max(VISIBLE);
            content += &segment(index, "disallow", 0.0, width);
        }
    }
    chart(title, table, "", bars.len(), &content)
}

/// Bars of parts, each as long as the whole chart; nothing, if there is none.
pub(super) fn stacks(title: &str, table: &str, parts: &[Part], stacks: &[Stack]) -> String {
    let mut content = String::new();
    for (index, stack) in stacks.iter().enumerate() {
        debug_assert_eq!(stack.values.len(), parts.len(), "{}", stack.label);
        content += &label(index, &stack.label, &stack.figure);
        content += &segment(index, "track", 0.0, 100.0);
        let whole: u64 = stack.values.iter().sum();
        let mut before = 0;
        for (part, &value) in parts.iter().zip(&stack.values) {
            if value > 0 {
                let width = per_cent(value, whole).max(VISIBLE);
                let from = per_cent(before, whole).min(100.0 - width);
                content += &segment(index, part.class, from, width);
            }
            before += value;
        }
    }
    let occurs = |index: usize| stacks.iter().any(|stack| stack.values[index] > 0);
    let mut legend = String::new();
    for (index, part) in parts.iter().enumerate().filter(|(index, _)| occurs(*index)) {
        let _ = index;
        let _ = write!(
            legend,
            "<li><svg class=\"key\" width=\"14\" height=\"14\" aria-hidden=\"true\"><rect class=\"{}\" \
             width=\"14\" height=\"14\"/></svg>{}</li>",
            part.class,
            escaped(part.name)
        );
    }
    chart(title, table, &format!("<ul class=\"legend\">{legend}</ul>\n"), stacks.len(), &content)
}

/// A figure: its caption, a legend, and the drawing.
pub(super) fn figure(title: &str, table: &str, legend: &str, drawing: &str) -> String {
    let title = escaped(title);
    format!(
        "<figure>\n<figcaption>{title}</figcaption>\n{legend}<div class=\"plot\" role=\"img\" \
         aria-label=\"Chart: {title}. The table has the numbers.\" aria-describedby=\"{table}-caption\">\n\
         {drawing}</div>\n</figure>\n"
    )
}

fn chart(title: &str, table: &str, legend: &str, rows: usize, content: &str) -> String {
    if rows == 0 {
        return String::new();
    }
    let height = rows * ROW;
    let drawing = format!("<svg width=\"100%\" height=\"{height}\">\n{content}</svg>\n");
    figure(title, table, legend, &drawing)
}

fn label(index: usize, label: &str, figure: &str) -> String {
    let y = index * ROW + 14;
    format!(
        "<text x=\"0\" y=\"{y}\">{}</text><text x=\"100%\" y=\"{y}\" class=\"end\">{}</text>\n",
        escaped(&cut_characters(label, LABEL_CHARACTERS)),
        escaped(figure)
    )
}

fn segment(index: usize, class: &str, from: f64, width: f64) -> String {
    let y = index * ROW + 19;
    format!(
        "<rect class=\"{class}\" x=\"{from:.2}%\" y=\"{y}\" width=\"{width:.2}%\" height=\"10\"/>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [Part; 2] =
        [Part { class: "allow", name: "may fetch" }, Part { class: "disallow", name: "must not" }];

    fn stack(values: [u64; 2]) -> Stack {
        Stack { label: "<Bot>".into(), figure: String::new(), values: values.to_vec() }
    }

    #[test]
    fn parts_stand_side_by_side() {
        let html = stacks("t", "x", &PARTS, &[stack([1, 3])]);
        assert!(html.contains("class=\"allow\" x=\"0.00%\" y=\"19\" width=\"25.00%\""), "{html}");
        assert!(html.contains("class=\"disallow\" x=\"25.00%\" y=\"19\" width=\"75.00%\""));
        assert!(html.contains("&lt;Bot&gt;"));
    }

    #[test]
    fn a_small_part_is_seen_and_none_is_not() {
        let html = stacks("t", "x", &PARTS, &[stack([1_000_000, 1])]);
        assert!(
            html.contains("class=\"disallow\" x=\"99.60%\" y=\"19\" width=\"0.40%\""),
            "{html}"
        );
        let html = stacks("t", "x", &PARTS, &[stack([5, 0])]);
        assert!(!html.contains("must not"), "the legend has what occurs: {html}");
    }

    #[test]
    fn bars_share_a_scale() {
        let bar = |value| Bar { label: "a".into(), figure: String::new(), value };
        let html = bars("t", "x", &[bar(200), bar(50), bar(0)]);
        assert!(html.contains("x=\"0.00%\" y=\"53\" width=\"25.00%\""), "{html}");
        assert_eq!(html.matches("class=\"disallow\"").count(), 2);
        assert_eq!(bars("t", "x", &[]), "");
    }
}
