//! Why a decision is what it is: the slow path, for people.
//!
//! It parses the file anew and tries every rule of the chosen groups one by one, so its cost is the
//! file's; use [`PolicyTable`](super::PolicyTable) for answers alone.

use crate::automaton::pattern_matches;
use crate::decision::Verdict;
use crate::dialect::{Dialect, RobotsTxtUrl};
use crate::id::{LineNumber, RuleID};
use crate::pattern::{index_page_text, normal_text};
use crate::syntax::{RobotsTxt, Rule};

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
    /// The rules that match, the one that decides first.
    pub rules: Vec<ExplainedRule>,
    /// The number of rules in those groups.
    pub rules_in_groups: usize,
}

/// A group, by a user-agent line of its.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedGroup {
    /// The value of the line.
    pub user_agent: Vec<u8>,
    /// The line.
    pub line: LineNumber,
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
    /// The pattern in normal form; its octets count for precedence.
    pub pattern: Vec<u8>,
}

/// Explains what `text` says to `agent` of `path`, which is in normal form.
pub fn explain(
    text: &[u8],
    octets_max: Option<usize>,
    dialect: &Dialect,
    agent: &AgentChain,
    path: &[u8],
) -> Explanation {
    let file = RobotsTxt::parse(text, dialect, octets_max);
    let mut explanation = Explanation {
        path: path.to_vec(),
        robots_txt: dialect.paths.robots_txt == RobotsTxtUrl::AlwaysAllowed
            && path == b"/robots.txt",
        token: None,
        groups: Vec::new(),
        rules: Vec::new(),
        rules_in_groups: 0,
    };
    let Selection::Groups { groups, token } = Selection::of(&file, agent, dialect) else {
        return explanation;
    };
    let token = token.and_then(|position| agent.tokens().nth(position));
    explanation.token = token.map(str::to_owned);
    let explained = |&group: &usize| {
        let line = speaking_line(&file, group, token, dialect);
        ExplainedGroup { user_agent: line.value.to_vec(), line: line.line }
    };
    explanation.groups = groups.iter().map(explained).collect();
    explanation.rules_in_groups =
        groups.iter().map(|&group| file.rules_of(&file.groups()[group]).len()).sum();
    explanation.rules = matching_rules(&file, &groups, dialect, path);
    explanation
}

/// The rules that match, in order of precedence.
fn matching_rules(
    file: &RobotsTxt<'_>,
    groups: &[usize],
    dialect: &Dialect,
    path: &[u8],
) -> Vec<ExplainedRule> {
    let ordered = OrderedRules::new(file, groups, &dialect.paths);
    let patterns = ordered.patterns.iter().zip(&ordered.rules);
    let matching = patterns.filter(|(pattern, _)| pattern_matches(pattern, path));
    matching
        .map(|(pattern, &rule)| {
            let written = &file.rules()[rule.index()];
            ExplainedRule {
                verdict: written.verdict,
                rule,
                line: written.line,
                value: written.value.to_vec(),
                pattern: pattern_text(written, pattern.anchored, dialect),
            }
        })
        .collect()
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
