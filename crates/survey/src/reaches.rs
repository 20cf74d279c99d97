//! What a policy says to an agent as a whole: how much of a site, by which groups and rules.
//!
//! What may be fetched is read from the stored rule sets; no text is parsed. A rule set is searched once,
//! for all policies and agents that share it, when it is first asked for.
//!
//! [`stances`] are what a policy states about the use of all pages that an agent may fetch.
//!
//! Nearly every usage record is about all paths, or states what those about all paths do, so both
//! fields have a constant for each label, and so has their combination. If a record has a path, the
//! automata of the label's fields and that of access read the same paths until two allowed ones with
//! different preferences are found, or none is left: example paths of the patterns first, then all.
//! [`STANCE_POSITIONS_MAX`] bounds the search, and no list of patterns is read if the rule sets have
//! more than [`STANCE_BYTES_MAX`].

use std::sync::OnceLock;

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
use portcullis_set::stored::{AgentTokens, AppliedGroups, PolicySet, RuleSetNumber, StoredPolicy};

use crate::limits::{STANCE_BYTES_MAX, STANCE_POSITIONS_MAX};

/// How much each rule set of a set allows. Threads share it.
#[derive(Debug)]
pub struct Reaches<'s> {
    set: &'s PolicySet,
    /// By the number of the rule set.
    known: Vec<OnceLock<Option<Reach>>>,
}

/// What a policy says to an agent as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Applied<'s> {
    /// How much of the site the agent may fetch; `None` if a limit ended the search.
    pub reach: Option<Reach>,
    /// The groups that apply; `None` if none does, or if there is no file with rules.
    pub groups: Option<AppliedGroups<'s>>,
}

impl<'s> Reaches<'s> {
    /// Returns the rule sets of `set`, none of them searched.
    pub fn new(set: &'s PolicySet) -> Reaches<'s> {
        Reaches { set, known: vec![OnceLock::new(); set.rule_set_count() as usize] }
    }

    /// Returns how much a rule set allows; `None` if a limit ended the search, or the rule set is
    /// too large to be stored.
    ///
    /// # Errors
    ///
    /// If the rule set is damaged.
    pub fn of(&self, number: RuleSetNumber) -> Result<Option<Reach>, Damage> {
        self.find(number, None, &mut 0)
    }

    /// Returns what `policy` says to `agent`. A rule set that is too large to be stored is built, while
    /// `patterns_left` is not 0, which counts down by the patterns of each such rule set.
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
        let reach = match &groups {
            Some(of_agent) => self.find(of_agent.rule_set, groups.as_ref(), patterns_left)?,
            None => {
                let AccessOutcome { state, verdict } = policy.access()?;
                let is_closed = verdict == Verdict::Disallow && state != PolicyState::Rules;
                Some(if is_closed { Reach::Nothing } else { Reach::Everything })
            }
        };
        Ok(Applied { reach, groups })
    }

    /// Like [`Reaches::of`]. Builds a rule set that is not stored if its `groups` are given.
    fn find(
        &self,
        number: RuleSetNumber,
        groups: Option<&AppliedGroups<'s>>,
        patterns_left: &mut usize,
    ) -> Result<Option<Reach>, Damage> {
        if let Some(reach) = self.known.get(number.index()).and_then(OnceLock::get) {
            return Ok(*reach);
        }
        let escapes = self.set.dialect().paths.escapes;
        let found = match (self.set.rule_set(number)?, groups) {
            (Some(stored), _) => reach(stored, escapes),
            (None, None) => return Ok(None),
            (None, Some(_)) if *patterns_left == 0 => return Ok(None),
            (None, Some(groups)) => {
                let built = groups.build()?;
                *patterns_left = patterns_left.saturating_sub(built.as_rule_set().len());
                reach(built.as_rule_set(), escapes)
            }
        };
        Ok(*self.known[number.index()].get_or_init(|| found))
    }
}

/// The preferences that a field can give a path, and that decide.
const DECIDING: [Preference; 2] = [Preference::No, Preference::Yes];

/// Returns what usage records state about each label on all paths that `applied`, which is of the
/// same policy and agent, allows. `None` if it allows none, or if a limit ended the search.
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
    // `n` decides, whatever the other field states.
    if fields.is_empty() || constant == Preference::No {
        return Ok(Some(constant.into()));
    }
    let groups = applied.groups.filter(|_| applied.reach != Some(Reach::Everything));
    // No page is at `/robots.txt`, so it is left out.
    let access = match groups {
        None => machine(RuleSetBuf::new(&PatternList::new(), |_| true).as_rule_set(), false),
        Some(groups) => match set.rule_set(groups.rule_set)? {
            Some(rules) if rules.bytes() <= bytes_left => machine(rules, false),
            _ => return Ok(None),
        },
    };
    let language = Language::of(set.dialect().paths.escapes);
    Ok(search(constant, &fields, access, language))
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

/// Two automata for each field, which *disallow* the paths to which it gives one of [`DECIDING`], then
/// that of access.
type Search = Product<'static, MACHINES>;
const MACHINES: usize = UsageSource::ALL.len() * DECIDING.len() + 1;

/// Returns the preference on all allowed paths; `None` if a limit ended the search. `constant` is what
/// the fields state that are not among `fields`.
fn search(
    constant: Preference,
    fields: &[(RuleSetBuf, &[Preference])],
    access: Machine,
    language: &'static Language,
) -> Option<Stance> {
    let mut machines: [Machine; MACHINES] = std::array::from_fn(|_| Machine::new([]));
    for (number, (rules, preferences)) in fields.iter().enumerate() {
        for (which, wanted) in DECIDING.iter().enumerate() {
            let owner = |it: &Preference| Owner { allows: it != wanted, counts: false };
            let patterns = rules.as_rule_set().iter().map(|(_, pattern)| pattern);
            machines[number * DECIDING.len() + which] =
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
        if see(&search, constant, states, &mut found) == Visit::Stop {
            return Some(Stance::Mixed);
        }
    }
    let mut is_mixed = false;
    let ended = search.run(STANCE_POSITIONS_MAX, |search, _, states| {
        let visit = see(search, constant, states, &mut found);
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
    constant: Preference,
    states: [State; MACHINES],
    found: &mut Option<Preference>,
) -> Visit {
    let [fields @ .., is_allowed] = search.allow(states);
    if !is_allowed {
        let is_settled = search.are_settled(states)[MACHINES - 1];
        return if is_settled { Visit::Skip } else { Visit::Follow };
    }
    let (fields, _) = fields.as_chunks();
    let stated = fields.iter().map(|field| match field {
        [false, _] => Preference::No,
        [true, false] => Preference::Yes,
        [true, true] => Preference::Unstated,
    });
    let preference = stated.fold(constant, combined);
    if *found.get_or_insert(preference) == preference { Visit::Follow } else { Visit::Stop }
}

/// Returns the preference for a path to which two fields give these.
fn combined(one: Preference, other: Preference) -> Preference {
    std::cmp::min_by_key(one, other, |it| it.rank())
}
