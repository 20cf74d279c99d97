//! Verifies policies: the position of each, its references, and that it matches its records.

use rayon::prelude::*;
use zerocopy::little_endian::U32;

use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::{AccessOutcome, AccessRules};

use super::super::super::compile::{
    PatternWords, PlannedEntry, PlannedRobot, PlannedRules, PolicyPlan, order_bytes,
    plan_of_extract,
};
use super::super::super::file::Damage;
use super::super::super::layout::{NONE, policy, record};
use super::super::tokens::Names;
use super::super::{PolicyNumber, PolicySet, RuleSetKind, StoredPolicy};
use super::pieces::Pieces;
use super::rule_sets::{ComparedRuleSets, FoundRuleSets};
use super::texts::{TextKind, Texts};
use super::usage::NextUsage;

/// All policies, in file order.
#[derive(Default)]
pub(super) struct FoundPolicies {
    policies: Pieces,
    /// The starts of the referenced lists of orders.
    orders: Pieces,
    /// The start of the next new list.
    next_order: u32,
    /// The start of the next policy's records.
    next_document: u32,
    /// The number of records of all policies.
    pub records: u64,
    pub(super) next_usage: NextUsage,
    /// Whether a policy names the robot, by name.
    named: Vec<bool>,
}

impl FoundPolicies {
    /// Walks the section, and the sections that only policies refer to.
    pub(super) fn of(
        set: &PolicySet,
        names: &Names<'_>,
        rule_sets: &mut FoundRuleSets,
        texts: &mut Texts,
    ) -> Result<FoundPolicies, Damage> {
        let named = vec![false; names.ends.len()];
        let mut found = FoundPolicies { named, ..FoundPolicies::default() };
        let mut next_policy = 0;
        for policy in set.policies() {
            let policy = policy?;
            if policy.position != next_policy {
                return Err(policy.malformed("a policy is at an unexpected position"));
            }
            next_policy = policy.position.saturating_add(policy.words.len() as u32);
            found.policies.push(policy.number().0);
            found.need_records(set, &policy, texts)?;
            for token in policy.tokens()? {
                found.need_name(set, token.get())?;
            }
            found.need_entries(set, &policy, rule_sets)?;
            found.need_usage(set, &policy, rule_sets, texts)?;
        }
        let word = size_of::<U32>() as u64;
        let ends = [
            (set.sections.policies, u64::from(next_policy) * word),
            (set.sections.documents, u64::from(found.next_document) * word),
            (set.sections.orders, u64::from(found.next_order)),
        ];
        for (section, end) in ends {
            if section.bytes() != end {
                return Err(set.file.malformed(section, end, "unreferenced data"));
            }
        }
        found.usage_ends(set)?;
        if let Some(number) = found.named.iter().position(|named| !named) {
            let word = number as u32 + 1;
            return Err(set.malformed(set.sections.tokens, word, "no policy names a robot"));
        }
        Ok(found)
    }

    /// Takes note of a policy that names the robot whose name has this number.
    pub(super) fn need_name(&mut self, set: &PolicySet, token: u32) -> Result<(), Damage> {
        let named = self.named.get_mut(token as usize);
        *named.ok_or_else(|| set.missing_name(token))? = true;
        Ok(())
    }

    /// Returns the number of policies.
    pub(super) fn len(&self) -> u64 {
        self.policies.len() as u64
    }

    /// Marks the policy at a position as referenced by a host. Returns false if there is no such
    /// policy, or if an earlier one is not referenced yet.
    #[must_use]
    pub(super) fn need(&mut self, position: PolicyNumber) -> bool {
        self.policies.need(position.0)
    }

    /// Checks that a host refers to each policy.
    pub(super) fn all_needed(&self, set: &PolicySet) -> Result<(), Damage> {
        match self.policies.all_needed() {
            true => Ok(()),
            false => {
                Err(set.malformed(set.sections.policies, 0, "no host has one of the policies"))
            }
        }
    }

    fn need_records(
        &mut self,
        set: &PolicySet,
        policy: &StoredPolicy<'_>,
        texts: &mut Texts,
    ) -> Result<(), Damage> {
        if !is_file(policy.access()?) {
            let is_none = policy.document() == NONE;
            return is_none.then_some(()).ok_or_else(|| policy.malformed("no file has records"));
        }
        if policy.document() != self.next_document {
            return Err(policy.malformed("the records of a policy are at an unexpected position"));
        }
        let start = self.next_document;
        self.next_document = texts.need_list(set, set.sections.documents, start)?;
        self.records += u64::from(policy.record_list()?.len());
        Ok(())
    }

