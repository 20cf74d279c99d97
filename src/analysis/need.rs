//! Whether a rule that decides is needed: does another verdict come where it is taken away?
//!
//! It is needed if some path that it decides has a rule of the other verdict for its next best, or
//! none where that allows. So each such *rival* is looked at in turn: a path is sought that both match.
//! If there is one and another rule stands before the two, or between them and says the same as the
//! first, that rule is avoided from then on, until a path is left that shows the need, or none. The
//! rules to be avoided are few, so the automata stay small however large the set.

use super::Bound;
use super::budget::Budget;
use super::language::Language;
use super::machine::Machine;
use super::positions::{NO_PATTERN, Owner, Positions, Question};
use super::seek::{Wanted, seek};
use super::standing::Owned;

/// What a rule is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Without it this path has another verdict.
    Needed(Vec<u8>),
    /// Where it decides one of these rules would decide the same; none of them where no rule would.
    /// They are in the order in which they were met, each once.
    Redundant(Vec<Option<u32>>),
    /// A limit ended the search.
    Unknown(Bound),
}

/// The rules of a set that decide, and all that is needed to ask about one of them.
pub(super) struct Living<'s, 'r> {
    /// Their patterns in order of precedence.
    patterns: Vec<Owned<'r>>,
    /// By whether they allow: the numbers of patterns, ascending.
    by_verdict: [Vec<usize>; 2],
    /// The best two patterns of any path.
    machine: Machine,
    language: &'s Language,
    budget: &'s mut Budget,
}

/// A rule of which it is asked whether it is needed.
struct Suspect<'p> {
    rule: u32,
    allows: bool,
    /// The numbers of its patterns.
    patterns: &'p [usize],
    /// Who takes over.
    next: Vec<Option<u32>>,
}

/// What a path says about a rule.
enum Sign {
    /// Without the rule it has another verdict.
    Needed,
    /// It has not, because of the pattern with this number.
    Blocked(usize),
    /// It has not, because no rule takes over, which says the same.
    Free,
}

impl<'s, 'r> Living<'s, 'r> {
    /// The rules with these patterns, which are in order of precedence.
    pub(super) fn new(
        patterns: Vec<Owned<'r>>,
        language: &'s Language,
        budget: &'s mut Budget,
    ) -> Living<'s, 'r> {
        let with = |allows: bool| {
            let numbered = patterns.iter().enumerate();
            let same = numbered.filter(move |(_, (_, owner))| owner.allows == allows);
            same.map(|(number, _)| number).collect()
        };
        let positions = Positions::new(Question::RuleAndNext, patterns.iter().copied());
        Living {
            by_verdict: [false, true].map(with),
            machine: Machine::new(positions),
            patterns,
            language,
            budget,
        }
    }

    /// Whether the rule is needed that has the patterns with the numbers `own`, and decides on `path`.
    pub(super) fn need(&mut self, own: &[usize], path: Vec<u8>) -> Need {
        let (_, owner) = self.patterns[own[0]];
        let Owner { rule, allows, .. } = owner;
        let mut suspect = Suspect { rule, allows, patterns: own, next: Vec::new() };
        match self.sign(&mut suspect, &path) {
            Ok(Sign::Needed) => return Need::Needed(path),
            Ok(Sign::Blocked(_) | Sign::Free) => {}
            Err(bound) => return Need::Unknown(bound),
        }
        match self.path_of_need(&mut suspect) {
            Ok(Some(path)) => Need::Needed(path),
            Ok(None) => Need::Redundant(suspect.next),
            Err(bound) => Need::Unknown(bound),
        }
    }

    /// A path that the rule decides, with another verdict without it.
    fn path_of_need(&mut self, suspect: &mut Suspect<'_>) -> Result<Option<Vec<u8>>, Bound> {
        let mut bound = None;
        for &own in suspect.patterns {
            // Where no rule is left all is allowed.
            let nobody = (!suspect.allows).then_some(None);
            let opposite = &self.by_verdict[usize::from(!suspect.allows)];
            let behind = opposite.partition_point(|&other| other < own);
            // A copy, because looking for a path takes all of this.
            let rivals: Vec<Option<_>> = opposite[behind..].iter().copied().map(Some).collect();
            for rival in nobody.into_iter().chain(rivals) {
                match self.need_against(suspect, own, rival) {
                    Ok(None) => {}
                    Ok(found) => return Ok(found),
                    Err(reached) => bound = Some(reached),
                }
            }
        }
        bound.map_or(Ok(None), Err)
    }

    /// A path that `own` decides, or another pattern of its rule, and without the rule `rival` or one
    /// before it that says the same.
    fn need_against(
        &mut self,
        suspect: &mut Suspect<'_>,
        own: usize,
        rival: Option<usize>,
    ) -> Result<Option<Vec<u8>>, Bound> {
        let mut avoided = Vec::new();
        loop {
            let wanted = Wanted {
                one: self.patterns[own].0,
                other: rival.map(|rival| self.patterns[rival].0),
                avoided: &avoided,
            };
            let Some(path) = seek(wanted, self.language, self.budget)? else { return Ok(None) };
            match self.sign(suspect, &path)? {
                Sign::Needed => return Ok(Some(path)),
                Sign::Blocked(pattern) => avoided.push(self.patterns[pattern].0),
                Sign::Free => unreachable!("a rival, or that there is none, says otherwise"),
            }
        }
    }

    /// What `path` says.
    fn sign(&mut self, suspect: &mut Suspect<'_>, path: &[u8]) -> Result<Sign, Bound> {
        self.budget.check()?;
        let before = self.machine.work();
        let state = self.machine.walk(path);
        self.budget.spend(self.machine.work() - before, 0);
        let [best, next] = self.machine.best_at_end(state);
        if self.machine.owner(best).rule != suspect.rule {
            return Ok(Sign::Blocked(best as usize));
        }
        if self.machine.allows([next, NO_PATTERN]) != suspect.allows {
            return Ok(Sign::Needed);
        }
        let successor = (next != NO_PATTERN).then(|| self.machine.owner(next).rule);
        if !suspect.next.contains(&successor) {
            suspect.next.push(successor);
        }
        Ok(if next == NO_PATTERN { Sign::Free } else { Sign::Blocked(next as usize) })
    }
}
