//! Timestamps of crawls and HTTP.

use std::fmt;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;
use jiff::civil::Date;
use portcullis_dialect::words;

/// The last second of the year 9999. A number beyond it has another unit than was named.
const SECONDS_MAX: i64 = 253_402_300_799;

words! {
    /// The unit of times that are numbers.
    pub enum TimeUnit {
        /// Seconds since 1970.
        Seconds => "s": "seconds",
        /// Milliseconds since 1970.
        Milliseconds => "ms": "milliseconds",
        /// Microseconds since 1970.
        Microseconds => "us": "microseconds",
        /// Nanoseconds since 1970.
        Nanoseconds => "ns": "nanoseconds",
    }
}

impl TimeUnit {
    /// Returns the seconds in a number of units, without a fraction; `None` if it is no number.
    pub fn seconds(self, number: f64) -> Option<i64> {
        let per_second = match self {
            TimeUnit::Seconds => 1.0,
            TimeUnit::Milliseconds => 1e3,
            TimeUnit::Microseconds => 1e6,
            TimeUnit::Nanoseconds => 1e9,
        };
        let seconds = (number / per_second).floor();
        seconds.is_finite().then_some(seconds as i64)
    }
}

/// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u64);

impl UnixSeconds {
    /// Parses an HTTP date in any of its three forms (RFC 9110, section 5.6.7), or returns `None`.
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

    /// Parses a timestamp of RFC 3339, section 5.6, dropping fractions of a second. Other ISO 8601
    /// forms with an offset are accepted too (`1994-11-06T08:49Z`). Returns `None` if the timestamp
    /// is malformed, names a day that does not exist, or is before 1970.
    ///
    /// ```
    /// use portcullis_robots::access::UnixSeconds;
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

    /// Parses the time of a record: RFC 3339 (also with a space instead of `T`, and in UTC without a
    /// zone), a date, or 17, 14 or 8 digits as in CDX. A date means midnight. If a unit is named, other
    /// digits are a number of it. Returns `None` for digits that are both, for other texts, days that do not
    /// exist, and years after 9999.
    ///
    /// A fraction of a second is dropped, a leap second is the second before it, and a time before
    /// 1970 is 1970: no capture is older.
    ///
    /// ```
    /// use portcullis_robots::access::{TimeUnit, UnixSeconds};
    ///
    /// let time = Some(UnixSeconds(784_111_777));
    /// assert_eq!(UnixSeconds::from_text(b"1994-11-06 08:49:37.5", None), time);
    /// assert_eq!(UnixSeconds::from_text(b"19941106084937", None), time);
    /// assert_eq!(UnixSeconds::from_text(b"19941106084937250", None), time);
    /// assert_eq!(UnixSeconds::from_text(b"784111777", Some(TimeUnit::Seconds)), time);
    /// assert_eq!(UnixSeconds::from_text(b"784111777", None), None);
    /// assert_eq!(UnixSeconds::from_text(b"19941106", Some(TimeUnit::Seconds)), None);
    /// assert_eq!(UnixSeconds::from_text(b"19941106.0", Some(TimeUnit::Seconds)), None);
    /// ```
    pub fn from_text(text: &[u8], unit: Option<TimeUnit>) -> Option<UnixSeconds> {
        seconds_of(text, unit).and_then(in_range)
    }

    /// Parses the time of an access log, `10/Oct/2000:13:55:36 -0700`, or another form of
    /// [`UnixSeconds::from_text`] without a unit.
    ///
    /// ```
    /// use portcullis_robots::access::UnixSeconds;
    ///
    /// let time = UnixSeconds::from_log(b"06/Nov/1994:09:49:37 +0100");
    /// assert_eq!(time, Some(UnixSeconds(784_111_777)));
    /// assert_eq!(UnixSeconds::from_log(b"06/Nov/1994"), None);
    /// ```
    pub fn from_log(text: &[u8]) -> Option<UnixSeconds> {
        log_form(text).and_then(in_range).or_else(|| UnixSeconds::from_text(text, None))
    }

