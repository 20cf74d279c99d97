//! Whether a rule ever wins: the walk through all paths that it matches.

use crate::pattern::PathPattern;

use super::Bound;
use super::budget::Budget;
use super::language::{FREE, Language, Mark};
use super::machine::{Machine, State};
use super::positions::{NO_PATTERN, Owner, Positions, Question};
use super::tree::Tree;

/// A pattern and what it belongs to.
pub(super) type Owned<'r> = (PathPattern<'r>, Owner);

/// How a rule fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It wins on this path, and on none that is shorter.
    Wins(Vec<u8>),
    /// Wherever it matches one of these rules wins. They are in the order in which they were met,
    /// each once; none if it matches nowhere.
    Loses(Vec<u32>),
    /// A limit ended the search.
    Unknown(Bound),
}

/// Where all rules and the one in question are after some octets.
type Pair = (State, State, Mark);

/// Follows the paths that the `own` patterns of `rule` match through `all`, the machine of all rules.
pub(super) fn contest(
    all: &mut Machine,
    own: &[Owned<'_>],
    rule: u32,
    language: &Language,
    budget: &mut Budget,
) -> Outcome {
    let mut alone = Machine::new(Positions::new(Question::Rule, own.iter().copied()));
    let mut tree = Tree::new((all.walk(b"/"), alone.walk(b"/"), FREE));
    let mut search =
        Contest { rule, share: budget.share(), before: all.work(), winners: Vec::new() };
    let outcome = search.run(all, &mut alone, &mut tree, language);
    budget.spend(all.work() - search.before + alone.work(), tree.len());
    match outcome {
        Outcome::Unknown(bound) => Outcome::Unknown(budget.bound(bound)),
        known => known,
    }
}

struct Contest {
    rule: u32,
    share: super::Limits,
    before: u64,
    winners: Vec<u32>,
}

impl Contest {
    fn run(
        &mut self,
        all: &mut Machine,
        alone: &mut Machine,
        tree: &mut Tree<Pair>,
        language: &Language,
    ) -> Outcome {
        let mut moves = Vec::new();
        let mut bound = None;
        let mut index = 0;
        while let Some((state, own, mark)) = tree.get(index) {
            if alone.best_at_end(own)[0] != NO_PATTERN {
                let winner = all.best_at_end(state)[0];
                if all.owner(winner).rule == self.rule {
                    return Outcome::Wins(octets_of(tree.way_to(index)));
                }
                self.note(all.owner(winner).rule);
            }
            if self.may_win(all, alone, (state, own)) {
                let work = all.work() - self.before + alone.work();
                if let Some(bound) = self.share.reached(work, tree.len()) {
                    return Outcome::Unknown(bound);
                }
                if tree.is_deepest(index) {
                    bound = Some(Bound::PathOctets);
                } else {
                    language.moves(mark, all.named(state).chain(alone.named(own)), &mut moves);
                    for &(octet, mark) in &moves {
                        let pair =
                            (all.step(state, octet as u8), alone.step(own, octet as u8), mark);
                        tree.push(index, octet, pair);
                    }
                }
            }
            index += 1;
        }
        match bound {
            Some(bound) => Outcome::Unknown(bound),
            None => Outcome::Loses(std::mem::take(&mut self.winners)),
        }
    }

    /// Whether the rule may win on a path that begins so. If another has won already, it is noted.
    fn may_win(&mut self, all: &Machine, alone: &Machine, (state, own): (State, State)) -> bool {
        let may_match = alone.best(own)[0] != NO_PATTERN || !alone.is_settled(own);
        if !may_match || all.is_settled(state) {
            // Where nothing can change, all has been said at the end of this very path, unless the
            // rule matches only later.
            if may_match {
                self.note_best(all, state);
            }
            return false;
        }
        let is_own = |pattern: u32| pattern != NO_PATTERN && all.owner(pattern).rule == self.rule;
        if is_own(all.best(state)[0]) || all.may_match(state).any(is_own) {
            return true;
        }
        self.note_best(all, state);
        false
    }

    fn note_best(&mut self, all: &Machine, state: State) {
        let best = all.best(state)[0];
        if best != NO_PATTERN && all.owner(best).rule != self.rule {
            self.note(all.owner(best).rule);
        }
    }

    fn note(&mut self, winner: u32) {
        if !self.winners.contains(&winner) {
            self.winners.push(winner);
        }
    }
}

/// The path with a slash and these octets.
pub(super) fn octets_of(way: Vec<u16>) -> Vec<u8> {
    [b'/'].into_iter().chain(way.into_iter().map(|octet| octet as u8)).collect()
}

/// Whether `covering` matches every path that `pattern` does. Nothing, if that takes too long.
pub(super) fn covers(
    covering: PathPattern<'_>,
    pattern: PathPattern<'_>,
    language: &Language,
    budget: &mut Budget,
) -> Option<bool> {
    let is_prefix = covering.stars().len() == 0 && !covering.anchored;
    if is_prefix && pattern.literals().next()?.starts_with(covering.octets) {
        return Some(true);
    }
    let owner = |rule| Owner { rule, allows: true, counts: true };
    let (first, second) = ((covering, owner(0)), (pattern, owner(1)));
    let mut both = Machine::new(Positions::new(Question::Rule, [first, second]));
    match contest(&mut both, &[second], 1, language, budget) {
        Outcome::Wins(_) => Some(false),
        Outcome::Loses(_) => Some(true),
        Outcome::Unknown(_) => None,
    }
}

/// A shortest path that `pattern` matches, if there is one.
pub(super) fn shortest(
    owned: Owned<'_>,
    language: &Language,
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Bound> {
    // Stars that stand for nothing make the shortest path, if a URL can have it.
    let (pattern, _) = owned;
    let starts_open = pattern.stars().next() == Some(0) || pattern.octets.is_empty();
    let slash: &[u8] =
        if starts_open && pattern.octets.first() != Some(&b'/') { b"/" } else { b"" };
    let path = [slash, pattern.octets].concat();
    if language.contains(&path) && path.len() <= super::language::PATH_OCTETS_MAX {
        return Ok(Some(path));
    }
    let mut alone = Machine::new(Positions::new(Question::Rule, [owned]));
    match contest(&mut alone, &[owned], owned.1.rule, language, budget) {
        Outcome::Wins(path) => Ok(Some(path)),
        Outcome::Loses(_) => Ok(None),
        Outcome::Unknown(bound) => Err(bound),
    }
}
