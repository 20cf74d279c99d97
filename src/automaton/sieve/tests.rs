use std::collections::BTreeSet;

use bstr::ByteSlice;

use crate::automaton::scan::scan;
use crate::limits::CANDIDATES_TRIED_MAX;
use crate::pattern::PatternList;
use crate::vectors::{Kind, Vectors, Work};

use super::needs::Needs;
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

/// All looks at a path, and the candidates that they leave, so many of them.
struct Sift<'l> {
    lines: &'l [SieveLine],
    patterns: Patterns<'l, &'l [U32]>,
    path: &'l [u8],
    tried_max: usize,
}

impl Work for Sift<'_> {
    type Output = Option<Outcome>;

    fn with(self, looks: impl Kind) -> Option<Outcome> {
        let Sift { lines, patterns, path, mut tried_max } = self;
        let look = FirstLook::of(lines, 0)?;
        let prefix_levels =
            if look.may_begin(path)? { may_begin(lines, 0, path, looks) } else { 0 };
        let stretches = look.has_stretches && may_stand(lines, 0, path, looks);
        match (Found { prefix_levels, stretches }) {
            Found { prefix_levels: 0, stretches: false } => Some(look.otherwise),
            found => try_candidates((lines, 0), patterns, path, found, (&mut tried_max, looks)),
        }
    }
}

struct Sieve {
    patterns: PatternList,
    outcomes: Vec<Outcome>,
    lines: Vec<SieveLine>,
    table: Vec<U32>,
    texts: Vec<U32>,
}

impl Sieve {
    fn of(texts: &[&[u8]]) -> Sieve {
        let mut patterns = PatternList::new();
        texts.iter().for_each(|text| patterns.push(text, true));
        let outcome = |number: usize| Outcome::new(number as u32 + 1, number.is_multiple_of(2));
        let outcomes: Vec<Outcome> = (0..texts.len()).map(outcome).collect();
        let lines = sieve_of(&patterns, &outcomes);
        let (mut table, mut texts) = (Vec::new(), Vec::new());
        for (pattern, outcome) in patterns.iter().zip(&outcomes) {
            table.push(table_word(texts.len(), outcome.allows()));
            push_text(&pattern, &mut texts);
        }
        Sieve { patterns, outcomes, lines, table, texts }
    }

    fn patterns(&self) -> Patterns<'_, &[U32]> {
        Patterns { table: &self.table, texts: &self.texts }
    }

    /// What the sieve tells of a path if no pattern may be tried, the same with every kind of vector.
    fn look(&self, path: &[u8]) -> Option<Outcome> {
        self.sift(path, 0)
    }

    /// The same if patterns may be tried.
    fn sift(&self, path: &[u8], tried_max: usize) -> Option<Outcome> {
        let (lines, patterns) = (&self.lines[..], self.patterns());
        let sift = |vectors: Vectors| vectors.run(Sift { lines, patterns, path, tried_max });
        let all: Vec<_> = Vectors::all().into_iter().map(sift).collect();
        assert!(all.iter().all(|it| *it == all[0]), "{:?}: {all:?}", bstr::BStr::new(path));
        all[0]
    }

    /// Checks one path, and tells whether looks alone knew the answer.
    fn check(&self, path: &[u8]) -> bool {
        let (expected, _) = scan(&self.patterns, &self.outcomes, 0..self.patterns.len(), path);
        let looked = self.look(path);
        for found in [looked, self.sift(path, CANDIDATES_TRIED_MAX)].into_iter().flatten() {
            assert_eq!(found, expected, "{:?} {:?}", self.patterns, bstr::BStr::new(path));
        }
        looked.is_some()
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

/// Of patterns that share a prefix only those are tried whose stretches stand behind it.
#[test]
fn patterns_that_share_a_prefix() {
    for count in [5, 20, 3_000] {
        let text = |number: usize| match number % 50 {
            7 => format!("/s{}/*w{number}z$", number % 3),
            11 => format!("/s/*/x{number}"),
            13 => format!("/shared/{number}*"),
            _ => format!("/shared{}/*w{:x}-{number}", number % 3, number % 97),
        };
        let texts: Vec<Vec<u8>> = (0..count).map(|number| text(number).into_bytes()).collect();
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        let sieve = Sieve::of(&texts);
        for number in (0..count).step_by(count / 5) {
            let hit =
                String::from_utf8(texts[number].replace("*", "a/b-").replace("$", "")).unwrap();
            let misses = ["/shared0/", "/shared", "/s", "/s/", "/other"];
            let missing = misses.map(|beginning| format!("{beginning}{hit}"));
            for path in
                missing.iter().chain([&hit, &format!("{hit}0"), &hit.replace("shared", "s")])
            {
                sieve.check(path.as_bytes());
                let told = sieve.sift(path.as_bytes(), CANDIDATES_TRIED_MAX);
                assert!(told.is_some(), "{path} is left open among {count}");
            }
            let (expected, _) = scan(&sieve.patterns, &sieve.outcomes, 0..count, hit.as_bytes());
            assert_ne!(expected, Outcome::NONE, "{hit}");
        }
    }
}

/// First looks at eight paths.
struct Eight<'l> {
    lines: &'l [SieveLine],
    starts: &'l [[u32; 2]; 8],
    paths: &'l [&'l [u8]; 8],
}

