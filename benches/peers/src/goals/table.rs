//! Renders the page of results, `benches/RESULTS.md`.

use portcullis_bench::Spread;
use portcullis_bench::document::{self, Part};

use super::{AGENT, Behind, DIALECT, Fault, Figure, Goals, Outcome, Relation, Row, ShapeReport};

/// Renders the introduction, the table of goals, missed goals and hostile shapes.
pub(super) fn markdown(goals: &Goals) -> String {
    let mut parts = vec![
        Part::Text("# Results".to_owned()),
        Part::Text(
            "How fast Portcullis is beside other matchers and the system's own programs, for readers who \
             want\nfigures with their circumstances. `scripts/goals DATA` measures every row and writes this \
             page;\n[METHODOLOGY.md](METHODOLOGY.md) says what is measured, what is not, and where it favours \
             us,\nand [performance.md](../docs/performance.md) where the time goes."
            .to_owned(),
        ),
    ];
    parts.push(Part::Text("## The run".to_owned()));
    parts.extend(circumstances(goals).map(Part::Text));
    parts.push(Part::Text("## Goals".to_owned()));
    let met = goals.rows.iter().filter(|row| row.is_met()).count();
    parts.push(Part::Text(format!("{met} of {} goals are met.", goals.rows.len())));
    let row = |row: &Row| {
        let (value, status, ..) = outcome(row);
        vec![row.goal.what.clone(), wanted(row), value, status.to_owned()]
    };
    parts.push(table(&["what", "goal", "measured", ""], goals.rows.iter().map(row)));
    let missed = goals.rows.iter().filter(|row| !row.is_met());
    let missed =
        missed.map(|row| format!("{}: {}; goal: {}", row.goal.what, outcome(row).0, wanted(row)));
    parts.push(Part::List("Not met".to_owned(), missed.collect()));
    parts.push(Part::Text("## Behind the goals".to_owned()));
    parts.push(Part::Text(
        "Median of the rounds (least–most). `wc -l`, `cp` and `portcullis filter` are processes, timed \
         from\nstart to end, with files in the page cache. Counting runs in the measuring process with the \
         policies\nloaded; threads and lazy automata are new in each pass."
            .to_owned(),
    ));
    let row = |row: &Row| {
        let (.., behind, answers) = outcome(row);
        vec![row.goal.what.clone(), behind, answers]
    };
    let head = ["what", "figures", "answers verified"];
    parts.push(table(&head, goals.rows.iter().map(row)));
    if !goals.hostile.is_empty() {
        parts.push(Part::Text("## Hostile files".to_owned()));
        parts.push(hostile(&goals.hostile));
    }
    document::markdown(&parts)
}

fn circumstances(goals: &Goals) -> impl Iterator<Item = String> {
    let machine = &goals.machine;
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "not known".to_owned());
    let Goals { effort, versions, .. } = goals;
    let machine = format!(
        "{}, {} cores, load {} at the start and {} at the end, {}; {}; {}.",
        machine.processor,
        machine.cores,
        or_unknown(&machine.load),
        or_unknown(&goals.load_at_end),
        machine.system,
        machine.compiler,
        machine.date,
    );
    let program = format!(
        "`{}`, commit {}: {}. Agent {AGENT}, dialect {}. Median of {} interleaved rounds; a turn fills \
         {} s; seed {}. Everything took {:.0} s.",
        goals.command,
        or_unknown(&goals.commit),
        versions.join(", "),
        DIALECT.name,
        effort.rounds,
        effort.turn.as_secs_f64(),
        effort.seed,
        goals.seconds,
    );
    [machine, program, goals.data.join("\n")].into_iter()
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Part {
    Part::Table(head.iter().map(|&name| name.to_owned()).collect(), rows.collect())
}

/// Returns value, status, figures and verified answers of a row.
fn outcome(row: &Row) -> (String, &'static str, String, String) {
    let none = || "–".to_owned();
    match &row.outcome {
        Outcome::Measured { value, is_met, behind } => (
            format!("{value:.2} {}", row.goal.unit),
            if *is_met { "met" } else { "**missed**" },
            figures(behind),
            behind.answers.clone(),
        ),
        Outcome::Failed(Fault::Wrong(why)) => (none(), "**WRONG**", none(), why.clone()),
        Outcome::Failed(Fault::Absent(why)) => (none(), "not measured", none(), why.clone()),
    }
}

fn wanted(row: &Row) -> String {
    let relation = match row.goal.relation {
        Relation::AtLeast => "at least",
        Relation::Within => "within",
        Relation::Under => "under",
    };
    format!("{relation} {} {}, {}", row.goal.limit, row.goal.unit, row.goal.of)
}

fn figures(behind: &Behind) -> String {
    let figure =
        |figure: &Figure| format!("{}: {} {}", figure.name, spread(&figure.spread), figure.unit);
    let figures = behind.figures.iter().map(figure);
    figures.chain(behind.remark.clone()).collect::<Vec<_>>().join("; ")
}

/// Formats `median (least–most)`, with enough digits to distinguish the values.
fn spread(spread: &Spread) -> String {
    let Spread { median, min, max } = *spread;
    let digits = match median {
        median if median < 10.0 => 2,
        median if median < 1_000.0 => 1,
        _ => 0,
    };
    format!("{median:.digits$} ({min:.digits$}–{max:.digits$})")
}

fn hostile(shapes: &[ShapeReport]) -> Part {
    let head =
        ["shape", "slowest URL", "all, ms", "the decision, ms", "process, MiB", "added, MiB"];
    let row = |shape: &ShapeReport| {
        let ShapeReport { shape, url, ms, decision_ms, peak_mib, added_mib } = shape;
        let mebibytes = [peak_mib, added_mib].map(|mib| format!("{mib:.1}"));
        let mut cells =
            vec![(*shape).to_owned(), (*url).to_owned(), spread(ms), spread(decision_ms)];
        cells.extend(mebibytes);
        cells
    };
    table(&head, shapes.iter().map(row))
}
