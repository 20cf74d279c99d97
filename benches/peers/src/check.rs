//! The comparison of answers, before anything is timed.

use std::collections::BTreeMap;

use crate::corpus::{Record, lay_out};
use crate::model::{Engine, Refusal, guarded};

/// URLs that an engine which parses for each of them is asked about.
pub const SAMPLE_URLS: usize = 20_000;
/// The seed of the sample.
pub const SAMPLE_SEED: u64 = 9309;
/// Differences that are shown for an engine.
const EXAMPLES_MAX: usize = 3;

/// What the comparison found about one engine.
#[derive(Default)]
pub struct Findings {
    /// URLs that it was asked about.
    pub asked: usize,
    /// Files that it refuses, by reason.
    pub files_refused: BTreeMap<Refusal, usize>,
    /// URLs without an answer, because their file is refused.
    pub urls_refused: usize,
    /// URLs without an answer, because it panics.
    pub urls_panicking: usize,
    /// Answers that are not ours.
    pub differences: usize,
    /// The first of those.
    pub examples: Vec<String>,
}

/// The URLs that are timed, and how many of them are allowed.
pub struct Workload {
    pub given: Vec<Record>,
    pub grouped: Vec<Record>,
    /// By engine; nothing for one that is not timed on this workload.
    pub allowed: Vec<Option<usize>>,
}

/// What was found, and what is timed for it.
pub struct Checked {
    /// By engine.
    pub findings: Vec<Findings>,
    /// The URLs that all matchers answer.
    pub all: Workload,
    /// Those of a sample that the engines without matchers answer too.
    pub sample: Workload,
}

/// Compares each engine's answers with those of the first, for URLs on `files` files.
pub fn check(engines: &mut [Box<dyn Engine>], files: usize, records: Vec<Record>) -> Checked {
    let mut findings: Vec<Findings> =
        engines.iter().map(|engine| Findings::new(&**engine, files)).collect();
    let all = compare(engines, &mut findings, records, false);
    let sample = compare(engines, &mut findings, sample(&all.given), true);
    Checked { findings, all, sample }
}

/// Asks the engines that parse each time, or those that do not. What they all answer is timed.
fn compare(
    engines: &mut [Box<dyn Engine>],
    findings: &mut [Findings],
    mut records: Vec<Record>,
    parse_each_time: bool,
) -> Workload {
    let ours: Vec<bool> = records.iter().map(|record| engines[0].allows(record)).collect();
    let mut kept = vec![true; records.len()];
    let mut answers = Vec::new();
    for (engine, findings) in engines.iter_mut().zip(findings) {
        if engine.parses_each_time() != parse_each_time {
            answers.push(None);
            continue;
        }
        let own = ask(&mut **engine, findings, &records);
        for (position, answer) in own.iter().enumerate() {
            kept[position] &= answer.is_some();
            findings.compare(&records[position], ours[position], *answer);
        }
        answers.push(Some(own));
    }
    let count = |own: Vec<Option<bool>>| {
        own.iter().zip(&kept).filter(|&(&answer, &kept)| kept && answer == Some(true)).count()
    };
    let allowed = answers.into_iter().map(|own| own.map(count)).collect();
    let mut kept = kept.into_iter();
    records.retain(|_| kept.next() == Some(true));
    let given = lay_out(&records);
    records.sort_unstable();
    Workload { given, grouped: lay_out(&records), allowed }
}

fn ask(engine: &mut dyn Engine, findings: &mut Findings, records: &[Record]) -> Vec<Option<bool>> {
    findings.asked = records.len();
    let mut answer = |record: &Record| {
        if engine.refusal(record.file).is_some() {
            findings.urls_refused += 1;
            return None;
        }
        let answer = guarded(|| engine.allows(record)).ok();
        findings.urls_panicking += usize::from(answer.is_none());
        answer
    };
    records.iter().map(&mut answer).collect()
}

impl Findings {
    fn new(engine: &dyn Engine, files: usize) -> Findings {
        let mut findings = Findings::default();
        for refusal in (0..files).filter_map(|file| engine.refusal(file)) {
            *findings.files_refused.entry(refusal.clone()).or_default() += 1;
        }
        findings
    }

    fn compare(&mut self, record: &Record, ours: bool, answer: Option<bool>) {
        let Some(answer) = answer.filter(|&answer| answer != ours) else { return };
        self.differences += 1;
        if self.examples.len() < EXAMPLES_MAX {
            let verdict = if answer { "allowed" } else { "disallowed" };
            self.examples.push(format!("{verdict}: {}", record.url));
        }
    }
}

/// A sample of the records in their order, the same on every run.
fn sample(records: &[Record]) -> Vec<Record> {
    let mut places: Vec<usize> = (0..records.len()).collect();
    places.sort_by_key(|&place| scatter(SAMPLE_SEED.wrapping_add(place as u64)));
    places.truncate(SAMPLE_URLS);
    places.sort_unstable();
    places.into_iter().map(|place| records[place]).collect()
}

/// A number that looks random, from a seed: the finaliser of SplitMix64.
fn scatter(seed: u64) -> u64 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
