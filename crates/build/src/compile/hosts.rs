//! Hosts, and when and how each policy was captured.

use std::mem::offset_of;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, IntoBytes};

use portcullis_engine::bytes::push_varint;
use portcullis_files::scratch::{Items, Scratch, Spool};
use portcullis_robots::access::KnownOutage;
use portcullis_robots::syntax::NoteKind;
use portcullis_set::layout::{CaptureRow, HostLine, OutageRow, stored};
use portcullis_set::lists::push_front_coded;

use super::config::CompileError;
use super::intern::{BlobNumbers, DistinctPolicies, end};
use super::timelines::Timelines;
use crate::hosts::Piece;
use crate::ingest::{Role, push_bytes};
use crate::pool::{BlobID, BlobPool};
use crate::standing::{Content, HostStanding, Standing};

/// The sections that describe hosts.
pub struct HostSections {
    pub hosts: Items<HostLine>,
    /// The captures of origins, and their outages.
    pub captures: Items<CaptureRow>,
    pub outages: Items<OutageRow>,
    /// `None` if only the newest captures were kept.
    pub timelines: Option<Timelines>,
    /// The record of each key.
    pub log: Spool,
    last_key: Box<[u8]>,
    /// The other records of files: for each list, the number of its front-coded bytes, and these, padded to
    /// words.
    pub others: Items<U32>,
    /// The bytes of these lists before they are front-coded.
    pub others_bytes: u64,
    /// The position of the other records of each blob.
    pub others_of_blob: BlobNumbers,
    /// The number of captures whose file has each note of [`NoteKind::OF_FILES`].
    pub file_notes: [u64; NoteKind::OF_FILES.len()],
}

impl HostSections {
    /// Begins the sections of hosts whose files are in a pool.
    pub fn new(scratch: &Scratch, pool: &BlobPool, has_history: bool) -> HostSections {
        HostSections {
            hosts: Items::new(scratch),
            captures: Items::new(scratch),
            outages: Items::new(scratch),
            timelines: has_history.then(|| Timelines::new(scratch)),
            log: Spool::new(scratch),
            last_key: Box::default(),
            others: Items::new(scratch),
            others_bytes: 0,
            others_of_blob: BlobNumbers::new(pool),
            file_notes: Default::default(),
        }
    }

    /// Stores the other records of a file, if they are new.
    fn add_others(&mut self, blob: BlobID, pool: &BlobPool) -> Result<(), CompileError> {
        if pool.bytes_of(blob) == 0 || self.others_of_blob.get(blob).is_some() {
            return Ok(());
        }
        self.others_of_blob.set(blob, end(&self.others)?);
        self.others_bytes += pool.bytes_of(blob) as u64;
        let mut bytes = vec![0; size_of::<U32>()];
        push_front_coded(&pool.get(blob)?, &mut bytes);
        let count = bytes.len() - size_of::<U32>();
        bytes[..size_of::<U32>()].copy_from_slice(&(count as u32).to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(size_of::<U32>()), 0);
        let words = <[U32]>::ref_from_bytes(&bytes).expect("whole words");
        Ok(self.others.push(words)?)
    }

    /// Adds the next hosts, and resources that are no origin's, with the records of their captures.
    pub fn add_all(
        &mut self,
        piece: &Piece<'_>,
        pool: &BlobPool,
        distinct: &DistinctPolicies,
    ) -> Result<(), CompileError> {
        for content in piece.contents() {
            if let Content::File { others, .. } = content {
                self.add_others(others, pool)?;
            }
        }
        let mut records = Vec::new();
        for (host, captures) in piece.hosts.iter().zip(&piece.captures) {
            captures.push(&mut records, [&self.last_key, &host.key], &mut |out, role, blob| {
                match role {
                    Role::Location => push_bytes(out, &pool.get(blob)?),
                    Role::Extract => {
                        push_varint(
                            out,
                            distinct.of_blob.get(blob).expect("a policy that was added"),
                        );
                    }
                    Role::Others => {
                        push_varint(out, self.others_of_blob.get(blob).map_or(0, |it| it + 1));
                    }
                }
                Ok(())
            })?;
            self.last_key.clone_from(&host.key);
            // Those of a piece may have long targets of redirects.
            self.log.write(&records)?;
            records.clear();
        }
        for host in &*piece.hosts {
            let numbers = (distinct, &self.others_of_blob);
            let timelines = self.timelines.as_mut().map(|it| it.add(host, numbers)).transpose()?;
            if host.is_host() {
                self.add(host, timelines, distinct)?;
            }
        }
        Ok(())
    }

