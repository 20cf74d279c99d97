//! Readings: how a crawler reads robots.txt, next to which groups its tokens select.
//!
//! RFC 9309 says what every crawler should do. Operators document that their own differ: some read an
//! answer without a file as permission, some keep the last file. A [`Crawler`](super::Crawler) has the
//! [`Reading`] that decides for it; by default that is the dialect's.

/// How a crawler reads robots.txt where it differs from the dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reading {
    /// The access where there is no file.
    pub without_file: WithoutFile,
    /// Whether the crawler ignores Crawl-delay.
    pub ignores_delay: bool,
}

/// The access of a crawler where the answer to GET /robots.txt is not a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WithoutFile {
    /// The outcome that the dialect has for the answer.
    #[default]
    AsDialect,
    /// Everything is allowed: also for a success other than 200, and for a file of more bytes than this.
    Open {
        /// The most bytes of a file that is read.
        file_bytes_max: u32,
    },
    /// The last file applies while fetches have failed for no more than so many days, and then everything
    /// is allowed.
    LastCopy {
        /// The days.
        days: u16,
    },
}
