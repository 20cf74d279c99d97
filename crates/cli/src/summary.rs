//! The summary at the end of a run, on standard error and in the files of `--summary`.

use std::env;
use std::io::{self, ErrorKind, Write};
use std::time::Instant;

use portcullis_report::{Account, Counts, Time};
use portcullis_text::figures::few;
use portcullis_text::json::to_json;
use portcullis_text::shell::word;
use serde::Serialize;

use super::engine::Policies;
use super::message::with_flags;
use super::output::{CompleteOutput, Output, OutputFailed, SummaryForm, SummaryTo};
use super::plan::{SummaryPlan, now};

/// The report of a command at its end. It serializes as its JSON.
pub trait Summary: Serialize {
    /// Writes it for people.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written, here and below.
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()>;

    /// Writes it in Markdown, for a data card: the text, unless there is more.
    fn write_markdown(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write!(out, "# robots.txt policies\n\n- Command: `{}`\n", command())?;
        write!(out, "- Date: {}\n\n```text\n", now().to_rfc3339())?;
        self.write_text(out)?;
        out.extend_from_slice(b"```\n");
        Ok(())
    }
}

impl Summary for Account {
    fn write_text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        Account::write_text(self, out)
    }

    fn write_markdown(&self, out: &mut Vec<u8>) -> io::Result<()> {
        Account::write_markdown(self, out)
    }
}

/// Writes a summary to standard error and to the files of `plan`, when the data is complete.
///
/// # Errors
///
/// If a file cannot be written, or JSON to standard error. A closed standard error is not a failure.
pub fn write(plan: &SummaryPlan, summary: &impl Summary) -> anyhow::Result<()> {
    match io::stderr().write_all(&render(plan.form, summary)?) {
        Err(error) if plan.form == SummaryForm::Json && error.kind() != ErrorKind::BrokenPipe => {
            return Err(OutputFailed::new("standard error", error).into());
        }
        _ => {}
    }
    let mut files = Vec::new();
    for SummaryTo { form, file } in &plan.files {
        let Some(path) = file else { continue };
        files.push(Output::create(path)?.complete_with(&render(*form, summary)?)?);
    }
    Ok(CompleteOutput::publish_all(files)?)
}

/// Returns the command as it was typed, without the folder of the program.
fn command() -> String {
    // Names of files may be any bytes.
    let typed = env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    let words = std::iter::once("portcullis".to_owned()).chain(typed);
    words.map(|it| word(&it).into_owned()).collect::<Vec<_>>().join(" ")
}

fn render(form: SummaryForm, summary: &impl Summary) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    match form {
        SummaryForm::Quiet | SummaryForm::None => {}
        SummaryForm::Text => summary.write_text(&mut text)?,
        SummaryForm::Json => writeln!(text, "{}", to_json(summary))?,
        SummaryForm::Markdown => summary.write_markdown(&mut text)?,
    }
    Ok(with_flags(&String::from_utf8_lossy(&text)).into_bytes())
}

/// Returns the account of a run over the lists `inputs` that ends now: when it started, and when its policies
/// were loaded.
pub fn account(
    policies: &Policies,
    inputs: &[String],
    counts: &Counts,
    notes: &[String],
    [started, loaded]: [Instant; 2],
) -> Account {
    let mut account = Account::new(policies.agents.run.clone(), counts);
    let inputs = few(inputs.iter().map(String::as_str), usize::MAX);
    account.run.card =
        vec![("Command", command()), ("Date", now().to_rfc3339()), ("Inputs", inputs)];
    let notes = [&*policies.account_notes(), notes].concat();
    let (records, bytes) = (account.records.records, account.records.bytes);
    let time = Time::new(loaded - started, loaded.elapsed(), records, Some(bytes));
    Account { notes, time: Some(time), ..account }
}
