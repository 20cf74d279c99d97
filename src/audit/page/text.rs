//! Numbers, shares and strangers' texts, as the page shows them.

use crate::limits::AUDIT_PAGE_TEXT_CHARACTERS_MAX;
use crate::report::html::escaped;
use crate::visible::cut_characters;

/// Stands where there is no number.
pub(super) const NOTHING: &str = "–";

/// Characters of an agent's name: twice what the longest that are common have.
const AGENT_CHARACTERS: usize = 40;

/// A number with its digits in threes: `370,387`.
pub(super) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and what is counted: `1 URL`, `2,434 hosts`.
pub(super) fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(value), if value == 1 { one } else { many })
}

/// How much of `whole` a part is, in per cent. It says 0 or 100 only where it is none or all.
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return NOTHING.to_owned();
    }
    if part == 0 || part == whole {
        return if part == 0 { "0 %" } else { "100 %" }.to_owned();
    }
    let percent = per_cent(part, whole);
    if percent < 0.05 {
        "under 0.1 %".to_owned()
    } else if (99.95..100.0).contains(&percent) {
        "over 99.9 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

/// How much of `whole` a part is, from 0 to 100; 0 of nothing.
pub(super) fn per_cent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// A stranger's text as code, cut where it is very long.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(&cut_characters(text, AUDIT_PAGE_TEXT_CHARACTERS_MAX)))
}

/// The name of an agent, cut where it is very long: it stands in many places.
pub(super) fn agent_name(name: &str) -> String {
    escaped(&cut_characters(name, AGENT_CHARACTERS))
}

/// Bytes in the unit that people expect: `495 B`, `17.3 KiB`.
pub(super) fn bytes(value: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let digits = if scaled >= 100.0 || scaled.fract() == 0.0 { 0 } else { 1 };
    format!("{scaled:.digits$} {}", UNITS[unit])
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        let numbers = [0, 999, 1_000, 370_387, u64::MAX].map(number);
        assert_eq!(numbers, ["0", "999", "1,000", "370,387", "18,446,744,073,709,551,615"]);
        assert_eq!(counted(1, "URL", "URLs"), "1 URL");
        assert_eq!(counted(0, "URL", "URLs"), "0 URLs");
    }

    #[test]
    fn a_share_is_all_or_none_only_if_it_is() {
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(0, 9), "0 %");
        assert_eq!(share(9, 9), "100 %");
        assert_eq!(share(1, 1_000_000), "under 0.1 %");
        assert_eq!(share(999_999, 1_000_000), "over 99.9 %");
        assert_eq!(share(953, 1_000), "95.3 %");
    }

    #[test]
    fn texts_are_cut_at_characters() {
        assert_eq!(agent_name(&"ä".repeat(50)), "ä".repeat(39) + "…");
        assert_eq!(code("<b>"), "<code>&lt;b&gt;</code>");
    }

    #[test]
    fn bytes_have_units() {
        let sizes = [0, 1023, 1024, 17_700, 512_000, 1 << 20].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1 KiB", "17.3 KiB", "500 KiB", "1 MiB"]);
    }

    #[test]
    fn words_are_listed() {
        let words = ["a", "b", "c"].map(String::from);
        assert_eq!(listed(&words), "a, b and c");
        assert_eq!(listed(&words[..1]), "a");
    }
}
