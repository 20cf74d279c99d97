//! Bounds of reading archives.

/// Bytes of the header fields of a WARC record or an HTTP response: 64 KiB.
///
/// Source: our choice; browsers and servers accept 8 to 256 KiB. A record with more is broken.
pub const HEADER_BLOCK_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a WARC record in memory, including its header: 64 MiB.
///
/// Source: our choice, the length of the longest body. A longer robots.txt record is broken.
pub const WARC_RECORD_BYTES_MAX: usize = portcullis_dialect::limits::BODY_BYTES_MAX;

/// Decompressed bytes of a WARC file that are skipped between progress reports: 16 MiB.
///
/// Source: our choice. The progress bar keeps moving in an archive without robots.txt.
pub const WARC_PASSED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Content and transfer codings of one body that are decoded. A body with more is broken.
///
/// Source: our choice. Servers use one, and faulty servers the same one twice; each can expand a
/// body a thousand times.
pub const CONTENT_CODINGS_MAX: usize = 4;

/// Files of a folder per batch.
///
/// Source: our choice. Opening them takes a millisecond, so a handover costs little; 64 files of
/// 500 KiB are 32 MB per thread.
pub const FOLDER_BATCH_FILES: usize = 64;

/// Bytes of the first line that determine a file's format.
///
/// Source: our choice; 16 are enough, the rest allows for leading white space.
pub const FORMAT_BYTES_MAX: usize = 512;

/// Columns or fields that an error names.
///
/// Source: our choice. A row of an export has dozens; the one that is meant is among the first.
pub const NAMES_SHOWN: usize = 24;

/// Rows of a Parquet file per batch.
///
/// Source: our choice. With average bodies of a few KiB, a batch has a few MiB.
pub const PARQUET_BATCH_ROWS: usize = 1024;

/// Bytes in memory of a page, or of the dictionary, of a Parquet list's column with the URLs: 128
/// MiB. A longer one is an error before anything is decompressed.
///
/// Source: our choice. DuckDB ends a page at 100 MB, other writers at about 1 MiB. Zstandard turns a
/// page of 1 GB into some dozen KB, so the size of the file bounds nothing.
pub const PARQUET_PAGE_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Bytes per read of a Parquet file's page headers: 4 KiB.
///
/// Source: our choice. A header has some dozen bytes, or some hundred with statistics.
pub const PARQUET_READ_BYTES: usize = 4 * 1024;
