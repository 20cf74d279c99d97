//! Whether a rule that decides is needed: does another verdict come where it is taken away?

use super::Bound;
use super::budget::Budget;
use super::contest::octets_of;
use super::language::{FREE, Language};
use super::machine::{Machine, State};
use super::positions::NO_PATTERN;
use super::tree::Tree;

/// What a rule is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Without it this path has another verdict, and none that is shorter has.
    Needed(Vec<u8>),
    /// Where it decides one of these rules would decide the same; none of them where no rule would.
    /// They are in the order in which they were met, each once.
    Redundant(Vec<Option<u32>>),
    /// A limit ended the search.
    Unknown(Bound),
}

/// Looks for a path on which `rule` wins and the next best says otherwise, in a machine that
/// remembers both.
pub(super) fn need(
    machine: &mut Machine,
    rule: u32,
    allows: bool,
    language: &Language,
    budget: &mut Budget,
) -> Need {
    let before = machine.work();
    let share = budget.share();
    let mut search = Search { rule, allows, next: Vec::new() };
    let mut tree = Tree::new((machine.walk(b"/"), FREE));
    let mut moves = Vec::new();
    let mut bound = None;
    let mut index = 0;
    let mut found = None;
    while let Some((state, mark)) = tree.get(index) {
        if search.changes(machine, state) {
            found = Some(Need::Needed(octets_of(tree.way_to(index))));
            break;
        }
        if search.may_change(machine, state) {
            if let Some(bound) = share.reached(machine.work() - before, tree.len()) {
                found = Some(Need::Unknown(budget.bound(bound)));
                break;
            }
            if tree.is_deepest(index) {
                bound = Some(Bound::PathOctets);
            } else {
                language.moves(mark, machine.named(state), &mut moves);
                for &(octet, mark) in &moves {
                    tree.push(index, octet, (machine.step(state, octet as u8), mark));
                }
            }
        }
        index += 1;
    }
    budget.spend(machine.work() - before, tree.len());
    found.unwrap_or(match bound {
        Some(bound) => Need::Unknown(bound),
        None => Need::Redundant(search.next),
    })
}

struct Search {
    rule: u32,
    allows: bool,
    /// Who takes over.
    next: Vec<Option<u32>>,
}

impl Search {
    fn is_own(&self, machine: &Machine, pattern: u32) -> bool {
        pattern != NO_PATTERN && machine.owner(pattern).rule == self.rule
    }

    /// What the next best says if nothing else changes.
    fn next_allows(machine: &Machine, next: u32) -> bool {
        next == NO_PATTERN || machine.owner(next).allows
    }

    /// Whether the path that ends here has another verdict without the rule. If the rule decides it,
    /// notes who takes over.
    fn changes(&mut self, machine: &Machine, state: State) -> bool {
        let [best, next] = machine.best_at_end(state);
        if !self.is_own(machine, best) {
            return false;
        }
        if Search::next_allows(machine, next) != self.allows {
            return true;
        }
        self.note(machine, next);
        false
    }

    /// Notes who takes over.
    fn note(&mut self, machine: &Machine, next: u32) {
        let next = (next != NO_PATTERN).then(|| machine.owner(next).rule);
        if !self.next.contains(&next) {
            self.next.push(next);
        }
    }

    /// Whether a longer path may have another verdict without the rule.
    fn may_change(&mut self, machine: &Machine, state: State) -> bool {
        let [best, next] = machine.best(state);
        if self.is_own(machine, best) {
            let differs = |pattern: u32| {
                let owner = machine.owner(pattern);
                pattern > best && owner.rule != self.rule && owner.allows != self.allows
            };
            let next_differs = Search::next_allows(machine, next) != self.allows;
            let may_change = next_differs || machine.may_match(state).any(differs);
            if !may_change {
                self.note(machine, next);
            }
            may_change && !machine.is_settled(state)
        } else {
            let may_win = |pattern: u32| pattern < best && self.is_own(machine, pattern);
            machine.may_match(state).any(may_win)
        }
    }
}
