//! Bounds of compiling policy sets.

use portcullis_files::budget::Share;

/// Hash seeds that are tried for a set's host table. If each of them leaves a run that is too long,
/// the set cannot be compiled.
///
/// Source: our choice. One in thousands of the largest sets needs the second seed.
pub const SET_HOST_SEEDS_MAX: usize = 16;

/// Policies per batch when a set is compiled. One batch is planned while another is added.
///
/// Source: our choice. Each thread gets hundreds of them, so few threads wait for the last one.
pub const PLANNED_POLICIES_MAX: usize = 1_024;

/// Bytes per thread of the plans in one batch when a set is compiled: 32 MiB, or one policy. All threads
/// have a 16th of the memory of the compiler at most. As many bytes of files are read for plans at once, and
/// three batches are in memory: one is planned, one added, and the rule sets of one written.
///
/// Source: our choice; hundreds of usual files, or one or two hostile ones of 500 KiB.
pub const PLANS_PER_THREAD: Share = Share { parts: 16, bytes_max: 32 * 1024 * 1024 };

/// Bytes of compiled rules that are remembered so that equal groups are compiled once: 32 MiB, and an eighth
/// of the memory of the compiler.
///
/// Source: our choice. All rule sets of 32,711 real files have 12 MB. When they take more, all are forgotten,
/// and compiled again.
pub const COMPILED_RULES: Share = Share { parts: 8, bytes_max: 32 * 1024 * 1024 };

/// Broken records of one input that are listed; the rest is counted.
///
/// Source: our choice. Ten show the problem; a wrong file has millions.
pub const BROKEN_RECORDS_NAMED: usize = 10;

/// Bytes of what was parsed of bodies that are remembered so that equal bodies are parsed once: 32 MiB, and
/// an eighth of the memory of the compiler.
///
/// Source: our choice; some hundred for each distinct body. When they take more, all are forgotten, and later
/// bodies are parsed again.
pub const PARSED_BODIES: Share = Share { parts: 8, bytes_max: 32 * 1024 * 1024 };

/// Bytes of strings in which equal ones are found while a set is compiled, in each of two generations of
/// their table, with 16 for each: 4 MiB.
///
/// Source: our choice; the lines that many files share have some 1 MB. Part of the format, see
/// `crates/set/src/FORMAT.md`.
pub const STRING_GENERATION_BYTES: usize = 4 * 1024 * 1024;

/// Captures that are settled or compiled at once, in whole hosts: some 4,096, as their records have bytes.
///
/// Source: measured. They take some hundred bytes each, threads share that many well, and three times as
/// many are in memory: 16,384 took 30 MiB more and as long. A host with more is alone: 99,000 failures of each
/// of 24 hosts, which count for http and https, took some 130 MiB, 1.3 KiB each.
pub const CAPTURES_AT_ONCE: usize = 4 * 1024;

/// Bytes of the targets of redirects that are remembered for other origins: 4 MiB.
///
/// Source: our choice. They take some hundred bytes each. When they take more, all are forgotten; a read of a
/// block of captures finds one again.
pub const TARGETS_KNOWN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of the lines of files for each byte of their set: 256. A set whose files are longer
/// together, and longer than [`SET_TEXT_BYTES_FREE`], can neither be compiled nor read back.
///
/// Source: our choice. Equal lines are stored once, so a crafted set of few bytes could name a long
/// one millions of times. The lines of real files take some three times as many bytes as their set.
pub const SET_TEXT_BYTES_PER_BYTE: u64 = 256;

/// Bytes of the lines of files that any set may have: 256 MiB.
///
/// Source: our choice. Reading them takes a second.
pub const SET_TEXT_BYTES_FREE: u64 = 256 * 1024 * 1024;

/// Sets that are open at the same time while they are merged: 24.
///
/// Source: our choice. Each is an open file, and a process may have few. More sets are merged in several
/// steps, and their captures are in temporary files in between.
pub const SETS_AT_ONCE: usize = 24;

/// Captures of the log of a set that are read before they are taken, in whole hosts: 4,096.
///
/// Source: our choice. They take some hundred bytes each. A host with more is alone.
pub const CAPTURES_AHEAD_MAX: usize = 4_096;

/// Captures of a sorted source that are read at once while those before are taken: 1,024, in whole hosts.
///
/// Source: our choice. They take some hundred bytes each, and a thread reads them in a millisecond.
pub const CAPTURES_READ_AT_ONCE: usize = 1_024;

/// Bytes of the keys and records of captures that are read at once of a set or a sorted source: 1 MiB, or one
/// host.
///
/// Source: our choice. Usual ones have some hundred bytes; the URL of a redirect may have many thousand.
pub const KEY_BYTES_AHEAD_MAX: usize = 1024 * 1024;

/// Bytes of a mapped set that are read in order before the pages that this touched are released: 8 MiB. They
/// count as memory of the process.
///
/// Source: our choice. Releasing takes some microseconds.
pub const MAPPED_BYTES_PER_RELEASE: usize = 8 * 1024 * 1024;

/// Bytes that are read of all open sets before their pages are released: 32 MiB at most, and a 32nd of the memory of
/// the compiler.
///
/// Source: our choice. Mapped pages count as memory of the process too, and some times as many are mapped around
/// those that are read.
pub const MAPPED: Share = Share { parts: 32, bytes_max: 32 * 1024 * 1024 };

/// Files that are read of a set before the captures that have them are taken: 256.
///
/// Source: our choice. Reading one takes some 15 µs, and threads share that many well.
pub const FILES_AHEAD_MAX: usize = 256;

/// Bytes of the files that are read of all open sets before their captures are taken: 8 MiB. Others are read
/// when their captures are taken.
///
/// Source: our choice; [`FILES_AHEAD_MAX`] usual files of ten sets have some 4 MB.
pub const FILE_BYTES_AHEAD_MAX: usize = 8 * 1024 * 1024;
