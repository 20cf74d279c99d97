//! Usage preferences, naively: every statement is matched with every path.

use portcullis_dialect::usage::{Label, Preference, SIGNAL_KEYS, Stated, UsageSource};
use portcullis_dialect::{Dialect, Field, LineNumber, PathRules};

use crate::groups::{GroupLine, applying, groups_by};
use crate::lines::{Record, trim};
use crate::pattern;

/// A line of a usage group. Content-Usage ends a run of user-agent lines, and so do access rules,
/// which state no preference.
#[derive(Clone, Copy)]
struct UsageLine<'t> {
    field: Field,
    value: &'t [u8],
    line: LineNumber,
}

impl GroupLine for UsageLine<'_> {
    fn ends_run(&self) -> bool {
        !matches!(self.field, Field::ContentSignal | Field::License)
    }
}

/// The usage lines that hold for an agent, in file order.
pub(super) struct InForce<'t> {
    statements: Vec<Statement>,
    licences: Vec<&'t [u8]>,
}

/// The preferences that a line states for the paths that its pattern matches.
struct Statement {
    /// In normal form; `None` if the line is about every path.
    pattern: Option<Vec<u8>>,
    source: UsageSource,
    line: LineNumber,
    preferences: [Preference; Label::ALL.len()],
}

impl<'t> InForce<'t> {
    /// Returns the lines for the first of `agents` that a group names.
    pub(super) fn new(dialect: &Dialect, records: &[Record<'t>], agents: &[&str]) -> InForce<'t> {
        let lines = lines_in_force(dialect, records, agents);
        let licences = lines.iter().filter(|line| line.field == Field::License);
        InForce {
            statements: lines.iter().filter_map(|line| Statement::of(dialect, line)).collect(),
            licences: licences.map(|line| line.value).collect(),
        }
    }

    /// Returns the statement about each label for `path`.
    pub(super) fn stated(&self, rules: &PathRules, path: &[u8]) -> [Stated; Label::ALL.len()] {
        let matching: Vec<(usize, &Statement)> = self
            .statements
            .iter()
            .filter_map(|statement| Some((statement.bytes_matched(rules, path)?, statement)))
            .collect();
        Label::ALL.map(|label| {
            // Each field by itself, then both together.
            let usage = longest_of(&matching, UsageSource::ContentUsage);
            let signal = longest_of(&matching, UsageSource::ContentSignal);
            let both = || usage.iter().chain(&signal);
            let decides = |wanted: Preference| {
                let stating =
                    both().filter(|statement| statement.preferences[label as usize] == wanted);
                stating.min_by_key(|statement| statement.line)
            };
            // From strict to open.
            let order = match label {
                Label::Use => [Preference::Immediate, Preference::Reference, Preference::Full],
                _ => [Preference::No, Preference::Yes, Preference::Yes],
            };
            match order.into_iter().find_map(decides) {
                None => Stated::UNSTATED,
                Some(statement) => Stated {
                    preference: statement.preferences[label as usize],
                    source: Some(statement.source),
                    line: Some(statement.line),
                },
            }
        })
    }

    /// Returns the values of the licences.
    pub(super) fn licences(&self) -> Vec<Vec<u8>> {
        self.licences.iter().map(|licence| licence.to_vec()).collect()
    }
}

impl Statement {
    /// Returns the statement of a line; `None` if the line is of another kind.
    fn of(dialect: &Dialect, line: &UsageLine<'_>) -> Option<Statement> {
        let (path, text) = path_and_rest(line.value);
        let preferences = match line.field {
            Field::ContentUsage => Label::ALL.map(|label| in_dictionary(text, label)),
            Field::ContentSignal => Label::ALL.map(|label| match label {
                Label::Use => level_in_signal(text),
                _ => in_signal(text, label),
            }),
            _ => return None,
        };
        let pattern = path.map(|path| pattern::normal_form(&dialect.paths, path));
        let source = UsageSource::of(line.field)?;
        Some(Statement { pattern, source, line: line.line, preferences })
    }

    /// Returns the length of the pattern if it matches `path`. A statement without a pattern
    /// matches every path with length 0.
    fn bytes_matched(&self, rules: &PathRules, path: &[u8]) -> Option<usize> {
        match &self.pattern {
            None => Some(0),
            Some(pattern) => pattern::matches(rules, pattern, path).then_some(pattern.len()),
        }
    }
}

/// Returns the statements of a field whose patterns have the most bytes of those that match.
fn longest_of<'s>(matching: &[(usize, &'s Statement)], source: UsageSource) -> Vec<&'s Statement> {
    let of_source = || matching.iter().filter(|(_, statement)| statement.source == source);
    let longest = of_source().map(|(bytes, _)| *bytes).max();
    of_source().filter(|(bytes, _)| Some(*bytes) == longest).map(|(_, it)| *it).collect()
}

