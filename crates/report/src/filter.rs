//! Copies the records that may be fetched, byte for byte, and the records that are set aside.
//!
//! Each agent has one verdict on a record: that of access, of the preference about a purpose, and, if
//! the record is also decided as of now, of both times. The verdicts of all agents then make that of
//! the record ([`Quantifier`]), and with it its [`Class`]. A [`Plan`] has the destination for each class. An
//! empty record is invalid.

use portcullis_dialect::decision::{Decision, Reason, Verdict};
use portcullis_dialect::usage::Preference;
use portcullis_rows::limits::PARQUET_PART_ROWS_MAX;
use portcullis_rows::list::List;
use portcullis_rows::output::parquet::keep;
use portcullis_set::batch::{Answers, Session};

use super::{Cause, ChunkError, Counts, Format, Piece, Written};

/// The number of agents that must be allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantifier {
    /// Every agent.
    #[default]
    All,
    /// At least one agent.
    Any,
}

impl Quantifier {
    /// Combines verdicts into the first of an order that occurs. If all must be allowed, one that is
    /// disallowed decides before one that is unknown. Without verdicts, nothing is allowed.
    #[inline]
    fn combine(self, verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let order = match self {
            Quantifier::All => {
                [Verdict::Invalid, Verdict::Disallow, Verdict::Unknown, Verdict::Allow]
            }
            Quantifier::Any => {
                [Verdict::Invalid, Verdict::Unknown, Verdict::Allow, Verdict::Disallow]
            }
        };
        let place = |verdict: &Verdict| order.iter().position(|it| it == verdict);
        verdicts.into_iter().min_by_key(place).unwrap_or(Verdict::Disallow)
    }
}

/// What a record is to a filter: the verdict of all agents, or a URL that all may fetch where a page came
/// instead of a robots.txt, if those have a destination of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Allowed,
    Disallowed,
    Unknown,
    Invalid,
    Page,
}

impl Class {
    const ALL: [Class; 5] =
        [Class::Allowed, Class::Disallowed, Class::Unknown, Class::Invalid, Class::Page];

    /// The classes that may be set aside.
    pub const ASIDE: [Class; 3] = [Class::Unknown, Class::Invalid, Class::Page];

    #[inline]
    const fn of(verdict: Verdict) -> Class {
        match verdict {
            Verdict::Allow => Class::Allowed,
            Verdict::Disallow => Class::Disallowed,
            Verdict::Unknown => Class::Unknown,
            Verdict::Invalid => Class::Invalid,
        }
    }

    /// Returns the position among [`Class::ASIDE`]; `None` for the other classes.
    #[inline]
    const fn aside(self) -> Option<usize> {
        (self as usize).checked_sub(Class::Unknown as usize)
    }
}

