//! Every bound of the crate: its name, its unit (last in the name) and where the number comes from.
//!
//! A limit that is hit is never silent: it ends as a note, a state, an error or a slower engine
//! that gives the same answer, and the item that hits it says which.

/// Bytes of a robots.txt file that are read: 500 KiB.
///
/// Source: RFC 9309, section 2.5 ("MUST be at least 500 kibibytes"), and Google's page, which sets
/// the same figure. What lies past it is ignored and the line that it cuts is dropped, with a note.
pub const ROBOTS_BYTES_MAX: usize = 500 * 1024;

/// Bytes of a line that the `google` dialect keeps; what follows on the line is lost.
///
/// Source: google/robotstxt, which keeps eight times a browser's longest URL (2,083) less the
/// terminator of a C string.
pub const GOOGLE_LINE_BYTES_MAX: usize = 2_083 * 8 - 1;

/// Bytes of a URL that is classified. A longer one is `invalid`, never allowed.
///
/// Source: our choice. RFC 9110, section 4.1, asks for 8,000 at least; the longest of 670,000 real
/// ones had 10,598. It bounds the work that one record can cause against a hostile rule set.
pub const URL_BYTES_MAX: usize = 64 * 1024;

/// Bytes of one record (line) of an input that has to be held in memory: 64 MiB.
///
/// Source: our choice. An input with a longer one is not a list of URLs; reading it is an error.
pub const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of an input that are classified as one piece of work: 1 MiB, or one longer record.
///
/// Source: our choice. About 16,000 URLs: the cost of handing the piece over vanishes, and the
/// pieces that wait stay small beside the policies.
pub const CHUNK_BYTES: usize = 1024 * 1024;

/// Threads that `-j` starts per processor: 16. A higher number is lowered to that, with a note.
///
/// Source: our choice. Threads that wait for a disk leave room for others; more than these only take
/// memory ([`IN_FLIGHT_CHUNKS_PER_THREAD`]), and the system refuses some tens of thousands.
pub const PROCESSOR_THREADS_MAX: usize = 16;

/// Chunks for each thread that are handed over and not yet written.
///
/// Source: our choice. One is classified, one waits, one stands in the order of the output. With
/// [`CHUNK_BYTES`] it bounds the memory of a batch: at two threads 6 MiB of input and its output.
pub const IN_FLIGHT_CHUNKS_PER_THREAD: usize = 3;

/// Chunks of a stream (a pipe, a compressed file) that are read before a thread asks for them.
///
/// Source: our choice. One is ready while the next is being decompressed.
pub const READ_AHEAD_CHUNKS: usize = 2;

/// Bytes that a compressed file is read in: 128 KiB.
///
/// Source: our choice, two of a Linux pipe's 64 KiB.
pub const COMPRESSED_READ_BYTES: usize = 128 * 1024;

/// The base-2 logarithm of the window (in bytes) that a zstd frame may ask for: 128 MiB.
///
/// Source: the zstd program's own default. A frame that asks for more is an error, so that a small
/// file cannot take all the memory.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Bytes of the dictionary that a zstd file may bring along: 16 MiB.
///
/// Source: our choice; those of archives have some 100 KiB to 1 MiB. A longer one is an error.
pub const ZSTD_DICTIONARY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of a block of header fields, of a WARC record or of an HTTP response, that is read: 64 KiB.
///
/// Source: our choice; browsers and servers take 8 to 256 KiB. A record with a longer one is broken.
pub const HEADER_BLOCK_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a WARC record that is kept until it is read, its header counted: 64 MiB.
///
/// Source: our choice, the length of the longest body. A robots.txt record that is longer is broken.
pub const WARC_RECORD_BYTES_MAX: usize = BODY_BYTES_MAX;

/// Bytes of a WARC file, decompressed, that are passed over before the reader gives word: 16 MiB.
///
/// Source: our choice. It lets a progress bar move through an archive that holds no robots.txt.
pub const WARC_PASSED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Content and transfer codings of one body that are undone. A body in more is broken.
///
/// Source: our choice. Servers use one, and faulty ones the same twice; each can make a body a
/// thousand times longer.
pub const CONTENT_CODINGS_MAX: usize = 4;

