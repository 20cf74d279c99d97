//! What is reported: a code at a place, what each dialect makes of it, and how to fix it.

use super::{Code, Severity};
use crate::dialect::Dialect;
use crate::id::LineNumber;
use crate::syntax::Span;

/// One thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub code: Code,
    /// What is wrong here, in one sentence without a full stop.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Other places that belong to it, in file order.
    pub related: Vec<Related>,
    /// What each dialect makes of it, in the order of [`Dialect::ALL`].
    pub effects: Vec<Effect>,
    /// How to fix it, if that can be written down as an edit.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// A stretch of bytes and where it stands for people.
///
/// Columns are counted from 1. An editor shows characters: those of UTF-8, where a byte that
/// belongs to none counts as one. Programs that cut the line want bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes in the file.
    pub span: Span,
    /// The line that the span starts in.
    pub line: LineNumber,
    /// That line in the file, without its end.
    pub line_span: Span,
    /// The column of the first byte, in characters.
    pub column: u32,
    /// The column after the last byte that stands in that line, in characters.
    pub end_column: u32,
    /// The column of the first byte, in bytes.
    pub byte_column: u32,
}

/// Another place, and what it has to do with the diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub place: Place,
    /// What is there.
    pub message: String,
}

/// What a dialect makes of a line or of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// What it makes of it.
    pub text: String,
}

/// An edit that fixes a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as one tells another to do it.
    pub title: String,
    /// Whether it may be done unasked.
    pub safety: Safety,
    /// What is replaced, in file order, without overlaps.
    pub edits: Vec<Edit>,
}

/// Whether an edit may be done unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safety {
    /// It is meant to change no verdict; [`fix`](super::fix) does it if that is proved.
    ToBeProved,
    /// It changes verdicts, to what was probably meant. Only the file's owner can tell.
    Suggestion,
}

impl Safety {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Safety::ToBeProved => "safe-if-proved",
            Safety::Suggestion => "suggestion",
        }
    }
}

/// Bytes to be replaced; an empty span is a place to insert at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What comes in its place.
    pub replacement: Vec<u8>,
}
