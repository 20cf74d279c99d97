//! Typed line numbers and rule numbers.
//!
//! Both wrap a `u32`: no file within the [`limits`](crate::limits) has more lines or rules, and
//! tables of them take half the memory of pointers.

use std::fmt;
use std::num::NonZeroU32;

/// A line of a robots.txt file, counted from 1. CR, LF and CRLF each end one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LineNumber(NonZeroU32);

impl LineNumber {
    /// The first line of a file.
    pub const FIRST: LineNumber = LineNumber(NonZeroU32::MIN);

    /// Returns the line with this number, or `None` for 0.
    pub fn new(number: u32) -> Option<LineNumber> {
        NonZeroU32::new(number).map(LineNumber)
    }

    /// Returns the number, at least 1.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// Returns the line after this one, saturating at `u32::MAX`.
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

/// A rule of one robots.txt file, counted from 0 in file order across all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RuleID(pub u32);

impl RuleID {
    /// Returns the position in a list of the file's rules.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
