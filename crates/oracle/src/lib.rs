//! The whole protocol, naively.

pub mod oracle;
