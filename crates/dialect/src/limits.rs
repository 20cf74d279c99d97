//! Every bound of the project: its unit (the last part of its name) and its source.
//!
//! No limit is silent: exceeding it gives a note, a state, an error, or a slower strategy with the
//! same answer, as documented where the limit applies.

use std::time::Duration;

/// Bytes of a robots.txt file that are read: 500 KiB.
///
/// Source: RFC 9309, section 2.5 ("MUST be at least 500 kibibytes"), and Google's page, which sets
/// the same limit. The rest is ignored, including the line that the limit cuts, with a note.
pub const ROBOTS_BYTES_MAX: usize = 500 * 1024;

/// Bytes of a line that the `google` dialect reads; the rest of the line is ignored.
///
/// Source: google/robotstxt, which reads eight times the longest URL of a browser (2,083), minus
/// the terminator of a C string.
pub const GOOGLE_LINE_BYTES_MAX: usize = 2_083 * 8 - 1;

/// Bytes of a URL. A longer one is `invalid`, never allowed.
///
/// Source: our choice. RFC 9110, section 4.1, asks for at least 8,000; the longest of 670,000 real
/// URLs had 10,598. The limit bounds the work of one record against a hostile rule set.
pub const URL_BYTES_MAX: usize = 64 * 1024;

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

/// Records at the beginning of a list of which one at least has to be a URL: 1,000.
///
/// Source: our choice. A list in another format than it is read as has none, and a list of URLs with
/// that many bad records at its beginning needs a look.
pub const RECORDS_WITHOUT_URL_MAX: u64 = 1_000;

/// Bad records of a run that a summary shows.
///
/// Source: our choice. Three show the problem; `--rejects` has all of them.
pub const REJECTS_SHOWN: usize = 3;

/// Bytes of an input per chunk of work: 1 MiB, or one longer record.
///
/// Source: our choice. About 16,000 URLs make the cost of a handover negligible, and the waiting
/// chunks stay small compared with the policies.
pub const CHUNK_BYTES: usize = 1024 * 1024;

/// How long a pipe may deliver nothing before the records that it delivered are worked on, although
/// they do not fill a chunk: 200 ms.
///
/// Source: our choice. A reader of the output sees each answer within a second of its URL, and a
/// producer that only hesitates still fills chunks.
pub const PAUSE: Duration = Duration::from_millis(200);

/// Threads per processor that `-j` starts: 16. A higher number is lowered, with a note.
///
/// Source: our choice. Some extra threads help while others wait for a disk; more only take memory
/// ([`IN_FLIGHT_CHUNKS_PER_THREAD`]), and the system rejects tens of thousands.
pub const PROCESSOR_THREADS_MAX: usize = 16;

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
pub const WARC_RECORD_BYTES_MAX: usize = BODY_BYTES_MAX;

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

/// Bytes of a host name after lower-casing and IDNA.
///
/// Source: twice the 255 of RFC 1035, section 2.3.4, because dumps contain names that no resolver
/// would accept.
pub const HOST_BYTES_MAX: usize = 512;

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

/// Adjacent full lines of a set's host table: 32, which are 256 slots and 2 KiB. If a hash seed makes a
/// longer run, the next seed is tried; a reader that reads more full lines reports damage.
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

/// Redirects that are followed for a robots.txt file.
///
/// Source: RFC 9309, section 2.3.1.2 ("at least five consecutive redirects"), and Google's page.
pub const REDIRECTS_MAX: u8 = 5;

/// Seconds of a crawl-delay above which the linter reports it: 1 hour.
///
/// Source: our choice. Such a crawler fetches two dozen pages a day.
pub const CRAWL_DELAY_SECONDS_MAX: f64 = 3600.0;

/// Crawl delays that a thread keeps, and files that it knows to have none, together: 1,048,576.
///
/// Source: our choice, some 20 MB. When there are more, all are read again.
pub const CRAWL_DELAYS_KEPT_MAX: usize = 1024 * 1024;

