//! Copies the records that may be fetched, byte for byte, and the records that are set aside.
//!
//! Each agent has one verdict on a record: that of access, of the preference about a purpose, and, if
//! the record is also decided as of now, of both times. The verdicts of all agents then make that of
//! the record ([`Quantifier`]). A [`Plan`] has the destination for each of the four verdicts. An empty
//! record is invalid.

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::usage::Preference;
use portcullis_io::input::Record;
use portcullis_io::limits::PARQUET_PART_ROWS_MAX;
use portcullis_io::list::List;
use portcullis_io::output::parquet::keep;
use portcullis_set::batch::Session;

use super::{Cause, ChunkError, Counts, Drops, Encoded, Piece, decide_block};

/// The number of agents that must be allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantifier {
    /// Every agent.
    #[default]
    All,
    /// At least one agent.
    Any,
}

/// The destination of records with one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The output.
    Keep,
    /// No destination: the record is dropped.
    Drop,
    /// A separate file.
    Aside,
}

/// The destination of each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of agents that must be allowed.
    pub quantifier: Quantifier,
    /// Whether the disallowed records are kept instead of the allowed ones.
    pub invert: bool,
    /// The destination of records with unknown origins.
    pub unknown: Fate,
    /// The destination of records that are not URLs.
    pub invalid: Fate,
    /// The preference that an allowed agent also needs about the first requested label. `None` if
    /// only access counts.
    pub purpose: Option<Purpose>,
}

/// The preferences about a purpose that count as allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// Whether a use that is not stated counts as allowed. `y` always counts, `n` never.
    pub keeps_unstated: bool,
}

impl Purpose {
    fn allows(self, preference: Preference) -> bool {
        match preference {
            Preference::Yes => true,
            Preference::Unstated => self.keeps_unstated,
            Preference::No | Preference::NoAccess => false,
        }
    }
}

impl Plan {
    /// Combines the verdicts of all agents on a record. Without agents, no record is allowed. With
    /// a purpose, there must be a preference for each agent.
    ///
    /// # Panics
    ///
    /// If preferences are missing.
    #[inline]
    pub fn verdict(&self, decisions: &[Decision], preferences: &[Preference]) -> Verdict {
        let agents = 0..decisions.len();
        self.of_agents(agents.map(|agent| self.of_agent(agent, decisions, preferences)))
    }

    /// Returns the verdict for one agent, by access and the preference about the purpose.
    #[inline]
    fn of_agent(
        &self,
        agent: usize,
        decisions: &[Decision],
        preferences: &[Preference],
    ) -> Verdict {
        match (decisions[agent].verdict, self.purpose) {
            (Verdict::Allow, Some(purpose)) if !purpose.allows(preferences[agent]) => {
                Verdict::Disallow
            }
            (verdict, _) => verdict,
        }
    }

    /// Combines the verdicts of the agents. If all must be allowed, one that is disallowed decides;
    /// otherwise one that is unknown does.
    #[inline]
    fn of_agents(&self, verdicts: impl Iterator<Item = Verdict>) -> Verdict {
        let (mut allowed, mut disallowed, mut unknown) = (false, false, false);
        for verdict in verdicts {
            match verdict {
                Verdict::Allow => allowed = true,
                Verdict::Disallow => disallowed = true,
                Verdict::Unknown => unknown = true,
                Verdict::Invalid => return Verdict::Invalid,
            }
        }
        let all = self.quantifier == Quantifier::All;
        match (all && disallowed, unknown) {
            (true, _) => Verdict::Disallow,
            (false, true) => Verdict::Unknown,
            (false, false) if allowed => Verdict::Allow,
            (false, false) => Verdict::Disallow,
        }
    }

