//! One pass over the hosts: the state of their origins, and which policy and records each uses.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rayon::prelude::*;
use serde::Serialize;

use super::{Dates, Named, as_name, largest};
use crate::file::Damage;
use crate::ingest::StandingCounts;
use crate::standing::CaptureFacts;
use crate::stored::{PolicyNumber, StoredHost};
use crate::{PolicySet, Provenance};
use portcullis_dialect::decision::PolicyState;
use portcullis_dialect::dialect::{Dialect, Field};
use portcullis_io::CaptureNote;
use portcullis_robots::syntax::{Content, NoteKind, records};

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// The number of lists of records that one task reads.
const LISTS_PER_TASK: usize = 256;

/// A map whose keys are positions.
pub type ByPosition<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Statistics of origins and of the captures of their policies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OriginStats {
    /// The number of origins.
    pub origins: u64,
    /// The number of captures. http and https of a host that was captured without a scheme share
    /// one.
    pub captures: u64,
    /// The bytes of the captured files, as far as they were kept.
    pub file_bytes: u64,
    /// Origins by state.
    pub states: Named<u64>,
    /// Origins by the status of the last response; 0 if there was none.
    pub statuses: BTreeMap<u16, u64>,
    /// Origins by the number of redirects that were followed.
    pub redirects_followed: BTreeMap<u8, u64>,
    /// Origins by note on the response.
    pub capture_notes: Named<u64>,
    /// Origins by note on the file.
    pub file_notes: Named<u64>,
    /// The number of origins in an outage.
    pub in_outage: u64,
    /// When the oldest and the newest policy were captured, if any has a date.
    pub capture_dates: Option<Dates>,
    /// The number of origins whose capture has no date.
    pub undated: u64,
    /// Origins by the month of their capture (`2024-05`).
    pub capture_months: BTreeMap<String, u64>,
    /// When the first and the last policy expire, if any expiry is known.
    pub expiry_dates: Option<Dates>,
    /// The number of origins whose policy has no known expiry.
    pub without_expiry: u64,
    /// Origins by the input that holds their capture.
    pub origins_by_input: Vec<InputOrigins>,
}

/// The origins whose capture an input holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputOrigins {
    /// The input's position among those of the set.
    pub input: u32,
    /// The input's name, if the set stores it.
    pub name: Option<String>,
    /// The number of origins.
    pub origins: u64,
}

/// The origins that use a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyUse<'s> {
    pub origins: u64,
    /// The bytes of the longest of their files.
    pub file_bytes: u32,
    /// The key of the first host.
    pub host: &'s [u8],
}

/// The origins and captures that use a list of other records.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordsUse {
    pub origins: u64,
    pub captures: u64,
}

/// The result of the pass over the hosts.
#[derive(Default)]
pub struct HostPass<'s> {
    pub counts: StandingCounts,
    pub origins: OriginStats,
    pub uses: ByPosition<PolicyNumber, PolicyUse<'s>>,
    pub others: ByPosition<u32, RecordsUse>,
    inputs: BTreeMap<u32, u64>,
    days: ByPosition<u64, u64>,
}

impl<'s> HostPass<'s> {
    pub fn of(set: &'s PolicySet) -> Result<HostPass<'s>, Damage> {
        let mut pass = HostPass::default();
        for host in set.hosts() {
            pass.add(set, &host?)?;
        }
        let counts = &pass.counts;
        let origins = &mut pass.origins;
        origins.origins = counts.origins;
        // A set stores no origin without a policy.
        let states = PolicyState::ALL.into_iter().filter(|state| *state != PolicyState::Unknown);
        origins.states = Named::of(states, PolicyState::as_str, |state| counts.in_state(state));
        let answers = |note| counts.with_capture_note(note);
        origins.capture_notes = Named::of(CaptureNote::ALL, CaptureNote::as_str, answers);
        let files = |kind| counts.with_file_note(kind);
        origins.file_notes = Named::of(NoteKind::ALL, NoteKind::as_str, files);
        origins.in_outage = counts.in_outage;
        origins.capture_dates = counts.captured.map(|(first, last)| Dates { first, last });
        for (day, count) in pass.days.drain() {
            let date = portcullis_io::access::UnixSeconds(day * SECONDS_PER_DAY).to_rfc3339();
            // "2024-05" of "2024-05-06T…".
            let month = date.rsplitn(2, '-').last().unwrap_or(&date).to_owned();
            *origins.capture_months.entry(month).or_default() += count;
        }
        let names = Provenance::read(set.provenance()?)
            .map_or_else(Vec::new, |provenance| provenance.inputs().map(|it| it.name).collect());
        let input = |(&input, &origins): (&u32, &u64)| InputOrigins {
            input,
            name: names.get(input as usize).cloned(),
            origins,
        };
        origins.origins_by_input = pass.inputs.iter().map(input).collect();
        Ok(pass)
    }

    fn add(&mut self, set: &'s PolicySet, host: &StoredHost<'s>) -> Result<(), Damage> {
        self.counts.hosts += 1;
        for https in host.schemes() {
            let missing = || set.malformed_host("an origin has no policy or no capture");
            let position = host.policy(https).ok_or_else(missing)?;
            let capture = host.capture(https)?.ok_or_else(missing)?;
            // http comes first, so the capture of https may be counted already.
            let is_new = !(https && host.is_one_capture());
            let state = set.policy(position)?.state()?;
            self.counts.add_origin(state, &capture.facts);
            self.add_facts(&capture.facts, is_new);
            let new = PolicyUse { origins: 0, file_bytes: 0, host: host.key() };
            let used = self.uses.entry(position).or_insert(new);
            used.origins += 1;
            used.file_bytes = used.file_bytes.max(capture.facts.file_bytes);
            if let Some(list) = capture.others() {
                let used = self.others.entry(list).or_default();
                used.origins += 1;
                used.captures += u64::from(is_new);
            }
        }
        Ok(())
    }

    fn add_facts(&mut self, facts: &CaptureFacts, is_new: bool) {
        let origins = &mut self.origins;
        if is_new {
            origins.captures += 1;
            origins.file_bytes += u64::from(facts.file_bytes);
        }
        *origins.statuses.entry(facts.status).or_default() += 1;
        *origins.redirects_followed.entry(facts.redirects_followed).or_default() += 1;
        *self.inputs.entry(facts.input).or_default() += 1;
        match facts.captured_at {
            Some(time) => *self.days.entry(time.0 / SECONDS_PER_DAY).or_default() += 1,
            None => origins.undated += 1,
        }
        match facts.expires_at {
            Some(time) => {
                origins.expiry_dates = Some(Dates::including(origins.expiry_dates, time));
            }
            None => origins.without_expiry += 1,
        }
    }
}

/// Statistics of records that have no effect on decisions (sitemaps, crawl-delays, extensions).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordStats {
    /// The number of such records in the captured files.
    pub records: u64,
    /// The number of distinct fields.
    pub fields: u64,
    /// The fields that most origins use.
    pub most_common: Vec<FieldCount>,
}

