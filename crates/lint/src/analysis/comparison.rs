//! Two files compared for many robots, under one budget.

use std::array;
use std::rc::Rc;

use hashbrown::HashMap;
use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::id::RuleID;
use portcullis_robots::policy::{AgentChain, OrderedRules, Selection};
use portcullis_robots::syntax::RobotsTxt;

use super::contents::{Contents, Grouped, key, numbers};
use super::equivalence::equivalence_within;
use super::{AnalysisLimits, Bound, Budget, Equivalence, Rules, Search};

/// Compares the rules of robots in two files.
///
/// Both files are read once. Robots with the same rules on both sides are equal at once, and robots
/// with equal pairs of rules share a comparison. All comparisons share the limits: once they are
/// reached, the answer for every robot that still needs one is unknown.
///
/// ```
/// use portcullis_lint::analysis::{AnalysisLimits, Equivalence, FileComparison};
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_robots::syntax::RobotsTxt;
///
/// let texts = [&b"User-agent: *\nDisallow: /a\n"[..], b"User-agent: *\nDisallow: /a\nAllow: /b\n"];
/// let files = texts.map(|text| RobotsTxt::parse(text, &RFC_9309, None));
/// let limits = AnalysisLimits::default();
/// let mut comparison = FileComparison::new([&files[0], &files[1]], &RFC_9309, &limits);
/// assert_eq!(*comparison.robot(None).equivalence, Equivalence::Equal);
/// assert!(comparison.spent() > 0);
/// ```
#[derive(Debug)]
pub struct FileComparison<'f> {
    sides: [Grouped<'f>; 2],
    /// The numbers of the groups of each side, by their rules.
    numbers: [Vec<u32>; 2],
    /// Whether both name the same robots, with the same rules.
    are_same: bool,
    budget: Budget,
    /// By the numbers of the groups on each side. Rules go by their places.
    known: HashMap<[Vec<u32>; 2], RobotComparison, foldhash::fast::RandomState>,
}

/// The comparison of a robot's rules in two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotComparison {
    /// Whether both give every URL the same verdict.
    pub equivalence: Rc<Equivalence>,
    /// The decisions of both files on the path that the first allows and the second disallows, and
    /// on the one for the reverse; `None` where no path was found.
    pub deciding: [Option<[Decision; 2]>; 2],
}

impl RobotComparison {
    fn of(equivalence: Equivalence) -> RobotComparison {
        RobotComparison { equivalence: equivalence.into(), deciding: [None; 2] }
    }
}

