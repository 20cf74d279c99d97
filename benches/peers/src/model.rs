//! What an engine is: it builds matchers for files, and answers for a file and a path.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::corpus::Record;

/// Why an engine takes a file or a URL for none.
pub type Refusal = String;

/// What one file is asked through.
pub trait Matcher: Sized {
    /// The package that it comes from.
    const PACKAGE: &'static str;

    /// Whether the API has no matcher to keep, and parses the file for each URL. Such an engine is
    /// asked about a sample.
    const PARSES_EACH_TIME: bool = false;

    /// Parses and compiles a file.
    fn build(text: &'static [u8], agent: &str) -> Result<Self, Refusal>;

    /// The time to build a matcher for each file and keep all of them, as a batch has to.
    fn time_to_build(files: &[&'static [u8]], agent: &str) -> Duration {
        let start = Instant::now();
        let matchers: Vec<_> = files.iter().map(|text| Self::build(text, agent)).collect();
        let time = start.elapsed();
        drop(black_box(matchers));
        time
    }

    /// Whether the agent may fetch what `record` names. It takes the form that its API wants.
    fn allows(&mut self, agent: &str, record: &Record) -> bool;
}

/// An engine with its matchers for all files.
pub trait Engine {
    /// The row's name.
    fn name(&self) -> &str;

    /// The package that it comes from.
    fn package(&self) -> &'static str;

    /// As [`Matcher::PARSES_EACH_TIME`].
    fn parses_each_time(&self) -> bool;

    /// Why it refuses the file at `file`, if it does.
    fn refusal(&self, file: usize) -> Option<&Refusal>;

    /// The time to build everything once more, the files that it refuses aside.
    fn time_to_build(&self) -> Duration;

    /// Whether the agent may fetch what `record` names; the file is none that it refuses.
    fn allows(&mut self, record: &Record) -> bool;

    /// How many of the records the agent may fetch.
    fn count_allowed(&mut self, records: &[Record]) -> usize;
}

/// An engine of one [`Matcher`] for each file.
pub struct PerFile<M> {
    name: &'static str,
    agent: String,
    /// Those that it takes.
    files: Vec<&'static [u8]>,
    /// By the position among all files.
    matchers: Vec<Result<M, Refusal>>,
}

impl<M: Matcher> PerFile<M> {
    /// Builds a matcher for each file.
    pub fn new(name: &'static str, files: &[&'static [u8]], agent: &str) -> PerFile<M> {
        let build = |text: &&'static [u8]| guarded(|| M::build(text, agent)).flatten();
        let matchers: Vec<Result<M, Refusal>> = files.iter().map(build).collect();
        let taken = files.iter().zip(&matchers).filter(|(_, matcher)| matcher.is_ok());
        let files = taken.map(|(text, _)| *text).collect();
        PerFile { name, agent: agent.to_owned(), files, matchers }
    }
}

impl<M: Matcher> Engine for PerFile<M> {
    fn name(&self) -> &str {
        self.name
    }

    fn package(&self) -> &'static str {
        M::PACKAGE
    }

    fn parses_each_time(&self) -> bool {
        M::PARSES_EACH_TIME
    }

    fn refusal(&self, file: usize) -> Option<&Refusal> {
        self.matchers[file].as_ref().err()
    }

    fn time_to_build(&self) -> Duration {
        M::time_to_build(&self.files, &self.agent)
    }

    fn allows(&mut self, record: &Record) -> bool {
        let matcher = self.matchers[record.file].as_mut();
        matcher.is_ok_and(|matcher| matcher.allows(&self.agent, record))
    }

    fn count_allowed(&mut self, records: &[Record]) -> usize {
        records.iter().filter(|record| self.allows(record)).count()
    }
}

/// Whether the panic hook is to keep quiet.
static GUARDED: AtomicBool = AtomicBool::new(false);

/// Runs what may panic in a peer's code; a panic is a refusal.
pub fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Refusal> {
    GUARDED.store(true, Relaxed);
    let result = catch_unwind(AssertUnwindSafe(run));
    GUARDED.store(false, Relaxed);
    result.map_err(|_| "panics".to_owned())
}

/// Keeps the messages of guarded panics off the terminal: they are counted and reported.
pub fn quiet_guarded_panics() {
    let usual = take_hook();
    set_hook(Box::new(move |panic| {
        if !GUARDED.load(Relaxed) {
            usual(panic);
        }
    }));
}
