//! One property: every step gives the outcome of a naive definition, with limits that force each
//! step. `tests/suite.rs`, `tests/random.rs` and others compare whole files with the oracle.

use zerocopy::little_endian::{U16, U32};

use crate::pattern::PatternList;
use crate::vectors::{Kind, Vectors, Work as VectorWork};

use super::*;

/// Matches a pattern's normal text by its definition.
fn defined(mut text: &[u8], mut path: &[u8]) -> bool {
    loop {
        match text {
            [] => return true,
            [b'$'] => return path.is_empty(),
            [b'*', rest @ ..] => return (0..=path.len()).any(|skip| defined(rest, &path[skip..])),
            [byte, rest @ ..] if path.first() == Some(byte) => (text, path) = (rest, &path[1..]),
            _ => return false,
        }
    }
}

fn words(alphabet: &[u8], length_max: usize) -> Vec<Vec<u8>> {
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

/// Limits under which automata walk, build, clear, scan, and build again after a scan.
fn all_limits() -> [Limits; 5] {
    let usual = Limits::default();
    let lazy = Limits { positions_per_byte: u64::MAX, ..usual };
    [
        usual,
        lazy,
        Limits { automata_bytes_max: 4_096, ..lazy },
        Limits { positions_per_byte: 1, ..usual },
        Limits { positions_per_byte: 0, ..usual },
    ]
}

/// A rule set in the representations of all steps.
pub(super) struct RuleSet {
    pub(super) patterns: PatternList,
    pub(super) outcomes: Vec<Outcome>,
    pub(super) lines: Vec<PrefilterLine>,
    table: Vec<U32>,
    texts: Vec<U16>,
}

impl RuleSet {
    pub(super) fn of(texts: &[&[u8]], outcomes: &[Outcome]) -> RuleSet {
        let mut patterns = PatternList::new();
        texts.iter().for_each(|text| patterns.push(text, true));
        let lines = build_prefilter(&patterns, outcomes);
        let (mut table, mut texts) = (Vec::new(), Vec::new());
        for (pattern, outcome) in patterns.iter().zip(outcomes) {
            table.push(table_word(texts.len(), outcome.allows()));
            push_text(&pattern, &mut texts);
        }
        RuleSet { patterns, outcomes: outcomes.to_vec(), lines, table, texts }
    }

    pub(super) fn patterns(&self) -> Patterns<'_, &[U16]> {
        Patterns { table: &self.table, texts: &self.texts }
    }

    /// Returns the outcome by the prefilter with a limit on entries; `None` if it does not decide
    /// the path. All kinds of vectors have to agree.
    pub(super) fn filter(&self, path: &[u8], entries_max: usize) -> Option<Outcome> {
        let (lines, patterns) = (&self.lines[..], self.patterns());
        let filter = |vectors: Vectors| vectors.run(Filter { lines, patterns, path, entries_max });
        let all: Vec<_> = Vectors::all().into_iter().map(filter).collect();
        assert!(all.iter().all(|it| *it == all[0]), "{:?}: {all:?}", bstr(path));
        all[0]
    }
}

/// All probes of a path, and the candidates that they leave.
pub(super) struct Filter<'l> {
    pub(super) lines: &'l [PrefilterLine],
    pub(super) patterns: Patterns<'l, &'l [U16]>,
    pub(super) path: &'l [u8],
    pub(super) entries_max: usize,
}

impl VectorWork for Filter<'_> {
    type Output = Option<Outcome>;

    fn with(self, probe: impl Kind) -> Option<Outcome> {
        let Filter { lines, patterns, path, mut entries_max } = self;
        let first = FirstProbe::of(lines, 0)?;
        let prefix_levels =
            if first.probe_prefixes(path)? { probe_prefixes(lines, 0, path, probe) } else { 0 };
        let literals = first.has_literals && probe_literals(lines, 0, path, probe);
        match (Found { prefix_levels, literals }) {
            Found { prefix_levels: 0, literals: false } => Some(first.otherwise),
            found => try_candidates((lines, 0), patterns, path, found, (&mut entries_max, probe)),
        }
    }
}

/// Returns both engines of regex-automata.
fn regex_engines(patterns: &PatternList, outcomes: &[Outcome]) -> [RegexEngine; 2] {
    [
        RegexEngine::dense(patterns, outcomes, 64 * 1024 * 1024).expect("a small table"),
        RegexEngine::lazy(patterns, outcomes).expect("few positions"),
    ]
}

