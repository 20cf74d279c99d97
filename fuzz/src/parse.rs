//! Checks parsing: the lists agree with the lines, and the positions agree with the lists.

use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{BlankLine, Dialect, Field};
use portcullis_robots::syntax::{Content, NoteKind, Record, RobotsTxt, Span, Statement, records};

use crate::head;

/// Checks an input: a dialect, a limit on the file, and the bytes of the file.
///
/// # Panics
///
/// If the parsed file contradicts its text, itself or the lines read one by one.
pub fn parse(data: &[u8]) {
    let Some((dialect, [choice, text @ ..])) = head::dialect(data) else { return };
    let bytes_max = head::bytes_max(*choice, text.len());
    let file = RobotsTxt::parse(text, dialect, bytes_max);
    check_whole(text, dialect, bytes_max);
    check_values(text, &file);
    check_order(&file);
    check_partition(&file);
    check_against_lines(text, dialect, bytes_max, &file);
}

/// Checks that lines, their ends, the byte order mark and ignored bytes cover the whole text
/// without overlap.
fn check_whole(text: &[u8], dialect: &Dialect, bytes_max: Option<usize>) {
    let mut lines = records(text, dialect, bytes_max);
    let (read, mut end) = (lines.text(), lines.position());
    assert!(read.len() <= bytes_max.unwrap_or(usize::MAX));
    assert!(text.starts_with(read) && end <= 3);
    let mut number = 1;
    while let Some(line) = lines.next() {
        assert_eq!(line.number.get(), number);
        let range = line.span.range();
        assert_eq!(range.start, end, "a line starts where the one before it ended");
        if range.start == read.len() {
            assert_eq!((line.content, range.end), (Content::Ignored, text.len()));
            return assert!(lines.next().is_none());
        }
        assert!(!read[range.clone()].iter().any(|byte| b"\r\n".contains(byte)));
        let end_bytes = match &read[range.end..] {
            [b'\r', b'\n', ..] => 2,
            rest => rest.len().min(1),
        };
        end = range.end + end_bytes;
        assert_eq!(lines.position(), end);
        number += 1;
    }
    assert_eq!((end, end), (read.len(), text.len()), "the lines are all that is read");
}

/// Checks that every value is the end of its span, byte for byte and in the same place.
fn check_values(text: &[u8], file: &RobotsTxt<'_>) {
    let is_end_of = |value: &[u8], span: Span| {
        let record = &text[span.range()];
        assert!(record.ends_with(value));
        let place = record[record.len() - value.len()..].as_ptr();
        assert!(value.is_empty() || std::ptr::eq(value.as_ptr(), place));
        assert!(!value.first().is_some_and(|byte| b" \t".contains(byte)));
        assert!(!value.last().is_some_and(|byte| b" \t".contains(byte)));
    };
    file.rules().iter().for_each(|rule| is_end_of(rule.value, rule.span));
    file.user_agents().iter().for_each(|line| is_end_of(line.value, line.span));
    for record in file.other_records() {
        is_end_of(record.value, record.span);
        assert!(text[record.span.range()].starts_with(record.name));
        assert!(!record.name.is_empty());
    }
    file.notes().iter().for_each(|note| assert!(note.span.range().end <= text.len()));
}

/// Checks that lines and positions ascend in every list.
fn check_order(file: &RobotsTxt<'_>) {
    assert!(file.rules().is_sorted_by(|a, b| a.line < b.line && a.span.end <= b.span.start));
    assert!(file.user_agents().is_sorted_by(|a, b| a.line < b.line && a.span.end <= b.span.start));
    assert!(file.other_records().is_sorted_by(|a, b| a.line < b.line));
    assert!(file.rules().iter().all(|rule| rule.verdict <= Verdict::Disallow));
    let of_file = |kind| NoteKind::APPEARANCES.contains(&kind);
    let notes = file.notes();
    let of_lines = notes.iter().filter(|note| !of_file(note.kind));
    assert!(
        of_lines.is_sorted_by(|a, b| (a.line, a.kind != NoteKind::ByteOrderMark) <= (b.line, true))
    );
}

