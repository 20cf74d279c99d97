//! The words in which text and page describe the crawlers that records name.

use portcullis_dialect::decision::Verdict;
use portcullis_report::{Figures, Pace, ReadingFacts, RecordAgent};

use crate::audit::Report;

/// The crawlers of a report, by whether robots.txt binds them.
pub(crate) struct Crawlers<'r> {
    pub bound: Vec<&'r RecordAgent>,
    /// Their operators say that robots.txt may not apply to them, so they ignore nothing.
    pub not_bound: Vec<&'r RecordAgent>,
}

impl<'r> Crawlers<'r> {
    /// Returns the known crawlers of records; `None` if records have no agents of their own.
    pub fn of(report: &'r Report) -> Option<Crawlers<'r>> {
        let all = report.account.records.record_agents.as_ref()?.iter();
        let is_known =
            |it: &&RecordAgent| it.reading.as_ref().is_some_and(|it| !it.tokens.is_empty());
        let (bound, not_bound) = all.filter(is_known).partition(|it| it.is_bound());
        Some(Crawlers { bound, not_bound })
    }

    pub fn all(&self) -> impl Iterator<Item = &'r RecordAgent> {
        self.bound.iter().chain(&self.not_bound).copied()
    }

    /// Whether a crawler reads robots.txt in another way than the dialect.
    pub fn read_differently(&self) -> bool {
        self.all().any(|it| !reading(it).is_empty())
    }

    /// Returns the crawlers that policies ask for a delay.
    pub fn with_pace(&self) -> impl Iterator<Item = (&'r RecordAgent, &'r Pace)> {
        self.all().filter_map(|it| Some((it, it.pace.as_ref()?)))
    }

    /// Returns the bound crawlers that requested what they must not.
    pub fn with_disallowed(&self) -> impl Iterator<Item = &'r RecordAgent> {
        self.bound.iter().copied().filter(|it| disallowed(&it.verdicts) > 0)
    }
}

/// Returns the number of records that are disallowed.
pub(crate) fn disallowed(verdicts: &Figures) -> u64 {
    verdicts.get(Verdict::Disallow.as_str())
}

/// Returns the name of the crawler.
pub(crate) fn name(it: &RecordAgent) -> &str {
    it.agent.as_deref().unwrap_or_default()
}

/// Describes how a crawler reads robots.txt where it differs from the dialect; empty if it does not.
pub(crate) fn reading(it: &RecordAgent) -> String {
    let Some(ReadingFacts { tokens, reads_default, answers, dialect, .. }) = &it.reading else {
        return String::new();
    };
    let fallbacks = tokens.get(1..).filter(|it| !it.is_empty());
    let parts = [
        (!reads_default).then(|| "does not read *".to_owned()),
        fallbacks.map(|it| format!("also reads {}", it.join(", "))),
        answers.as_ref().map(|answers| format!("no file: {answers}")),
        dialect.map(|dialect| format!("reads as {dialect}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Returns why requests are not compared, in the order of tables.
pub(crate) fn not_compared(pace: &Pace) -> Figures {
    Figures(vec![
        ("no time", pace.untimed),
        ("no client", pace.without_client),
        ("delay under 1 s", pace.under_a_second),
        ("not followed", pace.not_followed),
    ])
}