fn bstr(bytes: &[u8]) -> &bstr::BStr {
    bstr::BStr::new(bytes)
}

/// Checks the property. Returns the number of paths that probes decided without candidates.
///
/// Candidates are numbered by position, so they are only compared if `outcomes` are too.
fn check(texts: &[&[u8]], outcomes: &[Outcome], paths: &[Vec<u8>]) -> usize {
    let rules = RuleSet::of(texts, outcomes);
    let are_places = (1..).zip(outcomes).all(|(number, outcome)| outcome.number() == number);
    let build = |limits| Automaton::new(rules.patterns.clone(), outcomes.to_vec(), &limits);
    let mut automata = all_limits().map(build);
    // Dense tables of more patterns get too large.
    let regex =
        if texts.len() > 50 { Vec::new() } else { regex_engines(&rules.patterns, outcomes).into() };
    let mut regex_caches: Vec<RegexCache> = regex.iter().map(|engine| engine.cache()).collect();
    let mut decided = 0;
    for path in paths {
        let first = texts.iter().position(|text| defined(text, path));
        let expected = first.map_or(Outcome::NONE, |index| outcomes[index]);
        let what = || {
            format!("{:?} on {:?}", texts.iter().map(|it| bstr(it)).collect::<Vec<_>>(), bstr(path))
        };
        for (automaton, limits) in automata.iter_mut().zip(all_limits()) {
            let verdict = automaton.decide(path, Detail::Reason);
            let outcome = automaton.decide(path, Detail::Rule);
            assert_eq!(
                (outcome, verdict == Outcome::NONE, verdict.allows()),
                (expected, expected == Outcome::NONE, expected.allows()),
                "{limits:?}: {}",
                what(),
            );
        }
        for (engine, cache) in regex.iter().zip(&mut regex_caches) {
            assert_eq!(engine.decide(path, cache), expected, "{engine:?}: {}", what());
        }
        if are_places {
            let filtered = [0, 1, usize::MAX].map(|entries_max| rules.filter(path, entries_max));
            for found in filtered.into_iter().flatten() {
                assert_eq!(found, expected, "prefilter: {}", what());
            }
            // Without a limit, candidates decide every path that starts with a slash.
            assert_eq!(filtered[2].is_some(), path.first() == Some(&b'/'), "{}", what());
            decided += usize::from(filtered[0].is_some());
        }
    }
    decided
}

#[test]
fn single_patterns() {
    let paths = words(b"a/b", 6);
    for text in words(b"a/*$", 5) {
        check(&[&text], &[Outcome::new(1, true)], &paths);
    }
}

#[test]
fn pairs_of_patterns() {
    let paths = words(b"a/b", 4);
    let texts = words(b"a/*$", 3);
    for one in &texts {
        for other in &texts {
            check(&[one, other], &[Outcome::new(1, true), Outcome::new(2, false)], &paths);
        }
    }
}

/// Patterns with all kinds of requirements, with prefixes and literals of many lengths.
pub(super) const PATTERNS: &[&[u8]] = &[
    b"/",
    b"",
    b"*",
    b"/$",
    b"$",
    b"/*$",
    b"a",
    b"/a",
    b"/ab",
    b"/ab$",
    b"/a*b",
    b"/a*b$",
    b"*a",
    b"*a$",
    b"/*a",
    b"/*ab",
    b"/*/ba",
    b"*/bab$",
    b"*/",
    b"/*b*a$",
    b"*ab*ba",
    b"/abbaabbaabbaabba",
    b"/abbaabbaabbaabbab$",
    b"/*abbaabbaab",
    b"*baab*/abba$",
    b"/b*",
    b"/aab",
    b"/*bb",
    b"/*/$",
];

/// Returns paths of three letters, short and long, and some with other bytes.
pub(super) fn odd_paths(length_max: usize) -> Vec<Vec<u8>> {
    let mut paths = words(b"ab/", length_max);
    let long =
        |path: &Vec<u8>| [b"/", &path[..], b"/abbaabbaabbaabba", path, b"abbaabbaab"].concat();
    let more: Vec<Vec<u8>> = paths.iter().step_by(17).map(long).collect();
    let repeated = paths.iter().step_by(19).map(|path| [b"/", &path[..]].concat().repeat(9));
    let repeated: Vec<Vec<u8>> = repeated.collect();
    paths.extend(more.into_iter().chain(repeated));
    paths.extend([&b"/a\0b"[..], b"/\0", b"/ab\xff", b"/a\0"].map(<[u8]>::to_vec));
    paths
}

