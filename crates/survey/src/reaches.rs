//! The access of an agent as a whole: how much of a host, by which groups and rules.
//!
//! Access is read from the stored rule sets; no text is parsed. A rule set is searched once,
//! for all policies and agents that share it, when it is first asked for. Those of an agent that follows
//! several rule groups are merged for that.
//!
//! [`stances`] are what a policy states about the use of all pages that an agent may fetch.
//!
//! Nearly every usage record is about all paths, or states what those about all paths do, so both
//! fields have a constant for each label, and so has their combination. If a record has a path, the
//! automata of the label's fields and that of access read the same paths until two allowed ones with
//! different preferences are found, or none is left: example paths of the patterns first, then all.
//! [`STANCE_POSITIONS_MAX`] bounds the search, and no list of patterns is read if the rule sets have
//! more than [`STANCE_BYTES_MAX`].

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, OnceLock, PoisonError};

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::AccessOutcome;
use portcullis_dialect::usage::{Label, Preference, Stance, UsageSource};
use portcullis_engine::RuleSetBuf;
use portcullis_engine::pattern::PatternList;
use portcullis_lint::analysis::{
    Language, Machine, Owner, Product, Reach, State, Visit, machine, plain_path, reach,
};
use portcullis_lint::limits::REACH_EXAMPLES_MAX;
use portcullis_robots::policy::{LabelRules, UsageRules};
use portcullis_set::Damage;
use portcullis_set::stored::{
    AgentTokens, AppliedGroups, PolicyEntry, PolicyNumber, PolicySet, Read, RuleSetNumber,
    StoredPolicy,
};

use crate::limits::{MERGED_ENTRIES_KEPT_MAX, STANCE_BYTES_MAX, STANCE_POSITIONS_MAX};

/// How much the rules of each entry of a set allow. Threads share it.
#[derive(Debug)]
pub struct Reaches<'s> {
    set: &'s PolicySet,
    /// By the number of the rule set, of entries with one rule group.
    known: Vec<OnceLock<Option<Reach>>>,
    /// Of entries with several.
    merged: Mutex<HashMap<(PolicyNumber, PolicyEntry), EntryReach>>,
}

/// The rules of an entry as a whole.
#[derive(Clone, Copy, Debug)]
pub struct EntryReach {
    /// How much they allow; `None` if a limit ended the search.
    pub reach: Option<Reach>,
    /// The number of patterns; `None` if there are more than are merged.
    pub patterns: Option<usize>,
    /// Their identity: rules with equal ones are the same.
    pub rules: RulesID,
}

/// The identity of the rules of an entry in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulesID {
    /// A rule set.
    Stored(RuleSetNumber),
    /// The fingerprint of several that were merged.
    Merged(u64),
    /// An entry whose rule sets were not merged.
    Apart(PolicyNumber, PolicyEntry),
}

/// The access of an agent as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'s> {
    /// How much of the site the agent may fetch; `None` if a limit ended the search.
    pub reach: Option<Reach>,
    /// The groups that apply; `None` if none does, or if there is no file with rules.
    pub groups: Option<AppliedGroups<'s>>,
    /// The identity of their rules.
    pub rules: Option<RulesID>,
}

impl Applied<'_> {
    /// An agent that reads no rules.
    pub const OPEN: Applied<'static> =
        Applied { reach: Some(Reach::Everything), groups: None, rules: None };
}

