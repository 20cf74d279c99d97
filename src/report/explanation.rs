//! A decision told in full, as a block of plain text for a person.
//!
//! Owns the layout that `portcullis check --explain` prints below a verdict. It shows octets as they
//! are, but for control characters, which are escaped so that a hostile file cannot steer a
//! terminal. Use [`json_lines`](super::json_lines) for machines.

use std::io::{self, Write};

use crate::decision::Decision;
use crate::dialect::Dialect;
use crate::id::LineNumber;

use super::clause;

/// What there is to tell about one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The agent that was asked for, fall-backs included.
    pub agent: String,
    /// What was decided.
    pub decision: Decision,
    /// The groups whose rules apply, by the product token that the file gives each.
    pub groups: Vec<Vec<u8>>,
    /// The URL's path and query in the form that was compared; nothing for what is no URL.
    pub path: Option<Vec<u8>>,
    /// The rule that decided.
    pub rule: Option<RuleMatch>,
    /// Other rules that match the URL, in file order.
    pub lost: Vec<LostRule>,
}

/// A rule that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatch {
    /// Its line as the file has it, without its end and the white space around it.
    pub text: Vec<u8>,
    /// Where it stands.
    pub line: LineNumber,
    /// Its pattern in the form that was compared.
    pub pattern: Vec<u8>,
}

/// A rule that matches and did not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRule {
    /// The rule.
    pub rule: RuleMatch,
    /// Why it did not decide, as part of a sentence: `9 octets against 14`.
    pub because: String,
}

/// Writes `explanation` below the verdict that it belongs to.
///
/// # Errors
///
/// Those of `out`.
pub fn write(explanation: &Explanation, dialect: &Dialect, out: &mut impl Write) -> io::Result<()> {
    let reason = explanation.decision.reason;
    write_field("agent", explanation.agent.as_bytes(), out)?;
    write_field("reason", reason.as_str().as_bytes(), out)?;
    for group in &explanation.groups {
        write_field("group", group, out)?;
    }
    if let Some(rule) = &explanation.rule {
        write_field("rule", &rule.text, out)?;
        write_field("line", rule.line.to_string().as_bytes(), out)?;
        write_field("pattern", &rule.pattern, out)?;
    }
    if let Some(path) = &explanation.path {
        write_field("path", path, out)?;
    }
    for lost in &explanation.lost {
        write_lost(lost, out)?;
    }
    write_field("clause", clause(dialect, reason).as_bytes(), out)
}

fn write_field(name: &str, value: &[u8], out: &mut impl Write) -> io::Result<()> {
    write!(out, "  {name:<8} ")?;
    write_shown(value, out)?;
    out.write_all(b"\n")
}

fn write_lost(lost: &LostRule, out: &mut impl Write) -> io::Result<()> {
    write!(out, "  {:<8} ", "lost")?;
    write_shown(&lost.rule.text, out)?;
    writeln!(out, " (line {}): {}", lost.rule.line, lost.because)
}

/// Writes text as it is and control characters and what is no UTF-8 as escapes.
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
    use crate::decision::{Reason, Verdict};
    use crate::dialect::RFC_9309;
    use crate::id::RuleID;

    fn shown(explanation: &Explanation) -> String {
        let mut out = Vec::new();
        write(explanation, &RFC_9309, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_rule_and_what_it_beat() {
        let rule = |text: &str, line| RuleMatch {
            text: text.into(),
            line: LineNumber::new(line).unwrap(),
            pattern: text.split_once(": ").unwrap().1.into(),
        };
        let explanation = Explanation {
            agent: "Googlebot".into(),
            decision: Decision {
                verdict: Verdict::Disallow,
                reason: Reason::Rule,
                rule: Some(RuleID(2)),
                line: LineNumber::new(4),
            },
            groups: vec![b"googlebot".into()],
            path: Some(b"/private/x".into()),
            rule: Some(rule("Disallow: /private/", 4)),
            lost: vec![LostRule {
                rule: rule("Allow: /p", 2),
                because: "2 octets against 9".into(),
            }],
        };
        let expected = "  \
  agent    Googlebot
  reason   rule
  group    googlebot
  rule     Disallow: /private/
  line     4
  pattern  /private/
  path     /private/x
  lost     Allow: /p (line 2): 2 octets against 9
  clause   RFC 9309, section 2.2.2: the most octets decide; if none matches, allowed
";
        assert_eq!(shown(&explanation), expected);
    }

    #[test]
    fn what_is_not_there_is_not_told() {
        let explanation = Explanation {
            agent: "Bot".into(),
            decision: Decision::INVALID,
            groups: vec![],
            path: None,
            rule: None,
            lost: vec![],
        };
        let text = shown(&explanation);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("bad-url"));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut out = Vec::new();
        write_shown(b"/\x1b[31m\xff\xc3\xa9\xc2\x9b", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "/\\u{1b}[31m\\xffé\\u{9b}");
    }
}
