//! Points in time, as every part of a crawl can write them.

use std::fmt;
use std::time::UNIX_EPOCH;

use super::rfc3339;

/// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

impl UnixSeconds {
    /// The time that an HTTP date says, in any of its three forms (RFC 9110, section 5.6.7).
    ///
    /// ```
    /// use portcullis_robots::access::UnixSeconds;
    ///
    /// let date = UnixSeconds::from_http_date(b"Sun, 06 Nov 1994 08:49:37 GMT");
    /// assert_eq!(date, Some(UnixSeconds(784_111_777)));
    /// assert_eq!(UnixSeconds::from_http_date(b"-1"), None);
    /// ```
    pub fn from_http_date(text: &[u8]) -> Option<UnixSeconds> {
        let date = httpdate::parse_http_date(str::from_utf8(text).ok()?).ok()?;
        Some(UnixSeconds(date.duration_since(UNIX_EPOCH).ok()?.as_secs()))
    }

    /// The time that a timestamp of RFC 3339 (section 5.6) says; nothing if it is none, names a day
    /// that does not exist, or is before 1970. A fraction of a second is dropped.
    ///
    /// `t` and `z` may be small and a space may stand for `T`, as the section allows. A leap second
    /// is the first second of the next minute.
    ///
    /// ```
    /// use portcullis_robots::access::UnixSeconds;
    ///
    /// let time = UnixSeconds::from_rfc3339(b"1994-11-06T09:49:37.25+01:00");
    /// assert_eq!(time, Some(UnixSeconds(784_111_777)));
    /// assert_eq!(UnixSeconds::from_rfc3339(b"1994-11-06"), None);
    /// ```
    pub fn from_rfc3339(text: &[u8]) -> Option<UnixSeconds> {
        rfc3339::read(text)
    }

    /// The time as a timestamp of RFC 3339, in UTC and whole seconds. A time after the year 9999,
    /// which such a timestamp cannot say, is written as the last second of that year.
    ///
    /// ```
    /// use portcullis_robots::access::UnixSeconds;
    ///
    /// assert_eq!(UnixSeconds(784_111_777).to_rfc3339(), "1994-11-06T08:49:37Z");
    /// ```
    pub fn to_rfc3339(self) -> String {
        rfc3339::write(self)
    }

    /// The seconds from `earlier` to this time; none if that is the later one, as the clocks of two
    /// machines can have it.
    pub fn since(self, earlier: UnixSeconds) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The time so many seconds later; the end of time if there is no later one.
    #[must_use]
    pub fn after(self, seconds: u64) -> UnixSeconds {
        UnixSeconds(self.0.saturating_add(seconds))
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_three_forms_and_none() {
        let forms: [&[u8]; 3] = [
            b"Sun, 06 Nov 1994 08:49:37 GMT",
            b"Sunday, 06-Nov-94 08:49:37 GMT",
            b"Sun Nov  6 08:49:37 1994",
        ];
        for text in forms {
            assert_eq!(UnixSeconds::from_http_date(text), Some(UnixSeconds(784_111_777)));
        }
        for text in [&b""[..], b"0", b"tomorrow", b"\xff", b"Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(UnixSeconds::from_http_date(text), None);
        }
    }

    #[test]
    fn neither_end_of_time_overflows() {
        assert_eq!(UnixSeconds(1).since(UnixSeconds(2)), 0);
        assert_eq!(UnixSeconds(2).after(u64::MAX), UnixSeconds(u64::MAX));
    }
}
