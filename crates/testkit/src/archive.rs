//! Archived answers, and sets of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use portcullis_dialect::dialect::Dialect;
use portcullis_set::compile::{self, CompileConfig};
use portcullis_set::{IngestConfig, Ingested, Input, ingest};
use serde_json::Value;

/// Archived answers to GET, as JSON Lines.
#[derive(Clone, Debug, Default)]
pub struct Captures(String);

impl Captures {
    /// Adds an answer to GET `url`, captured at a time (`2024-05-01T00:00:00Z`); an empty time is
    /// left out.
    pub fn push(&mut self, url: &str, time: &str, status: u16, body: &str) {
        self.push_with(url, time, status, serde_json::json!({"body": body}));
    }

    /// Adds an answer with these members.
    pub fn push_with(&mut self, url: &str, time: &str, status: u16, mut members: Value) {
        members["url"] = url.into();
        members["status"] = status.into();
        if !time.is_empty() {
            members["fetched_at"] = time.into();
        }
        writeln!(self.0, "{members}").expect("a string takes it");
    }

    /// Returns the lines.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Writes the lines to a file of this name in `folder`, and returns its path.
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, &self.0).expect("the disk takes it");
        path
    }
}

/// Ingests archives.
pub fn ingested(paths: &[PathBuf], config: &IngestConfig) -> Ingested {
    let inputs: Vec<Input> = paths.iter().map(Input::new).collect();
    ingest(&inputs, config, &()).expect("archives without damage")
}

/// Compiles ingested answers to the bytes of a set with this provenance.
pub fn compiled(
    ingested: &Ingested,
    (dialect, robots_bytes_max): (&'static Dialect, Option<usize>),
    provenance: &str,
) -> Vec<u8> {
    let config = CompileConfig {
        provenance: provenance.to_owned(),
        history: ingested.history.clone(),
        ..CompileConfig::new(dialect, robots_bytes_max)
    };
    compile::to_vec(&ingested.hosts, &ingested.pool, &config).expect("memory takes it")
}
