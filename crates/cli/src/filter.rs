//! `portcullis filter`: prints the allowed records, byte for byte.

use std::path::Path;

use anyhow::ensure;
use portcullis_dialect::usage::Label;
use portcullis_report::Filter;
use portcullis_report::filter::{Class, Plan, Quantifier};
use portcullis_rows::list::ListFormat;

use super::args::FilterArgs;
use super::exit::ExitStatus;
use super::files::Files;
use super::message::say;
use super::output::{SummaryForm, SummaryTo};
use super::records::{Request, Writing};
use super::rows::{self, Head};

pub fn run(mut args: FilterArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    if args.quiet {
        args.records.run.no_progress = true;
        let summaries = &mut args.records.run.summary;
        summaries.retain(|to| to.form != SummaryForm::None);
        if summaries.iter().all(|to| to.file.is_some()) {
            summaries.push(SummaryTo { form: SummaryForm::Quiet, file: None });
        }
    }
    let aside = [&args.unknown, &args.invalid, &args.pages];
    let [unknown, invalid, pages] = aside.map(|to| to.fate);
    let plan = Plan {
        quantifier: if args.any { Quantifier::Any } else { Quantifier::All },
        keeps: if args.invert { Class::Disallowed } else { Class::Allowed },
        unknown,
        invalid,
        pages,
        purpose: args.purpose,
        unstated: args.unstated,
        purpose_tokens: args.purpose_tokens.len(),
    };
    ensure!(
        plan.purpose_tokens == 0 || plan.labels() != [Label::Use],
        "--purpose-token states y or n, not a level of use; use --purpose train-ai or ai-use"
    );
    let writes = !args.quiet && !args.count;
    let mut request =
        Request::new(args.records, files, Vec::from_iter(plan.purpose.map(|it| it.label)), writes)?;
    request.ask_purpose_tokens(&args.purpose_tokens);
    let aside = aside.map(|to| to.file.as_ref());
    let (output, has_folder) = (&request.output, request.folder.is_some());
    let are_rows = writes
        && rows::keeps_rows(&request.stream, files.parquet_lists, output, has_folder, aside)?;
    if are_rows {
        let fix = "-o FILE.parquet, -c to count, or -o FILE.txt for the URLs";
        rows::not_to_terminal(request.stream.prints, fix)?;
        request.stream.chunks = rows::ROW_GROUPS;
        request.stream.shows_cuts = true;
    }
    let has_table_name = ListFormat::from_name(output).is_some_and(|it| is_table(&it));
    if writes && !are_rows && files.parquet_lists > 0 && has_table_name {
        say(format_args!(
            "note: {}: URLs of the kept rows, one per line, without a header; -o FILE.parquet keeps all columns",
            output.display()
        ));
    }
    let no_file = match ListFormat::from_name(output) {
        Some(ListFormat::Sitemap) => Some("a sitemap"),
        Some(ListFormat::Warc) => Some("an archive"),
        _ => None,
    };
    if let Some(kind) = no_file.filter(|_| writes) {
        say(format_args!("note: {}: URLs, one per line, and not {kind}", output.display()));
    }
    if let Some(list) = of_other_format(&request).filter(|_| writes) {
        say(format_args!(
            "note: {}: records stay in the format of {list}; classify -o writes the format of the extension",
            request.output.display()
        ));
    }
    let run = request.open(files, None, &aside)?;
    let described = are_rows.then(|| run.policies.agents.run.clone());
    let head = |is_kept| match &described {
        Some(run) => Head::parquet(Vec::new(), true, run.clone()),
        None => Head::Own { first: None, is_left_out: is_kept && !writes },
    };
    let (counts, status) = run.run(&Writing {
        format: &Filter { plan, are_rows, counts_only: !writes },
        head: &head,
        prints_count: args.count && !args.quiet,
    })?;
    let kept = counts.kept.unwrap_or(0);
    match status {
        ExitStatus::Done if args.fail && kept == 0 => Ok(ExitStatus::Negative),
        status => Ok(status),
    }
}

/// Whether `classify` can write a text format.
fn is_table(format: &ListFormat) -> bool {
    matches!(format, ListFormat::Csv | ListFormat::Tsv | ListFormat::JsonLines)
}

/// Returns a list whose format is not that of the output's extension, for formats that `classify` can write.
fn of_other_format(request: &Request) -> Option<String> {
    let of_output = ListFormat::from_name(&request.output).filter(is_table)?;
    let mut inputs = request.stream.inputs.iter();
    let list = inputs.find(|list| {
        match request.stream.lists.format.or(ListFormat::from_name(&list.path)) {
            Some(format) => is_table(&format) && format != of_output,
            None => list.path != Path::new("-"),
        }
    });
    Some(list?.path.display().to_string())
}
