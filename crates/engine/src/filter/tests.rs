use std::collections::BTreeSet;

use crate::block::{Block, BlockMemory, Start};
use crate::limits::{CANDIDATES_TRIED_MAX, Settings};
use crate::tests::{PATTERNS, filter, odd_paths, rule_set};
use crate::vectors::{Kind, Vectors, Work};

use super::required::SHARED_PREFIX_MAX;
use super::*;

#[test]
fn too_many_candidates_are_no_answer() {
    let texts: Vec<Vec<u8>> =
        (0..200).map(|number| format!("/same-beginning-of-all-{number:03}").into_bytes()).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
    let rules = rule_set(&texts, false);
    let sift = |path: &[u8]| filter(rules.as_rule_set(), path, CANDIDATES_TRIED_MAX);
    assert_eq!(sift(b"/same-beginning-of-all-150"), None);
    assert_eq!(sift(b"/other"), Some(Outcome::NONE));
    let few = rule_set(texts.get(..CANDIDATES_TRIED_MAX).unwrap(), false);
    let few = few.as_rule_set();
    let found = filter(few, b"/same-beginning-of-all-005", CANDIDATES_TRIED_MAX);
    assert_eq!(found, few.get(5).map(|(outcome, _)| outcome));
}

/// Patterns that share a prefix and differ after a star are told apart by what is after it, with short
/// literals at the end of a path too.
#[test]
fn patterns_that_share_a_prefix_are_few_candidates() {
    for rule_count in [SHARED_PREFIX_MAX + 1, 5_000] {
        let texts: Vec<String> =
            (0..rule_count).map(|rule| format!("/shop/*w{:x}{rule}/", rule * rule % 997)).collect();
        let texts_of: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let rules = rule_set(&texts_of, false);
        let rules = rules.as_rule_set();
        for (place, text) in texts.iter().enumerate().step_by(7) {
            for (path, misses) in [(text.clone(), false), (format!("/zz{text}"), true)] {
                let found = filter(rules, path.as_bytes(), CANDIDATES_TRIED_MAX);
                let expected = rules.get(place).map(|(outcome, _)| outcome).filter(|_| !misses);
                assert_eq!(found, Some(expected.unwrap_or(Outcome::NONE)), "{path}");
            }
        }
    }
}

/// No changed byte makes a step panic.
#[test]
fn damaged_lines_do_no_harm() {
    let rules = rule_set(PATTERNS, false);
    let paths: Vec<Vec<u8>> = odd_paths(6).into_iter().step_by(31).collect();
    let paths: Vec<&[u8]> = paths.iter().map(|path| &path[..]).collect();
    let starts = vec![Start::at(0).unwrap(); paths.len()];
    for byte in 0..rules.as_bytes().len() {
        for changed in [0x00, 0x01, 0x80, 0xff] {
            let mut lines = rules.as_lines().to_vec();
            lines.as_mut_bytes()[byte] ^= changed;
            for vectors in Vectors::all() {
                let settings = &Settings { vectors, ..Settings::default() };
                let block = Block { lines: &lines, starts: &starts, paths: &paths, settings };
                BlockMemory::default().query(block);
            }
        }
    }
}

/// The positions in a path where a literal of a rule set may occur.
struct Positions<'l> {
    lines: &'l [Line],
    path: &'l [u8],
}

impl Work for Positions<'_> {
    type Output = BTreeSet<usize>;

    fn with(self, kind: impl Kind) -> BTreeSet<usize> {
        let Positions { lines, path } = self;
        let line = Head::of(lines).and_then(|head| head.triples(lines)).unwrap();
        let places = teddy::Places::from(0, line, path, kind).passing(lines, path, kind);
        let rests = teddy::Rests { lines, path, places, kind };
        rests.map(|rest| self.path.len() - rest.len()).collect()
    }
}

#[test]
fn triples_are_found_with_all_vectors() {
    let pairs = [
        "?x", "ab", "/q", "=", "z$", ".p", "~~", "-1", "A_", "%C", "Q=", "&b", "?pa", "gin/",
        "\u{e9}x", "/a$",
    ];
    let texts: Vec<String> = pairs.iter().map(|pair| format!("/*{pair}")).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let rules = rule_set(&texts, false);
    let lines = rules.as_lines();
    let mut path = b"/".to_vec();
    for number in 0..70_u8 {
        path.push(b'c' + number % 5);
        for pair in pairs {
            let pair = pair.trim_end_matches('$').as_bytes();
            let path = [&path[..], pair].concat();
            let place = path.len() - pair.len();
            let found = |vectors: Vectors| vectors.run(Positions { lines, path: &path });
            let all: Vec<_> = Vectors::all().into_iter().map(found).collect();
            assert!(all.iter().all(|it| *it == all[0]), "{}: {all:?}", bstr::BStr::new(&path));
            // A pattern may require a suffix.
            assert!(all[0].range(place..).next().is_some(), "{}", bstr::BStr::new(&path));
        }
    }
}
