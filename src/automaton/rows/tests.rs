use super::*;
use crate::automaton::{Automaton, Cache, Limits};
use crate::pattern::PatternList;

/// What rows say of every path is what nodes say, before and after cells are filled.
#[test]
fn rows_say_what_nodes_say() {
    let texts: [&[u8]; 5] =
        [b"/a*b", b"/aa$", b"/*c*d$", b"/b/a-long-literal-of-many-octets", b"/"];
    for count in 0..=texts.len() {
        for detail in [Detail::Reason, Detail::Rule] {
            check(&texts[..count], detail);
        }
    }
}

fn check(texts: &[&[u8]], detail: Detail) {
    let mut patterns = PatternList::new();
    texts.iter().for_each(|text| patterns.push(text, true));
    let outcomes: Vec<_> = (1..=texts.len() as u32).map(|n| Outcome::new(n, n % 2 == 0)).collect();
    let automaton = Automaton::new(patterns, outcomes, &Limits::default());
    let stored = automaton.stored().expect("it is small");
    let mut rows = Rows::default();
    let start = rows.start(7, &stored, detail).unwrap();
    let paths = paths();
    let expected = |path: &[u8]| automaton.decide(path, detail, &mut Cache::default());
    for is_filled in [false, true] {
        let mut walks: Vec<_> = paths.iter().map(|path| (path, start)).collect();
        rows.walk_all(&mut walks, |(path, row)| (*row, path.as_slice()), |walk, end| walk.1 = end);
        for (path, end) in walks {
            let is_walked = path.iter().all(|octet| (1..128).contains(octet));
            match rows.outcome(end) {
                Some(outcome) => assert_eq!(outcome, expected(path), "{texts:?} {path:?}"),
                None => {
                    assert_eq!(end, RowID::UNKNOWN);
                    assert!(!is_filled || !is_walked, "{texts:?} {path:?}");
                }
            }
            match rows.fill(7, stored.words, start, path, detail) {
                Filled::Done(outcome) => assert_eq!(outcome, expected(path)),
                other => assert!(other == Filled::Unbuilt && !is_walked),
            }
        }
    }
}

/// Paths of every length up to some chunks, with every octet somewhere.
fn paths() -> Vec<Vec<u8>> {
    let mut paths = vec![b"/".to_vec()];
    for length in 0..40 {
        for text in [&b"aab-acd"[..], b"b/a-long-literal-of-many-octets", b"aa", b"x"] {
            let octets = text.iter().cycle().take(length);
            paths.push([b'/'].iter().chain(octets).copied().collect());
        }
    }
    for place in 1..20 {
        for octet in 0..=255 {
            let mut path = b"/a-path-of-twenty-octets"[..20].to_vec();
            path[place] = octet;
            paths.push(path);
        }
    }
    paths
}

#[test]
fn a_full_memory_says_so() {
    let mut rows = Rows::default();
    let place = |read| Place { node: Target::from_word(0), read };
    for read in 0..ROWS as u32 - 1 {
        assert!(rows.row_of_place(0, place(read)).is_some());
    }
    assert_eq!(rows.row_of_place(0, place(ROWS as u32)), None);
    assert_eq!(rows.row_of_outcome(Outcome::NONE), None);
    assert!(rows.row_of_place(0, place(1)).is_some(), "what is known stays");
}