impl<'f> FileComparison<'f> {
    /// Prepares two files that `dialect` parsed.
    pub fn new(
        files: [&'f RobotsTxt<'f>; 2],
        dialect: &'static Dialect,
        limits: &AnalysisLimits,
    ) -> FileComparison<'f> {
        let sides = files.map(|file| Grouped::new(file, dialect));
        let mut contents = Contents::default();
        let numbers = files.map(|file| numbers(&mut contents, file));
        let audiences = sides.each_ref().map(|side| &side.audience);
        let are_same = numbers[0] == numbers[1] && audiences[0] == audiences[1];
        let (budget, known) = (Budget::new(limits, 1), HashMap::default());
        FileComparison { are_same, budget, known, numbers, sides }
    }

    /// Returns the work so far: pattern positions, with charges for what else was read.
    pub fn spent(&self) -> u64 {
        self.budget.spent()
    }

    /// Compares the rules of `robot`; of a robot that no file names if that is `None`.
    pub fn robot(&mut self, robot: Option<&AgentChain>) -> RobotComparison {
        if self.are_same {
            return RobotComparison::of(Equivalence::Equal);
        }
        let cost = self.sides.iter().map(|side| side.audience.cost(robot, side.dialect)).sum();
        if let Err(bound) = self.budget.take(cost) {
            return RobotComparison::of(Equivalence::Unknown(bound));
        }
        let selections =
            self.sides.each_ref().map(|side| side.audience.select(robot, side.dialect));
        let pair: [Vec<u32>; 2] =
            array::from_fn(|side| key(&self.numbers[side], &selections[side].groups));
        if pair[0] == pair[1] {
            return RobotComparison::of(Equivalence::Equal);
        }
        let by_place = match self.known.get(&pair) {
            Some(known) => known.clone(),
            None => {
                let unknown = |bound| RobotComparison::of(Equivalence::Unknown(bound));
                let new = self.compare(&selections).unwrap_or_else(unknown);
                self.known.insert(pair, new.clone());
                new
            }
        };
        let on_line = |side: usize, decision: Decision| {
            let Grouped { file, .. } = self.sides[side];
            let rule = |place: RuleID| self.sides[side].rule_at(&selections[side].groups, place.0);
            let rule = decision.rule.map(rule);
            let line = rule.map(|rule| file.rules()[rule.index()].line);
            Decision { rule, line, ..decision }
        };
        let on_lines = |[old, new]: [Decision; 2]| [on_line(0, old), on_line(1, new)];
        RobotComparison { deciding: by_place.deciding.map(|it| it.map(on_lines)), ..by_place }
    }

    /// Compares two combinations of groups. In the result, a rule goes by its place.
    fn compare(&mut self, selections: &[Selection; 2]) -> Result<RobotComparison, Bound> {
        let [old, new] = &self.sides;
        let ordered = [
            old.ordered(&selections[0].groups, &mut self.budget)?,
            new.ordered(&selections[1].groups, &mut self.budget)?,
        ];
        let paths = &old.dialect.paths;
        let [old, new] = ordered.each_ref().map(|ordered| Rules { ordered, paths });
        let equivalence = equivalence_within(old, new, &mut self.budget);
        let decide = |search: &Search| {
            let path = search.example()?.compared(paths.escapes);
            Some(array::from_fn(|side| {
                let reason = selections[side].reason_without_rule(self.sides[side].file);
                decision(Rules { ordered: &ordered[side], paths }, &path, reason)
            }))
        };
        let deciding = match &equivalence {
            Equivalence::Different { first_allows, second_allows } => {
                [first_allows, second_allows].map(decide)
            }
            Equivalence::Equal | Equivalence::Unknown(_) => [None; 2],
        };
        Ok(RobotComparison { equivalence: equivalence.into(), deciding })
    }
}

