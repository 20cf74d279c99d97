//! What concerns rules beside one another.

use super::{Entry, Example};
use crate::lint::{Code, Severity};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::DuplicateRule,
        name: "duplicate-rule",
        severity: Severity::Info,
        summary: "an earlier rule says the same",
        why: "The two have the same pattern in normal form and the same verdict. Whoever changes \
            one may forget the other.",
        remedy: "Take the second one out.",
        example: Example::Text(b"User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /a\n"),
    },
    Entry {
        code: Code::ContradictingRules,
        name: "contradicting-rules",
        severity: Severity::Warning,
        summary: "a rule allows and another disallows the same paths",
        why: "By RFC 9309 the one that is written with more bytes wins (a `*` at the end counts), \
            and of equals the one that allows; by the draft of 1996 the first does. One of the two \
            was hardly meant.",
        remedy: "Take one of them out.",
        example: Example::Text(b"User-agent: *\nDisallow: /a\nAllow: /a\n"),
    },
    Entry {
        code: Code::ShadowedRule,
        name: "shadowed-rule",
        severity: Severity::Info,
        summary: "the rule never decides, because other rules win wherever it matches",
        why: "It looks as if it did something. What it says holds already, or does not hold at all.",
        remedy: "Take the rule out, or make it longer than those that win.",
        example: Example::Text(b"User-agent: *\nDisallow: /*a\nDisallow: /*/a\nDisallow: */a\n"),
    },
    Entry {
        code: Code::DefeatedAllow,
        name: "defeated-allow",
        severity: Severity::Warning,
        summary: "a longer rule disallows what this one was written to allow",
        why: "The rule with the most octets decides, wherever it stands (RFC 9309, section 2.2.2); \
            `*` and `$` count. The path that is written here is disallowed.",
        remedy: "Write more of the path, so that the rule is at least as long as the one that wins.",
        example: Example::Text(b"User-agent: *\nDisallow: /*search*\nAllow: /search$\n"),
    },
    Entry {
        code: Code::RedundantRule,
        name: "redundant-rule",
        severity: Severity::Info,
        summary: "without the rule other rules would say the same",
        why: "The rule decides, but what it says holds without it. It makes the file longer, and \
            it may mislead whoever thinks that taking it out changes something.",
        remedy: "Take the rule out.",
        example: Example::Text(b"User-agent: *\nDisallow: /a\nDisallow: /a/b\n"),
    },
    Entry {
        code: Code::NeedlessAllow,
        name: "needless-allow",
        severity: Severity::Info,
        summary: "the rule allows what no rule disallows",
        why: "What no rule matches is allowed. The rule may be there for those who read the file; \
            it never takes back what a group of another robot disallows.",
        remedy: "Nothing has to be done; take the rule out if the file is to be short.",
        example: Example::Text(b"User-agent: *\nAllow: /\nDisallow: /a\n"),
    },
];