/// Comparisons of edited texts with the original when a file is fixed: 256.
///
/// Source: our choice. All edits at once take one comparison; bisection takes about two per step to
/// find a bad edit. Edits past the limit are skipped and reported.
pub const FIX_PROOFS_MAX: usize = 256;

/// The comparisons of a file that is fixed may together spend as much as so many analyses: 8. Each may
/// spend an eighth of what is left, so the first has the limits of an analysis. A usage record that is
/// compared for a robot counts as a position. Once nothing is left, no further edit is tried.
///
/// Source: our choice. Without it, a made-up file of 18 KB took 17 s, nearly all for comparisons that
/// reached their limit, and one of 4,000 robots and 4,000 usage records 76 s.
pub const FIX_ANALYSES: u32 = 8;

/// Findings of one code in one file that `lint` reports. The rest is counted, and every output
/// format reports the count.
///
/// Source: our choice. A hundred show the problem; a hostile file has 256,000 lines without a
/// colon, which made 124 MB of JSON.
pub const LINT_FINDINGS_PER_CODE_MAX: usize = 100;

/// Edits of one finding. A finding that would need more is reported without a fix.
///
/// Source: our choice. Real patterns need a dozen; a hostile one has an edit for every second byte.
pub const LINT_EDITS_PER_FINDING_MAX: usize = 1024;

/// Files per thread that `lint` holds in memory, with their findings.
///
/// Source: our choice. Outputs are written in file order, so a thread needs a few files to work on
/// while an earlier file takes longer.
pub const LINT_FILES_PER_THREAD_MAX: usize = 8;

/// Seconds of an outage after which a dialect may treat an unreachable file differently: 30 days.
///
/// Source: RFC 9309, section 2.3.1.4 ("for example, 30 days"), and Google's page ("longer than").
pub const LONG_UNREACHABLE_SECONDS: u64 = 30 * 24 * 60 * 60;

/// Robots that `history` names for one change.
///
/// Source: our choice. A line of them fits a terminal; one site names 900 robots that it shuts out.
pub const ROBOTS_NAMED_MAX: usize = 8;

/// Seconds since 1970 at which timelines end. Captures from then on are in no timeline.
///
/// Source: our choice. A moment's time has 40 bits in a set, so that a moment takes 16 bytes; no
/// time that can be asked about, up to the end of the year 9999, has more.
pub const TIMELINE_SECONDS_END: u64 = 1 << 40;

/// Inputs of a set with history.
///
/// Source: our choice. The input of a moment has the 24 bits beside its time.
pub const TIMELINE_INPUTS_MAX: usize = 1 << 24;

/// Bytes of all automata of one thread: 64 MiB. Past it they are all cleared.
///
/// Source: our choice. With 32,711 real files, a list of 370,000 URLs needs less than 4 MiB; a
/// thousand hostile files share the budget.
pub const AUTOMATA_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes and stars of the patterns of a rule set that may have a lazy DFA: 16 KiB. A larger one is
/// scanned.
///
/// Source: measured. A state costs time and memory for each position that is alive, and building
/// the NFA some 60 bytes for each byte of the patterns. Of 9,350 real rule sets 83 are larger.
pub const DFA_PATTERN_BYTES_MAX: usize = 16 * 1024;

/// Bytes of a path, times the bytes and stars of the patterns, up to which a lazy DFA is asked: 512 Ki. A
/// scan answers longer paths.
///
/// Source: our choice. Each byte of the path may need a transition that is not built, which visits each
/// position: at most about 1 ms by estimate, and calls of 37 ms were measured without it. Real rule sets have some thousand positions, and 99 of 100 real paths
/// fewer than 200 bytes.
pub const DFA_PATH_POSITIONS_MAX: usize = 512 * 1024;

