//! Sets that were written once and have to stay readable: what this version compiles, and ten damages.
//!
//! Every later version has to answer from the sound ones as they were meant, and to refuse each damaged one
//! by its name. A version that cannot read a format any more moves its sound sets to the damaged ones.
//!
//! `WRITE=1` writes them again, which is right only while the format was not released.

use portcullis_dialect::dialect::KOSTER_1996;
use portcullis_set::file::StoredHeader;
use portcullis_set::limits::SET_BLOCK_BYTES;
use portcullis_testkit::files::{self, project};
use zerocopy::FromBytes;

use super::*;

/// A sound set: its name, how it is compiled, and what is asked of it.
type Sound = (&'static str, fn() -> Vec<u8>);

const SOUND: [Sound; 3] = [
    ("small.pcs", || sample::small(&RFC_9309)),
    ("history.pcs", || sample::with_history(&GOOGLE)),
    ("koster.pcs", || sample::small(&KOSTER_1996)),
];

/// A damaged set: its name, what is done to the bytes of the small one, and what the error says.
type Damaged = (&'static str, fn(Vec<u8>) -> Vec<u8>, &'static str);

const DAMAGED: [Damaged; 10] = [
    ("cut.pcs", |set| set[..set.len() - 1].to_vec(), "is cut short"),
    ("long.pcs", |set| [set, vec![0; 8]].concat(), "bytes were appended"),
    ("text.pcs", |set| as_text(&set), "converted as text"),
    ("newer.pcs", |set| with_header(set, |it| it.version = u16::MAX), "newer portcullis"),
    ("older.pcs", |set| with_header(set, |it| it.version = 1), "older portcullis"),
    (
        "unknown-section.pcs",
        |set| {
            with_header(set, |it| {
                (it.table[0].kind, it.table[0].flags) = (9_999, 1);
            })
        },
        "has section 9999, which this portcullis does not know",
    ),
    (
        "other-dialect.pcs",
        |set| with_header(set, |it| it.fields.dialect_name[0] ^= 1),
        "as this version does not know it",
    ),
    (
        "other-matching.pcs",
        |set| with_header(set, |it| it.fields.matching_revision = u32::MAX),
        "matched paths differently",
    ),
    (
        "flipped.pcs",
        |mut set| {
            set[SET_BLOCK_BYTES + 100] ^= 1;
            set
        },
        "the checksum of the block is",
    ),
    (
        "rewritten.pcs",
        |set| {
            // A bit of the first prefilter, with right checksums.
            let mut parts = Parts::of(set);
            parts.section(SectionKind::RULE_SETS)[40] ^= 1;
            parts.sealed()
        },
        "it differs from what the content of the set compiles to",
    ),
];

/// Changes a header and seals it again.
fn with_header(mut set: Vec<u8>, change: impl FnOnce(&mut StoredHeader)) -> Vec<u8> {
    let header = StoredHeader::mut_from_bytes(&mut set[..SET_BLOCK_BYTES]).unwrap();
    change(header);
    header.seal();
    set
}

/// Returns bytes as a program leaves them that changes the line ends of texts.
fn as_text(set: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for (index, &byte) in set.iter().enumerate() {
        match byte {
            b'\r' if set.get(index + 1) == Some(&b'\n') => {}
            _ => text.push(byte & 0x7F),
        }
    }
    text
}

fn stored(name: &str, made: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    files::stored(&project("crates/build/src/tests/sets").join(name), made)
}

/// Returns the answers for each agent of the samples.
fn answers(set: PolicySet) -> Vec<Decision> {
    let dialect = set.dialect();
    let chain = |name: &&str| Crawler::parse(name, dialect).unwrap();
    let agents = sample::AGENTS.iter().map(chain).collect();
    let mut session = asked(&Arc::new(set), agents).unwrap();
    let urls = sample::urls();
    session.decide(&urls).unwrap().decisions_with_rules().unwrap()
}

#[test]
fn sound_sets_answer_as_ever() {
    for (name, compile) in SOUND {
        let set = PolicySet::from_bytes(name, stored(name, compile)).unwrap();
        crate::verify(&set, &Scratch::in_memory()).unwrap();
        let now = PolicySet::from_bytes("now", compile()).unwrap();
        let answers = answers(set);
        assert!(answers.iter().filter(|it| it.verdict == Verdict::Disallow).count() > 3, "{name}");
        assert_eq!(answers, self::answers(now), "{name}");
    }
}

#[test]
fn damaged_sets_are_refused_by_name() {
    let small = || stored("small.pcs", || sample::small(&RFC_9309));
    for (name, damage, words) in DAMAGED {
        let bytes = stored(name, || damage(small()));
        let set = PolicySet::from_bytes(name, bytes);
        let refused = set.and_then(|set| crate::verify(&set, &Scratch::in_memory()));
        let text = refused.expect_err(name).to_string();
        assert!(text.contains(name) && text.contains(words), "{name}: {text}");
    }
}

/// Sets of format 15, and what they were compiled from.
const FORMAT_15: [Sound; 3] = [
    ("format-15.pcs", || sample::small(&RFC_9309)),
    ("format-15-history.pcs", || sample::with_history(&GOOGLE)),
    ("format-15-koster.pcs", || sample::small(&KOSTER_1996)),
];

#[test]
fn sets_of_format_15_are_compiled_again() {
    for (name, compile) in FORMAT_15 {
        let path = project("crates/build/src/tests/sets").join(name);
        let refused = PolicySet::open(&path).expect_err(name).to_string();
        assert!(refused.contains("another format (15, this one uses 17)"), "{refused}");
        let old = PolicySet::open_to_compile(&path).unwrap();
        let settled = crate::merging::settled(&old, &Scratch::in_memory()).unwrap();
        let again = crate::compile::to_vec(&settled.standings, &settled.compiling).unwrap();
        assert!(again == compile(), "{name}");
    }
}
