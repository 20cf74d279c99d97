//! Diagnostics for people: the line with its problem underlined.
//!
//! annotate-snippets does layout and colours, and cuts long lines. Hidden characters except TAB are
//! escaped first.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Patch, Renderer, Snippet,
};
use portcullis_lint::{Diagnostic, Edit, Place, Safety, Severity};
use portcullis_report::page::alike;
use portcullis_robots::syntax::Span;
use portcullis_text::visible::{is_hidden, visible};

use super::codes::remedy;
use super::format::{Linted, Omitted, ReportFormat};

/// The width of a line in columns. It does not depend on the terminal, so that output is
/// reproducible.
const WIDTH: usize = 120;

/// The most bytes of a line to lay out after its problem. More would be cut anyway, and cutting
/// takes time.
const BYTES_AFTER_MAX: usize = 1024;

/// The most bytes of a line before its problem. For a problem further right, only its place is
/// shown.
const BYTES_BEFORE_MAX: usize = 32 * 1024;

/// The most bytes of a problem to lay out.
const BYTES_MARKED_MAX: usize = 32 * 1024;

/// The format for people.
pub(super) struct Human {
    renderer: Renderer,
}

impl Human {
    pub(super) fn new(is_colored: bool) -> Human {
        let renderer = if is_colored { Renderer::styled() } else { Renderer::plain() };
        Human { renderer: renderer.term_width(WIDTH).decor_style(DecorStyle::Ascii) }
    }

    fn diagnostic(&self, linted: &Linted<'_>, diagnostic: &Diagnostic) -> String {
        let code = diagnostic.code.to_string();
        let name = visible(linted.name).to_string();
        let effects = effects(diagnostic);
        let shown = Shown::new(linted, &diagnostic.place);
        let related: Vec<(Shown, &str)> = diagnostic
            .related
            .iter()
            .map(|related| (Shown::new(linted, &related.place), related.message.as_str()))
            .collect();
        let mut group = level(diagnostic.code.severity())
            .primary_title(diagnostic.message.as_str())
            .id(code.as_str())
            .element(shown.element(&name, AnnotationKind::Primary, None));
        for (shown, message) in &related {
            let element = shown.element(&name, AnnotationKind::Context, Some(message));
            group = group.element(element);
        }
        for effect in &effects {
            group = group.element(Level::NOTE.message(effect.as_str()));
        }
        let help = help(diagnostic);
        let patch = patch(diagnostic);
        let help = Level::HELP.secondary_title(help.as_str());
        let help = match patch.filter(|_| shown.is_whole) {
            Some(patches) => {
                let patches = patches.into_iter();
                let patches = patches.map(|(edit, text)| Patch::new(shown.range(edit.span), text));
                help.element(
                    Snippet::source(shown.text.as_str()).line_start(shown.line).patches(patches),
                )
            }
            None => Group::with_title(help),
        };
        let mut text = self.renderer.render(&[group, help]);
        text.push_str("\n\n");
        text
    }
}

impl ReportFormat for Human {
    fn entries(&self, linted: &Linted<'_>) -> String {
        let diagnostics = linted.report.diagnostics.iter();
        diagnostics.map(|diagnostic| self.diagnostic(linted, diagnostic)).collect()
    }

    fn end(&self, omitted: &[Omitted]) -> String {
        let line =
            |omitted: &Omitted| format!("{}: {}\n", visible(&omitted.file), omitted.sentence());
        omitted.iter().map(line).collect()
    }
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    }
}

/// Returns how the dialects read the line. Dialects that agree share a line.
fn effects(diagnostic: &Diagnostic) -> Vec<String> {
    let effects = &diagnostic.effects;
    let lines = alike(effects.iter().map(|effect| &effect.text));
    let names =
        |of: &[usize]| of.iter().map(|&it| effects[it].dialect.name).collect::<Vec<_>>().join(", ");
    match &lines[..] {
        [(text, _)] => vec![format!("all dialects: {text}")],
        lines => lines.iter().map(|(text, of)| format!("{}: {text}", names(of))).collect(),
    }
}

fn help(diagnostic: &Diagnostic) -> String {
    match &diagnostic.fix {
        None => remedy(diagnostic.code).to_owned(),
        Some(fix) if fix.safety == Safety::Suggestion => format!("{}?", fix.title),
        Some(fix) => fix.title.clone(),
    }
}

/// Returns the edits, or `None` if one is outside the diagnostic's line.
fn patch(diagnostic: &Diagnostic) -> Option<Vec<(&Edit, &str)>> {
    let edits = &diagnostic.fix.as_ref()?.edits;
    let line = diagnostic.place.line_span;
    let is_inside = |edit: &Edit| {
        edit.span.start >= line.start && edit.span.end <= line.end && edit.span != line
    };
    let shown = edits.iter().filter(|edit| is_inside(edit)).map(|edit| {
        let text = std::str::from_utf8(&edit.replacement).ok()?;
        (!text.contains(is_hidden)).then_some((edit, text))
    });
    let shown: Vec<_> = shown.collect::<Option<_>>()?;
    (shown.len() == edits.len() && !shown.is_empty()).then_some(shown)
}

/// A line as displayed, with the place of each byte.
struct Shown {
    text: String,
    /// The number of the line.
    line: usize,
    start: u32,
    /// The place in the text of each byte of the line, and one more for the end.
    places: Vec<usize>,
    span: Span,
    /// Whether this is the whole line.
    is_whole: bool,
}

impl Shown {
    fn new(linted: &Linted<'_>, place: &Place) -> Shown {
        let line = place.line_span;
        let before = (place.span.start.min(line.end) - line.start) as usize;
        let bytes = &linted.text[line.range()];
        let fault_end = (place.span.end.min(line.end) - line.start) as usize;
        let wanted = match before > BYTES_BEFORE_MAX {
            true => 0,
            false => {
                let marked_end = fault_end.clamp(before, before + BYTES_MARKED_MAX);
                bytes.len().min(marked_end + BYTES_AFTER_MAX)
            }
        };
        let mut text = String::new();
        let mut places = Vec::with_capacity(wanted + 1);
        for (start, end, character) in bstr::ByteSlice::char_indices(&bytes[..wanted]) {
            places.extend(std::iter::repeat_n(text.len(), end - start));
            match is_hidden(character) && character != '\t' {
                true => text.extend(character.escape_default()),
                false => text.push(character),
            }
        }
        places.push(text.len());
        let is_whole = wanted == bytes.len();
        let (span, start, line) = (place.span, line.start, place.line.get() as usize);
        Shown { text, line, start, places, span, is_whole }
    }

    /// Returns the range in the text for a span of the file.
    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let last = self.places.len() - 1;
        let place = |byte: u32| self.places[(byte.saturating_sub(self.start) as usize).min(last)];
        place(span.start)..place(span.end)
    }

    fn element<'s>(
        &'s self,
        file: &'s str,
        kind: AnnotationKind,
        label: Option<&'s str>,
    ) -> Element<'s> {
        let annotation = kind.span(self.range(self.span));
        let snippet: Snippet<'s, Annotation<'s>> =
            Snippet::source(self.text.as_str()).line_start(self.line).path(file);
        snippet.annotation(annotation.label(label)).into()
    }
}
