//! Checks of usage preferences: Content-Usage, Content-Signal and License.
//!
//! No check suggests removing a preference, and no edit here is applied without asking, because
//! each changes what the file states.

use std::collections::BTreeSet;

use crate::examination::{Reading, crawler_followed, quoted};
use crate::findings::{Findings, insert, replace, value_span};
use crate::limits::LINT_STATEMENTS_MAX;
use crate::{Code, Map};
use portcullis_dialect::dialect::{Field, PathRules};
use portcullis_dialect::usage::{
    Label, Preference, RETIRED_LABELS, SIGNAL_KEYS, SIGNAL_LEVELS, UsageSource, VOCABULARY,
};
use portcullis_robots::policy::{Audience, UsageGroups, pattern_of, robot_named};
use portcullis_robots::syntax::{RobotsTxt, Statement, UsageRecord, signals, usage_members};

pub(super) fn check(findings: &mut Findings<'_, '_>) {
    let file = &findings.chosen.file;
    if file.usage_records().is_empty() {
        return;
    }
    for record in file.usage_records() {
        match Statement::of(record) {
            None => license(findings, record),
            Some(statement) => {
                outside_group(findings, record);
                match statement.source {
                    UsageSource::ContentUsage => dictionary(findings, record, &statement),
                    UsageSource::ContentSignal => signal(findings, &statement),
                }
            }
        }
    }
    splits_group(findings);
    let groups = UsageGroups::new(file);
    let audience = Audience::of(groups.file(), findings.chosen.dialect);
    not_inherited(findings, &groups, &audience);
    conflicts(findings, &groups, &audience);
}

fn license(findings: &mut Findings<'_, '_>, record: &UsageRecord<'_>) {
    if record.is_license() {
        return;
    }
    let message = match record.value {
        b"" => "the line names no licence".to_owned(),
        value => format!("{} is not an absolute URI", quoted(value)),
    };
    findings.report(Code::RelativeLicense, value_span(record.span, record.value), message);
}

fn outside_group(findings: &mut Findings<'_, '_>, record: &UsageRecord<'_>) {
    if record.field != Field::ContentUsage || record.user_agent.is_some() {
        return;
    }
    let first = findings.chosen.file.user_agents().first();
    let message = "the preference is outside any group, and holds for no crawler";
    let finding = findings.report(Code::UsageOutsideGroup, record.span, message);
    if first.is_none_or(|agent| agent.line > record.line) {
        let edits = vec![insert(record.span.start, "User-agent: *\n")];
        finding.suggest("state it for all crawlers", edits);
    }
}

/// Checks whether Content-Usage can be read, and its members.
fn dictionary(
    findings: &mut Findings<'_, '_>,
    record: &UsageRecord<'_>,
    statement: &Statement<'_>,
) {
    let Some(members) = usage_members(statement.text) else {
        let span = match statement.text {
            b"" => value_span(record.span, record.value),
            text => findings.examination.span_of(text),
        };
        let message = format!("{} is not a dictionary", quoted(statement.text));
        let finding = findings.report(Code::UnreadableUsage, span, message);
        if let Some(right) = repaired(statement.text) {
            finding.suggest(format!("write `{right}`"), vec![replace(span, right)]);
        }
        return;
    };
    parameters(findings, statement);
    let mut stated: Vec<(&[u8], Option<&[u8]>)> = Vec::new();
    for (key, value) in members {
        let name = String::from_utf8_lossy(key);
        let before = stated.iter_mut().find(|(other, _)| *other == key);
        if before.as_ref().is_some_and(|before| before.1 != value)
            && Label::by_name(&name).is_some()
        {
            let message =
                format!("{} is stated twice, and only the last value counts", quoted(key));
            findings.report(Code::OddPreference, findings.examination.span_of(key), message);
        }
        match before {
            Some(before) => before.1 = value,
            None => stated.push((key, value)),
        }
        if RETIRED_LABELS.contains(&&*name) {
            let message = format!("{VOCABULARY} does not have the label {}", quoted(key));
            findings.report(Code::RetiredLabel, findings.examination.span_of(key), message);
        } else {
            member(findings, (key, value), statement.source);
        }
    }
}

