//! The origins of a set: the capture of each as of a time, the files that several share, and the sitemaps
//! that their files name.
//!
//! Two origins have the same file if it has the same records on the same lines, the same length and the
//! same notes: as far as a set stores it. A redirect gives several origins one file. Hosting platforms and
//! content networks give many. Memory: some 30 bytes for each distinct file.
//!
//! There is a row for each origin and sitemap. Hosts are read in the order of the set. A sitemap that a file
//! names twice has one row. Memory holds the values of one host.

use std::collections::HashSet;

use hashbrown::HashMap;
use portcullis_robots::access::UnixSeconds;
use portcullis_robots::syntax::NoteSet;
use portcullis_robots::url::split;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_rows::output::columns::{Field, FieldKind};
use portcullis_set::stored::{PolicyNumber, StoredCapture, StoredHost};
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

/// Returns the policy and the capture of an origin as of a time, or the newest; `None` if it had not been
/// captured.
pub(crate) fn captured<'s>(
    set: &'s PolicySet,
    host: &StoredHost<'s>,
    https: bool,
    at: Option<UnixSeconds>,
) -> Result<Option<(PolicyNumber, StoredCapture<'s>)>, Damage> {
    if let Some(time) = at
        && let Some(timeline) = host.timeline(https)?
    {
        let moment = timeline.find(time).map(|at| timeline.moment(at)).transpose()?;
        return Ok(moment.map(|moment| (moment.policy, moment.capture)));
    }
    match (host.policy(https), host.capture(https)?) {
        (Some(policy), Some(capture)) => Ok(Some((policy, capture))),
        _ => Err(set.malformed_host("an origin has no policy or no capture")),
    }
}

/// Whether a scheme is http or https.
pub(crate) fn is_of_web(scheme: &[u8]) -> bool {
    [&b"http"[..], b"https"].iter().any(|it| scheme.eq_ignore_ascii_case(it))
}

/// A map with a random seed.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// The number of origins and hosts that use a policy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PolicyUse {
    pub origins: u64,
    /// A host counts once if its policy applies to http and https.
    pub hosts: u64,
}

/// The numbers of origins by which files are counted.
const MORE_THAN: [u64; 5] = [0, 2, 10, 100, 1_000];

/// The key by which the files of a set differ: the policy, the position of the other records, the length and
/// the notes.
type FileKey = (PolicyNumber, Option<u32>, u32, NoteSet);

/// The number of origins of each file.
#[derive(Debug)]
pub(crate) struct SharedFiles(Map<FileKey, u32>);

/// The files that more than a number of origins share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedFigures {
    /// The number of origins.
    pub more_than: u64,
    /// The number of files.
    pub files: u64,
    /// The number of origins of these files.
    pub origins: u64,
}

impl SharedFiles {
    /// Reads all origins of `set`, as of a time or the newest.
    pub fn of(set: &PolicySet, at: Option<UnixSeconds>) -> Result<SharedFiles, Damage> {
        let mut files = Map::default();
        for host in set.hosts() {
            let host = host?;
            for https in host.schemes() {
                let Some((policy, capture)) = captured(set, &host, https, at)? else { continue };
                if set.policy(policy)?.state()?.is_file() {
                    *files.entry(key(policy, &capture)).or_insert(0) += 1;
                }
            }
        }
        Ok(SharedFiles(files))
    }

    /// Returns the number of origins that have a file; `None` if there is none.
    pub fn origins(&self, policy: PolicyNumber, capture: &StoredCapture<'_>) -> Option<u32> {
        self.0.get(&key(policy, capture)).copied()
    }

    pub fn figures(&self) -> Vec<SharedFigures> {
        let more_than = |more_than| {
            let origins = self.0.values().map(|&origins| u64::from(origins));
            let shared = origins.filter(|&origins| origins > more_than);
            let files = shared.clone().count() as u64;
            SharedFigures { more_than, files, origins: shared.sum() }
        };
        MORE_THAN.map(more_than).into()
    }
}

fn key(policy: PolicyNumber, capture: &StoredCapture<'_>) -> FileKey {
    (policy, capture.others, capture.facts.file_bytes, capture.facts.file_notes)
}

/// Returns the columns: the origin, `*` if one robots.txt applies to every URL; the sitemap; and why its
/// value is not an absolute URL, if so.
pub fn sitemap_fields() -> Vec<Field> {
    [("origin", false), ("sitemap", false), ("problem", true)]
        .map(|(name, has_gaps)| Field::declared(name, FieldKind::Text, has_gaps))
        .into()
}

/// Counts of sitemaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SitemapCounts {
    /// The origins.
    #[serde(skip)]
    pub origins: u64,
    /// The origins that name a sitemap.
    pub origins_with_sitemaps: u64,
    /// The sitemaps, once for each origin.
    pub sitemaps: u64,
    /// The records that are not absolute URLs.
    pub not_urls: u64,
    /// The origins that had not been captured at the time that is asked about.
    pub before_first: u64,
}

/// Appends the sitemaps of a host as of a time, or the newest.
///
/// # Errors
///
/// If a part of the set that is read is damaged.
pub fn push_sitemaps(
    set: &PolicySet,
    host: &StoredHost<'_>,
    at: Option<UnixSeconds>,
    counts: &mut SitemapCounts,
    added: &mut Added,
) -> Result<(), Damage> {
    for https in host.schemes() {
        let origin = if set.is_universal() { b"*".to_vec() } else { host.origin(https) };
        let Some((_, capture)) = captured(set, host, https, at)? else {
            counts.before_first += 1;
            continue;
        };
        let values = capture.sitemaps()?;
        counts.origins += 1;
        counts.origins_with_sitemaps += u64::from(!values.is_empty());
        for (_, value) in distinct_sitemaps(&origin, &values) {
            let problem = split(&value, set.dialect().paths.path_start).err();
            counts.sitemaps += 1;
            counts.not_urls += u64::from(problem.is_some());
            let problem = problem.map(|problem| problem.to_string());
            let problem = problem.as_ref().map(Cell::text);
            added.push_row(&[Some(Cell::text(&origin)), Some(Cell::text(&value)), problem]);
        }
    }
    Ok(())
}

/// Returns the sitemaps that the robots.txt of `origin` names, each once in the order of the file: the
/// value as it is written, and the URL.
pub(crate) fn distinct_sitemaps<'v>(
    origin: &[u8],
    values: &'v [Vec<u8>],
) -> impl Iterator<Item = (&'v Vec<u8>, Vec<u8>)> {
    let mut seen = HashSet::new();
    let all = values.iter().map(|value| (value, resolved(origin, value.clone())));
    all.filter(move |(_, url)| seen.insert(url.clone()))
}

/// Returns the URL of a sitemap that the robots.txt of `origin` names. Its own path is `/robots.txt`, so
/// a relative one begins at the root. A value that is no path stays as it is.
fn resolved(origin: &[u8], value: Vec<u8>) -> Vec<u8> {
    let colon = value.iter().position(|byte| *byte == b':').unwrap_or(value.len());
    let has_scheme = colon < value.len() && !value[..colon].iter().any(|it| b"/?#".contains(it));
    let scheme = origin.iter().position(|byte| *byte == b':');
    let (Some(scheme), false) = (scheme, has_scheme || value.is_empty()) else { return value };
    match &value[..] {
        [b'/', b'/', ..] => [&origin[..=scheme], &value].concat(),
        [b'/', ..] => [origin, &value].concat(),
        _ => [origin, b"/", &value].concat(),
    }
}
