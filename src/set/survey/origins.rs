//! Hosts, one after another: in what state their origins are, and who uses which policy.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::access::UnixSeconds;
use crate::set::PolicySet;
use crate::set::file::Damage;
use crate::set::ingest::StandingCounts;
use crate::set::standing::CaptureFacts;
use crate::set::stored::{PolicyNumber, StoredHost};

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// A map whose keys are positions.
pub type ByPosition<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Origins, and how their policies came to be known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginSurvey {
    /// Hosts and origins, by state and by note, and the dates of the oldest and the newest capture.
    pub standings: StandingCounts,
    /// Captures; one serves http and https of a host that was captured without a scheme.
    pub captures: u64,
    /// Bytes of the files that were captured, as far as they were kept.
    pub file_bytes: u64,
    /// Origins by the status of the last answer; 0 if there was none.
    pub statuses: BTreeMap<u16, u64>,
    /// Origins by the number of redirects that were followed.
    pub redirects: BTreeMap<u8, u64>,
    /// Origins by the position of the input that has their capture.
    pub inputs: BTreeMap<u32, u64>,
    /// Origins by the month of their capture, as `2024-05`.
    pub months: BTreeMap<String, u64>,
    /// Origins whose capture has no date.
    pub undated: u64,
    /// When the first and the last policy expire, of those of which that is known.
    pub expires: Option<(UnixSeconds, UnixSeconds)>,
    /// Origins of which it is not known until when their policy serves.
    pub without_expiry: u64,
}

/// Who uses a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyUse<'s> {
    pub origins: u64,
    /// The most bytes of a file that means this policy.
    pub file_bytes: u32,
    /// The key of the first host.
    pub host: &'s [u8],
}

/// Who uses a list of records that decide nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct OthersUse {
    pub origins: u64,
    pub captures: u64,
}

/// What going over the hosts finds.
pub struct Hosts<'s> {
    pub origins: OriginSurvey,
    pub uses: ByPosition<PolicyNumber, PolicyUse<'s>>,
    pub others: ByPosition<u32, OthersUse>,
}

impl<'s> Hosts<'s> {
    pub fn of(set: &'s PolicySet) -> Result<Hosts<'s>, Damage> {
        let mut hosts = Hosts {
            origins: OriginSurvey::default(),
            uses: ByPosition::default(),
            others: ByPosition::default(),
        };
        let mut days = ByPosition::default();
        for host in set.hosts() {
            hosts.add(set, &host?, &mut days)?;
        }
        for (day, origins) in days {
            let date = UnixSeconds(day * DAY).to_rfc3339();
            // "2024-05" of "2024-05-06T…".
            let month = date.rsplitn(2, '-').last().unwrap_or(&date).to_owned();
            *hosts.origins.months.entry(month).or_default() += origins;
        }
        Ok(hosts)
    }

    fn add(
        &mut self,
        set: &'s PolicySet,
        host: &StoredHost<'s>,
        days: &mut ByPosition<u64, u64>,
    ) -> Result<(), Damage> {
        self.origins.standings.hosts += 1;
        for https in host.schemes() {
            let missing = || set.malformed_host("an origin has no policy or no capture");
            let position = host.policy(https).ok_or_else(missing)?;
            let capture = host.capture(https)?.ok_or_else(missing)?;
            // http comes first, so https may find its capture counted.
            let is_new = !(https && host.is_one_capture());
            let policy = set.policy(position)?;
            self.origins.standings.add_origin(policy.state()?, &capture.facts);
            self.origins.add(&capture.facts, is_new);
            match capture.facts.captured_at {
                Some(time) => *days.entry(time.0 / DAY).or_default() += 1,
                None => self.origins.undated += 1,
            }
            let new = PolicyUse { origins: 0, file_bytes: 0, host: host.key() };
            let used = self.uses.entry(position).or_insert(new);
            used.origins += 1;
            used.file_bytes = used.file_bytes.max(capture.facts.file_bytes);
            if let Some(others) = capture.others() {
                let used = self.others.entry(others).or_default();
                used.origins += 1;
                used.captures += u64::from(is_new);
            }
        }
        Ok(())
    }
}

impl OriginSurvey {
    fn add(&mut self, facts: &CaptureFacts, is_new: bool) {
        if is_new {
            self.captures += 1;
            self.file_bytes += u64::from(facts.file_bytes);
        }
        *self.statuses.entry(facts.status).or_default() += 1;
        *self.redirects.entry(facts.redirects_followed).or_default() += 1;
        *self.inputs.entry(facts.input).or_default() += 1;
        match facts.expires_at {
            Some(time) => {
                let (first, last) = self.expires.unwrap_or((time, time));
                self.expires = Some((first.min(time), last.max(time)));
            }
            None => self.without_expiry += 1,
        }
    }
}
