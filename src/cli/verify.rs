//! `portcullis verify`: checksums, structure and compiled rules of a set.

use super::args::VerifyArgs;
use super::exit::ExitStatus;
use super::mapped;
use super::message::say;

pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitStatus> {
    let set = mapped::set(&args.set)?;
    let verified = set.verify()?;
    say(format_args!(
        "{}: all {} blocks are intact; set {:016x}, {} bytes",
        set.name(),
        verified.blocks,
        set.hash(),
        set.bytes(),
    ));
    say(format_args!(
        "read {} hosts, {} origins, {} captures, {} strings, {} robot names; recompiled {} policies \
         of {} records and {} rule sets with their prefilters",
        verified.hosts,
        verified.origins,
        verified.captures,
        verified.strings,
        verified.robots,
        verified.policies,
        verified.records,
        verified.rule_sets,
    ));
    Ok(ExitStatus::Done)
}
