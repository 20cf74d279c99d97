//! One property: every step gives the outcome of a naive definition, with limits that force each
//! step. `tests/suite` and `tests/oracle` compare whole files with the oracle.

use portcullis_testkit::{Random, words};

use crate::block::{Block, BlockMemory, Start};
use crate::candidates::{Found, try_candidates};
use crate::filter::head::{Open, first_probe};
use crate::pattern::PatternList;
use crate::scan::Scanner;
use crate::vectors::{Kind, Vectors, Work as VectorWork};
use crate::{Cache, LazyDfa, Limits, Outcome, RuleSet, RuleSetBuf, Settings};

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

/// Limits under which all steps answer, then only DFAs, then only scans; and those under which automata
/// are built and dropped.
fn all_settings() -> [Settings; 4] {
    let usual = Limits::default();
    let dfa = Limits { candidates_tried_max: None, dfa_bytes_queried_min: 0, ..usual };
    [
        usual,
        dfa,
        Limits { dfa_pattern_bytes_max: 0, ..dfa },
        Limits { candidates_tried_max: Some(1), dfa_bytes_queried_min: 1, ..usual },
    ]
    .map(|limits| Settings { limits, ..Settings::default() })
}

/// Returns the rule set of these patterns, every other one of which allows, the first one first if
/// `first_allows`.
pub(super) fn rule_set(texts: &[&[u8]], first_allows: bool) -> RuleSetBuf {
    let mut patterns = PatternList::new();
    texts.iter().for_each(|text| patterns.push(text, true));
    RuleSetBuf::new(&patterns, |index| index.is_multiple_of(2) == first_allows)
}

/// Returns the outcome by the prefilter with a limit on entries; `None` if it does not decide the
/// path. All kinds of vectors have to agree.
pub(super) fn filter(rules: RuleSet<'_>, path: &[u8], entries_max: usize) -> Option<Outcome> {
    let filter = |vectors: Vectors| vectors.run(AskFilter { rules, path, entries_max });
    let all: Vec<_> = Vectors::all().into_iter().map(filter).collect();
    assert!(all.iter().all(|it| *it == all[0]), "{:?}: {all:?}", bstr(path));
    all[0]
}

/// All probes of a path, and the candidates that they leave.
struct AskFilter<'l> {
    rules: RuleSet<'l>,
    path: &'l [u8],
    entries_max: usize,
}

impl VectorWork for AskFilter<'_> {
    type Output = Option<Outcome>;

    fn with(self, probe: impl Kind) -> Option<Outcome> {
        let AskFilter { rules, path, mut entries_max } = self;
        match first_probe(rules.lines(), 0, path) {
            (_, Open::ALL) => None,
            (otherwise, open) if !open.any() => Some(otherwise),
            (otherwise, open) => {
                let found = Found::new(rules.lines(), path, open, probe);
                let best = match found.open {
                    Open::ALL => None,
                    _ => try_candidates(rules.lines(), path, &found, &mut entries_max, probe),
                };
                Some(best?.unwrap_or(otherwise))
            }
        }
    }
}

fn bstr(bytes: &[u8]) -> &bstr::BStr {
    bstr::BStr::new(bytes)
}

