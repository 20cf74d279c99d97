//! The periods in which policies were in force, as far as they were looked up.
//!
//! A period whose policy comes from redirects is found by a walk over all captures on the way. What was found
//! for an origin is kept, so records in any order cost one walk per period and thread, not one per record.

use std::collections::BTreeMap;

use portcullis_robots::access::UnixSeconds;

use crate::limits::PERIODS_KEPT_MAX;
use crate::stored::Period;

/// The periods that a thread has found.
#[derive(Clone, Debug, Default)]
pub(super) struct PeriodMemory {
    /// The last one, and the capture of its origin. Records often fall in the same one.
    last: Option<(u32, Period)>,
    /// By the capture of the origin and the begin.
    known: BTreeMap<(u32, UnixSeconds), Period>,
}

impl PeriodMemory {
    /// Returns the period of an origin that has a time, or what `find` finds. `capture` is that of the origin.
    pub fn get_or_find<E>(
        &mut self,
        capture: u32,
        time: UnixSeconds,
        find: impl FnOnce() -> Result<Period, E>,
    ) -> Result<Period, E> {
        let has_time = |it: &Period| it.since <= time && it.until.is_none_or(|until| time < until);
        if let Some((_, period)) = self.last.filter(|(last, it)| *last == capture && has_time(it)) {
            return Ok(period);
        }
        let mut begun = self.known.range(..=(capture, time));
        let known = begun.next_back().filter(|(key, it)| key.0 == capture && has_time(it));
        let period = match known {
            Some((_, period)) => *period,
            None => {
                let period = find()?;
                if self.known.len() == PERIODS_KEPT_MAX {
                    self.known.clear();
                }
                self.known.insert((capture, period.since), period);
                period
            }
        };
        self.last = Some((capture, period));
        Ok(period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_period_is_found_once_in_any_order() {
        let period_of = |time: u64| Period {
            since: UnixSeconds(time / 100 * 100),
            until: Some(UnixSeconds((time / 100 + 1) * 100)),
        };
        let (mut memory, mut walks) = (PeriodMemory::default(), 0);
        for record in 0..2_000 {
            let (capture, time) = (record % 7, u64::from(record) * 379 % 1_000);
            let found = memory.get_or_find(capture, UnixSeconds(time), || {
                walks += 1;
                Ok::<_, ()>(period_of(time))
            });
            assert_eq!(found, Ok(period_of(time)));
        }
        assert_eq!(walks, 7 * 10);
        assert!(memory.get_or_find(9, UnixSeconds(1), || Err(())).is_err());
    }

    #[test]
    fn many_periods_are_forgotten() {
        let mut memory = PeriodMemory::default();
        for capture in 0..PERIODS_KEPT_MAX as u32 + 2 {
            let period = Period { since: UnixSeconds(0), until: None };
            memory.get_or_find(capture, UnixSeconds(5), || Ok::<_, ()>(period)).unwrap();
        }
        assert_eq!(memory.known.len(), 2);
    }
}
