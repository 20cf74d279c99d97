//! The engine and the analyses against the oracle: on all small inputs, and on random ones.
//!
//! `tests/suite` compares them on the cases of `tests/data`, and `tests/hostile` on expensive files.

mod analysis;
mod delay;
mod exhaustive;
mod generate;
mod history;
mod random;
mod shrink;
mod status;
mod usage;

/// The allocator of the program: these tests spend a quarter of their time in that of the C library.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