/// Bytes of paths asked of a rule set, per byte of its patterns, before its lazy DFA is built.
///
/// Source: measured. Most rule sets that reach the automaton do so for a few paths, which a scan
/// answers sooner than a DFA is built.
pub const DFA_BYTES_ASKED_MIN: u64 = 4;

/// Bytes of the states of one lazy DFA: 1 MiB. Past it they are cleared.
///
/// Source: our choice. Real rule sets need a tenth of it.
pub const DFA_CACHE_BYTES_MAX: usize = 1024 * 1024;

/// Clearings after which a lazy DFA has to give [`DFA_STATE_BYTES_MIN`] or give up.
///
/// Source: our choice; it bounds what a hostile rule set spends on states.
pub const DFA_CLEARINGS_MAX: usize = 2;

/// Bytes of paths searched per state built, below which a lazy DFA gives up.
///
/// Source: regex-automata's documentation (`minimum_bytes_per_state`) suggests 10.
pub const DFA_STATE_BYTES_MIN: usize = 8;

/// The factor by which the bytes asked grow before a DFA that gave up is built again.
///
/// Source: our choice. Attempts become rare, so they cost a share of all paths that shrinks.
pub const DFA_RETRY_FACTOR: u64 = 4;

/// Entries of the prefilter's index that are read per path before the automaton runs. Each may be a
/// candidate pattern, which costs at most one search over the path.
///
/// Source: our choice; real rule sets have three or four candidates per path that passes the
/// prefilter. The automaton costs as much as about eight.
pub const CANDIDATES_TRIED_MAX: usize = 16;

/// Bytes of a candidate pattern that count as one more candidate: 128.
///
/// Source: our choice. Each literal of a pattern is a search, and a pattern of 2 KB can have a thousand of
/// them. Real patterns are shorter.
pub const CANDIDATE_BYTES: usize = 128;

/// Bytes of a decoded body if files have no limit: 64 MiB. A longer body is broken, not truncated.
///
/// Source: our choice. It bounds the expansion of compressed bodies.
pub const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Positions read to compute how much of a site a rule set leaves, with a charge of eight a state.
///
/// Source: measured; few of 9,405 real rule sets get this far, and it is enough for nearly all.
pub const REACH_POSITIONS_MAX: u64 = 2048;

/// Pairs of a policy and an agent whose facts a thread keeps in a survey: 65,536, some megabytes.
///
/// Source: our choice. Policies that many hosts share are mostly kept.
pub const SURVEY_FACTS_KEPT: usize = 64 * 1024;

/// Times at which hosts that exclude an agent are counted: 60, from the first capture to the last.
///
/// Source: our choice, one or two for each point of a small chart.
pub const EXCLUSION_TIMES: usize = 60;

/// Kinds of changes that `diff` groups URLs by for its page: 4,096. Changes of further kinds are
/// counted.
///
/// Source: our choice. The page shows ten; a kind takes some hundred bytes.
pub const CHANGE_GROUPS_MAX: usize = 4 * 1024;

/// Distinct crawl delays of an agent that a survey counts: 4,096. With more, the median is not known.
///
/// Source: our choice. Files of the web have some hundred.
pub const SURVEY_DELAYS_KEPT: usize = 4 * 1024;

/// Rows of a survey that a thread holds before they are written: 8,192, plus one for each agent.
///
/// Source: our choice, as for [`PARQUET_BATCH_URLS`].
pub const SURVEY_BATCH_ROWS: usize = 8 * 1024;

/// Rows of a survey in a row group of Parquet: about 131,072.
///
/// Source: our choice. The encoded columns take a few bytes a row.
pub const SURVEY_GROUP_ROWS: usize = 128 * 1024;

/// Rows of a survey that a thread writes as text at once: about 16,384.
///
/// Source: our choice, some megabytes.
pub const SURVEY_TEXT_ROWS: usize = 16 * 1024;

