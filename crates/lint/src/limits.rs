//! Bounds of linting, of fixing and of questions about all paths.

/// Seconds of a crawl-delay above which the linter reports it: 1 hour.
///
/// Source: our choice. Such a crawler fetches two dozen pages a day.
pub const CRAWL_DELAY_SECONDS_MAX: f64 = 3600.0;

/// Comparisons of edited texts with the original when a file is fixed: 256.
///
/// Source: our choice. All edits at once take one comparison; bisection takes about two per step to
/// find a bad edit. Edits past the limit are skipped and reported.
pub const FIX_PROOFS_MAX: usize = 256;

/// The comparisons of a file that is fixed may together spend as much as so many analyses: 8. Each
/// may spend an eighth of what is left, so the first has the limits of an analysis. A usage record
/// that is compared for a crawler counts as a position. Once nothing is left, no further edit is
/// tried.
///
/// Source: our choice. Without it, a made-up file of 18 KB took 17 s, nearly all for comparisons that
/// reached their limit, and one of 4,000 crawlers and 4,000 usage records 76 s.
pub const FIX_ANALYSES: u64 = 8;

/// Findings of one code in one file that `lint` reports. The rest is counted, and every output
/// format reports the count.
///
/// Source: our choice. A hundred show the problem; a hostile file has 256,000 lines without a
/// colon, which made 124 MB of JSON.
pub const LINT_FINDINGS_PER_CODE_MAX: usize = 100;

/// Rules that `lint` compares in one file, counted once for each combination of groups that applies to
/// some crawler: 65,536. The groups of further combinations are not compared, and the report says so.
///
/// Source: measured; a rule takes six microseconds, so all take 0.4 s. The maximum of 32,711 real files is
/// about 50,000.
pub const LINT_RULES_MAX: usize = 64 * 1024;

/// Names of a file that are searched for the one that a crawler follows, where names occur in others: 1,024. About
/// a crawler that follows a later one, what it may do is not reported.
///
/// Source: our choice; no real file comes near.
pub const LINT_NAMES_MAX: usize = 1024;

/// Edits of one finding. A finding that would need more is reported without a fix.
///
/// Source: our choice. Real patterns need a dozen; a hostile one has an edit for every second byte.
pub const LINT_EDITS_PER_FINDING_MAX: usize = 1024;

/// Statements about usage that `lint` compares in one file, counted as [`LINT_RULES_MAX`] counts rules:
/// 262,144. Further combinations are not compared, and the report says so.
///
/// Source: our choice; no real file comes near.
pub const LINT_STATEMENTS_MAX: usize = 256 * 1024;

/// Positions read to compute how much of a site a rule set leaves, and how that relates to what another one
/// leaves, with a charge of eight a state and for each combination of states: 64 Ki.
///
/// Source: measured; few of 9,405 real rule sets get this far, and it is enough for nearly all.
pub const REACH_POSITIONS_MAX: u64 = 64 * 1024;

/// Patterns of a rule set that are tried as examples of disallowed and of allowed paths, before an
/// automaton computes how much it leaves.
///
/// Source: our choice. For nearly all of 32,711 real files the first one is enough.
pub const REACH_EXAMPLES_MAX: usize = 32;

/// Pattern positions visited by one analysis of rules: 16 Mi. An analysis that needs more returns no
/// answer, and says so. Other work, such as ordering rules, is charged at the
/// positions that take as long: eight for each state, and for each combination of states. All comparisons of
/// the rules of one file by `lint` share this limit, and all comparisons of a pair of files by `diff`: a file
/// can name thousands of crawlers, each with other rules.
///
/// Source: measured, see `crates/lint/src/analysis/mod.rs`; at most about 0.2 s and 200 MB.
pub const ANALYSIS_POSITIONS_MAX: u64 = 16 * 1024 * 1024;

/// Paths with another verdict that a comparison of two files finds for a crawler, after the shortest ones: 100.
///
/// Source: our choice; more lines are no report.
pub const DIFFERENT_PATHS_MAX: usize = 100;

/// Scans of a rule, for all crawlers of two files together, to find these paths: 16 Mi.
///
/// Source: our choice; about 0.1 s. Files with 1,000 rules each take 4 million for a crawler.
pub const DIFFERENT_PATH_SCANS_MAX: usize = 16 * 1024 * 1024;
