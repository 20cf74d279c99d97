//! Two files compared for many crawlers, under one budget.

use std::array;
use std::rc::Rc;

use portcullis_dialect::decision::{Decision, Reason};
use portcullis_robots::policy::{Crawler, Selection};
use portcullis_robots::url::compared_path;

use super::equivalence::{difference, either, equivalence};
use super::{Bound, Budget, Grouped, Language, Rules, Search, key, numbers, plain_path};
use crate::limits::{DIFFERENT_PATH_SCANS_MAX, DIFFERENT_PATHS_MAX};
use crate::{Map, Set};

/// Compares the rules of crawlers in two files.
///
/// Crawlers with the same rules on both sides are equal at once, and crawlers with equal pairs of rules
/// share a comparison. All comparisons share the budget: once it is spent, the answer for every crawler
/// that still needs one is unknown.
///
/// ```
/// use portcullis_lint::analysis::{Budget, FileComparison, Grouped};
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::syntax::RobotsTxt;
///
/// let texts = [&b"User-agent: *\nDisallow: /a\n"[..], b"User-agent: *\nDisallow: /a\nAllow: /b\n"];
/// let files = texts.map(|text| RobotsTxt::parse(text, &RFC_9309, None));
/// let sides = files.each_ref().map(|file| Grouped::new(file, &RFC_9309));
/// let mut budget = Budget::default();
/// let mut comparison = FileComparison::new(sides.each_ref(), &mut budget);
/// assert_eq!(*comparison.robot(None).differences, [Ok(None), Ok(None)]);
/// assert!(budget.spent() > 0);
/// ```
#[derive(Debug)]
pub struct FileComparison<'c> {
    sides: [&'c Grouped<'c>; 2],
    /// The numbers of the groups of each side, by their rules.
    numbers: [Vec<u32>; 2],
    /// Whether both name the same crawlers, with the same rules.
    are_same: bool,
    budget: &'c mut Budget,
    /// The scans of a rule that are left for further paths.
    scans_left: usize,
    /// By the numbers of the groups on each side. Rules go by their places.
    known: Map<[Vec<u32>; 2], RobotComparison>,
}

/// The comparison of a robot's rules in two files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RobotComparison {
    /// The searches for a path that the first file allows and the second disallows, and for one for the
    /// reverse.
    pub differences: Rc<[Search; 2]>,
    /// The decisions of both files on the path of each search that found one.
    pub deciding: [Option<[Decision; 2]>; 2],
    /// Further paths with another verdict, each by rules that decide on none of the paths before it, with the
    /// decisions of both files.
    pub more: Vec<(Vec<u8>, [Decision; 2])>,
}

impl RobotComparison {
    fn of(search: Search) -> RobotComparison {
        RobotComparison {
            differences: Rc::new([search.clone(), search]),
            deciding: [None; 2],
            more: Vec::new(),
        }
    }
}

