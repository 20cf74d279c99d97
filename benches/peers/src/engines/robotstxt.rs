//! robotstxt: the port of Google's C++, which parses the file for each URL. It takes the URL,
//! escaped.

use portcullis::bench::{FileMatcher, Question};
use robotstxt::DefaultMatcher;

pub struct Peer<'f>(&'f str);

impl<'f> FileMatcher<'f> for Peer<'f> {
    fn build(text: &'f [u8], _agent: &str) -> Result<Peer<'f>, String> {
        std::str::from_utf8(text).map(Peer).map_err(|_| "takes UTF-8 only".to_owned())
    }

    fn allows(&mut self, agent: &str, question: Question<'_>) -> bool {
        DefaultMatcher::default().one_agent_allowed_by_robots(self.0, agent, question.url)
    }
}
