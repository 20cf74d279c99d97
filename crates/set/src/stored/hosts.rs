//! Hosts: lookup by key, and iteration.

use std::hint::black_box;

use zerocopy::IntoBytes;

use portcullis_dialect::limits::{HOST_BYTES_MAX, SET_HOST_RUN_SLOTS_MAX};

use super::super::file::Damage;
use super::super::layout::{NONE, SLOT_WORDS, host, slot_of};
use super::super::load::EVERY_HOST;
use super::{PolicyNumber, PolicySet, StoredCapture};

/// The position of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostPosition(pub(super) u32);

/// The field of a host that a scheme uses. Nearly all policies apply to http and https, so each of
/// them has a field; any other scheme is part of the host's key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Http,
    Https,
    /// The scheme is part of the key.
    Other,
}

#[inline]
pub(crate) fn place(scheme: &[u8]) -> Place {
    match scheme {
        b"https" => Place::Https,
        b"http" => Place::Http,
        _ if scheme.eq_ignore_ascii_case(b"http") => Place::Http,
        _ if scheme.eq_ignore_ascii_case(b"https") => Place::Https,
        _ => Place::Other,
    }
}

/// Returns the key of an origin with any other scheme. Hosts contain no `/`, so the key is
/// unambiguous.
pub(crate) fn key_with_scheme(scheme: &[u8], key: &[u8]) -> Vec<u8> {
    [&scheme.to_ascii_lowercase(), &b"://"[..], key].concat()
}

/// A host of a set.
#[derive(Clone, Copy, Debug)]
pub struct StoredHost<'s> {
    set: &'s PolicySet,
    key: &'s [u8],
    policies: [u32; 2],
    pub(super) captures: [u32; 2],
}

/// A search for a host that continues from slot to slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Search {
    slot: u64,
    tag: u32,
    tried: usize,
}

/// The maximum length of a key, in bytes: a host, a port, and a scheme before it.
const KEY_BYTES_MAX: usize = HOST_BYTES_MAX + 64 * 1024;

