//! Round trips: a file contains the written bytes, and appears complete or not at all.

mod damage;
mod hostile;
mod writing;

use std::sync::Arc;

use zerocopy::FromBytes;
use zerocopy::little_endian::{U32, U64};

use portcullis_set::file::{Damage, FilePart, SetError, SetFile, Storage};
use portcullis_set::limits::SET_BLOCK_BYTES;

use super::*;

const WORDS: SectionKind = SectionKind(901);
const EMPTY: SectionKind = SectionKind(902);
const TEXT: SectionKind = SectionKind(903);

fn fields() -> HeaderFields {
    let counts: [u64; 16] = std::array::from_fn(|index| index as u64 * 1_000);
    HeaderFields {
        dialect_name: HeaderFields::name_field("rfc9309"),
        reading_revision: 0x89AB_CDEF,
        matching_revision: 0x0123_4567,
        robots_bytes_max: 512_000,
        flags: 5,
        counts: zerocopy::transmute!(counts),
    }
}

/// Returns noise, in which no two blocks are equal.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = portcullis_testkit::Random::new(seed);
    (0..bytes).map(|_| random.next_u64() as u8).collect()
}

fn written(sections: &[(SectionKind, &[u8])]) -> Written<Vec<u8>> {
    let mut writer = SetFileWriter::in_memory();
    for (kind, bytes) in sections {
        writer.begin(*kind).unwrap();
        writer.write(bytes).unwrap();
    }
    let Written { content_hash, file_bytes, file } = writer.finish(&fields()).unwrap();
    Written { content_hash, file_bytes, file: file.into_inner() }
}

fn opened(bytes: Vec<u8>) -> Result<SetFile, SetError> {
    SetFile::open(Storage::owned("a.set", bytes[..].into()))
}

/// Returns the first damage that verifying finds.
fn damage(set: &SetFile) -> Damage {
    let SetError::Damaged(damage) = set.verify().unwrap_err() else { panic!("it is refused") };
    damage
}

/// Returns three sections in three blocks of data, with padding between and after them.
fn small() -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (words, text) = (noise(4 * 700, 1), noise(6_001, 2));
    let file = written(&[(WORDS, &words), (EMPTY, b""), (TEXT, &text)]).file;
    (file, words, text)
}

#[test]
fn written_sections_are_read() {
    let (file, words, text) = small();
    assert_eq!(file.len(), (1 + 3 + 1) * SET_BLOCK_BYTES);
    for set in [opened(file.clone()).unwrap(), SetFile::trusted("a set", file[..].into()).unwrap()]
    {
        assert_eq!(set.fields(), &fields());
        assert_eq!(set.sections().len(), 3);
        assert_eq!(set.section(SectionKind(1)), None);
        let section = set.section(TEXT).unwrap();
        assert_eq!((section.kind, section.bytes), (TEXT, 6_001));
        assert_eq!(set.bytes(section, 0, 6_001).unwrap(), text);
        assert_eq!(set.bytes(section, 5_000, 7).unwrap(), &text[5_000..5_007]);
        assert_eq!(set.bytes(section, 6_001, 0).unwrap(), b"");
        let section = set.section(WORDS).unwrap();
        assert_eq!(set.bytes(section, 0, 2_800).unwrap(), words);
        assert_eq!(set.bytes(set.section(EMPTY).unwrap(), 0, 0).unwrap(), b"");
        assert_eq!(set.verify().unwrap(), 5);
        set.is_whole().unwrap();
    }
}

