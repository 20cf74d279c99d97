//! The file of `--account`: the account of a run, as Markdown or JSON.

use std::mem;

use anyhow::{bail, ensure};
use portcullis_dialect::usage::Label;
use portcullis_report::{Account, Detail, Drops, Run, Selection};

use super::args::AccountArgs;
use super::output::{CompleteOutput, Output, OutputFile, is_standard_output};
use super::summary::Outcome;

/// An account that is written at the end of a run.
pub struct AccountFile {
    output: Output,
    form: Form,
    detail: Detail,
}

#[derive(Clone, Copy)]
enum Form {
    Markdown,
    Json,
}

impl AccountFile {
    /// Opens the file of the flag, if it is used. `labels` are those whose preferences are decided, and
    /// `selection` is what a filter keeps.
    ///
    /// # Errors
    ///
    /// If its name does not select a format, or it cannot be written.
    pub fn open(
        AccountArgs { account }: &AccountArgs,
        labels: &[Label],
        selection: Option<Selection>,
    ) -> anyhow::Result<Option<AccountFile>> {
        let Some(path) = account else { return Ok(None) };
        let form = form(path)?;
        let dropped = selection.map(|selection| (selection, Drops::default()));
        let detail = Detail { labels: labels.to_vec(), dropped };
        Ok(Some(AccountFile { output: Output::create(path)?, form, detail }))
    }

    /// Adds the records of a piece that are not kept.
    pub fn add_drops(&mut self, of_piece: Option<&Drops>) {
        if let (Some((_, drops)), Some(of_piece)) = (&mut self.detail.dropped, of_piece) {
            drops.merge(of_piece);
        }
    }

    /// Writes the file, and adds its details to `outcome`.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn complete(self, run: Run, outcome: &mut Outcome) -> anyhow::Result<CompleteOutput> {
        let AccountFile { mut output, form, detail } = self;
        let counts = mem::take(&mut outcome.counts);
        let invalid = mem::take(&mut outcome.invalid);
        let filtered = outcome.filtered;
        let account = Account { run, counts, invalid, filtered, detail: Some(detail) };
        let mut text = Vec::new();
        match form {
            Form::Markdown => account.write_markdown(&mut text)?,
            Form::Json => account.write_json(&mut text)?,
        }
        output.write(&text)?;
        let Account { counts, invalid, detail, .. } = account;
        (outcome.counts, outcome.invalid, outcome.detail) = (counts, invalid, detail);
        Ok(output.complete()?)
    }
}

fn form(path: &OutputFile) -> anyhow::Result<Form> {
    ensure!(!is_standard_output(path), "--account cannot go to standard output; name a file");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => Ok(Form::Markdown),
        Some("json") => Ok(Form::Json),
        _ => bail!("{}: --account is Markdown or JSON; call it .md or .json", path.display()),
    }
}
