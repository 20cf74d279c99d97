//! Accidental damage: flipped bits, truncated or extended files, conversions, files of other
//! programs.

#![allow(unsafe_code, reason = "maps set files")]

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::*;

/// Maps a file that the test owns.
fn mapped(path: &Path) -> Result<Storage, SetError> {
    // SAFETY: a test that truncates the file touches nothing past its new end.
    unsafe { Storage::map(path) }
}

/// Reads everything in pieces and returns whether some reads failed. All returned bytes must be
/// those that were written.
fn refuses(set: &SetFile, content: &[(SectionKind, &[u8])]) -> bool {
    let mut refuses = false;
    for (kind, written) in content {
        let section = set.section(*kind).unwrap();
        for (at, piece) in written.chunks(500).enumerate() {
            match set.bytes(section, at as u64 * 500, piece.len() as u64) {
                Ok(read) => assert!(read == piece, "{kind}, piece {at}"),
                Err(damage) => {
                    refuses = true;
                    assert!(damage.to_string().contains("a.set is damaged"), "{damage}");
                }
            }
        }
    }
    refuses
}

#[test]
fn every_flipped_bit_is_found() {
    let (mut file, words, text) = small();
    let content = [(WORDS, &words[..]), (TEXT, &text[..])];
    for bit in 0..file.len() * 8 {
        file[bit / 8] ^= 1 << (bit % 8);
        // Bytes outside of sections may be wrong as long as no wrong bytes are returned.
        match opened(file.clone()) {
            Err(error) => {
                assert!(bit / 8 < SET_BLOCK_BYTES, "bit {bit}: {error}");
                assert!(!error.to_string().is_empty());
            }
            Ok(set) => {
                assert!(bit / 8 >= SET_BLOCK_BYTES, "bit {bit} was not noticed");
                let block = (bit / 8 / SET_BLOCK_BYTES) as u64;
                assert!(refuses(&set, &content), "bit {bit}");
                assert_eq!(damage(&set).offset(), block * 4_096, "bit {bit}");
            }
        }
        file[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_damaged_block_harms_no_other() {
    let content = noise(700 * SET_BLOCK_BYTES, 9);
    let mut file = written(&[(TEXT, &content)]).file;
    let (data, level_1) = (300 * SET_BLOCK_BYTES + 17, 702 * SET_BLOCK_BYTES);
    file[data] ^= 1;
    file[level_1] ^= 1;
    let set = opened(file).unwrap();
    let section = set.section(TEXT).unwrap();
    let readable = |block: u64| set.bytes(section, block * 4_096, 4_096).is_ok();
    // Block 300 of the file is block 299 of the data. The second block of the first level holds the
    // checksums from 512 on.
    assert!(readable(298) && !readable(299) && readable(300));
    assert!(!readable(299), "still");
    assert!(readable(511) && !readable(512) && !readable(699));
    let first = damage(&set);
    assert_eq!((first.offset(), first.place()), (300 * 4_096, FilePart::Section(TEXT)));
}

#[test]
fn a_section_is_compared_whole_once_half_of_it_was_read() {
    let content = noise(20 * SET_BLOCK_BYTES, 9);
    let file = written(&[(TEXT, &content)]).file;
    let mut damaged = file.clone();
    damaged[18 * SET_BLOCK_BYTES] ^= 1;
    for (file, is_whole) in [(file, true), (damaged, false)] {
        let set = opened(file).unwrap();
        let section = set.section(TEXT).unwrap();
        for block in 0..10 {
            assert!(!set.is_all_compared(section).unwrap(), "{block} blocks");
            set.bytes(section, block * 4_096, 4_096).unwrap();
        }
        // Damage that nobody has read is an error from then on, each time.
        for _ in 0..2 {
            let compared = set.is_all_compared(section);
            assert_eq!(compared.is_ok(), is_whole);
            assert!(compared.unwrap_or(true));
        }
        assert_eq!(set.is_compared(section, 0, content.len()), is_whole);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let (file, ..) = small();
    for bytes in 0..file.len() {
        let error = opened(file[..bytes].to_vec()).unwrap_err();
        let text = error.to_string();
        match (bytes, &error) {
            (0, SetError::NotASet { .. }) => {}
            (1.., SetError::Truncated { has, of, .. }) => {
                assert_eq!(*has, bytes as u64);
                let whole = if bytes < 4_096 { 4_096 } else { file.len() };
                assert_eq!(*of, whole as u64);
                assert!(text.contains(&format!("it has {has} bytes of {of}")), "{text}");
            }
            _ => panic!("{bytes}: {text}"),
        }
    }
}

#[test]
fn appended_bytes_are_an_error() {
    let (mut file, ..) = small();
    file.push(b'\n');
    let error = opened(file).unwrap_err();
    assert!(error.to_string().contains("has 20481 bytes, 20480 by its header"), "{error}");
}

#[test]
fn other_files_are_named_by_kind() {
    let message = |bytes: &[u8]| opened(bytes.to_vec()).unwrap_err().to_string();
    let text = "a.set: text, not a policy set (make one with portcullis compile; ‹robots› reads a \
                robots.txt)";
    for bytes in [&b"User-agent: *\n"[..], b"PCS\n"] {
        assert_eq!(message(bytes), text);
    }
    let binary = "a.set: binary data, not a policy set (if it was a set, it is damaged: fetch it \
                  again, or run portcullis compile again)";
    for bytes in [&b"\x89PNG\r\n\x1A\n"[..], &[0; 9_000]] {
        assert_eq!(message(bytes), binary);
    }
    let empty = "a.set: an empty file, not a policy set (make one with portcullis compile)";
    assert_eq!(message(b""), empty);
}

#[test]
fn a_conversion_of_text_is_recognised() {
    let (file, ..) = small();
    let without = |gone: &[u8]| file.iter().copied().filter(|c| !gone.contains(c)).collect();
    let lossy = String::from_utf8_lossy(&file).into_owned().into_bytes();
    let latin_1: Vec<u8> = file.iter().map(|&c| char::from(c)).collect::<String>().into_bytes();
    let seven_bits: Vec<u8> = file.iter().map(|c| c & 0x7F).collect();
    let unix: Vec<u8> = without(b"\r");
    for converted in [lossy, latin_1, seven_bits, unix] {
        let error = opened(converted).unwrap_err();
        assert!(error.to_string().contains("was converted as text"), "{error}");
        assert!(error.to_string().contains("as binary data"), "{error}");
    }
}

#[test]
fn folders_missing_and_empty_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let error = Storage::open(folder.path()).unwrap_err();
    assert!(matches!(error, SetError::NotASet { .. }), "{error}");
    let error = Storage::open(&folder.path().join("missing")).unwrap_err();
    assert!(error.to_string().ends_with("missing: no such file or directory"), "{error}");
    let empty = folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    let error = SetFile::open(Storage::open(&empty).unwrap()).unwrap_err();
    assert!(matches!(error, SetError::NotASet { .. }), "{error}");
}

#[test]
fn a_file_that_changed_its_length_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.set");
    fs::write(&path, small().0).unwrap();
    let set = SetFile::open(mapped(&path).unwrap()).unwrap();
    let read = open_path(&path);
    set.is_whole().unwrap();
    set.verify().unwrap();
    let file = OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(20_481).unwrap();
    set.has_length().unwrap();
    let error = set.is_whole().unwrap_err().to_string();
    assert!(error.contains("a.set was written to while it was in use; run again"), "{error}");
    file.set_len(20_479).unwrap();
    let error = set.is_whole().unwrap_err().to_string();
    assert!(error.contains("a.set became shorter while it was in use; run again"), "{error}");
    assert_eq!(set.verify().unwrap_err().to_string(), error);
    read.is_whole().unwrap();
    read.verify().unwrap();
}

#[test]
fn a_mapped_set_is_unchanged_when_it_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.set");
    let (file, _, text) = small();
    fs::write(&path, file).unwrap();
    let set = SetFile::open(mapped(&path).unwrap()).unwrap();
    let written = SetFileWriter::create(&path).unwrap().finish(&fields()).unwrap();
    written.file.complete().unwrap().publish().unwrap();
    assert_eq!(open_path(&path).sections().len(), 0);
    set.is_whole().unwrap();
    assert_eq!(set.bytes(set.section(TEXT).unwrap(), 0, 6_001).unwrap(), text);
    set.verify().unwrap();
}

fn open_path(path: &Path) -> SetFile {
    SetFile::open(Storage::open(path).unwrap()).unwrap()
}
