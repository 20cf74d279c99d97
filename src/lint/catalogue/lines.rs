//! What concerns one line, wherever it stands.

use super::{Entry, Example, LONG_LINE_LETTERS};
use crate::lint::{Code, Severity};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::MissingColon,
        name: "missing-colon",
        severity: Severity::Error,
        summary: "the colon between field and value is missing",
        why: "A line without a colon is no record. Most crawlers ignore it, and what it \
            disallows is allowed.",
        remedy: "Put a colon behind the field.",
        example: Example::Text(b"User-agent: *\nDisallow /private/\n"),
    },
    Entry {
        code: Code::NoRecord,
        name: "no-record",
        severity: Severity::Warning,
        summary: "the line is neither a record nor a comment",
        why: "Text that was meant for people, or the rest of a line that was broken in two, is \
            ignored; nobody is told so.",
        remedy: "Put `#` in front of a comment; join a line that was broken with the one before.",
        example: Example::Text(b"User-agent: *\nkeep out of the attic\nDisallow: /attic\n"),
    },
    Entry {
        code: Code::MissingField,
        name: "missing-field",
        severity: Severity::Warning,
        summary: "nothing stands before the colon",
        why: "The line is ignored, whatever its value says.",
        remedy: "Write the field before the colon, or take the line out.",
        example: Example::Text(b"User-agent: *\n: /private/\nDisallow: /b\n"),
    },
    Entry {
        code: Code::MisspeltField,
        name: "misspelt-field",
        severity: Severity::Error,
        summary: "the field is a misspelling",
        why: "Few crawlers guess what was meant, and each guesses otherwise. To the others the \
            line is an unknown field, which decides nothing.",
        remedy: "Write `User-agent`, `Disallow`, `Allow` or `Sitemap`.",
        example: Example::Text(b"User-agent: *\nDissallow: /private/\nAlow: /private/open\n"),
    },
    Entry {
        code: Code::UnknownField,
        name: "unknown-field",
        severity: Severity::Warning,
        summary: "no convention known here defines the field",
        why: "A crawler may read fields that RFC 9309 does not define (section 2.2.4) and ignores \
            those that it does not know. No dialect gives this one a meaning, and it is none of \
            the fields that published conventions define, such as `Content-Usage`, \
            `Content-Signal`, `License`, `Crawl-delay` and `Noindex`.",
        remedy: "Check the spelling. Keep the line if it is addressed to a crawler that you know \
            reads it.",
        example: Example::Text(b"User-agent: *\nDisallow: /a\nKeep-out: /drafts/\n"),
    },
    Entry {
        code: Code::NulByte,
        name: "nul-byte",
        severity: Severity::Error,
        summary: "the line has a NUL byte",
        why: "Some crawlers ignore the line, others lose what follows the NUL, others take it \
            for a character like any other.",
        remedy: "Take the NUL out; save the file as UTF-8 if there are many.",
        example: Example::Text(b"User-agent: *\nDisallow: /private\0/\n"),
    },
    Entry {
        code: Code::ControlCharacter,
        name: "control-character",
        severity: Severity::Error,
        summary: "the value has a control character",
        why: "RFC 9309 knows no such character in a line (section 2.2): a crawler that follows it \
            ignores a rule with one, and reads a user-agent line up to it. Others look for URLs with \
            that character.",
        remedy: "Take the character out.",
        example: Example::Text(b"User-agent: *\nDisallow: /private\x08/\n"),
    },
    Entry {
        code: Code::LineTooLong,
        name: "line-too-long",
        severity: Severity::Warning,
        summary: "the line is longer than some crawlers read",
        why: "google/robotstxt keeps eight times the bytes of a browser's longest URL and loses \
            the rest, so that a path pattern is cut short and disallows more than it says.",
        remedy: "Shorten the pattern; break a list of several paths into a rule for each.",
        example: Example::Long(b"User-agent: *\nDisallow: /", LONG_LINE_LETTERS),
    },
];
