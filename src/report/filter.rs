//! The records that may be fetched, byte for byte, and those that are set aside.
//!
//! A record is **allowed** or **disallowed** by what the agents' verdicts have in common
//! ([`Quantifier`]); it is **unknown** or **invalid** if any agent's verdict is, whatever the others
//! say. [`Plan`] tells where each of the four goes. An empty record is invalid like any other that is
//! no URL.

use crate::batch::Session;
use crate::decision::{Decision, Verdict};
use crate::input::{Record, Terminator};
use crate::set::Damage;

use super::{Counts, in_blocks};

/// How many agents must be allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantifier {
    /// Every one.
    #[default]
    All,
    /// At least one.
    Any,
}

/// Where records of one verdict go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// To the output.
    Keep,
    /// Nowhere.
    Drop,
    /// To a file of their own.
    Aside,
}

/// Where each record goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many agents must be allowed.
    pub quantifier: Quantifier,
    /// Whether the disallowed records are kept in place of the allowed ones.
    pub invert: bool,
    /// Where records of unknown origins go.
    pub unknown: Fate,
    /// Where records go that are no URL.
    pub invalid: Fate,
}

impl Plan {
    /// The verdict on a record from those of all agents.
    ///
    /// No agents at all allow nothing.
    #[inline]
    pub fn verdict(&self, decisions: &[Decision]) -> Verdict {
        let mut allowed = 0;
        let mut unknown = false;
        for decision in decisions {
            match decision.verdict {
                Verdict::Allow => allowed += 1,
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

    #[inline]
    fn fate(&self, verdict: Verdict) -> Fate {
        match verdict {
            Verdict::Unknown => self.unknown,
            Verdict::Invalid => self.invalid,
            Verdict::Allow if !self.invert => Fate::Keep,
            Verdict::Disallow if self.invert => Fate::Keep,
            Verdict::Allow | Verdict::Disallow => Fate::Drop,
        }
    }
}

/// What a filter makes of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The records that are kept.
    pub kept: Vec<u8>,
    /// How many those are.
    pub kept_records: u64,
    /// Records of unknown origins that are set aside.
    pub unknown: Vec<u8>,
    /// Records that are no URL and are set aside.
    pub invalid: Vec<u8>,
}

impl Output {
    /// Empties it for the next chunk; its memory stays.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.kept_records = 0;
        self.unknown.clear();
        self.invalid.clear();
    }
}

/// Appends the records of `chunk` to where `plan` sends them.
///
/// `records` are those of `chunk`, all of them and in order. A record is written with its own end; a
/// last one that has none gets that of `terminator`.
///
/// # Errors
///
/// If the set is damaged; then `out` is incomplete and must not be used.
#[inline]
pub fn write_chunk<'c>(
    chunk: &'c [u8],
    records: impl Iterator<Item = Record<'c>>,
    terminator: Terminator,
    plan: &Plan,
    session: &mut Session<'_>,
    counts: &mut Counts,
    out: &mut Output,
) -> Result<(), Damage> {
    let agents = counts.agents().len();
    // What is kept since `run` and not written yet ends where the record begins.
    let mut run = 0;
    let mut start = 0;
    in_blocks(records, |block| {
        let decisions = session.decide(block)?;
        for (&record, decisions) in block.iter().zip(decisions.chunks_exact(agents)) {
            let end = start + record.whole().len();
            counts.add(record.whole().len(), decisions);
            let verdict = plan.verdict(decisions);
            if plan.fate(verdict) == Fate::Keep {
                out.kept_records += 1;
            } else {
                out.kept.extend_from_slice(&chunk[run..start]);
                run = end;
                set_aside(record, verdict, terminator, plan, out);
            }
            start = end;
        }
        Ok(())
    })?;
    push_with_end(&chunk[run..start], terminator, &mut out.kept);
    Ok(())
}

/// Writes a record that is not kept to the file for its verdict, if there is one.
#[inline]
fn set_aside(
    record: Record<'_>,
    verdict: Verdict,
    terminator: Terminator,
    plan: &Plan,
    out: &mut Output,
) {
    if plan.fate(verdict) != Fate::Aside {
        return;
    }
    let file = match verdict {
        Verdict::Unknown => &mut out.unknown,
        _ => &mut out.invalid,
    };
    push_with_end(record.whole(), terminator, file);
}

