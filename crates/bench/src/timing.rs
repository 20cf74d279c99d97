//! Timed turns, and the medians, spreads and percentiles of their values.

use std::time::{Duration, Instant};

use serde::Serialize;

/// Returns the mean seconds of a pass, over as many passes as fill a turn. An untimed pass runs
/// first, so that caches are warm and lazy automata are built.
///
/// # Errors
///
/// Returns the first error of a pass.
pub fn turn<E>(fill: Duration, mut pass: impl FnMut() -> Result<Duration, E>) -> Result<f64, E> {
    pass()?;
    let (mut total, mut passes) = (Duration::ZERO, 0);
    while passes == 0 || total < fill {
        // A pass that the clock measures as zero would never fill a turn.
        total += pass()?.max(Duration::from_nanos(1));
        passes += 1;
    }
    Ok(total.as_secs_f64() / f64::from(passes))
}

/// The median, the least and the greatest of a list of values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The value in the middle. For an even number of values, the higher of the two.
    pub median: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

impl Spread {
    /// Returns the spread of all values, or `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        Some(Spread { median: values[values.len() / 2], min, max })
    }
}

/// The distribution of the costs of single questions, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The number of questions that were timed one by one.
    pub questions: u64,
    /// The cost of reading the clock twice. It is subtracted.
    pub clock_ns: u32,
    /// The median.
    pub p50_ns: u32,
    /// The 90th percentile.
    pub p90_ns: u32,
    /// The 99th percentile.
    pub p99_ns: u32,
    /// The 99.9th percentile.
    pub p999_ns: u32,
    /// The slowest question, which may include an interrupt of the machine.
    pub max_ns: u32,
    /// Upper bounds in nanoseconds, each with the number of questions between the previous bound
    /// and this one. Bounds grow by a quarter.
    pub histogram: Vec<(u32, u64)>,
}

impl Distribution {
    /// Returns the distribution of times that include the clock's cost, or `None` if there are
    /// none. Sorts the times.
    pub fn of(times: &mut [u32], clock_ns: u32) -> Option<Distribution> {
        for time in times.iter_mut() {
            *time = time.saturating_sub(clock_ns);
        }
        times.sort_unstable();
        let max_ns = *times.last()?;
        let at = |thousandths: usize| times[(times.len() - 1) * thousandths / 1_000];
        let (mut histogram, mut bound, mut done) = (Vec::new(), 8_u32, 0);
        while done < times.len() {
            let under = times.partition_point(|&time| time <= bound);
            histogram.push((bound, (under - done) as u64));
            done = under;
            bound = bound.saturating_add(bound / 4);
        }
        Some(Distribution {
            questions: times.len() as u64,
            clock_ns,
            p50_ns: at(500),
            p90_ns: at(900),
            p99_ns: at(990),
            p999_ns: at(999),
            max_ns,
            histogram,
        })
    }
}

/// Measures the cost of reading the clock twice: the median of many readings.
pub(super) fn clock_ns() -> u32 {
    const READINGS: usize = 10_001;
    let reading = |_| Instant::now().elapsed().as_nanos() as u32;
    let mut readings: Vec<u32> = (0..READINGS).map(reading).collect();
    readings.sort_unstable();
    readings[READINGS / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_middle_and_both_ends() {
        let spread = Spread::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((spread.median, spread.min, spread.max), (2.0, 1.0, 3.0));
        assert_eq!(Spread::of(&[4.0, 1.0]).unwrap().median, 4.0);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn a_distribution_subtracts_the_clock_and_counts_everything() {
        let mut times: Vec<u32> = (0..=1_000).map(|time| time + 20).collect();
        let distribution = Distribution::of(&mut times, 20).unwrap();
        assert_eq!(distribution.questions, 1_001);
        assert_eq!((distribution.p50_ns, distribution.p99_ns), (500, 990));
        assert_eq!((distribution.p999_ns, distribution.max_ns), (999, 1_000));
        assert_eq!(distribution.histogram[0], (8, 9));
        let counted: u64 = distribution.histogram.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 1_001);
        assert_eq!(Distribution::of(&mut [], 20), None);
        assert_eq!(Distribution::of(&mut [5, u32::MAX], 20).unwrap().p50_ns, 0);
    }
}
