//! Compares normal forms of paths and patterns, and matches of single patterns, with the oracle.

use portcullis_dialect::dialect::{Dialect, Escapes, UnrootedPattern};
use portcullis_engine::bytes::percent_triplet;
use portcullis_engine::pattern::PatternList;
use portcullis_engine::{Cache, Limits, Outcome, RuleSetBuf, Settings};
use portcullis_oracle as oracle;
use portcullis_robots::url::{compared_path, normal_text, normalise as normal_form, split};

use crate::head;
use portcullis_testkit::configurations;

/// The most bytes of a pattern and of a path, because the oracle's work is their product.
const BYTES_MAX: usize = 256;

/// Checks an input: a dialect, a pattern, LF, and a path.
///
/// # Panics
///
/// If a normal form changes when it is normalised again, or path or match differ from the oracle's.
pub fn normalise(data: &[u8]) {
    let Some((dialect, rest)) = head::dialect(data) else { return };
    let Some((pattern, path)) = head::line(rest) else { return };
    let pattern = &pattern[..pattern.len().min(BYTES_MAX)];
    let path = &path[..path.len().min(BYTES_MAX)];
    for text in [pattern, path] {
        check_stays(text, dialect.paths.escapes);
    }
    let Some(path) = check_path(dialect, path) else { return };
    check_pattern(dialect, pattern, &path);
    // A path made from the pattern, so that matches are more frequent than by chance.
    let spelt_out: Vec<u8> = pattern.iter().filter(|&&byte| byte != b'*').copied().collect();
    if let Some(path) = check_path(dialect, spelt_out.strip_suffix(b"$").unwrap_or(&spelt_out)) {
        check_pattern(dialect, pattern, &path);
    }
}

/// Checks that a normal form is its own normal form, unless decoding creates a new triplet: `%2541`
/// becomes `%41` with [`Escapes::Decoded`], and so does `%%341` with [`Escapes::Uri`]. This is
/// harmless, because both sides of a comparison are normalised exactly once.
fn check_stays(text: &[u8], escapes: Escapes) {
    let (mut first, mut second) = (Vec::new(), b"left over".to_vec());
    let once = normal_form(text, escapes, &mut first);
    let twice = normal_form(once, escapes, &mut second);
    match escapes {
        Escapes::Decoded => assert!(once.len() <= text.len()),
        Escapes::AsWritten => assert_eq!(once, text),
        Escapes::Uri if has_stray_percent(text) => {}
        Escapes::Uri | Escapes::Google => {
            assert_eq!(twice, once);
            // A text with escapes may be copied, because its form is only known after writing it.
            assert!(once.contains(&b'%') || std::ptr::eq(twice, once), "copied without need");
        }
    }
    if escapes == Escapes::Uri {
        assert!(once.iter().all(|byte| byte.is_ascii_graphic() && !b"*$".contains(byte)));
    }
}

/// Whether `text` has a `%` that starts no triplet.
fn has_stray_percent(text: &[u8]) -> bool {
    let mut percents = (0..text.len()).filter(|&position| text[position] == b'%');
    percents.any(|position| percent_triplet(&text[position..]).is_none())
}

/// Returns the normal form of `path` on an origin, after comparing it with the oracle's.
fn check_path(dialect: &Dialect, path: &[u8]) -> Option<Vec<u8>> {
    let starts = path.is_empty() || b"/?#".contains(&path[0]);
    if !starts {
        return None;
    }
    let url = [b"https://example.com", path].concat();
    let judged = oracle::compared_path(dialect, &url);
    let Ok(split) = split(&url, dialect.paths.path_start) else {
        assert_eq!(judged, None, "{} {url:?}", dialect.name);
        return None;
    };
    let mut scratch = b"left over".to_vec();
    let compared = compared_path(split.path, dialect.paths.escapes, &mut scratch);
    assert_eq!(judged.as_deref(), Some(compared), "{} {url:?}", dialect.name);
    assert_eq!(compared[0], b'/');
    judged
}

/// Checks that every way to match `pattern` and `path`, in normal form, agrees with the oracle.
fn check_pattern(dialect: &Dialect, pattern: &[u8], path: &[u8]) {
    let judged = oracle::pattern_matches(dialect, pattern, path);
    let mut text = Vec::new();
    if !normal_text(pattern, &dialect.paths, &mut text) {
        assert!(!judged, "{} {pattern:?} matches {path:?}", dialect.name);
        return;
    }
    assert!(dialect.paths.unrooted == UnrootedPattern::NeverMatches || text[0] == b'/');
    let mut patterns = PatternList::new();
    patterns.push(&text, dialect.paths.wildcards);
    let matches = patterns.get(0).matches(path);
    assert_eq!(matches, judged, "{} {pattern:?} {path:?}", dialect.name);
    for limits in configurations().map(|configuration| configuration.limits) {
        let matches = automaton_matches(patterns.clone(), path, &limits);
        assert_eq!(matches, judged, "{} {pattern:?} {path:?} {limits:?}", dialect.name);
    }
}

fn automaton_matches(patterns: PatternList, path: &[u8], limits: &Limits) -> bool {
    let rules = RuleSetBuf::new(&patterns, |_| true);
    let settings = Settings { limits: *limits, ..Settings::default() };
    let mut cache = Cache::default();
    let mut decide = || rules.as_rule_set().decide(path, &settings, &mut cache);
    let first = decide();
    assert_eq!(decide(), first, "an answer stays");
    first != Outcome::NONE
}