    fn need_entries(
        &mut self,
        set: &PolicySet,
        policy: &StoredPolicy<'_>,
        rule_sets: &mut FoundRuleSets,
    ) -> Result<(), Damage> {
        // Bounds the number of entries, because searching for too many would take long.
        if policy.entry_at(policy.entries() as u32) > policy.words.len() {
            return Err(policy.malformed("a policy has fewer entries than it says"));
        }
        for entry in 0..policy.entries() as u32 {
            let needed = rule_sets.need(set, policy.rule_set(entry)?)?;
            let stored = needed.ok_or_else(|| policy.malformed("an entry has no rule set"))?;
            let order = policy.order(entry)?;
            let is_there = match stored.kind() {
                RuleSetKind::OfGroups => order == NONE,
                _ => self.need_order(set, order, stored.patterns())?,
            };
            if !is_there {
                return Err(
                    policy.malformed("the order of a rule set is at an unexpected position")
                );
            }
        }
        Ok(())
    }

    /// Takes note of an entry that needs the order at `start`, of so many patterns. That it fits
    /// those is seen when it is compared.
    pub(super) fn need_order(
        &mut self,
        set: &PolicySet,
        start: u32,
        patterns: u32,
    ) -> Result<bool, Damage> {
        if start == self.next_order {
            let width = set.file.bytes(set.sections.orders, start.into(), 1)?[0];
            let bytes = patterns.saturating_mul(width.into()).saturating_add(1);
            self.next_order = start.saturating_add(bytes);
            self.orders.push(start);
        }
        Ok(self.orders.need(start))
    }

    /// Plans each policy again from its records and compares.
    pub(super) fn compare(&self, set: &PolicySet, names: &Names<'_>) -> Result<(), Damage> {
        let compared = ComparedRuleSets::default();
        let compare = |&number: &u32| {
            let policy = set.policy(PolicyNumber(number))?;
            Comparison { set, names, compared: &compared, policy }.run()
        };
        let numbers = self.policies.starts().par_iter().with_min_len(16);
        let found = numbers.find_map_first(|number| compare(number).err());
        found.map_or(Ok(()), Err)
    }
}

/// Returns whether there is a file.
pub(super) fn is_file(outcome: AccessOutcome) -> bool {
    matches!(outcome.state, PolicyState::Rules | PolicyState::NoRules)
}

/// The comparison of a policy with the plan of its records.
pub(super) struct Comparison<'c> {
    pub(super) set: &'c PolicySet,
    names: &'c Names<'c>,
    pub(super) compared: &'c ComparedRuleSets,
    pub(super) policy: StoredPolicy<'c>,
}

