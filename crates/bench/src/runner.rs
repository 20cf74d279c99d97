//! Engines in other programs: the harness's side of the line protocol in `benches/RUNNERS.md`.
//!
//! A pipe costs more than a decision, so a runner measures and reports its own times. The runner
//! receives all files, then all URLs in an order, and answers each request as a whole. An unknown
//! line, a missing answer or an early exit is a failure of the engine, which the report
//! shows without times. Other engines are not affected.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Error, Result, anyhow, ensure};

use super::engine::{Built, Engine, EngineKind, Matcher, Pass, Tally};
use super::questions::{Question, QuestionList};

/// The first line that is sent to a runner.
const GREETING: &str = "portcullis-bench 1";

/// A program as an engine, written `NAME=COMMAND`; the command is split at blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerCommand {
    name: String,
    words: Vec<String>,
}

impl FromStr for RunnerCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<RunnerCommand, String> {
        let (name, command) = text.split_once('=').unwrap_or_default();
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if name.is_empty() || words.is_empty() {
            return Err("write NAME=COMMAND, such as protego=python3 protego.py".to_owned());
        }
        Ok(RunnerCommand { name: name.to_owned(), words })
    }
}

/// Returns a runner as an engine. Starts the program once to get its version. A program that fails
/// here fails again when the engine is built.
pub(super) fn engine<'c>(command: RunnerCommand, agent: &str) -> Engine<'c> {
    let version = Runner::start(&command).map(|runner| runner.version.clone());
    let agent = agent.to_owned();
    Engine {
        name: command.name.clone(),
        version: version.unwrap_or_default(),
        kind: EngineKind::Runner,
        reads_each_time: false,
        build: Box::new(move |files| build(&command, &agent, files)),
    }
}

fn build<'c>(command: &RunnerCommand, agent: &str, files: &[&[u8]]) -> Result<Built<'c>> {
    let mut runner = Runner::start(command)?;
    runner.send(|out| {
        writeln!(out, "agent {agent}\nfiles {}", files.len())?;
        for text in files {
            writeln!(out, "{}", text.len())?;
            out.write_all(text)?;
            out.write_all(b"\n")?;
        }
        writeln!(out, "build")
    });
    loop {
        let line = runner.line()?;
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("built"), Some(nanoseconds), None) => {
                let time = Duration::from_nanos(number(nanoseconds, &line)?);
                return Ok((time, Box::new(runner)));
            }
            (Some("refused"), Some(file), reason) if number(file, &line)? < files.len() as u64 => {
                runner.refusals.push(reason.unwrap_or("no reason").to_owned());
            }
            _ => return Err(unexpected(&line)),
        }
    }
}

fn number(word: &str, line: &str) -> Result<u64> {
    word.parse().map_err(|_| unexpected(line))
}

fn unexpected(line: &str) -> Error {
    /// The most characters of a line that are shown.
    const SHOWN_MAX: usize = 80;
    let shown: String = line.chars().take(SHOWN_MAX).collect();
    anyhow!("the runner sent {shown:?}, which the protocol does not allow here")
}

/// A running program.
struct Runner {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    version: String,
    /// The reason for each refused file.
    refusals: Vec<String>,
}

impl Runner {
    /// Starts a runner, sends the greeting and reads its version.
    fn start(command: &RunnerCommand) -> Result<Runner> {
        let program = &command.words[0];
        let mut starting = Command::new(program);
        starting.args(&command.words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = starting.spawn();
        let mut child = started.map_err(|error| anyhow!("{program} cannot be started: {error}"))?;
        let input = BufWriter::new(child.stdin.take().expect("the input is a pipe"));
        let output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        let (version, refusals) = (String::new(), Vec::new());
        let mut runner = Runner { child, input, output, version, refusals };
        runner.send(|out| writeln!(out, "{GREETING}"));
        let line = runner.line()?;
        let version = line.strip_prefix("runner ").ok_or_else(|| unexpected(&line))?;
        version.clone_into(&mut runner.version);
        Ok(runner)
    }

    /// Sends a request. The runner reads all of it before it answers.
    fn send(&mut self, write: impl FnOnce(&mut BufWriter<ChildStdin>) -> io::Result<()>) {
        // If this fails, the runner has exited, which the wait for its answer reports.
        let _ = write(&mut self.input).and_then(|()| self.input.flush());
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        let bytes = read.map_err(|error| anyhow!("the runner's output: {error}"))?;
        ensure!(
            bytes > 0,
            "the runner ended before it had answered; its standard error may say why"
        );
        line.truncate(line.trim_end_matches(['\n', '\r']).len());
        Ok(line)
    }

    /// Sends a list to the runner. Returns the runner's own time and one character per answer.
    fn decide(&mut self, list: &QuestionList) -> Result<(Duration, String)> {
        self.send(|out| {
            writeln!(out, "urls {}", list.len())?;
            for question in list.iter() {
                writeln!(out, "{} {}", question.file, question.url)?;
            }
            writeln!(out, "decide")
        });
        let line = self.line()?;
        let words: Vec<&str> = line.split(' ').collect();
        let ["decided", nanoseconds, answers] = words[..] else { return Err(unexpected(&line)) };
        let (given, asked) = (answers.len(), list.len());
        ensure!(given == asked, "the runner gave {given} answers to {asked} URLs");
        Ok((Duration::from_nanos(number(nanoseconds, &line)?), answers.to_owned()))
    }
}

impl Matcher for Runner {
    fn allows(&mut self, _: Question<'_>) -> Option<bool> {
        unreachable!("a runner gets whole lists, and numbers of files")
    }

    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>> {
        let (_, answers) = self.decide(list)?;
        let answer = |byte: u8| match byte {
            b'1' => Ok(Some(true)),
            b'0' => Ok(Some(false)),
            b'?' => Ok(None),
            _ => Err(unexpected(&answers)),
        };
        answers.bytes().map(answer).collect()
    }

    fn pass(&mut self, list: &QuestionList) -> Result<Pass> {
        let (time, answers) = self.decide(list)?;
        Ok(Pass { time, tally: Tally::of(answers.bytes().map(|byte| byte == b'1')) })
    }

    fn refusals(&self) -> Vec<String> {
        self.refusals.clone()
    }
}

impl Drop for Runner {
    /// Kills the runner, which has no state to save.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
