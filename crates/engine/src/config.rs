//! What deciding may do.

use crate::limits::Limits;
use crate::vectors::Vectors;

/// What deciding may do, and with which vectors.
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