/// The destination of the records of a class.
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
    /// The destinations of records with unknown origins, of those that are not URLs, and of allowed URLs
    /// of origins with a page, by [`Class::ASIDE`]. A page that is kept is allowed, as its dialect says.
    pub aside: [Fate; Class::ASIDE.len()],
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
    /// Returns the plan to keep allowed records and to drop all others.
    pub const fn of(quantifier: Quantifier) -> Plan {
        let aside = [Fate::Drop, Fate::Drop, Fate::Keep];
        Plan { quantifier, invert: false, aside, purpose: None }
    }

    /// Returns the class of each record in a block.
    pub fn classes(&self, answers: &Answers<'_>) -> Vec<Class> {
        let mut classes = self.verdicts(answers);
        if self.aside[Class::Page as usize - Class::Unknown as usize] != Fate::Keep {
            let (then, now) = sides(answers);
            let agents = answers.per_record();
            for (record, class) in classes.iter_mut().enumerate() {
                let own = record * agents..(record + 1) * agents;
                let now = now.map_or(&[][..], |now| &now.0[own.clone()]);
                let mut decisions = then.0[own].iter().chain(now);
                let is_allowed = decisions.clone().all(|it| it.verdict == Verdict::Allow);
                if is_allowed && decisions.any(|it| it.reason == Reason::Page) {
                    *class = Class::Page;
                }
            }
        }
        classes
    }

    /// Returns the verdict on each record in a block. If the block is also decided as of now, an agent
    /// must be allowed at both times.
    fn verdicts(&self, answers: &Answers<'_>) -> Vec<Class> {
        let agents = answers.per_record();
        let decisions = answers.decisions();
        let (then, now) = sides(answers);
        if agents == 1 && now.is_none() && self.purpose.is_none() {
            // Nothing to combine, and one byte to copy.
            return decisions.iter().map(|decision| Class::of(decision.verdict)).collect();
        }
        let of_agent = |answer| {
            let then = self.of_agent(answer, then);
            // One that is known to be disallowed at either time is disallowed.
            let both = |now| Quantifier::All.combine([then, self.of_agent(answer, now)]);
            now.map_or(then, both)
        };
        let records = 0..decisions.len() / agents;
        records
            .map(|record| (record * agents..(record + 1) * agents).map(of_agent))
            .map(|verdicts| Class::of(self.quantifier.combine(verdicts)))
            .collect()
    }

    /// Returns the number of records in a block on which a preference is unstated.
    pub fn unstated(&self, answers: &Answers<'_>) -> u64 {
        let (then, now) = sides(answers);
        let agents = answers.per_record();
        let is_unstated = |record: &usize| {
            let preferences = |(_, preferences): Side<'_>| {
                preferences[record * agents..][..agents].contains(&Preference::Unstated)
            };
            preferences(then) || now.is_some_and(preferences)
        };
        (0..then.1.len() / agents).filter(is_unstated).count() as u64
    }

    /// Returns the verdict of one answer, by access and the preference about the purpose.
    #[inline]
    fn of_agent(&self, answer: usize, (decisions, preferences): Side<'_>) -> Verdict {
        match (decisions[answer].verdict, self.purpose) {
            (Verdict::Allow, Some(purpose)) if !purpose.allows(preferences[answer]) => {
                Verdict::Disallow
            }
            (verdict, _) => verdict,
        }
    }

    /// Returns why each record in a block is not kept; `None` for a record that is.
    pub fn causes(&self, answers: &Answers<'_>) -> Vec<Option<Cause>> {
        let cause = |(record, class)| match class {
            Class::Allowed => Cause::Allowed,
            Class::Disallowed => self.cause_of_disallowed(answers, record),
            Class::Unknown => Cause::Unknown,
            Class::Invalid => Cause::Invalid,
            Class::Page => Cause::Page,
        };
        let classes = self.classes(answers).into_iter().enumerate();
        classes.map(|it| (self.fate(it.1) != Fate::Keep).then(|| cause(it))).collect()
    }

    /// Returns why a record is disallowed. The cause of an agent is that at the record's time, or else
    /// that of now. If all agents must be allowed, it is the worst of their causes; if one is enough,
    /// the best.
    fn cause_of_disallowed(&self, answers: &Answers<'_>, record: usize) -> Cause {
        let (then, now) = sides(answers);
        let at = |answer: usize, side: Side<'_>| match (
            self.of_agent(answer, side),
            side.0[answer].verdict,
        ) {
            (Verdict::Disallow, Verdict::Allow) => match side.1[answer] {
                Preference::Unstated => Some(Cause::NotStated),
                _ => Some(Cause::NotPermitted),
            },
            (Verdict::Disallow, _) => Some(Cause::Disallowed),
            _ => None,
        };
        let agents = answers.per_record();
        let causes = (record * agents..(record + 1) * agents)
            .filter_map(|answer| at(answer, then).or_else(|| now.and_then(|now| at(answer, now))));
        let cause = match self.quantifier {
            Quantifier::All => causes.min(),
            Quantifier::Any => causes.max(),
        };
        cause.unwrap_or(Cause::Disallowed)
    }

    /// Returns the number of records of these classes that are kept.
    pub fn kept(&self, classes: &[Class]) -> u64 {
        let is_kept = |class: &Class| self.fate(*class) == Fate::Keep;
        let kept = Class::ALL.into_iter().filter(is_kept);
        // Sums of bytes, of which a vector has many.
        let count = |kept, part: &[Class]| part.iter().map(|it| u8::from(*it == kept)).sum::<u8>();
        let parts = || classes.chunks(u8::MAX.into());
        kept.flat_map(|kept| parts().map(move |part| u64::from(count(kept, part)))).sum()
    }

    /// Returns the destination of a record of this class.
    #[inline]
    pub fn fate(&self, class: Class) -> Fate {
        match (class.aside(), class) {
            (Some(aside), _) => self.aside[aside],
            (None, Class::Allowed) if !self.invert => Fate::Keep,
            (None, Class::Disallowed) if self.invert => Fate::Keep,
            (None, _) => Fate::Drop,
        }
    }
}

/// The decisions on a block at one time, and the preferences if a purpose is asked about.
type Side<'a> = (&'a [Decision], &'a [Preference]);

