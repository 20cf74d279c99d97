//! Compares a whole crawl with another implementation, and with the oracle.
//!
//! - `conformance access POLICIES VERDICTS.tsv.gz AGENT…`: POLICIES is a folder of files named by host, or
//!   a policy set compiled from such a folder.
//! - `conformance write ROBOTS OUT`, `conformance usage ROBOTS SET URLS JSONL` and `conformance survey ROBOTS
//!   ROWS SAMPLE` (a number of files, or `all`): see `scripts/conformance-usage`.
//!
//! Each exits with 1 if anything differs.

#![allow(unsafe_code, reason = "maps files that the caller names")]

mod access;
mod usage;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::Crawler;
use portcullis_set::PolicySet;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let agrees = match &words[..] {
        ["access", policies, verdicts, agents @ ..] => {
            access::compare(policies.as_ref(), verdicts.as_ref(), agents)
        }
        ["write", robots, out] => usage::write(robots.as_ref(), out.as_ref()),
        ["usage", robots, set, urls, answers] => {
            usage::compare(robots.as_ref(), set.as_ref(), urls.as_ref(), answers.as_ref())
        }
        ["survey", robots, rows, sample] => {
            let sample = if *sample == "all" { usize::MAX } else { sample.parse()? };
            usage::survey(robots.as_ref(), rows.as_ref(), sample)
        }
        _ => Err("usage: conformance access POLICIES VERDICTS.tsv.gz AGENT… | write ROBOTS OUT | \
                  usage ROBOTS SET URLS JSONL | survey ROBOTS ROWS SAMPLE"
            .into()),
    }?;
    Ok(if agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Opens a set by mapping it, as the program does.
fn map(set: &Path) -> Result<Arc<PolicySet>, Failure> {
    // SAFETY: this process does not write to the file, and it was made for this comparison.
    Ok(Arc::new(unsafe { PolicySet::map(set) }?))
}

fn crawlers(agents: &[&str], dialect: &'static Dialect) -> Result<Vec<Crawler>, Failure> {
    Ok(agents.iter().map(|agent| Crawler::parse(agent, dialect)).collect::<Result<_, _>>()?)
}

/// Returns the numbers of rows in a random order that is the same each time.
fn shuffled(rows: &[&[u8]]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_cached_key(|&row| twox_hash::XxHash3_64::oneshot(rows[row]));
    order
}
