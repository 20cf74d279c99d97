//! `portcullis synth`: writes a made-up corpus.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use portcullis::synth::Corpus;

use super::args::SynthArgs;
use super::exit::ExitStatus;
use super::output::Output;

/// The folder of robots.txt files and the list of URLs, within the corpus's folder.
const ROBOTS: &str = "robots";
const URLS: &str = "urls.txt";

/// Octets of the list that are made before they are written.
const BUFFER_OCTETS: usize = 256 * 1024;

pub fn run(args: &SynthArgs) -> anyhow::Result<ExitStatus> {
    let (robots, urls) = (args.out.join(ROBOTS), args.out.join(URLS));
    for path in [&robots, &urls] {
        ensure!(
            !path.exists(),
            "{} is there already; choose an empty folder with --out, or remove it",
            path.display()
        );
    }
    let corpus = Corpus::new(args.seed, args.hosts);
    write_robots(&corpus, &robots)?;
    // The list comes last: where it is, the corpus is complete.
    write_urls(&corpus, args.urls, &urls)?;
    Ok(ExitStatus::Done)
}

fn write_robots(corpus: &Corpus, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let mut robots = Vec::new();
    for host in 0..corpus.hosts() {
        robots.clear();
        corpus.write_robots(host, &mut robots);
        let path = folder.join(corpus.host(host));
        fs::write(&path, &robots).with_context(|| {
            format!("cannot write {}: make room, and remove the folder", path.display())
        })?;
    }
    Ok(())
}

fn write_urls(corpus: &Corpus, urls: u64, path: &Path) -> anyhow::Result<()> {
    let mut output = Output::create(path)?;
    let mut lines = Vec::new();
    for position in 0..urls {
        corpus.write_url(position, &mut lines);
        lines.push(b'\n');
        if lines.len() >= BUFFER_OCTETS {
            output.write(&lines)?;
            lines.clear();
        }
    }
    output.write(&lines)?;
    output.finish()?;
    Ok(())
}
