//! Numbers, counted by value, and how they are distributed.

use std::collections::BTreeMap;

use crate::audit::model::files::{Bin, Distribution};

/// Numbers by value. Memory is that of the different ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers(BTreeMap<u64, u64>);

impl Numbers {
    /// Counts a number so often.
    pub(super) fn add(&mut self, number: u64, times: u64) {
        if times > 0 {
            *self.0.entry(number).or_default() += times;
        }
    }

    /// How they are distributed.
    pub(super) fn distribution(&self) -> Distribution {
        let count = self.0.values().sum();
        let products = self.0.iter().map(|(number, times)| number.saturating_mul(*times));
        Distribution {
            count,
            sum: products.fold(0, u64::saturating_add),
            min: self.0.keys().next().copied().unwrap_or(0),
            p50: self.quantile(count, 50),
            p90: self.quantile(count, 90),
            p99: self.quantile(count, 99),
            max: self.0.keys().next_back().copied().unwrap_or(0),
            bins: self.bins(),
        }
    }

    /// The smallest number that so many of a hundred do not exceed.
    fn quantile(&self, count: u64, hundredths: u64) -> u64 {
        let rank = (u128::from(count) * u128::from(hundredths)).div_ceil(100);
        let mut seen = 0;
        let reached = self.0.iter().find(|(_, times)| {
            seen += u128::from(**times);
            seen >= rank
        });
        reached.map_or(0, |(number, _)| *number)
    }

    fn bins(&self) -> Vec<Bin> {
        let mut bins: Vec<Bin> = Vec::new();
        for (&number, &times) in &self.0 {
            let own = bin(number);
            while bins.last().is_some_and(|last| last.to < own.from) {
                let next = bins.last().map_or(0, |last| last.to + 1);
                bins.push(bin(next));
            }
            if bins.is_empty() {
                bins.push(own);
            }
            if let Some(last) = bins.last_mut() {
                last.count += times;
            }
        }
        bins
    }
}

/// The bin of a number, empty: 0, or from a power of two to before the next.
fn bin(number: u64) -> Bin {
    let from = number.checked_ilog2().map_or(0, |log| 1 << log);
    let to = match from {
        0 => 0,
        from => from - 1 + from,
    };
    Bin { from, to, count: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[(u64, u64)]) -> Distribution {
        let mut counted = Numbers::default();
        numbers.iter().for_each(|&(number, times)| counted.add(number, times));
        counted.distribution()
    }

    #[test]
    fn bins_are_powers_of_two_without_gaps() {
        let bins: Vec<_> = of(&[(0, 2), (1, 1), (3, 1), (2, 1), (9, 4), (u64::MAX, 1)])
            .bins
            .iter()
            .map(|bin| (bin.from, bin.to, bin.count))
            .collect();
        assert_eq!(bins[..5], [(0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 0), (8, 15, 4)]);
        assert_eq!(bins.last(), Some(&(1 << 63, u64::MAX, 1)));
        assert_eq!(bins.len(), 65);
        assert_eq!(of(&[(5, 1)]).bins, [Bin { from: 4, to: 7, count: 1 }]);
        assert_eq!(of(&[]), Distribution::default());
    }

    #[test]
    fn quantiles_are_numbers_that_are_there() {
        let found = of(&[(1, 50), (2, 39), (7, 10), (100, 1)]);
        assert_eq!((found.count, found.sum), (100, 50 + 78 + 70 + 100));
        assert_eq!((found.min, found.p50, found.p90, found.p99, found.max), (1, 1, 7, 7, 100));
        let found = of(&[(3, 1)]);
        assert_eq!((found.min, found.p50, found.p99, found.max), (3, 3, 3, 3));
    }
}
