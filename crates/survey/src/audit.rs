//! An audit: one pass over a list of URLs, and a survey for the agents; and its report as plain data,
//! which `audit -o FILE.json` writes and the page shows.
//!
//! The URLs are decided by a classifier, which may ask as of times. The survey is of the set as of
//! the classifier's one time, or else of the newest policies.
//!
//! The report holds no times and no thread counts, so equal inputs give equal bytes. Rows refer to
//! agents by position in the account; counts by agent are in the same order. Texts are copied
//! from files and URLs, and cut if they are long. A [`List`] holds the first rows and the number of all
//! rows. Rows with equal counts are ordered by host, then by line. A rule is counted once per policy, for
//! any number of hosts that share the policy.

use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::id::RuleID;
use portcullis_dialect::usage::Label;
use portcullis_report::account::format;
use portcullis_report::{Account, Pace};
use portcullis_robots::policy::Crawler;
use portcullis_set::batch::{Classifier, Session};
use portcullis_set::stored::PolicyNumber;
use portcullis_set::{Damage, PolicySet};
use portcullis_text::figures::{grouped, largest};
use portcullis_text::visible::visible;
use serde::Serialize;

use crate::counting::{ByAgents, Findings, HostCounts, RuleCounts, Worker};
use crate::facts::FactReader;
use crate::limits::AUDIT_SAMPLES;
use crate::list::List;
use crate::origins::Map;
use crate::products::OtherFigures;
use crate::survey::{PolicyRules, Survey};
use crate::text::Text;

/// The report of an audit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    pub format: &'static str,
    /// The policies, the agents, and the decisions by agent.
    pub account: Account,
    /// The lists of URLs, in the order in which they were read. `-` is standard input.
    pub inputs: Vec<String>,
    pub hosts: HostFigures,
    pub rules: RuleFigures,
    /// The requests that no known crawler sent. `None` unless each record has an agent of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<OtherFigures>,
    /// The time of `survey`; `newest` if each URL has its own time, `None` if no time was asked for.
    pub survey_at: Option<String>,
    /// The content of the set, independent of the URLs.
    pub survey: Survey,
}

impl Report {
    /// Returns the report as one JSON object, with a line feed.
    pub fn to_json(&self) -> String {
        portcullis_text::json::to_json_pretty(self) + "\n"
    }

    /// Returns the number of records with a known policy.
    pub(crate) fn known(&self) -> u64 {
        [Verdict::Allow, Verdict::Disallow].map(|it| self.account.records.of_first(it)).iter().sum()
    }
}

/// The hosts of URLs with a known policy. http and https of a host are counted together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostFigures {
    /// The number of hosts of URLs. If one file applies to every URL, all hosts count as one.
    pub count: u64,
    /// The number of hosts with a URL that some agent must not fetch.
    pub affected: u64,
    /// The affected hosts, the most disallowed decisions first.
    pub most_affected: List<HostRow>,
}

/// The decisions on the URLs of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostRow {
    /// The host, with its port unless it is the default port. `*` if one file applies to every URL.
    pub host: Text,
    pub records: u64,
    /// The number of decisions that disallow, over all agents.
    pub disallowed: u64,
    /// The number of URLs that each agent must not fetch.
    pub by_agent: Vec<u64>,
    /// The crawlers that requested such URLs, if each record has an agent of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crawlers: Vec<CrawlerRequests>,
}

/// The requests of one crawler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlerRequests {
    /// The crawler; `*` for those that are not known.
    pub agent: String,
    /// The number of requests.
    pub records: u64,
}

impl fmt::Display for CrawlerRequests {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", visible(&self.agent), grouped(self.records))
    }
}

/// Rules, and the URLs that they decided. Only rules that apply to one of the agents are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleFigures {
    /// The number of rules in all policies, including policies of earlier times.
    pub rules: u64,
    /// The number of rules in policies with URLs in the list.
    pub in_use: u64,
    /// The rules that decided a URL, ordered by the number of URLs.
    pub deciding: List<DecidingRule>,
}

/// A rule that decided URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecidingRule {
    /// A host with the rule: of the hosts that share its policy, the one with the most URLs in the
    /// list, or else the first by name. `*` if one file applies to every URL.
    pub host: Text,
    /// The number of hosts that share the rule's policy. If URLs were decided as of times, or by the last
    /// file that a crawler reads, hosts of the list for which it was in force.
    pub hosts: u64,
    pub line: u32,
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    /// The path pattern as written in the file.
    pub rule: Text,
    /// The value of the first user-agent line of the group.
    pub group: Text,
    /// The number of URLs that the rule decided for some agent.
    pub records: u64,
    /// The number of URLs that the rule decided, by agent.
    pub by_agent: Vec<u64>,
    /// The crawlers that requested them, if each record has an agent of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crawlers: Vec<CrawlerRequests>,
    /// The first of these URLs, in input order.
    pub samples: Vec<Text>,
}

