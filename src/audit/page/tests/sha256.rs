//! SHA-256 (FIPS 180-4), to hold the hashes in the contents policy to their files. Plain and slow.

/// The first 32 bits of the fractional part of `root(prime)`, for the first primes.
fn fractions(count: usize, root: fn(f64) -> f64, exact: fn(u128, u128) -> bool) -> Vec<u32> {
    let primes = (2_u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    let fraction = |prime: u128| {
        // The root times 2^32, found near its approximation and made exact.
        let mut scaled = (root(prime as f64) * 2_f64.powi(32)) as u128;
        while exact(scaled + 1, prime) {
            scaled += 1;
        }
        while !exact(scaled, prime) {
            scaled -= 1;
        }
        scaled as u32
    };
    primes.take(count).map(fraction).collect()
}

/// The digest.
pub(super) fn digest(message: &[u8]) -> [u8; 32] {
    let keys = fractions(64, f64::cbrt, |root, prime| root * root * root <= prime << 96);
    let mut state = fractions(8, f64::sqrt, |root, prime| root * root <= prime << 64);
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut words: Vec<u32> =
            block.chunks(4).map(|it| u32::from_be_bytes(it.try_into().unwrap())).collect();
        for index in 16..64 {
            let (early, late) = (words[index - 15], words[index - 2]);
            let early = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
            let late = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
            let sum = words[index - 16].wrapping_add(early).wrapping_add(words[index - 7]);
            words.push(sum.wrapping_add(late));
        }
        let mut turning = state.clone();
        for (key, word) in keys.iter().zip(&words) {
            turn(&mut turning, key.wrapping_add(*word));
        }
        for (sum, turned) in state.iter_mut().zip(turning) {
            *sum = sum.wrapping_add(turned);
        }
    }
    let bytes: Vec<u8> = state.into_iter().flat_map(u32::to_be_bytes).collect();
    bytes.try_into().unwrap()
}

fn turn(state: &mut [u32], word: u32) {
    let (a, e) = (state[0], state[4]);
    let choice = (e & state[5]) ^ (!e & state[6]);
    let majority = (a & state[1]) ^ (a & state[2]) ^ (state[1] & state[2]);
    let of_e = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
    let of_a = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
    let first = state[7].wrapping_add(of_e).wrapping_add(choice).wrapping_add(word);
    state.rotate_right(1);
    state[0] = first.wrapping_add(of_a).wrapping_add(majority);
    state[4] = state[4].wrapping_add(first);
}

#[test]
fn the_standards_example_comes_out() {
    let hex: String = digest(b"abc").iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
