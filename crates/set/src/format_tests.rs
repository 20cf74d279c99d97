//! Checks that the tables of numbers in `FORMAT.md` match the constants.

use std::mem::offset_of;

use super::file::{SectionKind, SetCounts, StoredHeader};
use super::layout::{
    CaptureRow, HistoryRow, HostLine, LINE_SLOTS, OutageRow, Pairs, PolicyHead, ResponseRow,
    RuleSetRow, SlotLine, TimelinesHead, line_of, lines_for, partition_point, policy, record,
};
use crate::layout::record::In;
use crate::lists::Role;
use portcullis_dialect::Field;
use portcullis_dialect::decision::PolicyState;
use portcullis_robots::access::CaptureNote;
use portcullis_robots::syntax::NoteKind;
use zerocopy::IntoBytes;

const FORMAT: &str = include_str!("FORMAT.md");

/// A row of a table: the number in its first cell, and its other cells.
type Row = (usize, &'static str);

/// Returns the tables in the section with this number, as far as their rows begin with numbers.
fn tables(section: u32) -> Vec<Vec<Row>> {
    let title = format!("\n## {section}. ");
    let start = FORMAT.find(&title).unwrap_or_else(|| panic!("there is no section {section}"));
    let text = &FORMAT[start + title.len()..];
    let text = &text[..text.find("\n## ").unwrap_or(text.len())];
    let row = |line: &'static str| {
        let (first, rest) = line.strip_prefix('|')?.split_once('|')?;
        Some((first.trim().replace(',', "").parse().ok()?, rest))
    };
    let tables = text.split("\n\n").map(|part| part.lines().filter_map(row).collect());
    tables.filter(|rows: &Vec<Row>| !rows.is_empty()).collect()
}

/// Offsets in bytes of the fields of a type.
macro_rules! offsets {
    ($type:ty: $($($field:ident).+ $words:literal)*) => {
        &[$((offset_of!($type, $($field).+), $words)),*]
    };
}

