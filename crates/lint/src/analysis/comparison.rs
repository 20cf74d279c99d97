//! Two files compared for many robots, under one budget.

use std::array;
use std::rc::Rc;

use hashbrown::HashMap;
use portcullis_dialect::decision::Decision;
use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::{AgentChain, Audience, Selection};
use portcullis_robots::syntax::RobotsTxt;

use super::contents::{Contents, ordering_cost, rule_at};
use super::equivalence::equivalence_within;
use super::{AgentRules, AnalysisLimits, Bound, Budget, Equivalence, Search};

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
    dialect: &'static Dialect,
    sides: [Side<'f>; 2],
    /// Whether both name the same robots, with the same rules.
    are_same: bool,
    budget: Budget,
    /// By the numbers of the groups on each side.
    known: HashMap<[Vec<u32>; 2], Rc<Judged>, foldhash::fast::RandomState>,
    equal: Rc<Equivalence>,
}

#[derive(Debug)]
struct Side<'f> {
    file: &'f RobotsTxt<'f>,
    audience: Audience,
    /// By group.
    numbers: Vec<u32>,
}

/// The comparison of two combinations of groups.
#[derive(Debug)]
struct Judged {
    equivalence: Rc<Equivalence>,
    deciding: [Option<[Decision; 2]>; 2],
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

impl<'f> FileComparison<'f> {
    /// Prepares two files that `dialect` parsed.
    pub fn new(
        files: [&'f RobotsTxt<'f>; 2],
        dialect: &'static Dialect,
        limits: &AnalysisLimits,
    ) -> FileComparison<'f> {
        let mut contents = Contents::default();
        let sides = files.map(|file| Side {
            file,
            audience: Audience::of(file, dialect),
            numbers: contents.number(file),
        });
        let [old, new] = &sides;
        let are_same = old.numbers == new.numbers && old.audience == new.audience;
        FileComparison {
            dialect,
            are_same,
            budget: Budget::new(limits, 1),
            known: HashMap::default(),
            equal: Rc::new(Equivalence::Equal),
            sides,
        }
    }

    /// Returns the work so far: pattern positions, with charges for what else was read.
    pub fn spent(&self) -> u64 {
        self.budget.spent()
    }

    /// Compares the rules of `robot`; of a robot that no file names if that is `None`.
    pub fn robot(&mut self, robot: Option<&AgentChain>) -> RobotComparison {
        let answer = |equivalence: &Rc<Equivalence>| RobotComparison {
            equivalence: Rc::clone(equivalence),
            deciding: [None; 2],
        };
        if self.are_same {
            return answer(&self.equal);
        }
        let cost = self.sides.iter().map(|side| side.audience.cost(robot, self.dialect)).sum();
        if let Err(bound) = self.budget.take(cost) {
            return answer(&Equivalence::Unknown(bound).into());
        }
        let selections =
            self.sides.each_ref().map(|side| side.audience.select(robot, self.dialect));
        let numbers = |side: usize| {
            let groups = selections[side].groups.iter();
            groups.map(|&group| self.sides[side].numbers[group]).collect::<Vec<u32>>()
        };
        let pair: [Vec<u32>; 2] = array::from_fn(numbers);
        if pair[0] == pair[1] {
            return answer(&self.equal);
        }
        let judged = match self.known.get(&pair) {
            Some(judged) => Rc::clone(judged),
            None => {
                let judged = Rc::new(self.judge(&selections));
                self.known.insert(pair, Rc::clone(&judged));
                judged
            }
        };
        let on_lines = |decisions: [Decision; 2]| {
            let [old, new] = decisions;
            [self.sides[0].on_line(old, &selections[0]), self.sides[1].on_line(new, &selections[1])]
        };
        let deciding = judged.deciding.map(|decisions| decisions.map(on_lines));
        RobotComparison { deciding, ..answer(&judged.equivalence) }
    }

    /// Compares two combinations of groups. In the result, a rule goes by its place.
    fn judge(&mut self, selections: &[Selection; 2]) -> Judged {
        let unknown =
            |bound| Judged { equivalence: Equivalence::Unknown(bound).into(), deciding: [None; 2] };
        self.compare(selections).unwrap_or_else(unknown)
    }

    fn compare(&mut self, selections: &[Selection; 2]) -> Result<Judged, Bound> {
        self.budget.check()?;
        let pairs = self.sides.iter().zip(selections);
        self.budget.take(pairs.map(|(side, it)| ordering_cost(side.file, &it.groups)).sum())?;
        let rules = |side: usize| {
            AgentRules::of(self.sides[side].file, selections[side].clone(), self.dialect)
        };
        let [old, new] = [rules(0), rules(1)];
        let equivalence = equivalence_within(old.rules(), new.rules(), &mut self.budget);
        let decide = |search: &Search| {
            let example = search.example()?;
            Some([&old, &new].map(|side| side.by_place(side.decide(example))))
        };
        let deciding = match &equivalence {
            Equivalence::Different { first_allows, second_allows } => {
                [first_allows, second_allows].map(decide)
            }
            Equivalence::Equal | Equivalence::Unknown(_) => [None; 2],
        };
        Ok(Judged { equivalence: equivalence.into(), deciding })
    }
}

impl Side<'_> {
    /// Returns a decision whose rule goes by its place, with the rule and its line.
    fn on_line(&self, decision: Decision, selection: &Selection) -> Decision {
        let rule = decision.rule.map(|place| rule_at(self.file, &selection.groups, place.0));
        let line = rule.map(|rule| self.file.rules()[rule.index()].line);
        Decision { rule, line, ..decision }
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
