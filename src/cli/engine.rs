//! The policies that were asked for, and the classifier over them.

use std::sync::Arc;

use anyhow::{Context, anyhow, ensure};
use portcullis::access::UnixSeconds;
use portcullis::batch::Classifier;
use portcullis::kind::{FileKind, WrongKind};
use portcullis::policy::Detail;
use portcullis::report::{CaptureDates, Figures};
use portcullis::set::{LoadConfig, LoadNote, LoadNoteKind, PolicySet, SetError};
use portcullis::syntax::NoteKind;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::mapped;
use super::message::say_plainly;
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

    /// Does `work` on the engine's threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Loads the policies for those who ask, and says on standard error what was left out of them.
    ///
    /// # Errors
    ///
    /// If the path cannot be read, nothing in it is a policy, or somebody is no agent in the policies'
    /// dialect.
    pub fn load(&self, plan: &PolicyPlan, questions: &QuestionPlan) -> anyhow::Result<Policies> {
        match plan {
            PolicyPlan::Robots { path, dialect, bytes_max, strictness } => {
                let config = LoadConfig {
                    dialect,
                    robots_bytes_max: *bytes_max,
                    agents: Some(questions.agents(dialect)?.into()),
                    strictness: *strictness,
                };
                let loaded = self.install(|| PolicySet::load(path, &config))?;
                show_notes(&loaded.notes, loaded.odd());
                Ok(Policies { left_out: loaded.left_out, set: loaded.set.into() })
            }
            PolicyPlan::Set { path, dialect } => {
                let set = mapped::set(path).map_err(needs_set)?;
                let own = set.dialect();
                ensure!(
                    dialect.is_none_or(|asked| asked.name == own.name),
                    "{} was compiled for the dialect {}; leave --dialect out, or compile it for \
                     the other one",
                    path.display(),
                    own.name
                );
                Ok(Policies { set: set.into(), left_out: 0 })
            }
        }
    }
}

/// Policies that were loaded, wherever they came from.
pub struct Policies {
    pub set: Arc<PolicySet>,
    /// Files that were left out of a folder.
    pub left_out: u64,
}

impl Policies {
    /// The policies, ready to be asked.
    ///
    /// # Errors
    ///
    /// If somebody is no agent in the policies' dialect, or the set is damaged.
    pub fn classifier(
        &self,
        questions: &QuestionPlan,
        detail: Detail,
    ) -> anyhow::Result<Classifier> {
        let agents = questions.agents(self.set.dialect())?;
        let classifier = Classifier::new(Arc::clone(&self.set), agents, detail)?;
        Ok(classifier.with_automata_bytes_max(questions.automata_bytes_max))
    }

    /// The number of origins; none if one policy speaks for everything.
    pub fn origins(&self) -> Option<usize> {
        (!self.set.is_universal()).then(|| self.set.counts().origins as usize)
    }

    /// When the oldest and the newest policy were fetched, if that is known.
    pub fn captured(&self) -> Option<CaptureDates> {
        let (first, last) = self.set.counts().captured?;
        let date = |seconds| UnixSeconds(seconds).to_rfc3339();
        Some(CaptureDates { first: date(first), last: date(last) })
    }

    /// Captures of files without a rule that look like something else than robots.txt, by what they
    /// look like.
    pub fn appearances(&self) -> Figures {
        let names = NoteKind::APPEARANCES.map(NoteKind::as_str);
        Figures(names.into_iter().zip(self.set.counts().appearances).collect())
    }
}

/// What -p says of something else than a set.
fn needs_set(error: SetError) -> anyhow::Error {
    let SetError::NotASet(wrong) = error else { return error.into() };
    let WrongKind { name, kind, .. } = &wrong;
    let advice = match kind {
        FileKind::Folder | FileKind::Html | FileKind::Json | FileKind::Text => {
            format!("use --robots {name}")
        }
        _ => wrong.advice(),
    };
    anyhow!("-p needs a compiled set; {name} is {kind} ({advice})")
}

/// Shows the first of so many remarks on standard error.
pub fn show_notes(notes: &[LoadNote], count: u64) {
    let shown = notes.iter().take(NOTES_SHOWN_MAX);
    for note in shown.clone() {
        let weight = match note.kind {
            LoadNoteKind::LeftOut(_) => "note",
            LoadNoteKind::Appearance(_) => "warning",
        };
        say_plainly(format_args!("{weight}: {note}"));
    }
    let rest = count - shown.len() as u64;
    if rest > 0 {
        say_plainly(format_args!("note: and {rest} more of these"));
    }
}
