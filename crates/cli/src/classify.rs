//! `portcullis classify`: tags every record with its verdicts.

use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use portcullis_files::input::ChunkConfig;
use portcullis_report::{Counts, Encoded, Format, Parquet, Tally, Text};
use portcullis_rows::output::TextRows;
use portcullis_rows::output::columns::Columns;
use portcullis_rows::output::csv::Csv;
use portcullis_rows::output::json_lines::JsonLines;
use portcullis_rows::output::parquet::AddedColumns;
use portcullis_rows::output::tsv::Tsv;
use portcullis_text::figures;

use super::args::{ClassifyArgs, ClassifyFormat};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::files::Files;
use super::lists::Input;
use super::message::counted;
use super::output::{CompleteOutput, Compressor, Destination, Output};
use super::plan::{self, StreamPlan};
use super::rows::{self, Head, RowOutput};
use super::shards::Shards;
use super::stream;
use super::summary::{self, Clock};
use super::unknown_hosts::HostCounts;

/// The size of a long output above which a note says how large it will be: 1 GiB.
const NOTED_BYTES: u64 = 1 << 30;

/// The output for a piece.
#[derive(Default)]
struct Tagged {
    encoded: Encoded,
    counts: Counts,
    compressor: Compressor,
}

pub fn run(args: ClassifyArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let summary = plan::summary(&args.run)?;
    let policies = plan::policies(args.policies);
    let destination = Destination::new(args.output.joined.output);
    let format = plan::format(args.format, &destination, ClassifyFormat::NAMED)?;
    let labels = plan::labels(args.usage)?;
    let by_default = if args.long { Columns::of_long() } else { Columns::default() };
    let columns = args.columns.unwrap_or(by_default).with_usage(&labels);
    ensure!(
        matches!(format, ClassifyFormat::Tsv | ClassifyFormat::Csv) || !args.header,
        "--header is for tsv and csv; omit it, or choose --format"
    );
    let columns = if args.now.and_now { columns.with_now() } else { columns };
    let columns = if args.long { columns.with_statements(&labels) } else { columns };
    let mut questions = plan::questions(args.questions, policies.dialect())?;
    questions.freshness = plan::freshness(&args.freshness);
    questions.times = plan::times(args.times, args.now, Some(&args.freshness), &policies)?;
    ensure!(
        questions.times.is_some() || !columns.need_times(),
        "the columns captured, since and until need a time: use --at or --time-field too"
    );
    questions.usage = !labels.is_empty();
    plan::record_agents(args.agent, &mut questions)?;
    let has_own_agents = questions.each.is_some();
    ensure!(
        has_own_agents || args.long || !columns.has_agent(),
        "the column agent is the agent of each record: use --agent-field or \
         --long too"
    );
    let columns = if has_own_agents { columns.with_record_agent() } else { columns };
    let is_long = args.long && !has_own_agents;
    let folder = args.output.out_dir.as_ref();
    let prints = destination == Destination::StandardOutput && folder.is_none();
    let mut stream = plan::stream(
        args.input,
        args.rejects,
        &questions,
        &args.run,
        policies.strictness(),
        prints,
    )?;
    let rows_of_each = if is_long { questions.agent_count().max(1) } else { 1 };
    stream.chunks = match format {
        ClassifyFormat::Jsonl => questions.chunks_that_repeat(rows_of_each),
        _ if is_long => questions.chunks_that_repeat(rows_of_each),
        _ => questions.chunks(),
    };
    if format == ClassifyFormat::Parquet {
        rows::not_to_terminal(prints, "-o FILE.parquet, or --format tsv")?;
        rows::not_compressed(&destination)?;
        stream.chunks = row_groups(rows_of_each, stream.chunks);
        stream.shows_cuts = true;
    }
    if is_long {
        note_size(&mut stream, rows_of_each);
    }
    let extension = Some(extension(format));
    let destinations = plan::destinations(destination, folder, &stream, extension, files)?;
    let hosts = args.output.unknown_hosts.as_ref();
    let sets_aside = stream.rejects.is_some() || hosts.is_some();
    let shards = Shards::of(stream.clone(), destinations, args.output.shards, sets_aside)?;
    let mut hosts = hosts.map(HostCounts::create).transpose()?;
    let counts_all = summary.counts_all();
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    policies.show_notes(summary.form);
    let agents = &policies.agents.agents;
    let has_header = args.header || format == ClassifyFormat::Csv;
    let has_names = has_header || format != ClassifyFormat::Tsv;
    let columns = if is_long { columns.long(agents.clone()) } else { columns };
    // In an output without a header, two columns may have the same name.
    let fields = if has_names { columns.fields(agents, &args.column_prefix)? } else { vec![] };
    let classifier = Arc::new(policies.classifier(&questions)?.with_usage(&labels)?);
    let clock = Clock::loaded(started);
    let terminator = stream.terminator();
    let rows: Box<dyn TextRows> = match format {
        ClassifyFormat::Csv => Box::new(Csv::default()),
        ClassifyFormat::Jsonl => Box::new(JsonLines::new(&fields)),
        ClassifyFormat::Tsv | ClassifyFormat::Parquet => Box::new(Tsv(terminator)),
    };
    let rows = &*rows;
    let encoder: &dyn Format = match format {
        ClassifyFormat::Parquet => {
            let encoder = AddedColumns::new(&columns, agents.len(), fields.clone());
            &Parquet { columns: &columns, encoder }
        }
        _ => &Text { columns: &columns, rows },
    };
    // The account in Parquet files counts hosts too.
    let counts_hosts =
        format == ClassifyFormat::Parquet || summary.form != plan::SummaryForm::None || counts_all;
    let hosts_max = summary::hosts_max(counts_hosts, hosts.is_some());
    let (outcome, status) = shards.run(|stream, outputs| {
        let compressions = outputs.compressions();
        let mut output = match format {
            ClassifyFormat::Parquet => {
                let run = summary::run(&policies, &questions);
                RowOutput::parquet(outputs, fields.clone(), !is_long, run)
            }
            _ if has_header => {
                RowOutput::text(outputs, Head::Names { rows, fields: &fields, first: None })
            }
            _ => RowOutput::text(outputs, Head::None),
        };
        let mut counts = Counts::new(agents.len());
        let account = stream::run(
            stream,
            &questions,
            Arc::clone(&classifier),
            |session, piece, Tagged { encoded, counts, compressor }| {
                encoded.clear();
                counts.clear(agents.len(), hosts_max);
                if counts_all {
                    counts.ask_preferences(&labels);
                }
                let compression = compressions.of_list(piece.rows().list_number());
                encoder.encode(piece, session, counts, encoded)?;
                Ok(compressor.compress(compression, &mut encoded.text)?)
            },
            |part, Tagged { encoded, counts: of_piece, .. }| {
                policies.check_ages(of_piece, &questions)?;
                if part.is_first {
                    output.begin(part, of_piece.records == 0)?;
                }
                counts.merge(of_piece);
                if let Some(hosts) = &mut hosts {
                    hosts.add(of_piece.unknown_hosts())?;
                }
                output.write(part.list, encoded, of_piece, None)
            },
        )?;
        policies.set.is_whole()?;
        let mut complete = output.complete()?;
        complete.extend(account.output.map(Output::complete).transpose()?);
        complete.extend(hosts.take().map(HostCounts::complete).transpose()?);
        CompleteOutput::publish_all(complete)?;
        let stream::Account { invalid, notes, noted, .. } = account;
        let tally = Tally { counts, invalid, ..Tally::default() };
        Ok(summary::Outcome { tally, notes, noted })
    })?;
    summary::write(&summary, &outcome.account(summary::run(&policies, &questions), &clock))?;
    Ok(status)
}

