//! What an engine is: it builds matchers for files, and they answer questions.
//!
//! An engine in this process implements [`Matcher`], one question at a time, and [`Asked`] makes
//! passes, batches and single timings of it in a loop that is compiled for it; nothing is dispatched
//! for each question. One that answers for one file alone implements [`FileMatcher`], of which
//! [`PerFile`] keeps one for each file. What runs elsewhere implements [`Matchers`] itself.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::guard::guarded;
use super::hosts::HostTable;
use super::questions::{Question, QuestionList};

/// Where an engine comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// Portcullis or a piece of it: every answer must be the oracle's.
    BuiltIn,
    /// Somebody else's: answers may differ, and are counted.
    Peer,
    /// A program that speaks the runners' protocol: as a peer.
    Runner,
}

/// An engine failed as a whole; it is reported and left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EngineError(pub String);

/// An engine, before it has read anything.
pub trait Engine {
    /// The row's name, which `--engine` and `--baseline` take.
    fn name(&self) -> &str;

    /// The version that was built.
    fn version(&self) -> &str;

    /// Where it comes from.
    fn kind(&self) -> EngineKind;

    /// Whether it keeps no matcher and reads the file for each question. It then has no time to
    /// compile and is asked about a sample.
    fn parses_each_time(&self) -> bool {
        false
    }

    /// The time to parse the files without a thought of an agent; nothing if that is no step of its own.
    fn parse(&self, _files: &[&[u8]]) -> Option<Duration> {
        None
    }

    /// Builds matchers for `files` and the agent.
    ///
    /// # Errors
    ///
    /// If it cannot do so at all. A file that it refuses is none: see [`Matchers::refusals`].
    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError>;
}

/// Matchers, and the time that building them took.
pub struct Built<'f> {
    /// The time, from bytes to matchers for the agent.
    pub time: Duration,
    /// The matchers.
    pub matchers: Box<dyn Matchers + 'f>,
}

impl<'f> Built<'f> {
    /// Builds and takes the time.
    pub fn timed<M: Matcher + 'f>(build: impl FnOnce() -> M) -> Built<'f> {
        let start = Instant::now();
        let matcher = build();
        Built { time: start.elapsed(), matchers: Box::new(Asked(matcher)) }
    }
}

/// What came of a pass over questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The time of the whole pass.
    pub time: Duration,
    /// What was answered.
    pub tally: Tally,
}

/// What answers to a list add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// URLs that are allowed.
    pub allowed: u64,
    /// The sum of a number for each answer that allows. Each position has its own.
    pub checksum: u64,
    /// The last position, as a number.
    position: u64,
}

impl Tally {
    /// Adds the answer to the next question. Answers need not wait for one another here, because what this
    /// costs is in the time of a pass.
    #[inline]
    pub fn add(&mut self, allows: bool) {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        const FACTOR: u64 = 0xbf58_476d_1ce4_e5b9;
        self.position = self.position.wrapping_add(STEP);
        let number = (self.position ^ self.position >> 30).wrapping_mul(FACTOR);
        self.allowed += u64::from(allows);
        self.checksum = self.checksum.wrapping_add(if allows { number ^ number >> 27 } else { 0 });
    }

    /// Of answers in order.
    pub fn of(answers: impl IntoIterator<Item = bool>) -> Tally {
        let mut tally = Tally::default();
        answers.into_iter().for_each(|allows| tally.add(allows));
        tally
    }
}

/// Matchers for all files.
pub trait Matchers {
    /// The answers to all questions: whether the URL is allowed, or nothing if there is no answer.
    ///
    /// # Errors
    ///
    /// If the engine fails as a whole.
    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>, EngineError>;

    /// Decides all questions, each of which it has answered before; nothing if it cannot be asked
    /// about a file and a path.
    ///
    /// # Errors
    ///
    /// If the engine fails as a whole.
    fn pass(&mut self, list: &QuestionList) -> Result<Option<Pass>, EngineError>;

    /// Decides the URLs of all questions and finds each one's file by its host; nothing if it cannot.
    ///
    /// # Errors
    ///
    /// If the engine fails as a whole.
    fn batch(
        &mut self,
        list: &QuestionList,
        hosts: &HostTable,
    ) -> Result<Option<Pass>, EngineError>;

    /// Appends the time of each question by itself, in nanoseconds, the clock's cost within; false if it
    /// cannot.
    fn single_times(&mut self, list: &QuestionList, times: &mut Vec<u32>) -> bool;

    /// The files that it refuses, and why.
    fn refusals(&self) -> Vec<(usize, String)>;

    /// Bytes of memory of all matchers, if it knows.
    fn bytes(&self) -> Option<u64>;

    /// What a reader has to know about how it was built.
    fn note(&self) -> Option<String> {
        None
    }
}

