//! Rows to captures.

use std::borrow::Cow;

use arrow_array::RecordBatch;

use crate::capture::bodiless::{bodiless, without_body};
use crate::capture::body::{Settled, settle};
use crate::capture::{Batch, BrokenRecord, Capture, CaptureSink, ReadConfig, Subject};
use portcullis_robots::access::{Answer, CachingHeaders};

use super::find::{Places, SubjectColumn};
use super::values::{Bytes, Times, statuses};

/// Some rows, decoded.
pub(super) struct Rows {
    pub batch: RecordBatch,
    pub places: Places,
    pub rows_before: u64,
    pub stored_bytes: u64,
}

impl Batch for Rows {
    /// A share of the file as large as that of the rows.
    fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    fn read(&self, config: &ReadConfig, sink: &mut dyn CaptureSink) {
        let columns = self.columns();
        for row in 0..self.batch.num_rows() {
            match columns.capture(row, config) {
                Ok(capture) => sink.capture(capture),
                Err(problem) => {
                    let number = self.rows_before + row as u64 + 1;
                    sink.broken(BrokenRecord::senseless(format!("row {number}"), problem));
                }
            }
        }
    }
}

impl Rows {
    fn columns(&self) -> Columns<'_> {
        let column = |place: usize| self.batch.column(place).as_ref();
        let (SubjectColumn::Url(subject) | SubjectColumn::Host(subject)) = self.places.subject;
        Columns {
            of_hosts: matches!(self.places.subject, SubjectColumn::Host(_)),
            subjects: Bytes::of(column(subject)),
            statuses: statuses(column(self.places.status)),
            bodies: Bytes::of(column(self.places.body)),
            times: self.places.fetched_at.map_or(Times::Missing, |place| Times::of(column(place))),
        }
    }
}

/// The columns of some rows.
struct Columns<'a> {
    of_hosts: bool,
    subjects: Bytes<'a>,
    statuses: Vec<Result<u16, String>>,
    bodies: Bytes<'a>,
    times: Times<'a>,
}

impl<'a> Columns<'a> {
    /// The capture in a row, or what is wrong with it.
    fn capture(&self, row: usize, config: &ReadConfig) -> Result<Capture<'a>, String> {
        let subject = match (self.subjects.get(row), self.of_hosts) {
            (Some(url), false) => Subject::Url(url),
            (Some(host), true) => Subject::Host(host),
            (None, false) => return Err("its URL is null".to_owned()),
            (None, true) => return Err("its host is null".to_owned()),
        };
        let captured_at = self.times.get(row).map_err(|found| {
            format!("its time is {found}; RFC 3339 is wanted: 2024-05-01T12:00:00Z")
        })?;
        let status = self.statuses[row].as_ref().map_err(|found| {
            format!("its status is {found}; at most three digits are wanted, or null")
        })?;
        let Settled { answer, body, notes } = match (*status, self.bodies.get(row)) {
            (0, _) => bodiless(Answer::NoAnswer),
            (status @ 200..=299, Some(body)) => settle(status, Cow::Borrowed(body), true, config),
            (status @ 200..=299, None) => without_body(status),
            (status, _) => bodiless(Answer::Status(status)),
        };
        Ok(Capture {
            subject,
            captured_at,
            redirects_followed: 0,
            answer,
            location: None,
            caching: CachingHeaders::default(),
            body,
            notes,
        })
    }
}
