//! How long a copy stays fresh (RFC 9309, section 2.4; RFC 9111, section 5).

use portcullis_dialect::Freshness;
use portcullis_engine::bytes::trim;

use super::UnixSeconds;

/// White space around a field's value and its parts (RFC 9110, section 5.6.3).
const WHITE_SPACE: &[u8] = b" \t";

/// The caching fields of a response header, read tolerantly.
///
/// A malformed time counts as zero (RFC 9111, section 4.2.1, prefers stale). If a field gives two
/// times, the shorter counts.
///
/// † `s-maxage` is ignored: it addresses caches shared by many users, and a crawler's copy is
/// private.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachingHeaders {
    /// `max-age` of Cache-Control, in seconds.
    pub max_age: Option<u64>,
    /// Whether Cache-Control has `no-cache` or `no-store`.
    pub no_cache: bool,
    /// The time in Expires; 1970 if it is not a date.
    pub expires: Option<UnixSeconds>,
    /// The time in Date.
    pub date: Option<UnixSeconds>,
    /// The seconds that caches kept the response, from Age.
    pub age: u64,
}

impl CachingHeaders {
    /// Reads header fields, given as name and value, in any order. Other fields are ignored.
    ///
    /// ```
    /// use portcullis_robots::access::CachingHeaders;
    ///
    /// let fields = [("cache-control", &b"public, Max-Age=\"60\""[..]), ("Age", b"9")];
    /// let headers = CachingHeaders::read(fields);
    /// assert_eq!((headers.max_age, headers.age), (Some(60), 9));
    /// ```
    pub fn read<'h, N: AsRef<[u8]>>(
        fields: impl IntoIterator<Item = (N, &'h [u8])>,
    ) -> CachingHeaders {
        let mut headers = CachingHeaders::default();
        for (name, value) in fields {
            headers.add(name.as_ref(), trim(value, WHITE_SPACE));
        }
        headers
    }

    fn add(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"cache-control") {
            directives(value).for_each(|directive| self.add_directive(directive));
        } else if name.eq_ignore_ascii_case(b"expires") {
            // Invalid dates such as "0" are in the past (RFC 9111, section 5.3).
            let time = UnixSeconds::from_http_date(value).unwrap_or(UnixSeconds(0));
            self.expires = Some(self.expires.map_or(time, |other| other.min(time)));
        } else if name.eq_ignore_ascii_case(b"date") {
            self.date = self.date.or(UnixSeconds::from_http_date(value));
        } else if name.eq_ignore_ascii_case(b"age") {
            self.age = self.age.max(delta_seconds(value).unwrap_or(0));
        }
    }

    fn add_directive(&mut self, directive: &[u8]) {
        let equals = directive.iter().position(|&byte| byte == b'=');
        let (name, argument) = directive.split_at(equals.unwrap_or(directive.len()));
        let name = trim(name, WHITE_SPACE);
        if name.eq_ignore_ascii_case(b"no-store") {
            self.no_cache = true;
        } else if name.eq_ignore_ascii_case(b"no-cache") {
            // With an argument, the directive only covers the listed header fields.
            self.no_cache |= argument.is_empty();
        } else if name.eq_ignore_ascii_case(b"max-age") {
            let seconds = delta_seconds(trim(argument, b"=\" \t")).unwrap_or(0);
            self.max_age = Some(self.max_age.map_or(seconds, |other| other.min(seconds)));
        }
    }
}

/// Splits a Cache-Control field at commas outside quotes.
fn directives(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    value
        .split(move |&byte| {
            quoted ^= byte == b'"';
            byte == b',' && !quoted
        })
        .map(|directive| trim(directive, WHITE_SPACE))
}

/// Parses a number of seconds (RFC 9111, section 1.2.2), saturating.
fn delta_seconds(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| String::from_utf8_lossy(text).parse().unwrap_or(u64::MAX))
}

/// Returns when the copy that was fetched at `fetched_at` with `headers` expires.
///
/// `no-cache` and `no-store` come first, then `max-age`, then `Expires` (RFC 9111, section 4.2.1).
/// The age of the response at the fetch is subtracted: `Age`, or the time since `Date` if longer.
/// The dialect's default and ceiling count from the fetch.
///
/// ```
/// # mod portcullis {
/// #     pub use portcullis_dialect::{GOOGLE, RFC_9309};
/// #     pub mod freshness { pub use portcullis_robots::access::{CachingHeaders, UnixSeconds, expiry}; }
/// # }
/// use portcullis::freshness::{CachingHeaders, UnixSeconds, expiry};
/// use portcullis::{GOOGLE, RFC_9309};
///
/// // A week is over the ceiling of RFC 9309. Google has no ceiling.
/// let headers = CachingHeaders { max_age: Some(604_800), ..CachingHeaders::default() };
/// let until = |freshness| expiry(&headers, UnixSeconds(0), freshness);
/// assert_eq!(until(RFC_9309.freshness()), UnixSeconds(86_400));
/// assert_eq!(until(GOOGLE.freshness()), UnixSeconds(604_800));
/// ```
pub fn expiry(
    headers: &CachingHeaders,
    fetched_at: UnixSeconds,
    freshness: &Freshness,
) -> UnixSeconds {
    let lifetime = match header_lifetime(headers, fetched_at, freshness) {
        Some(lifetime) => lifetime.saturating_sub(age_at_fetch(headers, fetched_at)),
        None => freshness.default_seconds.into(),
    };
    fetched_at.after(lifetime.min(freshness.seconds_max.map_or(u64::MAX, u64::from)))
}

