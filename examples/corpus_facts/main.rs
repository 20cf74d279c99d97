//! Counts what bears on the size of a policy set in one corpus or several, side by side.
//!
//! Usage: `corpus_facts CORPUS…`, where each CORPUS is a folder of robots.txt files, or
//! `synth:SEED:HOSTS` for a made-up one. `FOLDER:N` takes a part of a folder: one file in N, by its
//! name. Prints a table with a line for each fact and a column for each corpus. How the made-up
//! corpus is drawn was fitted with this; read the columns of a folder and of as many made-up hosts
//! to see how near it is.
//!
//! A list is a file's user-agent lines and rules with the numbers of their lines, a pair is a list
//! and a product token that it names, a rule set is what such a token obeys. Files are read as the
//! google dialect reads them, without a limit on their size.

#![allow(clippy::disallowed_types, reason = "sketches have to be the same in every run")]

mod facts;

use std::hash::BuildHasher;
use std::path::Path;

use facts::{CorpusFacts, Fact};
use portcullis::synth::Corpus;

type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "usage: corpus_facts CORPUS…, each a folder, FOLDER:N or synth:SEED:HOSTS";

fn main() -> Result<(), Failure> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names.is_empty() {
        return Err(USAGE.into());
    }
    let columns: Vec<Vec<Fact>> =
        names.iter().map(|name| facts_of(name)).collect::<Result<_, _>>()?;
    print!("{:<42}", "");
    for name in &names {
        print!(" {name:>20}");
    }
    println!();
    for (row, (fact, _)) in columns[0].iter().enumerate() {
        print!("{fact:<42}");
        for column in &columns {
            print!(" {:>20}", column[row].1);
        }
        println!();
    }
    Ok(())
}

fn facts_of(name: &str) -> Result<Vec<Fact>, Failure> {
    let mut facts = CorpusFacts::default();
    if let Some(made_up) = name.strip_prefix("synth:") {
        let (seed, hosts) = made_up.split_once(':').ok_or(USAGE)?;
        let corpus = Corpus::new(seed.parse()?, hosts.parse()?);
        let mut text = Vec::new();
        for host in 0..corpus.hosts() {
            text.clear();
            corpus.write_robots(host, &mut text);
            facts.add(&text);
        }
        return Ok(facts.facts());
    }
    let (folder, one_in) = match name.rsplit_once(':') {
        Some((folder, one_in)) => (folder, one_in.parse()?),
        None => (name, 1),
    };
    let hasher = foldhash::quality::FixedState::default();
    for entry in std::fs::read_dir(Path::new(folder))? {
        let path = entry?.path();
        let chosen = hasher.hash_one(path.file_name()).is_multiple_of(one_in);
        if chosen && path.is_file() {
            facts.add(&std::fs::read(&path)?);
        }
    }
    Ok(facts.facts())
}
