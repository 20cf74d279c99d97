//! The engines that are measured, one file each.

mod fast_robots;
mod portcullis;
mod robotstxt;
mod robotxt;
mod texting_robots;

use anyhow::Result;

use crate::model::{Engine, PerFile, quiet_guarded_panics};

/// Every engine, built for `files`. The first is ours, with which the others are compared.
///
/// # Errors
///
/// If the agent is no product token.
pub fn all(files: &[&'static [u8]], agent: &str) -> Result<Vec<Box<dyn Engine>>> {
    quiet_guarded_panics();
    Ok(vec![
        Box::new(portcullis::OneTable::new(files, agent)?),
        Box::new(PerFile::<portcullis::Alone>::new("portcullis, each file alone", files, agent)),
        Box::new(PerFile::<fast_robots::Peer>::new("fast-robots", files, agent)),
        Box::new(PerFile::<texting_robots::Peer>::new("texting_robots", files, agent)),
        Box::new(PerFile::<robotxt::Peer>::new("robotxt", files, agent)),
        Box::new(PerFile::<robotstxt::Peer>::new("robotstxt", files, agent)),
    ])
}
