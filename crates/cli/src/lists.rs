//! Names of outputs in a folder, after the lists that they are made of; and the notes on what arguments
//! name.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use portcullis_files::expand::{Expanded, Input};
use portcullis_rows::list::ListFormat;
use portcullis_text::figures::few;

use super::message::{Notes, counted};
use super::output::{OutputFile, OutputFolder};

/// Returns the inputs that arguments name, and notes what was left out.
pub fn noted(found: &Expanded, notes: &mut Notes) -> Vec<Input> {
    let Expanded { inputs, hidden, special } = found;
    if *hidden > 0 {
        notes
            .add(format!("{} with a leading . or _ left out of folders", counted(*hidden, "name")));
    }
    if !special.is_empty() {
        let special = few(special.iter().map(|it| it.display().to_string()), usize::MAX);
        notes.add(format!("{special}: left out: not a regular file"));
    }
    inputs.clone()
}

/// Returns one output path in `folder` for each of `inputs`, with the extension of `format` if the
/// output's format is not the list's.
///
/// # Errors
///
/// If two inputs have the same output, or standard input is an input.
pub fn outputs(
    inputs: &[Input],
    folder: &OutputFolder,
    extension: Option<&str>,
) -> anyhow::Result<Vec<OutputFile>> {
    let mut written = HashMap::new();
    let mut outputs = Vec::with_capacity(inputs.len());
    for Input { path, below } in inputs {
        ensure!(path.as_os_str() != "-", "--out-dir needs files; standard input has no name");
        let name = match extension {
            Some(extension) => renamed(below, extension),
            // The records of a sitemap and of WARC are lines.
            None if ListFormat::from_name(below).is_some_and(ListFormat::becomes_lines) => {
                renamed(below, "txt")
            }
            None => below.clone(),
        };
        let output = folder.file(name);
        if let Some(other) = written.insert(output.to_path_buf(), path) {
            bail!(
                "{} and {} would both be written to {}; run each with an --out-dir of its own",
                other.display(),
                path.display(),
                output.display()
            );
        }
        outputs.push(output);
    }
    Ok(outputs)
}

/// Returns `name` with the extension of another format, keeping the extension of its compression.
fn renamed(name: &Path, extension: &str) -> PathBuf {
    let coding = name
        .extension()
        .filter(|it| it.eq_ignore_ascii_case("gz") || it.eq_ignore_ascii_case("zst"));
    let bare = if coding.is_some() { name.with_extension("") } else { name.to_owned() };
    let is_format = ListFormat::from_name(&bare).is_some()
        || bare.extension().is_some_and(|it| it.eq_ignore_ascii_case("txt"));
    let mut renamed = if is_format { bare.with_extension("") } else { bare }.into_os_string();
    // Parquet compresses its columns itself.
    let coding = coding.filter(|_| extension != "parquet");
    for part in [Some(OsStr::new(extension)), coding].into_iter().flatten() {
        renamed.push(".");
        renamed.push(part);
    }
    renamed.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_keep_their_compression() {
        for (name, expected) in [
            ("urls.txt", "urls.tsv"),
            ("urls", "urls.tsv"),
            ("urls.txt.gz", "urls.tsv.gz"),
            ("sub/a.csv.ZST", "sub/a.tsv.ZST"),
            ("crawl.log", "crawl.log.tsv"),
        ] {
            assert_eq!(renamed(Path::new(name), "tsv"), Path::new(expected));
        }
    }
}
