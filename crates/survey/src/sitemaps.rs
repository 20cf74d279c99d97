//! A row for each origin and sitemap that its robots.txt names.
//!
//! Hosts are read in the order of the set. A sitemap that a file names twice has one row. Memory holds the
//! values of one host.

use std::collections::HashSet;

use portcullis_robots::access::UnixSeconds;
use portcullis_robots::url::split;
use portcullis_rows::output::Added;
use portcullis_rows::output::added::Cell;
use portcullis_rows::output::columns::{Field, ValueType};
use portcullis_set::stored::StoredHost;
use portcullis_set::{Damage, PolicySet};
use serde::Serialize;

use crate::origins::captured;

/// Returns the columns: the origin, `*` if one robots.txt applies to every URL; the sitemap; and why its
/// value is not an absolute URL, if so.
pub fn sitemap_fields() -> Vec<Field> {
    [("origin", false), ("sitemap", false), ("problem", true)]
        .map(|(name, has_gaps)| Field::declared(name, ValueType::Text, has_gaps, &[]))
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
    /// Those that are not absolute URLs.
    pub not_urls: u64,
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
        // Otherwise it had not been captured at that time.
        let Some((_, capture)) = captured(set, host, https, at)? else { continue };
        let values = capture.sitemaps()?;
        counts.origins += 1;
        counts.origins_with_sitemaps += u64::from(!values.is_empty());
        let mut seen = HashSet::new();
        for value in values {
            let value = resolved(&origin, value);
            if !seen.insert(value.clone()) {
                continue;
            }
            let problem = split(&value, set.dialect().paths.path_start).err();
            counts.sitemaps += 1;
            counts.not_urls += u64::from(problem.is_some());
            let problem = problem.map(|problem| problem.to_string());
            let problem = problem.as_ref().map(String::as_bytes);
            added.push_row(&[Cell::text(&origin), Cell::text(&value), Cell::Text(problem)]);
        }
    }
    Ok(())
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
