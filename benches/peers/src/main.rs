//! Measures portcullis beside other matchers of robots.txt, on the user's own files and URLs.
//!
//! `portcullis-peers ROBOTS_DIR URLS AGENT [--rounds N]` prints a Markdown table; `scripts/peers`
//! builds and runs it. Answers are compared before anything is timed, and each timed pass has to
//! count the URLs that the comparison counted as allowed. `../METHODOLOGY.md` says what is measured,
//! what is left out and where our bias lies.
//!
//! | module | owns |
//! |---|---|
//! | `corpus` | files and URLs, prepared for all engines alike |
//! | `model` | what an engine is; panics caught and counted |
//! | `engines` | one file an engine |
//! | `check` | the comparison of answers |
//! | `measure` | rounds and times |
//! | `table` | what is printed |

mod check;
mod corpus;
mod engines;
mod measure;
mod model;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "usage: scripts/peers ROBOTS_DIR URLS AGENT [--rounds N]";

/// What is asked for.
pub struct Request {
    pub robots: PathBuf,
    pub urls: PathBuf,
    pub agent: String,
    pub rounds: usize,
}

impl Request {
    fn parse(mut arguments: Vec<String>) -> Result<Request> {
        /// An odd number, so that the median is a measured value.
        const ROUNDS: usize = 5;
        let mut rounds = ROUNDS;
        if let Some(flag) = arguments.iter().position(|argument| argument == "--rounds") {
            let count = arguments.get(flag + 1).context(USAGE)?;
            rounds = count.parse().with_context(|| format!("--rounds {count}: {USAGE}"))?;
            arguments.drain(flag..flag + 2);
        }
        let Ok([robots, urls, agent]) = <[String; 3]>::try_from(arguments) else { bail!(USAGE) };
        if rounds == 0 {
            bail!("--rounds 0 measures nothing; ask for one at least");
        }
        Ok(Request { robots: robots.into(), urls: urls.into(), agent, rounds })
    }
}

fn main() -> ExitCode {
    match measured() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn measured() -> Result<()> {
    let request = Request::parse(std::env::args().skip(1).collect())?;
    // Portcullis compiles on the pool that it is called from. With one thread the work is done by
    // the thread that measures, as every other engine's is.
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| run(&request))
}

fn run(request: &Request) -> Result<()> {
    let corpus = corpus::Corpus::load(&request.robots, &request.urls)?;
    eprintln!("building every engine for {} files", corpus.files.len());
    let mut engines = engines::all(&corpus.files, &request.agent)?;
    eprintln!("comparing answers to {} URLs", corpus.records.len());
    let checked = check::check(&mut engines, corpus.files.len(), corpus.records.clone());
    let times = measure::rounds(&mut engines, corpus.files.len(), &checked, request.rounds)?;
    print!("{}", table::render(request, &corpus, &engines, &checked, &times));
    Ok(())
}