#[test]
fn numbers_are_read_in_place_without_alignment() {
    let numbers: Vec<u8> = (0..3_000_u32).flat_map(|n| (n * 7).to_le_bytes()).collect();
    let file = written(&[(WORDS, &numbers)]).file;
    // A vector begins at an even address, so one of these is unaligned.
    let shifted = [&[0], file.as_slice()].concat();
    assert_eq!(<[U32]>::ref_from_bytes(&shifted[1..][4_096..4_104]).unwrap()[1], 7);
    let set = opened(file).unwrap();
    let section = set.section(WORDS).unwrap();
    let words = set.items::<U32>(section, 1_000, 2_000).unwrap();
    assert!(words.iter().zip(1_000..).all(|(word, n)| word.get() == n * 7));
    assert_eq!(set.items::<U64>(section, 1_500, 0).unwrap().len(), 0);
    assert!(set.items::<U64>(section, 1_499, 2).is_err());
    assert!(set.items::<U64>(section, u64::MAX, 2).is_err());
    assert!(set.items::<U64>(section, 2, u64::MAX / 8 + 2).is_err());
}

#[test]
fn reads_past_a_section_are_damage() {
    let set = opened(small().0).unwrap();
    let section = set.section(TEXT).unwrap();
    for (start, bytes) in
        [(0, 6_002), (6_001, 1), (6_002, 0), (u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX)]
    {
        let damage = set.bytes(section, start, bytes).unwrap_err();
        assert_eq!(damage.place(), FilePart::Section(TEXT));
        let text = damage.to_string();
        assert!(text.contains("a.set") && text.contains("section 903"), "{text}");
        assert!(text.contains("portcullis compile"), "{text}");
    }
    // A section of another file is a mistake, but does not panic.
    let other = opened(written(&[(TEXT, &noise(100_000, 3))]).file).unwrap();
    let section = other.section(TEXT).unwrap();
    assert!(set.bytes(section, 90_000, 5_000).is_err());
}

#[test]
fn a_set_of_several_levels() {
    let content = noise(700 * SET_BLOCK_BYTES, 4);
    let written = written(&[(TEXT, &content)]);
    assert_eq!(written.file_bytes, (1 + 700 + 2 + 1) * 4_096);
    let set = opened(written.file).unwrap();
    let section = set.section(TEXT).unwrap();
    for start in (0..content.len() - 9_000).step_by(70_001) {
        let bytes = set.bytes(section, start as u64, 9_000).unwrap();
        assert_eq!(bytes, &content[start..start + 9_000]);
    }
    assert_eq!(set.bytes(section, 0, content.len() as u64).unwrap(), content);
    set.verify().unwrap();
}

#[test]
fn a_set_without_content() {
    let empty = written(&[]);
    assert_eq!(empty.file.len(), SET_BLOCK_BYTES);
    assert_eq!(empty.file[56..64], 0x2D06_8005_38D3_94C2_u64.to_le_bytes());
    opened(empty.file).unwrap().verify().unwrap();
    let holed = written(&[(EMPTY, b""), (TEXT, b"")]).file;
    opened(holed).unwrap().verify().unwrap();
    // A section ends with its block, and an empty section follows.
    let full = noise(SET_BLOCK_BYTES - 2, 5);
    let set = opened(written(&[(TEXT, &full), (EMPTY, b"")]).file).unwrap();
    assert_eq!(set.file_bytes(), 3 * 4_096);
    set.verify().unwrap();
}

#[test]
fn threads_may_touch_the_same_blocks() {
    let content = noise(600 * SET_BLOCK_BYTES, 6);
    let set = opened(written(&[(TEXT, &content)]).file).unwrap();
    let section = set.section(TEXT).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let (set, content) = (&set, &content);
            scope.spawn(move || {
                for step in 0..5_000 {
                    let start = (step * 104_729 + thread * 37) % (content.len() - 5_000);
                    let bytes = set.bytes(section, start as u64, 5_000).unwrap();
                    assert!(bytes == &content[start..start + 5_000]);
                }
            });
        }
    });
}

/// Threads may share a set and send its errors.
#[test]
fn it_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Arc<SetFile>>();
    shared::<SetError>();
    shared::<portcullis_files::error::WriteError>();
    assert_eq!(size_of::<Result<&[u8], Damage>>(), 16);
}
