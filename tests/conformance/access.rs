//! Verdicts and rule lines compared with another implementation, over a whole crawl.
//!
//! Each line of the table has a URL and one column `A:L` for each agent: A is 1 for allowed and 0 for
//! disallowed, and L is the line of the deciding rule, or 0. The dialect is `google`, and files have no
//! size limit, as in the program that wrote the verdicts. URLs are decided as in `classify`: in blocks
//! over all files, in random order, for all agents at once and for each alone, with every kind of
//! vectors; and then one by one.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bstr::ByteSlice;
use flate2::read::MultiGzDecoder;
use portcullis_build::{LoadConfig, load};
use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::GOOGLE;
use portcullis_dialect::id::LineNumber;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_engine::vectors::Vectors;
use portcullis_robots::url::{BadUrl, split};
use portcullis_set::PolicySet;
use portcullis_testkit::{Agreement, Configuration, Engine, Judged, Oracle, agree_in_shares};

use crate::{Failure, crawlers, map, shuffled};

/// The rows of the table: a URL, and a column for each agent.
struct Table<'t>(Vec<&'t [u8]>);

impl Table<'_> {
    fn columns(&self, question: usize) -> impl Iterator<Item = &[u8]> {
        self.0[question].split(|&byte| byte == b'\t')
    }
}

impl Oracle for Table<'_> {
    fn write_url(&self, question: usize, url: &mut Vec<u8>) {
        url.extend(self.columns(question).next().unwrap_or_default());
    }

    fn judged(&self, question: usize, agent: usize) -> Option<Judged<'_>> {
        let column = self.columns(question).nth(1 + agent);
        let parts = column.and_then(|column| column.to_str().ok()?.split_once(':'));
        let access = parts.and_then(|(allowed, line)| {
            let verdict = match allowed {
                "1" => Verdict::Allow,
                "0" => Verdict::Disallow,
                _ => return None,
            };
            let line = LineNumber::new(line.parse().ok()?);
            Some(Decision { line, ..Decision::without_rule(verdict, Reason::Rule) })
        });
        let Some(access) = access else {
            panic!("a row without a verdict: {}", self.describe(question))
        };
        Some(Judged { access, usage: None })
    }

    fn describe(&self, question: usize) -> String {
        self.0[question].as_bstr().to_string()
    }

    /// The table has no reasons, and no numbers of rules.
    fn accepts(&self, _question: usize, answer: Decision, expected: Decision) -> bool {
        (answer.verdict, answer.line) == (expected.verdict, expected.line)
    }
}

/// Opens a set by mapping it, as the program does, or compiles a folder into memory.
fn open(path: &Path) -> Result<Arc<PolicySet>, Failure> {
    if path.is_dir() {
        let config = LoadConfig { robots_bytes_max: None, ..LoadConfig::new(&GOOGLE) };
        return Ok(load(path, &config)?.set.into());
    }
    let set = map(path)?;
    if set.dialect() != &GOOGLE || set.robots_bytes_max().is_some() {
        return Err("compile the set with --dialect google --max-robots-size unlimited".into());
    }
    Ok(set)
}

/// Prints what differs, and returns whether nothing does.
pub(crate) fn compare(policies: &Path, verdicts: &Path, agents: &[&str]) -> Result<bool, Failure> {
    let start = Instant::now();
    let (policies, table) = rayon::join(
        || open(policies),
        || {
            let mut table = Vec::new();
            MultiGzDecoder::new(std::fs::File::open(verdicts)?).read_to_end(&mut table)?;
            std::io::Result::Ok(table)
        },
    );
    let (set, table) = (policies?, table?);
    let agents = crawlers(agents, &GOOGLE)?;
    let opened = start.elapsed();
    let mut table = Table(table.lines().collect());
    let rows = table.0.len();
    // We reject them, by a decision of ours; the other program expects URLs that a client has parsed.
    let is_unclear = |row: &&[u8]| {
        let url = row.split(|&byte| byte == b'\t').next().unwrap_or_default();
        split(url, GOOGLE.paths.path_start) == Err(BadUrl::Backslash)
    };
    table.0.retain(|row| !is_unclear(row));
    if rows > table.0.len() {
        println!("{} URLs with a backslash before the query left out", rows - table.0.len());
    }
    let order = shuffled(&table.0);
    // All agents, then each alone.
    let all: Vec<usize> = (0..agents.len()).collect();
    let lists = || [&all[..]].into_iter().chain(all.chunks(1));
    let engine = |positions, vectors| {
        let engine =
            Engine::from_some(Arc::clone(&set), &agents, positions, &Configuration::default());
        engine.with_vectors(vectors)
    };
    let mut found = Agreement::default();
    for vectors in Vectors::all() {
        for positions in lists() {
            let engine = engine(positions, vectors);
            let sizes = (4_096, RECORDS_AT_ONCE);
            found = found.and(agree_in_shares(&engine, &table, &order, sizes));
        }
    }
    let engine = engine(&all, Vectors::detect());
    found = found.and(agree_in_shares(&engine, &table, &order, (4_096, 1)));
    for difference in &found.differences {
        println!("differs: {}", difference.text);
    }
    let questions = table.0.len() * agents.len();
    println!(
        "{questions} verdicts on {} URLs compared, each {} times: {} differ in verdict or rule line; \
         {:.2} s, of which {:.2} s to open set {:.16} of {} origins",
        table.0.len(),
        found.compared / questions.max(1) as u64,
        found.differing,
        start.elapsed().as_secs_f64(),
        opened.as_secs_f64(),
        set.hash(),
        set.counts().origins,
    );
    Ok(found.compared > 0 && found.differing == 0)
}
