//! `portcullis synth`: writes a synthetic corpus.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, ensure};
use portcullis_files::atomic_file::AtomicFolder;
use portcullis_synth::{ArchiveFormat, Corpus};
use rayon::prelude::*;

use super::args::{SynthArgs, SynthFormat};
use super::engine::{Engine, THREADS};
use super::exit::ExitStatus;
use super::output::{CompleteOutput, Output, OutputFailed, OutputFile};

/// The names in the folder of a corpus.
const ROBOTS: &str = "robots";
const JSON_LINES: &str = "robots.jsonl";
const WARC: &str = "robots.warc.gz";
const URLS: &str = "urls.txt";
/// The list of a corpus with histories: a header, and a time beside each URL.
const TIMED_URLS: &str = "urls.tsv";

/// The list as an access log.
const ACCESS_LOG: &str = "access.log";

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListForm {
    Lines,
    Timed,
    AccessLog,
}

/// The captures and URLs in one unit of work, which is about 400 KiB.
const CAPTURES_AT_ONCE: u64 = 256;
const URLS_AT_ONCE: u64 = 5_000;

/// The units of work per thread that are generated before they are written.
const PIECES_PER_THREAD: usize = 4;

pub fn run(args: &SynthArgs) -> anyhow::Result<ExitStatus> {
    Engine::new(THREADS)?.install(|| generate(args))
}

fn generate(args: &SynthArgs) -> anyhow::Result<ExitStatus> {
    let (name, archive) = match args.format {
        SynthFormat::Folder => (ROBOTS, None),
        SynthFormat::Jsonl => (JSON_LINES, Some(ArchiveFormat::JsonLines)),
        SynthFormat::Warc => (WARC, Some(ArchiveFormat::Warc)),
    };
    let has_history = args.captures > 1;
    ensure!(
        archive.is_some() || !has_history,
        "--captures: a folder has one file per host; choose --format jsonl or warc"
    );
    let (list, form) = match (args.access_log, has_history) {
        (true, _) => (ACCESS_LOG, ListForm::AccessLog),
        (false, true) => (TIMED_URLS, ListForm::Timed),
        (false, false) => (URLS, ListForm::Lines),
    };
    let (robots, urls) = (args.out.file(name), args.out.file(list));
    for path in [&robots, &urls] {
        ensure!(
            !path.exists(),
            "{} exists; choose an empty folder with --out, or remove it",
            path.display()
        );
    }
    fs::create_dir_all(&*args.out)
        .with_context(|| format!("cannot create the folder {}", args.out.display()))?;
    let corpus = Corpus::new(args.seed, args.hosts);
    let corpus = corpus.with_usage(args.usage).with_captures(args.captures);
    let (mut folder, mut outputs) = (None, Vec::new());
    match archive {
        None => folder = Some(write_folder(&corpus, &robots)?),
        Some(format) => {
            outputs.push(write_archive(&corpus, format, args.captures, &robots)?);
        }
    }
    // The list is written last: a corpus with a list is complete.
    outputs.push(write_urls(&corpus, args.urls, form, &urls)?);
    let outputs =
        outputs.into_iter().map(Output::complete).collect::<Result<Vec<_>, OutputFailed>>()?;
    let folder = folder.map(AtomicFolder::complete).transpose();
    let folder = folder.with_context(|| cannot_write(&robots))?;
    let folder = folder.map(|folder| CompleteOutput::of_folder(&robots, folder));
    CompleteOutput::publish_all(folder.into_iter().chain(outputs))?;
    Ok(ExitStatus::Done)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}: make room, or choose another folder with --out", path.display())
}

fn write_folder(corpus: &Corpus, folder: &Path) -> anyhow::Result<AtomicFolder> {
    let unfinished = AtomicFolder::create(folder).with_context(|| cannot_write(folder))?;
    (0..corpus.hosts()).into_par_iter().try_for_each_init(Vec::new, |robots, host| {
        robots.clear();
        corpus.write_robots(host, robots);
        let name = corpus.host(host);
        fs::write(unfinished.path().join(&name), robots)
            .with_context(|| cannot_write(&folder.join(&name)))
    })?;
    Ok(unfinished)
}

fn write_archive(
    corpus: &Corpus,
    format: ArchiveFormat,
    captures: u64,
    path: &OutputFile,
) -> anyhow::Result<Output> {
    let mut output = Output::create_as_is(path)?;
    let mut head = Vec::new();
    corpus.write_archive_head(format, &mut head);
    output.write(&head)?;
    let make = |hosts: Range<u64>| {
        let mut records = Vec::new();
        for host in hosts {
            corpus.write_archived(host, format, &mut records);
        }
        records
    };
    let at_once = (CAPTURES_AT_ONCE / captures).max(1);
    in_pieces(corpus.hosts(), at_once, make, |records| Ok(output.write(&records)?))?;
    Ok(output)
}

fn write_urls(
    corpus: &Corpus,
    urls: u64,
    form: ListForm,
    path: &OutputFile,
) -> anyhow::Result<Output> {
    let mut output = Output::create(path)?;
    if form == ListForm::Timed {
        output.write(b"url\ttime\n")?;
    }
    let make = |positions: Range<u64>| {
        let mut lines = Vec::new();
        for position in positions {
            match form {
                ListForm::AccessLog => corpus.write_fetch(position, &mut lines),
                ListForm::Lines => corpus.write_url(position, &mut lines),
                ListForm::Timed => {
                    corpus.write_url(position, &mut lines);
                    lines.push(b'\t');
                    corpus.write_url_time(position, &mut lines);
                }
            }
            lines.push(b'\n');
        }
        lines
    };
    in_pieces(urls, URLS_AT_ONCE, make, |lines| Ok(output.write(&lines)?))?;
    Ok(output)
}

/// Generates the items up to `end` in units of `at_once` on all threads, and passes them to `write`
/// in order.
fn in_pieces<P: Send>(
    end: u64,
    at_once: u64,
    make: impl Fn(Range<u64>) -> P + Sync,
    mut write: impl FnMut(P) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let pieces_at_once = rayon::current_num_threads() * PIECES_PER_THREAD;
    let mut start = 0;
    while start < end {
        let ranges: Vec<Range<u64>> = (0..pieces_at_once as u64)
            .map(|piece| start + piece * at_once)
            .take_while(|&start| start < end)
            .map(|start| start..end.min(start + at_once))
            .collect();
        start = ranges.last().map_or(end, |last| last.end);
        let pieces: Vec<P> = ranges.into_par_iter().map(&make).collect();
        pieces.into_iter().try_for_each(&mut write)?;
    }
    Ok(())
}