/// Checks for labels after a `;`, which begins a parameter of the label before it (RFC 9651, section 3.1.2).
fn parameters(findings: &mut Findings<'_, '_>, statement: &Statement<'_>) {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    for semicolon in memchr::memchr_iter(b';', statement.text) {
        let rest = &statement.text[semicolon + 1..];
        let rest = &rest[rest.iter().take_while(is_blank).count()..];
        let end = rest.iter().position(|byte| b"=;, \t".contains(byte)).unwrap_or(rest.len());
        let Some(label) = Label::by_name(&String::from_utf8_lossy(&rest[..end])) else { continue };
        let place = findings.examination.span_of(&statement.text[semicolon..=semicolon]);
        let message = format!("`;` begins a parameter, so `{label}` is not stated");
        findings
            .report(Code::OddPreference, place, message)
            .suggest("separate preferences by commas", vec![replace(place, ",")]);
    }
}

/// Checks the parts of Content-Signal.
fn signal(findings: &mut Findings<'_, '_>, statement: &Statement<'_>) {
    for (key, value) in signals(statement.text) {
        let levels = SIGNAL_LEVELS.map(Preference::as_str);
        let is = |known: &&str| value.eq_ignore_ascii_case(known.as_bytes());
        let message = match key.eq_ignore_ascii_case(Label::Use.as_str().as_bytes()) {
            true if levels.iter().any(is) => continue,
            true => format!("`use` has the values `{}`", levels.join("`, `")),
            false if key.is_empty() => continue,
            false if member(findings, (key, Some(value)), statement.source) => continue,
            false => format!("Content-Signal does not have the label {}", quoted(key)),
        };
        findings.report(Code::OddPreference, findings.examination.span_of(key), message);
    }
}

/// Checks the value of a label, and for a label of the other field. Returns whether some field has it.
fn member(
    findings: &mut Findings<'_, '_>,
    (key, value): (&[u8], Option<&[u8]>),
    source: UsageSource,
) -> bool {
    let (field, other, [yes, no]) = match source {
        UsageSource::ContentUsage => ("Content-Usage", "Content-Signal", ["y", "n"]),
        UsageSource::ContentSignal => ("Content-Signal", "Content-Usage", ["yes", "no"]),
    };
    let is = |text: &[u8], word: &str| match source {
        // It has lower case only.
        UsageSource::ContentUsage => text == word.as_bytes(),
        UsageSource::ContentSignal => text.eq_ignore_ascii_case(word.as_bytes()),
    };
    let mut labels = SIGNAL_KEYS.iter().map(|&(signal, label)| match source {
        UsageSource::ContentUsage => (label.as_str(), signal),
        UsageSource::ContentSignal => (signal, label.as_str()),
    });
    let found = labels.find(|&(own, of_other)| is(key, own) || is(key, of_other));
    let Some((own, _)) = found else { return false };
    let examination = findings.examination;
    let place = examination.span_of(key);
    if !is(key, own) {
        let message = format!("{} is a label of {other}", quoted(key));
        findings
            .report(Code::OddPreference, place, message)
            .suggest(format!("write `{own}`"), vec![replace(place, own)]);
        return true;
    }
    if value.is_some_and(|value| is(value, yes) || is(value, no)) {
        return true;
    }
    let message = format!("{field} has `{own}={yes}` and `{own}={no}` only");
    let finding = findings.report(Code::OddPreference, place, message);
    // Another preference without a comma before it.
    let blank = value.and_then(|value| value.iter().position(|byte| b" \t".contains(byte)));
    if let (Some(value), Some(blank)) = (value, blank)
        && value[blank..].contains(&b'=')
    {
        let edits = vec![replace(examination.span_of(&value[blank..=blank]), ", ")];
        finding.suggest("separate preferences by commas", edits);
        return true;
    }
    if let Some((value, preference)) = value.and_then(|it| Some((it, meant(it)?))) {
        let right = if preference == Preference::Yes { yes } else { no };
        let edits = vec![replace(examination.span_of(value), right)];
        finding.suggest(format!("write `{own}={right}`"), edits);
    }
    true
}

/// Returns the preference that was probably meant by a value that no field has.
fn meant(value: &[u8]) -> Option<Preference> {
    match value.to_ascii_lowercase().as_slice() {
        b"y" | b"yes" | b"allow" | b"true" => Some(Preference::Yes),
        b"n" | b"no" | b"disallow" | b"false" => Some(Preference::No),
        _ => None,
    }
}

