//! The help of flags whose values, but not their meaning, differ between commands.

use portcullis_rows::list::LogFormat;

pub const FORMAT: &str = "The form of standard output; a file has that of its extension";

pub const FORMAT_LONG: &str = "\
The form of standard output; a file has that of its extension

By default tsv for tables, and text for what people read. tsv and csv begin with a header, \
but for tsv of `classify`, which has one with --header. jsonl is one object a line.";

pub const QUIET: &str = "Print nothing; the exit status has the answer (filter: with --fail)";

pub const HISTORY: &str = "All periods of each origin, not the newest capture alone";

pub const HISTORY_LONG: &str = "\
All periods of each origin, not the newest capture alone

A period is a time in which the policy stays the same. `compile` keeps them, so that --at can ask for any \
time: a capture takes 16 bytes more in SET, and a file that differs from all others its records. A capture \
without a date is older than all others; --strict refuses it. `survey` writes a row for each; the totals are \
those of the newest policies.";

pub const INPUT_FORMAT: &str = "The format of the inputs; detected for each by default";

pub const INPUT_FORMAT_LONG: &str = "\
The format of the inputs; detected for each by default

Captures (compile): warc, jsonl, csv, parquet. Lists: lines: one URL per line. jsonl: JSON Lines. csv, tsv: \
with or without a header. cdxj, cdx: an index of a web archive. access-log: what servers write \
(see --log-format and --host). w3c: what IIS and CloudFront write. heritrix: a recover journal. crawl-log: Heritrix's \
crawl.log. nutch: `readdb -dump`. parquet: Parquet. sitemap: a sitemap, an index with the sitemaps beside it, \
or a feed. warc: the target URIs of WARC, WAT and WET.";

pub const LOG_FORMAT: &str =
    "The format of the lines of access logs: a name, a LogFormat or a log_format";

/// Returns the help of `--log-format`, which has the names of formats.
pub fn log_format() -> String {
    let names: Vec<&str> = LogFormat::names().collect();
    format!(
        "{LOG_FORMAT}\n\nThe LogFormat of Apache or the log_format of nginx stands in the configuration of the \
         server, such as '%v:%p %h %l %u %t \"%r\" %>s %O' or '$host [$time_local] \"$request\" $status'. The \
         names are {}. Without the flag, the first of them that all requests of the first 1,000 lines fit is \
         used.",
        names.join(", ")
    )
}

pub const OUTPUT: &str = "The file to write; its extension selects the form and the compression";

pub const OUTPUT_LONG: &str = "\
The file to write; its extension selects the form and the compression

Tables are .tsv, .csv, .jsonl or .parquet, pages .html and reports .json (`audit` takes several files); .gz \
and .zst compress all but Parquet. `filter` keeps the format of the list: of Parquet lists, it writes the \
kept rows with all columns to a .parquet file, and to any other the URLs of the rows, one per line. A policy \
set may have any name. The file appears under its name once it is complete; `-` is standard output.";
