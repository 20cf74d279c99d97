//! Hosts: the table that finds them, and when and how each policy was captured.

use zerocopy::little_endian::U32;

use portcullis_io::access::{DateSpan, KnownOutage};
use portcullis_robots::syntax::{NoteKind, read_others};

use super::super::layout::{NONE, capture, count, host, record};
use super::super::{BlobPool, CaptureFacts, Content, HostStanding, Standing};
use super::DistinctPolicies;
use super::intern::Lists;
use super::slots::HostSlots;
use super::texts::{Texts, push_lines};

/// The sections that describe hosts.
pub struct HostSections {
    pub slots: HostSlots,
    pub hosts: Vec<U32>,
    pub captures: Vec<U32>,
    pub outages: Vec<U32>,
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
        let mut words = Vec::new();
        for standing in hosts.iter().flat_map(|host| [&host.http, &host.https]).flatten() {
            let Content::File { others: blob, .. } = standing.content else { continue };
            if pool.get(blob).is_empty() || others.of_blob[blob.index()] != NONE {
                continue;
            }
            words.clear();
            let records: Vec<_> = read_others(pool.get(blob)).collect();
            push_lines(&mut words, records.iter().map(|(line, _)| line.get()));
            words.extend(records.iter().map(|(_, text)| U32::new(texts.intern(text, 0))));
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
        texts.number(&mut others.lists.items, record::OTHER_KIND_BITS);
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
        sections.slots = HostSlots::new(&sections.hosts, &sections.captures)?;
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
        let CaptureFacts { captured_at, outage: known_outage, .. } = *facts;
        let mut words = [0; capture::WORDS];
        let time = captured_at.map_or(u64::MAX, |time| time.0);
        words[capture::CAPTURED_AT_LOW] = time as u32;
        words[capture::CAPTURED_AT_HIGH] = (time >> 32) as u32;
        words[capture::SERVES_SECONDS] = facts.serves_seconds().unwrap_or(NONE);
        words[capture::STATUS_AND_REDIRECTS] =
            u32::from(facts.status) | u32::from(facts.redirects_followed) << 16;
        words[capture::NOTES] =
            u32::from(facts.capture_notes.bits()) | u32::from(facts.file_notes.bits()) << 16;
        words[capture::FILE_BYTES] = facts.file_bytes;
        words[capture::OTHERS] = match content {
            Content::File { others: blob, .. } => others.of_blob[blob.index()],
            Content::Access(_) => NONE,
        };
        words[capture::INPUT] = facts.input;
        words[capture::SPAN_SECONDS] = facts.span_seconds;
        self.counts.captured = DateSpan::over(self.counts.captured, facts.dates());
        for (count, kind) in self.counts.file_notes.iter_mut().zip(NoteKind::OF_FILES) {
            *count += u64::from(facts.file_notes.contains(kind));
        }
        let index = (self.captures.len() / capture::WORDS) as u32;
        self.captures.extend(words.map(U32::new));
        if let Some(KnownOutage { since, copy_captured_at, .. }) = known_outage {
            let times = [since.0, copy_captured_at.map_or(u64::MAX, |time| time.0)];
            let halves = times.map(|time| [time as u32, (time >> 32) as u32]);
            self.outages.push(U32::new(index));
            self.outages.extend(halves.as_flattened().iter().copied().map(U32::new));
        }
        index
    }

    pub fn count(&self, counts: &mut [u64]) {
        let (from, to) = self.counts.captured.map_or((0, 0), |it| (it.first.0, it.last.0));
        counts[count::HOSTS] = self.counts.hosts;
        counts[count::ORIGINS] = self.counts.origins;
        counts[count::CAPTURES] = (self.captures.len() / capture::WORDS) as u64;
        counts[count::CAPTURED_FROM] = from;
        counts[count::CAPTURED_TO] = to;
        counts[count::HOST_SEED] = self.slots.seed;
        let notes = &self.counts.file_notes;
        counts[count::FILE_NOTES..][..notes.len()].copy_from_slice(notes);
    }
}
