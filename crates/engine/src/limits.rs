//! Bounds on the work and memory of deciding.

use portcullis_dialect::limits;

/// Bounds on the work and memory of deciding. A limit changes the step that answers, never the
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for all automata of a thread.
    pub automata_bytes_max: usize,
    /// Bytes and stars of the patterns of a rule set that may have a DFA; 0 for none, so that scans
    /// answer.
    pub dfa_pattern_bytes_max: usize,
    /// Bytes of paths asked of a rule set per byte of its patterns before a DFA is built.
    pub dfa_bytes_asked_min: u64,
    /// Entries of the prefilter's index read per path, and so patterns tried, before the automaton
    /// is asked. `None` disables the prefilter.
    pub candidates_tried_max: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            automata_bytes_max: limits::AUTOMATA_BYTES_MAX,
            dfa_pattern_bytes_max: limits::DFA_PATTERN_BYTES_MAX,
            dfa_bytes_asked_min: limits::DFA_BYTES_ASKED_MIN,
            candidates_tried_max: Some(limits::CANDIDATES_TRIED_MAX),
        }
    }
}
