//! robotxt: an agent's rules in order of precedence. It takes the path.

use portcullis::bench::{FileMatcher, Question};
use robotxt::Robots;

pub struct Peer(Robots);

impl FileMatcher<'_> for Peer {
    fn build(text: &[u8], agent: &str) -> Result<Peer, String> {
        Ok(Peer(Robots::parse(text, agent)))
    }

    fn allows(&mut self, _agent: &str, question: Question<'_>) -> bool {
        self.0.is_allowed(question.path)
    }
}
