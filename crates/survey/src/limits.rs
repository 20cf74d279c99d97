//! Bounds of surveys, audits and explanations.

/// Crawlers that `history` names for one change.
///
/// Source: our choice. A line of them fits a terminal; one site names 900 crawlers that it shuts out.
pub const ROBOTS_NAMED_MAX: usize = 8;

/// Pairs of a policy and an agent whose facts a thread keeps in a survey: 65,536, some megabytes.
///
/// Source: our choice. Policies that many hosts share are mostly kept.
pub const SURVEY_FACTS_KEPT: usize = 64 * 1024;

/// Rows of a survey that a thread holds before they are written: 8,192, plus one for each agent.
///
/// Source: our choice, as for [`PARQUET_BATCH_URLS`](portcullis_rows::limits::PARQUET_BATCH_URLS).
pub const SURVEY_BATCH_ROWS: usize = 8 * 1024;

/// Bytes of lists of values that a thread holds or writes as text at once: 16 MiB, plus the lists of one
/// host. The lists of a file are written for each agent. Before they are read, they are counted as if
/// they were the whole file.
///
/// Source: our choice. The values of a file of 500 KiB for 130 agents are 64 MB.
pub const SURVEY_LIST_BYTES: u64 = 16 * 1024 * 1024;

/// Positions read to find two pages with different usage preferences, with a charge of eight a state
/// and for each combination of states: 65,536.
///
/// Source: our choice, some milliseconds. Few files state preferences for paths.
pub const STANCE_POSITIONS_MAX: u64 = 64 * 1024;

/// Bytes of the rule sets that are searched for two pages with different usage preferences: 128 KiB.
/// With more, the preference is not known.
///
/// Source: our choice, some milliseconds. Files of the web that state preferences for paths have a
/// few hundred.
pub const STANCE_BYTES_MAX: usize = 128 * 1024;

/// Entries with several rule groups whose reach is kept: 65,536. When there are more, all are computed again.
///
/// Source: our choice, some 4 MB. One in a hundred policies has such an entry.
pub const MERGED_ENTRIES_KEPT_MAX: usize = 64 * 1024;

/// Patterns that are merged for agents with several rule groups, of one policy, or of the history of one
/// origin: 262,144.
///
/// Source: our choice; five times the rules of the largest of 32,711 real files. Beyond it, how much is allowed
/// is unknown for the crawlers with further combinations; two captures of a made-up file of 6,000 crawlers took
/// a minute.
pub const MERGED_PATTERNS_MAX: usize = 256 * 1024;

/// Line numbers of usage records that `inspect` lists for the crawlers of one file: 100,000. Further
/// ones are counted.
///
/// Source: our choice. A file of 500 KiB can name 10,000 crawlers and let 10,000 records hold for each
/// of them; the largest real file has a few dozen.
pub const INSPECT_USAGE_LINES_MAX: usize = 100_000;

/// Characters of a table cell that `inspect` prints. A longer cell ends with `…`; `inspect --format json`
/// has the whole value.
///
/// Source: our choice. A column is as wide as its longest cell, and a format width has 16 bits.
pub const TABLE_CELL_CHARACTERS_MAX: usize = 80;

/// Sample URLs in an audit per rule, change and oddity.
///
/// Source: our choice. Three distinguish a pattern from a coincidence.
pub const AUDIT_SAMPLES: usize = 3;

/// Bytes of an audit's page: 2 MB.
///
/// Source: our choice; such a page fits into an e-mail and opens at once. Longer lists are cut, and
/// the page says so; only very many agents exceed the limit.
pub const AUDIT_PAGE_BYTES_MAX: usize = 2_000_000;

/// Cached comparisons of policy pairs while two sets are compared: 65,536, about 3 MB.
///
/// Source: our choice. Most shared files come from templates, of which there are fewer; if the cache
/// is full, it is cleared.
pub const DIFFERENCE_PAIRS_KEPT: usize = 64 * 1024;

/// Months times agents of a survey over time: 262,144, 10 MB for each thread.
///
/// Source: our choice; four years of 5,000 agents, or 500 years of 40. With more, a trend begins later.
pub const TREND_CELLS_MAX: usize = 256 * 1024;

/// The largest changes of a survey over time that are named: 50.
///
/// Source: our choice. The rows have all changes.
pub const TREND_CHANGES: usize = 50;

/// Rows of a table on the page of a survey, each for agents with equal figures: 200.
///
/// Source: our choice; such a page opens at once. JSON and the rows have all agents.
pub const SURVEY_PAGE_ROWS_MAX: usize = 200;

/// Clients of crawlers, each counted once for each host, whose requests an audit compares: 262,144. The
/// requests of later ones are counted as not followed.
///
/// Source: our choice, some 30 MB. The crawlers of a large search engine have some thousand addresses.
pub const AUDIT_STREAMS_MAX: usize = 256 * 1024;

/// Bytes of a host and a client whose requests an audit compares: 512. With more, the requests are counted as
/// not followed.
///
/// Source: RFC 1035, section 2.3.4. A name has 255 octets, and the client may be one too.
pub const AUDIT_STREAM_BYTES_MAX: usize = 512;

/// Products of others than known crawlers that an audit counts one by one: 65,536. The first that occur are
/// counted exactly, and the records of later ones together.
///
/// Source: our choice, some megabytes, as for
/// [`SUMMARY_UNKNOWN_HOSTS_MAX`](portcullis_report::limits::SUMMARY_UNKNOWN_HOSTS_MAX).
pub const AUDIT_PRODUCTS_MAX: usize = 64 * 1024;

/// Bytes of a product's name; of a longer one the first are counted as its name.
///
/// Source: our choice. The longest name in the lists of crawlers has 28.
pub const AUDIT_PRODUCT_BYTES_MAX: usize = 64;
