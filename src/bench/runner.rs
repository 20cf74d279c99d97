//! Engines in other programs: the line protocol of `benches/RUNNERS.md`, from our side.
//!
//! A pipe costs more than a decision, so a runner takes its own times and tells them. It is given all
//! files, then all URLs in an order, and answers each request as a whole. What it says is checked: a
//! line that makes no sense, a missing answer, an end before its time and silence past the time limit
//! are failures of the engine, which is reported and left out; nothing else is lost.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::corpus::Corpus;
use super::engine::{Built, Engine, EngineError, EngineKind, Matchers, Pass, Tally};
use super::hosts::HostTable;
use super::questions::QuestionList;

/// The first line that a runner is sent.
pub const GREETING: &str = "portcullis-bench 1";

/// Seconds that a runner may take for an answer unless somebody says otherwise.
pub const RUNNER_SECONDS_MAX: u64 = 120;

/// Lines of a runner that wait to be read.
const LINES_WAITING_MAX: usize = 64;

/// A program that answers, as `NAME=COMMAND`; the command is split at blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerCommand {
    /// The row's name.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// How long an answer may take.
    pub patience: Duration,
}

impl FromStr for RunnerCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<RunnerCommand, String> {
        let (name, command) = text.split_once('=').unwrap_or_default();
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if name.is_empty() || words.is_empty() {
            return Err("write NAME=COMMAND, such as protego=python3 protego.py".to_owned());
        }
        let patience = Duration::from_secs(RUNNER_SECONDS_MAX);
        Ok(RunnerCommand { name: name.to_owned(), words, patience })
    }
}

/// A runner as an engine.
pub(super) struct Runner {
    command: RunnerCommand,
    agent: String,
    version: String,
}

impl Runner {
    /// Starts the program once to hear its version; one that cannot say it fails when it is built.
    pub fn new(command: RunnerCommand, corpus: &Corpus) -> Runner {
        let agent = corpus.agent.name().to_owned();
        let version = Talk::start(&command).map(|(_, version)| version).unwrap_or_default();
        Runner { command, agent, version }
    }
}

impl Engine for Runner {
    fn name(&self) -> &str {
        &self.command.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn kind(&self) -> EngineKind {
        EngineKind::Runner
    }

    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        let (mut talk, _) = Talk::start(&self.command)?;
        talk.send(|out| {
            writeln!(out, "agent {}", self.agent)?;
            writeln!(out, "files {}", files.len())?;
            for text in files {
                writeln!(out, "{}", text.len())?;
                out.write_all(text)?;
                out.write_all(b"\n")?;
            }
            writeln!(out, "build")
        });
        let mut refusals = Vec::new();
        loop {
            let line = talk.line()?;
            let mut words = line.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some("built"), Some(nanoseconds), None) => {
                    let time = Duration::from_nanos(number(nanoseconds, &line)?);
                    let matchers = Box::new(Talking { talk, refusals });
                    return Ok(Built { time, matchers });
                }
                (Some("refused"), Some(file), reason) => {
                    let file = number(file, &line)? as usize;
                    if file >= files.len() {
                        return Err(nonsense(&line));
                    }
                    refusals.push((file, reason.unwrap_or("no reason").to_owned()));
                }
                _ => return Err(nonsense(&line)),
            }
        }
    }
}

fn number(word: &str, line: &str) -> Result<u64, EngineError> {
    word.parse().map_err(|_| nonsense(line))
}

fn nonsense(line: &str) -> EngineError {
    /// Characters of a line that are shown.
    const SHOWN_MAX: usize = 80;
    let shown: String = line.chars().take(SHOWN_MAX).collect();
    EngineError(format!("the runner said {shown:?}, which the protocol does not have here"))
}

/// A runner that has built its matchers.
struct Talking {
    talk: Talk,
    refusals: Vec<(usize, String)>,
}

