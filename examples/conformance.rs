//! Compares verdicts and rule lines with another implementation, over a whole crawl.
//!
//! Usage: `conformance POLICIES VERDICTS.tsv.gz AGENT…`. POLICIES is a folder of files named by
//! host, or a policy set compiled from such a folder. Each line of VERDICTS has a URL and one
//! column `A:L` for each agent: A is 1 for allowed and 0 for disallowed, and L is the line of the
//! deciding rule, or 0. The dialect is `google`, and files have no size limit, as in the program
//! that wrote the verdicts. URLs are decided as in `classify`: in blocks over all files, in random
//! order, for all agents at once and for each alone, with every kind of vectors; and then one by
//! one. Exits with 1 if any verdict or line differs.

#![allow(unsafe_code, reason = "maps files that the caller names")]

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bstr::ByteSlice;
use flate2::read::MultiGzDecoder;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::dialect::GOOGLE;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_robots::policy::AgentChain;
use portcullis_set::batch::{Classifier, Session, Vectors};
use portcullis_set::{LoadConfig, PolicySet};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The most differences that are shown.
const SHOWN_MAX: usize = 10;

/// The result of a comparison.
#[derive(Default)]
struct Tally {
    verdicts: u64,
    verdict_differences: u64,
    line_differences: u64,
    shown: Vec<String>,
}

impl Tally {
    fn add(mut self, other: Tally) -> Tally {
        self.verdicts += other.verdicts;
        self.verdict_differences += other.verdict_differences;
        self.line_differences += other.line_differences;
        self.shown.extend(other.shown);
        self.shown.truncate(SHOWN_MAX);
        self
    }

    fn compare(&mut self, url: &[u8], agent: &AgentChain, expected: &[u8], decision: &Decision) {
        self.verdicts += 1;
        let line = decision.line.map_or(0, |line| line.get());
        let allowed = match decision.verdict {
            Verdict::Allow => "1",
            Verdict::Disallow => "0",
            Verdict::Unknown | Verdict::Invalid => decision.verdict.as_str(),
        };
        let got = format!("{allowed}:{line}");
        if got.as_bytes() == expected {
            return;
        }
        if expected.split(|&byte| byte == b':').next() == Some(allowed.as_bytes()) {
            self.line_differences += 1;
        } else {
            self.verdict_differences += 1;
        }
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(format!(
                "{} {agent}: {} here {got}",
                url.as_bstr(),
                expected.as_bstr()
            ));
        }
    }
}

/// Opens a set by mapping it, as the program does, or compiles a folder into memory.
fn open(path: &Path) -> Result<Arc<PolicySet>, Failure> {
    if path.is_dir() {
        let config = LoadConfig { robots_bytes_max: None, ..LoadConfig::new(&GOOGLE) };
        return Ok(PolicySet::load(path, &config)?.set.into());
    }
    // SAFETY: this process does not write to the file, and it was made for this comparison.
    let set = unsafe { PolicySet::map(path) }?;
    if set.dialect() != &GOOGLE || set.robots_bytes_max().is_some() {
        return Err("compile the set with --dialect google --max-robots-size unlimited".into());
    }
    Ok(set.into())
}

fn classifier(set: &Arc<PolicySet>, agents: Vec<AgentChain>) -> Result<Arc<Classifier>, Failure> {
    Ok(Classifier::new(Arc::clone(set), agents)?.into())
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policies, verdicts, agents @ ..] = &arguments[..] else {
        return Err("usage: conformance POLICIES VERDICTS.tsv.gz AGENT…".into());
    };
    let start = Instant::now();
    let (policies, table) = rayon::join(
        || open(Path::new(policies)),
        || {
            let mut table = Vec::new();
            MultiGzDecoder::new(std::fs::File::open(verdicts)?).read_to_end(&mut table)?;
            std::io::Result::Ok(table)
        },
    );
    let (set, table) = (policies?, table?);
    let chains: Result<Vec<_>, _> =
        agents.iter().map(|agent| AgentChain::parse(agent, &GOOGLE)).collect();
    let chains = chains?;
    let mut classifiers = vec![Asked { first: 0, classifier: classifier(&set, chains.clone())? }];
    for (first, chain) in chains.into_iter().enumerate() {
        classifiers.push(Asked { first, classifier: classifier(&set, vec![chain])? });
    }
    let opened = start.elapsed();
    let mut rows: Vec<&[u8]> = table.lines().collect();
    // In a random order that is the same each time.
    rows.sort_by_cached_key(|row| xxhash_rust::xxh3::xxh3_64(row));
    let mut tally = Tally::default();
    for vectors in Vectors::all() {
        classifiers = classifiers.into_iter().map(|asked| asked.with_vectors(vectors)).collect();
        for asked in &classifiers {
            tally = tally.add(asked.compare(&rows, RECORDS_AT_ONCE));
        }
    }
    tally = tally.add(classifiers[0].compare(&rows, 1));
    for difference in &tally.shown {
        println!("differs: {difference}");
    }
    let questions = rows.len() * agents.len();
    println!(
        "{questions} verdicts on {} URLs compared, each {} times: {} differ in verdict, {} in rule line; \
         {:.2} s, of which {:.2} s to open set {:016x} of {} origins",
        rows.len(),
        tally.verdicts / questions.max(1) as u64,
        tally.verdict_differences,
        tally.line_differences,
        start.elapsed().as_secs_f64(),
        opened.as_secs_f64(),
        set.hash(),
        set.counts().origins,
    );
    let agrees = tally.verdicts > 0 && tally.verdict_differences + tally.line_differences == 0;
    Ok(if agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A classifier, and the column of its first agent.
struct Asked {
    first: usize,
    classifier: Arc<Classifier>,
}

impl Asked {
    fn with_vectors(self, vectors: Vectors) -> Self {
        let classifier = Arc::into_inner(self.classifier).expect("no session is left");
        Asked { classifier: classifier.with_vectors(vectors).into(), ..self }
    }

    /// Compares all rows, `size` at a time.
    fn compare(&self, rows: &[&[u8]], size: usize) -> Tally {
        let fold = |(mut tally, mut session): (Tally, Session), block: &[&[u8]]| {
            self.compare_block(block, &mut tally, &mut session);
            (tally, session)
        };
        rows.par_chunks(size)
            .with_min_len(4_096_usize.div_ceil(size))
            .fold(|| (Tally::default(), Session::new(Arc::clone(&self.classifier), None)), fold)
            .map(|(tally, _)| tally)
            .reduce(Tally::default, Tally::add)
    }

    fn compare_block(&self, rows: &[&[u8]], tally: &mut Tally, session: &mut Session) {
        let url = |row: &&[u8]| row.split(|&byte| byte == b'\t').next().unwrap_or_default().len();
        let urls: Vec<&[u8]> = rows.iter().map(|row| &row[..url(row)]).collect();
        let agents = self.classifier.agents();
        session.classify(&urls).expect("a set without damage");
        let decisions = session.decisions_with_rules().expect("a set without damage");
        for ((row, url), decisions) in rows.iter().zip(&urls).zip(decisions.chunks(agents.len())) {
            let mut columns = row.split(|&byte| byte == b'\t').skip(1 + self.first);
            for (agent, decision) in agents.iter().zip(decisions) {
                tally.compare(url, agent, columns.next().unwrap_or_default(), decision);
            }
        }
    }
}
