//! From a list in a file to counted verdicts, beside the system's `wc -l`, `cp` and our `filter`.
//!
//! Counting runs in this process with the policies loaded: it is what [`ListRun`] times, opening the
//! list and new threads with new memory included. `wc`, `cp` and `portcullis filter` are processes,
//! timed from their start to their end, reading from the page cache. Counting by `portcullis classify`
//! would format every line, so counting is never a process here; `filter` pays for its start and for
//! opening the set all the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis::bench::{EngineError, ListRun};
use portcullis::policy::AgentChain;
use portcullis::set::PolicySet;

use super::rounds::{self, Pass, Seconds, median};
use super::row::{Fault, Figure, Goal, Relation, Row};
use super::{AGENT, Effort, Programs, kept};
use crate::mapped;

/// Two long lists of the same lines.
pub struct LongLists {
    /// In no order.
    pub shuffled: PathBuf,
    /// By host.
    pub grouped: PathBuf,
    /// Lines of each.
    pub lines: u64,
    /// Bytes of each.
    pub bytes: u64,
    /// URLs of each that the oracle allows.
    pub allowed: Result<u64, Fault>,
}

/// Everything that is timed, by its place among the works of a round.
#[derive(Clone, Copy)]
enum Work {
    WcGrouped,
    Grouped,
    WcShuffled,
    Shuffled,
    ShuffledByTwo,
    Files,
    Filter,
    Cp,
    FilterByTwo,
}

const WORKS: usize = 9;

/// What rows are measured over.
pub struct Subject<'m> {
    /// The policies, compiled into memory.
    pub files: &'m Arc<PolicySet>,
    /// The same, compiled to `set` and mapped: what users run.
    pub mapped: &'m Arc<PolicySet>,
    /// Where the compiled set is.
    pub set: &'m Path,
    /// The agent that asks.
    pub agent: &'m AgentChain,
    /// The lists.
    pub lists: &'m LongLists,
    /// What is run.
    pub programs: &'m Programs,
    /// Where files may be written.
    pub folder: &'m Path,
}

/// All rows about lists in files.
///
/// # Errors
///
/// If a set is damaged.
pub fn rows(subject: &Subject<'_>, effort: &Effort) -> Result<Vec<Row>, EngineError> {
    let LongLists { shuffled, grouped, lines, bytes, .. } = subject.lists;
    let allowed = match &subject.lists.allowed {
        Ok(allowed) => *allowed,
        Err(fault) => return Ok(goals(bytes).map(|goal| goal.lost(fault.clone())).into()),
    };
    let run =
        |policies, list: &Path| ListRun::new(policies, subject.agent, list, mapped::opening());
    let by_group = run(subject.mapped, grouped)?;
    let by_chance = run(subject.mapped, shuffled)?;
    let by_files = run(subject.files, shuffled)?;
    let [all, kept] = ["all.txt", "kept.txt"].map(|name| subject.folder.join(name));
    let answers = kept::write(subject.programs, subject.set, shuffled, &kept, allowed);
    let wc = |list| wc(&subject.programs.wc, list, *lines);
    let filter = |threads| filter(subject, threads, &kept, &all);
    let works: [Pass<'_>; WORKS] = [
        wc(grouped),
        counting(&by_group, 1, allowed),
        wc(shuffled),
        counting(&by_chance, 1, allowed),
        counting(&by_chance, 2, allowed),
        counting(&by_files, 1, allowed),
        filter(1),
        cp(&subject.programs.cp, &kept, &all),
        filter(2),
    ];
    let seconds = rounds::run(effort.rounds, effort.turn, works.into());
    let _ = fs::remove_file(&kept);
    Ok(Times { seconds, answers, lines: *lines, allowed }.rows(bytes))
}

/// The goals, in the order in which rows stand.
fn goals(bytes: &u64) -> [Goal; 5] {
    let goal = |id: &str, what: String, relation, limit, of: &str| Goal {
        id: id.to_owned(),
        what,
        relation,
        limit,
        unit: "×",
        of: of.to_owned(),
    };
    let megabytes = bytes / 1_000_000;
    let counted =
        |order| format!("file to verdict counts, one thread, {order} list of {megabytes} MB");
    let filtered = |threads| format!("`filter` to a file, {threads}, shuffled list");
    let cost = "counting plus `cp` of what it keeps";
    [
        goal("file-grouped", counted("grouped"), Relation::Within, 6.0, "`wc -l`"),
        goal("file-shuffled", counted("shuffled"), Relation::Within, 12.0, "`wc -l`"),
        goal("filter", filtered("one thread"), Relation::Within, 1.5, cost),
        goal("filter-two-threads", filtered("two threads"), Relation::Within, 1.5, cost),
        goal(
            "two-threads",
            "two threads, file to verdict counts, shuffled list".to_owned(),
            Relation::AtLeast,
            1.85,
            "one thread's rate",
        ),
    ]
}

/// What rounds came to.
struct Times {
    seconds: Vec<Seconds>,
    /// Whether `filter` keeps what `classify` allows.
    answers: Result<(), Fault>,
    lines: u64,
    allowed: u64,
}

impl Times {
    fn of(&self, work: Work) -> Result<&[f64], Fault> {
        self.seconds[work as usize].as_deref().map_err(Fault::clone)
    }

