//! What one thread counts, in whatever order: sums that add up to the same for any number of threads.

use super::plan::Plan;
use super::rows::Rows;
use crate::decision::Verdict;
use crate::report::Counts;

/// The number of verdicts.
pub(super) const VERDICTS: usize = Verdict::ALL.len();

/// One thread's counts, and in the end the sum of all.
#[derive(Debug)]
pub(super) struct Tally {
    pub counts: Counts,
    /// By rule: URLs that it decided for somebody. See [`Plan`](super::plan::Plan).
    pub rules: Vec<u64>,
    /// By rule and class, where classes share rules.
    pub class_rules: Vec<u64>,
    /// By origin, see [`Rows`](super::rows::Rows).
    pub rows: Vec<u64>,
    /// Records without text.
    pub empty: u64,
    /// Records that are longer than a URL may be.
    pub too_long: u64,
    /// By comparison.
    pub compared: Vec<ComparedTally>,
}

impl Tally {
    /// Nothing counted yet, with room for everything that an audit counts.
    pub(super) fn new(agents: usize, plan: &Plan, rows: &Rows, comparisons: usize) -> Tally {
        let compared = ComparedTally { by_agent: vec![0; agents], ..ComparedTally::default() };
        Tally {
            counts: Counts::new(agents),
            rules: vec![0; plan.rules],
            class_rules: vec![0; plan.class_rules],
            rows: vec![0; rows.counters],
            empty: 0,
            too_long: 0,
            compared: vec![compared; comparisons],
        }
    }

    /// Adds what another thread counted.
    pub(super) fn merge(&mut self, other: &Tally) {
        self.counts.merge(&other.counts);
        add(&mut self.rules, &other.rules);
        add(&mut self.class_rules, &other.class_rules);
        add(&mut self.rows, &other.rows);
        self.empty += other.empty;
        self.too_long += other.too_long;
        for (compared, other) in self.compared.iter_mut().zip(&other.compared) {
            compared.urls += other.urls;
            add(&mut compared.by_agent, &other.by_agent);
            for (row, other) in compared.changes.iter_mut().zip(&other.changes) {
                add(row, other);
            }
        }
    }
}

fn add(counters: &mut [u64], others: &[u64]) {
    counters.iter_mut().zip(others).for_each(|(count, other)| *count += other);
}

/// What differs between two sides.
#[derive(Clone, Debug, Default)]
pub(super) struct ComparedTally {
    pub urls: u64,
    pub by_agent: Vec<u64>,
    /// By the verdict here, then by that there.
    pub changes: [[u64; VERDICTS]; VERDICTS],
}
