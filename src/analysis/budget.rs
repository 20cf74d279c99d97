//! What the many searches of one analysis may spend together.

use super::{Bound, Limits};

/// The part of what is left that one search may take, so that a hard question leaves something for
/// the easy ones after it.
const SHARE: u64 = 16;

/// What is left of the limits of an analysis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    limits: Limits,
    left: Limits,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Budget {
        Budget { limits: *limits, left: *limits }
    }

    /// What a search may take.
    pub(super) fn share(&self) -> Limits {
        Limits {
            positions_max: self.left.positions_max / SHARE,
            states_max: self.left.states_max / SHARE as usize,
        }
    }

    /// Fails if hardly anything is left.
    pub(super) fn check(&self) -> Result<(), Bound> {
        let share = self.share();
        if share.positions_max == 0 {
            return Err(Bound::Positions(self.limits.positions_max));
        }
        if share.states_max == 0 {
            return Err(Bound::States(self.limits.states_max));
        }
        Ok(())
    }

    /// Takes off what was spent.
    pub(super) fn spend(&mut self, positions: u64, states: usize) {
        self.left.positions_max = self.left.positions_max.saturating_sub(positions);
        self.left.states_max = self.left.states_max.saturating_sub(states);
    }

    /// The bound of the whole analysis where a search reached that of its share.
    pub(super) fn bound(&self, reached: Bound) -> Bound {
        match reached {
            Bound::Positions(_) => Bound::Positions(self.limits.positions_max),
            Bound::States(_) => Bound::States(self.limits.states_max),
            Bound::PathBytes => Bound::PathBytes,
        }
    }
}