#[test]
fn prefixes_and_literals() {
    let paths = odd_paths(5);
    let (mut decided, mut asked) = (0, 0);
    for one in PATTERNS {
        for two in PATTERNS {
            decided += check(&[one, two], &[Outcome::new(1, true), Outcome::new(2, false)], &paths);
            asked += paths.len();
        }
    }
    // Paths of two letters match most of these patterns.
    assert!(decided * 4 > asked, "{decided} of {asked}");
    let outcomes = (1..=22).map(|number| Outcome::new(number, number % 2 == 0));
    let outcomes: Vec<Outcome> = outcomes.collect();
    assert!(check(&PATTERNS[7..], &outcomes, &paths) > 0);
}

/// Many patterns that share prefixes or have none, and paths that nearly match.
#[test]
fn many_patterns() {
    let text = |number: usize| match number % 50 {
        7 => format!("/s{}/*w{number}z$", number % 3),
        11 => format!("/s/*/x{number}"),
        13 => format!("/shared/{number}*"),
        17..30 => format!("/*x{number}/*y{}z", number % 7),
        _ => format!("/shared{}/*w{:x}-{number}", number % 3, number % 97),
    };
    for count in [5, 20, 600] {
        let texts: Vec<Vec<u8>> = (0..count).map(|number| text(number).into_bytes()).collect();
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        let outcomes = (1..=count as u32).map(|number| Outcome::new(number, number % 2 == 0));
        let mut paths = Vec::new();
        for number in (0..count).step_by(count / 5) {
            let hit = bstr(texts[number]).to_string().replace('*', "a/b-").replace('$', "");
            paths.extend(["/shared0/", "/shared", "/s", "/s/"].map(|it| format!("{it}{hit}")));
            paths.extend([format!("{hit}0"), hit.replace("shared", "s"), hit]);
        }
        let paths: Vec<Vec<u8>> = paths.into_iter().map(String::into_bytes).collect();
        check(&texts, &outcomes.collect::<Vec<_>>(), &paths);
    }
}

#[test]
fn seeded_random_sets() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as usize % bound
    };
    for _ in 0..2_000 {
        let mut word = |alphabet: &[u8], length_max: usize| -> Vec<u8> {
            let length = random(length_max + 1);
            (0..length).map(|_| alphabet[random(alphabet.len())]).collect()
        };
        let texts: Vec<Vec<u8>> = (0..12).map(|_| word(b"aab/**$", 9)).collect();
        let paths: Vec<Vec<u8>> = (0..60).map(|_| word(b"aab/", 14)).collect();
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        let named: Vec<Outcome> =
            (1..=12).map(|number| Outcome::new(number, number % 3 == 0)).collect();
        let verdicts: Vec<Outcome> =
            (0..12).map(|index| Outcome::new(1 + index % 2, index % 2 == 0)).collect();
        check(&texts, &named, &paths);
        check(&texts, &verdicts, &paths);
    }
}

#[test]
fn a_dense_table_has_a_limit() {
    let mut patterns = PatternList::new();
    patterns.push(b"/*a/*b/*c/*d", true);
    let outcomes = [Outcome::new(1, false)];
    let error = RegexEngine::dense(&patterns, &outcomes, 64).expect_err("64 bytes are too few");
    assert!(error.to_string().contains("raise the size limit"), "{error}");
    assert!(RegexEngine::dense(&patterns, &outcomes, 1 << 20).is_ok());
}

#[test]
fn no_patterns() {
    check(&[], &[], &words(b"a/", 3));
}

#[test]
fn literals_longer_than_a_node() {
    for length in program::RUN_BYTES_MAX - 1..=program::RUN_BYTES_MAX + 2 {
        let literal = vec![b'a'; length];
        let texts = [&[b"/", &literal[..]].concat()[..], &[b"*b", &literal[..]].concat()];
        let shorter = &literal[1..];
        let paths =
            [texts[0], &texts[1][1..], &[b"/", shorter].concat(), &[b"b", shorter].concat()];
        check(
            &texts,
            &[1, 2].map(|number| Outcome::new(number, number == 1)),
            &paths.map(<[u8]>::to_vec),
        );
    }
}