/// Checks the property. Returns the number of paths that probes decided without candidates.
fn check(texts: &[&[u8]], first_allows: bool, paths: &[Vec<u8>]) -> usize {
    let stored = rule_set(texts, first_allows);
    let rules = RuleSet::from_bytes(stored.as_bytes()).expect("what was built");
    assert_eq!(rules.iter().count(), texts.len());
    let mut caches = all_settings().map(|settings| (settings, Cache::default()));
    let patterns = || rules.iter().map(|(_, pattern)| pattern);
    let mut dfa = LazyDfa::new(patterns()).expect("few positions");
    let mut scanner = Scanner::new(patterns());
    let mut decided = 0;
    for path in paths {
        let first = texts.iter().position(|text| defined(text, path));
        let expected = rules.outcome(first);
        let what = || {
            format!("{:?} on {:?}", texts.iter().map(|it| bstr(it)).collect::<Vec<_>>(), bstr(path))
        };
        for (settings, cache) in &mut caches {
            let decided = rules.decide(path, settings, cache);
            assert_eq!(decided, expected, "{settings:?}: {}", what());
        }
        assert_eq!(rules.first_match(path), first, "one by one: {}", what());
        assert_eq!(scanner.first_match(path).0, first, "scan: {}", what());
        if let Ok(found) = dfa.first_match(path) {
            assert_eq!(found, first, "lazy DFA: {}", what());
        }
        let filtered = [0, 1, usize::MAX].map(|entries_max| filter(rules, path, entries_max));
        for found in filtered.into_iter().flatten() {
            assert_eq!(found, expected, "prefilter: {}", what());
        }
        // Without a limit, candidates decide every path that starts with a slash.
        assert_eq!(filtered[2].is_some(), path.first() == Some(&b'/'), "{}", what());
        decided += usize::from(filtered[0].is_some());
    }
    decided
}

#[test]
fn single_patterns() {
    let paths = words(b"a/b", 6);
    for text in words(b"a/*$", 5) {
        check(&[&text], true, &paths);
    }
}

#[test]
fn pairs_of_patterns() {
    let paths = words(b"a/b", 4);
    let texts = words(b"a/*$", 3);
    for one in &texts {
        for other in &texts {
            check(&[one, other], true, &paths);
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
            decided += check(&[one, two], true, &paths);
            asked += paths.len();
        }
    }
    // Paths of two letters match most of these patterns.
    assert!(decided * 4 > asked, "{decided} of {asked}");
    assert!(check(&PATTERNS[7..], false, &paths) > 0);
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
        let mut paths = Vec::new();
        for number in (0..count).step_by(count / 5) {
            let hit = bstr(texts[number]).to_string().replace('*', "a/b-").replace('$', "");
            paths.extend(["/shared0/", "/shared", "/s", "/s/"].map(|it| format!("{it}{hit}")));
            paths.extend([format!("{hit}0"), hit.replace("shared", "s"), hit]);
        }
        let paths: Vec<Vec<u8>> = paths.into_iter().map(String::into_bytes).collect();
        check(&texts, false, &paths);
    }
}

#[test]
fn seeded_random_sets() {
    let mut random = Random::new(1);
    for _ in 0..2_000 {
        let texts: Vec<Vec<u8>> = (0..12).map(|_| random.word(b"aab/**$", 0..=9)).collect();
        let paths: Vec<Vec<u8>> = (0..60).map(|_| random.word(b"aab/", 0..=14)).collect();
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        check(&texts, true, &paths);
        check(&texts, false, &paths);
    }
}

#[test]
fn no_patterns() {
    check(&[], true, &words(b"a/", 3));
}

/// A DFA that needs too many states gives up, and the scan answers.
#[test]
fn a_dfa_gives_up() {
    let texts: Vec<String> = (0..40).map(|number| format!("/*a{number:02}*b*{number}c")).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let stored = rule_set(&texts, true);
    let rules = stored.as_rule_set();
    let [_, dfa, scan, ..] = all_settings();
    let (mut cache, mut scan_cache) = (Cache::default(), Cache::default());
    let mut random = Random::new(1);
    // Each path meets the literals in another order, and each order has states of its own.
    for _ in 0..400 {
        let mut path: String = (0..40).map(|_| format!("a{:02}b", random.below(40))).collect();
        path = format!("/{path}{}c", random.below(40));
        let found = rules.decide(path.as_bytes(), &dfa, &mut cache);
        let scanned = rules.decide(path.as_bytes(), &scan, &mut scan_cache);
        assert_eq!(found, scanned, "{path}");
    }
    let work = cache.work();
    assert!(work.retreats > 0 && work.retreats < 10, "{work:?}");
    assert!(work.scans < 400, "{work:?}");
}

