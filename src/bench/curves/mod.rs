//! Growth: what a decision costs as rules, hosts, URLs and threads grow, on made-up data.
//!
//! A file of its own for each of them; here stand the shape of a curve and the end of a line that
//! takes too long. Engines that take part are compared with each other on every question first; one
//! that answers otherwise has no line.

mod hosts;
mod lengths;
mod rules;

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde::Serialize;

pub use self::hosts::MadeUpHosts;
pub use self::rules::RuleGrowth;

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

/// Seconds that a point may take to build or to ask before the line ends there.
const POINT_SECONDS_MAX: f64 = 5.0;

/// What one point of a line came to.
enum Point {
    /// The cost.
    Cost(f64),
    /// The cost, of a point that took so long that the next is not tried.
    Last(f64),
    /// None, and why.
    Absent(String),
}

/// Measures all curves.
pub(super) fn measure(turn: Duration, told: &dyn Fn(&str)) -> Vec<Curve> {
    told("growth with rules");
    let mut curves = rules::curves(turn);
    told("growth with the length of URLs");
    curves.extend(lengths::curves(turn));
    told("growth with hosts and threads");
    curves.extend(hosts::curves(turn, &hosts::COUNTS));
    curves
}

/// A line through as many points as there is time for.
fn line(engine: &str, xs: &[usize], mut measure: impl FnMut(usize) -> Point) -> CurveLine {
    let mut line = CurveLine { engine: engine.to_owned(), points: Vec::new(), note: None };
    for (position, &x) in xs.iter().enumerate() {
        match measure(x) {
            Point::Cost(y) => line.points.push((x as f64, y)),
            Point::Last(y) => {
                line.points.push((x as f64, y));
                if position + 1 < xs.len() {
                    let note = format!("ends at {x}, which took more than {POINT_SECONDS_MAX} s");
                    line.note = Some(note);
                }
                break;
            }
            Point::Absent(why) => {
                line.note = Some(format!("ends before {x}: {why}"));
                break;
            }
        }
    }
    line
}

/// The mean seconds of `work`, over as many as fill a turn; the first does not count unless it is slow.
fn mean_seconds(turn: Duration, mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    let first = once();
    if first > POINT_SECONDS_MAX / 2.0 {
        return first;
    }
    let (mut total, mut passes) = (0.0, 0);
    while passes == 0 || total < turn.as_secs_f64() {
        total += once();
        passes += 1;
    }
    total / f64::from(passes)
}

/// A point of a cost in nanoseconds, with all the seconds that were spent on it.
fn point(nanoseconds: f64, seconds: f64) -> Point {
    if seconds > POINT_SECONDS_MAX { Point::Last(nanoseconds) } else { Point::Cost(nanoseconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_takes_too_long() {
        let slow = line("slow", &[1, 2, 3], |x| point(x as f64, x as f64 * 3.0));
        assert_eq!(slow.points, [(1.0, 1.0), (2.0, 2.0)]);
        assert!(slow.note.is_some_and(|note| note.contains("ends at 2")));
        let last = line("slow at last", &[1, 2], |x| point(x as f64, x as f64 * 3.0));
        assert_eq!((last.points.len(), last.note), (2, None));
    }

    #[test]
    fn every_curve_has_points_on_every_line() {
        let mut curves = rules::curves_of(Duration::ZERO, &[1, 50]);
        curves.extend(lengths::curves_of(Duration::ZERO, &[16, 300]));
        curves.extend(hosts::curves(Duration::ZERO, &[3, 40]));
        assert!(curves.len() >= 5);
        for curve in &curves {
            assert!(!curve.lines.is_empty());
            for line in &curve.lines {
                assert!(line.points.iter().all(|&(_, y)| y > 0.0), "{line:?}");
                assert!(!line.points.is_empty());
            }
            let text = curve.markdown();
            assert!(text.contains(&curve.title) && !text.contains("NaN"), "{text}");
        }
    }
}
