//! Where the policies of an audit come from: files, or a compiled set.

use crate::batch::Classifier;
use crate::dialect::Dialect;
use crate::policy::{AgentChain, Detail};
use crate::set::{Damage, PolicySet, StoredSet};

/// Policies, wherever they come from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'s> {
    /// Files.
    Loaded(&'s PolicySet),
    /// A compiled set.
    Stored(&'s StoredSet),
}

impl<'s> Source<'s> {
    /// The behaviour that policies follow.
    pub fn dialect(self) -> &'static Dialect {
        match self {
            Source::Loaded(set) => set.dialect(),
            Source::Stored(set) => set.dialect(),
        }
    }

    /// The hash that names the policies.
    pub fn hash(self) -> u64 {
        match self {
            Source::Loaded(set) => set.hash(),
            Source::Stored(set) => set.hash(),
        }
    }

    /// Octets of a file that count; all, if there is no limit.
    pub(super) fn robots_octets_max(self) -> Option<u64> {
        match self {
            Source::Loaded(set) => set.robots_octets_max().map(|octets| octets as u64),
            Source::Stored(set) => set.robots_octets_max(),
        }
    }

    /// The number of origins; none if one policy speaks for everything.
    pub(super) fn origins(self) -> Option<u64> {
        match self {
            Source::Loaded(set) => set.origins().map(|origins| origins as u64),
            Source::Stored(set) => Some(set.counts().origins),
        }
    }

    /// The policies, ready to be asked by `agents`, rules told apart. Loaded ones are compiled, on
    /// the calling thread's rayon pool.
    pub(super) fn classifier(self, agents: Vec<AgentChain>) -> Result<Classifier<'s>, Damage> {
        match self {
            Source::Loaded(set) => Ok(Classifier::new(set, agents, Detail::Rule)),
            Source::Stored(set) => Classifier::stored(set, agents, Detail::Rule),
        }
    }
}
