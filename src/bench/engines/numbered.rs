//! Texts compiled to a set in memory and asked by their numbers, without hosts and URLs: what is timed is
//! deciding, by the code that decides for everybody.

use crate::automaton::Limits;
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::policy::{AgentChain, Detail};
use crate::set::stored::{Query, QueryMemory};
use crate::set::{LoadConfig, PolicySet};
use crate::target::{ComparedPaths, Origin};

/// Texts, compiled for one agent.
pub struct Numbered {
    inquiry: Query,
    memory: QueryMemory,
    /// By text: its policy.
    policies: Vec<u32>,
    /// Of the block that is asked.
    asked: Vec<u32>,
}

impl Numbered {
    /// Compiles all of each text.
    pub fn new(
        texts: &[&[u8]],
        agent: &AgentChain,
        dialect: &'static Dialect,
        limits: Limits,
    ) -> Numbered {
        let config = LoadConfig {
            robots_bytes_max: None,
            agents: Some([agent.clone()].into()),
            ..LoadConfig::new(dialect)
        };
        let origin = |number: usize| {
            let url = format!("http://h{number:08}.example/robots.txt");
            Origin::of_robots_txt(url.as_bytes()).expect("a URL")
        };
        let origins: Vec<Origin> = (0..texts.len()).map(origin).collect();
        let set = PolicySet::of_files(origins.iter().zip(texts.iter().copied()), &config);
        let number = |origin: &Origin| {
            let policy = set.policy_of(b"http", origin.key().as_bytes());
            let policy = policy.expect("what was just compiled is whole");
            policy.expect("each text has an origin").index() as u32
        };
        let policies = origins.iter().map(number).collect();
        let inquiry = Query::new(set.into(), vec![agent.clone()], Detail::Reason, limits)
            .expect("it was compiled for the agent");
        Numbered { inquiry, memory: QueryMemory::default(), policies, asked: Vec::new() }
    }

    /// The decision on each of some paths in normal form, by the texts with these numbers.
    #[inline]
    pub fn decide(&mut self, texts: impl Iterator<Item = usize>, paths: &[&[u8]]) -> &[Decision] {
        self.asked.clear();
        self.asked.extend(texts.map(|text| self.policies[text]));
        let paths = ComparedPaths::assume_normal(paths);
        let decided = self.inquiry.decide(&self.asked, paths, &mut self.memory);
        decided.expect("what was just compiled is whole")
    }

    /// Bytes of the set, and of what was built for its questions.
    pub fn bytes(&self) -> u64 {
        self.inquiry.set().bytes() + self.memory.memory_bytes() as u64
    }
}