/// The base-2 logarithm of the window (in bytes) that a body in zstd may ask for: 8 MiB.
///
/// Source: RFC 9659, section 3.
pub const HTTP_ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Bytes of a host name after lower-casing and IDNA.
///
/// Source: RFC 1035, section 2.3.4, gives 255 on the wire; twice that leaves room for names that
/// dumps hold and no resolver would take.
pub const HOST_BYTES_MAX: usize = 512;

/// Bytes of a block of a policy set's file, which is checked as one: 4 KiB.
///
/// Source: our choice, the page of most machines. It is part of the format, see `src/set/FORMAT.md`.
pub const SET_BLOCK_BYTES: usize = 4 * 1024;

/// Sections of a policy set's file. A header that gives more is damaged.
///
/// Source: our choice; their table fits into the header's block, with room to spare.
pub const SET_SECTIONS_MAX: usize = 128;

/// Distinct strings of a policy set. With more, the set cannot be compiled.
///
/// Source: our choice. Their numbers leave two bits of a `u32` to whoever refers to them.
pub const SET_STRINGS_MAX: u32 = 1 << 30;

/// Bytes of one string of a policy set: 1 GiB. With a longer one, the set cannot be compiled.
///
/// Source: our choice; more than any line that is read with a limit.
pub const SET_STRING_BYTES_MAX: usize = 1 << 30;

/// Slots of a set's host table that may be taken one behind the other: 512, which are 4 KiB. A seed of the
/// hash that makes a longer run is left for the next one; a reader that walks more of them finds damage.
///
/// Source: computed. With three slots in four taken, a set of ten million hosts has such a run once in 65,000 sets,
/// and one of 470 million hosts, which is the most that a set can hold, once in 1,400. It is part of
/// the format, see `src/set/FORMAT.md`.
pub const SET_HOST_RUN_SLOTS_MAX: usize = 512;

/// Seeds of the hash of a set's host table that are tried, one after another. If each makes a run that is
/// too long, the set cannot be compiled.
///
/// Source: our choice. The second is needed once in thousands of the largest sets.
pub const SET_HOST_SEEDS_MAX: usize = 16;

/// Redirects that are followed to a robots.txt file.
///
/// Source: RFC 9309, section 2.3.1.2 ("at least five consecutive redirects"), and Google's page.
pub const REDIRECTS_MAX: u8 = 5;

/// Seconds of a crawl-delay above which the linter asks whether it was meant: 1 hour.
///
/// Source: our choice. A crawler that keeps to it fetches two dozen pages a day.
pub const CRAWL_DELAY_SECONDS_MAX: f64 = 3600.0;

/// Edited texts of one file that are compared with it when it is fixed: 256.
///
/// Source: our choice. All edits at once take one; each that has to be found out takes some two for
/// each halving. What is past the limit is left as it is, and said to be.
pub const FIX_PROOFS_MAX: usize = 256;

/// Findings of one code in one file that `lint` reports. The rest is counted, and every output format
/// says how many were left out.
///
/// Source: our choice. A hundred show what is wrong; a hostile file has 256,000 lines without a colon,
/// which made 124 MB of JSON.
pub const LINT_FINDINGS_PER_CODE_MAX: usize = 100;

/// Edits of one finding. A finding that would need more is reported without a fix.
///
/// Source: our choice. Real patterns need a dozen; a hostile one has an edit for every second byte.
pub const LINT_EDITS_PER_FINDING_MAX: usize = 1024;

/// Files per thread that `lint` holds in memory at once, with what is reported about them.
///
/// Source: our choice. Outputs are written in the order of the files, so a thread needs a few files to
/// go on with while an earlier file takes longer.
pub const LINT_FILES_PER_THREAD_MAX: usize = 8;

/// Seconds of an outage after which a dialect may treat an unreachable file otherwise: 30 days.
///
/// Source: RFC 9309, section 2.3.1.4 ("for example, 30 days"), and Google's page ("longer than").
pub const LONG_UNREACHABLE_SECONDS: u64 = 30 * 24 * 60 * 60;

