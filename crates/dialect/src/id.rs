//! Small numbers that must not be taken for one another.
//!
//! Each wraps a `u32`: four thousand million rules, lines or states are more than any file within
//! [`limits`](crate::limits) can hold, and half the size of a pointer is half the memory.

use std::fmt;

/// A line of a robots.txt file, counted from 1. CR, LF and CRLF each end one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNumber(std::num::NonZeroU32);

impl LineNumber {
    /// The first line of a file.
    pub const FIRST: LineNumber = LineNumber(std::num::NonZeroU32::MIN);

    /// The line with this number, if it is at least 1.
    pub fn new(number: u32) -> Option<LineNumber> {
        std::num::NonZeroU32::new(number).map(LineNumber)
    }

    /// The number, at least 1.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// The line after this one; the last number there is stays itself.
    #[must_use]
    pub fn next(self) -> LineNumber {
        LineNumber(self.0.saturating_add(1))
    }
}

impl fmt::Display for LineNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A rule of one robots.txt file, counted from 0 in file order over all its groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleID(pub u32);

impl RuleID {
    /// The position in a list of the file's rules.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