/// A table: its section, its number in the section, what its rows say by their numbers, and the
/// number of rows if these are all.
type Table<'t> = (u32, usize, &'t [(usize, &'t str)], Option<usize>);

#[test]
fn tables_are_those_of_the_constants() {
    let words = |rows: &[(usize, &'static str)]| -> Vec<(usize, &'static str)> {
        rows.iter().map(|&(bytes, words)| (bytes / size_of::<u32>(), words)).collect()
    };
    let counts = |rows: &[(usize, &'static str)]| -> Vec<(usize, &'static str)> {
        rows.iter().map(|&(bytes, words)| (bytes / size_of::<u64>(), words)).collect()
    };
    let head = words(
        offsets!(PolicyHead: rest "the rest" document "`documents`" usage_records "`usage records`"
        default_entry "entry of the default" default_line "first line" default_lines "number of lines"
        names_and_state "names"),
    );
    let outage = words(offsets!(OutageRow: capture "capture" since "lower half" copy "lower half"));
    let rows: [Table<'_>; 16] = [
        (
            3,
            0,
            offsets!(StoredHeader: version "format version" minor_version "minor version" sections "number of sections"
            file_bytes "bytes of the whole file" content_hash "content hash" root "root checksum"
            fields.reading_revision "files are read" fields.matching_revision "paths are matched"
            fields.robots_bytes_max "bytes of a robots.txt" fields.flags "flags"
            fields.dialect_name "name of the dialect" fields.counts "counts" table "table of sections"
            checksum "checksum"),
            None,
        ),
        (
            7,
            0,
            &counts(&[
                (offset_of!(SetCounts, hosts), "hosts"),
                (offset_of!(SetCounts, origins), "origins"),
                (offset_of!(SetCounts, policies), "policies"),
                (offset_of!(SetCounts, rule_sets), "rule sets"),
                (offset_of!(SetCounts, captures), "captures"),
                (offset_of!(SetCounts, strings), "strings"),
                (offset_of!(SetCounts, tokens), "names"),
                (offset_of!(SetCounts, dates), "earliest"),
                (offset_of!(SetCounts, dates) + 8, "latest"),
                (offset_of!(SetCounts, file_notes), "looks-like-html"),
                (offset_of!(SetCounts, file_notes) + 8, "looks-binary"),
                (offset_of!(SetCounts, file_notes) + 16, "looks-like-json"),
                (offset_of!(SetCounts, file_notes) + 24, "file-cut"),
                (offset_of!(SetCounts, host_seed), "seed"),
            ]),
            Some(14),
        ),
        (
            15,
            1,
            &[
                (Role::STARTS_GROUP.number() as usize, "starts a group"),
                (Role::of(Field::UserAgent, true).number() as usize, "extends the group"),
                (Role::of(Field::Allow, true).number() as usize, "Allow"),
                (Role::of(Field::Disallow, true).number() as usize, "Disallow"),
            ],
            None,
        ),
        (
            15,
            2,
            &[
                (record::STRING as usize, "a string"),
                (record::PATTERN as usize, "and `$`"),
                (record::PATTERN_AND_STAR as usize, "and `*`"),
            ],
            None,
        ),
        (
            9,
            0,
            &[
                (offset_of!(HostLine, key_bytes), "bytes of the key"),
                (offset_of!(HostLine, policies), "policy for http,"),
                (offset_of!(HostLine, policies) + 4, "policy for https,"),
                (offset_of!(HostLine, captures), "capture for http,"),
                (offset_of!(HostLine, captures) + 4, "capture for https,"),
                (offset_of!(HostLine, key), "the key"),
            ],
            None,
        ),
        (
            17,
            0,
            offsets!(CaptureRow: redirects "redirects" status "status" capture_notes "the response"
                file_notes "the file" serves_seconds "serves" file_bytes "bytes of the file"
                others "`others`" input "input" span_seconds "the span"),
            Some(10),
        ),
        (18, 0, &outage, Some(size_of::<OutageRow>() / 4)),
        (
            19,
            0,
            &[
                (offset_of!(TimelinesHead, long_outage) / 4, "long outages"),
                (offset_of!(TimelinesHead, policies) / 4, "policies"),
                (size_of::<TimelinesHead>() / 4, "for each capture"),
            ],
            Some(3),
        ),
        (
            19,
            1,
            &[
                (offset_of!(HistoryRow, date_and_input), "input"),
                (HistoryRow::INPUT_BITS as usize / 8, "the date"),
                (offset_of!(HistoryRow, policy), "number of the policy"),
                (offset_of!(HistoryRow, response), "number of the response"),
            ],
            Some(4),
        ),
        (
            19,
            2,
            offsets!(ResponseRow: status "status" redirects "redirects" has_date "date"
                capture_notes "the response" file_notes "the file" serves_seconds "serves"
                file_bytes "bytes of the file" others_or_target "`others`" file "newest file"
                first_failure "first failure"),
            Some(10),
        ),
        (10, 0, &head, Some(8)),
        (
            10,
            2,
            &[
                (policy::WORDS, "words of the whole"),
                (policy::TOKENS, "number of crawlers"),
                (policy::RULE_GROUPS, "number of rule groups"),
                (policy::DEFAULT_NAMING_LINE, "record that names the default"),
                (policy::HEAD_WORDS, "numbers of names"),
            ],
            None,
        ),
        (
            10,
            3,
            &[(policy::RULE_SET, "rule set"), (policy::ORDER, "order"), (policy::GROUPS, "groups")],
            Some(policy::RULE_GROUP_WORDS),
        ),
        (
            11,
            0,
            &[
                (offset_of!(RuleSetRow, line) / 4, "the line of `rule sets`"),
                (offset_of!(RuleSetRow, lines) / 4, "number of its lines"),
            ],
            Some(size_of::<RuleSetRow>() / 4),
        ),
        (17, 1, &CaptureNote::ALL.map(|note| (note as usize, note.as_str())), None),
        (
            17,
            1,
            &NoteKind::ALL.map(|note| (16 + note as usize, note.as_str())),
            Some(CaptureNote::ALL.len() + NoteKind::ALL.len()),
        ),
    ];
    for (section, table, expected, count) in rows {
        let found = &tables(section)[table];
        for &(number, words) in expected {
            let row = found.iter().find(|row| row.0 == number);
            assert!(row.is_some_and(|row| row.1.contains(words)), "{number} {words}: {row:?}");
        }
        assert_eq!(found.len(), count.unwrap_or(found.len()), "section {section}");
    }
}

#[test]
fn dates_are_stored_in_five_bytes() {
    let last = (1 << 40) - 2;
    for (date, stored) in [(None, None), (Some(7), Some(7)), (Some(last), Some(last))] {
        let row = CaptureRow::dated(date);
        assert_eq!((row.captured_at(), &row.as_bytes()[5..]), (stored, &[0; 27][..]));
    }
    assert_eq!(CaptureRow::dated(Some(u64::MAX)).captured_at(), Some(last));
}

#[test]
fn the_kinds_of_sections() {
    let rows = &tables(7)[1];
    for (number, cells) in rows {
        let name = cells.split('|').next().unwrap().trim();
        assert_eq!(SectionKind(*number as u32).to_string(), format!("section '{name}'"));
    }
    let next = rows.iter().map(|(number, _)| *number as u32).max().unwrap_or(0) + 1;
    assert_eq!(SectionKind(next).to_string(), format!("section {next}"));
}

#[test]
fn lists_are_computed_as_described() {
    let places = [In::Documents, In::Usage, In::Others];
    assert_eq!(record::strings_at(33, 5 << 1), 2 + 5 + 5);
    assert_eq!(record::strings_at(33, 5 << 1 | 1), 2 + 2 * 5 + 5);
    let kinds = [0x8765_4321, 0x0000_000f].map(zerocopy::little_endian::U32::new);
    assert_eq!(places.map(|it| it.patterns(&kinds)), [6, 0, 0]);
    assert_eq!([0, 3, 4, 7].map(|first| record::patterns(0x8765_4321, first)), [5, 5, 4, 1]);
    assert_eq!(lines_for(10), 2 + 1);
    assert_eq!([0, 44, 45, 108, 109].map(HostLine::lines), [1, 1, 2, 2, 3]);
    assert_eq!((LINE_SLOTS, size_of::<SlotLine>()), (8, 64));
    for (pair, are_wide, stored) in [((3, 9), false, &[0x9_0003][..]), ((3, 9), true, &[3, 9])] {
        let mut words = Vec::new();
        Pairs::push(pair, are_wide, &mut words);
        assert!(words.iter().map(|word| word.get()).eq(stored.iter().copied()));
        assert_eq!(Pairs::head(5, are_wide), 10 + u32::from(are_wide));
        let pairs = Pairs::first_of(&words, 1, are_wide).unwrap();
        assert_eq!((pairs.len(), pairs.get(0), pairs.get(1)), (1, Some(pair), None));
        let precedes = |index| pairs.get(index).map(|(_, second)| second <= 9).ok_or(());
        assert_eq!(partition_point(pairs.len(), precedes), Ok(1));
    }
    assert_eq!([0xffff, 0x1_0000].map(Pairs::needs_wide), [false, true]);
}

#[test]
fn hashes_are_computed_as_described() {
    const FACTORS: [u64; 4] =
        [0x9485E1F887D392F6, 0xFA8EC49BF5D78A81, 0xB09FECF284E9F793, 0x8BDCF6E49AF19583];
    for factor in FACTORS {
        assert!(FORMAT.contains(&format!("`{factor:016X}`")), "{factor:016X}");
    }
    let fold = |one: u64, other: u64| {
        let product = u128::from(one) * u128::from(other);
        product as u64 ^ (product >> 64) as u64
    };
    for length in 0..100 {
        let key: Vec<u8> = (0..length).map(|index| b'a' + (index * 7 % 26) as u8).collect();
        let (mut rest, mut seed) = (&key[..], 99);
        let word = |bytes: &[u8], start: usize| {
            u64::from_le_bytes(bytes[start..start + 8].try_into().unwrap())
        };
        while rest.len() > 32 {
            seed = fold(word(rest, 0) ^ seed, word(rest, 8) ^ FACTORS[0]);
            rest = &rest[16..];
        }
        let mut words = [0; 4];
        if rest.len() < 8 {
            words[0] = word(&[rest, &[0; 8]].concat(), 0);
        } else {
            let last = rest.len() - 8;
            let starts = [0, last.min(8), last.max(8) - 8, last];
            words = starts.map(|start| word(rest, start));
        }
        let one = fold(words[0] ^ seed, words[1] ^ FACTORS[0]);
        let other = fold(words[2] ^ seed ^ FACTORS[1], words[3] ^ FACTORS[2]);
        let hash = (one ^ other).wrapping_add((key.len() as u64).wrapping_mul(FACTORS[3]));
        let line = (u128::from(hash) * 14) >> 64;
        assert_eq!(line_of(&key, 14, 99), (line as u64, hash as u32), "{length}");
    }
}

#[test]
fn states_and_kinds_are_numbered_as_described() {
    let stored = PolicyState::ALL.iter().filter(|state| **state != PolicyState::Unknown);
    for &state in stored {
        let row = tables(10)[1].iter().find(|row| row.0 == state as usize).copied();
        assert!(row.is_some_and(|row| row.1.contains(state.as_str())), "{state} {row:?}");
    }
    let (_, usage) = Role::ALL.split_at(Role::FIRST_USAGE as usize);
    for (role, (number, words)) in usage.iter().zip(&tables(20)[0]) {
        assert_eq!(usage.get(*number), Some(role));
        assert!(words.contains(if role.in_group { "in a group" } else { "outside" }), "{words}");
    }
}
