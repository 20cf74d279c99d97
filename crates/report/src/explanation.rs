//! Shows one decision in full, as a block of plain text for people.
//!
//! This is the layout that `portcullis check --explain` prints below a verdict. Hidden characters
//! are [escaped](portcullis_text::visible), and long text is cut. For programs use
//! [`explanation_json`](super::explanation_json).

use portcullis_dialect::decision::{Answer, Reason, Verdict};
use portcullis_dialect::dialect::{
    DRAFT_2019, Dialect, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309,
};
use portcullis_dialect::usage::{Label, Preference};
use portcullis_robots::access::{CaptureNote, UnixSeconds};
use portcullis_robots::policy::{ExplainedRecord, Explanation, Loss, UsageExplanation};
use portcullis_robots::syntax::NoteKind;
use portcullis_set::Damage;
use portcullis_set::batch::{Explained, Session};
use portcullis_set::stored::{CaptureFacts, Read};
use portcullis_text::figures::counted;
use portcullis_text::visible::{cut_to_show, visible};

/// Where preferences are attached to paths and groups, for explanations.
pub(super) const USAGE_CLAUSE: &str = "draft-ietf-aipref-attach-05: the longest path decides; \
     draft-ietf-aipref-vocab-08: combined, n overrides y";

/// The facts beyond the decision.
#[derive(Debug)]
pub struct Facts {
    /// The name of the agent.
    pub agent: String,
    /// The explanation, if a policy is known.
    pub explained: Option<Explained>,
    /// Why the record is not a URL. `None` if it is a URL.
    pub problem: Option<String>,
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The requested labels.
    pub labels: Vec<Label>,
    /// The page that says how the agent reads an answer that is no file, if it reads something else than the
    /// dialect. The caller knows it.
    pub read_source: Option<String>,
}

/// Explains the answer on `url` for an agent of the session, as of a time if it was asked so.
///
/// # Errors
///
/// If the set is damaged.
pub fn explain(
    session: &Session,
    url: &[u8],
    agent: usize,
    at: Option<UnixSeconds>,
) -> Result<Facts, Damage> {
    let (explained, problem) = match session.explain(url, agent, at)? {
        Ok(explained) => (explained, None),
        Err(problem) => (None, Some(problem.to_string())),
    };
    let classifier = session.classifier();
    Ok(Facts {
        agent: classifier.agents()[agent].name().to_owned(),
        explained,
        problem,
        dialect: classifier.dialect(),
        labels: classifier.labels().to_vec(),
        read_source: None,
    })
}

/// Returns the clause of the dialect's specification on which a decision for `reason` is based.
///
/// ```
/// use portcullis_dialect::decision::Reason;
/// use portcullis_dialect::dialect::RFC_9309;
/// use portcullis_report::clause;
///
/// assert!(clause(&RFC_9309, Reason::Rule).starts_with("RFC 9309, section 2.2.2"));
/// ```
pub fn clause(dialect: &Dialect, reason: Reason) -> &'static str {
    let [rules, groups, robots_txt, unavailable, unreachable, scope] = clauses(dialect);
    match reason {
        Reason::Rule | Reason::NoRule => rules,
        Reason::NoGroup | Reason::NoRules | Reason::NoAgent => groups,
        Reason::RobotsTxt => robots_txt,
        Reason::Unavailable => unavailable,
        Reason::Unreachable | Reason::Deferred => unreachable,
        Reason::NoPolicy => scope,
        Reason::Expired => "RFC 9309, section 2.4: caching",
        Reason::BadUrl => "RFC 3986, section 3: scheme, authority and path of a URI",
        _ => "none: our decision, see docs/conformance.md",
    }
}

/// Returns where the document of a dialect specifies, in this order: which rule decides, which groups
/// apply, the URL of robots.txt, servers without a file, servers that fail, and which URLs a file applies
/// to. Documents number and title their parts in different ways, so clauses are free text.
fn clauses(dialect: &Dialect) -> [&'static str; 6] {
    match *dialect {
        ORIGINAL_1994 => [
            "A Standard for Robot Exclusion (1994): Disallow",
            "A Standard for Robot Exclusion (1994): User-agent",
            "A Standard for Robot Exclusion (1994): Disallow",
            "A Standard for Robot Exclusion (1994): the method",
            "not settled by the 1994 text: a temporary failure defers the visit",
            "A Standard for Robot Exclusion (1994): the method",
        ],
        KOSTER_1996 => [
            "Koster 1996, section 3.2.2: the first rule that matches decides; if none does, access is allowed",
            "Koster 1996, section 3.2.1: the record that names the crawler, else the record of *, else no limit",
            "Koster 1996, section 3.2.2",
            "Koster 1996, section 3.1: what the server's answer means",
            "Koster 1996, section 3.1: a temporary failure defers the visit",
            "Koster 1996, section 3.1: /robots.txt of the server",
        ],
        DRAFT_2019 => [
            "Internet-Draft of 2019, The Allow and Disallow lines: the rule with the most octets decides; \
             if no rule matches, allowed",
            "Internet-Draft of 2019, The User-agent line: all groups that name the crawler, else the first of *",
            "Internet-Draft of 2019, The Allow and Disallow lines: /robots.txt is implicitly allowed",
            "Internet-Draft of 2019, Unavailable status",
            "Internet-Draft of 2019, Unreachable status",
            "Internet-Draft of 2019, Access method",
        ],
        RFC_9309 => [
            "RFC 9309, section 2.2.2: the rule with the most octets decides; if no rule matches, allowed",
            "RFC 9309, section 2.2.1: all groups that name the crawler, else the groups for *, else no rules apply",
            "RFC 9309, section 2.2.2: /robots.txt is implicitly allowed",
            "RFC 9309, section 2.3.1.3: unavailable status codes; 2.3.1.2: too many redirects",
            "RFC 9309, section 2.3.1.4: unreachable status codes; a file that was lost counts as one",
            "RFC 9309, section 2.3: access method",
        ],
        GOOGLE => [
            "Google on robots.txt, Order of precedence for rules",
            "Google on robots.txt, Order of precedence for user agents",
            "Google on robots.txt, Order of precedence for rules",
            "Google on robots.txt, Handling of errors and HTTP status codes",
            "Google on robots.txt, Handling of errors and HTTP status codes",
            "Google on robots.txt, File location and range of validity",
        ],
        _ => [dialect.source; 6],
    }
}

