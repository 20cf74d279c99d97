//! The few largest of many.

/// The `count` items with the largest keys, the largest first; among equals the earlier one.
///
/// It holds twice as many items as are asked for, at most.
pub fn largest<T, K: Ord>(
    items: impl IntoIterator<Item = T>,
    count: usize,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    let settle = |kept: &mut Vec<T>| {
        // Stable, so what came first stays first.
        kept.sort_by_key(|item| std::cmp::Reverse(key(item)));
        kept.truncate(count);
    };
    for item in items {
        kept.push(item);
        if kept.len() / 2 > count {
            settle(&mut kept);
        }
    }
    settle(&mut kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_in_order_and_the_earlier_of_equals() {
        let items = [(1, 'a'), (5, 'b'), (3, 'c'), (5, 'd'), (0, 'e'), (3, 'f'), (9, 'g')];
        for (count, expected) in [(0, ""), (1, "g"), (3, "gbd"), (5, "gbdcf"), (9, "gbdcfae")] {
            let found: String =
                largest(items, count, |item| item.0).into_iter().map(|item| item.1).collect();
            assert_eq!(found, expected);
        }
    }
}
