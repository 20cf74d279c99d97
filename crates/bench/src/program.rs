//! The program: `run` measures engines, `conform` asks them the questions of the suite, `synth` makes data to
//! measure with, `goals` runs `benches/goals.py`, which measures whole processes.
//!
//! `portcullis-bench` has the built-in engines. `portcullis-peers` is the same program with the engines of
//! `benches/peers`.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, ValueEnum};
use portcullis_dialect::dialect::{Dialect, RFC_9309};
use portcullis_files::atomic_file::AtomicFile;
use portcullis_files::input::{ChunkConfig, Framing, Source, Terminator, TextChunks};
use portcullis_robots::policy::Crawler;
use portcullis_synth::ArchiveFormat;
use portcullis_text::visible::visible;

use super::{Choice, Corpus, Engine, PATIENCE, SUITE_JSON, Settings, Suite, chosen, conform};

/// Measure robots.txt engines, each verified before it is timed, and make data to measure with
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
enum Task {
    Run(Box<RunArgs>),
    Conform(Box<ConformArgs>),
    Synth(SynthArgs),
    Goals(GoalArgs),
}

/// Measure engines side by side on your own files and URLs
///
/// First, every answer of every engine is compared with the oracle's. An engine with a wrong answer
/// is reported with an example and is not timed. Prints Markdown. Exits with 1 if a built-in engine
/// is wrong, and with 2 if nothing can be measured.
#[derive(Args)]
struct RunArgs {
    /// A robots.txt file, or a folder of files named by host
    #[arg(long, value_name = "PATH")]
    robots: PathBuf,

    /// The crawler's product token
    #[arg(short, long, value_name = "AGENT")]
    agent: String,

    /// The standard or crawler that portcullis and the oracle follow
    #[arg(long, value_name = "NAME", value_parser = dialect, default_value = RFC_9309.name)]
    dialect: &'static Dialect,

    /// The list of URLs, one per line; `-` is standard input. gzip and zstd files are decompressed
    urls: PathBuf,

    #[command(flatten)]
    settings: Settings,

    /// JSON output file, with every value
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Ask engines the questions of the suite, and show where they differ from a dialect
///
/// The suite is the cases of this project about all that a matcher decides, each with the document that it
/// follows. Prints Markdown: for each engine the points, and the smallest file that shows a difference.
/// Without --engine, only the runners are asked if there are any. Exits with 1 if an answer differs that a
/// document requires, or an engine answers nothing, and with 2 if nothing can be asked.
#[derive(Args)]
struct ConformArgs {
    #[command(flatten)]
    choice: Choice,

    /// The standard or crawler that the answers are compared with
    #[arg(long, value_name = "NAME", value_parser = dialect, default_value = RFC_9309.name)]
    dialect: &'static Dialect,

    /// Another suite, as --export prints one
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,

    /// Seconds in which a runner has to answer a request
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,

    /// JSON output file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Output file in JUnit's XML, which continuous integration reads
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Print the suite as one JSON file, with its schema and licence, and ask nothing
    #[arg(long)]
    export: bool,
}

/// Make robots.txt files and a list of URLs
///
/// The same seed gives the same corpus everywhere, and a larger corpus begins with the hosts of a
/// smaller one. File sizes, groups, wildcards and shared templates follow the distribution on the
/// web. Writes DIR/urls.txt and, depending on the format, DIR/robots/HOST for each host,
/// DIR/robots.jsonl or DIR/robots.warc.gz. The list is written last, and nothing is replaced.
#[derive(Args)]
struct SynthArgs {
    /// The seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Number of hosts
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    hosts: u64,

    /// Number of URLs
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    urls: u64,

    /// The format of the robots.txt files
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Folder)]
    format: Format,

    /// Number of captures of each host, over five years
    ///
    /// With more than one, some captures fail, and files change between captures. The format must be
    /// jsonl or warc. The list is DIR/urls.tsv, with a header and a time next to each URL, instead of
    /// DIR/urls.txt.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    captures: u64,

    /// The folder to write to; it must not hold a corpus yet
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A folder of files named by host
    Folder,
    /// JSON Lines, one answer per line
    Jsonl,
    /// WARC, compressed record by record
    Warc,
}