/// Checks that every rule and every user-agent line is in exactly one group, in order.
fn check_partition(file: &RobotsTxt<'_>) {
    let (mut agents, mut rules) = (0, 0);
    for group in file.groups() {
        assert_eq!((group.user_agents.start, group.rules.start), (agents, rules));
        assert!(group.user_agents.end > agents, "a group has a user-agent line");
        assert!(group.rules.end >= rules);
        (agents, rules) = (group.user_agents.end, group.rules.end);
        let last_agent = file.user_agents_of(group).last().map(|line| line.line);
        let first_rule = file.rules_of(group).first().map(|rule| rule.line);
        assert!(first_rule.is_none() || last_agent < first_rule);
    }
    assert_eq!((agents as usize, rules as usize), (file.user_agents().len(), file.rules().len()));
}

/// Checks that reading line by line gives the same records, and that only noted lines are left out.
fn check_against_lines(
    text: &[u8],
    dialect: &Dialect,
    bytes_max: Option<usize>,
    file: &RobotsTxt<'_>,
) {
    let mut agents = file.user_agents().iter();
    let mut rules = file.rules().iter();
    let mut usages = file.usage_records().iter();
    let mut others = file.other_records().iter();
    let outside: Vec<u32> = file
        .notes()
        .iter()
        .filter(|note| note.kind == NoteKind::RuleOutsideGroup)
        .map(|note| note.line.get())
        .collect();
    let (mut open, mut notes) = (false, 0);
    for line in records(text, dialect, bytes_max) {
        notes += line.notes.iter().count();
        match line.content {
            Content::Blank => open &= dialect.groups.blank_line == BlankLine::NoMeaning,
            Content::Comment | Content::Ignored => {}
            Content::Record(record) => {
                let is = |name: Option<&[u8]>, value: &[u8], span: Span, number| {
                    let named = name.is_none_or(|name| name == record.name);
                    named && (value, span, number) == (record.value, record.span, line.number)
                };
                match kind(&record) {
                    Kind::Agent => {
                        open = true;
                        let agent = agents.next().expect("a user-agent line is kept");
                        assert!(is(None, agent.value, agent.span, agent.line));
                    }
                    Kind::Rule(_) if !open => assert!(outside.contains(&line.number.get())),
                    Kind::Rule(verdict) => {
                        let rule = rules.next().expect("a rule in a group is kept");
                        assert!(is(None, rule.value, rule.span, rule.line));
                        assert_eq!(rule.verdict, verdict);
                    }
                    Kind::Usage(field) => {
                        let usage = usages.next().expect("a usage record is kept");
                        assert!(is(None, usage.value, usage.span, usage.line));
                        assert_eq!(usage.field, field);
                        let before = file.user_agents().len() - agents.len();
                        assert_eq!(usage.user_agent, open.then(|| before as u32 - 1));
                        if let Some(statement) = Statement::of(usage) {
                            assert!(usage.value.ends_with(statement.text));
                        }
                    }
                    Kind::Other => {
                        let other = others.next().expect("any other record is kept");
                        assert!(is(Some(other.name), other.value, other.span, other.line));
                    }
                }
            }
        }
    }
    assert!(agents.next().is_none() && rules.next().is_none() && others.next().is_none());
    assert!(usages.next().is_none());
    assert!(notes <= file.notes().len(), "no note is lost");
}

enum Kind {
    Agent,
    Rule(Verdict),
    Usage(Field),
    Other,
}

fn kind(record: &Record<'_>) -> Kind {
    match record.field {
        Some(Field::UserAgent) => Kind::Agent,
        Some(Field::Allow) => Kind::Rule(Verdict::Allow),
        Some(Field::Disallow) => Kind::Rule(Verdict::Disallow),
        Some(field @ (Field::ContentUsage | Field::ContentSignal | Field::License)) => {
            Kind::Usage(field)
        }
        _ => Kind::Other,
    }
}
