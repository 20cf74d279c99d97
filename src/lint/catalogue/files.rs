//! What concerns a file as a whole.

use super::{Entry, Example};
use crate::lint::{Code, Severity};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::ByteOrderMark,
        name: "byte-order-mark",
        severity: Severity::Info,
        summary: "the file starts with a byte order mark",
        why: "No standard asks for one. Each dialect here skips it, but a crawler that does not \
            takes it for a part of the first field, loses the first line, and with it perhaps the \
            group that the file begins with.",
        remedy: "Save the file as UTF-8 without a byte order mark.",
        example: Example::Text(b"\xef\xbb\xbfUser-agent: *\nDisallow: /private/\n"),
    },
    Entry {
        code: Code::WebPage,
        name: "web-page",
        severity: Severity::Error,
        summary: "the file is HTML, XML or JSON",
        why: "A server that answers every address with a page does so for /robots.txt too. \
            Crawlers find no rule in it, and everything is allowed.",
        remedy: "Serve a text file at /robots.txt, or answer with status 404 if there is none.",
        example: Example::Text(b"<!DOCTYPE html>\n<title>Not found</title>\n"),
    },
    Entry {
        code: Code::BinaryFile,
        name: "binary-file",
        severity: Severity::Error,
        summary: "the file is no text",
        why: "It may be compressed without the server saying so, or saved as UTF-16. Crawlers \
            find no rule in it, and everything is allowed.",
        remedy: "Save the file as UTF-8, and have the server name the coding that it sends.",
        example: Example::Text(b"U\0s\0e\0r\0-\0a\0g\0e\0n\0t\0:\0*\0\n\0"),
    },
    Entry {
        code: Code::FileTooLong,
        name: "file-too-long",
        severity: Severity::Error,
        summary: "the file is longer than crawlers read",
        why: "Crawlers need to read the first 500 KiB only (RFC 9309, section 2.5). What follows, \
            the line at the limit included, does not exist for them; rules that disallow are lost.",
        remedy: "Shorten the file: join rules by wildcards, and leave out those that never decide.",
        example: Example::Limited(b"User-agent: *\nDisallow: /a\nDisallow: /b\n", 36),
    },
];
