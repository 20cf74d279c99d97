//! The cases as `classify` decides them: in blocks, over all files together, shuffled.
//!
//! Each file gets an origin of its own, and its URLs move to that origin. Checks that need a
//! particular origin (a file with a URL, a port, another scheme) are only asked one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_dialect::decision::{Decision, Reason};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_AT_ONCE;
use portcullis_robots::policy::AgentChain;
use portcullis_set::PolicySet;
use portcullis_set::batch::{Classifier, Session, Vectors};

use crate::case::Check;
use crate::common::{self, Configuration, at_origin, configurations, scattered};

/// Checks that can be decided together: of one dialect and one size limit.
struct Together<'c> {
    dialect: &'static Dialect,
    robots_bytes_max: Option<usize>,
    files: Vec<&'c [u8]>,
    /// Each check with its URL at the origin of its file and the expected decision.
    questions: Vec<(&'c Check, Vec<u8>, Decision)>,
}

/// Decides all checks in blocks, and calls `wrong` with each wrong answer: the configuration, the
/// check, the answer and the expected one. Returns the number of answers.
pub fn compare(
    checks: &[(Check, Decision)],
    mut wrong: impl FnMut(&str, &Check, Decision, Decision),
) -> usize {
    let mut answers = 0;
    for together in group(checks) {
        let Together { dialect, robots_bytes_max, ref files, .. } = together;
        let names: BTreeSet<String> =
            together.questions.iter().map(|(check, ..)| check.agents.join("+")).collect();
        let chain = |name: &String| AgentChain::parse(name, dialect).expect("a case's agent");
        let all: Vec<AgentChain> = names.iter().map(chain).collect();
        // Each agent alone, then all at once.
        let lists = all.iter().map(|chain| vec![chain.clone()]).chain([all.clone()]);
        let sets = common::sets_of(files, (dialect, robots_bytes_max), &all);
        for (number, agents) in lists.enumerate() {
            for (configuration, (kind, set)) in
                chosen(number).iter().zip(sets.iter().cycle().skip(number))
            {
                let how = format!("{} in blocks, by a {kind} set", configuration.name);
                answers += together.ask(set, &agents, &how, configuration, &mut wrong);
            }
        }
    }
    answers
}

/// The default configuration for each kind of set, and another one in turn.
fn chosen(number: usize) -> [Configuration; 4] {
    let all = configurations();
    [all[0], all[1], all[0], all[2 + number % (all.len() - 2)]]
}

fn group(checks: &[(Check, Decision)]) -> Vec<Together<'_>> {
    let mut groups: BTreeMap<(&str, Option<usize>), Together<'_>> = BTreeMap::new();
    let mut numbers: BTreeMap<(&str, Option<usize>, &[u8]), usize> = BTreeMap::new();
    for (check, judged) in checks.iter().filter(|(check, _)| check.robots_url.is_none()) {
        let Check { dialect, robots_bytes_max, ref robots, .. } = *check;
        let key = (dialect.name, robots_bytes_max);
        let empty = || Together { dialect, robots_bytes_max, files: vec![], questions: vec![] };
        let together = groups.entry(key).or_insert_with(empty);
        let file = *numbers.entry((key.0, key.1, robots)).or_insert_with(|| {
            together.files.push(robots);
            together.files.len() - 1
        });
        let url = match judged.reason {
            Reason::BadUrl => Some(check.url.clone()),
            _ => at_origin(&check.url, dialect, file),
        };
        if let Some(url) = url {
            together.questions.push((check, url, *judged));
        }
    }
    groups.into_values().collect()
}

impl Together<'_> {
    /// Decides everything twice with each kind of vectors: with a new memory and with a warm one.
    /// Only the check's own agent is compared; the others fill the block.
    fn ask(
        &self,
        set: &Arc<PolicySet>,
        agents: &[AgentChain],
        how: &str,
        configuration: &Configuration,
        wrong: &mut impl FnMut(&str, &Check, Decision, Decision),
    ) -> usize {
        let order: Vec<usize> = scattered(self.questions.len()).collect();
        let mut answers = 0;
        for vectors in Vectors::all() {
            let (set, limits) = (Arc::clone(set), configuration.limits);
            let classifier = Classifier::with_limits(set, agents.to_vec(), limits);
            let classifier = classifier.expect("a whole set").with_vectors(vectors);
            let mut session = Session::new(classifier, None);
            for block in order.chunks(RECORDS_AT_ONCE).chain(order.chunks(RECORDS_AT_ONCE)) {
                let urls: Vec<&[u8]> = block.iter().map(|&at| &*self.questions[at].1).collect();
                session.classify(&urls).expect("a whole set");
                let decisions = configuration.answers(&session);
                let by_question = decisions.chunks(agents.len());
                for (&at, decisions) in block.iter().zip(by_question) {
                    let (check, _, judged) = &self.questions[at];
                    let own = agents.iter().position(|agent| {
                        agent.tokens().eq(check.agents.iter().map(String::as_str))
                    });
                    let Some(own) = own else { continue };
                    answers += 1;
                    if !configuration.agrees(decisions[own], *judged) {
                        wrong(&format!("{how} with {vectors:?}"), check, decisions[own], *judged);
                    }
                }
            }
        }
        answers
    }
}