impl Work for Eight<'_> {
    /// Those by eight sieves, and those by each sieve alone.
    type Output = ((FirstLooks, [Outcome; 8]), Vec<FirstLooks>);

    fn with(self, looks: impl Kind) -> Self::Output {
        let Eight { lines, starts, paths } = self;
        let alone = starts.iter().filter_map(|start| FirstLook::of(lines, start[0] as usize));
        let alone = alone.map(|look| look.look_at_eight(paths, looks)).collect();
        (looks.look_at_eight(lines, starts, paths), alone)
    }
}

/// The bits of looks that mean something.
fn told(looks: FirstLooks) -> FirstLooks {
    let FirstLooks { odd, may_begin, has_stretches } = looks;
    FirstLooks { odd, may_begin: may_begin & !odd, has_stretches: has_stretches & !odd }
}

#[test]
fn eight_looks_are_as_single_ones() {
    let sieves = [&PATTERNS[7..], &PATTERNS[..1], &[b"/abbaabba"], &[b"/*ab", b"/aab/"]];
    let (mut lines, mut places) = (Vec::new(), vec![u32::MAX, u32::MAX - 2]);
    for sieve in sieves {
        places.push(lines.len() as u32);
        lines.extend(Sieve::of(sieve).lines);
    }
    places.push(lines.len() as u32);
    // Short ones are odd.
    let lengthened = |(number, path): (usize, Vec<u8>)| match number % 4 {
        0 => path,
        _ => [&path[..], b"/ab/abba"].concat(),
    };
    let paths: Vec<Vec<u8>> = paths().into_iter().enumerate().map(lengthened).collect();
    let (mut begun, mut odd) = (0, 0);
    for (round, paths) in paths.as_chunks::<8>().0.iter().enumerate() {
        let paths: [&[u8]; 8] = std::array::from_fn(|place| &paths[place][..]);
        let start = |place: usize| [places[(round * 3 + place * (round % 4)) % places.len()], 9];
        let starts = std::array::from_fn(start);
        let all = Vectors::all().into_iter();
        let all: Vec<_> =
            all.map(|it| it.run(Eight { lines: &lines, starts: &starts, paths: &paths })).collect();
        for ((looks, otherwise), alone) in &all {
            assert_eq!(told(*looks), told(all[0].0.0), "{starts:?} {paths:?}");
            assert!(alone.iter().zip(&all[0].1).all(|(one, other)| told(*one) == told(*other)));
            for place in 0..8 {
                let bit = |bits: u8| bits >> place & 1 != 0;
                let look = FirstLook::of(&lines, starts[place][0] as usize);
                let single = look.and_then(|look| Some((look, look.may_begin(paths[place])?)));
                let Some((look, may_begin)) = single.filter(|_| !bit(looks.odd)) else {
                    assert!(bit(looks.odd), "{starts:?} {paths:?} {place}");
                    odd += 1;
                    continue;
                };
                let found = (bit(looks.may_begin), bit(looks.has_stretches), otherwise[place]);
                assert_eq!(found, (may_begin, look.has_stretches, look.otherwise));
                begun += usize::from(may_begin);
            }
        }
    }
    assert!(begun > 100 && odd > 100, "{begun} {odd}");
}

