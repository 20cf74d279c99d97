//! The first looks of eight questions.

use crate::automaton::Outcome;

use super::{FirstLook, SieveLine};

/// What first looks tell of eight paths: a bit for each, the first one lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstLooks {
    /// Whether the path has to be asked about alone, so that the others tell nothing of it. It is so for
    /// those of which a sieve cannot speak, for `/robots.txt`, and for short ones.
    pub odd: u8,
    /// Whether to look at [prefixes](super::may_begin).
    pub may_begin: u8,
    /// Whether to look for [stretches](super::may_stand).
    pub has_stretches: u8,
}

/// Whether a path is too short to be looked at together with others, or as long as `/robots.txt`.
#[inline(always)]
pub(super) fn is_odd(path: &[u8]) -> bool {
    path.len() < size_of::<u64>() || path.len() == b"/robots.txt".len()
}

impl FirstLooks {
    fn add(&mut self, place: usize, look: Option<&FirstLook<'_>>, path: &[u8]) {
        let look = look.filter(|_| !is_odd(path));
        match look.and_then(|look| Some((look.may_begin(path)?, look.has_stretches))) {
            Some((may_begin, has_stretches)) => {
                self.may_begin |= u8::from(may_begin) << place;
                self.has_stretches |= u8::from(has_stretches) << place;
            }
            None => self.odd |= 1 << place,
        }
    }
}

/// The first looks of one sieve at paths.
pub(super) fn look_of_one_at(look: &FirstLook<'_>, paths: &[&[u8]; 8]) -> FirstLooks {
    let mut looks = FirstLooks::default();
    paths.iter().enumerate().for_each(|(place, path)| looks.add(place, Some(look), path));
    looks
}

/// The first looks at paths, each by the sieve that stands at the first of two words, and what each path means
/// if no look finds anything. The latter means nothing for those that are odd.
pub(super) fn look_at(
    lines: &[SieveLine],
    starts: &[[u32; 2]; 8],
    paths: &[&[u8]; 8],
) -> (FirstLooks, [Outcome; 8]) {
    let (mut looks, mut otherwise) = (FirstLooks::default(), [Outcome::NONE; 8]);
    for (place, (start, path)) in starts.iter().zip(paths).enumerate() {
        let look = FirstLook::of(lines, start[0] as usize);
        looks.add(place, look.as_ref(), path);
        otherwise[place] = look.map_or(Outcome::NONE, |look| look.otherwise);
    }
    (looks, otherwise)
}
