//! Bounds of summaries and pages.

/// Records at the beginning of a list of which one at least has to be a URL: 1,000.
///
/// Source: our choice. A list in another format than it is read as has none, and a list of URLs with
/// that many bad records at its beginning needs a look.
pub const RECORDS_WITHOUT_URL_MAX: u64 = 1_000;

/// Bad records of a run that a summary shows.
///
/// Source: our choice. Three show the problem; `--rejects` has all of them.
pub const REJECTS_SHOWN: usize = 3;

/// Hosts without a policy that the summary of a run counts one by one: 65,536.
///
/// Source: our choice, a few MiB. The first that occur are counted exactly. The URLs of later ones
/// are counted together, and the summary says so.
pub const SUMMARY_UNKNOWN_HOSTS_MAX: usize = 64 * 1024;

/// Hosts without a policy that the summary of a run shows.
///
/// Source: our choice.
pub const SUMMARY_UNKNOWN_HOSTS_SHOWN: usize = 10;

/// Characters of a rule, host or URL on a page. A longer text ends with `…`; the JSON has up to
/// [`SHOWN_BYTES_MAX`](portcullis_text::visible::SHOWN_BYTES_MAX) bytes.
///
/// Source: our choice, about four lines of a cell.
pub const PAGE_TEXT_CHARACTERS_MAX: usize = 200;
