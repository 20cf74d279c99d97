//! Splits the URLs of a block into hosts and paths, normalized for comparison.
//!
//! Most pieces are ranges of the URL itself; the others are appended to a buffer that is reused. A
//! piece is two numbers, so nothing that is kept borrows, and nothing is allocated per URL.
//!
//! Lists are often grouped by host. A URL with the same scheme and host as the previous URL,
//! byte for byte, is neither split nor looked up again; see [`UrlHead`].

use std::ops::Range;
use std::slice::IterMut;

use portcullis_dialect::dialect::PathRules;
use portcullis_engine::vectors::Vectors;
use portcullis_robots::url::{
    BadUrl, EachUrl, PlainUrl, UrlHead, compared_path, host_key, may_be_odd, plain_urls,
    split_assuming,
};

use crate::stored::{Candidate, HostTable, Place, Search, place};

/// Records of a block, one after the other, that share scheme and host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginRecords<'p> {
    /// The records.
    pub records: Range<usize>,
    /// The scheme as written; empty if the record is not a URL.
    pub scheme: &'p [u8],
    /// The key of the host (see [`host_key`](portcullis_robots::url::host_key)); empty if the record is
    /// not a URL.
    pub key: &'p [u8],
}

/// A range of a record, or of the buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    /// [`Piece::WRITTEN`] is set if the range is in the buffer.
    start: u32,
    length: u32,
}

impl Piece {
    const WRITTEN: u32 = 1 << 31;

    #[inline]
    fn is_written(self) -> bool {
        self.start & Piece::WRITTEN != 0
    }

    #[inline]
    fn range(self) -> Range<usize> {
        let start = (self.start & !Piece::WRITTEN) as usize;
        start..start + self.length as usize
    }
}

/// The settings by which a record is split: the rules for paths, the scheme to assume, the vectors.
pub(super) type Splitting<'s> = (&'s PathRules, Option<&'s [u8]>, Vectors);

/// Scheme and host of a URL and of the URLs after it that share them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    /// The index of the first URL.
    url: u32,
    pub(super) place: Place,
    /// Whether the record is not a URL. Scheme and key are empty then.
    pub(super) is_invalid: bool,
    scheme: Piece,
    key: Piece,
    /// Where the search for the key begins.
    pub(super) search: Search,
    /// The host in the set, once it has been found.
    pub(super) candidate: Candidate,
}

/// The pieces of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    hosts: Vec<Host>,
    /// The number of URLs.
    urls: usize,
    /// The paths that are not part of their records, and the indexes of their URLs.
    written_paths: Vec<(u32, Piece)>,
    written: Written,
    scratch: Vec<u8>,
    /// The indexes of the URLs that [`may_be_odd`] accepts.
    odd: Vec<u32>,
}

/// The pieces that are not part of their records.
#[derive(Clone, Debug, Default)]
pub(super) struct Written(Vec<u8>);

impl Written {
    #[inline]
    fn get<'p>(&'p self, piece: Piece, record: &'p [u8]) -> &'p [u8] {
        let bytes = if piece.is_written() { &self.0 } else { record };
        &bytes[piece.range()]
    }
}

/// A block that is being split.
struct Filling<'r, 's> {
    pieces: &'s mut Pieces,
    /// The paths of the URLs to come.
    paths: IterMut<'s, &'r [u8]>,
    splitting: Splitting<'s>,
    table: Option<&'s HostTable<'s>>,
}

impl<'r> EachUrl<'r> for Filling<'r, '_> {
    #[inline(always)]
    fn url(&mut self, url: usize, record: &'r [u8], plain_url: Option<PlainUrl>) {
        let Filling { pieces, paths, splitting, table } = self;
        let url = url as u32;
        *paths.next().expect("a path for each URL") = match plain_url {
            None => pieces.push_other(url, record, *splitting, *table),
            Some(PlainUrl { head, is_shared, has_plain_path }) => {
                if !is_shared {
                    pieces.push_plain_host(url, head, record, *table);
                }
                let path = &record[head.bytes..];
                match has_plain_path {
                    true if path.is_empty() => b"/",
                    true => path,
                    false => pieces.normal_path(url, record, path, splitting.0),
                }
            }
        };
    }
}

