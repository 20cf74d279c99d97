//! Medians, spreads and percentiles: numbers from numbers.

use serde::Serialize;

/// The median of some values, the least and the most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The value in the middle; of an even number of values the higher of the two.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of all values; nothing if there is none.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        Some(Spread { median: values[values.len() / 2], min, max })
    }
}

/// How the costs of single questions are distributed, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Questions that were timed one by one.
    pub questions: u64,
    /// What reading the clock twice costs by itself. It is subtracted.
    pub clock_ns: u32,
    /// Half of all take no longer.
    pub p50_ns: u32,
    /// Nine in ten.
    pub p90_ns: u32,
    /// 99 in 100.
    pub p99_ns: u32,
    /// 999 in 1,000.
    pub p999_ns: u32,
    /// The slowest. An interrupt of the machine may be in it.
    pub max_ns: u32,
    /// How many questions took so long: an upper bound in nanoseconds, and a count. Bounds grow by a
    /// quarter; those past the last count are left out.
    pub histogram: Vec<(u32, u64)>,
}

impl Distribution {
    /// Of times that hold the clock's own cost, which they are put into order for.
    pub fn of(times: &mut [u32], clock_ns: u32) -> Option<Distribution> {
        for time in times.iter_mut() {
            *time = time.saturating_sub(clock_ns);
        }
        times.sort_unstable();
        let last = *times.last()?;
        let at = |thousandths: usize| times[(times.len() - 1) * thousandths / 1_000];
        Some(Distribution {
            questions: times.len() as u64,
            clock_ns,
            p50_ns: at(500),
            p90_ns: at(900),
            p99_ns: at(990),
            p999_ns: at(999),
            max_ns: last,
            histogram: histogram(times),
        })
    }
}

/// Counts sorted times under bounds that grow by a quarter.
fn histogram(sorted: &[u32]) -> Vec<(u32, u64)> {
    let (mut counts, mut bound, mut done) = (Vec::new(), 8_u32, 0);
    while done < sorted.len() {
        let under = sorted.partition_point(|&time| time <= bound);
        counts.push((bound, (under - done) as u64));
        done = under;
        bound = bound.saturating_add(bound / 4);
    }
    counts
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