/// Bytes of lists of values that a thread holds or writes as text at once: 16 MiB, plus those of one
/// host. The lists of a file are written for each agent. Before they are read, they are counted as if
/// they were the whole file.
///
/// Source: our choice. The values of a file of 500 KiB for 130 agents are 64 MB.
pub const SURVEY_LIST_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of lists of values, counted as for [`SURVEY_LIST_BYTES`], in a row group of Parquet: 256 MiB,
/// plus those of one host.
///
/// Source: our choice. It does not end the groups of a million files of some kilobytes early, and
/// values that repeat for each agent are compressed to a tenth and less.
pub const SURVEY_GROUP_LIST_BYTES: u64 = 256 * 1024 * 1024;

/// Bytes of lists of values, counted as for [`SURVEY_LIST_BYTES`], that all threads write as text at
/// once: 128 MiB, plus those of one host.
///
/// Source: our choice. It keeps eight threads busy with lists of their longest.
pub const SURVEY_LIST_BYTES_AT_ONCE: u64 = 8 * SURVEY_LIST_BYTES;

/// Positions read to find two pages with different usage preferences, with a charge of eight a state
/// and of one for each combination of states: 65,536.
///
/// Source: our choice, some milliseconds. Few files state preferences for paths.
pub const STANCE_POSITIONS_MAX: u64 = 64 * 1024;

/// Bytes of the rule sets that are searched for two pages with different usage preferences: 128 KiB.
/// With more, the preference is not known.
///
/// Source: our choice, some milliseconds. Files of the web that state preferences for paths have a
/// few hundred.
pub const STANCE_BYTES_MAX: usize = 128 * 1024;

/// Rules of one policy that are ordered when a set is compiled, counted once per combination of
/// groups: 262,144.
///
/// Source: our choice; five times the maximum of 32,711 real files. A file within its size limit
/// can name thousands of robots, each with another combination of large groups; the rest is ordered
/// when an agent needs it. Part of the format, see `crates/set/src/FORMAT.md`.
pub const POLICY_PATTERNS_MAX: usize = 256 * 1024;

/// Rules that are ordered to show the history of one origin, of combinations of groups that the set
/// does not store: 262,144.
///
/// Source: as for [`POLICY_PATTERNS_MAX`], whose rest this is. Beyond it, how much a period allows is
/// unknown for the robots with further combinations; two captures of a made-up file of 6,000 robots
/// took a minute.
pub const HISTORY_PATTERNS_MAX: usize = 256 * 1024;

/// Bytes of rules of one policy that are ordered when a set is compiled, counted as for
/// [`POLICY_PATTERNS_MAX`]: 16 MiB.
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

/// Records per block: 128.
///
/// Source: measured, see the project's `DESIGN.md`. The lookups of a block overlap, and a larger
/// block spreads its fixed cost over more records.
pub const RECORDS_AT_ONCE: usize = 128;

/// Texts of agents that a session remembers if each record has its own: 65,536. Further ones are
/// parsed each time.
///
/// Source: our choice. Logs have thousands of different User-Agent headers.
pub const RECORD_AGENTS_CACHED_MAX: usize = 65_536;

/// Bytes of such a text: 1,024. Longer ones are parsed each time.
///
/// Source: our choice. User-Agent headers have 100 to 300 bytes.
pub const RECORD_AGENT_BYTES_CACHED_MAX: usize = 1024;

/// Line numbers of usage records that `inspect` lists for the robots of one file: 100,000. Further
/// ones are counted.
///
/// Source: our choice. A file of 500 KiB can name 10,000 robots and let 10,000 records hold for each
/// of them; the largest real file has a few dozen.
pub const INSPECT_USAGE_LINES_MAX: usize = 100_000;

/// Bytes of a literal that a scan searches together with the others: 4 KiB. A longer one is searched for
/// alone.
///
/// Source: our choice. A file of 500 KiB has at most 125 longer ones, and a search for each in a path of
/// 64 KiB takes some 15 ms, as long as comparing this many bytes at each of its positions.
pub const SEARCHED_BYTES_MAX: usize = 4 * 1024;

