//! Hosts, when and how each policy was captured, and their timelines.

use std::mem::offset_of;

use hashbrown::HashMap;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromZeros, IntoBytes};

use portcullis_files::scratch::{Items, Scratch};
use portcullis_robots::access::{DateSpan, KnownOutage, UnixSeconds};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::layout::record::In;
use portcullis_set::layout::{
    Capture, CaptureRow, HostLine, MomentRow, NONE, OutageRow, WideCapture, count,
};
use portcullis_set::lists::ListReader;
use portcullis_set::stored::CaptureFacts;

use super::config::CompileError;
use super::intern::{DistinctPolicies, end};
use super::texts::Texts;
use crate::pool::BlobID;
use crate::pool::BlobPool;
use crate::standing::{Content, HostStanding, Moment, Standing, Timeline};

/// The sections that describe hosts.
pub struct HostSections {
    pub hosts: Items<HostLine>,
    /// The captures of origins.
    pub captures: Captures,
    /// The other records of files. Their string numbers are provisional.
    pub others: Items<U32>,
    /// `None` if only the newest captures were kept.
    pub timelines: Option<Timelines>,
    /// The position of the other records of each blob, or [`NONE`].
    others_of_blob: Vec<u32>,
    /// The bytes of the other records.
    pub other_bytes: u64,
    counts: HostCounts,
}

/// Captures and their outages.
pub struct Captures {
    pub rows: Items<CaptureRow>,
    pub wide: Items<WideCapture>,
    pub outages: Items<OutageRow>,
}

/// The sections of timelines.
pub struct Timelines {
    /// The first moment of each capture's timeline. The end of the last one is missing.
    pub starts: Items<U32>,
    /// The moments, whose captures are numbered from 0.
    pub moments: Items<MomentRow>,
    /// The captures of moments, each once. They follow those of origins.
    pub captures: Captures,
    known: HashMap<MomentCapture, u32, foldhash::fast::RandomState>,
}

/// A stored capture and its outage, to find equal ones.
type MomentCapture = ([u8; size_of::<Capture>()], Option<KnownOutage>);

#[derive(Default)]
struct HostCounts {
    hosts: u64,
    origins: u64,
    captured: Option<DateSpan>,
    file_notes: [u64; NoteKind::OF_FILES.len()],
}

impl Captures {
    fn new(scratch: &Scratch) -> Captures {
        Captures {
            rows: Items::new(scratch),
            wide: Items::new(scratch),
            outages: Items::new(scratch),
        }
    }

    fn push(&mut self, capture: Capture, outage: Option<KnownOutage>) -> Result<u32, CompileError> {
        let index = end(&self.rows)?;
        let (row, fits) = CaptureRow::of(&capture);
        self.rows.push(&[row])?;
        if !fits {
            self.wide.push(&[WideCapture { number: index.into(), capture }])?;
        }
        if let Some(KnownOutage { since, copy_captured_at, .. }) = outage {
            let since = stored_time(Some(since));
            let copy = stored_time(copy_captured_at);
            self.outages.push(&[OutageRow { capture: index.into(), since, copy }])?;
        }
        Ok(index)
    }
}

impl HostSections {
    /// Begins the sections of hosts whose files are in a pool with this many places.
    pub fn new(scratch: &Scratch, places: usize, has_history: bool) -> HostSections {
        HostSections {
            hosts: Items::new(scratch),
            captures: Captures::new(scratch),
            others: Items::new(scratch),
            timelines: has_history.then(|| Timelines::new(scratch)),
            others_of_blob: vec![NONE; places],
            other_bytes: 0,
            counts: HostCounts::default(),
        }
    }

    /// Stores the other records of a file, if they are new.
    pub fn add_others(
        &mut self,
        blob: BlobID,
        pool: &BlobPool,
        texts: &mut Texts,
    ) -> Result<(), CompileError> {
        if pool.bytes_of(blob) == 0 || self.others_of_blob[blob.index()] != NONE {
            return Ok(());
        }
        let bytes = pool.get(blob)?;
        self.other_bytes += bytes.len() as u64;
        let records: Vec<_> = ListReader::from_others(&bytes).flatten().collect();
        let words = texts.list(&records, &[], In::Others)?;
        self.others_of_blob[blob.index()] = end(&self.others)?;
        self.others.push(&words)?;
        Ok(())
    }

    /// Returns the position of the other records of a file, or [`NONE`].
    pub fn others_of(&self, blob: BlobID) -> u32 {
        self.others_of_blob[blob.index()]
    }

