//! What a standard or a crawler does at each decision point, as plain data.
//!
//! A [`Dialect`] holds one value per point; parsing, grouping, normalisation, precedence and access
//! read those values, and no code asks which dialect it is serving. A new dialect is a new constant
//! in the presets and nothing else. Use [`Dialect::by_name`] to turn a name into one.
//!
//! | dialect | source |
//! |---|---|
//! | [`ORIGINAL_1994`] | the consensus of 1994: User-agent and Disallow only |
//! | [`KOSTER_1996`] | M. Koster, RFC draft 1 of 15 November 1996: adds Allow, first match decides |
//! | [`DRAFT_2019`] | Robots Exclusion Protocol, Internet-Draft of 2019: longest match, `*`, `$` |
//! | [`RFC_9309`] | RFC 9309 (2022), the default |
//! | [`GOOGLE`] | Google's page on robots.txt and the behaviour of google/robotstxt |
//!
//! ```
//! use portcullis_dialect::dialect::{Dialect, Precedence};
//!
//! let google = Dialect::by_name("google").unwrap();
//! assert_eq!(google.paths.precedence, Precedence::MostBytes);
//! ```

mod access;
mod clauses;
mod presets;

pub use access::{AccessOutcome, AccessRules, Freshness, LongUnreachable};
pub use clauses::Clauses;
pub use presets::{DRAFT_2019, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

/// One behaviour set. Every field is one row group of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name on the command line.
    pub name: &'static str,
    /// The document that it follows.
    pub source: &'static str,
    /// How bytes become lines and records.
    pub lines: LineRules,
    /// How records become groups, and which group speaks to an agent.
    pub groups: GroupRules,
    /// How rules match paths, and which of them decides.
    pub paths: PathRules,
    /// What the answer to GET /robots.txt means.
    pub access: AccessRules,
    /// Where the document says so, for explanations.
    pub clauses: Clauses,
}

impl Dialect {
    /// All dialects, the oldest first.
    pub const ALL: [&'static Dialect; 5] =
        [&ORIGINAL_1994, &KOSTER_1996, &DRAFT_2019, &RFC_9309, &GOOGLE];

    /// The dialect that the command line knows by `name`.
    pub fn by_name(name: &str) -> Option<&'static Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name == name)
    }
}

/// How bytes become lines, and lines become records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRules {
    /// What is skipped at the start of a file.
    pub byte_order_mark: ByteOrderMark,
    /// What a NUL does to its line, comments included.
    pub nul: NulByte,
    /// What another control byte (not TAB) does in a value.
    pub control: ControlByte,
    /// Bytes trimmed at the ends of lines, field names and values.
    pub white_space: &'static [u8],
    /// Bytes of a line that are kept, its end not counted.
    pub line_bytes_max: Option<usize>,
    /// The spellings of the field names that mean something.
    pub fields: &'static [FieldSpelling],
    /// How a field name is compared with those spellings, in any case.
    pub field_match: FieldMatch,
    /// What a line without a colon is.
    pub missing_colon: MissingColon,
}

/// What is skipped at the start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrderMark {
    /// A whole UTF-8 byte order mark (`EF BB BF`).
    Whole,
    /// As much of one as is there: `EF`, `EF BB` or `EF BB BF`.
    WholeOrCut,
}

/// What a NUL does to its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NulByte {
    /// It is a byte like any other.
    Ordinary,
    /// The line cannot be parsed: it is ignored and noted. Not so a user-agent line: its value ends
    /// at the NUL, because its rules would join the group before it if it were ignored.
    DropsLine,
    /// The line ends there; the rest of it is lost.
    CutsLine,
}

/// What a control byte other than NUL and TAB does in a value. DEL is none (RFC 9309, 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlByte {
    /// It is a byte like any other.
    Ordinary,
    /// The line is ignored and noted. Not so a user-agent line, as in [`NulByte::DropsLine`].
    DropsLine,
}

/// A field that means something to a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Names a robot, and starts or extends a group.
    UserAgent,
    /// A rule that allows.
    Allow,
    /// A rule that disallows.
    Disallow,
    /// The URL of a sitemap; decides nothing.
    Sitemap,
}

/// One spelling of a field name, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpelling {
    /// The spelling.
    pub text: &'static str,
    /// What it stands for.
    pub field: Field,
}

/// How a field name is compared with a spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldMatch {
    /// The name is the spelling.
    Whole,
    /// The name begins with the spelling. The first spelling of the list that fits is taken.
    Prefix,
}

/// What a line without a colon is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingColon {
    /// It is ignored and noted.
    Ignored,
    /// If the line is exactly two words, the white space (SP, TAB) between them is the colon.
    TwoWords,
}

