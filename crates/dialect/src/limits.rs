//! Bounds of the protocol, and those that several crates share: each with its unit (the last part of
//! its name) and its source. Other bounds are in the `limits` of the crate that has them.
//!
//! No limit is silent: exceeding it gives a note, a state, an error, or a slower strategy with the
//! same answer, as documented where the limit applies.

/// Bytes of a robots.txt file that are read: 500 KiB.
///
/// Source: RFC 9309, section 2.5 ("MUST be at least 500 kibibytes"), and Google's page, which sets
/// the same limit. The rest is ignored, including the line that the limit cuts, with a note.
pub const ROBOTS_BYTES_MAX: usize = 500 * 1024;

/// Bytes of a decoded body if files have no limit: 64 MiB. A longer body is broken, not truncated.
///
/// Source: our choice. It bounds the expansion of compressed bodies.
pub const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

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

/// Bytes of a host name after lower-casing and IDNA.
///
/// Source: twice the 255 of RFC 1035, section 2.3.4, because dumps contain names that no resolver
/// would accept.
pub const HOST_BYTES_MAX: usize = 512;

/// Redirects that are followed for a robots.txt file.
///
/// Source: RFC 9309, section 2.3.1.2 ("at least five consecutive redirects"), and Google's page.
pub const REDIRECTS_MAX: u8 = 5;

/// Seconds by which an answer may be older than the redirect that leads to it, for redirects that do not end: a
/// day. Past that, they may come from answers of different times, which no server gave together.
///
/// Source: RFC 9309, section 2.4 ("SHOULD NOT use the cached version for more than 24 hours").
pub const LOOP_AGE_SECONDS_MAX: u64 = 24 * 60 * 60;

/// Seconds of an outage after which a dialect may treat an unreachable file differently: 30 days.
///
/// Source: RFC 9309, section 2.3.1.4 ("for example, 30 days"), and Google's page ("longer than").
pub const LONG_UNREACHABLE_SECONDS: u64 = 30 * 24 * 60 * 60;

/// Records per block: 256.
///
/// Source: measured, see the project's `DESIGN.md`. The lookups of a block overlap, and a larger
/// block spreads its fixed cost over more records.
pub const RECORDS_AT_ONCE: usize = 256;

/// Bytes of a User-Agent header: 8 KiB. A longer one is an error, and where each record has its own,
/// the record has no agent that is known.
///
/// Source: the longest header line that servers accept by default (Apache httpd 8,190 bytes, nginx
/// 8 KiB). Real ones have 100 to 300 bytes.
pub const AGENT_HEADER_BYTES_MAX: usize = 8 * 1024;
