//! Compares rule analyses with brute force: all small rule sets, where the oracle decides all small
//! paths.

use bstr::ByteSlice;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::Dialect;
use portcullis_lint::analysis::{Budget, Rules, equivalence};
use portcullis_oracle as oracle;
use portcullis_robots::syntax::RobotsTxt;
use portcullis_testkit::{Random, words};
use rayon::prelude::*;

/// The agent; no file names it.
pub const AGENT: &str = "ExampleBot";

pub fn file(rules: &[(bool, &[u8])]) -> Vec<u8> {
    let mut text = b"User-agent: *\n".to_vec();
    for (allows, pattern) in rules {
        let field: &[u8] = if *allows { b"Allow: " } else { b"Disallow: " };
        text.extend([field, pattern, b"\n"].concat());
    }
    text
}

/// Returns the rules of a file with one group.
pub fn rules(text: &[u8], dialect: &'static Dialect) -> Rules {
    let file = RobotsTxt::parse(text, dialect, None);
    let groups: &[usize] = if file.groups().is_empty() { &[] } else { &[0] };
    Rules::new(&file, groups, &dialect.paths)
}

fn judged(dialect: &Dialect, text: &[u8], url: &[u8]) -> Verdict {
    oracle::decide(dialect, text, None, &[AGENT], url).verdict
}

/// Returns the URL with this path. A `#` follows white space at the end, which otherwise would not be part
/// of the URL.
pub fn url_of(path: &[u8]) -> Vec<u8> {
    let end: &[u8] =
        if path.last().is_some_and(|byte| b" \t\r".contains(byte)) { b"#" } else { b"" };
    [b"https://example.com", path, end].concat()
}

/// A side of a comparison.
struct Side<'s> {
    dialect: &'static Dialect,
    text: Vec<u8>,
    /// The verdict on each URL.
    verdicts: Vec<Verdict>,
    path_bytes: Vec<usize>,
    rules: Rules,
    urls: &'s [Vec<u8>],
}

impl<'s> Side<'s> {
    fn new(dialect: &'static Dialect, text: Vec<u8>, urls: &'s [Vec<u8>]) -> Side<'s> {
        let judge = oracle::Judge::new(dialect, &text, None, &[AGENT]);
        let verdicts = urls.iter().map(|url| judge.decide(url).verdict).collect();
        let path_bytes = urls.iter().map(|url| path_bytes(dialect, url)).collect();
        let rules = rules(&text, dialect);
        Side { dialect, text, verdicts, path_bytes, rules, urls }
    }
}

/// Compares the answer for two files with the verdicts on all small URLs.
#[track_caller]
fn compare(one: &Side<'_>, two: &Side<'_>) {
    let answer = equivalence(&one.rules, &two.rules, &mut Budget::default());
    let shown = || {
        format!(
            "{} {}\n{}\n{}\n{answer:?}",
            one.dialect.name,
            two.dialect.name,
            one.text.as_bstr(),
            two.text.as_bstr()
        )
    };
    // The shortest URL that the first side allows and the second does not, and vice versa.
    let shortest = |allowed: &Side<'_>, other: &Side<'_>| {
        let differs = |&index: &usize| {
            allowed.verdicts[index] == Verdict::Allow && other.verdicts[index] != Verdict::Allow
        };
        (0..one.urls.len()).filter(differs).map(|index| one.path_bytes[index]).min()
    };
    let [found_first, found_second] = &answer;
    for (found, allowed, other) in [(found_first, one, two), (found_second, two, one)] {
        let shortest = shortest(allowed, other);
        match found {
            Ok(Some(example)) => {
                let url = url_of(example);
                assert_eq!(
                    judged(allowed.dialect, &allowed.text, &url),
                    Verdict::Allow,
                    "{}",
                    shown()
                );
                assert_eq!(
                    judged(other.dialect, &other.text, &url),
                    Verdict::Disallow,
                    "{}",
                    shown()
                );
                let bytes = path_bytes(one.dialect, &url);
                assert!(
                    shortest.is_none_or(|shortest| bytes <= shortest),
                    "{} {shortest:?}",
                    shown()
                );
            }
            Ok(None) => assert_eq!(shortest, None, "{}", shown()),
            Err(_) => panic!("{}", shown()),
        }
    }
}

