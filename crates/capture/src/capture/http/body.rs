//! The body of a response: as long as it should be, out of its chunks, out of its codings.

use std::borrow::Cow;

use super::super::body::{Settled, settle};
use super::super::content_type::is_html;
use super::super::fields::byte_count;
use super::super::{CaptureNote, CaptureNotes, ReadConfig};
use super::chunks::{Unchunked, unchunk};
use super::coding::Coding;
use super::head::Message;
use portcullis_dialect::limits::{BODY_BYTES_MAX, CONTENT_CODINGS_MAX};
use portcullis_matcher::bytes::trim;

/// Reads the body of `message`, whose status is 2xx; `is_truncated` if the archive says that it cut
/// it.
pub(in super::super) fn read_body<'m>(
    message: &Message<'m>,
    is_truncated: bool,
    config: &ReadConfig,
) -> Settled<'m> {
    let framing = Framing::read(message);
    let mut body = StoredBody::new(message.body, is_truncated);
    if framing.is_in_chunks {
        body.unchunk();
    }
    let as_sent_bytes = body.bytes.len() as u64;
    let is_as_sent = body.decode(&framing.codings, config.body_bytes_max().saturating_add(1));
    // Chunks have their own end, and a length beside them counts for nothing (RFC 9112, section
    // 6.3). Nor does one say anything of a body that has been decoded before it was stored.
    if !framing.is_in_chunks && is_as_sent && framing.length.is_some_and(|l| l > as_sent_bytes) {
        body.damage = body.damage.with(CaptureNote::ShortBody);
    }
    let notes = if framing.is_html {
        CaptureNotes::EMPTY.with(CaptureNote::HtmlContentType)
    } else {
        CaptureNotes::EMPTY
    };
    body.settle(message.status, notes, config)
}

/// What a header says about its body.
struct Framing {
    /// The largest length of the body as it was sent that is given.
    length: Option<u64>,
    is_in_chunks: bool,
    /// The codings in the order in which they were applied; nothing in place of one not known.
    codings: Vec<Option<Coding>>,
    is_html: bool,
}

impl Framing {
    fn read(message: &Message<'_>) -> Framing {
        let mut framing =
            Framing { length: None, is_in_chunks: false, codings: Vec::new(), is_html: false };
        let mut transfer_codings = Vec::new();
        for (name, value) in message.fields() {
            if name.eq_ignore_ascii_case(b"content-length") {
                framing.length = framing.length.max(length(value));
            } else if name.eq_ignore_ascii_case(b"content-encoding") {
                framing.codings.extend(names(value).map(Coding::of_name));
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                let is_chunked = |name: &&[u8]| name.eq_ignore_ascii_case(b"chunked");
                framing.is_in_chunks |= names(value).any(|name| is_chunked(&name));
                let others = names(value).filter(|name| !is_chunked(name));
                transfer_codings.extend(others.map(Coding::of_name));
            } else if name.eq_ignore_ascii_case(b"content-type") {
                framing.is_html |= is_html(value);
            }
        }
        framing.codings.append(&mut transfer_codings);
        framing
    }
}

/// The length that a field gives, once or several times (RFC 9112, section 6.3).
fn length(value: &[u8]) -> Option<u64> {
    value.split(|&byte| byte == b',').filter_map(|part| byte_count(trim(part, b" \t"))).max()
}

/// The names in a list of codings, without parameters and the one that stands for none.
fn names(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&byte| byte == b',')
        .map(|part| trim(part.split(|&byte| byte == b';').next().unwrap_or(part), b" \t"))
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"))
}

/// A body on its way from what is stored to what was meant.
pub(in super::super) struct StoredBody<'m> {
    bytes: Cow<'m, [u8]>,
    /// What is wrong with it. Something may be missing if there is anything.
    damage: CaptureNotes,
}

impl<'m> StoredBody<'m> {
    /// A body as it is stored; `is_truncated` if the archive says that it cut it.
    pub(in super::super) fn new(bytes: &'m [u8], is_truncated: bool) -> StoredBody<'m> {
        let damage = if is_truncated {
            CaptureNotes::EMPTY.with(CaptureNote::Truncated)
        } else {
            CaptureNotes::EMPTY
        };
        StoredBody { bytes: Cow::Borrowed(bytes), damage }
    }

    fn unchunk(&mut self) {
        match unchunk(&self.bytes) {
            Unchunked::NotInChunks => {}
            Unchunked::Whole(bytes) => self.bytes = Cow::Owned(bytes),
            Unchunked::Broken(bytes) => {
                self.bytes = Cow::Owned(bytes);
                self.damage = self.damage.with(CaptureNote::BadChunks);
            }
        }
    }

    /// Undoes `codings`, the last first, the first no further than `bytes_max`. Whether all those
    /// that are named were there to be undone.
    fn decode(&mut self, codings: &[Option<Coding>], bytes_max: usize) -> bool {
        let mut is_as_sent = true;
        for (index, coding) in codings.iter().enumerate().rev() {
            let Some(coding) = coding.filter(|_| codings.len() <= CONTENT_CODINGS_MAX) else {
                self.bytes = Cow::Borrowed(b"");
                self.damage = self.damage.with(CaptureNote::UnknownCoding);
                break;
            };
            // Nothing is nothing in any coding.
            if self.bytes.is_empty() {
                break;
            }
            if coding.is_undone(&self.bytes) {
                is_as_sent = false;
                continue;
            }
            if index == 0 {
                self.undo(coding, bytes_max);
            } else {
                self.undo(coding, BODY_BYTES_MAX);
                self.note_cut_between_codings();
            }
        }
        is_as_sent
    }

    fn undo(&mut self, coding: Coding, bytes_max: usize) {
        let decoded = coding.undo(&self.bytes, bytes_max);
        if decoded.bytes.len() < bytes_max && !decoded.is_whole {
            self.damage = self.damage.with(CaptureNote::BadCompression);
        }
        self.bytes = Cow::Owned(decoded.bytes);
    }

    /// What a coding comes to before the next is undone is bounded too, and then not whole.
    fn note_cut_between_codings(&mut self) {
        if self.bytes.len() >= BODY_BYTES_MAX {
            self.damage = self.damage.with(CaptureNote::BodyCut);
        }
    }

    /// The answer with this body.
    pub(in super::super) fn settle(
        self,
        status: u16,
        notes: CaptureNotes,
        config: &ReadConfig,
    ) -> Settled<'m> {
        let is_whole = self.damage == CaptureNotes::EMPTY;
        let mut settled = settle(status, self.bytes, is_whole, config);
        settled.notes = notes.union(self.damage).union(settled.notes);
        settled
    }
}