/// Returns the lifetime that the header sets, from the creation of the response; `None` if it sets
/// none.
fn header_lifetime(
    headers: &CachingHeaders,
    fetched_at: UnixSeconds,
    freshness: &Freshness,
) -> Option<u64> {
    let of_expires = || {
        let expires = headers.expires.filter(|_| freshness.expires_header)?;
        Some(expires.since(headers.date.unwrap_or(fetched_at)))
    };
    match headers.no_cache && freshness.no_cache_directives {
        true => Some(0),
        false => headers.max_age.or_else(of_expires),
    }
}

/// Returns the seconds since the response was created (RFC 9111, section 4.2.3).
fn age_at_fetch(headers: &CachingHeaders, fetched_at: UnixSeconds) -> u64 {
    let apparent = headers.date.map_or(0, |date| fetched_at.since(date));
    headers.age.max(apparent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::{DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

    fn cache_control(value: &str) -> (Option<u64>, bool) {
        let headers = CachingHeaders::read([("Cache-Control", value.as_bytes())]);
        (headers.max_age, headers.no_cache)
    }

    #[test]
    fn directives_in_many_spellings() {
        let rows = [
            ("", None, false),
            ("public", None, false),
            ("max-age=600", Some(600), false),
            ("public,max-age=600,must-revalidate", Some(600), false),
            (" , MAX-AGE = 600 ,", Some(600), false),
            ("max-age=\"600\"", Some(600), false),
            ("max-age=600, max-age=60", Some(60), false),
            ("max-age=0", Some(0), false),
            ("max-age", Some(0), false),
            ("max-age=", Some(0), false),
            ("max-age=-1", Some(0), false),
            ("max-age=1.5", Some(0), false),
            ("max-age=99999999999999999999999", Some(u64::MAX), false),
            ("s-maxage=600", None, false),
            ("x-max-age=600", None, false),
            ("max-age=60, s-maxage=600", Some(60), false),
            ("no-cache", None, true),
            ("No-Store, max-age=60", Some(60), true),
            ("no-cache=\"Set-Cookie\"", None, false),
            ("no-cache=\"max-age=1, no-store\", max-age=9", Some(9), false),
            ("ext=\"no-store, max-age=1", None, false),
        ];
        for (value, max_age, no_cache) in rows {
            assert_eq!(cache_control(value), (max_age, no_cache), "{value}");
        }
    }

    #[test]
    fn fields_may_repeat_in_any_case() {
        let date = b"Sun, 06 Nov 1994 08:49:37 GMT";
        let headers = CachingHeaders::read([
            ("CACHE-CONTROL", &b"max-age=5"[..]),
            ("cache-control", b"no-store"),
            ("expires", date),
            ("Expires", b"0"),
            ("Date", b"yesterday"),
            ("date", b" Sun, 06 Nov 1994 08:49:37 GMT\t"),
            ("age", b"7"),
            ("Age", b"soon"),
            ("X-Age", b"99"),
        ]);
        let expected = CachingHeaders {
            max_age: Some(5),
            no_cache: true,
            expires: Some(UnixSeconds(0)),
            date: Some(UnixSeconds(784_111_777)),
            age: 7,
        };
        assert_eq!(headers, expected);
    }

    const HOUR: u64 = 3_600;
    const DAY: u64 = 24 * HOUR;
    const NOW: UnixSeconds = UnixSeconds(1_000_000_000);

    const SILENT: CachingHeaders =
        CachingHeaders { max_age: None, no_cache: false, expires: None, date: None, age: 0 };

    /// Headers, then seconds for: 1994 and 1996; the draft and the RFC; Google.
    type Row = (CachingHeaders, [u64; 3]);

    fn table() -> Vec<Row> {
        let max_age = |seconds| CachingHeaders { max_age: Some(seconds), ..SILENT };
        let expires = CachingHeaders { expires: Some(NOW.after(10 * DAY)), ..SILENT };
        let default = [7 * DAY, DAY, DAY];
        vec![
            (SILENT, default),
            (CachingHeaders { age: HOUR, ..SILENT }, default),
            (max_age(60), [60; 3]),
            (max_age(0), [0; 3]),
            (max_age(DAY), [DAY; 3]),
            (max_age(9 * DAY), [9 * DAY, DAY, 9 * DAY]),
            (CachingHeaders { age: 20, ..max_age(60) }, [40; 3]),
            (CachingHeaders { age: 80, ..max_age(60) }, [0; 3]),
            (
                CachingHeaders { date: Some(UnixSeconds(NOW.0 - 30)), age: 20, ..max_age(60) },
                [30; 3],
            ),
            // The server's clock is ahead of the client's.
            (CachingHeaders { date: Some(NOW.after(HOUR)), ..max_age(60) }, [60; 3]),
            (CachingHeaders { no_cache: true, ..SILENT }, [0, 0, DAY]),
            (CachingHeaders { no_cache: true, ..max_age(60) }, [0, 0, 60]),
            (expires, [10 * DAY, DAY, DAY]),
            (CachingHeaders { max_age: Some(60), ..expires }, [60; 3]),
            (CachingHeaders { expires: Some(UnixSeconds(0)), ..SILENT }, [0, DAY, DAY]),
            // Expires and Date are both by the server's clock.
            (
                CachingHeaders {
                    expires: Some(NOW.after(2 * HOUR)),
                    date: Some(NOW.after(HOUR)),
                    ..SILENT
                },
                [HOUR, DAY, DAY],
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
                    let found = expiry(&headers, NOW, &dialect.access.freshness).since(NOW);
                    assert_eq!(found, expected, "{}: {headers:?}", dialect.name);
                }
            }
        }
    }

    #[test]
    fn expiry_saturates() {
        let headers = CachingHeaders { max_age: Some(u64::MAX), ..SILENT };
        let freshness = &GOOGLE.access.freshness;
        assert_eq!(expiry(&headers, NOW, freshness), UnixSeconds(u64::MAX));
    }
}
