//! Engines in other programs: the harness's side of the line protocol in `benches/RUNNERS.md`.
//!
//! A pipe costs more than a decision, so a runner measures and reports its own times. The runner
//! receives all files, then all URLs in an order, and answers each request as a whole. An unknown
//! line, a missing answer or an early exit is a failure of the engine, which the report
//! shows without times. Other engines are not affected.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use anyhow::{Error, Result, anyhow, ensure};

use super::engine::{Ask, Built, Engine, EngineKind, Matcher, Pass, Tally};
use super::questions::{Question, QuestionList};

/// The first line that is sent to a runner.
const GREETING: &str = "portcullis-bench 1";

/// A program as an engine, written `NAME=COMMAND`; the command is split at blanks.
#[derive(Clone, Debug)]
pub struct RunnerCommand {
    name: String,
    words: Vec<String>,
    /// The time in which the program has to answer a request; `None` if it may take any time.
    patience: Option<Duration>,
    /// The version, once the program was started for it.
    version: Arc<OnceLock<String>>,
    /// A running program that waits for an agent, if it is not timed.
    idle: Idle,
}

/// A running program that nobody asks.
type Idle = Arc<Mutex<Option<Runner>>>;

impl RunnerCommand {
    /// Limits the time in which the program has to answer a request, and keeps it running between agents.
    #[must_use]
    pub fn within(self, patience: Duration) -> RunnerCommand {
        RunnerCommand { patience: Some(patience), ..self }
    }
}

impl FromStr for RunnerCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<RunnerCommand, String> {
        let (name, command) = text.split_once('=').unwrap_or_default();
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if name.is_empty() || words.is_empty() {
            return Err("write NAME=COMMAND, such as protego=python3 protego.py".to_owned());
        }
        let (version, idle) = (Arc::default(), Arc::default());
        Ok(RunnerCommand { name: name.to_owned(), words, patience: None, version, idle })
    }
}

/// Returns a runner as an engine. The program is started once to get its version. A program that fails
/// here fails again when the engine is built.
pub(super) fn engine<'c>(command: RunnerCommand, agent: &str) -> Engine<'c> {
    let start = || Runner::start(&command).map(|runner| runner.version.clone()).unwrap_or_default();
    let version = command.version.get_or_init(start).clone();
    let agent = agent.to_owned();
    Engine {
        name: command.name.clone(),
        version,
        kind: EngineKind::Runner,
        reads_each_time: false,
        normalises: true,
        build: Box::new(move |files| build(&command, &agent, files)),
    }
}

fn build<'c>(command: &RunnerCommand, agent: &str, files: &[&[u8]]) -> Result<Built<'c>> {
    let idle = command.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut runner = idle.map_or_else(|| Runner::start(command), Ok)?;
    runner.files = files.len();
    runner.refusals.clear();
    let time = runner.in_time(|runner| runner.build(agent, files))?;
    Ok((time, Box::new(Lent { runner: Some(runner), idle: command.idle.clone() })))
}

/// A runner that waits for the next agent once it was asked, unless it failed or is timed.
struct Lent {
    /// `None` once it failed.
    runner: Option<Runner>,
    idle: Idle,
}

impl Lent {
    /// Asks the runner, which is gone if it fails.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut Runner) -> Result<T>) -> Result<T> {
        let runner = self.runner.as_mut().ok_or_else(|| anyhow!("the runner failed before"))?;
        let asked = ask(runner);
        if asked.is_err() {
            self.runner = None;
        }
        asked
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let runner = self.runner.take().filter(|it| it.patience.is_some());
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = runner;
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
#[derive(Debug)]
struct Runner {
    child: Arc<Mutex<Child>>,
    patience: Option<Duration>,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    version: String,
    /// The questions besides verdicts that it answers.
    tells: Vec<String>,
    /// The files and URLs that it has.
    files: usize,
    urls: usize,
    /// The characters of its last answer.
    answers: String,
    /// The reason for each refused file.
    refusals: Vec<String>,
}

impl Runner {
    /// Starts a runner, sends the greeting and reads its version.
    fn start(command: &RunnerCommand) -> Result<Runner> {
        let program = &command.words[0];
        let mut starting = Command::new(program);
        starting.args(&command.words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Processes that the program starts are killed with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut starting, 0);
        let started = starting.spawn();
        let mut child = started.map_err(|error| anyhow!("{program} cannot be started: {error}"))?;
        let input = BufWriter::new(child.stdin.take().expect("the input is a pipe"));
        let output = BufReader::new(child.stdout.take().expect("the output is a pipe"));
        let mut runner = Runner {
            child: Arc::new(Mutex::new(child)),
            patience: command.patience,
            input,
            output,
            version: String::new(),
            tells: Vec::new(),
            files: 0,
            urls: 0,
            answers: String::new(),
            refusals: Vec::new(),
        };
        let line = runner.in_time(|runner| {
            runner.send(|out| writeln!(out, "{GREETING}"));
            runner.line()
        })?;
        let told = line.strip_prefix("runner ").ok_or_else(|| unexpected(&line))?;
        let (version, tells) = told.split_once('\t').unwrap_or((told, ""));
        version.clone_into(&mut runner.version);
        runner.tells = tells.split_whitespace().map(str::to_owned).collect();
        Ok(runner)
    }