/// Something in this process that answers one question.
pub trait Matcher {
    /// Why there is no answer about a file.
    fn refusal(&self, _file: usize) -> Option<&str> {
        None
    }

    /// The files that have one.
    fn refusals(&self) -> Vec<(usize, String)> {
        Vec::new()
    }

    /// Whether the URL is allowed; its file is none that is refused.
    fn allows(&mut self, question: Question<'_>) -> bool;

    /// Bytes of memory, if it knows.
    fn bytes(&self) -> Option<u64> {
        None
    }

    /// What a reader has to know about how it was built.
    fn note(&self) -> Option<String> {
        None
    }

    /// A pass in a way of its own, many questions at once; see [`Matchers::pass`].
    fn pass(&mut self, _list: &QuestionList) -> Option<Pass> {
        None
    }

    /// A batch in a way of its own; see [`Matchers::batch`].
    fn batch(&mut self, _list: &QuestionList) -> Option<Pass> {
        None
    }

    /// Whether it can be asked about a file and a path; else only a batch can be.
    fn takes_paths(&self) -> bool {
        true
    }
}

/// The loops around a [`Matcher`].
pub struct Asked<M>(pub M);

impl<M: Matcher> Matchers for Asked<M> {
    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>, EngineError> {
        let matcher = &mut self.0;
        let answer = |question: Question<'_>| {
            if matcher.refusal(question.file).is_some() {
                return None;
            }
            guarded(|| matcher.allows(question)).ok()
        };
        Ok(list.iter().map(answer).collect())
    }

    fn pass(&mut self, list: &QuestionList) -> Result<Option<Pass>, EngineError> {
        if !self.0.takes_paths() {
            return Ok(None);
        }
        if let Some(pass) = self.0.pass(list) {
            return Ok(Some(pass));
        }
        let start = Instant::now();
        let mut tally = Tally::default();
        for question in black_box(list).iter() {
            tally.add(self.0.allows(question));
        }
        Ok(Some(Pass { time: start.elapsed(), tally }))
    }

    fn batch(
        &mut self,
        list: &QuestionList,
        hosts: &HostTable,
    ) -> Result<Option<Pass>, EngineError> {
        if let Some(pass) = self.0.batch(list) {
            return Ok(Some(pass));
        }
        if !self.0.takes_paths() {
            return Ok(None);
        }
        let start = Instant::now();
        let mut tally = Tally::default();
        for question in black_box(list).iter() {
            // A host that is not found is not allowed, and the tally tells.
            let found = hosts.resolve(question.url);
            tally.add(found.is_some_and(|question| self.0.allows(question)));
        }
        Ok(Some(Pass { time: start.elapsed(), tally }))
    }

    fn single_times(&mut self, list: &QuestionList, times: &mut Vec<u32>) -> bool {
        if !self.0.takes_paths() {
            return false;
        }
        times.extend(list.iter().map(|question| {
            let start = Instant::now();
            black_box(self.0.allows(black_box(question)));
            u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX)
        }));
        true
    }

    fn refusals(&self) -> Vec<(usize, String)> {
        self.0.refusals()
    }

    fn bytes(&self) -> Option<u64> {
        self.0.bytes()
    }

    fn note(&self) -> Option<String> {
        self.0.note()
    }
}

/// What one file is asked through.
pub trait FileMatcher<'f>: Sized {
    /// Parses and compiles a file for an agent.
    ///
    /// # Errors
    ///
    /// Why it refuses the file.
    fn build(text: &'f [u8], agent: &str) -> Result<Self, String>;

    /// Whether the agent may fetch the URL. It takes the form that its API wants.
    fn allows(&mut self, agent: &str, question: Question<'_>) -> bool;
}

/// A [`FileMatcher`] for each file; nothing is shared between files.
pub struct PerFile<M> {
    agent: String,
    matchers: Vec<Result<M, String>>,
}

impl<'f, M: FileMatcher<'f>> PerFile<M> {
    /// Builds a matcher for each file. One that panics refuses the file.
    pub fn new(files: &[&'f [u8]], agent: &str) -> PerFile<M> {
        let build = |text: &&'f [u8]| guarded(|| M::build(text, agent)).flatten();
        PerFile { agent: agent.to_owned(), matchers: files.iter().map(build).collect() }
    }
}

impl<'f, M: FileMatcher<'f>> Matcher for PerFile<M> {
    fn refusal(&self, file: usize) -> Option<&str> {
        self.matchers[file].as_ref().err().map(String::as_str)
    }

    fn refusals(&self) -> Vec<(usize, String)> {
        let refusal = |(file, matcher): (usize, &Result<M, String>)| {
            Some((file, matcher.as_ref().err()?.clone()))
        };
        self.matchers.iter().enumerate().filter_map(refusal).collect()
    }

    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let matcher = self.matchers[question.file].as_mut();
        matcher.is_ok_and(|matcher| matcher.allows(&self.agent, question))
    }
}
