//! Until when a good copy serves (RFC 9309, section 2.4).

use portcullis_dialect::dialect::Freshness;

use super::{CachingHeaders, UnixSeconds};

/// Until when a copy serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// The first moment at which the file has to be fetched anew.
    pub at: UnixSeconds,
    /// What says so.
    pub source: ExpirySource,
}

/// What says until when a copy serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpirySource {
    /// The dialect, since the header says nothing that it heeds.
    Default,
    /// The dialect's ceiling, since the header asks for more.
    Ceiling,
    /// `max-age` of Cache-Control.
    MaxAge,
    /// `no-cache` or `no-store` of Cache-Control: the copy serves no time at all.
    NoCache,
    /// `Expires`.
    Expires,
}

/// Until when the copy that was fetched at `fetched_at` with `headers` serves.
///
/// Of what a header says, the first of these counts: a refusal to be kept, `max-age`, `Expires`
/// (RFC 9111, section 4.2.1). What is left of that time at the fetch is less by the age that the
/// response has by then: that of `Age`, or the time since `Date` if it is longer. The dialect's own
/// time is counted from the fetch, and so is its ceiling.
///
/// ```
/// use portcullis_robots::access::{CachingHeaders, ExpirySource, UnixSeconds, expiry};
/// use portcullis_dialect::dialect::{GOOGLE, RFC_9309};
///
/// // A week is longer than RFC 9309 lets a copy serve, but not too long for Google.
/// let headers = CachingHeaders { max_age: Some(604_800), ..CachingHeaders::default() };
/// let until = |freshness| expiry(&headers, UnixSeconds(0), freshness);
/// assert_eq!(until(&RFC_9309.access.freshness).at, UnixSeconds(86_400));
/// assert_eq!(until(&RFC_9309.access.freshness).source, ExpirySource::Ceiling);
/// assert_eq!(until(&GOOGLE.access.freshness).at, UnixSeconds(604_800));
/// ```
pub fn expiry(headers: &CachingHeaders, fetched_at: UnixSeconds, freshness: &Freshness) -> Expiry {
    let (lifetime, source) = match said_lifetime(headers, fetched_at, freshness) {
        Some((lifetime, source)) => {
            (lifetime.saturating_sub(age_at_fetch(headers, fetched_at)), source)
        }
        None => (u64::from(freshness.default_seconds), ExpirySource::Default),
    };
    match freshness.seconds_max.map(u64::from) {
        Some(ceiling) if lifetime > ceiling => {
            Expiry { at: fetched_at.after(ceiling), source: ExpirySource::Ceiling }
        }
        _ => Expiry { at: fetched_at.after(lifetime), source },
    }
}

/// The seconds from its making for which the response says that it is good, if it does.
fn said_lifetime(
    headers: &CachingHeaders,
    fetched_at: UnixSeconds,
    freshness: &Freshness,
) -> Option<(u64, ExpirySource)> {
    if headers.no_cache && freshness.no_cache_directives {
        return Some((0, ExpirySource::NoCache));
    }
    if let Some(seconds) = headers.max_age {
        return Some((seconds, ExpirySource::MaxAge));
    }
    let expires = headers.expires.filter(|_| freshness.expires_header)?;
    let made_at = headers.date.unwrap_or(fetched_at);
    Some((expires.since(made_at), ExpirySource::Expires))
}

/// The seconds since the response was made (RFC 9111, section 4.2.3).
fn age_at_fetch(headers: &CachingHeaders, fetched_at: UnixSeconds) -> u64 {
    let apparent = headers.date.map_or(0, |date| fetched_at.since(date));
    headers.age.max(apparent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{
        DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309,
    };

    const HOUR: u64 = 3_600;
    const DAY: u64 = 24 * HOUR;
    const NOW: UnixSeconds = UnixSeconds(1_000_000_000);

    const SILENT: CachingHeaders =
        CachingHeaders { max_age: None, no_cache: false, expires: None, date: None, age: 0 };

    fn seconds(headers: CachingHeaders, dialect: &Dialect) -> (u64, ExpirySource) {
        let expiry = expiry(&headers, NOW, &dialect.access.freshness);
        (expiry.at.since(NOW), expiry.source)
    }

    /// What the header says, then the seconds and the source for the two old documents, for the
    /// draft and the RFC, and for Google.
    type Row = (CachingHeaders, [(u64, ExpirySource); 3]);

    fn table() -> Vec<Row> {
        use ExpirySource::{Ceiling, Default, Expires, MaxAge, NoCache};
        let max_age = |seconds| CachingHeaders { max_age: Some(seconds), ..SILENT };
        let expires = CachingHeaders { expires: Some(NOW.after(10 * DAY)), ..SILENT };
        let default = [(7 * DAY, Default), (DAY, Default), (DAY, Default)];
        vec![
            (SILENT, default),
            (CachingHeaders { age: HOUR, ..SILENT }, default),
            (max_age(60), [(60, MaxAge); 3]),
            (max_age(0), [(0, MaxAge); 3]),
            (max_age(DAY), [(DAY, MaxAge); 3]),
            (max_age(9 * DAY), [(9 * DAY, MaxAge), (DAY, Ceiling), (9 * DAY, MaxAge)]),
            (CachingHeaders { age: 20, ..max_age(60) }, [(40, MaxAge); 3]),
            (CachingHeaders { age: 80, ..max_age(60) }, [(0, MaxAge); 3]),
            (
                CachingHeaders { date: Some(UnixSeconds(NOW.0 - 30)), age: 20, ..max_age(60) },
                [(30, MaxAge); 3],
            ),
            // The server's clock is ahead of ours.
            (CachingHeaders { date: Some(NOW.after(HOUR)), ..max_age(60) }, [(60, MaxAge); 3]),
            (
                CachingHeaders { no_cache: true, ..SILENT },
                [(0, NoCache), (0, NoCache), (DAY, Default)],
            ),
            (
                CachingHeaders { no_cache: true, ..max_age(60) },
                [(0, NoCache), (0, NoCache), (60, MaxAge)],
            ),
            (expires, [(10 * DAY, Expires), (DAY, Default), (DAY, Default)]),
            (CachingHeaders { max_age: Some(60), ..expires }, [(60, MaxAge); 3]),
            (
                CachingHeaders { expires: Some(UnixSeconds(0)), ..SILENT },
                [(0, Expires), (DAY, Default), (DAY, Default)],
            ),
            // Expires is by the server's clock, and so is the time of the response.
            (
                CachingHeaders {
                    expires: Some(NOW.after(2 * HOUR)),
                    date: Some(NOW.after(HOUR)),
                    ..SILENT
                },
                [(HOUR, Expires), (DAY, Default), (DAY, Default)],
            ),
        ]
    }

    #[test]
    fn every_cell_of_the_table() {
        let columns: [&[&Dialect]; 3] =
            [&[&ORIGINAL_1994, &KOSTER_1996], &[&DRAFT_2019, &RFC_9309], &[&GOOGLE]];
        for (headers, expected) in table() {
            for (dialects, expected) in columns.iter().zip(expected) {
                for dialect in *dialects {
                    let found = seconds(headers, dialect);
                    assert_eq!(found, expected, "{}: {headers:?}", dialect.name);
                }
            }
        }
    }

    #[test]
    fn the_end_of_time_is_the_last_expiry() {
        let headers = CachingHeaders { max_age: Some(u64::MAX), ..SILENT };
        let freshness = &GOOGLE.access.freshness;
        assert_eq!(expiry(&headers, NOW, freshness).at, UnixSeconds(u64::MAX));
    }
}
