//! An audit: a survey for some agents, and one pass over a list of URLs.
//!
//! The URLs are decided by a classifier, which may ask as of times. The survey is of the set as of
//! the classifier's one time, or else of the newest policies.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis_build::set_as_of;
use portcullis_dialect::id::RuleID;
use portcullis_dialect::usage::Label;
use portcullis_files::scratch::Scratch;
use portcullis_report::account::format;
use portcullis_report::{Account, Counts, NameCounts};
use portcullis_set::batch::{AskError, Classifier};
use portcullis_set::{Damage, PolicySet, SetError};
use portcullis_text::figures::largest;

use crate::classes::{Classified, Policies};
use crate::counting::{Findings, PolicyCounts, Tally, Worker};
use crate::limits::{AUDIT_SAMPLES, AUDIT_UNKNOWN_ORIGINS_MAX};
use crate::origins::Map;
use crate::report::{DecidingRule, HostFigures, HostRow, List, Report, RuleFigures};
use crate::survey::Survey;
use crate::text::Text;

/// An audit: a set, the agents, and the counts so far.
#[derive(Debug)]
pub struct Audit {
    pub(crate) classifier: Arc<Classifier>,
    pub(crate) set: Arc<PolicySet>,
    survey: Survey,
    /// The policies of all times, by number.
    pub(crate) policies: Policies,
    /// The maximum number of rows in a list.
    pub(crate) top: usize,
    /// A bit for each rule's counter: whether [`Findings`] has enough sample URLs of the rule.
    has_samples: Vec<AtomicU64>,
    /// The sum over finished workers.
    tally: Mutex<Tally>,
}

/// The URLs of the list that were checked against a policy.
#[derive(Default)]
struct Asked<'a> {
    urls: u64,
    /// The number of hosts of these URLs.
    hosts: u64,
    /// The host that names the policy: of the hosts of these URLs the one with the most, and of
    /// several the first by name.
    leading: Option<(u64, Reverse<&'a [u8]>)>,
}

impl<'a> Asked<'a> {
    fn host(&self) -> &'a [u8] {
        self.leading.map_or(b"", |(_, Reverse(host))| host)
    }
}

/// An error that prevents an audit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The set cannot be asked.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The set is damaged.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// What the set was at a time cannot be compiled.
    #[error(transparent)]
    AsOf(#[from] SetError),
}

/// The policies with URLs in the list, by number.
type AskedPolicies<'a> = Map<usize, Asked<'a>>;

impl Audit {
    /// Surveys the set of `classifier` for its agents: parses and analyses every file once, on the
    /// calling thread's rayon pool. Lists of the report have at most `top` rows. What the set was at a
    /// time is compiled in `scratch`.
    ///
    /// # Errors
    ///
    /// If the set is damaged, or a temporary file fails.
    ///
    /// # Panics
    ///
    /// If there are no agents, or the set was loaded without usage preferences.
    pub fn new(classifier: Classifier, top: usize, scratch: &Scratch) -> Result<Audit, AuditError> {
        let (set, agents) = (Arc::clone(classifier.set()), classifier.agents());
        assert!(!agents.is_empty(), "an audit needs an agent");
        let (newest, policies) = Survey::with_policies(&set, agents, top)?;
        let survey = match set_as_of(&classifier, scratch)? {
            Some(then) => Survey::each_policy(&then, agents, (top, AUDIT_SAMPLES), drop)?,
            None => newest,
        };
        let counters = policies.counters();
        let tally = Mutex::new(Tally::new(counters, agents.len()));
        Ok(Audit {
            classifier: classifier.with_usage(&Label::ALL)?.into(),
            set,
            survey,
            policies,
            top,
            has_samples: (0..counters[0].div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            tally,
        })
    }

    /// Creates the worker of a thread. Records without a scheme get `assumed_scheme`; if that is
    /// `None`, they are invalid.
    pub fn worker(&self, assumed_scheme: Option<&str>) -> Worker<'_> {
        Worker::new(self, assumed_scheme)
    }

    /// Returns whether there are enough sample URLs of the rule with a counter.
    #[inline]
    pub(crate) fn has_samples(&self, counter: usize) -> bool {
        self.has_samples[counter / 64].load(Ordering::Relaxed) >> (counter % 64) & 1 == 1
    }

    /// Stores that there are enough sample URLs of a rule.
    pub(crate) fn set_has_samples(&self, counter: usize) {
        self.has_samples[counter / 64].fetch_or(1 << (counter % 64), Ordering::Relaxed);
    }

    pub(crate) fn new_tally(&self) -> Tally {
        Tally::new(self.policies.counters(), self.classifier.agents().len())
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        // Additions do not panic, so a poisoned lock still holds whole sums.
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error for a set in which a lookup disagrees with the walk over all policies.
    #[cold]
    pub(crate) fn misfiled(&self) -> Damage {
        self.set.malformed_host("the policy or the rules of a host are missing")
    }

    /// Returns the decisions that workers counted, once they are dropped, and the hosts of `findings`.
    pub fn counts(&self, findings: &Findings) -> Counts {
        let mut counts = self.tally().counts.clone();
        counts.set_unknown_hosts(hosts_of(&findings.unknown));
        counts
    }

    /// Returns the report of all dropped workers, with the account of their decisions. The files of the
    /// rules that are shown are parsed again.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn report(&self, findings: &Findings, account: Account) -> Result<Report, Damage> {
        let tally = &*self.tally();
        Ok(Report {
            format: format::AUDIT,
            account,
            inputs: Vec::new(),
            hosts: self.hosts(tally),
            rules: self.rules(tally, findings, &asked(tally))?,
            unknown_origins: findings.unknown.top("origin", self.top),
            survey_at: None,
            survey: self.survey.clone(),
        })
    }

