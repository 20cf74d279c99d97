//! Scheme, host key and path of each URL of a block, in the form in which they are compared.
//!
//! Most are pieces of the URL as it stands; the others are written one behind the other into memory
//! that is used again. A piece is two numbers, so nothing borrows and nothing is allocated for a URL.

use crate::dialect::PathRules;
use crate::target::{
    BadUrl, PlainHead, compared_path, host_key, is_plain_path, plain_head, split_assuming,
};

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
    /// The number of each URL that has another host than the one before it.
    hosts: Vec<u32>,
    written: Vec<u8>,
    scratch: Vec<u8>,
}

impl Pieces {
    /// Takes a block of records apart. One without a scheme is taken to have `assumed_scheme`, if
    /// there is one.
    #[inline]
    pub(super) fn fill<R: AsRef<[u8]>>(
        &mut self,
        records: &[R],
        paths: &PathRules,
        assumed_scheme: Option<&[u8]>,
    ) {
        self.urls.clear();
        self.hosts.clear();
        self.written.clear();
        // The last plain URL, with whose head the next one may begin.
        let mut last: Option<(&[u8], PlainHead)> = None;
        for (number, record) in (0..).zip(records) {
            let record = record.as_ref();
            let shared = last.filter(|(other, head)| head.is_shared(other, record));
            if shared.is_none() {
                self.hosts.push(number);
            }
            let head = match shared {
                Some((_, head)) => Some(head),
                None => plain_head(record),
            };
            match head {
                Some(head) => self.push_plain(record, head, paths),
                None => self.push_other(record, paths, assumed_scheme),
            }
            last = head.map(|head| (record, head));
        }
    }

    #[inline]
    fn push_plain(&mut self, record: &[u8], head: PlainHead, paths: &PathRules) {
        let piece = |start: usize, end: usize| Piece {
            start: start as u32,
            length: (end - start) as u32,
            is_written: false,
        };
        let path = match is_plain_path(record, head.octets, paths.escapes) {
            true => piece(head.octets, record.len()),
            false => self.compared_path(record, &record[head.octets..], paths),
        };
        let scheme = piece(0, head.scheme_octets);
        let key = piece(head.scheme_octets + 3, head.octets);
        self.urls.push(UrlPieces { scheme, key, path, is_invalid: false });
    }

    /// The path of a plain URL, without its fragment, as rules are compared with it.
    fn compared_path(&mut self, record: &[u8], path: &[u8], paths: &PathRules) -> Piece {
        let path = &path[..memchr::memchr(b'#', path).unwrap_or(path.len())];
        let mut scratch = std::mem::take(&mut self.scratch);
        let path = self.piece(record, compared_path(path, paths.escapes, &mut scratch));
        self.scratch = scratch;
        path
    }

    fn push_other(&mut self, record: &[u8], paths: &PathRules, assumed_scheme: Option<&[u8]>) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let pieces = self.other(record, paths, assumed_scheme, &mut scratch);
        self.scratch = scratch;
        let invalid = UrlPieces { is_invalid: true, ..UrlPieces::default() };
        self.urls.push(pieces.unwrap_or(invalid));
    }

    fn other(
        &mut self,
        record: &[u8],
        paths: &PathRules,
        assumed_scheme: Option<&[u8]>,
        scratch: &mut Vec<u8>,
    ) -> Result<UrlPieces, BadUrl> {
        let url = split_assuming(record, paths.path_start, assumed_scheme)?;
        let scheme = self.piece(record, url.scheme);
        let key = host_key(&url, scratch)?;
        let key = self.piece(record, key);
        let path = self.piece(record, compared_path(url.path, paths.escapes, scratch));
        Ok(UrlPieces { scheme, key, path, is_invalid: false })
    }

    /// The numbers of the URLs that have another host than the one before; the others have the same
    /// scheme and key as that.
    pub(super) fn hosts(&self) -> &[u32] {
        &self.hosts
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
