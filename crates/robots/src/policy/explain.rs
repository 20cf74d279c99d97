//! Explanations of decisions and of usage preferences.
//!
//! Tries every rule and every usage statement of the groups that apply, one by one; use
//! [`Robots`](crate::Robots) or a policy set for decisions alone.

use std::cmp::Reverse;

use hashbrown::HashSet;

use crate::syntax::{RobotsTxt, Span, Statement};
use crate::url::{ComparedPath, normal_text};
use portcullis_dialect::usage::UsageSource;
use portcullis_dialect::{
    Dialect, Label, LineNumber, PathRules, Precedence, Preference, RuleID, Verdict, words,
};
use portcullis_engine::pattern::Pattern;

use super::rules::{RuleText, RuleTexts, sort};
use super::select::naming_line;
use super::{AgentChain, Selection, UsageGroups};

/// An explanation of a decision.
///
/// Serialized with bytes as text: bytes that are not UTF-8 become U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Explanation {
    /// The compared path and query, in normal form.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub path: Vec<u8>,
    /// Whether the dialect allows the path because it is that of robots.txt.
    pub robots_txt: bool,
    /// The agent's token that the groups name; `None` for default groups.
    pub token: Option<String>,
    /// The groups that apply; empty if none does.
    pub groups: Vec<ExplainedGroup>,
    /// The matching rules, each once, in order of precedence. The first one decides, unless
    /// `robots_txt` is set.
    pub rules: Vec<ExplainedRule>,
    /// The number of rules in the groups.
    pub rules_in_groups: usize,
    /// The usage preferences for the path.
    pub usage: UsageExplanation,
}

/// An explanation of the usage preferences for a path. They hold where access is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UsageExplanation {
    /// The agent's token that the groups name; `None` for default groups.
    pub token: Option<String>,
    /// The groups that apply, as usage divides them; empty if none does.
    pub groups: Vec<ExplainedGroup>,
    /// The number of statements that hold for the agent, on any path.
    pub statements: usize,
    /// For each label, in the order of [`Label::ALL`]: the matching statements of the field that
    /// decides in order of precedence, then those of the other field. The first one decides.
    pub labels: [Vec<ExplainedStatement>; Label::ALL.len()],
    /// The licences that hold for the agent.
    pub licenses: Vec<ExplainedLicense>,
}

impl UsageExplanation {
    /// Returns the deciding statement about a label; `None` if no statement matches.
    pub fn deciding(&self, label: Label) -> Option<&ExplainedStatement> {
        self.labels[label as usize].first()
    }
}

/// A matching statement, as it concerns one label.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExplainedStatement {
    /// The preference that it states for the label.
    pub preference: Preference,
    /// The kind of record.
    pub source: UsageSource,
    /// Its line.
    pub line: LineNumber,
    /// Its value as written.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub value: Vec<u8>,
    /// The record as written, without surrounding white space and comment.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub text: Vec<u8>,
    /// The path pattern in normal form, whose length counts for precedence; empty if the statement
    /// is about every path.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub pattern: Vec<u8>,
    /// Whether the value can be read. If not, the record states no preference.
    pub is_readable: bool,
    /// Why the statement loses; `None` for the deciding one.
    pub loss: Option<Loss>,
}

/// A licence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExplainedLicense {
    /// Its line.
    pub line: LineNumber,
    /// The URI as written.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub value: Vec<u8>,
}

/// A group, by one of its user-agent lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExplainedGroup {
    /// The value of the line.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub user_agent: Vec<u8>,
    /// The line.
    pub line: LineNumber,
    /// The record as written, without surrounding white space and comment.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub text: Vec<u8>,
}

/// A matching rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExplainedRule {
    /// Its verdict.
    pub verdict: Verdict,
    /// Its number in the file.
    pub rule: RuleID,
    /// Its line.
    pub line: LineNumber,
    /// Its value as written.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub value: Vec<u8>,
    /// The record as written, without surrounding white space and comment.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub text: Vec<u8>,
    /// The pattern in normal form, whose length counts for precedence.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub pattern: Vec<u8>,
    /// Why the rule loses; `None` for the deciding rule.
    pub loss: Option<Loss>,
}

