//! Bounds of the Python package.

use std::time::Duration;

/// Rows of an Arrow array that one thread decides at a time: 65,536.
///
/// Source: our choice, some milliseconds of work. A longer array is decided in pieces of this size,
/// and the result has as many pieces.
pub const ARROW_PIECE_ROWS: usize = 65_536;

/// The time between two looks at Python's signals during a long call.
///
/// Source: our choice, what a person who types Ctrl-C does not notice.
pub const SIGNAL_PAUSE: Duration = Duration::from_millis(50);

/// Pieces of an Arrow array whose results are collected at a time: 64, about 4 million rows.
///
/// Source: our choice. It bounds the results that wait for a slower piece before them.
pub const ARROW_STRETCH_PIECES: usize = 64;

/// Agents whose rules are kept for one parsed file: 64. One more clears them, and they are compiled
/// again when they ask.
///
/// Source: our choice. It bounds memory where every request names another agent.
pub const AGENTS_KEPT_PER_FILE: usize = 64;

/// Questions of a classifier whose sessions are kept for later calls: 3.
///
/// Source: our choice. It bounds memory where calls ask for other labels each time. Loops over batches
/// ask one question or two.
pub const QUESTIONS_KEPT: usize = 3;
