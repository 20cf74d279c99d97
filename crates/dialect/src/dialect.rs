//! The behaviour of each standard or crawler at each decision point, as plain data.
//!
//! A [`Dialect`] holds one value per decision point. Parsing, grouping, normalisation, precedence
//! and access read these values; no code tests which dialect it serves. A new dialect is a new
//! constant in `presets.rs`. [`Dialect::by_name`] looks a dialect up by its command-line name.
//!
//! | dialect | source |
//! |---|---|
//! | [`ORIGINAL_1994`] | the consensus of 1994: User-agent and Disallow only |
//! | [`KOSTER_1996`] | M. Koster, RFC draft 1 of 15 November 1996: adds Allow, the first match decides |
//! | [`DRAFT_2019`] | Robots Exclusion Protocol, Internet-Draft of 2019: longest match, `*`, `$` |
//! | [`RFC_9309`] | RFC 9309 (2022), the default |
//! | [`GOOGLE`] | Google's page on robots.txt and the behaviour of google/robotstxt |

use crate::decision::{PolicyState, Verdict};

pub use crate::presets::{DRAFT_2019, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

/// One complete behaviour set: a standard's, or a crawler's.
///
/// Its other fields are data of the implementation, which may change in any release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// The name on the command line.
    pub name: &'static str,
    /// The revision of how files are read, stored in policy sets: the records of a set that was read by
    /// another revision do not fit its files. Raise it with every change of lines, records or
    /// access.
    #[doc(hidden)]
    pub reading: u32,
    /// The revision of how groups are selected and paths are matched, stored in policy sets: a set that was
    /// compiled by another revision has to be compiled again, from its captures. Raise it with every
    /// other change of an answer.
    #[doc(hidden)]
    pub matching: u32,
    /// The document that it follows.
    pub source: &'static str,
    /// How bytes become lines and records.
    #[doc(hidden)]
    pub lines: LineRules,
    /// How records become groups, and which groups apply to an agent.
    #[doc(hidden)]
    pub groups: GroupRules,
    /// How rules match paths, and which one decides.
    #[doc(hidden)]
    pub paths: PathRules,
    /// The meaning of the response to GET /robots.txt.
    #[doc(hidden)]
    pub access: AccessRules,
}

impl Dialect {
    /// All dialects, the oldest first.
    pub const ALL: [&'static Dialect; 5] =
        [&ORIGINAL_1994, &KOSTER_1996, &DRAFT_2019, &RFC_9309, &GOOGLE];

    /// Returns the dialect with this command-line name, or `None` if there is none.
    pub fn by_name(name: &str) -> Option<&'static Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name == name)
    }

    /// Returns how long a copy of robots.txt is fresh.
    pub const fn freshness(&self) -> &Freshness {
        &self.access.freshness
    }
}

/// How bytes become lines, and lines become records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRules {
    /// Bytes that are skipped at the start of a file.
    pub byte_order_mark: ByteOrderMark,
    /// The effect of a NUL on its line, even in a comment.
    pub nul: NulByte,
    /// The effect of another control byte (not TAB) in a value.
    pub control: ControlByte,
    /// Bytes trimmed from both ends of lines, field names and values.
    pub white_space: &'static [u8],
    /// The number of bytes of a line that are read, excluding the line end; `None` for all.
    pub line_bytes_max: Option<usize>,
    /// The spellings of the field names that the dialect knows.
    pub fields: &'static [FieldSpelling],
    /// How a field name is compared with these spellings, ignoring case.
    pub field_match: FieldMatch,
    /// How a line without a colon is read.
    pub missing_colon: MissingColon,
}

/// Bytes that are skipped at the start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrderMark {
    /// A whole UTF-8 byte order mark (`EF BB BF`).
    Whole,
    /// A whole or truncated one: `EF`, `EF BB` or `EF BB BF`.
    WholeOrCut,
}

/// The effect of a NUL on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NulByte {
    /// None: it is a byte like any other.
    Ordinary,
    /// The line is ignored, with a note. A user-agent line is kept and its value ends at the NUL;
    /// otherwise its rules would join the group before it.
    DropsLine,
    /// The line ends at the NUL.
    CutsLine,
}

/// The effect of a control byte other than NUL and TAB in a value. DEL does not count (RFC 9309,
/// section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlByte {
    /// None: it is a byte like any other.
    Ordinary,
    /// The line is ignored, with a note, unless it is a user-agent line: see
    /// [`NulByte::DropsLine`].
    DropsLine,
}