    /// Formats the time as RFC 3339 in UTC and whole seconds, clamped to the last time that jiff
    /// represents, 9999-12-30T22:00:00Z.
    ///
    /// ```
    /// use portcullis_robots::access::UnixSeconds;
    ///
    /// assert_eq!(UnixSeconds(784_111_777).to_rfc3339(), "1994-11-06T08:49:37Z");
    /// ```
    pub fn to_rfc3339(self) -> String {
        let seconds = i64::try_from(self.0).unwrap_or(i64::MAX).min(Timestamp::MAX.as_second());
        Timestamp::from_second(seconds).expect("it is in range").to_string()
    }

    /// Returns the milliseconds since 1970, saturating.
    pub fn to_milliseconds(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX).saturating_mul(1_000)
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

/// Returns the seconds from 1970 to the time that a text means, as [`UnixSeconds::from_text`] reads it.
/// Negative before 1970.
pub fn seconds_of(text: &[u8], unit: Option<TimeUnit>) -> Option<i64> {
    let text = text.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_number = digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if let Some(unit) = unit.filter(|_| is_number) {
        let number = str::from_utf8(text).ok()?.parse().ok()?;
        // † As a number of the unit, a date is decades away, and a newer file would be an old one. Columns of
        // integers with gaps are often written as `20240201.0`.
        if digits_of_cdx(text).is_some() || is_date(number) {
            return None;
        }
        return unit.seconds(number);
    }
    // Most texts have one of these two forms; jiff knows more.
    let other = || Some(str::from_utf8(text).ok()?.parse::<Timestamp>().ok()?.as_second());
    digits_of_cdx(text).or_else(|| usual_form(text)).or_else(other)
}

/// Whether a number is a date of 8, 14 or 17 digits as in CDX, from 1970 on.
pub fn is_date(number: f64) -> bool {
    let may_be = |day: f64| (1970.0..10_000.0).contains(&(number / day));
    [1e4, 1e10, 1e13].into_iter().any(may_be)
        && digits_of_cdx(format!("{number}").as_bytes()).is_some()
}

/// Returns a time since 1970; before that, 1970.
pub fn in_range(seconds: i64) -> Option<UnixSeconds> {
    (seconds <= SECONDS_MAX).then_some(UnixSeconds(seconds.max(0) as u64))
}

/// Parses `YYYYMMDD`, `YYYYMMDDhhmmss` or that with milliseconds into seconds since 1970.
fn digits_of_cdx(text: &[u8]) -> Option<i64> {
    let (date, clock) = match text {
        [.., a, b, c] if text.len() == 17 && [a, b, c].iter().all(|it| it.is_ascii_digit()) => {
            text[..14].split_at(8)
        }
        _ if text.len() == 14 => text.split_at(8),
        _ if text.len() == 8 => (text, &b"000000"[..]),
        _ => return None,
    };
    let midnight = midnight(number(&date[..4])?, number(&date[4..6])?, number(&date[6..])?)?;
    Some(midnight + second(&clock[..2], &clock[2..4], &clock[4..])?)
}

/// Parses `YYYY-MM-DD`, or that with a time of day, which may end at minutes or have a fraction, and `Z`,
/// ` UTC`, `+hh:mm` or no zone.
fn usual_form(text: &[u8]) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    if [date[4], date[7]] != *b"--" {
        return None;
    }
    let midnight = midnight(number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?)?;
    let Some((b'T' | b't' | b' ', rest)) = rest.split_first() else {
        return rest.is_empty().then_some(midnight);
    };
    if let &[h, hh, b':', m, mm] = rest {
        return Some(midnight + second(&[h, hh], &[m, mm], b"00")?);
    }
    let (clock, rest) = rest.split_at_checked(8)?;
    if [clock[2], clock[5]] != *b"::" {
        return None;
    }
    let second = second(&clock[..2], &clock[3..5], &clock[6..])?;
    let ahead = match after_fraction(rest)? {
        b"" | b"Z" | b"z" | b" UTC" => 0,
        &[sign @ (b'+' | b'-'), h, hh, b':', m, mm] => ahead(sign, [h, hh], [m, mm])?,
        _ => return None,
    };
    Some(midnight + second - ahead)
}

