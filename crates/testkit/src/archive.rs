//! Archived answers, and sets of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use portcullis_build::compile::{self, CompileConfig};
use portcullis_build::{IngestConfig, Ingested, Input, ingest};
use serde_json::{Value, json};

use crate::Random;

/// Archived answers to GET, as JSON Lines.
#[derive(Clone, Debug, Default)]
pub struct Captures(String);

impl Captures {
    /// Adds an answer to GET `url`, captured at a time (`2024-05-01T00:00:00Z`); an empty time is
    /// left out.
    pub fn push(&mut self, url: &str, time: &str, status: u16, body: &str) {
        self.push_with(url, time, status, json!({"body": body}));
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

    /// Adds a random answer. All archives share twenty hosts and their redirect targets.
    pub fn push_random(&mut self, random: &mut Random) {
        let scheme = *random.pick(&["http", "https", "https", "ftp"]);
        let host = |random: &mut Random| {
            format!("h{}.example{}", random.below(20), random.pick(&["", "", "", ":8080"]))
        };
        let path = *random.pick(&["robots.txt", "robots.txt", "robots.txt", "moved"]);
        let url = format!("{scheme}://{}/{path}", host(random));
        let time = match random.one_in(8) {
            true => String::new(),
            false => {
                let (month, day) = (random.within(1..=4), random.within(1..=28));
                format!("2024-{month:02}-{day:02}T00:00:00Z")
            }
        };
        let status =
            *random.pick(&[200, 200, 200, 304, 304, 301, 301, 401, 404, 429, 503, 503, 503]);
        let members = if status == 301 {
            let path = random.pick(&["robots.txt", "robots.txt", "moved"]);
            let location = match random.one_in(3) {
                true => "/moved".to_owned(),
                false => format!("https://{}/{path}", host(random)),
            };
            json!({"headers": {"location": location}})
        } else if random.one_in(3) {
            json!({"headers": {"cache-control": "max-age=100000"}, "body": random_file(random)})
        } else {
            json!({"body": random_file(random)})
        };
        self.push_with(&url, &time, status, members);
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

/// Returns a file with records of all kinds.
pub fn random_file(random: &mut Random) -> String {
    let mut body = String::new();
    for _ in 0..random.below(8) {
        let line: &&str = random.pick(&[
            "User-agent: *\n",
            "User-agent: ExampleBot\n",
            "user-agent : Other/1.0\r\n",
            "Disallow: /a*b$\n",
            "Disallow:/é # why\n",
            "Allow: /a/index.html\n",
            "Disallow:\n",
            "Sitemap: https://s.example/x.xml\n",
            "Crawl-delay: 3\n",
            "nothing\n",
            "\n",
        ]);
        body += line;
    }
    body
}

/// Ingests archives.
pub fn ingested(paths: &[PathBuf], config: &IngestConfig) -> Ingested {
    let inputs: Vec<Input> = paths.iter().map(Input::new).collect();
    ingest(&inputs, config, &()).expect("archives without damage")
}

/// Compiles ingested answers to the bytes of a set with this provenance.
pub fn compiled(ingested: &Ingested, provenance: &str) -> Vec<u8> {
    let config = CompileConfig { provenance: provenance.to_owned(), ..ingested.compiling.clone() };
    compile::to_vec(&ingested.standings, &config).expect("memory takes it")
}
