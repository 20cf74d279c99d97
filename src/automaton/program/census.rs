//! What a program amounts to, without a path: how many nodes it has, and how much of a site it
//! leaves to whoever obeys it.
//!
//! Nodes stand end to end, so both are one pass over the words; a walk is not needed.

use super::super::{Detail, Outcome, Reach, StoredAutomaton};
use super::{Header, Target};

/// The octet that every path begins with.
const PATH_START: u8 = b'/';

/// Words of a program, read node by node.
struct Nodes<'w> {
    words: &'w [zerocopy::little_endian::U32],
    at: usize,
}

/// One node.
struct Node {
    header: Header,
    /// Its first word.
    at: usize,
    /// The word after its last.
    end: usize,
}

impl Node {
    /// Where its octets are packed.
    fn octets(&self) -> std::ops::Range<usize> {
        let arcs = self.at + 1 + self.header.shape();
        let start = if self.header.is_branch() { arcs } else { arcs + 1 };
        start..start + self.header.count().div_ceil(4)
    }

    /// Where its targets stand, that of the miss arc aside.
    fn targets(&self) -> std::ops::Range<usize> {
        match self.header.is_branch() {
            true => self.octets().end..self.end,
            false => self.octets().start - 1..self.octets().start,
        }
    }
}

impl Nodes<'_> {
    fn word(&self, index: usize) -> Option<u32> {
        self.words.get(index).map(|word| word.get())
    }

    /// The node that begins at `at`, if a whole one does.
    fn node(&self, at: usize) -> Option<Node> {
        let header = Header(self.word(at)?);
        let targets = if header.is_branch() { header.count() } else { 1 };
        let end = at + 1 + header.shape() + header.count().div_ceil(4) + targets;
        (header.shape() < 3 && end <= self.words.len()).then_some(Node { header, at, end })
    }

    /// The next node, nothing behind the last; an error where something else stands.
    fn next(&mut self) -> Result<Option<Node>, Broken> {
        if self.at == self.words.len() {
            return Ok(None);
        }
        let node = self.node(self.at).ok_or(Broken)?;
        self.at = node.end;
        Ok(Some(node))
    }

    /// Whether an outcome that disallows stands anywhere in `node`.
    fn disallows(&self, node: &Node) -> bool {
        let disallows = |word: u32| {
            let target = Target::from_word(word);
            target.0 & Target::FINAL != 0 && is_disallowed(target.stop_outcome())
        };
        let shape = node.header.shape();
        let at_end = (shape > 0).then(|| self.word(node.at + 1)).flatten();
        let miss = (shape > 1).then(|| self.word(node.at + 2)).flatten();
        at_end.is_some_and(|word| is_disallowed(Outcome(word)))
            || miss.is_some_and(disallows)
            || node.targets().filter_map(|slot| self.word(slot)).any(disallows)
    }
}

/// Something that no construction makes.
struct Broken;

fn is_disallowed(outcome: Outcome) -> bool {
    outcome != Outcome::NONE && !outcome.allows()
}

