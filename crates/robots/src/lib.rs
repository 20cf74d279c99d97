//! One robots.txt file for one agent: parse, select the groups that apply, decide, explain.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! Start with [`Robots`]. The modules are its parts:
//!
//! | module | owns | cost |
//! |---|---|---|
//! | `access` (feature) | what an answer to GET /robots.txt means over time: expiry, outages, redirects, notes | constant |
//! | [`syntax`] | bytes to groups, rules, records and notes | linear in the file |
//! | [`policy`] | agents, the groups that apply, rules in order of precedence | once per file and agent |
//! | [`url`] | a URL to its origin and the compared path | one pass |
//!
//! `portcullis-engine` matches patterns; `portcullis`' policy sets hold the files of many hosts.
//! The feature `serde` adds `Serialize` for decisions and explanations.
//!
//! ```
//! use portcullis_robots::Robots;
//!
//! let robots = Robots::parse("User-agent: *\nDisallow: /search\nAllow: /search/about\n");
//! let agent = robots.agent("ExampleBot");
//! assert!(!agent.is_allowed("https://example.com/search?q=1"));
//! assert!(agent.is_allowed("https://example.com/search/about"));
//! ```

#[cfg(feature = "access")]
pub mod access;
pub mod policy;
mod robots;
pub mod syntax;
pub mod url;

pub use robots::{Agent, AgentRules, AgentUsage, Robots};