/// Measure the project's goals, or count instructions, with benches/goals.py (`goals --help`)
#[derive(Args)]
#[command(disable_help_flag = true)]
struct GoalArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn dialect(name: &str) -> Result<&'static Dialect, String> {
    let names = Dialect::ALL.map(|dialect| dialect.name).join(", ");
    Dialect::by_name(name).ok_or_else(|| format!("there are {names}"))
}

/// Returns engines besides the built-in ones.
type Others = fn(&Corpus) -> Vec<Engine<'_>>;

/// Runs the program with the arguments of the process. `others` are engines besides the built-in ones;
/// a report shows `name` as the command.
pub fn main(name: &str, others: Others) -> ExitCode {
    let done = perform(Task::parse(), name, others, &mut io::stdout());
    let is_closed = |error: &anyhow::Error| {
        let error = error.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    done.unwrap_or_else(|error| {
        // The reader of the report closed it.
        if is_closed(&error) {
            return ExitCode::SUCCESS;
        }
        say(format_args!("error: {error:#}"));
        ExitCode::from(2)
    })
}

/// Writes a message to standard error. That its reader closed it is no failure.
fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&message.to_string()));
}

fn perform(task: Task, name: &str, others: Others, out: &mut dyn Write) -> Result<ExitCode> {
    match task {
        Task::Run(args) => measure(*args, name, others, out),
        Task::Conform(args) => ask(*args, others, out),
        Task::Synth(args) => synth(&args),
        Task::Goals(args) => goals(&args.arguments),
    }
}

fn measure(args: RunArgs, name: &str, others: Others, out: &mut dyn Write) -> Result<ExitCode> {
    let RunArgs { robots, agent, dialect, urls, settings, report: path } = args;
    // The output is opened now, so that a wrong name fails before minutes of measuring.
    let output = path.map(Output::create).transpose()?;
    let agent = Crawler::parse(&agent, dialect)?;
    ensure!(
        agent.tokens().count() == 1,
        "engines take no chains of agents; name one product token"
    );
    let mut corpus = Corpus::load(&robots, agent, dialect)?;
    add_list(&mut corpus, &urls)?;
    // With one thread, portcullis compiles on the measuring thread, like every other engine.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let progress = |step: &str| say(format_args!("bench: {step}"));
    let command = command_line(name, std::env::args_os().skip(1));
    let report = pool.install(|| {
        let engines = chosen(&corpus, others(&corpus), &settings.choice)?;
        super::run(&corpus, &engines, (&settings, &command), &progress)
    })?;
    output.map(|it| it.publish(&report.to_json())).transpose()?;
    out.write_all(report.to_markdown().as_bytes())?;
    Ok(ExitCode::from(u8::from(report.has_fault())))
}

/// An output file, which appears complete.
struct Output(PathBuf, AtomicFile);

impl Output {
    fn create(path: PathBuf) -> Result<Output> {
        let file = AtomicFile::create(&path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Output(path, file))
    }

