//! Ours: all files in one table, with each strategy forced, and a table for each file.

use std::cell::OnceCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::automaton::Limits;
use crate::batch::{Classifier, ClassifierMemory};
use crate::decision::Verdict;
use crate::dialect::Dialect;
use crate::limits::RECORDS_AT_ONCE;
use crate::policy::{AgentChain, Compilation, Detail, Memory, PolicySource, PolicyTable};
use crate::syntax::RobotsTxt;

use super::super::corpus::{Corpus, Policies};
use super::super::engine::{Built, Engine, EngineError, EngineKind, Matcher, Pass, Tally};
use super::super::questions::{Question, QuestionList};
use super::BASELINE;

/// The engines of this file.
pub(super) fn all(corpus: &Corpus) -> Vec<Box<dyn Engine + '_>> {
    let usual = Limits::default();
    let lazy = Limits { candidates_tried_max: None, ..usual };
    let scan = Limits { positions_per_byte: 0, ..lazy };
    vec![
        Box::new(OneTable { corpus, name: BASELINE, limits: usual }),
        Box::new(Alone { corpus }),
        Box::new(OneTable { corpus, name: "portcullis-lazy", limits: lazy }),
        Box::new(OneTable { corpus, name: "portcullis-scan", limits: scan }),
    ]
}

/// All files in one table, where equal rule sets are one.
struct OneTable<'c> {
    corpus: &'c Corpus,
    name: &'static str,
    limits: Limits,
}

impl Engine for OneTable<'_> {
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
        // The same step for every strategy; one row is enough.
        (self.name == BASELINE).then(|| time_to_parse(files, self.corpus.dialect()))
    }

    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        let Corpus { agent, .. } = self.corpus;
        Ok(Built::timed(|| {
            let table = compile(files, agent.clone(), self.corpus.dialect(), self.limits);
            let memory = table.memory();
            Table { engine: self, table, memory, classifier: OnceCell::new() }
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

fn compile(
    files: &[&[u8]],
    agent: AgentChain,
    dialect: &'static Dialect,
    limits: Limits,
) -> PolicyTable {
    let sources: Vec<PolicySource<'_>> =
        files.iter().map(|text| PolicySource::File(text)).collect();
    // The limit on a file's size was applied when the corpus was made.
    let compilation = Compilation {
        detail: Detail::Reason,
        robots_octets_max: None,
        limits,
        ..Compilation::new(dialect)
    };
    PolicyTable::compile(&sources, vec![agent], &compilation)
}

/// The table, and what a batch needs beside it.
struct Table<'e> {
    engine: &'e OneTable<'e>,
    table: PolicyTable,
    memory: Memory,
    /// Compiled when a batch is first asked for; that is a pass which is not timed.
    classifier: OnceCell<(Classifier<'e>, ClassifierMemory)>,
}

impl Matcher for Table<'_> {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let Question { file, path, .. } = question;
        let decisions = self.table.decide(file, path.as_bytes(), &mut self.memory);
        decisions[0].verdict == Verdict::Allow
    }

    fn pass(&mut self, list: &QuestionList) -> Option<Pass> {
        let start = Instant::now();
        let mut tally = Tally::default();
        let (mut policies, mut paths): (Vec<u32>, Vec<&[u8]>) = Default::default();
        for block in black_box(list).blocks(RECORDS_AT_ONCE) {
            policies.clear();
            paths.clear();
            policies.extend(block.files());
            paths.extend(block.paths());
            for decision in self.table.decide_block(&policies, &paths, &mut self.memory) {
                tally.add(decision.verdict == Verdict::Allow);
            }
        }
        Some(Pass { time: start.elapsed(), tally })
    }

    fn octets(&self) -> Option<u64> {
        let rule_sets = self.table.census().rule_set_octets;
        Some((rule_sets + self.memory.memory_octets()) as u64)
    }

    fn note(&self) -> Option<String> {
        let is_stored = matches!(self.engine.corpus.policies, Policies::Stored(_));
        is_stored.then(|| "a batch of it finds files by the table that the others have".to_owned())
    }

    fn batch(&mut self, list: &QuestionList) -> Option<Pass> {
        let OneTable { corpus, limits, .. } = self.engine;
        let Policies::Loaded(set) = &corpus.policies else { return None };
        self.classifier.get_or_init(|| {
            let agents = vec![corpus.agent.clone()];
            let classifier = Classifier::with_limits(set, agents, Detail::Reason, *limits);
            let memory = classifier.memory();
            (classifier, memory)
        });
        let (classifier, memory) = self.classifier.get_mut()?;
        batch(classifier, memory, list)
    }
}

/// Classifies a list block by block; nothing if the set is damaged.
pub(super) fn batch(
    classifier: &Classifier<'_>,
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

/// A table for each file: nothing is shared between files, as peers share nothing.
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
        let build = |text: &&[u8]| {
            let table = compile(&[text], agent.clone(), self.corpus.dialect(), Limits::default());
            let memory = table.memory();
            (table, memory)
        };
        Ok(Built::timed(|| Tables(files.iter().map(build).collect())))
    }
}

struct Tables(Vec<(PolicyTable, Memory)>);

impl Matcher for Tables {
    #[inline]
    fn allows(&mut self, question: Question<'_>) -> bool {
        let (table, memory) = &mut self.0[question.file];
        table.decide(0, question.path.as_bytes(), memory)[0].verdict == Verdict::Allow
    }

    fn octets(&self) -> Option<u64> {
        let octets = |(table, memory): &(PolicyTable, Memory)| {
            table.census().rule_set_octets + memory.memory_octets()
        };
        Some(self.0.iter().map(octets).sum::<usize>() as u64)
    }
}