/// Bytes of a User-Agent header: 8 KiB. A longer one is an error, and where each record has its own, the
/// record has no agent that is known.
///
/// Source: the longest header line that servers accept by default (Apache httpd 8,190 bytes, nginx
/// 8 KiB). Real ones have 100 to 300 bytes.
pub const AGENT_HEADER_BYTES_MAX: usize = 8 * 1024;

/// Mapped sets of a process whose addresses are known: 256.
///
/// Source: our choice; a process maps a few. The Python package reports the truncation of a set whose
/// addresses are known. That of another one ends the process.
pub const MAPPED_SETS_KNOWN_MAX: usize = 256;

/// Rows of an Arrow array that one thread decides at a time: 65,536.
///
/// Source: our choice, some milliseconds of work. A longer array is decided in pieces of this size,
/// and the result has as many pieces.
pub const ARROW_PIECE_ROWS: usize = 65_536;

/// The time between two looks at Python's signals during a long call.
///
/// Source: our choice, what a person who types Ctrl-C does not notice.
pub const SIGNAL_PAUSE: Duration = Duration::from_millis(50);

/// Pieces of an Arrow array whose results are collected at a time: 64, about 4 million rows.
///
/// Source: our choice. It bounds the results that wait for a slower piece before them.
pub const ARROW_STRETCH_PIECES: usize = 64;

/// Agents whose rules are kept for one parsed file: 64. One more clears them, and they are compiled
/// again when they ask.
///
/// Source: our choice. It bounds memory where every request names another agent.
pub const AGENTS_KEPT_PER_FILE: usize = 64;

/// Bytes that a chunk may add to an output before it is written, for all agents together: 16 MiB.
/// The rest of the chunk is processed after the write. Only the answers for one record may exceed
/// it.
///
/// Source: our choice; for one agent, JSON Lines turns a usual chunk into 3 MB, and one with the
/// shortest URLs into 14 MB.
pub const CHUNK_OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of JSON Lines about one record, for all agents together: 512 MiB. Each agent's object repeats
/// the record, and an escape makes six bytes of one, so with many agents records must be shorter than
/// [`RECORD_BYTES_MAX`]: for 163 agents about 500 KiB. It is never less than [`URL_BYTES_MAX`].
///
/// Source: our choice. A longer record is an error that names its place.
pub const RECORD_OUTPUT_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Agents whose answers about one chunk of [`CHUNK_BYTES`] fit [`CHUNK_OUTPUT_BYTES_MAX`]: 4. For
/// more agents, lists are cut into shorter chunks, so that threads share the work.
///
/// Source: a usual chunk in JSON Lines, as above.
pub const CHUNK_AGENTS: usize = 4;

/// Bytes of the shortest chunk of a list for many agents: 32 KiB.
///
/// Source: our choice. Its 400 URLs ask thousands of questions, so the cost of a handover is still
/// negligible.
pub const CHUNK_BYTES_MIN: usize = 32 * 1024;

/// Characters of a table cell that `inspect` prints. A longer cell ends with `…`; `inspect --json`
/// has the whole value.
///
/// Source: our choice. A column is as wide as its longest cell, and a format width has 16 bits.
pub const TABLE_CELL_CHARACTERS_MAX: usize = 80;

/// Files of a folder per batch.
///
/// Source: our choice. Opening them takes a millisecond, so a handover costs little; 64 files of
/// 500 KiB are 32 MB per thread.
pub const FOLDER_BATCH_FILES: usize = 64;

/// Bytes of the first read of a file in a folder: 64 KiB.
///
/// Source: our choice. Of 32,711 real files 99.8 % are shorter, and take a second read only to find
/// the end.
pub const FILE_READ_BYTES: usize = 64 * 1024;

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

