//! Timestamps of crawls and HTTP.

use std::fmt;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;

/// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

impl UnixSeconds {
    /// Parses an HTTP date in any of its three forms (RFC 9110, section 5.6.7), or returns `None`.
    ///
    /// ```
    /// use portcullis_io::access::UnixSeconds;
    ///
    /// let date = UnixSeconds::from_http_date(b"Sun, 06 Nov 1994 08:49:37 GMT");
    /// assert_eq!(date, Some(UnixSeconds(784_111_777)));
    /// assert_eq!(UnixSeconds::from_http_date(b"-1"), None);
    /// ```
    pub fn from_http_date(text: &[u8]) -> Option<UnixSeconds> {
        let date = httpdate::parse_http_date(str::from_utf8(text).ok()?).ok()?;
        Some(UnixSeconds(date.duration_since(UNIX_EPOCH).ok()?.as_secs()))
    }

    /// Parses a timestamp of RFC 3339, section 5.6, dropping fractions of a second. Other ISO 8601
    /// forms with an offset are accepted too (`1994-11-06T08:49Z`). Returns `None` if the timestamp
    /// is malformed, names a day that does not exist, or is before 1970.
    ///
    /// ```
    /// use portcullis_io::access::UnixSeconds;
    ///
    /// let time = UnixSeconds::from_rfc3339(b"1994-11-06T09:49:37.25+01:00");
    /// assert_eq!(time, Some(UnixSeconds(784_111_777)));
    /// assert_eq!(UnixSeconds::from_rfc3339(b"1994-11-06"), None);
    /// ```
    pub fn from_rfc3339(text: &[u8]) -> Option<UnixSeconds> {
        let time: Timestamp = str::from_utf8(text).ok()?.parse().ok()?;
        if time < Timestamp::UNIX_EPOCH {
            return None;
        }
        u64::try_from(time.as_second()).ok().map(UnixSeconds)
    }

    /// Formats the time as RFC 3339 in UTC and whole seconds, clamped to the last time that jiff
    /// represents, 9999-12-30T22:00:00Z.
    ///
    /// ```
    /// use portcullis_io::access::UnixSeconds;
    ///
    /// assert_eq!(UnixSeconds(784_111_777).to_rfc3339(), "1994-11-06T08:49:37Z");
    /// ```
    pub fn to_rfc3339(self) -> String {
        let last = Timestamp::MAX.as_second();
        let seconds = i64::try_from(self.0).map_or(last, |seconds| seconds.min(last));
        Timestamp::from_second(seconds).expect("it is in range").to_string()
    }

    /// Returns the seconds from `earlier` to this time, or 0 if `earlier` is later: the clocks of
    /// two machines may disagree.
    pub fn since(self, earlier: UnixSeconds) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the time `seconds` later, saturating.
    #[must_use]
    pub fn after(self, seconds: u64) -> UnixSeconds {
        UnixSeconds(self.0.saturating_add(seconds))
    }
}

/// The first and the last of several times. In JSON, `{"first", "last"}`; as text,
/// "from FIRST to LAST".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct DateSpan {
    /// The first.
    pub first: UnixSeconds,
    /// The last.
    pub last: UnixSeconds,
}

impl DateSpan {
    /// Returns the shortest span that contains both; `None` if there is neither.
    pub fn over(one: Option<DateSpan>, other: Option<DateSpan>) -> Option<DateSpan> {
        match (one, other) {
            (Some(one), Some(other)) => {
                Some(DateSpan { first: one.first.min(other.first), last: one.last.max(other.last) })
            }
            (one, other) => one.or(other),
        }
    }
}

impl From<UnixSeconds> for DateSpan {
    fn from(time: UnixSeconds) -> DateSpan {
        DateSpan { first: time, last: time }
    }
}

impl fmt::Display for DateSpan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "from {} to {}", self.first.to_rfc3339(), self.last.to_rfc3339())
    }
}

impl From<(UnixSeconds, UnixSeconds)> for DateSpan {
    fn from((first, last): (UnixSeconds, UnixSeconds)) -> DateSpan {
        DateSpan { first, last }
    }
}

impl<'de> serde::Deserialize<'de> for UnixSeconds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        let time = UnixSeconds::from_rfc3339(text.as_bytes());
        time.ok_or_else(|| serde::de::Error::custom("not a date of RFC 3339"))
    }
}

/// Serializes the time as RFC 3339.
impl serde::Serialize for UnixSeconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_rfc3339())
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
    fn timestamps_and_none() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1969-12-31T23:00:00-01:00", Some(0)),
            ("1994-11-06t08:49:37z", Some(784_111_777)),
            ("1994-11-06 08:49:37Z", Some(784_111_777)),
            ("1994-11-06T08:49:37.999999999Z", Some(784_111_777)),
            ("1994-11-05T23:19:37.5-09:30", Some(784_111_777)),
            ("1969-12-31T23:59:59.5Z", None),
            ("1970-01-01T00:00:00+00:01", None),
            ("1994-11-06T08:49:37", None),
            ("1995-02-29T08:49:37Z", None),
            ("1994-11-06T24:00:00Z", None),
            ("1994-11-06T08:49:37Z ", None),
            ("\u{661}994-11-06T08:49:37Z", None),
            ("", None),
        ] {
            let time = UnixSeconds::from_rfc3339(text.as_bytes());
            assert_eq!(time, expected.map(UnixSeconds), "{text}");
        }
        assert_eq!(UnixSeconds(u64::MAX).to_rfc3339(), "9999-12-30T22:00:00Z");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(UnixSeconds(1).since(UnixSeconds(2)), 0);
        assert_eq!(UnixSeconds(2).after(u64::MAX), UnixSeconds(u64::MAX));
    }
}
