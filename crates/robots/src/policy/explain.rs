//! Explanations of decisions and of usage preferences.
//!
//! Tries every rule and every usage statement of the groups that apply, one by one; use
//! [`Robots`](crate::Robots) or a policy set for decisions alone.

use std::cmp::Reverse;
use std::fmt;

use hashbrown::HashSet;

use crate::syntax::{RobotsTxt, Span, Statement};
use portcullis_dialect::usage::UsageSource;
use portcullis_dialect::{
    Dialect, Label, LineNumber, Precedence, Preference, RuleID, Verdict, words,
};
use portcullis_engine::pattern::Pattern;

use super::asked::WrittenRules;
use super::rules::{RuleText, sorted};
use super::select::naming_line;
use super::{Crawler, Selection, UsageGroups, pattern_of};

/// An explanation of a decision. As text, it has a line for each group and rule:
///
/// ```
/// # use portcullis_robots as portcullis;
/// use portcullis::Robots;
///
/// let robots = Robots::parse("User-agent: *\nDisallow: /a\nAllow: /a/b\n");
/// let lines = [
///     "path /a/b",
///     "group of line 1: User-agent: *",
///     "line 3: Allow: /a/b decides",
///     "line 2: Disallow: /a loses (fewer-bytes)",
/// ];
/// assert_eq!(robots.explain("ExampleBot", "/a/b")?.to_string(), lines.join("\n"));
/// # Ok::<(), portcullis_robots::url::BadUrl>(())
/// ```
///
/// Serialized with bytes as text: bytes that are not UTF-8 become U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The compared path and query, in normal form.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub path: Vec<u8>,
    /// Whether the dialect allows the path because it is the path of robots.txt.
    pub robots_txt: bool,
    /// The agent's token that the groups name; `None` if the default groups apply, or none.
    pub token: Option<String>,
    /// The groups that apply, each by the user-agent line that names the agent; empty if none does.
    pub groups: Vec<ExplainedRecord>,
    /// The matching rules, each once, in order of precedence. The first one decides, unless
    /// `robots_txt` is set.
    pub rules: Vec<ExplainedRule>,
    /// The number of rules in the groups.
    pub rules_in_groups: usize,
    /// The usage preferences for the path.
    pub usage: UsageExplanation,
}

/// The path, then a line for each group that applies and for each matching rule, the deciding one first.
///
/// Control characters of the file are escaped.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "path {}", shown(&self.path))?;
        if self.robots_txt {
            write!(f, ": always allowed")?;
        }
        if self.groups.is_empty() {
            write!(f, "\nno group applies")?;
        }
        for ExplainedRecord { line, text, .. } in &self.groups {
            write!(f, "\ngroup of line {line}: {}", shown(text))?;
        }
        if self.rules.is_empty() && !self.groups.is_empty() {
            write!(f, "\nno rule matches")?;
        }
        for ExplainedRule { record: ExplainedRecord { line, text, .. }, loss, .. } in &self.rules {
            write!(f, "\nline {line}: {} ", shown(text))?;
            match loss {
                None => write!(f, "decides")?,
                Some(loss) => write!(f, "loses ({loss})")?,
            }
        }
        Ok(())
    }
}

/// Returns bytes of a file as text, with control characters escaped.
fn shown(bytes: &[u8]) -> String {
    let mut out = String::new();
    for character in String::from_utf8_lossy(bytes).chars() {
        match character.is_control() {
            true => out.extend(character.escape_default()),
            false => out.push(character),
        }
    }
    out
}

/// An explanation of the usage preferences for a path. They hold where access is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct UsageExplanation {
    /// The agent's token that the groups name; `None` if the default groups apply, or none.
    pub token: Option<String>,
    /// The groups that apply, as usage divides them; empty if none does.
    pub groups: Vec<ExplainedRecord>,
    /// The number of statements that hold for the agent, on any path.
    pub statements: usize,
    /// For each label, in the order of [`Label::ALL`]: the matching statements of the field that
    /// decides in order of precedence, then the statements of the other field. The first one decides.
    pub labels: [Vec<ExplainedStatement>; Label::ALL.len()],
    /// The licences that hold for the agent. The value is the URI.
    pub licenses: Vec<ExplainedRecord>,
}

