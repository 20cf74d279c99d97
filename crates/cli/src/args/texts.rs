//! The help of flags that have one meaning in all commands, and whose texts name what they do in one.

use portcullis_rows::list::LogFormat;

pub const FORMAT: &str = "Output format";

pub const FORMAT_OF_TABLE: &str = "Output format; by default from the extension of -o, else tsv";

pub const FORMAT_OF_TABLE_LONG: &str = "\
Output format; by default from the extension of -o, else tsv

tsv and csv begin with a header line, except the tsv of `classify` without --header. jsonl has one object per \
line.";

pub const FORMAT_OF_DIFF_LONG: &str = "\
Output format; by default from the extension of -o, else tsv

tsv and csv begin with a header line. jsonl has one object per line.";

pub const DIALECT_OF_LINT: &str = "\
Dialect whose findings are reported [default: rfc9309]

original1994, koster1996, draft2019, rfc9309 or google. The edits of --diff and --fix change no verdict in this \
dialect, or, without the flag, in any.";

pub const USAGE_OF_DIFF: &str = "\
Compare usage preferences too: train-ai, ai-use, search, use

Separate several by commas. A changed preference has a row of its own, and the exit status is 1.";

pub const FORMAT_OF_SURVEY_LONG: &str = "\
Output format; by default from the extension of -o, else tsv

tsv and csv begin with a header line. jsonl has one object per line. html is a page with the totals of each crawler, \
and with --history by month.";

pub const FORMAT_OF_REPORT: &str = "Output format; by default from the extension of -o, else text";

pub const QUIET: &str = "Print no verdict; the exit status is the answer";

pub const QUIET_FILTER: &str =
    "Print nothing; with --fail, the exit status says whether a record was kept";

pub const HISTORY_OF_COMPILE: &str =
    "Keep all captures of each origin, so that the set answers for any time";

pub const HISTORY_OF_COMPILE_LONG: &str = "\
Keep all captures of each origin, so that the set answers for any time

By default, the set has the newest policy of each origin. With this flag, each capture adds 16 bytes to the set, and each \
distinct file adds its records. A capture without a date is older than all others; --strict \
refuses it.";

pub const HISTORY_OF_SURVEY: &str =
    "Write a row for each period of an origin, not only for its newest policy";

pub const HISTORY_OF_SURVEY_LONG: &str = "\
Write a row for each period of an origin, not only for its newest policy

A period is the time in which a policy stays the same. The set must have been compiled with --history. Totals \
describe the newest policies.";

pub const STRICT_OF_COMPILE: &str = "\
Turn notes and warnings about the input into errors

These concern files that are skipped, longer than --max-robots-size, or HTML, JSON or binary data; broken \
records; and captures without a status or a date, or after --as-of. Without --strict, each is reported, and files \
are parsed as the dialect says.";

pub const LENIENT_OF_SURVEY: &str = "Skip unreadable files of --robots DIR, with a note";

pub const LENIENT_OF_COMPILE: &str =
    "Read damaged archives up to the damage, and skip unreadable inputs, with a note";

pub const LENIENT_OF_COMPILE_LONG: &str = "\
Read damaged archives up to the damage, and skip unreadable inputs, with a note

The hosts of inputs that are not read are unknown, or have the policy of an older capture.";

pub const AGENTS_OF_INSPECT: &str =
    "Show the changes of access for these crawlers only, in a set with history";

pub const CAPTURES_FORMAT: &str = "Format of the archives; detected for each input by default";

pub const INPUT_FORMAT: &str = "Format of the lists; detected for each list by default";

pub const INPUT_FORMAT_LONG: &str = "\
Format of the lists; detected for each list by default

lines: one URL per line. jsonl: JSON Lines. csv, tsv: with or without a header. cdxj, cdx: an index of a web \
archive. access-log: logs of servers (see --log-format and --host). w3c: logs of IIS and CloudFront. \
heritrix: a recover journal. crawl-log: Heritrix's crawl.log. nutch: `readdb -dump`. parquet: Parquet. \
sitemap: a sitemap, an index together with its sitemaps, or a feed. warc: the target URIs of WARC, WAT and WET.";

pub const LOG_FORMAT: &str =
    "Format of the lines of access logs: a name, an Apache LogFormat or an nginx log_format";

/// Returns the help of `--log-format`, which has the names of formats.
pub fn log_format() -> String {
    let [tried, named] =
        [true, false].map(|is_tried| LogFormat::names(is_tried).collect::<Vec<_>>());
    format!(
        "{LOG_FORMAT}\n\nThe configuration of the server has the LogFormat or log_format, such as '%v:%p %h %l \
         %u %t \"%r\" %>s %O' or '$host [$time_local] \"$request\" $status'. The default is the first of \
         these that fits all requests in the first 1,000 lines: {}. Only by name: {}.",
        tried.join(", "),
        named.join(", ")
    )
}

pub const OUTPUT: &str = "Output file; the extension selects the format and compression";

pub const OUTPUT_LONG: &str = "\
Output file; the extension selects the format and compression

The formats are .tsv, .csv, .jsonl and .parquet. .gz and .zst compress all but Parquet. The file appears under \
its name once it is complete; `-` is standard output.";

pub const OUTPUT_OF_SURVEY_LONG: &str = "\
Output file; the extension selects the format and compression

The formats are .tsv, .csv, .jsonl, .parquet and .html. .gz and .zst compress all but Parquet. The file appears \
under its name once it is complete; `-` is standard output.";

pub const OUTPUT_OF_FILTER: &str =
    "Output file; the list keeps its format; .gz and .zst compress it";

pub const OUTPUT_OF_FILTER_LONG: &str = "\
Output file; the list keeps its format; .gz and .zst compress it

The extension converts nothing: records are copied. Kept rows of Parquet lists go to a .parquet file with all columns. To any other file, their URLs are written, \
one per line. The file appears under its name once it is complete; `-` is standard output.";

pub const OUTPUT_OF_AUDIT: &str = "Output file: .html, .json or text; may be given several times";

pub const OUTPUT_OF_AUDIT_LONG: &str = "\
Output file: .html, .json or text; may be given several times

.gz and .zst compress it. The file appears under its name once it is complete; `-` is standard output.";

pub const OUTPUT_OF_COMPILE: &str = "The policy set to write";

pub const OUTPUT_OF_COMPILE_LONG: &str = "\
The policy set to write

Any name. The file appears once it is complete.";
