//! Whether an edited file decides every URL as the file before it, for everybody.
//!
//! Everybody is each robot that either file names, and one that neither does. The rules that speak
//! to each are compared exactly ([`analysis`](crate::analysis)); where that finds no answer within
//! its limits there is no proof.

use std::collections::BTreeSet;
use std::fmt;

use bstr::ByteSlice as _;
use hashbrown::{HashMap, HashSet};

use super::examination::quoted;
use crate::analysis::{Bound, Equivalence, Limits, Rules, Search, equivalence};
use crate::bytes::seeded_hash;
use crate::dialect::{Dialect, NamesAgent};
use crate::policy::{Audience, OrderedRules, robot_name};
use crate::syntax::{Group, RobotsTxt, is_extension};

/// Why two files were not proved to say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproved {
    /// A URL's verdict changes.
    Differs {
        /// The dialect.
        dialect: &'static Dialect,
        /// The robot, as the file names it; nothing for one that it does not name.
        robot: Option<String>,
        /// The path.
        path: Vec<u8>,
    },
    /// A record that a convention defines, such as Content-Usage or License, would belong to another
    /// group.
    MovesRecord {
        /// The dialect.
        dialect: &'static Dialect,
    },
    /// Other robots are named, in a dialect in which a name speaks to all that it occurs in.
    OtherNames {
        /// The dialect.
        dialect: &'static Dialect,
    },
    /// The comparison reached a limit.
    Unknown {
        /// The dialect.
        dialect: &'static Dialect,
        /// The limit.
        bound: Bound,
    },
    /// So many edits were tried before that no more are.
    NotTried,
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unproved::Differs { dialect, robot, path } => {
                let path = quoted(path);
                match robot {
                    Some(robot) => write!(f, "in {} {robot} gets another verdict", dialect.name)?,
                    None => write!(f, "in {} a robot gets another verdict", dialect.name)?,
                }
                write!(f, " on {path}")
            }
            Unproved::MovesRecord { dialect } => write!(
                f,
                "in {} a record such as Content-Usage or License would change its group",
                dialect.name
            ),
            Unproved::OtherNames { dialect } => {
                write!(f, "in {} the file names other robots", dialect.name)
            }
            Unproved::Unknown { dialect, bound } => write!(f, "in {} {bound}", dialect.name),
            Unproved::NotTried => write!(f, "too many edits of this file could not be proved"),
        }
    }
}

/// A file that edits of it are compared with.
pub(super) struct Prover<'t> {
    bytes_max: Option<usize>,
    limits: Limits,
    readings: Vec<(&'static Dialect, Side<'t>)>,
}

/// A file as a dialect reads it.
struct Side<'t> {
    file: RobotsTxt<'t>,
    audience: Audience,
    /// Positions in the audience's robots.
    by_name: HashMap<Vec<u8>, usize, foldhash::fast::RandomState>,
}

impl<'t> Side<'t> {
    fn new(text: &'t [u8], dialect: &'static Dialect, bytes_max: Option<usize>) -> Side<'t> {
        let file = RobotsTxt::parse(text, dialect, bytes_max);
        let audience = Audience::of(&file, dialect);
        let robots = audience.robots.iter().enumerate();
        let by_name = robots.map(|(position, robot)| (robot.name.clone(), position)).collect();
        Side { file, audience, by_name }
    }

    /// The groups of the robot that the file names so, or else the default groups.
    fn groups(&self, robot: Option<&[u8]>) -> &[usize] {
        let named = robot.and_then(|name| self.by_name.get(name));
        named.map_or(&self.audience.default_groups, |&robot| &self.audience.robots[robot].groups)
    }

    /// The records that conventions define, each with the robots of the group above it. Access does
    /// not depend on them, but what they say holds for those robots.
    fn extensions(&self, dialect: &Dialect) -> impl Iterator<Item = (Vec<u8>, &'t [u8], u64)> {
        let (file, groups) = (&self.file, self.file.groups());
        let names = move |group: &Group| {
            let lines = file.user_agents_of(group).iter();
            let names = lines.filter_map(|line| robot_name(line.value, dialect).or(Some(b"*")));
            let names: BTreeSet<Vec<u8>> = names.map(<[u8]>::to_ascii_lowercase).collect();
            // No name has a line end in it.
            seeded_hash(&names.into_iter().collect::<Vec<_>>().join(&b'\n'))
        };
        let names: Vec<u64> = groups.iter().map(names).collect();
        let records = file.other_records().iter().filter(|record| is_extension(record.name));
        records.map(move |record| {
            let line = file.user_agents().partition_point(|agent| agent.line < record.line);
            let group = groups.partition_point(|group| (group.user_agents.start as usize) < line);
            let names = group.checked_sub(1).map_or(0, |group| names[group]);
            (record.name.to_ascii_lowercase(), record.value, names)
        })
    }
}

impl<'t> Prover<'t> {
    pub(super) fn new(
        text: &'t [u8],
        dialects: &[&'static Dialect],
        bytes_max: Option<usize>,
        limits: Limits,
    ) -> Prover<'t> {
        let side = |&dialect| (dialect, Side::new(text, dialect, bytes_max));
        Prover { bytes_max, limits, readings: dialects.iter().map(side).collect() }
    }

    /// Proves that `edited` says the same.
    pub(super) fn prove(&self, edited: &[u8]) -> Result<(), Unproved> {
        for (dialect, old) in &self.readings {
            let new = Side::new(edited, dialect, self.bytes_max);
            Comparison { dialect, limits: &self.limits, old, new: &new, known: HashSet::default() }
                .run()?;
        }
        Ok(())
    }
}