impl UsageExplanation {
    /// Returns the deciding statement about a label; `None` if no statement matches.
    pub fn deciding(&self, label: Label) -> Option<&ExplainedStatement> {
        self.labels[label as usize].first()
    }
}

/// A record of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExplainedRecord {
    /// Its line.
    pub line: LineNumber,
    /// Its value as written.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub value: Vec<u8>,
    /// All of it as written, without surrounding white space and comment.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub text: Vec<u8>,
}

/// A matching rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExplainedRule {
    /// Its verdict.
    pub verdict: Verdict,
    /// Its number in the file.
    pub rule: RuleID,
    /// Its record.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub record: ExplainedRecord,
    /// The pattern in normal form, whose length counts for precedence.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub pattern: Vec<u8>,
    /// Why the rule loses; `None` for the deciding rule.
    pub loss: Option<Loss>,
}

/// A matching statement, as it concerns one label.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExplainedStatement {
    /// The preference that it states for the label.
    pub preference: Preference,
    /// The kind of record.
    pub source: UsageSource,
    /// Its record.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub record: ExplainedRecord,
    /// The path pattern in normal form, whose length counts for precedence; empty if the statement
    /// is about every path.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub pattern: Vec<u8>,
    /// Whether the value can be read. If not, the record states no preference.
    pub is_readable: bool,
    /// Why the statement loses; `None` for the deciding one.
    pub loss: Option<Loss>,
}

#[cfg(feature = "serde")]
fn as_text<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

words! {
    /// Why a matching rule or statement loses.
    #[non_exhaustive]
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
    /// Returns why a pattern of `bytes` bytes lost to one of `most`: `of_equals` if neither is longer and
    /// that is not `None`.
    fn by_bytes(bytes: usize, most: usize, of_equals: Option<Loss>) -> Loss {
        match bytes < most {
            true => Loss::FewerBytes,
            false => of_equals.unwrap_or(Loss::LaterLine),
        }
    }
}

/// An explanation in progress: a file, the text that it was parsed from, and an agent.
struct Explainer<'f, 't> {
    text: &'f [u8],
    dialect: &'f Dialect,
    agent: &'f Crawler,
    file: &'f RobotsTxt<'t>,
    path: &'f [u8],
}

/// Explains the decision of `file`, which was parsed from `text`, for `agent` on `path`, a path in normal
/// form.
pub fn explain(
    file: &RobotsTxt<'_>,
    text: &[u8],
    dialect: &Dialect,
    agent: &Crawler,
    path: &[u8],
) -> Explanation {
    let explainer = Explainer { text, dialect, agent, file, path };
    let selection = Selection::of(file, agent, dialect);
    let (token, groups) = explainer.groups(file, &selection);
    let in_groups = selection.groups.iter().map(|&group| file.groups()[group].rules.len());
    Explanation {
        path: path.to_vec(),
        robots_txt: dialect.paths.always_allows(path),
        token,
        groups,
        rules: explainer.rules(&selection.groups),
        rules_in_groups: in_groups.sum(),
        usage: explainer.usage(),
    }
}

impl Explainer<'_, '_> {
    fn record(&self, line: LineNumber, value: &[u8], span: Span) -> ExplainedRecord {
        ExplainedRecord { line, value: value.to_vec(), text: self.text[span.range()].to_vec() }
    }

    /// Returns the agent's token that the selected groups of `file` name, and the groups.
    fn groups(
        &self,
        file: &RobotsTxt<'_>,
        selection: &Selection,
    ) -> (Option<String>, Vec<ExplainedRecord>) {
        let token = selection.token.and_then(|position| self.agent.tokens().nth(position));
        let record = |&group: &usize| {
            let line = naming_line(file, group, token, self.dialect);
            self.record(line.line, line.value, line.span)
        };
        (token.map(str::to_owned), selection.groups.iter().map(record).collect())
    }

