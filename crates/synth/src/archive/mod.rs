//! Synthetic archives of responses to GET /robots.txt, and the resulting state of each origin.
//!
//! This module generates the archives of `portcullis synth`: JSON Lines, and WARC with one gzip
//! member per record, as crawls store them. Either all hosts respond with their file, or they
//! respond as on the web:
//!
//! - Three in ten redirect: to https or another name, in chains, in loops, or to a page that was
//!   not captured.
//! - Others have no file, are rate-limited, send a page, send a body that is chunked, compressed or
//!   truncated, or do not respond.
//!
//! The generator knows the RFC 9309 state of each origin without reading the archive, so archives
//! can test readers.
//!
//! [`Corpus::write_archived`](super::Corpus::write_archived) writes the corpus's own files; other
//! files work too. All properties of a host are drawn from the seed and the host's position. Cost:
//! copying the file, and compressing it for WARC.
//!
//! ```
//! use portcullis_synth::{Answers, Archive, ArchiveFormat, ArchivedFile};
//!
//! let archive = Archive::new(7, ArchiveFormat::JsonLines, Answers::Files);
//! let file = ArchivedFile {
//!     https: true,
//!     host: b"a.example",
//!     other_host: b"www.a.example",
//!     robots: b"User-agent: *\nDisallow: /x\n",
//!     has_rules: true,
//! };
//! let (mut records, mut states) = (Vec::new(), Vec::new());
//! archive.write_host(0, &file, &mut records, &mut states);
//! assert!(records.starts_with(br#"{"url":"https://a.example/robots.txt","#));
//! assert_eq!(states, b"https://a.example\trules\n");
//! ```

mod formats;
mod story;

use self::story::Story;
use super::random::{Purpose, SplitMix64};

/// The format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// One object per line: `url`, `fetched_at`, `status`, `headers`, `redirects`, `body`; or
    /// `error` instead of a status.
    JsonLines,
    /// WARC 1.0, with each record as its own gzip member.
    Warc,
}

/// How hosts respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Each host responds with its file, once.
    Files,
    /// Hosts respond as on the web, including all kinds of errors.
    AsTheWeb {
        /// The maximum number of earlier responses of the same origin, which are superseded.
        older_max: u64,
    },
}

/// A host and its file.
#[derive(Clone, Copy, Debug)]
pub struct ArchivedFile<'f> {
    /// Whether the first request uses https.
    pub https: bool,
    /// The host name, which is unique in the archive.
    pub host: &'f [u8],
    /// Another name for redirects, also unique in the archive.
    pub other_host: &'f [u8],
    /// The file.
    pub robots: &'f [u8],
    /// Whether the file has a rule in any group.
    pub has_rules: bool,
}

/// Generates an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    seed: u64,
    format: ArchiveFormat,
    answers: Answers,
}

impl Archive {
    /// Creates an archive in this format. Responses are drawn from `seed`.
    pub fn new(seed: u64, format: ArchiveFormat, answers: Answers) -> Archive {
        Archive { seed, format, answers }
    }

    /// Appends the head of the archive to `out`.
    pub fn write_head(&self, out: &mut Vec<u8>) {
        if self.format == ArchiveFormat::Warc {
            formats::write_warc_head(self.stream(u64::MAX), out);
        }
    }

    /// Appends the responses of the host at this position to `records`. Appends to `states` one
    /// line `scheme://host<TAB>state` for every origin whose root `/robots.txt` was requested. The
    /// state is `rules`, `no-rules`, `unavailable` or `unreachable`. Returns the number of
    /// responses.
    pub fn write_host(
        &self,
        position: u64,
        file: &ArchivedFile<'_>,
        records: &mut Vec<u8>,
        states: &mut Vec<u8>,
    ) -> usize {
        let mut random = self.stream(position);
        let story = match self.answers {
            Answers::Files => Story::of_file(file, self.format, &mut random),
            Answers::AsTheWeb { older_max } => {
                Story::drawn(file, self.format, older_max, &mut random)
            }
        };
        for exchange in &story.exchanges {
            match self.format {
                ArchiveFormat::JsonLines => formats::write_json_line(exchange, records),
                ArchiveFormat::Warc => {
                    let has_requests = self.answers != Answers::Files;
                    formats::write_warc(exchange, has_requests, &mut random, records);
                }
            }
        }
        for (origin, state) in &story.states {
            states.extend_from_slice(format!("{origin}\t{}\n", state.as_str()).as_bytes());
        }
        story.exchanges.len()
    }

    fn stream(&self, position: u64) -> SplitMix64 {
        SplitMix64::stream(self.seed, Purpose::Answers, position)
    }
}

#[cfg(test)]
mod tests;
