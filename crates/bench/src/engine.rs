//! Engines: rows of data, each with a function that builds a matcher for all files.
//!
//! A [`Matcher`] answers one question at a time; passes are provided methods, compiled for each matcher,
//! so that nothing is dispatched per question. [`Engine::per_file`] makes an engine of a library for one
//! file. Programs outside this process are in `runner`. Panics of matchers are caught, counted and kept
//! off the terminal.

use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::questions::{HostTable, Question, QuestionList};

/// The origin of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// Portcullis or a part of it. Every answer must equal the oracle's.
    BuiltIn,
    /// Another crate. Answers may differ, and differences are counted.
    Peer,
    /// A program that implements the runner protocol. Judged like a peer.
    Runner,
}

/// A function that builds a matcher for files in the order of the corpus, and returns the time too.
pub type Build<'c> = Box<dyn Fn(&[&'c [u8]]) -> Result<Built<'c>> + 'c>;

/// The time from bytes to a matcher for the agent, and the matcher.
pub type Built<'c> = (Duration, Box<dyn Matcher + 'c>);

/// An engine that can be built for a corpus.
pub struct Engine<'c> {
    /// The name in reports and for `--engine`.
    pub name: String,
    /// The version in this build.
    pub version: String,
    /// The origin of the engine.
    pub kind: EngineKind,
    /// Whether the engine reads the file for each question. It has no compile time, and is compared and
    /// timed on a sample.
    pub reads_each_time: bool,
    /// Whether the engine takes URLs and paths as they are written. Otherwise it takes paths in the normal form
    /// of the dialect.
    pub normalises: bool,
    /// Builds a matcher for all files and the agent. A file that the engine refuses is not an
    /// error. See [`Matcher::refusals`].
    pub build: Build<'c>,
}

impl<'c> Engine<'c> {
    /// Returns an engine of this crate, whose matcher for all files `build` returns.
    pub fn built_in<M: Matcher + 'c>(
        name: &str,
        build: impl Fn(&[&'c [u8]]) -> Result<M> + 'c,
    ) -> Engine<'c> {
        Engine {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: EngineKind::BuiltIn,
            reads_each_time: false,
            normalises: false,
            build: Box::new(move |files| {
                let start = Instant::now();
                let matcher = build(files)?;
                Ok((start.elapsed(), Box::new(matcher)))
            }),
        }
    }

    /// Returns an engine with a matcher for each file. Files share no data. `build` returns the reason if
    /// it refuses a file; a panic is one too. `allows` uses the form of the question that its API requires.
    pub fn per_file<M: 'c>(
        name: &str,
        build: impl Fn(&'c [u8]) -> Result<M, String> + 'c,
        allows: impl Fn(&M, Question<'_>) -> bool + Clone + 'c,
    ) -> Engine<'c> {
        Engine::built_in(name, move |files| {
            let matcher = |text: &&'c [u8]| guarded(|| build(text)).flatten();
            let matchers = files.iter().map(matcher).collect();
            Ok(PerFile { matchers, allows: allows.clone() })
        })
    }
}

/// The time and the answers of one pass over questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The time of the whole pass.
    pub time: Duration,
    /// The answers.
    pub tally: Tally,
}

/// A count and a checksum of answers in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of allowed URLs.
    pub allowed: u64,
    /// The sum of a number for each answer that allows. Each position has its own number.
    checksum: u64,
    /// The last position, as a number.
    position: u64,
}

impl Tally {
    /// Adds the answer to the next question. Additions do not depend on each other, because the
    /// cost of the tally is part of every pass.
    #[inline]
    pub fn add(&mut self, allows: bool) {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        const FACTOR: u64 = 0xbf58_476d_1ce4_e5b9;
        self.position = self.position.wrapping_add(STEP);
        let number = (self.position ^ self.position >> 30).wrapping_mul(FACTOR);
        self.allowed += u64::from(allows);
        self.checksum = self.checksum.wrapping_add(if allows { number ^ number >> 27 } else { 0 });
    }

    /// Returns the checksum in hexadecimal digits.
    pub(super) fn text(&self) -> String {
        format!("{:016x}", self.checksum)
    }

