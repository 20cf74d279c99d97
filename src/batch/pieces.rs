//! Scheme, host key and path of each URL of a block, in the form in which they are compared.
//!
//! Most are pieces of the URL as it stands; the others are written one behind the other into memory
//! that is used again. A piece is two numbers, so nothing borrows and nothing is allocated for a URL.

use crate::dialect::Escapes;
use crate::target::{BadUrl, SplitUrl, compared_path, host_key};

/// Octets of a record, or of the memory beside it.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    start: u32,
    length: u32,
    is_written: bool,
}

/// The pieces of one URL.
#[derive(Clone, Copy, Debug, Default)]
struct UrlPieces {
    scheme: Piece,
    key: Piece,
    path: Piece,
    is_invalid: bool,
}

/// The pieces of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    urls: Vec<UrlPieces>,
    written: Vec<u8>,
    scratch: Vec<u8>,
}

impl Pieces {
    pub(super) fn clear(&mut self) {
        self.urls.clear();
        self.written.clear();
    }

    /// Adds the pieces of a URL, which was split from `record`.
    #[inline]
    pub(super) fn push(
        &mut self,
        record: &[u8],
        url: &SplitUrl<'_>,
        escapes: Escapes,
    ) -> Result<(), BadUrl> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let key = host_key(url, &mut scratch).map(|key| self.piece(record, key));
        let path = self.piece(record, compared_path(url.path, escapes, &mut scratch));
        self.scratch = scratch;
        let scheme = self.piece(record, url.scheme);
        self.urls.push(UrlPieces { scheme, key: key?, path, is_invalid: false });
        Ok(())
    }

    /// Adds a record that is no URL.
    pub(super) fn push_invalid(&mut self) {
        self.urls.push(UrlPieces { is_invalid: true, ..UrlPieces::default() });
    }

    #[inline]
    fn piece(&mut self, record: &[u8], octets: &[u8]) -> Piece {
        let length = octets.len() as u32;
        // Whether it is a part of the record is a question of addresses; it is only asked, and what
        // comes of it is an index that is checked when it is used.
        let start = (octets.as_ptr() as usize).wrapping_sub(record.as_ptr() as usize);
        if start <= record.len() && octets.len() <= record.len() - start {
            return Piece { start: start as u32, length, is_written: false };
        }
        let start = self.written.len() as u32;
        self.written.extend_from_slice(octets);
        Piece { start, length, is_written: true }
    }

    #[inline]
    fn get<'p>(&'p self, piece: Piece, record: &'p [u8]) -> &'p [u8] {
        let octets = if piece.is_written { &self.written } else { record };
        &octets[piece.start as usize..][..piece.length as usize]
    }

    pub(super) fn is_invalid(&self, index: usize) -> bool {
        self.urls[index].is_invalid
    }

    /// The scheme and the key of the host; both empty for a record that is no URL.
    #[inline]
    pub(super) fn host<'p>(&'p self, index: usize, record: &'p [u8]) -> (&'p [u8], &'p [u8]) {
        let url = &self.urls[index];
        (self.get(url.scheme, record), self.get(url.key, record))
    }

    /// The path in normal form; empty for a record that is no URL.
    #[inline]
    pub(super) fn path<'p>(&'p self, index: usize, record: &'p [u8]) -> &'p [u8] {
        self.get(self.urls[index].path, record)
    }
}