impl Talking {
    /// Has the runner decide a list; its own time, and a character for each answer.
    fn decide(&mut self, list: &QuestionList) -> Result<(Duration, String), EngineError> {
        self.talk.send(|out| {
            writeln!(out, "urls {}", list.len())?;
            for question in list.iter() {
                writeln!(out, "{} {}", question.file, question.url)?;
            }
            writeln!(out, "decide")
        });
        let line = self.talk.line()?;
        let words: Vec<&str> = line.split(' ').collect();
        let ["decided", nanoseconds, answers] = words[..] else { return Err(nonsense(&line)) };
        if answers.len() != list.len() {
            let (given, asked) = (answers.len(), list.len());
            return Err(EngineError(format!("the runner gave {given} answers to {asked} URLs")));
        }
        Ok((Duration::from_nanos(number(nanoseconds, &line)?), answers.to_owned()))
    }
}

impl Matchers for Talking {
    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>, EngineError> {
        let (_, answers) = self.decide(list)?;
        let answer = |byte: u8| match byte {
            b'1' => Ok(Some(true)),
            b'0' => Ok(Some(false)),
            b'?' => Ok(None),
            _ => Err(nonsense(&answers)),
        };
        answers.bytes().map(answer).collect()
    }

    fn pass(&mut self, list: &QuestionList) -> Result<Option<Pass>, EngineError> {
        let (time, answers) = self.decide(list)?;
        Ok(Some(Pass { time, tally: Tally::of(answers.bytes().map(|byte| byte == b'1')) }))
    }

    fn batch(&mut self, _: &QuestionList, _: &HostTable) -> Result<Option<Pass>, EngineError> {
        Ok(None)
    }

    fn single_times(&mut self, _: &QuestionList, _: &mut Vec<u32>) -> bool {
        false
    }

    fn refusals(&self) -> Vec<(usize, String)> {
        self.refusals.clone()
    }

    fn bytes(&self) -> Option<u64> {
        None
    }
}

/// A running program and the lines that it says.
struct Talk {
    child: Child,
    /// Requests for the thread that writes: a runner that reads no further must not hold us up.
    requests: Sender<Vec<u8>>,
    lines: Receiver<io::Result<String>>,
    patience: Duration,
}

impl Talk {
    /// Starts a runner and greets it; it answers with its version.
    fn start(command: &RunnerCommand) -> Result<(Talk, String), EngineError> {
        let program = &command.words[0];
        let started = Command::new(program)
            .args(&command.words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = started
            .map_err(|error| EngineError(format!("{program} cannot be started: {error}")))?;
        let (sender, lines) = sync_channel(LINES_WAITING_MAX);
        let output = child.stdout.take().expect("the output is a pipe");
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line).is_err() {
                    return; // Nobody listens any more.
                }
            }
        });
        let mut input = child.stdin.take().expect("the input is a pipe");
        let (requests, waiting) = channel::<Vec<u8>>();
        thread::spawn(move || {
            for request in waiting {
                if input.write_all(&request).and_then(|()| input.flush()).is_err() {
                    return; // The runner is gone, which the reading side tells.
                }
            }
        });
        let mut talk = Talk { child, requests, lines, patience: command.patience };
        talk.send(|out| writeln!(out, "{GREETING}"));
        let line = talk.line()?;
        let version = line.strip_prefix("runner ").ok_or_else(|| nonsense(&line))?;
        Ok((talk, version.to_owned()))
    }

    /// Hands over a request. The runner reads it from beginning to end before it answers.
    fn send(&mut self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        let mut request = Vec::new();
        write(&mut request).expect("memory takes what is written");
        // If nobody takes it the runner is gone, and waiting for its answer will tell.
        let _ = self.requests.send(request);
    }

    fn line(&mut self) -> Result<String, EngineError> {
        match self.lines.recv_timeout(self.patience) {
            Ok(Ok(line)) => Ok(line.trim_end_matches('\r').to_owned()),
            Ok(Err(error)) => Err(EngineError(format!("the runner's output: {error}"))),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.patience.as_secs_f64();
                Err(EngineError(format!("the runner said nothing for {seconds} s")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }
}

fn gone() -> EngineError {
    EngineError(
        "the runner ended before it had answered; its standard error may say why".to_owned(),
    )
}

impl Drop for Talk {
    /// A runner has nothing to save.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
