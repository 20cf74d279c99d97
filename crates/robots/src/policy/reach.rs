//! How much of a site the rules of some groups leave: all, some or none of its URLs.
//!
//! An automaton tells it, but there is one for each robot of each file, and nearly always a path or
//! two show it: one that is disallowed, one that is allowed. So a path is made of each pattern, with
//! `-` for its stars, and decided by trying the rules in order of precedence. Only where no example is
//! found and no rule that matches everything proves that there is none, an automaton is built, within
//! a limit.

use crate::syntax::{RobotsTxt, Rule};
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::{REACH_EXAMPLES_MAX, REACH_POSITIONS_MAX};
use portcullis_matcher::automaton::{self, Reach, pattern_matches};
use portcullis_matcher::pattern::PathPattern;

use super::{OrderedRules, outcomes};

/// What the groups at `groups` of `file` leave; nothing if it cannot be told within the limit.
pub fn reach(file: &RobotsTxt<'_>, groups: &[usize], dialect: &Dialect) -> Option<Reach> {
    let rules = || groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group]));
    let disallows = |rule: &&Rule<'_>| rule.verdict == Verdict::Disallow && !rule.value.is_empty();
    match rules().find(disallows) {
        None => Some(Reach::Everything),
        Some(rule) if rule.value == b"/" && rules().count() == 1 => Some(Reach::Nothing),
        Some(_) => reach_of_rules(OrderedRules::new(file, groups, &dialect.paths)),
    }
}

/// What rules in order of precedence leave; nothing if it cannot be told within the limit.
pub fn reach_of_rules(rules: OrderedRules) -> Option<Reach> {
    let mut path = Vec::new();
    let mut example = |verdict: Verdict| {
        let verdicts = rules.patterns.iter().zip(&rules.verdicts);
        let mut patterns = verdicts.filter(|(_, other)| **other == verdict);
        patterns.by_ref().take(REACH_EXAMPLES_MAX).any(|(pattern, _)| {
            write_path(&pattern, &mut path);
            decide(&rules, &path) == verdict
        })
    };
    let disallows_some = example(Verdict::Disallow);
    // A path that no pattern was written for, then the paths of rules that allow.
    let allows_some = decide(&rules, b"/-") == Verdict::Allow || example(Verdict::Allow);
    match (disallows_some, allows_some) {
        (true, true) => Some(Reach::Part),
        (true, false) if disallows_all(&rules) => Some(Reach::Nothing),
        _ => of_automaton(&rules),
    }
}

/// The verdict on a path.
fn decide(rules: &OrderedRules, path: &[u8]) -> Verdict {
    let best = rules.patterns.iter().position(|pattern| pattern_matches(&pattern, path));
    best.map_or(Verdict::Allow, |best| rules.verdicts[best])
}

/// Writes a path that `pattern` matches.
fn write_path(pattern: &PathPattern<'_>, path: &mut Vec<u8>) {
    path.clear();
    let mut from = 0;
    for star in pattern.stars() {
        path.extend_from_slice(&pattern.bytes[from..star]);
        path.push(b'-');
        from = star;
    }
    path.extend_from_slice(&pattern.bytes[from..]);
    if path.first() != Some(&b'/') {
        path.insert(0, b'/');
    }
}

/// Whether a rule that matches every path disallows, and no rule before it allows.
fn disallows_all(rules: &OrderedRules) -> bool {
    let matches_all = |pattern: &PathPattern<'_>| {
        let stars = pattern.stars().len();
        match pattern.bytes {
            b"" => stars > 0,
            // Stars in front and behind change nothing, but one in front and the end anchored do.
            b"/" => !pattern.anchored || pattern.stars().any(|star| star == 1),
            _ => false,
        }
    };
    let first = rules.patterns.iter().position(|pattern| matches_all(&pattern));
    first.is_some_and(|first| {
        rules.verdicts[..=first].iter().all(|&verdict| verdict == Verdict::Disallow)
    })
}

fn of_automaton(rules: &OrderedRules) -> Option<Reach> {
    automaton::reach(&rules.patterns, &outcomes(&rules.verdicts), REACH_POSITIONS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{Dialect, ORIGINAL_1994, RFC_9309};

    fn of(rules: &str, dialect: &Dialect) -> Option<Reach> {
        let text = format!("User-agent: *\n{rules}\n");
        let file = RobotsTxt::parse(text.as_bytes(), dialect, None);
        let groups: Vec<usize> = (0..file.groups().len()).collect();
        reach(&file, &groups, dialect)
    }

    #[test]
    fn what_is_left() {
        let cases = [
            ("", Reach::Everything),
            ("Disallow:", Reach::Everything),
            ("Allow: /", Reach::Everything),
            ("Disallow: /", Reach::Nothing),
            ("Disallow: /\nDisallow: /a", Reach::Nothing),
            ("Disallow: /\nAllow: /a", Reach::Part),
            ("Disallow: /*\nAllow: /", Reach::Nothing),
            ("Disallow: *", Reach::Nothing),
            ("Disallow: *$", Reach::Nothing),
            ("Disallow: /*$", Reach::Nothing),
            ("Disallow: */", Reach::Nothing),
            ("Disallow: */$", Reach::Part),
            ("Disallow: /$", Reach::Part),
            ("Disallow: /a\nAllow: /a", Reach::Everything),
            ("Disallow: /a/b\nAllow: /a/b\nAllow: /a/b/c", Reach::Everything),
            ("Disallow: /a\nDisallow: /a/b\nAllow: /a", Reach::Part),
            ("Disallow: /%4*1", Reach::Part),
            ("Disallow: a", Reach::Everything),
        ];
        for (rules, expected) in cases {
            assert_eq!(of(rules, &RFC_9309), Some(expected), "{rules}");
        }
        assert_eq!(of("Allow: /a\nDisallow: /", &ORIGINAL_1994), Some(Reach::Nothing));
    }

    #[test]
    fn an_automaton_says_the_same() {
        let texts = ["/", "/*", "*", "/a", "/*a", "/a$", "*/", "/$", "*$", "/a*"];
        let rules =
            texts.iter().flat_map(|text| [format!("Allow: {text}"), format!("Disallow: {text}")]);
        let rules: Vec<String> = rules.collect();
        for one in &rules {
            for other in &rules {
                let text = format!("User-agent: *\n{one}\n{other}\n");
                let file = RobotsTxt::parse(text.as_bytes(), &RFC_9309, None);
                let ordered = OrderedRules::new(&file, &[0], &RFC_9309.paths);
                let expected = of_automaton(&ordered);
                assert_eq!(reach(&file, &[0], &RFC_9309), expected, "{one}, {other}");
            }
        }
    }
}
