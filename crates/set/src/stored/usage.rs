//! Usage preferences: the usage of a policy, and questions about it.
//!
//! Beside the access rules of a policy, a set stores its usage: the robots that it names, and for each
//! agent, label and field a rule set whose first matching pattern decides. These rule sets have the form
//! of those for access, and the same [block](portcullis_engine::block) answers questions about them:
//! each agent counts once per label and field, and those with the same rule set share an answer. The
//! preference is that of both fields combined. Most policies have no usage; a question about one of
//! them reads one word of the index.
//!
//! Cost: nothing if no label is asked about. Memory: eight words for each policy, agent and label that
//! are asked about, and automata of their own, which share the thread's budget with those of access.

use zerocopy::little_endian::U32;

use portcullis_dialect::LineNumber;
use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::usage::{Label, Preference, UsageSource};
use portcullis_engine::RuleSetBuf;
use portcullis_engine::block::{BlockMemory, NO_POLICY, NO_URL, Questions, Start, Starts, Ways};
use portcullis_robots::policy::{LabelRules, UsageGroups, UsageRules};
use portcullis_robots::target::ComparedPaths;

use super::super::file::Damage;
use super::super::layout::{NONE, usage};
use super::rule_set::RuleSetNumber;
use super::tokens::AgentTokens;
use super::{PolicyNumber, PolicySet, Query, StoredPolicy};

/// The licences that hold for an agent.
pub type Licenses<'s> = Box<dyn ExactSizeIterator<Item = Result<Vec<u8>, Damage>> + 's>;

/// The usage of a policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredUsage<'s> {
    set: &'s PolicySet,
    position: u32,
    words: &'s [U32],
}

impl PolicySet {
    /// Returns the position of a policy's usage; `None` if it has none.
    #[inline]
    fn usage_position(&self, policy: u32) -> Result<Option<u32>, Damage> {
        let position = self.words(self.sections.usage_index, policy, 1)?[0].get();
        Ok((position != NONE).then_some(position))
    }

    fn usage_at(&self, position: u32) -> Result<StoredUsage<'_>, Damage> {
        let section = self.sections.usage;
        let head = self.words(section, position, usage::HEAD_WORDS)?;
        let words = head[usage::WORDS].get() as usize;
        if words < usage::HEAD_WORDS {
            return Err(self.malformed(section, position, "a usage is shorter than its head"));
        }
        let words = self.words(section, position, words)?;
        Ok(StoredUsage { set: self, position, words })
    }
}

impl<'s> StoredPolicy<'s> {
    /// Returns whether the file has a usage record.
    pub fn has_usage(&self) -> Result<bool, Damage> {
        Ok(self.set.usage_position(self.number().0)?.is_some())
    }

    /// Returns the usage; `None` if the file has no usage record.
    pub(super) fn usage(&self) -> Result<Option<StoredUsage<'s>>, Damage> {
        let position = self.set.usage_position(self.number().0)?;
        position.map(|position| self.set.usage_at(position)).transpose()
    }
}

impl<'s> StoredUsage<'s> {
    #[cold]
    pub(super) fn malformed(&self, what: &'static str) -> Damage {
        self.set.malformed(self.set.sections.usage, self.position, what)
    }

    #[inline]
    pub(super) fn word(&self, at: usize) -> Result<u32, Damage> {
        match self.words.get(at) {
            Some(word) => Ok(word.get()),
            None => Err(self.malformed("a usage points behind its end")),
        }
    }

    /// Returns the position of its list of usage records.
    pub(super) fn record_list(&self) -> u32 {
        self.words[usage::RECORD_LIST].get()
    }

    pub(super) fn record_count(&self) -> usize {
        self.words[usage::RECORDS].get() as usize
    }

    fn token_count(&self) -> usize {
        self.words[usage::TOKENS].get() as usize
    }

    pub(super) fn entries(&self) -> usize {
        self.words[usage::ENTRIES].get() as usize
    }

    pub(super) fn default_entry(&self) -> u32 {
        self.words[usage::DEFAULT_ENTRY].get()
    }

    fn tokens_at(&self) -> usize {
        usage::HEAD_WORDS + self.record_count().div_ceil(usage::RECORDS_PER_WORD)
    }