/// Notes the size of a long output if it is large. Each row repeats the record and has about as much
/// again, so the output is that much larger for each agent. Compressed lists count as they are.
fn note_size(stream: &mut StreamPlan, agents: usize) {
    let bytes = |input: &Input| input.path.metadata().map_or(0, |it| it.len());
    let input: u64 = stream.inputs.iter().map(bytes).sum();
    let output = input.saturating_mul(agents as u64).saturating_mul(2);
    if output > NOTED_BYTES {
        stream.notes.add(format!(
            "--long writes a row for each record and agent, about {} for these lists and {}; \
             without it, each record has one row",
            figures::bytes(output),
            counted(agents as u64, "agent")
        ));
    }
}

/// Returns how lists are cut for row groups with so many rows for each record.
fn row_groups(rows_of_each: usize, chunks: ChunkConfig) -> ChunkConfig {
    match rows_of_each {
        1 => rows::ROW_GROUPS,
        _ => ChunkConfig {
            chunk_bytes: (rows::ROW_GROUPS.chunk_bytes / rows_of_each).max(chunks.chunk_bytes),
            ..chunks
        },
    }
}

/// Returns the file extension for a format.
fn extension(format: ClassifyFormat) -> &'static str {
    match format {
        ClassifyFormat::Tsv => "tsv",
        ClassifyFormat::Jsonl => "jsonl",
        ClassifyFormat::Csv => "csv",
        ClassifyFormat::Parquet => "parquet",
    }
}
