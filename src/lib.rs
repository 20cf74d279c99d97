//! Decides in bulk, exactly and fast, what robots.txt allows.
pub mod automaton;
pub mod batch;
pub mod bytes;
pub mod decision;
pub mod dialect;
pub mod escape;
pub mod id;
pub mod input;
pub mod limits;
pub mod oracle;
pub mod pattern;
pub mod policy;
pub mod report;
pub mod set;
pub mod syntax;
pub mod synth;
pub mod target;
