//! Archives of made-up answers to GET /robots.txt, and the state of each origin that follows from them.
//!
//! Owns the archives of `portcullis synth`: JSON Lines, and WARC with a gzip member per record, as
//! crawls store them. Hosts either all answer with their file, or as the web does: three in ten redirect
//! (to https or another name, in chains, in loops, to what was not captured); others have no file, are
//! busy, send a page, send a body that is chunked, compressed or cut short, or do not answer. The state
//! of an origin by RFC 9309 is known from what was made, without reading it, so that readers can be
//! tested on the archive.
//!
//! [`Corpus::write_archived`](super::Corpus::write_archived) writes the corpus's own files; other files
//! work too. Everything about a host is drawn from the seed and the host's position. Cost: the file's
//! bytes, and compressing them for WARC.
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

/// The form of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// An object on each line: `url`, `fetched_at`, `status`, `headers`, `redirects`, `body`; or
    /// `error` instead of a status.
    JsonLines,
    /// WARC 1.0, each record a gzip member of its own.
    Warc,
}

/// How hosts answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Each with its file, once.
    Files,
    /// As the web's hosts do, with all that goes wrong.
    AsTheWeb {
        /// Answers of the same origin that are older than the one that counts, at most.
        older_max: u64,
    },
}

/// A host and its file.
#[derive(Clone, Copy, Debug)]
pub struct ArchivedFile<'f> {
    /// Whether the host is asked by https.
    pub https: bool,
    /// Its name, which no other host of the archive has.
    pub host: &'f [u8],
    /// Another name, no other host's either, that redirects may lead to.
    pub other_host: &'f [u8],
    /// Its file.
    pub robots: &'f [u8],
    /// Whether the file has a rule in any group.
    pub has_rules: bool,
}

/// How an archive is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    seed: u64,
    format: ArchiveFormat,
    answers: Answers,
}

impl Archive {
    /// An archive of this form whose answers are drawn from `seed`.
    pub fn new(seed: u64, format: ArchiveFormat, answers: Answers) -> Archive {
        Archive { seed, format, answers }
    }

    /// Appends the head of the archive to `out`.
    pub fn write_head(&self, out: &mut Vec<u8>) {
        if self.format == ArchiveFormat::Warc {
            formats::write_warc_head(self.stream(u64::MAX), out);
        }
    }

    /// Appends the answers of the host at this position to `records`, and to `states` a line
    /// `scheme://host<TAB>state` for every origin that an answer of root `/robots.txt` is of. The
    /// state is `rules`, `no-rules`, `unavailable` or `unreachable`. Returns the number of answers.
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
