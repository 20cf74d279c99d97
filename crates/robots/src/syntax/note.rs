//! Remarks on a file: what was odd, ignored or lost.
//!
//! A note never stops anything and never changes a decision; it is how parsing stays honest
//! without failing. Which notes a file gets depends on the dialect, as the meaning of its lines
//! does.

use std::fmt;

use super::Span;
use crate::kind::FileKind;
use portcullis_dialect::id::LineNumber;

/// A remark on one line or, for the kinds that say so, on the whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// What is remarked.
    pub kind: NoteKind,
    /// The line; the first one for a remark on the whole file.
    pub line: LineNumber,
    /// The bytes concerned: the line without its end, unless the kind says otherwise.
    pub span: Span,
}

/// What a note remarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum NoteKind {
    /// The file starts with a byte order mark, which was skipped. The span is the mark.
    ByteOrderMark = 0,
    /// The line has text but nothing that separates a field from a value; it was ignored.
    NoColon = 1,
    /// Nothing stands before the colon; the line was ignored.
    NoField = 2,
    /// White space was taken for the missing colon.
    WhiteSpaceForColon = 3,
    /// The field is none that the dialect knows, and no common extension; it decides nothing.
    UnknownField = 4,
    /// The field is a misspelling that the dialect accepts.
    MisspeltField = 5,
    /// The rule stands in no group; it was ignored.
    RuleOutsideGroup = 6,
    /// The rule's pattern can match no path. The span is the record.
    PatternNeverMatches = 7,
    /// The line has a NUL: by the dialect it was ignored, or what follows the NUL is lost. Of a
    /// user-agent line the value before it always counts.
    NulInLine = 8,
    /// The value has a control byte other than TAB; the line was ignored, or, if it is a user-agent
    /// line, the value ends there.
    ControlInLine = 9,
    /// The line is longer than the dialect reads; its end is lost.
    LineCut = 10,
    /// The file is longer than the limit. The span is what was ignored: from the limit, or from the
    /// start of the line that the limit cuts, to the end of the file.
    FileCut = 11,
    /// The file has no rule and looks like a page of HTML or XML. The span is the file.
    LooksLikeHtml = 12,
    /// The file has no rule and looks like no text at all. The span is the file.
    LooksBinary = 13,
    /// The file has no rule and looks like JSON. The span is the file.
    LooksLikeJson = 14,
}

impl NoteKind {
    /// Every kind, in the order of its number.
    pub const ALL: [NoteKind; 15] = [
        NoteKind::ByteOrderMark,
        NoteKind::NoColon,
        NoteKind::NoField,
        NoteKind::WhiteSpaceForColon,
        NoteKind::UnknownField,
        NoteKind::MisspeltField,
        NoteKind::RuleOutsideGroup,
        NoteKind::PatternNeverMatches,
        NoteKind::NulInLine,
        NoteKind::ControlInLine,
        NoteKind::LineCut,
        NoteKind::FileCut,
        NoteKind::LooksLikeHtml,
        NoteKind::LooksBinary,
        NoteKind::LooksLikeJson,
    ];

    /// What a file that does not look like robots.txt may look like.
    pub const APPEARANCES: [NoteKind; 3] =
        [NoteKind::LooksLikeHtml, NoteKind::LooksBinary, NoteKind::LooksLikeJson];

    /// The kind's name for machines, in lower case with hyphens.
    pub fn as_str(self) -> &'static str {
        match self {
            NoteKind::ByteOrderMark => "byte-order-mark",
            NoteKind::NoColon => "no-colon",
            NoteKind::NoField => "no-field",
            NoteKind::WhiteSpaceForColon => "white-space-for-colon",
            NoteKind::UnknownField => "unknown-field",
            NoteKind::MisspeltField => "misspelt-field",
            NoteKind::RuleOutsideGroup => "rule-outside-group",
            NoteKind::PatternNeverMatches => "pattern-never-matches",
            NoteKind::NulInLine => "nul-in-line",
            NoteKind::ControlInLine => "control-in-line",
            NoteKind::LineCut => "line-cut",
            NoteKind::FileCut => "file-cut",
            NoteKind::LooksLikeHtml => "looks-like-html",
            NoteKind::LooksBinary => "looks-binary",
            NoteKind::LooksLikeJson => "looks-like-json",
        }
    }

    /// A sentence for people: what is odd and how to fix it.
    pub fn describe(self) -> &'static str {
        match self {
            NoteKind::ByteOrderMark => "a byte order mark was skipped: save the file without it",
            NoteKind::NoColon => "no colon: write `field: value`; the line is ignored",
            NoteKind::NoField => "nothing stands before the colon; the line is ignored",
            NoteKind::WhiteSpaceForColon => "no colon: few crawlers take white space for it",
            NoteKind::UnknownField => "unknown field: it decides nothing",
            NoteKind::MisspeltField => "misspelt field: few crawlers accept it",
            NoteKind::RuleOutsideGroup => {
                "a rule without a user-agent line before it speaks to nobody"
            }
            NoteKind::PatternNeverMatches => {
                "the path pattern starts with neither '/' nor '*' and never matches"
            }
            NoteKind::NulInLine => "a NUL byte: the line, or what follows in it, is ignored",
            NoteKind::ControlInLine => {
                "a control character in the value: the line, or what follows in it, is ignored"
            }
            NoteKind::LineCut => "the line is too long: its end is ignored",
            NoteKind::FileCut => "the file is longer than the limit: its end is ignored",
            NoteKind::LooksLikeHtml => "this looks like a web page, not like robots.txt",
            NoteKind::LooksBinary => "this looks like binary data, not like robots.txt",
            NoteKind::LooksLikeJson => "this looks like JSON, not like robots.txt",
        }
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of kinds: the remarks on one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoteSet(u16);

impl NoteSet {
    /// No remark.
    pub const EMPTY: NoteSet = NoteSet(0);

    /// The set with `kind` in it.
    #[must_use]
    pub const fn with(self, kind: NoteKind) -> NoteSet {
        NoteSet(self.0 | 1 << kind as u8)
    }

    /// Whether there is no remark.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `kind` is in the set.
    pub const fn contains(self, kind: NoteKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// The set as a number, a bit for each kind; [`NoteSet::from_bits`] takes it back.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The set that `bits` stands for, if every bit is a kind's.
    pub fn from_bits(bits: u16) -> Option<NoteSet> {
        (u32::from(bits) >> NoteKind::ALL.len() == 0).then_some(NoteSet(bits))
    }

    /// The kinds in the set, in the order of their numbers.
    pub fn kinds(self) -> impl Iterator<Item = NoteKind> {
        NoteKind::ALL.into_iter().filter(move |&kind| self.contains(kind))
    }
}

/// What a file without any rule looks like, if it does not look like robots.txt.
///
/// Whether there is a rule is the caller's to know. One pass over the text.
pub fn appearance(text: &[u8]) -> Option<NoteKind> {
    /// One control byte in so many makes a file without NUL binary. A stray one (an end-of-file
    /// mark of DOS) does not; compressed data has about one in nine.
    const TEXT_BYTES_PER_CONTROL: usize = 32;
    match FileKind::of(text) {
        FileKind::Html => return Some(NoteKind::LooksLikeHtml),
        FileKind::Json | FileKind::Captures => return Some(NoteKind::LooksLikeJson),
        _ => {}
    }
    let controls = text.iter().filter(|&&byte| is_no_text(byte)).count();
    let binary = text.contains(&0) || controls * TEXT_BYTES_PER_CONTROL > text.len();
    binary.then_some(NoteKind::LooksBinary)
}

fn is_no_text(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'\r')
}
