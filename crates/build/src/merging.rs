//! Which sets can be merged, and how the result is compiled.
//!
//! Sets that were compiled with different settings cannot be joined: the texts of one would be read
//! with the settings of the other.
//!
//! ```
//! use portcullis_build::compile::{CompileConfig, to_vec};
//! use portcullis_build::{IngestConfig, Input, MergeSettings, SettleChoice, ingest};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_files::scratch::Scratch;
//! use portcullis_set::PolicySet;
//!
//! let inputs = [Input::new("../../corpora/sample/robots")];
//! let ingested = ingest(&inputs, &IngestConfig::new(&RFC_9309, None), &())?;
//! let compiled = to_vec(&ingested.standings, &CompileConfig::of(&ingested, &RFC_9309, None))?;
//! let set = PolicySet::from_bytes("sample", &compiled)?;
//! let settings = MergeSettings::of(&[&set], &SettleChoice::default())?;
//! let (merged, config) = settings.merge(&[&set], &Scratch::in_memory())?;
//! assert!(to_vec(&merged.standings, &config)? == compiled);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Borrow;

use portcullis_dialect::dialect::Dialect;
use portcullis_files::scratch::Scratch;
use portcullis_robots::access::{LongOutage, UnixSeconds};
use portcullis_set::batch::{BeforeFirst, Classifier};
use portcullis_set::file::{Damage, SetError};
use portcullis_set::stored::PolicySet;

use crate::compile::{CompileConfig, to_memory};
use crate::ingest::{AsOf, Ingested, Merger, inputs, settle_of};
use crate::limits::SETS_AT_ONCE;
use crate::provenance::SettleConfig;

/// The settings with which the sets of a merge were compiled, and those of their merger.
#[derive(Clone, Copy, Debug)]
pub struct MergeSettings {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The bytes that are read of a file; `None` for all.
    pub robots_bytes_max: Option<usize>,
    /// How origins are settled.
    pub settle: SettleConfig,
    /// Whether some set has the history of its origins.
    pub has_history: bool,
}

/// How sets are settled, as far as it is not as they were compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettleChoice {
    /// The time.
    pub as_of: Option<UnixSeconds>,
    /// The effect of long outages.
    pub long_outage: Option<LongOutage>,
    /// Whether schemes are joined, even if no set was compiled so.
    pub join_schemes: bool,
}

/// An error that prevents a merge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no sets.
    #[error("no sets to merge; name at least one")]
    NoSets,
    /// Two sets were compiled with different settings.
    #[error("{first} was compiled {one}, {other} {two}; {fix}")]
    Unlike {
        /// The first set.
        first: String,
        /// How the first set was compiled.
        one: String,
        /// A set that was compiled differently.
        other: String,
        /// How that set was compiled.
        two: String,
        /// The fix.
        fix: &'static str,
    },
    /// A set was not compiled from the captures up to the time of the merger.
    #[error("{set} {problem} {}; compile its captures again with --as-of", time.to_rfc3339())]
    OtherTime {
        /// The set.
        set: String,
        /// What is wrong with its captures.
        problem: &'static str,
        /// The time of the merger.
        time: UnixSeconds,
    },
    /// A set is damaged where its settings are read.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

impl MergeSettings {
    /// Checks that `sets` were compiled alike. What `choice` gives may differ: a time, if each set has
    /// all captures up to it and no others.
    ///
    /// # Errors
    ///
    /// If there are no sets, two of them were compiled with different settings, one has other
    /// captures than those up to its time, or one is damaged.
    pub fn of(sets: &[&PolicySet], choice: &SettleChoice) -> Result<MergeSettings, MergeError> {
        MergeSettings::from_each(sets.iter().map(|&set| Ok(set)), choice)
    }

    /// Like [`MergeSettings::of`], for sets that are opened one after another. Each is dropped before
    /// the next one is opened.
    ///
    /// # Errors
    ///
    /// As [`MergeSettings::of`], and the first error of `sets`.
    pub fn from_each<S: Borrow<PolicySet>, E: From<MergeError>>(
        sets: impl IntoIterator<Item = Result<S, E>>,
        choice: &SettleChoice,
    ) -> Result<MergeSettings, E> {
        let mut first: Option<(String, Described, MergeSettings)> = None;
        let mut of_other_time = None;
        for set in sets {
            let set = set?;
            let set = set.borrow();
            let (own, settle) = described(set, choice).map_err(MergeError::Damaged)?;
            let (name, settings, merged) = first.get_or_insert_with(|| {
                let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
                let merged = MergeSettings {
                    dialect: set.dialect(),
                    robots_bytes_max: set.robots_bytes_max().map(in_memory),
                    settle,
                    has_history: false,
                };
                (set.name().to_owned(), own.clone(), merged)
            });
            let mut pairs = settings.iter().zip(&own);
            if let Some(((one, fix), (two, _))) = pairs.find(|((one, _), (two, _))| one != two) {
                let (first, other) = (name.clone(), set.name().to_owned());
                let (one, two) = (one.clone(), two.clone());
                return Err(MergeError::Unlike { first, one, other, two, fix }.into());
            }
            merged.has_history |= set.has_history();
            if let Some(time) = settle.time() {
                of_other_time = of_other_time.or(check_captures(set, time).err());
            }
        }
        match (first, of_other_time) {
            (None, _) => Err(MergeError::NoSets.into()),
            (Some(_), Some(error)) => Err(error.into()),
            (Some((.., merged)), None) => Ok(merged),
        }
    }

