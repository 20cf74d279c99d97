//! The edits that findings advise, and what they mean for the edits of [`fix`](crate::fix).
//!
//! An edit that changes no verdict today may change some once the owner of the file follows the advice of
//! another finding. Below a misspelt user-agent line, the rule of a crawler is only a duplicate of one for
//! `*`: without it, the corrected line opens the site.

use std::collections::BTreeMap;

use super::{Code, Edit};
use crate::diagnostic::overlaps;
use portcullis_dialect::LineNumber;
use portcullis_robots::syntax::RobotsTxt;

/// The edits that a finding advises, or that the owner of the file may make because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The code of the finding.
    pub code: Code,
    /// The line of the finding.
    pub line: LineNumber,
    /// The edits, at least one, in file order.
    pub edits: Vec<Edit>,
}

impl Advice {
    /// Returns the first byte that is edited.
    pub(super) fn start(&self) -> u32 {
        self.edits[0].span.start
    }

    /// Returns whether the edits make a user-agent line of a line that is none in every dialect.
    fn names_crawlers(&self) -> bool {
        let is_of_line = matches!(
            self.code,
            Code::MissingColon
                | Code::NoRecord
                | Code::MissingField
                | Code::MisspeltField
                | Code::UnknownField
        );
        const FIELD: &[u8] = b"user-agent";
        let new = self.edits[0].replacement.get(..FIELD.len());
        is_of_line && new.is_some_and(|new| new.eq_ignore_ascii_case(FIELD))
    }

    /// Returns why no edit is applied after this line.
    fn reason(&self) -> String {
        let is_sure = matches!(self.code, Code::MissingColon | Code::MisspeltField);
        let verb = if is_sure { "is" } else { "may be" };
        let Advice { code, line, .. } = self;
        format!("line {line} {verb} a misspelt User-agent line ({code}); correct it first")
    }
}

/// A group with a line that is probably meant as a user-agent line. No edit is applied there: the group may
/// be several, with other rules for each crawler.
pub(super) struct Doubt<'r> {
    advice: &'r Advice,
    /// The first byte of the last user-agent line before, and that of the next one.
    start: u32,
    end: u32,
}

impl<'r> Doubt<'r> {
    /// Returns the doubts about a file, as dialects read it, in file order.
    pub(super) fn of(advice: &'r [Advice], files: &[RobotsTxt<'_>]) -> Vec<Doubt<'r>> {
        let is_read = |advice: &Advice| {
            let has_it = |file: &RobotsTxt<'_>| {
                file.user_agents().binary_search_by_key(&advice.line, |it| it.line).is_ok()
            };
            files.iter().all(has_it)
        };
        let agents = files.first().map_or(&[][..], RobotsTxt::user_agents);
        let doubt = |advice: &'r Advice| {
            let next = agents.partition_point(|it| it.line <= advice.line);
            let before = agents[..next].iter().rfind(|it| it.line < advice.line);
            let (start, end) = (before.map(|it| it.span.start), agents.get(next));
            let end = end.map_or(u32::MAX, |next| next.span.start);
            Doubt { advice, start: start.unwrap_or(0), end }
        };
        advice.iter().filter(|it| it.names_crawlers() && !is_read(it)).map(doubt).collect()
    }

    /// Returns why `edits` are not applied; `None` if none is in doubtful lines.
    pub(super) fn about(doubts: &[Doubt<'_>], edits: &[Edit]) -> Option<String> {
        edits.iter().find_map(|edit| {
            let at = edit.span.start;
            let first = doubts.partition_point(|it| it.end <= at);
            let last = doubts.partition_point(|it| it.start <= at);
            let around = doubts.get(first..last)?;
            let above = around.partition_point(|it| it.advice.start() <= at);
            around.get(above.saturating_sub(1)).map(|it| it.advice.reason())
        })
    }
}

/// Returns `edits` and all advised ones that overlap neither them nor each other.
pub(super) fn with_advised<'e>(
    edits: impl Iterator<Item = &'e Edit>,
    advice: &'e [Advice],
) -> Vec<&'e Edit> {
    let mut all: Vec<&Edit> = edits.collect();
    let spans = all.iter().map(|edit| (edit.span.start, (edit.span.end, ())));
    let mut taken: BTreeMap<u32, (u32, ())> = spans.collect();
    for Advice { edits, .. } in advice {
        if !edits.iter().any(|edit| overlaps(&taken, edit)) {
            taken.extend(edits.iter().map(|edit| (edit.span.start, (edit.span.end, ()))));
            all.extend(edits);
        }
    }
    all
}
