//! Strings.
