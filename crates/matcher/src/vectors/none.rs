//! The vectors of other processors than this one: nobody has a value of these types.

use super::Work;

/// See [`Kind::avx2`](super::Kind::avx2).
#[derive(Clone, Copy, Debug)]
pub enum Avx2 {}

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        None
    }

    pub(super) fn run<W: Work>(self, _: W) -> W::Output {
        match self {}
    }
}

/// See [`Kind::avx512`](super::Kind::avx512).
#[derive(Clone, Copy, Debug)]
pub enum Avx512 {}

impl Avx512 {
    pub(super) fn detect() -> Option<Avx512> {
        None
    }

    pub(super) fn run<W: Work>(self, _: W) -> W::Output {
        match self {}
    }
}
