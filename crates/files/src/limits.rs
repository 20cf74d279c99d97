//! Bounds of reading and writing files.

/// Bytes of a robots.txt file that show its kind, and for which memory is reserved: 64 KiB.
///
/// Source: our choice. Of 32,711 real files 99.8 % are shorter.
pub const FILE_READ_BYTES: usize = 64 * 1024;

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

/// Bytes of one record (line) of an input: 64 MiB.
///
/// Source: our choice. An input with a longer record is not a list of URLs, which is an error. A capture of
/// more than 1 MiB takes up to seven times its length in memory on each thread that reads one.
pub const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of an input per chunk of work: 1 MiB, or one longer record.
///
/// Source: our choice. About 16,000 URLs make the cost of a handover negligible, and the waiting
/// chunks stay small compared with the policies.
pub const CHUNK_BYTES: usize = 1024 * 1024;

/// Bytes per read of a stream, and of the compressed file that it decompresses: 128 KiB.
///
/// Source: our choice, twice the buffer of a Linux pipe.
pub const COMPRESSED_READ_BYTES: usize = 128 * 1024;

/// Bytes of lines that are made of an input in another form at once: 64 KiB.
///
/// Source: our choice; a stream copies them into its chunk.
pub const STAGE_READ_BYTES: usize = 64 * 1024;

/// Members of gzip in the buffer of an input whose begins are known: 65,536. Reading does not resume at later
/// ones after damage.
///
/// Source: our choice; 512 KiB. A buffer of 1 MiB has some hundred records of an archive.
pub const GZIP_MEMBERS_KNOWN_MAX: usize = 64 * 1024;

/// The base-2 logarithm of the largest zstd window in bytes: 128 MiB.
///
/// Source: the default of the zstd program. A larger window is an error, so that a small file
/// cannot take all memory.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Bytes of the dictionary in a zstd file: 16 MiB.
///
/// Source: our choice; dictionaries of archives have 100 KiB to 1 MiB. A longer one is an error.
pub const ZSTD_DICTIONARY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The base-2 logarithm of the largest zstd window of a body, in bytes: 8 MiB.
///
/// Source: RFC 9659, section 3.
pub const HTTP_ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Columns of a table (CSV, TSV): 16,384. A first row with more is an error.
///
/// Source: our choice, the columns of an Excel sheet. It bounds the memory for their names.
pub const TABLE_COLUMNS_MAX: usize = 16_384;

/// Bytes of a file of names of inputs (`@FILE`): 64 MiB. A longer file is an error.
///
/// Source: our choice. The paths of a month of Common Crawl are 13 MB.
pub const NAMES_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
