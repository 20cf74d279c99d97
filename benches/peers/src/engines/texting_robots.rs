//! texting_robots: an agent's rules, regular expressions where they have a `$`. It takes a URL or a
//! path; a path costs it less.

use portcullis::bench::{FileMatcher, Question};
use texting_robots::Robot;

pub struct Peer(Robot);

impl FileMatcher<'_> for Peer {
    fn build(text: &[u8], agent: &str) -> Result<Peer, String> {
        // The error's first part quotes the rule; its last says what is wrong.
        let refuse = |error: anyhow::Error| error.root_cause().to_string();
        Robot::new(agent, text).map(Peer).map_err(refuse)
    }

    fn allows(&mut self, _agent: &str, question: Question<'_>) -> bool {
        self.0.allowed(question.path)
    }
}
