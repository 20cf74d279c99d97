//! Questions about usage preferences.
//!
//! The rule sets of usage have the form of those for access, and questions about them are
//! [asked](super::asking) in the same way: each agent counts once per label and
//! field, and those with the same rule set share an answer. The preference is that of both fields
//! combined. Most policies have no usage; a question about one of them reads one word of the index.
//!
//! Cost: nothing if no label is asked about. Memory: four words for each policy, agent and label that
//! are asked about, and automata of their own, which share the thread's budget with those of access.

use portcullis_dialect::LineNumber;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::usage::{Preference, UsageSource};
use portcullis_engine::RuleSetBuf;
use portcullis_robots::policy::{LabelRules, UsageRules};

use super::asking::{self, Asked, NO_POLICY, NO_URL, Questions, Unstored};
use super::classifier::{Classifier, UsageQuestions};
use crate::Damage;
use crate::layout::NONE;
use crate::stored::{PolicyNumber, RuleSetNumber};

/// The licences that hold for an agent.
pub type Licenses<'s> = Box<dyn ExactSizeIterator<Item = Result<Vec<u8>, Damage>> + 's>;

/// The memory of one thread for questions about usage.
#[derive(Clone, Debug, Default)]
pub(super) struct UsageMemory {
    pub block: Asked,
    /// The questions of the block about policies with a usage: their numbers, and the positions of the
    /// usage.
    asked: Vec<(u32, u32)>,
    policies: Vec<u32>,
    /// By question, agent and label.
    pub preferences: Vec<Preference>,
    /// By question, agent and label: the policy and the usage record that decides, or [`NONE`].
    records: Vec<(u32, u32)>,
}

/// The place in a file that states a preference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatedPlace {
    /// The line.
    pub line: LineNumber,
    /// The kind of record.
    pub source: UsageSource,
    /// The value of the record, as written.
    pub value: Vec<u8>,
}

impl Classifier {
    /// Finds the preferences on the paths of a block with these policies and decisions, by question and
    /// agent; none if no label is asked about. Where access is not allowed, there is no preference.
    pub(super) fn find_preferences(
        &self,
        policies: &[u32],
        paths: &[&[u8]],
        decisions: &[Decision],
        memory: &mut UsageMemory,
    ) -> Result<(), Damage> {
        let Some(asking) = &self.usage else { return Ok(()) };
        let (agents, labels) = (self.agents.len(), asking.labels.len());
        let columns = asking.columns.len();
        let UsageMemory { block, asked, policies: asked_policies, preferences, records } = memory;
        let unless_stated = decisions.iter().map(|decision| match decision.verdict {
            Verdict::Allow => Preference::Unstated,
            Verdict::Disallow | Verdict::Unknown | Verdict::Invalid => Preference::NoAccess,
        });
        preferences.clear();
        preferences.extend(unless_stated.flat_map(|it| std::iter::repeat_n(it, labels)));
        records.clear();
        records.resize(preferences.len(), (NONE, NONE));
        asked.clear();
        asked_policies.clear();
        for (question, &policy) in (0..).zip(policies) {
            let allowed = &decisions[question as usize * agents..][..agents];
            let is_allowed = allowed.iter().any(|decision| decision.verdict == Verdict::Allow);
            if !matches!(policy, NO_POLICY | NO_URL)
                && is_allowed
                && let Some(position) =
                    self.set.policy_head(PolicyNumber(policy))?.usage_position()?
            {
                self.resolve_usage(asking, policy, position)?;
                asked.push((question, position));
                asked_policies.push(policy);
            }
        }
        if asked.is_empty() {
            return Ok(());
        }
        let paths: Vec<&[u8]> = asked.iter().map(|(it, _)| paths[*it as usize]).collect();
        let entries = agents * columns;
        let table = self.table(&asking.starts, entries);
        let questions = Questions { policies: asked_policies, paths: &paths };
        let build = |entry| {
            let LabelRules { patterns, records, .. } = self.statements_of(asking, entry)?;
            Ok(Unstored { rules: RuleSetBuf::new(&patterns, |_| true), records })
        };
        block.ask(table, questions, || Err(lost(self)()), build)?;
        for (number, &(question, usage)) in asked.iter().enumerate() {
            let (policy, usage) = (policies[question as usize], self.set.usage_at(usage)?);
            for agent in 0..agents {
                let first = (question as usize * agents + agent) * labels;
                if preferences[first] == Preference::NoAccess {
                    continue;
                }
                for (column, &(label, _)) in asking.columns.iter().enumerate() {
                    let asked = (number * agents + agent) * columns + column;
                    let outcome = block.outcomes()[asked];
                    if outcome.as_opaque().is_some() {
                        return Err(self.set.malformed_host("a policy has lost its statements"));
                    }
                    let Some(pattern) = outcome.pattern() else { continue };
                    let entry = policy as usize * entries + asked % entries;
                    let record = match asking.orders.get(entry) {
                        NONE => match block.unstored(asked, entry, entries) {
                            Some(unstored) => unstored.records[pattern],
                            None => self.statement_of(asking, entry, pattern)?,
                        },
                        order => self.set.record_of(order, pattern as u32)?,
                    };
                    let preference = match usage.preference(record, label)? {
                        Preference::NoAccess => {
                            return Err(usage.malformed("a usage record states what none can"));
                        }
                        preference => preference,
                    };
                    let answer = first + column / UsageSource::ALL.len();
                    // Combined with that of the other field, as `combined` does.
                    let before = (preferences[answer].rank(), records[answer].1);
                    if (preference.rank(), record) < before {
                        preferences[answer] = preference;
                        records[answer] = (policy, record);
                    }
                }
            }
        }
        self.set.has_length()
    }

