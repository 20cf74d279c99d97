//! Bounds of policy sets: of the file and of asking it.

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
/// Source: the format, whose numbers of strings have 32 bits.
pub const SET_STRINGS_MAX: u32 = u32::MAX - 1;

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

/// Hosts that a thread remembers by the beginnings of their URLs: 16,384, in 1 MiB; a power of two.
///
/// Source: measured. Of the changes of host in shuffled lists, 99 % (1,018 hosts) and 94 % (7,840) go back to one of
/// them; a quarter as many are 94 and 83 %. They take the cache of a core, but one line of it for two of the set, and
/// lists of 370,387 URLs on 32,711 hosts take 3 % less time.
pub const KNOWN_HOSTS: usize = 16 * 1024;

/// Records of the first block for which a thread remembers hosts: 256.
///
/// Source: our choice; the table takes as much time as some hundred records.
pub const KNOWN_HOSTS_RECORDS_MIN: usize = 256;

/// Crawl delays that a thread keeps, and files that it knows to have none, together: 1,048,576.
///
/// Source: our choice, some 20 MB. When there are more, all are read again.
pub const CRAWL_DELAYS_KEPT_MAX: usize = 1024 * 1024;

/// Periods of policies that a thread keeps: 262,144. When there are more, all are forgotten.
///
/// Source: our choice, some 20 MB if each is of another origin.
pub const PERIODS_KEPT_MAX: usize = 256 * 1024;

/// Patterns of one policy that are read for its texts, besides two for each record: 262,144. A policy with
/// more is damaged.
///
/// Source: format 15, which stored each combination of groups up to this limit. In later formats, a rule has
/// two patterns at most.
pub const PATTERNS_READ_MAX: usize = 256 * 1024;

/// Seconds since 1970 at which timelines end. Captures from then on are in no timeline.
///
/// Source: our choice. A moment's time has 40 bits in a set, so that a moment takes 16 bytes; no
/// time that can be asked about, up to the end of the year 9999, has more.
pub const TIMELINE_SECONDS_END: u64 = 1 << 40;

/// Inputs of a set with history.
///
/// Source: our choice. The input of a moment has the 24 bits next to its time.
pub const TIMELINE_INPUTS_MAX: usize = 1 << 24;

/// Texts of agents that a session found last, to which others are compared before they are looked for among all: a
/// power of two.
///
/// Source: our choice. Most requests have one of some tens of headers.
pub const LAST_AGENTS: usize = 256;

/// Bytes of memory for the texts of agents that a session remembers if each record has its own, and for
/// what they name: 16 MiB. When more are read, all are forgotten, but for the last one.
///
/// Source: our choice. Logs have thousands of different User-Agent headers of 100 to 300 bytes.
pub const RECORD_AGENT_CACHE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of memory for the names of groups that a session remembers, to show the line that names an agent: 16
/// MiB. When more are read, all but the last group are forgotten.
///
/// Source: our choice. The groups of a file are read once, and a file has 500 KiB.
pub const GROUP_NAMES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Mapped sets of a process whose addresses are known: 256.
///
/// Source: our choice; a process maps a few. The Python package reports the truncation of a set whose
/// addresses are known. That of another one ends the process.
pub const MAPPED_SETS_KNOWN_MAX: usize = 256;
