//! Evaluates robots.txt rules in bulk, exactly and fast.
//!
//! Portcullis implements the Robots Exclusion Protocol: RFC 9309, its predecessors, and Google's
//! current parser. It does not fetch files.
//!
//! # One file
//!
//! A crawler requests the robots.txt of a page's origin, and decides by status and body:
//!
//! ```
//! use portcullis::{Robots, robots_txt_url};
//!
//! assert_eq!(robots_txt_url("https://example.com/search?q=1")?, "https://example.com/robots.txt");
//! let (status, body) = (200, "User-agent: *\nDisallow: /search\nAllow: /search/about\n");
//! let robots = Robots::from_response(status, body);
//! let gptbot = robots.agent("GPTBot");
//! assert!(!gptbot.is_allowed("https://example.com/search?q=1"));
//!
//! let decision = gptbot.decide("https://example.com/search/about");
//! assert_eq!(decision.line.unwrap().get(), 3);
//! # Ok::<(), portcullis::BadUrl>(())
//! ```
//!
//! Without a file the status decides: 404 allows everything, 503 nothing. [`Robots::parse`] reads a
//! file alone, and [`Robots::parse_as`] by another [`Dialect`]. [`Robots::explain`] returns the groups
//! that apply, the deciding rule and the losing rules, and the same for usage preferences. The example
//! `fetch` fetches a file and decides with reqwest and tokio.
//!
//! # Many hosts, many URLs
//!
//! With the feature `set`, a [`PolicySet`] holds the files of many hosts in one sequence of bytes.
//! [`PolicySet::open`] reads a file that `portcullis compile` wrote. With the feature `compile`,
//! [`load_files`](set::load_files) compiles files in memory, [`load`](set::load) a folder, and
//! [`compile`](fn@set::compile) archives of a crawl. A [`Classifier`] is a set with the agents to decide
//! for, and a [`Session`] decides blocks of URLs on one thread.
//!
//! ```
//! # #[cfg(feature = "compile")] {
//! use portcullis::set::load_files;
//! use portcullis::{Classifier, CompileConfig, Crawler, GOOGLE, Origin, Session, Verdict};
//!
//! let one = Origin::from_url(b"https://a.example/")?;
//! let other = Origin::from_url(b"https://b.example:8443/")?;
//! let files = [
//!     (&one, &b"User-agent: *\nDisallow: /search\nAllow: /search/about\n"[..]),
//!     (&other, b"User-agent: GPTBot\nDisallow: /\n"),
//! ];
//! let set = load_files(files, &CompileConfig::new(&GOOGLE));
//! let agents = vec![
//!     Crawler::parse("GPTBot", &GOOGLE)?,
//!     Crawler::parse("Googlebot-News+Googlebot", &GOOGLE)?,
//! ];
//! let classifier = Classifier::new(set, agents)?; // threads share it
//! let mut session = Session::new(classifier); // one per thread
//! let urls = ["https://a.example/search?q=1", "https://b.example:8443/"];
//! let mut answers = session.decide(&urls)?; // per URL, per agent
//! let verdicts: Vec<_> = answers.decisions().iter().map(|decision| decision.verdict()).collect();
//! use Verdict::{Allow, Disallow};
//! assert_eq!(verdicts, [Disallow, Disallow, Disallow, Allow]);
//! assert_eq!(answers.rule(0)?.rule, Some(&b"/search"[..]));
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
//! - a limit on memory or time never changes an answer; a file above the size limit has the note
//!   [`FileCut`](file::NoteKind::FileCut), and a URL above 64 KiB is [`Verdict::Invalid`].
//!
//! # Features and cost
//!
//! | feature | adds | packages (`cargo tree -e normal`) |
//! |---|---|---:|
//! | (none) | one file: parse, decide, explain | 38 |
//! | `serde` | `Serialize` for decisions and explanations | 41 |
//! | `set` (default) | policy sets: open and query them | 53 |
//! | `compile` | sets of files in memory, folders, WARC, JSON Lines and CSV | 87 |
//! | `parquet` | `compile`, also of archives in Parquet | 111 |
//!
//! Parsing is linear in the file. A URL costs 30 to 170 ns, depending on how much of the set is in
//! the processor's caches. The implementation is split into crates (`portcullis-robots`,
//! `portcullis-set` and others) whose APIs may change in any release. This crate follows semantic
//! versioning: every documented item is stable. Enumerations that may grow are `non_exhaustive`;
//! [`Verdict`] never grows.

