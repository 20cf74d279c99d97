//! Bounds of the program: threads, outputs and the files that its arguments name.

use std::time::Duration;

use portcullis_survey::limits::SURVEY_LIST_BYTES;

/// How long a pipe may deliver nothing before the records that it delivered are worked on, although
/// they do not fill a chunk: 200 ms.
///
/// Source: our choice. A reader of the output sees each answer within a second of its URL, and a
/// producer that only hesitates still fills chunks.
pub const PAUSE: Duration = Duration::from_millis(200);

/// Threads per processor that `-j` starts: 16. A higher number is lowered, with a note.
///
/// Source: our choice. Some extra threads help while others wait for a disk; more only take memory
/// ([`IN_FLIGHT_CHUNKS_PER_THREAD`](portcullis_rows::limits::IN_FLIGHT_CHUNKS_PER_THREAD)), and the
/// system rejects tens of thousands.
pub const PROCESSOR_THREADS_MAX: usize = 16;

/// Files per thread that `lint` holds in memory, with their findings.
///
/// Source: our choice. Outputs are written in file order, so a thread needs a few files to work on
/// while an earlier file takes longer.
pub const LINT_FILES_PER_THREAD_MAX: usize = 8;

/// Rows of a survey in a row group of Parquet: about 131,072.
///
/// Source: our choice. The encoded columns take a few bytes a row.
pub const SURVEY_GROUP_ROWS: usize = 128 * 1024;

/// Rows of a survey that a thread writes as text at once: about 16,384.
///
/// Source: our choice, some megabytes.
pub const SURVEY_TEXT_ROWS: usize = 16 * 1024;

/// Bytes of lists of values, counted as for [`SURVEY_LIST_BYTES`], in a row group of Parquet: 256
/// MiB, plus the bytes of one host.
///
/// Source: our choice. It does not end the groups of a million files of some kilobytes early, and
/// values that repeat for each agent are compressed to a tenth and less.
pub const SURVEY_GROUP_LIST_BYTES: u64 = 256 * 1024 * 1024;

/// Bytes of lists of values, counted as for [`SURVEY_LIST_BYTES`], that all threads write as text at
/// once: 128 MiB, plus the bytes of one host.
///
/// Source: our choice. It keeps eight threads busy with lists of their longest.
pub const SURVEY_LIST_BYTES_AT_ONCE: u64 = 8 * SURVEY_LIST_BYTES;

/// Bytes that are written about one record, for all agents together: 512 MiB. Each agent's row of a
/// long output repeats the record, and an escape of JSON makes six bytes of one, so with many agents
/// records must be shorter than [`RECORD_BYTES_MAX`](portcullis_files::limits::RECORD_BYTES_MAX): for 163
/// agents about 500 KiB. It is never less than [`URL_BYTES_MAX`](portcullis_dialect::limits::URL_BYTES_MAX).
///
/// Source: our choice. A longer record is an error that names its place.
pub const RECORD_OUTPUT_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Agents whose answers about one chunk of [`CHUNK_BYTES`](portcullis_files::limits::CHUNK_BYTES) fit
/// [`CHUNK_OUTPUT_BYTES_MAX`](portcullis_rows::limits::CHUNK_OUTPUT_BYTES_MAX): 4. For more agents,
/// lists are cut into shorter chunks, so that threads share the work.
///
/// Source: a usual chunk in long JSON Lines.
pub const CHUNK_AGENTS: usize = 4;

/// Bytes of the shortest chunk of a list for many agents: 32 KiB.
///
/// Source: our choice. Its 400 URLs ask thousands of questions, so the cost of a handover is still
/// negligible.
pub const CHUNK_BYTES_MIN: usize = 32 * 1024;

/// Bytes of a text list that become one row group of a Parquet output: 8 MiB.
///
/// Source: our choice. About 130,000 URLs, as many rows as DuckDB puts into a row group.
pub const PARQUET_TEXT_GROUP_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of a file of agents (`-a @FILE`): 1 MiB. A longer file is an error.
///
/// Source: our choice. It is fifty times the longest public list, so a longer file is another one.
pub const AGENT_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of a robots.txt that `lint --fix` or `lint --diff` edits: 64 MiB. A longer one is an error.
///
/// Source: our choice. The whole file is edited, beyond any size limit, and crawlers read 512,000 bytes of
/// it.
pub const EDITED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Agents that no group names and for which a similar name is looked up: 100. The others are
/// reported without a suggestion.
///
/// Source: our choice. A suggestion compares the agent with every name in the set, and a command
/// line has room for 100,000 agents. A person misspells a few.
pub const AGENT_SUGGESTIONS_MAX: usize = 100;

/// Hosts without a policy that `--unknown-hosts` counts in memory before it writes a sorted run to a
/// temporary file: about a million, which take 60 to 100 MB.
///
/// Source: our choice. Most lists have fewer, and then nothing is written but the output.
pub const UNKNOWN_HOSTS_AT_ONCE: usize = 1024 * 1024;

/// Bytes of memory of which the [shares](portcullis_files::budget) of the runs of `--unknown-hosts` are parts:
/// 64 MiB, so that 16 MiB of runs stay in memory.
///
/// Source: our choice. The table takes more.
pub const UNKNOWN_HOSTS_RUNS_MEMORY: usize = 64 * 1024 * 1024;

/// The least number of bytes that `--memory` takes without a suffix: 1 MiB. Less is an error, because
/// the suffix was forgotten: `--memory 4`.
///
/// Source: our choice.
pub const MEMORY_IN_BYTES_MIN: usize = 1024 * 1024;
