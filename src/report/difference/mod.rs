//! What changed from one set of policies to another, as octets: origins ([`origins`]), or the URLs
//! of a list whose verdict changes ([`urls`]).
//!
//! Both have a TSV and a JSON Lines form. In TSV a control octet within a column stands as `%XX`
//! (in the text of a rule, say, which may have a TAB), so that lines and columns hold; JSON Lines has
//! every octet.

pub mod files;
pub mod origins;
pub mod urls;

use crate::bytes::push_percent_triplet;

/// Appends text and a TAB.
fn push_column(text: &[u8], out: &mut Vec<u8>) {
    push_text(text, out);
    out.push(b'\t');
}

/// Appends text without control octets.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    for &octet in text {
        if octet.is_ascii_control() {
            push_percent_triplet(out, octet);
        } else {
            out.push(octet);
        }
    }
}