/// Decides a path by a scan of the rules; `otherwise` is the reason if none matches.
fn decision(rules: Rules<'_>, path: &[u8], otherwise: Reason) -> Decision {
    if rules.paths.always_allows(path) {
        return Decision::ROBOTS_TXT;
    }
    let OrderedRules { patterns, verdicts, rules, .. } = rules.ordered;
    match patterns.iter().position(|pattern| pattern.matches(path)) {
        None => Decision::without_rule(Verdict::Allow, otherwise),
        Some(index) => {
            let (verdict, rule) = (verdicts[index], Some(rules[index]));
            Decision { verdict, reason: Reason::Rule, rule, line: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_dialect::dialect::{Dialect, ORIGINAL_1994, RFC_9309};

    use super::*;
    use crate::analysis::robots_named;

    /// Returns the comparison of each robot that the first text names, and the work.
    fn compared(
        texts: [&str; 2],
        dialect: &'static Dialect,
        limits: &AnalysisLimits,
    ) -> (Vec<RobotComparison>, u64) {
        let files = texts.map(|text| RobotsTxt::parse(text.as_bytes(), dialect, None));
        let mut comparison = FileComparison::new([&files[0], &files[1]], dialect, limits);
        let robots = robots_named(&[&files[0]], dialect);
        let found = robots.iter().map(|robot| comparison.robot(Some(robot))).collect();
        (found, comparison.spent())
    }

    /// Returns a text of groups with a common rule, in which each robot has a group of its own.
    fn combinations(common: &str, robots: usize) -> String {
        let names: String = (0..robots).map(|it| format!("User-agent: a{it}\n")).collect();
        let group = |it| format!("User-agent: a{it}\nDisallow: /{}\n", it % 10);
        format!("{names}{common}\n{}", (0..robots).map(group).collect::<String>())
    }

    #[test]
    fn robots_with_equal_rules_share_one_comparison() {
        let limits = AnalysisLimits::default();
        let texts =
            |robots| ["/x", "/y"].map(|it| combinations(&format!("Disallow: {it}"), robots));
        let work = |robots| {
            let texts = texts(robots);
            compared([&texts[0], &texts[1]], &RFC_9309, &limits)
        };
        let ((few, work_of_few), (many, work_of_many)) = (work(10), work(500));
        assert_eq!(work_of_few, work_of_many);
        for (number, (one, like)) in many.iter().zip(few.iter().cycle()).enumerate() {
            assert_eq!(one.equivalence, like.equivalence);
            // Each has the lines of its own groups.
            let Equivalence::Different { first_allows, .. } = &*one.equivalence else { panic!() };
            assert_eq!(first_allows.example().unwrap().path(), b"/y");
            let [old, new] = one.deciding[0].unwrap();
            assert_eq!((old.line, new.line.unwrap().get()), (None, 501), "{number}");
        }
        let texts = texts(500);
        let (same, work) = compared([&texts[0], &texts[0]], &RFC_9309, &limits);
        assert!(same.iter().all(|it| *it.equivalence == Equivalence::Equal) && work == 0);
        let (same, work) = compared([&texts[0], &texts[0]], &ORIGINAL_1994, &limits);
        assert!(same.iter().all(|it| *it.equivalence == Equivalence::Equal) && work == 0);
    }

    #[test]
    fn decisions_have_the_lines_of_each_robot() {
        let old = "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /x\n";
        let new = "User-agent: a\nAllow: /x\nUser-agent: b\n\nAllow: /x\n";
        let (found, _) = compared([old, new], &RFC_9309, &AnalysisLimits::default());
        let lines = |it: &RobotComparison| it.deciding[1].unwrap().map(|it| it.line.unwrap().get());
        assert_eq!([lines(&found[0]), lines(&found[1])], [[2, 2], [4, 5]]);
        assert!(std::rc::Rc::ptr_eq(&found[0].equivalence, &found[1].equivalence));
    }

    #[test]
    fn the_limit_is_one_for_all_robots() {
        let limits = AnalysisLimits { positions_max: 3_000, ..AnalysisLimits::default() };
        let rules: String = (0..20).map(|it| format!("Allow: /*a{it}*b*c\n")).collect();
        let text = |it: &str| {
            let own = (0..100).map(|it| format!("User-agent: a{it}\nDisallow: /{it}\n"));
            format!("User-agent: a0\n{rules}{it}\n{}", own.collect::<String>())
        };
        let [old, new] = ["Allow: /*d*e", "Allow: /*d*f"].map(text);
        // The robots after the first are equal without work, and so stay known.
        let (found, work) = compared([&old, &new], &RFC_9309, &limits);
        assert_eq!(work, 3_000);
        let unknown = found.iter().filter(|it| matches!(*it.equivalence, Equivalence::Unknown(_)));
        assert_eq!((unknown.count(), found.len()), (1, 100));
        let texts = ["/x", "/y"].map(|it| {
            (0..100)
                .map(|robot| format!("User-agent: a{robot}\nDisallow: /*{robot}{it}\n"))
                .collect::<String>()
        });
        let (found, work) = compared([&texts[0], &texts[1]], &RFC_9309, &limits);
        assert_eq!(work, 3_000);
        let first = found.iter().position(|it| matches!(*it.equivalence, Equivalence::Unknown(_)));
        let first = first.unwrap();
        assert!(
            first > 5 && found[first..].iter().all(|it| it.equivalence == found[first].equivalence)
        );
        // Where names may occur in others, each name is compared with each.
        let names: String = (0..200).map(|it| format!("User-agent: a{it}\n")).collect();
        let texts = ["/x", "/y"].map(|it| format!("{names}Disallow: {it}\n"));
        let (found, work) = compared([&texts[0], &texts[1]], &ORIGINAL_1994, &limits);
        assert_eq!(work, 3_000);
        assert!(matches!(*found[199].equivalence, Equivalence::Unknown(_)));
    }
}
