//! The codes of diagnostics: stable names for what can be wrong.

use std::fmt;

use super::catalogue::{self, Entry};
use crate::syntax::NoteKind;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Crawlers agree on the line, and it could be written better.
    Info,
    /// The line hardly does what it was written for, or not for all crawlers.
    Warning,
    /// The line, or the file, does not do what it was written for.
    Error,
}

impl Severity {
    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is wrong. The numbers are stable: one that is given up is not given to another.
///
/// Tens go by what is concerned: the file (000), a line (010), a group (020), a path pattern (030),
/// rules beside one another (040), other records (050).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
#[allow(missing_docs, reason = "the catalogue says what each code means")]
pub enum Code {
    ByteOrderMark = 1,
    WebPage = 2,
    BinaryFile = 3,
    FileTooLong = 4,
    MissingColon = 10,
    NoRecord = 11,
    MissingField = 12,
    MisspeltField = 13,
    UnknownField = 14,
    NulByte = 15,
    ControlCharacter = 16,
    LineTooLong = 17,
    RuleOutsideGroup = 20,
    BlankLineInGroup = 21,
    UserAgentsRunTogether = 22,
    GroupWithoutRules = 23,
    EmptyUserAgent = 24,
    VersionedUserAgent = 25,
    NoProductToken = 26,
    RepeatedUserAgent = 27,
    SeparateGroups = 28,
    EverythingDisallowed = 29,
    NeverMatchingPattern = 30,
    UrlAsPattern = 31,
    CommentInPattern = 32,
    DollarInsidePattern = 33,
    UnescapedCharacter = 34,
    LowerCaseEscape = 35,
    NeedlessEscape = 36,
    NeedlessStar = 37,
    EmptyPattern = 38,
    DuplicateRule = 40,
    ContradictingRules = 41,
    ShadowedRule = 42,
    DefeatedAllow = 43,
    RedundantRule = 44,
    NeedlessAllow = 45,
    RelativeSitemap = 50,
    CrawlDelay = 51,
    OddCrawlDelay = 52,
}

impl Code {
    /// The number behind `PC`.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// What the catalogue says about it.
    pub fn entry(self) -> &'static Entry {
        catalogue::entries()
            .find(|entry| entry.code == self)
            .expect("the catalogue has an entry for each code, as its test shows")
    }

    /// Its name, in lower case with hyphens.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// How much it matters.
    pub fn severity(self) -> Severity {
        self.entry().severity
    }

    /// The code that is written so (`PC012`, in any case) or has this name.
    ///
    /// ```
    /// use portcullis::lint::Code;
    ///
    /// assert_eq!(Code::parse("pc013"), Some(Code::MisspeltField));
    /// assert_eq!(Code::parse("misspelt-field"), Some(Code::MisspeltField));
    /// assert_eq!(Code::parse("PC999"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Code> {
        let is_it = |code: Code| code.to_string().eq_ignore_ascii_case(text) || code.name() == text;
        catalogue::entries().map(|entry| entry.code).find(|&code| is_it(code))
    }

    /// The code under which a note of the parser is reported. A note whose line can be wrong in
    /// several ways has the general code here, and its check a finer one.
    pub fn of_note(kind: NoteKind) -> Code {
        match kind {
            NoteKind::ByteOrderMark => Code::ByteOrderMark,
            NoteKind::NoColon | NoteKind::WhiteSpaceForColon => Code::MissingColon,
            NoteKind::NoField => Code::MissingField,
            NoteKind::UnknownField => Code::UnknownField,
            NoteKind::MisspeltField => Code::MisspeltField,
            NoteKind::RuleOutsideGroup => Code::RuleOutsideGroup,
            NoteKind::PatternNeverMatches => Code::NeverMatchingPattern,
            NoteKind::NulInLine => Code::NulByte,
            NoteKind::ControlInLine => Code::ControlCharacter,
            NoteKind::LineCut => Code::LineTooLong,
            NoteKind::FileCut => Code::FileTooLong,
            NoteKind::LooksLikeHtml => Code::WebPage,
            NoteKind::LooksBinary => Code::BinaryFile,
            NoteKind::LooksLikeJson => Code::WebPage,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PC{:03}", self.number())
    }
}
