//! A rule set as one artefact of bytes: patterns in order of precedence, with the filter before
//! them.
//!
//! A rule set is a whole number of 64-byte [lines](Line), the size of a cache line:
//!
//! | part | contents | read |
//! |---|---|---|
//! | filter | the head, Bloom filters, byte triples and the index | for every path |
//! | table | the number of patterns; for each, where its text begins and whether it allows | for candidates |
//! | texts | the patterns, one after another, as a [`PatternList`] has them | for candidates |
//!
//! [`RuleSetBuf::new`] builds the bytes from patterns, [`RuleSet::from_bytes`] checks bytes from
//! anywhere, and [`RuleSet::decide`] answers queries from them in place. Equal patterns
//! with equal verdicts give equal bytes, so a store can find equal rule sets by their bytes.
//!
//! **Cost.** Building takes some 60 ns per pattern. Checking reads the length of each text;
//! afterwards [`RuleSet::view`] reads the head only. Memory: the texts and about 18 bytes per pattern, at
//! least two lines.
//!
//! **Errors.** [`RuleSet::from_bytes`] accepts what can be read without going out of bounds, so nothing
//! after it can fail. It does not compare the filter with the patterns. A view of bytes that change afterwards, such as a truncated mapping, gives wrong
//! answers but reads nothing out of bounds.
//!
//! ```
//! use portcullis_engine::pattern::PatternList;
//! use portcullis_engine::{RuleSet, RuleSetBuf};
//!
//! let mut patterns = PatternList::new();
//! patterns.push(b"/private/*.png", true);
//! let stored = RuleSetBuf::new(&patterns, |_| false);
//! let rules = RuleSet::from_bytes(stored.as_bytes()).unwrap();
//! assert_eq!(rules.len(), 1);
//! assert!(RuleSet::from_bytes(&stored.as_bytes()[64..]).is_err());
//! ```

use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromBytes, IntoBytes};

use crate::bytes::Line;
use crate::filter::{self, Filter};
use crate::outcome::Outcome;
use crate::pattern::{Pattern, PatternList, end_of, ends_in_star, read_pattern};

/// A rule set, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSetBuf {
    lines: Vec<Line>,
}

/// A rule set, viewed in place.
#[derive(Clone, Copy)]
pub struct RuleSet<'a> {
    pub(crate) filter: Filter<'a>,
    table: &'a [U32],
    texts: &'a [U16],
}

/// Bytes that are no rule set: what is wrong with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedRuleSet(pub &'static str);

impl RuleSetBuf {
    /// Builds the rule set of patterns in order of precedence. `allows` says what each decides, by its
    /// index.
    ///
    /// # Panics
    ///
    /// If the patterns have 4 GiB or more.
    pub fn new(patterns: &PatternList, allows: impl Fn(usize) -> bool) -> RuleSetBuf {
        let (texts, starts) = patterns.units();
        let count = u32::try_from(patterns.len()).expect("patterns have fewer than 4 GiB");
        let mut table = Vec::with_capacity(1 + patterns.len());
        table.push(U32::new(count));
        let words = starts.iter().enumerate();
        table.extend(words.map(|(it, start)| U32::new(start << 1 | u32::from(allows(it)))));
        let tail = [table.as_bytes(), texts.as_bytes()];
        RuleSetBuf { lines: filter::build(patterns, allows, tail) }
    }

    /// Returns the rule set.
    #[inline]
    pub fn as_rule_set(&self) -> RuleSet<'_> {
        RuleSet::view(&self.lines).expect("a rule set that was built or checked")
    }

    /// Returns the lines.
    pub fn as_lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.lines.as_bytes()
    }
}

