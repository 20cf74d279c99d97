//! Splits the URLs of a block into hosts and paths, normalized for comparison.
//!
//! Most pieces are ranges of the URL itself; the others are appended to a buffer that is reused. A
//! piece is two numbers, so nothing borrows and nothing is allocated per URL.
//!
//! Lists are often grouped by host. A URL whose scheme and host equal those of the previous URL,
//! byte for byte, is neither split nor looked up again; see [`UrlHead`].

use std::ops::Range;

use portcullis_dialect::dialect::PathRules;
use portcullis_engine::vectors::Vectors;
use portcullis_robots::url::{
    BadUrl, ComparedPaths, PlainUrl, UrlHead, compared_path, has_tab_or_line_end, host_key,
    is_plain, plain_head, plain_urls, split_assuming,
};

/// A range of a record, or of the buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// [`Piece::WRITTEN`] is set if the range is in the buffer.
    start: u32,
    length: u32,
}

impl Piece {
    const WRITTEN: u32 = 1 << 31;
    /// The path of a URL without one. The buffer begins with it.
    const SLASH: Piece = Piece { start: Piece::WRITTEN, length: 1 };
}

/// What decides how any record is split: the rules for paths, the scheme to assume, the vectors.
type Splitting<'s> = (&'s PathRules, Option<&'s [u8]>, Vectors);

/// Scheme and host of a URL and of the URLs after it that share them.
#[derive(Clone, Copy, Debug)]
struct Host {
    /// The index of the first URL.
    url: u32,
    is_invalid: bool,
    scheme: Piece,
    key: Piece,
}

/// The pieces of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    hosts: Vec<Host>,
    /// The path of each URL; empty for a record that is not a URL.
    paths: Vec<Piece>,
    written: Vec<u8>,
    scratch: Vec<u8>,
}

/// A host of the block, with its first URL.
pub(super) struct HostOfUrls<'p> {
    /// The index of the URL. URLs from there to that of the next host have the same scheme and key.
    pub(super) url: usize,
    /// The scheme; empty for a record that is not a URL.
    pub(super) scheme: &'p [u8],
    /// The key of the host; empty for a record that is not a URL.
    pub(super) key: &'p [u8],
}

impl Pieces {
    /// Splits a block of records. A record without a scheme gets `assumed_scheme`, if given.
    #[inline]
    pub(super) fn fill<R: AsRef<[u8]>>(
        &mut self,
        records: &[R],
        rules: &PathRules,
        assumed_scheme: Option<&[u8]>,
        vectors: Vectors,
    ) {
        self.hosts.clear();
        self.paths.clear();
        self.written.clear();
        self.written.push(b'/');
        let others = (rules, assumed_scheme, vectors);
        let are_seen = plain_urls(records, rules.escapes, vectors, |url, record, plain_url| {
            let Some(PlainUrl { head, is_shared, has_plain_path }) = plain_url else {
                self.push_alone(url as u32, record, others);
                return;
            };
            if !is_shared {
                self.push_plain_host(url as u32, head);
            }
            self.push_plain_path(record, head, has_plain_path, rules);
        });
        if are_seen {
            return;
        }
        // The last plain URL. The next one may begin with its scheme and host.
        let mut last = None;
        for (url, record) in (0..).zip(records) {
            last = self.push(url, record.as_ref(), last, others);
        }
    }

    /// Splits a record, which may share its head with the last plain URL. Returns the last plain
    /// URL for the next record; `None` if this record is not plain.
    // Called, it would move its arguments and its result through memory for each record.
    #[inline(always)]
    fn push<'r>(
        &mut self,
        url: u32,
        record: &'r [u8],
        last: Option<(&'r [u8], UrlHead)>,
        (rules, assumed_scheme, vectors): Splitting<'_>,
    ) -> Option<(&'r [u8], UrlHead)> {
        let shared = last.filter(|(other, head)| head.is_shared(other, record));
        let head = shared.map(|(_, head)| head).or_else(|| plain_head(record));
        if let Some(head) = head {
            let is_plain = is_plain(&record[head.bytes..], rules.escapes, vectors);
            if is_plain || !has_tab_or_line_end(record) {
                if shared.is_none() {
                    self.push_plain_host(url, head);
                }
                self.push_plain_path(record, head, is_plain, rules);
                return shared.or(Some((record, head)));
            }
        }
        self.push_other(url, record, rules, assumed_scheme);
        None
    }

