//! Round trips of tables, and tables that no builder writes.

use std::collections::BTreeSet;
use std::io::Cursor;

use portcullis_files::scratch::Scratch;
use portcullis_set::file::{Damage, HeaderFields, SectionKind, SetCounts, SetFile, Storage};
use portcullis_set::strings::Strings;

use super::*;
use crate::writer::{SectionSink, SetFileWriter};

fn fields() -> HeaderFields {
    HeaderFields {
        dialect_name: HeaderFields::name_field("rfc9309"),
        reading_revision: 0,
        matching_revision: 0,
        robots_bytes_max: u64::MAX,
        flags: 0,
        counts: SetCounts::default(),
    }
}

fn trusted(writer: SetFileWriter<Cursor<Vec<u8>>>) -> SetFile {
    let bytes = writer.finish(&fields()).unwrap().file.into_inner();
    SetFile::trusted("a set", bytes[..].into()).unwrap()
}

fn file_of(table: &StringTable) -> SetFile {
    let mut writer = SetFileWriter::in_memory();
    table.write(SectionKind::RECORD_STRINGS, &mut writer).unwrap();
    let bytes = writer.finish(&fields()).unwrap().file.into_inner();
    SetFile::open(Storage::owned("a.set", bytes[..].into())).unwrap()
}

fn opened(file: &SetFile) -> Strings {
    Strings::open(file, SectionKind::RECORD_STRINGS).unwrap()
}

/// Returns a file with these sections, valid or not.
fn file_with(strings: &[u8], starts: &[u64]) -> SetFile {
    let mut writer = SetFileWriter::in_memory();
    writer.begin(SectionKind::STRINGS).unwrap();
    writer.write(strings).unwrap();
    writer.begin(SectionKind::STRING_BUCKETS).unwrap();
    for start in starts {
        writer.write(&start.to_le_bytes()).unwrap();
    }
    trusted(writer)
}

/// Strings with much in common, some of them prefixes of others.
fn sample(count: u32) -> Vec<Vec<u8>> {
    let words = ["Disallow: /", "Allow: /", "User-agent: ", "", "Sitemap: https://a.example/"];
    let string = |n: u32| {
        let word = words[n as usize % words.len()];
        let tail = n.wrapping_mul(2_654_435_761) % 5_000;
        let mut string = format!("{word}{tail:o}").into_bytes();
        string.resize(string.len() + (n % 97 / 96 * 300) as usize, b'\xFF');
        string
    };
    (0..count).map(string).chain([vec![], vec![b'\0'], vec![b'/'; 5_000]]).collect()
}

#[test]
fn strings_come_back_in_any_order() {
    for count in [0, 1, 12, 13, 14, 15, 16, 29, 30, 10_000] {
        let strings = sample(count);
        let mut table = StringTable::new(&Scratch::in_memory());
        let mut numbers = || strings.iter().map(|it| table.intern(it).unwrap()).collect::<Vec<_>>();
        let known = numbers();
        assert_eq!(known, numbers());
        let distinct: BTreeSet<&Vec<u8>> = strings.iter().collect();
        assert_eq!(table.len(), distinct.len() as u64);
        let file = file_of(&table);
        let read = opened(&file);
        let mut found = b"whatever was here".to_vec();
        for (string, &number) in strings.iter().zip(&known).rev() {
            read.get(&file, number, &mut found).unwrap();
            assert_eq!(&found, string);
        }
        for number in [table.len().next_multiple_of(BUCKET_STRINGS as u64) as u32, u32::MAX] {
            assert!(read.get(&file, number, &mut found).is_err());
        }
    }
}

/// A string that is used often is stored once, and one that was not used for long again.
#[test]
fn old_strings_are_forgotten() {
    let mut table = StringTable::new(&Scratch::in_memory());
    let long = |number: u32| format!("{number:07}{}", "x".repeat(1_000)).into_bytes();
    let (usual, rare) = (b"User-agent: *", b"Disallow: /rare");
    let first = table.intern(rare).unwrap();
    let known = table.intern(usual).unwrap();
    for number in 0..3 * (STRING_GENERATION_BYTES / 1_000) as u32 {
        table.intern(&long(number)).unwrap();
        assert_eq!(table.intern(usual).unwrap(), known);
    }
    assert_ne!(table.intern(rare).unwrap(), first);
}

