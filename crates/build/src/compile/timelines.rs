//! The timelines of a set, and the captures of their moments.
//!
//! Those of captures come first, then those that origins share, in the order of first use.

use std::sync::Arc;

use hashbrown::HashMap;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, IntoBytes};

use portcullis_files::scratch::{Items, Scratch};
use portcullis_robots::access::{CaptureNote, CaptureNotes, KnownOutage, UnixSeconds};
use portcullis_set::file::SectionKind;
use portcullis_set::layout::{CaptureRow, MomentRow, NONE};
use portcullis_set::limits::TIMELINE_INPUTS_MAX;
use portcullis_set::stored::CaptureFacts;

use super::config::CompileError;
use super::hosts::{Captures, stored};
use super::intern::{DistinctPolicies, end};
use crate::pool::{Fingerprint, Fingerprints};
use crate::shared::{Followed, SharedTimeline};
use crate::standing::{Moment, Standing, Timeline};
use crate::writer::SectionSink;

/// New shared timelines, each with the index of the first of some hosts that follows it.
pub type FirstFollowed = Vec<(usize, Arc<SharedTimeline>)>;

/// The sections of timelines.
pub struct Timelines {
    /// Those of captures of origins.
    own: Moments,
    /// Those that origins share.
    shared: Moments,
    numbers: Fingerprints,
    /// The number of shared timelines that have a number.
    numbered: u32,
    /// The captures of moments, each once. They follow those of origins.
    pub captures: Captures,
    known: HashMap<MomentCapture, u32, foldhash::fast::RandomState>,
}

/// Timelines, one after another.
struct Moments {
    /// The first moment of each. The end of the last one is missing.
    starts: Items<U32>,
    /// The moments, whose captures are numbered from 0.
    rows: Items<MomentRow>,
}

/// A stored capture and its outage, to find equal ones.
type MomentCapture = ([u8; size_of::<CaptureRow>()], Option<KnownOutage>);

/// The numbers of policies, and the position of the other records of each blob.
pub type Numbers<'n> = (&'n DistinctPolicies, &'n [u32]);

impl Timelines {
    pub fn new(scratch: &Scratch) -> Timelines {
        let moments = || Moments { starts: Items::new(scratch), rows: Items::new(scratch) };
        Timelines {
            own: moments(),
            shared: moments(),
            numbers: Fingerprints::default(),
            numbered: 0,
            captures: Captures::new(scratch),
            known: HashMap::default(),
        }
    }

    /// Numbers the timelines that some moments follow, and that those follow, as far as they are new.
    /// Returns these, which [`Timelines::add_shared`] then adds in this order.
    pub fn number_followed(
        &mut self,
        moments: &Timeline,
    ) -> Result<Vec<Arc<SharedTimeline>>, CompileError> {
        let mut new = Vec::new();
        for followed in moments.iter().filter_map(|moment| moment.follows.as_deref()) {
            let (timeline, next) = (&followed.timeline, self.numbered);
            if self.number_of(timeline, next)? == next {
                self.numbered = next.checked_add(1).filter(|&it| it < NONE).ok_or_else(too_long)?;
                new.push(Arc::clone(timeline));
                new.extend(self.number_followed(timeline.moments())?);
            }
        }
        Ok(new)
    }

    fn number_of(&mut self, timeline: &SharedTimeline, next: u32) -> Result<u32, CompileError> {
        self.numbers.number(Fingerprint::of(&timeline.name()), || Ok(next))
    }

    /// Adds a shared timeline, in the order of their numbers.
    pub fn add_shared(
        &mut self,
        timeline: &SharedTimeline,
        numbers: Numbers<'_>,
    ) -> Result<(), CompileError> {
        self.shared.starts.push(&[U32::new(end(&self.shared.rows)?)])?;
        for moment in timeline.moments() {
            let row = self.row(moment, numbers)?;
            self.shared.rows.push(&[row])?;
        }
        Ok(())
    }

    /// Adds the timeline of the next capture, that of an origin with this standing.
    pub fn add(
        &mut self,
        standing: &Standing,
        timeline: &Timeline,
        numbers: Numbers<'_>,
    ) -> Result<(), CompileError> {
        self.own.starts.push(&[U32::new(end(&self.own.rows)?)])?;
        // The usual timeline of one moment follows from the capture.
        if **timeline == [Moment::of(*standing)] {
            return Ok(());
        }
        for moment in timeline {
            let row = self.row(moment, numbers)?;
            self.own.rows.push(&[row])?;
        }
        Ok(())
    }