    /// Finds where answers about the usage of a policy begin, unless they were found before.
    fn resolve_usage(
        &self,
        asking: &UsageQuestions,
        policy: u32,
        position: u32,
    ) -> Result<(), Damage> {
        let columns = asking.columns.len();
        let entries = self.agents.len() * columns;
        let first = policy as usize * entries;
        if entries == 0 || asking.starts.has(first + entries - 1) {
            return Ok(());
        }
        let usage = self.set.usage_at(position)?;
        let mut known: Vec<u32> = Vec::with_capacity(self.agents.len());
        let mut rule_sets: Vec<RuleSetNumber> = Vec::with_capacity(entries);
        let (mut starts, mut orders) = (Vec::new(), Vec::new());
        for agent in &self.tokens {
            let entry = usage.select(agent)?;
            // The answers of an agent with the same entry, if there is one.
            let same = known.iter().position(|other| *other == entry).map(|agent| agent * columns);
            known.push(entry);
            let own = rule_sets.len();
            for (column, &asked) in asking.columns.iter().enumerate() {
                let (rule_set, order) = usage.rules(entry, asked)?;
                let of_column = || rule_sets[own..].iter().position(|other| *other == rule_set);
                let same = same.map(|same| same + column);
                starts.push(match same.or_else(|| of_column().map(|same| own + same)) {
                    Some(same) => asking::shared(same),
                    None => self.set.start_of(rule_set)?.unwrap_or(asking::ON_DEMAND),
                });
                rule_sets.push(rule_set);
                orders.push(order);
            }
        }
        asking.orders.set(first, orders);
        // Stored last: a thread that sees the starts of a policy sees its orders.
        asking.starts.set(first, &starts);
        Ok(())
    }

    /// Returns the place that states the preference at a place of a block; `None` if it is not stated.
    pub(super) fn stated_at(
        &self,
        place: usize,
        memory: &UsageMemory,
    ) -> Result<Option<StatedPlace>, Damage> {
        let (policy, record) = memory.records[place];
        let is_stated = matches!(memory.preferences[place], Preference::Yes | Preference::No);
        if record == NONE || !is_stated {
            return Ok(None);
        }
        let policy = self.set.policy(PolicyNumber(policy))?;
        let (kind, line, value) = policy.usage_record(record)?;
        let malformed = || policy.malformed("a licence states a preference");
        let source = UsageSource::of(kind.field).ok_or_else(malformed)?;
        Ok(Some(StatedPlace { line, source, value }))
    }

    /// Returns the licences of a policy that hold for `agent`, as written. Each is read when it is
    /// taken.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn licenses(&self, policy: u32, agent: usize) -> Result<Licenses<'_>, Damage> {
        let usage = match policy {
            NO_POLICY | NO_URL => None,
            _ => self.set.policy(PolicyNumber(policy))?.applied_usage(&self.tokens[agent])?,
        };
        Ok(match usage {
            Some(usage) => Box::new(usage.licenses()?),
            None => Box::new(std::iter::empty()),
        })
    }

    /// Returns the statements of the column of an entry, in order of precedence, for a rule set that is
    /// not stored.
    fn statements_of(&self, asking: &UsageQuestions, entry: usize) -> Result<LabelRules, Damage> {
        let columns = asking.columns.len();
        let (label, source) = asking.columns[entry % columns];
        let agent = &self.agents[entry / columns % self.agents.len()];
        let policy = PolicyNumber((entry / columns / self.agents.len()) as u32);
        let dialect = self.set.dialect();
        let mut rules =
            self.set.policy(policy)?.with_file(|file, _| UsageRules::of(file, agent, dialect))?;
        Ok(std::mem::take(&mut rules.labels[label as usize][source as usize]))
    }

    /// Returns the usage record of a pattern of such a rule set.
    #[cold]
    fn statement_of(
        &self,
        asking: &UsageQuestions,
        entry: usize,
        pattern: usize,
    ) -> Result<u32, Damage> {
        let records = self.statements_of(asking, entry)?.records;
        records.get(pattern).copied().ok_or_else(lost(self))
    }
}

/// Returns the damage to report if answers refer to a usage that is missing.
fn lost(classifier: &Classifier) -> impl Fn() -> Damage {
    || classifier.set.malformed_host("a policy has lost its usage")
}
