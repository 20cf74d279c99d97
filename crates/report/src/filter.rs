//! Copies the records that may be fetched, byte for byte, and the records that are set aside.
//!
//! A record is allowed or disallowed by the verdicts of all agents ([`Quantifier`]). It is unknown
//! or invalid if the verdict of any agent is. A [`Plan`] has the destination for each of the four
//! verdicts. An empty record is invalid.

use portcullis_dialect::decision::{Decision, Verdict};
use portcullis_dialect::limits::PARQUET_PART_ROWS_MAX;
use portcullis_dialect::usage::Preference;
use portcullis_io::input::Record;
use portcullis_io::list::List;
use portcullis_io::output::parquet::keep;
use portcullis_set::batch::Session;

use super::{ChunkError, Counts, Encoded, Piece, decide_block};

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
        let mut allowed = 0;
        let mut unknown = false;
        for (agent, decision) in decisions.iter().enumerate() {
            match decision.verdict {
                Verdict::Allow => {
                    let is_fine = |purpose: Purpose| purpose.allows(preferences[agent]);
                    allowed += usize::from(self.purpose.is_none_or(is_fine));
                }
                Verdict::Disallow => {}
                Verdict::Unknown => unknown = true,
                Verdict::Invalid => return Verdict::Invalid,
            }
        }
        let enough = match self.quantifier {
            Quantifier::All => allowed == decisions.len(),
            Quantifier::Any => true,
        };
        match (unknown, allowed > 0 && enough) {
            (true, _) => Verdict::Unknown,
            (false, true) => Verdict::Allow,
            (false, false) => Verdict::Disallow,
        }
    }

    /// Returns the verdict of each record in the session's last block, and whether a preference on
    /// it is unstated.
    #[inline]
    pub fn verdicts<'s>(
        &'s self,
        session: &'s Session,
    ) -> impl Iterator<Item = (Verdict, bool)> + 's {
        let agents = session.classifier().agents().len();
        let preferences = session.preferences();
        let per_record = if preferences.is_empty() { 0 } else { agents };
        session.decisions().chunks_exact(agents).enumerate().map(move |(place, decisions)| {
            let preferences = &preferences[place * per_record..][..per_record];
            let is_unstated = preferences.contains(&Preference::Unstated);
            (self.verdict(decisions, preferences), is_unstated)
        })
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
}

impl Output {
    /// Clears the output for the next chunk and keeps its memory.
    pub fn clear(&mut self) {
        let Output { kept, unknown, invalid, .. } = self;
        [kept, unknown, invalid].into_iter().for_each(Encoded::clear);
        (self.kept_records, self.unstated_records) = (0, 0);
    }
}

/// Appends the whole records of a chunk to their destinations. A last record without an end gets
/// one.
///
/// # Errors
///
/// If the input or the set is damaged. `out` is then incomplete and must not be used.
#[inline]
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
        for (&record, (verdict, is_unstated)) in block.iter().zip(plan.verdicts(session)) {
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
        Ok::<bool, ChunkError>(true)
    })?;
    if let Some(chunk) = joined {
        push_with_end(&chunk[run..start], list, &mut out.kept.text);
    }
    Ok(())
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
        Ok::<bool, ChunkError>(true)
    })?;
    out.kept_records += outputs.iter().filter(|&&output| output == 1).count() as u64;
    let groups = keep::<ChunkError>(part, &outputs, 3)?;
    let Output { kept, unknown, invalid, .. } = out;
    for (output, group) in [kept, unknown, invalid].into_iter().zip(groups) {
        output.group = group;
    }
    Ok(())
}

