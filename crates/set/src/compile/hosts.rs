//! Hosts: the table that finds them, and when and how each policy was captured.

use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

use portcullis_io::access::{DateSpan, KnownOutage, UnixSeconds};
use portcullis_robots::syntax::{ListReader, NoteKind};

use super::super::layout::{CaptureRow, NONE, OutageRow, count, host, record};
use super::super::{BlobPool, Content, HostStanding, Standing};
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
    counts: HostCounts,
}

#[derive(Default)]
struct HostCounts {
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
        for standing in hosts.iter().flat_map(|host| [&host.http, &host.https]).flatten() {
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
            counts: HostCounts::default(),
        };
        for host in hosts {
            sections.add(host, distinct, &others);
        }
        sections.others = others.lists.items;
        sections.slots = HostSlots::new(&sections.hosts, sections.captures.as_bytes())?;
        Some(sections)
    }

    fn add(&mut self, host: &HostStanding, distinct: &DistinctPolicies, others: &Others) {
        let policy =
            |standing: &Option<Standing>| standing.as_ref().map_or(NONE, |it| distinct.index(it));
        let http_capture = self.push_capture(host.http.as_ref(), others);
        let https_capture = match host.http == host.https {
            true => http_capture,
            false => self.push_capture(host.https.as_ref(), others),
        };
        let mut head = [0; host::HEAD_WORDS];
        head[host::KEY_BYTES] = host.key.len() as u32;
        head[host::HTTP_POLICY] = policy(&host.http);
        head[host::HTTPS_POLICY] = policy(&host.https);
        head[host::HTTP_CAPTURE] = http_capture;
        head[host::HTTPS_CAPTURE] = https_capture;
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

    fn push_capture(&mut self, standing: Option<&Standing>, others: &Others) -> u32 {
        let Some(Standing { content, facts }) = standing else { return NONE };
        let row = CaptureRow {
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
        };
        self.counts.captured = DateSpan::over(self.counts.captured, facts.dates());
        for (count, kind) in self.counts.file_notes.iter_mut().zip(NoteKind::OF_FILES) {
            *count += u64::from(facts.file_notes.contains(kind));
        }
        let index = self.captures.len() as u32;
        self.captures.push(row);
        if let Some(KnownOutage { since, copy_captured_at, .. }) = facts.outage {
            let since = stored_time(Some(since));
            let copy = stored_time(copy_captured_at);
            self.outages.push(OutageRow { capture: index.into(), since, copy });
        }
        index
    }

    pub fn count(&self, counts: &mut [u64]) {
        let (from, to) = self.counts.captured.map_or((0, 0), |it| (it.first.0, it.last.0));
        counts[count::HOSTS] = self.counts.hosts;
        counts[count::ORIGINS] = self.counts.origins;
        counts[count::CAPTURES] = self.captures.len() as u64;
        counts[count::CAPTURED_FROM] = from;
        counts[count::CAPTURED_TO] = to;
        counts[count::HOST_SEED] = self.slots.seed;
        let notes = &self.counts.file_notes;
        counts[count::FILE_NOTES..][..notes.len()].copy_from_slice(notes);
    }
}

fn stored_time(time: Option<UnixSeconds>) -> U64 {
    U64::new(time.map_or(u64::MAX, |time| time.0))
}
