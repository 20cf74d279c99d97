//! The words and numbers of the protocol: dialects, decisions, limits.

pub mod decision;
pub mod dialect;
pub mod id;
pub mod limits;