    /// Returns the verdict of each record in the session's last block, and whether a preference on
    /// it is unstated. If the block is also decided as of now, an agent must be allowed at both times.
    #[inline]
    pub fn verdicts<'s>(
        &'s self,
        session: &'s Session,
    ) -> impl ExactSizeIterator<Item = (Verdict, bool)> + 's {
        let agents = session.classifier().answers_per_record();
        let preferences = session.preferences();
        let per_record = if preferences.is_empty() { 0 } else { agents };
        let now = session.now();
        session.decisions().chunks_exact(agents).enumerate().map(move |(place, decisions)| {
            let preferences = &preferences[place * per_record..][..per_record];
            match now {
                None => {
                    let is_unstated = preferences.contains(&Preference::Unstated);
                    (self.verdict(decisions, preferences), is_unstated)
                }
                Some(now) => {
                    let now_decisions = &now.decisions[place * agents..][..agents];
                    let now_preferences = &now.preferences[place * per_record..][..per_record];
                    self.and_now((decisions, preferences), (now_decisions, now_preferences))
                }
            }
        })
    }

    /// Combines the verdicts on a record at its time and as of now: for each agent, then of all agents.
    // Inlined, it would slow down every filter without times.
    #[cold]
    fn and_now(&self, then: Answers<'_>, now: Answers<'_>) -> (Verdict, bool) {
        let both = (0..then.0.len()).map(|agent| {
            let [then, now] = [then, now]
                .map(|(decisions, preferences)| self.of_agent(agent, decisions, preferences));
            at_both_times(then, now)
        });
        let is_unstated = [then, now].iter().any(|it| it.1.contains(&Preference::Unstated));
        (self.of_agents(both), is_unstated)
    }

    /// Returns why each record in the session's last block is not kept; `None` for a record that is.
    pub fn causes<'s>(&'s self, session: &'s Session) -> impl Iterator<Item = Option<Cause>> + 's {
        self.verdicts(session).enumerate().map(|(record, (verdict, _))| {
            let cause = match verdict {
                Verdict::Allow => Cause::Allowed,
                Verdict::Disallow => self.cause_of_disallowed(session, record),
                Verdict::Unknown => Cause::Unknown,
                Verdict::Invalid => Cause::Invalid,
            };
            (self.fate(verdict) != Fate::Keep).then_some(cause)
        })
    }

    /// Returns why a record is disallowed. The cause of an agent is that at the record's time, or else
    /// that of now. If all agents must be allowed, it is the worst of their causes; if one is enough,
    /// the best.
    fn cause_of_disallowed(&self, session: &Session, record: usize) -> Cause {
        let records = self.verdicts(session).len();
        let then = (session.decisions(), session.preferences());
        let now = session.now().map(|now| (&now.decisions[..], &now.preferences[..]));
        let at = |agent: usize, (decisions, preferences): Answers<'_>| {
            let decisions = of_record(decisions, record, records);
            let preferences = of_record(preferences, record, records);
            match (self.of_agent(agent, decisions, preferences), decisions[agent].verdict) {
                (Verdict::Disallow, Verdict::Allow) => match preferences[agent] {
                    Preference::Unstated => Some(Cause::NotStated),
                    _ => Some(Cause::NotPermitted),
                },
                (Verdict::Disallow, _) => Some(Cause::Disallowed),
                _ => None,
            }
        };
        let agents = session.classifier().answers_per_record();
        let causes = (0..agents)
            .filter_map(|agent| at(agent, then).or_else(|| now.and_then(|now| at(agent, now))));
        let cause = match self.quantifier {
            Quantifier::All => causes.min(),
            Quantifier::Any => causes.max(),
        };
        cause.unwrap_or(Cause::Disallowed)
    }

    /// Returns the destination of a record with this verdict.
    #[inline]
    pub fn fate(&self, verdict: Verdict) -> Fate {
        match verdict {
            Verdict::Unknown => self.unknown,
            Verdict::Invalid => self.invalid,
            Verdict::Allow if !self.invert => Fate::Keep,
            Verdict::Disallow if self.invert => Fate::Keep,
            Verdict::Allow | Verdict::Disallow => Fate::Drop,
        }
    }
}

/// Returns the answers on one of some records.
fn of_record<T>(answers: &[T], record: usize, records: usize) -> &[T] {
    let each = answers.len() / records;
    &answers[record * each..][..each]
}

/// The decisions on some records, and the preferences if a purpose is asked about, by agent.
type Answers<'a> = (&'a [Decision], &'a [Preference]);

/// Combines the verdicts of an agent at two times. One that is known to be disallowed at either time
/// is disallowed, whatever is unknown about the other.
fn at_both_times(one: Verdict, other: Verdict) -> Verdict {
    let either = |verdict| one == verdict || other == verdict;
    let order = [Verdict::Invalid, Verdict::Disallow, Verdict::Unknown];
    order.into_iter().find(|&verdict| either(verdict)).unwrap_or(Verdict::Allow)
}

/// The records of a chunk by destination.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The kept records.
    pub kept: Encoded,
    /// The number of kept records.
    pub kept_records: u64,
    /// The number of records for which an allowed agent's use is not stated.
    pub unstated_records: u64,
    /// The records with unknown origins that are set aside.
    pub unknown: Encoded,
    /// The records that are not URLs and are set aside.
    pub invalid: Encoded,
    /// The records that are not kept, if they are counted.
    pub drops: Option<Drops>,
}

impl Output {
    /// Clears the output for the next chunk and keeps its memory.
    pub fn clear(&mut self) {
        let Output { kept, unknown, invalid, .. } = self;
        [kept, unknown, invalid].into_iter().for_each(Encoded::clear);
        (self.kept_records, self.unstated_records) = (0, 0);
        if let Some(drops) = &mut self.drops {
            drops.clear();
        }
    }
}

