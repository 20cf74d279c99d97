//! Reports the changes from one policy set to another: of [`origins`], or of verdicts and usage
//! preferences on a list of [`urls`]. For two robots.txt [`files`], compares the verdicts on all
//! possible URLs.
//!
//! Each report has a TSV and a JSON Lines form, and changes of URLs also CSV and a [`page()`]. In
//! the text columns of TSV, control and bidirectional characters and bytes that are not UTF-8 are
//! `%XX`, so that lines and columns stay intact. The URL in the last column is exact, except for
//! line ends in it. JSON Lines preserves every byte. Both cut rules longer than
//! [`SHOWN_BYTES_MAX`](portcullis_text::visible::SHOWN_BYTES_MAX).

pub mod files;
mod groups;
pub mod origins;
mod page;
pub mod urls;

pub use page::page;

use portcullis_dialect::id::LineNumber;
use portcullis_engine::bytes::push_percent_triplet;
use portcullis_files::input::Terminator;
use portcullis_set::batch::{FullDecision, StatedPlace};
use portcullis_text::visible::{cut_to_show, is_hidden};

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tab-separated columns. Lines about URLs end with the terminator of the list.
    Tsv(Terminator),
    /// JSON Lines.
    JsonLines,
}

/// Appends text and a TAB.
fn push_column(text: &[u8], out: &mut Vec<u8>) {
    push_text(text, out);
    out.push(b'\t');
}

/// Appends `LINE:RULE`, or the reason if no rule decides.
fn push_deciding(full: FullDecision<'_>, out: &mut Vec<u8>) {
    match (full.decision.line, full.rule) {
        (Some(line), Some(rule)) => push_place(line, rule, out),
        _ => out.extend_from_slice(full.decision.reason.as_str().as_bytes()),
    }
}

/// Appends `LINE:VALUE` of a statement, or `unstated` if there is none.
fn push_stated(at: Option<&StatedPlace>, out: &mut Vec<u8>) {
    match at {
        Some(at) => push_place(at.line, &at.value, out),
        None => out.extend_from_slice(b"unstated"),
    }
}

fn push_place(line: LineNumber, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{line}:").as_bytes());
    push_text(&cut_to_show(value), out);
}

/// Appends text, with `%XX` for control and bidirectional characters and for bytes that are not
/// UTF-8.
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
