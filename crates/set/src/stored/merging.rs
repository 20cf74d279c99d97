//! Which sets can be merged, and how the result is compiled.
//!
//! Sets that were compiled with different settings cannot be joined: the texts of one would be read
//! with the settings of the other.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_set::{LoadConfig, MergeSettings, PolicySet, Scratch};
//!
//! let set = PolicySet::of_text(b"User-agent: *\nDisallow: /\n", &LoadConfig::new(&RFC_9309));
//! let settings = MergeSettings::of(&[&set], None, None)?;
//! let (merged, _) = settings.merge(&[&set], &Scratch::in_memory(), |_| ())?;
//! assert_eq!(merged.counts.origins, set.counts().origins);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use portcullis_dialect::dialect::Dialect;
use portcullis_io::access::{LongOutage, UnixSeconds};

use super::super::compile::CompileConfig;
use super::super::file::Damage;
use super::super::ingest::Merger;
use super::super::scratch::Scratch;
use super::super::{Ingested, OutageConfig};
use super::{PolicySet, ReadBackError};

/// The settings with which the sets of a merge were compiled, and those of their merger.
#[derive(Clone, Copy, Debug)]
pub struct MergeSettings {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The bytes that are read of a file; `None` for all.
    pub robots_bytes_max: Option<usize>,
    /// How outages are judged.
    pub outages: OutageConfig,
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
    /// Checks that `sets` were compiled alike. The judgement of long outages may differ if another
    /// is given, and so may the time, if each set has all captures up to the given time and no
    /// others.
    ///
    /// # Errors
    ///
    /// If there are no sets, two of them were compiled with different settings, one has other
    /// captures than those up to `as_of`, or one is damaged.
    pub fn of(
        sets: &[&PolicySet],
        as_of: Option<UnixSeconds>,
        long_outage: Option<LongOutage>,
    ) -> Result<MergeSettings, MergeError> {
        let (first, others) = sets.split_first().ok_or(MergeError::NoSets)?;
        let judged = |set: &PolicySet| {
            let compiled = set.outages()?;
            Ok::<_, Damage>(OutageConfig {
                as_of: as_of.or(compiled.as_of),
                long_outage: long_outage.unwrap_or(compiled.long_outage),
            })
        };
        let outages = judged(first)?;
        for other in others {
            let settings = described(first, outages).into_iter();
            let mut pairs = settings.zip(described(other, judged(other)?));
            if let Some(((one, fix), (two, _))) = pairs.find(|((one, _), (two, _))| one != two) {
                let (first, other) = (first.name().to_owned(), other.name().to_owned());
                return Err(MergeError::Unlike { first, one, other, two, fix });
            }
        }
        if let Some(time) = outages.time() {
            sets.iter().try_for_each(|set| check_captures(set, time))?;
        }
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(MergeSettings {
            dialect: first.dialect(),
            robots_bytes_max: first.robots_bytes_max().map(in_memory),
            outages,
        })
    }

    /// Merges sets with these settings, and returns how to compile the result. Each set is read back,
    /// joined, and given to `joined`, one after another.
    ///
    /// Runs on the calling thread's rayon pool.
    ///
    /// # Errors
    ///
    /// As [`PolicySet::standings`], and if a set is mapped from a file that became shorter.
    pub fn merge(
        &self,
        sets: &[&PolicySet],
        scratch: &Scratch,
        mut joined: impl FnMut(&PolicySet),
    ) -> Result<(Ingested, CompileConfig), ReadBackError> {
        let has_history = sets.iter().any(|set| set.has_history());
        let mut merger = Merger::new(self.dialect, has_history, scratch);
        for set in sets {
            let standings = set.standings(scratch)?;
            set.is_whole()?;
            merger.add(set.part(&standings)?)?;
            joined(set);
        }
        let merged = merger.finish(self.outages)?;
        let scratch = scratch.clone();
        let config = CompileConfig::of(&merged, self.dialect, self.robots_bytes_max);
        Ok((merged, CompileConfig { scratch, ..config }))
    }
}

/// Checks that a set has the captures up to `time`: later ones have replaced older ones, and those
/// that were left out are lost.
fn check_captures(set: &PolicySet, time: UnixSeconds) -> Result<(), MergeError> {
    let (inputs, _) = set.inputs()?;
    let newest = inputs.iter().filter_map(|input| input.captured).map(|dates| dates.last).max();
    let lacks_some = set.outages()?.time() < Some(time) && inputs.iter().any(|it| it.later > 0);
    let problem = match (newest > Some(time), lacks_some) {
        (true, _) => "has captures after",
        (false, true) => "lacks captures up to",
        (false, false) => return Ok(()),
    };
    Err(MergeError::OtherTime { set: set.name().to_owned(), problem, time })
}

/// Returns the settings that all sets of a merge share, as flags, each with the fix if they differ.
fn described(set: &PolicySet, outages: OutageConfig) -> [(String, &'static str); 4] {
    let bytes = set.robots_bytes_max().map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let time = match outages.as_of {
        Some(time) => format!("with --as-of {}", time.to_rfc3339()),
        None => "without --as-of".to_owned(),
    };
    [
        (format!("with --dialect {}", set.dialect().name), "compile one of them again"),
        (format!("with --max-robots-size {bytes}"), "compile one of them again"),
        (time, "pass --as-of"),
        (format!("with --long-outage {}", outages.long_outage.as_str()), "pass --long-outage"),
    ]
}
