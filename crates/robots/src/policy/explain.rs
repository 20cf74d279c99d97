//! Why a decision is what it is: the slow path, for people.
//!
//! It tries every rule of the chosen groups one by one; use [`batch`](crate::batch) for answers alone.

use crate::access::KnownOutage;
use crate::syntax::{RobotsTxt, Rule, Span};
use crate::target::ComparedPath;
use portcullis_dialect::decision::Verdict;
use portcullis_dialect::dialect::{Dialect, Precedence, RobotsTxtUrl};
use portcullis_dialect::id::{LineNumber, RuleID};
use portcullis_matcher::automaton::pattern_matches;
use portcullis_matcher::pattern::{index_page_text, normal_text};

use super::select::speaking_line;
use super::{AgentChain, OrderedRules, Selection};

/// Why a decision is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The path and query that are compared, in normal form.
    pub path: Vec<u8>,
    /// Whether the dialect allows the path because it is that of robots.txt.
    pub robots_txt: bool,
    /// The agent's token that the groups name; none if they are default groups.
    pub token: Option<String>,
    /// The groups that speak to the agent; none if the file has none for it.
    pub groups: Vec<ExplainedGroup>,
    /// The rules that match, each once, in order of precedence: the one that decides is first, unless
    /// the path is allowed for its own sake.
    pub rules: Vec<ExplainedRule>,
    /// The number of rules in those groups.
    pub rules_in_groups: usize,
    /// The outage that the host is in, if it is known to be in one.
    pub outage: Option<KnownOutage>,
}

/// A group, by a user-agent line of its.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedGroup {
    /// The value of the line.
    pub user_agent: Vec<u8>,
    /// The line.
    pub line: LineNumber,
    /// The record as it stands in the file, without white space around it and without comment.
    pub text: Vec<u8>,
}

/// A rule that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedRule {
    /// What it says.
    pub verdict: Verdict,
    /// Its number in the file.
    pub rule: RuleID,
    /// Its line.
    pub line: LineNumber,
    /// Its value as it stands in the file.
    pub value: Vec<u8>,
    /// The record as it stands in the file, without white space around it and without comment.
    pub text: Vec<u8>,
    /// The pattern in normal form; its bytes count for precedence.
    pub pattern: Vec<u8>,
    /// Why it does not decide; nothing if it does.
    pub loss: Option<Loss>,
}

/// Why a rule that matches does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// Its pattern has fewer bytes.
    FewerBytes,
    /// Its pattern has as many bytes, and the rule that decides allows.
    AllowGoesFirst,
    /// Its pattern has as many bytes and it says the same, in a later line.
    LaterLine,
    /// It stands after the first rule that matches, in a dialect in which that one decides.
    AfterFirstMatch,
    /// The dialect always allows the URL of robots.txt.
    AlwaysAllowed,
}

impl Loss {
    /// The word for it that programs read.
    pub fn as_str(self) -> &'static str {
        match self {
            Loss::FewerBytes => "fewer-bytes",
            Loss::AllowGoesFirst => "allow-goes-first",
            Loss::LaterLine => "later-line",
            Loss::AfterFirstMatch => "after-first-match",
            Loss::AlwaysAllowed => "always-allowed",
        }
    }

    /// Why `rule` lost to `deciding`.
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

/// Explains what `file`, whose spans are those of `text`, says to `agent` of `path`.
pub fn explain(
    file: &RobotsTxt<'_>,
    text: &[u8],
    dialect: &Dialect,
    agent: &AgentChain,
    path: ComparedPath<'_>,
) -> Explanation {
    let path = path.as_bytes();
    let mut explanation = Explanation {
        path: path.to_vec(),
        robots_txt: dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed
            && path == b"/robots.txt",
        token: None,
        groups: Vec::new(),
        rules: Vec::new(),
        rules_in_groups: 0,
        outage: None,
    };
    let Selection::Groups { groups, token } = Selection::of(file, agent, dialect) else {
        return explanation;
    };
    let token = token.and_then(|position| agent.tokens().nth(position));
    explanation.token = token.map(str::to_owned);
    let explained = |&group: &usize| {
        let line = speaking_line(file, group, token, dialect);
        let (user_agent, text) = (line.value.to_vec(), written(text, line.span));
        ExplainedGroup { user_agent, line: line.line, text }
    };
    explanation.groups = groups.iter().map(explained).collect();
    explanation.rules_in_groups =
        groups.iter().map(|&group| file.rules_of(&file.groups()[group]).len()).sum();
    explanation.rules = matching_rules(text, file, &groups, dialect, path);
    judge(&mut explanation, dialect);
    explanation
}

/// A record as it stands in the file.
fn written(text: &[u8], record: Span) -> Vec<u8> {
    text[record.range()].to_vec()
}

/// Says of each rule but the one that decides why it does not.
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

/// The rules that match, in order of precedence. A rule that matches by both its patterns is there
/// once, by the one that comes first.
fn matching_rules(
    text: &[u8],
    file: &RobotsTxt<'_>,
    groups: &[usize],
    dialect: &Dialect,
    path: &[u8],
) -> Vec<ExplainedRule> {
    let ordered = OrderedRules::new(file, groups, &dialect.paths);
    let patterns = ordered.patterns.iter().zip(&ordered.rules);
    let mut matching: Vec<ExplainedRule> = Vec::new();
    for (pattern, &id) in patterns.filter(|(pattern, _)| pattern_matches(pattern, path)) {
        if matching.iter().any(|other| other.rule == id) {
            continue;
        }
        let rule = &file.rules()[id.index()];
        matching.push(ExplainedRule {
            verdict: rule.verdict,
            rule: id,
            line: rule.line,
            value: rule.value.to_vec(),
            text: written(text, rule.span),
            pattern: pattern_text(rule, pattern.anchored, dialect),
            loss: None,
        });
    }
    matching
}

/// The normal text of the pattern of `rule` that is anchored or not: a rule that stands for two
/// patterns has the directory's anchored and its own not, or its own is the longer.
fn pattern_text(rule: &Rule<'_>, anchored: bool, dialect: &Dialect) -> Vec<u8> {
    let mut text = Vec::new();
    normal_text(rule.value, &dialect.paths, &mut text);
    if anchored && rule.verdict == Verdict::Allow && !text.ends_with(b"$") {
        return index_page_text(&text, &dialect.paths).unwrap_or(text);
    }
    text
}
