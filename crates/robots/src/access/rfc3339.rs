//! Timestamps of RFC 3339, which archives and logs write: `1994-11-06T08:49:37Z`.

use super::UnixSeconds;

const SECONDS_PER_DAY: u64 = 86_400;

/// The last second of the year 9999, the last that a timestamp can say.
const LAST_SECOND: u64 = 253_402_300_799;

/// Days from 0000-03-01 to 1970-01-01 in the Gregorian calendar.
const DAYS_TO_1970: u64 = 719_468;

/// Days of 400 years, after which the calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

/// Days to 1970-01-01 from 400 years before 0000-03-01: early enough that January of the year 0 and
/// every clock's offset from UTC count from there too.
const EPOCH_DAYS: u64 = DAYS_PER_ERA + DAYS_TO_1970;

/// Reads a timestamp; see [`UnixSeconds::from_rfc3339`].
pub(super) fn read(text: &[u8]) -> Option<UnixSeconds> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(b"T").or(rest.strip_prefix(b"t")).or(rest.strip_prefix(b" "))?;
    let (time, rest) = rest.split_at_checked(8)?;
    let seconds = days(date)? * SECONDS_PER_DAY + seconds_of_day(time)?;
    let offset = offset_seconds(without_fraction(rest)?)?;
    let in_utc = seconds.checked_sub_signed(offset)?;
    in_utc.checked_sub(EPOCH_DAYS * SECONDS_PER_DAY).map(UnixSeconds)
}

/// The days from 400 years before 0000-03-01 to `date` (`YYYY-MM-DD`).
fn days(date: &[u8]) -> Option<u64> {
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    let is_date = date[4] == b'-' && date[7] == b'-' && (1..=12).contains(&month);
    if !is_date || !(1..=days_of_month(year, month)).contains(&day) {
        return None;
    }
    // A year that begins in March ends with the day that leap years add, so that the days before a
    // month are the same in every year: 153 in any five months in a row.
    let (year, month) = if month > 2 { (year + 400, month - 3) } else { (year + 399, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1)
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap_year(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// The seconds from midnight to `time` (`hh:mm:ss`).
fn seconds_of_day(time: &[u8]) -> Option<u64> {
    let (hour, minute, second) = (number(&time[..2])?, number(&time[3..5])?, number(&time[6..])?);
    let is_time = time[2] == b':' && time[5] == b':' && hour < 24 && minute < 60 && second <= 60;
    is_time.then_some(hour * 3600 + minute * 60 + second)
}

/// What stands behind a fraction of a second, if there is one; nothing if it has no digits.
fn without_fraction(rest: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = rest.strip_prefix(b".") else { return Some(rest) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| &fraction[digits..])
}

/// The seconds that a place's clock is ahead of UTC: `Z` or `+hh:mm`.
fn offset_seconds(offset: &[u8]) -> Option<i64> {
    match *offset {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
            let is_offset = hours < 24 && minutes < 60;
            let seconds = i64::try_from(hours * 3600 + minutes * 60).ok()?;
            is_offset.then_some(if sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

/// A number of a few digits, and nothing but digits.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))
    })
}

/// Writes a timestamp; see [`UnixSeconds::to_rfc3339`].
pub(super) fn write(time: UnixSeconds) -> String {
    let seconds = time.0.min(LAST_SECOND);
    let (days, of_day) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The year, month and day that is so many days after 1970-01-01.
fn date_of(days_from_1970: u64) -> (u64, u64, u64) {
    let days = days_from_1970 + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    // Take off the leap days that are past: every 1460 days, not every 36524, but the era's last.
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let days_before = 365 * year_of_era + year_of_era / 4 - year_of_era / 100;
    let day_of_year = day_of_era - days_before;
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Option<u64> {
        read(text.as_bytes()).map(|time| time.0)
    }

    #[test]
    fn timestamps() {
        let rows = [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:00:00-01:00", 0),
            ("1994-11-06T08:49:37Z", 784_111_777),
            ("1994-11-06t08:49:37z", 784_111_777),
            ("1994-11-06 08:49:37Z", 784_111_777),
            ("1994-11-06T08:49:37.999999999999999Z", 784_111_777),
            ("1994-11-06T08:49:37-00:00", 784_111_777),
            ("1994-11-06T14:19:37+05:30", 784_111_777),
            ("1994-11-05T23:19:37.5-09:30", 784_111_777),
            ("1990-12-31T23:59:60Z", 662_688_000),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("9999-12-31T23:59:59Z", LAST_SECOND),
        ];
        for (text, expected) in rows {
            assert_eq!(read_text(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_timestamp() {
        let rows = [
            "",
            "1994",
            "1994-11-06",
            "1994-11-06T",
            "1994-11-06T08:49",
            "1994-11-06T08:49:37",
            "1994-11-06T08:49:37Z ",
            "1994-11-06T08:49:37ZZ",
            "1994-11-06T08:49:37.Z",
            "1994-11-06T08:49:37+0100",
            "1994-11-06T08:49:37+24:00",
            "1994-11-06T08:49:37+01:60",
            "1994-11-06T24:00:00Z",
            "1994-11-06T08:60:00Z",
            "1994-11-06T08:49:61Z",
            "1994-11-06_08:49:37Z",
            "1994/11/06T08:49:37Z",
            "1994-00-06T08:49:37Z",
            "1994-13-06T08:49:37Z",
            "1994-11-00T08:49:37Z",
            "1994-11-31T08:49:37Z",
            "1995-02-29T08:49:37Z",
            "2100-02-29T08:49:37Z",
            "+994-11-06T08:49:37Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01",
            "0000-01-01T00:00:00Z",
            "\u{661}94-11-06T08:49:37Z",
        ];
        for text in rows {
            assert_eq!(read_text(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_is_written_and_read_back() {
        let mut before = String::new();
        for day in 0..=LAST_SECOND / SECONDS_PER_DAY {
            let time = UnixSeconds(day * SECONDS_PER_DAY + day % SECONDS_PER_DAY);
            let text = write(time);
            assert_eq!(read(text.as_bytes()), Some(time), "{text}");
            assert!(before < text, "{before} {text}");
            before = text;
        }
        assert_eq!(write(UnixSeconds(u64::MAX)), "9999-12-31T23:59:59Z");
    }
}
