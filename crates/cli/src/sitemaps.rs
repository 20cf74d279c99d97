//! `portcullis sitemaps`: the sitemaps that robots.txt files name, as lines or JSON Lines.
//!
//! Hosts are read in the order of the set, and only the newest policy of each. Memory holds the
//! values of one host.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};

use portcullis_report::Account;
use portcullis_robots::url::split;
use portcullis_set::PolicySet;
use portcullis_set::stored::StoredHost;
use portcullis_text::figures::counted;
use serde::Serialize;

use super::args::{SitemapsArgs, SitemapsFormat};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::output::{CompleteOutput, Destination, Output};
use super::plan::{self, QuestionPlan};
use super::summary;

/// The bytes that are written at once.
const WRITE_BYTES: usize = 64 * 1024;

pub fn run(args: SitemapsArgs) -> anyhow::Result<ExitStatus> {
    let summary = plan::summary(&args.run)?;
    let policies = plan::policies(args.policies);
    let destination = Destination::new(args.output);
    let format = plan::format(args.format, &destination, SitemapsFormat::NAMED)?;
    let mut output = Output::open(&destination)?;
    let questions = QuestionPlan { all_robots: true, ..QuestionPlan::default() };
    let loaded = Engine::new(args.run.threads.threads)?.load(&policies, &questions)?;
    loaded.show_notes(summary.form);
    let mut listing = Listing::new(&loaded.set, format);
    for host in loaded.set.hosts() {
        listing.add(&host?)?;
        if listing.out.len() >= WRITE_BYTES {
            output.write(&listing.out)?;
            listing.out.clear();
        }
    }
    output.write(&listing.out)?;
    loaded.set.is_whole()?;
    CompleteOutput::publish_all(vec![output.complete()?])?;
    let run = summary::run(&loaded, &questions);
    let account = Account { run, records: listing.counts, ..Account::default() };
    let object = Summary { account };
    summary::write(&summary, &object)?;
    Ok(ExitStatus::Done)
}

/// The sitemaps of a set that are being listed.
struct Listing<'s> {
    set: &'s PolicySet,
    format: SitemapsFormat,
    counts: Counts,
    out: Vec<u8>,
}

#[derive(Default, Serialize)]
struct Counts {
    /// The origins; the description of the run has them in JSON.
    #[serde(skip)]
    origins: u64,
    /// The origins that name a sitemap.
    origins_with_sitemaps: u64,
    /// The sitemaps, once for each origin.
    sitemaps: u64,
    /// Those that are not absolute URLs.
    not_urls: u64,
}

/// A line of the output.
#[derive(Serialize)]
struct Line<'l> {
    origin: Cow<'l, str>,
    sitemap: Cow<'l, str>,
    problem: Option<String>,
}

impl<'s> Listing<'s> {
    fn new(set: &'s PolicySet, format: SitemapsFormat) -> Listing<'s> {
        Listing { set, format, counts: Counts::default(), out: Vec::new() }
    }

    /// Appends the sitemaps of a host.
    fn add(&mut self, host: &StoredHost<'s>) -> anyhow::Result<()> {
        let is_universal = self.set.is_universal();
        let mut of_host = HashSet::new();
        for https in host.schemes() {
            let origin = if is_universal { b"*".to_vec() } else { host.origin(https) };
            let capture = host.capture(https)?;
            let values = capture.map_or(Ok(Vec::new()), |capture| capture.sitemaps())?;
            self.counts.origins += 1;
            self.counts.origins_with_sitemaps += u64::from(!values.is_empty());
            let mut of_origin = HashSet::new();
            for value in values {
                let value = resolved(&origin, value);
                if of_origin.insert(value.clone()) {
                    let is_new = of_host.insert(value.clone());
                    self.push(&origin, &value, is_new)?;
                }
            }
        }
        Ok(())
    }

    /// Appends a sitemap. `is_new` is false if another origin of the host has it too.
    fn push(&mut self, origin: &[u8], value: &[u8], is_new: bool) -> io::Result<()> {
        let problem = split(value, self.set.dialect().paths.path_start).err();
        self.counts.sitemaps += 1;
        self.counts.not_urls += u64::from(problem.is_some());
        match self.format {
            SitemapsFormat::Text if is_new => {
                self.out.extend_from_slice(value);
                self.out.push(b'\n');
            }
            SitemapsFormat::Text => {}
            SitemapsFormat::Jsonl => self.out.extend(summary::to_json_line(&Line {
                origin: String::from_utf8_lossy(origin),
                sitemap: String::from_utf8_lossy(value),
                problem: problem.map(|problem| problem.to_string()),
            })?),
        }
        Ok(())
    }
}

/// Returns the URL of a sitemap that the robots.txt of `origin` names. Its own path is `/robots.txt`, so
/// a relative one begins at the root. A value that is no path stays as it is.
fn resolved(origin: &[u8], value: Vec<u8>) -> Vec<u8> {
    let colon = value.iter().position(|byte| *byte == b':').unwrap_or(value.len());
    let has_scheme = colon < value.len() && !value[..colon].iter().any(|it| b"/?#".contains(it));
    let scheme = origin.iter().position(|byte| *byte == b':');
    let (Some(scheme), false) = (scheme, has_scheme || value.is_empty()) else { return value };
    match &value[..] {
        [b'/', b'/', ..] => [&origin[..=scheme], &value].concat(),
        [b'/', ..] => [origin, &value].concat(),
        _ => [origin, b"/", &value].concat(),
    }
}

/// The summary of a run.
#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    account: Account<Counts>,
}

impl summary::Summary for Summary {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.account.write_run(out)?;
        let Counts { origins, origins_with_sitemaps, sitemaps, not_urls } = self.account.records;
        write!(
            out,
            "{}, {origins_with_sitemaps} with sitemaps: {}",
            counted(origins, "origin"),
            counted(sitemaps, "sitemap")
        )?;
        match not_urls {
            0 => writeln!(out),
            1 => writeln!(out, ", 1 of them not an absolute URL"),
            not_urls => writeln!(out, ", {not_urls} of them not absolute URLs"),
        }
    }
}