impl StoredAutomaton<'_> {
    /// The number of its nodes; nothing if it is broken. It costs a look at each.
    pub fn nodes(&self) -> Option<usize> {
        let mut nodes = Nodes { words: self.words, at: 0 };
        let mut count = 0;
        loop {
            match nodes.next() {
                Ok(Some(_)) => count += 1,
                Ok(None) => return Some(count),
                Err(Broken) => return None,
            }
        }
    }

    /// How much of a site it leaves to whoever obeys it, over all paths that begin with `/`;
    /// nothing if it is broken. It costs a look at each node at most.
    ///
    /// ```
    /// use portcullis::automaton::{Automaton, Limits, Outcome, Reach};
    /// use portcullis::pattern::PatternList;
    ///
    /// let reach = |pattern: &[u8], allows| {
    ///     let mut patterns = PatternList::new();
    ///     patterns.push(pattern, true);
    ///     let outcomes = vec![Outcome::new(1, allows)];
    ///     Automaton::new(patterns, outcomes, &Limits::default()).stored().unwrap().reach()
    /// };
    /// assert_eq!(reach(b"/", false), Some(Reach::Nothing));
    /// assert_eq!(reach(b"/a", false), Some(Reach::Part));
    /// assert_eq!(reach(b"/a", true), Some(Reach::Everything));
    /// ```
    pub fn reach(&self) -> Option<Reach> {
        if let Some(outcome) = self.settled_at_start()? {
            return Some(match is_disallowed(outcome) {
                true => Reach::Nothing,
                false => Reach::Everything,
            });
        }
        let mut nodes = Nodes { words: self.words, at: 0 };
        let mut found = false;
        loop {
            match nodes.next() {
                Ok(Some(node)) => found |= nodes.disallows(&node),
                Ok(None) => break,
                Err(Broken) => return None,
            }
        }
        Some(if found { Reach::Part } else { Reach::Everything })
    }

    /// The outcome whose verdict every path has that begins with `/`; nothing inside if they differ
    /// or may differ, and nothing at all if the automaton is broken.
    fn settled_at_start(&self) -> Option<Option<Outcome>> {
        let nodes = Nodes { words: self.words, at: 0 };
        let stops = Target::stops(Detail::Reason);
        let settled = |target: Target| (target.0 & stops != 0).then(|| target.stop_outcome());
        let start = Target::from_word(self.start);
        if let Some(outcome) = settled(start) {
            return Some(Some(outcome));
        }
        let node = nodes.node(start.index())?;
        let packed = node.octets();
        let octet = |index: usize| {
            let word = nodes.word(packed.start + index / 4)?;
            Some(word.to_le_bytes()[index % 4])
        };
        let first = (0..node.header.count()).find(|&index| octet(index) == Some(PATH_START));
        match first {
            Some(index) if node.header.is_branch() || node.header.count() == 1 => {
                let target = nodes.word(node.targets().start + index)?;
                Some(settled(Target::from_word(target)))
            }
            _ => Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::{Automaton, Limits};
    use crate::pattern::PatternList;

    /// Patterns, best first, each with whether it allows; and what they leave.
    const CASES: &[(&[(&str, bool)], Reach)] = &[
        (&[], Reach::Everything),
        (&[("/", false)], Reach::Nothing),
        (&[("*", false)], Reach::Nothing),
        (&[("/abc", false), ("/", false)], Reach::Nothing),
        (&[("/*.png$", false), ("/", false)], Reach::Nothing),
        (&[("/abc", true), ("/", false)], Reach::Part),
        (&[("/$", true), ("/", false)], Reach::Part),
        (&[("/a", false)], Reach::Part),
        (&[("*x", false)], Reach::Part),
        (&[("/a*b$", false)], Reach::Part),
        (&[("/$", false)], Reach::Part),
        (&[("/a", true), ("/b*c", true)], Reach::Everything),
        (&[("/", true), ("/", false)], Reach::Everything),
    ];

    fn automaton(patterns: &[(&str, bool)]) -> Automaton {
        let mut list = PatternList::new();
        patterns.iter().for_each(|(text, _)| list.push(text.as_bytes(), true));
        let outcomes = (1..).zip(patterns).map(|(at, &(_, allows))| Outcome::new(at, allows));
        Automaton::new(list, outcomes.collect(), &Limits::default())
    }

    #[test]
    fn how_much_is_left() {
        for (patterns, reach) in CASES {
            let automaton = automaton(patterns);
            assert_eq!(automaton.stored().unwrap().reach(), Some(*reach), "{patterns:?}");
        }
    }

    #[test]
    fn nodes_are_those_that_were_built() {
        for (patterns, _) in CASES {
            let automaton = automaton(patterns);
            assert_eq!(automaton.stored().unwrap().nodes(), Some(automaton.nodes()));
        }
    }

    #[test]
    fn a_broken_program_has_no_census() {
        let automaton = automaton(&[("/abc", true), ("/b*c", false), ("/", false)]);
        let whole = automaton.stored().unwrap();
        let cut = StoredAutomaton { words: &whole.words[..whole.words.len() - 1], ..whole };
        assert_eq!((cut.nodes(), cut.reach()), (None, None));
        let lost = StoredAutomaton { start: whole.words.len() as u32, ..whole };
        assert_eq!(lost.reach(), None);
    }
}
