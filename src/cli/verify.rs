//! `portcullis verify`: whether every octet of a set holds.

use std::io::{self, Write};

use portcullis::set::StoredSet;

use super::args::VerifyArgs;
use super::exit::ExitStatus;

pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitStatus> {
    let set = StoredSet::open(&args.set)?;
    let verified = set.verify()?;
    // The exit status says it too, should standard error be closed.
    let _ = writeln!(
        io::stderr(),
        "portcullis: {}: all {} blocks hold; set {:016x}, {} octets",
        set.name(),
        verified.blocks,
        set.hash(),
        set.octets(),
    );
    Ok(ExitStatus::Done)
}
