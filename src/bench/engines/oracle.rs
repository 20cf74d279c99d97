//! The oracle as an engine: what doing everything naively for each URL costs.

use std::time::Duration;

use crate::decision::Verdict;
use crate::oracle;

use super::super::corpus::Corpus;
use super::super::engine::{Asked, Built, Engine, EngineError, EngineKind, Matcher};
use super::super::questions::Question;

/// It reads the whole file for each question.
pub(super) struct Oracle<'c>(pub &'c Corpus);

impl Engine for Oracle<'_> {
    fn name(&self) -> &str {
        "oracle"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn kind(&self) -> EngineKind {
        EngineKind::BuiltIn
    }

    fn parses_each_time(&self) -> bool {
        true
    }

    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        let judge = Judge { corpus: self.0, tokens: self.0.agent.tokens().collect(), files };
        Ok(Built { time: Duration::ZERO, matchers: Box::new(Asked(judge)) })
    }
}

struct Judge<'f> {
    corpus: &'f Corpus,
    tokens: Vec<&'f str>,
    files: &'f [&'f [u8]],
}

impl Matcher for Judge<'_> {
    fn allows(&mut self, question: Question<'_>) -> bool {
        let (dialect, text) = (self.corpus.dialect(), self.files[question.file]);
        let decision = oracle::decide(dialect, text, None, &self.tokens, question.url.as_bytes());
        decision.verdict == Verdict::Allow
    }
}