/// Returns the usage lines that hold for the agents, in file order.
fn lines_in_force<'t>(
    dialect: &Dialect,
    records: &[Record<'t>],
    agents: &[&str],
) -> Vec<UsageLine<'t>> {
    let (groups, mut outside) = groups_by(&dialect.groups, records, |field, value, line| {
        let counts = match field {
            Field::Sitemap => false,
            Field::License => is_absolute_uri(value),
            _ => true,
        };
        counts.then_some(UsageLine { field, value, line })
    });
    let applying = applying(dialect, &groups, agents);
    let own: Vec<_> = applying.iter().flat_map(|group| &group.rules).copied().collect();
    outside.retain(|line| match line.field {
        Field::ContentSignal | Field::License => own.iter().all(|it| it.field != line.field),
        _ => false,
    });
    let mut lines = [outside, own].concat();
    lines.sort_by_key(|line| line.line);
    lines
}

/// Returns whether some record is about usage, wherever it stands.
pub(super) fn has_records(records: &[Record<'_>]) -> bool {
    records.iter().any(|record| match record {
        Record::Field(field, ..) => {
            matches!(field, Field::ContentUsage | Field::ContentSignal | Field::License)
        }
        Record::Blank | Record::CrawlDelay(_) => false,
    })
}

/// Returns whether a licence is a scheme, a colon, and visible characters.
fn is_absolute_uri(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let letter = |c: char| c.is_ascii_alphabetic();
    let in_scheme = |c: char| letter(c) || c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    let hidden = |c: char| c <= ' ' || c == '\x7f';
    scheme.starts_with(letter)
        && scheme.chars().all(in_scheme)
        && !rest.is_empty()
        && !rest.contains(hidden)
}

/// Splits a value into the path at its start, if there is one, and the rest.
fn path_and_rest(value: &[u8]) -> (Option<&[u8]>, &[u8]) {
    if !value.starts_with(b"/") {
        return (None, value);
    }
    let path = value.split(|byte| b" \t".contains(byte)).next().unwrap_or_default();
    (Some(path), trim(&value[path.len()..], b" \t"))
}

/// Returns whether a part of a signal is this key with this word.
fn says(text: &[u8], key: &str, word: &str) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    text.split(',').any(|part| {
        part.split_once('=').is_some_and(|(left, right)| {
            let blank = [' ', '\t'];
            left.trim_matches(blank) == key && right.trim_matches(blank) == word
        })
    })
}

/// Returns the strictest level that a signal states.
fn level_in_signal(text: &[u8]) -> Preference {
    if says(text, "use", "immediate") {
        Preference::Immediate
    } else if says(text, "use", "reference") {
        Preference::Reference
    } else if says(text, "use", "full") {
        Preference::Full
    } else {
        Preference::Unstated
    }
}

fn in_signal(text: &[u8], label: Label) -> Preference {
    let key = SIGNAL_KEYS.iter().find(|(_, other)| *other == label).expect("each has a key").0;
    let said = |word: &str| says(text, key, word);
    match (said("no"), said("yes")) {
        (true, _) => Preference::No,
        (false, true) => Preference::Yes,
        (false, false) => Preference::Unstated,
    }
}

fn in_dictionary(text: &[u8], label: Label) -> Preference {
    let Some(members) = dictionary(text) else { return Preference::Unstated };
    if label == Label::Use {
        return Preference::Unstated;
    }
    let last = members.iter().rfind(|(key, _)| key == label.as_str());
    match last.map(|(_, value)| value.as_str()) {
        Some("y") => Preference::Yes,
        Some("n") => Preference::No,
        _ => Preference::Unstated,
    }
}

/// Parses a dictionary; see [`crate::dictionary`].
pub(super) fn dictionary(text: &[u8]) -> Option<Vec<(String, String)>> {
    let text: Vec<char> = text.iter().map(|&byte| char::from(byte)).collect();
    let mut at = spaces(&text, 0, " ");
    let mut members = Vec::new();
    while at < text.len() {
        let key_end = key(&text, at)?;
        let mut value_end = key_end;
        if text.get(key_end) == Some(&'=') {
            value_end = match text.get(key_end + 1)? {
                '(' => inner_list(&text, key_end + 1)?,
                _ => item(&text, key_end + 1)?,
            };
        }
        let value: String = text[key_end..value_end].iter().skip(1).collect();
        members.push((text[at..key_end].iter().collect(), value));
        at = spaces(&text, parameters(&text, value_end)?, " \t");
        if at == text.len() {
            break;
        }
        if text[at] != ',' {
            return None;
        }
        at = spaces(&text, at + 1, " \t");
        if at == text.len() {
            return None;
        }
    }
    Some(members)
}

