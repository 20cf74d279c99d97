//! A row: a goal, what was measured, the times behind it, and whether the answers were right.

use portcullis::bench::Spread;
use serde::Serialize;

/// What a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// That much, or more.
    AtLeast,
    /// That much, or less.
    Within,
    /// Less than that.
    Under,
}

/// A goal.
#[derive(Clone, Debug, Serialize)]
pub struct Goal {
    /// A short name that stays.
    pub id: String,
    /// What is measured.
    pub what: String,
    /// How the value is compared with `limit`.
    pub relation: Relation,
    /// The value that is wanted.
    pub limit: f64,
    /// What value and limit are counted in: `×`, `ms` or `MiB`.
    pub unit: &'static str,
    /// What the value is a multiple of, or what it counts.
    pub of: String,
}

impl Goal {
    /// Whether a value reaches it. What is no number reaches nothing.
    pub fn is_met(&self, value: f64) -> bool {
        match self.relation {
            Relation::AtLeast => value >= self.limit,
            Relation::Within => value <= self.limit,
            Relation::Under => value < self.limit,
        }
    }

    /// The row of a goal that was measured.
    pub fn measured(self, value: f64, figures: Vec<Figure>, answers: String) -> Row {
        let is_met = self.is_met(value);
        let measured = Measured { value, is_met, figures, answers, remark: None };
        Row { goal: self, outcome: Outcome::Measured(measured) }
    }

    /// The row of a goal that something came between.
    pub fn lost(self, fault: Fault) -> Row {
        let outcome = match fault {
            Fault::Wrong(why) => Outcome::Wrong(why),
            Fault::Absent(why) => Outcome::Absent(why),
        };
        Row { goal: self, outcome }
    }
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Our answers are wrong, or we gave none.
    Wrong(String),
    /// Something else did not work that the goal is compared with.
    Absent(String),
}

/// A value of some unit, in each round.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Whose it is.
    pub name: String,
    /// `ns a URL`, `s` and so on.
    pub unit: &'static str,
    /// Median, least and most.
    #[serde(flatten)]
    pub spread: Spread,
}

impl Figure {
    /// Of the values of rounds, each divided by `divisor`; nothing if there is none.
    pub fn of(name: &str, unit: &'static str, values: &[f64], divisor: f64) -> Option<Figure> {
        let values: Vec<f64> = values.iter().map(|value| value / divisor).collect();
        Some(Figure { name: name.to_owned(), unit, spread: Spread::of(&values)? })
    }
}

/// A goal and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The goal.
    #[serde(flatten)]
    pub goal: Goal,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a goal.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A value.
    Measured(Measured),
    /// Answers were wrong, so that no time counts.
    Wrong(String),
    /// There is nothing to compare with.
    Absent(String),
}

/// A value, and what it was made of.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The value.
    pub value: f64,
    /// Whether the goal is reached.
    pub is_met: bool,
    /// The times behind it.
    pub figures: Vec<Figure>,
    /// How answers were verified.
    pub answers: String,
    /// What else a reader has to know.
    pub remark: Option<String>,
}

impl Row {
    /// Adds what a reader has to know, if there is a value.
    pub fn with_remark(mut self, remark: String) -> Row {
        if let Outcome::Measured(measured) = &mut self.outcome {
            measured.remark = Some(remark);
        }
        self
    }

    /// Whether answers were wrong.
    pub fn is_wrong(&self) -> bool {
        matches!(self.outcome, Outcome::Wrong(_))
    }

    /// Whether there is a value that reaches the goal.
    pub fn is_met(&self) -> bool {
        matches!(&self.outcome, Outcome::Measured(measured) if measured.is_met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(relation: Relation) -> Goal {
        let (id, what, of) = ("id".to_owned(), "what".to_owned(), "x".to_owned());
        Goal { id, what, relation, limit: 2.0, unit: "×", of }
    }

    #[test]
    fn a_goal_is_met_on_its_own_side() {
        let met =
            |relation, value| goal(relation).measured(value, Vec::new(), String::new()).is_met();
        assert!(met(Relation::AtLeast, 2.0) && !met(Relation::AtLeast, 1.9));
        assert!(met(Relation::Within, 2.0) && !met(Relation::Within, 2.1));
        assert!(met(Relation::Under, 1.9) && !met(Relation::Under, 2.0));
        assert!(!met(Relation::Under, f64::NAN));
    }

    #[test]
    fn a_wrong_row_has_no_value() {
        let row = goal(Relation::Under).lost(Fault::Wrong("allow in place of disallow".to_owned()));
        assert!(row.is_wrong() && !row.is_met());
        let json = serde_json::to_string(&row).unwrap();
        assert!(json.contains(r#""wrong":"allow"#) && !json.contains("value"), "{json}");
    }
}
