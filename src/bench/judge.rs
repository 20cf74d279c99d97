//! The oracle's answers, and what comes of comparing an engine's with them.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::decision::Verdict;
use crate::dialect::{Dialect, RobotsTxtUrl};
use crate::oracle;

use super::corpus::Corpus;
use super::engine::{EngineError, EngineKind, Matchers, Tally};
use super::questions::QuestionList;

/// Differences that are shown for an engine.
const EXAMPLES_MAX: usize = 3;

/// The oracle's answers to all questions of a corpus.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// By the number of the question.
    allowed: Vec<bool>,
}

/// Whether an engine's answers are right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Every answer is the oracle's.
    Verified,
    /// A peer that answers otherwise somewhere. It does not say who is right.
    Differs,
    /// A built-in engine that answers otherwise or not at all: it is wrong, and no time of it is shown.
    Wrong,
    /// It came to no end; the text says why.
    Failed(String),
}

/// An answer that is not the oracle's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The URL, in normal form.
    pub url: String,
    /// What the engine said: `allow`, `disallow`, or `nothing`.
    pub answer: &'static str,
    /// What the oracle said.
    pub oracle: &'static str,
}

/// What the comparison found about an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The conclusion.
    pub standing: Standing,
    /// URLs that it was asked about.
    pub asked: usize,
    /// URLs that it answered.
    pub answered: usize,
    /// URLs that it allows.
    pub allowed: u64,
    /// The checksum of its answers in the order of the list, in hexadecimal digits.
    pub checksum: String,
    /// The oracle's checksum of the same questions.
    pub oracle_checksum: String,
    /// Answers that are not the oracle's.
    pub differing: usize,
    /// The first of those, and of missing answers of a built-in engine.
    pub examples: Vec<Example>,
    /// Files that it refuses, by reason.
    pub files_refused: BTreeMap<String, usize>,
    /// By the number of the question: the answer, if it was asked for and given.
    #[serde(skip)]
    pub(super) answers: Vec<Option<bool>>,
}

impl Judgement {
    /// Asks the oracle every question of `corpus`, on the calling thread's rayon pool. It reads each
    /// URL as it stands in the list, so our own normal form is judged too.
    pub fn of(corpus: &Corpus) -> Judgement {
        let tokens: Vec<&str> = corpus.agent.tokens().collect();
        let files: Vec<usize> = corpus.questions.iter().map(|question| question.file).collect();
        let judge = |(number, &file): (usize, &usize)| {
            let (text, bytes_max) = corpus.text_as_read(file);
            let record = corpus.record(number);
            let decision = oracle::decide(corpus.dialect(), text, bytes_max, &tokens, record);
            decision.verdict == Verdict::Allow
        };
        Judgement { allowed: files.par_iter().enumerate().map(judge).collect() }
    }

    /// The answer to the question with this number.
    pub fn allows(&self, number: usize) -> bool {
        self.allowed[number]
    }

    /// What its answers to a list add up to.
    pub fn tally(&self, list: &QuestionList) -> Tally {
        Tally::of(list.numbers().map(|number| self.allowed[number]))
    }

    /// Asks an engine all questions of `list` and compares.
    pub fn compare(
        &self,
        kind: EngineKind,
        matchers: &mut dyn Matchers,
        list: &QuestionList,
    ) -> Verification {
        let answers = match matchers.answers(list) {
            Ok(answers) if answers.len() == list.len() => answers,
            Ok(answers) => {
                let (given, asked) = (answers.len(), list.len());
                let error = format!("gave {given} answers to {asked} questions");
                return Verification::failed(EngineError(error));
            }
            Err(error) => return Verification::failed(error),
        };
        let mut verification = self.tallied(list, &answers);
        for ((position, number), answer) in list.numbers().enumerate().zip(answers) {
            let oracle = self.allowed[number];
            let is_missing = answer.is_none() && kind == EngineKind::BuiltIn;
            if !is_missing && answer.is_none_or(|answer| answer == oracle) {
                continue;
            }
            verification.differing += 1;
            if verification.examples.len() < EXAMPLES_MAX {
                verification.examples.push(Example {
                    url: list.get(position).url.to_owned(),
                    answer: answer.map_or("nothing", word),
                    oracle: word(oracle),
                });
            }
        }
        for (_, reason) in matchers.refusals() {
            *verification.files_refused.entry(reason).or_default() += 1;
        }
        verification.standing = match (verification.differing, kind) {
            (0, _) if verification.answered == 0 => Standing::Failed("answers no URL".to_owned()),
            (0, _) => Standing::Verified,
            (_, EngineKind::BuiltIn) => Standing::Wrong,
            (_, EngineKind::Peer | EngineKind::Runner) => Standing::Differs,
        };
        verification
    }

    fn tallied(&self, list: &QuestionList, answers: &[Option<bool>]) -> Verification {
        let given = answers.iter().copied().flatten();
        let tally = Tally::of(given);
        let numbers = list.numbers().zip(answers);
        let judged = numbers.filter(|(_, answer)| answer.is_some());
        let oracle = Tally::of(judged.map(|(number, _)| self.allowed[number]));
        let mut by_number = vec![None; self.allowed.len()];
        list.numbers().zip(answers).for_each(|(number, &answer)| by_number[number] = answer);
        Verification {
            asked: list.len(),
            answered: answers.iter().flatten().count(),
            allowed: tally.allowed,
            checksum: format!("{:016x}", tally.checksum),
            oracle_checksum: format!("{:016x}", oracle.checksum),
            answers: by_number,
            ..Verification::default()
        }
    }
}

impl Default for Verification {
    fn default() -> Verification {
        Verification {
            standing: Standing::Verified,
            asked: 0,
            answered: 0,
            allowed: 0,
            checksum: String::new(),
            oracle_checksum: String::new(),
            differing: 0,
            examples: Vec::new(),
            files_refused: BTreeMap::new(),
            answers: Vec::new(),
        }
    }
}

impl Verification {
    /// Of an engine that came to no end.
    pub(super) fn failed(error: EngineError) -> Verification {
        Verification { standing: Standing::Failed(error.0), ..Verification::default() }
    }

    /// What its answers to a list add up to; it has answered each of its questions.
    pub(super) fn tally(&self, list: &QuestionList) -> Tally {
        Tally::of(list.numbers().map(|number| self.answers[number] == Some(true)))
    }

    /// Whether times of the engine may be shown.
    pub fn may_be_timed(&self) -> bool {
        matches!(self.standing, Standing::Verified | Standing::Differs)
    }
}

/// Whether `record` is allowed at an origin without a file, where `verdict` holds for every path. The
/// dialect may allow the file itself whatever its absence means.
pub(super) fn allows_without_file(dialect: &Dialect, verdict: Verdict, record: &[u8]) -> bool {
    let is_exempt = || {
        dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed
            && oracle::compared_path(dialect, record).as_deref() == Some(b"/robots.txt")
    };
    verdict == Verdict::Allow || is_exempt()
}

fn word(allows: bool) -> &'static str {
    if allows { "allow" } else { "disallow" }
}
