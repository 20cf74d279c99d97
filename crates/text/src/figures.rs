//! Figures for people: counts with their nouns, shares, sizes, and the largest of many.
//!
//! Text for terminals, messages and pages goes through here, so that a count reads the same
//! everywhere. Programs get plain numbers. Nothing fails. To show untrusted text, use
//! [`visible`](crate::visible).
//!
//! ```
//! use portcullis_text::figures::{counted, grouped, share, size};
//!
//! assert_eq!([counted(1, "policy"), counted(2, "policy")], ["1 policy", "2 policies"]);
//! assert_eq!((grouped(370_387), share(1, 3), size(17_700)), (
//!     "370,387".into(),
//!     "33.3 %".into(),
//!     "17.3 KiB".into(),
//! ));
//! ```

use std::borrow::{Borrow, Cow};
use std::cmp::Reverse;

/// The text for a missing figure.
pub const NONE: &str = "–";

/// Returns the noun for a count: "policies" for 2 of "policy".
pub fn plural(count: u64, noun: &str) -> Cow<'_, str> {
    match (count, noun.strip_suffix('y')) {
        (1, _) => noun.into(),
        (_, Some(stem)) => format!("{stem}ies").into(),
        _ => format!("{noun}s").into(),
    }
}

/// Returns a number with its noun: `1 policy`, `2,434 policies`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {}", grouped(count), plural(count, noun))
}

/// Joins the first three names, and counts the others: `a, b, c and 4 more`. Returns `all 7` if there
/// are `all` names and these are more than two.
pub fn few(names: impl ExactSizeIterator<Item = impl Borrow<str>>, all: usize) -> String {
    match names.len() {
        count if count == all && count > 2 => format!("all {count}"),
        _ => joined(names, 3),
    }
}

/// Joins the first names, at most `shown_max`, and counts the others: `a, b and 4 more`.
pub fn joined(names: impl ExactSizeIterator<Item = impl Borrow<str>>, shown_max: usize) -> String {
    let more = names.len().saturating_sub(shown_max);
    let shown = names.take(shown_max).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Returns a number with its digits in groups of three: `370,387`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a part of a whole, from 0 to 100. 0 if the whole is 0.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Returns a part of a whole in percent, with one digit after the point: `33.3 %`.
pub fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => NONE.to_owned(),
        _ => format!("{:.1} %", percent(part, whole)),
    }
}

/// Returns a time in seconds, with three digits after the point: `0.250 s`.
pub fn seconds(seconds: f64) -> String {
    format!("{seconds:.3} s")
}

/// Returns a number of bytes in a readable unit: `495 B`, `17.3 KiB`.
pub fn size(count: u64) -> String {
    if count < 1024 {
        return format!("{count} B");
    }
    let power = (count.ilog2() / 10).min(4);
    let scaled = count as f64 / 1024_f64.powi(power as i32);
    let digits = if scaled >= 100.0 || scaled.fract() == 0.0 { 0 } else { 1 };
    format!("{scaled:.digits$} {}iB", ["K", "M", "G", "T"][power as usize - 1])
}

/// Returns the `count` items with the largest keys, the largest first. Items with equal keys stay
/// in order.
///
/// Holds at most twice as many items.
pub fn largest<T, K: Ord>(
    items: impl IntoIterator<Item = T>,
    count: usize,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    let settle = |kept: &mut Vec<T>| {
        // The sort is stable, so items with equal keys stay in order.
        kept.sort_by_key(|item| Reverse(key(item)));
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
    fn numbers_shares_and_sizes() {
        let numbers = [0, 999, 1_000, 370_387, u64::MAX].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "370,387", "18,446,744,073,709,551,615"]);
        let named = |names: &[&str], all| few(names.iter().copied(), all);
        let names = ["a", "b", "c", "d", "e"];
        assert_eq!([named(&names, 9), named(&names, 5)], ["a, b, c and 2 more", "all 5"]);
        assert_eq!([named(&names[..2], 2), named(&names[..3], 4)], ["a, b", "a, b, c"]);
        assert_eq!([0, 1, 2_434].map(|it| counted(it, "URL")), ["0 URLs", "1 URL", "2,434 URLs"]);
        let sizes = [0, 1023, 1024, 512_000, 1 << 20, u64::MAX].map(size);
        assert_eq!(sizes, ["0 B", "1023 B", "1 KiB", "500 KiB", "1 MiB", "16777216 TiB"]);
        let shares = [(0, 0), (0, 9), (9, 9), (953, 1_000)].map(|(part, of)| share(part, of));
        assert_eq!(shares, ["–", "0.0 %", "100.0 %", "95.3 %"]);
    }

    #[test]
    fn the_largest_in_order_and_the_earlier_of_equals() {
        let items = [(1, 'a'), (5, 'b'), (3, 'c'), (5, 'd'), (0, 'e'), (3, 'f'), (9, 'g')];
        for (count, expected) in [(0, ""), (1, "g"), (3, "gbd"), (5, "gbdcf"), (9, "gbdcfae")] {
            let found: String =
                largest(items, count, |item| item.0).iter().map(|item| item.1).collect();
            assert_eq!(found, expected);
        }
    }
}
