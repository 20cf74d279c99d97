//! Bounds of policy sets: of the file, of compiling it and of asking it.

/// Bytes per checksummed block of a policy set's file: 4 KiB.
///
/// Source: our choice, the page size of most machines. Part of the format, see
/// `crates/set/src/FORMAT.md`.
pub const SET_BLOCK_BYTES: usize = 4 * 1024;

/// Sections of a policy set's file. A header with more is damaged.
///
/// Source: our choice; their table fits into the header's block.
pub const SET_SECTIONS_MAX: usize = 128;

/// Distinct strings of a policy set. With more, the set cannot be compiled.
///
/// Source: our choice. Their numbers leave two bits of a `u32` for flags.
pub const SET_STRINGS_MAX: u32 = 1 << 30;

/// Bytes of one string of a policy set: 1 GiB. With a longer one, the set cannot be compiled.
///
/// Source: our choice; more than any line that has a limit.
pub const SET_STRING_BYTES_MAX: usize = 1 << 30;

/// Adjacent full lines of a set's host table: 32, which are 256 slots and 2 KiB. If a hash seed
/// makes a longer run, the next seed is tried; a reader that reads more full lines reports damage.
///
/// Source: computed. With five hosts per line of eight slots, one in ten million sets of ten million
/// hosts has a longer run, and one in 200,000 sets of 470 million hosts, the maximum. Part of the
/// format, see `crates/set/src/FORMAT.md`.
pub const SET_HOST_RUN_LINES_MAX: usize = 32;

/// Hash seeds that are tried for a set's host table. If each of them leaves a run that is too long,
/// the set cannot be compiled.
///
/// Source: our choice. One in thousands of the largest sets needs the second seed.
pub const SET_HOST_SEEDS_MAX: usize = 16;

/// Crawl delays that a thread keeps, and files that it knows to have none, together: 1,048,576.
///
/// Source: our choice, some 20 MB. When there are more, all are read again.
pub const CRAWL_DELAYS_KEPT_MAX: usize = 1024 * 1024;

/// Seconds since 1970 at which timelines end. Captures from then on are in no timeline.
///
/// Source: our choice. A moment's time has 40 bits in a set, so that a moment takes 16 bytes; no
/// time that can be asked about, up to the end of the year 9999, has more.
pub const TIMELINE_SECONDS_END: u64 = 1 << 40;

/// Inputs of a set with history.
///
/// Source: our choice. The input of a moment has the 24 bits beside its time.
pub const TIMELINE_INPUTS_MAX: usize = 1 << 24;

/// Bytes of rules of one policy that are ordered when a set is compiled, counted as for
/// [`POLICY_PATTERNS_MAX`](portcullis_dialect::limits::POLICY_PATTERNS_MAX): 16 MiB.
///
/// Source: our choice; 64 bytes per rule. Otherwise a file of 500 KiB with one long rule in the
/// groups of thousands of robots could take gigabytes. Part of the format, see
/// `crates/set/src/FORMAT.md`.
pub const POLICY_PATTERN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Policies per batch when a set is compiled.
///
/// Source: our choice. Each thread gets hundreds of them, so few threads wait for the last one.
pub const PLANNED_POLICIES_MAX: usize = 4_096;

/// Bytes per thread of the policies in one batch when a set is compiled: 64 MiB, or one policy.
///
/// Source: our choice; hundreds of usual files, or one or two hostile ones of 500 KiB.
pub const PLANNED_BYTES_PER_THREAD_MAX: usize = 64 * 1024 * 1024;

/// Broken records of one input that are listed; the rest is counted.
///
/// Source: our choice. Ten show the problem; a wrong file has millions.
pub const BROKEN_RECORDS_NAMED: usize = 10;

/// Cached comparisons of policy pairs while two sets are compared: 65,536, about 3 MB.
///
/// Source: our choice. Most shared files come from templates, of which there are fewer; if the cache
/// is full, it is cleared.
pub const DIFFERENCE_PAIRS_KEPT: usize = 64 * 1024;

/// Bytes of the usage preferences in cached comparisons of policy pairs: 64 MB. One more comparison
/// is kept, however long it is.
///
/// Source: our choice. On average, it has room for the changes of a few groups and paths per pair.
pub const DIFFERENCE_BYTES_KEPT: usize = 1024 * DIFFERENCE_PAIRS_KEPT;

/// Texts of agents that a session remembers if each record has its own: 65,536. Further ones are
/// parsed each time.
///
/// Source: our choice. Logs have thousands of different User-Agent headers.
pub const RECORD_AGENTS_CACHED_MAX: usize = 65_536;

/// Bytes of such a text: 1,024. Longer ones are parsed each time.
///
/// Source: our choice. User-Agent headers have 100 to 300 bytes.
pub const RECORD_AGENT_BYTES_CACHED_MAX: usize = 1024;

/// Mapped sets of a process whose addresses are known: 256.
///
/// Source: our choice; a process maps a few. The Python package reports the truncation of a set whose
/// addresses are known. That of another one ends the process.
pub const MAPPED_SETS_KNOWN_MAX: usize = 256;

/// Bytes of bodies, and of what was parsed from them, that are cached so that equal bodies are
/// parsed once.
///
/// Source: our choice. All distinct files of a crawl of 32,711 hosts are 30 MB, and frequent ones
/// come early. When the limit is exceeded, the cache is cleared, and later bodies are parsed again.
pub const PARSED_BODIES_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Captures, or moments of timelines, that are settled or compiled at once, in whole hosts.
///
/// Source: our choice. They take some hundred bytes each, and threads share that many well. A host
/// with more is alone.
pub const CAPTURES_AT_ONCE: usize = 16 * 1024;

/// Redirects that are known of an origin while its history is made; then all are forgotten and
/// followed anew.
///
/// Source: our choice. An origin has a few, and each takes the bytes of its URL.
pub const REDIRECTS_KNOWN_MAX: usize = 1024;

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