impl PolicySet {
    /// Returns the host with this key (see [`host_key`](portcullis_robots::target::host_key)).
    pub fn host(&self, key: &[u8]) -> Result<Option<StoredHost<'_>>, Damage> {
        let mut search = self.search(key);
        while let Some(position) = self.next_candidate(&mut search)? {
            let host = self.host_at(position)?;
            if host.key == key {
                return Ok(Some(host));
            }
        }
        Ok(None)
    }

    /// Returns the policy of an origin.
    pub fn policy_of(&self, scheme: &[u8], key: &[u8]) -> Result<Option<PolicyNumber>, Damage> {
        let host = self.host_of(scheme, key)?;
        Ok(host.and_then(|host| host.policy(place(scheme) == Place::Https)))
    }

    /// Returns the policy of an origin, and its capture.
    pub fn origin(
        &self,
        scheme: &[u8],
        key: &[u8],
    ) -> Result<Option<(PolicyNumber, StoredCapture<'_>)>, Damage> {
        let Some(host) = self.host_of(scheme, key)? else { return Ok(None) };
        let https = place(scheme) == Place::Https;
        let Some(policy) = host.policy(https) else { return Ok(None) };
        let missing = || self.malformed_host("an origin has a policy and no capture");
        Ok(Some((policy, host.capture(https)?.ok_or_else(missing)?)))
    }

    fn host_of(&self, scheme: &[u8], key: &[u8]) -> Result<Option<StoredHost<'_>>, Damage> {
        if self.is_universal {
            return self.host(EVERY_HOST);
        }
        match place(scheme) {
            Place::Other => self.host(&key_with_scheme(scheme, key)),
            Place::Http | Place::Https => self.host(key),
        }
    }

    /// Returns the damage to report if data about a host is missing.
    #[cold]
    pub fn malformed_host(&self, what: &'static str) -> Damage {
        self.malformed(self.sections.hosts, 0, what)
    }

    #[inline]
    pub(super) fn search(&self, key: &[u8]) -> Search {
        let (slot, tag) = slot_of(key, self.slots, self.host_seed);
        Search { slot, tag, tried: 0 }
    }

    /// Prefetches the slots at which searches begin.
    ///
    /// Only bounds are checked: the shorter the loop, the more of its loads overlap. Nothing uses
    /// the loaded bytes before their checksum is compared.
    #[inline]
    pub(super) fn touch_slots(&self, searches: &[Search]) {
        let slots = self.file.uncompared(self.sections.slots);
        let (slots, _) = slots.as_chunks::<{ SLOT_WORDS * size_of::<u32>() }>();
        let first = |search: &Search| slots.get(search.slot as usize).map_or(0, |slot| slot[0]);
        black_box(searches.iter().fold(0, |seen, search| seen ^ first(search)));
    }

    /// Prefetches the hosts at these positions, each from its first word to the end of a key of the
    /// given length.
    #[inline]
    pub(super) fn touch_hosts(&self, hosts: impl Iterator<Item = (HostPosition, usize)>) {
        let (words, _) = self.file.uncompared(self.sections.hosts).as_chunks::<4>();
        let first = |word: usize| words.get(word).map_or(0, |word| word[0]);
        let ends = |(HostPosition(position), key_bytes): (HostPosition, usize)| {
            let position = position as usize;
            first(position) ^ first(position.saturating_add(host::HEAD_WORDS + key_bytes / 4))
        };
        black_box(hosts.fold(0, |seen, host| seen ^ ends(host)));
    }

    /// Returns the next host that may have the key.
    #[inline(always)]
    pub(super) fn next_candidate(
        &self,
        search: &mut Search,
    ) -> Result<Option<HostPosition>, Damage> {
        while search.tried <= SET_HOST_RUN_SLOTS_MAX {
            let words: &[zerocopy::little_endian::U32] = self.file.items(
                self.sections.slots,
                search.slot * SLOT_WORDS as u64,
                SLOT_WORDS as u64,
            )?;
            let (tag, position) = (words[0].get(), words[1].get());
            if position == 0 {
                return Ok(None);
            }
            search.tried += 1;
            search.slot = if search.slot + 1 == self.slots { 0 } else { search.slot + 1 };
            if tag == search.tag {
                return Ok(Some(HostPosition(position - 1)));
            }
        }
        let what = "more slots are taken in a row than a search may walk";
        Err(self.malformed(self.sections.slots, 0, what))
    }

    /// Returns the host at a position.
    #[inline(always)]
    pub fn host_at(&self, position: HostPosition) -> Result<StoredHost<'_>, Damage> {
        let head = self.words(self.sections.hosts, position.0, host::HEAD_WORDS)?;
        let bytes = head[host::KEY_BYTES].get() as usize;
        if bytes > KEY_BYTES_MAX {
            return Err(self.malformed(self.sections.hosts, position.0, "its key is too long"));
        }
        let key_at = position.0.saturating_add(host::HEAD_WORDS as u32);
        let key = self.words(self.sections.hosts, key_at, bytes.div_ceil(4))?;
        let word = |index: usize| head[index].get();
        Ok(StoredHost {
            set: self,
            key: &key.as_bytes()[..bytes],
            policies: [word(host::HTTP_POLICY), word(host::HTTPS_POLICY)],
            captures: [word(host::HTTP_CAPTURE), word(host::HTTPS_CAPTURE)],
        })
    }

    /// Returns all hosts, in the order of their keys. Iteration ends after damage.
    pub fn hosts<'s>(&'s self) -> impl Iterator<Item = Result<StoredHost<'s>, Damage>> + 's {
        let end = self.sections.hosts.bytes() / size_of::<u32>() as u64;
        let mut next = Some(0_u32);
        let mut last: Option<&[u8]> = None;
        std::iter::from_fn(move || {
            let position = next.filter(|&position| u64::from(position) < end)?;
            let in_order = |host: StoredHost<'s>| match last.replace(host.key) {
                Some(last) if last >= host.key => {
                    Err(self.malformed(self.sections.hosts, position, "hosts are not in order"))
                }
                _ => Ok(host),
            };
            let host = self.host_at(HostPosition(position)).and_then(in_order);
            next = host.as_ref().ok().and_then(|host| {
                position.checked_add((host::HEAD_WORDS + host.key.len().div_ceil(4)) as u32)
            });
            Some(host)
        })
    }
}

impl<'s> StoredHost<'s> {
    /// Returns the key: the host, its port unless it is the default, and `scheme://` before it for
    /// schemes other than http and https.
    pub fn key(&self) -> &'s [u8] {
        self.key
    }

    /// Returns the policy for https, or for http (or the only scheme of the key).
    #[inline]
    pub fn policy(&self, https: bool) -> Option<PolicyNumber> {
        let number = self.policies[usize::from(https)];
        (number != NONE).then_some(PolicyNumber(number))
    }

    /// Returns the capture of that policy.
    pub fn capture(&self, https: bool) -> Result<Option<StoredCapture<'s>>, Damage> {
        let index = self.captures[usize::from(https)];
        if index == NONE {
            return Ok(None);
        }
        self.set.capture_at(index).map(Some)
    }

    /// Returns the schemes with a policy: `false` for http or the only scheme of the key, `true`
    /// for https.
    pub fn schemes(&self) -> impl Iterator<Item = bool> + use<'s> {
        let policies = self.policies;
        [false, true].into_iter().filter(move |&https| policies[usize::from(https)] != NONE)
    }

    /// Returns the origin as text.
    pub fn origin(&self, https: bool) -> Vec<u8> {
        let has_scheme = self.key.windows(3).any(|window| window == b"://");
        match (has_scheme, https) {
            (true, _) => self.key.to_vec(),
            (false, false) => [b"http://", self.key].concat(),
            (false, true) => [b"https://", self.key].concat(),
        }
    }

    /// Returns whether http and https share one capture.
    pub fn is_one_capture(&self) -> bool {
        self.captures[0] == self.captures[1]
    }
}