    /// Returns the matching rules in order of precedence. A rule with two matching patterns is listed
    /// once, by the pattern that precedes.
    fn rules(&self, groups: &[usize]) -> Vec<ExplainedRule> {
        let paths = &self.dialect.paths;
        let texts =
            WrittenRules::new(self.file, self.text, groups, paths).matching(self.path, paths);
        let mut known: HashSet<RuleID, foldhash::fast::RandomState> = HashSet::default();
        let mut matching = sorted(&texts.entries, paths);
        matching.retain(|entry| known.insert(entry.rule));
        let first = matching.first().map(|it| (texts.text(it).len(), it.verdict));
        let loss = |it: &RuleText| match (paths.precedence, first?) {
            _ if paths.always_allows(self.path) => Some(Loss::AlwaysAllowed),
            _ if it.rule == matching[0].rule => None,
            (Precedence::FirstInFile, _) => Some(Loss::AfterFirstMatch),
            (Precedence::MostBytes, (most, verdict)) => {
                let of_equals = (it.verdict != verdict).then_some(Loss::AllowGoesFirst);
                Some(Loss::by_bytes(texts.text(it).len(), most, of_equals))
            }
        };
        let explained = |it: &RuleText| {
            let rule = &self.file.rules()[it.rule.index()];
            ExplainedRule {
                verdict: rule.verdict,
                rule: it.rule,
                record: self.record(rule.line, rule.value, rule.span),
                pattern: texts.text(it).to_vec(),
                loss: loss(it),
            }
        };
        matching.iter().map(explained).collect()
    }

    fn usage(&self) -> UsageExplanation {
        let usage = UsageGroups::new(self.file);
        let selection = Selection::among_groups(usage.file(), self.agent, self.dialect);
        let (token, groups) = self.groups(usage.file(), &selection);
        let mut explanation = UsageExplanation { token, groups, ..UsageExplanation::default() };
        for number in usage.in_force(&selection.groups) {
            let usage = &self.file.usage_records()[number as usize];
            let record = self.record(usage.line, usage.value, usage.span);
            let Some(statement) = Statement::of(usage) else {
                explanation.licenses.push(record);
                continue;
            };
            explanation.statements += 1;
            let paths = &self.dialect.paths;
            // An empty text matches every path.
            let pattern = pattern_of(&statement, paths)
                .filter(|text| Pattern::from_text(text, paths.wildcards).matches(self.path));
            let Some(pattern) = pattern else { continue };
            for label in Label::ALL {
                explanation.labels[label as usize].push(ExplainedStatement {
                    preference: statement.of_label(label),
                    source: statement.source,
                    record: record.clone(),
                    pattern: pattern.clone(),
                    is_readable: statement.is_readable,
                    loss: None,
                });
            }
        }
        explanation.labels.iter_mut().for_each(|of_label| judge(of_label));
        explanation
    }
}

/// Puts the matching statements about a label in order of precedence, and sets the loss of every one
/// except the deciding one.
fn judge(statements: &mut [ExplainedStatement]) {
    let rank = |it: &ExplainedStatement| it.preference.rank();
    // The sort is stable: of equals, the earlier line goes first.
    statements.sort_by_key(|it| (it.source as u8, Reverse(it.pattern.len()), rank(it)));
    let of_signal = statements.partition_point(|it| it.source == UsageSource::ContentUsage);
    let (usage, signal) = statements.split_at_mut(of_signal);
    for of_field in [&mut *usage, &mut *signal] {
        let Some((first, others)) = of_field.split_first_mut() else { continue };
        for it in others {
            let differs = it.preference != first.preference;
            let of_equals = differs.then_some(Loss::PreferenceGoesFirst);
            it.loss = Some(Loss::by_bytes(it.pattern.len(), first.pattern.len(), of_equals));
        }
    }
    if let ([usage, ..], [signal, ..]) = (usage, signal) {
        let key = |it: &ExplainedStatement| (rank(it), it.record.line);
        let (is_signal, loser) =
            if key(signal) < key(usage) { (true, usage) } else { (false, signal) };
        loser.loss = Some(Loss::OtherField);
        statements.rotate_left(if is_signal { of_signal } else { 0 });
    }
}
