//! Bounds on the work and memory of deciding, and with which vectors.

use crate::vectors::Vectors;

/// The limits and the vectors of decisions.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The limits.
    pub limits: Limits,
    /// The vectors; the widest of the processor by default.
    pub vectors: Vectors,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { limits: Limits::default(), vectors: Vectors::detect() }
    }
}

/// Bounds on the work and memory of deciding. A limit changes the step that answers, never the
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for all automata of a thread.
    pub automata_bytes_max: usize,
    /// Bytes and stars of the patterns of a rule set that may have a DFA; 0 for none, so that scans
    /// answer.
    pub dfa_pattern_bytes_max: usize,
    /// Bytes of paths queried of a rule set per byte of its patterns before a DFA is built.
    pub dfa_bytes_queried_min: u64,
    /// Entries of the prefilter's index read per path, and so patterns tried, before the automaton
    /// is queried. `None` disables the prefilter.
    pub candidates_tried_max: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            automata_bytes_max: AUTOMATA_BYTES_MAX,
            dfa_pattern_bytes_max: DFA_PATTERN_BYTES_MAX,
            dfa_bytes_queried_min: DFA_BYTES_QUERIED_MIN,
            candidates_tried_max: Some(CANDIDATES_TRIED_MAX),
        }
    }
}

/// Bytes of all automata of one thread: 64 MiB. Past it, all but the last used are cleared.
///
/// Source: our choice. With 32,711 real files, a list of 370,000 URLs needs less than 4 MiB; a
/// thousand hostile files share the budget.
pub const AUTOMATA_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes and stars of the patterns of a rule set that may have a lazy DFA: 16 KiB. A larger one is
/// scanned.
///
/// Source: measured. A state costs time and memory for each position that is alive, and building
/// the NFA some 60 bytes for each byte of the patterns. Of 9,350 real rule sets 83 are larger.
pub const DFA_PATTERN_BYTES_MAX: usize = 16 * 1024;

/// Bytes of a path, times the bytes and stars of the patterns, up to which a lazy DFA is queried: 512
/// Ki. A scan answers longer paths.
///
/// Source: our choice. Each byte of the path may need a transition that is not built, which visits
/// each position: at most about 1 ms by estimate, and calls of 37 ms were measured without it. Real
/// rule sets have some thousand positions, and 99 of 100 real paths fewer than 200 bytes.
pub const DFA_PATH_POSITIONS_MAX: usize = 512 * 1024;

/// Bytes of paths queried of a rule set, per byte of its patterns, before its lazy DFA is built.
///
/// Source: measured. Most rule sets that reach the automaton do so for a few paths, which a scan
/// answers sooner than a DFA is built.
pub const DFA_BYTES_QUERIED_MIN: u64 = 4;

/// Bytes of the states of one lazy DFA: 1 MiB. Past it they are cleared.
///
/// Source: our choice. Real rule sets need a tenth of it.
pub const DFA_CACHE_BYTES_MAX: usize = 1024 * 1024;

/// Clearings after which a lazy DFA has to give [`DFA_STATE_BYTES_MIN`] or give up.
///
/// Source: our choice; it bounds what a hostile rule set spends on states.
pub const DFA_CLEARINGS_MAX: usize = 2;

/// Bytes of paths searched per state built, below which a lazy DFA gives up.
///
/// Source: our choice, near the 10 that regex-automata's documentation suggests
/// (`minimum_bytes_per_state`).
pub const DFA_STATE_BYTES_MIN: usize = 8;

/// Patterns are tried one by one until the paths queried have one part in so many of their bytes.
///
/// Source: our choice. Preparing a scan costs as much as trying all patterns on some ten paths.
pub const SCAN_BYTES_QUERIED_PART: u64 = 8;

/// The factor by which the bytes queried grow before a DFA that gave up is built again.
///
/// Source: our choice. Attempts become rare, so they cost a share of all paths that shrinks.
pub const DFA_RETRY_FACTOR: u64 = 4;

/// Entries of the prefilter's index that are read per path before the automaton runs. Each may be a
/// candidate pattern, which costs at most one search over the path.
///
/// Source: measured; real rule sets have three or four candidates per path that passes the
/// prefilter, and one path in two thousand has more than these, or candidates of too many bytes.
pub const CANDIDATES_TRIED_MAX: usize = 64;

/// Bytes of a candidate pattern and the path that count as one more candidate: 128.
///
/// Source: our choice. Each literal of a pattern is a search, and a pattern of 2 KB can have a
/// thousand of them. Real patterns and most paths are shorter.
pub const CANDIDATE_BYTES: usize = 128;

/// Bytes of a literal that a scan searches together with the others: 4 KiB. A longer one is searched
/// for alone.
///
/// Source: our choice. A file of 500 KiB has at most 125 longer ones, and a search for each in a
/// path of 64 KiB takes some 15 ms, as long as comparing this many bytes at each of its positions.
pub const SEARCHED_BYTES_MAX: usize = 4 * 1024;