// docs.rs labels what needs a feature.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "set")]
mod sets;

// What nearly every program needs. The modules have the rest.
#[doc(inline)]
pub use portcullis_dialect::{
    Answer, DRAFT_2019, Decision, Dialect, Fetched, GOOGLE, KOSTER_1996, Label, LabelError,
    ORIGINAL_1994, PolicyState, Preference, RFC_9309, Reason, Usage, Verdict,
};
#[doc(inline)]
pub use portcullis_robots::policy::{AgentError, Crawler, Reading, WithoutFile};
#[doc(inline)]
pub use portcullis_robots::url::{BadUrl, Origin, robots_txt_url};
#[doc(inline)]
pub use portcullis_robots::{Agent, AgentRules, AgentUsage, Robots};
#[cfg(feature = "compile")]
#[doc(inline)]
pub use sets::CompileConfig;
#[cfg(feature = "set")]
#[doc(inline)]
pub use sets::{Answers, Classifier, PolicySet, Session};

/// The parts of a file: groups, rules, other records and notes, with their lines.
pub mod file {
    #[doc(inline)]
    pub use portcullis_dialect::{Field, LineNumber, RuleID};
    #[doc(inline)]
    pub use portcullis_robots::syntax::{
        Group, Note, NoteKind, OtherRecord, RobotsTxt, Rule, Span, Statement, UsageRecord,
        UserAgentLine,
    };
}

/// The explanation of a decision: the groups that apply and every rule and statement that matches.
pub mod explain {
    #[doc(inline)]
    pub use portcullis_dialect::{Stated, UsageSource};
    #[doc(inline)]
    pub use portcullis_robots::policy::{
        ExplainedRecord, ExplainedRule, ExplainedStatement, Explanation, Loss, UsageExplanation,
    };
}

/// Known crawlers: lists such as those for AI, and the documented ways in which they read robots.txt.
///
/// ```
/// use portcullis::{RFC_9309, Robots, crawlers};
///
/// let training = crawlers::find("ai-training").unwrap();
/// assert!(training.tokens.contains(&"GPTBot"));
///
/// // Googlebot-Image follows the groups of Googlebot if none names it.
/// let crawler = crawlers::from_token("Googlebot-Image", &RFC_9309)?;
/// assert_eq!(crawler.name(), "Googlebot-Image+Googlebot");
/// let robots = Robots::parse(b"User-agent: Googlebot\nDisallow: /private\n");
/// assert!(!robots.agent(&crawler).is_allowed("/private/x"));
/// # Ok::<(), portcullis::AgentError>(())
/// ```
pub mod crawlers {
    #[doc(inline)]
    pub use portcullis_crawlers::{CrawlerList, find, from_header, from_token, lists};
}

/// The time for which a copy of robots.txt is fresh (RFC 9309, section 2.4).
///
/// [`expiry`](freshness::expiry) computes it from the headers of the answer and [`Dialect::freshness`].
#[cfg(feature = "set")]
pub mod freshness {
    #[doc(inline)]
    pub use portcullis_dialect::Freshness;
    #[doc(inline)]
    pub use portcullis_robots::access::{CachingHeaders, UnixSeconds, expiry};
}

/// Policy sets: functions that make them, and types that opening and querying them return.
#[cfg(feature = "set")]
pub mod set {
    #[cfg(feature = "compile")]
    #[doc(inline)]
    pub use portcullis_build::{LoadNote, LoadNoteKind, Strictness};
    #[doc(inline)]
    pub use portcullis_set::batch::{FullDecision, StatedPlace};

    #[cfg(feature = "compile")]
    #[doc(inline)]
    pub use crate::sets::{Compiled, Loaded, compile, load, load_files, load_text};
    #[doc(inline)]
    pub use crate::sets::{OriginPolicy, SetError};
}

/// Compiles the example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