    /// Returns the numbers of the names of robots, ascending.
    pub(super) fn tokens(&self) -> Result<&'s [U32], Damage> {
        let tokens = self.words.get(self.tokens_at()..).and_then(|it| it.get(..self.token_count()));
        tokens.ok_or_else(|| self.malformed("a usage names more robots than it has room for"))
    }

    /// Returns the entry of the token at `index`, and the user-agent line that names it first.
    pub(super) fn robot(&self, index: usize) -> Result<(u32, u32), Damage> {
        let at = self.tokens_at() + self.token_count() + index * usage::ROBOT_WORDS;
        Ok((self.word(at)?, self.word(at + 1)?))
    }

    pub(super) fn entry_at(&self, entry: u32) -> usize {
        let robots = self.tokens_at() + self.token_count() * (1 + usage::ROBOT_WORDS);
        robots + entry as usize * usage::ENTRY_WORDS
    }

    /// Returns the rule set of the statements of a field about a label, and the position of its order.
    pub(super) fn rules(
        &self,
        entry: u32,
        (label, source): Column,
    ) -> Result<(RuleSetNumber, u32), Damage> {
        let number = label as usize * usage::SOURCES + source as usize;
        let at = self.entry_at(entry) + number * usage::RULES_WORDS;
        Ok((RuleSetNumber(self.word(at + usage::RULE_SET)?), self.word(at + usage::ORDER)?))
    }

    /// Returns where the licences of an entry begin, in words from the beginning of the usage.
    pub(super) fn licenses_at(&self, entry: u32) -> Result<usize, Damage> {
        Ok(self.word(self.entry_at(entry) + usage::LICENSES)? as usize)
    }

    /// Returns the usage records that are the licences of an entry.
    pub(super) fn licenses(&self, entry: u32) -> Result<&'s [U32], Damage> {
        let at = self.licenses_at(entry)?;
        let count = self.word(at)? as usize;
        let licenses = self.words.get(at + 1..).and_then(|it| it.get(..count));
        licenses.ok_or_else(|| self.malformed("a usage has fewer licences than it says"))
    }

    /// Returns the preference that a usage record states for a label.
    #[inline]
    pub(super) fn preference(&self, record: u32, label: Label) -> Result<Preference, Damage> {
        let record = record as usize;
        if record >= self.record_count() {
            return Err(self.malformed("a pattern comes from no usage record"));
        }
        let word = self.word(usage::HEAD_WORDS + record / usage::RECORDS_PER_WORD)?;
        let bits = word.to_le_bytes()[record % usage::RECORDS_PER_WORD]
            >> (label as u32 * usage::PREFERENCE_BITS);
        Ok(Preference::ALL[usize::from(bits & 3)])
    }

    /// Returns the entry of an agent.
    fn select(&self, agent: &AgentTokens) -> Result<u32, Damage> {
        let named = agent.first_named(self.tokens()?, |index| self.robot(index))?;
        Ok(named.map_or(self.default_entry(), |(entry, ..)| entry))
    }
}

/// What one question about an agent asks for: the statements of a field about a label.
pub(super) type Column = (Label, UsageSource);

/// Returns the columns of labels, by label, then by field.
pub(super) fn columns(labels: &[Label]) -> impl Iterator<Item = Column> {
    labels.iter().flat_map(|&label| UsageSource::ALL.map(|source| (label, source)))
}

/// The labels that a query asks about, and the starts of their answers.
#[derive(Debug)]
pub(super) struct UsageQuery {
    pub labels: Vec<Label>,
    pub columns: Vec<Column>,
    /// By policy, agent and column: where answers begin.
    pub starts: Starts,
    /// By policy, agent and column: the positions of the order and of the usage.
    places: Starts,
}

/// The memory of one thread for questions about usage.
#[derive(Clone, Debug, Default)]
pub(super) struct UsageMemory {
    block: BlockMemory,
    /// The questions of the block about policies with a usage: their numbers, and their policies.
    asked: Vec<(u32, u32)>,
    policies: Vec<u32>,
    /// By question, agent and label.
    preferences: Vec<Preference>,
    /// By question, agent and label: the policy and the usage record that decides, or [`NONE`].
    records: Vec<(u32, u32)>,
}

impl UsageMemory {
    pub fn preferences(&self) -> &[Preference] {
        &self.preferences
    }

    pub fn memory_bytes(&self) -> usize {
        self.block.memory_bytes()
    }

