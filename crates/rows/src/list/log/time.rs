//! The forms of times in logs.

use portcullis_robots::access::{TimeUnit, UnixSeconds};

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeForm {
    /// `10/Oct/2000:13:55:36 -0700`.
    Clf,
    /// `10/Oct/2000:13:55:36.123`, which is in UTC for lack of a zone.
    ClfWithoutZone,
    /// `2000-10-10T20:55:36Z`.
    Iso,
    /// `2000-10-10 20:55:36 +0000`, in so many words.
    IsoInWords(u8),
    /// Seconds since 1970, perhaps with a fraction.
    Epoch,
    Milliseconds,
    Microseconds,
}

/// The bytes of a time of the common log format.
pub(super) const CLF_BYTES: usize = 26;

impl TimeForm {
    /// Returns the number of words of a time.
    pub const fn words(self) -> u8 {
        match self {
            TimeForm::Clf => 2,
            TimeForm::IsoInWords(words) => words,
            _ => 1,
        }
    }

    /// Returns the time that a text means; `None` if it is none.
    pub fn read(self, text: &[u8]) -> Option<UnixSeconds> {
        match self {
            TimeForm::Clf if text.len() != CLF_BYTES => None,
            TimeForm::Clf | TimeForm::ClfWithoutZone => UnixSeconds::from_log(text),
            TimeForm::Iso => (text.len() >= 19).then(|| of_iso(text))?,
            TimeForm::IsoInWords(_) => of_iso(text),
            TimeForm::Epoch => UnixSeconds::from_text(text, Some(TimeUnit::Seconds)),
            TimeForm::Milliseconds => UnixSeconds::from_text(text, Some(TimeUnit::Milliseconds)),
            TimeForm::Microseconds => UnixSeconds::from_text(text, Some(TimeUnit::Microseconds)),
        }
    }
}

/// Returns the time of a text in which a blank may stand before the zone.
fn of_iso(text: &[u8]) -> Option<UnixSeconds> {
    let joined = match text {
        [time @ .., sign @ (b'+' | b'-'), h, hh, m, mm]
            if time.ends_with(b" ") || time.len() >= 19 =>
        {
            let time = time.strip_suffix(b" ").unwrap_or(time);
            [time, &[*sign, *h, *hh, b':', *m, *mm]].concat()
        }
        _ => return UnixSeconds::from_text(text, None),
    };
    UnixSeconds::from_text(&joined, None)
}
