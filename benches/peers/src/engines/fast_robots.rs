//! fast-robots: tries for all agents of a file. It takes the path.

use std::hint::black_box;

use fast_robots::{ParseOptions, RobotsMatcher, RobotsTxt};
use portcullis::bench::{FileMatcher, Question};

self_cell::self_cell!(
    /// A matcher borrows its parsed file.
    struct Compiled<'f> {
        owner: RobotsTxt<'f>,
        #[covariant]
        dependent: RobotsMatcher,
    }
);

pub struct Peer<'f>(Compiled<'f>);

fn parse(text: &[u8]) -> Result<RobotsTxt<'_>, String> {
    let options = ParseOptions { max_bytes: None };
    RobotsTxt::parse_bytes_with_options(text, options).map_err(|error| error.to_string())
}

/// Parses all files and keeps nothing.
pub fn parse_all(files: &[&[u8]]) {
    for text in files {
        let _ = black_box(parse(text));
    }
}

impl<'f> FileMatcher<'f> for Peer<'f> {
    fn build(text: &'f [u8], _agent: &str) -> Result<Peer<'f>, String> {
        Ok(Peer(Compiled::new(parse(text)?, |parsed| parsed.matcher())))
    }

    fn allows(&mut self, agent: &str, question: Question<'_>) -> bool {
        self.0.borrow_dependent().is_allowed(agent, question.path)
    }
}