impl<'a> RuleSet<'a> {
    /// Checks the bytes of a rule set and views them.
    ///
    /// # Errors
    ///
    /// If the length is not a multiple of 64 bytes, a part is not where the others end or points out of
    /// bounds, the filter names a pattern that does not exist, or a pattern ends in a star. Whether the
    /// filter is that of the patterns is not checked: building it again is the only way to know.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<RuleSet<'a>, MalformedRuleSet> {
        let lines = <[Line]>::ref_from_bytes(bytes);
        RuleSet::from_lines(
            lines.map_err(|_| MalformedRuleSet("its length is not a multiple of 64 bytes"))?,
        )
    }

    /// Checks the lines of a rule set and views them; see [`RuleSet::from_bytes`].
    ///
    /// # Errors
    ///
    /// As [`RuleSet::from_bytes`].
    pub fn from_lines(lines: &'a [Line]) -> Result<RuleSet<'a>, MalformedRuleSet> {
        let malformed = MalformedRuleSet("its parts are longer than its bytes");
        let rules = RuleSet::view(lines).ok_or(malformed)?;
        if !rules.filter.is_valid(rules.len()) {
            return Err(MalformedRuleSet("its filter names a pattern that does not exist"));
        }
        // The end of a pattern is not used before all were read, so that the processor reads several at
        // once.
        let (mut at, mut apart) = (0, 0);
        for word in rules.table {
            let start = (word.get() >> 1) as usize;
            apart |= start ^ at;
            let end = end_of(rules.texts, start);
            let end = end.ok_or(MalformedRuleSet("a pattern is longer than the rule set"))?;
            if ends_in_star(rules.texts, start, end) {
                return Err(MalformedRuleSet("a pattern ends in a star, which is never stored"));
            }
            at = end;
        }
        if apart != 0 {
            return Err(MalformedRuleSet("a pattern does not begin after the one before it"));
        }
        let rest = &rules.texts[at..];
        if rest.len() >= size_of::<Line>() / size_of::<U16>() || rest.iter().any(|unit| *unit != 0)
        {
            return Err(MalformedRuleSet("bytes follow its patterns"));
        }
        Ok(rules)
    }

    /// Views the rule set at the start of lines that [`RuleSet::from_lines`] has accepted; other
    /// rule sets may follow it. `None` if the lines are too short.
    #[inline]
    pub fn view(lines: &'a [Line]) -> Option<RuleSet<'a>> {
        let (filter, rest) = Filter::of(lines)?;
        let (count, rest) = rest.split_first()?;
        let (table, texts) = rest.split_at_checked(count.get() as usize)?;
        let texts = <[U16]>::ref_from_bytes(texts.as_bytes()).ok()?;
        Some(RuleSet { filter, table, texts })
    }

    /// Returns the lines from its first on.
    #[inline]
    pub(crate) fn lines(&self) -> &'a [Line] {
        self.filter.lines
    }

    /// Returns the number of patterns.
    #[inline]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether there is no pattern, so that every path is allowed.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns its size, to the end of the lines that it was viewed in.
    pub fn bytes(&self) -> usize {
        size_of_val(self.lines())
    }

    /// Returns the outcome and the pattern at `index`; `None` if there is none.
    #[inline]
    pub fn get(&self, index: usize) -> Option<(Outcome, Pattern<'a>)> {
        let word = self.table.get(index)?.get();
        let number = u32::try_from(index + 1).ok().filter(|&it| it <= Outcome::NUMBER_MAX)?;
        let (pattern, _) = read_pattern(self.texts, (word >> 1) as usize)?;
        Some((Outcome::new(number, word & 1 != 0), pattern))
    }

    /// Returns the outcome of the pattern at `index`; [`Outcome::LOST`] if it is gone.
    #[inline]
    pub(crate) fn outcome(&self, index: Option<usize>) -> Outcome {
        let outcome = |index| self.get(index).map_or(Outcome::LOST, |(outcome, _)| outcome);
        index.map_or(Outcome::NONE, outcome)
    }

    /// Tries the patterns one by one, and returns the index of the first that matches.
    pub(crate) fn first_match(&self, path: &[u8]) -> Option<usize> {
        let mut next = 0;
        (0..self.len()).find(|_| {
            let Some((pattern, end)) = read_pattern(self.texts, next) else { return false };
            next = end;
            pattern.matches(path)
        })
    }

    /// Returns the size of the patterns, in bytes.
    pub(crate) fn pattern_bytes(&self) -> usize {
        let last = self.table.last().map(|word| (word.get() >> 1) as usize);
        let end = last.and_then(|last| end_of(self.texts, last));
        end.unwrap_or(0) * size_of::<U16>()
    }

    /// Iterates over the patterns in order of precedence, with their outcomes.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (Outcome, Pattern<'a>)> + Clone + use<'a> {
        let rules = *self;
        (0..rules.len()).map_while(move |index| rules.get(index))
    }
}
