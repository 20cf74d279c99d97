//! `portcullis compile`: captures to a policy set.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Context;
use portcullis::decision::PolicyState;
use portcullis::set::compile::{self, CompileConfig, CompiledSet};
use portcullis::set::{GatherConfig, GatherError, Gathered, Input, InputReport, gather};
use rayon::ThreadPoolBuilder;

use super::args::CompileArgs;
use super::exit::ExitStatus;

pub fn run(args: &CompileArgs) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let threads = args.threads;
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .with_context(|| format!("cannot start {threads} threads; ask for fewer with -j"))?;
    let octets_max = args.max_robots_size.0;
    let config =
        GatherConfig { strict: args.strict, ..GatherConfig::new(args.dialect, octets_max) };
    let inputs: Vec<Input> = args.inputs.iter().map(Input::new).collect();
    let gathered = pool.install(|| gather(&inputs, &config, &()));
    show_problems(gathered.as_ref().map_or_else(GatherError::inputs, |gathered| &gathered.inputs));
    let gathered = gathered.context("cannot compile the inputs")?;
    let config = CompileConfig {
        provenance: provenance(&gathered),
        ..CompileConfig::new(args.dialect, octets_max)
    };
    let write = || compile::write(&gathered.hosts, &gathered.pool, &config, &args.output);
    let set = pool.install(write)?;
    if !args.no_summary {
        show_summary(&gathered, &set, started.elapsed());
    }
    Ok(ExitStatus::Done)
}

/// Names what could not be read. The run goes on if standard error is closed.
fn show_problems(inputs: &[InputReport]) {
    let mut err = io::stderr().lock();
    for input in inputs {
        for broken in &input.broken_named {
            let _ = writeln!(
                err,
                "portcullis: note: {}: {}: {}",
                input.name, broken.place, broken.problem
            );
        }
        let unnamed = input.broken.saturating_sub(input.broken_named.len() as u64);
        if unnamed > 0 {
            let _ = writeln!(err, "portcullis: note: {}: {unnamed} more", input.name);
        }
        if let Some(failure) = &input.failure {
            let _ = writeln!(err, "portcullis: note: {failure}");
        }
    }
}

/// Where the set comes from, as it stands in the set. It has no time of its making, so that the same
/// captures make the same set.
fn provenance(gathered: &Gathered) -> String {
    let input = |input: &InputReport| {
        serde_json::json!({
            "name": input.name,
            "octets": input.octets,
            "captures": input.captures,
            "broken": input.broken,
        })
    };
    let inputs: Vec<serde_json::Value> = gathered.inputs.iter().map(input).collect();
    serde_json::json!({
        "tool": concat!("portcullis ", env!("CARGO_PKG_VERSION")),
        "inputs": inputs,
    })
    .to_string()
}

fn show_summary(gathered: &Gathered, set: &CompiledSet, time: Duration) {
    let mut err = io::stderr().lock();
    let seconds = time.as_secs_f64();
    let captures: u64 = gathered.inputs.iter().map(|input| input.captures).sum();
    let _ = writeln!(
        err,
        "set {:016x}: {} octets, {} hosts, {} origins, {} policies, {} rule sets; {captures} \
         captures in {seconds:.3} s: {:.0} origins/s",
        set.hash,
        set.octets,
        set.hosts,
        set.origins,
        set.policies,
        set.rule_sets,
        set.origins as f64 / seconds,
    );
    for state in PolicyState::ALL {
        let origins = gathered.counts.in_state(state);
        if origins > 0 {
            let _ = writeln!(err, "  {}: {origins} origins", state.as_str());
        }
    }
}
