//! The sources of one set: policy sets, whose captures are joined, and archives.
//!
//! Sets are recognized by their first bytes. Few are open at a time, so that any number can be joined.
//! Each is opened twice: once for the settings that all have to share, and once for its captures.
//!
//! Errors name the set or the archive that they are about: [`MergeError`].

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use portcullis_files::kind::POLICY_SET;
use portcullis_files::scratch::Scratch;
use portcullis_set::file::SetError;
use portcullis_set::stored::PolicySet;
use serde::Serialize;

use crate::ingest::{IngestConfig, IngestObserver, Ingested, Input, Merger, Progress};
use crate::limits::SETS_AT_ONCE;
use crate::merging::{MergeError, SettleChoice};
use crate::provenance::InputReport;

/// Policy sets and archives that are compiled to one set.
#[derive(Debug)]
pub struct Sources {
    sets: Vec<PathBuf>,
    archives: Vec<Input>,
    open: OpenSet,
    /// For each set.
    seen: Vec<SourceSet>,
    /// The number of each input of a set that is read, and of each archive.
    numbers: Vec<u32>,
    config: IngestConfig,
}

/// Opens a policy set to compile its captures again, as [`PolicySet::map_to_compile`].
pub type OpenSet = fn(&Path) -> Result<PolicySet, SetError>;

/// Facts about a policy set that was read. Its JSON form is part of summaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceSet {
    /// The name of the set.
    pub name: String,
    /// The hash of its content.
    pub set_hash: String,
    /// The number of its origins.
    pub origins: u64,
    /// Whether it was compiled with history. It is not part of the JSON form.
    #[serde(skip)]
    pub has_history: bool,
}

impl SourceSet {
    fn of(set: &PolicySet) -> SourceSet {
        SourceSet {
            name: set.name().to_owned(),
            set_hash: set.hash().to_string(),
            origins: set.counts().origins,
            has_history: set.has_history(),
        }
    }
}

impl Sources {
    /// Tells sets from archives, and opens each set for what it was compiled with, which has to be one.
    /// Archives are read by that and by `choice`; the rest comes from `config`. There is a history if
    /// `config` or some set has one.
    ///
    /// Archives, also the archives of the sets, are used in the order of their names. So the result is the same
    /// as of compiling all at once, for any order of `inputs` and any parts. Archives of one name, as of
    /// standard input, are used in the order of the sets; if their captures have the same second or no date,
    /// merge such sets at once and not in steps.
    ///
    /// # Errors
    ///
    /// As [`IngestConfig::of_sets`], and if a set cannot be opened.
    pub fn new(
        inputs: impl IntoIterator<Item = Input>,
        open: OpenSet,
        choice: &SettleChoice,
        config: IngestConfig,
    ) -> Result<Sources, MergeError> {
        let mut inputs: Vec<Input> = inputs.into_iter().collect();
        inputs.sort_by(|one, other| one.path.cmp(&other.path));
        let (sets, archives): (Vec<Input>, _) =
            inputs.into_iter().partition(|input| starts_like_a_set(&input.path));
        let sets: Vec<PathBuf> = sets.into_iter().map(|input| input.path).collect();
        let (mut seen, mut names) = (Vec::with_capacity(sets.len()), Vec::new());
        let config = if sets.is_empty() {
            IngestConfig { settle: choice.or(config.settle), ..config }
        } else {
            let opened = sets.iter().map(|path| {
                let set = open(path)?;
                seen.push(SourceSet::of(&set));
                names.push(names_of(crate::ingest::inputs(&set).map_err(SetError::from)?));
                Ok::<_, MergeError>(set)
            });
            let of_sets = IngestConfig::of_sets(opened, choice)?;
            let IngestConfig { dialect, robots_bytes_max, settle, .. } = of_sets;
            let history = config.history || of_sets.history;
            IngestConfig { dialect, robots_bytes_max, settle, history, ..config }
        };
        let names = names.into_iter().enumerate().filter(|(set, _)| !is_repeated(&seen, *set));
        let mut names: Vec<PathBuf> = names.flat_map(|(_, names)| names).collect();
        names.extend(names_of(archives.iter().map(Input::report)));
        Ok(Sources { sets, archives, open, numbers: numbers_of(&names), seen, config })
    }

    /// Returns the archives.
    pub fn archives(&self) -> &[Input] {
        &self.archives
    }

    /// Returns what was seen of the sets.
    pub fn sets(&self) -> &[SourceSet] {
        &self.seen
    }

    /// Returns how all of them are read and settled.
    pub fn config(&self) -> &IngestConfig {
        &self.config
    }

    /// Joins the captures of all sets and archives within the memory of `scratch`. The reports on archives
    /// are the last ones of the result.
    ///
    /// Runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// As [`ingest`](fn@crate::ingest), and if a set is damaged, has no captures or was replaced.
    pub fn ingest(
        &self,
        scratch: Scratch,
        observer: &dyn IngestObserver,
    ) -> Result<Ingested, MergeError> {
        let config = IngestConfig { scratch, ..self.config.clone() };
        let mut merger = Merger::new(config).numbered(self.numbers.clone());
        self.add_sets(&mut merger, observer)?;
        if self.sets.is_empty() || !self.archives.is_empty() {
            merger.ingest(&self.archives, observer)?;
        }
        Ok(merger.finish()?)
    }

    /// Joins the captures of all sets. Of equal sets, the last one counts.
    fn add_sets(
        &self,
        merger: &mut Merger,
        observer: &dyn IngestObserver,
    ) -> Result<(), MergeError> {
        let mut join = |sets: &mut Vec<PolicySet>| {
            merger.add(&sets.iter().collect::<Vec<_>>())?;
            for set in sets.drain(..) {
                observer.progressed(&Progress { bytes: set.bytes(), captures: 0, broken: 0 });
            }
            Ok::<_, MergeError>(())
        };
        let mut open = Vec::new();
        for (index, (path, before)) in self.sets.iter().zip(&self.seen).enumerate() {
            let set = (self.open)(path)?;
            if SourceSet::of(&set) != *before {
                return Err(MergeError::Replaced { name: set.name().to_owned() });
            }
            if !is_repeated(&self.seen, index) {
                open.push(set);
            }
            if open.len() == SETS_AT_ONCE {
                join(&mut open)?;
            }
        }
        join(&mut open)
    }
}

/// Whether a later set is equal.
fn is_repeated(seen: &[SourceSet], set: usize) -> bool {
    seen[set + 1..].iter().any(|later| later.set_hash == seen[set].set_hash)
}

fn names_of(inputs: impl IntoIterator<Item = InputReport>) -> Vec<PathBuf> {
    inputs.into_iter().map(|input| PathBuf::from(input.name)).collect()
}

/// Returns the number of each input by name. Of equal names, those that are read first are first.
fn numbers_of(names: &[PathBuf]) -> Vec<u32> {
    let mut places: Vec<usize> = (0..names.len()).collect();
    places.sort_by_key(|&place| &names[place]);
    let mut numbers = vec![0; names.len()];
    (0..).zip(places).for_each(|(number, place)| numbers[place] = number);
    numbers
}

/// Returns whether a file begins like a policy set. One that cannot be read does not; reading it as an
/// archive says why.
pub fn starts_like_a_set(path: &Path) -> bool {
    let mut first = [0; POLICY_SET.len()];
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut read = || File::open(path).and_then(|mut file| file.read_exact(&mut first));
    is_file && read().is_ok() && first == *POLICY_SET
}