impl<'s> Reaches<'s> {
    /// Returns the entries of `set`, none of them searched.
    pub fn new(set: &'s PolicySet) -> Reaches<'s> {
        let known = vec![OnceLock::new(); set.rule_set_count() as usize];
        Reaches { set, known, merged: Mutex::default() }
    }

    /// Returns what `policy` says to `agent`. Several rule groups are merged while `patterns_left`, which
    /// counts down, is enough.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn applied(
        &self,
        policy: &StoredPolicy<'s>,
        agent: &AgentTokens,
        patterns_left: &mut usize,
    ) -> Result<Applied<'s>, Damage> {
        let groups = policy.applied_groups(agent)?;
        let Some(of_agent) = &groups else {
            let AccessOutcome { state, verdict } = policy.access()?;
            let is_closed = verdict == Verdict::Disallow && state != PolicyState::Rules;
            let reach = Some(if is_closed { Reach::Nothing } else { Reach::Everything });
            return Ok(Applied { reach, groups, rules: None });
        };
        let EntryReach { reach, rules, .. } = self.of(policy, of_agent.entry, patterns_left)?;
        Ok(Applied { reach, groups, rules: Some(rules) })
    }

    /// Like [`Reaches::applied`], for an agent that reads something instead of `policy`, if `read` is.
    pub fn applied_by(
        &self,
        policy: &StoredPolicy<'s>,
        read: Option<Read>,
        agent: &AgentTokens,
        patterns_left: &mut usize,
    ) -> Result<Applied<'s>, Damage> {
        match read {
            None => self.applied(policy, agent, patterns_left),
            Some(Read::Copy(copy)) => self.applied(&self.set.policy(copy)?, agent, patterns_left),
            Some(Read::Open(_)) => Ok(Applied::OPEN),
        }
    }

    /// Returns how much an entry of a policy allows. Several rule groups are merged while `patterns_left`,
    /// which counts down, is enough.
    ///
    /// # Errors
    ///
    /// If a part of the set that is read is damaged.
    pub fn of(
        &self,
        policy: &StoredPolicy<'s>,
        entry: PolicyEntry,
        patterns_left: &mut usize,
    ) -> Result<EntryReach, Damage> {
        let escapes = self.set.dialect().paths.escapes;
        if let Some(number) = policy.only_rule_set(entry)? {
            let stored = self.set.rule_set(number)?;
            let reach = *self.known[number.index()].get_or_init(|| reach(stored, escapes));
            let (patterns, rules) = (Some(stored.len()), RulesID::Stored(number));
            return Ok(EntryReach { reach, patterns, rules });
        }
        let key = (policy.number(), entry);
        let lock = || self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Ok(*known);
        }
        let Some(left) = patterns_left.checked_sub(policy.pattern_count(entry)?) else {
            let rules = RulesID::Apart(key.0, entry);
            return Ok(EntryReach { reach: None, patterns: None, rules });
        };
        *patterns_left = left;
        let merged = policy.rules(entry)?;
        let rules = merged.as_rule_set();
        let mut hasher = DefaultHasher::new();
        rules.iter().for_each(|rule| rule.hash(&mut hasher));
        let found = EntryReach {
            reach: reach(rules, escapes),
            patterns: Some(rules.len()),
            rules: RulesID::Merged(hasher.finish()),
        };
        let mut known = lock();
        if known.len() >= MERGED_ENTRIES_KEPT_MAX {
            known.clear();
        }
        known.insert(key, found);
        Ok(found)
    }
}

/// The most preferences that a field can give a path, and that decide.
const DECIDING_MAX: usize = 3;

/// Returns what usage records state about each label on all paths that `applied`, which is of the
/// same agent, allows. `None` if it allows none, or if a limit ended the search.
///
/// # Errors
///
/// If a part of the set that is read is damaged.
pub(crate) fn stances(
    set: &PolicySet,
    usage: &UsageRules,
    applied: &Applied<'_>,
) -> Result<[Option<Stance>; Label::ALL.len()], Damage> {
    let mut stances = [None; Label::ALL.len()];
    if !matches!(applied.reach, None | Some(Reach::Nothing)) {
        for label in Label::ALL {
            stances[label as usize] = stance(set, usage, label, applied)?;
        }
    }
    Ok(stances)
}

fn stance(
    set: &PolicySet,
    usage: &UsageRules,
    label: Label,
    applied: &Applied<'_>,
) -> Result<Option<Stance>, Damage> {
    let mut constant = Preference::Unstated;
    let mut fields = Vec::new();
    let mut bytes_left = STANCE_BYTES_MAX;
    let by_field = usage.about(label);
    for rules in &by_field {
        if let Some(of_field) = stated_everywhere(rules) {
            constant = combined(constant, of_field);
            continue;
        }
        let paths = RuleSetBuf::new(&rules.patterns, |_| true);
        let left = bytes_left.checked_sub(paths.as_bytes().len());
        let Some(left) = left else { return Ok(None) };
        bytes_left = left;
        fields.push((paths, &rules.preferences[..]));
    }
    // The strictest one decides, whatever the other field states.
    if fields.is_empty() || constant.rank() == 0 {
        return Ok(Some(constant.into()));
    }
    let groups = applied.groups.filter(|_| applied.reach != Some(Reach::Everything));
    // No page is at `/robots.txt`, so it is left out.
    let access = match groups {
        None => machine(RuleSetBuf::new(&PatternList::new(), |_| true).as_rule_set(), false),
        Some(groups) => {
            let rules = groups.rules()?;
            if rules.as_rule_set().bytes() > bytes_left {
                return Ok(None);
            }
            machine(rules.as_rule_set(), false)
        }
    };
    let language = Language::of(set.dialect().paths.escapes);
    Ok(search((constant, label.stated()), &fields, access, language))
}