/// Bytes in memory of a page, or of the dictionary, of a Parquet list's column with the URLs: 128 MiB.
/// A longer one is an error before anything is decompressed.
///
/// Source: our choice. DuckDB ends a page at 100 MB, other writers at about 1 MiB. Zstandard turns a page
/// of 1 GB into some dozen KB, so the size of the file bounds nothing.
pub const PARQUET_PAGE_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Bytes of a text list that become one row group of a Parquet output: 8 MiB.
///
/// Source: our choice. About 130,000 URLs, as many rows as DuckDB puts into a row group.
pub const PARQUET_TEXT_GROUP_BYTES: usize = 8 * 1024 * 1024;

/// Bytes per read of a Parquet file's page headers: 4 KiB.
///
/// Source: our choice. A header has some dozen bytes, or some hundred with statistics.
pub const PARQUET_READ_BYTES: usize = 4 * 1024;

/// Sample URLs in an audit per rule, change and oddity.
///
/// Source: our choice. Three distinguish a pattern from a coincidence.
pub const AUDIT_SAMPLES: usize = 3;

/// Bytes of a URL, rule, user-agent line or path in a report. A longer text ends with `…`.
///
/// Source: our choice, four times the length of 99 in 100 real URLs. It bounds what one decision
/// adds to an output: a file within its size limit can hold one rule of 500 KiB, which JSON Lines
/// would repeat per URL. The line number next to a rule locates the complete rule. Licences are
/// listed until they have this many bytes together, and the others are counted.
pub const SHOWN_BYTES_MAX: usize = 1024;

/// Bytes of bodies, and of what was parsed from them, that are cached so that equal bodies are
/// parsed once.
///
/// Source: our choice. All distinct files of a crawl of 32,711 hosts are 30 MB, and frequent ones
/// come early. When the limit is exceeded, the cache is cleared, and later bodies are parsed again.
pub const PARSED_BODIES_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Origins without a policy that an audit counts individually: 262,144, about 40 MB.
///
/// Source: our choice. The first that occur are counted exactly. The URLs of later ones are counted
/// together, and the report says so.
pub const AUDIT_UNKNOWN_ORIGINS_MAX: usize = 256 * 1024;

/// Bytes of a file of agents (`-a @FILE`): 1 MiB. A longer file is an error.
///
/// Source: our choice. It is fifty times the longest public list, so a longer file is another one.
pub const AGENT_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of a file of names of inputs (`@FILE`): 64 MiB. A longer file is an error.
///
/// Source: our choice. The paths of a month of Common Crawl are 13 MB.
pub const NAMES_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Agents that no group names and for which a similar name is looked up: 100. The others are
/// reported without a suggestion.
///
/// Source: our choice. A suggestion compares the agent with every name in the set, and a command
/// line has room for 100,000 agents. A person misspells a few.
pub const AGENT_SUGGESTIONS_MAX: usize = 100;

/// Hosts without a policy that the summary of a run counts one by one: 65,536.
///
/// Source: our choice, a few MiB. The first that occur are counted exactly. The URLs of later ones are
/// counted together, and the summary says so.
pub const SUMMARY_UNKNOWN_HOSTS_MAX: usize = 64 * 1024;

/// Hosts without a policy that `--unknown-hosts` counts in memory before it writes a sorted run to a
/// temporary file: about a million, which take 60 to 100 MB.
///
/// Source: our choice. Most lists have fewer, and then nothing is written but the output.
pub const UNKNOWN_HOSTS_AT_ONCE: usize = 1024 * 1024;

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

/// Captures, or moments of timelines, that are settled or compiled at once, in whole hosts.
///
/// Source: our choice. They take some hundred bytes each, and threads share that many well. A host with
/// more is alone.
pub const CAPTURES_AT_ONCE: usize = 16 * 1024;

/// Redirects that are known of an origin while its history is made; then all are forgotten and
/// followed anew.
///
/// Source: our choice. An origin has a few, and each takes the bytes of its URL.
pub const REDIRECTS_KNOWN_MAX: usize = 1024;