    fn rows(&self, bytes: &u64) -> Vec<Row> {
        let [grouped, shuffled, filter, filter_by_two, two_threads] = goals(bytes);
        vec![
            self.row(
                grouped,
                &[(Work::Grouped, "portcullis")],
                &[(Work::WcGrouped, "wc -l")],
                false,
            ),
            self.shuffled(shuffled),
            self.filter(filter, [Work::Filter, Work::Shuffled]),
            self.filter(filter_by_two, [Work::FilterByTwo, Work::ShuffledByTwo]),
            self.row(
                two_threads,
                &[(Work::Shuffled, "one thread")],
                &[(Work::ShuffledByTwo, "two threads")],
                false,
            ),
        ]
    }

    fn shuffled(&self, goal: Goal) -> Row {
        let row = self.row(
            goal,
            &[(Work::Shuffled, "portcullis")],
            &[(Work::WcShuffled, "wc -l")],
            false,
        );
        match self.of(Work::Files) {
            Ok(seconds) => {
                let cost = median(seconds) * 1e9 / self.lines as f64;
                row.with_remark(format!("by files compiled into memory {cost:.1} ns a line"))
            }
            Err(_) => row,
        }
    }

    fn filter(&self, goal: Goal, [filter, counting]: [Work; 2]) -> Row {
        let parts = [(counting, "counting"), (Work::Cp, "cp")];
        self.row(goal, &[(filter, "portcullis filter")], &parts, true)
    }

    /// The time of the first works as a multiple of that of the second ones.
    fn row(
        &self,
        goal: Goal,
        above: &[(Work, &str)],
        below: &[(Work, &str)],
        is_of_filter: bool,
    ) -> Row {
        match self.compared(above, below, is_of_filter) {
            Ok((value, figures)) => {
                let (lines, allowed) = (self.lines, self.allowed);
                let mut answers =
                    format!("each pass allows {allowed} of {lines}, as the oracle does");
                if is_of_filter {
                    answers += "; what is kept is what `classify` allows, byte for byte";
                }
                goal.measured(value, figures, answers)
            }
            Err(fault) => goal.lost(fault),
        }
    }

    fn compared(
        &self,
        above: &[(Work, &str)],
        below: &[(Work, &str)],
        is_of_filter: bool,
    ) -> Result<(f64, Vec<Figure>), Fault> {
        if is_of_filter {
            self.answers.clone()?;
        }
        let mut figures = Vec::new();
        let mut sum = |works: &[(Work, &str)]| {
            let mut total = 0.0;
            for &(work, name) in works {
                let seconds = self.of(work)?;
                total += median(seconds);
                figures.extend(Figure::of(name, "ms", seconds, 1e-3));
            }
            Ok(total)
        };
        Ok((sum(above)? / sum(below)?, figures))
    }
}

/// A run of ours; it has to allow so many URLs.
fn counting<'r>(run: &'r ListRun, threads: usize, expected: u64) -> Pass<'r> {
    Box::new(move || {
        let (time, allowed) = run.pass(threads).map_err(|error| Fault::Wrong(error.0))?;
        match allowed == expected {
            true => Ok(time),
            false => Err(Fault::Wrong(format!("{allowed} URLs allowed; oracle: {expected}"))),
        }
    })
}

fn wc<'r>(program: &'r str, list: &'r Path, lines: u64) -> Pass<'r> {
    Box::new(move || {
        let mut command = Command::new(program);
        command.arg("-l").arg(list).stdin(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let output = command.output().map_err(|error| Fault::Absent(format!("wc: {error}")))?;
        let time = start.elapsed();
        let text = String::from_utf8_lossy(&output.stdout);
        match text.split_whitespace().next().and_then(|count| count.parse::<u64>().ok()) {
            Some(count) if count == lines => Ok(time),
            _ => Err(Fault::Absent(format!("wc counted no {lines} lines: {text}"))),
        }
    })
}

fn cp<'r>(program: &'r str, kept: &'r Path, copy: &'r Path) -> Pass<'r> {
    Box::new(move || {
        let mut command = Command::new(program);
        command.args([kept, copy]);
        let time = timed(&mut command).map_err(|why| Fault::Absent(format!("cp {why}")))?;
        let _ = fs::remove_file(copy);
        Ok(time)
    })
}

/// A run of `portcullis filter` into a new file, which has to be as long as `kept`. That its bytes are
/// the same was seen before; reading them again would disturb what is timed next.
fn filter<'r>(subject: &'r Subject<'_>, threads: usize, kept: &'r Path, out: &'r Path) -> Pass<'r> {
    Box::new(move || {
        let mut command = filter_command(subject.programs, subject.set, threads);
        command.arg("-o").arg(out).arg(&subject.lists.shuffled);
        let time = timed(&mut command).map_err(|why| Fault::Wrong(format!("filter {why}")))?;
        let bytes = |path| fs::metadata(path).map(|file| file.len()).ok();
        let (written, expected) = (bytes(out), bytes(kept));
        let _ = fs::remove_file(out);
        match written == expected {
            true => Ok(time),
            false => Err(Fault::Wrong(format!("{written:?} bytes kept, not {expected:?}"))),
        }
    })
}

/// `portcullis filter` but for where it reads and writes.
pub fn filter_command(programs: &Programs, set: &Path, threads: usize) -> Command {
    let mut command = Command::new(&programs.portcullis);
    command.args(["filter", "--no-summary", "-a", AGENT]);
    command.arg("-j").arg(threads.to_string()).arg("-p").arg(set);
    command
}

/// The time of a process from its start to its end.
fn timed(command: &mut Command) -> Result<Duration, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("cannot be started: {error}"))?;
    let time = start.elapsed();
    if status.success() { Ok(time) } else { Err(format!("ended with {status}")) }
}