    /// Splits a record that the vectors did not recognise as plain.
    #[inline(never)]
    fn push_alone(&mut self, url: u32, record: &[u8], others: Splitting<'_>) {
        self.push(url, record, None, others);
    }

    #[inline(always)]
    fn push_plain_host(&mut self, url: u32, head: UrlHead) {
        let scheme = piece_between(0, head.scheme_bytes);
        let key = piece_between(head.scheme_bytes + 3, head.bytes);
        self.hosts.push(Host { url, is_invalid: false, scheme, key });
    }

    #[inline(always)]
    fn push_plain_path(&mut self, record: &[u8], head: UrlHead, is_plain: bool, rules: &PathRules) {
        let path = match is_plain {
            true if head.bytes == record.len() => Piece::SLASH,
            true => piece_between(head.bytes, record.len()),
            false => self.normal_path(record, head, rules),
        };
        self.paths.push(path);
    }

    /// Returns the path of a plain URL, normalized and without its fragment.
    #[inline(never)]
    fn normal_path(&mut self, record: &[u8], head: UrlHead, rules: &PathRules) -> Piece {
        let path = &record[head.bytes..];
        let path = &path[..memchr::memchr(b'#', path).unwrap_or(path.len())];
        let mut scratch = std::mem::take(&mut self.scratch);
        let path = self.piece(record, compared_path(path, rules.escapes, &mut scratch).as_bytes());
        self.scratch = scratch;
        path
    }

    #[inline(never)]
    fn push_other(
        &mut self,
        url: u32,
        record: &[u8],
        rules: &PathRules,
        assumed_scheme: Option<&[u8]>,
    ) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let split = self.split(record, rules, assumed_scheme, &mut scratch);
        self.scratch = scratch;
        let is_invalid = split.is_err();
        let [scheme, key, path] = split.unwrap_or_default();
        self.hosts.push(Host { url, is_invalid, scheme, key });
        self.paths.push(path);
    }

    /// Splits any URL into scheme, key and path.
    fn split(
        &mut self,
        record: &[u8],
        rules: &PathRules,
        assumed_scheme: Option<&[u8]>,
        scratch: &mut Vec<u8>,
    ) -> Result<[Piece; 3], BadUrl> {
        let url = split_assuming(record, rules.path_start, assumed_scheme)?;
        let scheme = self.piece(record, url.scheme);
        let key = host_key(&url, scratch)?;
        let key = self.piece(record, key);
        let path = self.piece(record, compared_path(url.path, rules.escapes, scratch).as_bytes());
        Ok([scheme, key, path])
    }

    fn piece(&mut self, record: &[u8], bytes: &[u8]) -> Piece {
        let length = bytes.len() as u32;
        // Tests by address whether the bytes are part of the record. The result is only used as an
        // index, which is checked.
        let start = (bytes.as_ptr() as usize).wrapping_sub(record.as_ptr() as usize);
        let is_near = start < Piece::WRITTEN as usize;
        if is_near && start <= record.len() && bytes.len() <= record.len() - start {
            return Piece { start: start as u32, length };
        }
        let start = self.written.len() as u32;
        self.written.extend_from_slice(bytes);
        Piece { start: start | Piece::WRITTEN, length }
    }

    #[inline]
    fn get<'p>(&'p self, piece: Piece, record: &'p [u8]) -> &'p [u8] {
        let is_written = piece.start & Piece::WRITTEN != 0;
        let bytes = if is_written { &self.written } else { record };
        &bytes[(piece.start & !Piece::WRITTEN) as usize..][..piece.length as usize]
    }

    /// Returns the number of hosts to look up.
    pub(super) fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Returns the indexes of the URLs with this host, and whether they are not URLs.
    #[inline(always)]
    pub(super) fn urls_of_host(&self, number: usize) -> (Range<usize>, bool) {
        let Host { url, is_invalid, .. } = self.hosts[number];
        let end = self.hosts.get(number + 1).map_or(self.paths.len(), |next| next.url as usize);
        (url as usize..end, is_invalid)
    }

    /// Returns the host with this number.
    #[inline(always)]
    pub(super) fn host<'p, R: AsRef<[u8]>>(
        &'p self,
        number: usize,
        records: &'p [R],
    ) -> HostOfUrls<'p> {
        let Host { url, scheme, key, .. } = self.hosts[number];
        let record = records[url as usize].as_ref();
        let (scheme, key) = (self.get(scheme, record), self.get(key, record));
        HostOfUrls { url: url as usize, scheme, key }
    }

    /// Returns the number of the host of a URL.
    pub(super) fn host_of_url(&self, url: usize) -> usize {
        self.hosts.partition_point(|host| host.url as usize <= url) - 1
    }

    /// Returns the length of the scheme of the host with this number.
    pub(super) fn scheme_bytes(&self, number: usize) -> usize {
        self.hosts[number].scheme.length as usize
    }

    /// Appends the paths of all records to `paths`.
    #[inline]
    pub(super) fn paths<'p, R: AsRef<[u8]>>(
        &'p self,
        records: &'p [R],
        paths: &'p mut Vec<&'p [u8]>,
    ) -> ComparedPaths<'p> {
        let pieces = self.paths.iter().zip(records);
        paths.extend(pieces.map(|(&path, record)| self.get(path, record.as_ref())));
        // Each piece is a plain path or comes from `compared_path`. The piece of an invalid record
        // is empty and not compared.
        ComparedPaths::assume_normal(paths)
    }
}