/// Appends a record that is not kept to the output for its verdict, if it is to be set aside.
#[inline]
fn set_aside(record: Record<'_>, verdict: Verdict, list: &List, plan: &Plan, out: &mut Output) {
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
    use crate::Rejects;
    use crate::tests::{SCHEME, classifier, piece};
    use portcullis_dialect::decision::Reason;
    use portcullis_io::input::Terminator;

    const PLAN: Plan = Plan {
        quantifier: Quantifier::All,
        invert: false,
        unknown: Fate::Drop,
        invalid: Fate::Drop,
        purpose: None,
    };

    fn filtered_as(input: &[u8], terminator: Terminator, plan: &Plan, agents: usize) -> Output {
        let classifier = classifier(&["a"], &["d"], agents);
        let (mut session, mut counts) = (Session::new(classifier, SCHEME), Counts::new(agents));
        let mut out = Output::default();
        piece(input, terminator, &mut Rejects::default(), |piece| {
            write_chunk(piece, plan, &mut session, &mut counts, &mut out)
        })
        .unwrap();
        out
    }

    fn filtered(input: &[u8], plan: &Plan) -> Output {
        filtered_as(input, Terminator::LineFeed, plan, 1)
    }

    #[test]
    fn kept_records_are_exact() {
        let inverted = Plan { invert: true, ..PLAN };
        let cases: [(&[u8], Plan, &[u8], u64); 8] = [
            (b"", PLAN, b"", 0),
            (b"a/1\nd\na/2\r\na/3\nu\nx:\n\na/ \xff\n", PLAN, b"a/1\na/2\r\na/3\na/ \xff\n", 4),
            (b"d\nd\n", PLAN, b"", 0),
            // A last record gets an end.
            (b"a/1\na/2", PLAN, b"a/1\na/2\n", 2),
            (b"a/1\nd", PLAN, b"a/1\n", 1),
            // Inverted: the disallowed records only.
            (b"a\nd\nu\nx:\n\n", inverted, b"d\n", 1),
            // Unknown and invalid records have their own flags.
            (b"a\nd\nu\nx:\n", Plan { unknown: Fate::Keep, ..PLAN }, b"a\nu\n", 2),
            (b"a\nd\nu\nx:\n", Plan { invalid: Fate::Keep, ..inverted }, b"d\nx:\n", 2),
        ];
        for (input, plan, expected, records) in cases {
            let out = filtered(input, &plan);
            assert_eq!(bstr::BStr::new(&out.kept.text), bstr::BStr::new(expected));
            assert_eq!(out.kept_records, records);
        }
        assert_eq!(filtered_as(b"d\0a", Terminator::Nul, &PLAN, 1).kept.text, b"a\0");
    }

    #[test]
    fn records_are_set_aside_with_their_ends() {
        for (invalid, kept, aside) in [
            (Fate::Keep, &b"a\n\n\r\na\n"[..], &b""[..]),
            (Fate::Aside, b"a\na\n", b"\n\r\n"),
            (Fate::Drop, b"a\na\n", b""),
        ] {
            let out = filtered(b"a\n\n\r\na", &Plan { invalid, ..PLAN });
            assert_eq!((&out.kept.text[..], &out.invalid.text[..]), (kept, aside));
        }
        let plan = Plan { unknown: Fate::Aside, invalid: Fate::Aside, ..PLAN };
        let out = filtered(b"u/1\r\na\nx:1\nu/2\n\nx:2", &plan);
        assert_eq!(out.kept.text, b"a\n");
        assert_eq!(out.unknown.text, b"u/1\r\nu/2\n");
        assert_eq!(out.invalid.text, b"x:1\n\nx:2\n");
    }

    #[test]
    fn all_or_any_of_several_agents() {
        // The second agent's verdicts are the opposite of the first's.
        let any = Plan { quantifier: Quantifier::Any, ..PLAN };
        for (plan, kept) in [(&PLAN, &b""[..]), (&any, b"a\nd\n")] {
            assert_eq!(filtered_as(b"a\nd\nu\n", Terminator::LineFeed, plan, 2).kept.text, kept);
            // Unknown or invalid for one agent is never allowed.
            let allowed = Decision::without_rule(Verdict::Allow, Reason::NoRule);
            assert_eq!(plan.verdict(&[], &[]), Verdict::Disallow);
            assert_eq!(plan.verdict(&[allowed, Decision::UNKNOWN], &[]), Verdict::Unknown);
            assert_eq!(
                plan.verdict(&[Decision::UNKNOWN, Decision::INVALID], &[]),
                Verdict::Invalid
            );
        }
    }

    #[test]
    fn the_cut_into_chunks_changes_nothing() {
        let input = b"a/1\nd\n\na/2\r\nu\nx:\na/3\na/4\nd\na/5\n";
        let whole = filtered(input, &PLAN).kept.text;
        let ends = input.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        for (end, _) in ends {
            let (left, right) = input.split_at(end + 1);
            let parts = [filtered(left, &PLAN).kept.text, filtered(right, &PLAN).kept.text];
            assert_eq!(parts.concat(), whole);
        }
    }
}
