//! The codes of diagnostics: for each, its number, its name and how serious it is.

use std::fmt;

use portcullis_dialect::words;

words! {
    /// How serious a diagnostic is.
    pub enum Severity {
        /// Crawlers agree on the line, but it could be written better.
        Info => "info",
        /// The line probably does not have the intended effect, or not for all crawlers.
        Warning => "warning",
        /// The line, or the file, does not have the intended effect.
        Error => "error",
    }
}

/// Defines [`Code`] by a table.
macro_rules! codes {
    ($($value:ident = $number:literal, $name:literal, $severity:ident;)+) => {
        /// A problem by its number, which is stable: the number of a removed problem is not used again.
        ///
        /// The tens stand for the subject: the file (000), a line (010), a group (020), a path
        /// pattern (030), several rules (040), other records (050), usage preferences (060).
        /// `portcullis lint --describe` explains each code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[allow(missing_docs, reason = "the names say it, and the program explains each code")]
        pub enum Code {
            $($value = $number,)+
        }

        impl Code {
            /// All codes, ascending.
            pub const ALL: [Code; [$($number),+].len()] = [$(Code::$value),+];

            /// Returns the name in lower case with hyphens.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$value => $name,)+
                }
            }

            /// Returns the severity.
            pub fn severity(self) -> Severity {
                match self {
                    $(Code::$value => Severity::$severity,)+
                }
            }
        }
    };
}

impl Code {
    /// Whether nobody knows for which crawlers or paths the line is meant: its correction has no edit that could be
    /// proved together with others.
    pub(crate) fn is_unclear(self) -> bool {
        use Code::{
            EmptyUserAgent, JoinedRecords, NoProductToken, NotUtf8, UsageSplitsGroup,
            UserAgentsRunTogether,
        };
        matches!(
            self,
            JoinedRecords
                | NotUtf8
                | UserAgentsRunTogether
                | EmptyUserAgent
                | NoProductToken
                | UsageSplitsGroup
        )
    }
}

codes! {
    ByteOrderMark = 1, "byte-order-mark", Info;
    WebPage = 2, "web-page", Error;
    BinaryFile = 3, "binary-file", Error;
    FileTooLong = 4, "file-too-long", Error;
    JoinedRecords = 5, "joined-records", Error;
    MissingColon = 10, "missing-colon", Error;
    NoRecord = 11, "no-record", Warning;
    MissingField = 12, "missing-field", Warning;
    MisspeltField = 13, "misspelt-field", Error;
    UnknownField = 14, "unknown-field", Warning;
    NulByte = 15, "nul-byte", Error;
    ControlCharacter = 16, "control-character", Error;
    LineTooLong = 17, "line-too-long", Warning;
    NotUtf8 = 18, "not-utf-8", Warning;
    MisspeltCrawler = 19, "misspelt-crawler", Warning;
    RuleOutsideGroup = 20, "rule-outside-group", Error;
    BlankLineInGroup = 21, "blank-line-in-group", Info;
    UserAgentsRunTogether = 22, "user-agents-run-together", Warning;
    GroupWithoutRules = 23, "group-without-rules", Warning;
    EmptyUserAgent = 24, "empty-user-agent", Error;
    VersionedUserAgent = 25, "versioned-user-agent", Warning;
    NoProductToken = 26, "no-product-token", Warning;
    RepeatedUserAgent = 27, "repeated-user-agent", Info;
    SeparateGroups = 28, "separate-groups", Warning;
    EverythingDisallowed = 29, "everything-disallowed", Warning;
    NeverMatchingPattern = 30, "never-matching-pattern", Error;
    UrlAsPattern = 31, "url-as-pattern", Error;
    CommentInPattern = 32, "comment-in-pattern", Warning;
    DollarInsidePattern = 33, "dollar-inside-pattern", Warning;
    UnescapedCharacter = 34, "unescaped-character", Info;
    NeedlessStar = 37, "needless-star", Info;
    EmptyPattern = 38, "empty-pattern", Info;
    SeveralPaths = 39, "several-paths", Warning;
    DuplicateRule = 40, "duplicate-rule", Info;
    ContradictingRules = 41, "contradicting-rules", Warning;
    ShadowedRule = 42, "shadowed-rule", Info;
    DefeatedAllow = 43, "defeated-allow", Warning;
    RulesNotInherited = 44, "rules-not-inherited", Info;
    RelativeSitemap = 50, "relative-sitemap", Error;
    CrawlDelay = 51, "crawl-delay", Info;
    OddCrawlDelay = 52, "odd-crawl-delay", Warning;
    Noindex = 53, "noindex", Warning;
    UnreadableUsage = 60, "unreadable-usage", Error;
    OddPreference = 61, "odd-preference", Error;
    RetiredLabel = 62, "retired-label", Warning;
    UsageOutsideGroup = 63, "usage-outside-group", Error;
    UsageSplitsGroup = 64, "usage-splits-group", Warning;
    UsageNotInherited = 65, "usage-not-inherited", Warning;
    ConflictingPreferences = 66, "conflicting-preferences", Warning;
    RelativeLicense = 67, "relative-license", Error;
}

impl Code {
    /// Returns the code with this number (`PC012`, in any case) or this name.
    ///
    /// ```
    /// use portcullis_lint::Code;
    ///
    /// assert_eq!(Code::parse("pc013"), Some(Code::MisspeltField));
    /// assert_eq!(Code::parse("misspelt-field"), Some(Code::MisspeltField));
    /// assert_eq!(Code::parse("PC999"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Code> {
        let is_it =
            |code: &Code| code.to_string().eq_ignore_ascii_case(text) || code.name() == text;
        Code::ALL.into_iter().find(is_it)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PC{:03}", *self as u16)
    }
}
