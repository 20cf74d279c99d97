//! Builds groups from records.

use super::lines::Records;
use super::note::{appearance, begins_as_html};
use super::record::{Content, EachLine, Line, Record};
use super::{
    Note, NoteKind, NoteSet, OtherRecord, RobotsTxt, Rule, Span, Statement, UsageRecord,
    UserAgentLine, records,
};
use portcullis_dialect::{BlankLine, Dialect, Field, LineNumber, UnrootedPattern, Verdict};
use portcullis_engine::vectors::{Kind, Vectors, Work};

/// The parser's position relative to groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside every group: before the first user-agent line, or after a blank line that ends a
    /// record.
    Outside,
    /// In the user-agent lines that open a group.
    UserAgents,
    /// In the last group, after its first rule.
    Rules,
}

/// Builds the lists of a file line by line.
struct Parser<'t> {
    blank_line: BlankLine,
    unrooted: UnrootedPattern,
    state: State,
    file: RobotsTxt<'t>,
}

impl<'t> RobotsTxt<'t> {
    /// Parses the first `bytes_max` bytes of `text` by `dialect`, or all of it if that is `None`.
    ///
    /// A line that the limit cuts is left out, with a note. Text past [`Span::POSITION_MAX`] bytes
    /// is never read.
    pub fn parse(text: &'t [u8], dialect: &Dialect, bytes_max: Option<usize>) -> RobotsTxt<'t> {
        // One list for most files.
        let rules = (text.len() / 24).min(1024);
        let rules = Vec::with_capacity(rules);
        let (groups, user_agents) = (Vec::with_capacity(4), Vec::with_capacity(4));
        let mut parser = Parser {
            blank_line: dialect.groups.blank_line,
            unrooted: dialect.paths.unrooted,
            state: State::Outside,
            file: RobotsTxt { rules, groups, user_agents, ..RobotsTxt::default() },
        };
        let mut lines = records(text, dialect, bytes_max);
        if lines.position() > 0 {
            let mark = Span::new(0, lines.position());
            parser.note(NoteKind::ByteOrderMark, LineNumber::FIRST, mark);
        }
        Vectors::detect().run(LineWork { lines: &mut lines, parser: &mut parser });
        parser.file.end_group();
        // A page or binary data may be a single line, of which a size limit leaves nothing.
        let within = &text[..text.len().min(bytes_max.unwrap_or(usize::MAX))];
        let kind = match (parser.file.rules.is_empty(), parser.file.usage_records.is_empty()) {
            (true, true) => appearance(within),
            (false, _) if begins_as_html(within) => Some(NoteKind::LooksLikeHtml),
            _ => None,
        };
        if let Some(kind) = kind {
            parser.note(kind, LineNumber::FIRST, Span::new(0, within.len()));
        }
        parser.file
    }
}

/// Reads all lines.
struct LineWork<'r, 't> {
    lines: &'r mut Records<'t>,
    parser: &'r mut Parser<'t>,
}

impl Work for LineWork<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with(self, _: impl Kind) {
        while self.lines.read_lines(self.parser) {}
    }
}

impl<'t> EachLine<'t> for Parser<'t> {
    #[inline(always)]
    fn line(&mut self, line: Line<'t>) {
        match line.content {
            Content::Record(record) => self.record(line.number, line.span, line.notes, record),
            Content::Blank if self.blank_line == BlankLine::EndsRecord => {
                self.state = State::Outside;
                self.notes(line.number, line.span, line.notes);
            }
            _ => self.notes(line.number, line.span, line.notes),
        }
    }

    #[inline(always)]
    fn record(&mut self, line: LineNumber, whole: Span, notes: NoteSet, record: Record<'t>) {
        self.notes(line, whole, notes);
        let Record { field, name, value, span } = record;
        match field {
            Some(Field::Disallow) => self.rule(Verdict::Disallow, value, line, span, whole),
            Some(Field::Allow) => self.rule(Verdict::Allow, value, line, span, whole),
            _ => self.other(line, field, name, value, span),
        }
    }
}

impl<'t> Parser<'t> {
    /// Takes a record that is not a rule.
    #[inline(never)]
    fn other(
        &mut self,
        line: LineNumber,
        field: Option<Field>,
        name: &'t [u8],
        value: &'t [u8],
        span: Span,
    ) {
        match field {
            Some(Field::UserAgent) => {
                let starts_group = self.state != State::UserAgents;
                self.file.push_user_agent(UserAgentLine { value, line, span }, starts_group);
                self.state = State::UserAgents;
            }
            Some(field @ (Field::ContentUsage | Field::ContentSignal | Field::License)) => {
                self.usage(field, value, line, span);
            }
            // Sitemap, and fields without a meaning for access and usage.
            _ => {
                self.file.other_records.push(OtherRecord { field, name, value, line, span });
            }
        }
    }

    #[inline(always)]
    fn rule(
        &mut self,
        verdict: Verdict,
        value: &'t [u8],
        line: LineNumber,
        span: Span,
        whole: Span,
    ) {
        if self.state == State::Outside {
            return self.note(NoteKind::RuleOutsideGroup, line, whole);
        }
        self.file.rules.push(Rule { verdict, value, line, span });
        self.state = State::Rules;
        if self.never_matches(value) {
            self.note(NoteKind::PatternNeverMatches, line, span);
        }
    }

    #[cold]
    fn usage(&mut self, field: Field, value: &'t [u8], line: LineNumber, span: Span) {
        let is_open = self.state != State::Outside;
        let user_agent = is_open.then(|| (self.file.user_agents.len() as u32).wrapping_sub(1));
        let usage = UsageRecord { field, value, line, span, user_agent };
        self.file.usage_records.push(usage);
        let is_outside = field == Field::ContentUsage && !is_open;
        if is_outside || Statement::of(&usage).is_some_and(|it| !(it.is_readable && it.is_whole)) {
            self.note(NoteKind::UsageIgnored, line, span);
        }
    }

    /// Returns whether a pattern is invalid for lack of a root. Empty patterns are valid.
    #[inline]
    fn never_matches(&self, pattern: &[u8]) -> bool {
        self.unrooted == UnrootedPattern::NeverMatches
            && !matches!(pattern.first(), None | Some(b'/' | b'*'))
    }

    #[inline(always)]
    fn notes(&mut self, line: LineNumber, span: Span, notes: NoteSet) {
        if !notes.is_empty() {
            notes.iter().for_each(|kind| self.note(kind, line, span));
        }
    }

    #[cold]
    fn note(&mut self, kind: NoteKind, line: LineNumber, span: Span) {
        self.file.notes.push(Note { kind, line, span });
    }
}