    /// Sends the agent and the files. Returns the runner's own time to build their matchers.
    fn build(&mut self, agent: &str, files: &[&[u8]]) -> Result<Duration> {
        self.send(|out| {
            writeln!(out, "agent {agent}\nfiles {}", files.len())?;
            for text in files {
                writeln!(out, "{}", text.len())?;
                out.write_all(text)?;
                out.write_all(b"\n")?;
            }
            writeln!(out, "build")
        });
        loop {
            let line = self.line()?;
            let mut words = line.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some("built"), Some(nanoseconds), None) => {
                    return Ok(Duration::from_nanos(number(nanoseconds, &line)?));
                }
                (Some("refused"), Some(file), reason)
                    if number(file, &line)? < files.len() as u64 =>
                {
                    self.refusals.push(reason.unwrap_or("no reason").to_owned());
                }
                _ => return Err(unexpected(&line)),
            }
        }
    }

    /// Runs an exchange with the program, and kills it if that takes longer than it may.
    fn in_time<T>(&mut self, exchange: impl FnOnce(&mut Runner) -> Result<T>) -> Result<T> {
        let Some(patience) = self.patience else { return exchange(self) };
        let child = Arc::clone(&self.child);
        let (done, is_done) = mpsc::channel::<()>();
        let watch = thread::spawn(move || {
            let is_late = is_done.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout);
            if is_late {
                kill(&child);
            }
            is_late
        });
        let exchanged = exchange(self);
        drop(done);
        let is_late = watch.join().unwrap_or_default();
        ensure!(!is_late, "the runner did not answer within {} s", patience.as_secs_f64());
        exchanged
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
        self.in_time(|runner| runner.decided(list))
    }

    fn decided(&mut self, list: &QuestionList) -> Result<(Duration, String)> {
        self.urls = list.len();
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

    /// Sends a request whose answers are a word each, after the word of the request.
    fn words(&mut self, request: &str, count: usize) -> Result<Vec<String>> {
        self.send(|out| writeln!(out, "{request}"));
        let line = self.line()?;
        let mut words = line.split(' ');
        ensure!(words.next() == request.split(' ').next(), unexpected(&line));
        let words: Vec<String> = words.map(str::to_owned).collect();
        let given = words.len();
        ensure!(given == count, "the runner gave {given} answers to {request}, not {count}");
        Ok(words)
    }

    /// Asks for the sitemaps of each file.
    fn sitemaps(&mut self) -> Result<Vec<String>> {
        self.send(|out| writeln!(out, "sitemaps"));
        let mut sitemaps = Vec::new();
        for _ in 0..self.files {
            let line = self.line()?;
            let urls = line.strip_prefix("sitemaps").ok_or_else(|| unexpected(&line))?;
            sitemaps.push(urls.trim_start_matches(' ').to_owned());
        }
        Ok(sitemaps)
    }
}

impl Runner {
    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>> {
        let (_, answers) = self.decide(list)?;
        let answer = |byte: u8| match byte {
            b'1' => Ok(Some(true)),
            b'0' => Ok(Some(false)),
            b'?' | b'-' => Ok(None),
            _ => Err(unexpected(&answers)),
        };
        let found = answers.bytes().map(answer).collect();
        self.answers = answers;
        found
    }

    fn tell(&mut self, ask: Ask) -> Result<Option<Vec<String>>> {
        let word = match ask {
            Ask::Lines => "lines",
            Ask::Delays => "delays",
            Ask::Sitemaps => "sitemaps",
            Ask::Status { .. } => "status",
        };
        if !self.tells.iter().any(|it| it == word) {
            return Ok(None);
        }
        let told = self.in_time(|runner| match ask {
            Ask::Lines => runner.words(word, runner.urls),
            Ask::Delays => runner.words(word, runner.files),
            Ask::Sitemaps => runner.sitemaps(),
            Ask::Status { status, redirects } => {
                runner.words(&format!("{word} {status} {redirects}"), 1)
            }
        });
        told.map(Some)
    }
}

impl Matcher for Lent {
    fn allows(&mut self, _: Question<'_>) -> Option<bool> {
        unreachable!("a runner gets whole lists, and numbers of files")
    }

    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>> {
        self.ask(|runner| runner.answers(list))
    }

    fn is_put(&self, position: usize) -> bool {
        let answers = self.runner.as_ref().map(|runner| runner.answers.as_bytes());
        answers.and_then(|it| it.get(position)) != Some(&b'-')
    }

    fn pass(&mut self, list: &QuestionList) -> Result<Pass> {
        let (time, answers) = self.ask(|runner| runner.decide(list))?;
        Ok(Pass { time, tally: Tally::of(answers.bytes().map(|byte| byte == b'1')) })
    }

    fn refusals(&self) -> Vec<String> {
        self.runner.as_ref().map_or_else(Vec::new, |runner| runner.refusals.clone())
    }

    fn tell(&mut self, ask: Ask) -> Result<Option<Vec<String>>> {
        self.ask(|runner| runner.tell(ask))
    }
}

/// Kills a program, with all that it started where the system has groups of processes.
fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    #[cfg(unix)]
    if matches!(child.try_wait(), Ok(None)) {
        let group = format!("kill -KILL -{}", child.id());
        let _ = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Runner {
    /// Kills the runner, which has no state to save.
    fn drop(&mut self) {
        kill(&self.child);
    }
}
