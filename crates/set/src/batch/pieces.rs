//! Splits the URLs of a block into hosts and paths, normalized for comparison.
//!
//! Most pieces are ranges of the URL itself; the others are appended to a buffer that is reused. A
//! piece is two numbers, so nothing that is kept borrows, and nothing is allocated per URL.
//!
//! Lists are often grouped by host. A URL with the same scheme and host as the previous URL,
//! byte for byte, is neither split nor looked up again; see [`UrlHead`].

use std::borrow::Cow;
use std::ops::Range;
use std::slice::IterMut;

use portcullis_dialect::dialect::PathRules;
use portcullis_engine::vectors::Vectors;
use portcullis_robots::url::{
    BadUrl, EachUrl, PlainUrl, UrlBeginning, UrlHead, UrlText, compared_path, host_key, may_be_odd,
    plain_urls, split_assuming,
};

use super::known::{FoundHost, KnownHosts};
use crate::Damage;
use crate::stored::{Candidate, HostTable, Place, RecordPolicy, Search, key_with_scheme, place};

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
    /// The policy, once the host has been found.
    pub(super) policy: RecordPolicy,
    /// The host in the set, once it has been found.
    pub(super) candidate: Candidate,
    text: HostText,
}

/// Where the scheme and the key of a host are.
#[derive(Clone, Copy, Debug)]
enum HostText {
    /// In the head of a plain URL.
    Plain(UrlHead),
    /// In [`Pieces::others`].
    Other { number: u32, is_https: bool },
}

/// A host whose URL is not plain.
#[derive(Clone, Copy, Debug)]
struct OtherHost {
    place: Place,
    scheme: Piece,
    key: Piece,
}

/// A host that is looked up in the set.
#[derive(Clone, Copy, Debug)]
struct Searched {
    /// The number of the host in the block.
    host: u32,
    candidate: Candidate,
    /// Where the search for the key begins.
    search: Search,
    /// The beginning and the head of its URLs if it is to be remembered.
    remembered: Option<(UrlBeginning, UrlHead)>,
}

/// The pieces of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    hosts: Vec<Host>,
    others: Vec<OtherHost>,
    searched: Vec<Searched>,
    known: KnownHosts,
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
    /// The paths of the URLs from the next one on.
    paths: IterMut<'s, &'r [u8]>,
    splitting: Splitting<'s>,
    table: Option<&'s HostTable<'s>>,
}

impl Filling<'_, '_> {
    /// Returns the number of the next URL.
    #[inline(always)]
    fn next(&self) -> u32 {
        (self.pieces.urls - self.paths.len()) as u32
    }

    /// Pushes the host of the next URL, which is plain.
    #[inline(always)]
    fn push(&mut self, head: UrlHead, FoundHost { policy, candidate }: FoundHost) {
        let (url, text) = (self.next(), HostText::Plain(head));
        self.pieces.hosts.push(Host { url, policy, candidate, text });
    }
}

impl<'r> EachUrl<'r> for Filling<'r, '_> {
    #[inline(always)]
    fn recall(&mut self, beginning: &UrlBeginning) -> Option<UrlHead> {
        let (head, found) = self.pieces.known.find(beginning)?;
        self.push(head, found);
        Some(head)
    }

    #[inline(always)]
    fn head(&mut self, record: &'r [u8], head: UrlHead, beginning: Option<&UrlBeginning>) {
        self.push(head, FoundHost::default());
        if let Some(table) = self.table {
            let remembered = beginning.map(|beginning| (*beginning, head));
            self.pieces.search(table, head.key(record), remembered);
        }
    }

    #[inline(always)]
    fn url(&mut self, record: &'r [u8], plain_url: Option<PlainUrl>) {
        let path = match plain_url {
            None => self.pieces.push_other(self.next(), record, self.splitting, self.table),
            Some(PlainUrl { head, has_plain_path, .. }) => {
                let path = &record[head.bytes()..];
                match has_plain_path {
                    true if path.is_empty() => path_of_none(),
                    true => path,
                    false => self.pieces.normal_path(self.next(), record, path, self.splitting.0),
                }
            }
        };
        *self.paths.next().expect("a path for each URL") = path;
    }
}

