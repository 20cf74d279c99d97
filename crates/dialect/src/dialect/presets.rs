//! The five dialects. Each differs from its predecessor by the fields that it names.
//!
//! A dagger (†) marks a decision of ours that no document settles; the reason stands beside it.

use super::clauses;
use super::{
    AccessOutcome, AccessRules, BlankLine, ByteOrderMark, CallerToken, ControlByte, DefaultName,
    Dialect, Escapes, Field, FieldMatch, FieldSpelling, FileToken, Freshness, GroupRules,
    IndexPage, LineRules, LongUnreachable, MissingColon, NamesAgent, NulByte, PathRules,
    Precedence, RobotsTxtUrl, SeveralGroups, TokenAlphabet, UnrootedPattern,
};
use crate::decision::{PolicyState, Verdict};
use crate::limits::{GOOGLE_LINE_BYTES_MAX, REDIRECTS_MAX};

const fn spelling(text: &'static str, field: Field) -> FieldSpelling {
    FieldSpelling { text, field }
}

const fn outcome(state: PolicyState, verdict: Verdict) -> AccessOutcome {
    AccessOutcome { state, verdict }
}

const UNAVAILABLE: AccessOutcome = outcome(PolicyState::Unavailable, Verdict::Allow);
const UNREACHABLE: AccessOutcome = outcome(PolicyState::Unreachable, Verdict::Disallow);
const DEFERRED: AccessOutcome = outcome(PolicyState::Deferred, Verdict::Disallow);
/// The server keeps the file from us and, in the older documents, the site with it.
const FORBIDDEN: AccessOutcome = outcome(PolicyState::Unavailable, Verdict::Disallow);

const DAY_SECONDS: u32 = 24 * 60 * 60;

/// Fields that the 1994 text knows. Sitemap came later and decides nothing, so every dialect hands
/// it out.
const FIELDS_1994: &[FieldSpelling] = &[
    spelling("user-agent", Field::UserAgent),
    spelling("disallow", Field::Disallow),
    spelling("sitemap", Field::Sitemap),
];

const FIELDS: &[FieldSpelling] = &[
    spelling("user-agent", Field::UserAgent),
    spelling("allow", Field::Allow),
    spelling("disallow", Field::Disallow),
    spelling("sitemap", Field::Sitemap),
];

/// google/robotstxt accepts frequent misspellings.
const FIELDS_GOOGLE: &[FieldSpelling] = &[
    spelling("user-agent", Field::UserAgent),
    spelling("useragent", Field::UserAgent),
    spelling("user agent", Field::UserAgent),
    spelling("allow", Field::Allow),
    spelling("disallow", Field::Disallow),
    spelling("dissallow", Field::Disallow),
    spelling("dissalow", Field::Disallow),
    spelling("disalow", Field::Disallow),
    spelling("diasllow", Field::Disallow),
    spelling("disallaw", Field::Disallow),
    spelling("sitemap", Field::Sitemap),
    spelling("site-map", Field::Sitemap),
];

/// The consensus of 1994: User-agent and Disallow, no wildcard, any Disallow that matches.
///
/// Any Disallow that matches decides; where several do, the first in file order is reported, which
/// is what [`Precedence::FirstInFile`] gives when no rule can allow.
pub const ORIGINAL_1994: Dialect = Dialect {
    name: "original1994",
    source: "A Standard for Robot Exclusion (consensus of 30 June 1994)",
    lines: LineRules {
        // † The text is older than byte order marks; a file that starts with one means its first
        // line, and losing that line could lose the group that disallows.
        byte_order_mark: ByteOrderMark::Whole,
        // † Compared byte by byte, so every byte is ordinary.
        nul: NulByte::Ordinary,
        control: ControlByte::Ordinary,
        white_space: b" \t",
        line_bytes_max: None,
        fields: FIELDS_1994,
        field_match: FieldMatch::Whole,
        missing_colon: MissingColon::Ignored,
    },
    groups: GroupRules {
        blank_line: BlankLine::EndsRecord,
        file_token: FileToken::WholeValue,
        names_agent: NamesAgent::OccursInName,
        default_name: DefaultName::Star,
        several_named: SeveralGroups::First,
        several_default: SeveralGroups::First,
        caller_token: CallerToken::AnyName,
    },
    paths: PathRules {
        wildcards: false,
        unrooted: UnrootedPattern::SlashPrepended,
        precedence: Precedence::FirstInFile,
        robots_txt: RobotsTxtUrl::ObeysRules,
        index_page: IndexPage::NoMeaning,
        path_start: b"/?",
        escapes: Escapes::AsWritten,
    },
    access: AccessRules {
        redirects_max: REDIRECTS_MAX,
        // † No bound on redirects is given; a chain that leads nowhere is a temporary failure.
        too_many_redirects: DEFERRED,
        forbidden: FORBIDDEN,
        not_found: UNAVAILABLE,
        // † A server that asks for patience is a temporary failure.
        too_many_requests: DEFERRED,
        // † No other client error speaks of a restriction.
        other_client_error: UNAVAILABLE,
        server_error: DEFERRED,
        // † An answer that nothing explains is treated like a failure, not like a permission.
        other_status: DEFERRED,
        long_unreachable: LongUnreachable::Never,
        freshness: Freshness {
            default_seconds: 7 * DAY_SECONDS,
            no_cache_directives: true,
            expires_header: true,
            seconds_max: None,
        },
    },
    clauses: clauses::ORIGINAL_1994,
};

