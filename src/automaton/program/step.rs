//! One octet of a walk, for whoever keeps what comes of it.

use zerocopy::little_endian::U32;

use super::{Header, Outcome, Target, find_octet};

/// A place in a program: a node, and how many octets of it have been read if it is a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct Place {
    pub(in crate::automaton) node: Target,
    pub(in crate::automaton) read: u32,
}

/// Where an octet leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) enum Step {
    To(Place),
    /// To an outcome that the rest of the path cannot change.
    Done(Outcome),
}

/// Nodes that are entered for one octet at most, in a sound program.
const NODES_MAX: usize = 8;

/// Where `octet` leads from `place`, or the end of the path if there is none; nothing if that is not
/// built. `stops` are the bits of a target at which a walk ends.
pub(in crate::automaton) fn step(
    words: &[U32],
    mut place: Place,
    octet: Option<u8>,
    stops: u32,
) -> Option<Step> {
    let word = |index: usize| words.get(index).map(|word| word.get());
    for _ in 0..NODES_MAX {
        let node = place.node.index();
        let header = Header(word(node)?);
        let (shape, count) = (header.shape(), header.count());
        let arcs = node + 1 + shape;
        let at_end = || match shape {
            0 => Some(Step::Done(Outcome::NONE)),
            _ => Some(Step::Done(Outcome(word(node + 1)?))),
        };
        let Some(octet) = octet else { return at_end() };
        let read = place.read as usize;
        let slot = if header.is_branch() {
            let octets = words.get(arcs..)?.get(..count.div_ceil(4))?;
            find_octet(octets, count, octet).map(|index| arcs + octets.len() + index)
        } else {
            let own = words.get(arcs + 1 + read / 4)?.get().to_le_bytes()[read % 4];
            if own == octet && read + 1 < count {
                return Some(Step::To(Place { read: place.read + 1, ..place }));
            }
            (own == octet).then_some(arcs)
        };
        let target = match slot {
            Some(slot) => Target(word(slot)?),
            None if shape < 2 => return at_end(),
            None => Target(word(node + 2)?),
        };
        if target == Target::UNBUILT {
            return None;
        }
        if target == Target::STAY {
            return Some(Step::To(place));
        }
        if target.0 & stops != 0 {
            return Some(Step::Done(target.stop_outcome()));
        }
        place = Place { node: target, read: 0 };
        if slot.is_some() {
            return Some(Step::To(place));
        }
    }
    None
}
