//! From files and agents to decisions: which groups speak to an agent, which rule decides.
//!
//! Owns the meaning of a parsed file for agents: which groups they obey ([`Selection`], [`Audience`]), the
//! rules of those in order of precedence ([`OrderedRules`]), and how blocks of questions about many
//! policies are answered, so that their memory accesses wait for one another less. What policies are kept in
//! is [`set`](crate::set)'s affair. Use [`batch`](crate::batch) to get decisions; use [`explain`] to be told
//! why.
//!
//! Cost: parsing is linear in the file; a rule set costs what [`automaton`](portcullis_matcher::automaton) says,
//! once. Nothing can fail.
//!
//! ```
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_robots::policy::{AgentChain, Selection};
//! use portcullis_robots::syntax::RobotsTxt;
//!
//! let agent = AgentChain::parse("ExampleBot", &RFC_9309).unwrap();
//! let file = RobotsTxt::parse(b"User-agent: *\nDisallow: /private\n", &RFC_9309, None);
//! assert_eq!(
//!     Selection::of(&file, &agent, &RFC_9309),
//!     Selection::Groups { groups: vec![0], token: None },
//! );
//! ```

mod agent;
mod deciding;
mod explain;
mod reach;
mod rules;
mod select;

pub use agent::{AgentChain, AgentError};
pub use deciding::{Block, BlockMemory, Policies, Source, Start};
pub use deciding::{NO_POLICY, NO_URL, Ways};
pub use explain::{ExplainedGroup, ExplainedRule, Explanation, Loss, explain};
pub use portcullis_matcher::automaton::Detail;
pub use reach::{reach, reach_of_rules};
pub use rules::{OrderedRules, outcomes};
pub use select::{Audience, NamedRobot, Selection, is_name_of, robot_name, robot_named};