    pub fn ways(&self) -> Ways {
        self.block.ways()
    }
}

/// The place in a file that states a preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedPlace {
    /// The line.
    pub line: LineNumber,
    /// The kind of record.
    pub source: UsageSource,
    /// The value of the record, as written.
    pub value: Vec<u8>,
}

impl UsageQuery {
    pub fn new(labels: Vec<Label>, entries: usize) -> UsageQuery {
        let columns: Vec<Column> = columns(&labels).collect();
        let entries = entries * columns.len();
        UsageQuery { labels, columns, starts: Starts::new(entries), places: Starts::new(entries) }
    }
}

impl Query {
    /// Finds the preferences on the paths of the block that was decided last: `decisions` are its
    /// answers, by question and agent.
    pub(super) fn ask_usage(
        &self,
        asking: &UsageQuery,
        policies: &[u32],
        paths: ComparedPaths<'_>,
        decisions: &[Decision],
        memory: &mut UsageMemory,
    ) -> Result<(), Damage> {
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
                && let Some(position) = self.set.usage_position(policy)?
            {
                self.resolve_usage(asking, policy, position)?;
                asked.push((question, policy));
                asked_policies.push(policy);
            }
        }
        if asked.is_empty() {
            return Ok(());
        }
        let all_paths = paths.as_slices();
        let paths: Vec<&[u8]> = asked.iter().map(|(it, _)| all_paths[*it as usize]).collect();
        // Access to the URL of robots.txt may be fixed; what its file states about usage applies.
        let table = self.table(&asking.starts, agents * columns, false);
        let questions = Questions { policies: asked_policies, paths: &paths };
        block.ask(table, questions, |entry, _| {
            let rules = self.statements_of(asking, entry)?;
            Ok(RuleSetBuf::new(&rules.patterns, &vec![Verdict::Allow; rules.patterns.len()]))
        })?;
        for (number, &(question, policy)) in asked.iter().enumerate() {
            for agent in 0..agents {
                let first = (question as usize * agents + agent) * labels;
                if preferences[first] == Preference::NoAccess {
                    continue;
                }
                for (column, &(label, _)) in asking.columns.iter().enumerate() {
                    let source = block.source((number * agents + agent) * columns + column);
                    let Some(pattern) = source.pattern() else { continue };
                    let entry = (policy as usize * agents + agent) * columns + column;
                    let place = asking.places.get(entry);
                    let Start { line: order, number: usage } = place.ok_or_else(lost(self))?;
                    let record = match order {
                        NONE => self.statement_of(asking, entry, pattern)?,
                        order => self.set.record_of(order, pattern)?,
                    };
                    let usage = self.set.usage_at(usage)?;
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
        self.set.is_whole()
    }

    /// Finds where answers about the usage of a policy begin, unless they were found before.
    fn resolve_usage(&self, asking: &UsageQuery, policy: u32, position: u32) -> Result<(), Damage> {
        let columns = asking.columns.len();
        let entries = self.agents.len() * columns;
        let first = policy as usize * entries;
        if entries == 0 || asking.starts.has(first + entries - 1) {
            return Ok(());
        }
        let usage = self.set.usage_at(position)?;
        let mut known: Vec<u32> = Vec::with_capacity(self.agents.len());
        let mut rule_sets: Vec<RuleSetNumber> = Vec::with_capacity(entries);
        let (mut starts, mut places) = (Vec::new(), Vec::new());
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
                    Some(same) => Start { line: Start::SHARED, number: same as u32 },
                    None => self.set.start_of(rule_set)?,
                });
                rule_sets.push(rule_set);
                places.push(Start { line: order, number: position });
            }
        }
        asking.places.set(first, &places);
        // Stored last: a thread that sees the starts of a policy sees its places.
        asking.starts.set(first, &starts);
        Ok(())
    }

    /// Returns the place that states the preference of an answer of the block that `memory` was used for
    /// last; `None` if it is not stated.
    ///
    /// # Panics
    ///
    /// If there is no such question, agent or label.
    pub(super) fn stated_place(
        &self,
        answer: usize,
        memory: &UsageMemory,
    ) -> Result<Option<StatedPlace>, Damage> {
        let (policy, record) = memory.records[answer];
        let is_stated = matches!(memory.preferences[answer], Preference::Yes | Preference::No);
        if record == NONE || !is_stated {
            return Ok(None);
        }
        let policy = self.set.policy(PolicyNumber(policy))?;
        let (kind, place, value) = policy.usage_record(record)?;
        let malformed = || policy.malformed("a licence states a preference");
        let source = UsageSource::of(kind.field).ok_or_else(malformed)?;
        Ok(Some(StatedPlace { line: place, source, value }))
    }

    /// Returns the licences of a policy that hold for `agent`, as written. Each is read when it is
    /// taken, because a file may have thousands.
    ///
    /// # Panics
    ///
    /// If there is no such agent.
    pub fn licenses(&self, policy: u32, agent: usize) -> Result<Licenses<'_>, Damage> {
        if matches!(policy, NO_POLICY | NO_URL) {
            return Ok(Box::new(std::iter::empty()));
        }
        let policy = self.set.policy(PolicyNumber(policy))?;
        let Some(usage) = policy.usage()? else { return Ok(Box::new(std::iter::empty())) };
        let entry = usage.select(&self.tokens[agent])?;
        let license = move |record: &U32| Ok(policy.usage_record(record.get())?.2);
        Ok(Box::new(usage.licenses(entry)?.iter().map(license)))
    }

    /// Returns the statements of the column of an entry, in order of precedence, for a rule set that is
    /// not stored.
    fn statements_of(&self, asking: &UsageQuery, entry: usize) -> Result<LabelRules, Damage> {
        let columns = asking.columns.len();
        let (label, source) = asking.columns[entry % columns];
        let agent = &self.agents[entry / columns % self.agents.len()];
        let policy = PolicyNumber((entry / columns / self.agents.len()) as u32);
        let dialect = self.set.dialect();
        let mut rules = self.set.policy(policy)?.with_file(|file, _| {
            let groups = UsageGroups::new(file);
            let (applying, _) = groups.applying(agent, dialect);
            UsageRules::new(file, &groups.in_force(&applying), &dialect.paths)
        })?;
        Ok(std::mem::take(&mut rules.labels[label as usize][source as usize]))
    }

    /// Returns the usage record of a pattern of such a rule set.
    #[cold]
    fn statement_of(&self, asking: &UsageQuery, entry: usize, pattern: u32) -> Result<u32, Damage> {
        let records = self.statements_of(asking, entry)?.records;
        records.get(pattern as usize).copied().ok_or_else(lost(self))
    }
}

