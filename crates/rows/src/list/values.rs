//! The values that are read from a record: the URL, and its host, the time and the agent if they are
//! asked for.
//!
//! Each format finds all values in one pass. [`Layout`] says where they are, [`Values`] is what was
//! found.

use super::access_log::AccessLine;
use super::cdx::CdxLine;
use super::delimited::Columns;
use super::host::Hosts;
use super::json::Members;
use super::w3c::W3cLine;
use super::{Arena, Problem};
use crate::input::Record;
use portcullis_robots::access::UnixSeconds;

/// The layout of a record of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The text is the URL.
    Text,
    /// Members of the text, a JSON object.
    Fields(Members),
    /// Fields of the row.
    Columns(Columns),
    /// Members of the object after the second space. The time may be the word before it.
    Cdxj(Members),
    /// Fields of a line, or of a row of JSON.
    Cdx(CdxLine),
    /// The URL is the second word of a line in a recover journal.
    JournalWord,
    /// The URL is the fourth word of a line in a crawl.log, and the time the first.
    LogWords,
    /// The request of a line in an access log.
    AccessLine(AccessLine),
    /// Fields of a line in a W3C extended log.
    W3cLine(W3cLine),
    /// The URL is the first line up to TAB.
    DumpLine,
}

/// The values in a record.
pub(super) struct Values<'c> {
    pub url: Result<&'c [u8], Problem>,
    /// `None` if there is none, it cannot be read, or it is not asked for.
    pub time: Option<UnixSeconds>,
    /// `None` if there is none, it is no text, or it is not asked for.
    pub agent: Option<&'c [u8]>,
    /// The host of a URL that is a path alone. `None` if there is none, or it is not asked for.
    pub host: Option<&'c [u8]>,
}

impl<'c> Values<'c> {
    pub(super) fn of_url(url: Result<&'c [u8], Problem>) -> Values<'c> {
        Values { url, time: None, agent: None, host: None }
    }

    /// Returns `record` with the URL. `hosts` completes paths.
    pub(super) fn of_record(
        self,
        record: Record<'c>,
        hosts: Option<&Hosts>,
        arena: &'c Arena,
    ) -> Record<'c> {
        let url = match (self.url, hosts) {
            (Ok(path @ [b'/', ..]), Some(hosts)) => hosts.url_of(path, self.host, arena),
            (url, _) => url,
        };
        match url {
            _ if record.text().trim_ascii().is_empty() => record.with_url(b""),
            Ok(url) => record.with_url(url),
            Err(problem) => record.with_problem(problem),
        }
    }
}
