//! `portcullis classify`: tags every record with its verdicts.

use std::time::Instant;

use anyhow::ensure;
use portcullis_io::input::Terminator;
use portcullis_io::list::List;
use portcullis_report::columns::{Columns, Field, no_collision};
use portcullis_report::csv::{self, Csv};
use portcullis_report::json_lines::JsonLines;
use portcullis_report::parquet::{AddedColumns, EncodedGroup};
use portcullis_report::tsv::{self, Tsv, TsvColumns};
use portcullis_report::{Counts, Format, write_chunk};

use super::args::{ClassifyArgs, ClassifyFormat};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::files::Files;
use super::output::{CompleteOutput, Destination, Output};
use super::outputs::Outputs;
use super::parquet::{self, ParquetOutputs};
use super::plan;
use super::stream::{self, Part};
use super::summary::{self, Clock};

/// The output for a chunk.
#[derive(Default)]
struct Tagged {
    bytes: Vec<u8>,
    /// The output for Parquet, instead of bytes.
    group: EncodedGroup,
    counts: Counts,
}

/// The destination of the outputs.
#[expect(clippy::large_enum_variant, reason = "a run has one")]
enum Target<'a> {
    Text(Outputs, Header<'a>),
    Parquet(ParquetOutputs),
}

impl Target<'_> {
    fn begin(&mut self, part: &Part<'_>) -> anyhow::Result<()> {
        match self {
            Target::Text(outputs, header) => {
                let is_new = outputs.begin(part.number)?;
                Ok(outputs.write(&header.begin(part.list, is_new)?)?)
            }
            Target::Parquet(outputs) => outputs.begin(part),
        }
    }

    fn write(&mut self, list: &List, tagged: &mut Tagged) -> anyhow::Result<()> {
        match self {
            Target::Text(outputs, _) => Ok(outputs.write(&tagged.bytes)?),
            Target::Parquet(outputs) => {
                outputs.write(list, std::mem::take(&mut tagged.group), &tagged.counts, None)
            }
        }
    }

    fn complete(self) -> anyhow::Result<Vec<CompleteOutput>> {
        match self {
            Target::Text(outputs, _) => Ok(outputs.complete()?),
            Target::Parquet(outputs) => outputs.complete(),
        }
    }
}

