//! One decision in full, as a block of plain text for people.
//!
//! Owns the layout that `portcullis check --explain` prints below a verdict. Text is
//! [visible](portcullis_robots::visible) and cut if it is long. For programs use
//! [`explanation_json`](super::explanation_json).

use std::io::{self, Write};

use portcullis_dialect::decision::{Decision, Reason};
use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::{Explanation, Loss};
use portcullis_robots::visible::{cut_to_show, visible};
use portcullis_set::batch::Explained;

/// Returns the clause of the dialect's document that a decision for `reason` follows.
///
/// ```
/// use portcullis_dialect::decision::Reason;
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_report::clause;
///
/// assert!(clause(&RFC_9309, Reason::Rule).starts_with("RFC 9309, section 2.2.2"));
/// ```
pub fn clause(dialect: &Dialect, reason: Reason) -> &'static str {
    let clauses = &dialect.clauses;
    match reason {
        Reason::Rule | Reason::NoRule => clauses.rules,
        Reason::NoGroup | Reason::NoRules => clauses.groups,
        Reason::RobotsTxt => clauses.robots_txt,
        Reason::Unavailable => clauses.unavailable,
        Reason::Unreachable | Reason::Deferred => clauses.unreachable,
        Reason::NoPolicy => clauses.scope,
        Reason::Expired => "RFC 9309, section 2.4: caching",
        Reason::BadUrl => "RFC 3986, section 3: scheme, authority and path of a URI",
    }
}

/// Writes why `decision` was made for `agent`: the explanation if a policy is known, or the `problem`
/// if the record is not a URL.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    agent: &str,
    decision: &Decision,
    explained: Option<&Explained>,
    problem: Option<&str>,
    dialect: &Dialect,
    out: &mut impl Write,
) -> io::Result<()> {
    write_field("agent", agent.as_bytes(), out)?;
    write_field("reason", decision.reason.as_str().as_bytes(), out)?;
    if let Some(problem) = problem {
        write_field("problem", problem.as_bytes(), out)?;
    }
    if let Some(Explained { explanation, outage }) = explained {
        if let Some(outage) = outage {
            write_field("outage", outage.to_string().as_bytes(), out)?;
        }
        write_explanation(explanation, out)?;
    }
    write_field("clause", clause(dialect, decision.reason).as_bytes(), out)
}

fn write_explanation(explanation: &Explanation, out: &mut impl Write) -> io::Result<()> {
    for group in &explanation.groups {
        let why = match &explanation.token {
            Some(token) => format!("it names {token}"),
            None => "no group names the agent".into(),
        };
        write_with_remark("group", &group.text, &format!("line {}: {why}", group.line), out)?;
    }
    write_field("path", &explanation.path, out)?;
    if explanation.rules.is_empty() {
        let none = format!("none of {} matches", explanation.rules_in_groups);
        write_field("rules", none.as_bytes(), out)?;
    }
    let most = explanation.rules.first().map_or(0, |rule| rule.pattern.len());
    for rule in &explanation.rules {
        let (name, why) = match rule.loss {
            None => ("rule", "it decides".into()),
            Some(loss) => ("lost", why_lost(loss, rule.pattern.len(), most)),
        };
        write_with_remark(name, &rule.text, &format!("line {}: {why}", rule.line), out)?;
        if rule.loss.is_none() || rule.pattern != rule.value {
            write_field("pattern", &rule.pattern, out)?;
        }
    }
    Ok(())
}

/// Why a rule with a pattern of `bytes` lost where the first has `most` bytes.
fn why_lost(loss: Loss, bytes: usize, most: usize) -> String {
    match loss {
        Loss::FewerBytes => format!("{bytes} bytes against {most}"),
        Loss::AllowGoesFirst => format!("{bytes} bytes as well, and Allow goes first"),
        Loss::LaterLine => format!("{bytes} bytes as well, and it comes later"),
        Loss::AfterFirstMatch => "it comes after the first that matches".into(),
        Loss::AlwaysAllowed => "the dialect always allows this path".into(),
    }
}

