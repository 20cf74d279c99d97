//! Growth: what a decision costs as rules, hosts, URLs and threads grow, on made-up data.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

/// How a cost grows.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// What it shows.
    pub title: String,
    /// What grows.
    pub x: String,
    /// The unit of the cost.
    pub y: String,
    /// A line for each engine.
    pub lines: Vec<CurveLine>,
}

/// One engine's costs.
#[derive(Clone, Debug, Serialize)]
pub struct CurveLine {
    /// The engine.
    pub engine: String,
    /// What grows, and the cost there.
    pub points: Vec<(f64, f64)>,
    /// Why it ends early, if it does.
    pub note: Option<String>,
}

impl Curve {
    pub(super) fn markdown(&self) -> String {
        let mut xs: Vec<f64> =
            self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
        xs.sort_unstable_by(f64::total_cmp);
        xs.dedup();
        let names: Vec<&str> = self.lines.iter().map(|line| line.engine.as_str()).collect();
        let mut text = format!(
            "\n{}, {}:\n\n| {} | {} |\n|---|{}\n",
            self.title,
            self.y,
            self.x,
            names.join(" | "),
            "---|".repeat(names.len())
        );
        for x in xs {
            let at = |line: &CurveLine| {
                let found = line.points.iter().find(|point| point.0 == x);
                found.map_or_else(|| "–".to_owned(), |point| format!("{:.1}", point.1))
            };
            let cells: Vec<String> = self.lines.iter().map(at).collect();
            let _ = writeln!(text, "| {x} | {} |", cells.join(" | "));
        }
        for line in &self.lines {
            if let Some(note) = &line.note {
                let _ = writeln!(text, "\n{}: {note}", line.engine);
            }
        }
        text
    }
}

/// Measures all curves.
pub(super) fn measure(_turn: Duration, _told: &dyn Fn(&str)) -> Vec<Curve> {
    Vec::new()
}
