//! Paths in normal form whose policies are known: no host is looked up, and no age compared.
//!
//! Each path is decided for every agent. A path has no agent of its own, so this session is not made from a
//! [`Classifier`](super::Classifier), which may have an agent per record.

use std::sync::Arc;

use portcullis_dialect::decision::Answer;
use portcullis_robots::policy::Crawler;

use super::asking::Asked;
use super::classifier::{AskError, Classifier};
use crate::stored::RecordPolicy;
use crate::{Damage, PolicySet};

/// A set, agents, and the memory of one thread for blocks of paths.
#[derive(Debug)]
pub struct PathSession {
    classifier: Classifier,
    block: Asked,
}

impl PathSession {
    /// Creates a session.
    ///
    /// # Errors
    ///
    /// As for [`Classifier::new`].
    pub fn new(
        set: impl Into<Arc<PolicySet>>,
        agents: Vec<Crawler>,
    ) -> Result<PathSession, AskError> {
        let classifier = Classifier::new(set, agents)?;
        Ok(PathSession { classifier, block: Asked::default() })
    }

    /// Returns one decision for each path and agent, for paths in normal form and their policies.
    ///
    /// # Errors
    ///
    /// As for [`Session::decide`](super::Session::decide).
    ///
    /// # Panics
    ///
    /// If the numbers of paths and policies differ, or there is no such policy.
    pub fn decide(
        &mut self,
        policies: &[RecordPolicy],
        paths: &[&[u8]],
    ) -> Result<&[Answer], Damage> {
        let count = self.classifier.set.policy_count();
        let is_there = |it: &RecordPolicy| it.number().is_none_or(|policy| policy.0 < count);
        assert!(policies.iter().all(is_there), "there is no such policy");
        self.classifier.decide(policies, paths, &mut self.block)?;
        Ok(&self.block.decisions)
    }
}