    /// Adds the next host, whose other records were stored, with the words of its timelines.
    fn add(
        &mut self,
        host: &HostStanding,
        timelines: Option<[u32; 2]>,
        distinct: &DistinctPolicies,
    ) -> Result<(), CompileError> {
        let policy = |standing: &Option<Standing>| {
            stored(standing.as_ref().and_then(|it| distinct.number(it.content)))
        };
        let [http_timeline, https_timeline] = timelines.map_or([None, None], |it| it.map(Some));
        let http_capture = self.push_capture(host.http.as_ref(), http_timeline)?;
        let https_capture = match host.http == host.https && http_timeline == https_timeline {
            true => http_capture,
            false => self.push_capture(host.https.as_ref(), https_timeline)?,
        };
        let mut lines = vec![HostLine::new_zeroed(); HostLine::lines(host.key.len())];
        lines[0].key_bytes = U32::new(host.key.len() as u32);
        lines[0].policies = [&host.http, &host.https].map(policy);
        lines[0].captures = [http_capture, https_capture].map(stored);
        let key = &mut lines.as_mut_bytes()[offset_of!(HostLine, key)..];
        key[..host.key.len()].copy_from_slice(&host.key);
        end(&self.hosts)?; // The position of a host has 32 bits.
        Ok(self.hosts.push(&lines)?)
    }

    /// Adds the capture of an origin, with the word of its timeline. Returns its number.
    fn push_capture(
        &mut self,
        standing: Option<&Standing>,
        timeline: Option<u32>,
    ) -> Result<Option<u32>, CompileError> {
        let Some(Standing { content, facts }) = standing else { return Ok(None) };
        if let Some((timelines, word)) = self.timelines.as_mut().zip(timeline) {
            timelines.origins.push(&[U32::new(word)])?;
        }
        for (count, kind) in self.file_notes.iter_mut().zip(NoteKind::OF_FILES) {
            *count += u64::from(facts.file_notes.contains(kind));
        }
        let index = end(&self.captures)?;
        self.captures.push(&[CaptureRow {
            serves_seconds: stored(facts.serves_seconds()),
            status: facts.status.into(),
            redirects: facts.redirects_followed,
            capture_notes: facts.capture_notes.bits().into(),
            file_notes: facts.file_notes.bits().into(),
            file_bytes: facts.file_bytes.into(),
            others: stored(position_of_others(*content, &self.others_of_blob)),
            input: facts.input.into(),
            span_seconds: facts.span_seconds.into(),
            ..CaptureRow::dated(facts.captured_at.map(|date| date.0))
        }])?;
        if let Some(KnownOutage { since, copy_captured_at, .. }) = facts.outage {
            let [since, copy] = [Some(since), copy_captured_at]
                .map(|time| U64::new(time.map_or(u64::MAX, |time| time.0)));
            self.outages.push(&[OutageRow { capture: index.into(), since, copy }])?;
        }
        Ok(Some(index))
    }

    /// Returns the size of the tables, in bytes.
    pub fn table_bytes(&self) -> usize {
        let moments = self.timelines.as_ref().map_or(0, Timelines::table_bytes);
        self.others_of_blob.bytes() + moments
    }
}

/// Returns the position of the other records of a file, if it has any.
pub fn position_of_others(content: Content, others_of_blob: &BlobNumbers) -> Option<u32> {
    match content {
        Content::File { others, .. } => others_of_blob.get(others),
        Content::Access(_) => None,
    }
}
