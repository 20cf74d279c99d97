//! The probes of prefixes and literals, which run per path.

use crate::line::Line;
use crate::vectors::Kernels;

use super::head::Head;
use super::teddy;

/// Returns the levels at which `path` may start with a prefix; none if it starts with no prefix. A
/// damaged prefilter returns all levels.
#[inline(always)]
pub fn probe_prefixes(lines: &[Line], path: &[u8], probe: impl Kernels) -> u8 {
    prefix_levels(lines, path, probe).unwrap_or(u8::MAX)
}

#[inline(always)]
fn prefix_levels(lines: &[Line], path: &[u8], probe: impl Kernels) -> Option<u8> {
    let head = Head::of(lines)?;
    probe.levels_of(head.filter(lines)?.0, path.get(1..)?, head.prefix_levels)
}

/// Returns whether `path` may contain a required literal: a byte pair at a position whose bytes the
/// Bloom filter may have. A damaged prefilter returns true.
#[inline(always)]
pub fn probe_literals(lines: &[Line], path: &[u8], probe: impl Kernels) -> bool {
    may_have_literal(lines, path, probe) != Some(false)
}

#[inline(always)]
fn may_have_literal(lines: &[Line], path: &[u8], probe: impl Kernels) -> Option<bool> {
    let head = Head::of(lines)?;
    let pairs = head.pairs(lines)?;
    let (filter, _) = head.filter(lines)?;
    if filter.is_empty() {
        return None;
    }
    for position in teddy::positions(pairs, path, probe) {
        let text = path.get(position..).unwrap_or_default();
        if probe.levels_of(filter, text, head.literal_levels) != Some(0) {
            return Some(true);
        }
    }
    Some(false)
}