#[cfg(feature = "serde")]
fn as_text<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

words! {
    /// Why a matching rule or statement loses.
    pub enum Loss {
        /// Its pattern has fewer bytes.
        FewerBytes = 0 => "fewer-bytes",
        /// Its pattern has as many bytes, and the deciding rule allows.
        AllowGoesFirst = 1 => "allow-goes-first",
        /// Its pattern has as many bytes and the same verdict or preference, on a later line.
        LaterLine = 2 => "later-line",
        /// It follows the first matching rule, and the dialect's first match decides.
        AfterFirstMatch = 3 => "after-first-match",
        /// The dialect always allows the URL of robots.txt.
        AlwaysAllowed = 4 => "always-allowed",
        /// Its pattern has as many bytes, and the preference of the deciding statement goes first:
        /// `n`, then `y`, then none.
        PreferenceGoesFirst = 5 => "preference-goes-first",
        /// It is the first of its field. The deciding statement is of the other field: its
        /// preference goes first or, of equal ones, it is on an earlier line.
        OtherField = 6 => "other-field",
    }
}

impl Loss {
    /// Returns why `rule` lost to `deciding`.
    fn to(rule: &ExplainedRule, deciding: &ExplainedRule, precedence: Precedence) -> Loss {
        match precedence {
            Precedence::FirstInFile => Loss::AfterFirstMatch,
            Precedence::MostBytes if rule.pattern.len() < deciding.pattern.len() => {
                Loss::FewerBytes
            }
            Precedence::MostBytes if rule.verdict != deciding.verdict => Loss::AllowGoesFirst,
            Precedence::MostBytes => Loss::LaterLine,
        }
    }
}

/// Explains the decision of `file`, which was parsed from `text`, for `agent` on `path`.
pub fn explain(
    file: &RobotsTxt<'_>,
    text: &[u8],
    dialect: &Dialect,
    agent: Option<&AgentChain>,
    path: ComparedPath<'_>,
) -> Explanation {
    let path = path.as_bytes();
    let mut explanation = Explanation {
        path: path.to_vec(),
        robots_txt: dialect.paths.always_allows(path),
        token: None,
        groups: Vec::new(),
        rules: Vec::new(),
        rules_in_groups: 0,
        usage: explain_usage(file, text, dialect, agent, path),
    };
    let Selection { groups, token } = Selection::of(file, agent, dialect);
    let token = token.and_then(|position| agent?.tokens().nth(position));
    explanation.token = token.map(str::to_owned);
    explanation.groups = explained_groups(file, text, dialect, &groups, token);
    explanation.rules_in_groups =
        groups.iter().map(|&group| file.rules_of(&file.groups()[group]).len()).sum();
    explanation.rules = matching_rules(text, file, &groups, &dialect.paths, path);
    judge(&mut explanation, dialect);
    explanation
}

fn explained_groups(
    file: &RobotsTxt<'_>,
    text: &[u8],
    dialect: &Dialect,
    groups: &[usize],
    token: Option<&str>,
) -> Vec<ExplainedGroup> {
    let explained = |&group: &usize| {
        let line = naming_line(file, group, token, dialect);
        let (user_agent, text) = (line.value.to_vec(), written(text, line.span));
        ExplainedGroup { user_agent, line: line.line, text }
    };
    groups.iter().map(explained).collect()
}

fn explain_usage(
    file: &RobotsTxt<'_>,
    text: &[u8],
    dialect: &Dialect,
    agent: Option<&AgentChain>,
    path: &[u8],
) -> UsageExplanation {
    let usage = UsageGroups::new(file);
    let Selection { groups, token } = Selection::among_groups(usage.file(), agent, dialect);
    let token = token.and_then(|position| agent?.tokens().nth(position));
    let mut explanation = UsageExplanation {
        token: token.map(str::to_owned),
        groups: explained_groups(usage.file(), text, dialect, &groups, token),
        ..UsageExplanation::default()
    };
    for number in usage.in_force(&groups) {
        let record = &file.usage_records()[number as usize];
        let (line, value) = (record.line, record.value.to_vec());
        let Some(statement) = Statement::of(record) else {
            explanation.licenses.push(ExplainedLicense { line, value });
            continue;
        };
        explanation.statements += 1;
        let Some(pattern) = matching_pattern(&statement, dialect, path) else { continue };
        for label in Label::ALL {
            explanation.labels[label as usize].push(ExplainedStatement {
                preference: statement.of_label(label),
                source: statement.source,
                line,
                value: value.clone(),
                text: written(text, record.span),
                pattern: pattern.clone(),
                is_readable: statement.is_readable,
                loss: None,
            });
        }
    }
    explanation.labels.iter_mut().for_each(|of_label| judge_statements(of_label));
    explanation
}

