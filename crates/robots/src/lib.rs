//! One robots.txt file for one agent: parse, select the groups that apply, decide, explain.
//!
//! Begin with [`Robots`]. The modules are its parts:
//!
//! | module | owns |
//! |---|---|
//! | [`syntax`] | bytes to groups, rules, records and notes |
//! | [`policy`] | agents, the groups that apply to them, rules in order of precedence, blocks of questions |
//! | [`target`] | a URL to its origin and the path that rules are compared with |
//! | [`access`] | answers to GET /robots.txt: states, expiry, outages |
//! | [`kind`] | what a file is, by its first bytes |
//! | [`visible`] | untrusted text, made safe to show |
//!
//! Sets of many hosts' files are `portcullis-set`'s.

pub mod access;
pub mod kind;
pub mod policy;
mod robots;
pub mod syntax;
pub mod target;
pub mod visible;

pub use robots::{AgentRules, Robots};
