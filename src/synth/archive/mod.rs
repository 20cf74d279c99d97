//! Archives of made-up answers to GET /robots.txt, and what each origin's state is by them.
//!
//! Owns the form of the archives: JSON Lines, and WARC with a gzip member for each record, as crawls
//! keep them. Hosts either all answer with their file, or as the web does: some three in ten with a
//! redirect (to https or another name, in chains, in loops, to a place that nobody captured), others
//! that there is no file, that they are busy, with a page, with a body that is chunked, compressed or
//! cut short, or not at all. What an origin's state must be for one who reads the archive by RFC 9309
//! is known from what was made, without reading it, so that readers can be tested on it.
//!
//! The files may be anybody's: [`Corpus::write_archived`](super::Corpus::write_archived) takes the
//! corpus's own. Everything about a host is drawn from the seed and the host's position. Cost: the
//! file's bytes, and compressing them for WARC.
//!
//! ```
//! use portcullis::synth::{Answers, Archive, ArchiveFormat, ArchivedFile};
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

mod body;
mod exchange;
mod json_lines;
mod story;
mod warc;

use self::exchange::Exchange;
use self::story::{Story, tell};
use super::random::{Purpose, SplitMix64};
use crate::decision::PolicyState;

/// The form of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// An object on each line: `url`, `fetched_at`, `status`, `headers`, `redirects`, `body`; or
    /// `error` in place of a status.
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

    /// Appends what stands before all hosts to `out`.
    pub fn write_head(&self, out: &mut Vec<u8>) {
        if self.format == ArchiveFormat::Warc {
            warc::write_head(self.stream(u64::MAX), out);
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
            Answers::Files => Story::of_file(file, &mut random),
            Answers::AsTheWeb { older_max } => tell(file, self.format, older_max, &mut random),
        };
        for exchange in &story.exchanges {
            self.write_exchange(exchange, &mut random, records);
        }
        for (origin, state) in &story.states {
            states.extend_from_slice(origin);
            states.push(b'\t');
            states.extend_from_slice(word(*state).as_bytes());
            states.push(b'\n');
        }
        story.exchanges.len()
    }

    fn write_exchange(
        &self,
        exchange: &Exchange<'_>,
        random: &mut SplitMix64,
        records: &mut Vec<u8>,
    ) {
        match (self.format, self.answers) {
            (ArchiveFormat::JsonLines, _) => json_lines::write(exchange, records),
            (ArchiveFormat::Warc, answers) => {
                let has_requests = answers != Answers::Files;
                warc::write(exchange, has_requests, random, records);
            }
        }
    }

    fn stream(&self, position: u64) -> SplitMix64 {
        SplitMix64::stream(self.seed, Purpose::Answers, position)
    }
}

fn word(state: PolicyState) -> &'static str {
    match state {
        PolicyState::Rules => "rules",
        PolicyState::NoRules => "no-rules",
        PolicyState::Unavailable => "unavailable",
        PolicyState::Unreachable => "unreachable",
        PolicyState::Deferred => "deferred",
        PolicyState::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests;
