//! Engines in other programs: the harness's side of the line protocol in `benches/RUNNERS.md`.
//!
//! A pipe costs more than a decision, so a runner measures and reports its own times. The runner
//! receives all files, then all URLs in an order, and answers each request as a whole. An unknown
//! line, a missing answer, an early exit or a timeout is a failure of the engine, which the report
//! shows without times. Other engines are not affected.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::engine::{Built, Engine, EngineError, EngineKind, Matcher, Pass, Tally};
use super::questions::{Question, QuestionList};

/// The first line that is sent to a runner.
pub const GREETING: &str = "portcullis-bench 1";

/// The most lines of a runner that are read ahead.
const LINES_WAITING_MAX: usize = 64;

/// A program as an engine, written `NAME=COMMAND`; the command is split at blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerCommand {
    /// The engine's name.
    pub name: String,
    /// The program and its arguments.
    pub words: Vec<String>,
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
///
/// `patience` is the time limit for an answer.
pub(super) fn engine<'c>(command: RunnerCommand, agent: &str, patience: Duration) -> Engine<'c> {
    let started = Session::start(&command, patience);
    let version = started.map(|(_, version)| version).unwrap_or_default();
    let agent = agent.to_owned();
    Engine {
        name: command.name.clone(),
        version,
        kind: EngineKind::Runner,
        reads_each_time: false,
        build: Box::new(move |files| build((&command, patience), &agent, files)),
    }
}

fn build<'c>(
    (command, patience): (&RunnerCommand, Duration),
    agent: &str,
    files: &[&[u8]],
) -> Result<Built<'c>, EngineError> {
    let (mut session, _) = Session::start(command, patience)?;
    session.send(|out| {
        writeln!(out, "agent {agent}")?;
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
        let line = session.line()?;
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("built"), Some(nanoseconds), None) => {
                let time = Duration::from_nanos(number(nanoseconds, &line)?);
                return Ok(Built { time, matcher: Box::new(Running { session, refusals }) });
            }
            (Some("refused"), Some(file), reason) if number(file, &line)? < files.len() as u64 => {
                refusals.push(reason.unwrap_or("no reason").to_owned());
            }
            _ => return Err(unexpected(&line)),
        }
    }
}

fn number(word: &str, line: &str) -> Result<u64, EngineError> {
    word.parse().map_err(|_| unexpected(line))
}

fn unexpected(line: &str) -> EngineError {
    /// The most characters of a line that are shown.
    const SHOWN_MAX: usize = 80;
    let shown: String = line.chars().take(SHOWN_MAX).collect();
    EngineError(format!("the runner sent {shown:?}, which the protocol does not allow here"))
}

/// A runner that has built its matchers.
struct Running {
    session: Session,
    refusals: Vec<String>,
}

impl Running {
    /// Sends a list to the runner. Returns the runner's own time and one character per answer.
    fn decide(&mut self, list: &QuestionList) -> Result<(Duration, String), EngineError> {
        self.session.send(|out| {
            writeln!(out, "urls {}", list.len())?;
            for question in list.iter() {
                writeln!(out, "{} {}", question.file, question.url)?;
            }
            writeln!(out, "decide")
        });
        let line = self.session.line()?;
        let words: Vec<&str> = line.split(' ').collect();
        let ["decided", nanoseconds, answers] = words[..] else { return Err(unexpected(&line)) };
        if answers.len() != list.len() {
            let (given, asked) = (answers.len(), list.len());
            return Err(EngineError(format!("the runner gave {given} answers to {asked} URLs")));
        }
        Ok((Duration::from_nanos(number(nanoseconds, &line)?), answers.to_owned()))
    }
}

impl Matcher for Running {
    /// Sends a list of one question. The harness itself only sends whole lists to runners.
    fn allows(&mut self, question: Question<'_>) -> bool {
        let mut list = QuestionList::default();
        list.push(question.file, question.url, question.path.len());
        self.pass(&list).is_ok_and(|pass| pass.tally.allowed == 1)
    }

    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>, EngineError> {
        let (_, answers) = self.decide(list)?;
        let answer = |byte: u8| match byte {
            b'1' => Ok(Some(true)),
            b'0' => Ok(Some(false)),
            b'?' => Ok(None),
            _ => Err(unexpected(&answers)),
        };
        answers.bytes().map(answer).collect()
    }

    fn pass(&mut self, list: &QuestionList) -> Result<Pass, EngineError> {
        let (time, answers) = self.decide(list)?;
        Ok(Pass { time, tally: Tally::of(answers.bytes().map(|byte| byte == b'1')) })
    }

    fn is_in_process(&self) -> bool {
        false
    }

    fn refusals(&self) -> Vec<String> {
        self.refusals.clone()
    }
}

/// A running program and its output lines.
struct Session {
    child: Child,
    /// Requests to the writing thread, so that a runner that stops reading does not block the
    /// harness.
    requests: Sender<Vec<u8>>,
    lines: Receiver<io::Result<String>>,
    patience: Duration,
}

impl Session {
    /// Starts a runner and sends the greeting. Returns the session and the runner's version.
    fn start(
        command: &RunnerCommand,
        patience: Duration,
    ) -> Result<(Session, String), EngineError> {
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
                    return; // The session has ended.
                }
            }
        });
        let mut input = child.stdin.take().expect("the input is a pipe");
        let (requests, waiting) = channel::<Vec<u8>>();
        thread::spawn(move || {
            for request in waiting {
                if input.write_all(&request).and_then(|()| input.flush()).is_err() {
                    return; // The runner has exited, which the reading side reports.
                }
            }
        });
        let mut session = Session { child, requests, lines, patience };
        session.send(|out| writeln!(out, "{GREETING}"));
        let line = session.line()?;
        let version = line.strip_prefix("runner ").ok_or_else(|| unexpected(&line))?;
        Ok((session, version.to_owned()))
    }

    /// Sends a request. The runner reads all of it before it answers.
    fn send(&mut self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
        let mut request = Vec::new();
        write(&mut request).expect("memory takes what is written");
        // If this fails, the runner has exited, which the wait for its answer reports.
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
            Err(RecvTimeoutError::Disconnected) => Err(EngineError(
                "the runner ended before it had answered; its standard error may say why"
                    .to_owned(),
            )),
        }
    }
}

impl Drop for Session {
    /// Kills the runner, which has no state to save.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