    fn publish(self, text: &str) -> Result<()> {
        let Output(path, mut file) = self;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.complete()?.publish());
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

fn ask(args: ConformArgs, others: Others, out: &mut dyn Write) -> Result<ExitCode> {
    let ConformArgs { mut choice, dialect, suite, seconds, report, junit, export } = args;
    if export {
        out.write_all(SUITE_JSON.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let suite = Suite::read(suite.as_deref())?;
    let [report, junit] = [report, junit].map(|path| path.map(Output::create).transpose());
    let (report, junit) = (report?, junit?);
    choice.runners =
        choice.runners.into_iter().map(|it| it.within(Duration::from_secs(seconds))).collect();
    let progress = |step: &str| say(format_args!("bench: {step}"));
    let found = conform(&suite, dialect, (&choice, others), &progress)?;
    report.map(|it| it.publish(&found.to_json())).transpose()?;
    junit.map(|it| it.publish(&found.to_junit())).transpose()?;
    out.write_all(found.to_markdown().as_bytes())?;
    Ok(ExitCode::from(u8::from(found.has_fault())))
}

fn add_list(corpus: &mut Corpus, path: &Path) -> Result<()> {
    let source = Source::open(path)?;
    let mut chunks = TextChunks::new(source, ChunkConfig::default());
    while let Some(chunk) = chunks.next(Framing::Byte(Terminator::LineFeed))? {
        for line in chunk.split_inclusive(|&byte| byte == b'\n') {
            corpus.add(line.strip_suffix(b"\n").unwrap_or(line));
        }
    }
    Ok(())
}

/// Returns a command for a report. Its arguments are quoted so that a shell repeats it.
fn command_line(program: &str, arguments: impl Iterator<Item = OsString>) -> String {
    let arguments = arguments.map(|argument| quoted(&argument));
    std::iter::once(program.to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn synth(args: &SynthArgs) -> Result<ExitCode> {
    let corpus = portcullis_synth::Corpus::new(args.seed, args.hosts).with_captures(args.captures);
    let archive = match args.format {
        Format::Folder => None,
        Format::Jsonl => Some(ArchiveFormat::JsonLines),
        Format::Warc => Some(ArchiveFormat::Warc),
    };
    corpus.write_files(&args.out, args.urls, archive)?;
    Ok(ExitCode::SUCCESS)
}

fn goals(arguments: &[OsString]) -> Result<ExitCode> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/goals.py");
    let status = Command::new("python3").arg(script).args(arguments).status();
    let status = status.with_context(|| format!("cannot run python3 {script}"))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// Two hosts with files, and a list with a URL for each verdict.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("robots")).unwrap();
        for (name, text) in [
            ("robots/a.example", "User-agent: *\nDisallow: /private/\n"),
            ("robots/b.example", "# nothing\n"),
            (
                "urls.txt",
                "https://a.example/private/x\nhttps://b.example/\nhttps://c.example/\nnothing",
            ),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    /// Performs a line, whose words with a `/` are paths in the folder. Returns what it prints.
    fn printed(folder: &TempDir, line: &str) -> Result<String> {
        let path = |word: &str| match word.strip_prefix("./") {
            Some(name) => folder.path().join(name).into_os_string(),
            None => word.into(),
        };
        let words = ["portcullis-bench"].into_iter().chain(line.split(' '));
        let task = Task::try_parse_from(words.map(path))?;
        let mut out = Vec::new();
        perform(task, "portcullis-bench", |_| Vec::new(), &mut out)?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        <Task as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn the_commands_of_the_pages_parse() {
        let mut commands = 0;
        for page in [
            "docs/first-hour.md",
            "docs/guide/library.md",
            "corpora/README.md",
            "benches/PERFORMANCE.md",
            "benches/METHODOLOGY.md",
            "benches/RUNNERS.md",
        ] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
            let text = fs::read_to_string(path).unwrap().replace("\\\n", "");
            for line in text.lines() {
                let line = line
                    .replace("cargo run --release -p portcullis-bench -- ", "portcullis-bench ");
                let line = line.replace("scripts/peers -", "portcullis-bench run -");
                let Some(command) = line.strip_prefix("portcullis-bench ") else { continue };
                let command = command.split(" #").next().unwrap().split(" >").next().unwrap();
                let mut words = vec!["portcullis-bench".to_owned()];
                for (place, part) in command.split(['\'', '"']).enumerate() {
                    match place % 2 {
                        0 => words.extend(part.split_whitespace().map(str::to_owned)),
                        _ => words.push(part.to_owned()),
                    }
                }
                let parsed = Task::try_parse_from(&words);
                assert!(parsed.is_ok(), "{page}: {line}: {}", parsed.err().unwrap());
                commands += 1;
            }
        }
        assert!(commands >= 6, "{commands}");
    }

    #[test]
    fn every_engine_is_verified_on_the_sample_and_timed() {
        let folder = folder();
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpora/sample");
        let line = format!(
            "run --robots {sample}/robots -a Googlebot {sample}/urls.txt --rounds 1 \
             --seconds-per-pass 0 --report ./b.json"
        );
        let table = printed(&folder, &line).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let report: serde_json::Value = serde_json::from_str(&read("b.json")).unwrap();
        let engines = report["engines"].as_array().unwrap();
        assert_eq!(engines.len(), 6, "{table}");
        for engine in engines {
            let name = engine["name"].as_str().unwrap();
            assert_eq!(engine["verification"]["status"], "verified", "{name}");
            assert_eq!(engine["verification"]["checksum"], report["corpus"]["checksum"], "{name}");
            assert!(table.contains(&format!("| {name} ")), "{name}");
        }
        let models = engines[0]["results"].as_array().unwrap();
        for model in ["compile", "first-touch", "decide-hot", "batch"] {
            assert!(models.iter().any(|result| result["model"] == model), "{model}");
        }
    }

    #[test]
    fn a_compressed_list_is_a_list_and_what_cannot_be_asked_is_counted() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let list = fs::read(path("urls.txt")).unwrap();
        fs::write(path("urls.zst"), zstd::encode_all(&list[..], 1).unwrap()).unwrap();
        for urls in ["./urls.txt", "./urls.zst"] {
            let flags = "--engine sorted-scan --model decide-hot --rounds 1 --seconds-per-pass 0";
            let line = format!("run --robots ./robots {urls} -a Bot {flags} --report ./b.json");
            printed(&folder, &line).unwrap();
            let report = fs::read(path("b.json")).unwrap();
            let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
            let facts = &report["corpus"];
            assert_eq!((&facts["questions"], &facts["allowed"]), (&2.into(), &1.into()), "{line}");
            let left_out = &facts["left_out"];
            assert_eq!(left_out["invalid"], 1, "{line}");
            assert_eq!(left_out["without_file"], 1, "{line}");
        }
    }

    #[test]
    fn a_command_is_quoted_for_a_shell() {
        for (word, expected) in [
            ("--urls=a/b-c_1.txt", "--urls=a/b-c_1.txt"),
            ("", "''"),
            ("protego=python3 x.py", "'protego=python3 x.py'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("~", "'~'"),
        ] {
            let line = command_line("program", [word.into()].into_iter());
            assert_eq!(line, format!("program {expected}"));
        }
    }

    #[test]
    fn wrong_usage_is_reported() {
        let folder = folder();
        let run = "run --robots ./robots -a Bot --seconds-per-pass 0";
        for (line, why) in [
            (format!("{run} ./urls.txt --rounds 0"), "0 is not in 1.."),
            (
                format!("{run} ./urls.txt --engine nobody"),
                "no engine nobody; there are portcullis,",
            ),
            (format!("{run} ./urls.txt --runner oracle=true"), "two engines have the name oracle"),
            (format!("{run} ./urls.txt --report ./no/such/folder"), "cannot write "),
            (format!("{run} ./missing"), "no such file"),
            (format!("{run} ./robots/a.example"), "no URL is of an origin with a robots.txt"),
            (run.replace("Bot", "A+B") + " ./urls.txt", "one product token"),
            (run.replace("Bot", "A,B") + " ./urls.txt", "invalid agent 'A,B'"),
            ("run -a Bot ./urls.txt".to_owned(), "--robots <PATH>"),
            ("synth --hosts 0 -o ./c".to_owned(), "0 is not in 1.."),
            ("synth --captures 2 -o ./c".to_owned(), "a folder has one file per host"),
            ("synth -o ./urls.txt".to_owned(), "urls.txt"),
            ("synth --hosts 1 -o .".to_owned() + "/.", "robots"),
        ] {
            let error = printed(&folder, &line).expect_err(&line);
            assert!(format!("{error:#}").contains(why), "{line}: {error:#}");
        }
    }
}
