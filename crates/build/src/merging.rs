//! Which sets can be merged, and how the result is compiled.
//!
//! Sets that were compiled with different settings cannot be joined: the texts of one would be read
//! with the settings of the other.
//!
//! ```
//! use portcullis_build::compile::to_vec;
//! use portcullis_build::{IngestConfig, Input, MergeError, Merger, SettleChoice, ingest};
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_set::PolicySet;
//!
//! let inputs = [Input::new("../../corpora/sample/robots")];
//! let ingested = ingest(&inputs, &IngestConfig::new(&RFC_9309, None), &())?;
//! let compiled = to_vec(&ingested.standings, &ingested.compiling)?;
//! let set = PolicySet::from_bytes("sample", &compiled)?;
//! let sets = [&set].map(Ok::<_, MergeError>);
//! let mut merger = Merger::new(IngestConfig::of_sets(sets, &SettleChoice::default())?);
//! merger.add(&[&set])?;
//! let merged = merger.finish()?;
//! assert!(to_vec(&merged.standings, &merged.compiling)? == compiled);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Borrow;

use portcullis_files::scratch::Scratch;
use portcullis_robots::access::{LongOutage, UnixSeconds};
use portcullis_set::file::{Damage, SetError};
use portcullis_set::stored::PolicySet;

use crate::ingest::{IngestConfig, IngestError, Ingested, Merger, inputs, settle_of};
use crate::provenance::SettleConfig;

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

/// An error that prevents a merge, or reading sets and archives.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no sets, two were compiled with different settings, or one was not compiled from the
    /// captures up to the time of the merger.
    #[error("{0}")]
    Unlike(String),
    /// A set cannot be opened or read.
    #[error(transparent)]
    Set(#[from] SetError),
    /// A set was replaced between its first and its second reading.
    #[error("{name}: replaced while it was merged; run again")]
    Replaced {
        /// The set.
        name: String,
    },
    /// The archives cannot be ingested, or a temporary file fails.
    #[error(transparent)]
    Ingest(#[from] IngestError),
}

impl IngestConfig {
    /// Returns the configuration with which a set was compiled, in memory.
    ///
    /// # Errors
    ///
    /// If the provenance is damaged.
    pub(crate) fn of_set(set: &PolicySet) -> Result<IngestConfig, Damage> {
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let bytes_max = set.robots_bytes_max().map(in_memory);
        Ok(IngestConfig {
            settle: settle_of(set)?,
            history: set.has_history(),
            ..IngestConfig::new(set.dialect(), bytes_max)
        })
    }

    /// Returns the configuration with which `sets` were compiled, which has to be one. What `choice`
    /// gives may differ: a time, if each set has all captures up to it and no others. There is a history
    /// if some set has one. Each set is dropped before the next one is taken.
    ///
    /// # Errors
    ///
    /// The first error of `sets`; and if there are none, two of them were compiled with different
    /// settings, one has other captures than those up to its time, or one is damaged.
    pub fn of_sets<S: Borrow<PolicySet>>(
        sets: impl IntoIterator<Item = Result<S, MergeError>>,
        choice: &SettleChoice,
    ) -> Result<IngestConfig, MergeError> {
        let mut first: Option<(String, Described, IngestConfig)> = None;
        let mut of_other_time = None;
        for set in sets {
            let set = set?;
            let set = set.borrow();
            let mut config = IngestConfig::of_set(set).map_err(SetError::from)?;
            config.settle = choice.or(config.settle);
            let (own, settle, has_history) = (described(&config), config.settle, config.history);
            let (name, settings, merged) =
                first.get_or_insert_with(|| (set.name().to_owned(), own.clone(), config));
            let mut pairs = settings.iter().zip(&own);
            if let Some(((one, fix), (two, _))) = pairs.find(|((one, _), (two, _))| one != two) {
                let other = set.name();
                let unlike = format!("{name} was compiled {one}, {other} {two}; {fix}");
                return Err(MergeError::Unlike(unlike));
            }
            merged.history |= has_history;
            if of_other_time.is_none()
                && let Some(time) = settle.time()
            {
                of_other_time = check_captures(set, time)?;
            }
        }
        match (first, of_other_time) {
            (None, _) => Err(MergeError::Unlike("no sets to merge; name at least one".to_owned())),
            (Some(_), Some(error)) => Err(error),
            (Some((.., merged)), None) => Ok(merged),
        }
    }
}

impl SettleChoice {
    /// Returns how sets are settled that were compiled with `compiled`.
    pub fn or(&self, compiled: SettleConfig) -> SettleConfig {
        SettleConfig {
            as_of: self.as_of.or(compiled.as_of),
            long_outage: self.long_outage.unwrap_or(compiled.long_outage),
            join_schemes: self.join_schemes || compiled.join_schemes,
        }
    }
}

/// Reads the captures of a set and settles its origins again. The provenance stays that of the set.
///
/// Runs on the calling thread's rayon pool.
///
/// # Errors
///
/// If the set is damaged or has no captures, or a temporary file fails.
pub fn settled(set: &PolicySet, scratch: &Scratch) -> Result<Ingested, SetError> {
    let config = IngestConfig { scratch: scratch.clone(), ..IngestConfig::of_set(set)? };
    let mut merger = Merger::new(config);
    merger.add(&[set])?;
    let mut settled = merger.settle()?;
    settled.compiling.provenance = String::from_utf8_lossy(set.provenance()?).into_owned();
    Ok(settled)
}

/// Returns the error that a set has not the captures up to `time`: later ones have replaced older ones,
/// and those that were left out are lost.
fn check_captures(set: &PolicySet, time: UnixSeconds) -> Result<Option<MergeError>, SetError> {
    let inputs = inputs(set)?;
    let newest = inputs.iter().filter_map(|input| input.captured).map(|dates| dates.last).max();
    let lacks_some = settle_of(set)?.time() < Some(time) && inputs.iter().any(|it| it.later > 0);
    let problem = match (newest > Some(time), lacks_some) {
        (true, _) => "has captures after",
        (false, true) => "lacks captures up to",
        (false, false) => return Ok(None),
    };
    let (set, time) = (set.name(), time.to_rfc3339());
    let advice = "compile its captures again with ‹as_of›";
    Ok(Some(MergeError::Unlike(format!("{set} {problem} {time}; {advice}"))))
}

/// Settings as flags, each with the fix if they differ.
type Described = [(String, &'static str); 5];

/// The fix for settings that a set cannot change.
const COMPILE_AGAIN: &str = "compile the captures of one again with the setting of the other";

/// Returns the settings that all sets of a merge share.
fn described(config: &IngestConfig) -> Described {
    let settle = &config.settle;
    let bytes = config.robots_bytes_max.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let time = match settle.as_of {
        Some(time) => format!("with ‹as_of› {}", time.to_rfc3339()),
        None => "without ‹as_of›".to_owned(),
    };
    let joined =
        if settle.join_schemes { "with ‹join_schemes›" } else { "without ‹join_schemes›" };
    [
        (format!("with ‹dialect› {}", config.dialect.name), COMPILE_AGAIN),
        (format!("with ‹max_robots_size› {bytes}"), COMPILE_AGAIN),
        (
            time,
            "pass an ‹as_of› after which neither has a capture, or compile the captures of both with one",
        ),
        (format!("with ‹long_outage› {}", settle.long_outage.as_str()), "pass ‹long_outage›"),
        (joined.to_owned(), "pass ‹join_schemes›"),
    ]
}
