//! Whether two lists of rules in order of precedence say the same.

use crate::decision::Verdict;
use crate::policy::OrderedRules;

/// Whether both have the same patterns with the same verdicts, but for the order and the number of
/// neighbours with one verdict: whichever of them is the first to match, the verdict is theirs.
pub(super) fn same_rules(old: &OrderedRules, new: &OrderedRules) -> bool {
    // Equal lists are the rule where files differ for other agents only.
    (old.patterns == new.patterns && old.verdicts == new.verdicts) || runs(old) == runs(new)
}

/// Rules of one verdict that follow one another: the verdict and their patterns, each once.
type Run = (Verdict, Vec<Vec<u8>>);

fn runs(rules: &OrderedRules) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (pattern, &verdict) in rules.patterns.iter().zip(&rules.verdicts) {
        let mut identity = Vec::new();
        pattern.write_identity(&mut identity);
        match runs.last_mut() {
            Some((last, patterns)) if *last == verdict => patterns.push(identity),
            _ => runs.push((verdict, vec![identity])),
        }
    }
    for (_, patterns) in &mut runs {
        patterns.sort_unstable();
        patterns.dedup();
    }
    runs
}
