//! A decision told in full, as one JSON object in a line, for programs.
//!
//! The object of `portcullis check --json`. Its first members are those of
//! [`json_lines`](super::json_lines), so whoever reads those reads this; then come, always and in
//! this order:
//!
//! | member | what it is |
//! |---|---|
//! | `dialect` | the dialect's name |
//! | `clause` | where its document says so |
//! | `problem` | why the record is no URL, else `null` |
//! | `path` | the path and query that are compared, in normal form; `null` without a policy |
//! | `token` | the token of the agent that the groups name; `null` for default groups |
//! | `groups` | the groups that speak to the agent: `line` and `text` of a user-agent line of each |
//! | `rules_in_groups` | how many rules those have |
//! | `deciding` | the rule that decides, or `null` |
//! | `lost` | the rules that match too, in order of precedence, each with `why` it lost |
//! | `outage` | of a host that is in an outage: `since`, `change` and `copy_captured_at`; else `null` |
//!
//! A rule is `line`, `text` (the record as it stands in the file), `verdict`, `value` (its pattern
//! as written), `pattern` (the same in normal form) and `bytes` (how many that has, which is what
//! precedence counts). `why` is `fewer-bytes`, `allow-goes-first`, `later-line`,
//! `after-first-match` or `always-allowed`. An outage's `change` says what more than 30 days of it changed:
//! `no-change`, `unavailable` (everything is allowed) or `last-good-copy`. What is not UTF-8 has a member
//! with `_base64` behind its name for the exact bytes, and what is long is cut, as in
//! [`json_lines`](super::json_lines). New members may be added at
//! the end.

use std::borrow::Cow;

use serde::Serialize;

use crate::access::{KnownOutage, UnixSeconds};
use crate::batch::Provenance;
use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::policy::{ExplainedGroup, ExplainedRule, Explanation};

use super::clause;
use super::json_lines::{Line, line, shown, shown_cut, write_object};

/// What is known beyond the decision.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The explanation, if a policy is known.
    pub explanation: Option<&'a Explanation>,
    /// Why the record is no URL, if it is none.
    pub problem: Option<&'a str>,
    /// The dialect that was followed.
    pub dialect: &'a Dialect,
}

/// The whole object.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    dialect: &'a str,
    clause: &'a str,
    problem: Option<&'a str>,
    path: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_base64: Option<String>,
    token: Option<&'a str>,
    groups: Vec<Group<'a>>,
    rules_in_groups: usize,
    deciding: Option<Rule<'a>>,
    lost: Vec<Rule<'a>>,
    outage: Option<OutageObject>,
}

/// The outage of a host.
#[derive(Serialize)]
pub struct OutageObject {
    since: String,
    change: &'static str,
    copy_captured_at: Option<String>,
}

impl OutageObject {
    /// The members of `outage`.
    pub fn new(outage: &KnownOutage) -> OutageObject {
        OutageObject {
            since: outage.since.to_rfc3339(),
            change: outage.change.as_str(),
            copy_captured_at: outage.copy_captured_at.map(UnixSeconds::to_rfc3339),
        }
    }
}

#[derive(Serialize)]
struct Group<'a> {
    line: u32,
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_base64: Option<String>,
}

#[derive(Serialize)]
struct Rule<'a> {
    line: u32,
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_base64: Option<String>,
    verdict: &'static str,
    value: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_base64: Option<String>,
    pattern: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern_base64: Option<String>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
}

/// Appends the object for `url` and `agent`, and LF, to `out`.
pub fn write(
    url: &[u8],
    agent: &str,
    decision: &Decision,
    provenance: Provenance<'_>,
    told: Told<'_>,
    out: &mut Vec<u8>,
) {
    let explanation = told.explanation;
    let rules = explanation.map_or(&[][..], |explanation| &explanation.rules);
    let path = explanation.map(|explanation| shown(&explanation.path));
    let (path, path_base64) = path.map_or((None, None), |(path, exact)| (Some(path), exact));
    let object = Object {
        line: line(url, agent, decision, provenance),
        dialect: told.dialect.name,
        clause: clause(told.dialect, decision.reason),
        problem: told.problem,
        path,
        path_base64,
        token: explanation.and_then(|explanation| explanation.token.as_deref()),
        groups: explanation.map_or_else(Vec::new, |told| told.groups.iter().map(group).collect()),
        rules_in_groups: explanation.map_or(0, |explanation| explanation.rules_in_groups),
        deciding: rules.iter().find(|rule| rule.loss.is_none()).map(rule_object),
        lost: rules.iter().filter(|rule| rule.loss.is_some()).map(rule_object).collect(),
        outage: explanation.and_then(|told| told.outage.as_ref()).map(OutageObject::new),
    };
    write_object(&object, out);
}

fn group(group: &ExplainedGroup) -> Group<'_> {
    let (text, text_base64) = shown_cut(&group.text);
    Group { line: group.line.get(), text, text_base64 }
}

