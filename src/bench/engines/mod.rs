//! The engines that are built in, each a file: ours in its ways, others' constructions over our
//! patterns, a plain scan, and the oracle.

pub(super) mod numbered;
mod oracle;
mod ours;
mod rule_sets;
mod strategies;

use super::corpus::Corpus;
use super::engine::Engine;

/// The name of the engine that others are compared with unless somebody asks for another.
pub const BASELINE: &str = "portcullis";

/// Every built-in engine for a corpus, the baseline first.
pub fn built_in(corpus: &Corpus) -> Vec<Box<dyn Engine + '_>> {
    let mut engines: Vec<Box<dyn Engine + '_>> = ours::all(corpus);
    engines.extend(strategies::all(corpus));
    engines.push(Box::new(oracle::Oracle(corpus)));
    engines
}
