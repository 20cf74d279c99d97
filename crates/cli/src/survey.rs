//! `portcullis survey`: a row for each origin and agent, and the totals of each agent; a page about them; or a
//! row for each sitemap.
//!
//! Threads encode blocks of hosts, which are written in order.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use portcullis_domain::LIST;
use portcullis_report::account::format;
use portcullis_report::{Account, NoRecords, Run, Time};
use portcullis_robots::access::UnixSeconds;
use portcullis_rows::input::Terminator;
use portcullis_set::Damage;
use portcullis_set::stored::StoredHost;
use portcullis_survey::limits::SURVEY_LIST_BYTES;
use portcullis_survey::{
    HostBlock, RowConfig, RowTotals, RowWorker, SitemapCounts, SurveyRows, page, push_sitemaps,
    sitemap_fields, tables,
};
use portcullis_text::figures::{self, counted, grouped};
use portcullis_text::json::to_json;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::Serialize;

use super::args::{ListTimeArgs, SURVEY_FORMATS, SurveyArgs};
use super::engine::{self, Policies, thread_pool};
use super::limits::{
    SURVEY_GROUP_LIST_BYTES, SURVEY_GROUP_ROWS, SURVEY_LIST_BYTES_AT_ONCE, SURVEY_TEXT_ROWS,
};
use super::output::{CompleteOutput, Output};
use super::plan::{self, QuestionPlan, SummaryPlan};
use super::progress::Progress;
use super::summary;
use super::table::{self, Rows};
use super::values::Format;

/// The blocks of hosts that each thread encodes before they are written.
const BLOCKS_PER_THREAD: usize = 2;

pub fn run(args: SurveyArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let summary = plan::summary(&args.run)?;
    let policies = args.policies;
    let destination = args.output.output.unwrap_or_default();
    let format = plan::format(args.format, &destination, SURVEY_FORMATS)?;
    let is_page = format == Format::Html;
    ensure!(
        !(is_page && args.sitemaps),
        "sitemaps are a table; use -o FILE.tsv, .csv, .jsonl or .parquet"
    );
    plan::no_page_on_terminal(&destination, format)?;
    let times = plan::times(ListTimeArgs::default(), false, None, &policies)?;
    let at = policies.time();
    ensure!(!args.history || at.is_none(), "--history has all periods; omit @TIME");
    let questions = plan::agents(args.agents, policies.dialect())?;
    ensure!(
        !(is_page && args.baseline.baseline.is_some()),
        "the page has no comparison with --baseline; write .csv, .jsonl or .parquet"
    );
    let baseline = plan::baseline(args.baseline)?;
    let questions = QuestionPlan { times, reads_usage: true, ..questions };
    let output = table::open(format, &destination)?;
    let pool = thread_pool(args.run.threads.threads)?;
    let loaded = engine::load(&pool, &policies, &questions)?;
    loaded.show_notes(summary.form);
    let set = &*loaded.set;
    ensure!(!args.history && at.is_none() || set.has_history(), plan::no_history(set));
    let mut run = loaded.agents.run.clone();
    if args.sitemaps {
        return sitemaps(&loaded, at, run, (output, format), &summary);
    }
    run.public_suffix_list = Some(LIST);
    if args.history {
        run.at = Some("each of its periods".to_owned());
    }
    let agents = questions.agents(set.dialect())?;
    let baseline = baseline.map(|it| it.noted_agents(set, summary.form)).transpose()?;
    let baseline = baseline.as_deref().and_then(<[_]>::first);
    let config = RowConfig { history: args.history, lists: args.lists, at, baseline };
    let survey = SurveyRows::new(set, &agents, config)?;
    // The file whose size measures the progress, if the policies are one file.
    let is_shown = !(destination.is_dash() && io::stdout().is_terminal());
    let progress = Progress::over(&[policies.path()], is_shown && !args.run.no_progress);
    let all_hosts = set.counts().hosts.max(1);
    let draw = |hosts_done| {
        progress.set_share(hosts_done, all_hosts);
        progress.draw(None);
    };
    let (rows, page_to) = if is_page {
        count_rows(&survey, &pool, draw)?;
        (None, Some(output))
    } else {
        (Some(write_rows(&survey, &pool, (output, format), &run, draw)?), None)
    };
    let totals = survey.totals();
    let notes = loaded.account_notes();
    let account = Account { run, notes, ..Account::default() };
    let page = || page::survey(&account, &totals);
    let page = page_to.map(|output| output.complete_with(page().as_bytes()));
    let complete = rows.into_iter().chain(page.transpose()?);
    set.is_whole()?;
    CompleteOutput::publish_all(complete)?;
    let time = Time::new(Duration::ZERO, started.elapsed(), totals.rows, None);
    let account = Account { time: Some(time), ..account };
    summary::write(&summary, &SurveySummary { format: format::SURVEY, account, totals })
}

