//! The allocator of the program, for tests that spend a quarter of their time in that of the C library.

#![cfg(feature = "cli")]

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