    /// Returns the row of a moment, whose capture is stored if it is new.
    fn row(
        &mut self,
        Moment { since, standing, follows }: &Moment,
        (distinct, others): Numbers<'_>,
    ) -> Result<MomentRow, CompileError> {
        // A number that does not fit would end up in the time beside it, or count from 0 again.
        let is_numbered = (standing.facts.input as usize) < TIMELINE_INPUTS_MAX
            && self.moments() < u32::MAX.into();
        if !is_numbered {
            return Err(too_long());
        }
        let age = |date: Option<UnixSeconds>| date.map(|date| since.since(date));
        let (policy, capture, outage) = match follows.as_deref() {
            None => {
                let facts = &standing.facts;
                let capture = stored(age(facts.captured_at), standing, others);
                (distinct.index(standing), capture, facts.outage)
            }
            Some(followed) => {
                // It has a number.
                let number = self.number_of(&followed.timeline, NONE)?;
                (NONE, stored_redirect(age(followed.captured_at), standing, followed, number), None)
            }
        };
        let capture = self.capture(CaptureRow { input: 0.into(), ..capture }, outage)?;
        Ok(MomentRow::new(since.0, standing.facts.input, policy, capture))
    }

    /// Returns the number of a moment's capture, which is stored if it is new.
    fn capture(
        &mut self,
        row: CaptureRow,
        outage: Option<KnownOutage>,
    ) -> Result<u32, CompileError> {
        let new = end(&self.captures.rows)?;
        let bytes = row.as_bytes().try_into().expect("the bytes of a capture");
        let number = *self.known.entry((bytes, outage)).or_insert(new);
        if number == new {
            self.captures.push(row, outage)?;
        }
        Ok(number)
    }

    /// Returns the number of moments.
    fn moments(&self) -> u64 {
        self.own.rows.len() + self.shared.rows.len()
    }

    pub fn table_bytes(&self) -> usize {
        self.known.allocation_size() + self.numbers.bytes()
    }

    /// Writes the sections: shared timelines behind those of captures.
    pub fn write(&self, writer: &mut impl SectionSink) -> Result<(), CompileError> {
        let Timelines { own, shared, captures, .. } = self;
        writer.spool(SectionKind::TIMELINES, own.starts.spool())?;
        let behind_own = own.rows.len() as u32;
        shared.starts.spool().reader().each_piece(|piece| {
            let mut starts = piece.to_vec();
            let words = <[U32]>::mut_from_bytes(&mut starts).expect("a piece has whole words");
            words.iter_mut().for_each(|start| *start += behind_own);
            writer.write(&starts)
        })?;
        writer.write(U32::new(self.moments() as u32).as_bytes())?;
        writer.spool(SectionKind::MOMENTS, own.rows.spool())?;
        shared.rows.spool().reader().each_piece(|piece| writer.write(piece))?;
        writer.spool(SectionKind::MOMENT_CAPTURES, captures.rows.spool())?;
        writer.spool(SectionKind::MOMENT_OUTAGES, captures.outages.spool())
    }
}

fn too_long() -> CompileError {
    CompileError::TooMuch(format!(
        "too long a history: a set has at most {TIMELINE_INPUTS_MAX} inputs and {} moments; compile \
         the input as several sets",
        u32::MAX
    ))
}

/// Returns the stored form of a redirect to a shared timeline, with this date and number.
fn stored_redirect(
    date: Option<u64>,
    Standing { facts, .. }: &Standing,
    Followed { captured_at, expires_at, .. }: &Followed,
    number: u32,
) -> CaptureRow {
    let (captured_at, expires_at) = (*captured_at, *expires_at);
    let redirect = CaptureFacts { captured_at, expires_at, ..CaptureFacts::default() };
    let other_scheme = CaptureNotes::default().with(CaptureNote::OtherScheme);
    let has_note = facts.capture_notes.contains(CaptureNote::OtherScheme);
    CaptureRow {
        serves_seconds: redirect.serves_seconds().unwrap_or(NONE).into(),
        capture_notes: if has_note { other_scheme.bits().into() } else { 0.into() },
        others: number.into(),
        ..CaptureRow::dated(date)
    }
}
