//! What chunks tell, taken in the order of the input.

use std::sync::atomic::Ordering;

use hashbrown::HashMap;

use super::told::{ComparedDecision, Sample, Told};
use super::unknown::UnknownOrigins;
use super::{Audit, change};
use crate::decision::Decision;
use crate::limits::{AUDIT_SAMPLES, AUDIT_UNKNOWN_ORIGINS_MAX};

/// A piece of text that is kept.
type Text = Box<[u8]>;

/// What was told so far.
#[derive(Debug)]
pub struct Findings {
    /// By rule.
    pub(super) samples: HashMap<usize, Samples, foldhash::fast::RandomState>,
    pub(super) invalid: Vec<Text>,
    pub(super) unknown: UnknownOrigins,
    /// By comparison.
    pub(super) compared: Vec<Vec<Example>>,
}

/// The first URLs that a rule decided.
#[derive(Debug)]
pub(super) struct Samples {
    /// The host of the first.
    pub host: u32,
    pub urls: Vec<Text>,
}

/// A URL that two sides decide differently.
#[derive(Debug)]
pub(super) struct Example {
    pub agent: usize,
    pub url: Text,
    pub here: Side,
    pub there: Side,
}

/// One side's decision, and the rule that decides.
#[derive(Debug)]
pub(super) struct Side {
    pub decision: Decision,
    pub rule: Option<Text>,
}

impl Findings {
    pub(super) fn new(audit: &Audit) -> Findings {
        Findings {
            samples: HashMap::default(),
            invalid: Vec::new(),
            unknown: UnknownOrigins::new(AUDIT_UNKNOWN_ORIGINS_MAX),
            compared: audit.comparisons.iter().map(|_| Vec::new()).collect(),
        }
    }

    /// Takes what a chunk told. Chunks have to come in the order of the input.
    pub fn add(&mut self, audit: &Audit, told: &Told) {
        for sample in &told.samples {
            self.add_sample(audit, sample, told);
        }
        let room = AUDIT_SAMPLES - self.invalid.len();
        self.invalid.extend(told.invalid.iter().take(room).map(|text| told.text(text).into()));
        self.unknown.add(&told.unknown);
        self.add_examples(audit, told);
    }

    fn add_sample(&mut self, audit: &Audit, sample: &Sample, told: &Told) {
        let new = || Samples { host: sample.host, urls: Vec::with_capacity(AUDIT_SAMPLES) };
        let samples = self.samples.entry(sample.rule).or_insert_with(new);
        if samples.urls.len() < AUDIT_SAMPLES {
            samples.urls.push(told.text(&sample.url).into());
        }
        if samples.urls.len() == AUDIT_SAMPLES {
            // Chunks that come later, which are all that may see this, have nothing to tell of it.
            audit.is_told[sample.rule].store(true, Ordering::Relaxed);
        }
    }

    fn add_examples(&mut self, audit: &Audit, told: &Told) {
        for compared in &told.compared {
            let (here, there) = (&compared.here, &compared.there);
            let change_of = |here: Decision, there: Decision| change(here.verdict, there.verdict);
            let number = change_of(here.decision, there.decision);
            let examples = &mut self.compared[compared.comparison];
            let same = |example: &&Example| {
                change_of(example.here.decision, example.there.decision) == number
            };
            if examples.iter().filter(same).count() == AUDIT_SAMPLES {
                let is_told = &audit.comparisons[compared.comparison].is_told[number];
                is_told.store(true, Ordering::Relaxed);
                continue;
            }
            let side = |side: &ComparedDecision| Side {
                decision: side.decision,
                rule: side.rule.as_ref().map(|rule| told.text(rule).into()),
            };
            examples.push(Example {
                agent: compared.agent,
                url: told.text(&compared.url).into(),
                here: side(here),
                there: side(there),
            });
        }
    }
}