/// Bytes that the lazy automata of one thread may hold together: 64 MiB.
///
/// Source: our choice. With 32,711 real files, a list of 370,000 URLs needs less than 4 MiB of it; a
/// thousand hostile files share it. Past it all automata of the thread are cleared.
pub const AUTOMATA_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The part of that budget that the states of one rule set may take: a sixteenth, 4 MiB. Past it the states
/// of that rule set are cleared.
///
/// Source: measured. A list of 370,000 URLs needs less for all of 32,711 real files together, and hostile
/// files of 500 KiB take the same time with a quarter of it and with twice as much.
pub const AUTOMATON_BUDGET_PART: usize = 16;

/// NFA positions that building states may look at for each byte of the rule set and of the paths that
/// asked it.
///
/// Source: measured, see `src/automaton/DESIGN.md`. A position of a hostile set takes some 15 ns, so that
/// the largest file spends 8 ms on its first states, and building adds little to the scans after that.
pub const POSITIONS_PER_BYTE_MAX: u64 = 1;

/// Entries of the prefilter's index that are looked at for one path before the automaton is asked. Each
/// may be a pattern that is tried, which costs one search over the path at most.
///
/// Source: our choice; real rule sets have three or four candidates for a path that their prefilter lets
/// through. A walk costs as much as some eight.
pub const CANDIDATES_TRIED_MAX: usize = 16;

/// Bytes of a decoded body that are held where files have no limit of their own: 64 MiB.
///
/// Source: our choice. It bounds what a small compressed body can grow to; a longer one is broken,
/// not shorter.
pub const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// NFA positions that building an automaton may look at to tell how much of a site its rules leave.
///
/// Source: measured; it is enough for two in three of 9,405 real rule sets, and few come so far.
pub const REACH_POSITIONS_MAX: u64 = 2048;

/// Rules of one policy that are ordered when a set is compiled, each counted as often as a
/// combination of groups has it: 262,144.
///
/// Source: our choice; five times the most rules of any of 32,711 real files. A file within its size
/// limit can name thousands of robots, each for another combination of large groups; what is past
/// the limit is ordered when an agent asks that needs it. It is part of the format, see
/// `src/set/FORMAT.md`.
pub const POLICY_PATTERNS_MAX: usize = 256 * 1024;

/// Bytes of rules of one policy that are ordered when a set is compiled, each rule counted as for
/// [`POLICY_PATTERNS_MAX`]: 16 MiB.
///
/// Source: our choice; 64 bytes for each of as many rules. A file of 500 KiB could otherwise have one long rule in
/// the groups of thousands of robots and take gigabytes. It is part of the format, see `src/set/FORMAT.md`.
pub const POLICY_PATTERN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Policies that are planned at once when a set is compiled.
///
/// Source: our choice. Each thread has hundreds of them, so that few wait for the last one.
pub const PLANNED_POLICIES_MAX: usize = 4_096;

/// Bytes per thread that policies may take that are planned at once when a set is compiled: 64 MiB, or one policy.
///
/// Source: our choice; hundreds of usual files, or one or two of 500 KiB that are made to take the most.
pub const PLANNED_BYTES_PER_THREAD_MAX: usize = 64 * 1024 * 1024;

/// Broken records of one input that are named one by one; the rest is counted.
///
/// Source: our choice. Ten show what is wrong; a wrong file has millions.
pub const BROKEN_RECORDS_NAMED: usize = 10;

/// Pairs of policies whose comparison is kept while two sets are compared: 65,536, some 3 MB.
///
/// Source: our choice. Nearly all origins with a neighbour's file have it from a template, of which
/// there are fewer; a pair that another has replaced is compared again.
pub const DIFFERENCE_PAIRS_KEPT: usize = 64 * 1024;

/// Records that are decided as one block: 128.
///
/// Source: measured, see the project's `DESIGN.md`. The look-ups of a block overlap in time, and so do its
/// walks; what is left over at the end of a block costs less for each record if there are more.
pub const RECORDS_AT_ONCE: usize = 128;

/// Bytes per agent that the records of one chunk may add to an output before it is written: 16 MiB.
///
/// Source: our choice; JSON Lines makes 3 MB of a usual chunk, and 14 MB of one with the shortest URLs.
/// What is left of a chunk is worked on after those bytes are written.
pub const CHUNK_OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Characters of a table's cell that `inspect` prints. A longer one is cut, and `…` stands for what is
/// left out; `inspect --json` has it whole.
///
/// Source: our choice. A column is as wide as its longest cell, and a format width has 16 bits.
pub const TABLE_CELL_CHARACTERS_MAX: usize = 80;

