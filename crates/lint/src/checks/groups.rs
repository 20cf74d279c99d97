//! Checks of user-agent lines and groups.

use crate::examination::{Reading, crawler_followed, crawler_named, quoted};
use crate::findings::{Findings, index, insert, remove_line, replace};
use crate::limits::LINT_RULES_MAX;
use crate::{Code, Map, Set};
use portcullis_crawlers::misspelt as misspelt_crawler;
use portcullis_dialect::{Dialect, FileToken, LineNumber, TokenAlphabet, Verdict};
use portcullis_robots::policy::{robot_name, robot_named};
use portcullis_robots::syntax::{
    Content, Group, NoteKind, Rule, Span, UserAgentLine, joined_records,
};
use portcullis_text::figures::counted;

pub(super) fn check(findings: &mut Findings<'_, '_>) {
    outside_group(findings);
    blank_line_in_group(findings);
    let file = &findings.chosen.file;
    let audience = findings.chosen.audience();
    let has_rules =
        |groups: &[usize]| groups.iter().any(|&group| !file.groups()[group].rules.is_empty());
    let ruled = audience.robots.iter().filter(|robot| has_rules(&robot.groups));
    let mut ruled: Set<&[u8]> = ruled.map(|robot| &*robot.name).collect();
    ruled.extend(has_rules(&audience.default_groups).then_some(&b"*"[..]));
    for group in file.groups() {
        run_together(findings, group);
        without_rules(findings, group, &ruled);
    }
    for line in file.user_agents() {
        token(findings, line);
        misspelt(findings, line);
    }
    named_again(findings);
    not_inherited(findings);
}

/// Checks for rules without a group. A run of them is reported once.
fn outside_group(findings: &mut Findings<'_, '_>) {
    let (examination, file) = (findings.examination, &findings.chosen.file);
    let notes = file.notes().iter().filter(|note| note.kind == NoteKind::RuleOutsideGroup);
    let lines: Vec<LineNumber> = notes.map(|note| note.line).collect();
    let agent_before = |line: &LineNumber| file.user_agent_before(*line);
    for run in lines.chunk_by(|one, other| agent_before(one) == agent_before(other)) {
        let span = examination.written(index(run[0]));
        let (rules, apply) = match run.len() {
            1 => ("the rule is".to_owned(), "applies"),
            count => (format!("{} are", counted(count as u64, "rule")), "apply"),
        };
        let is_first = agent_before(&run[0]).is_none();
        let message = match is_first {
            true => format!("{rules} before any user-agent line, and {apply} to no crawler"),
            false => format!("{rules} after a blank line that ends the record"),
        };
        let finding = findings.report(Code::RuleOutsideGroup, span, message);
        if is_first {
            finding
                .suggest("apply it to all crawlers", vec![insert(span.start, "User-agent: *\n")]);
        }
    }
}

/// Checks for rules that are in a group in the chosen dialect and in none in another, run by run.
fn blank_line_in_group(findings: &mut Findings<'_, '_>) {
    let (examination, chosen) = (findings.examination, findings.chosen);
    // The group of the rule before, if it is outside in some dialect.
    let mut run = None;
    for (position, rule) in chosen.file.rules().iter().enumerate() {
        let group = chosen.group_of_rule(position);
        let is_outside = examination.readings.iter().any(|other| is_outside(other, rule));
        if is_outside && run != Some(group) {
            let blanks = blank_lines_before(chosen, rule.line);
            let edits = blanks.into_iter().map(|line| remove_line(examination, line)).collect();
            let agents = chosen.file.user_agents_of(&chosen.file.groups()[group]);
            let message = "a blank line is between this rule and its user-agent line";
            findings
                .report(Code::BlankLineInGroup, rule.span, message)
                .related(agents[agents.len() - 1].span, "the user-agent line")
                .suggest("remove the blank lines", edits);
        }
        run = is_outside.then_some(group);
    }
}

/// Returns whether a dialect reads the rule outside any group.
fn is_outside(reading: &Reading<'_>, rule: &Rule<'_>) -> bool {
    let notes = reading.file.notes();
    let first = notes.partition_point(|note| note.line < rule.line);
    let own = notes[first..].iter().take_while(|note| note.line == rule.line);
    own.into_iter().any(|note| note.kind == NoteKind::RuleOutsideGroup)
}

/// Returns the positions of the blank lines between a rule and the record before it.
fn blank_lines_before(reading: &Reading<'_>, rule: LineNumber) -> Vec<usize> {
    let before = &reading.lines[..index(rule)];
    let is_record = |content: &Content<'_>| matches!(content, Content::Record(_));
    let start = before.iter().rposition(|line| is_record(&line.content)).map_or(0, |line| line + 1);
    (start..before.len()).filter(|&line| before[line].content == Content::Blank).collect()
}

