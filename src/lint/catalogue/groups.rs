//! What concerns groups and user-agent lines.

use super::{Entry, Example};
use crate::lint::{Code, Severity};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::RuleOutsideGroup,
        name: "rule-outside-group",
        severity: Severity::Error,
        summary: "the rule stands in no group",
        why: "A rule speaks to the robots that the user-agent lines before it name. One that has \
            none before it speaks to nobody and is ignored.",
        remedy: "Put a user-agent line before the rule.",
        example: Example::Text(b"Disallow: /private/\n\nUser-agent: *\nDisallow: /b\n"),
    },
    Entry {
        code: Code::BlankLineInGroup,
        name: "blank-line-in-group",
        severity: Severity::Info,
        summary: "a blank line divides a group",
        why: "In the texts of 1994 and 1996 a blank line ends the record, and crawlers that keep \
            to them ignore the rules that follow. RFC 9309 gives blank lines no meaning.",
        remedy: "Take the blank line out, or make it a comment (`#`).",
        example: Example::Text(b"User-agent: *\n\nDisallow: /private/\n"),
    },
    Entry {
        code: Code::UserAgentsRunTogether,
        name: "user-agents-run-together",
        severity: Severity::Warning,
        summary: "user-agent lines that stand apart share a group",
        why: "Only a rule ends the run of user-agent lines that opens a group. With nothing but a \
            blank line or a record such as Crawl-delay between them, the robots named above get the \
            rules that were written for those named below.",
        remedy: "Give the robots above a rule of their own (`Disallow:` without a value allows \
            all), or join the lines if they are meant to share the rules.",
        example: Example::Text(b"User-agent: ExampleBot\n\nUser-agent: *\nDisallow: /\n"),
    },
    Entry {
        code: Code::GroupWithoutRules,
        name: "group-without-rules",
        severity: Severity::Warning,
        summary: "the group has no rule",
        why: "A robot that a group names obeys that group alone, and does not fall back to the \
            group of `*`. If it has no rule, all is allowed.",
        remedy: "Write the rules for the robot, `Disallow:` if it may fetch all, or take the \
            user-agent line out so that the robot obeys the group of `*`. Leave the line where it \
            is if records such as `Content-Usage` or `License` belong to it.",
        example: Example::Text(b"User-agent: *\nDisallow: /private/\n\nUser-agent: ExampleBot\n"),
    },
    Entry {
        code: Code::EmptyUserAgent,
        name: "empty-user-agent",
        severity: Severity::Error,
        summary: "the user-agent line names nobody",
        why: "The rules below speak to no robot; it is not a way to write `*`.",
        remedy: "Write the robot's product token, or `*` for all that no group names.",
        example: Example::Text(b"User-agent:\nDisallow: /private/\n"),
    },
    Entry {
        code: Code::VersionedUserAgent,
        name: "versioned-user-agent",
        severity: Severity::Warning,
        summary: "the user-agent line gives a version",
        why: "Robots are named by a product token, which has no version. Some crawlers read the \
            token and ignore the rest, others compare the whole value and find that it is not theirs.",
        remedy: "Leave out the version.",
        example: Example::Text(b"User-agent: ExampleBot/1.2\nDisallow: /private/\n"),
    },
    Entry {
        code: Code::NoProductToken,
        name: "no-product-token",
        severity: Severity::Warning,
        summary: "the user-agent line is not a product token alone",
        why: "A crawler reads the value's first characters up to one that no product token has. \
            Of a User-Agent header that is often `Mozilla`; of `*bot` it is nothing, because `*` is \
            no wildcard here.",
        remedy: "Write one robot's product token in each user-agent line.",
        example: Example::Text(b"User-agent: Example Bot, OtherBot\nDisallow: /private/\n"),
    },
    Entry {
        code: Code::RepeatedUserAgent,
        name: "repeated-user-agent",
        severity: Severity::Info,
        summary: "the group names the robot twice",
        why: "The second line adds nothing. Perhaps another robot was meant.",
        remedy: "Take the second line out.",
        example: Example::Text(
            b"User-agent: ExampleBot\nUser-agent: examplebot\nDisallow: /private/\n",
        ),
    },
    Entry {
        code: Code::SeparateGroups,
        name: "separate-groups",
        severity: Severity::Warning,
        summary: "several groups name the same robot",
        why: "RFC 9309 has crawlers join the rules of all of them, the older texts have them obey \
            the first alone. Whoever edits one group may not know of the other.",
        remedy: "Join the groups.",
        example: Example::Text(
            b"User-agent: *\nDisallow: /a\n\nUser-agent: ExampleBot\nDisallow: /b\n\n\
            User-agent: *\nDisallow: /c\n",
        ),
    },
    Entry {
        code: Code::EverythingDisallowed,
        name: "everything-disallowed",
        severity: Severity::Warning,
        summary: "every URL is disallowed to all robots that no group names",
        why: "It may be meant so. More often it was copied from a site under construction, and \
            the site vanishes from search engines.",
        remedy: "Disallow only what robots are to leave alone.",
        example: Example::Text(b"User-agent: *\nDisallow: /\n"),
    },
];