impl Host {
    /// Returns the index of the first URL. URLs from there to that of the next host have the same
    /// scheme and key.
    #[inline]
    pub(super) fn url(&self) -> usize {
        self.url as usize
    }

    /// Returns whether the search has the key under which the host is looked up.
    #[inline(always)]
    pub(super) fn is_searched(&self) -> bool {
        (self.place != Place::Other) & self.search.is_whole()
    }

    /// Returns scheme and key.
    pub(super) fn scheme_and_key<'p>(
        &self,
        written: &'p Written,
        record: &'p [u8],
    ) -> [&'p [u8]; 2] {
        [written.get(self.scheme, record), written.get(self.key, record)]
    }
}

impl Pieces {
    /// Splits a block of records, and begins the search for the key of each host if there is a
    /// table to search. A record without a scheme gets the assumed one, if there is one. Returns the
    /// paths that are part of their records; [`Pieces::with_written`] adds the others.
    #[inline]
    pub(super) fn fill<'r, R: AsRef<[u8]>>(
        &mut self,
        records: &'r [R],
        splitting: Splitting<'_>,
        table: Option<&HostTable<'_>>,
    ) -> Vec<&'r [u8]> {
        self.hosts.clear();
        self.urls = records.len();
        self.written_paths.clear();
        self.written.0.clear();
        self.odd.clear();
        let (rules, _, vectors) = splitting;
        let mut paths: Vec<&[u8]> = vec![&[]; records.len()];
        let mut filling = Filling { pieces: self, paths: paths.iter_mut(), splitting, table };
        plain_urls(records, rules.escapes, vectors, &mut filling);
        paths
    }

    #[inline(always)]
    fn push_plain_host(
        &mut self,
        url: u32,
        head: UrlHead,
        record: &[u8],
        table: Option<&HostTable<'_>>,
    ) {
        let scheme = Piece { start: 0, length: head.scheme_bytes as u32 };
        let start = head.scheme_bytes as u32 + 3;
        let key = Piece { start, length: (head.bytes - head.port_bytes) as u32 - start };
        let place = if head.scheme_bytes == 5 { Place::Https } else { Place::Http };
        let (is_invalid, search, candidate) = (false, Search::default(), Candidate::default());
        self.hosts.push(Host { url, place, is_invalid, scheme, key, search, candidate });
        // In place: the compiler would copy it from the stack.
        if let (Some(host), Some(table)) = (self.hosts.last_mut(), table) {
            table.begin(&mut host.search, head.key(record));
        }
    }

    /// Returns the path of a plain URL, normalized and without its fragment.
    #[cold]
    #[inline(never)]
    fn normal_path<'r>(
        &mut self,
        url: u32,
        record: &'r [u8],
        path: &[u8],
        rules: &PathRules,
    ) -> &'r [u8] {
        self.note_odd(url, record);
        let path = &path[..memchr::memchr(b'#', path).unwrap_or(path.len())];
        let mut scratch = std::mem::take(&mut self.scratch);
        let path = compared_path(path, rules.escapes, &mut scratch);
        let path = self.piece(record, path);
        self.scratch = scratch;
        self.path_of_record(url, record, path)
    }

    fn note_odd(&mut self, url: u32, record: &[u8]) {
        if may_be_odd(record) {
            self.odd.push(url);
        }
    }

    /// Returns the indexes of the URLs that [`may_be_odd`] accepts, in order.
    pub(super) fn odd(&self) -> &[u32] {
        &self.odd
    }

    /// Returns a path that is part of its record, or notes one that is not.
    fn path_of_record<'r>(&mut self, url: u32, record: &'r [u8], path: Piece) -> &'r [u8] {
        if path.is_written() {
            self.written_paths.push((url, path));
            return b"";
        }
        &record[path.range()]
    }

    #[cold]
    #[inline(never)]
    fn push_other<'r>(
        &mut self,
        url: u32,
        record: &'r [u8],
        splitting: Splitting<'_>,
        table: Option<&HostTable<'_>>,
    ) -> &'r [u8] {
        self.note_odd(url, record);
        let mut scratch = std::mem::take(&mut self.scratch);
        let split = self.split(record, splitting, &mut scratch);
        self.scratch = scratch;
        let is_invalid = split.is_err();
        let [scheme, key, path] = split.unwrap_or_default();
        let place = place(self.written.get(scheme, record));
        let mut search = Search::default();
        if let Some(table) = table {
            table.begin(&mut search, self.written.get(key, record));
        }
        let candidate = Candidate::default();
        self.hosts.push(Host { url, place, is_invalid, scheme, key, search, candidate });
        self.path_of_record(url, record, path)
    }

    /// Splits any URL into scheme, key and path.
    fn split(
        &mut self,
        record: &[u8],
        (rules, assumed_scheme, _): Splitting<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<[Piece; 3], BadUrl> {
        let url = split_assuming(record, rules.path_start, assumed_scheme)?;
        let scheme = self.piece(record, url.scheme);
        let key = host_key(&url, scratch)?;
        let key = self.piece(record, key);
        let path = self.piece(record, compared_path(url.path, rules.escapes, scratch));
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
        let start = self.written.0.len() as u32;
        self.written.0.extend_from_slice(bytes);
        Piece { start: start | Piece::WRITTEN, length }
    }

    /// Returns the hosts, in the order of their URLs.
    pub(super) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Like [`Pieces::hosts`], to note what was found, with what is written of them.
    pub(super) fn hosts_mut(&mut self) -> (&mut [Host], &Written) {
        (&mut self.hosts, &self.written)
    }

    /// Returns the indexes of the URLs with the host with this number.
    #[inline(always)]
    pub(super) fn urls_of_host(&self, number: usize) -> Range<usize> {
        let end = self.hosts.get(number + 1).map_or(self.urls, Host::url);
        self.hosts[number].url()..end
    }

    /// Returns the URLs of each host with scheme and key, in their order.
    pub(super) fn origins<'p, R: AsRef<[u8]>>(
        &'p self,
        urls: &'p [R],
    ) -> impl Iterator<Item = OriginRecords<'p>> + use<'p, R> {
        assert_eq!(urls.len(), self.urls, "these are other URLs");
        self.hosts.iter().enumerate().map(|(number, host)| {
            let [scheme, key] = host.scheme_and_key(&self.written, urls[host.url()].as_ref());
            OriginRecords { records: self.urls_of_host(number), scheme, key }
        })
    }

    /// Returns the host of a URL.
    pub(super) fn host_of_url(&self, url: usize) -> &Host {
        &self.hosts[self.hosts.partition_point(|host| host.url() <= url) - 1]
    }

    /// Adds the paths that are not part of their records to those that [`Pieces::fill`] returned.
    #[inline]
    pub(super) fn with_written<'p>(&'p self, mut paths: Vec<&'p [u8]>) -> Vec<&'p [u8]> {
        for (url, path) in &self.written_paths {
            paths[*url as usize] = &self.written.0[path.range()];
        }
        paths
    }
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
        let path = compared_path(url.path, rules.escapes, &mut path).to_vec();
        Some([url.scheme.to_vec(), key, path])
    }

    #[test]
    fn a_block_is_taken_apart_like_each_record_alone() {
        let records = records();
        let mut pieces = Pieces::default();
        for dialect in Dialect::ALL {
            let rules = &dialect.paths;
            for vectors in Vectors::all() {
                let splitting = (rules, Some(&b"ftp"[..]), vectors);
                let paths = pieces.fill(&records, splitting, None);
                let paths = pieces.with_written(paths);
                let mut number = 0;
                for (url, record) in records.iter().enumerate() {
                    let is_next = number + 1 < pieces.hosts().len();
                    if is_next && pieces.hosts()[number + 1].url() == url {
                        number += 1;
                    }
                    let OriginRecords { scheme, key, .. } =
                        pieces.origins(&records).nth(number).unwrap();
                    let Host { is_invalid, place, .. } = pieces.hosts()[number];
                    assert!(pieces.urls_of_host(number).contains(&url));
                    assert!(is_invalid || place == crate::stored::place(scheme));
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
