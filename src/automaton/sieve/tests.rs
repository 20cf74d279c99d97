use crate::automaton::scan::scan;

use super::*;

/// Patterns that begin in each way that a sieve tells apart, with stretches and prefixes of many
/// lengths.
const PATTERNS: &[&[u8]] = &[
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

/// Every path of up to seven of three octets, and longer ones that repeat them.
fn paths() -> Vec<Vec<u8>> {
    let mut paths = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..7 {
        let to = paths.len();
        for index in from..to {
            for octet in b"ab/" {
                paths.push([&paths[index][..], &[*octet]].concat());
            }
        }
        from = to;
    }
    let long =
        |path: &Vec<u8>| [b"/", &path[..], b"/abbaabbaabbaabba", path, b"abbaabbaab"].concat();
    let more: Vec<Vec<u8>> = paths.iter().step_by(17).map(long).collect();
    let repeated = paths.iter().step_by(19).map(|path| [b"/", &path[..]].concat().repeat(9));
    let repeated: Vec<Vec<u8>> = repeated.collect();
    paths.extend(more.into_iter().chain(repeated));
    paths.extend([&b"/a\0b"[..], b"/\0", b"/ab\xff", b"/a\0"].map(<[u8]>::to_vec));
    paths
}

struct Sieve {
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    lines: Vec<SieveLine>,
}

impl Sieve {
    fn of(texts: &[&[u8]]) -> Sieve {
        let mut patterns = PatternList::new();
        texts.iter().for_each(|text| patterns.push(text, true));
        let outcome = |number: usize| Outcome::new(number as u32 + 1, number.is_multiple_of(2));
        let outcomes: Vec<Outcome> = (0..texts.len()).map(outcome).collect();
        let lines = sieve_of(&patterns, &outcomes);
        Sieve { patterns, outcomes, lines }
    }

    /// Checks one path, and tells whether the sieve alone knew the answer.
    fn check(&self, path: &[u8]) -> bool {
        let expected = scan(&self.patterns, &self.outcomes, path);
        let sifted = sift(&self.lines, 0, path);
        let tried = try_candidates(&self.lines, 0, (&self.patterns, &self.outcomes), path);
        for found in [sifted, tried].into_iter().flatten() {
            assert_eq!(found, expected, "{:?} {:?}", self.patterns, bstr::BStr::new(path));
        }
        sifted.is_some()
    }
}

#[test]
fn what_a_sieve_tells_is_what_a_scan_finds() {
    let paths = paths();
    let (mut told, mut asked) = (0, 0);
    for one in PATTERNS {
        for two in PATTERNS {
            let sieve = Sieve::of(&[one, two]);
            told += paths.iter().filter(|path| sieve.check(path)).count();
            asked += paths.len();
        }
    }
    // Paths of two letters match most such patterns.
    assert!(told * 4 > asked, "{told} of {asked}");
}

#[test]
fn many_patterns_at_once() {
    let sieve = Sieve::of(PATTERNS.get(7..).unwrap());
    let told = paths().iter().filter(|path| sieve.check(path)).count();
    assert!(told > 0);
    let others: Vec<Vec<u8>> =
        (0..3_000).map(|number| format!("/*x{number}/*y{number}z").into_bytes()).collect();
    let others: Vec<&[u8]> = others.iter().map(|pattern| &pattern[..]).collect();
    let sieve = Sieve::of(&others);
    for number in (0..3_000).step_by(7) {
        sieve.check(format!("/a/x{number}/b/y{number}z").as_bytes());
        sieve.check(format!("/x{number}").as_bytes());
    }
}

/// Needs that are the same for all are tried up to a bound, and then nothing is told.
#[test]
fn too_many_candidates_are_no_answer() {
    let texts: Vec<Vec<u8>> =
        (0..200).map(|number| format!("/same-beginning-of-all-{number:03}").into_bytes()).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
    let sieve = Sieve::of(&texts);
    let try_one =
        |path: &[u8]| try_candidates(&sieve.lines, 0, (&sieve.patterns, &sieve.outcomes), path);
    assert_eq!(try_one(b"/same-beginning-of-all-150"), None);
    assert_eq!(try_one(b"/other"), Some(Outcome::NONE));
    let few = Sieve::of(texts.get(..CANDIDATES_TRIED_MAX).unwrap());
    let found = try_candidates(
        &few.lines,
        0,
        (&few.patterns, &few.outcomes),
        b"/same-beginning-of-all-050",
    );
    assert_eq!(found, Some(few.outcomes[50]));
}

#[test]
fn a_path_that_begins_otherwise_is_not_answered() {
    let sieve = Sieve::of(&[b"/a", b"*"]);
    for path in [&b""[..], b"a", b"*", b"\0"] {
        assert_eq!(sift(&sieve.lines, 0, path), None);
        assert_eq!(try_candidates(&sieve.lines, 0, (&sieve.patterns, &sieve.outcomes), path), None);
    }
}

/// Whatever the octets of a sieve are, it answers or does not, and does no harm.
#[test]
fn damaged_lines_do_no_harm() {
    let sieve = Sieve::of(PATTERNS);
    let paths: Vec<Vec<u8>> = paths().into_iter().step_by(31).collect();
    for octet in 0..sieve.lines.len() * size_of::<SieveLine>() {
        for changed in [0x00, 0x01, 0x80, 0xff] {
            let mut lines = sieve.lines.clone();
            lines.as_mut_bytes()[octet] ^= changed;
            for path in &paths {
                sift(&lines, 0, path);
                try_candidates(&lines, 0, (&sieve.patterns, &sieve.outcomes), path);
            }
        }
    }
}

/// The pairs of a line stand where they stand, whatever the processor.
#[test]
fn pairs_are_found_where_they_stand() {
    let pattern_of = |pair: &str| format!("/*{pair}");
    let pairs = ["?x", "ab", "/q", "=", "z$", ".p", "~~", "-1", "A_", "%C", "Q=", "&b"];
    let texts: Vec<String> = pairs.iter().map(|pair| pattern_of(pair)).collect();
    let mut patterns = PatternList::new();
    texts.iter().for_each(|text| patterns.push(text.as_bytes(), true));
    let line = pairs::line_of(Needs::of(&patterns).pairs);
    let mut path = b"/".to_vec();
    for number in 0..70_u8 {
        path.push(b'c' + number % 5);
        for pair in pairs {
            let pair = pair.trim_end_matches('$').as_bytes();
            let path = [&path[..], pair].concat();
            let place = path.len() - pair.len();
            let (mut here, mut anywhere) = (Vec::new(), Vec::new());
            let mut collect = |place: usize| {
                here.push(place);
                false
            };
            assert!(!pairs::may_occur(&line, &path, &mut collect));
            pairs::may_occur_anywhere(line.as_bytes(), &path, |place| {
                anywhere.push(place);
                false
            });
            for places in [&mut here, &mut anywhere] {
                places.sort_unstable();
                places.dedup();
            }
            assert_eq!(here, anywhere, "{}", bstr::BStr::new(&path));
            assert!(here.contains(&place), "{}", bstr::BStr::new(&path));
        }
    }
}
