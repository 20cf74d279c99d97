use std::collections::BTreeSet;

use crate::limits::CANDIDATES_TRIED_MAX;
use crate::tests::{Filter, PATTERNS, filter, odd_paths, rule_set};
use crate::vectors::{Kernels, Kind, Vectors, Work};

use super::head::FirstProbes;
use super::required::Required;
use super::*;
use crate::RuleSet;

/// First probes of eight paths.
struct Eight<'l> {
    lines: &'l [Line],
    starts: &'l [u32; 8],
    paths: &'l [&'l [u8]; 8],
}

impl Work for Eight<'_> {
    /// By eight prefilters.
    type Output = (FirstProbes, [Outcome; 8]);

    fn with(self, probe: impl Kind) -> Self::Output {
        let Eight { lines, starts, paths } = self;
        probe.probe_eight(lines, starts, paths)
    }
}

/// Clears the meaningless bits.
fn valid(FirstProbes { undecided, probe_prefixes, has_literals }: FirstProbes) -> FirstProbes {
    FirstProbes {
        undecided,
        probe_prefixes: probe_prefixes & !undecided,
        has_literals: has_literals & !undecided,
    }
}

#[test]
fn eight_probes_agree_with_single_ones() {
    let rule_sets = [&PATTERNS[7..], &PATTERNS[..1], &[b"/abbaabba"], &[b"/*ab", b"/aab/"]];
    let (mut lines, mut places) = (Vec::new(), vec![u32::MAX, u32::MAX - 2]);
    for texts in rule_sets {
        places.push(lines.len() as u32);
        lines.extend(rule_set(texts, true).as_lines());
    }
    places.push(lines.len() as u32);
    // Short paths are odd.
    let lengthened = |(number, path): (usize, Vec<u8>)| match number % 4 {
        0 => path,
        _ => [&path[..], b"/ab/abba"].concat(),
    };
    let paths: Vec<Vec<u8>> = odd_paths(7).into_iter().enumerate().map(lengthened).collect();
    let (mut begun, mut odd) = (0, 0);
    for (round, paths) in paths.as_chunks::<8>().0.iter().enumerate() {
        let paths: [&[u8]; 8] = std::array::from_fn(|place| &paths[place][..]);
        let start = |place: usize| places[(round * 3 + place * (round % 4)) % places.len()];
        let starts = std::array::from_fn(start);
        let all = Vectors::all().into_iter();
        let all: Vec<_> =
            all.map(|it| it.run(Eight { lines: &lines, starts: &starts, paths: &paths })).collect();
        for (probes, otherwise) in &all {
            assert_eq!(valid(*probes), valid(all[0].0), "{starts:?} {paths:?}");
            for place in 0..8 {
                let bit = |bits: u8| bits >> place & 1 != 0;
                let first = FirstProbe::of(&lines, starts[place] as usize);
                let single = first.and_then(|it| Some((it, it.probe_prefixes(paths[place])?)));
                let Some((first, probe_prefixes)) = single.filter(|_| !bit(probes.undecided))
                else {
                    assert!(bit(probes.undecided), "{starts:?} {paths:?} {place}");
                    odd += 1;
                    continue;
                };
                let found =
                    (bit(probes.probe_prefixes), bit(probes.has_literals), otherwise[place]);
                assert_eq!(found, (probe_prefixes, first.has_literals, first.otherwise));
                begun += usize::from(probe_prefixes);
            }
        }
    }
    assert!(begun > 100 && odd > 100, "{begun} {odd}");
}

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

/// No changed byte makes a probe panic.
#[test]
fn damaged_lines_do_no_harm() {
    let rules = rule_set(PATTERNS, false);
    let paths: Vec<Vec<u8>> = odd_paths(6).into_iter().step_by(31).collect();
    for byte in 0..rules.as_bytes().len() {
        for changed in [0x00, 0x01, 0x80, 0xff] {
            let mut lines = rules.as_lines().to_vec();
            lines.as_mut_bytes()[byte] ^= changed;
            for path in &paths {
                for vectors in Vectors::all() {
                    let entries_max = CANDIDATES_TRIED_MAX;
                    if let Some(rules) = RuleSet::view(&lines) {
                        vectors.run(Filter { rules, path, entries_max });
                    }
                    vectors.run(Eight { lines: &lines, starts: &[0; 8], paths: &[path; 8] });
                }
            }
        }
    }
}

/// The positions in a path where a pair of a line may occur.
struct Positions<'l> {
    line: &'l Line,
    path: &'l [u8],
}

impl Work for Positions<'_> {
    type Output = BTreeSet<usize>;

    fn with(self, kind: impl Kind) -> BTreeSet<usize> {
        let positions = teddy::positions(self.line, self.path, kind);
        positions.filter(|&position| position < self.path.len()).collect()
    }
}

#[test]
fn pairs_are_found_with_all_vectors() {
    let pattern_of = |pair: &str| format!("/*{pair}");
    let pairs = ["?x", "ab", "/q", "=", "z$", ".p", "~~", "-1", "A_", "%C", "Q=", "&b"];
    let texts: Vec<String> = pairs.iter().map(|pair| pattern_of(pair)).collect();
    let mut patterns = PatternList::new();
    texts.iter().for_each(|text| patterns.push(text.as_bytes(), true));
    let line = teddy::line_of(Required::of(&patterns).pairs);
    let mut path = b"/".to_vec();
    for number in 0..70_u8 {
        path.push(b'c' + number % 5);
        for pair in pairs {
            let pair = pair.trim_end_matches('$').as_bytes();
            let path = [&path[..], pair].concat();
            let place = path.len() - pair.len();
            let found = |vectors: Vectors| vectors.run(Positions { line: &line, path: &path });
            let all: Vec<_> = Vectors::all().into_iter().map(found).collect();
            assert!(all.iter().all(|it| *it == all[0]), "{}: {all:?}", bstr::BStr::new(&path));
            assert!(all[0].contains(&place), "{}", bstr::BStr::new(&path));
        }
    }
}
