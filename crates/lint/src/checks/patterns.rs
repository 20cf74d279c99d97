//! Checks of single path patterns, as written.

use bstr::ByteSlice as _;

use crate::Code;
use crate::analysis::triplet;
use crate::examination::{Reading, quoted};
use crate::findings::{Findings, index, insert, replace};
use portcullis_dialect::{Escapes, Verdict};
use portcullis_robots::syntax::{Rule, Span, joined_records};
use portcullis_robots::url::{normal_text, normalise};
use portcullis_text::figures::joined;

pub(super) fn check(findings: &mut Findings<'_, '_>) {
    let file = &findings.chosen.file;
    for (position, rule) in file.rules().iter().enumerate() {
        if rule.value.is_empty() {
            empty(findings, position, rule);
            continue;
        }
        if joined_records(rule.value).next().is_some() {
            continue;
        }
        unrooted(findings, rule);
        comment(findings, rule);
        let is_list = list(findings, rule);
        if !not_utf8(findings, rule) && !is_list {
            unescaped(findings, rule);
        }
        if findings.chosen.dialect.paths.wildcards {
            dollar(findings, rule);
        }
    }
}

/// Checks for a rule without a pattern, except the usual way to allow everything.
fn empty(findings: &mut Findings<'_, '_>, position: usize, rule: &Rule<'_>) {
    let chosen = findings.chosen;
    let group = &chosen.file.groups()[chosen.group_of_rule(position)];
    let alone = chosen.file.rules_of(group).iter().all(|rule| rule.value.is_empty());
    if rule.verdict == Verdict::Disallow && alone {
        return;
    }
    let message = match rule.verdict {
        Verdict::Disallow => "`Disallow:` next to other rules revokes none of them",
        _ => "`Allow:` without a pattern allows nothing",
    };
    findings.report(Code::EmptyPattern, rule.span, message).remove("remove the line", rule.line);
}

/// Checks for a pattern that starts with neither `/` nor `*`.
fn unrooted(findings: &mut Findings<'_, '_>, rule: &Rule<'_>) {
    let (value, chosen) = (rule.value, findings.chosen.dialect);
    let span = findings.examination.span_of(value);
    if value[0] == b'*' && !normal_text(value, &chosen.paths, &mut Vec::new()) {
        let message =
            format!("{} has no wildcards, and no path starts with a literal `*`", chosen.name);
        findings.report(Code::NeverMatchingPattern, span, message);
    }
    let matches_nothing =
        |it: &Reading<'_>| !normal_text(value, &it.dialect.paths, &mut Vec::new());
    if let Some(path) = value.strip_prefix(b"/").and_then(path_of_named_host) {
        let message = "a URL follows the `/`, and no path of this host begins with one";
        findings.report(Code::UrlAsPattern, span, message).suggest(
            format!("remove scheme and host: {}", quoted(path)),
            vec![replace(span, path)],
        );
        return;
    }
    let is_rooted = matches!(value[0], b'/' | b'*');
    if is_rooted || !findings.examination.readings.iter().any(matches_nothing) {
        return;
    }
    if let Some(path) = path_of_url(value) {
        let path = if path.is_empty() { b"/" } else { path };
        findings.report(Code::UrlAsPattern, span, "this is a URL, not a path pattern").suggest(
            format!("remove scheme and host: {}", quoted(path)),
            vec![replace(span, path)],
        );
        return;
    }
    // A pattern that starts with punctuation was probably meant to match anywhere.
    let front = if value[0].is_ascii_alphanumeric() { "/" } else { "/*" };
    let message = format!("{} starts with neither `/` nor `*`", quoted(value));
    let edit = insert(span.start, front);
    findings
        .report(Code::NeverMatchingPattern, span, message)
        .suggest(format!("put `{front}` in front"), vec![edit]);
}

/// Returns the path of a value that is a URL with a scheme.
fn path_of_url(value: &[u8]) -> Option<&[u8]> {
    let colon = value.find(b"://")?;
    let is_scheme = value[..colon].iter().all(u8::is_ascii_alphabetic) && colon > 0;
    let rest = &value[colon + 3..];
    is_scheme.then(|| rest.find_byteset(b"/?").map_or(&b""[..], |path| &rest[path..]))
}

/// Returns the path of a URL whose host has a dot: a proxy may have paths such as `/https://`.
fn path_of_named_host(value: &[u8]) -> Option<&[u8]> {
    let path = path_of_url(value)?;
    let host = &value[value.find(b"://")? + 3..value.len() - path.len()];
    let is_web = value[..4.min(value.len())].eq_ignore_ascii_case(b"http");
    (is_web && host.contains(&b'.') && !path.is_empty()).then_some(path)
}

/// Checks for a `#` without white space before it.
fn comment(findings: &mut Findings<'_, '_>, rule: &Rule<'_>) {
    if findings.examination.text.get(rule.span.end as usize) != Some(&b'#') {
        return;
    }
    let line = findings.chosen.lines[index(rule.line)].span;
    let message = format!("`#` starts a comment: the pattern is {}", quoted(rule.value));
    let lost = Span { start: rule.span.end, ..line };
    findings
        .report(Code::CommentInPattern, lost, message)
        .suggest("put a space before the comment", vec![insert(rule.span.end, " ")]);
}

/// Checks for a `$` that is not an anchor.
fn dollar(findings: &mut Findings<'_, '_>, rule: &Rule<'_>) {
    let body = &rule.value[..rule.value.len() - 1];
    if let Some(position) = body.find_byte(b'$') {
        let message = "this `$` is a literal character: it matches the end of the path only at the end of the pattern";
        let dollar = findings.examination.span_of(&body[position..=position]);
        findings.report(Code::DollarInsidePattern, dollar, message);
    }
}