/// Parses `DD/Mon/YYYY:hh:mm:ss +hhmm`. A fraction may follow the seconds, and the zone may be missing,
/// as in the logs of HAProxy.
fn log_form(text: &[u8]) -> Option<i64> {
    const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let (text, rest) = text.split_first_chunk::<20>()?;
    if [2, 6, 11, 14, 17].map(|place| text[place]) != *b"//:::" {
        return None;
    }
    let ahead = match after_fraction(rest)? {
        b"" => 0,
        &[b' ', sign @ (b'+' | b'-'), h, hh, m, mm] => ahead(sign, [h, hh], [m, mm])?,
        _ => return None,
    };
    let month = MONTHS.chunks_exact(3).position(|month| *month == text[3..6])? as i64 + 1;
    let midnight = midnight(number(&text[7..11])?, month, number(&text[..2])?)?;
    let second = second(&text[12..14], &text[15..17], &text[18..20])?;
    Some(midnight + second - ahead)
}

/// Returns the text after the fraction of a second that may begin it; `None` if it is a point alone.
fn after_fraction(text: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = text.strip_prefix(b".") else { return Some(text) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| &fraction[digits..])
}

/// Returns the seconds that a zone is ahead of UTC.
fn ahead(sign: u8, hours: [u8; 2], minutes: [u8; 2]) -> Option<i64> {
    let ahead = second(&hours, &minutes, b"00")?;
    Some(if sign == b'-' { -ahead } else { ahead })
}

/// Returns the seconds from 1970 to the beginning of a day; `None` if there is no such day.
fn midnight(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = Date::new(year as i16, month as i8, day as i8).ok()?;
    Some(date.duration_since(Date::constant(1970, 1, 1)).as_secs())
}

/// Returns the seconds since midnight; `None` if there is no such time.
fn second(hour: &[u8], minute: &[u8], second: &[u8]) -> Option<i64> {
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    let is_time = hour < 24 && minute < 60 && second <= 60;
    is_time.then_some((hour * 60 + minute) * 60 + second.min(59))
}

fn number(digits: &[u8]) -> Option<i64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    digits.iter().try_fold(0, |number, byte| Some(number * 10 + digit(byte)?))
}

/// The first and the last of several times. In JSON, `{"first", "last"}`; as text,
/// "from FIRST to LAST", or the time if both are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
        match self.first == self.last {
            true => out.write_str(&self.first.to_rfc3339()),
            false => write!(out, "from {} to {}", self.first.to_rfc3339(), self.last.to_rfc3339()),
        }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for UnixSeconds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        let time = UnixSeconds::from_rfc3339(text.as_bytes());
        time.ok_or_else(|| serde::de::Error::custom("not a date of RFC 3339"))
    }
}

