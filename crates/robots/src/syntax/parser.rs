//! Builds groups from records.

use super::note::appearance;
use super::record::{Content, Line, Record};
use super::{
    Group, Note, NoteKind, OtherRecord, RobotsTxt, Rule, Span, Statement, UsageRecord,
    UserAgentLine, records,
};
use portcullis_dialect::{BlankLine, Dialect, Field, LineNumber, UnrootedPattern, Verdict};

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

/// Parses the first `bytes_max` bytes of `text` by `dialect`.
pub(super) fn parse<'t>(
    text: &'t [u8],
    dialect: &Dialect,
    bytes_max: Option<usize>,
) -> RobotsTxt<'t> {
    let mut parser = Parser {
        blank_line: dialect.groups.blank_line,
        unrooted: dialect.paths.unrooted,
        state: State::Outside,
        file: RobotsTxt::default(),
    };
    let lines = records(text, dialect, bytes_max);
    if let Some(span) = lines.byte_order_mark() {
        parser.note(NoteKind::ByteOrderMark, LineNumber::FIRST, span);
    }
    for line in lines {
        parser.line(&line);
    }
    // A page or binary data may be a single line, of which a size limit leaves nothing.
    let within = &text[..text.len().min(bytes_max.unwrap_or(usize::MAX))];
    if parser.file.rules.is_empty()
        && let Some(kind) = appearance(within)
    {
        parser.note(kind, LineNumber::FIRST, Span::new(0, within.len()));
    }
    parser.file
}

impl<'t> Parser<'t> {
    #[inline]
    fn line(&mut self, line: &Line<'t>) {
        if !line.notes.is_empty() {
            for kind in line.notes.kinds() {
                self.note(kind, line.number, line.span);
            }
        }
        match line.content {
            Content::Record(ref record) => self.record(record, line),
            Content::Blank if self.blank_line == BlankLine::EndsRecord => {
                self.state = State::Outside;
            }
            Content::Blank | Content::Comment | Content::Ignored => {}
        }
    }

    #[inline]
    fn record(&mut self, record: &Record<'t>, line: &Line<'t>) {
        match record.field {
            Some(Field::UserAgent) => self.user_agent(record, line.number),
            Some(Field::Allow) => self.rule(Verdict::Allow, record, line),
            Some(Field::Disallow) => self.rule(Verdict::Disallow, record, line),
            Some(field @ (Field::ContentUsage | Field::ContentSignal | Field::License)) => {
                self.usage(field, record, line);
            }
            Some(Field::Sitemap) | None => self.file.other_records.push(OtherRecord {
                field: record.field,
                name: record.name,
                value: record.value,
                line: line.number,
                span: record.span,
            }),
        }
    }

    fn user_agent(&mut self, record: &Record<'t>, line: LineNumber) {
        let position = count(self.file.user_agents.len());
        self.file.user_agents.push(UserAgentLine { value: record.value, line, span: record.span });
        if self.state == State::UserAgents
            && let Some(group) = self.file.groups.last_mut()
        {
            group.user_agents.end = position + 1;
            return;
        }
        let rules = count(self.file.rules.len());
        self.file.groups.push(Group { user_agents: position..position + 1, rules: rules..rules });
        self.state = State::UserAgents;
    }

    #[inline]
    fn rule(&mut self, verdict: Verdict, record: &Record<'t>, line: &Line<'t>) {
        let open = self.state != State::Outside;
        let Some(group) = self.file.groups.last_mut().filter(|_| open) else {
            self.note(NoteKind::RuleOutsideGroup, line.number, line.span);
            return;
        };
        self.file.rules.push(Rule {
            verdict,
            value: record.value,
            line: line.number,
            span: record.span,
        });
        group.rules.end = count(self.file.rules.len());
        self.state = State::Rules;
        if self.never_matches(record.value) {
            self.note(NoteKind::PatternNeverMatches, line.number, record.span);
        }
    }

    #[cold]
    fn usage(&mut self, field: Field, record: &Record<'t>, line: &Line<'t>) {
        let is_open = self.state != State::Outside;
        let user_agent = is_open.then(|| count(self.file.user_agents.len()).wrapping_sub(1));
        let Record { value, span, .. } = *record;
        let usage = UsageRecord { field, value, line: line.number, span, user_agent };
        self.file.usage_records.push(usage);
        let is_outside = field == Field::ContentUsage && !is_open;
        if is_outside || Statement::of(&usage).is_some_and(|it| !it.is_readable) {
            self.note(NoteKind::UsageIgnored, line.number, record.span);
        }
    }

    /// Returns whether a pattern is invalid for lack of a root. Empty patterns are valid.
    #[inline]
    fn never_matches(&self, pattern: &[u8]) -> bool {
        self.unrooted == UnrootedPattern::NeverMatches
            && !matches!(pattern.first(), None | Some(b'/' | b'*'))
    }

    #[cold]
    fn note(&mut self, kind: NoteKind, line: LineNumber, span: Span) {
        self.file.notes.push(Note { kind, line, span });
    }
}

/// Converts the length of a list to a position. A list has no more items than the file has lines,
/// and the lexer reads fewer than 2^32 bytes.
#[inline]
fn count(items: usize) -> u32 {
    items as u32
}
