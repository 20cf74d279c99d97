//! The engines from crates.io, one file each.

mod fast_robots;
mod robotstxt;
mod robotxt;
mod texting_robots;

use std::time::{Duration, Instant};

use portcullis::bench::{
    Built, Corpus, Engine, EngineError, EngineKind, FileMatcher, PerFile, locked_version,
};

/// Every peer, for a corpus.
pub fn all(corpus: &Corpus) -> Vec<Box<dyn Engine + '_>> {
    let agent = corpus.agent.name();
    vec![
        Box::new(Peer {
            parse: Some(fast_robots::parse_all),
            ..peer("fast-robots", agent, |files, agent| {
                build::<fast_robots::Peer<'_>>(files, agent)
            })
        }),
        Box::new(peer("texting_robots", agent, |files, agent| {
            build::<texting_robots::Peer>(files, agent)
        })),
        Box::new(peer("robotxt", agent, |files, agent| build::<robotxt::Peer>(files, agent))),
        Box::new(Peer {
            parses_each_time: true,
            ..peer("robotstxt", agent, |files, agent| build::<robotstxt::Peer<'_>>(files, agent))
        }),
    ]
}

/// Builds a peer's matchers, and takes the time.
type Build = for<'f> fn(&'f [&'f [u8]], &str) -> Built<'f>;

fn peer<'c>(name: &'static str, agent: &'c str, build: Build) -> Peer<'c> {
    Peer { name, agent, build, parse: None, parses_each_time: false }
}

/// A crate that keeps a matcher for each file.
struct Peer<'c> {
    /// The row's name, which is the package's.
    name: &'static str,
    agent: &'c str,
    build: Build,
    /// Parses all files, where that is a step of its own.
    parse: Option<fn(&[&[u8]])>,
    parses_each_time: bool,
}

fn build<'f, M: FileMatcher<'f> + 'f>(files: &'f [&'f [u8]], agent: &str) -> Built<'f> {
    Built::timed(|| PerFile::<M>::new(files, agent))
}

impl Engine for Peer<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        locked_version(self.name)
    }

    fn kind(&self) -> EngineKind {
        EngineKind::Peer
    }

    fn parses_each_time(&self) -> bool {
        self.parses_each_time
    }

    fn parse(&self, files: &[&[u8]]) -> Option<Duration> {
        let parse = self.parse?;
        let start = Instant::now();
        parse(files);
        Some(start.elapsed())
    }

    fn build<'f>(&'f self, files: &'f [&'f [u8]]) -> Result<Built<'f>, EngineError> {
        Ok((self.build)(files, self.agent))
    }
}