#[test]
fn names_are_found_by_their_bytes() {
    let mut names = NameTable::default();
    for (name, number) in [("gptbot", 0), ("ccbot", 1), ("gptbot", 0), ("a", 2)] {
        assert_eq!(names.intern(name.as_bytes()).unwrap(), number);
    }
    let mut writer = SetFileWriter::in_memory();
    names.write(&mut writer).unwrap();
    let bytes = writer.finish(&fields()).unwrap().file.into_inner();
    let file = SetFile::trusted("a set", bytes[..].into()).unwrap();
    let section = file.section(SectionKind::TOKENS).unwrap();
    let words = [3, 6, 11, 12, 2, 1, 0].into_iter().flat_map(u32::to_le_bytes);
    let expected: Vec<u8> = words.chain(*b"gptbotccbota").collect();
    assert_eq!(file.bytes(section, 0, section.bytes).unwrap(), expected);
}

#[test]
fn missing_sections_are_damage() {
    let writer = SetFileWriter::in_memory();
    let file = trusted(writer);
    let damage = Strings::open(&file, SectionKind::RECORD_STRINGS).unwrap_err();
    assert!(damage.to_string().contains("section 'strings'"), "{damage}");
}

/// Returns the damage that reading each string reports.
fn damages(file: &SetFile, count: u32) -> Vec<Damage> {
    let strings = opened(file);
    let mut found = Vec::new();
    (0..count).filter_map(|id| strings.get(file, id, &mut found).err()).collect()
}

#[test]
fn malformed_tables_are_damage() {
    let cases: &[(&str, &[u8], &[u64], u32)] = &[
        ("shares more bytes", b"\x01\x01a", &[0, 3], 1),
        ("shares more bytes", b"\0\x01a\x02\x01b", &[0, 6], 2),
        ("does not end within", b"\0\x02a", &[0, 3], 1),
        ("does not end within", b"\0\xFF\xFF\xFF\xFF\x0Fa", &[0, 7], 1),
        ("has no length", b"\0\x01a", &[0, 3], 2),
        ("has no length", b"\0", &[0, 1], 1),
        ("has no length", b"\0\x80\0", &[0, 3], 1),
        ("has no length", b"\0\xFF\xFF\xFF\xFF\xFF", &[0, 6], 1),
        ("has no length", b"", &[0, 0], 1),
        ("is out of bounds", b"\0\x01a", &[0, 4], 1),
        ("is out of bounds", b"\0\x01a", &[0, u64::MAX], 1),
        ("is out of bounds", b"\0\x01a", &[u64::MAX - 1, u64::MAX], 1),
        ("ends before it begins", b"\0\x01a", &[3, 0], 1),
    ];
    for &(expected, bytes, starts, count) in cases {
        let found = damages(&file_with(bytes, starts), count);
        assert!(!found.is_empty(), "{bytes:?} {starts:?}");
        for damage in found {
            assert!(damage.to_string().contains(expected), "{damage}, expected {expected}");
        }
    }
}

/// Every table of a few bytes, and every flipped bit of a real one, ends in time and without a
/// panic.
#[test]
fn no_table_does_harm() {
    let bytes = [0, 1, 2, b'a', 0x80, 0xFF];
    for number in 0..bytes.len().pow(5) {
        let table: Vec<u8> = (0..5).map(|at| bytes[number / bytes.len().pow(at) % 6]).collect();
        damages(&file_with(&table, &[0, 5]), 3);
    }
    let mut table = StringTable::new(&Scratch::in_memory());
    for string in [&b"/a"[..], b"/ab", b"/abc", b"/b", b"/b/c/d/e/f"] {
        table.intern(string).unwrap();
    }
    let file = file_of(&table);
    let section = file.section(SectionKind::STRINGS).unwrap();
    let whole = file.bytes(section, 0, section.bytes).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        damages(&file_with(&flipped, &[0, section.bytes]), 5);
    }
}