/// Files of a folder that are read as one piece of work.
///
/// Source: our choice. Opening them takes a millisecond, beside which handing the piece over costs
/// nothing; what is kept of 64 files of 500 KiB is 32 MB for each thread.
pub const FOLDER_BATCH_FILES: usize = 64;

/// Bytes that a file of a folder is read in at first: 64 KiB.
///
/// Source: our choice. Of 32,711 real files 99.8 % are shorter and so take two reads, the second of
/// which finds the end.
pub const FILE_READ_BYTES: usize = 64 * 1024;

/// Bytes of a first line that are looked at to tell a file's format.
///
/// Source: our choice; 16 would do, the rest is for white space before them.
pub const FORMAT_BYTES_MAX: usize = 512;

/// Rows of a Parquet file that are decoded and read as one piece of work.
///
/// Source: our choice. With bodies of some KiB on average a piece has some MiB.
pub const PARQUET_BATCH_ROWS: usize = 1024;

/// URLs that an audit shows of each rule and of each oddity.
///
/// Source: our choice. Three tell a pattern from a coincidence.
pub const AUDIT_SAMPLES: usize = 3;

/// Bytes of a URL, a rule, a user-agent line or a path that a report repeats. A longer one is cut, and
/// `…` stands for what is left out.
///
/// Source: our choice, four times what 99 of 100 real URLs have. It bounds what one decision adds to
/// an output: a file within its size limit can hold one rule of 500 KiB, which JSON Lines would
/// repeat for each URL. The line number beside a rule says where the whole rule is.
pub const SHOWN_BYTES_MAX: usize = 1024;

/// Origins without a policy that an audit counts one by one: 262,144, some 40 MB.
///
/// Source: our choice. The first that occur are counted exactly. The URLs of later ones are counted
/// together, and the report says so.
pub const AUDIT_UNKNOWN_ORIGINS_MAX: usize = 256 * 1024;

/// Bytes of an audit's page: 2 MB.
///
/// Source: our choice; it can be sent by mail and opens at once. Where lists are too long for it, the
/// page shows fewer of their rows and says so; only very many agents make it longer.
pub const AUDIT_PAGE_BYTES_MAX: usize = 2_000_000;

/// Characters of a rule, host or URL that an audit's page shows. A longer one is cut, and `…` stands
/// for what is left out; the JSON has up to [`SHOWN_BYTES_MAX`] bytes.
///
/// Source: our choice, some four lines of a cell.
pub const AUDIT_PAGE_TEXT_CHARACTERS_MAX: usize = 200;

/// Patterns of a rule set that are tried as examples of what it disallows, and of what it allows,
/// before an automaton is built to tell how much it leaves.
///
/// Source: our choice. Of 32,711 real files nearly all show it with the first.
pub const REACH_EXAMPLES_MAX: usize = 32;

/// Positions of patterns that one analysis of rules may look at: 16 Mi.
///
/// Source: measured, see `src/analysis/mod.rs`; some 0.2 s and 200 MB at most. An analysis that needs
/// more says so in place of an answer.
pub const ANALYSIS_POSITIONS_MAX: u64 = 16 * 1024 * 1024;

/// States, or pairs of them, that one analysis of rules may walk through: 1 Mi.
///
/// Source: our choice, as for [`ANALYSIS_POSITIONS_MAX`].
pub const ANALYSIS_STATES_MAX: usize = 1024 * 1024;

/// Positions of patterns that an audit may look at to find the rules of one agent and file that never
/// decide: 1 Mi.
///
/// Source: our choice, a sixteenth of [`ANALYSIS_POSITIONS_MAX`]: an audit asks about every file. Rules
/// of which it is not known then are counted as such.
pub const AUDIT_ANALYSIS_POSITIONS_MAX: u64 = 1024 * 1024;

/// States that it may walk through for that: 64 Ki.
///
/// Source: our choice, as for [`AUDIT_ANALYSIS_POSITIONS_MAX`].
pub const AUDIT_ANALYSIS_STATES_MAX: usize = 64 * 1024;
