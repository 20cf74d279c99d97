//! Verifies hosts and captures: each host can be found by its key, and each origin has a valid
//! capture.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use portcullis_capture::access::UnixSeconds;
use portcullis_robots::syntax::NoteKind;

use super::super::super::Provenance;
use super::super::super::compile::HostSlots;
use super::super::super::file::{Damage, Section};
use super::super::super::layout::{NONE, capture, host};
use super::super::super::standing::span;
use super::super::{PolicySet, Sections, StoredHost};
use super::pieces::Pieces;
use super::policies::{FoundPolicies, is_file};
use super::texts::Texts;

/// All hosts, in file order.
#[derive(Default)]
pub(super) struct FoundHosts {
    pub hosts: u64,
    pub origins: u64,
    pub captures: u64,
    /// The dates of the earliest and the latest capture, if any is dated.
    pub captured: Option<(UnixSeconds, UnixSeconds)>,
    /// The number of captures whose file has each note of `NoteKind::OF_FILES`.
    pub file_notes: [u64; NoteKind::OF_FILES.len()],
    others: Pieces,
    /// The number of inputs, if the provenance lists them.
    inputs: Option<usize>,
}

impl FoundHosts {
    /// Walks the hosts, their captures and the records that those refer to, and rebuilds the host
    /// table.
    pub(super) fn of(
        set: &PolicySet,
        policies: &mut FoundPolicies,
        texts: &mut Texts,
    ) -> Result<FoundHosts, Damage> {
        let provenance = Provenance::read(set.provenance()?);
        let inputs = provenance.map(|provenance| provenance.inputs().count());
        let mut found = FoundHosts { inputs, ..FoundHosts::default() };
        found.walk_others(set, texts)?;
        found.walk(set, policies)?;
        let bytes = found.captures * (capture::WORDS * size_of::<U32>()) as u64;
        if set.sections.captures.bytes() != bytes {
            return Err(set.malformed(set.sections.captures, 0, "no host has one of the captures"));
        }
        if !found.others.all_needed() {
            return Err(set.malformed(
                set.sections.others,
                0,
                "no capture has some of the records",
            ));
        }
        found.check_slots(set)?;
        Ok(found)
    }

    fn walk_others(&mut self, set: &PolicySet, texts: &mut Texts) -> Result<(), Damage> {
        let section = set.sections.others;
        let end = section.bytes() / size_of::<U32>() as u64;
        let mut position = 0;
        while u64::from(position) < end {
            self.others.push(position);
            position = texts.need_list(set, section, position)?;
        }
        Ok(())
    }

    fn walk(&mut self, set: &PolicySet, policies: &mut FoundPolicies) -> Result<(), Damage> {
        let (mut last, mut position) = (None, 0_u32);
        for host in set.hosts() {
            let host = host?;
            let malformed = |what| set.malformed(set.sections.hosts, position, what);
            if last >= Some(host.key()) {
                return Err(malformed("the hosts are not in order"));
            }
            last = Some(host.key());
            let before = self.origins;
            for https in [false, true] {
                let needed = self.need_side(set, &host, https, policies);
                needed.map_err(|problem| problem.or_of(malformed))?;
            }
            if self.origins == before {
                return Err(malformed("nothing is known of a host"));
            }
            self.hosts += 1;
            let words = host.key().len().div_ceil(size_of::<U32>());
            let key_at = position.saturating_add(host::HEAD_WORDS as u32);
            let key = set.words(set.sections.hosts, key_at, words)?;
            if key.as_bytes()[host.key().len()..].iter().any(|&byte| byte != 0) {
                return Err(malformed("extra bytes follow a key"));
            }
            position = key_at.saturating_add(words as u32);
        }
        Ok(())
    }

    /// Marks what one of the two origins of a host refers to.
    fn need_side(
        &mut self,
        set: &PolicySet,
        host: &StoredHost<'_>,
        https: bool,
        policies: &mut FoundPolicies,
    ) -> Result<(), Problem> {
        let index = host.captures[usize::from(https)];
        let Some(position) = host.policy(https) else {
            let is_nothing = index == NONE;
            return is_nothing.then_some(()).ok_or(Problem::Of("a capture is of no policy"));
        };
        self.origins += 1;
        if !policies.need(position) {
            return Err(Problem::Of("a policy of a host is at an unexpected position"));
        }
        host.check_origin(https)?;
        if https && host.is_one_capture() && host.policy(false) == Some(position) {
            return Ok(());
        }
        if u64::from(index) != self.captures {
            return Err(Problem::Of("a capture of a host is at an unexpected position"));
        }
        self.captures += 1;
        let has_file = is_file(set.policy(position)?.access()?);
        self.need_capture(set, index, has_file)
    }

    fn need_capture(&mut self, set: &PolicySet, index: u32, has_file: bool) -> Result<(), Problem> {
        let stored = set.capture_at(index)?;
        let first = u64::from(index) * capture::WORDS as u64;
        let words: &[U32] = set.file.items(set.sections.captures, first, capture::WORDS as u64)?;
        let dates = stored.facts.dates();
        self.captured = span(self.captured, dates);
        let [serves, lasts] =
            [capture::SERVES_SECONDS, capture::SPAN_SECONDS].map(|word| words[word].get());
        if dates.is_none() && (serves, lasts) != (NONE, 0) {
            return Err(Problem::Of("a capture without a date serves or lasts for a time"));
        }
        for (count, kind) in self.file_notes.iter_mut().zip(NoteKind::OF_FILES) {
            *count += u64::from(stored.facts.file_notes.contains(kind));
        }
        if words[capture::STATUS_AND_REDIRECTS].get() >> 24 != 0 {
            return Err(Problem::Of("a capture has bits that mean nothing"));
        }
        if self.inputs.is_some_and(|inputs| stored.facts.input as usize >= inputs) {
            return Err(Problem::Of("a capture is of an input that the provenance does not list"));
        }
        let others = words[capture::OTHERS].get();
        if others != NONE && !(has_file && self.others.need(others)) {
            return Err(Problem::Of(
                "the other records of a capture are at an unexpected position",
            ));
        }
        Ok(())
    }

    /// Rebuilds the host table and compares it.
    fn check_slots(&self, set: &PolicySet) -> Result<(), Damage> {
        let words = |section: Section| {
            set.file.items::<U32>(section, 0, section.bytes() / size_of::<U32>() as u64)
        };
        let Sections { hosts, captures, slots, .. } = set.sections;
        let stored = set.file.bytes(slots, 0, slots.bytes())?;
        let again = HostSlots::new(words(hosts)?, words(captures)?);
        let is_same =
            |again: HostSlots| again.seed == set.host_seed && again.lines.as_bytes() == stored;
        if !again.is_some_and(is_same) {
            return Err(set.malformed(slots, 0, "the slots are not those of the hosts"));
        }
        Ok(())
    }
}

/// What is wrong with a host: damage elsewhere, or a fault of the host itself.
enum Problem {
    Elsewhere(Damage),
    Of(&'static str),
}

impl From<Damage> for Problem {
    fn from(damage: Damage) -> Problem {
        Problem::Elsewhere(damage)
    }
}

impl Problem {
    fn or_of(self, malformed: impl FnOnce(&'static str) -> Damage) -> Damage {
        match self {
            Problem::Elsewhere(damage) => damage,
            Problem::Of(what) => malformed(what),
        }
    }
}