/// A field that a dialect knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// Names a crawler, and starts or extends a group.
    UserAgent,
    /// A rule that allows.
    Allow,
    /// A rule that disallows.
    Disallow,
    /// The URL of a sitemap; it has no effect on decisions.
    Sitemap,
    /// States what pages may be used for (IETF AIPREF); see [`usage`](crate::usage).
    ContentUsage,
    /// The same, with the keys of Cloudflare's Content Signals Policy.
    ContentSignal,
    /// The URI of a licence (RSL 1.0).
    License,
}

/// One spelling of a field name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpelling {
    /// The spelling, in lower case.
    pub text: &'static str,
    /// The field it stands for.
    pub field: Field,
}

/// How a field name is compared with a spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldMatch {
    /// The name equals the spelling.
    Whole,
    /// The name begins with the spelling. The first match in the list counts.
    Prefix,
}

/// How a line without a colon is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingColon {
    /// It is ignored, with a note.
    Ignored,
    /// If the line is exactly two words, the white space (SP, TAB) between them acts as the colon.
    TwoWords,
}

/// How records become groups, and which groups apply to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRules {
    /// The effect of a blank line. A line that holds only a comment is not blank.
    pub blank_line: BlankLine,
    /// The part of a user-agent value that names the crawler.
    pub file_token: FileToken,
    /// When that part names the caller's agent, ignoring case. An empty part names no agent.
    pub names_agent: NamesAgent,
    /// Which values name the default group.
    pub default_name: DefaultName,
    /// Which groups apply if several name the agent.
    pub several_named: SeveralGroups,
    /// Which groups apply if several are default groups.
    pub several_default: SeveralGroups,
    /// Which agents a caller may ask about.
    pub caller_token: CallerToken,
}

/// The effect of a blank line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlankLine {
    /// None.
    NoMeaning,
    /// It ends the record; rules after it belong to no group until the next user-agent line.
    EndsRecord,
}

/// The part of a user-agent value that names the crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileToken {
    /// All of it.
    WholeValue,
    /// Its longest prefix of these characters.
    Prefix(TokenAlphabet),
}

/// The characters of a product token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenAlphabet {
    /// `A-Z a-z - _` (RFC 9309, section 2.2.1).
    Letters,
    /// `A-Z a-z 0-9 - _ .`: real tokens such as `MJ12bot` have digits.
    LettersAndDigits,
    /// A token of RFC 1945: any US-ASCII character except controls and `()<>@,;:\"/[]?={}` SP TAB.
    Rfc1945,
}

impl TokenAlphabet {
    /// Returns whether a token may contain `byte`.
    #[inline]
    pub fn contains(self, byte: u8) -> bool {
        match self {
            TokenAlphabet::Letters => byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'),
            TokenAlphabet::LettersAndDigits => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
            }
            TokenAlphabet::Rfc1945 => {
                byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte)
            }
        }
    }

    /// Describes the characters, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            TokenAlphabet::Letters => "letters, '-' and '_'",
            TokenAlphabet::LettersAndDigits => "letters, digits, '-', '_' and '.'",
            TokenAlphabet::Rfc1945 => "the characters of an RFC 1945 token",
        }
    }
}

/// When the crawler name in a file names the caller's agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesAgent {
    /// It occurs anywhere in the agent's name.
    OccursInName,
    /// It equals the agent's name.
    Equal,
}

/// Which values name the default group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultName {
    /// `*` alone.
    Star,
    /// `*` alone, or followed by white space and any text.
    StarThenWhiteSpace,
}

/// Which groups apply if several qualify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeveralGroups {
    /// Only the first in the file.
    First,
    /// All of them, as if they were one group.
    Merge,
}

/// Which agents a caller may ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerToken {
    /// Any name that is not empty.
    AnyName,
    /// A product token of these characters.
    Token(TokenAlphabet),
}

