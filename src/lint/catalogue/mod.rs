//! The catalogue: for each code its name, what it means, why it matters and how to fix it.
//!
//! This is the one place for those words; formats, `--explain` and `docs/lint.md` read them here.
//! What each dialect makes of an example is not written here but computed from the dialects.

mod files;
mod groups;
mod lines;
mod others;
mod page;
mod patterns;
mod rules;

use super::{Code, Severity};
use crate::limits::{GOOGLE_LINE_BYTES_MAX, ROBOTS_BYTES_MAX};

pub use page::{PAGE, explanation, page};

/// What the catalogue says about a code.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// Its name, in lower case with hyphens.
    pub name: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub summary: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How to fix it.
    pub remedy: &'static str,
    /// A file in which it is found.
    pub example: Example,
}

/// A file that shows a diagnostic.
#[derive(Clone, Copy, Debug)]
pub enum Example {
    /// This text.
    Text(&'static [u8]),
    /// This text, of which so many bytes are read.
    Limited(&'static [u8], usize),
    /// This text, then so many times the letter `a`.
    Long(&'static [u8], usize),
}

impl Example {
    /// The text of the file.
    pub fn text(self) -> Vec<u8> {
        match self {
            Example::Text(text) | Example::Limited(text, _) => text.to_vec(),
            Example::Long(text, letters) => [text, &vec![b'a'; letters][..]].concat(),
        }
    }

    /// Bytes of it that are read.
    pub fn bytes_max(self) -> usize {
        match self {
            Example::Limited(_, bytes) => bytes,
            Example::Text(_) | Example::Long(..) => ROBOTS_BYTES_MAX,
        }
    }
}

/// Letters that make a line too long for the dialect that reads the least of one.
const LONG_LINE_LETTERS: usize = GOOGLE_LINE_BYTES_MAX;

/// All entries, by code.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    let parts =
        [files::ENTRIES, lines::ENTRIES, groups::ENTRIES, patterns::ENTRIES, rules::ENTRIES];
    parts.into_iter().flatten().chain(others::ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::RFC_9309;
    use crate::lint::{LintConfig, lint};
    use crate::syntax::NoteKind;

    #[test]
    fn codes_ascend_and_names_differ() {
        let codes: Vec<Code> = entries().map(|entry| entry.code).collect();
        assert!(codes.is_sorted_by(|one, other| one < other));
        let mut names: Vec<&str> = entries().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), codes.len());
        let is_name = |name: &str| name.bytes().all(|c| c.is_ascii_lowercase() || c == b'-');
        assert!(names.into_iter().all(is_name));
    }

    #[test]
    fn each_note_has_an_entry() {
        for kind in NoteKind::ALL {
            assert_eq!(Code::of_note(kind).entry().code, Code::of_note(kind), "{kind}");
        }
    }

    #[test]
    fn each_example_shows_its_code() {
        for entry in entries() {
            let bytes_max = Some(entry.example.bytes_max());
            let config = LintConfig { bytes_max, ..LintConfig::new(&RFC_9309) };
            let found = lint(&entry.example.text(), &config).diagnostics;
            let codes: Vec<Code> = found.iter().map(|diagnostic| diagnostic.code).collect();
            assert!(codes.contains(&entry.code), "{}: {codes:?}", entry.code);
        }
    }
}
