//! Counts the records that a filter does not keep: why, and on which hosts.
//!
//! Each record has one cause, so the causes and the kept records add up to all records. Counting costs
//! a second look at the decisions of a block, so it is done only for an account.

use serde::Serialize;

use portcullis_dialect::usage::Label;
use portcullis_dialect::words;
use portcullis_set::batch::{Answers, OriginRecords};

use super::filter::{Fate, Plan, Quantifier};
use super::{Figures, NameCounts, add_counts};
use crate::limits::ACCOUNT_DROPPED_HOSTS_MAX;

words! {
    /// Why a record is not kept, the worst first.
    pub enum Cause {
        /// An agent may not fetch it.
        Disallowed => "disallowed",
        /// The use is not permitted: `n`.
        NotPermitted => "not-permitted",
        /// Nothing is stated about the use: `?`.
        NotStated => "not-stated",
        /// No policy of its origin is known, or none that applies.
        Unknown => "unknown",
        /// It is not a URL.
        Invalid => "invalid",
        /// A page came instead of its robots.txt.
        Page => "page",
        /// It is allowed, and disallowed records are kept.
        Allowed => "allowed",
    }
}

/// The records that are not kept.
#[derive(Clone, Debug, Default)]
pub struct Drops {
    causes: [u64; Cause::ALL.len()],
    hosts: NameCounts,
}

impl Drops {
    /// Counts a block, whose URLs are `urls`.
    pub fn add_block<R: AsRef<[u8]>>(&mut self, plan: &Plan, urls: &[R], answers: &Answers<'_>) {
        let causes = plan.causes(answers);
        causes.iter().flatten().for_each(|cause| self.causes[*cause as usize] += 1);
        for OriginRecords { records, key, .. } in answers.origins(urls) {
            let dropped = causes[records].iter().flatten().count() as u64;
            // A record that is not a URL has no host.
            if dropped > 0 && !key.is_empty() {
                self.hosts.add(key, dropped, ACCOUNT_DROPPED_HOSTS_MAX);
            }
        }
    }

    /// Adds the counts of the next chunk.
    pub fn merge(&mut self, next: &Drops) {
        add_counts(&mut self.causes, &next.causes);
        self.hosts.merge(&next.hosts, ACCOUNT_DROPPED_HOSTS_MAX);
    }

    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.causes = Default::default();
        self.hosts.clear();
    }

    /// Returns the number of records by cause.
    pub fn causes(&self) -> Figures {
        Figures::of(Cause::ALL, Cause::as_str, |cause| self.causes[cause as usize])
    }

    /// Returns the hosts of the records.
    pub fn hosts(&self) -> &NameCounts {
        &self.hosts
    }
}

/// Which records a filter keeps, for its account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Selection {
    /// The agents that must be allowed: `all` or `any`.
    pub agents: &'static str,
    /// The records that are kept: `allowed` or `disallowed`.
    pub keeps: &'static str,
    /// What happens to records of unknown origins: `keep`, `drop` or `aside`.
    pub unknown: &'static str,
    /// What happens to records that are not URLs.
    pub invalid: &'static str,
    /// What happens to allowed records of origins with a page instead of a robots.txt.
    pub pages: &'static str,
    /// The use that must be permitted as well.
    pub purpose: Option<&'static str>,
    /// What happens to records whose use is not stated: `keep` or `drop`.
    pub unstated: Option<&'static str>,
}

impl Selection {
    /// Describes a plan, and the label of its purpose.
    pub fn of(plan: &Plan, purpose: Option<Label>) -> Selection {
        let fate = |fate| match fate {
            Fate::Keep => "keep",
            Fate::Drop => "drop",
            Fate::Aside => "aside",
        };
        let unstated = |keeps| if keeps { "keep" } else { "drop" };
        let [unknown, invalid, pages] = plan.aside.map(fate);
        Selection {
            agents: if plan.quantifier == Quantifier::All { "all" } else { "any" },
            keeps: if plan.invert { "disallowed" } else { "allowed" },
            unknown,
            invalid,
            pages,
            purpose: purpose.map(Label::as_str),
            unstated: plan.purpose.map(|purpose| unstated(purpose.keeps_unstated)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::tests::{SCHEME, classifier, piece};
    use crate::{Counts, Format, Rejects, Written};
    use portcullis_files::input::Terminator;
    use portcullis_set::batch::Session;

    /// Returns the records that are not kept by cause, and those of `a`, `d` and other hosts.
    fn dropped(plan: &Plan, agents: usize) -> ([u64; Cause::ALL.len()], [u64; 3]) {
        let text = b"a/1\nd/1\nd/2\nx/1\n://\na/2\nd/3\n\n";
        let mut session = Session::new(classifier(&["a"], &["d"], agents)).assume_scheme(SCHEME);
        let mut out = Written::default();
        let filter = Filter { plan: *plan, are_rows: false, counts_only: false };
        let mut counts = Counts::new(agents);
        counts.ask_drops();
        piece(text, Terminator::LineFeed, &mut Rejects::default(), |piece| {
            filter.encode(piece, &mut session, &mut counts, &mut out)
        })
        .unwrap();
        let drops = counts.drops().unwrap();
        assert_eq!(drops.causes.iter().sum::<u64>() + counts.kept.unwrap(), counts.records);
        let hosts = drops.hosts().largest(9);
        let of =
            |name: &str| hosts.iter().filter(|it| it.0 == name.as_bytes()).map(|it| it.1).sum();
        (drops.causes, ["a", "d", "x"].map(of))
    }

    #[test]
    fn each_record_that_is_not_kept_has_one_cause() {
        let plan = Plan::of(Quantifier::All);
        assert_eq!(dropped(&plan, 1), ([3, 0, 0, 1, 2, 0, 0], [0, 3, 1]));
        assert_eq!(
            dropped(&plan, 2),
            ([5, 0, 0, 1, 2, 0, 0], [2, 3, 1]),
            "one agent is disallowed"
        );
        let any = Plan { quantifier: Quantifier::Any, ..plan };
        assert_eq!(dropped(&any, 2), ([0, 0, 0, 1, 2, 0, 0], [0, 0, 1]));
        let aside = [Fate::Aside, Fate::Keep, Fate::Keep];
        let inverted = Plan { invert: true, aside, ..plan };
        assert_eq!(dropped(&inverted, 1), ([0, 0, 0, 1, 0, 0, 2], [2, 0, 1]));
    }
}
