//! `lint --fix`: the edits that change no verdict, as a diff and in the file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use portcullis::kind::FileKind;
use portcullis::lint::{FixConfig, Report, fix};
use similar::TextDiff;

use super::super::output::Output;

/// A file that was mended.
pub(super) struct Mended {
    text: Option<Vec<u8>>,
    /// The diff, in octets, so that it can be applied; empty if nothing changes.
    pub(super) diff: Vec<u8>,
    /// What was left, a line for each diagnostic.
    pub(super) notes: String,
    /// The diagnostics that were mended, by position.
    pub(super) mended: Vec<usize>,
}

pub(super) fn mend(name: &str, text: &[u8], report: &Report, config: &FixConfig) -> Mended {
    let fixed = fix(text, report, config);
    let left = fixed.left.iter().map(|(position, why)| {
        let diagnostic = &report.diagnostics[*position];
        let (line, code) = (diagnostic.place.line, diagnostic.code);
        format!("{name}:{line}: {code} is left as it is: {why}\n")
    });
    let changes = fixed.text != text;
    Mended {
        notes: left.collect(),
        diff: if changes { diff(name, text, &fixed.text) } else { Vec::new() },
        mended: fixed.mended,
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
    let written = unified.header(&format!("a/{name}"), &format!("b/{name}")).to_writer(&mut out);
    written.expect("a list in memory takes all octets");
    out
}

impl Mended {
    /// Writes the file anew, if anything changed.
    pub(super) fn write(&self, path: Option<&Path>) -> anyhow::Result<()> {
        let Some(text) = &self.text else { return Ok(()) };
        let path = path.context("standard input cannot be mended in place: give a file")?;
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
