//! Bounds of reading and writing files.

/// Bytes of the first read of a file in a folder: 64 KiB.
///
/// Source: our choice. Of 32,711 real files 99.8 % are shorter, and take a second read only to find
/// the end.
pub const FILE_READ_BYTES: usize = 64 * 1024;

/// Bytes of a table of captures or strings that is sorted in memory before it is written as a run: at
/// most 256 MiB, and a quarter of the memory of the compiler.
///
/// Source: measured. A larger table makes fewer runs and no less work: each is read once.
pub const SORT_RUN_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of one sequence that compiling keeps in memory before it writes them to a temporary file.
///
/// Source: our choice. A set has some 30 of them, and a write of this size costs as much per byte as
/// a larger one.
pub const SPOOL_BUFFER_BYTES: usize = 1024 * 1024;

/// Sorted runs in temporary files that are kept before all of them become one: 64.
///
/// Source: our choice. Each is an open file with a buffer; systems allow a process some hundreds. 64
/// million hosts are sorted without reading any twice.
pub const SORTED_RUNS_MAX: usize = 64;

/// The least memory of the compiler, in bytes; less counts as this much. Half of it is for tables.
///
/// Source: our choice. The buffers of some 30 sequences and of a merge take it. With smaller runs and
/// buffers, sorting and writing would take time that grows with the square of the input.
pub const COMPILE_MEMORY_MIN: usize = 64 * 1024 * 1024;
