//! All kinds of vectors have the same kernels.

use portcullis_testkit::Random;

use super::*;

/// The kernels of a kind for one text, whose first bytes may be skipped.
struct Seen<'t> {
    line: &'t Line,
    filter: &'t [U64],
    text: &'t [u8],
    levels: u8,
}

impl Work for Seen<'_> {
    type Output = (Vec<u64>, Option<u8>);

    fn with(self, kind: impl Kind) -> Self::Output {
        let Seen { line, filter, text, levels } = self;
        let windows = (0..text.len().max(1)).step_by(WINDOW);
        let positions = windows.map(|start| kind.positions(line, text, start)).collect();
        (positions, kind.levels_of(filter, text, levels))
    }
}

/// `scripts/check` prints this.
#[test]
fn kinds_of_vectors() {
    let kinds: Vec<String> =
        Vectors::all().iter().map(|Vectors(kind)| format!("{kind:?}")).collect();
    println!("kinds of vectors: {}", kinds.join(", "));
    assert_eq!(format!("{:?}", Vectors::detect()), format!("{:?}", Vectors::all().last().unwrap()));
}

/// Texts of every length, at every offset of a vector, with NUL, TAB, other controls, and bytes outside
/// ASCII; sparse and dense lines of pairs; filters of every small size.
#[test]
fn kernels_agree() {
    let mut random = Random::new(1);
    let (lengths, rounds) = if cfg!(miri) { (40, 1) } else { (200, 40) };
    let bytes = b"ab/?=.\0\t\r\x01\x1f\x7f\x80\xff";
    let (mut found, mut seen) = (0, 0);
    for length in 0..=lengths {
        for round in 0..rounds {
            let text = random.word(bytes, length..=length);
            // Fewer bits in later rounds.
            let word = |random: &mut Random| {
                U64::new((0..=round % 4).fold(u64::MAX, |word, _| word & random.next_u64()))
            };
            let line: Line = std::array::from_fn(|_| word(&mut random));
            let filter: Vec<U64> = (0..random.below(20)).map(|_| word(&mut random)).collect();
            let text = &text[random.below(3).min(length)..];
            let levels = random.next_u64() as u8;
            let see =
                |vectors: Vectors| vectors.run(Seen { line: &line, filter: &filter, text, levels });
            let all: Vec<_> = Vectors::all().into_iter().map(see).collect();
            assert!(all.iter().all(|it| *it == all[0]), "{}: {all:?}", text.escape_ascii());
            assert_eq!(all[0].1.is_none(), filter.is_empty());
            found += usize::from(all[0].0.iter().any(|positions| *positions != 0));
            seen += usize::from(all[0].1.is_some_and(|levels| levels != 0));
        }
    }
    if !cfg!(miri) {
        assert!(found > 500 && seen > 500, "{found} {seen}");
    }
}
