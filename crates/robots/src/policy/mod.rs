//! Policies: which groups apply to an agent, and which rule decides.
//!
//! Owns the meaning of a parsed file: the groups that apply ([`Selection`], [`Audience`]), their
//! rules in order of precedence ([`OrderedRules`]), usage preferences ([`UsageRules`]) and
//! explanations ([`explain`]). For one file and one agent, use [`Robots`](crate::Robots); policy
//! sets store policies and use this module.
//!
//! Cost: selection is linear in the user-agent lines, ordering sorts the rules, and matching costs
//! what the [engine](portcullis_engine) documents. Only [`Crawler`] can fail.
//!
//! ```
//! use portcullis_dialect::RFC_9309;
//! use portcullis_robots::policy::{Crawler, Selection};
//! use portcullis_robots::syntax::RobotsTxt;
//!
//! let agent = Crawler::parse("ExampleBot", &RFC_9309).unwrap();
//! let file = RobotsTxt::parse(b"User-agent: *\nDisallow: /private\n", &RFC_9309, None);
//! assert_eq!(
//!     Selection::of(&file, &agent, &RFC_9309),
//!     Selection { groups: vec![0], token: None },
//! );
//! ```

mod agent;
mod asked;
mod delay;
mod explain;
mod reading;
mod rules;
mod select;
mod usage;

pub use agent::{AgentError, Crawler, product};
pub(crate) use asked::AskedRules;
pub(crate) use delay::records_of;
pub use delay::{CRAWL_DELAY, CrawlDelay, RecordGroups, delay_seconds};
pub use explain::{
    ExplainedRecord, ExplainedRule, ExplainedStatement, Explanation, Loss, UsageExplanation,
    explain,
};
pub use reading::{Reading, WithoutFile};
pub use rules::OrderedRules;
pub use select::{Audience, NamedRobot, Selection, is_name_of, robot_name, robot_named};
pub use usage::{LabelRules, UsageGroups, UsageRules, combined, pattern_of, stated};
