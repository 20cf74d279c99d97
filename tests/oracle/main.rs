//! The engine and the analyses against the oracle: on all small inputs, and on random ones.
//!
//! `tests/suite` compares them on the cases of `tests/data`, and `tests/hostile` on expensive files.

mod analysis;
#[path = "../suite/case.rs"]
#[expect(dead_code, reason = "usage is asked about in usage.rs")]
mod case;
mod delay;
mod exhaustive;
mod generate;
mod history;
#[path = "../suite/paste.rs"]
mod paste;
mod random;
mod shrink;
mod status;
mod usage;

/// The allocator of the program: these tests spend a quarter of their time in that of the C library.
#[cfg(feature = "cli")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
