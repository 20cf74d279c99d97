//! The robots that policies speak to, and what they get.

use crate::automaton::Reach;

use super::extremes::largest;

/// What the policies that speak to a robot mean for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RobotCount {
    /// Policies.
    pub policies: u64,
    /// Origins that those speak for.
    pub origins: u64,
    /// Of those origins: the ones that leave it everything.
    pub everything: u64,
    /// The ones that leave it a part.
    pub part: u64,
    /// The ones that leave it nothing.
    pub nothing: u64,
    /// The ones whose rule set is built on demand, so that it is not known before.
    pub not_known: u64,
}

impl RobotCount {
    pub(super) fn add(&mut self, origins: u64, reach: Option<Reach>) {
        self.policies += 1;
        self.origins += origins;
        *match reach {
            Some(Reach::Everything) => &mut self.everything,
            Some(Reach::Part) => &mut self.part,
            Some(Reach::Nothing) => &mut self.nothing,
            None => &mut self.not_known,
        } += origins;
    }
}

/// A robot that policies name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurveyedRobot<'s> {
    /// Its name in lower case.
    pub name: &'s [u8],
    /// The policies that name it.
    pub count: RobotCount,
}

/// The robots that policies speak to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotSurvey<'s> {
    /// Different names.
    pub names: u64,
    /// Policies that name a robot.
    pub naming_policies: u64,
    /// The robots that no group names: the policies that have groups for them.
    pub others: RobotCount,
    /// Policies with rules that have no group for robots that they do not name, which are allowed
    /// everything.
    pub without_others: u64,
    /// Origins that those speak for.
    pub origins_without_others: u64,
    /// The robots that most policies name.
    pub most_named: Vec<SurveyedRobot<'s>>,
}

/// Robots in the counting.
pub struct Robots<'s> {
    pub survey: RobotSurvey<'s>,
    /// By their number.
    pub named: Vec<SurveyedRobot<'s>>,
}

impl<'s> Robots<'s> {
    pub fn new(names: Vec<&'s [u8]>) -> Robots<'s> {
        let robot = |name| SurveyedRobot { name, count: RobotCount::default() };
        Robots {
            survey: RobotSurvey { names: names.len() as u64, ..RobotSurvey::default() },
            named: names.into_iter().map(robot).collect(),
        }
    }

    pub fn finish(self, top: usize) -> RobotSurvey<'s> {
        let key = |robot: &SurveyedRobot<'_>| (robot.count.policies, robot.count.origins);
        RobotSurvey { most_named: largest(self.named, top, key), ..self.survey }
    }
}
