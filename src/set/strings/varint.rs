//! Lengths in as few octets as they need: seven bits in each, the lowest first.

/// Octets that a `u32` needs at most.
const OCTETS_MAX: usize = 5;

/// Appends `number`.
pub(super) fn write(mut number: u32, octets: &mut Vec<u8>) {
    while number >= 0x80 {
        octets.push(number as u8 | 0x80);
        number >>= 7;
    }
    octets.push(number as u8);
}

/// Takes a number off the front of `octets`. None if there is none that [`write`] could have
/// written.
#[inline]
pub(super) fn read(octets: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = octets.split_first()?;
    if first < 0x80 {
        *octets = rest;
        return Some(u32::from(first));
    }
    read_long(octets)
}

fn read_long(octets: &mut &[u8]) -> Option<u32> {
    let length = 1 + octets.iter().take(OCTETS_MAX).position(|&octet| octet < 0x80)?;
    let (own, rest) = octets.split_at(length);
    let number = own.iter().rev().fold(0, |number, &octet| number << 7 | u64::from(octet & 0x7F));
    *octets = rest;
    // The last octet of the shortest form is not zero.
    if own.last() == Some(&0) { None } else { u32::try_from(number).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 255, 16_383, 16_384, 1 << 21, 1 << 28, u32::MAX] {
            let mut octets = Vec::new();
            write(number, &mut octets);
            assert!(octets.len() <= OCTETS_MAX);
            for cut in 0..octets.len() {
                assert_eq!(read(&mut &octets[..cut]), None, "{number}");
            }
            octets.push(9);
            let mut rest = octets.as_slice();
            assert_eq!(read(&mut rest), Some(number));
            assert_eq!(rest, [9]);
        }
    }

    #[test]
    fn what_nobody_wrote_is_refused() {
        for octets in
            [&[][..], &[0x80], &[0x80, 0], &[0xFF; 9], &[0xFF, 0xFF, 0xFF, 0xFF, 0x1F], &[0x81, 0]]
        {
            assert_eq!(read(&mut &octets[..]), None, "{octets:?}");
        }
    }
}
