//! The history of a set: the captures of each resource, and the resource of each origin.
//!
//! Resources are numbered in the order of their keys, two for each. Captures that received the same share a
//! response.

use hashbrown::HashMap;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_dialect::AccessRules;
use portcullis_files::scratch::{Items, Scratch};
use portcullis_robots::access::LongOutage;
use portcullis_set::file::SectionKind;
use portcullis_set::layout::{
    HistoryRow, NOT_CAPTURED, ResponseRow, TimelinesHead, stored, timeline_word,
};
use portcullis_set::limits::TIMELINE_INPUTS_MAX;

use super::config::CompileError;
use super::hosts::position_of_others;
use super::intern::{BlobNumbers, DistinctPolicies, end};
use crate::standing::{Content, HostStanding, Leads, TimelineCapture};
use crate::writer::SectionSink;

/// The sections of histories.
pub struct Timelines {
    /// The resource of each capture of an origin.
    pub origins: Items<U32>,
    /// The first capture of each resource. The end of the last one is missing.
    starts: Items<U32>,
    rows: Items<HistoryRow>,
    pub responses: Items<ResponseRow>,
    known: HashMap<ResponseRow, u32, foldhash::fast::RandomState>,
}

/// The numbers of policies, and the position of the other records of each blob.
pub type Numbers<'n> = (&'n DistinctPolicies, &'n BlobNumbers);

impl Timelines {
    pub fn new(scratch: &Scratch) -> Timelines {
        Timelines {
            origins: Items::new(scratch),
            starts: Items::new(scratch),
            rows: Items::new(scratch),
            responses: Items::new(scratch),
            known: HashMap::default(),
        }
    }

    /// Adds the resources of the next key. Returns the words of its origins.
    pub fn add(
        &mut self,
        host: &HostStanding,
        numbers: Numbers<'_>,
    ) -> Result<[u32; 2], CompileError> {
        let resources = host.resources.as_ref().expect("all captures of a history were kept");
        let first = u32::try_from(self.starts.len()).ok().filter(|&it| it < NOT_CAPTURED >> 1);
        let first = first.ok_or_else(too_long)?;
        self.add_resource(&resources.http, numbers)?;
        self.add_resource(resources.https.as_deref().unwrap_or_default(), numbers)?;
        let https = first + u32::from(resources.https.is_some());
        Ok([first, https].map(|resource| timeline_word(resource, resources.is_joined)))
    }

    fn add_resource(
        &mut self,
        captures: &[TimelineCapture],
        numbers: Numbers<'_>,
    ) -> Result<(), CompileError> {
        self.starts.push(&[U32::new(end(&self.rows)?)])?;
        for capture in captures {
            let row = self.row(capture, numbers)?;
            self.rows.push(&[row])?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        capture: &TimelineCapture,
        (distinct, others): Numbers<'_>,
    ) -> Result<HistoryRow, CompileError> {
        let (facts, date) = (&capture.facts, capture.facts.captured_at);
        // A number that does not fit would end up in the date next to it.
        if facts.input as usize >= TIMELINE_INPUTS_MAX {
            return Err(too_long());
        }
        let policy = capture.content.and_then(|content| distinct.number(content));
        let leads = match (capture.leads, capture.content) {
            (Leads::To(resource), _) => Some(resource),
            (Leads::NotCaptured, _) => Some(NOT_CAPTURED),
            // The content of a confirmed file is stored with its own capture.
            (Leads::Nowhere, Some(content)) if capture.file.is_none() => {
                position_of_others(content, others)
            }
            (Leads::Nowhere, _) => None,
        };
        let response = self.response(ResponseRow {
            status: facts.status.into(),
            redirects: facts.redirects_followed,
            has_date: date.is_some().into(),
            capture_notes: facts.capture_notes.bits().into(),
            file_notes: facts.file_notes.bits().into(),
            serves_seconds: stored(facts.serves_seconds()),
            file_bytes: facts.file_bytes.into(),
            others_or_target: stored(leads),
            file: stored(capture.file),
            first_failure: stored(capture.first_failure),
        })?;
        Ok(HistoryRow::new(date.map_or(0, |date| date.0), facts.input, policy, response))
    }

    /// Returns the number of a response, which is stored if it is new.
    fn response(&mut self, row: ResponseRow) -> Result<u32, CompileError> {
        let new = end(&self.responses)?;
        let number = *self.known.entry(row).or_insert(new);
        if number == new {
            self.responses.push(&[row])?;
        }
        Ok(number)
    }

    pub fn table_bytes(&self) -> usize {
        self.known.allocation_size()
    }

    /// Writes the sections.
    pub fn write(
        &self,
        (rules, long_outage): (&AccessRules, LongOutage),
        distinct: &DistinctPolicies,
        writer: &mut impl SectionSink,
    ) -> Result<(), CompileError> {
        let policies =
            rules.outcomes().map(|outcome| stored(distinct.number(Content::Access(outcome))));
        let long_outage = U32::new(long_outage as u32);
        let head = TimelinesHead { long_outage, policies };
        writer.begin(SectionKind::TIMELINES)?;
        writer.write(head.as_bytes())?;
        self.origins.spool().reader().each_piece(|piece| writer.write(piece))?;
        writer.spool(SectionKind::RESOURCES, self.starts.spool())?;
        writer.write(U32::new(end(&self.rows)?).as_bytes())?;
        writer.spool(SectionKind::HISTORY, self.rows.spool())?;
        writer.spool(SectionKind::RESPONSES, self.responses.spool())
    }
}

fn too_long() -> CompileError {
    CompileError::TooMuch(format!(
        "too long a history: a set has at most {TIMELINE_INPUTS_MAX} inputs, and {} resources; compile \
         the input as several sets",
        NOT_CAPTURED >> 1
    ))
}
