//! All words over an alphabet, and all numbers in a shuffled order.

/// Returns all words over `alphabet` of up to `length_max` bytes, the shortest (the empty word)
/// first.
pub fn words(alphabet: &[u8], length_max: usize) -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..length_max {
        let end = words.len();
        for index in start..end {
            let word = words[index].clone();
            words.extend(alphabet.iter().map(|&byte| [&word[..], &[byte]].concat()));
        }
        start = end;
    }
    words
}

/// Returns the numbers below `count`, each once, shuffled so that adjacent numbers are far apart.
pub fn scattered(count: usize) -> impl Iterator<Item = usize> {
    let divides_both = |one: usize, other: usize| {
        let (mut one, mut other) = (one, other);
        while other != 0 {
            (one, other) = (other, one % other);
        }
        one > 1
    };
    // Multiples of the golden ratio of the count are spread evenly.
    let mut step = (count as f64 * 0.618_033_988) as usize + 1;
    while divides_both(count, step) {
        step += 1;
    }
    (0..count).scan(0, move |next, _| {
        let this = *next;
        *next = (this + step) % count;
        Some(this)
    })
}