    /// Returns figures about the hosts of URLs, and the hosts with the most disallowed decisions.
    fn hosts(&self, tally: &Tally) -> HostFigures {
        let row = |key: &[u8], policies: &[PolicyCounts]| {
            let mut by_agent = vec![0; self.classifier.agents().len()];
            for counts in policies {
                let class_of = self.policies.get(counts.policy).class_of;
                for (count, &class) in by_agent.iter_mut().zip(class_of) {
                    *count += counts.disallowed[class as usize];
                }
            }
            HostRow {
                host: Text::cut(key),
                records: policies.iter().map(|counts| counts.urls).sum(),
                disallowed: by_agent.iter().sum(),
                by_agent,
            }
        };
        let affected = tally.hosts.iter().filter(|(_, policies)| {
            let mut disallowed = policies.iter().flat_map(|counts| &counts.disallowed);
            disallowed.any(|&urls| urls > 0)
        });
        let total = affected.clone().count() as u64;
        let rows = affected.map(|(key, policies)| (&**key, row(key, policies)));
        let rows =
            largest(rows, self.top, |&(key, ref row)| (row.disallowed, row.records, Reverse(key)));
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        HostFigures {
            asked: tally.hosts.len() as u64,
            affected: total,
            most_affected: List { total, rows },
        }
    }

    /// Returns the rules that decided URLs, and how many could have.
    fn rules(
        &self,
        tally: &Tally,
        findings: &Findings,
        asked: &AskedPolicies<'_>,
    ) -> Result<RuleFigures, Damage> {
        let policies = &self.policies;
        let applicable = |number: &usize| policies.get(*number).policy.applicable;
        let counted = tally.rules.iter().copied().enumerate().filter(|&(_, urls)| urls > 0);
        let total = counted.clone().count() as u64;
        let host_of = |number| asked.get(&number).map_or(&b""[..], Asked::host);
        // The counters of a policy are in the order of its rules, and so in the order of lines.
        let most = largest(counted, self.top, |&(counter, urls)| {
            (urls, Reverse((host_of(policies.of_counter(counter)), counter)))
        });
        let row = |(counter, urls): (usize, u64)| {
            let number = policies.of_counter(counter);
            let Classified { policy, class_of, rules, .. } = policies.get(number);
            let rule = RuleID((counter - policy.rules.base) as u32 + policy.rules.first);
            let decided = |class: &u32| {
                let counter = rules[*class as usize].counter(rule);
                counter.map_or(0, |it| tally.class_rules[it])
            };
            let samples = findings.samples.get(&counter).into_iter().flatten();
            let found = self.set.policy(policy.number)?.with_file(|file, _| {
                let groups = file.groups();
                // A group without rules starts where the next group starts.
                let group = groups.iter().rfind(|group| group.rules.contains(&rule.0));
                let name = group.and_then(|group| file.user_agents_of(group).first());
                let found = file.rules().get(rule.index())?;
                Some(DecidingRule {
                    host: Text::cut(host_of(number)),
                    hosts: if tally.has_times { asked[&number].hosts } else { policy.hosts },
                    line: found.line.get(),
                    verdict: found.verdict.as_str(),
                    rule: Text::cut(found.value),
                    group: name.map(|line| Text::cut(line.value)).unwrap_or_default(),
                    records: urls,
                    by_agent: class_of.iter().map(decided).collect(),
                    samples: samples.map(|url| Text::from(&url[..])).collect(),
                })
            })?;
            found.ok_or_else(|| self.misfiled())
        };
        Ok(RuleFigures {
            rules: policies.iter().map(|policy| policy.applicable).sum(),
            asked: asked.keys().map(applicable).sum(),
            deciding: List { total, rows: most.into_iter().map(row).collect::<Result<_, _>>()? },
        })
    }
}

/// Finds the policies with URLs.
fn asked(tally: &Tally) -> AskedPolicies<'_> {
    let mut asked = AskedPolicies::default();
    for (key, counts) in &tally.hosts {
        for counts in counts {
            let policy = asked.entry(counts.policy).or_default();
            policy.urls += counts.urls;
            policy.hosts += 1;
            policy.leading = policy.leading.max(Some((counts.urls, Reverse(&**key))));
        }
    }
    asked
}

/// Counts origins by host.
fn hosts_of(origins: &NameCounts) -> NameCounts {
    let mut hosts = NameCounts::default();
    for (origin, records) in origins.iter() {
        hosts.add(host_of(origin), records, AUDIT_UNKNOWN_ORIGINS_MAX);
    }
    hosts.add_uncounted(origins.uncounted());
    hosts
}

/// Returns the host of an origin, with its port unless it is the default port.
fn host_of(origin: &[u8]) -> &[u8] {
    let scheme = origin.windows(3).position(|bytes| bytes == b"://");
    scheme.map_or(origin, |colon| &origin[colon + 3..])
}