/// An audit of a list: the policies, and what is asked.
#[derive(Debug)]
pub struct Audit {
    classifier: Arc<Classifier>,
    set: Arc<PolicySet>,
    /// The agent that the others are compared with.
    baseline: Option<Crawler>,
    /// The maximum number of rows in a list.
    top: usize,
}

/// The URLs of the list that were checked against a policy.
#[derive(Default)]
struct UrlsOfPolicy<'a> {
    /// The number of hosts of these URLs.
    hosts: u64,
    /// The host that names the policy: of the hosts of these URLs the one with the most, and of
    /// several the first by name.
    leading: Option<(u64, Reverse<&'a [u8]>)>,
}

impl<'a> UrlsOfPolicy<'a> {
    fn host(&self) -> &'a [u8] {
        self.leading.map_or(b"", |(_, Reverse(host))| host)
    }
}

impl Audit {
    /// Returns an audit of the set of `classifier` for its agents, which compares what each may fetch with what
    /// `baseline` may. Lists of the report have at most `top` rows.
    ///
    /// # Panics
    ///
    /// If there are no agents, or the set was loaded without usage preferences.
    pub fn new(classifier: Classifier, baseline: Option<&Crawler>, top: usize) -> Audit {
        assert!(!classifier.agents().is_empty(), "an audit needs an agent");
        let set = Arc::clone(classifier.set());
        // Usage is found for named agents.
        let labels: &[Label] = if classifier.has_agent_per_record() { &[] } else { &Label::ALL };
        let classifier = classifier.with_usage(labels).into();
        Audit { classifier, set, baseline: baseline.cloned(), top }
    }

    /// Creates the worker of a thread. Records without a scheme get `assumed_scheme`; if that is
    /// `None`, they are invalid.
    pub fn worker(&self, assumed_scheme: Option<&str>) -> Worker {
        let session = Session::new(Arc::clone(&self.classifier)).assume_scheme(assumed_scheme);
        Worker::new(session)
    }

