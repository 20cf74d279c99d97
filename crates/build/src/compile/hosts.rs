//! Hosts, and when and how each policy was captured.

use std::mem::offset_of;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromZeros, IntoBytes};

use portcullis_files::scratch::{Items, Scratch};
use portcullis_robots::access::{KnownOutage, UnixSeconds};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::layout::{CaptureRow, HostLine, NONE, OutageRow};

use super::config::CompileError;
use super::intern::{DistinctPolicies, end};
use super::timelines::{FirstFollowed, Timelines};
use crate::pool::{BlobID, BlobPool};
use crate::standing::{Content, HostStanding, Standing, Timeline};

/// The sections that describe hosts.
pub struct HostSections {
    pub hosts: Items<HostLine>,
    /// The captures of origins.
    pub captures: Captures,
    /// `None` if only the newest captures were kept.
    pub timelines: Option<Timelines>,
    /// The other records of files: for each list, the number of its bytes, and these, padded to words.
    pub others: Items<U32>,
    /// The position of the other records of each blob, or [`NONE`].
    pub others_of_blob: Vec<u32>,
    /// The number of captures whose file has each note of [`NoteKind::OF_FILES`].
    pub file_notes: [u64; NoteKind::OF_FILES.len()],
}

/// Captures and their outages.
pub struct Captures {
    pub rows: Items<CaptureRow>,
    pub outages: Items<OutageRow>,
}

impl Captures {
    pub fn new(scratch: &Scratch) -> Captures {
        Captures { rows: Items::new(scratch), outages: Items::new(scratch) }
    }

    pub fn push(
        &mut self,
        row: CaptureRow,
        outage: Option<KnownOutage>,
    ) -> Result<u32, CompileError> {
        let index = end(&self.rows)?;
        self.rows.push(&[row])?;
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
            timelines: has_history.then(|| Timelines::new(scratch)),
            others: Items::new(scratch),
            others_of_blob: vec![NONE; places],
            file_notes: Default::default(),
        }
    }

    /// Stores the other records of a file, if they are new.
    pub fn add_others(&mut self, blob: BlobID, pool: &BlobPool) -> Result<(), CompileError> {
        if pool.bytes_of(blob) == 0 || self.others_of_blob[blob.index()] != NONE {
            return Ok(());
        }
        let bytes = pool.get(blob)?;
        self.others_of_blob[blob.index()] = end(&self.others)?;
        let mut words = vec![U32::new_zeroed(); 1 + bytes.len().div_ceil(size_of::<U32>())];
        words[0] = U32::new(bytes.len() as u32);
        words[1..].as_mut_bytes()[..bytes.len()].copy_from_slice(&bytes);
        Ok(self.others.push(&words)?)
    }

    /// Adds the next hosts, each behind the shared timelines that it is the first to follow.
    pub fn add_all(
        &mut self,
        hosts: &[HostStanding],
        followed: &FirstFollowed,
        pool: &BlobPool,
        distinct: &DistinctPolicies,
    ) -> Result<(), CompileError> {
        let mut followed = followed.iter().peekable();
        for (index, host) in hosts.iter().enumerate() {
            while let Some((_, timeline)) = followed.next_if(|(first, _)| *first == index) {
                self.add_others_of(timeline.moments().iter().map(|it| &it.standing), pool)?;
                let timelines = self.timelines.as_mut().expect("they are followed");
                timelines.add_shared(timeline, (distinct, &self.others_of_blob))?;
            }
            self.add_others_of(host.all(), pool)?;
            self.add(host, distinct)?;
        }
        Ok(())
    }

    /// Adds the other records of files, as far as they are new.
    fn add_others_of<'s>(
        &mut self,
        mut standings: impl Iterator<Item = &'s Standing>,
        pool: &BlobPool,
    ) -> Result<(), CompileError> {
        standings.try_for_each(|standing| match standing.content {
            Content::File { others, .. } => self.add_others(others, pool),
            _ => Ok(()),
        })
    }

    /// Adds the next host, whose other records were stored.
    fn add(
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
                timelines.add(standing, timeline, (distinct, &self.others_of_blob))?;
            }
            Ok::<_, CompileError>(capture)
        };
        let http_capture = push(host.http.as_ref(), http_timeline)?;
        let https_capture = match host.http == host.https && http_timeline == https_timeline {
            true => http_capture,
            false => push(host.https.as_ref(), https_timeline)?,
        };
        let mut lines = vec![HostLine::new_zeroed(); HostLine::lines(host.key.len())];
        lines[0].key_bytes = U32::new(host.key.len() as u32);
        lines[0].policies = [&host.http, &host.https].map(|it| U32::new(policy(it)));
        lines[0].captures = [http_capture, https_capture].map(U32::new);
        let key = &mut lines.as_mut_bytes()[offset_of!(HostLine, key)..];
        key[..host.key.len()].copy_from_slice(&host.key);
        end(&self.hosts)?; // The position of a host has 32 bits.
        Ok(self.hosts.push(&lines)?)
    }

    fn push_capture(&mut self, standing: &Standing) -> Result<u32, CompileError> {
        let facts = &standing.facts;
        for (count, kind) in self.file_notes.iter_mut().zip(NoteKind::OF_FILES) {
            *count += u64::from(facts.file_notes.contains(kind));
        }
        let date = facts.captured_at.map(|date| date.0);
        self.captures.push(stored(date, standing, &self.others_of_blob), facts.outage)
    }

    /// Returns the size of the tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        let moments = self.timelines.as_ref().map_or(0, Timelines::table_bytes);
        size_of_val(&*self.others_of_blob) + moments
    }
}

/// Returns the stored form of a standing's capture, with this date.
pub fn stored(
    date: Option<u64>,
    Standing { content, facts }: &Standing,
    others_of_blob: &[u32],
) -> CaptureRow {
    CaptureRow {
        serves_seconds: facts.serves_seconds().unwrap_or(NONE).into(),
        status: facts.status.into(),
        redirects: facts.redirects_followed,
        capture_notes: facts.capture_notes.bits().into(),
        file_notes: facts.file_notes.bits().into(),
        file_bytes: facts.file_bytes.into(),
        others: match content {
            Content::File { others: blob, .. } => others_of_blob[blob.index()].into(),
            Content::Access(_) => NONE.into(),
        },
        input: facts.input.into(),
        span_seconds: facts.span_seconds.into(),
        ..CaptureRow::dated(date)
    }
}

fn stored_time(time: Option<UnixSeconds>) -> U64 {
    U64::new(time.map_or(u64::MAX, |time| time.0))
}
