//! Ours, twice: all files in one table, as a batch has them, and a table for each file, which
//! shares nothing between files, as the peers share nothing.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use portcullis::decision::Verdict;
use portcullis::dialect::GOOGLE;
use portcullis::policy::{AgentChain, Compilation, Detail, Memory, PolicySource, PolicyTable};

use crate::corpus::Record;
use crate::model::{Engine, Matcher, Refusal};

const PACKAGE: &str = "portcullis";

fn compile(files: &[&'static [u8]], agent: AgentChain) -> PolicyTable {
    let sources: Vec<PolicySource<'_>> =
        files.iter().map(|text| PolicySource::File(text)).collect();
    // The limit on a file's size was applied when it was read.
    let compilation = Compilation {
        detail: Detail::Reason,
        robots_octets_max: None,
        ..Compilation::new(&GOOGLE)
    };
    PolicyTable::compile(&sources, vec![agent], &compilation)
}

fn allows(table: &PolicyTable, policy: usize, path: &str, memory: &mut Memory) -> bool {
    table.decide(policy, path.as_bytes(), memory)[0].verdict == Verdict::Allow
}

/// All files in one table.
pub struct OneTable {
    files: Vec<&'static [u8]>,
    agent: AgentChain,
    table: PolicyTable,
    memory: Memory,
}

impl OneTable {
    pub fn new(files: &[&'static [u8]], agent: &str) -> Result<OneTable> {
        let agent = AgentChain::parse(agent, &GOOGLE)?;
        let table = compile(files, agent.clone());
        Ok(OneTable { files: files.to_vec(), agent, memory: table.memory(), table })
    }
}

impl Engine for OneTable {
    fn name(&self) -> &str {
        "**portcullis**"
    }

    fn package(&self) -> &'static str {
        PACKAGE
    }

    fn parses_each_time(&self) -> bool {
        false
    }

    fn refusal(&self, _file: usize) -> Option<&Refusal> {
        None
    }

    fn time_to_build(&self) -> Duration {
        let start = Instant::now();
        let table = compile(&self.files, self.agent.clone());
        let time = start.elapsed();
        drop(black_box(table));
        time
    }

    fn allows(&mut self, record: &Record) -> bool {
        allows(&self.table, record.file, record.path, &mut self.memory)
    }

    fn count_allowed(&mut self, records: &[Record]) -> usize {
        records.iter().filter(|record| self.allows(record)).count()
    }
}

/// A table of one file.
pub struct Alone {
    table: PolicyTable,
    memory: Memory,
}

impl Matcher for Alone {
    const PACKAGE: &'static str = PACKAGE;

    fn build(text: &'static [u8], agent: &str) -> Result<Alone, Refusal> {
        let agent = AgentChain::parse(agent, &GOOGLE).map_err(|error| error.to_string())?;
        let table = compile(&[text], agent);
        Ok(Alone { memory: table.memory(), table })
    }

    fn allows(&mut self, _agent: &str, record: &Record) -> bool {
        allows(&self.table, 0, record.path, &mut self.memory)
    }
}