/// Returns the reasons for `decision`, then the reasons for the preference about each requested label.
pub fn text(decision: Answer, found: &Facts) -> String {
    let mut out = String::new();
    write_field("agent", &found.agent, &mut out);
    write_field("reason", decision.reason().as_str(), &mut out);
    if let Some(problem) = &found.problem {
        write_field("problem", problem, &mut out);
    }
    if let Some(Explained { explanation, facts, read }) = &found.explained {
        write_response(facts, &mut out);
        for note in NoteKind::OF_FILES.into_iter().filter(|&kind| facts.file_notes.contains(kind)) {
            write_field("note", note.describe(), &mut out);
        }
        if let Some(outage) = facts.outage {
            write_field("outage", outage.to_string(), &mut out);
        }
        if let Some(read) = read {
            let source = found.read_source.as_deref().unwrap_or("as its operator documents it");
            write_with_remark("reading", describe(*read), source, &mut out);
        }
        write_explanation(explanation, &mut out);
    }
    match decision.reason() {
        Reason::NoPolicy => write_field("policy", "none is known for this origin", &mut out),
        // The clause is about crawlers that read the answer as the dialect says.
        _ if found.explained.as_ref().is_some_and(|it| it.read.is_some()) => {}
        reason => write_field("clause", clause(found.dialect, reason), &mut out),
    }
    if !found.labels.is_empty() {
        write_usage(decision, found, &mut out);
    }
    out
}

/// Writes the status and the notes of a response that is more than a file, with its date.
fn write_response(facts: &CaptureFacts, out: &mut String) {
    let CaptureFacts { status, capture_notes, captured_at, .. } = facts;
    let notes: Vec<&str> = capture_notes.iter().map(CaptureNote::as_str).collect();
    if *status == 200 && notes.is_empty() {
        return;
    }
    let status = if *status == 0 { "no status".to_owned() } else { status.to_string() };
    let date = captured_at.map(|date| format!("captured {}", date.to_rfc3339()));
    let parts = [status].into_iter().chain(notes.into_iter().map(str::to_owned)).chain(date);
    write_field("response", parts.collect::<Vec<_>>().join(", "), out);
}

/// Describes what a crawler reads instead of the policy.
fn describe(read: Read) -> &'static str {
    match read {
        Read::Open(Reason::NoRules) => "everything is allowed: the crawler does not read this file",
        Read::Open(_) => {
            "everything is allowed: the crawler treats such an answer as no restriction"
        }
        Read::Copy(_) => "the last file applies: the crawler keeps it while fetches fail",
    }
}

fn write_explanation(explanation: &Explanation, out: &mut String) {
    write_groups(&explanation.groups, explanation.token.as_deref(), out);
    write_field("path", &explanation.path, out);
    match explanation.rules_in_groups {
        _ if !explanation.rules.is_empty() => {}
        0 => write_field("rules", "none", out),
        rules => {
            let rules = counted(rules as u64, "rule");
            write_field("rules", format!("none of {rules} matches"), out);
        }
    }
    let most = explanation.rules.first().map_or(0, |rule| rule.pattern.len());
    for rule in &explanation.rules {
        let (name, why) = match rule.loss {
            None => ("rule", "it decides".into()),
            Some(loss) => ("lost", why_lost(loss, rule.pattern.len(), most, "Allow")),
        };
        write_record(name, &rule.record, &why, out);
        if rule.loss.is_none() || rule.pattern != rule.record.value {
            write_field("pattern", &rule.pattern, out);
        }
    }
}

fn write_groups(groups: &[ExplainedRecord], token: Option<&str>, out: &mut String) {
    let why = match token {
        Some(token) => format!("it names {token}"),
        None => "no group names the agent".into(),
    };
    groups.iter().for_each(|group| write_record("group", group, &why, out));
}