/// How rules match paths, and which one decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRules {
    /// Whether `*` and a final `$` are special; otherwise they are literal.
    pub wildcards: bool,
    /// How a pattern that starts with neither `/` nor `*` is read.
    pub unrooted: UnrootedPattern,
    /// Which of the matching rules decides.
    pub precedence: Precedence,
    /// Whether the URL of robots.txt itself is always allowed.
    pub robots_txt: RobotsTxtUrl,
    /// The meaning of `Allow: …/index.htm…` in the last segment.
    pub index_page: IndexPage,
    /// The bytes after `://` that begin the compared path: `/`, `?`, and any that may begin it
    /// within the authority. The authority ends at `/`, `?` or `#` in every dialect (RFC 3986,
    /// section 3.2).
    pub path_start: &'static [u8],
    /// The normal form in which patterns and URLs are compared.
    pub escapes: Escapes,
}

/// The path of robots.txt files, compared byte by byte (RFC 9309, section 2.3).
pub const ROBOTS_TXT_PATH: &[u8] = b"/robots.txt";

impl PathRules {
    /// Returns whether every agent may fetch `path`, in its normal form, whatever the rules say.
    #[inline]
    pub fn always_allows(&self, path: &[u8]) -> bool {
        path == ROBOTS_TXT_PATH && self.robots_txt == RobotsTxtUrl::AlwaysAllowed
    }
}

/// How a pattern that starts with neither `/` nor `*` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnrootedPattern {
    /// `/` is prepended.
    SlashPrepended,
    /// It never matches, and gets a note.
    NeverMatches,
}

/// Which of the matching rules decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// The first in file order.
    FirstInFile,
    /// The one with the most bytes in its normalised pattern, counting `*` and `$`; then Allow
    /// before Disallow; then the first in file order.
    MostBytes,
}

/// Whether the URL of robots.txt itself is always allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsTxtUrl {
    /// No: rules apply to it like to any other URL.
    ObeysRules,
    /// Yes, it is always allowed.
    AlwaysAllowed,
}

/// The meaning of `Allow: …/index.htm…` in the last segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPage {
    /// Nothing special.
    NoMeaning,
    /// It also allows `…/$`, with the length of that pattern.
    AllowsDirectory,
}

/// The normal form in which patterns and URLs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// As written, byte by byte.
    AsWritten,
    /// `%xx` is decoded, except that `%2f` becomes `%2F` (Koster 1996, section 3.2.2).
    Decoded,
    /// The form of RFC 9309, section 2.2.2: bytes outside the URI characters are escaped, escapes
    /// of unreserved characters are decoded, other escapes get upper-case digits, and a literal `*`
    /// or `$` is `%2A` or `%24`.
    Uri,
    /// Non-ASCII bytes are escaped and escapes get upper-case digits; nothing is decoded.
    Google,
}

/// The meaning of the response to GET /robots.txt (RFC 9309, section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRules {
    /// The number of redirects that are followed.
    pub redirects_max: u8,
    /// The outcome of more redirects than that.
    pub too_many_redirects: AccessOutcome,
    /// The outcome of 401 and 403.
    pub forbidden: AccessOutcome,
    /// The outcome of 404 and 410.
    pub not_found: AccessOutcome,
    /// The outcome of 429.
    pub too_many_requests: AccessOutcome,
    /// The outcome of any other 4xx.
    pub other_client_error: AccessOutcome,
    /// The outcome of 5xx, no response, a network or DNS error, or a broken body.
    pub server_error: AccessOutcome,
    /// The outcome of any other status.
    pub other_status: AccessOutcome,
    /// The change after 30 days of unreachability.
    pub long_unreachable: LongUnreachable,
    /// How long a copy stays fresh.
    pub freshness: Freshness,
}

/// The state of a policy without a file, and the verdict on all URLs in that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessOutcome {
    /// The state.
    pub state: PolicyState,
    /// The verdict on every URL of the origin.
    pub verdict: Verdict,
}

/// The change after 30 days of unreachability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongUnreachable {
    /// Nothing: the dialect has no such rule.
    Never,
    /// The caller chooses: nothing, unavailable, or the last good copy.
    OnRequest,
    /// The last good copy applies if there is one, otherwise everything is allowed.
    LastGoodCopy,
}

/// How long a copy stays fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Seconds, unless headers set another time.
    pub default_seconds: u32,
    /// Whether `no-cache` and `no-store` of `Cache-Control` expire the copy at once.
    pub no_cache_directives: bool,
    /// Whether `Expires` counts as well as `Cache-Control`.
    pub expires_header: bool,
    /// The most seconds that headers can set; `None` if the dialect has no ceiling.
    pub seconds_max: Option<u32>,
}
