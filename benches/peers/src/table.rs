//! What is printed: the machine, the data, a row for each engine, and where its answers differ.

use std::fmt::Write;
use std::path::Path;

use crate::Request;
use crate::check::{Checked, Findings, SAMPLE_SEED, SAMPLE_URLS};
use crate::corpus::Corpus;
use crate::measure::{Spread, Times};
use crate::model::Engine;

/// The versions that were built.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The whole report, in Markdown.
pub fn render(
    request: &Request,
    corpus: &Corpus,
    engines: &[Box<dyn Engine>],
    checked: &Checked,
    times: &[Times],
) -> String {
    let mut text = heading(request, corpus, checked);
    text += "\n| engine | build, µs a file | in the order given, ns a URL | grouped by host, ns a URL | \
             other answers |\n|---|---|---|---|---|\n";
    for (position, engine) in engines.iter().enumerate() {
        let version = version(engine.package());
        let mark = if engine.parses_each_time() { " †" } else { "" };
        let cell = |times_of: fn(&Times) -> &Vec<f64>| {
            cell(Spread::of(times_of(&times[position])), Spread::of(times_of(&times[0])))
        };
        let (build, given) = (cell(|times| &times.build), cell(|times| &times.given));
        let grouped = cell(|times| &times.grouped);
        let Findings { differences, asked, urls_refused, urls_panicking, .. } =
            checked.findings[position];
        let answered = asked - urls_refused - urls_panicking;
        let others =
            if position == 0 { "–".to_owned() } else { format!("{differences} of {answered}") };
        let name = engine.name();
        let _ =
            writeln!(text, "| {name} {version}{mark} | {build} | {given} | {grouped} | {others} |");
    }
    text += &legend(engines);
    for (engine, findings) in engines.iter().zip(&checked.findings) {
        text += &remarks(engine.name(), findings);
    }
    text
}

fn heading(request: &Request, corpus: &Corpus, checked: &Checked) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let compiler = std::env::var("PEERS_RUSTC").unwrap_or_else(|_| "rustc unknown".to_owned());
    let Request { agent, rounds, .. } = request;
    let Corpus { files_left_out, files_cut, invalid, without_file, records, .. } = corpus;
    let (robots, urls) = (name(&request.robots), name(&request.urls));
    let answered = checked.all.given.len();
    format!(
        "`scripts/peers DIR/{robots} DIR/{urls} {agent} --rounds {rounds}` on {}, {cores} cores, one thread; \
         {compiler}.\n\n\
         {} files ({files_cut} cut at 500 KiB); {answered} URLs timed. Left out: {files_left_out} things in \
         the folder that are no host's file, {invalid} lines that are no URL, {without_file} URLs on hosts \
         without a file, {} that some engine does not answer.\n",
        processor(),
        corpus.files.len(),
        records.len() - answered,
    )
}

fn legend(engines: &[Box<dyn Engine>]) -> String {
    let mut text =
        "\nMedian of the rounds (least–most), and how many times the first row's.".to_owned();
    if engines.iter().any(|engine| engine.parses_each_time()) {
        let _ = write!(
            text,
            " † parses the file for each URL: asked about a sample of at most {SAMPLE_URLS} URLs (seed {SAMPLE_SEED})."
        );
    }
    text + "\n"
}

/// `median (least–most), ratio×`.
fn cell(spread: Option<Spread>, ours: Option<Spread>) -> String {
    let (Some(Spread { median, min, max }), Some(ours)) = (spread, ours) else {
        return "–".to_owned();
    };
    let digits = usize::from(median < 100.0);
    let ratio = median / ours.median;
    format!("{median:.digits$} ({min:.digits$}–{max:.digits$}), {ratio:.1}×")
}

/// What an engine refuses and where it differs.
fn remarks(name: &str, findings: &Findings) -> String {
    let mut text = String::new();
    for (reason, count) in &findings.files_refused {
        let reason = reason.replace('\n', " ");
        let _ = writeln!(text, "- files refused: {count} ({reason})");
    }
    if findings.urls_refused > 0 {
        let _ = writeln!(text, "- URLs on those files: {}", findings.urls_refused);
    }
    if findings.urls_panicking > 0 {
        let _ = writeln!(text, "- URLs that it panics on: {}", findings.urls_panicking);
    }
    for example in &findings.examples {
        let _ = writeln!(text, "- {example}");
    }
    if text.is_empty() { text } else { format!("\n{name}, other than ours:\n\n{text}") }
}

/// A package's version, from the lock file.
fn version(package: &str) -> &'static str {
    let entry = format!("name = \"{package}\"\nversion = \"");
    let found = LOCK.split_once(&entry).and_then(|(_, rest)| rest.split_once('"'));
    found.map_or("", |(version, _)| version)
}

/// The processor's name, where the system tells.
fn processor() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name"));
    model
        .map_or("an unknown processor", |name| name.trim_start_matches([' ', '\t', ':']))
        .to_owned()
}