/// Returns the dictionary that was probably meant by a list of known labels, if every part is one.
fn repaired(text: &[u8]) -> Option<String> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let parts: Option<Vec<String>> = signals(text)
        .filter(|(key, value)| !(key.is_empty() && value.is_empty()))
        .map(|(key, value)| {
            let key = String::from_utf8(key.to_ascii_lowercase()).ok()?;
            let label = Label::by_name(&key).filter(|label| *label != Label::Use)?;
            let preference = meant(value).filter(|_| !value.iter().any(is_blank))?;
            Some(format!("{label}={preference}"))
        })
        .collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join(", "))
}

/// Checks for Content-Usage between user-agent lines of one group.
fn splits_group(findings: &mut Findings<'_, '_>) {
    let file = &findings.chosen.file;
    let mut reported = None;
    for record in file.usage_records() {
        let (Field::ContentUsage, Some(line)) = (record.field, record.user_agent) else { continue };
        let group = &file.groups()[file.group_of(line)];
        let is_last = group.user_agents.end == line + 1;
        if is_last || reported == Some(line) {
            continue;
        }
        reported = Some(line);
        let below = &file.user_agents()[line as usize + 1];
        let message = "the preference does not hold for the crawlers below, \
                       which share the access rules of those above";
        findings
            .report(Code::UsageSplitsGroup, record.span, message)
            .related(below.span, "this line and those below it");
    }
}

/// Checks for groups that state nothing where the default groups state something.
fn not_inherited(findings: &mut Findings<'_, '_>, groups: &UsageGroups<'_>, audience: &Audience) {
    let Reading { file, dialect, .. } = findings.chosen;
    let states = |record: &UsageRecord<'_>| {
        let mut preferences = Statement::of(record).into_iter().flat_map(|it| it.preferences);
        preferences.any(|preference| preference != Preference::Unstated)
    };
    let states: Vec<bool> = file.usage_records().iter().map(states).collect();
    let mut left = LINT_STATEMENTS_MAX;
    let of_default = in_force(findings, groups, &audience.default_groups, &mut left);
    let Some(of_default) = of_default else { return };
    let Some(first) = of_default.iter().find(|&&number| states[number as usize]) else { return };
    let first = &file.usage_records()[*first as usize];
    if first.user_agent.is_none() {
        // The record is before all groups, and holds for each group that states nothing.
        return;
    }
    // Whether something is stated for crawlers with the same records.
    let mut known: Map<Vec<usize>, bool> = Map::default();
    for robot in &audience.robots {
        let line = &file.user_agents()[robot.line];
        let follows_itself = || crawler_followed(audience, &robot.name, dialect) == Some(robot);
        if robot_named(line.value, None, dialect) {
            continue;
        }
        let own = groups.with_records(&robot.groups);
        let is_stated = match known.get(&own) {
            Some(&known) => known,
            None => {
                let Some(list) = in_force(findings, groups, &own, &mut left) else { return };
                let new = list.iter().any(|&number| states[number as usize]);
                known.insert(own, new);
                new
            }
        };
        if is_stated || !follows_itself() {
            continue;
        }
        let message = "no usage preference is stated for this crawler, unlike for `*`";
        findings
            .report(Code::UsageNotInherited, line.span, message)
            .related(first.span, "stated for `*` alone");
    }
}

/// Returns the records that hold for crawlers to which groups apply. If more than are `left` would be
/// compared, that is reported, and the result is `None`.
fn in_force(
    findings: &mut Findings<'_, '_>,
    groups: &UsageGroups<'_>,
    combination: &[usize],
    left: &mut usize,
) -> Option<Vec<u32>> {
    let list = groups.in_force(combination);
    let rest = left.checked_sub(list.len());
    match rest {
        Some(rest) => *left = rest,
        None => {
            let bound = "the file has more combinations of preferences than are compared";
            findings.unknown(bound.to_owned());
        }
    }
    rest.map(|_| list)
}