/// Blocks of every length, with opaque starts among the others and several starts for each path, give the
/// answers of single queries.
#[test]
fn blocks_agree_with_single_questions() {
    let sets = [&PATTERNS[7..], &PATTERNS[..1], &[b"/abbaabba"], &[b"/*ab", b"/aab/"], &[]];
    let sets = sets.map(|texts| rule_set(texts, true));
    let (mut lines, mut places) = (Vec::new(), Vec::new());
    for set in &sets {
        places.push(lines.len() as u32);
        lines.extend(set.as_lines());
    }
    let mut random = Random::new(1);
    let paths = odd_paths(6);
    for settings in all_settings() {
        for vectors in Vectors::all() {
            let (settings, mut memory) = (Settings { vectors, ..settings }, BlockMemory::default());
            for round in 0..60 {
                let (columns, length) = (1 + round % 3, random.below(40));
                let paths: Vec<&[u8]> = (0..length).map(|_| &random.pick(&paths)[..]).collect();
                let asked: Vec<usize> =
                    (0..length * columns).map(|_| random.below(sets.len() + 2)).collect();
                let start = |&set: &usize| match places.get(set) {
                    Some(&line) => Start::at(line).unwrap(),
                    None => Start::opaque(set as u32),
                };
                let starts: Vec<Start> = asked.iter().map(start).collect();
                memory.query(Block {
                    lines: &lines,
                    starts: &starts,
                    paths: &paths,
                    settings: &settings,
                });
                let expected = |(number, &set): (usize, &usize)| match sets.get(set) {
                    None => Outcome::opaque(set as u32),
                    Some(set) => {
                        let path = paths[number / columns];
                        set.as_rule_set().decide(path, &settings, &mut Cache::default())
                    }
                };
                let expected: Vec<Outcome> = asked.iter().enumerate().map(expected).collect();
                assert_eq!(memory.outcomes(), expected, "{settings:?}");
            }
            let counts = memory.step_counts();
            assert!(counts.constant > 0 && counts.constant < counts.queries, "{counts:?}");
        }
    }
}

#[test]
fn lines_that_are_gone_are_no_answer() {
    let (settings, starts) = (Settings::default(), [Start::at(0).unwrap(); 9]);
    let whole = rule_set(&[b"/a"], false);
    let is_there = Outcome::new(1, false);
    for (lines, outcome) in [(whole.as_lines(), is_there), (&whole.as_lines()[..0], Outcome::LOST)]
    {
        let mut memory = BlockMemory::default();
        let paths = &[&b"/a"[..]; 9];
        memory.query(Block { lines, starts: &starts, paths, settings: &settings });
        assert_eq!(memory.outcomes(), [outcome; 9]);
    }
    assert!(!Outcome::LOST.is_allowed() && Outcome::LOST.pattern().is_none());
}

#[test]
fn a_thread_keeps_no_more_rule_sets_than_its_memory_takes() {
    let rules = rule_set(&[b"/*a*b*c"], false);
    let limits = Limits { automata_bytes_max: 64 * 1024, ..Limits::default() };
    let mut cache = Cache::default();
    for number in 0..40_000 {
        cache.decide(number % 20_000, rules.as_rule_set(), b"/abc", &limits);
        assert!(cache.memory_bytes() <= limits.automata_bytes_max, "{}", cache.memory_bytes());
    }
    assert!(cache.work().bytes_queried >= 40_000 * 4);
    assert!(cache.work().clearings > 20, "{:?}", cache.work());
}

/// No changed byte makes checking or deciding panic.
#[test]
fn a_rule_set_beyond_the_memory_is_prepared_once() {
    let usual = Limits::default();
    let limits = Limits { candidates_tried_max: None, dfa_pattern_bytes_max: 0, ..usual };
    let settings =
        Settings { limits: Limits { automata_bytes_max: 1, ..limits }, ..Settings::default() };
    let texts: Vec<Vec<u8>> = (0..200).map(|it| format!("/*a{it}*b").into_bytes()).collect();
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let (buf, mut cache) = (rule_set(&texts, false), Cache::default());
    for number in 0..50 {
        let path = format!("/x/a{number}/b");
        let outcome = buf.as_rule_set().decide_as(1, path.as_bytes(), &settings, &mut cache);
        assert_eq!(outcome.pattern(), buf.as_rule_set().first_match(path.as_bytes()));
    }
    let bytes = buf.as_rule_set().pattern_bytes() as u64;
    assert_eq!(cache.work().rule_bytes, bytes, "{:?}", cache.work());
    // Another one takes its place.
    buf.as_rule_set().decide_as(2, b"/x/a1/b", &settings, &mut cache);
    buf.as_rule_set().decide_as(1, b"/x/a1/b", &settings, &mut cache);
    assert_eq!(cache.work().clearings, 2);
}

