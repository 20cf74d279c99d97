//! The shortest path that some patterns match and others do not.

use crate::pattern::PathPattern;

use super::Bound;
use super::budget::Budget;
use super::language::{FREE, Language, Mark, PATH_BYTES_MAX};
use super::machine::{Machine, State};
use super::positions::{Owner, Positions, Question};
use super::tree::Tree;

/// What a path has to be like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'s, 'r> {
    /// It matches this.
    pub one: PathPattern<'r>,
    /// It matches this too, if there is one.
    pub other: Option<PathPattern<'r>>,
    /// It matches none of these.
    pub avoided: &'s [PathPattern<'r>],
}

/// A shortest path of a URL that is as wanted, if there is one.
///
/// # Errors
///
/// The limit that ended the search.
pub(super) fn seek(
    wanted: Wanted<'_, '_>,
    language: &Language,
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, Bound> {
    if wanted.is_impossible() {
        return Ok(None);
    }
    if let Some(path) = wanted.plain_path(language) {
        return Ok(Some(path));
    }
    let mut search = Search {
        one: machine(&[wanted.one]),
        other: machine(wanted.other.as_slice()),
        is_free: wanted.other.is_none(),
        avoided: machine(wanted.avoided),
    };
    let share = budget.share();
    let start = (search.one.walk(b"/"), search.other.walk(b"/"), search.avoided.walk(b"/"));
    let mut tree = Tree::new((start, FREE));
    let found = search.run(&mut tree, language, |work, states| share.reached(work, states));
    budget.spend(search.work(), tree.len());
    found.map_err(|bound| budget.bound(bound))
}

/// A machine that disallows what one of `patterns` matches.
fn machine(patterns: &[PathPattern<'_>]) -> Machine {
    let owner = Owner { rule: 0, allows: false, counts: true };
    let owned = patterns.iter().map(|&pattern| (pattern, owner));
    Machine::new(Positions::new(Question::Verdict, owned))
}

impl Wanted<'_, '_> {
    /// Whether the bytes before the first star rule it out.
    fn is_impossible(&self) -> bool {
        let start = |pattern: &PathPattern<'_>| pattern.literals().next().unwrap_or_default().len();
        let one = &self.one.bytes[..start(&self.one)];
        let agrees = |other: &PathPattern<'_>| {
            let other = &other.bytes[..start(other)];
            one.starts_with(other) || other.starts_with(one)
        };
        let covers = |avoided: &PathPattern<'_>| {
            let is_prefix = avoided.stars().len() == 0 && !avoided.anchored;
            is_prefix && one.starts_with(avoided.bytes)
        };
        !self.other.as_ref().is_none_or(agrees) || self.avoided.iter().any(covers)
    }

    /// The path on which stars stand for nothing, if that is all there is to ask for and a URL can
    /// have it.
    fn plain_path(&self, language: &Language) -> Option<Vec<u8>> {
        if self.other.is_some() || !self.avoided.is_empty() {
            return None;
        }
        let pattern = &self.one;
        let starts_open = pattern.stars().next() == Some(0) || pattern.bytes.is_empty();
        let has_slash = pattern.bytes.first() == Some(&b'/');
        let slash: &[u8] = if starts_open && !has_slash { b"/" } else { b"" };
        let path = [slash, pattern.bytes].concat();
        (path.len() <= PATH_BYTES_MAX && language.contains(&path)).then_some(path)
    }
}

/// Where the three machines are after some bytes.
type Place = ((State, State, State), Mark);

struct Search {
    one: Machine,
    other: Machine,
    /// Whether nothing is asked of the other.
    is_free: bool,
    avoided: Machine,
}

impl Search {
    fn run(
        &mut self,
        tree: &mut Tree<Place>,
        language: &Language,
        reached: impl Fn(u64, usize) -> Option<Bound>,
    ) -> Result<Option<Vec<u8>>, Bound> {
        let mut moves = Vec::new();
        let mut bound = None;
        let mut index = 0;
        while let Some(((one, other, avoided), mark)) = tree.get(index) {
            let matches = !self.one.allows_at_end(one)
                && (self.is_free || !self.other.allows_at_end(other))
                && self.avoided.allows_at_end(avoided);
            if matches {
                return Ok(Some(bytes_of(tree.way_to(index))));
            }
            if self.may_match((one, other, avoided)) {
                if let Some(bound) = reached(self.work(), tree.len()) {
                    return Err(bound);
                }
                if tree.is_deepest(index) {
                    bound = Some(Bound::PathBytes);
                } else {
                    let named = self.one.named(one).chain(self.other.named(other));
                    language.moves(mark, named.chain(self.avoided.named(avoided)), &mut moves);
                    for &(symbol, mark) in &moves {
                        let byte = symbol as u8;
                        let next = (
                            self.one.step(one, byte),
                            self.other.step(other, byte),
                            self.avoided.step(avoided, byte),
                        );
                        tree.push(index, symbol, (next, mark));
                    }
                }
            }
            index += 1;
        }
        bound.map_or(Ok(None), Err)
    }

    /// Whether a longer path may be as wanted.
    fn may_match(&self, (one, other, avoided): (State, State, State)) -> bool {
        let is_lost = |machine: &Machine, state, allows: bool| {
            machine.is_settled(state) && machine.allows_at_end(state) == allows
        };
        let all_settled = self.one.is_settled(one)
            && (self.is_free || self.other.is_settled(other))
            && self.avoided.is_settled(avoided);
        !all_settled
            && !is_lost(&self.one, one, true)
            && (self.is_free || !is_lost(&self.other, other, true))
            && !is_lost(&self.avoided, avoided, false)
    }

    fn work(&self) -> u64 {
        self.one.work() + self.other.work() + self.avoided.work()
    }
}

/// The path with a slash and these bytes.
fn bytes_of(way: Vec<u16>) -> Vec<u8> {
    [b'/'].into_iter().chain(way.into_iter().map(|byte| byte as u8)).collect()
}