/// Appends the whole records of a chunk to their destinations. A last record without an end gets
/// one.
///
/// # Errors
///
/// If the input or the set is damaged. `out` is then incomplete and must not be used.
// Not marked for other crates to inline: the loops over records belong into this crate's one unit.
pub fn write_chunk(
    mut piece: Piece<'_, '_>,
    plan: &Plan,
    session: &mut Session,
    counts: &mut Counts,
    out: &mut Output,
) -> Result<(), ChunkError> {
    let list = piece.rows().list();
    // Records of text are contiguous, and a run of kept records is copied at once.
    let joined = piece.rows().text();
    // The start of the run of kept records that are not written yet.
    let mut run = 0;
    let mut start = 0;
    piece.read(0, |block, rejects| {
        decide_block(block, session, counts, rejects)?;
        for (record, (verdict, is_unstated)) in block.iter().zip(plan.verdicts(session)) {
            let end = start + record.whole().len();
            out.unstated_records += u64::from(is_unstated);
            match (plan.fate(verdict), joined) {
                (Fate::Keep, Some(_)) => out.kept_records += 1,
                (Fate::Keep, None) => {
                    out.kept_records += 1;
                    push_with_end(record.whole(), list, &mut out.kept.text);
                }
                (_, joined) => {
                    let kept = joined.map_or(&b""[..], |chunk| &chunk[run..start]);
                    out.kept.text.extend_from_slice(kept);
                    run = end;
                    set_aside(record, verdict, list, plan, out);
                }
            }
            start = end;
        }
        if let Some(drops) = &mut out.drops {
            drops.add_block(plan, block, session);
        }
        Ok::<bool, ChunkError>(true)
    })?;
    if let Some(chunk) = joined {
        push_with_end(&chunk[run..start], list, &mut out.kept.text);
    }
    Ok(session.classifier().set().is_whole()?)
}

/// Copies the rows of a row group to their destinations, with all their columns.
///
/// # Errors
///
/// If the input or the set is damaged. `out` is then incomplete and must not be used.
///
/// # Panics
///
/// If the records are text, which has no rows.
pub fn write_rows(
    mut piece: Piece<'_, '_>,
    plan: &Plan,
    session: &mut Session,
    counts: &mut Counts,
    out: &mut Output,
) -> Result<(), ChunkError> {
    let Some(part) = piece.rows().part() else {
        assert_eq!(piece.rows().text(), Some(&b""[..]), "the list is a file without rows");
        return Ok(());
    };
    let mut outputs = Vec::with_capacity(part.rows().min(PARQUET_PART_ROWS_MAX));
    piece.read(0, |block, rejects| {
        decide_block(block, session, counts, rejects)?;
        for (verdict, is_unstated) in plan.verdicts(session) {
            out.unstated_records += u64::from(is_unstated);
            outputs.push(match (plan.fate(verdict), verdict) {
                (Fate::Keep, _) => 1,
                (Fate::Aside, Verdict::Unknown) => 2,
                (Fate::Aside, _) => 3,
                (Fate::Drop, _) => 0,
            });
        }
        if let Some(drops) = &mut out.drops {
            drops.add_block(plan, block, session);
        }
        Ok::<bool, ChunkError>(true)
    })?;
    out.kept_records += outputs.iter().filter(|&&output| output == 1).count() as u64;
    let groups = keep::<ChunkError>(part, &outputs, 3)?;
    let Output { kept, unknown, invalid, .. } = out;
    for (output, group) in [kept, unknown, invalid].into_iter().zip(groups) {
        output.group = group;
    }
    Ok(session.classifier().set().is_whole()?)
}

/// Appends a record that is not kept to the output for its verdict, if it is to be set aside.
#[inline]
fn set_aside(record: &Record<'_>, verdict: Verdict, list: &List, plan: &Plan, out: &mut Output) {
    if plan.fate(verdict) != Fate::Aside {
        return;
    }
    let file = match verdict {
        Verdict::Unknown => &mut out.unknown.text,
        _ => &mut out.invalid.text,
    };
    push_with_end(record.whole(), list, file);
}

/// Appends records, and an end if the last record lacks one.
fn push_with_end(records: &[u8], list: &List, out: &mut Vec<u8>) {
    out.extend_from_slice(records);
    out.extend_from_slice(list.missing_end(records));
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::Reason;

    #[test]
    fn unknown_or_invalid_for_one_agent_is_never_allowed() {
        let (unknown, invalid) = (Fate::Drop, Fate::Drop);
        let allowed = Decision::without_rule(Verdict::Allow, Reason::NoRule);
        for quantifier in [Quantifier::All, Quantifier::Any] {
            let plan = Plan { quantifier, invert: false, unknown, invalid, purpose: None };
            assert_eq!(plan.verdict(&[], &[]), Verdict::Disallow);
            for (decision, expected) in
                [(Decision::UNKNOWN, Verdict::Unknown), (Decision::INVALID, Verdict::Invalid)]
            {
                assert_eq!(plan.verdict(&[allowed, decision], &[]), expected);
                assert_eq!(plan.verdict(&[Decision::UNKNOWN, decision], &[]), expected);
            }
        }
    }
}