pub fn run(args: ClassifyArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let policies = plan::policies(args.policies);
    let destination = Destination::new(args.output.joined.output);
    let format = plan::format(args.format, &destination, ClassifyFormat::NAMED)?;
    let labels = plan::labels(args.usage)?;
    let columns = args.columns.with_usage(&labels)?;
    ensure!(
        matches!(format, ClassifyFormat::Tsv | ClassifyFormat::Csv | ClassifyFormat::Parquet)
            || (columns == Columns::default().with_usage(&labels)?
                && args.column_prefix.is_empty()),
        "--columns and --column-prefix are for tsv, csv and parquet; omit them, or choose --format"
    );
    ensure!(
        matches!(format, ClassifyFormat::Tsv | ClassifyFormat::Csv) || !args.header,
        "--header is for tsv and csv; omit it, or choose --format"
    );
    let mut questions = plan::questions(args.questions, &args.memory, policies.dialect())?;
    questions.freshness = plan::freshness(&args.freshness);
    questions.usage = !labels.is_empty();
    let folder = args.output.out_dir.as_ref();
    let prints = destination == Destination::StandardOutput && folder.is_none();
    let mut stream = plan::stream(args.input, args.rejects, &args.run, prints)?;
    stream.chunks = questions.chunks();
    if format == ClassifyFormat::Parquet {
        parquet::not_to_terminal(prints, "-o FILE.parquet, or --format tsv")?;
        parquet::not_compressed(&destination)?;
        stream.chunks = parquet::ROW_GROUPS;
    }
    let extension = Some(extension(format));
    let destinations = plan::destinations(destination, folder, &stream, extension, files)?;
    let outputs = Outputs::open(destinations)?;
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    let summary = plan::summary(&args.run, &args.figures);
    policies.show_notes(summary.form);
    let agents = &policies.agents.agents;
    let has_header = args.header || format == ClassifyFormat::Csv;
    let has_names = has_header || format == ClassifyFormat::Parquet;
    // In an output without a header, two columns may have the same name.
    let fields = if has_names { columns.fields(agents, &args.column_prefix)? } else { vec![] };
    let classifier = policies.classifier(&questions)?.with_usage(&labels);
    let clock = Clock::loaded(started);
    let terminator = stream.terminator();
    let csv = Csv::new(&columns);
    let header = Header {
        format,
        is_wanted: has_header,
        csv: &csv,
        terminator,
        fields: &fields,
        first: None,
    };
    let added = AddedColumns::new(columns.clone(), fields.clone());
    let mut target = match format {
        ClassifyFormat::Parquet => {
            let run = summary::run(&policies, &questions);
            Target::Parquet(ParquetOutputs::new(outputs, fields.clone(), run))
        }
        _ => Target::Text(outputs, header),
    };
    // The account in Parquet files counts hosts too.
    let counts_hosts = format == ClassifyFormat::Parquet || summary.form != plan::SummaryForm::None;
    let mut counts = Counts::new(agents.len());
    let account = stream::run(
        &stream,
        &questions,
        classifier,
        |session, piece, tagged: &mut Tagged| {
            tagged.bytes.clear();
            tagged.counts.clear(agents.len(), counts_hosts);
            let Tagged { bytes, group, counts } = tagged;
            let text: &dyn Format = match format {
                ClassifyFormat::Tsv if columns.are_verdicts() => &Tsv(terminator),
                ClassifyFormat::Tsv => &TsvColumns(&columns, terminator),
                ClassifyFormat::Csv => &csv.of(piece.rows().list()),
                ClassifyFormat::Jsonl => &JsonLines(agents),
                ClassifyFormat::Parquet => {
                    *group = added.encode(piece, session, counts)?;
                    return Ok(());
                }
            };
            Ok(write_chunk(piece, text, session, counts, bytes)?)
        },
        |part, tagged| {
            policies.check_ages(&tagged.counts, &questions)?;
            if part.is_first {
                target.begin(part)?;
            }
            counts.merge(&tagged.counts);
            target.write(part.list, tagged)
        },
    )?;
    policies.set.is_whole()?;
    let mut complete = target.complete()?;
    complete.extend(account.output.map(Output::complete).transpose()?);
    CompleteOutput::publish_all(complete)?;
    let outcome = summary::Outcome { counts, invalid: account.invalid, filtered: None };
    summary::write(&summary, &policies, &questions, outcome, &clock);
    Ok(ExitStatus::Done)
}

/// Writes the header of each output.
struct Header<'a> {
    format: ClassifyFormat,
    is_wanted: bool,
    csv: &'a Csv<'a>,
    terminator: Terminator,
    fields: &'a [Field],
    /// The name and the columns of the first list of the output.
    first: Option<(String, Vec<Vec<u8>>)>,
}

impl Header<'_> {
    /// Returns the header of a new output that begins with `list`. Empty if the output already has
    /// one.
    ///
    /// # Errors
    ///
    /// If an added column has the name of another column, or the columns of `list` are not those of
    /// the output.
    fn begin(&mut self, list: &List, is_new: bool) -> anyhow::Result<Vec<u8>> {
        if !self.is_wanted {
            return Ok(Vec::new());
        }
        let columns: Vec<Vec<u8>> =
            csv::input_columns(list).into_iter().map(|name| name.into_owned()).collect();
        match &self.first {
            Some((first, expected)) if !is_new => {
                ensure!(
                    *expected == columns,
                    "{}: its columns differ from those of {first}; write one output per list with --out-dir",
                    list.name()
                );
                return Ok(Vec::new());
            }
            _ => {}
        }
        no_collision(&columns, self.fields)?;
        let header = match self.format {
            ClassifyFormat::Csv => self.csv.header(&columns, self.fields),
            _ => tsv::header(self.fields, &tsv::record_header(list), self.terminator),
        };
        self.first = Some((list.name().to_owned(), columns));
        Ok(header)
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
