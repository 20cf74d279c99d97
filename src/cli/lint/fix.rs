//! `lint --fix`: the edits that change no verdict, as a diff and in the file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use portcullis::kind::FileKind;
use portcullis::limits::LINT_FINDINGS_PER_CODE_MAX;
use portcullis::lint::{self, FixConfig, Report};
use portcullis::visible::is_hidden;
use similar::TextDiff;

use super::super::output::Output;

/// A file that was fixed.
pub(super) struct Fixed {
    text: Option<Vec<u8>>,
    /// The diff, in bytes, so that it can be applied; empty if nothing changes.
    pub(super) diff: Vec<u8>,
    /// What was left, a line for each diagnostic.
    pub(super) notes: Vec<String>,
    /// The diagnostics that were fixed, by position.
    pub(super) fixed: Vec<usize>,
}

pub(super) fn fix(name: &str, text: &[u8], report: &Report, config: &FixConfig) -> Fixed {
    let fixed = lint::fix(text, report, config);
    let left = fixed.left.iter().map(|(position, why)| {
        let diagnostic = &report.diagnostics[*position];
        let (line, code) = (diagnostic.place.line, diagnostic.code);
        format!("{name}:{line}: {code} is left as it is: {why}")
    });
    let mut notes: Vec<String> = left.take(LINT_FINDINGS_PER_CODE_MAX).collect();
    if fixed.left.len() > notes.len() {
        notes.push(format!("{name}: and {} more are left", fixed.left.len() - notes.len()));
    }
    let changes = fixed.text != text;
    Fixed {
        notes,
        diff: if changes { diff(name, text, &fixed.text) } else { Vec::new() },
        fixed: fixed.fixed,
        text: changes.then_some(fixed.text),
    }
}

/// A unified diff.
fn diff(name: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    let diff = TextDiff::from_lines(old, new);
    let mut out = Vec::new();
    let mut unified = diff.unified_diff();
    // A path from the root has its slash already.
    let name = name.trim_start_matches('/');
    let [before, after] = ["a", "b"].map(|side| file_name(&format!("{side}/{name}")));
    let written = unified.header(&before, &after).to_writer(&mut out);
    written.expect("a list in memory takes all bytes");
    out
}

/// A name as headers of diffs have it: as it is, or if it has hidden characters quoted as Git and
/// GNU patch do, with octal escapes.
fn file_name(name: &str) -> String {
    if !name.contains(is_hidden) {
        return name.to_owned();
    }
    let byte = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", name.bytes().map(byte).collect::<String>())
}

impl Fixed {
    /// Writes the file anew, if anything changed.
    pub(super) fn write(&self, path: Option<&Path>) -> anyhow::Result<()> {
        let Some(text) = &self.text else { return Ok(()) };
        let path = path.context("standard input cannot be fixed in place: give a file")?;
        let mut first = Vec::new();
        File::open(path).and_then(|file| file.take(4).read_to_end(&mut first))?;
        let kind = FileKind::of(&first);
        ensure!(
            !matches!(kind, FileKind::Gzip | FileKind::Zstd),
            "{}: {kind}; decompress it to edit it in place",
            path.display()
        );
        let mut output = Output::create_as_is(path)?;
        output.write(text)?;
        output.finish()?;
        Ok(())
    }
}