/// Writes the sitemaps that robots.txt files name.
fn sitemaps(
    loaded: &Policies,
    at: Option<UnixSeconds>,
    run: Run,
    (output, format): (Output, Format),
    summary: &SummaryPlan,
) -> anyhow::Result<()> {
    let set = &*loaded.set;
    let mut rows = Rows::begin(output, format, sitemap_fields())?;
    let mut counts = SitemapCounts::default();
    for host in set.hosts() {
        push_sitemaps(set, &host?, at, &mut counts, &mut rows.added)?;
        rows.write_many()?;
    }
    set.is_whole()?;
    let notes = loaded.account_notes();
    let account = Account { run, records: counts, notes, ..Account::default() };
    let complete = rows.end()?.complete(to_json(&account))?;
    CompleteOutput::publish_all([complete])?;
    summary::write(summary, &account)
}

/// The workers that no thread uses.
type Idle<'a> = Mutex<Vec<RowWorker<'a, 'a>>>;

/// The rows of a block, the bytes of lists that end it, and those of all blocks at once.
type Bounds = (usize, u64, u64);

/// The bounds of blocks of text.
const TEXT_BOUNDS: Bounds = (SURVEY_TEXT_ROWS, SURVEY_LIST_BYTES, SURVEY_LIST_BYTES_AT_ONCE);

/// The bounds of the groups of Parquet.
const GROUP_BOUNDS: Bounds = (
    SURVEY_GROUP_ROWS,
    SURVEY_GROUP_LIST_BYTES,
    BLOCKS_PER_THREAD as u64 * SURVEY_GROUP_LIST_BYTES,
);

/// Writes all rows, and returns the complete output. `draw` gets the number of hosts that are done.
fn write_rows<'a>(
    survey: &'a SurveyRows<'a>,
    pool: &ThreadPool,
    (output, format): (Output, Format),
    run: &Run,
    draw: impl Fn(u64),
) -> anyhow::Result<CompleteOutput> {
    let (encoder, mut file) = table::begin(output, format, survey.fields(), Terminator::LineFeed)?;
    let bounds = if format == Format::Parquet { GROUP_BOUNDS } else { TEXT_BOUNDS };
    let encode = |worker: &mut RowWorker<'a, 'a>, hosts: &mut Hosts<'a>| {
        encoder.encode(|added| Ok(worker.fill(hosts, added)?))
    };
    each_block(survey, pool, bounds, encode, |mut rows| file.write(&mut rows), draw)?;
    let account: Account<NoRecords> = Account { run: run.clone(), ..Account::default() };
    file.complete(to_json(&account))
}

/// Counts all rows.
fn count_rows<'a>(
    survey: &'a SurveyRows<'a>,
    pool: &ThreadPool,
    draw: impl Fn(u64),
) -> anyhow::Result<()> {
    let count = |worker: &mut RowWorker<'a, 'a>, hosts: &mut Hosts<'a>| {
        let mut rows = survey.no_rows();
        while {
            worker.fill(hosts, &mut rows)?;
            rows.rows() > 0
        } {}
        Ok(())
    };
    each_block(survey, pool, TEXT_BOUNDS, count, Ok, draw)
}