/// Appends whole records, and an end if the last of them lacks one.
fn push_with_end(records: &[u8], terminator: Terminator, out: &mut Vec<u8>) {
    out.extend_from_slice(records);
    if records.last().is_some_and(|&last| last != terminator.byte()) {
        out.push(terminator.byte());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Records;
    use crate::report::testing::{SCHEME, classifier};

    const PLAN: Plan = Plan {
        quantifier: Quantifier::All,
        invert: false,
        unknown: Fate::Drop,
        invalid: Fate::Drop,
    };

    fn filtered_as(input: &[u8], terminator: Terminator, plan: &Plan, agents: usize) -> Output {
        let classifier = classifier(&["a"], &["d"], agents);
        let mut out = Output::default();
        write_chunk(
            input,
            Records::new(input, terminator),
            terminator,
            plan,
            &mut Session::new(&classifier, SCHEME),
            &mut Counts::new(agents),
            &mut out,
        )
        .unwrap();
        out
    }

    fn filtered(input: &[u8], plan: &Plan) -> Output {
        filtered_as(input, Terminator::LineFeed, plan, 1)
    }

    #[track_caller]
    fn assert_kept(input: &[u8], plan: &Plan, expected: &[u8], records: u64) {
        let out = filtered(input, plan);
        assert_eq!(bstr::BStr::new(&out.kept), bstr::BStr::new(expected));
        assert_eq!(out.kept_records, records);
    }

    #[test]
    fn allowed_records_byte_for_byte() {
        assert_kept(b"", &PLAN, b"", 0);
        assert_kept(
            b"a/1\nd\na/2\r\na/3\nu\nx:\n\na/ \xff\n",
            &PLAN,
            b"a/1\na/2\r\na/3\na/ \xff\n",
            4,
        );
        assert_kept(b"d\nd\n", &PLAN, b"", 0);
    }

    #[test]
    fn a_last_record_gets_an_end() {
        assert_kept(b"a/1\na/2", &PLAN, b"a/1\na/2\n", 2);
        assert_kept(b"a/1\nd", &PLAN, b"a/1\n", 1);
        let out = filtered_as(b"d\0a", Terminator::Nul, &PLAN, 1);
        assert_eq!(out.kept, b"a\0");
    }

    #[test]
    fn inverted_keeps_the_disallowed_only() {
        let plan = Plan { invert: true, ..PLAN };
        assert_kept(b"a\nd\nu\nx:\n\n", &plan, b"d\n", 1);
    }

    #[test]
    fn unknown_and_invalid_obey_their_own_flags() {
        let keep_unknown = Plan { unknown: Fate::Keep, ..PLAN };
        assert_kept(b"a\nd\nu\nx:\n", &keep_unknown, b"a\nu\n", 2);
        let keep_invalid = Plan { invalid: Fate::Keep, invert: true, ..PLAN };
        assert_kept(b"a\nd\nu\nx:\n", &keep_invalid, b"d\nx:\n", 2);
    }

    #[test]
    fn an_empty_record_goes_where_invalid_ones_go() {
        for (invalid, kept, aside) in [
            (Fate::Keep, &b"a\n\n\r\na\n"[..], &b""[..]),
            (Fate::Aside, b"a\na\n", b"\n\r\n"),
            (Fate::Drop, b"a\na\n", b""),
        ] {
            let out = filtered(b"a\n\n\r\na", &Plan { invalid, ..PLAN });
            assert_eq!((&out.kept[..], &out.invalid[..]), (kept, aside));
        }
    }

    #[test]
    fn records_are_set_aside_with_their_ends() {
        let plan = Plan { unknown: Fate::Aside, invalid: Fate::Aside, ..PLAN };
        let out = filtered(b"u/1\r\na\nx:1\nu/2\n\nx:2", &plan);
        assert_eq!(out.kept, b"a\n");
        assert_eq!(out.unknown, b"u/1\r\nu/2\n");
        assert_eq!(out.invalid, b"x:1\n\nx:2\n");
    }

    #[test]
    fn all_or_any_of_several_agents() {
        // The second agent's verdicts are the opposite of the first's.
        assert_eq!(filtered_as(b"a\nd\nu\n", Terminator::LineFeed, &PLAN, 2).kept, b"");
        let any = Plan { quantifier: Quantifier::Any, ..PLAN };
        assert_eq!(filtered_as(b"a\nd\nu\n", Terminator::LineFeed, &any, 2).kept, b"a\nd\n");
    }

    #[test]
    fn unknown_or_invalid_for_one_agent_is_never_allowed() {
        use crate::decision::Reason;

        let allowed = Decision::without_rule(Verdict::Allow, Reason::NoRule);
        for quantifier in [Quantifier::All, Quantifier::Any] {
            let plan = Plan { quantifier, ..PLAN };
            assert_eq!(plan.verdict(&[]), Verdict::Disallow);
            assert_eq!(plan.verdict(&[allowed, Decision::UNKNOWN]), Verdict::Unknown);
            assert_eq!(plan.verdict(&[Decision::UNKNOWN, Decision::INVALID]), Verdict::Invalid);
        }
    }

    #[test]
    fn the_cut_into_chunks_changes_nothing() {
        let input = b"a/1\nd\n\na/2\r\nu\nx:\na/3\na/4\nd\na/5\n";
        let whole = filtered(input, &PLAN).kept;
        let ends = input.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        for (end, _) in ends {
            let (left, right) = input.split_at(end + 1);
            let parts = [filtered(left, &PLAN).kept, filtered(right, &PLAN).kept];
            assert_eq!(parts.concat(), whole);
        }
    }
}