/// Checks for a list of paths. Returns whether the value may be one: escapes would keep the fault.
fn list(findings: &mut Findings<'_, '_>, rule: &Rule<'_>) -> bool {
    /// More lines would not fit a screen.
    const LINES_MAX: usize = 3;
    let paths = paths(rule.value);
    let [first, second, ..] = paths[..] else { return false };
    // A slash alone is a stray one, and two begin a comment: nobody lists the whole site.
    let is_stray =
        |path: &&[u8]| *path == b"/" || path.starts_with(b"//") || path.starts_with(b"/ ");
    if paths.iter().any(is_stray) {
        return false;
    }
    let spans: Vec<Span> = paths.iter().map(|path| findings.examination.span_of(path)).collect();
    let between = |pair: &[Span]| Span { start: pair[0].end, end: pair[1].start };
    let separators: Vec<Span> = spans.windows(2).map(between).collect();
    let message = format!(
        "a rule has one pattern: {} and {} are read as one path",
        quoted(first),
        quoted(second)
    );
    let finding = findings.report(Code::SeveralPaths, separators[0], message);
    // A path has no space and is no tag, and a line may also lack a line end before the next field.
    let is_odd = |byte: &u8| matches!(byte, b' ' | b'\t' | b':' | b'<' | b'>');
    let is_odd = paths.iter().any(|path| path.iter().any(is_odd));
    let ends_in_mark = paths.iter().any(|path| path.ends_with(b",") || path.ends_with(b";"));
    if !is_odd && !ends_in_mark {
        let field = if rule.verdict == Verdict::Allow { "Allow: " } else { "Disallow: " };
        let line = |path: &&[u8]| quoted(&[field.as_bytes(), path].concat());
        let lines = joined(paths.iter().map(line), LINES_MAX);
        let edit = |&span: &Span| replace(span, format!("\n{field}"));
        finding.suggest(
            format!("write one rule for each path: {lines}"),
            separators.iter().map(edit).collect(),
        );
    }
    true
}

/// Returns the parts of a value between blanks or commas that a `/` follows. Commas that something else
/// follows are those of a path (`/*,*,/a`), which is one part.
fn paths(value: &[u8]) -> Vec<&[u8]> {
    let is_separator = |byte: &u8| matches!(byte, b' ' | b'\t' | b',');
    let mut paths = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(bytes) = value[at..].iter().position(is_separator) {
        let end = at + bytes;
        at = end + value[end..].iter().take_while(|byte| is_separator(byte)).count();
        if value.get(at) == Some(&b'/') {
            paths.push(&value[start..end]);
            start = at;
        } else if at < value.len() && value[end..at].contains(&b',') {
            return vec![value];
        }
    }
    paths.push(&value[start..]);
    // Others start a sentence.
    paths.retain(|path| matches!(path.first(), Some(b'/' | b'*')));
    paths
}

/// Checks for bytes that are not UTF-8. Returns whether there are some: to escape them would keep the fault.
fn not_utf8(findings: &mut Findings<'_, '_>, rule: &Rule<'_>) -> bool {
    let Err(error) = str::from_utf8(rule.value) else { return false };
    let rest = &rule.value[error.valid_up_to()..];
    let bytes = &rest[..error.error_len().unwrap_or(rest.len())];
    let message = format!(
        "{} is not UTF-8: the rule does not match URLs, which have the UTF-8 escapes of the character",
        quoted(bytes)
    );
    findings.report(Code::NotUtf8, findings.examination.span_of(bytes), message);
    true
}

/// Checks for characters that URLs contain only as an escape.
fn unescaped(findings: &mut Findings<'_, '_>, rule: &Rule<'_>) {
    let value = rule.value;
    // The normal form of RFC 9309 escapes the byte.
    let is_escaped = |byte| normalise(&[byte], Escapes::Uri, &mut Vec::new()).len() > 1;
    let is_odd = |byte: u8| byte >= b' ' && !matches!(byte, b'*' | b'$') && is_escaped(byte);
    let Some(start) = value.iter().position(|&byte| is_odd(byte)) else { return };
    let bytes = value[start..].iter().take_while(|&&byte| is_odd(byte)).count();
    let first = &value[start..start + bytes];
    let span = findings.examination.span_of(first);
    let escape = |byte: &[u8]| replace(findings.examination.span_of(byte), triplet(byte[0]));
    let edits = value.chunks(1).filter(|byte| is_odd(byte[0])).map(escape).collect();
    let message = format!("URLs have {} only as an escape", quoted(first));
    findings.report(Code::UnescapedCharacter, span, message).fix("escape it", edits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_paths() {
        let rows: [(&str, &[&str]); 8] = [
            ("/a /b", &["/a", "/b"]),
            ("/a,/b*, \t/c", &["/a", "/b*", "/c"]),
            ("/a b /c", &["/a b", "/c"]),
            ("*/a /", &["*/a", "/"]),
            ("/a b, c", &["/a b, c"]),
            ("/*,*,/*,*,/a", &["/*,*,/*,*,/a"]),
            ("/a, ", &["/a, "]),
            ("a /b", &["/b"]),
        ];
        for (value, expected) in rows {
            let expected: Vec<&[u8]> = expected.iter().map(|path| path.as_bytes()).collect();
            assert_eq!(paths(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn paths_of_urls() {
        assert_eq!(path_of_url(b"https://a.example/b?c"), Some(&b"/b?c"[..]));
        assert_eq!(path_of_url(b"http://a.example"), Some(&b""[..]));
        assert_eq!(path_of_url(b"a/b://c"), None);
        assert_eq!(path_of_url(b"://c"), None);
    }
}
