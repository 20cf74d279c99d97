//! Every strategy against the plainest matcher there is, over small alphabets.

use super::*;

/// A pattern's normal text against a path, by its definition.
fn defined(mut text: &[u8], mut path: &[u8]) -> bool {
    loop {
        match text {
            [] => return true,
            [b'$'] => return path.is_empty(),
            [b'*', rest @ ..] => return (0..=path.len()).any(|skip| defined(rest, &path[skip..])),
            [octet, rest @ ..] if path.first() == Some(octet) => (text, path) = (rest, &path[1..]),
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
            words.extend(alphabet.iter().map(|&octet| [&word[..], &[octet]].concat()));
        }
        start = end;
    }
    words
}

/// Limits under which each strategy and each way out of it is taken.
fn all_limits() -> [Limits; 6] {
    let usual = Limits::default();
    let ahead = Limits { ahead_positions_max: 1 << 20, ..usual };
    let on_demand = Limits { ahead_positions_max: 0, scans_before_states: 0, ..usual };
    let soon_spent = Limits { on_demand_positions_max: 12, ..on_demand };
    let always_spent = Limits { on_demand_positions_max: 0, ..on_demand };
    let after_scans = Limits { scans_before_states: 2, ..on_demand };
    [usual, ahead, on_demand, soon_spent, always_spent, after_scans]
}

/// The engines of regex-automata, with room for all rule sets of these tests.
fn regex_engines(patterns: &PatternList, outcomes: &[Outcome]) -> [RegexEngine; 2] {
    [
        RegexEngine::dense(patterns, outcomes, 64 * 1024 * 1024).expect("a small table"),
        RegexEngine::lazy(patterns, outcomes).expect("few positions"),
    ]
}

fn bstr(octets: &[u8]) -> &bstr::BStr {
    bstr::BStr::new(octets)
}

fn check(texts: &[&[u8]], outcomes: &[Outcome], paths: &[Vec<u8>]) {
    let mut patterns = PatternList::new();
    texts.iter().for_each(|text| patterns.push(text, true));
    let build = |limits| Automaton::new(patterns.clone(), outcomes.to_vec(), &limits);
    let automata = all_limits().map(build);
    let mut caches = automata.each_ref().map(|automaton| automaton.cache());
    let regex = regex_engines(&patterns, outcomes);
    let mut regex_caches = regex.each_ref().map(|engine| engine.cache());
    for path in paths {
        let first = texts.iter().position(|text| defined(text, path));
        let expected = first.map_or(Outcome::NONE, |index| outcomes[index]);
        for (automaton, cache) in automata.iter().zip(&mut caches) {
            let verdict = automaton.decide(path, Detail::Reason, cache);
            let outcome = automaton.decide(path, Detail::Rule, cache);
            assert_eq!(
                (outcome, verdict == Outcome::NONE, verdict.allows()),
                (expected, expected == Outcome::NONE, expected.allows()),
                "{:?} {:?} on {:?}",
                automaton.strategy(),
                texts.iter().map(|text| bstr(text)).collect::<Vec<_>>(),
                bstr(path),
            );
        }
        for (engine, cache) in regex.iter().zip(&mut regex_caches) {
            assert_eq!(engine.decide(path, cache), expected, "{engine:?} on {:?}", bstr(path));
        }
    }
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

#[test]
fn seeded_random_sets() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as usize % bound
    };
    for _ in 0..4_000 {
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
    let error = RegexEngine::dense(&patterns, &outcomes, 64).expect_err("64 octets are too few");
    assert!(error.to_string().contains("raise the size limit"), "{error}");
    assert!(RegexEngine::dense(&patterns, &outcomes, 1 << 20).is_ok());
}

#[test]
fn regex_automata_agrees_that_nothing_matches() {
    let patterns = PatternList::new();
    for engine in regex_engines(&patterns, &[]) {
        assert_eq!(engine.decide(b"/a", &mut engine.cache()), Outcome::NONE);
    }
}

#[test]
fn literals_longer_than_a_node() {
    for length in program::RUN_OCTETS_MAX - 1..=program::RUN_OCTETS_MAX + 2 {
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

#[test]
fn a_stored_automaton_is_told_from_any_other() {
    let build = |texts: &[&[u8]]| {
        let mut patterns = PatternList::new();
        texts.iter().for_each(|text| patterns.push(text, true));
        let outcomes: Vec<Outcome> =
            (1..).zip(texts).map(|(number, _)| Outcome::new(number, number % 2 == 0)).collect();
        (patterns, outcomes)
    };
    let limits = Limits { ahead_positions_max: 1 << 20, ..Limits::default() };
    let lists: [&[&[u8]]; 4] =
        [&[b"/a/*b", b"/a/", b"/*.c$"], &[b"/a/*b", b"/a/", b"/*.d$"], &[b"/"], &[b""]];
    for own in lists {
        let (patterns, outcomes) = build(own);
        let automaton = Automaton::new(patterns.clone(), outcomes, &limits);
        let stored = automaton.stored().unwrap();
        for other in lists {
            let (patterns, outcomes) = build(other);
            assert_eq!(stored.is_of(&patterns, &outcomes, 1 << 20), own == other);
        }
        for word in 0..stored.words.len() {
            let mut words = stored.words.to_vec();
            words[word] = U32::new(words[word].get() ^ 1);
            let (patterns, outcomes) = build(own);
            let changed = StoredAutomaton { start: stored.start, words: &words };
            assert!(!changed.is_of(&patterns, &outcomes, 1 << 20));
            let longer = [&words[..word], stored.words].concat();
            let changed = StoredAutomaton { start: stored.start, words: &longer };
            assert_eq!(changed.is_of(&patterns, &outcomes, 1 << 20), word == 0);
        }
    }
    let (patterns, outcomes) = build(lists[0]);
    let automaton = Automaton::new(patterns.clone(), outcomes.clone(), &limits);
    assert!(!automaton.stored().unwrap().is_of(&patterns, &outcomes, 3));
}

/// An outcome with a verdict and no number is none that can be written.
#[test]
fn an_outcome_that_cannot_be_is_no_answer() {
    for (start, expected) in [(0, Some(Outcome::NONE)), (1, None), (3, Some(Outcome::new(1, true)))]
    {
        let stored = StoredAutomaton { start: 1 << 31 | start, words: &[] };
        assert_eq!(stored.decide(b"/", Detail::Rule), expected);
    }
}
