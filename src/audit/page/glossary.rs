//! The words of the page, and where its numbers come from.

use super::text::{NOTHING, agent_name, bytes, code, counted, listed, number};
use super::{Section, View};
use crate::audit::model::Report;
use crate::decision::{PolicyState, Reason};
use crate::report::html::escaped;

/// Words that a reader may not know, in the order of the alphabet.
const WORDS: &[(&str, &str)] = &[
    (
        "agent",
        "A program that fetches, by the name it gives: Googlebot, GPTBot. Here, one that was asked for.",
    ),
    (
        "allow, disallow",
        "What a rule says, and so a verdict: the agent may, or must not, fetch the URL.",
    ),
    (
        "crawl-delay",
        "A line of robots.txt that asks for a pause between two requests. It is not in the standard and decides no URL.",
    ),
    (
        "decision",
        "The verdict for one URL and one agent. A list of 1,000 URLs has 15,000 decisions for 15 agents.",
    ),
    (
        "dialect",
        "One way to read robots.txt: the standard, or what a crawler's documentation says.",
    ),
    (
        "group",
        "User-agent lines and the rules below them. An agent keeps to the groups that name it, or else to the group of *.",
    ),
    (
        "host, origin",
        "A host is a name such as www.example.com. An origin is a scheme, a host and a port; each origin has a robots.txt of its own.",
    ),
    (
        "policy",
        "What one robots.txt says to every agent. Hosts with the same rules on the same lines share one.",
    ),
    ("product token", "The name in a user-agent line, without version."),
    (
        "robots.txt",
        "The file at the top of an origin that says what robots may fetch (RFC 9309). It is a request, and no lock.",
    ),
    (
        "rule",
        "A line Allow or Disallow with a path pattern. In the standard the longest pattern that matches decides.",
    ),
    ("shadowed", "Said of a rule that other rules always beat, so that it never decides."),
    ("sitemap", "A list of a site's URLs; robots.txt may say where it is."),
    ("unknown", "No robots.txt is known for the URL's origin. It is not the same as allowed."),
    ("verdict", "Allow, disallow, unknown, or invalid (the record is no URL)."),
];

/// Why a verdict is what it is, in words.
pub(super) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Rule => "a rule matches and decides.",
        Reason::NoRule => "a group speaks to the agent and none of its rules matches: allowed.",
        Reason::NoGroup => "the file has rules, but no group for the agent: allowed.",
        Reason::NoRules => "the file was read and has no rule: allowed.",
        Reason::RobotsTxt => "robots.txt itself may always be fetched.",
        Reason::Unavailable => "the server said that there is no robots.txt.",
        Reason::Unreachable => "the server or the network failed when robots.txt was fetched.",
        Reason::Deferred => "the server asked to come back later.",
        Reason::NoPolicy => "nothing is known of the origin's robots.txt: not known.",
        Reason::BadUrl => "the record is no URL.",
    }
}

/// What a state means, in words.
pub(super) fn state(state: PolicyState) -> &'static str {
    match state {
        PolicyState::Rules => "The file was read and has a rule.",
        PolicyState::NoRules => "The file was read and has no rule: everything is allowed.",
        PolicyState::Unavailable => "The server said that there is no file.",
        PolicyState::Unreachable => "The server or the network failed.",
        PolicyState::Deferred => "The server asked to come back later.",
        PolicyState::Unknown => "Nothing is known; no permission.",
    }
}

/// The glossary.
pub(super) fn section() -> Section {
    let words: String = WORDS
        .iter()
        .map(|(word, meaning)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(word), escaped(meaning)))
        .collect();
    Section {
        id: "glossary",
        title: "Words",
        meaning: "What the words of this page mean.".to_owned(),
        advice: String::new(),
        body: format!("<dl>\n{words}</dl>\n"),
    }
}

/// Where the numbers come from.
pub(super) fn about(view: View<'_>) -> Section {
    let Report { source, records, inputs, version, agents, .. } = view.report;
    let kind = match source.kind.as_str() {
        "set" => "a compiled policy set",
        "folder" => "a folder of files named by host",
        "file" => "one file, for every URL",
        other => other,
    };
    let inputs: Vec<String> = inputs.iter().map(|input| code(input)).collect();
    let agents: Vec<String> = agents.iter().map(|agent| agent_name(agent)).collect();
    let count = |value: Option<u64>| value.map_or_else(|| NOTHING.to_owned(), number);
    let captured = source.captured.as_ref().map_or_else(
        || "not known".to_owned(),
        |it| format!("{} to {}", escaped(&it.first), escaped(&it.last)),
    );
    let facts = [
        ("lists of URLs", listed(&inputs)),
        ("records", format!("{} ({})", number(records.records), bytes(records.bytes))),
        ("agents", listed(&agents)),
        ("policies from", format!("{} ({})", code(&source.name), escaped(kind))),
        ("hash of the policies", code(&source.hash)),
        ("captured", captured),
        ("dialect", code(&source.dialect)),
        (
            "bytes of a file that count",
            source.robots_bytes_max.map_or_else(|| "all".to_owned(), number),
        ),
        ("hosts, origins", format!("{}, {}", count(source.hosts), count(source.origins))),
        ("different policies", number(source.policies)),
        ("version", format!("portcullis {}", escaped(version))),
    ];
    let rows: String =
        facts.iter().map(|(name, fact)| format!("<dt>{name}</dt><dd>{fact}</dd>\n")).collect();
    let cut = match super::longest_list(view.report) > view.rows {
        false => String::new(),
        true => format!(
            " Lists show {} at most so that the page stays small; the JSON report has more.",
            counted(view.rows as u64, "row", "rows")
        ),
    };
    Section {
        id: "about",
        title: "Where the numbers come from",
        meaning: format!("The same inputs make the same page, byte by byte.{cut}"),
        advice: String::new(),
        body: format!("<dl class=\"facts\">\n{rows}</dl>\n"),
    }
}
