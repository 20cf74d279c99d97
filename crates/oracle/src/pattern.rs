//! The normal form of paths and patterns, and pattern matching.
//!
//! A pattern in normal form is text, so its length is what precedence counts. In dialects with
//! wildcards every `*` is a wildcard and a final `$` is the anchor: [`Escapes::Uri`] escapes
//! literal ones, and [`Escapes::Google`] has no literal `*` and no literal `$` at the end.

use portcullis_dialect::{Escapes, PathRules, UnrootedPattern};

const UNRESERVED: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";

/// Returns the normal form of a path, or of a wildcard-free part of a pattern.
pub(super) fn normalise(text: &[u8], escapes: Escapes) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        match triplet_value(rest) {
            Some(value) => {
                out.extend(normal_triplet(&rest[..3], value, escapes));
                rest = &rest[3..];
            }
            None => {
                out.extend(normal_byte(*byte, escapes));
                rest = after;
            }
        }
    }
    out
}

/// Returns the value of the percent triplet at the start of `text`, or `None` if there is none.
fn triplet_value(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"%")?.get(..2)?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn normal_triplet(triplet: &[u8], value: u8, escapes: Escapes) -> Vec<u8> {
    let decoded = match escapes {
        Escapes::AsWritten => return triplet.to_vec(),
        Escapes::Decoded => value != b'/',
        Escapes::Uri => UNRESERVED.contains(&value),
        Escapes::Google => false,
    };
    if decoded { vec![value] } else { escaped(value) }
}

fn normal_byte(byte: u8, escapes: Escapes) -> Vec<u8> {
    let kept = match escapes {
        Escapes::AsWritten | Escapes::Decoded => true,
        Escapes::Google => byte.is_ascii(),
        Escapes::Uri => {
            byte == b'%'
                || UNRESERVED.contains(&byte)
                || (RESERVED.contains(&byte) && !b"*$".contains(&byte))
        }
    };
    if kept { vec![byte] } else { escaped(byte) }
}

fn escaped(byte: u8) -> Vec<u8> {
    format!("%{byte:02X}").into_bytes()
}

/// Returns the normal form of a pattern as written.
pub(super) fn normal_form(rules: &PathRules, written: &[u8]) -> Vec<u8> {
    let lacks_root = !written.is_empty() && !is_rooted(written);
    let root: &[u8] = match rules.unrooted {
        UnrootedPattern::SlashPrepended if lacks_root => b"/",
        UnrootedPattern::SlashPrepended | UnrootedPattern::NeverMatches => b"",
    };
    let rooted = [root, written].concat();
    if !rules.wildcards {
        return normalise(&rooted, rules.escapes);
    }
    let (body, anchor) = split_anchor(&rooted);
    let literals: Vec<Vec<u8>> =
        body.split(|&byte| byte == b'*').map(|literal| normalise(literal, rules.escapes)).collect();
    [&literals.join(&b'*'), anchor].concat()
}

fn is_rooted(pattern: &[u8]) -> bool {
    pattern.starts_with(b"/") || pattern.starts_with(b"*")
}

/// Splits the final `$` off a pattern, if there is one.
fn split_anchor(pattern: &[u8]) -> (&[u8], &[u8]) {
    let anchor_bytes = usize::from(pattern.ends_with(b"$"));
    pattern.split_at(pattern.len() - anchor_bytes)
}

/// Returns whether a pattern in normal form matches a path in normal form.
pub(super) fn matches(rules: &PathRules, pattern: &[u8], path: &[u8]) -> bool {
    let never = rules.unrooted == UnrootedPattern::NeverMatches && !is_rooted(pattern);
    if never || pattern.is_empty() {
        return false;
    }
    if !rules.wildcards {
        return path.starts_with(pattern);
    }
    let (pattern, anchor) = split_anchor(pattern);
    let lengths = lengths_matched(pattern, path);
    if anchor.is_empty() { !lengths.is_empty() } else { lengths.contains(&path.len()) }
}

/// Returns the length of each prefix of `path` that `pattern` matches exactly.
fn lengths_matched(pattern: &[u8], path: &[u8]) -> Vec<usize> {
    let mut lengths = vec![0];
    for wanted in pattern {
        if *wanted == b'*' {
            let Some(shortest) = lengths.into_iter().min() else { return Vec::new() };
            lengths = (shortest..=path.len()).collect();
        } else {
            lengths.retain(|&length| path.get(length) == Some(wanted));
            lengths.iter_mut().for_each(|length| *length += 1);
        }
    }
    lengths
}

/// Returns the pattern for the directory of an index page, such as `/a/$` for `/a/index.html`, or
/// `None` if `pattern` does not name an index page.
pub(super) fn index_page_directory(pattern: &[u8]) -> Option<Vec<u8>> {
    let slash = pattern.iter().rposition(|&byte| byte == b'/')?;
    let (directory, page) = pattern.split_at(slash + 1);
    page.starts_with(b"index.htm").then(|| [directory, b"$"].concat())
}
