//! Hosts: the table that finds them, when and how each policy was captured, and their timelines.

use hashbrown::HashMap;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

use portcullis_io::access::{DateSpan, KnownOutage, UnixSeconds};
use portcullis_robots::syntax::{ListReader, NoteKind};

use super::super::layout::{CaptureRow, MomentRow, NONE, OutageRow, count, host, record};
use super::super::standing::{Moment, Timeline};
use super::super::{BlobPool, CaptureFacts, Content, HostStanding, Standing};
use super::DistinctPolicies;
use super::intern::Lists;
use super::slots::HostSlots;
use super::texts::{Texts, number};

/// The sections that describe hosts.
pub struct HostSections {
    pub slots: HostSlots,
    pub hosts: Vec<U32>,
    pub captures: Vec<CaptureRow>,
    pub outages: Vec<OutageRow>,
    pub others: Vec<U32>,
    /// `None` if only the newest captures were kept.
    pub timelines: Option<Timelines>,
    counts: HostCounts,
}

/// The sections of timelines.
#[derive(Default)]
pub struct Timelines {
    /// The first moment of each capture's timeline, and the end of the last one.
    pub starts: Vec<U32>,
    pub moments: Vec<MomentRow>,
    /// The captures of moments, each once. They follow those of origins.
    captures: Vec<(CaptureRow, Option<KnownOutage>)>,
    known: HashMap<MomentCapture, u32, foldhash::fast::RandomState>,
}

/// A stored capture and its outage, to find equal ones.
type MomentCapture = ([u8; size_of::<CaptureRow>()], Option<KnownOutage>);

#[derive(Default)]
struct HostCounts {
    captures: u64,
    hosts: u64,
    origins: u64,
    captured: Option<DateSpan>,
    file_notes: [u64; NoteKind::OF_FILES.len()],
}

/// The other records of files, by blob.
pub struct Others {
    lists: Lists<U32>,
    /// The position of the records of each blob.
    of_blob: Vec<u32>,
}

impl HostSections {
    /// Stores the other records of all files. Their string numbers are provisional until
    /// [`HostSections::new`].
    pub fn others(hosts: &[HostStanding], pool: &BlobPool, texts: &mut Texts) -> Others {
        let mut others = Others { lists: Lists::default(), of_blob: vec![NONE; pool.places()] };
        for standing in hosts.iter().flat_map(HostStanding::all) {
            let Content::File { others: blob, .. } = standing.content else { continue };
            if pool.get(blob).is_empty() || others.of_blob[blob.index()] != NONE {
                continue;
            }
            let records: Vec<_> = ListReader::of_others(pool.get(blob)).flatten().collect();
            let words = texts.list(&records, &[], record::OTHER_KIND_BITS);
            others.of_blob[blob.index()] = others.lists.intern(&words);
        }
        others
    }

    /// Builds the sections of hosts. `None` if no seed keeps the runs of the host table short.
    pub fn new(
        hosts: &[HostStanding],
        distinct: &DistinctPolicies,
        mut others: Others,
        texts: &Texts,
    ) -> Option<HostSections> {
        number(&mut others.lists.items, texts.table(), record::OTHER_KIND_BITS);
        let mut sections = HostSections {
            slots: HostSlots { seed: 0, lines: Vec::new() },
            hosts: Vec::new(),
            captures: Vec::new(),
            outages: Vec::new(),
            others: Vec::new(),
            timelines: hosts.iter().any(HostStanding::has_history).then(Timelines::default),
            counts: HostCounts::default(),
        };
        for host in hosts {
            sections.add(host, distinct, &others);
        }
        sections.counts.captures = sections.captures.len() as u64;
        sections.push_moment_captures();
        sections.others = others.lists.items;
        sections.slots = HostSlots::new(&sections.hosts, sections.captures.as_bytes())?;
        Some(sections)
    }

    fn add(&mut self, host: &HostStanding, distinct: &DistinctPolicies, others: &Others) {
        let policy =
            |standing: &Option<Standing>| standing.as_ref().map_or(NONE, |it| distinct.index(it));
        let [http_timeline, https_timeline] =
            host.timelines.as_ref().map_or([None, None], |it| it.each_ref().map(Some));
        let mut push = |standing: Option<&Standing>, timeline: Option<&Timeline>| {
            let capture = self.push_capture(standing?, others);
            if let Some(timelines) = &mut self.timelines {
                timelines.push(standing?, timeline?, distinct, others);
            }
            Some(capture)
        };
        let http_capture = push(host.http.as_ref(), http_timeline);
        let https_capture = match host.http == host.https && http_timeline == https_timeline {
            true => http_capture,
            false => push(host.https.as_ref(), https_timeline),
        };
        for moment in host.timelines().flatten() {
            let dates = moment.standing.facts.dates();
            self.counts.captured = DateSpan::over(self.counts.captured, dates);
        }
        let mut head = [0; host::HEAD_WORDS];
        head[host::KEY_BYTES] = host.key.len() as u32;
        head[host::HTTP_POLICY] = policy(&host.http);
        head[host::HTTPS_POLICY] = policy(&host.https);
        head[host::HTTP_CAPTURE] = http_capture.unwrap_or(NONE);
        head[host::HTTPS_CAPTURE] = https_capture.unwrap_or(NONE);
        self.hosts.extend(head.map(U32::new));
        for bytes in host.key.chunks(4) {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            self.hosts.push(U32::from_bytes(word));
        }
        self.counts.hosts += 1;
        self.counts.origins +=
            [&host.http, &host.https].iter().flat_map(|it| it.iter()).count() as u64;
    }

