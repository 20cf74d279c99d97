//! The content of robots.txt files, and its effect on a list of URLs: the figures of `inspect` and
//! `audit`, as data, as JSON, as tables and as a page.
//!
//! A part of `portcullis`, whose crate has the stable API: this one may change in any version.
//!
//! There is one model. [`Survey`] describes what a set holds: origins and how they were captured,
//! the crawlers that files name and what they may fetch, usage preferences, problems. With agents, it
//! also counts what each of them may fetch. [`Audit`] counts the decisions on a list of URLs in one
//! pass, and its [`Report`] holds these counts next to the survey. [`HostDetail`] shows one host in
//! full.
//!
//! All of them serialise to the JSON that the commands print. [`tables`] shows surveys and hosts on
//! a terminal, [`page`] shows a report in a browser. To write every record with its verdict, use
//! [`report`](portcullis_report).
//!
//! [`difference`] compares two sets, and [`changes`] writes what is different in them, in two files,
//! or in the verdicts on a list.
//!
//! # How a set is read
//!
//! One pass over the hosts finds who uses each policy. One pass over the policies, in parallel, reads
//! what each says about every agent and crawler from the stored rule sets. No text is parsed, except for
//! usage preferences.
//!
//! Threads share an [`Audit`]. Each thread has a [`Worker`], which counts chunk by chunk. [`Findings`]
//! merges the counts of chunks in input order, so the report is the same for any number of threads.
//!
//! Cost: some microseconds per distinct rule set. An audit adds a host lookup and a few additions to
//! each URL. Memory: for a survey about 25 bytes for each policy, and for an audit 16 more;
//! with URLs, some counters for each rule that decides one and for each host that occurs.
//!
//! The only error is a damaged set, with the [`Damage`](portcullis_set::Damage) that names the place. A
//! figure that a limit left open is counted as not known.
//!
//! ```
//! use portcullis_survey::{Audit, Findings};
//! use portcullis_dialect::decision::Verdict;
//! use portcullis_dialect::dialect::RFC_9309;
//! use portcullis_rows::input::{Chunk, Terminator};
//! use portcullis_rows::list::{Arena, List, Rows};
//! use portcullis_report::{Account, Piece, Rejects, Run};
//! use portcullis_robots::policy::Crawler;
//! use portcullis_set::batch::Classifier;
//! use portcullis_set::PolicySet;
//! use portcullis_build::{LoadConfig, load_text};
//!
//! let text = b"User-agent: *\nDisallow: /a\nDisallow: /b\n";
//! let set = load_text(text, &LoadConfig::new(&RFC_9309));
//! let agents = vec![Crawler::parse("ExampleBot", &RFC_9309)?];
//! let audit = Audit::new(Classifier::new(set, agents)?, None, 10); // at most 10 rows
//! let mut findings = Findings::default();
//! let mut chunk = Findings::default();
//! let mut worker = audit.worker(None); // one per thread
//! let text = "https://x.example/a/1\nhttps://x.example/c\n";
//! let list = Chunk::from_text(List::plain("urls", Terminator::LineFeed), text);
//! let (arena, mut rejects) = (Arena::new(), Rejects::default());
//! let mut rows = Rows::new(&list, &arena, 0);
//! worker.work(Piece { rows: &mut rows, rejects: &mut rejects }, &mut chunk)?;
//! findings.add(&mut chunk); // chunk by chunk, in input order
//!
//! let run = Run { agents: vec!["ExampleBot".into()], ..Run::default() };
//! let report = audit.report(&findings, Account::new(run, &findings.counts))?;
//! assert_eq!(report.account.records.per_agent[0].verdict(Verdict::Disallow), 1);
//! assert_eq!(report.rules.deciding.rows[0].rule.to_string(), "/a");
//! assert_eq!(report.survey.reach[0].hosts.causes, [0, 1, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agents;
mod audit;
pub mod changes;
mod counting;
mod crawlers;
pub mod difference;
mod facts;
mod host;
pub mod limits;
mod list;
mod origins;
mod pace;
pub mod page;
mod products;
mod reaches;
mod readings;
mod rows;
mod survey;
pub mod tables;
#[cfg(test)]
mod tests;
mod text;
mod trend;
mod usage;

pub use agents::{AddressCounts, AgentFigures, Causes, ReachFigures, RelationCounts, StanceCounts};
pub use audit::{Audit, CrawlerRequests, DecidingRule, HostFigures, HostRow, Report, RuleFigures};
pub use counting::{Findings, Worker};
pub use host::{
    AccessChange, HostDetail, HostGroup, HostPeriod, HostPolicy, HostRecord, HostRobot,
    OriginHistory, Robot, history, origins_of, records_of_period,
};
pub use list::List;
pub use origins::{SharedFigures, SitemapCounts, push_sitemaps, sitemap_fields};
pub use products::{OtherFigures, ProductRow};
pub use rows::{HostBlock, RowConfig, RowTotals, RowWorker, SurveyRows};
pub use survey::{NoteFigures, OriginFigures, RobotFigures, RobotRow, Survey};
pub use text::Text;
pub use trend::{ChangeRow, Trend};
pub use usage::{HostUsage, UsageFigures};
