//! Round trips of tables, and tables that no builder writes.

use std::collections::BTreeSet;

use portcullis_files::scratch::Scratch;
use portcullis_set::file::{Damage, HeaderFields, SectionKind, SetFile, Storage};
use portcullis_set::strings::Strings;

use super::*;
use crate::writer::{SectionSink, SetFileWriter};

fn fields() -> HeaderFields {
    HeaderFields {
        dialect_name: "rfc9309".into(),
        reading_revision: 0,
        matching_revision: 0,
        robots_bytes_max: None,
        flags: 0,
        counts: [0; 16],
    }
}

fn file_of(table: &StringTable) -> SetFile {
    let mut writer = SetFileWriter::in_memory(0).unwrap();
    table.write(&mut writer).unwrap();
    let bytes = writer.finish(&fields()).unwrap().finished;
    SetFile::open(Storage::owned("a.set", bytes[..].into())).unwrap()
}

/// Returns a file with these sections, valid or not.
fn file_with(strings: &[u8], starts: &[u64]) -> SetFile {
    let mut writer = SetFileWriter::in_memory(0).unwrap();
    writer.begin(SectionKind::STRINGS).unwrap();
    writer.write(strings).unwrap();
    writer.begin(SectionKind::STRING_BUCKETS).unwrap();
    for start in starts {
        writer.write(&start.to_le_bytes()).unwrap();
    }
    SetFile::trusted("a set", writer.finish(&fields()).unwrap().finished).unwrap()
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
        let mut builder = StringTableBuilder::new(&Scratch::in_memory());
        let provisional: Vec<_> =
            strings.iter().map(|string| builder.intern(string).unwrap()).collect();
        let again: Vec<_> = strings.iter().map(|string| builder.intern(string).unwrap()).collect();
        assert_eq!(provisional, again);
        let distinct: BTreeSet<&Vec<u8>> = strings.iter().collect();
        let table = builder.finish().unwrap();
        assert_eq!(table.len(), distinct.len() as u64);
        let file = file_of(&table);
        let read = Strings::open(&file, table.len()).unwrap();
        let mut found = b"whatever was here".to_vec();
        for (string, provisional) in strings.iter().zip(provisional).rev() {
            let id = table.id(provisional).unwrap();
            read.get(&file, id, &mut found).unwrap();
            assert_eq!(&found, string);
        }
        for (id, string) in (0..).map(StringID).zip(&distinct) {
            read.get(&file, id, &mut found).unwrap();
            assert_eq!(&&found, string);
            assert_eq!(read.count_before(&file, string).unwrap(), id.0);
            // The next possible string.
            found.push(0);
            assert_eq!(read.count_before(&file, &found).unwrap(), id.0 + 1);
        }
        assert!(read.get(&file, StringID(table.len() as u32), &mut found).is_err());
        assert!(read.get(&file, StringID(u32::MAX), &mut found).is_err());
    }
}

#[test]
fn the_order_of_ingesting_makes_no_difference() {
    let strings = sample(2_000);
    let folder = tempfile::tempdir().unwrap();
    let mut hashes = BTreeSet::new();
    for memory in [usize::MAX, 400_000, 40_000, 4_000] {
        for order in ["as they come", "sorted", "reversed"] {
            let mut builder =
                StringTableBuilder::new(&Scratch::with_little_memory(folder.path(), memory));
            let mut strings = strings.clone();
            match order {
                "sorted" => strings.sort(),
                "reversed" => strings.reverse(),
                _ => {}
            }
            // A string comes back in later runs too.
            for string in strings.iter().chain(&strings) {
                builder.intern(string).unwrap();
            }
            let table = builder.finish().unwrap();
            hashes.insert((table.len(), file_of(&table).content_hash()));
        }
    }
    assert_eq!(hashes.len(), 1);
}

#[test]
fn no_strings() {
    let table = StringTableBuilder::new(&Scratch::in_memory()).finish().unwrap();
    let file = file_of(&table);
    let strings = Strings::open(&file, 0).unwrap();
    assert!(strings.get(&file, StringID(0), &mut Vec::new()).is_err());
}

#[test]
fn sections_that_do_not_fit_the_number_of_strings() {
    let file = file_with(b"\0\x01a", &[0, 3]);
    assert!(Strings::open(&file, 16).is_ok());
    for count in [0, 17, u64::from(u32::MAX), u64::MAX, 1 << 32 | 1] {
        let damage = Strings::open(&file, count).unwrap_err();
        assert!(damage.to_string().contains("section 'string buckets'"), "{damage}");
    }
    let writer = SetFileWriter::in_memory(0).unwrap();
    let file = SetFile::trusted("a set", writer.finish(&fields()).unwrap().finished).unwrap();
    let damage = Strings::open(&file, 1).unwrap_err();
    assert!(damage.to_string().contains("section 'strings'"), "{damage}");
}

/// Returns the damage that reading each string reports.
fn damages(file: &SetFile, count: u32) -> Vec<Damage> {
    let strings = Strings::open(file, u64::from(count)).unwrap();
    let mut found = Vec::new();
    let before = strings.count_before(file, b"/b");
    assert!(before.is_err() || before.is_ok_and(|before| before <= count));
    (0..count).filter_map(|id| strings.get(file, StringID(id), &mut found).err()).collect()
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
    let mut builder = StringTableBuilder::new(&Scratch::in_memory());
    for string in [&b"/a"[..], b"/ab", b"/abc", b"/b", b"/b/c/d/e/f"] {
        builder.intern(string).unwrap();
    }
    let table = builder.finish().unwrap();
    let file = file_of(&table);
    let section = file.section(SectionKind::STRINGS).unwrap();
    let whole = file.bytes(section, 0, section.bytes()).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        damages(&file_with(&flipped, &[0, section.bytes()]), 5);
    }
}
