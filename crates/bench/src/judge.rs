//! The oracle's answers, and the comparison of an engine's answers with them.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use rayon::prelude::*;
use serde::Serialize;

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_oracle as oracle;

use super::corpus::Corpus;
use super::engine::{EngineKind, Matcher, Tally};
use super::questions::QuestionList;

/// The most differences that are shown per engine.
const EXAMPLES_MAX: usize = 3;

/// The oracle's answers to all questions of a corpus, by their numbers.
pub struct Judgement(Vec<bool>);

/// The verification status of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every answer equals the oracle's.
    #[default]
    Verified,
    /// A peer with at least one different answer. This does not say which answer is right.
    Differs,
    /// A built-in engine with a different or missing answer. It has no times.
    Wrong,
    /// The engine failed as a whole, with the reason.
    Failed(String),
}

/// An answer that differs from the oracle's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The URL, in normal form.
    pub url: String,
    /// The engine's answer: `allow`, `disallow` or `nothing`.
    pub answer: &'static str,
    /// The oracle's answer.
    pub oracle: &'static str,
}

/// The result of comparing an engine with the oracle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The conclusion.
    pub status: Status,
    /// The number of URLs that the engine was asked to decide.
    pub asked: usize,
    /// The number of URLs that it answered.
    pub answered: usize,
    /// The checksum of its answers in the order of the list, in hexadecimal digits.
    pub checksum: String,
    /// The number of answers that differ from the oracle's.
    pub differing: usize,
    /// The first differing answers, and for a built-in engine also the first missing answers.
    pub examples: Vec<Example>,
    /// The number of refused files by reason.
    pub files_refused: BTreeMap<String, usize>,
    /// The answer to each question by its number. `None` if there is none.
    #[serde(skip)]
    pub(super) answers: Vec<Option<bool>>,
}

impl Judgement {
    /// Decides every question of `corpus` with the oracle, on the calling thread's rayon pool. The
    /// oracle reads each URL as it is in the list, so that portcullis's normal form is judged too.
    pub fn of(corpus: &Corpus) -> Judgement {
        let tokens: Vec<&str> = corpus.agent.tokens().collect();
        let mut by_file: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, question) in corpus.questions.iter().enumerate() {
            by_file.entry(question.file).or_default().push(number);
        }
        let judged = by_file.into_par_iter().flat_map_iter(|(file, numbers)| {
            let text = corpus.text_as_read(file);
            let judge = oracle::Judge::new(corpus.dialect(), text, Some(ROBOTS_BYTES_MAX), &tokens);
            let allows =
                move |number: usize| judge.decide(&corpus.urls[number]).verdict == Verdict::Allow;
            numbers.into_iter().map(move |number| (number, allows(number)))
        });
        let mut judged: Vec<(usize, bool)> = judged.collect();
        judged.sort_unstable();
        Judgement(judged.into_iter().map(|(_, is_allowed)| is_allowed).collect())
    }

    /// Returns the tally of the oracle's answers to a list.
    pub fn tally(&self, list: &QuestionList) -> Tally {
        Tally::of(list.numbers().map(|number| self.0[number]))
    }

    /// Compares an engine's answers to all questions of `list` with the oracle's.
    ///
    /// # Errors
    ///
    /// If the engine fails as a whole, or answers nothing.
    pub fn compare(
        &self,
        kind: EngineKind,
        matcher: &mut dyn Matcher,
        list: &QuestionList,
    ) -> Result<Verification> {
        let is_ours = kind == EngineKind::BuiltIn;
        let answers = matcher.answers(list)?;
        let mut found = Verification {
            asked: list.len(),
            answered: answers.iter().flatten().count(),
            checksum: Tally::of(answers.iter().flatten().copied()).text(),
            answers: vec![None; self.0.len()],
            ..Verification::default()
        };
        for ((question, number), answer) in list.iter().zip(list.numbers()).zip(answers) {
            let oracle = self.0[number];
            found.answers[number] = answer;
            if answer.map_or(!is_ours, |answer| answer == oracle) {
                continue;
            }
            found.differing += 1;
            if found.examples.len() < EXAMPLES_MAX {
                let word = |allows| if allows { "allow" } else { "disallow" };
                found.examples.push(Example {
                    url: question.url.to_owned(),
                    answer: answer.map_or("nothing", word),
                    oracle: word(oracle),
                });
            }
        }
        for reason in matcher.refusals() {
            *found.files_refused.entry(reason).or_default() += 1;
        }
        found.status = match found.differing {
            0 if found.answered == 0 => Status::Failed("answers no URL".to_owned()),
            0 => Status::Verified,
            _ if is_ours => Status::Wrong,
            _ => Status::Differs,
        };
        Ok(found)
    }
}

impl Verification {
    /// Compares the tally of a timed pass with the engine's answers in the comparison.
    ///
    /// # Errors
    ///
    /// If they differ.
    pub(super) fn expect(&self, list: &QuestionList, tally: Tally) -> Result<()> {
        let expected = Tally::of(list.numbers().map(|number| self.answers[number] == Some(true)));
        let (now, before) = (tally.allowed, expected.allowed);
        ensure!(
            tally == expected,
            "a timed pass allowed {now} URLs and the comparison {before}, or others; no time counts"
        );
        Ok(())
    }

    /// Whether times of the engine may be shown.
    pub fn may_be_timed(&self) -> bool {
        matches!(self.status, Status::Verified | Status::Differs)
    }
}
