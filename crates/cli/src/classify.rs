//! `portcullis classify`: tags every record with its verdicts.

use anyhow::ensure;
use portcullis_report::Tagged;
use portcullis_rows::output::RowForm;
use portcullis_rows::output::columns::Columns;
use portcullis_rows::output::parquet::AddedColumns;

use super::args::ClassifyArgs;
use super::exit::ExitStatus;
use super::files::Files;
use super::plan;
use super::records::{Request, Writing};
use super::rows::{self, Head};
use super::table::text_rows;
use super::values::Format;

pub fn run(args: ClassifyArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    let labels = plan::labels(args.usage)?;
    let has_now = args.records.and_now;
    let mut request = Request::new(args.records, files, labels, true)?;
    let format = plan::format(args.format, &request.output, Format::TABLES)?;
    ensure!(
        matches!(format, Format::Tsv | Format::Csv) || !args.header,
        "--header is for tsv and csv; omit it, or choose --format"
    );
    let has_own_agents = request.questions.each.is_some();
    let columns = columns(args.columns, args.long, has_now, &request)?;
    let is_long = args.long && !has_own_agents;
    let rows_of_each = if is_long { request.questions.agent_count().max(1) } else { 1 };
    request.stream.chunks = match is_long || format == Format::Jsonl {
        true => request.questions.chunks_that_repeat(rows_of_each),
        false => request.questions.chunks(),
    };
    if format == Format::Parquet {
        rows::not_to_terminal(request.stream.prints, "-o FILE.parquet, or --format tsv")?;
        rows::not_compressed(&request.output)?;
        if rows_of_each == 1 {
            request.stream.chunks = rows::ROW_GROUPS;
        }
        let chunk_bytes = &mut request.stream.chunks.chunk_bytes;
        *chunk_bytes = (rows::ROW_GROUPS.chunk_bytes / rows_of_each).max(*chunk_bytes);
        request.stream.shows_cuts = true;
    }
    let run = request.open(files, Some(format.as_str()), &[])?;
    let described = run.policies.agents.run.clone();
    let has_header = args.header || format == Format::Csv;
    let has_names = has_header || format != Format::Tsv;
    let columns = if is_long { columns.long(described.agents.clone()) } else { columns };
    // In an output without a header, two columns may have the same name.
    let fields =
        if has_names { columns.fields(&described.agents, &args.column_prefix)? } else { vec![] };
    let form = match format {
        Format::Parquet => RowForm::Parquet(AddedColumns::new(&fields)),
        _ => RowForm::Text(text_rows(format, &fields, run.request.stream.lists.terminator)),
    };
    let head = |_| match &form {
        RowForm::Parquet(_) => Head::parquet(fields.clone(), !is_long, described.clone()),
        RowForm::Text(rows) if has_header => {
            Head::Names { rows: &**rows, fields: &fields, first: None }
        }
        RowForm::Text(_) => Head::None,
    };
    let (_, status) = run.run(&Writing {
        format: &Tagged { columns: &columns, form: &form },
        head: &head,
        prints_count: false,
    })?;
    Ok(status)
}

/// Returns the columns that are added, and checks that they fit what is asked.
fn columns(
    asked: Option<Columns>,
    is_long: bool,
    has_now: bool,
    request: &Request,
) -> anyhow::Result<Columns> {
    let Request { questions, labels, .. } = request;
    let by_default = if is_long { Columns::from_long() } else { Columns::default() };
    let columns = asked.unwrap_or(by_default).with_usage(labels, has_now);
    let columns = if is_long { columns.with_statements(labels) } else { columns };
    ensure!(
        questions.times.is_some() || !columns.need_times(),
        "the columns captured, since and until need --at or --time-field, and a set compiled with --history"
    );
    let has_own_agents = questions.each.is_some();
    ensure!(
        has_own_agents || is_long || !columns.has_agent(),
        "the column agent is the agent of each record: use --agent-field or --long too"
    );
    Ok(if has_own_agents { columns.with_record_agent() } else { columns })
}
