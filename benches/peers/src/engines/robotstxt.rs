//! robotstxt: the port of Google's C++, which parses the file for each URL. It takes the URL,
//! escaped.

use robotstxt::DefaultMatcher;

use crate::corpus::Record;
use crate::model::{Matcher, Refusal};

pub struct Peer(&'static str);

impl Matcher for Peer {
    const PACKAGE: &'static str = "robotstxt";
    const PARSES_EACH_TIME: bool = true;

    fn build(text: &'static [u8], _agent: &str) -> Result<Peer, Refusal> {
        std::str::from_utf8(text).map(Peer).map_err(|_| "takes UTF-8 only".to_owned())
    }

    fn allows(&mut self, agent: &str, record: &Record) -> bool {
        DefaultMatcher::default().one_agent_allowed_by_robots(self.0, agent, record.url)
    }
}
