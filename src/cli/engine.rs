//! The policies that were asked for, compiled, and the classifier as the report's formats see it.

use std::io::{self, Write};

use anyhow::Context;
use portcullis::batch::{Classifier, ClassifierMemory};
use portcullis::decision::Decision;
use portcullis::policy::Detail;
use portcullis::report::{Judge, Provenance, Witness};
use portcullis::set::{LoadConfig, PolicySet};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::plan::{PolicyPlan, QuestionPlan};

/// Remarks on files that are shown one by one; a folder may hold thousands of strange ones.
const NOTES_SHOWN_MAX: usize = 10;

/// Threads that load and compile; those that classify are the runner's own.
pub struct Engine {
    pool: ThreadPool,
}

impl Engine {
    /// An engine of so many threads, 0 for one a processor.
    ///
    /// # Errors
    ///
    /// If the system does not give that many threads.
    pub fn new(threads: usize) -> anyhow::Result<Engine> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .with_context(|| format!("cannot start {threads} threads; ask for fewer with -j"))?;
        Ok(Engine { pool })
    }

    /// Loads the policies and says on standard error what was left out of them.
    ///
    /// # Errors
    ///
    /// If the path cannot be read, or nothing in it is a policy.
    pub fn load(&self, plan: &PolicyPlan) -> anyhow::Result<PolicySet> {
        let config =
            LoadConfig { dialect: plan.dialect, robots_octets_max: plan.robots_octets_max };
        let set = self
            .pool
            .install(|| PolicySet::load(&plan.robots, &config))
            .context("cannot load the policies that --robots names")?;
        show_notes(&set);
        Ok(set)
    }

    /// Compiles the policies for those who ask.
    pub fn compile<'s>(
        &self,
        set: &'s PolicySet,
        questions: &QuestionPlan,
        detail: Detail,
    ) -> Classifier<'s> {
        self.pool.install(|| Classifier::new(set, questions.agents.clone(), detail))
    }
}

fn show_notes(set: &PolicySet) {
    let notes = set.notes();
    let mut err = io::stderr().lock();
    // The run goes on without the remarks if standard error is closed.
    for note in notes.iter().take(NOTES_SHOWN_MAX) {
        let _ = writeln!(err, "portcullis: note: {note}");
    }
    if notes.len() > NOTES_SHOWN_MAX {
        let rest = notes.len() - NOTES_SHOWN_MAX;
        let _ = writeln!(err, "portcullis: note: and {rest} more that were left out");
    }
}

/// A classifier with what one thread needs to ask it.
pub struct Asker<'c> {
    classifier: &'c Classifier<'c>,
    assumed_scheme: Option<&'c [u8]>,
    memory: ClassifierMemory,
}

impl<'c> Asker<'c> {
    pub fn new(classifier: &'c Classifier<'c>, questions: &'c QuestionPlan) -> Asker<'c> {
        Asker {
            classifier,
            assumed_scheme: questions.assumed_scheme.as_deref(),
            memory: classifier.memory(),
        }
    }
}

impl Judge for Asker<'_> {
    #[inline]
    fn judge(&mut self, record: &[u8]) -> &[Decision] {
        self.classifier.classify(record, self.assumed_scheme, &mut self.memory)
    }
}

impl Witness for Asker<'_> {
    fn provenance(&self, agent: usize) -> Provenance<'_> {
        let (rule, group) = self.classifier.provenance(agent, &self.memory);
        Provenance { rule, group }
    }
}
