//! Collects the findings of the checks, and adds places, effects and edits.

use std::collections::BTreeMap;

use super::diagnostic::{Diagnostic, Edit, Effect, Fix, Related, Safety};
use super::examination::{Examination, Reading};
use super::{Advice, Code, LintConfig, Report};
use crate::limits::{LINT_EDITS_PER_FINDING_MAX, LINT_FINDINGS_PER_CODE_MAX};
use portcullis_dialect::id::LineNumber;
use portcullis_robots::syntax::Span;

/// The findings in one file.
pub(super) struct Findings<'e, 't> {
    pub(super) examination: &'e Examination<'t>,
    /// The reading of the chosen dialect.
    pub(super) chosen: &'e Reading<'t>,
    pub(super) config: &'e LintConfig,
    report: Report,
    /// The number of findings of each code.
    counts: BTreeMap<Code, usize>,
    /// Whether the last diagnostic is beyond the maximum, and kept only if it has a fix.
    is_last_past_max: bool,
    /// The readings of the line that was reported last. A line may have a finding for each of its parts.
    line_effects: Option<(LineNumber, Vec<Effect>)>,
}

impl<'e, 't> Findings<'e, 't> {
    pub(super) fn new(
        examination: &'e Examination<'t>,
        config: &'e LintConfig,
    ) -> Findings<'e, 't> {
        Findings {
            examination,
            chosen: examination.chosen(),
            config,
            report: Report::default(),
            counts: BTreeMap::new(),
            is_last_past_max: false,
            line_effects: None,
        }
    }

    /// Reports a code at `span`, with the readings of that line as effects. Details are added to the
    /// diagnostic that was reported last.
    pub(super) fn report(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Self {
        self.settle_last();
        let count = self.counts.entry(code).or_default();
        *count += 1;
        self.is_last_past_max = *count > LINT_FINDINGS_PER_CODE_MAX;
        let place = self.examination.index.place(span);
        if code.is_unclear() {
            let first = self.report.unclear.get_or_insert((place.line, code));
            *first = (*first).min((place.line, code));
        }
        let (effects, related, fix) = (Vec::new(), Vec::new(), None);
        let message = message.into();
        self.report.diagnostics.push(Diagnostic { code, message, effects, place, related, fix });
        if !self.is_last_past_max {
            let effects = self.effects_of_line(place.line);
            self.set_effects(effects);
        }
        self
    }

    /// Returns how each dialect reads a line.
    fn effects_of_line(&mut self, line: LineNumber) -> Vec<Effect> {
        if let Some((known, effects)) = &self.line_effects
            && *known == line
        {
            return effects.clone();
        }
        let effects = self.examination.effects(|reading| reading.words(index(line)));
        self.line_effects = Some((line, effects.clone()));
        effects
    }

    /// Returns the last diagnostic, unless it is beyond the maximum.
    fn last_shown(&mut self) -> Option<&mut Diagnostic> {
        self.report.diagnostics.last_mut().filter(|_| !self.is_last_past_max)
    }

    /// Adds a related place.
    pub(super) fn related(&mut self, span: Span, message: impl Into<String>) -> &mut Self {
        let index = &self.examination.index;
        if let Some(last) = self.last_shown() {
            let place = index.place(span);
            last.related.push(Related { place, message: message.into() });
            last.related.sort_by_key(|related| related.place.span.start);
        }
        self
    }

    /// Replaces the effects by those that `describe` computes.
    pub(super) fn effects(&mut self, describe: impl Fn(&Reading<'t>) -> String) -> &mut Self {
        if !self.is_last_past_max {
            let effects = self.examination.effects(describe);
            self.set_effects(effects);
        }
        self
    }

    fn set_effects(&mut self, effects: Vec<Effect>) {
        if let Some(last) = self.last_shown() {
            last.effects = effects;
        }
    }

    /// Adds an edit that changes verdicts to what was probably meant.
    pub(super) fn suggest(&mut self, title: impl Into<String>, edits: Vec<Edit>) {
        self.advise(edits.clone());
        self.propose(title.into(), Safety::Suggestion, edits);
    }

    /// Adds edits that the owner of the file may make because of the finding.
    pub(super) fn advise(&mut self, edits: Vec<Edit>) {
        let is_kept = self.config.keeps_fixes || !self.is_last_past_max;
        if let Some(last) = self.report.diagnostics.last()
            && is_kept
            && !edits.is_empty()
        {
            self.report.advice.push(Advice { code: last.code, line: last.place.line, edits });
        }
    }

    /// Adds an edit that should change no verdict.
    pub(super) fn fix(&mut self, title: impl Into<String>, edits: Vec<Edit>) {
        self.propose(title.into(), Safety::ToBeProved, edits);
    }

    /// Adds an edit that should change no verdict: it removes the record on `line`, and the whole line
    /// unless it has a comment.
    pub(super) fn remove(&mut self, title: &str, line: LineNumber) {
        let index = index(line);
        let span = self.chosen.lines[index].span;
        let edit = match memchr::memchr(b'#', self.examination.bytes(span)) {
            Some(comment) => replace(Span { end: span.start + comment as u32, ..span }, []),
            None => remove_line(self.examination, index),
        };
        self.fix(title, vec![edit]);
    }

    fn propose(&mut self, title: String, safety: Safety, edits: Vec<Edit>) {
        if let Some(last) = self.report.diagnostics.last_mut()
            && edits.len() <= LINT_EDITS_PER_FINDING_MAX
        {
            last.fix = Some(Fix { title, safety, edits });
        }
    }

    /// Drops the last finding if it is beyond the maximum and has no fix.
    fn settle_last(&mut self) {
        let diagnostics = &mut self.report.diagnostics;
        let Some(last) = diagnostics.last().filter(|_| self.is_last_past_max) else { return };
        let is_fixed = |fix: &Fix| fix.safety == Safety::ToBeProved;
        if !(self.config.keeps_fixes && last.fix.as_ref().is_some_and(is_fixed)) {
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
        self.report.advice.sort_by_key(|it| (it.start(), it.code));
        self.report
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
