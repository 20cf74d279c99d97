//! One robots.txt file for one agent.

pub mod access;
pub mod kind;
pub mod policy;
pub mod syntax;
pub mod target;
pub mod visible;
