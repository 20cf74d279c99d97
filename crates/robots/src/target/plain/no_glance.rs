//! Glances on processors that have no vectors for them.

use super::Glance;
use portcullis_dialect::dialect::Escapes;
use portcullis_matcher::vectors::Avx512;

/// Nobody can call this.
pub fn glances<'r, R: AsRef<[u8]>>(
    avx512: Avx512,
    _: &'r [R],
    _: Escapes,
    _: impl FnMut(usize, &'r [u8], Option<Glance>),
) {
    match avx512 {}
}
