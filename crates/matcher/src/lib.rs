//! Path patterns as one matcher.

pub mod automaton;
pub mod bytes;
pub mod escape;
pub mod pattern;
pub mod vectors;
