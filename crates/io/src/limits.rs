//! Bounds of reading and writing: of lists, archives, compression and outputs.

/// Bytes of one record (line) of an input: 64 MiB.
///
/// Source: our choice. An input with a longer record is not a list of URLs, which is an error.
pub const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Columns or fields of a list that an error names.
///
/// Source: our choice. A row of an export has dozens; the URL's is among the first.
pub const LIST_FIELDS_SHOWN: usize = 24;

/// Columns of a CSV or TSV list: 16,384. A first row with more is an error.
///
/// Source: our choice, the columns of an Excel sheet. It bounds the memory for their names.
pub const LIST_COLUMNS_MAX: usize = 16_384;

/// Bytes of an input per chunk of work: 1 MiB, or one longer record.
///
/// Source: our choice. About 16,000 URLs make the cost of a handover negligible, and the waiting
/// chunks stay small compared with the policies.
pub const CHUNK_BYTES: usize = 1024 * 1024;

/// Chunks per thread that are handed over and not yet written.
///
/// Source: our choice. One is classified, one waits, one is queued for output. With [`CHUNK_BYTES`]
/// this bounds the memory of a batch: 6 MiB of input and its output for two threads.
pub const IN_FLIGHT_CHUNKS_PER_THREAD: usize = 3;

/// Chunks of a stream (a pipe, a compressed file) that are read ahead.
///
/// Source: our choice. One is ready while the next is decompressed.
pub const READ_AHEAD_CHUNKS: usize = 2;

/// Bytes of one text or tag of a sitemap, and of one URL in it: 1 MiB. A longer one is an error.
///
/// Source: our choice. The protocol has URLs of fewer than 2,048 characters; the limit bounds memory
/// against attributes and comments without end.
pub const SITEMAP_MARKUP_BYTES_MAX: usize = 1024 * 1024;

/// Elements of a sitemap within one another: 32. A deeper document is an error.
///
/// Source: our choice. The protocol needs three, and its extensions for images and videos five.
pub const SITEMAP_DEPTH_MAX: usize = 32;

/// Sitemaps in one index: 1,000,000. An index with more is an error.
///
/// Source: our choice. The protocol has 50,000. Their names take some 100 MB.
pub const SITEMAPS_PER_INDEX_MAX: usize = 1_000_000;

/// Missing sitemaps of an index that an error names; the others are counted.
///
/// Source: our choice.
pub const SITEMAPS_NAMED_MAX: usize = 5;

/// Bytes of URLs that are read from a sitemap at once: 64 KiB.
///
/// Source: our choice; a stream copies them into its chunk.
pub const SITEMAP_READ_BYTES: usize = 64 * 1024;

/// Bytes per read of a compressed file: 128 KiB.
///
/// Source: our choice, twice the buffer of a Linux pipe.
pub const COMPRESSED_READ_BYTES: usize = 128 * 1024;

/// The base-2 logarithm of the largest zstd window in bytes: 128 MiB.
///
/// Source: the default of the zstd program. A larger window is an error, so that a small file
/// cannot take all memory.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Bytes of the dictionary in a zstd file: 16 MiB.
///
/// Source: our choice; dictionaries of archives have 100 KiB to 1 MiB. A longer one is an error.
pub const ZSTD_DICTIONARY_BYTES_MAX: usize = 16 * 1024 * 1024;

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

/// The base-2 logarithm of the largest zstd window of a body, in bytes: 8 MiB.
///
/// Source: RFC 9659, section 3.
pub const HTTP_ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Bytes that a chunk may add to an output before it is written, for all agents together: 16 MiB.
/// The rest of the chunk is processed after the write. Only the answers for one record may exceed
/// it.
///
/// Source: our choice; for one agent, JSON Lines turns a usual chunk into 3 MB, and one with the
/// shortest URLs into 14 MB.
pub const CHUNK_OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Files of a folder per batch.
///
/// Source: our choice. Opening them takes a millisecond, so a handover costs little; 64 files of
/// 500 KiB are 32 MB per thread.
pub const FOLDER_BATCH_FILES: usize = 64;

/// Bytes of the first line that determine a file's format.
///
/// Source: our choice; 16 are enough, the rest allows for leading white space.
pub const FORMAT_BYTES_MAX: usize = 512;

/// Rows of a Parquet file per batch.
///
/// Source: our choice. With average bodies of a few KiB, a batch has a few MiB.
pub const PARQUET_BATCH_ROWS: usize = 1024;

/// Rows of a Parquet list in one part, which is the work of one thread.
///
/// Source: our choice, just above the 122,880 rows that DuckDB writes as one page. A part has about
/// [`CHUNK_BYTES`] of URLs; this bounds parts of pages that repeat few URLs, or nulls.
pub const PARQUET_PART_ROWS_MAX: usize = 128 * 1024;

/// Rows of a Parquet list that are decoded at once where a part is a whole row group.
///
/// Source: our choice. With average URLs a batch has 0.6 MiB, whatever the size of the row group.
pub const PARQUET_BATCH_URLS: usize = 8 * 1024;

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