fn rule_object(rule: &ExplainedRule) -> Rule<'_> {
    let (text, text_base64) = shown_cut(&rule.text);
    let (value, value_base64) = shown_cut(&rule.value);
    let (pattern, pattern_base64) = shown_cut(&rule.pattern);
    Rule {
        line: rule.line.get(),
        text,
        text_base64,
        verdict: rule.verdict.as_str(),
        value,
        value_base64,
        pattern,
        pattern_base64,
        bytes: rule.pattern.len(),
        why: rule.loss.map(|loss| loss.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};
    use crate::policy::{AgentChain, explain};
    use crate::syntax::RobotsTxt;
    use crate::target::ComparedPath;
    use serde_json::{Value, json};

    const FILE: &[u8] = b"User-agent: *\n dis\xc3\xa4llow: /\n  Disallow:/%7ea # why\nallow: /*\n\
        Allow: /~a\ndisallow: /~a\nAllow: /~a\n";

    fn told(file: &[u8], dialect: &'static Dialect, path: &[u8]) -> Value {
        let agent = AgentChain::parse("Bot", dialect).unwrap();
        let parsed = RobotsTxt::parse(file, dialect, None);
        let path = ComparedPath::assume_normal(path);
        let explanation = explain(&parsed, file, dialect, &agent, path);
        let told = Told { explanation: Some(&explanation), problem: None, dialect };
        let mut out = Vec::new();
        write(b"u", "Bot", &Decision::UNKNOWN, Provenance::default(), told, &mut out);
        serde_json::from_slice(&out).unwrap()
    }

    fn losses(told: &Value) -> Vec<(u64, &str)> {
        let lost = told["lost"].as_array().unwrap().iter();
        lost.map(|rule| (rule["line"].as_u64().unwrap(), rule["why"].as_str().unwrap())).collect()
    }

    #[test]
    fn most_bytes_allow_and_the_earlier_line_win() {
        let told = told(FILE, &RFC_9309, b"/~a");
        let deciding = json!({
            "line": 5, "text": "Allow: /~a", "verdict": "allow", "value": "/~a", "pattern": "/~a",
            "bytes": 3,
        });
        assert_eq!(told["deciding"], deciding);
        let expected = [
            (7, "later-line"),
            (3, "allow-goes-first"),
            (6, "allow-goes-first"),
            (4, "fewer-bytes"),
        ];
        assert_eq!(losses(&told), expected);
        assert_eq!(told["lost"][1]["text"], "Disallow:/%7ea");
        assert_eq!(told["lost"][1]["value"], "/%7ea");
        assert_eq!(told["lost"][1]["pattern"], "/~a");
        assert_eq!(told["rules_in_groups"], 5);
        assert_eq!(told["groups"], json!([{ "line": 1, "text": "User-agent: *" }]));
        assert_eq!(told["token"], Value::Null);
    }

    #[test]
    fn the_first_that_matches_wins() {
        let told = told(FILE, &KOSTER_1996, b"/~a");
        assert_eq!(told["deciding"]["line"], 3);
        assert_eq!(losses(&told), [5, 6, 7].map(|line| (line, "after-first-match")));
    }

    #[test]
    fn nothing_decides_on_what_is_always_allowed() {
        let told = told(b"User-agent: bot\nDisallow: /\n", &RFC_9309, b"/robots.txt");
        assert_eq!(told["deciding"], Value::Null);
        assert_eq!(losses(&told), [(2, "always-allowed")]);
        assert_eq!(told["token"], "Bot");
    }

    #[test]
    fn a_rule_with_two_patterns_is_told_once() {
        let file = b"User-agent: *\nAllow: /a*/index.html\nDisallow: /\n";
        let told = told(file, &GOOGLE, b"/ab/index.html/");
        assert_eq!(told["deciding"]["pattern"], "/a*/index.html");
        assert_eq!(losses(&told), [(3, "fewer-bytes")]);
    }

    #[test]
    fn bytes_that_are_no_text_stand_in_base64() {
        let told = told(b"User-agent: *\nDisallow: /\xff\n", &ORIGINAL_1994, b"/\xff");
        for member in ["text", "value", "pattern"] {
            let shown = told["deciding"][member].as_str().unwrap();
            assert!(shown.ends_with("/\u{fffd}"), "{shown}");
        }
        assert_eq!(told["deciding"]["pattern_base64"], "L/8=");
        assert_eq!(told["path_base64"], "L/8=");
    }

    #[test]
    fn members_are_there_without_a_policy_too() {
        let told = Told { explanation: None, problem: Some("no scheme"), dialect: &RFC_9309 };
        let mut out = Vec::new();
        write(b"u", "Bot", &Decision::INVALID, Provenance::default(), told, &mut out);
        let expected = concat!(
            r#"{"url":"u","agent":"Bot","verdict":"invalid","reason":"bad-url","line":null,"#,
            r#""rule":null,"group":null,"dialect":"rfc9309","#,
            r#""clause":"RFC 3986, section 3: scheme, authority and path of a URI","#,
            r#""problem":"no scheme","path":null,"token":null,"groups":[],"rules_in_groups":0,"#,
            r#""deciding":null,"lost":[],"outage":null}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
