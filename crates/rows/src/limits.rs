//! Bounds of reading lists and writing tables.

/// Records at the beginning of a list that show its layout: 1,000.
///
/// Source: our choice. They are in memory anyway, and a log has all of its sites in so many lines.
pub const RECORDS_LOOKED_AT_MAX: usize = 1_000;

/// Paths of members that the first objects of a list may have before no more are looked at: 4,096.
///
/// Source: our choice. Logs have some dozens; objects with a member for each URL have no layout.
pub const FIELDS_LOOKED_AT_MAX: usize = 4_096;

/// Lines before the header of a table: 1,000. Further ones are no comments, so the table has no column.
///
/// Source: our choice. Programs write two or three.
pub const TABLE_COMMENTS_MAX: u64 = 1_000;

/// Chunks per thread that are handed over and not yet written.
///
/// Source: our choice. One is classified, one waits, one is queued for output. With
/// [`CHUNK_BYTES`](portcullis_files::limits::CHUNK_BYTES) this bounds the memory of a batch: 6 MiB of input and
/// its output for two threads.
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

/// Bytes of lines that a sitemap may have before they are delivered: 8 MiB, so that a damaged sitemap
/// delivers nothing.
///
/// Source: our choice; the 50,000 URLs of the protocol have some 4 MiB.
pub const SITEMAP_HELD_BYTES: usize = 8 * 1024 * 1024;

/// Bytes that a chunk may add to an output before it is written, for all agents together: 16 MiB.
/// The rest of the chunk is processed after the write. Only the answers for one record may exceed
/// it.
///
/// Source: our choice; for one agent, long JSON Lines turn a usual chunk into 3 MB, and one with the
/// shortest URLs into 14 MB.
pub const CHUNK_OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Rows of a Parquet list in one part, which is the work of one thread.
///
/// Source: our choice, just above the 122,880 rows that DuckDB writes as one page. A part has about
/// [`CHUNK_BYTES`](portcullis_files::limits::CHUNK_BYTES) of URLs; this bounds parts of pages that repeat few
/// URLs, or nulls.
pub const PARQUET_PART_ROWS_MAX: usize = 128 * 1024;

/// Rows of a Parquet list that are decoded at once where a part is a whole row group.
///
/// Source: our choice. With average URLs a batch has 0.6 MiB, whatever the size of the row group.
pub const PARQUET_BATCH_URLS: usize = 8 * 1024;