impl StoredPolicy<'_> {
    /// Returns the preferences that one of its usage records states, in the order of [`Label::ALL`].
    pub fn preferences(&self, record: u32) -> Result<[Preference; Label::ALL.len()], Damage> {
        let malformed = || self.malformed("a policy has no such usage record");
        let usage = self.usage()?.ok_or_else(malformed)?;
        let mut preferences = [Preference::Unstated; Label::ALL.len()];
        for label in Label::ALL {
            preferences[label as usize] = usage.preference(record, label)?;
        }
        Ok(preferences)
    }

    /// Returns the rule sets of its usage, by entry, label and field; an entry may share that of
    /// another.
    pub fn usage_rule_sets(&self) -> Result<Vec<RuleSetNumber>, Damage> {
        let Some(usage) = self.usage()? else { return Ok(Vec::new()) };
        let of_entry = |entry| columns(&Label::ALL).map(move |column| (entry, column));
        let entries = (0..usage.entries() as u32).flat_map(of_entry);
        entries.map(|(entry, column)| Ok(usage.rules(entry, column)?.0)).collect()
    }

    /// Returns the kind, the line and the value of a usage record.
    fn usage_record(&self, record: u32) -> Result<(super::UsageKind, LineNumber, Vec<u8>), Damage> {
        let malformed = || self.malformed("a policy has no such usage record");
        let usage = self.usage()?.ok_or_else(malformed)?;
        let list = self.set.record_list(self.set.sections.usage_records, usage.record_list())?;
        let mut text = Vec::new();
        let value_start = list.read(record, &mut text)?;
        text.drain(..value_start);
        let kind = super::UsageKind::ALL.get(list.kind(record)? as usize).ok_or_else(malformed)?;
        Ok((*kind, list.line(record)?, text))
    }
}

/// Returns the damage to report if answers refer to a usage that is missing.
fn lost(query: &Query) -> impl Fn() -> Damage {
    || query.set.malformed_host("a policy has lost its usage")
}