/// Writes each requested label with its statements, and the licences.
fn write_usage(decision: Answer, found: &Facts, out: &mut String) {
    let no_access = match decision.verdict() {
        Verdict::Allow => None,
        Verdict::Disallow => Some("access is disallowed"),
        Verdict::Unknown => Some("no policy is known"),
        Verdict::Invalid => Some("the record is not a URL"),
    };
    let explanation = found.explained.as_ref().map(|it| &it.explanation);
    match (no_access, explanation) {
        (None, Some(explanation)) => {
            let usage = &explanation.usage;
            if usage.groups != explanation.groups {
                write_groups(&usage.groups, usage.token.as_deref(), out);
            }
            found.labels.iter().for_each(|&label| write_label(label, usage, out));
            write_other_labels(&found.labels, usage, out);
            for license in &usage.licenses {
                let remark = format!("line {}", license.line);
                write_with_remark("license", &license.value, &remark, out);
            }
        }
        (why, _) => {
            let remark = format!("no preference: {}", why.unwrap_or("no policy is known"));
            for label in &found.labels {
                let value = format!("{label}: {}", Preference::NoAccess);
                write_with_remark("usage", value, &remark, out);
            }
        }
    }
    write_field("clause", USAGE_CLAUSE, out);
}

/// Writes the preferences that are stated for labels that were not requested.
fn write_other_labels(requested: &[Label], usage: &UsageExplanation, out: &mut String) {
    let others = Label::ALL.into_iter().filter(|label| !requested.contains(label));
    let stated = others.filter_map(|label| {
        let preference = usage.deciding(label)?.preference;
        (preference != Preference::Unstated).then(|| format!("{label}: {preference}"))
    });
    let stated: Vec<String> = stated.collect();
    if !stated.is_empty() {
        write_with_remark("also", stated.join(", "), "not requested", out);
    }
}

fn write_label(label: Label, usage: &UsageExplanation, out: &mut String) {
    let deciding = usage.deciding(label);
    let preference = deciding.map_or(Preference::Unstated, |it| it.preference);
    let meaning = match (preference, usage.statements) {
        (Preference::Yes, _) => "permitted".to_owned(),
        (Preference::No, _) => "not permitted".to_owned(),
        (Preference::Immediate, _) => "use at once, without storing anything".to_owned(),
        (Preference::Reference, _) => "excerpts and links in an index too".to_owned(),
        (Preference::Full, _) => "everything, in full".to_owned(),
        (_, 0) => "not stated: the file has no statement for the agent".to_owned(),
        (_, statements) if deciding.is_none() => {
            format!("not stated: none of {} matches", counted(statements as u64, "statement"))
        }
        (_, _) => "not stated".to_owned(),
    };
    write_with_remark("usage", format!("{label}: {preference}"), &meaning, out);
    let statements = &usage.labels[label as usize];
    for it in statements {
        // Of each field, the first statement is the one that precedes.
        let first = statements.iter().find(|other| other.source == it.source).unwrap_or(it);
        let (name, why) = match it.loss {
            None if !it.is_readable => ("stated", "it decides, and cannot be read".to_owned()),
            None if preference == Preference::Unstated => {
                ("stated", format!("it decides; {label} is not stated"))
            }
            None => ("stated", "it decides".to_owned()),
            Some(loss) => {
                let winner = if loss == Loss::OtherField { preference } else { first.preference };
                let (bytes, most) = (it.pattern.len(), first.pattern.len());
                ("lost", why_lost(loss, bytes, most, winner.as_str()))
            }
        };
        write_record(name, &it.record, &why, out);
        if it.loss.is_none() && !it.pattern.is_empty() {
            write_field("pattern", &it.pattern, out);
        }
    }
}

/// Describes why a rule with a pattern of `bytes` bytes lost to one of `most` bytes. If the lengths
/// are equal, `first` goes first.
fn why_lost(loss: Loss, bytes: usize, most: usize, first: &str) -> String {
    match loss {
        Loss::FewerBytes => format!("{} against {most}", counted(bytes as u64, "byte")),
        Loss::AllowGoesFirst | Loss::PreferenceGoesFirst => {
            format!("{bytes} bytes as well, and {first} goes first")
        }
        Loss::OtherField => format!("{first} of the other field goes first"),
        Loss::LaterLine => format!("{bytes} bytes as well, and it comes later"),
        Loss::AfterFirstMatch => "it comes after the first that matches".into(),
        Loss::AlwaysAllowed => "the dialect always allows this path".into(),
        other => other.to_string(),
    }
}

fn write_record(name: &str, record: &ExplainedRecord, why: &str, out: &mut String) {
    write_with_remark(name, &record.text, &format!("line {}: {why}", record.line), out);
}

fn write_field(name: &str, value: impl AsRef<[u8]>, out: &mut String) {
    out.push_str(&format!("  {name:<8} {}\n", visible(&cut_to_show(value.as_ref()))));
}

fn write_with_remark(name: &str, value: impl AsRef<[u8]>, remark: &str, out: &mut String) {
    let (value, remark) = (cut_to_show(value.as_ref()), visible(remark));
    out.push_str(&format!("  {name:<8} {}  ({remark})\n", visible(&value)));
}
