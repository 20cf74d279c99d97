//! The bytes of captures and hosts outside a set: in temporary files, and in the history of a set.
//!
//! Numbers are varints and times are two of them, so a capture takes some 30 bytes. What temporary
//! files hold is of this process and refers to the blobs of its pool. Reading returns `None` for
//! bytes that make no sense.

use portcullis_dialect::AccessOutcome;
use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_engine::bytes::{push_varint, take_varint};
use portcullis_robots::access::{CaptureNotes, KnownOutage, LongOutage, UnixSeconds};
use portcullis_robots::syntax::NoteSet;
use portcullis_set::stored::CaptureFacts;

use super::pool::BlobID;
use super::standing::{Content, HostStanding, Moment, Standing};

pub(super) fn push_time(out: &mut Vec<u8>, time: Option<UnixSeconds>) {
    let number = time.map_or(0, |time| time.0.saturating_add(1));
    push_varint(out, (number >> 32) as u32);
    push_varint(out, number as u32);
}

pub(super) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

/// Appends the facts of a capture but for its times and its outage.
pub(super) fn push_answer(out: &mut Vec<u8>, facts: &CaptureFacts) {
    push_varint(out, facts.status.into());
    out.push(facts.redirects_followed);
    push_varint(out, facts.capture_notes.bits().into());
    push_varint(out, facts.file_notes.bits().into());
    push_varint(out, facts.file_bytes);
    push_varint(out, facts.input);
}

/// Reads fields from the front of bytes.
#[derive(Clone, Debug)]
pub(super) struct Fields<'b> {
    pub(super) rest: &'b [u8],
}

impl<'b> Fields<'b> {
    pub(super) fn number(&mut self) -> Option<u32> {
        take_varint(&mut self.rest)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(super) fn take(&mut self, count: u32) -> Option<&'b [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count as usize)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Reads bytes and the number of them before them.
    pub(super) fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = self.number()?;
        self.take(count)
    }

    pub(super) fn time(&mut self) -> Option<Option<UnixSeconds>> {
        let number = u64::from(self.number()?) << 32 | u64::from(self.number()?);
        Some(number.checked_sub(1).map(UnixSeconds))
    }

    /// Reads what [`push_answer`] wrote.
    pub(super) fn answer(&mut self) -> Option<CaptureFacts> {
        Some(CaptureFacts {
            status: u16::try_from(self.number()?).ok()?,
            redirects_followed: self.byte()?,
            capture_notes: CaptureNotes::from_bits(u16::try_from(self.number()?).ok()?)?,
            file_notes: NoteSet::from_bits(u16::try_from(self.number()?).ok()?)?,
            file_bytes: self.number()?,
            input: self.number()?,
            ..CaptureFacts::default()
        })
    }

    pub(super) fn blob(&mut self) -> Option<BlobID> {
        self.number().map(BlobID)
    }

    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            _ => read(self).map(Some),
        }
    }
}

fn push_optional<T>(out: &mut Vec<u8>, value: Option<&T>, push: impl FnOnce(&mut Vec<u8>, &T)) {
    out.push(value.is_some().into());
    if let Some(value) = value {
        push(out, value);
    }
}

fn push_facts(out: &mut Vec<u8>, facts: &CaptureFacts) {
    push_answer(out, facts);
    push_time(out, facts.captured_at);
    push_time(out, facts.expires_at);
    push_varint(out, facts.span_seconds);
    push_optional(out, facts.outage.as_ref(), |out, outage| {
        push_time(out, Some(outage.since));
        out.push(outage.change as u8);
        push_time(out, outage.copy_captured_at);
    });
}

impl Fields<'_> {
    fn facts(&mut self) -> Option<CaptureFacts> {
        let answer = self.answer()?;
        let change = |number: u8| LongOutage::ALL.get(usize::from(number)).copied();
        Some(CaptureFacts {
            captured_at: self.time()?,
            expires_at: self.time()?,
            span_seconds: self.number()?,
            outage: self.optional(|fields| {
                Some(KnownOutage {
                    since: fields.time()??,
                    change: fields.byte().and_then(change)?,
                    copy_captured_at: fields.time()?,
                })
            })?,
            ..answer
        })
    }
}

fn push_standing(out: &mut Vec<u8>, Standing { content, facts }: &Standing) {
    match *content {
        Content::File { extract, others, has_rules } => {
            out.push(if has_rules { FILE_WITH_RULES } else { FILE });
            push_varint(out, extract.0);
            push_varint(out, others.0);
        }
        Content::Access(AccessOutcome { state, verdict }) => {
            out.extend([ACCESS, state as u8, verdict as u8]);
        }
    }
    push_facts(out, facts);
}

const FILE: u8 = 0;
const FILE_WITH_RULES: u8 = 1;
const ACCESS: u8 = 2;

impl Fields<'_> {
    fn standing(&mut self) -> Option<Standing> {
        let content = match self.byte()? {
            kind @ (FILE | FILE_WITH_RULES) => Content::File {
                extract: self.blob()?,
                others: self.blob()?,
                has_rules: kind == FILE_WITH_RULES,
            },
            _ => Content::Access(AccessOutcome {
                state: *PolicyState::ALL.get(usize::from(self.byte()?))?,
                verdict: *Verdict::ALL.get(usize::from(self.byte()?))?,
            }),
        };
        Some(Standing { content, facts: self.facts()? })
    }
}

/// Appends a host.
pub(super) fn push_host(out: &mut Vec<u8>, host: &HostStanding) {
    push_bytes(out, &host.key);
    push_optional(out, host.http.as_ref(), push_standing);
    // Most hosts answer alike for both schemes.
    out.push((host.http == host.https).into());
    if host.http != host.https {
        push_optional(out, host.https.as_ref(), push_standing);
    }
    push_optional(out, host.timelines.as_ref(), |out, timelines| {
        for timeline in &**timelines {
            push_varint(out, timeline.len() as u32);
            for Moment { since, standing } in timeline {
                push_time(out, Some(*since));
                push_standing(out, standing);
            }
        }
    });
}

/// Reads a host that [`push_host`] wrote.
pub(super) fn host(bytes: &[u8]) -> Option<HostStanding> {
    let fields = &mut Fields { rest: bytes };
    let key = fields.bytes()?.into();
    let http = fields.optional(Fields::standing)?;
    let https = match fields.byte()? {
        0 => fields.optional(Fields::standing)?,
        _ => http,
    };
    let timelines = fields.optional(|fields| {
        let mut timeline = || {
            let moment = |fields: &mut Fields<'_>| {
                Some(Moment { since: fields.time()??, standing: fields.standing()? })
            };
            (0..fields.number()?).map(|_| moment(fields)).collect::<Option<Vec<Moment>>>()
        };
        Some(Box::new([timeline()?, timeline()?]))
    })?;
    fields.rest.is_empty().then_some(HostStanding { key, http, https, timelines })
}
