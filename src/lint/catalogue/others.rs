//! What concerns records that decide nothing.

use super::{Entry, Example};
use crate::lint::{Code, Severity};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::RelativeSitemap,
        name: "relative-sitemap",
        severity: Severity::Error,
        summary: "the sitemap is not given by an absolute URL",
        why: "A sitemap may lie on any host, so it is named by a whole URL (sitemaps.org; Google \
            on robots.txt). Nobody says what a path alone is relative to.",
        remedy: "Write scheme, host and path.",
        example: Example::Text(b"User-agent: *\nDisallow: /a\n\nSitemap: /sitemap.xml\n"),
    },
    Entry {
        code: Code::CrawlDelay,
        name: "crawl-delay",
        severity: Severity::Info,
        summary: "crawl-delay is no part of any standard",
        why: "Some crawlers obey it, and take its number as seconds between requests or in other \
            ways; others, Google's among them, ignore it. No dialect here gives it a meaning.",
        remedy: "Nothing has to be done. To slow all crawlers down, answer with status 429 or 503.",
        example: Example::Text(b"User-agent: *\nCrawl-delay: 10\nDisallow: /a\n"),
    },
    Entry {
        code: Code::OddCrawlDelay,
        name: "odd-crawl-delay",
        severity: Severity::Warning,
        summary: "the crawl-delay is no plausible number of seconds",
        why: "A crawler that obeys the field cannot read the value, or would hardly ever come.",
        remedy: "Write a number of seconds, such as 1 or 10.",
        example: Example::Text(b"User-agent: *\nCrawl-delay: 10s\nDisallow: /a\n"),
    },
];
