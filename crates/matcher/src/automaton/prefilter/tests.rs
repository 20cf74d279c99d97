use std::collections::BTreeSet;

use crate::automaton::tests::{PATTERNS, RuleSet, Sift, odd_paths};
use crate::pattern::PatternList;
use crate::vectors::{Kind, Vectors, Work};
use portcullis_dialect::limits::CANDIDATES_TRIED_MAX;

use super::needs::Needs;
use super::*;

fn rules(texts: &[&[u8]]) -> RuleSet {
    let outcome = |number: usize| Outcome::new(number as u32 + 1, number.is_multiple_of(2));
    RuleSet::of(texts, &(0..texts.len()).map(outcome).collect::<Vec<_>>())
}

/// First looks at eight paths.
struct Eight<'l> {
    lines: &'l [PrefilterLine],
    starts: &'l [[u32; 2]; 8],
    paths: &'l [&'l [u8]; 8],
}

impl Work for Eight<'_> {
    /// Those by eight prefilters, and those by each prefilter alone.
    type Output = ((FirstProbes, [Outcome; 8]), Vec<FirstProbes>);

    fn with(self, probe: impl Kind) -> Self::Output {
        let Eight { lines, starts, paths } = self;
        let alone = starts.iter().filter_map(|start| FirstProbe::of(lines, start[0] as usize));
        let alone = alone.map(|look| look.probe_eight(paths, probe)).collect();
        (probe.probe_eight(lines, starts, paths), alone)
    }
}

/// The bits of looks that mean something.
fn told(probe: FirstProbes) -> FirstProbes {
    let FirstProbes { odd, probe_prefixes, has_literals } = probe;
    FirstProbes { odd, probe_prefixes: probe_prefixes & !odd, has_literals: has_literals & !odd }
}

#[test]
fn eight_looks_are_as_single_ones() {
    let sieves = [&PATTERNS[7..], &PATTERNS[..1], &[b"/abbaabba"], &[b"/*ab", b"/aab/"]];
    let (mut lines, mut places) = (Vec::new(), vec![u32::MAX, u32::MAX - 2]);
    for sieve in sieves {
        places.push(lines.len() as u32);
        lines.extend(rules(sieve).lines);
    }
    places.push(lines.len() as u32);
    // Short ones are odd.
    let lengthened = |(number, path): (usize, Vec<u8>)| match number % 4 {
        0 => path,
        _ => [&path[..], b"/ab/abba"].concat(),
    };
    let paths: Vec<Vec<u8>> = odd_paths(7).into_iter().enumerate().map(lengthened).collect();
    let (mut begun, mut odd) = (0, 0);
    for (round, paths) in paths.as_chunks::<8>().0.iter().enumerate() {
        let paths: [&[u8]; 8] = std::array::from_fn(|place| &paths[place][..]);
        let start = |place: usize| [places[(round * 3 + place * (round % 4)) % places.len()], 9];
        let starts = std::array::from_fn(start);
        let all = Vectors::all().into_iter();
        let all: Vec<_> =
            all.map(|it| it.run(Eight { lines: &lines, starts: &starts, paths: &paths })).collect();
        for ((probe, otherwise), alone) in &all {
            assert_eq!(told(*probe), told(all[0].0.0), "{starts:?} {paths:?}");
            assert!(alone.iter().zip(&all[0].1).all(|(one, other)| told(*one) == told(*other)));
            for place in 0..8 {
                let bit = |bits: u8| bits >> place & 1 != 0;
                let look = FirstProbe::of(&lines, starts[place][0] as usize);
                let single = look.and_then(|look| Some((look, look.probe_prefixes(paths[place])?)));
                let Some((look, probe_prefixes)) = single.filter(|_| !bit(probe.odd)) else {
                    assert!(bit(probe.odd), "{starts:?} {paths:?} {place}");
                    odd += 1;
                    continue;
                };
                let found = (bit(probe.probe_prefixes), bit(probe.has_literals), otherwise[place]);
                assert_eq!(found, (probe_prefixes, look.has_literals, look.otherwise));
                begun += usize::from(probe_prefixes);
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
    let sieve = rules(&texts);
    let sift = |path: &[u8]| sieve.sift(path, CANDIDATES_TRIED_MAX);
    assert_eq!(sift(b"/same-beginning-of-all-150"), None);
    assert_eq!(sift(b"/other"), Some(Outcome::NONE));
    let few = rules(texts.get(..CANDIDATES_TRIED_MAX).unwrap());
    let found = few.sift(b"/same-beginning-of-all-005", CANDIDATES_TRIED_MAX);
    assert_eq!(found, Some(few.outcomes[5]));
}

#[test]
fn a_path_that_begins_otherwise_is_not_answered() {
    let sieve = rules(&[b"/a", b"*"]);
    for path in [&b""[..], b"a", b"*", b"\0"] {
        assert_eq!(sieve.sift(path, CANDIDATES_TRIED_MAX), None);
    }
}

/// Whatever the bytes of a prefilter are, it answers or does not, and does no harm.
#[test]
fn damaged_lines_do_no_harm() {
    let sieve = rules(PATTERNS);
    let paths: Vec<Vec<u8>> = odd_paths(6).into_iter().step_by(31).collect();
    for byte in 0..sieve.lines.len() * size_of::<PrefilterLine>() {
        for changed in [0x00, 0x01, 0x80, 0xff] {
            let mut lines = sieve.lines.clone();
            lines.as_mut_bytes()[byte] ^= changed;
            for path in &paths {
                for vectors in Vectors::all() {
                    let entries_max = CANDIDATES_TRIED_MAX;
                    let patterns = sieve.patterns();
                    vectors.run(Sift { lines: &lines, patterns, path, entries_max });
                    vectors.run(Eight { lines: &lines, starts: &[[0; 2]; 8], paths: &[path; 8] });
                }
            }
        }
    }
}

/// Where the pairs of a line stand in a path.
struct Places<'l> {
    line: &'l PrefilterLine,
    path: &'l [u8],
}

impl Work for Places<'_> {
    type Output = BTreeSet<usize>;

    fn with(self, probe: impl Kind) -> BTreeSet<usize> {
        let mut places = BTreeSet::new();
        let stands = pairs::stand(self.line, self.path, probe, |place| {
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
