//! Compares usage preferences with the oracle's: for one file and several, one by one and in
//! blocks, in every kind of set.

use portcullis_dialect::usage::Label;
use portcullis_engine::StepCounts;
use portcullis_robots::syntax::RobotsTxt;

use crate::decide::Question;

/// Checks an input of [`decide`](crate::decide). A file without usage records is left to that
/// target.
///
/// # Panics
///
/// If a preference, its line, its source or the licences differ from the oracle's.
pub fn usage(data: &[u8]) {
    let Some(question) = Question::read(data) else { return };
    if !RobotsTxt::parse(question.robots, question.dialect, None).usage_records().is_empty() {
        question.check(&Label::ALL, &mut StepCounts::default());
    }
}