#[test]
fn damaged_bytes_do_no_harm() {
    let stored = rule_set(PATTERNS, true);
    let paths: Vec<Vec<u8>> = odd_paths(6).into_iter().step_by(131).collect();
    let (mut accepted, mut changes) = (0, 0);
    for byte in 0..stored.as_bytes().len() {
        for changed in [0x01, 0x80, 0xff] {
            let mut bytes = stored.as_bytes().to_vec();
            bytes[byte] ^= changed;
            changes += 1;
            let Ok(rules) = RuleSet::from_bytes(&bytes) else { continue };
            accepted += 1;
            for path in &paths {
                rules.decide(path, &Settings::default(), &mut Cache::default());
            }
        }
    }
    // Bytes of texts and of filters may be others.
    assert!(accepted < changes, "{accepted} of {changes}");
    for length in 0..stored.as_bytes().len() {
        assert!(RuleSet::from_bytes(&stored.as_bytes()[..length]).is_err(), "{length}");
    }
}

/// No text that was built ends in a star, so one that does is malformed. A literal `*` may end one.
#[test]
fn a_final_star_is_refused() {
    for text in ["/ab*c", "/ab*cd", "/a*bc", "/*c$", "*c", "/a*b*c"] {
        let stored = rule_set(&[text.as_bytes(), b"/"], true);
        let mut bytes = stored.as_bytes().to_vec();
        let text = text.trim_end_matches('$');
        let at = bytes.windows(text.len()).rposition(|it| it == text.as_bytes()).unwrap();
        bytes[at + text.len() - 1] = b'*';
        let error = RuleSet::from_bytes(&bytes).err().expect(text);
        assert!(error.0.contains("star"), "{error}");
    }
    let mut patterns = PatternList::new();
    patterns.push(b"/ab*", false);
    let stored = RuleSetBuf::new(&patterns, |_| true);
    assert!(RuleSet::from_bytes(stored.as_bytes()).is_ok());
}

/// The literals of a long candidate are a search each, so few such candidates are tried.
#[test]
fn long_candidates_count_as_several() {
    let texts = |stars: usize| (0..15).map(move |end| format!("/{}*c{end}", "*a".repeat(stars)));
    let path = format!("/{}", "a".repeat(2_000));
    for (stars, is_decided) in [(10, true), (100, false), (1_000, false)] {
        let texts: Vec<String> = texts(stars).collect();
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let stored = rule_set(&texts, true);
        let found = filter(stored.as_rule_set(), path.as_bytes(), 16);
        assert_eq!(found.is_some(), is_decided, "{stars}");
    }
}

/// A new transition of a DFA visits every position, so a path is scanned if it may take many.
#[test]
fn a_long_path_is_scanned() {
    let texts: Vec<String> = (0..17).map(|end| format!("/{}*c{end}", "*a".repeat(400))).collect();
    let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let stored = rule_set(&texts, true);
    let mut cache = Cache::default();
    let mut random = Random::new(1);
    let mut ask = |bytes: usize| {
        let path = [b"/", &random.word(b"ab", bytes..=bytes)[..]].concat();
        stored.as_rule_set().decide(&path, &Settings::default(), &mut cache);
        cache.work()
    };
    for _ in 0..100 {
        let work = ask(2_000);
        assert_eq!((work.dfas, work.retreats), (0, 0), "{work:?}");
    }
    // A short path has its DFA.
    assert_eq!(ask(30).dfas, 1);
}