/// The groups that speak to a robot in one file, and those in the other.
type Groups = (Vec<usize>, Vec<usize>);

struct Comparison<'c, 't> {
    dialect: &'static Dialect,
    limits: &'c Limits,
    old: &'c Side<'t>,
    new: &'c Side<'c>,
    /// Groups that were compared.
    known: HashSet<Groups, foldhash::fast::RandomState>,
}

impl Comparison<'_, '_> {
    fn run(&mut self) -> Result<(), Unproved> {
        let names = |side: &Side<'_>| -> Vec<Vec<u8>> {
            side.audience.robots.iter().map(|robot| robot.name.clone()).collect()
        };
        let (old, new) = (names(self.old), names(self.new));
        if self.dialect.groups.names_agent == NamesAgent::OccursInName && old != new {
            // A caller obeys the first name that occurs in its own; with the same names in the same
            // order that is the same one, whoever the caller is.
            return Err(Unproved::OtherNames { dialect: self.dialect });
        }
        if !self.old.extensions(self.dialect).eq(self.new.extensions(self.dialect)) {
            return Err(Unproved::MovesRecord { dialect: self.dialect });
        }
        self.compare(None)?;
        for name in old.iter().chain(&new) {
            self.compare(Some(name))?;
        }
        Ok(())
    }

    /// Compares what both files say to a robot.
    fn compare(&mut self, robot: Option<&[u8]>) -> Result<(), Unproved> {
        let groups = (self.old.groups(robot).to_vec(), self.new.groups(robot).to_vec());
        if self.known.contains(&groups) {
            return Ok(());
        }
        let paths = &self.dialect.paths;
        let old = OrderedRules::new(&self.old.file, &groups.0, paths);
        let new = OrderedRules::new(&self.new.file, &groups.1, paths);
        if old.patterns != new.patterns || old.verdicts != new.verdicts {
            let (old, new) = (Rules { ordered: &old, paths }, Rules { ordered: &new, paths });
            self.judge(robot, equivalence(old, new, self.limits))?;
        }
        self.known.insert(groups);
        Ok(())
    }

    fn judge(&self, robot: Option<&[u8]>, answer: Equivalence) -> Result<(), Unproved> {
        let dialect = self.dialect;
        match answer {
            Equivalence::Equal => Ok(()),
            Equivalence::Unknown(bound) => Err(Unproved::Unknown { dialect, bound }),
            Equivalence::Different { first_allows, second_allows } => {
                let examples = [&first_allows, &second_allows].map(Search::example);
                let path = examples.into_iter().flatten().map(|example| example.path().to_vec());
                let robot = robot.map(|name| name.to_str_lossy().into_owned());
                Err(Unproved::Differs { dialect, robot, path: path.min().unwrap_or_default() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{GOOGLE, ORIGINAL_1994, RFC_9309};

    fn proved(dialect: &'static Dialect, old: &[u8], new: &[u8]) -> Result<(), Unproved> {
        Prover::new(old, &[dialect], None, Limits::default()).prove(new)
    }

    #[test]
    fn what_says_the_same_is_proved() {
        let old = b"User-agent: a\nDisallow: /x\nDisallow: /x\n\nUser-agent: *\nDisallow: /a b\n";
        let new = b"User-agent: A\nDisallow: /x\n\nUser-agent: *\nDisallow: /a%20b\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
        let difference = proved(&GOOGLE, old, new).unwrap_err();
        assert!(matches!(difference, Unproved::Differs { robot: None, .. }), "{difference:?}");
    }

    #[test]
    fn a_group_that_loses_its_only_rule_joins_the_next() {
        let old = b"User-agent: a\nAllow: /\nUser-agent: *\nDisallow: /x\n";
        let new = b"User-agent: a\nUser-agent: *\nDisallow: /x\n";
        let Err(Unproved::Differs { robot, path, .. }) = proved(&RFC_9309, old, new) else {
            panic!("it differs")
        };
        assert_eq!((robot.as_deref(), &path[..]), (Some("a"), &b"/x"[..]));
    }

    #[test]
    fn a_preference_stays_with_its_robots() {
        let old = b"User-agent: a\nContent-Usage: train-ai=n\nDisallow: x\n\nUser-agent: b\n\
            License: https://a.example/l\nAllow: x\n";
        let new = b"User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\n\
            License: https://a.example/l\n";
        let moved = Unproved::MovesRecord { dialect: &RFC_9309 };
        assert_eq!(proved(&RFC_9309, old, new), Err(moved.clone()));
        let new = b"User-agent: a\nDisallow: x\n\nUser-agent: b\nAllow: x\n";
        assert_eq!(proved(&RFC_9309, old, new), Err(moved));
        let new = b"User-agent: A\nContent-usage: train-ai=n\nDisallow: y\nUser-agent: b\n\
            License: https://a.example/l\nAllow: x\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
    }

    #[test]
    fn names_that_occur_in_others_have_to_stay() {
        let old = b"User-agent: a/1\nDisallow: /\n";
        let new = b"User-agent: a\nDisallow: /\n";
        assert_eq!(proved(&RFC_9309, old, new), Ok(()));
        let unproved = Unproved::OtherNames { dialect: &ORIGINAL_1994 };
        assert_eq!(proved(&ORIGINAL_1994, old, new), Err(unproved));
    }

    #[test]
    fn what_the_limit_lets_in_is_seen() {
        let old = b"User-agent: *\nDisallow: /a\nDisallow: /a\nDisallow: /b\n";
        let new = b"User-agent: *\nDisallow: /a\nDisallow: /b\n";
        let prover = Prover::new(old, &[&RFC_9309], Some(42), Limits::default());
        assert!(prover.prove(new).is_err());
    }
}