/// Returns what was decided about a block, and the same as of now if it is asked for.
fn sides<'a>(answers: &'a Answers<'_>) -> (Side<'a>, Option<Side<'a>>) {
    let now = answers.now().map(|now| (&now.decisions[..], &now.preferences[..]));
    ((answers.decisions(), answers.preferences()), now)
}

/// Writes the records that a plan keeps, and those that it sets aside.
#[derive(Clone, Debug)]
pub struct Filter {
    pub plan: Plan,
    /// Whether records are rows of Parquet files, which are copied with all their columns.
    pub are_rows: bool,
    /// Whether kept records are only counted, because no output takes them.
    pub counts_only: bool,
}

impl Format for Filter {
    fn encode(
        &self,
        piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
        out: &mut Written,
    ) -> Result<(), ChunkError> {
        counts.ask_kept(&self.plan);
        match self.are_rows {
            true => self.write_rows(piece, session, counts, out),
            false => self.write_chunk(piece, session, counts, out),
        }
    }
}

impl Filter {
    /// Appends the whole records of a chunk to their destinations. A last record without an end gets
    /// one.
    fn write_chunk(
        &self,
        piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
        out: &mut Written,
    ) -> Result<(), ChunkError> {
        let list = piece.rows().list();
        // Records of text are contiguous, and a run of kept records is copied at once.
        let joined = piece.rows().text();
        // The start of the run of kept records that are not written yet.
        let mut run = 0;
        let mut start = 0;
        let plan = &self.plan;
        let writes = !self.counts_only || plan.aside.contains(&Fate::Aside);
        piece.decide(0, session, counts, |block, answers, counts| {
            let classes = counts.add_kept(plan, block, &answers);
            for (record, &class) in block.iter().zip(if writes { &classes[..] } else { &[] }) {
                let end = start + record.whole().len();
                match (plan.fate(class), joined) {
                    (Fate::Keep, Some(_)) => {}
                    (Fate::Keep, None) => push_with_end(record.whole(), list, &mut out[0].text),
                    (fate, joined) => {
                        let kept = joined.map_or(&b""[..], |chunk| &chunk[run..start]);
                        out[0].text.extend_from_slice(kept);
                        run = end;
                        if let (Fate::Aside, Some(aside)) = (fate, class.aside()) {
                            push_with_end(record.whole(), list, &mut out[1 + aside].text);
                        }
                    }
                }
                start = end;
            }
            Ok(true)
        })?;
        if let Some(chunk) = joined {
            push_with_end(&chunk[run..start], list, &mut out[0].text);
        }
        if self.counts_only {
            out[0].clear();
        }
        Ok(())
    }

    /// Copies the rows of a row group to their destinations, with all their columns.
    ///
    /// # Panics
    ///
    /// If the records are text, which has no rows.
    fn write_rows(
        &self,
        piece: Piece<'_, '_>,
        session: &mut Session,
        counts: &mut Counts,
        out: &mut Written,
    ) -> Result<(), ChunkError> {
        let Some(part) = piece.rows().part() else {
            assert_eq!(piece.rows().text(), Some(&b""[..]), "the list is a file without rows");
            return Ok(());
        };
        let mut outputs = Vec::with_capacity(part.rows().min(PARQUET_PART_ROWS_MAX));
        piece.decide(0, session, counts, |block, answers, counts| {
            let classes = counts.add_kept(&self.plan, block, &answers).into_iter();
            outputs.extend(classes.map(|class| match (self.plan.fate(class), class.aside()) {
                (Fate::Keep, _) => 1,
                (Fate::Aside, Some(aside)) => 2 + aside as u8,
                (Fate::Aside, None) | (Fate::Drop, _) => 0,
            }));
            Ok(true)
        })?;
        let groups = keep::<ChunkError>(part, &outputs, 1 + Class::ASIDE.len() as u8)?;
        for (output, group) in out.iter_mut().zip(groups) {
            output.group = group;
        }
        Ok(())
    }
}

/// Appends records, and an end if the last record lacks one.
fn push_with_end(records: &[u8], list: &List, out: &mut Vec<u8>) {
    out.extend_from_slice(records);
    out.extend_from_slice(list.missing_end(records));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_or_invalid_for_one_agent_is_never_allowed() {
        for quantifier in [Quantifier::All, Quantifier::Any] {
            let combined = |verdicts: &[Verdict]| quantifier.combine(verdicts.iter().copied());
            assert_eq!(combined(&[]), Verdict::Disallow);
            for verdict in [Verdict::Unknown, Verdict::Invalid] {
                assert_eq!(combined(&[Verdict::Allow, verdict]), verdict);
                assert_eq!(combined(&[Verdict::Unknown, verdict]), verdict);
            }
        }
    }
}
