//! What concerns one path pattern.

use super::{Entry, Example};
use crate::lint::{Code, Severity};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::NeverMatchingPattern,
        name: "never-matching-pattern",
        severity: Severity::Error,
        summary: "no path of a URL matches the pattern",
        why: "Patterns are compared from the start of the path, and every path starts with `/`. \
            One that starts with neither `/` nor `*` matches nothing; only crawlers of the older \
            texts put a `/` in front.",
        remedy: "Put `/` in front, or `*` if it may stand anywhere in the path.",
        example: Example::Text(b"User-agent: *\nDisallow: private/\n"),
    },
    Entry {
        code: Code::UrlAsPattern,
        name: "url-as-pattern",
        severity: Severity::Error,
        summary: "the rule has a URL in the place of a path pattern",
        why: "A robots.txt speaks for its own origin, and patterns are compared with paths. A \
            URL with scheme and host matches none of them.",
        remedy: "Leave out scheme and host. Rules for another host go into that host's file.",
        example: Example::Text(b"User-agent: *\nDisallow: https://www.example.com/private/\n"),
    },
    Entry {
        code: Code::CommentInPattern,
        name: "comment-in-pattern",
        severity: Severity::Warning,
        summary: "a `#` cuts the path pattern short",
        why: "`#` begins a comment wherever it stands. The pattern ends before it and matches \
            more than was written. Crawlers never see the fragment of a URL in any case.",
        remedy: "Leave the `#` and what follows out; put a blank before it if it is a comment; \
            write `%23` for the character itself.",
        example: Example::Text(b"User-agent: *\nDisallow: /#/admin\n"),
    },
    Entry {
        code: Code::DollarInsidePattern,
        name: "dollar-inside-pattern",
        severity: Severity::Warning,
        summary: "a `$` that is not at the end of the pattern is a literal character",
        why: "`$` stands for the end of the path only as the pattern's last character. Elsewhere \
            it matches the character `$`, which few paths have.",
        remedy: "Leave it out or end the pattern there; write `%24` if the character is meant.",
        example: Example::Text(b"User-agent: *\nDisallow: /*.php$?\n"),
    },
    Entry {
        code: Code::UnescapedCharacter,
        name: "unescaped-character",
        severity: Severity::Info,
        summary: "the pattern has a character that a URL has only as an escape",
        why: "URLs have such characters as `%XX` in UTF-8. Some crawlers escape both sides before \
            they compare, others compare as it is written and find nothing.",
        remedy: "Write the escape, as the browser copies it.",
        example: Example::Text("User-agent: *\nDisallow: /caf\u{e9}\nDisallow: /a b\n".as_bytes()),
    },
    Entry {
        code: Code::LowerCaseEscape,
        name: "lower-case-escape",
        severity: Severity::Info,
        summary: "the pattern has an escape with lower-case digits",
        why: "`%c3` and `%C3` are the same byte (RFC 3986, section 6.2.2.1), but a crawler that \
            compares as it is written takes them for two.",
        remedy: "Write the digits of escapes in upper case.",
        example: Example::Text(b"User-agent: *\nDisallow: /caf%c3%a9\n"),
    },
    Entry {
        code: Code::NeedlessEscape,
        name: "needless-escape",
        severity: Severity::Info,
        summary: "the pattern escapes a character that needs no escape",
        why: "Letters, digits and `-._~` mean the same with and without an escape (RFC 3986, \
            section 2.3). A crawler that does not decode them looks for URLs that nobody writes.",
        remedy: "Write the character itself.",
        example: Example::Text(b"User-agent: *\nDisallow: /%7Ejoe/\n"),
    },
    Entry {
        code: Code::NeedlessStar,
        name: "needless-star",
        severity: Severity::Info,
        summary: "a `*` of the pattern says nothing",
        why: "A pattern matches whatever follows it, so that a `*` at its end adds nothing, nor \
            does one beside another. It still counts for the length by which rules win, and to \
            crawlers without wildcards the pattern matches nothing.",
        remedy: "Leave the `*` out.",
        example: Example::Text(b"User-agent: *\nDisallow: /private/*\nDisallow: /a**b\n"),
    },
    Entry {
        code: Code::EmptyPattern,
        name: "empty-pattern",
        severity: Severity::Info,
        summary: "the rule has no pattern and decides nothing",
        why: "`Disallow:` alone in a group is the old way to allow all. Beside other rules it \
            does not take them back, and `Allow:` without a pattern allows nothing.",
        remedy: "Take the line out, or write `Allow: /` if all is to be allowed.",
        example: Example::Text(b"User-agent: *\nDisallow: /private/\nDisallow:\n"),
    },
];