/// The hosts of a block.
type Hosts<'a> = std::vec::IntoIter<StoredHost<'a>>;

/// Passes blocks of hosts to the threads, and what `work` makes of them to `each`, in order. `draw` gets the
/// number of hosts that are done.
fn each_block<'a, R: Send>(
    survey: &'a SurveyRows<'a>,
    pool: &ThreadPool,
    (rows, list_bytes, list_bytes_at_once): Bounds,
    work: impl Fn(&mut RowWorker<'a, 'a>, &mut Hosts<'a>) -> anyhow::Result<R> + Sync,
    mut each: impl FnMut(R) -> anyhow::Result<()>,
    draw: impl Fn(u64),
) -> anyhow::Result<()> {
    let idle: Idle<'_> = Mutex::default();
    let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let work = |block: Result<HostBlock<'a>, Damage>| {
        let HostBlock { hosts, .. } = block?;
        let mut worker = lock().pop().unwrap_or_else(|| survey.worker());
        let count = hosts.len() as u64;
        let done = work(&mut worker, &mut hosts.into_iter())?;
        lock().push(worker);
        anyhow::Ok((count, done))
    };
    let mut hosts_done = 0;
    let mut blocks = survey.blocks(rows, list_bytes).peekable();
    while blocks.peek().is_some() {
        let at_once = pool.current_num_threads() * BLOCKS_PER_THREAD;
        let (mut next, mut bytes) = (Vec::new(), 0);
        while next.len() < at_once && bytes < list_bytes_at_once {
            let Some(block) = blocks.next() else { break };
            bytes += block.as_ref().map_or(0, |block| block.list_bytes);
            next.push(block);
        }
        let encode = || next.into_par_iter().map(work).collect::<Vec<_>>();
        for done in pool.install(encode) {
            let (hosts, done) = done?;
            each(done)?;
            hosts_done += hosts;
        }
        draw(hosts_done);
    }
    Ok(())
}

/// The summary of a survey.
#[derive(Serialize)]
struct SurveySummary {
    format: &'static str,
    account: Account<NoRecords>,
    #[serde(flatten)]
    totals: RowTotals,
}

impl summary::Summary for SurveySummary {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let SurveySummary { account, totals, .. } = self;
        let RowTotals { hosts, rows, before_first, shared, per_agent, .. } = totals;
        account.write_run(out)?;
        let (hosts, rows) = (counted(*hosts, "host"), counted(*rows, "row"));
        let time = account.time.unwrap_or_default();
        let (seconds, rate) = (figures::seconds(time.seconds), grouped(time.records_per_second));
        writeln!(out, "{hosts}, {rows} in {seconds}: {rate} rows/s; domains by the {LIST}")?;
        write_before_first(*before_first, out)?;
        out.write_all(tables::totals(per_agent).as_bytes())?;
        out.write_all(tables::shared(shared).as_bytes())
    }
}

/// Writes how many origins are left out as of a time.
fn write_before_first(origins: u64, out: &mut Vec<u8>) -> io::Result<()> {
    match origins {
        0 => Ok(()),
        _ => writeln!(out, "{} left out: first captured later", counted(origins, "origin")),
    }
}

impl summary::Summary for Account<SitemapCounts> {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.write_run(out)?;
        let SitemapCounts { origins, origins_with_sitemaps, sitemaps, .. } = self.records;
        let (origins, sitemaps) = (counted(origins, "origin"), counted(sitemaps, "sitemap"));
        let with = grouped(origins_with_sitemaps);
        write!(out, "{origins}, {with} with sitemaps: {sitemaps}")?;
        match self.records.not_urls {
            0 => writeln!(out)?,
            1 => writeln!(out, ", 1 of them not an absolute URL")?,
            not_urls => writeln!(out, ", {not_urls} of them not absolute URLs")?,
        }
        write_before_first(self.records.before_first, out)
    }
}
