//! Two robots.txt files: whether they decide every URL alike.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{bail, ensure};
use portcullis::analysis::{AgentRules, Equivalence, Limits, Robot, equivalence, robots_named};
use portcullis::dialect::{Dialect, RFC_9309};
use portcullis::limits::ROBOTS_BYTES_MAX;
use portcullis::policy::Selection;
use portcullis::report::difference::files::{Answer, Compared, write_json, write_tsv};
use portcullis::set::{LoadConfig, LoadError, read_text};
use portcullis::syntax::RobotsTxt;
use portcullis::visible::visible;
use serde::Serialize;

use crate::cli::args::Format;
use crate::cli::engine::show_notes;
use crate::cli::exit::ExitStatus;
use crate::cli::output::Output;
use crate::cli::plan::{DiffPlan, SummaryForm};
use crate::cli::summary;
use crate::cli::values::BytesMax;

/// The name of all robots that no file names.
const UNNAMED: &str = "*";

/// Compares two files for the agents that were asked for, or for everybody.
pub fn run(plan: &DiffPlan, started: Instant) -> anyhow::Result<ExitStatus> {
    ensure!(
        plan.stream.is_none(),
        "{} and {} are robots.txt files, which are compared on every URL there is; leave the lists \
         of URLs out, or compile policy sets",
        plan.old.display(),
        plan.new.display()
    );
    let dialect = plan.dialect.unwrap_or(&RFC_9309);
    let BytesMax(bytes_max) = plan.bytes_max.unwrap_or(BytesMax(Some(ROBOTS_BYTES_MAX)));
    let config = LoadConfig {
        robots_bytes_max: bytes_max,
        strictness: plan.strictness,
        ..LoadConfig::new(dialect)
    };
    let read = |path: &Path| -> Result<Vec<u8>, LoadError> {
        let (text, note) = read_text(path, &config)?;
        show_notes(note.as_slice(), u64::from(note.is_some()));
        Ok(text)
    };
    let texts = [read(&plan.old)?, read(&plan.new)?];
    let [old, new] = texts.each_ref().map(|text| RobotsTxt::parse(text, dialect, bytes_max));
    let agents = match plan.questions.agent_count() {
        0 => robots_named(&[&old, &new], dialect),
        _ => plan.questions.agents(dialect)?,
    };
    let mut robots: Vec<Robot<'_>> = agents.iter().map(Robot::Agent).collect();
    if plan.questions.agent_count() == 0 {
        robots.push(Robot::Unnamed);
    }
    let mut output = Output::open(&plan.output)?;
    let mut answers = Answers::default();
    let mut pairs = Pairs { dialect, old: &old, new: &new, known: HashMap::new() };
    let mut bytes = Vec::new();
    for robot in robots {
        bytes.clear();
        answers.add(name(robot), pairs.answer(robot, plan.format, &mut bytes));
        output.write(&bytes)?;
    }
    output.finish()?;
    let files = [(&plan.old, &old), (&plan.new, &new)];
    let [old, new] = files.map(|(path, file)| FileObject {
        name: path.display().to_string(),
        groups: file.groups().len(),
        rules: file.rules().len(),
        notes: file.notes().len(),
    });
    let summary = Summary {
        version: env!("CARGO_PKG_VERSION"),
        dialect: dialect.name,
        old,
        new,
        answers: &answers,
        seconds: started.elapsed().as_secs_f64(),
    };
    summary.show(plan.summary);
    match (&answers.limited[..], answers.different) {
        ([], 0) => Ok(ExitStatus::Done),
        (_, 1..) if plan.tells_difference => Ok(ExitStatus::Negative),
        (_, 1..) => Ok(ExitStatus::Done),
        ([first, ..], 0) => bail!(
            "cannot tell whether the files decide alike for {first}: a limit ended the comparison; \
             compare smaller files, or compile policy sets and compare them on your URLs"
        ),
    }
}

fn name(robot: Robot<'_>) -> &str {
    match robot {
        Robot::Agent(agent) => agent.name(),
        Robot::Unnamed => UNNAMED,
    }
}

/// Two files, and the answers for what was compared so far: robots that obey the same groups have
/// the same answer.
struct Pairs<'f> {
    dialect: &'static Dialect,
    old: &'f RobotsTxt<'f>,
    new: &'f RobotsTxt<'f>,
    known: HashMap<[Vec<usize>; 2], Equivalence>,
}

impl Pairs<'_> {
    /// Writes and returns the answer for a robot.
    fn answer(&mut self, robot: Robot<'_>, format: Format, out: &mut Vec<u8>) -> Answer {
        let old = &AgentRules::new(self.old, robot, self.dialect);
        let new = &AgentRules::new(self.new, robot, self.dialect);
        let compare = || equivalence(old.rules(), new.rules(), &Limits::default());
        let groups = [old, new].map(|side| match side.selection() {
            Selection::Groups { groups, .. } => groups.clone(),
            Selection::NoRules | Selection::NoGroup => Vec::new(),
        });
        let equivalence = self.known.entry(groups).or_insert_with(compare);
        let compared = Compared { agent: name(robot), old, new, equivalence };
        match format {
            Format::Tsv => write_tsv(&compared, out),
            Format::Jsonl => write_json(&compared, out),
        }
        Answer::of(equivalence)
    }
}

/// Agents by their answer.
#[derive(Default, Serialize)]
struct Answers {
    equal: u64,
    different: u64,
    unknown: u64,
    /// Those with the last one.
    #[serde(skip)]
    limited: Vec<String>,
}

impl Answers {
    fn add(&mut self, agent: &str, answer: Answer) {
        match answer {
            Answer::Equal => self.equal += 1,
            Answer::Different => self.different += 1,
            Answer::Unknown => {
                self.unknown += 1;
                self.limited.push(agent.to_owned());
            }
        }
    }
}

#[derive(Serialize)]
struct FileObject {
    name: String,
    groups: usize,
    rules: usize,
    notes: usize,
}

/// What was compared, as the members of a JSON object.
#[derive(Serialize)]
struct Summary<'r> {
    version: &'static str,
    dialect: &'static str,
    old: FileObject,
    new: FileObject,
    answers: &'r Answers,
    seconds: f64,
}

impl Summary<'_> {
    /// Writes it to standard error, in the form that was asked for.
    fn show(&self, form: SummaryForm) {
        summary::show(form, |text| self.write_text(text), |text| summary::write_json(self, text));
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "portcullis {}, dialect {}, {:.3} s",
            self.version, self.dialect, self.seconds
        )?;
        for (side, file) in [("old", &self.old), ("new", &self.new)] {
            let FileObject { name, groups, rules, notes } = file;
            let name = visible(name);
            writeln!(out, "{side}: {name}, {groups} groups, {rules} rules, {notes} notes")?;
        }
        let Answers { equal, different, unknown, .. } = self.answers;
        writeln!(out, "agents: {equal} equal, {different} different, {unknown} unknown")
    }
}