    fn push_capture(&mut self, standing: &Standing, others: &Others) -> u32 {
        let facts = &standing.facts;
        self.counts.captured = DateSpan::over(self.counts.captured, facts.dates());
        for (count, kind) in self.counts.file_notes.iter_mut().zip(NoteKind::OF_FILES) {
            *count += u64::from(facts.file_notes.contains(kind));
        }
        self.push_row(capture_row(standing, others), facts.outage)
    }

    fn push_row(&mut self, row: CaptureRow, outage: Option<KnownOutage>) -> u32 {
        let index = self.captures.len() as u32;
        self.captures.push(row);
        if let Some(KnownOutage { since, copy_captured_at, .. }) = outage {
            let since = stored_time(Some(since));
            let copy = stored_time(copy_captured_at);
            self.outages.push(OutageRow { capture: index.into(), since, copy });
        }
        index
    }

    /// Adds the captures of moments behind those of origins.
    fn push_moment_captures(&mut self) {
        let Some(mut timelines) = self.timelines.take() else { return };
        timelines.starts.push(U32::new(timelines.moments.len() as u32));
        let first = self.captures.len() as u32;
        for moment in &mut timelines.moments {
            moment.capture += first;
        }
        for (row, outage) in std::mem::take(&mut timelines.captures) {
            self.push_row(row, outage);
        }
        self.timelines = Some(timelines);
    }

    pub fn count(&self, counts: &mut [u64]) {
        let (from, to) = self.counts.captured.map_or((0, 0), |it| (it.first.0, it.last.0));
        counts[count::HOSTS] = self.counts.hosts;
        counts[count::ORIGINS] = self.counts.origins;
        counts[count::CAPTURES] = self.counts.captures;
        counts[count::CAPTURED_FROM] = from;
        counts[count::CAPTURED_TO] = to;
        counts[count::HOST_SEED] = self.slots.seed;
        let notes = &self.counts.file_notes;
        counts[count::FILE_NOTES..][..notes.len()].copy_from_slice(notes);
    }
}

impl Timelines {
    /// Adds the timeline of the next capture, that of an origin with this standing.
    fn push(
        &mut self,
        standing: &Standing,
        timeline: &Timeline,
        distinct: &DistinctPolicies,
        others: &Others,
    ) {
        self.starts.push(U32::new(self.moments.len() as u32));
        // The usual timeline of one moment follows from the capture.
        if **timeline == [Moment::of(*standing)] {
            return;
        }
        for Moment { since, standing } in timeline {
            let facts = &standing.facts;
            let age = facts.captured_at.map(|captured_at| UnixSeconds(since.since(captured_at)));
            let counted_back = CaptureFacts { input: 0, ..*facts };
            let row = capture_row(&Standing { facts: counted_back, ..*standing }, others);
            let row = CaptureRow { captured_at: stored_time(age), ..row };
            let new = self.captures.len() as u32;
            let bytes = row.as_bytes().try_into().expect("the bytes of a capture");
            let capture = *self.known.entry((bytes, facts.outage)).or_insert(new);
            if capture == new {
                self.captures.push((row, facts.outage));
            }
            let policy = distinct.index(standing);
            self.moments.push(MomentRow::new(since.0, facts.input, policy, capture));
        }
    }
}

/// Returns the stored form of a standing's capture.
fn capture_row(Standing { content, facts }: &Standing, others: &Others) -> CaptureRow {
    CaptureRow {
        captured_at: stored_time(facts.captured_at),
        serves_seconds: facts.serves_seconds().unwrap_or(NONE).into(),
        status: facts.status.into(),
        redirects: u16::from(facts.redirects_followed).into(),
        capture_notes: facts.capture_notes.bits().into(),
        file_notes: facts.file_notes.bits().into(),
        file_bytes: facts.file_bytes.into(),
        others: match content {
            Content::File { others: blob, .. } => others.of_blob[blob.index()].into(),
            Content::Access(_) => NONE.into(),
        },
        input: facts.input.into(),
        span_seconds: facts.span_seconds.into(),
    }
}

fn stored_time(time: Option<UnixSeconds>) -> U64 {
    U64::new(time.map_or(u64::MAX, |time| time.0))
}
