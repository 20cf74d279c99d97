//! The layouts of records of text: where each format has the values, and how a block is read.

use std::iter;

use portcullis_captures::json_path::JsonBlock;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_files::input::dump_record;

use super::Problem;
use super::cdx::CdxLine;
use super::crawl;
use super::delimited::CellColumns;
use super::host::{Hosts, Origins};
use super::json::ObjectValues;
use super::log::{LogLine, stops_in};
use super::noticed::Doubts;
use super::place::Place;
use super::values::{Arena, BlockBuffer, Values, Visit, agent_of};
use super::w3c::W3cLine;
use crate::input::{Record, Records};

/// The layout of a record of text.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// The text is the URL.
    Text,
    /// Members of the text, a JSON object.
    Fields(ObjectValues),
    /// Fields of the row.
    Columns(CellColumns),
    /// Members of the object after the second space. The time may be the word before it.
    Cdxj(ObjectValues),
    /// Fields of a line, or of a row of JSON.
    Cdx(CdxLine),
    /// The URL is the second word of a line in a recover journal.
    JournalWord,
    /// The URL is the fourth word of a line in a crawl.log, and the time the first.
    LogWords,
    /// Fields of a line in the log of a server.
    Log(LogLine),
    /// Fields of a line in a W3C extended log.
    W3cLine(W3cLine),
    /// The URL is the first line up to TAB.
    DumpLine,
}

impl Layout {
    /// Fills `block` with the next of `records`: their URLs, which get a host if they are paths, and
    /// their times, agents, visits and doubts.
    pub(super) fn fill<'c>(
        &'c self,
        records: &mut Records<'c>,
        ([at, clients], hosts): ([&Place; 2], Option<&Hosts>),
        arena: &'c Arena,
        block: &mut BlockBuffer<'c>,
    ) {
        let BlockBuffer { records: block, times, agents, visits, doubts, seen, open } = block;
        times.clear();
        agents.clear();
        visits.clear();
        doubts.clear();
        *seen = 0;
        let has_time = *at == Place::Record;
        let (are_asked, has_visits) = (at.is_asked(), clients.is_wanted());
        let mut complete = |values: &Values<'c>, (record, doubt): (Record<'c>, Doubts)| {
            *seen |= values.seen;
            if are_asked {
                times.push(values.time);
            }
            if has_visits {
                visits.push(Visit::new(values.time, values.client));
            }
            agents.push(values.agent.map(|agent| agent_of(agent, arena)).unwrap_or_default());
            doubts.push(doubt);
            record
        };
        let given = hosts.and_then(|hosts| hosts.given.as_ref());
        let of_record = |values: &Values<'c>, record| values.of_record(record, hosts, arena);
        let mut with_values = |values: &mut dyn FnMut(&'c [u8]) -> Values<'c>| {
            records.fill(block);
            for record in block.iter_mut() {
                let values = values(record.text());
                *record = complete(&values, of_record(&values, *record));
            }
        };
        match self {
            Layout::Text if hosts.is_none() => _ = records.fill(block),
            Layout::Text => with_values(&mut |text| Values::from_url(Ok(text))),
            Layout::Fields(members) | Layout::Cdxj(members) => {
                let lines = JsonBlock::new(records.fill(block), arena);
                let mut start = 0;
                for record in block.iter_mut() {
                    let text = (record.text(), lines, start);
                    start += record.whole().len();
                    let values = match self {
                        Layout::Cdxj(_) => crawl::cdxj(text, members, has_time, arena),
                        _ => members.read(text, arena),
                    };
                    *record = complete(&values, of_record(&values, *record));
                }
            }
            Layout::JournalWord => {
                with_values(&mut |text| Values::from_url(crawl::journal_url(text)))
            }
            Layout::Log(line) if line.has_parts() => {
                with_values(&mut |text| match open.is_part(text) {
                    true => Values::from_url(Err(Problem::Cut)),
                    false => line.read(text, given, arena),
                });
            }
            Layout::Log(line) => {
                let mut origins = hosts.map(|hosts| Origins::new(hosts, arena));
                let stops = stops_in(records.fill(block), arena);
                let mut start = 0;
                for record in block.iter_mut() {
                    let at = (record.text(), stops, start);
                    start += record.whole().len();
                    *record = match origins.as_mut().and_then(|it| line.read_usual(at, it)) {
                        Some((url, values)) => {
                            complete(&values, (record.with_url(url), values.doubts))
                        }
                        None => {
                            let values = line.read(record.text(), given, arena);
                            complete(&values, of_record(&values, *record))
                        }
                    };
                }
            }
            Layout::W3cLine(line) => with_values(&mut |text| line.read(text, given, arena)),
            Layout::Cdx(line) => with_values(&mut |text| line.read(text, arena)),
            Layout::LogWords => with_values(&mut |text| crawl::log(text, has_time)),
            Layout::Columns(columns) => {
                let row = || {
                    let (bytes, end_bytes, values) = columns.read(records.rest(), arena)?;
                    let record = records.take(bytes, end_bytes);
                    Some(complete(&values, of_record(&values, record)))
                };
                block.clear();
                block.extend(iter::from_fn(row).take(RECORDS_AT_ONCE));
            }
            Layout::DumpLine => {
                let record = || {
                    let (whole, end_bytes) = dump_record(records.rest())?;
                    let record = records.take(whole.len(), end_bytes);
                    let values = Values::from_url(crawl::dump_url(record.text()));
                    Some(complete(&values, of_record(&values, record)))
                };
                block.clear();
                block.extend(iter::from_fn(record).take(RECORDS_AT_ONCE));
            }
        }
    }
}