/// Compares each side with itself and the `others` that follow it. One comparison asks for differences
/// in both directions.
fn compare_pairs(sides: &[Side<'_>], others: usize) {
    let places = (0..sides.len()).into_par_iter();
    places.for_each(|at| {
        sides[at..].iter().take(others + 1).for_each(|other| compare(&sides[at], other));
    });
}

/// Returns the length of the path that is compared.
fn path_bytes(dialect: &Dialect, url: &[u8]) -> usize {
    oracle::compared_path(dialect, url).unwrap().len()
}

/// Returns URLs with all paths over `alphabet` up to a length, after a slash.
pub fn urls(alphabet: &[u8], length_max: usize) -> Vec<Vec<u8>> {
    let url = |path: Vec<u8>| [b"https://example.com/", &path[..]].concat();
    words(alphabet, length_max).into_iter().map(url).collect()
}

/// Returns all rule sets of up to `count` rules with these patterns.
fn rule_sets(patterns: &[Vec<u8>], count: usize) -> Vec<Vec<(bool, &[u8])>> {
    let mut sets: Vec<Vec<(bool, &[u8])>> = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..count {
        let end = sets.len();
        for index in start..end {
            for pattern in patterns {
                for allows in [false, true] {
                    let mut longer = sets[index].clone();
                    longer.push((allows, pattern));
                    sets.push(longer);
                }
            }
        }
        start = end;
    }
    sets
}

#[test]
fn equivalence_of_small_rule_sets() {
    let patterns: Vec<Vec<u8>> =
        words(b"/a*$", 3).into_iter().filter(|pattern| !pattern.is_empty()).collect();
    let urls = urls(b"/ab", 4);
    for dialect in Dialect::ALL {
        let sides: Vec<Side<'_>> = rule_sets(&patterns, 1)
            .iter()
            .map(|rules| Side::new(dialect, file(rules), &urls))
            .collect();
        compare_pairs(&sides, sides.len());
        let mut random = Random::new(1);
        let pairs = rule_sets(&patterns, 2);
        let chosen: Vec<_> = (0..400)
            .map(|_| {
                let mut rules = random.pick(&pairs).clone();
                if random.one_in(2) {
                    rules.push((random.one_in(2), &random.pick(&patterns)[..]));
                }
                Side::new(dialect, file(&rules), &urls)
            })
            .collect();
        compare_pairs(&chosen, 100);
    }
}

#[test]
fn equivalence_across_dialects() {
    let patterns = words(b"/a*$%4", 3);
    let urls = urls(b"/a%41*", 4);
    let mut random = Random::new(2);
    for one in Dialect::ALL {
        for two in Dialect::ALL {
            if one.paths.escapes != two.paths.escapes {
                continue;
            }
            let mut side = |dialect| -> Vec<Side<'_>> {
                (0..40)
                    .map(|_| {
                        let count = random.within(1..=2);
                        let rules: Vec<(bool, Vec<u8>)> = (0..count)
                            .map(|_| {
                                let tail = random.pick(&patterns).clone();
                                let slash: &[u8] = if random.one_in(8) { b"" } else { b"/" };
                                (random.one_in(3), [slash, &tail].concat())
                            })
                            .collect();
                        let rules: Vec<_> =
                            rules.iter().map(|(allows, pattern)| (*allows, &pattern[..])).collect();
                        Side::new(dialect, file(&rules), &urls)
                    })
                    .collect()
            };
            let (ones, twos) = (side(one), side(two));
            ones.par_iter().for_each(|one| twos.iter().for_each(|two| compare(one, two)));
        }
    }
}