/// How common a field is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldCount {
    /// The field in lower case; `sitemap` for every spelling that the dialect reads as one.
    #[serde(flatten, serialize_with = "as_name")]
    pub name: Vec<u8>,
    /// The number of records in the captured files.
    pub records: u64,
    /// The number of origins whose file has one.
    pub origins: u64,
}

/// Records and origins by field.
type Counts = HashMap<Vec<u8>, (u64, u64), foldhash::fast::RandomState>;

impl RecordStats {
    pub(super) fn of(
        set: &PolicySet,
        lists: &ByPosition<u32, RecordsUse>,
        top: usize,
    ) -> Result<RecordStats, Damage> {
        let mut lists: Vec<(u32, RecordsUse)> =
            lists.iter().map(|(&at, &used)| (at, used)).collect();
        // In file order, so that the first damage is reported.
        lists.sort_unstable_by_key(|&(position, _)| position);
        let count = |lists: &[(u32, RecordsUse)]| {
            let mut counts = Counts::default();
            lists.iter().try_for_each(|&(at, used)| add_list(set, at, used, &mut counts))?;
            Ok(counts)
        };
        let parts: Vec<Result<Counts, Damage>> =
            lists.par_chunks(LISTS_PER_TASK).map(count).collect();
        let mut counts = Counts::default();
        for part in parts {
            for (name, (records, origins)) in part? {
                let count = counts.entry(name).or_default();
                *count = (count.0 + records, count.1 + origins);
            }
        }
        let fields = counts.len() as u64;
        let records = counts.values().map(|&(records, _)| records).sum();
        let counts = counts.into_iter().map(|(name, (records, origins))| FieldCount {
            name,
            records,
            origins,
        });
        // The name makes the order total; the iteration order of a map is random.
        let most_common = largest(counts, top, |count| {
            (count.origins, count.records, std::cmp::Reverse(count.name.clone()))
        });
        Ok(RecordStats { records, fields, most_common })
    }
}

fn add_list(
    set: &PolicySet,
    position: u32,
    used: RecordsUse,
    counts: &mut Counts,
) -> Result<(), Damage> {
    let missing = || set.malformed_host("a record of a file has no field");
    let mut names: Vec<Vec<u8>> = Vec::new();
    for record in set.other_records_at(position)? {
        names.push(field_name(&record.text, set.dialect()).ok_or_else(missing)?);
    }
    names.sort_unstable();
    for same in names.chunk_by(|one, other| one == other) {
        let count = counts.entry(same[0].clone()).or_default();
        count.0 += same.len() as u64 * used.captures;
        count.1 += used.origins;
    }
    Ok(())
}

/// Returns the field of a record in lower case.
pub(super) fn field_name(record: &[u8], dialect: &Dialect) -> Option<Vec<u8>> {
    // On the second line, because the first line may begin with a byte order mark.
    let text = [b"\n", record].concat();
    match records(&text, dialect, None).nth(1)?.content {
        Content::Record(record) if record.field == Some(Field::Sitemap) => {
            Some(b"sitemap".to_vec())
        }
        Content::Record(record) => Some(record.name.to_ascii_lowercase()),
        _ => None,
    }
}
