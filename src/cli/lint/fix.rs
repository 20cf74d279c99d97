//! `lint --fix`: shows the proved edits as a diff and applies them to the file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use diffy::{DiffOptions, Line};
use portcullis_dialect::limits::LINT_FINDINGS_PER_CODE_MAX;
use portcullis_lint as lint;
use portcullis_lint::{FixConfig, Report};
use portcullis_robots::kind::FileKind;
use portcullis_robots::visible::is_hidden;

use super::super::output::Output;

/// A fixed file.
pub(super) struct Fixed {
    text: Option<Vec<u8>>,
    /// The diff, byte for byte so that it can be applied; empty if nothing changes.
    pub(super) diff: Vec<u8>,
    /// Notes on diagnostics that were not fixed, one line each.
    pub(super) notes: Vec<String>,
    /// The positions of the fixed diagnostics.
    pub(super) fixed: Vec<usize>,
}

pub(super) fn fix(name: &str, text: &[u8], report: &Report, config: &FixConfig) -> Fixed {
    let fixed = lint::fix(text, report, config);
    let left = fixed.left.iter().map(|(position, why)| {
        let diagnostic = &report.diagnostics[*position];
        let (line, code) = (diagnostic.place.line, diagnostic.code);
        format!("{name}:{line}: {code} not fixed: {why}")
    });
    let mut notes: Vec<String> = left.take(LINT_FINDINGS_PER_CODE_MAX).collect();
    if fixed.left.len() > notes.len() {
        notes.push(format!("{name}: {} more not fixed", fixed.left.len() - notes.len()));
    }
    let changes = fixed.text != text;
    Fixed {
        notes,
        diff: if changes { diff(name, text, &fixed.text) } else { Vec::new() },
        fixed: fixed.fixed,
        text: changes.then_some(fixed.text),
    }
}

/// Returns a unified diff.
fn diff(name: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    // An absolute path already begins with a slash.
    let name = name.trim_start_matches('/');
    let [before, after] = ["a", "b"].map(|side| file_name(&format!("{side}/{name}")));
    let mut out = format!("--- {before}\n+++ {after}\n").into_bytes();
    for hunk in DiffOptions::new().create_patch_bytes(old, new).hunks() {
        let (before, after) = (hunk.old_range(), hunk.new_range());
        out.extend(format!("@@ -{before} +{after} @@\n").into_bytes());
        for line in hunk.lines() {
            let (sign, text) = match *line {
                Line::Context(text) => (b' ', text),
                Line::Delete(text) => (b'-', text),
                Line::Insert(text) => (b'+', text),
            };
            out.push(sign);
            out.extend(text);
            if !text.ends_with(b"\n") {
                out.extend(b"\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// Returns the file name for the header of a diff. A name with hidden characters is quoted with
/// octal escapes, as Git and GNU patch do.
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
    /// Writes the file if it changed.
    pub(super) fn write(&self, path: Option<&Path>) -> anyhow::Result<()> {
        let Some(text) = &self.text else { return Ok(()) };
        let path = path.context("standard input cannot be fixed in place; name a file")?;
        let mut first = Vec::new();
        File::open(path).and_then(|file| file.take(4).read_to_end(&mut first))?;
        let kind = FileKind::of(&first);
        ensure!(
            !matches!(kind, FileKind::Gzip | FileKind::Zstd),
            "{}: {kind}; decompress it to fix it in place",
            path.display()
        );
        let mut output = Output::replace_input(path)?;
        // A server that may no longer read its robots.txt answers 403, which allows everything.
        ensure!(
            output.keeps_owner(),
            "{}: its owner and group cannot be kept; run as its owner, or apply the diff without \
             --in-place",
            path.display()
        );
        output.write(text)?;
        output.finish()?;
        Ok(())
    }
}
