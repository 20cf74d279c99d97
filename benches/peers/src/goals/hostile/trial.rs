//! One hostile file and one URL in a process of its own: how long it takes, and what it holds.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Result, bail};
use portcullis::batch::Classifier;
use portcullis::bench::Resident;
use portcullis::decision::Verdict;
use portcullis::dialect::GOOGLE;
use portcullis::policy::{AgentChain, Detail};
use portcullis::set::{LoadConfig, PolicySet};
use serde::{Deserialize, Serialize};

use super::super::row::Fault;
use super::super::{AGENT, Programs};
use super::shapes::{SHAPES, Shape, UrlKind};

/// The flag, hidden from users, that asks for one trial: the positions of shape and kind of URL and
/// the bytes of the file, as `SHAPE/KIND/BYTES`.
pub const TRIAL_FLAG: &str = "--hostile-trial";

/// What a trial found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// Seconds from the file's bytes to the decision.
    pub seconds: f64,
    /// Seconds of those that the decision took, once everything was compiled.
    pub decision_seconds: f64,
    /// Whether the URL is allowed.
    pub allows: bool,
    /// Memory of the process.
    pub resident: Resident,
}

/// Does the trial that the flag's value names, in this process, which has done nothing else.
///
/// # Errors
///
/// If there is no such trial, or the system does not tell.
pub fn run(named: &str) -> Result<Trial> {
    let numbers: Vec<usize> = named.split('/').filter_map(|number| number.parse().ok()).collect();
    let [shape, kind, bytes_max] = numbers[..] else { bail!("there is no trial {named}") };
    let (Some(shape), Some(&kind)) = (SHAPES.get(shape), UrlKind::ALL.get(kind)) else {
        bail!("there is no trial {named}");
    };
    let (robots, url) = (shape.robots(bytes_max), shape.url(kind, bytes_max));
    let (resident, timed) = Resident::during(|| timed(&robots, &url))?;
    let (seconds, decision_seconds, allows) = timed?;
    Ok(Trial { seconds, decision_seconds, allows, resident })
}

/// Seconds of everything and of the decision, and whether the URL is allowed.
fn timed(robots: &[u8], url: &[u8]) -> Result<(f64, f64, bool)> {
    let start = Instant::now();
    let agent = AgentChain::parse(AGENT, &GOOGLE)?;
    let config = LoadConfig { agents: Some([agent.clone()].into()), ..LoadConfig::new(&GOOGLE) };
    let set = PolicySet::of_text(robots, &config);
    let classifier = Classifier::new(set, vec![agent], Detail::Reason)?;
    let mut memory = classifier.memory();
    let compiled = start.elapsed().as_secs_f64();
    let verdict = classifier.classify(&[url], None, &mut memory)?[0].verdict;
    let seconds = start.elapsed().as_secs_f64();
    Ok((seconds, seconds - compiled, verdict == Verdict::Allow))
}

/// Has another process do a trial; it has to answer as `expected`.
///
/// # Errors
///
/// If it answers otherwise or not at all.
pub fn by_child(
    programs: &Programs,
    (shape, kind, bytes_max): (usize, usize, usize),
    expected: bool,
) -> Result<Trial, Fault> {
    let mut command = Command::new(&programs.goals);
    command.arg(TRIAL_FLAG).arg(format!("{shape}/{kind}/{bytes_max}"));
    let Shape { name, .. } = SHAPES[shape];
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let trial = output.ok().and_then(|output| serde_json::from_slice::<Trial>(&output.stdout).ok());
    let trial = trial.ok_or_else(|| Fault::Wrong(format!("{name}: came to no answer")))?;
    match trial.allows == expected {
        true => Ok(trial),
        false => Err(Fault::Wrong(format!("{name}: allowed is {}, oracle: {expected}", !expected))),
    }
}