/// Needs that are the same for all are tried up to a bound, and then nothing is told.
#[test]
fn too_many_candidates_are_no_answer() {
    let texts: Vec<Vec<u8>> =
        (0..200).map(|number| format!("/same-beginning-of-all-{number:03}").into_bytes()).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
    let sieve = Sieve::of(&texts);
    let sift = |path: &[u8]| sieve.sift(path, CANDIDATES_TRIED_MAX);
    assert_eq!(sift(b"/same-beginning-of-all-150"), None);
    assert_eq!(sift(b"/other"), Some(Outcome::NONE));
    let few = Sieve::of(texts.get(..CANDIDATES_TRIED_MAX).unwrap());
    let found = few.sift(b"/same-beginning-of-all-050", CANDIDATES_TRIED_MAX);
    assert_eq!(found, Some(few.outcomes[50]));
}

#[test]
fn a_path_that_begins_otherwise_is_not_answered() {
    let sieve = Sieve::of(&[b"/a", b"*"]);
    for path in [&b""[..], b"a", b"*", b"\0"] {
        assert_eq!(sieve.sift(path, CANDIDATES_TRIED_MAX), None);
    }
}

/// Whatever the octets of a sieve are, it answers or does not, and does no harm.
#[test]
fn damaged_lines_do_no_harm() {
    let sharing = [
        &b"/abba*b/aab"[..],
        b"/abba*/baab",
        b"/abba*a/abb",
        b"/abba*bb/aba",
        b"/abba*/abab$",
        b"/abba*b/bb/b",
        b"/ab",
    ];
    damage(&Sieve::of(PATTERNS));
    let sharing = Sieve::of(&sharing);
    assert_ne!(head_of(&sharing.lines, 0).map(|(_, head)| head.both_levels), Some(0));
    damage(&sharing);
}

fn damage(sieve: &Sieve) {
    let paths: Vec<Vec<u8>> = paths().into_iter().step_by(31).collect();
    for octet in 0..sieve.lines.len() * size_of::<SieveLine>() {
        for changed in [0x00, 0x01, 0x80, 0xff] {
            let mut lines = sieve.lines.clone();
            lines.as_mut_bytes()[octet] ^= changed;
            for path in &paths {
                for vectors in Vectors::all() {
                    let tried_max = CANDIDATES_TRIED_MAX;
                    let patterns = sieve.patterns();
                    vectors.run(Sift { lines: &lines, patterns, path, tried_max });
                    vectors.run(Eight { lines: &lines, starts: &[[0; 2]; 8], paths: &[path; 8] });
                }
            }
        }
    }
}

/// Where the pairs of a line stand in a path.
struct Places<'l> {
    line: &'l SieveLine,
    path: &'l [u8],
}

impl Work for Places<'_> {
    type Output = BTreeSet<usize>;

    fn with(self, looks: impl Kind) -> BTreeSet<usize> {
        let mut places = BTreeSet::new();
        let stands = pairs::stand(self.line, self.path, looks, |place| {
            places.extend(Some(place).filter(|&place| place < self.path.len()));
            false
        });
        assert!(!stands);
        places
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
    let outcomes = vec![Outcome::new(1, false); patterns.len()];
    let line = pairs::line_of(Needs::of(&patterns, &outcomes).pairs);
    let mut path = b"/".to_vec();
    for number in 0..70_u8 {
        path.push(b'c' + number % 5);
        for pair in pairs {
            let pair = pair.trim_end_matches('$').as_bytes();
            let path = [&path[..], pair].concat();
            let place = path.len() - pair.len();
            let places_by = |vectors: Vectors| vectors.run(Places { line: &line, path: &path });
            let all: Vec<_> = Vectors::all().into_iter().map(places_by).collect();
            assert!(all.iter().all(|it| *it == all[0]), "{}: {all:?}", bstr::BStr::new(&path));
            assert!(all[0].contains(&place), "{}", bstr::BStr::new(&path));
        }
    }
}
