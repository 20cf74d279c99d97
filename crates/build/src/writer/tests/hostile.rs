//! Crafted files: headers with a right checksum and wrong contents, and data hidden in padding.

use twox_hash::XxHash3_64;
use zerocopy::FromBytes;

use super::*;

use portcullis_set::file::{Entry, OLDEST_VERSION, StoredHeader as Stored, VERSION};

/// The offset of a field of the header.
macro_rules! at {
    ($($field:ident).+) => {
        std::mem::offset_of!(Stored, $($field).+)
    };
}

/// Returns a small file with bytes of its header replaced, and the header's checksum recomputed.
fn with_header(changes: &[(usize, &[u8])]) -> Vec<u8> {
    let (mut file, ..) = small();
    let block: &mut [u8; SET_BLOCK_BYTES] = file.first_chunk_mut().unwrap();
    for (at, bytes) in changes {
        block[*at..][..bytes.len()].copy_from_slice(bytes);
    }
    Stored::mut_from_bytes(block).unwrap().seal();
    file
}

#[test]
fn a_version_from_the_future_asks_for_an_update() {
    let error = opened(with_header(&[(at!(version), &[VERSION as u8 + 1])])).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "a.set was made by a newer portcullis (format {}, this one reads up to {VERSION}): update portcullis",
            VERSION + 1
        )
    );
    // The rest of a future header is arbitrary.
    let future = with_header(&[(at!(version), &[0xFF; 4]), (at!(sections), &[0xFF; 4_000])]);
    let error = opened(future).unwrap_err().to_string();
    assert!(error.contains("made by a newer portcullis (format 65535"), "{error}");
    // A newer minor version has nothing that an older reader must know.
    opened(with_header(&[(at!(minor_version), &[7])])).unwrap();
    for older in 0..OLDEST_VERSION as u8 {
        let error = opened(with_header(&[(at!(version), &[older])])).unwrap_err();
        assert!(error.to_string().contains("run `portcullis compile` again"), "{error}");
    }
}

#[test]
fn headers_that_do_not_fit_their_file() {
    let entry = |index: usize| at!(table) + index * size_of::<Entry>();
    let huge = u64::MAX.to_le_bytes();
    let half = (1_u64 << 63).to_le_bytes();
    let near = (u64::MAX - 63 - 4_096).to_le_bytes();
    let cases: &[(&str, usize, &[u8])] = &[
        ("sections than a set can have", at!(sections), &[129]),
        ("sections than a set can have", at!(sections), &[0xFF; 4]),
        ("a section begins at another place", at!(sections), &[4]),
        ("do not fill the file", at!(sections), &[0]),
        ("do not fill the file", at!(sections), &[1]),
        ("do not fill the file", at!(sections), &[2]),
        ("is cut short", at!(file_bytes), &huge),
        ("bytes were appended", at!(file_bytes), &[0; 8]),
        ("of one kind", entry(1), &WORDS.0.to_le_bytes()),
        ("of one kind", entry(2), &EMPTY.0.to_le_bytes()),
        ("has section 901, which this portcullis does not know", entry(0) + 4, &[1]),
        ("other flags than its kind", entry(0) + 4, &[2]),
        ("other flags than its kind", entry(0) + 4, &[1, 1]),
        ("at another place", entry(0) + 8, &[64]),
        ("at another place", entry(0) + 8, &[0; 8]),
        ("at another place", entry(1) + 8, &[0; 8]),
        ("at another place", entry(2) + 8, &huge),
        ("more bytes than the file", entry(0) + 16, &huge),
        ("at another place", entry(0) + 16, &half),
        ("at another place", entry(0) + 16, &near),
        ("more bytes than the file", entry(2) + 16, &huge),
        ("do not fill the file", entry(2) + 16, &half),
        ("more bytes than the file", entry(2) + 16, &near),
        ("do not fill the file", entry(2) + 16, &40_000_u64.to_le_bytes()),
        ("do not fill the file", entry(2) + 16, &[0; 8]),
        ("not zero", entry(3), &[1]),
        ("not zero", at!(checksum) - 1, &[1]),
        ("the dialect's name", at!(fields.dialect_name), &[0]),
        ("the dialect's name", at!(fields.dialect_name), b"rfc 9309"),
        ("the dialect's name", at!(fields.dialect_name), b"\xC3\xA4"),
        ("the dialect's name", at!(fields.dialect_name), b"\xFF"),
        ("not zero", at!(fields.dialect_name) + 9, b"x"),
    ];
    for &(expected, at, bytes) in cases {
        let error = opened(with_header(&[(at, bytes)])).unwrap_err().to_string();
        assert!(error.contains(expected), "byte {at}: {error}, expected {expected}");
        assert!(error.contains("a.set"), "{error}");
    }
}

/// For any header with a right checksum, opening fails or returns a file that can be read and
/// verified.
#[test]
fn no_header_does_harm() {
    let mut opened_anyway = 0;
    for seed in 0..20_000 {
        let random = noise(24, seed);
        let mut changes: Vec<(usize, &[u8])> = Vec::new();
        for change in random.chunks(8).take(1 + seed as usize % 3) {
            let place = usize::from(change[0]) + usize::from(change[1] & 1) * 256;
            let bytes = &change[3..][..1 + usize::from(change[2] % 5)];
            changes.push((8 + place % (at!(table) + 4 * size_of::<Entry>() - 8), bytes));
        }
        let Ok(set) = opened(with_header(&changes)) else { continue };
        opened_anyway += 1;
        for &section in set.sections() {
            for (start, bytes) in [(0, section.bytes), (section.bytes / 2, 3), (1, 0)] {
                let _ = set.bytes(section, start, bytes);
            }
        }
        let _ = set.verify();
    }
    assert!(opened_anyway > 100, "{opened_anyway}");
}

/// Recomputes all checksums of a file with one block of checksums.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let (header, rest) = file.split_first_chunk_mut::<SET_BLOCK_BYTES>().unwrap();
    let (data, level) = rest.split_at_mut(rest.len() - SET_BLOCK_BYTES);
    for (block, checksum) in data.chunks(SET_BLOCK_BYTES).zip(level.chunks_mut(8)) {
        checksum.copy_from_slice(&XxHash3_64::oneshot(block).to_le_bytes());
    }
    let header = Stored::mut_from_bytes(header).unwrap();
    header.root = XxHash3_64::oneshot(level);
    header.seal();
    file
}

#[test]
fn verifying_finds_changes_behind_right_checksums() {
    let (whole, words, text) = small();
    assert!(sealed(whole.clone()) == whole);
    let text_start = (4_096 + words.len()).next_multiple_of(64);
    for (odd, place) in [
        (4_096 + words.len(), FilePart::Padding),
        (text_start - 1, FilePart::Padding),
        (text_start + text.len(), FilePart::Padding),
        (4 * 4_096 - 1, FilePart::Padding),
        (4 * 4_096 + 3 * 8, FilePart::Checksums),
        (5 * 4_096 - 1, FilePart::Checksums),
    ] {
        let mut file = whole.clone();
        file[odd] = 1;
        let set = opened(sealed(file)).unwrap();
        let first = damage(&set);
        assert_eq!((first.place(), first.offset()), (place, odd as u64), "{first}");
    }
}