/// How records become groups, and which group speaks to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRules {
    /// What a blank line does. A line with a comment alone is not blank.
    pub blank_line: BlankLine,
    /// What part of a user-agent value names the robot.
    pub file_token: FileToken,
    /// When that part names the caller's agent. Compared in any case; an empty one names nobody.
    pub names_agent: NamesAgent,
    /// How the default group is named.
    pub default_name: DefaultName,
    /// What happens when several groups name the agent.
    pub several_named: SeveralGroups,
    /// What happens when several groups are default groups.
    pub several_default: SeveralGroups,
    /// What a caller may ask about.
    pub caller_token: CallerToken,
}

/// What a blank line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlankLine {
    /// Nothing.
    NoMeaning,
    /// It ends the record; rules after it belong to nobody until the next user-agent line.
    EndsRecord,
}

/// What part of a user-agent value names the robot.
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
    /// `A-Z a-z 0-9 - _ .`: real names such as `MJ12bot` have digits.
    LettersAndDigits,
    /// A token of RFC 1945: any US-ASCII character but controls and `()<>@,;:\"/[]?={}` SP TAB.
    Rfc1945,
}

impl TokenAlphabet {
    /// Whether `byte` may stand in a token.
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

    /// The characters, for a message.
    pub fn describe(self) -> &'static str {
        match self {
            TokenAlphabet::Letters => "letters, '-' and '_'",
            TokenAlphabet::LettersAndDigits => "letters, digits, '-', '_' and '.'",
            TokenAlphabet::Rfc1945 => "the characters of an RFC 1945 token",
        }
    }
}

/// When the file's name for a robot names the caller's agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesAgent {
    /// It occurs in the agent's name.
    OccursInName,
    /// It equals the agent's name.
    Equal,
}

/// How the default group is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultName {
    /// `*` alone.
    Star,
    /// `*` alone, or followed by white space and anything.
    StarThenWhiteSpace,
}

/// What happens when several groups speak to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeveralGroups {
    /// The first in the file is obeyed.
    First,
    /// Their rules are obeyed as one group's.
    Merge,
}

/// What a caller may ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerToken {
    /// Any name that is not empty.
    AnyName,
    /// A product token of these characters.
    Token(TokenAlphabet),
}

/// How rules match paths, and which of them decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRules {
    /// Whether `*` and a final `$` are special; if not, they are literal.
    pub wildcards: bool,
    /// What a pattern is that starts with neither `/` nor `*`.
    pub unrooted: UnrootedPattern,
    /// Which of the rules that match decides.
    pub precedence: Precedence,
    /// Whether the URL of robots.txt itself is always allowed.
    pub robots_txt: RobotsTxtUrl,
    /// What `Allow: …/index.htm…` in the last segment means.
    pub index_page: IndexPage,
    /// The bytes after `://` at which what is compared begins: `/`, `?`, and what else may begin it
    /// within the authority, which ends at `/`, `?` or `#` in every dialect (RFC 3986, section 3.2).
    pub path_start: &'static [u8],
    /// The form that patterns and URLs are brought into before they are compared.
    pub escapes: Escapes,
}

/// What a pattern is that starts with neither `/` nor `*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnrootedPattern {
    /// `/` is put in front of it.
    SlashPrepended,
    /// It never matches, and is noted.
    NeverMatches,
}

/// Which of the rules that match decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// The first in file order.
    FirstInFile,
    /// The one with the most bytes in its normalised pattern, `*` and `$` counted; among equals
    /// Allow; among equals the first in file order.
    MostBytes,
}

/// Whether the URL of robots.txt itself is always allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsTxtUrl {
    /// It obeys the rules like any other.
    ObeysRules,
    /// It is always allowed.
    AlwaysAllowed,
}

/// What `Allow: …/index.htm…` in the last segment means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPage {
    /// Nothing special.
    NoMeaning,
    /// It also allows `…/$`, with that pattern's own length.
    AllowsDirectory,
}

/// The form that patterns and URLs are brought into before they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    /// As they stand, byte by byte.
    AsWritten,
    /// `%xx` is decoded; `%2f` stays, in upper case (Koster 1996, section 3.2.2).
    Decoded,
    /// The form of RFC 9309, section 2.2.2: bytes outside the URI characters are escaped, escapes
    /// of unreserved characters are decoded, other escapes get upper-case digits, and a literal `*`
    /// or `$` is `%2A` or `%24`.
    Uri,
    /// Non-ASCII bytes are escaped and escapes get upper-case digits; nothing is decoded.
    Google,
}
