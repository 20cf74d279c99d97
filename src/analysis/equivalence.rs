//! Whether two rule sets decide every URL alike, and if not, the shortest one that shows it.
//!
//! Both are walked together, breadth-first from the slash that every path starts with, over all that
//! a URL can hold. A pair of states in which no rule can match any more that only one side has, or
//! has in another place, cannot lead to a difference and is not walked from; so two files with few
//! rules between them are compared in little time, however large what they share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::pattern::PathPattern;

use super::alphabet::{Alphabet, Symbol};
use super::language::{FREE, Mark};
use super::machine::{Machine, State};
use super::positions::{Owner, Positions, Question};
use super::tree::Tree;
use super::{Bound, Example, Limits, Rules};

/// Whether two rule sets decide every URL alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equivalence {
    /// Every URL has the same verdict.
    Equal,
    /// Some URL has another verdict. At least one of the two is found.
    Different {
        /// A shortest path that the first allows and the second disallows.
        first_allows: Search,
        /// A shortest path that the first disallows and the second allows.
        second_allows: Search,
    },
    /// A limit ended the search before a difference was found.
    Unknown(Bound),
}

/// What came of a search for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// There is one, and none is shorter.
    Found(Example),
    /// There is none.
    Nothing,
    /// A limit ended the search.
    Unknown(Bound),
}

impl Search {
    /// The example, if one was found.
    pub fn example(&self) -> Option<&Example> {
        match self {
            Search::Found(example) => Some(example),
            Search::Nothing | Search::Unknown(_) => None,
        }
    }
}

/// Compares the verdicts of two rule sets on every URL that there can be.
///
/// Each side is asked in its own dialect. If the dialects bring paths into different forms, the URLs
/// are those that both read with the same path, which begins with `/`; and an escape counts as one
/// byte of an example's length.
///
/// ```
/// use portcullis::analysis::{Equivalence, Limits, Rules, equivalence};
/// use portcullis::dialect::RFC_9309;
/// use portcullis::policy::OrderedRules;
/// use portcullis::syntax::RobotsTxt;
///
/// let rules = |text: &'static str| {
///     let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
///     OrderedRules::new(&file, &[0], &RFC_9309.paths)
/// };
/// let one = rules("User-agent: *\nDisallow: /a\nDisallow: /a/b\n");
/// let two = rules("User-agent: *\nDisallow: /a\nAllow: /a/b$\n");
/// let one = Rules { ordered: &one, paths: &RFC_9309.paths };
/// let two = Rules { ordered: &two, paths: &RFC_9309.paths };
/// assert_eq!(equivalence(one, one, &Limits::default()), Equivalence::Equal);
/// let Equivalence::Different { second_allows, .. } = equivalence(one, two, &Limits::default())
/// else {
///     panic!("they differ")
/// };
/// assert_eq!(second_allows.example().unwrap().path(), b"/a/b");
/// ```
pub fn equivalence(first: Rules<'_>, second: Rules<'_>, limits: &Limits) -> Equivalence {
    let counts = Counts::new(first, second);
    let sides = [machine(first, &counts.first), machine(second, &counts.second)];
    let escapes = [first.paths.escapes, second.paths.escapes];
    let alphabet = Alphabet::new(escapes, [&sides[0], &sides[1]]);
    Comparison { sides, alphabet, limits, found: [None, None] }.run()
}

/// The machine that answers for `rules` which verdict a path has.
fn machine(rules: Rules<'_>, counts: &[bool]) -> Machine {
    let own = rules.patterns().zip(counts);
    let own = own.map(|((pattern, owner), &counts)| (pattern, Owner { counts, ..owner }));
    Machine::new(Positions::new(Question::Verdict, own))
}

/// By pattern of each side: whether a path that it decides can have another verdict on the other.
///
/// Of two paths' verdicts that differ the rules that decide differ too. If both rules were on both
/// sides, one of them would win against the other on both, unless they stand in another order there;
/// so at least one of the two is one that counts.
struct Counts {
    first: Vec<bool>,
    second: Vec<bool>,
}