    /// Returns the report of all findings, with the account of the decisions. Surveys the set for the agents,
    /// or for the agents of records: reads every policy once, on the calling thread's rayon pool. The files of
    /// the rules that are shown are parsed again.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn report(&self, findings: &Findings, mut account: Account) -> Result<Report, Damage> {
        let facts = FactReader::new(&self.set, &self.agents(findings), self.baseline.as_ref())?;
        let (mut policies, rows) = (Vec::new(), (self.top, AUDIT_SAMPLES));
        let as_of = self.classifier.one_time();
        let survey = Survey::each_policy(facts, as_of, rows, |rules| policies.push(rules))?;
        self.add_paces(findings, &mut account);
        let has_own_agents = self.classifier.has_agent_per_record();
        Ok(Report {
            format: format::AUDIT,
            account,
            inputs: Vec::new(),
            hosts: self.hosts(findings),
            rules: self.rules(findings, &policies)?,
            others: has_own_agents.then(|| findings.products.figures(self.top)),
            survey_at: None,
            survey,
        })
    }

    /// Returns the agents, or if each record has its own, the agents of records and `*`.
    fn agents(&self, findings: &Findings) -> Vec<Crawler> {
        let all = self.classifier.agents();
        if !self.classifier.has_agent_per_record() {
            return all.to_vec();
        }
        let is_named = |agent: &&Crawler| agent.tokens().next().is_some();
        let found = findings.counts.agents_of_records().map(|agent| &all[agent]);
        let found = found.filter(is_named).cloned();
        found.chain([Crawler::unnamed()]).collect()
    }

    /// Adds to the crawlers of an account how soon their requests came.
    fn add_paces(&self, findings: &Findings, account: &mut Account) {
        let agents = self.classifier.agents().iter().zip(findings.paces.by_agent());
        let paces: Map<&str, Pace> = agents.map(|(agent, pace)| (agent.name(), pace)).collect();
        for row in account.records.record_agents.iter_mut().flatten() {
            let pace = row.agent.as_deref().and_then(|agent| paces.get(agent));
            row.pace = pace.filter(|pace| pace.requests > 0).map(|pace| (*pace).clone());
        }
    }

    /// Returns counts by agent. If each record has an agent of its own, that is one count, and the crawlers
    /// with the most come first.
    fn by_agent(&self, counts: &ByAgents) -> (Vec<u64>, Vec<CrawlerRequests>) {
        let agents = self.classifier.agents();
        let by_agent = counts.of_each(agents.len());
        if !self.classifier.has_agent_per_record() {
            return (by_agent, Vec::new());
        }
        let named = agents.iter().zip(&by_agent).filter(|(_, records)| **records > 0);
        let named = named.map(|(agent, &records)| (agent.name().to_owned(), records));
        let mut crawlers: Vec<CrawlerRequests> =
            named.map(|(agent, records)| CrawlerRequests { agent, records }).collect();
        crawlers.sort_by(|one, next| {
            (Reverse(one.records), &one.agent).cmp(&(Reverse(next.records), &next.agent))
        });
        (vec![by_agent.iter().sum()], crawlers)
    }

    /// Returns figures about the hosts of URLs, and the hosts with the most disallowed decisions.
    fn hosts(&self, findings: &Findings) -> HostFigures {
        let row = |(key, counts): (&'_ Vec<u8>, &HostCounts)| {
            let (by_agent, crawlers) = self.by_agent(&counts.disallowed);
            HostRow {
                host: Text::cut(key),
                records: counts.records,
                disallowed: by_agent.iter().sum(),
                by_agent,
                crawlers,
            }
        };
        let affected = findings.hosts.iter().filter(|(_, it)| it.disallowed.urls() > 0);
        let total = affected.clone().count() as u64;
        let rows = affected.map(|it| (it.0, row(it)));
        let rows =
            largest(rows, self.top, |&(key, ref row)| (row.disallowed, row.records, Reverse(key)));
        let rows = rows.into_iter().map(|(_, row)| row).collect();
        HostFigures {
            count: findings.hosts.len() as u64,
            affected: total,
            most_affected: List { total, rows },
        }
    }

    /// Returns the rules that decided URLs, and how many could have.
    fn rules(&self, findings: &Findings, policies: &[PolicyRules]) -> Result<RuleFigures, Damage> {
        let asked = asked(findings);
        let host_of = |policy: &u32| asked.get(policy).map_or(&b""[..], UrlsOfPolicy::host);
        let rules = findings.rules.iter().map(|(key, counts)| (counts.urls.urls(), key, counts));
        let total = findings.rules.len() as u64;
        let most =
            largest(rules, self.top, |&(urls, key, _)| (urls, Reverse((host_of(&key.0), key))));
        let row = |(records, (policy, rule), counts): (u64, &(u32, RuleID), &RuleCounts)| {
            let used = &policies[*policy as usize];
            let (by_agent, crawlers) = self.by_agent(&counts.urls);
            let samples = counts.samples.iter().map(|url| Text(url.clone()));
            let found = self.set.policy(PolicyNumber(*policy))?.with_file(|file, _| {
                // A group without rules starts where the next group starts.
                let group = file.groups().iter().rfind(|group| group.rules.contains(&rule.0));
                let name = group.and_then(|group| file.user_agents_of(group).first());
                let found = file.rules().get(rule.index())?;
                Some(DecidingRule {
                    host: Text::cut(host_of(policy)),
                    hosts: if findings.has_earlier { asked[policy].hosts } else { used.hosts },
                    line: found.line.get(),
                    verdict: found.verdict.as_str(),
                    rule: Text::cut(found.value),
                    group: name.map(|line| Text::cut(line.value)).unwrap_or_default(),
                    records,
                    by_agent,
                    crawlers,
                    samples: samples.collect(),
                })
            })?;
            found.ok_or_else(|| self.set.malformed_host("the rules of a host are missing"))
        };
        let of_asked = asked.keys().map(|policy| policies[*policy as usize].applicable);
        Ok(RuleFigures {
            rules: policies.iter().map(|policy| policy.applicable).sum(),
            in_use: of_asked.sum(),
            deciding: List { total, rows: most.into_iter().map(row).collect::<Result<_, _>>()? },
        })
    }
}

/// Finds the policies with URLs, by number.
fn asked(findings: &Findings) -> Map<u32, UrlsOfPolicy<'_>> {
    let mut asked: Map<u32, UrlsOfPolicy<'_>> = Map::default();
    for (key, counts) in &findings.hosts {
        for (policy, urls) in &counts.policies.0 {
            let policy = asked.entry(*policy).or_default();
            policy.hosts += 1;
            policy.leading = policy.leading.max(Some((*urls, Reverse(&**key))));
        }
    }
    asked
}
