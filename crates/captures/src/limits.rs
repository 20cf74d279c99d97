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

/// Records of a WARC file after which reading resumes at the next member of gzip: 1,024. The next damage is an
/// error.
///
/// Source: our choice. Finding out that a record is damaged reads [`HEADER_BLOCK_BYTES_MAX`] at most, so these
/// take a fraction of a second.
pub const WARC_DAMAGES_MAX: usize = 1_024;

/// Content and transfer codings of one body that are decoded. A body with more is broken.
///
/// Source: our choice. Servers use one, and faulty servers the same one twice; each can expand a
/// body a thousand times.
pub const CONTENT_CODINGS_MAX: usize = 2;

/// Bytes between two codings of a body: 1 MiB, or as many as count of a body. A body with more is broken.
///
/// Source: our choice. It is the compressed form of a file whose first 500 KB count.
pub const CODED_BYTES_MAX: usize = 1024 * 1024;

/// Bytes that the codings of a body may decode to together: eight times those that count of it, and at least
/// 4 MiB. A body that needs more is broken.
///
/// Source: our choice. No body needs more than two such parts; the rest is for members of gzip.
pub const DECODED_BYTES_MIN: usize = 4 * 1024 * 1024;

/// Decoded bytes for which a member of gzip counts: 1 KiB.
///
/// Source: measured. Beginning a member takes as long as decoding so many bytes.
pub const GZIP_MEMBER_BYTES: usize = 1024;

/// Decoded bytes for each stored byte that a body may always take: 64.
///
/// Source: our choice. Files of rules compress to a tenth, and some to a fiftieth.
pub const DECODED_BYTES_PER_BYTE: usize = 64;

/// Decoded bytes that the bodies of a batch of WARC records, some 1 MiB of the file, may take together beyond
/// [`DECODED_BYTES_PER_BYTE`]: 16 MiB, or as many as count of one body. Bodies that need more are broken.
///
/// Source: our choice. Decoding them takes some dozen milliseconds, so a hostile file costs its length and not
/// the product of its codings.
pub const BATCH_DECODED_BYTES_MAX: usize = 16 * 1024 * 1024;

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

/// Members of an object that are looked at to find its layout, and for errors about a name that no record has:
/// 16,384. Further ones are read if they are named.
///
/// Source: our choice, as many as a table may have columns. It bounds the memory for a record of 64 MiB.
pub const MEMBERS_LOOKED_AT_MAX: usize = 16_384;

/// Files of hosts in one record, a line or a host of an object on several lines: 100,000. A record with more is
/// broken.
///
/// Source: our choice, the files of 270 years at one a day. The captures of a record are in memory together,
/// some 300 to 600 bytes each, however short their texts are.
pub const FILES_PER_RECORD_MAX: usize = 100_000;

/// Values of header fields that count, in the object of a capture: 1,024. A capture with more is broken.
///
/// Source: our choice. An answer has some dozen header fields, of which seven count.
pub const HEADER_VALUES_MAX: usize = 1_024;

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