/// Puts the matching statements about a label in order of precedence, and sets the loss of every one
/// except the deciding one.
fn judge_statements(statements: &mut [ExplainedStatement]) {
    let rank = |it: &ExplainedStatement| it.preference.rank();
    // The sort is stable: of equals, the earlier line goes first.
    statements.sort_by_key(|it| (it.source as u8, Reverse(it.pattern.len()), rank(it)));
    let of_signal = statements.partition_point(|it| it.source == UsageSource::ContentUsage);
    let (usage, signal) = statements.split_at_mut(of_signal);
    judge_field(usage);
    judge_field(signal);
    if let ([usage, ..], [signal, ..]) = (usage, signal) {
        let key = |it: &ExplainedStatement| (rank(it), it.line);
        let (is_signal, loser) =
            if key(signal) < key(usage) { (true, usage) } else { (false, signal) };
        loser.loss = Some(Loss::OtherField);
        statements.rotate_left(if is_signal { of_signal } else { 0 });
    }
}

/// Sets the loss of the statements of one field, which are in order of precedence, except the first.
fn judge_field(statements: &mut [ExplainedStatement]) {
    let Some((first, others)) = statements.split_first_mut() else { return };
    for statement in others {
        let is_shorter = statement.pattern.len() < first.pattern.len();
        let is_other = statement.preference != first.preference;
        statement.loss = Some(match (is_shorter, is_other) {
            (true, _) => Loss::FewerBytes,
            (false, true) => Loss::PreferenceGoesFirst,
            (false, false) => Loss::LaterLine,
        });
    }
}

/// Returns the pattern of a statement in normal form, or `None` if it does not match `path`.
fn matching_pattern(statement: &Statement<'_>, dialect: &Dialect, path: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let Some(written) = statement.path else { return Some(text) };
    if !normal_text(written, &dialect.paths, &mut text) {
        return None;
    }
    Pattern::of_text(&text, dialect.paths.wildcards).matches(path).then_some(text)
}

/// Returns a record as written.
fn written(text: &[u8], record: Span) -> Vec<u8> {
    text[record.range()].to_vec()
}

/// Sets the loss of every rule except the deciding one.
fn judge(explanation: &mut Explanation, dialect: &Dialect) {
    if explanation.robots_txt {
        for rule in &mut explanation.rules {
            rule.loss = Some(Loss::AlwaysAllowed);
        }
    } else if let Some((deciding, others)) = explanation.rules.split_first_mut() {
        for rule in others {
            rule.loss = Some(Loss::to(rule, deciding, dialect.paths.precedence));
        }
    }
}

/// Returns the matching rules in order of precedence. A rule with two matching patterns is listed
/// once, by the pattern that precedes.
fn matching_rules(
    text: &[u8],
    file: &RobotsTxt<'_>,
    groups: &[usize],
    paths: &PathRules,
    path: &[u8],
) -> Vec<ExplainedRule> {
    let texts = RuleTexts::new(file, groups, paths);
    let mut known: HashSet<RuleID, foldhash::fast::RandomState> = HashSet::default();
    let mut matching: Vec<RuleText> = texts.matching(path, paths.wildcards).copied().collect();
    sort(&mut matching, paths);
    matching.retain(|entry| known.insert(entry.rule));
    let explained = |entry: &RuleText| {
        let rule = &file.rules()[entry.rule.index()];
        ExplainedRule {
            verdict: rule.verdict,
            rule: entry.rule,
            line: rule.line,
            value: rule.value.to_vec(),
            text: written(text, rule.span),
            pattern: texts.text(entry).to_vec(),
            loss: None,
        }
    };
    matching.iter().map(explained).collect()
}