impl<'c> FileComparison<'c> {
    /// Prepares two files that one dialect parsed.
    pub fn new(sides: [&'c Grouped<'c>; 2], budget: &'c mut Budget) -> FileComparison<'c> {
        let numbers = numbers(sides.map(|side| side.file));
        let are_same = numbers[0] == numbers[1] && sides[0].audience == sides[1].audience;
        FileComparison {
            are_same,
            budget,
            known: Map::default(),
            numbers,
            scans_left: DIFFERENT_PATH_SCANS_MAX,
            sides,
        }
    }

    /// Compares the rules of `robot`; of a crawler that no file names if that is `None`.
    pub fn robot(&mut self, robot: Option<&Crawler>) -> RobotComparison {
        match self.are_same {
            true => RobotComparison::of(Ok(None)),
            false => self.selected(robot).unwrap_or_else(|bound| RobotComparison::of(Err(bound))),
        }
    }

    fn selected(&mut self, robot: Option<&Crawler>) -> Result<RobotComparison, Bound> {
        let sides = self.sides;
        self.budget.take(sides.iter().map(|side| side.audience.cost(robot, side.dialect)).sum())?;
        let selections = sides.map(|side| side.audience.select(robot, side.dialect));
        let Some(pair) = self.pair(selections.each_ref().map(|selection| &*selection.groups))
        else {
            return Ok(RobotComparison::of(Ok(None)));
        };
        let by_place = match self.known.get(&pair) {
            Some(known) => known.clone(),
            None => {
                let new = self.compare(&selections)?;
                self.known.insert(pair, new.clone());
                new
            }
        };
        let on_line = |side: usize, decision: Decision| {
            let groups = &selections[side].groups;
            let rule = decision.rule.map(|place| sides[side].rule_at(groups, place));
            let line = rule.map(|rule| sides[side].file.rules()[rule.index()].line);
            Decision { rule, line, ..decision }
        };
        let on_lines = |[old, new]: [Decision; 2]| [on_line(0, old), on_line(1, new)];
        let deciding = by_place.deciding.map(|it| it.map(on_lines));
        let more = by_place.more.into_iter().map(|(path, it)| (path, on_lines(it))).collect();
        Ok(RobotComparison { deciding, more, ..by_place })
    }

    /// Compares two combinations of groups. In the result, a rule goes by its place.
    fn compare(&mut self, selections: &[Selection; 2]) -> Result<RobotComparison, Bound> {
        let rules = self.rules(selections.each_ref().map(|selection| &*selection.groups))?;
        let differences = equivalence(&rules[0], &rules[1], self.budget);
        let decide = |search: &Search| {
            let (path, mut scratch) = (search.as_ref().ok()?.as_ref()?, Vec::new());
            let path = compared_path(path, rules[0].paths.escapes, &mut scratch);
            Some(array::from_fn(|side| {
                let reason = selections[side].reason_without_rule(self.sides[side].file);
                rules[side].decide(path, reason)
            }))
        };
        let deciding = differences.each_ref().map(decide);
        let reasons = [0, 1].map(|it| selections[it].reason_without_rule(self.sides[it].file));
        let more = self.more(&rules, reasons, &deciding);
        Ok(RobotComparison { differences: differences.into(), deciding, more })
    }

    /// Returns further paths with another verdict: for each pair of deciding rules, the path of a pattern.
    fn more(
        &mut self,
        rules: &[Rules; 2],
        reasons: [Reason; 2],
        deciding: &[Option<[Decision; 2]>; 2],
    ) -> Vec<(Vec<u8>, [Decision; 2])> {
        let language = Language::of(rules[0].paths.escapes);
        let key = |decisions: &[Decision; 2]| decisions.map(|it| it.rule);
        let mut known: Set<_> = deciding.iter().flatten().map(key).collect();
        let mut found = Vec::new();
        if known.is_empty() {
            return found;
        }
        let patterns = rules.iter().flat_map(|side| side.ordered.patterns.iter());
        let scanned: usize = rules.iter().map(|side| side.ordered.patterns.len()).sum();
        for pattern in patterns {
            let Some(left) = self.scans_left.checked_sub(scanned) else { break };
            self.scans_left = left;
            let path = plain_path(&pattern);
            if found.len() == DIFFERENT_PATHS_MAX || !language.contains(&path) {
                continue;
            }
            let decisions: [_; 2] = array::from_fn(|it| rules[it].decide(&path, reasons[it]));
            if decisions[0].verdict != decisions[1].verdict && known.insert(key(&decisions)) {
                found.push((language.written(&path), decisions));
            }
        }
        found
    }

    /// Returns a shortest path on which two combinations of groups differ, if there is one.
    pub(crate) fn difference(&mut self, groups: [&[usize]; 2]) -> Search {
        let Some(pair) = self.pair(groups) else { return Ok(None) };
        if let Some(known) = self.known.get(&pair) {
            return either((*known.differences).clone());
        }
        let [old, new] = self.rules(groups)?;
        let found = difference(&old, &new, self.budget)?;
        if found.is_none() {
            self.known.insert(pair, RobotComparison::of(Ok(None)));
        }
        Ok(found)
    }

    /// Returns the numbers of two combinations of groups, unless these have the same rules.
    fn pair(&self, groups: [&[usize]; 2]) -> Option<[Vec<u32>; 2]> {
        let pair: [_; 2] = array::from_fn(|side| key(&self.numbers[side], groups[side]));
        (pair[0] != pair[1]).then_some(pair)
    }

    fn rules(&mut self, groups: [&[usize]; 2]) -> Result<[Rules; 2], Bound> {
        let [old, new] = self.sides;
        Ok([old.ordered(groups[0], self.budget)?, new.ordered(groups[1], self.budget)?])
    }
}

#[cfg(test)]
mod tests {
    use portcullis_dialect::dialect::{Dialect, ORIGINAL_1994, RFC_9309};
    use portcullis_robots::syntax::RobotsTxt;

    use super::*;
    use crate::analysis::robots_named;
    use crate::limits::ANALYSIS_POSITIONS_MAX;

    /// Returns the comparison of each crawler that the first text names, and the work.
    fn compared(
        texts: [&str; 2],
        dialect: &'static Dialect,
        limit: u64,
    ) -> (Vec<RobotComparison>, u64) {
        let files = texts.map(|text| RobotsTxt::parse(text.as_bytes(), dialect, None));
        let sides = files.each_ref().map(|file| Grouped::new(file, dialect));
        let mut budget = Budget::new(limit, 1);
        let mut comparison = FileComparison::new(sides.each_ref(), &mut budget);
        let robots = robots_named(&[&files[0]], dialect);
        let found = robots.iter().map(|robot| comparison.robot(Some(robot))).collect();
        (found, budget.spent())
    }