#[inline]
fn piece_between(start: usize, end: usize) -> Piece {
    Piece { start: start as u32, length: (end - start) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::Dialect;
    use portcullis_oracle as oracle;

    /// URLs in runs of one host, with every character that ends an authority, or seems to, at every
    /// place.
    fn records() -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        for url in ["https://open.example/a?b", "http://open.example:80", "//x.example/;a\\@b"] {
            for inserted in
                [";", "\\", "@", ";x@", "\\@", "x;y@z\\", "@a;b", "/;", "?\\", "#@", "\t", "\n"]
            {
                for place in 0..=url.len() {
                    let (start, end) = url.split_at(place);
                    records.extend([url.to_owned(), [start, inserted, end].concat()]);
                }
            }
        }
        records.into_iter().map(String::into_bytes).collect()
    }

    /// Returns origin and path of one record, computed step by step.
    fn alone(record: &[u8], rules: &PathRules) -> Option<[Vec<u8>; 3]> {
        let url = split_assuming(record, rules.path_start, Some(b"ftp")).ok()?;
        let (mut host, mut path) = (Vec::new(), Vec::new());
        let key = host_key(&url, &mut host).ok()?.to_vec();
        let path = compared_path(url.path, rules.escapes, &mut path).as_bytes().to_vec();
        Some([url.scheme.to_vec(), key, path])
    }

    #[test]
    fn a_block_is_taken_apart_like_each_record_alone() {
        let records = records();
        let mut pieces = Pieces::default();
        for dialect in Dialect::ALL {
            let rules = &dialect.paths;
            for vectors in Vectors::all() {
                pieces.fill(&records, rules, Some(b"ftp"), vectors);
                let mut paths = Vec::new();
                let paths = pieces.paths(&records, &mut paths).as_slices();
                let mut number = 0;
                for (url, record) in records.iter().enumerate() {
                    let is_next = number + 1 < pieces.hosts();
                    if is_next && pieces.host(number + 1, &records).url == url {
                        number += 1;
                    }
                    let HostOfUrls { scheme, key, .. } = pieces.host(number, &records);
                    let (urls, is_invalid) = pieces.urls_of_host(number);
                    assert!(urls.contains(&url));
                    let path = paths[url];
                    let split = (!is_invalid).then(|| [scheme, key, path].map(<[u8]>::to_vec));
                    assert_eq!(split, alone(record, rules), "{}: {record:?}", dialect.name);
                    if !is_invalid && scheme != b"ftp" {
                        let judged = oracle::compared_path(dialect, record);
                        assert_eq!(judged.as_deref(), Some(path), "{}: {record:?}", dialect.name);
                    }
                    let inside = record.trim_ascii();
                    assert!(is_invalid || !inside.contains(&b'\t'), "{}: {record:?}", dialect.name);
                }
            }
        }
    }
}
