//! The engines that are built in, each a file: ours in its ways, others' constructions over our
//! patterns, a plain scan, and the oracle.

mod oracle;
mod ours;
mod rule_sets;
mod stored;
mod strategies;

use super::corpus::{Corpus, Policies};
use super::engine::Engine;

/// The name of the engine that others are compared with unless somebody asks for another.
pub const BASELINE: &str = "portcullis";

/// The name of the engine that answers by a compiled set.
pub const STORED: &str = "portcullis-stored";

/// Every built-in engine for a corpus, the baseline first.
pub fn built_in(corpus: &Corpus) -> Vec<Box<dyn Engine + '_>> {
    let mut engines: Vec<Box<dyn Engine + '_>> = ours::all(corpus);
    if let Policies::Stored(_) = corpus.policies {
        engines.push(Box::new(stored::Stored(corpus)));
    }
    engines.extend(strategies::all(corpus));
    engines.push(Box::new(oracle::Oracle(corpus)));
    engines
}
