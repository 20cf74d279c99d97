//! The five dialects as constants. Each lists only the fields that differ from its predecessor.
//!
//! A dagger (†) marks our own decision on a point that no document settles, with its reason.

use crate::decision::{PolicyState, Verdict};
use crate::dialect::{
    AccessOutcome, AccessRules, BlankLine, ByteOrderMark, CallerToken, ControlByte, DefaultName,
    Dialect, Escapes, Field, FieldMatch, FieldSpelling, FileToken, Freshness, GroupRules,
    IndexPage, LineRules, LongUnreachable, MissingColon, NamesAgent, NulByte, PathRules,
    Precedence, RobotsTxtUrl, SeveralGroups, TokenAlphabet, UnrootedPattern,
};
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
/// The server refuses the file, which closes the whole site in the older documents.
const FORBIDDEN: AccessOutcome = outcome(PolicyState::Unavailable, Verdict::Disallow);

const DAY_SECONDS: u32 = 24 * 60 * 60;

/// Fields of the 1994 text. Sitemap came later and has no effect on decisions, so every dialect
/// reads it. A static has one address, by which readers know it.
static FIELDS_1994: [FieldSpelling; 3] = [
    spelling("user-agent", Field::UserAgent),
    spelling("disallow", Field::Disallow),
    spelling("sitemap", Field::Sitemap),
];

static FIELDS: [FieldSpelling; 4] = [
    spelling("user-agent", Field::UserAgent),
    spelling("allow", Field::Allow),
    spelling("disallow", Field::Disallow),
    spelling("sitemap", Field::Sitemap),
];

/// google/robotstxt accepts frequent misspellings.
static FIELDS_GOOGLE: [FieldSpelling; 12] = [
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

/// The consensus of 1994: User-agent and Disallow, no wildcards.
///
/// Any matching Disallow decides, and the first in file order is reported. Since no rule can allow,
/// [`Precedence::FirstInFile`] has this effect.
pub const ORIGINAL_1994: Dialect = Dialect {
    name: "original1994",
    reading: 1,
    matching: 1,
    source: "A Standard for Robot Exclusion (consensus of 30 June 1994)",
    lines: LineRules {
        // † The text predates byte order marks. Losing the first line of a file that starts with
        // one could lose the group that disallows.
        byte_order_mark: ByteOrderMark::Whole,
        // † Values are compared byte by byte, so every byte is ordinary.
        nul: NulByte::Ordinary,
        control: ControlByte::Ordinary,
        white_space: b" \t",
        line_bytes_max: None,
        fields: &FIELDS_1994,
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
        // † A rate limit is a temporary failure.
        too_many_requests: DEFERRED,
        // † No other client error signals a restriction.
        other_client_error: UNAVAILABLE,
        server_error: DEFERRED,
        // † An unexplained response counts as a failure, not as a permission.
        other_status: DEFERRED,
        long_unreachable: LongUnreachable::Never,
        freshness: Freshness {
            default_seconds: 7 * DAY_SECONDS,
            no_cache_directives: true,
            expires_header: true,
            seconds_max: None,
        },
    },
};

/// M. Koster's RFC draft 1 of 15 November 1996: adds Allow; the first match in file order decides.
pub const KOSTER_1996: Dialect = Dialect {
    name: "koster1996",
    reading: 1,
    matching: 1,
    source: "M. Koster, A Method for Web Robots Control, draft 1 (15 November 1996)",
    lines: LineRules { fields: &FIELDS, ..ORIGINAL_1994.lines },
    groups: GroupRules {
        names_agent: NamesAgent::Equal,
        caller_token: CallerToken::Token(TokenAlphabet::Rfc1945),
        ..ORIGINAL_1994.groups
    },
    paths: PathRules { escapes: Escapes::Decoded, ..ORIGINAL_1994.paths },
    access: ORIGINAL_1994.access,
};

/// The Internet-Draft of 2019: longest match, `*`, `$`, access results.
pub const DRAFT_2019: Dialect = Dialect {
    name: "draft2019",
    reading: 1,
    matching: 1,
    source: "Robots Exclusion Protocol, Internet-Draft (2019)",
    groups: GroupRules { several_default: SeveralGroups::First, ..RFC_9309.groups },
    ..RFC_9309
};

/// RFC 9309 (September 2022).
pub const RFC_9309: Dialect = Dialect {
    name: "rfc9309",
    reading: 1,
    matching: 1,
    source: "RFC 9309, Robots Exclusion Protocol (September 2022)",
    lines: LineRules {
        // † The grammar of section 2.2 excludes NUL and other controls. But "crawlers MUST try to
        // parse each line" (section 2.3.1.5), and the product token before such a byte on a
        // user-agent line can be parsed.
        nul: NulByte::DropsLine,
        control: ControlByte::DropsLine,
        ..KOSTER_1996.lines
    },
    groups: GroupRules {
        blank_line: BlankLine::NoMeaning,
        // † Section 2.2.1 allows letters, '-' and '_' only, but `MJ12bot` and `360Spider` are real:
        // cut at the first digit, their groups would apply to no crawler.
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
        escapes: Escapes::Uri,
        ..KOSTER_1996.paths
    },
    access: AccessRules {
        too_many_redirects: UNAVAILABLE,
        forbidden: UNAVAILABLE,
        too_many_requests: UNAVAILABLE,
        server_error: UNREACHABLE,
        other_status: UNREACHABLE,
        long_unreachable: LongUnreachable::OnRequest,
        freshness: Freshness {
            default_seconds: DAY_SECONDS,
            expires_header: false,
            seconds_max: Some(DAY_SECONDS),
            ..KOSTER_1996.access.freshness
        },
        ..KOSTER_1996.access
    },
};

/// Google's page on robots.txt, and the behaviour of google/robotstxt.
pub const GOOGLE: Dialect = Dialect {
    name: "google",
    reading: 1,
    matching: 1,
    source: "How Google interprets the robots.txt specification; google/robotstxt",
    lines: LineRules {
        byte_order_mark: ByteOrderMark::WholeOrCut,
        nul: NulByte::CutsLine,
        control: ControlByte::Ordinary,
        white_space: b" \t\x0b\x0c",
        line_bytes_max: Some(GOOGLE_LINE_BYTES_MAX),
        fields: &FIELDS_GOOGLE,
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
            // On Google's page only max-age lengthens or shortens the time.
            no_cache_directives: false,
            seconds_max: None,
            ..RFC_9309.access.freshness
        },
        ..RFC_9309.access
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of what a dialect decides has to change one of its revisions, because sets are compiled by
    /// them. If only a name changed, the new number below is enough.
    #[test]
    fn a_change_of_decisions_changes_a_revision() {
        let expected = [
            (1, 1, 10_747_313_855_952_653_832),
            (1, 1, 6_789_337_962_107_763_472),
            (1, 1, 1_004_211_088_483_445_633),
            (1, 1, 3_576_069_914_212_448_919),
            (1, 1, 7_785_059_450_914_568_496),
        ];
        let found = Dialect::ALL.map(|dialect| {
            let Dialect { lines, groups, paths, access, .. } = dialect;
            let text = format!("{lines:?}{groups:?}{paths:?}{access:?}");
            // FNV-1a
            let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
            (dialect.reading, dialect.matching, hash)
        });
        assert_eq!(found, expected);
    }
}
