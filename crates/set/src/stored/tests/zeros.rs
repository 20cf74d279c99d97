//! Zeros instead of the end of a policy, as read from a truncated mapped file.

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::RFC_9309;
use portcullis_robots::policy::{AgentChain, Detail};
use std::sync::Arc;

use super::*;

#[test]
fn a_policy_without_its_end_has_no_group_to_miss() {
    let whole = Parts::of(sample::small(&RFC_9309));
    let ask = |parts: &Parts| -> Result<Vec<Decision>, Damage> {
        let set = Arc::new(parts.open().unwrap());
        let agents = vec![AgentChain::parse("Example", &RFC_9309).unwrap()];
        let classifier = asked(&set, agents, Detail::Reason)?;
        let mut memory = classifier.memory();
        Ok(classifier.classify(&["http://b.example/~x"], None, &mut memory)?.to_vec())
    };
    assert_eq!(ask(&whole).unwrap()[0].verdict, Verdict::Disallow);
    let mut damaged = 0;
    for start in 0..whole.clone().section(SectionKind::POLICIES).len() {
        let mut parts = whole.clone();
        parts.section(SectionKind::POLICIES)[start..].fill(0);
        match ask(&parts) {
            Ok(decisions) => assert_ne!(decisions[0].reason, Reason::NoGroup, "{start}"),
            Err(_) => damaged += 1,
        }
    }
    assert!(damaged > 0);
}
