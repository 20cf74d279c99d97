//! texting_robots: an agent's rules, regular expressions where they have a `$`. It takes a URL or a
//! path; a path costs it less.

use texting_robots::Robot;

use crate::corpus::Record;
use crate::model::{Matcher, Refusal};

pub struct Peer(Robot);

impl Matcher for Peer {
    const PACKAGE: &'static str = "texting_robots";

    fn build(text: &'static [u8], agent: &str) -> Result<Peer, Refusal> {
        // The error's first part quotes the rule; its last says what is wrong.
        let refuse = |error: anyhow::Error| error.root_cause().to_string();
        Robot::new(agent, text).map(Peer).map_err(refuse)
    }

    fn allows(&mut self, _agent: &str, record: &Record) -> bool {
        self.0.allowed(record.path)
    }
}
