//! How often things are used: a histogram by powers of ten.

/// How many things are used once, how many up to ten times, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    tiers: Vec<Tier>,
}

/// Things that are used about as often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The fewest uses that belong here.
    pub from: u64,
    /// The most uses that belong here.
    pub to: u64,
    /// How many things there are.
    pub things: u64,
    /// How often they are used, all together.
    pub uses: u64,
}

impl Sharing {
    /// Counts a thing that is used so often.
    pub(super) fn add(&mut self, uses: u64) {
        // 0, 1, 2 to 10, 11 to 100, ...
        let place = match uses {
            0 | 1 => uses as usize,
            _ => (uses - 1).ilog10() as usize + 2,
        };
        while self.tiers.len() <= place {
            let (from, to) = match self.tiers.last() {
                None => (0, 0),
                Some(last) => (last.to + 1, last.to.saturating_mul(10).max(1)),
            };
            self.tiers.push(Tier { from, to, things: 0, uses: 0 });
        }
        self.tiers[place].things += 1;
        self.tiers[place].uses += uses;
    }

    /// The tiers that have anything in them, from the fewest uses to the most.
    pub fn tiers(&self) -> impl Iterator<Item = &Tier> {
        self.tiers.iter().filter(|tier| tier.things > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_powers_of_ten() {
        let mut sharing = Sharing::default();
        [1, 1, 2, 10, 11, 100, 1_000, 5_000].into_iter().for_each(|uses| sharing.add(uses));
        let tiers: Vec<_> =
            sharing.tiers().map(|tier| (tier.from, tier.to, tier.things, tier.uses)).collect();
        assert_eq!(
            tiers,
            [
                (1, 1, 2, 2),
                (2, 10, 2, 12),
                (11, 100, 2, 111),
                (101, 1_000, 1, 1_000),
                (1_001, 10_000, 1, 5_000)
            ]
        );
        sharing.add(0);
        assert_eq!(sharing.tiers().next().map(|tier| (tier.from, tier.to)), Some((0, 0)));
        sharing.add(u64::MAX);
        assert_eq!(sharing.tiers().last().map(|tier| tier.to), Some(u64::MAX));
    }
}
