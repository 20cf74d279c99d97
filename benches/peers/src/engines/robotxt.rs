//! robotxt: an agent's rules in order of precedence. It takes the path.

use robotxt::Robots;

use crate::corpus::Record;
use crate::model::{Matcher, Refusal};

pub struct Peer(Robots);

impl Matcher for Peer {
    const PACKAGE: &'static str = "robotxt";

    fn build(text: &'static [u8], agent: &str) -> Result<Peer, Refusal> {
        Ok(Peer(Robots::parse(text, agent)))
    }

    fn allows(&mut self, _agent: &str, record: &Record) -> bool {
        self.0.is_allowed(record.path)
    }
}
