//! What the flags mean of the subcommands that work on policy sets.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::super::args::MergeArgs;
use super::{SummaryForm, summary_form};

pub struct MergePlan {
    /// At least one.
    pub sets: Vec<PathBuf>,
    /// The set.
    pub output: PathBuf,
    /// 0 for one a processor.
    pub threads: usize,
    pub progress: bool,
    pub summary: SummaryForm,
}

pub fn merge(args: MergeArgs) -> anyhow::Result<MergePlan> {
    output(&args.output, &args.sets)?;
    Ok(MergePlan {
        sets: args.sets,
        output: args.output,
        threads: args.run.threads,
        progress: !args.run.no_progress,
        summary: summary_form(&args.run),
    })
}

/// Refuses an output that a set cannot go to.
pub(super) fn output(output: &Path, inputs: &[PathBuf]) -> anyhow::Result<()> {
    ensure!(output.as_os_str() != "-", "a set is written to a file; name one, not -");
    ensure!(
        !inputs.iter().any(|input| input == output),
        "{} is an input too, and the set would replace it; write the set elsewhere",
        output.display()
    );
    Ok(())
}
