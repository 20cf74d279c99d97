//! `portcullis verify`: whether every octet of a set holds, and what they say.

use std::io::{self, Write};

use super::args::VerifyArgs;
use super::exit::ExitStatus;
use super::mapped;

pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitStatus> {
    let set = mapped::set(&args.set)?;
    let verified = set.verify()?;
    // The exit status says it too, should standard error be closed.
    let _ = writeln!(
        io::stderr(),
        "portcullis: {}: all {} blocks hold; set {:016x}, {} octets\n\
         portcullis: read {} hosts, {} origins, {} captures, {} strings, {} names of robots; \
         worked out anew {} policies of {} records and {} rule sets, {} of them automata",
        set.name(),
        verified.blocks,
        set.hash(),
        set.octets(),
        verified.hosts,
        verified.origins,
        verified.captures,
        verified.strings,
        verified.robots,
        verified.policies,
        verified.records,
        verified.rule_sets,
        verified.automata,
    );
    Ok(ExitStatus::Done)
}
