//! The header fields that say how long a copy serves (RFC 9111, section 5).

use portcullis_matcher::bytes::trim;

use super::UnixSeconds;

/// White space around a field's value and its parts (RFC 9110, section 5.6.3).
const WHITE_SPACE: &[u8] = b" \t";

/// What a response's header says about caching, read tolerantly.
///
/// What says a time but makes no sense is taken as no time at all (RFC 9111, section 4.2.1: better
/// stale than wrong); where a time is said twice, the shorter one counts.
///
/// † `s-maxage` is left aside: it speaks to caches that serve many users, and a crawler's copy
/// serves the crawler. So is what does not bear on how long the file is good, such as `public`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachingHeaders {
    /// `max-age` of Cache-Control, in seconds.
    pub max_age: Option<u64>,
    /// Whether Cache-Control has `no-cache` or `no-store`.
    pub no_cache: bool,
    /// The time in Expires; a past one if it is no date.
    pub expires: Option<UnixSeconds>,
    /// The time in Date.
    pub date: Option<UnixSeconds>,
    /// Seconds that the response had been kept on its way, from Age.
    pub age: u64,
}

impl CachingHeaders {
    /// Reads header fields, given as name and value, in any order; other fields are passed over.
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
            // "0" and the like mean a time that is past (RFC 9111, section 5.3).
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
            // With an argument it speaks of the header fields that it lists.
            self.no_cache |= argument.is_empty();
        } else if name.eq_ignore_ascii_case(b"max-age") {
            let seconds = delta_seconds(trim(argument, b"=\" \t")).unwrap_or(0);
            self.max_age = Some(self.max_age.map_or(seconds, |other| other.min(seconds)));
        }
    }
}

/// The directives of a Cache-Control field: parted by commas, of which those in quotes part none.
fn directives(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    value
        .split(move |&byte| {
            quoted ^= byte == b'"';
            byte == b',' && !quoted
        })
        .map(|directive| trim(directive, WHITE_SPACE))
}

/// A number of seconds (RFC 9111, section 1.2.2). A number too large to hold is the largest.
fn delta_seconds(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0_u64, |number, &digit| {
        number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn fields_may_come_twice_and_in_any_case() {
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
}
