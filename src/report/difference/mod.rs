//! What changed from one set of policies to another, as bytes: origins ([`origins`]), or the URLs
//! of a list whose verdict changes ([`urls`]).
//!
//! Both have a TSV and a JSON Lines form. In TSV the bytes of a control or bidirectional character, and
//! those that are not UTF-8, are `%XX` within a column (in the text of a rule, say, which may have a TAB), so that lines and
//! columns hold; the record in the last column is exact. JSON Lines has every byte. Both cut rules
//! that are longer than [`SHOWN_BYTES_MAX`](crate::limits::SHOWN_BYTES_MAX).

pub mod files;
pub mod origins;
pub mod urls;

use crate::bytes::push_percent_triplet;
use crate::visible::is_hidden;

/// Appends text and a TAB.
fn push_column(text: &[u8], out: &mut Vec<u8>) {
    push_text(text, out);
    out.push(b'\t');
}

/// Appends text that has no control and bidirectional characters, and is UTF-8.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            match is_hidden(character) {
                true => bytes.iter().for_each(|&byte| push_percent_triplet(out, byte)),
                false => out.extend_from_slice(bytes),
            }
        }
        chunk.invalid().iter().for_each(|&byte| push_percent_triplet(out, byte));
    }
}