impl Counts {
    fn new(first: Rules<'_>, second: Rules<'_>) -> Counts {
        let mut counts = Counts {
            first: vec![true; first.patterns().count()],
            second: vec![true; second.patterns().count()],
        };
        if first.paths.escapes != second.paths.escapes {
            return counts;
        }
        let ranks = ranks(second, &mut counts.second);
        // By verdict: the largest rank on the second side of those that were passed.
        let mut passed = [None; 2];
        let mut own = HashMap::new();
        for ((pattern, owner), rank) in first.patterns().zip(0..) {
            let identity = identity(&pattern);
            if own.insert(identity.clone(), rank).is_some() {
                // The same pattern has gone before.
                counts.first[rank] = false;
                continue;
            }
            let Some(&(there, allows)) = ranks.get(&identity) else { continue };
            let in_order = passed[usize::from(!owner.allows)].is_none_or(|other| other < there);
            if allows == owner.allows && in_order {
                counts.first[rank] = false;
                counts.second[there] = false;
                let passed = &mut passed[usize::from(allows)];
                *passed = (*passed).max(Some(there));
            }
        }
        counts
    }
}

/// Each pattern with its rank and verdict; of equal ones the first, and the others count for nothing.
fn ranks(rules: Rules<'_>, counts: &mut [bool]) -> HashMap<Vec<u8>, (usize, bool)> {
    let mut ranks = HashMap::new();
    for ((pattern, owner), rank) in rules.patterns().zip(0..) {
        let known = ranks.entry(identity(&pattern));
        if let Entry::Occupied(_) = known {
            counts[rank] = false;
        }
        known.or_insert((rank, owner.allows));
    }
    ranks
}

fn identity(pattern: &PathPattern<'_>) -> Vec<u8> {
    let mut identity = Vec::new();
    pattern.write_identity(&mut identity);
    identity
}

/// Where both sides are after some symbols.
type Pair = (State, State, Mark);

struct Comparison<'l> {
    sides: [Machine; 2],
    alphabet: Alphabet,
    limits: &'l Limits,
    /// An example that the first side allows, and one that the second does.
    found: [Option<Example>; 2],
}

impl Comparison<'_> {
    fn run(mut self) -> Equivalence {
        let [one, two] = &mut self.sides;
        let mut tree = Tree::new((one.walk(b"/"), two.walk(b"/"), FREE));
        let bound = self.search(&mut tree);
        let search = |found: Option<Example>| match (found, bound) {
            (Some(example), _) => Search::Found(example),
            (None, None) => Search::Nothing,
            (None, Some(bound)) => Search::Unknown(bound),
        };
        match (self.found, bound) {
            ([None, None], None) => Equivalence::Equal,
            ([None, None], Some(bound)) => Equivalence::Unknown(bound),
            ([first, second], _) => Equivalence::Different {
                first_allows: search(first),
                second_allows: search(second),
            },
        }
    }

    /// Looks for examples, until both are found, all pairs are met, or the limit that is returned is.
    fn search(&mut self, tree: &mut Tree<Pair>) -> Option<Bound> {
        let mut moves: Vec<(Symbol, Mark)> = Vec::new();
        let mut bound = None;
        let mut index = 0;
        while let Some((one, two, mark)) = tree.get(index) {
            self.judge((one, two), tree, index);
            if self.found.iter().all(Option::is_some) {
                return None;
            }
            let [first, second] = &mut self.sides;
            let may_differ = first.counts(one) || second.counts(two);
            let may_change = !first.is_settled(one) || !second.is_settled(two);
            if may_differ && may_change {
                let reached = self.limits.reached(first.work() + second.work(), tree.len());
                if reached.is_some() {
                    return reached;
                }
                if tree.is_deepest(index) {
                    bound = Some(Bound::PathBytes);
                } else {
                    let named = first.named(one).chain(second.named(two));
                    self.alphabet.moves(mark, named, &mut moves);
                    for &(symbol, mark) in &moves {
                        let one = self.alphabet.step(0, first, one, symbol);
                        let two = self.alphabet.step(1, second, two, symbol);
                        tree.push(index, symbol, (one, two, mark));
                    }
                }
            }
            index += 1;
        }
        bound
    }

    /// Compares the verdicts on the path that ends here.
    fn judge(&mut self, (one, two): (State, State), tree: &Tree<Pair>, index: usize) {
        let allows = [self.sides[0].allows_at_end(one), self.sides[1].allows_at_end(two)];
        if allows[0] == allows[1] {
            return;
        }
        let found = &mut self.found[usize::from(allows[1])];
        if found.is_none() {
            *found = Some(self.alphabet.example(&tree.way_to(index)));
        }
    }
}