// Each of these functions takes the position where something has to begin, and returns the position
// after it.

fn spaces(text: &[char], from: usize, set: &str) -> usize {
    run(text, from, |c| set.contains(c))
}

fn run(text: &[char], from: usize, belongs: impl Fn(char) -> bool) -> usize {
    (from..text.len()).find(|&at| !belongs(text[at])).unwrap_or(text.len())
}

fn key(text: &[char], from: usize) -> Option<usize> {
    let first = *text.get(from)?;
    (first.is_ascii_lowercase() || first == '*').then(|| {
        run(text, from, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.*".contains(c))
    })
}

fn parameters(text: &[char], mut from: usize) -> Option<usize> {
    while text.get(from) == Some(&';') {
        from = key(text, spaces(text, from + 1, " "))?;
        if text.get(from) == Some(&'=') {
            from = item(text, from + 1)?;
        }
    }
    Some(from)
}

fn inner_list(text: &[char], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        at = spaces(text, at, " ");
        if text.get(at) == Some(&')') {
            return Some(at + 1);
        }
        at = parameters(text, item(text, at)?)?;
        if !matches!(text.get(at), Some(' ' | ')')) {
            return None;
        }
    }
}

fn item(text: &[char], from: usize) -> Option<usize> {
    match *text.get(from)? {
        '"' => quoted(text, from + 1),
        ':' => bytes(text, from + 1),
        '?' => matches!(text.get(from + 1), Some('0' | '1')).then_some(from + 2),
        '@' => {
            let end = number(text, from + 1)?;
            (!text[from..end].contains(&'.')).then_some(end)
        }
        '%' => display(text, from + 1),
        '-' | '0'..='9' => number(text, from),
        first if first.is_ascii_alphabetic() || first == '*' => {
            Some(run(text, from, |c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~:/".contains(c)))
        }
        _ => None,
    }
}

fn number(text: &[char], from: usize) -> Option<usize> {
    let start = if text.get(from) == Some(&'-') { from + 1 } else { from };
    let digit = |c: char| c.is_ascii_digit();
    let end = run(text, start, digit);
    let whole = end - start;
    if text.get(end) != Some(&'.') {
        return (1..=15).contains(&whole).then_some(end);
    }
    let fraction_end = run(text, end + 1, digit);
    let fraction = fraction_end - end - 1;
    ((1..=12).contains(&whole) && (1..=3).contains(&fraction)).then_some(fraction_end)
}

fn quoted(text: &[char], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match *text.get(at)? {
            '"' => return Some(at + 1),
            '\\' if matches!(text.get(at + 1), Some('"' | '\\')) => at += 2,
            '\\' => return None,
            ' '..='~' => at += 1,
            _ => return None,
        }
    }
}

/// Reads base64 with its padding, without some of it, or without all of it.
fn bytes(text: &[char], from: usize) -> Option<usize> {
    let digits = run(text, from, |c| c.is_ascii_alphanumeric() || "+/".contains(c)) - from;
    let padding = run(text, from + digits, |c| c == '=') - from - digits;
    let missing = (4 - digits % 4) % 4;
    let end = from + digits + padding;
    (missing != 3 && padding <= missing && text.get(end) == Some(&':')).then_some(end + 1)
}

fn display(text: &[char], from: usize) -> Option<usize> {
    if text.get(from) != Some(&'"') {
        return None;
    }
    let mut decoded = Vec::new();
    let mut at = from + 1;
    loop {
        match *text.get(at)? {
            '"' => return String::from_utf8(decoded).is_ok().then_some(at + 1),
            '%' => {
                let digits: String = text.get(at + 1..at + 3)?.iter().collect();
                let is_lower_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                if !digits.chars().all(is_lower_hex) {
                    return None;
                }
                decoded.push(u8::from_str_radix(&digits, 16).ok()?);
                at += 3;
            }
            character @ ' '..='~' => {
                decoded.push(character as u8);
                at += 1;
            }
            _ => return None,
        }
    }
}
