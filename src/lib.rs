//! Evaluates robots.txt rules in bulk, exactly and fast.
//!
//! Portcullis implements the Robots Exclusion Protocol: RFC 9309, its predecessors, and Google's
//! current parser. It does not fetch files.
//!
//! # One file
//!
//! ```
//! use portcullis::Robots;
//!
//! let robots = Robots::parse("User-agent: *\nDisallow: /search\nAllow: /search/about\n");
//! let gptbot = robots.agent("GPTBot");
//! assert!(!gptbot.is_allowed("https://example.com/search?q=1"));
//!
//! let decision = gptbot.decide("https://example.com/search/about");
//! assert_eq!(decision.line.unwrap().get(), 3);
//! ```
//!
//! [`Robots::explain`] returns the groups that apply, the deciding rule and the losing rules, and
//! the same for usage preferences. [`Robots::parse_as`] parses in another [`Dialect`].
//!
//! # Many hosts, many URLs
//!
//! With the feature `set`, a [`PolicySet`] holds the files of many hosts in one sequence of bytes:
//! [`PolicySet::load`] compiles a folder into memory, and [`PolicySet::open`] reads a file that
//! `portcullis compile` wrote. A [`Classifier`] is a set with the agents that ask it, and a
//! [`Session`] decides blocks of URLs on one thread.
//!
//! ```
//! # #[cfg(feature = "set")] {
//! use portcullis::{AgentChain, Classifier, GOOGLE, LoadConfig, PolicySet, Session, Verdict};
//!
//! let text = b"User-agent: *\nDisallow: /search\nAllow: /search/about\n";
//! let set = PolicySet::of_text(text, &LoadConfig::new(&GOOGLE));
//! let agents = vec![
//!     AgentChain::parse("GPTBot", &GOOGLE)?,
//!     AgentChain::parse("Googlebot-News+Googlebot", &GOOGLE)?,
//! ];
//! let classifier = Classifier::new(set, agents)?; // threads share it
//! let mut session = Session::new(classifier, None); // one per thread
//! let urls = ["https://a.example/search?q=1", "https://a.example/"];
//! let decisions = session.classify(&urls)?; // per URL, per agent
//! assert_eq!(decisions[0].verdict, Verdict::Disallow);
//! assert_eq!(decisions[2].verdict, Verdict::Allow);
//! assert_eq!(session.full_decision(0, 0)?.rule, Some(&b"/search"[..]));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What never happens
//!
//! "Not known" never becomes "allowed":
//!
//! - a URL whose origin has no policy is [`Verdict::Unknown`];
//! - a record that is not a URL is [`Verdict::Invalid`];
//! - a file that cannot be read is an error or a [`PolicyState`];
//! - a limit that is reached changes how an answer is found, never the answer.
//!
//! # Features and cost
//!
//! | feature | adds |
//! |---|---|
//! | (none) | one file: parse, decide, explain |
//! | `serde` | `Serialize` for decisions and explanations |
//! | `set` | policy sets and classification in bulk: rayon, memmap2, zlib, zstd, brotli, parquet |
//! | `cli` (default) | the program |
//!
//! Parsing is linear in the file. A URL costs 30 to 170 ns, depending on how much of the set is in
//! the processor's caches. The implementation is split into crates (`portcullis-robots`,
//! `portcullis-set` and others) whose APIs may change in any release. This crate follows semantic
//! versioning.

#[doc(inline)]
pub use portcullis_dialect::{
    DRAFT_2019, Decision, Dialect, Field, GOOGLE, KOSTER_1996, Label, LineNumber, ORIGINAL_1994,
    PolicyState, Preference, RFC_9309, Reason, RuleID, Stated, Usage, UsageSource, Verdict,
};
#[doc(inline)]
pub use portcullis_robots::policy::{
    AgentChain, AgentError, ExplainedGroup, ExplainedLicense, ExplainedRule, ExplainedStatement,
    Explanation, Loss, UsageExplanation,
};
#[doc(inline)]
pub use portcullis_robots::syntax::{
    Group, Note, NoteKind, OtherRecord, RobotsTxt, Rule, Span, Statement, UsageRecord,
    UserAgentLine,
};
#[doc(inline)]
pub use portcullis_robots::url::BadUrl;
#[doc(inline)]
pub use portcullis_robots::{AgentRules, AgentUsage, Robots};

#[cfg(feature = "set")]
#[doc(inline)]
pub use portcullis_set::batch::{AskError, Classifier, FullDecision, Session, StatedPlace};
#[cfg(feature = "set")]
#[doc(inline)]
pub use portcullis_set::compile::{CompileConfig, CompileError, CompiledSet, write as write_set};
#[cfg(feature = "set")]
#[doc(inline)]
pub use portcullis_set::{
    Damage, IngestConfig, IngestError, Ingested, Input, LoadConfig, LoadError, LoadNote,
    LoadNoteKind, Loaded, PolicySet, SetError, Strictness, ingest,
};
