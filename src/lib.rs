//! Decides in bulk, exactly and fast, what robots.txt allows.
pub mod batch;
pub mod bytes;
pub mod decision;
pub mod dialect;
pub mod escape;
pub mod id;
pub mod input;
pub mod limits;