    /// Merges sets with these settings, and returns how to compile the result. Of equal sets, the last
    /// one counts.
    ///
    /// Runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// If a set is damaged or has no captures, and if it is mapped from a file that was written to.
    pub fn merge(
        &self,
        sets: &[&PolicySet],
        scratch: &Scratch,
    ) -> Result<(Ingested, CompileConfig), SetError> {
        let mut merger = Merger::new(self.dialect, self.has_history, scratch);
        merger.add_distinct(sets)?;
        self.finish(merger, scratch)
    }

    /// Settles what was merged with these settings, and returns how to compile the result.
    ///
    /// # Errors
    ///
    /// If a temporary file fails.
    pub fn finish(
        &self,
        merger: Merger,
        scratch: &Scratch,
    ) -> Result<(Ingested, CompileConfig), SetError> {
        let merged = merger.finish(self.settle)?;
        let config = CompileConfig::of(&merged, self.dialect, self.robots_bytes_max);
        Ok((merged, CompileConfig { scratch: scratch.clone(), ..config }))
    }
}

impl Merger {
    /// Adds the captures of sets. Of equal sets, the last one counts.
    ///
    /// Runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// As [`MergeSettings::merge`].
    pub fn add_distinct(&mut self, sets: &[&PolicySet]) -> Result<(), SetError> {
        let mut counting = Vec::new();
        for (index, &set) in sets.iter().enumerate() {
            if sets[index + 1..].iter().all(|later| later.hash() != set.hash()) {
                counting.push(set);
            }
        }
        counting.chunks(SETS_AT_ONCE).try_for_each(|sets| self.add(sets))
    }
}

/// Reads the captures of a set and settles its origins again.
///
/// Runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If the set is damaged or has no captures, or a temporary file fails.
pub fn settled(set: &PolicySet, scratch: &Scratch) -> Result<Ingested, SetError> {
    let mut merger = Merger::new(set.dialect(), set.has_history(), scratch);
    merger.add(&[set])?;
    Ok(merger.finish(settle_of(set)?)?)
}

/// Returns the set that a set with history was at a time, in memory: the policies that were in force
/// then. It has no history and cannot be merged.
///
/// # Errors
///
/// If the set is damaged, or a temporary file fails.
///
/// # Panics
///
/// If the set has no history.
pub fn as_of(
    set: &PolicySet,
    (time, before_first): (UnixSeconds, BeforeFirst),
    scratch: &Scratch,
) -> Result<PolicySet, SetError> {
    assert!(set.has_history(), "the set has no history");
    let mut merger = Merger::new(set.dialect(), true, scratch);
    merger.add(&[set])?;
    let at = AsOf { time, or_oldest: before_first == BeforeFirst::Oldest };
    let standings = merger.settle(settle_of(set)?, Some(at))?.standings;
    let config = CompileConfig::like(set, scratch)?;
    let compiled = to_memory(&standings, &config, (None, true));
    let compiled = compiled.map_err(|error| error.of_set(set))?;
    Ok(PolicySet::from_compiled(set.name(), compiled, None, true))
}

/// Returns the set of the one time of [`Classifier::as_of`], as [`as_of`]; `None` if there is no such
/// time.
///
/// # Errors
///
/// As [`as_of`].
pub fn set_as_of(
    classifier: &Classifier,
    scratch: &Scratch,
) -> Result<Option<PolicySet>, SetError> {
    classifier.one_time().map(|time| as_of(classifier.set(), time, scratch)).transpose()
}

/// Checks that a set has the captures up to `time`: later ones have replaced older ones, and those
/// that were left out are lost.
fn check_captures(set: &PolicySet, time: UnixSeconds) -> Result<(), MergeError> {
    let inputs = inputs(set)?;
    let newest = inputs.iter().filter_map(|input| input.captured).map(|dates| dates.last).max();
    let lacks_some = settle_of(set)?.time() < Some(time) && inputs.iter().any(|it| it.later > 0);
    let problem = match (newest > Some(time), lacks_some) {
        (true, _) => "has captures after",
        (false, true) => "lacks captures up to",
        (false, false) => return Ok(()),
    };
    Err(MergeError::OtherTime { set: set.name().to_owned(), problem, time })
}

/// Settings as flags, each with the fix if they differ.
type Described = [(String, &'static str); 5];

/// Returns the settings that all sets of a merge share, and how origins are settled.
fn described(set: &PolicySet, choice: &SettleChoice) -> Result<(Described, SettleConfig), Damage> {
    let compiled = settle_of(set)?;
    let settle = SettleConfig {
        as_of: choice.as_of.or(compiled.as_of),
        long_outage: choice.long_outage.unwrap_or(compiled.long_outage),
        join_schemes: choice.join_schemes || compiled.join_schemes,
    };
    let bytes = set.robots_bytes_max().map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let time = match settle.as_of {
        Some(time) => format!("with --as-of {}", time.to_rfc3339()),
        None => "without --as-of".to_owned(),
    };
    let joined = if settle.join_schemes { "with --join-schemes" } else { "without --join-schemes" };
    let described = [
        (format!("with --dialect {}", set.dialect().name), "compile one of them again"),
        (format!("with --max-robots-size {bytes}"), "compile one of them again"),
        (time, "pass --as-of"),
        (format!("with --long-outage {}", settle.long_outage.as_str()), "pass --long-outage"),
        (joined.to_owned(), "pass --join-schemes"),
    ];
    Ok((described, settle))
}