    /// Adds the next host, whose other records were stored.
    pub fn add(
        &mut self,
        host: &HostStanding,
        distinct: &DistinctPolicies,
    ) -> Result<(), CompileError> {
        let policy =
            |standing: &Option<Standing>| standing.as_ref().map_or(NONE, |it| distinct.index(it));
        let [http_timeline, https_timeline] =
            host.timelines.as_ref().map_or([None, None], |it| it.each_ref().map(Some));
        let mut push = |standing: Option<&Standing>, timeline: Option<&Timeline>| {
            let Some(standing) = standing else { return Ok(NONE) };
            let capture = self.push_capture(standing)?;
            if let Some((timelines, timeline)) = self.timelines.as_mut().zip(timeline) {
                timelines.push(standing, timeline, distinct, &self.others_of_blob)?;
            }
            Ok::<_, CompileError>(capture)
        };
        let http_capture = push(host.http.as_ref(), http_timeline)?;
        let https_capture = match host.http == host.https && http_timeline == https_timeline {
            true => http_capture,
            false => push(host.https.as_ref(), https_timeline)?,
        };
        for moment in host.timelines().flatten() {
            let dates = moment.standing.facts.dates();
            self.counts.captured = DateSpan::over(self.counts.captured, dates);
        }
        let mut lines = vec![HostLine::new_zeroed(); HostLine::lines(host.key.len())];
        lines[0].key_bytes = U32::new(host.key.len() as u32);
        lines[0].policies = [&host.http, &host.https].map(|it| U32::new(policy(it)));
        lines[0].captures = [http_capture, https_capture].map(U32::new);
        let key = &mut lines.as_mut_bytes()[offset_of!(HostLine, key)..];
        key[..host.key.len()].copy_from_slice(&host.key);
        end(&self.hosts)?; // The position of a host has 32 bits.
        self.hosts.push(&lines)?;
        self.counts.hosts += 1;
        self.counts.origins +=
            [&host.http, &host.https].iter().flat_map(|it| it.iter()).count() as u64;
        Ok(())
    }

    fn push_capture(&mut self, standing: &Standing) -> Result<u32, CompileError> {
        let facts = &standing.facts;
        self.counts.captured = DateSpan::over(self.counts.captured, facts.dates());
        for (count, kind) in self.counts.file_notes.iter_mut().zip(NoteKind::OF_FILES) {
            *count += u64::from(facts.file_notes.contains(kind));
        }
        self.captures.push(stored(standing, &self.others_of_blob), facts.outage)
    }

    /// Returns the size of the tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        let moments = self.timelines.as_ref().map_or(0, |it| it.known.allocation_size());
        size_of_val(&*self.others_of_blob) + moments
    }

    pub fn count(&self, counts: &mut [u64]) {
        let (from, to) = self.counts.captured.map_or((0, 0), |it| (it.first.0, it.last.0));
        counts[count::HOSTS] = self.counts.hosts;
        counts[count::ORIGINS] = self.counts.origins;
        counts[count::CAPTURES] = self.captures.rows.len();
        counts[count::CAPTURED_FROM] = from;
        counts[count::CAPTURED_TO] = to;
        let notes = &self.counts.file_notes;
        counts[count::FILE_NOTES..][..notes.len()].copy_from_slice(notes);
    }
}

impl Timelines {
    fn new(scratch: &Scratch) -> Timelines {
        Timelines {
            starts: Items::new(scratch),
            moments: Items::new(scratch),
            captures: Captures::new(scratch),
            known: HashMap::default(),
        }
    }

    /// Adds the timeline of the next capture, that of an origin with this standing.
    fn push(
        &mut self,
        standing: &Standing,
        timeline: &Timeline,
        distinct: &DistinctPolicies,
        others: &[u32],
    ) -> Result<(), CompileError> {
        self.starts.push(&[U32::new(end(&self.moments)?)])?;
        // The usual timeline of one moment follows from the capture.
        if **timeline == [Moment::of(*standing)] {
            return Ok(());
        }
        for Moment { since, standing } in timeline {
            let facts = &standing.facts;
            let age = facts.captured_at.map(|captured_at| UnixSeconds(since.since(captured_at)));
            let counted_back = CaptureFacts { input: 0, ..*facts };
            let stored = stored(&Standing { facts: counted_back, ..*standing }, others);
            let stored = Capture { captured_at: stored_time(age), ..stored };
            let new = end(&self.captures.rows)?;
            let bytes = stored.as_bytes().try_into().expect("the bytes of a capture");
            let capture = *self.known.entry((bytes, facts.outage)).or_insert(new);
            if capture == new {
                self.captures.push(stored, facts.outage)?;
            }
            let policy = distinct.index(standing);
            self.moments.push(&[MomentRow::new(since.0, facts.input, policy, capture)])?;
        }
        Ok(())
    }
}

/// Returns the stored form of a standing's capture.
fn stored(Standing { content, facts }: &Standing, others_of_blob: &[u32]) -> Capture {
    Capture {
        captured_at: stored_time(facts.captured_at),
        serves_seconds: facts.serves_seconds().unwrap_or(NONE).into(),
        status: facts.status.into(),
        redirects: u16::from(facts.redirects_followed).into(),
        capture_notes: facts.capture_notes.bits().into(),
        file_notes: facts.file_notes.bits().into(),
        file_bytes: facts.file_bytes.into(),
        others: match content {
            Content::File { others: blob, .. } => others_of_blob[blob.index()].into(),
            Content::Access(_) => NONE.into(),
        },
        input: facts.input.into(),
        span_seconds: facts.span_seconds.into(),
    }
}

fn stored_time(time: Option<UnixSeconds>) -> U64 {
    U64::new(time.map_or(u64::MAX, |time| time.0))
}