impl Host {
    /// Returns the index of the first URL. URLs from there to that of the next host have the same
    /// scheme and key.
    #[inline]
    pub(super) fn url(&self) -> usize {
        self.url as usize
    }

    /// Returns whether the scheme is https.
    #[inline]
    pub(super) fn is_https(&self) -> bool {
        match self.text {
            HostText::Plain(head) => head.is_https(),
            HostText::Other { is_https, .. } => is_https,
        }
    }

    /// Returns scheme and key.
    fn scheme_and_key<'p>(
        &self,
        (others, written): (&'p [OtherHost], &'p Written),
        record: &'p [u8],
    ) -> [&'p [u8]; 2] {
        match self.text {
            HostText::Plain(head) => [head.scheme(record), head.key(record)],
            HostText::Other { number, .. } => {
                let OtherHost { scheme, key, .. } = others[number as usize];
                [written.get(scheme, record), written.get(key, record)]
            }
        }
    }
}

impl Pieces {
    /// Splits a block of records, and begins the search for the key of each host if there is a
    /// table to search. A record without a scheme gets the assumed one, if there is one. Returns the
    /// paths that are part of their records; [`Pieces::with_written`] adds the others.
    #[inline]
    pub(super) fn fill<'r, R: UrlText>(
        &mut self,
        records: &'r [R],
        splitting: Splitting<'_>,
        table: Option<&HostTable<'_>>,
    ) -> Vec<&'r [u8]> {
        self.hosts.clear();
        self.others.clear();
        self.searched.clear();
        if table.is_some() {
            self.known.open(records.len());
        }
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

    /// Begins the search for the key of the last host.
    #[inline(always)]
    fn search(
        &mut self,
        table: &HostTable<'_>,
        key: &[u8],
        remembered: Option<(UrlBeginning, UrlHead)>,
    ) {
        let (host, candidate) = (self.hosts.len() as u32 - 1, Candidate::default());
        self.searched.push(Searched { host, candidate, search: Search::default(), remembered });
        // In place: the compiler would copy it from the stack.
        if let Some(searched) = self.searched.last_mut() {
            table.begin(&mut searched.search, key);
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

    /// Pushes the host of a URL that is not plain, instead of a plain one if its path is unclear, and returns its
    /// path.
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
        if self.hosts.pop_if(|host| host.url == url).is_some() {
            let number = self.hosts.len() as u32;
            self.searched.pop_if(|searched| searched.host == number);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let split = self.split(record, splitting, &mut scratch);
        self.scratch = scratch;
        let is_invalid = split.is_err();
        let [scheme, key, path] = split.unwrap_or_default();
        let place = place(self.written.get(scheme, record));
        let (number, is_https) = (self.others.len() as u32, place == Place::Https);
        self.others.push(OtherHost { place, scheme, key });
        let policy = if is_invalid { RecordPolicy::NO_URL } else { RecordPolicy::default() };
        let (candidate, text) = (Candidate::default(), HostText::Other { number, is_https });
        self.hosts.push(Host { url, policy, candidate, text });
        if let Some(table) = table.filter(|_| !is_invalid) {
            let written = std::mem::take(&mut self.written);
            let [scheme, key] = [scheme, key].map(|piece| written.get(piece, record));
            self.search(table, &searched_key(place, scheme, key), None);
            self.written = written;
        }
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

    /// Finds the hosts of the block in the table, and checks the numbers of their policies.
    pub(super) fn find<R: UrlText>(
        &mut self,
        table: &HostTable<'_>,
        records: &[R],
        known: impl Fn(RecordPolicy) -> Result<RecordPolicy, Damage>,
    ) -> Result<(), Damage> {
        for searched in &mut self.searched {
            searched.candidate = table.candidate(&searched.search)?;
        }
        for &Searched { host, candidate, ref search, ref remembered } in &self.searched {
            let host = &mut self.hosts[host as usize];
            host.candidate = candidate;
            let found = match search.is_whole() {
                true => table.policy(candidate, search, host.is_https()),
                false => None,
            };
            let policy = match found {
                Some(policy) => policy,
                None => {
                    let pieces = (&self.others[..], &self.written);
                    policy_of_other(table, host, pieces, records[host.url()].url())?
                }
            };
            host.policy = known(policy)?;
            if let &Some((beginning, head)) = remembered {
                let &mut Host { policy, candidate, .. } = host;
                self.known.keep(&beginning, head, FoundHost { policy, candidate });
            }
        }
        Ok(())
    }

    /// Writes the policy of each URL, and what `value` returns for the policy of its host.
    #[inline(always)]
    pub(super) fn spread<T: Copy>(
        &self,
        policies: &mut Vec<RecordPolicy>,
        values: &mut [T],
        mut value: impl FnMut(RecordPolicy) -> T,
    ) {
        policies.resize(self.urls, RecordPolicy::NO_URL);
        let (policies, values) = (&mut policies[..self.urls], &mut values[..self.urls]);
        // From the last host, whose URLs end where the list ends.
        let mut end = self.urls;
        for host in self.hosts.iter().rev() {
            let (policy, value, url) = (host.policy, value(host.policy), host.url());
            if end - url == 1 {
                (policies[url], values[url]) = (policy, value);
            } else {
                policies[url..end].fill(policy);
                values[url..end].fill(value);
            }
            end = url;
        }
    }

    /// Writes the policy of each URL.
    pub(super) fn policies(&self, policies: &mut Vec<RecordPolicy>) {
        self.spread(policies, &mut vec![(); self.urls], |_| ());
    }

    /// Returns the number of URLs.
    pub(super) fn len(&self) -> usize {
        self.urls
    }

    /// Returns the hosts, in the order of their URLs.
    pub(super) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns the indexes of the URLs with the host with this number.
    #[inline(always)]
    pub(super) fn urls_of_host(&self, number: usize) -> Range<usize> {
        let end = self.hosts.get(number + 1).map_or(self.urls, Host::url);
        self.hosts[number].url()..end
    }

    /// Returns the URLs of each host with scheme and key, in their order.
    pub(super) fn origins<'p, R: UrlText>(
        &'p self,
        urls: &'p [R],
    ) -> impl Iterator<Item = OriginRecords<'p>> + use<'p, R> {
        assert_eq!(urls.len(), self.urls, "these are other URLs");
        self.hosts.iter().enumerate().map(|(number, host)| {
            let pieces = (&self.others[..], &self.written);
            let [scheme, key] = host.scheme_and_key(pieces, urls[host.url()].url());
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

/// Returns the path of a URL without one.
#[cold]
fn path_of_none() -> &'static [u8] {
    b"/"
}

/// Returns the policy of a host that [`HostTable::policy`] does not find.
#[cold]
#[inline(never)]
fn policy_of_other(
    table: &HostTable<'_>,
    host: &mut Host,
    pieces: (&[OtherHost], &Written),
    record: &[u8],
) -> Result<RecordPolicy, Damage> {
    let place = match host.text {
        HostText::Plain(_) => Place::Http,
        HostText::Other { number, .. } => pieces.0[number as usize].place,
    };
    let [scheme, key] = host.scheme_and_key(pieces, record);
    let key = searched_key(place, scheme, key);
    let policies = table.search_again(&mut host.candidate, &key)?;
    Ok(policies[usize::from(host.is_https())])
}

/// Returns the key under which a host is looked up: with its scheme, unless that is http or https.
fn searched_key<'k>(place: Place, scheme: &[u8], key: &'k [u8]) -> Cow<'k, [u8]> {
    match place {
        Place::Other => key_with_scheme(scheme, key).into(),
        Place::Http | Place::Https => key.into(),
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
                    let host = pieces.hosts()[number];
                    let (policy, is_https) = (host.policy, host.is_https());
                    let is_invalid = policy == RecordPolicy::NO_URL;
                    assert!(pieces.urls_of_host(number).contains(&url));
                    assert!(
                        is_invalid || is_https == (crate::stored::place(scheme) == Place::Https)
                    );
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