fn write_field(name: &str, value: &[u8], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  {name:<8} {}", visible(&cut_to_show(value)))
}

fn write_with_remark(
    name: &str,
    value: &[u8],
    remark: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "  {name:<8} {}  ({})", visible(&cut_to_show(value)), visible(remark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::decision::Verdict;
    use portcullis_dialect::dialect::RFC_9309;
    use portcullis_dialect::id::{LineNumber, RuleID};
    use portcullis_robots::policy::{ExplainedGroup, ExplainedRule};

    fn rule(verdict: Verdict, value: &str, line: u32, loss: Option<Loss>) -> ExplainedRule {
        let field = if verdict == Verdict::Allow { "Allow: " } else { "DISALLOW : " };
        ExplainedRule {
            verdict,
            rule: RuleID(line),
            line: LineNumber::new(line).unwrap(),
            value: value.into(),
            text: [field, value].concat().into(),
            pattern: value.into(),
            loss,
        }
    }

    fn explanation(rules: Vec<ExplainedRule>) -> Explanation {
        Explanation {
            path: b"/private/x".into(),
            robots_txt: false,
            token: Some("Googlebot".into()),
            groups: vec![ExplainedGroup {
                user_agent: b"googlebot".into(),
                line: LineNumber::FIRST,
                text: b"User-Agent:googlebot".into(),
            }],
            rules_in_groups: rules.len(),
            rules,
        }
    }

    fn shown(explanation: &Explanation, decision: Decision) -> String {
        let mut out = Vec::new();
        let explained = Explained { explanation: explanation.clone(), outage: None };
        write("Googlebot", &decision, Some(&explained), None, &RFC_9309, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_rule_and_what_it_beat() {
        let found = explanation(vec![
            rule(Verdict::Disallow, "/private/", 4, None),
            rule(Verdict::Disallow, "/*rivate/", 5, Some(Loss::LaterLine)),
            ExplainedRule {
                pattern: b"/~".into(),
                ..rule(Verdict::Allow, "/%7e", 2, Some(Loss::FewerBytes))
            },
        ]);
        let decision = Decision {
            verdict: Verdict::Disallow,
            reason: Reason::Rule,
            rule: Some(RuleID(4)),
            line: LineNumber::new(4),
        };
        let expected = "  \
  agent    Googlebot
  reason   rule
  group    User-Agent:googlebot  (line 1: it names Googlebot)
  path     /private/x
  rule     DISALLOW : /private/  (line 4: it decides)
  pattern  /private/
  lost     DISALLOW : /*rivate/  (line 5: 9 bytes as well, and it comes later)
  lost     Allow: /%7e  (line 2: 2 bytes against 9)
  pattern  /~
  clause   RFC 9309, section 2.2.2: the most octets decide; if none matches, allowed
";
        assert_eq!(shown(&found, decision), expected);
    }

    #[test]
    fn without_a_rule_that_decides() {
        let found = Explanation { token: None, rules_in_groups: 7, ..explanation(Vec::new()) };
        let text = shown(&found, Decision::without_rule(Verdict::Allow, Reason::NoRule));
        assert!(text.contains("(line 1: no group names the agent)\n"), "{text}");
        assert!(text.contains("rules    none of 7 matches\n"), "{text}");
        let lost = rule(Verdict::Disallow, "/", 2, Some(Loss::AlwaysAllowed));
        let text = shown(&explanation(vec![lost]), Decision::ROBOTS_TXT);
        assert!(text.contains("lost     DISALLOW : /  (line 2: the dialect always"), "{text}");
        assert!(!text.contains("decides"), "{text}");
    }

    #[test]
    fn an_invalid_record_has_a_problem() {
        let mut out = Vec::new();
        write("Bot", &Decision::INVALID, None, Some("no scheme"), &RFC_9309, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("problem  no scheme\n"), "{text}");
    }
}
