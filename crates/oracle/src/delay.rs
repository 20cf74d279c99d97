//! Crawl delays, naively.

use portcullis_dialect::{BlankLine, Dialect, Field};

use crate::groups::{Group, applying};
use crate::lines::Record;

/// Returns the greatest delay for the first of `agents` that a user-agent line names, in seconds, and
/// the number of its delays that are not numbers.
pub(super) fn crawl_delay(
    dialect: &Dialect,
    records: &[Record<'_>],
    agents: &[&str],
) -> (Option<f64>, usize) {
    let mut groups: Vec<Group<'_, &[u8]>> = Vec::new();
    let mut has_ended = true;
    for record in records {
        match *record {
            Record::Blank => has_ended |= dialect.groups.blank_line == BlankLine::EndsRecord,
            Record::Field(Field::UserAgent, value, _) => {
                if has_ended {
                    groups.push(Group { user_agents: Vec::new(), rules: Vec::new() });
                }
                has_ended = false;
                groups.last_mut().expect("pushed").user_agents.push(value);
            }
            Record::Field(Field::Allow | Field::Disallow, ..) => has_ended = true,
            Record::Field(..) => {}
            Record::CrawlDelay(value) => {
                has_ended = true;
                if let Some(group) = groups.last_mut() {
                    group.rules.push(value);
                }
            }
        }
    }
    let delays = applying(dialect, &groups, agents).into_iter().flat_map(|group| &group.rules);
    let delays: Vec<Option<f64>> = delays.map(|value| number(value)).collect();
    let greatest = delays.iter().flatten().copied().reduce(f64::max);
    (greatest, delays.iter().filter(|delay| delay.is_none()).count())
}

/// Returns a number of digits and at most one point.
fn number(value: &[u8]) -> Option<f64> {
    let points = value.iter().filter(|&&byte| byte == b'.').count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if points > 1 || digits == 0 || points + digits < value.len() {
        return None;
    }
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}