impl Comparison<'_> {
    fn run(&self) -> Result<(), Damage> {
        let outcome = self.policy.access()?;
        if !is_file(outcome) {
            let is_known = outcomes(&self.set.dialect().access).contains(&outcome);
            self.check(is_known, "no answer means to its dialect what a policy says")?;
            self.check(self.policy.usage()?.is_none(), "a policy without a file has a usage")?;
            return self.check(self.is_empty(), "a policy without a file names robots");
        }
        let extract = self.policy.extract()?;
        let plan = plan_of_extract(&extract, self.set.dialect());
        let plan = plan.ok_or_else(|| self.policy.malformed("its records are not a valid file"))?;
        let planned = AccessOutcome { state: plan.state, verdict: plan.verdict };
        self.check(outcome == planned, "a policy has another state than its records")?;
        self.check(self.robots()? == self.numbered(&plan.robots)?, "a policy names other robots")?;
        let default = (self.policy.default_entry(), self.policy.default_speaker());
        let planned = plan.default.map_or((None, NONE), |(entry, record)| (Some(entry), record));
        self.check(default == planned, "a policy has other default groups than its records")?;
        self.check(
            self.policy.entries() == plan.entries.len(),
            "a policy has other groups than its records",
        )?;
        self.entries(&plan)?;
        self.usage(plan.usage.as_ref())
    }

    fn check(&self, is_so: bool, what: &'static str) -> Result<(), Damage> {
        is_so.then_some(()).ok_or_else(|| self.policy.malformed(what))
    }

    /// Returns whether nothing follows the head, and the head contains nothing but the state.
    fn is_empty(&self) -> bool {
        self.policy.words.len() == policy::HEAD_WORDS
            && (self.policy.token_count(), self.policy.entries()) == (0, 0)
            && (self.policy.default_entry(), self.policy.default_speaker()) == (None, NONE)
    }

    /// Returns the numbers of the named robots, each with its entry and the record that names it.
    fn robots(&self) -> Result<Vec<(u32, u32, u32)>, Damage> {
        let robot = |(index, token): (usize, &U32)| {
            let (entry, speaker) = self.policy.speaker(index)?;
            Ok((token.get(), entry, speaker))
        };
        self.policy.tokens()?.iter().enumerate().map(robot).collect()
    }

    /// The names' numbers of planned robots, each with its entry and who speaks.
    pub(super) fn numbered(
        &self,
        planned: &[PlannedRobot],
    ) -> Result<Vec<(u32, u32, u32)>, Damage> {
        let mut robots = Vec::with_capacity(planned.len());
        for robot in planned {
            let number = self.names.find(&robot.name).flatten();
            let missing = || self.policy.malformed("a robot that its records name has no name");
            robots.push((number.ok_or_else(missing)?, robot.entry, robot.speaker));
        }
        robots.sort_unstable();
        Ok(robots)
    }

    /// Compares the entries. Their groups are contiguous and end with the policy.
    fn entries(&self, plan: &PolicyPlan<'_>) -> Result<(), Damage> {
        let mut groups_at = self.policy.entry_at(plan.entries.len() as u32);
        let mut texts = PatternWords::new(&plan.records);
        for (number, planned) in (0..).zip(&plan.entries) {
            let groups = self.policy.groups(number)?;
            let pairs = groups.chunks_exact(policy::GROUP_WORDS);
            let same = pairs
                .map(|pair| (pair[0].get(), pair[1].get()))
                .eq(planned.positions.iter().copied());
            let is_there = self.policy.groups_at(number)? == groups_at;
            self.check(same && is_there, "an entry has other groups than its records")?;
            groups_at += 1 + groups.len();
            self.rules(number, planned, &mut texts)?;
        }
        self.check(self.policy.words.len() == groups_at, "extra words follow a policy")?;
        self.texts(plan, &texts.words)
    }

    /// Compares where the texts of records are, and checks that those of patterns are records.
    fn texts(&self, plan: &PolicyPlan<'_>, words: &[Option<u32>]) -> Result<(), Damage> {
        let list = self.policy.record_list()?;
        let mut line = Vec::new();
        for ((index, planned), expected) in (0..).zip(&plan.records).zip(words) {
            let word = list.text_word(index)?;
            let is_so = match expected {
                None => word >> record::FORM_SHIFT == record::STRING,
                Some(expected) => {
                    let start = planned.text.len() - planned.value.len();
                    let dialect = self.set.dialect();
                    let read = TextKind::of_record(planned.text, start, dialect, &mut line);
                    word == *expected && read == Some(TextKind::of(&list, planned.kind))
                }
            };
            self.check(is_so, "the text of a record is at an unexpected position")?;
        }
        Ok(())
    }

    fn rules(
        &self,
        entry: u32,
        planned: &PlannedEntry,
        texts: &mut PatternWords<'_, '_>,
    ) -> Result<(), Damage> {
        let stored = self.set.rule_set(self.policy.rule_set(entry)?)?;
        match (stored.kind(), &planned.ordered) {
            (RuleSetKind::OfGroups, None) => Ok(()),
            (RuleSetKind::Patterns, Some(PlannedRules { rules, order, .. })) => {
                let (section, order) = (self.set.sections.orders, order_bytes(order));
                let start = self.policy.order(entry)?.into();
                let found = self.set.file.bytes(section, start, order.len() as u64)?;
                self.check(found == order, "the rules of an entry are in another order")?;
                self.compared.compare(self.set, &stored, rules)?;
                texts.add(rules, self.set.pattern_table(&stored)?);
                Ok(())
            }
            _ => Err(self.policy.malformed("a rule set is kept as another one should be")),
        }
    }
}

/// Returns the outcomes of a dialect for responses without a file.
fn outcomes(access: &AccessRules) -> [AccessOutcome; 7] {
    [
        access.too_many_redirects,
        access.forbidden,
        access.not_found,
        access.too_many_requests,
        access.other_client_error,
        access.server_error,
        access.other_status,
    ]
}
