//! Decides in bulk, exactly and fast, what robots.txt allows.
pub mod automaton;
pub mod bytes;
pub mod decision;
pub mod dialect;
pub mod escape;
pub mod id;
pub mod limits;
pub mod pattern;
pub mod policy;
pub mod syntax;
pub mod target;
pub mod oracle;
