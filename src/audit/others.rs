//! Records that decide nothing, as far as an audit tells of them: crawl-delays and sitemaps.

use crate::dialect::{Dialect, Field};
use crate::syntax::{Content, records};
use crate::target::{host_key, split};

/// The field of a crawl-delay. No dialect knows it, many files have it.
const CRAWL_DELAY: &[u8] = b"crawl-delay";

/// What a file has of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Others {
    pub delays: Vec<Delay>,
    pub sitemaps: Vec<Sitemap>,
}

/// A crawl-delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delay {
    pub line: u32,
    pub value: Box<[u8]>,
    /// Seconds, rounded up; nothing if the value is no such number.
    pub seconds: Option<u64>,
}

/// A sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sitemap {
    pub value: Box<[u8]>,
    /// The key of its host; nothing if it is no absolute URL.
    pub key: Option<Box<[u8]>>,
}

impl Others {
    /// Takes note of a record of a file.
    pub(super) fn add(
        &mut self,
        field: Option<Field>,
        name: &[u8],
        value: &[u8],
        line: u32,
        dialect: &Dialect,
    ) {
        if field == Some(Field::Sitemap) {
            self.sitemaps.push(Sitemap { value: value.into(), key: key_of(value, dialect) });
        } else if name.eq_ignore_ascii_case(CRAWL_DELAY) {
            self.delays.push(Delay { line, value: value.into(), seconds: seconds(value) });
        }
    }

    /// Takes note of a record as a set keeps it.
    pub(super) fn add_text(&mut self, text: &[u8], line: u32, dialect: &Dialect) {
        // A line before it, because what looks like a byte order mark is none on the second line.
        let text = [b"\n", text].concat();
        if let Some(Content::Record(record)) =
            records(&text, dialect, None).nth(1).map(|line| line.content)
        {
            self.add(record.field, record.name, record.value, line, dialect);
        }
    }
}

/// The key of a URL's host, if it is an absolute one.
fn key_of(url: &[u8], dialect: &Dialect) -> Option<Box<[u8]>> {
    let url = split(url, dialect.paths.path_start).ok()?;
    let mut scratch = Vec::new();
    host_key(&url, &mut scratch).ok().map(Into::into)
}

/// The seconds of a crawl-delay: digits, with a point among them at most.
fn seconds(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = if is_number { text.parse::<f64>().ok()? } else { return None };
    // Saturates, which is as good as any number of that size.
    Some(number.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{GOOGLE, RFC_9309};
    use crate::syntax::RobotsTxt;

    #[test]
    fn crawl_delays_are_numbers_of_seconds() {
        let cases: [(&[u8], Option<u64>); 9] = [
            (b"10", Some(10)),
            (b"0", Some(0)),
            (b"0.5", Some(1)),
            (b"1.", Some(1)),
            (b".", None),
            (b"", None),
            (b"-1", None),
            (b"1e3", None),
            (b"10 seconds", None),
        ];
        for (value, expected) in cases {
            assert_eq!(seconds(value), expected, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn records_mean_the_same_by_themselves_and_in_their_file() {
        let text = b"Crawl-Delay : 5 # c\nSITEMAP: https://A.example:443/s.xml\nsitemap: /s\n\
            site-map: https://b.example/\nfoo: 1\n";
        for dialect in [&RFC_9309, &GOOGLE] {
            let file = RobotsTxt::parse(text, dialect, None);
            let (mut whole, mut alone) = (Others::default(), Others::default());
            for record in file.other_records() {
                let line = record.line.get();
                whole.add(record.field, record.name, record.value, line, dialect);
                alone.add_text(&text[record.span.range()], line, dialect);
            }
            assert_eq!(whole, alone, "{}", dialect.name);
            assert_eq!(whole.delays[0].seconds, Some(5));
            assert_eq!(whole.sitemaps[0].key.as_deref(), Some(&b"a.example"[..]));
            assert_eq!(whole.sitemaps[1].key, None);
        }
    }
}
