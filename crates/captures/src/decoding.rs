//! Undoes the codings of bodies within a budget.
//!
//! A few bytes can decode to millions, twice in a row, and a body may be millions of members of gzip that give
//! nothing. So each body has a budget, and the bodies of a batch share another: what a body takes beyond its
//! share by length is taken from it. A batch is read in one thread, so the result depends on the file alone.
//! A body that is not decoded to its end for that reason is broken, and never a shorter file.

use std::borrow::Cow;

use portcullis_dialect::limits::BODY_BYTES_MAX;
use portcullis_files::compression::Coding;
use portcullis_robots::access::{CaptureNote, CaptureNotes};

use super::ReadConfig;
use super::body::notes;
use crate::limits::{
    BATCH_DECODED_BYTES_MAX, CODED_BYTES_MAX, CONTENT_CODINGS_MAX, DECODED_BYTES_MIN,
    DECODED_BYTES_PER_BYTE, GZIP_MEMBER_BYTES,
};

/// The budget that is left for decoding the bodies of a batch, in decoded bytes beyond the share of each.
pub(super) struct Budget {
    spare: usize,
}

impl Budget {
    /// Returns the budget of a batch.
    pub fn new(config: &ReadConfig) -> Budget {
        Budget { spare: BATCH_DECODED_BYTES_MAX.max(config.body_bytes_max().saturating_add(1)) }
    }

    /// Decodes a body, starting with the last coding, and decodes the first coding only up to the size limit.
    /// `None` stands for an unknown coding. Returns whether the body was in all codings.
    pub fn decode(
        &mut self,
        codings: &[Option<Coding>],
        body: &mut Cow<'_, [u8]>,
        damage: &mut CaptureNotes,
        config: &ReadConfig,
    ) -> bool {
        let share = body.len().saturating_mul(DECODED_BYTES_PER_BYTE);
        let most = config.body_bytes_max().saturating_mul(8);
        let most = most.clamp(DECODED_BYTES_MIN, 2 * BODY_BYTES_MAX);
        let all = share.saturating_add(self.spare).min(most);
        let mut left = all;
        let mut is_as_sent = true;
        for (index, coding) in codings.iter().enumerate().rev() {
            let Some(coding) = coding.filter(|_| codings.len() <= CONTENT_CODINGS_MAX) else {
                *body = Cow::Borrowed(b"");
                *damage = damage.with(CaptureNote::UnknownCoding);
                break;
            };
            // Nothing to undo; its framing says whether it is whole.
            if body.is_empty() {
                break;
            }
            if coding.is_undone(body) {
                is_as_sent = false;
                continue;
            }
            // What exceeds the size limit does not count; what exceeds another bound is not whole.
            let counted = config.body_bytes_max().saturating_add(1);
            let wanted = if index == 0 { counted } else { counted.max(CODED_BYTES_MAX) };
            let bytes_max = wanted.min(left);
            let decoded = coding.undo(body, bytes_max, left / GZIP_MEMBER_BYTES);
            let members = decoded.members.saturating_mul(GZIP_MEMBER_BYTES);
            left = left.saturating_sub(decoded.bytes.len()).saturating_sub(members);
            let is_cut = decoded.bytes.len() >= bytes_max;
            *damage = damage.union(notes([
                (CaptureNote::BadCompression, !is_cut && !decoded.is_whole),
                (CaptureNote::BodyCut, is_cut && (index > 0 || bytes_max < counted)),
            ]));
            *body = Cow::Owned(decoded.bytes);
        }
        self.spare = self.spare.saturating_sub((all - left).saturating_sub(share));
        is_as_sent
    }
}