    /// Returns a text of groups with a common rule, in which each crawler has a group of its own.
    fn combinations(common: &str, robots: usize) -> String {
        let names: String = (0..robots).map(|it| format!("User-agent: a{it}\n")).collect();
        let group = |it| format!("User-agent: a{it}\nDisallow: /{}\n", it % 10);
        format!("{names}{common}\n{}", (0..robots).map(group).collect::<String>())
    }

    #[test]
    fn robots_with_equal_rules_share_one_comparison() {
        let texts =
            |robots| ["/x", "/y"].map(|it| combinations(&format!("Disallow: {it}"), robots));
        let work = |robots| {
            let texts = texts(robots);
            compared([&texts[0], &texts[1]], &RFC_9309, ANALYSIS_POSITIONS_MAX)
        };
        let ((few, work_of_few), (many, work_of_many)) = (work(10), work(500));
        assert_eq!(work_of_few, work_of_many);
        for (number, (one, like)) in many.iter().zip(few.iter().cycle()).enumerate() {
            assert_eq!(one.differences, like.differences);
            // Each has the lines of its own groups.
            let first_allows = one.differences[0].as_ref().unwrap().as_ref().unwrap();
            assert_eq!(first_allows, b"/y");
            let [old, new] = one.deciding[0].unwrap();
            assert_eq!((old.line, new.line.unwrap().get()), (None, 501), "{number}");
        }
        let texts = texts(500);
        let (same, work) = compared([&texts[0], &texts[0]], &RFC_9309, ANALYSIS_POSITIONS_MAX);
        assert!(same.iter().all(|it| *it.differences == [Ok(None), Ok(None)]) && work == 0);
        let (same, work) = compared([&texts[0], &texts[0]], &ORIGINAL_1994, ANALYSIS_POSITIONS_MAX);
        assert!(same.iter().all(|it| *it.differences == [Ok(None), Ok(None)]) && work == 0);
    }

    #[test]
    fn decisions_have_the_lines_of_each_robot() {
        let old = "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /x\n";
        let new = "User-agent: a\nAllow: /x\nUser-agent: b\n\nAllow: /x\n";
        let (found, _) = compared([old, new], &RFC_9309, ANALYSIS_POSITIONS_MAX);
        let lines = |it: &RobotComparison| it.deciding[1].unwrap().map(|it| it.line.unwrap().get());
        assert_eq!([lines(&found[0]), lines(&found[1])], [[2, 2], [4, 5]]);
        assert!(Rc::ptr_eq(&found[0].differences, &found[1].differences));
    }

    #[test]
    fn the_limit_is_one_for_all_robots() {
        const LIMIT: u64 = 3_000;
        let rules: String = (0..20).map(|it| format!("Allow: /*a{it}*b*c\n")).collect();
        let text = |it: &str| {
            let own = (0..100).map(|it| format!("User-agent: a{it}\nDisallow: /{it}\n"));
            format!("User-agent: a0\n{rules}{it}\n{}", own.collect::<String>())
        };
        let [old, new] = ["Allow: /*d*e", "Allow: /*d*f"].map(text);
        // The crawlers after the first are equal without work, and so stay known.
        let (found, work) = compared([&old, &new], &RFC_9309, LIMIT);
        assert_eq!(work, LIMIT);
        let is_unknown = |it: &RobotComparison| matches!(*it.differences, [Err(_), Err(_)]);
        let unknown = found.iter().filter(|it| is_unknown(it));
        assert_eq!((unknown.count(), found.len()), (1, 100));
        let texts = ["/x", "/y"].map(|it| {
            (0..100)
                .map(|robot| format!("User-agent: a{robot}\nDisallow: /*{robot}{it}\n"))
                .collect::<String>()
        });
        let (found, work) = compared([&texts[0], &texts[1]], &RFC_9309, LIMIT);
        assert_eq!(work, LIMIT);
        let first = found.iter().position(is_unknown).unwrap();
        assert!(
            first > 5 && found[first..].iter().all(|it| it.differences == found[first].differences)
        );
        // Where names may occur in others, each name is compared with each.
        let names: String = (0..200).map(|it| format!("User-agent: a{it}\n")).collect();
        let texts = ["/x", "/y"].map(|it| format!("{names}Disallow: {it}\n"));
        let (found, work) = compared([&texts[0], &texts[1]], &ORIGINAL_1994, LIMIT);
        assert_eq!(work, LIMIT);
        assert!(is_unknown(&found[199]));
    }
}