    /// Returns the tally of answers in order.
    #[inline]
    pub fn of(answers: impl IntoIterator<Item = bool>) -> Tally {
        let mut tally = Tally::default();
        answers.into_iter().for_each(|allows| tally.add(allows));
        tally
    }
}

/// A question other than the verdict that an engine may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The line of the rule that decided each URL of the last list; 0 if none did.
    Lines,
    /// The crawl delay that each file has for the agent, in seconds; `-` if there is none.
    Delays,
    /// The sitemaps of each file, with a blank between them.
    Sitemaps,
    /// Whether a page may be fetched (`1` or `0`) after an answer to the request for robots.txt with this
    /// status, after so many redirects, and the body that the suite sends with it.
    Status {
        /// The status.
        status: u16,
        /// The redirects.
        redirects: u8,
    },
}

/// Returns the body of an answer to the request for robots.txt: a file that disallows everything, and for an
/// error of the server one that disallows nothing, so that a matcher that reads it anyway is found out.
pub fn body_of(status: u16) -> &'static str {
    if status < 500 { "User-agent: *\nDisallow: /\n" } else { "User-agent: *\nDisallow:\n" }
}

/// Answers questions about all files.
pub trait Matcher {
    /// Returns whether the URL is allowed, or `None` if its file is refused, which is never timed.
    fn allows(&mut self, question: Question<'_>) -> Option<bool>;

    /// Returns the answers to all questions; `None` where the matcher refuses the file or panics.
    ///
    /// # Errors
    ///
    /// If the engine fails as a whole, here and below.
    fn answers(&mut self, list: &QuestionList) -> Result<Vec<Option<bool>>> {
        let answer = |question| guarded(|| self.allows(question)).ok().flatten();
        Ok(list.iter().map(answer).collect())
    }

    /// Returns whether the question at a position of the last list could be put to the matcher. Some requests
    /// of a crawler tell nothing, such as that for robots.txt itself.
    fn is_put(&self, _: usize) -> bool {
        true
    }

    /// Decides all questions by file and path. Each question was answered before.
    fn pass(&mut self, list: &QuestionList) -> Result<Pass> {
        let start = Instant::now();
        let tally = Tally::of(black_box(list).iter().map(|it| self.allows(it) == Some(true)));
        Ok(Pass { time: start.elapsed(), tally })
    }

    /// Decides the URLs of all questions, and finds the file of each by its origin.
    fn batch(&mut self, list: &QuestionList, hosts: &HostTable) -> Result<Pass> {
        let start = Instant::now();
        // A URL whose origin is not found counts as not allowed, so the tally shows it.
        let found = black_box(list).iter().map(|question| hosts.resolve(question.url));
        let tally = Tally::of(found.map(|it| it.and_then(|it| self.allows(it)) == Some(true)));
        Ok(Pass { time: start.elapsed(), tally })
    }

    /// Returns the reason for each refused file.
    fn refusals(&self) -> Vec<String> {
        Vec::new()
    }

    /// Tells more than verdicts: a text for each file or URL, or one. `None` if the engine cannot be asked
    /// that; `?` where it does not know.
    ///
    /// # Errors
    ///
    /// If the engine fails as a whole.
    fn tell(&mut self, _: Ask) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
}

/// A matcher for each file, or the reason why it is refused.
struct PerFile<M, A> {
    matchers: Vec<Result<M, String>>,
    allows: A,
}

impl<M, A: Fn(&M, Question<'_>) -> bool> Matcher for PerFile<M, A> {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> Option<bool> {
        let matcher = self.matchers[question.file].as_ref().ok()?;
        Some((self.allows)(matcher, question))
    }

    fn refusals(&self) -> Vec<String> {
        self.matchers.iter().filter_map(|matcher| matcher.as_ref().err().cloned()).collect()
    }
}

thread_local! {
    /// Whether the panic hook is silent.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `run` and converts a panic to a refusal.
///
/// A panic may leave mutably borrowed state inconsistent. The matcher is used again, and the
/// comparison finds wrong answers.
fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                usual(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(false);
    result.map_err(|_| "panics".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_refusal() {
        assert_eq!(guarded(|| 1), Ok(1));
        assert_eq!(guarded(|| -> u8 { panic!("as peers do") }), Err("panics".to_owned()));
    }
}