/// M. Koster's RFC draft 1 of 15 November 1996: adds Allow; the first match in file order decides.
pub const KOSTER_1996: Dialect = Dialect {
    name: "koster1996",
    source: "M. Koster, A Method for Web Robots Control, draft 1 (15 November 1996)",
    lines: LineRules { fields: FIELDS, ..ORIGINAL_1994.lines },
    groups: GroupRules {
        names_agent: NamesAgent::Equal,
        caller_token: CallerToken::Token(TokenAlphabet::Rfc1945),
        ..ORIGINAL_1994.groups
    },
    paths: PathRules { escapes: Escapes::Decoded, ..ORIGINAL_1994.paths },
    access: ORIGINAL_1994.access,
    clauses: clauses::KOSTER_1996,
};

/// The Internet-Draft of 2019: longest match, `*`, `$`, access results.
pub const DRAFT_2019: Dialect = Dialect {
    name: "draft2019",
    source: "Robots Exclusion Protocol, Internet-Draft (2019)",
    groups: GroupRules { several_default: SeveralGroups::First, ..RFC_9309.groups },
    clauses: clauses::DRAFT_2019,
    ..RFC_9309
};

/// RFC 9309 (September 2022).
pub const RFC_9309: Dialect = Dialect {
    name: "rfc9309",
    source: "RFC 9309, Robots Exclusion Protocol (September 2022)",
    lines: LineRules {
        // † Section 2.2 gives the bytes of a line, and NUL and the other controls are none. But
        // "crawlers MUST try to parse each line" (section 2.3.1.5), and of a user-agent line the
        // product token before such a byte can be parsed.
        nul: NulByte::DropsLine,
        control: ControlByte::DropsLine,
        ..KOSTER_1996.lines
    },
    groups: GroupRules {
        blank_line: BlankLine::NoMeaning,
        // † Section 2.2.1 has letters, '-' and '_' only; `MJ12bot` and `360Spider` are real, and
        // cutting a token at its first digit would give their groups to nobody.
        file_token: FileToken::Prefix(TokenAlphabet::LettersAndDigits),
        several_named: SeveralGroups::Merge,
        several_default: SeveralGroups::Merge,
        caller_token: CallerToken::Token(TokenAlphabet::LettersAndDigits),
        ..KOSTER_1996.groups
    },
    paths: PathRules {
        wildcards: true,
        unrooted: UnrootedPattern::NeverMatches,
        precedence: Precedence::MostBytes,
        robots_txt: RobotsTxtUrl::AlwaysAllowed,
        index_page: IndexPage::NoMeaning,
        path_start: b"/?",
        escapes: Escapes::Uri,
    },
    access: AccessRules {
        redirects_max: REDIRECTS_MAX,
        too_many_redirects: UNAVAILABLE,
        forbidden: UNAVAILABLE,
        not_found: UNAVAILABLE,
        too_many_requests: UNAVAILABLE,
        other_client_error: UNAVAILABLE,
        server_error: UNREACHABLE,
        other_status: UNREACHABLE,
        long_unreachable: LongUnreachable::OnRequest,
        freshness: Freshness {
            default_seconds: DAY_SECONDS,
            no_cache_directives: true,
            expires_header: false,
            seconds_max: Some(DAY_SECONDS),
        },
    },
    clauses: clauses::RFC_9309,
};

/// Google's page on robots.txt, and what google/robotstxt does.
pub const GOOGLE: Dialect = Dialect {
    name: "google",
    source: "How Google interprets the robots.txt specification; google/robotstxt",
    lines: LineRules {
        byte_order_mark: ByteOrderMark::WholeOrCut,
        nul: NulByte::CutsLine,
        control: ControlByte::Ordinary,
        white_space: b" \t\x0b\x0c",
        line_bytes_max: Some(GOOGLE_LINE_BYTES_MAX),
        fields: FIELDS_GOOGLE,
        field_match: FieldMatch::Prefix,
        missing_colon: MissingColon::TwoWords,
    },
    groups: GroupRules {
        file_token: FileToken::Prefix(TokenAlphabet::Letters),
        default_name: DefaultName::StarThenWhiteSpace,
        caller_token: CallerToken::Token(TokenAlphabet::Letters),
        ..RFC_9309.groups
    },
    paths: PathRules {
        robots_txt: RobotsTxtUrl::ObeysRules,
        index_page: IndexPage::AllowsDirectory,
        path_start: b"/?;",
        escapes: Escapes::Google,
        ..RFC_9309.paths
    },
    access: AccessRules {
        too_many_requests: UNREACHABLE,
        long_unreachable: LongUnreachable::LastGoodCopy,
        freshness: Freshness {
            default_seconds: DAY_SECONDS,
            // The page lets max-age alone lengthen or shorten the time.
            no_cache_directives: false,
            expires_header: false,
            seconds_max: None,
        },
        ..RFC_9309.access
    },
    clauses: clauses::GOOGLE,
};