/// Checks for user-agent lines of one run with blank lines or other records between them.
fn run_together(findings: &mut Findings<'_, '_>, group: &Group) {
    let chosen = findings.chosen;
    if group.rules.is_empty() {
        return;
    }
    for pair in chosen.file.user_agents_of(group).windows(2) {
        let (above, below) = (pair[0], pair[1]);
        let between = &chosen.lines[index(above.line) + 1..index(below.line)];
        let stands_apart = |content| matches!(content, Content::Blank | Content::Record(_));
        if !between.iter().any(|line| stands_apart(line.content)) {
            continue;
        }
        let message = format!(
            "the rules below also apply to {}: only a rule ends the run of user-agent lines",
            quoted(above.value)
        );
        findings
            .report(Code::UserAgentsRunTogether, below.span, message)
            .related(above.span, "this line opens the same group")
            .effects(|reading| match in_one_group(reading, above.line, below.line) {
                true => "one group of both lines".into(),
                false => "two groups".into(),
            });
    }
}

fn in_one_group(reading: &Reading<'_>, one: LineNumber, other: LineNumber) -> bool {
    let file = &reading.file;
    let group_of = |line| {
        let agent = file.user_agents().binary_search_by_key(&line, |agent| agent.line).ok()?;
        Some(file.group_of(agent as u32))
    };
    let group = group_of(one);
    group.is_some() && group == group_of(other)
}

/// Checks for crawlers that no rule applies to. Another group may have some, and then nothing is wrong here.
/// `ruled` are the crawlers whose groups have rules.
fn without_rules(findings: &mut Findings<'_, '_>, group: &Group, ruled: &Set<&[u8]>) {
    let Reading { file, dialect, .. } = findings.chosen;
    let (lines, audience) = (file.user_agents_of(group), findings.chosen.audience());
    if !group.rules.is_empty() {
        return;
    }
    let may_fetch_all = |line: &&UserAgentLine<'_>| {
        let name = crawler_named(line.value, dialect);
        name.is_some_and(|name| match &*name {
            b"*" => !ruled.contains(&*name),
            _ => crawler_followed(audience, &name, dialect)
                .is_some_and(|robot| !ruled.contains(&*robot.name)),
        })
    };
    let free: Vec<&UserAgentLine<'_>> = lines.iter().filter(may_fetch_all).collect();
    let robots = match &*free {
        [] => return,
        [line] => quoted(line.value),
        _ if free.len() == lines.len() => format!("the {} crawlers named here", lines.len()),
        _ => format!("{} of the crawlers named here", free.len()),
    };
    let message = format!("no rule follows: {robots} may fetch everything");
    findings.report(Code::GroupWithoutRules, lines[lines.len() - 1].span, message);
}

/// Checks for crawlers whose groups have some rules, but not the rules for `*`.
fn not_inherited(findings: &mut Findings<'_, '_>) {
    let Reading { file, dialect, .. } = findings.chosen;
    let audience = findings.chosen.audience();
    let rules_of = |groups: &[usize]| -> Vec<&Rule<'_>> {
        groups.iter().flat_map(|&group| file.rules_of(&file.groups()[group])).collect()
    };
    let mut of_default = rules_of(&audience.default_groups);
    of_default.retain(|rule| rule.verdict == Verdict::Disallow && !rule.value.is_empty());
    if of_default.is_empty() {
        return;
    }
    let mut seen: Set<&[usize]> = Set::default();
    let mut left = LINT_RULES_MAX;
    for crawler in &audience.robots {
        let line = &file.user_agents()[crawler.line];
        if robot_named(line.value, None, dialect) || !seen.insert(&crawler.groups) {
            continue;
        }
        let count = crawler.groups.iter().map(|&group| file.groups()[group].rules.len());
        let Some(rest) = left.checked_sub(of_default.len() + count.sum::<usize>()) else {
            findings.unknown(format!(
                "not all groups were compared with the group for `*`: they have more than \
                {LINT_RULES_MAX} rules"
            ));
            return;
        };
        left = rest;
        let own = rules_of(&crawler.groups);
        let allows_all = own.iter().all(|rule| rule.value.is_empty());
        let is_all = |rule: &&Rule<'_>| matches!(rule.value, b"/" | b"/*" | b"*");
        if allows_all || own.iter().any(is_all) {
            continue;
        }
        let own: Set<&[u8]> = own.iter().map(|rule| rule.value).collect();
        let mut lost = of_default.iter().filter(|rule| !own.contains(rule.value));
        let Some(first) = lost.next() else { continue };
        let rules = match 1 + lost.count() as u64 {
            1 => "a rule for `*` is".to_owned(),
            count => format!("{} for `*` are", counted(count, "rule")),
        };
        let message = format!(
            "{rules} missing here: a crawler that a group names follows its own rules only"
        );
        findings
            .report(Code::RulesNotInherited, line.span, message)
            .related(first.span, "the first rule for `*` alone");
    }
}