/// Bytes of the lines of files for each byte of their set: 256. A set whose files are longer together,
/// and longer than [`SET_TEXT_BYTES_FREE`], can neither be compiled nor read back.
///
/// Source: our choice. Equal lines are stored once, so a crafted set of few bytes could name a long one
/// millions of times. The lines of real files take some three times as many bytes as their set.
pub const SET_TEXT_BYTES_PER_BYTE: u64 = 256;

/// Bytes of the lines of files that any set may have: 256 MiB.
///
/// Source: our choice. Reading them takes a second.
pub const SET_TEXT_BYTES_FREE: u64 = 256 * 1024 * 1024;

/// The least memory of the compiler, in bytes; less counts as this much. Half of it is for tables.
///
/// Source: our choice. The buffers of some 30 sequences and of a merge take it. With smaller runs and
/// buffers, sorting and writing would take time that grows with the square of the input.
pub const COMPILE_MEMORY_MIN: usize = 64 * 1024 * 1024;

/// The least number of bytes that `--memory` takes without a suffix: 1 MiB. Less is an error, because
/// the suffix was forgotten: `--memory 4`.
///
/// Source: our choice.
pub const MEMORY_IN_BYTES_MIN: usize = 1024 * 1024;

/// Sorted runs in temporary files that are kept before all of them become one: 64.
///
/// Source: our choice. Each is an open file with a buffer; systems allow a process some hundreds. 64
/// million hosts are sorted without reading any twice.
pub const SORTED_RUNS_MAX: usize = 64;

/// Hosts without a policy that the summary of a run shows.
///
/// Source: our choice.
pub const SUMMARY_UNKNOWN_HOSTS_SHOWN: usize = 10;

/// Hosts with records that `filter` does not keep which an account counts one by one: 65,536.
///
/// Source: our choice, as for [`SUMMARY_UNKNOWN_HOSTS_MAX`].
pub const ACCOUNT_DROPPED_HOSTS_MAX: usize = 64 * 1024;

/// Hosts with the most records that are not kept which an account shows.
///
/// Source: our choice, a table that one reads.
pub const ACCOUNT_DROPPED_HOSTS_SHOWN: usize = 20;

/// Bytes of an audit's page: 2 MB.
///
/// Source: our choice; such a page fits into an e-mail and opens at once. Longer lists are cut, and
/// the page says so; only very many agents exceed the limit.
pub const AUDIT_PAGE_BYTES_MAX: usize = 2_000_000;

/// Characters of a rule, host or URL on a page. A longer text ends with `…`; the JSON has up to
/// [`SHOWN_BYTES_MAX`] bytes.
///
/// Source: our choice, about four lines of a cell.
pub const PAGE_TEXT_CHARACTERS_MAX: usize = 200;

/// Patterns of a rule set that are tried as examples of disallowed and of allowed paths, before an
/// automaton computes how much it leaves.
///
/// Source: our choice. For nearly all of 32,711 real files the first one is enough.
pub const REACH_EXAMPLES_MAX: usize = 32;

/// Pattern positions visited by one analysis of rules: 16 Mi. An analysis that needs more returns
/// no answer, and says so. What an analysis does beside that, such as ordering rules, is charged at the
/// positions that take as long. All comparisons of the rules of one file by `lint` share this limit, and
/// all comparisons of a pair of files by `diff`: a file can name thousands of robots, each with other
/// rules.
///
/// Source: measured, see `crates/lint/src/analysis/mod.rs`; at most about 0.2 s and 200 MB.
pub const ANALYSIS_POSITIONS_MAX: u64 = 16 * 1024 * 1024;

/// States, or pairs of states, visited by one analysis of rules: 1 Mi.
///
/// Source: our choice, as for [`ANALYSIS_POSITIONS_MAX`].
pub const ANALYSIS_STATES_MAX: usize = 1024 * 1024;