/// Returns what a field states about a label on every path; `None` if that depends on the path.
fn stated_everywhere(LabelRules { patterns, preferences, .. }: &LabelRules) -> Option<Preference> {
    // No pattern after one about all paths decides.
    let last = patterns.iter().position(|pattern| pattern.matches_all());
    let deciding = &preferences[..last.map_or(preferences.len(), |last| last + 1)];
    // A path that no pattern matches has no statement.
    let rest = last.map_or(Preference::Unstated, |last| preferences[last]);
    deciding.iter().all(|it| *it == rest).then_some(rest)
}

/// Automata for each field, which *disallow* the paths to which it gives one of the preferences that may be
/// stated, from strict to open, then that of access.
type Search = Product<'static, MACHINES>;
const MACHINES: usize = UsageSource::ALL.len() * DECIDING_MAX + 1;

/// Returns the preference on all allowed paths; `None` if a limit ended the search. `constant` is what
/// the fields state that are not among `fields`.
fn search(
    (constant, stated): (Preference, &[Preference]),
    fields: &[(RuleSetBuf, &[Preference])],
    access: Machine,
    language: &'static Language,
) -> Option<Stance> {
    let mut machines: [Machine; MACHINES] = std::array::from_fn(|_| Machine::new([]));
    for (number, (rules, preferences)) in fields.iter().enumerate() {
        for (which, wanted) in stated.iter().rev().enumerate() {
            let owner = |it: &Preference| Owner { allows: it != wanted, counts: false };
            let patterns = rules.as_rule_set().iter().map(|(_, pattern)| pattern);
            machines[number * DECIDING_MAX + which] =
                Machine::new(patterns.zip(preferences.iter().map(owner)));
        }
    }
    machines[MACHINES - 1] = access;
    let mut search = Search::new(machines, language);
    let mut found = None;
    let patterns = fields.iter().flat_map(|(rules, _)| rules.as_rule_set().iter());
    let examples = patterns.take(REACH_EXAMPLES_MAX).map(|(_, pattern)| plain_path(&pattern));
    let examples = examples.filter(|path| language.contains(path));
    for path in std::iter::once(b"/-".to_vec()).chain(examples) {
        let states = search.walk(&path, STANCE_POSITIONS_MAX)?;
        if see(&search, (constant, stated), states, &mut found) == Visit::Stop {
            return Some(Stance::Mixed);
        }
    }
    let mut is_mixed = false;
    let ended = search.run(STANCE_POSITIONS_MAX, |search, _, states| {
        let visit = see(search, (constant, stated), states, &mut found);
        is_mixed |= visit == Visit::Stop;
        visit
    });
    match ended {
        _ if is_mixed => Some(Stance::Mixed),
        Ok(()) => found.map(Stance::from),
        Err(_) => None,
    }
}

/// Sees the preference on a path if it is allowed. Stops if it differs from the one that was found
/// first, and skips what follows if no path there is allowed.
fn see(
    search: &Search,
    (constant, all): (Preference, &[Preference]),
    states: [State; MACHINES],
    found: &mut Option<Preference>,
) -> Visit {
    let [fields @ .., is_allowed] = search.allow(states);
    if !is_allowed {
        let is_settled = search.are_settled(states)[MACHINES - 1];
        return if is_settled { Visit::Skip } else { Visit::Follow };
    }
    let (fields, _) = fields.as_chunks::<DECIDING_MAX>();
    let stated = fields.iter().map(|field| {
        let mut of_field = all.iter().rev().zip(field);
        of_field.find(|(_, allows)| !**allows).map_or(Preference::Unstated, |(stated, _)| *stated)
    });
    let preference = stated.fold(constant, combined);
    if *found.get_or_insert(preference) == preference { Visit::Follow } else { Visit::Stop }
}

/// Returns the preference for a path to which two fields give these.
fn combined(one: Preference, other: Preference) -> Preference {
    std::cmp::min_by_key(one, other, |it| it.rank())
}
