//! A decision told in full, as a block of plain text for a person.
//!
//! Owns the layout that `portcullis check --explain` prints below a verdict. It shows octets as they
//! are, but for control characters, which are escaped so that a hostile file cannot steer a
//! terminal. Use [`json_lines`](super::json_lines) for machines.

use std::io::{self, Write};

use crate::decision::{Decision, Verdict};
use crate::dialect::{Dialect, Precedence};
use crate::policy::{ExplainedRule, Explanation};

use super::clause;

/// Writes what stands behind `decision` for `agent`: the explanation if a policy is known, or the
/// `problem` that makes the record no URL.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    agent: &str,
    decision: &Decision,
    explanation: Option<&Explanation>,
    problem: Option<&str>,
    dialect: &Dialect,
    out: &mut impl Write,
) -> io::Result<()> {
    write_field("agent", agent.as_bytes(), out)?;
    write_field("reason", decision.reason.as_str().as_bytes(), out)?;
    if let Some(problem) = problem {
        write_field("problem", problem.as_bytes(), out)?;
    }
    if let Some(explanation) = explanation {
        write_explanation(explanation, dialect, out)?;
    }
    write_field("clause", clause(dialect, decision.reason).as_bytes(), out)
}

fn write_explanation(
    explanation: &Explanation,
    dialect: &Dialect,
    out: &mut impl Write,
) -> io::Result<()> {
    for group in &explanation.groups {
        let value = field("User-agent", &group.user_agent);
        let named = if explanation.token.is_some() { "" } else { ": no group names the agent" };
        write_with_remark("group", &value, &format!("line {}{named}", group.line), out)?;
    }
    write_field("path", &explanation.path, out)?;
    if explanation.rules.is_empty() {
        let none = format!("none of {} matches", explanation.rules_in_groups);
        write_field("rules", none.as_bytes(), out)?;
    }
    let mut losing = explanation.rules.as_slice();
    // Where the path is allowed for its own sake, no rule decides.
    if let Some((deciding, others)) = explanation.rules.split_first()
        && !explanation.robots_txt
    {
        losing = others;
        write_rule("rule", deciding, "it decides", out)?;
        write_field("pattern", &deciding.pattern, out)?;
        for rule in losing {
            write_rule("lost", rule, &why_lost(rule, deciding, dialect), out)?;
        }
        return Ok(());
    }
    for rule in losing {
        write_rule("lost", rule, "the dialect always allows this path", out)?;
    }
    Ok(())
}

/// Why `rule`, which matches, did not decide where `deciding` did.
fn why_lost(rule: &ExplainedRule, deciding: &ExplainedRule, dialect: &Dialect) -> String {
    let (octets, most) = (rule.pattern.len(), deciding.pattern.len());
    match dialect.paths.precedence {
        Precedence::FirstInFile => "it stands later in the file".into(),
        Precedence::MostOctets if octets < most => format!("{octets} octets against {most}"),
        Precedence::MostOctets if rule.verdict != deciding.verdict => {
            format!("{octets} octets as well, and Allow goes first")
        }
        Precedence::MostOctets => format!("{octets} octets as well, and it stands later"),
    }
}

/// A rule or a user-agent line, spelled in the one usual way.
fn field(name: &str, value: &[u8]) -> Vec<u8> {
    [name.as_bytes(), b": ", value].concat()
}

fn write_rule(
    name: &str,
    rule: &ExplainedRule,
    remark: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let text = match rule.verdict {
        Verdict::Allow => field("Allow", &rule.value),
        _ => field("Disallow", &rule.value),
    };
    write_with_remark(name, &text, &format!("line {}: {remark}", rule.line), out)
}

fn write_field(name: &str, value: &[u8], out: &mut impl Write) -> io::Result<()> {
    write!(out, "  {name:<8} ")?;
    write_shown(value, out)?;
    out.write_all(b"\n")
}

fn write_with_remark(
    name: &str,
    value: &[u8],
    remark: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(out, "  {name:<8} ")?;
    write_shown(value, out)?;
    writeln!(out, "  ({remark})")
}

/// Writes text as it is, and control characters and what is no UTF-8 as escapes.
fn write_shown(octets: &[u8], out: &mut impl Write) -> io::Result<()> {
    for chunk in octets.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                write!(out, "{}", character.escape_default())?;
            } else {
                write!(out, "{character}")?;
            }
        }
        for octet in chunk.invalid() {
            write!(out, "\\x{octet:02x}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Reason;
    use crate::dialect::{KOSTER_1996, RFC_9309};
    use crate::id::{LineNumber, RuleID};
    use crate::policy::ExplainedGroup;

    fn rule(verdict: Verdict, value: &str, line: u32) -> ExplainedRule {
        ExplainedRule {
            verdict,
            rule: RuleID(line),
            line: LineNumber::new(line).unwrap(),
            value: value.into(),
            pattern: value.into(),
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
            }],
            rules_in_groups: rules.len(),
            rules,
        }
    }

    fn shown(explanation: &Explanation, decision: Decision) -> String {
        let mut out = Vec::new();
        write("Googlebot", &decision, Some(explanation), None, &RFC_9309, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_rule_and_what_it_beat() {
        let told = explanation(vec![
            rule(Verdict::Disallow, "/private/", 4),
            rule(Verdict::Disallow, "/*rivate/", 5),
            rule(Verdict::Allow, "/p", 2),
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
  group    User-agent: googlebot  (line 1)
  path     /private/x
  rule     Disallow: /private/  (line 4: it decides)
  pattern  /private/
  lost     Disallow: /*rivate/  (line 5: 9 octets as well, and it stands later)
  lost     Allow: /p  (line 2: 2 octets against 9)
  clause   RFC 9309, section 2.2.2: the most octets decide; if none matches, allowed
";
        assert_eq!(shown(&told, decision), expected);
    }

    #[test]
    fn default_groups_and_no_match_are_told() {
        let told = Explanation { token: None, rules_in_groups: 7, ..explanation(Vec::new()) };
        let decision = Decision::without_rule(Verdict::Allow, Reason::NoRule);
        let text = shown(&told, decision);
        assert!(text.contains("(line 1: no group names the agent)\n"), "{text}");
        assert!(text.contains("rules    none of 7 matches\n"), "{text}");
    }

    #[test]
    fn no_rule_decides_on_what_is_always_allowed() {
        let told =
            Explanation { robots_txt: true, ..explanation(vec![rule(Verdict::Disallow, "/", 2)]) };
        let text = shown(&told, Decision::ROBOTS_TXT);
        assert!(text.contains("lost     Disallow: /  (line 2: the dialect always"), "{text}");
        assert!(!text.contains("decides"), "{text}");
    }

    #[test]
    fn ties_and_file_order() {
        let (allow, disallow) = (rule(Verdict::Allow, "/a", 3), rule(Verdict::Disallow, "/a", 2));
        assert_eq!(
            why_lost(&disallow, &allow, &RFC_9309),
            "2 octets as well, and Allow goes first"
        );
        assert_eq!(why_lost(&allow, &disallow, &KOSTER_1996), "it stands later in the file");
    }

    #[test]
    fn what_is_no_url_is_told_by_its_problem() {
        let mut out = Vec::new();
        write("Bot", &Decision::INVALID, None, Some("no scheme"), &RFC_9309, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("problem  no scheme\n"), "{text}");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut out = Vec::new();
        write_shown(b"/\x1b[31m\xff\xc3\xa9\xc2\x9b", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "/\\u{1b}[31m\\xffé\\u{9b}");
    }
}
