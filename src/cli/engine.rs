//! The policies that were asked for, compiled, and the classifier as the report's formats see it.

use anyhow::{Context, anyhow, ensure};
use portcullis::access::UnixSeconds;
use portcullis::batch::{Classifier, ClassifierMemory};
use portcullis::decision::Decision;
use portcullis::dialect::Dialect;
use portcullis::input::Record;
use portcullis::kind::{FileKind, WrongKind};
use portcullis::policy::Detail;
use portcullis::report::{CaptureDates, Figures, Judge, Provenance, Witness};
use portcullis::set::{Damage, LoadConfig, LoadNote, LoadNoteKind, PolicySet, SetError, StoredSet};
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

    /// Loads the policies and says on standard error what was left out of them.
    ///
    /// # Errors
    ///
    /// If the path cannot be read, or nothing in it is a policy.
    pub fn load(&self, plan: &PolicyPlan) -> anyhow::Result<Policies> {
        match plan {
            PolicyPlan::Robots { path, dialect, octets_max, strictness } => {
                let config = LoadConfig { dialect, robots_octets_max: *octets_max };
                let set = self.pool.install(|| PolicySet::load_with(path, &config, *strictness))?;
                show_notes(set.notes());
                Ok(Policies::Loaded(set))
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
                Ok(Policies::Stored(Box::new(set)))
            }
        }
    }

    /// Compiles the policies for those who ask.
    ///
    /// # Errors
    ///
    /// If somebody is no agent in the policies' dialect, or the set is damaged.
    pub fn compile<'s>(
        &self,
        policies: &'s Policies,
        questions: &QuestionPlan,
        detail: Detail,
    ) -> anyhow::Result<Classifier<'s>> {
        let agents = questions.agents(policies.dialect())?;
        let classifier = match policies {
            Policies::Loaded(set) => self.pool.install(|| Classifier::new(set, agents, detail)),
            Policies::Stored(set) => Classifier::stored(set, agents, detail)?,
        };
        Ok(classifier.with_automata_bytes_max(questions.automata_bytes_max))
    }
}

/// Policies, wherever they came from.
pub enum Policies {
    Loaded(PolicySet),
    Stored(Box<StoredSet>),
}

impl Policies {
    pub fn dialect(&self) -> &'static Dialect {
        match self {
            Policies::Loaded(set) => set.dialect(),
            Policies::Stored(set) => set.dialect(),
        }
    }

    /// The hash that names the set.
    pub fn hash(&self) -> u64 {
        match self {
            Policies::Loaded(set) => set.hash(),
            Policies::Stored(set) => set.hash(),
        }
    }

    /// The number of origins; none if one policy speaks for everything.
    pub fn origins(&self) -> Option<usize> {
        match self {
            Policies::Loaded(set) => set.origins(),
            Policies::Stored(set) => Some(set.counts().origins as usize),
        }
    }

    /// When the oldest and the newest policy were fetched, if that is known.
    pub fn captured(&self) -> Option<CaptureDates> {
        let Policies::Stored(set) = self else { return None };
        let (first, last) = set.counts().captured?;
        let date = |seconds| UnixSeconds(seconds).to_rfc3339();
        Some(CaptureDates { first: date(first), last: date(last) })
    }

    /// Files that were left out of a folder.
    pub fn left_out(&self) -> u64 {
        let Policies::Loaded(set) = self else { return 0 };
        let is_left_out = |note: &&LoadNote| matches!(note.kind, LoadNoteKind::LeftOut(_));
        set.notes().iter().filter(is_left_out).count() as u64
    }

    /// Files without a rule that look like something else than robots.txt, by what they look like;
    /// captures of such files, in a compiled set.
    pub fn appearances(&self) -> Figures {
        let counts: [u64; NoteKind::APPEARANCES.len()] = match self {
            Policies::Loaded(set) => NoteKind::APPEARANCES.map(|kind| {
                let kind = LoadNoteKind::Appearance(kind);
                set.notes().iter().filter(|note| note.kind == kind).count() as u64
            }),
            Policies::Stored(set) => set.counts().appearances,
        };
        let names = NoteKind::APPEARANCES.map(NoteKind::as_str);
        Figures(names.into_iter().zip(counts).collect())
    }

    /// Whether what was answered can be relied on: to be asked before it is called complete.
    ///
    /// # Errors
    ///
    /// If the set's file became shorter meanwhile.
    pub fn is_whole(&self) -> anyhow::Result<()> {
        match self {
            Policies::Loaded(_) => Ok(()),
            Policies::Stored(set) => Ok(set.is_whole()?),
        }
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

/// Shows remarks on standard error, the first ones of many.
pub fn show_notes(notes: &[LoadNote]) {
    for note in notes.iter().take(NOTES_SHOWN_MAX) {
        let weight = match note.kind {
            LoadNoteKind::LeftOut(_) => "note",
            LoadNoteKind::Appearance(_) => "warning",
        };
        say_plainly(format_args!("{weight}: {note}"));
    }
    if notes.len() > NOTES_SHOWN_MAX {
        let rest = notes.len() - NOTES_SHOWN_MAX;
        say_plainly(format_args!("note: and {rest} more of these"));
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
    type Failure = Damage;

    #[inline]
    fn judge(&mut self, records: &[Record<'_>]) -> Result<&[Decision], Damage> {
        self.classifier.classify(records, self.assumed_scheme, &mut self.memory)
    }
}

impl Witness for Asker<'_> {
    fn provenance(&mut self, record: usize, agent: usize) -> Result<Provenance<'_>, Damage> {
        let (rule, group) = self.classifier.provenance(record, agent, &mut self.memory)?;
        Ok(Provenance { rule, group })
    }
}

impl Asker<'_> {
    /// The decisions for one URL, one for each agent.
    pub fn ask(&mut self, url: &[u8]) -> Result<Vec<Decision>, Damage> {
        let decisions = self.classifier.classify(&[url], self.assumed_scheme, &mut self.memory)?;
        Ok(decisions.to_vec())
    }
}
