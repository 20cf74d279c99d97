//! Decides in bulk, exactly and fast, what robots.txt allows.
//!
//! Portcullis is an engine for the Robots Exclusion Protocol (RFC 9309 and what came before and
//! after it). It reads the robots.txt files of many hosts, compiles each distinct rule set into an
//! automaton that reports the rule that decides, and classifies lists of URLs for one or many
//! agents, millions in a second, with verdict, reason, rule and line. It fetches nothing.
//!
//! # Should you be here?
//!
//! If you have lists of URLs and a program will do, use the command line: `portcullis classify`,
//! `filter` and `check`. If you crawl and ask about one URL at a time, any robots.txt crate will do,
//! though perhaps not as exactly. This library is for those who ask often: about many URLs, of many
//! hosts, for several agents, or who have to say why.
//!
//! # In bulk
//!
//! ```
//! use portcullis::batch::Classifier;
//! use portcullis::decision::{Reason, Verdict};
//! use portcullis::dialect::GOOGLE;
//! use portcullis::policy::{AgentChain, Detail};
//! use portcullis::set::{LoadConfig, PolicySet};
//!
//! let text = b"User-agent: *\nDisallow: /search\nAllow: /search/about\n";
//! // PolicySet::load reads a folder of files, PolicySet::open a compiled set.
//! let set = PolicySet::of_text(text, &LoadConfig::new(&GOOGLE));
//!
//! let agents = vec![
//!     AgentChain::parse("GPTBot", &GOOGLE)?,
//!     AgentChain::parse("Googlebot-News+Googlebot", &GOOGLE)?,
//! ];
//! let classifier = Classifier::new(set, agents, Detail::Rule)?;
//! let mut memory = classifier.memory(); // one for each thread
//! let urls = ["https://a.example/search?q=1", "https://a.example/"];
//! let decisions = classifier.classify(&urls, None, &mut memory)?; // for each URL, for each agent
//! assert_eq!(decisions[0].verdict, Verdict::Disallow);
//! assert_eq!(decisions[0].reason, Reason::Rule);
//! assert_eq!(decisions[0].line.unwrap().get(), 2);
//! assert_eq!(decisions[2].verdict, Verdict::Allow);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The parts
//!
//! Each can be used alone, and imports only from parts above it in this list. The convenient ones at
//! the end add choices, not powers.
//!
//! | part | owns | cost |
//! |---|---|---|
//! | [`limits`], [`id`], [`bytes`], [`decision`] | bounds, small numbers, the words of an answer | |
//! | [`kind`] | what a file is, by its first bytes | |
//! | [`large_pages`] | memory for large tables | |
//! | [`atomic_file`] | outputs that appear complete or not at all | one sync for each file |
//! | [`visible`] | text of strangers as people may see it | |
//! | [`dialect`] | what a standard or crawler does at each decision point, as data | |
//! | [`escape`] | the form in which patterns and URLs are compared | one scan |
//! | [`syntax`] | bytes to groups, rules, records and notes | linear in the file |
//! | [`pattern`] | literals, `*` and `$` of a rule | one scan |
//! | [`target`] | a URL to origin and path | one scan |
//! | [`access`] | HTTP answers to the state of a policy, expiry, long outages | |
//! | [`input`] | lists of URLs: files, pipes, mappings, gzip, zstd | |
//! | [`capture`] | answers to GET /robots.txt as archives keep them | linear in the archive |
//! | [`synth`] | a made-up corpus of any size, and archives of it | |
//! | [`oracle`] | the whole protocol, naively; the judge in tests | quadratic |
//! | [`automaton`] | patterns in order of precedence to one matcher | see there |
//! | [`policy`] | which groups speak to an agent, which rule decides | parse and build once |
//! | [`set`] | the policies of many origins | one look-up for a URL |
//! | [`lint`] | what is wrong in a file, line by line | parses, and comparing the rules |
//! | [`batch`] | records to decisions; inputs to threads and back in order | |
//! | [`report`] | decisions as text, JSON Lines, summaries | |
//! | [`audit`] | what robots.txt does to a list of URLs, counted and ranked | one pass |
//! | [`mod@bench`] | engines verified, timed and compared | as long as it is told |
//!
//! # What never happens
//!
//! Nothing turns "not known" into "allowed". A URL whose origin has no policy is
//! [`Verdict::Unknown`](decision::Verdict::Unknown), a record that is no URL is
//! [`Verdict::Invalid`](decision::Verdict::Invalid), a file that could not be read is an error or a
//! [`PolicyState`](decision::PolicyState), and a limit that is hit changes how an answer is found,
//! not the answer.
//!
//! # Features
//!
//! `cli` (default) brings the command-line program and what only it needs. Libraries switch it off
//! with `default-features = false`. `parquet` brings captures from Parquet files, and some forty
//! crates to build.

pub use portcullis_capture::{capture, input};
pub use portcullis_dialect::{decision, dialect, id, limits};
pub use portcullis_matcher::{automaton, bytes, escape, pattern, vectors};
pub use portcullis_oracle as oracle;
pub use portcullis_robots::{AgentRules, Robots};
pub use portcullis_robots::{access, kind, policy, syntax, target, visible};

pub mod analysis;
pub mod atomic_file;
pub mod audit;
pub mod batch;
pub mod bench;
pub mod large_pages;
pub mod lint;
pub mod report;
pub mod set;
pub mod synth;
