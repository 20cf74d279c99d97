//! Ours over a compiled set: nothing is parsed or compiled, and a decision begins with the origin.

use std::time::Instant;

use crate::batch::{Classifier, ClassifierMemory};
use crate::decision::Verdict;
use crate::policy::Detail;

use super::super::corpus::{Corpus, Policies};
use super::super::engine::{Asked, Built, Engine, EngineError, EngineKind, Matcher, Pass};
use super::super::questions::{Question, QuestionList};

/// The set that the corpus comes from.
pub(super) struct Stored<'c>(pub &'c Corpus);

impl Engine for Stored<'_> {
    fn name(&self) -> &str {
        super::STORED
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn kind(&self) -> EngineKind {
        EngineKind::BuiltIn
    }

    fn build<'f>(&'f self, _files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        let Policies::Stored(set) = &self.0.policies else {
            return Err(EngineError("there is no compiled set; give one with -p".to_owned()));
        };
        let start = Instant::now();
        let agents = vec![self.0.agent.clone()];
        let classifier = Classifier::stored(set, agents, Detail::Reason);
        let classifier = classifier.map_err(|damage| EngineError(damage.to_string()))?;
        let memory = classifier.memory();
        let time = start.elapsed();
        Ok(Built { time, matchers: Box::new(Asked(Inquirer { classifier, memory })) })
    }
}

struct Inquirer<'f> {
    classifier: Classifier<'f>,
    memory: ClassifierMemory,
}

impl Matcher for Inquirer<'_> {
    fn takes_paths(&self) -> bool {
        false
    }

    fn allows(&mut self, question: Question<'_>) -> bool {
        // A damaged set answers nothing, which is no permission.
        let decided = self.classifier.classify(&[question.url], None, &mut self.memory);
        decided.is_ok_and(|decisions| decisions[0].verdict == Verdict::Allow)
    }

    fn batch(&mut self, list: &QuestionList) -> Option<Pass> {
        super::ours::batch(&self.classifier, &mut self.memory, list)
    }
}
