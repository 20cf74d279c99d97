//! Ours: all files in one set, with each way of deciding forced, and a set for each file.

use std::cell::OnceCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::automaton::Limits;
use crate::batch::{Classifier, ClassifierMemory};
use crate::decision::Verdict;
use crate::dialect::Dialect;
use crate::limits::RECORDS_AT_ONCE;
use crate::policy::Detail;
use crate::syntax::RobotsTxt;

use super::super::corpus::Corpus;
use super::super::engine::{Built, Engine, EngineError, EngineKind, Matcher, Pass, Tally};
use super::super::questions::{Question, QuestionList};
use super::BASELINE;
use super::numbered::Numbered;

/// The engines of this file.
pub(super) fn all(corpus: &Corpus) -> Vec<Box<dyn Engine + '_>> {
    let usual = Limits::default();
    let lazy = Limits { candidates_tried_max: None, ..usual };
    let scan = Limits { positions_per_byte: 0, ..lazy };
    vec![
        Box::new(OneSet { corpus, name: BASELINE, limits: usual }),
        Box::new(Alone { corpus }),
        Box::new(OneSet { corpus, name: "portcullis-lazy", limits: lazy }),
        Box::new(OneSet { corpus, name: "portcullis-scan", limits: scan }),
    ]
}

/// All files in one set, where equal rule sets are one.
struct OneSet<'c> {
    corpus: &'c Corpus,
    name: &'static str,
    limits: Limits,
}

impl Engine for OneSet<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn kind(&self) -> EngineKind {
        EngineKind::BuiltIn
    }

    fn parse(&self, files: &[&[u8]]) -> Option<Duration> {
        // The same step for every way of deciding; one row is enough.
        (self.name == BASELINE).then(|| time_to_parse(files, self.corpus.dialect()))
    }

    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        let Corpus { agent, .. } = self.corpus;
        Ok(Built::timed(|| Files {
            engine: self,
            // The limit on a file's size was applied when the corpus was made.
            numbered: Numbered::new(files, agent, self.corpus.dialect(), self.limits),
            classifier: OnceCell::new(),
        }))
    }
}

fn time_to_parse(files: &[&[u8]], dialect: &Dialect) -> Duration {
    let start = Instant::now();
    for text in files {
        black_box(RobotsTxt::parse(text, dialect, None).rules().len());
    }
    start.elapsed()
}

/// The files, and what a batch needs beside them.
struct Files<'e> {
    engine: &'e OneSet<'e>,
    numbered: Numbered,
    /// Made when a batch is first asked for; that is a pass which is not timed.
    classifier: OnceCell<(Classifier, ClassifierMemory)>,
}

impl Matcher for Files<'_> {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let Question { file, path, .. } = question;
        let decisions = self.numbered.decide([file].into_iter(), &[path.as_bytes()]);
        decisions[0].verdict == Verdict::Allow
    }

    fn pass(&mut self, list: &QuestionList) -> Option<Pass> {
        let start = Instant::now();
        let mut tally = Tally::default();
        let mut paths: Vec<&[u8]> = Vec::new();
        for block in black_box(list).blocks(RECORDS_AT_ONCE) {
            paths.clear();
            paths.extend(block.paths());
            let files = block.files().map(|file| file as usize);
            for decision in self.numbered.decide(files, &paths) {
                tally.add(decision.verdict == Verdict::Allow);
            }
        }
        Some(Pass { time: start.elapsed(), tally })
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.numbered.bytes())
    }

    fn batch(&mut self, list: &QuestionList) -> Option<Pass> {
        let OneSet { corpus, limits, .. } = self.engine;
        if self.classifier.get().is_none() {
            let (set, agents) = (Arc::clone(&corpus.set), vec![corpus.agent.clone()]);
            let classifier = Classifier::with_limits(set, agents, Detail::Reason, *limits).ok()?;
            let memory = classifier.memory();
            let _ = self.classifier.set((classifier, memory));
        }
        let (classifier, memory) = self.classifier.get_mut()?;
        batch(classifier, memory, list)
    }
}

/// Classifies a list block by block; nothing if the set is damaged.
fn batch(
    classifier: &Classifier,
    memory: &mut ClassifierMemory,
    list: &QuestionList,
) -> Option<Pass> {
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut block = Vec::with_capacity(RECORDS_AT_ONCE);
    let mut urls = black_box(list).iter().map(|question| question.url);
    loop {
        block.clear();
        block.extend(urls.by_ref().take(RECORDS_AT_ONCE));
        if block.is_empty() {
            return Some(Pass { time: start.elapsed(), tally });
        }
        for decision in classifier.classify(&block, None, memory).ok()? {
            tally.add(decision.verdict == Verdict::Allow);
        }
    }
}

/// A set for each file: nothing is shared between files, as peers share nothing.
struct Alone<'c> {
    corpus: &'c Corpus,
}

impl Engine for Alone<'_> {
    fn name(&self) -> &str {
        "portcullis-alone"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn kind(&self) -> EngineKind {
        EngineKind::BuiltIn
    }

    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        let Corpus { agent, .. } = self.corpus;
        let (dialect, limits) = (self.corpus.dialect(), Limits::default());
        let build = |text: &&[u8]| Numbered::new(&[text], agent, dialect, limits);
        Ok(Built::timed(|| Sets(files.iter().map(build).collect())))
    }
}

struct Sets(Vec<Numbered>);

impl Matcher for Sets {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let set = &mut self.0[question.file];
        let decisions = set.decide([0].into_iter(), &[question.path.as_bytes()]);
        decisions[0].verdict == Verdict::Allow
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.0.iter().map(Numbered::bytes).sum())
    }
}
