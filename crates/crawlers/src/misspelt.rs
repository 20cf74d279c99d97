//! Names that are nearly those of known crawlers.

use std::cmp::Reverse;
use std::iter;

use crate::names;

/// The length of the shortest name that is compared.
const BYTES_MIN: usize = 4;

/// Returns the name, of the known crawlers and of `others`, that is nearest to an unknown token; `None` if
/// the token is known, or none is near.
///
/// The name may be another crawler's: ask about it, and do not rely on it.
pub fn nearest<'n>(token: &str, others: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if token.len() < BYTES_MIN || is_known(token) {
        return None;
    }
    let token = token.to_ascii_lowercase();
    let distance_max = (token.len() / 4).min(2);
    let distance = |name: &str| {
        let is_short_for = || name.to_ascii_lowercase().strip_suffix("bot") == Some(&token);
        if is_short_for() {
            return Some(0);
        }
        let is_near = name.len().abs_diff(token.len()) <= distance_max;
        let distance = is_near.then(|| strsim::osa_distance(&name.to_ascii_lowercase(), &token))?;
        (distance <= distance_max).then_some(distance)
    };
    // Of equally near names, those of known crawlers are better known and capitalized.
    let others = others.map(|name| (false, name));
    let candidates = names().map(|name| (true, name)).chain(others);
    let near =
        candidates.filter_map(|(is_ours, name)| Some((distance(name)?, Reverse(is_ours), name)));
    near.min().map(|(.., name)| name)
}

/// Returns the known crawler of which an unknown token is a misspelling, nearly always: it differs in hyphens
/// and underscores alone, in two letters that are swapped, or in one letter of a long name.
///
/// Most names that [`nearest`] finds near in real files are those of other crawlers.
pub fn misspelt(token: &str) -> Option<&'static str> {
    if token.len() < BYTES_MIN || is_known(token) {
        return None;
    }
    names().find(|name| is_misspelling(token.as_bytes(), name.as_bytes()))
}

fn is_known(token: &str) -> bool {
    names().any(|name| name.eq_ignore_ascii_case(token))
}

fn is_misspelling(token: &[u8], name: &[u8]) -> bool {
    /// Shorter names differ by a letter from those of other crawlers: `XingBot` is not Bingbot.
    const NAME_BYTES_MIN: usize = 8;
    /// Shorter words tell the crawlers of one operator apart: `SemrushBot-SA`, `SemrushBot-SWA`.
    const WORD_BYTES_MIN: usize = 4;
    if token.len().abs_diff(name.len()) > 2 {
        return false;
    }
    if letters(token).eq(letters(name)) {
        return true;
    }
    let is_same = |(one, other): &(&u8, &u8)| one.eq_ignore_ascii_case(other);
    let start = iter::zip(token, name).take_while(is_same).count();
    let [token_rest, name_rest] = [&token[start..], &name[start..]];
    let ends = iter::zip(token_rest.iter().rev(), name_rest.iter().rev());
    let end = ends.take_while(is_same).count();
    let changed = [token_rest, name_rest].map(|rest| &rest[..rest.len() - end]);
    let before = name[..start].iter().rev().take_while(|&&byte| byte != b'-').count();
    let after = name[start..].iter().take_while(|&&byte| byte != b'-').count();
    match changed {
        [[a, b], [c, d]] => a.eq_ignore_ascii_case(d) && b.eq_ignore_ascii_case(c),
        [one, other] => {
            one.len().max(other.len()) == 1
                && token.len().min(name.len()) >= NAME_BYTES_MIN
                && before + after >= WORD_BYTES_MIN
        }
    }
}

fn letters(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter().filter(|byte| !b"-_".contains(byte)).map(u8::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names() {
        let rows = [
            ("Googelbot", Some("Googlebot")),
            ("GTPBot", Some("GPTBot")),
            ("GPT-Bot", Some("GPTBot")),
            ("Bing-bot", Some("Bingbot")),
            ("GoogleExtended", Some("Google-Extended")),
            ("acebookexternalhit", Some("facebookexternalhit")),
            ("OmigiliBot", Some("omgilibot")),
            ("ClaudBot", Some("ClaudeBot")),
            ("googlebot", None),
            ("SemrushBot-SA", None),
            ("XingBot", None),
            ("NPBot", None),
            ("NaverBot", None),
            ("Jooblebot", None),
            ("GPT", None),
        ];
        for (token, expected) in rows {
            assert_eq!(misspelt(token), expected, "{token}");
        }
    }

    #[test]
    fn the_nearest_name() {
        let nearest = |token| nearest(token, ["ExampleBot", "gpt-bod"].into_iter());
        assert_eq!(nearest("exampelbot"), Some("ExampleBot"));
        assert_eq!(nearest("gptbod"), Some("GPTBot"));
        assert_eq!(nearest("GPTBot"), None);
        assert_eq!(nearest("nobody"), None);
    }
}