/// Serializes the time as RFC 3339.
#[cfg(feature = "serde")]
impl serde::Serialize for UnixSeconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_rfc3339())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds of a day.
    const DAY: i64 = 24 * 60 * 60;

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
    fn times_of_records() {
        use TimeUnit::{Milliseconds, Seconds};
        const TIME: u64 = 784_111_777;
        for (text, unit, expected) in [
            ("1994-11-06T08:49:37Z", None, Some(TIME)),
            ("1994-11-06t08:49:37z", Some(Seconds), Some(TIME)),
            (" 1994-11-06 08:49:37\t", None, Some(TIME)),
            ("1994-11-06T08:49:37.999999999", None, Some(TIME)),
            ("1994-11-06 09:49:37.5+01:00", None, Some(TIME)),
            ("1994-11-05T23:19:37-09:30", None, Some(TIME)),
            ("1994-11-06 08:49:37+00", None, Some(TIME)),
            ("1994-11-06T08:49:37-00:00", None, Some(TIME)),
            ("1994-11-06 08:49:37 UTC", None, Some(TIME)),
            ("1994-11-06 08:49:37.25 UTC", None, Some(TIME)),
            ("1994-11-06T08:49", None, Some(TIME - 37)),
            ("19941106084937", None, Some(TIME)),
            ("1994-11-06", None, Some(784_080_000)),
            ("19941106", None, Some(784_080_000)),
            ("784111777", Some(Seconds), Some(TIME)),
            ("784111777.9", Some(Seconds), Some(TIME)),
            ("784111777999", Some(Milliseconds), Some(TIME)),
            // If a unit is named, digits are numbers of it, unless they are a date.
            ("19941306", Some(Seconds), Some(19_941_306)),
            ("19941106", Some(Seconds), None),
            ("19941106084937", Some(Milliseconds), None),
            // A leap second is the one before it.
            ("2016-12-31T23:59:60Z", None, Some(1_483_228_799)),
            ("2000-02-29", None, Some(951_782_400)),
            // Times before 1970 are 1970.
            ("1969-12-31T23:59:59.5Z", None, Some(0)),
            ("1970-01-01T00:00:00+00:01", None, Some(0)),
            ("00000101", None, Some(0)),
            ("-1.5", Some(Seconds), Some(0)),
            ("9999-12-31T23:59:59Z", None, Some(253_402_300_799)),
            ("253402300799", Some(Seconds), Some(253_402_300_799)),
            // Milliseconds that are called seconds.
            ("784111777000", Some(Seconds), None),
            ("784111777", None, None),
            ("1.5", None, None),
            ("-", Some(Seconds), None),
            (".", Some(Seconds), None),
            ("1e9", Some(Seconds), None),
            ("inf", Some(Seconds), None),
            ("", Some(Seconds), None),
            ("", None, None),
            ("1995-02-29", None, None),
            ("1900-02-29", None, None),
            ("19950230", None, None),
            ("1994-11-31", None, None),
            ("1994-00-06", None, None),
            ("1994-13-06", None, None),
            ("1994-11-00", None, None),
            ("1994-11-06T24:00:00", None, None),
            ("1994-11-06T08:60:00", None, None),
            ("1994-11-06T08:49:61", None, None),
            ("19941106250000", None, None),
            ("1994-11-06T", None, None),
            ("1994-11-06T08:49:37.", None, None),
            ("1994-11-06T08:49:37.Z", None, None),
            ("1994-11-06T08:49:37 GMT", None, None),
            ("1994-11-06T08:49:37UTC", None, None),
            ("1994-11-06T08:61", None, None),
            ("1994-11-06T8:49", None, None),
            ("1994-11-06T08:49:37+1:00", None, None),
            ("94-11-06", None, None),
            ("06/11/1994", None, None),
            ("1994-1\u{661}-06", None, None),
            ("Sun, 06 Nov 1994 08:49:37 GMT", None, None),
        ] {
            let time = UnixSeconds::from_text(text.as_bytes(), unit);
            assert_eq!(time, expected.map(UnixSeconds), "{text}");
        }
    }

    #[test]
    fn numbers_may_be_dates() {
        for (number, expected) in [
            (19_941_106.0, true),
            (19_941_106_084_937.0, true),
            (19_941_106.5, false),
            (19_941_306.0, false),
            (784_111_777.0, false),
            (784_111_777_000.0, false),
            (-19_941_106.0, false),
            (f64::NAN, false),
        ] {
            assert_eq!(is_date(number), expected, "{number}");
        }
    }

    /// Every day of four centuries, and each second of some, as jiff counts them.
    #[test]
    fn days_and_seconds_are_those_of_jiff() {
        let mut date = jiff::civil::date(1899, 12, 30);
        let mut seconds = (0..DAY).cycle().step_by(7_919);
        for _ in 0..500 * 366 {
            let time = date.to_datetime(jiff::civil::Time::midnight());
            let time = time + jiff::Span::new().seconds(seconds.next().unwrap());
            let expected = jiff::tz::TimeZone::UTC.to_timestamp(time).unwrap().as_second();
            let digits: String = time.to_string().chars().filter(char::is_ascii_digit).collect();
            assert_eq!(usual_form(time.to_string().as_bytes()), Some(expected), "{time}");
            assert_eq!(digits_of_cdx(digits.as_bytes()), Some(expected), "{time}");
            date = date.tomorrow().unwrap();
        }
        for (year, month, day) in (1899..2001).flat_map(|year| {
            (0..14).flat_map(move |month| (0..33).map(move |day| (year, month, day)))
        }) {
            let is_day = jiff::civil::Date::new(year, month, day).is_ok();
            let text = format!("{year:04}-{month:02}-{day:02}");
            assert_eq!(usual_form(text.as_bytes()).is_some(), is_day, "{text}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(UnixSeconds(1).since(UnixSeconds(2)), 0);
        assert_eq!(UnixSeconds(2).after(u64::MAX), UnixSeconds(u64::MAX));
    }
}
