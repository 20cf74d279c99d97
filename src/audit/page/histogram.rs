//! Distributions: a column for each power of two, its height on a logarithmic axis, since most
//! files are small and the few that are not matter too.

use std::fmt::Write;

use super::chart::figure;
use super::table::{Row, Table};
use super::text::{bytes, counted, number, share};
use crate::audit::model::files::{Bin, Distribution};

/// Height of the area of the columns, in pixels, and where its lower edge is.
const HEIGHT: f64 = 150.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = TOP + HEIGHT;
/// Pixels for the numbers at the left of the area.
const AXIS: u32 = 64;
/// Names along the lower edge: more would touch on a narrow screen.
const NAMES: usize = 6;
/// Where names begin to end with their column instead of standing in its middle, in parts of a hundred.
const ENDS: f64 = 78.0;
/// Height of a column that counts one, in powers of ten: it has to be seen.
const ONE: f64 = 0.3;

/// What is distributed.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    /// An id of the page's own.
    pub id: &'static str,
    /// The title.
    pub title: &'static str,
    /// What is counted, one and many: `file`, `files`.
    pub unit: [&'static str; 2],
    /// Of what each has a number: `bytes`.
    pub of: &'static str,
    /// Whether the numbers are bytes.
    pub bytes: bool,
}

impl Subject {
    fn value(&self, value: u64) -> String {
        if self.bytes { bytes(value) } else { number(value) }
    }

    fn range(&self, bin: &Bin) -> String {
        match bin.from == bin.to {
            true => self.value(bin.from),
            false => format!("{} to {}", self.value(bin.from), self.value(bin.to)),
        }
    }

    /// The chart, what it says in words, and its numbers in a table that unfolds.
    pub fn html(&self, distribution: &Distribution) -> String {
        let Distribution { count, p50, p90, p99, max, bins, .. } = distribution;
        if *count == 0 {
            return format!("<p class=\"none\">{}: nothing to count.</p>\n", self.title);
        }
        let words = format!(
            "<p>Half have at most {}, nine in ten at most {}, 99 of 100 at most {}; the most is {}.</p>\n",
            self.value(*p50),
            self.value(*p90),
            self.value(*p99),
            self.value(*max)
        );
        let [one, many] = self.unit;
        let caption = format!("{}: {} by {}", self.title, counted(*count, one, many), self.of);
        let mut table = Table::new(self.id, caption).numbers(&[self.of, many, "share"]);
        for bin in bins {
            let row = Row::default().figure(&self.range(bin));
            table.row(row.number(bin.count).figure(&share(bin.count, *count)));
        }
        let title = format!("{} ({many}, logarithmic)", self.title);
        let plot = figure(&title, self.id, "", &(axis(bins) + &self.columns(bins)));
        format!(
            "<div class=\"distribution\">\n{plot}{words}<details>\n<summary>The numbers</summary>\n{}\
             </details>\n</div>\n",
            table.html()
        )
    }

    fn columns(&self, bins: &[Bin]) -> String {
        let scale = Scale::of(bins);
        let mut content = String::new();
        for power in 0..=scale.powers {
            let y = scale.place(10_f64.powi(power));
            let _ = writeln!(
                content,
                "<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            );
        }
        let width = 100.0 / bins.len() as f64;
        for (index, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.count > 0) {
            let y = scale.place(bin.count as f64);
            let _ = writeln!(
                content,
                "<rect class=\"count\" x=\"{:.2}%\" y=\"{y:.1}\" width=\"{:.2}%\" height=\"{:.1}\">\
                 <title>{}: {}</title></rect>",
                (index as f64 + 0.06) * width,
                0.88 * width,
                BOTTOM - y,
                self.range(bin),
                counted(bin.count, self.unit[0], self.unit[1])
            );
        }
        let step = bins.len().div_ceil(NAMES);
        for (index, bin) in bins.iter().enumerate().step_by(step) {
            let middle = (index as f64 + 0.5) * width;
            // Near the right edge a name would be cut.
            let (side, x) =
                if middle > ENDS { ("end", middle + width / 2.0) } else { ("middle", middle) };
            let _ = writeln!(
                content,
                "<text class=\"soft {side}\" x=\"{x:.2}%\" y=\"{:.1}\">{}</text>",
                BOTTOM + 17.0,
                self.value(bin.from)
            );
        }
        svg("100%", &content)
    }
}

/// The numbers at the left.
fn axis(bins: &[Bin]) -> String {
    let scale = Scale::of(bins);
    let mut content = String::new();
    for power in 0..=scale.powers {
        let value = 10_f64.powi(power);
        let _ = writeln!(
            content,
            "<text class=\"soft end\" x=\"{}\" y=\"{:.1}\">{}</text>",
            AXIS - 6,
            scale.place(value) + 4.0,
            number(value as u64)
        );
    }
    svg(&AXIS.to_string(), &content)
}

fn svg(width: &str, content: &str) -> String {
    format!("<svg width=\"{width}\" height=\"{:.0}\">\n{content}</svg>\n", BOTTOM + 24.0)
}

/// The logarithmic axis, from a little under one up to the greatest count.
struct Scale {
    /// The greatest power of ten that is marked.
    powers: i32,
    /// The logarithm at the upper edge.
    top: f64,
}

impl Scale {
    fn of(bins: &[Bin]) -> Scale {
        let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1);
        let top = (most as f64).log10().max(1.0);
        Scale { powers: top.floor() as i32, top }
    }

    fn place(&self, count: f64) -> f64 {
        BOTTOM - (count.log10() + ONE) / (self.top + ONE) * HEIGHT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject = Subject {
        id: "rules-of-file",
        title: "Rules of a file",
        unit: ["file", "files"],
        of: "rules",
        bytes: false,
    };

    fn bin(from: u64, to: u64, count: u64) -> Bin {
        Bin { from, to, count }
    }

    #[test]
    fn ten_times_as_many_is_a_step_higher() {
        let scale = Scale::of(&[bin(0, 0, 1), bin(1, 1, 10_000)]);
        let steps: Vec<f64> = (0..=4).map(|power| scale.place(10_f64.powi(power))).collect();
        let step = steps[0] - steps[1];
        assert!(steps.windows(2).all(|pair| (pair[0] - pair[1] - step).abs() < 1e-6), "{steps:?}");
        assert!((steps[4] - TOP).abs() < 1e-6);
        assert!(steps[0] < BOTTOM - 3.0, "one can be seen");
    }

    #[test]
    fn a_distribution_is_told_in_words_and_numbers() {
        let bins = vec![bin(0, 0, 3), bin(1, 1, 0), bin(2, 3, 1)];
        let distribution =
            Distribution { count: 4, p50: 0, p90: 3, p99: 3, max: 3, bins, ..Default::default() };
        let html = SUBJECT.html(&distribution);
        assert!(html.contains("Half have at most 0, nine in ten at most 3"), "{html}");
        assert!(html.contains("<td>2 to 3</td><td>1</td><td>25.0 %</td>"), "{html}");
        assert_eq!(html.matches("class=\"count\"").count(), 2);
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        assert!(SUBJECT.html(&Distribution::default()).contains("nothing to count"));
    }
}
