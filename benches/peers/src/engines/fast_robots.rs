//! fast-robots: tries for all agents of a file. It takes the path.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fast_robots::{ParseOptions, RobotsMatcher, RobotsTxt};

use crate::corpus::Record;
use crate::model::{Matcher, Refusal};

pub struct Peer(RobotsMatcher<'static>);

fn parse(text: &[u8]) -> Result<RobotsTxt<'_>, Refusal> {
    let options = ParseOptions { max_bytes: None };
    RobotsTxt::parse_bytes_with_options(text, options).map_err(|error| error.to_string())
}

impl Matcher for Peer {
    const PACKAGE: &'static str = "fast-robots";

    fn build(text: &'static [u8], _agent: &str) -> Result<Peer, Refusal> {
        // A matcher borrows its parsed file, so that is leaked. It happens once for each file.
        Ok(Peer(Box::leak(Box::new(parse(text)?)).matcher()))
    }

    fn time_to_build(files: &[&'static [u8]], _agent: &str) -> Duration {
        let start = Instant::now();
        let parsed: Vec<_> = files.iter().flat_map(|text| parse(text)).collect();
        let matchers: Vec<_> = parsed.iter().map(RobotsTxt::matcher).collect();
        let time = start.elapsed();
        drop(black_box(matchers));
        time
    }

    fn allows(&mut self, agent: &str, record: &Record) -> bool {
        self.0.is_allowed(agent, record.path)
    }
}
