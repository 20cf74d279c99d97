//! The table as Markdown.

use std::fmt::Write;

use portcullis::bench::Spread;

use super::row::{Figure, Goal, Measured, Outcome, Relation, Row};
use super::{AGENT, DIALECT, Goals, ShapeReport};

/// Heading, rows, hostile shapes and what is to be said about them.
pub(super) fn markdown(goals: &Goals) -> String {
    let mut text = heading(goals);
    text += "\n| what | goal | measured | | behind it: median (least–most) | answers verified |\n\
             |---|---|---|---|---|---|\n";
    for row in &goals.rows {
        text += &line(row);
    }
    text += &notes();
    text + &hostile(&goals.hostile)
}

fn heading(goals: &Goals) -> String {
    let machine = &goals.machine;
    let load = |load: &Option<String>| load.clone().unwrap_or_else(|| "not known".to_owned());
    let commit = goals.commit.as_deref().unwrap_or("not known");
    format!(
        "`{}`\n\n{}, commit {commit}. {}, {} cores, load {} at the start and {} at the end, {}; {}. {}.\n\n\
         Agent {AGENT}, dialect {}. {} Median of {} rounds, interleaved; a turn fills {} s; seed {}. \
         Everything took {:.0} s. Reached: {} of {}.\n",
        goals.command,
        machine.date,
        machine.processor,
        machine.cores,
        load(&machine.load),
        load(&goals.load_at_end),
        machine.system,
        machine.compiler,
        goals.versions.join(", "),
        DIALECT.name,
        goals.data.join(" "),
        goals.effort.rounds,
        goals.effort.turn.as_secs_f64(),
        goals.effort.seed,
        goals.seconds,
        goals.rows.iter().filter(|row| row.is_met()).count(),
        goals.rows.len(),
    )
}

fn line(row: &Row) -> String {
    let Row { goal, outcome } = row;
    let (value, standing, behind, answers) = match outcome {
        Outcome::Measured(measured) => (
            quantity(measured.value, goal.unit),
            if measured.is_met { "met" } else { "**missed**" },
            behind(measured),
            cell(&measured.answers),
        ),
        Outcome::Wrong(why) => ("–".to_owned(), "**WRONG**", "–".to_owned(), cell(why)),
        Outcome::Absent(why) => ("–".to_owned(), "not measured", "–".to_owned(), cell(why)),
    };
    let wanted = wanted(goal);
    format!("| {} | {wanted} | {value} | {standing} | {behind} | {answers} |\n", cell(&goal.what))
}

fn wanted(goal: &Goal) -> String {
    let relation = match goal.relation {
        Relation::AtLeast => "at least",
        Relation::Within => "within",
        Relation::Under => "under",
    };
    let limit = goal.limit;
    format!("{relation} {limit} {}, {}", goal.unit, cell(&goal.of))
}

fn behind(measured: &Measured) -> String {
    let figure =
        |figure: &Figure| format!("{}: {} {}", figure.name, spread(&figure.spread), figure.unit);
    let mut parts: Vec<String> = measured.figures.iter().map(figure).collect();
    parts.extend(measured.remark.clone());
    cell(&parts.join("; "))
}

fn quantity(value: f64, unit: &str) -> String {
    format!("{value:.2} {unit}")
}

/// `median (least–most)`, with as many digits as tell values apart.
fn spread(spread: &Spread) -> String {
    let Spread { median, min, max } = *spread;
    let digits = match median {
        median if median < 10.0 => 2,
        median if median < 1_000.0 => 1,
        _ => 0,
    };
    format!("{median:.digits$} ({min:.digits$}–{max:.digits$})")
}

/// Text that does not end a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn notes() -> String {
    "\n`wc -l`, `cp` and `portcullis filter` are processes, timed from start to end, files in the page cache. \
     Counting runs in this process with the policies loaded; threads and what they build on demand are new in \
     each pass.\n"
        .to_owned()
}

fn hostile(shapes: &[ShapeReport]) -> String {
    if shapes.is_empty() {
        return String::new();
    }
    let mut text = "\n| hostile shape | slowest URL | all, ms | the decision, ms | whole process, MiB | added, MiB |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for shape in shapes {
        let ShapeReport { shape: name, url, ms, decision_ms, peak_mib, added_mib } = shape;
        let (all, decision) = (spread(ms), spread(decision_ms));
        let _ = writeln!(
            text,
            "| {} | {url} | {all} | {decision} | {peak_mib:.1} | {added_mib:.1} |",
            cell(name)
        );
    }
    text
}