/// Checks for statements of one group that contradict each other about the same paths.
fn conflicts(findings: &mut Findings<'_, '_>, groups: &UsageGroups<'_>, audience: &Audience) {
    let Reading { file, dialect, .. } = findings.chosen;
    let robots = audience.robots.iter().map(|robot| &robot.groups);
    let combinations: BTreeSet<&Vec<usize>> = robots.chain([&audience.default_groups]).collect();
    let mut reported = BTreeSet::new();
    let mut left = LINT_STATEMENTS_MAX;
    for combination in combinations {
        let Some(list) = in_force(findings, groups, combination, &mut left) else { return };
        for (one, other, label) in contradictions(file, &list, &dialect.paths) {
            if reported.insert(other) {
                let [one, other] = [one, other].map(|number| file.usage_records()[number]);
                let kind = if label == Label::Use { "different" } else { "opposite" };
                let message =
                    format!("this line and another state {kind} preferences about {label}");
                findings
                    .report(Code::ConflictingPreferences, other.span, message)
                    .related(one.span, "the other line");
            }
        }
    }
}

/// Finds pairs of records that state `y` and `n` about a label: with one pattern, or in two fields, where
/// the `n` is about every path.
fn contradictions(
    file: &RobotsTxt<'_>,
    in_force: &[u32],
    paths: &PathRules,
) -> Vec<(usize, usize, Label)> {
    // The first statement about a pattern and a label, and its preference.
    let mut known: Map<_, (usize, Preference)> = Map::default();
    let mut found = Vec::new();
    let records = in_force.iter().map(|&number| number as usize);
    let statements: Vec<(usize, Statement<'_>)> = records
        .filter_map(|number| Some((number, Statement::of(&file.usage_records()[number])?)))
        .collect();
    for (number, statement) in &statements {
        let Some(pattern) = pattern_of(statement, paths) else { continue };
        for (label, preference) in Label::ALL.into_iter().zip(statement.preferences) {
            if preference == Preference::Unstated {
                continue;
            }
            let first = known.entry((pattern.clone(), label)).or_insert((*number, preference));
            if first.1 != preference {
                found.push((first.0, *number, label));
            }
        }
    }
    for source in UsageSource::ALL {
        let (own, others): (Vec<_>, Vec<_>) =
            statements.iter().partition(|(_, it)| it.source == source);
        if own.iter().any(|(_, it)| it.path.is_some()) {
            continue;
        }
        // An `n` of this field is about every path, so that no `y` of the other one has an effect.
        for label in Label::ALL {
            let refusal = own.iter().find(|(_, it)| it.of_label(label) == Preference::No);
            let Some((refusal, _)) = refusal else { continue };
            let without_effect = others
                .iter()
                .filter(|(_, it)| it.path.is_some() && it.of_label(label) == Preference::Yes);
            found.extend(without_effect.map(|(number, _)| (*refusal, *number, label)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, LintConfig, lint};
    use portcullis_dialect::RFC_9309;

    #[test]
    fn combinations_of_records_are_bounded() {
        let names = |robots: usize| (0..robots).map(|it| format!("User-agent: a{it}\n"));
        let text = |robots: usize, records: usize| {
            let shared = "Content-Usage: /x other=n\n".repeat(records);
            let own = names(robots).map(|name| format!("{name}Content-Usage: other=n\n"));
            let own: String = own.collect();
            let all: String = names(robots).collect();
            format!("{all}{shared}{own}User-agent: *\nContent-Usage: train-ai=n\n")
        };
        let config = LintConfig::new(&RFC_9309);
        let few = lint(text(10, 20).as_bytes(), &config);
        assert!(few.unknown.is_empty(), "{:?}", few.unknown);
        let is_it = |it: &&Diagnostic| it.code == Code::UsageNotInherited;
        assert_eq!(few.diagnostics.iter().filter(is_it).count(), 10);
        let many = lint(text(3_000, 3_000).as_bytes(), &config);
        assert_eq!(many.unknown.len(), 1, "{:?}", many.unknown);
        assert!(many.unknown[0].contains("more combinations of preferences"));
    }

    #[test]
    fn repairs() {
        let rows = [
            ("train-ai = n", Some("train-ai=n")),
            ("Train-AI=No, search=yes", Some("train-ai=n, search=y")),
            ("train-ai=n,", Some("train-ai=n")),
            ("train-ai=n search=y", None),
            ("bots = n", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(repaired(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
