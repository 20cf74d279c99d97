//! Collects the findings of the checks, and adds places, effects and edits.

use std::collections::BTreeMap;

use super::diagnostic::{Diagnostic, Edit, Fix, Related, Safety};
use super::examination::{Examination, Reading};
use super::{Code, LintConfig, Report};
use crate::limits::{LINT_EDITS_PER_FINDING_MAX, LINT_FINDINGS_PER_CODE_MAX};
use portcullis_dialect::id::LineNumber;
use portcullis_robots::syntax::Span;

/// The findings in one file.
pub(super) struct Findings<'e, 't> {
    pub(super) examination: &'e Examination<'t>,
    /// The reading of the chosen dialect.
    pub(super) chosen: &'e Reading<'t>,
    keeps_fixes: bool,
    report: Report,
    /// The number of findings of each code.
    counts: BTreeMap<Code, usize>,
    /// Whether the last diagnostic is beyond the maximum, and kept only if it has a fix.
    is_last_past_max: bool,
}

impl<'e, 't> Findings<'e, 't> {
    pub(super) fn new(examination: &'e Examination<'t>, config: &LintConfig) -> Findings<'e, 't> {
        Findings {
            examination,
            chosen: examination.chosen(),
            keeps_fixes: config.keeps_fixes,
            report: Report::default(),
            counts: BTreeMap::new(),
            is_last_past_max: false,
        }
    }

    /// Reports a code at `span`, with the readings of that line as effects.
    pub(super) fn report(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> Finding<'_, 'e, 't> {
        self.settle_last();
        let count = self.counts.entry(code).or_default();
        *count += 1;
        self.is_last_past_max = *count > LINT_FINDINGS_PER_CODE_MAX;
        let examination = self.examination;
        let place = examination.index.place(span);
        let effects = match self.is_last_past_max {
            true => Vec::new(),
            false => examination.effects(|reading| reading.words(index(place.line))),
        };
        let message = message.into();
        let (related, fix) = (Vec::new(), None);
        let diagnostics = &mut self.report.diagnostics;
        diagnostics.push(Diagnostic { code, message, effects, place, related, fix });
        let diagnostic = diagnostics.last_mut().expect("it has just been pushed");
        Finding { examination, diagnostic, is_past_max: self.is_last_past_max }
    }

    /// Drops the last finding if it is beyond the maximum and has no fix.
    fn settle_last(&mut self) {
        let diagnostics = &mut self.report.diagnostics;
        let Some(last) = diagnostics.last().filter(|_| self.is_last_past_max) else { return };
        let is_fixed = |fix: &Fix| fix.safety == Safety::ToBeProved;
        if !(self.keeps_fixes && last.fix.as_ref().is_some_and(is_fixed)) {
            *self.report.omitted.entry(last.code).or_default() += 1;
            diagnostics.pop();
        }
        self.is_last_past_max = false;
    }

    /// Reports that a limit ended a check.
    pub(super) fn unknown(&mut self, words: String) {
        let unknown = &mut self.report.unknown;
        if unknown.len() < LINT_FINDINGS_PER_CODE_MAX && !unknown.contains(&words) {
            unknown.push(words);
        }
    }

    /// Returns the report, in file order.
    pub(super) fn finish(mut self) -> Report {
        self.settle_last();
        let key = |d: &Diagnostic| (d.place.line, d.place.span.start, d.code);
        self.report.diagnostics.sort_by_key(key);
        self.report
    }
}

/// The diagnostic that was reported last, to add details to.
pub(super) struct Finding<'f, 'e, 't> {
    examination: &'e Examination<'t>,
    diagnostic: &'f mut Diagnostic,
    is_past_max: bool,
}

impl<'e, 't> Finding<'_, 'e, 't> {
    /// Adds a related place.
    pub(super) fn related(self, span: Span, message: impl Into<String>) -> Self {
        if self.is_past_max {
            return self;
        }
        let place = self.examination.index.place(span);
        self.diagnostic.related.push(Related { place, message: message.into() });
        self.diagnostic.related.sort_by_key(|related| related.place.span.start);
        self
    }

    /// Replaces the effects by those that `describe` computes.
    pub(super) fn effects(self, describe: impl Fn(&Reading<'t>) -> String) -> Self {
        if !self.is_past_max {
            self.diagnostic.effects = self.examination.effects(describe);
        }
        self
    }

    /// Adds an edit that changes verdicts to what was probably meant.
    pub(super) fn suggest(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.propose(title, Safety::Suggestion, edits)
    }

    /// Adds an edit that should change no verdict.
    pub(super) fn fix(self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.propose(title, Safety::ToBeProved, edits)
    }

    /// Adds an edit that should change no verdict: it removes the record on `line`, and the whole line
    /// unless it has a comment.
    pub(super) fn remove(self, title: &str, line: LineNumber) -> Self {
        let index = index(line);
        let span = self.examination.chosen().lines[index].span;
        let edit = match memchr::memchr(b'#', self.examination.bytes(span)) {
            Some(comment) => replace(Span { end: span.start + comment as u32, ..span }, []),
            None => remove_line(self.examination, index),
        };
        self.fix(title, vec![edit])
    }

    fn propose(self, title: impl Into<String>, safety: Safety, edits: Vec<Edit>) -> Self {
        if edits.len() <= LINT_EDITS_PER_FINDING_MAX {
            self.diagnostic.fix = Some(Fix { title: title.into(), safety, edits });
        }
        self
    }
}

/// Returns the position of a line among the lines of a reading.
pub(super) fn index(line: LineNumber) -> usize {
    line.get() as usize - 1
}

/// Returns the span of a record's value, or of the record if it has none.
pub(super) fn value_span(record: Span, value: &[u8]) -> Span {
    match value.len() as u32 {
        0 => record,
        bytes => Span { start: record.end - bytes, ..record },
    }
}

/// Replaces `span`.
pub(super) fn replace(span: Span, replacement: impl Into<Vec<u8>>) -> Edit {
    Edit { span, replacement: replacement.into() }
}

/// Inserts `text` at `position`.
pub(super) fn insert(position: u32, text: impl Into<Vec<u8>>) -> Edit {
    replace(Span { start: position, end: position }, text)
}

/// Removes the line at `index` with its end.
pub(super) fn remove_line(examination: &Examination<'_>, index: usize) -> Edit {
    let lines = &examination.chosen().lines;
    let line = lines[index].span;
    let end = match lines.get(index + 1) {
        Some(next) => next.span.start,
        None => examination.text.len().min(u32::MAX as usize) as u32,
    };
    replace(Span { end, ..line }, [])
}