/// Checks for crawlers that a group names twice, or several groups.
fn named_again(findings: &mut Findings<'_, '_>) {
    let chosen = findings.chosen;
    // The group and the line that name a crawler first, and the first line of the last such group.
    let mut known: Map<Vec<u8>, [(usize, Span); 2]> = Map::default();
    for (position, group) in chosen.file.groups().iter().enumerate() {
        for line in chosen.file.user_agents_of(group) {
            let Some(name) = crawler_named(line.value, chosen.dialect) else { continue };
            let here = (position, line.span);
            let [first, last] = known.entry(name).or_insert([here; 2]);
            if last.0 != position {
                *last = here;
            } else if *last != here {
                let message = format!("the group already names {}", quoted(line.value));
                findings
                    .report(Code::RepeatedUserAgent, line.span, message)
                    .related(last.1, "here")
                    .remove("remove the second line", line.line);
            }
            if first.0 != position {
                let message = format!("another group also names {}", quoted(line.value));
                findings
                    .report(Code::SeparateGroups, line.span, message)
                    .related(first.1, "the first group that names it")
                    .effects(|reading| match groups_applied(reading, line.value) {
                        0 | 1 => "follows the first group alone".into(),
                        count => format!("merges the rules of {}", counted(count as u64, "group")),
                    });
            }
        }
    }
}

/// Checks for values that are not product tokens.
fn token(findings: &mut Findings<'_, '_>, line: &UserAgentLine<'_>) {
    let dialect = findings.chosen.dialect;
    let value = line.value;
    if value.is_empty() {
        let message = "the user-agent line has no value and names no crawler";
        findings.report(Code::EmptyUserAgent, line.span, message);
        return;
    }
    let bytes = token_bytes(value, dialect);
    let is_joined = joined_records(findings.examination.bytes(line.span)).nth(1).is_some();
    if bytes == value.len() || robot_named(value, None, dialect) || is_joined {
        return;
    }
    let (token, rest) = value.split_at(bytes);
    if bytes > 0 && is_version(rest) {
        let message =
            format!("{} is a version, which is not part of a product token", quoted(rest));
        let rest = findings.examination.span_of(rest);
        findings
            .report(Code::VersionedUserAgent, rest, message)
            .fix("remove the version", vec![replace(rest, [])]);
        return;
    }
    let message = match bytes {
        0 => format!("{} is not a product token and names no crawler", quoted(value)),
        _ => format!(
            "{} is not a product token: crawlers read only {}",
            quoted(value),
            quoted(token)
        ),
    };
    findings.report(Code::NoProductToken, findings.examination.span_of(value), message);
}

/// Checks for the name of a crawler that is nearly that of a known one.
fn misspelt(findings: &mut Findings<'_, '_>, line: &UserAgentLine<'_>) {
    let dialect = findings.chosen.dialect;
    let Some(name) = robot_name(line.value, dialect) else { return };
    // A dialect may compare the whole value, with a version.
    let name = &name[..token_bytes(name, dialect).min(name.len())];
    let Some(known) = str::from_utf8(name).ok().and_then(misspelt_crawler) else { return };
    let message = format!("no known crawler is called {} (did you mean {known}?)", quoted(name));
    let place = findings.examination.span_of(name);
    findings
        .report(Code::MisspeltCrawler, place, message)
        .suggest(format!("write `{known}`"), vec![replace(place, known)]);
}

/// Returns the length of the product token at the start of `value`. In a dialect that compares the
/// whole value, the tokens of later documents are used.
fn token_bytes(value: &[u8], dialect: &Dialect) -> usize {
    let alphabet = match dialect.groups.file_token {
        FileToken::Prefix(alphabet) => alphabet,
        FileToken::WholeValue => TokenAlphabet::LettersAndDigits,
    };
    value.iter().take_while(|&&byte| alphabet.contains(byte)).count()
}

/// Returns whether the text after a product token is a version: `/1.2`, `/v3`.
fn is_version(rest: &[u8]) -> bool {
    let Some(version) = rest.strip_prefix(b"/") else { return false };
    let digits = version.strip_prefix(b"v").unwrap_or(version);
    digits.first().is_some_and(u8::is_ascii_digit)
        && version.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// Returns the number of groups that apply to the crawler that `value` names.
fn groups_applied(reading: &Reading<'_>, value: &[u8]) -> usize {
    let Some(name) = crawler_named(value, reading.dialect) else { return 0 };
    let audience = reading.audience();
    if name == b"*" {
        return audience.default_groups.len();
    }
    audience.with_name(&name).map_or(0, |robot| robot.groups.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for version in ["/1.2", "/v3", "/2.0b", "/12", "/1.0-rc_1"] {
            assert!(is_version(version.as_bytes()), "{version}");
        }
        for other in ["", "/", "/x", " 1.2", "/1.2 (compatible)", "1.2", "/vv1"] {
            assert!(!is_version(other.as_bytes()), "{other}");
        }
    }
}
