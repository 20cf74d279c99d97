//! Rows as advertools has them, for notebooks: `robotstxt_url,user_agent,url_path,can_fetch`, as CSV.
//!
//! One row for each record and agent; [`HEADER`] stands above all of them. `robotstxt_url` is the URL
//! of the robots.txt that speaks for the record, `url_path` its path and query as they are written, and
//! `can_fetch` is `True` or `False`. It is empty where no policy is known and for a record that is no
//! URL, whose `robotstxt_url` is empty too, with the record as its `url_path`; so read by pandas they
//! are missing, and never false or true. Fields are quoted as RFC 4180 says, where they need it, and
//! lines end with LF.

use crate::decision::Verdict;
use crate::input::Record;
use crate::target::{ROBOTS_TXT_PATH, host_key, split_assuming};

use super::{Counts, Judge, in_blocks};

/// The first line.
pub const HEADER: &[u8] = b"robotstxt_url,user_agent,url_path,can_fetch\n";

/// How records are read as URLs.
#[derive(Clone, Copy, Debug)]
pub struct UrlForm<'a> {
    /// The scheme that records without one are taken to have.
    pub assumed_scheme: Option<&'a [u8]>,
    /// The dialect's [`path_start`](crate::dialect::PathRules::path_start).
    pub path_start: &'a [u8],
}

/// Appends one row for each record and each of `agents` to `out`.
///
/// # Errors
///
/// That of the judge; what stands before it is written.
pub fn write_chunk<'c, J: Judge>(
    records: impl Iterator<Item = Record<'c>>,
    agents: &[String],
    form: UrlForm<'_>,
    judge: &mut J,
    counts: &mut Counts,
    out: &mut Vec<u8>,
) -> Result<(), J::Failure> {
    // The fields before and behind that of the agent.
    let (mut file, mut path) = (Vec::new(), Vec::new());
    in_blocks(records, |block| {
        let decisions = judge.judge(block)?;
        for (record, decisions) in block.iter().zip(decisions.chunks_exact(agents.len())) {
            counts.add(record.whole().len(), decisions);
            write_parts(record.text(), form, &mut file, &mut path);
            for (agent, decision) in agents.iter().zip(decisions) {
                let can_fetch: &[u8] = match decision.verdict {
                    Verdict::Allow => b"True",
                    Verdict::Disallow => b"False",
                    Verdict::Unknown | Verdict::Invalid => b"",
                };
                push_field(&file, out);
                out.push(b',');
                push_field(agent.as_bytes(), out);
                out.push(b',');
                push_field(&path, out);
                out.push(b',');
                out.extend_from_slice(can_fetch);
                out.push(b'\n');
            }
        }
        Ok(())
    })
}

/// Writes the URL of the robots.txt and the path of a record; no such URL and the whole record if it is
/// no URL.
fn write_parts(text: &[u8], form: UrlForm<'_>, file: &mut Vec<u8>, path: &mut Vec<u8>) {
    file.clear();
    path.clear();
    let mut scratch = Vec::new();
    let url = split_assuming(text, form.path_start, form.assumed_scheme).ok();
    match url.as_ref().and_then(|url| Some((url, host_key(url, &mut scratch).ok()?))) {
        Some((url, key)) => {
            file.extend(url.scheme.iter().map(u8::to_ascii_lowercase));
            file.extend_from_slice(b"://");
            file.extend_from_slice(key);
            file.extend_from_slice(ROBOTS_TXT_PATH);
            if url.path.first() != Some(&b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(url.path);
        }
        None => path.extend_from_slice(text),
    }
}

/// Appends a field, in quotes if it has an octet that would end it.
fn push_field(field: &[u8], out: &mut Vec<u8>) {
    if !field.iter().any(|octet| b"\",\r\n".contains(octet)) {
        return out.extend_from_slice(field);
    }
    out.push(b'"');
    for &octet in field {
        if octet == b'"' {
            out.push(b'"');
        }
        out.push(octet);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Decision, Reason};
    use crate::input::{Records, Terminator};

    /// Allows http, disallows https, knows no policy for ftp.
    struct ByScheme(Vec<Decision>);

    impl Judge for ByScheme {
        type Failure = std::convert::Infallible;

        fn judge(&mut self, records: &[Record<'_>]) -> Result<&[Decision], Self::Failure> {
            let decide = |record: &Record<'_>| match record.text().split(|&it| it == b':').next() {
                Some(b"http") => Decision::without_rule(Verdict::Allow, Reason::NoRule),
                Some(b"https" | b"HTTPS") => {
                    Decision::without_rule(Verdict::Disallow, Reason::Unreachable)
                }
                Some(b"ftp") => Decision::UNKNOWN,
                _ => Decision::INVALID,
            };
            self.0 = records.iter().map(decide).collect();
            Ok(&self.0)
        }
    }

    #[test]
    fn rows_are_csv() {
        let cases: [(&[u8], &[u8]); 9] = [
            (b"http://a.example/x?y=1#z", b"http://a.example/robots.txt,Bot,/x?y=1,True"),
            (b"HTTPS://A.example:443", b"https://a.example/robots.txt,Bot,/,False"),
            (b"http://a.example:81?q", b"http://a.example:81/robots.txt,Bot,/?q,True"),
            (b"ftp://a.example/", b"ftp://a.example/robots.txt,Bot,/,"),
            (b"http://a.example/a,b", b"http://a.example/robots.txt,Bot,\"/a,b\",True"),
            (b"http://a.example/\"", b"http://a.example/robots.txt,Bot,\"/\"\"\",True"),
            (b"no, URL", b",Bot,\"no, URL\","),
            (b"", b",Bot,,"),
            (b"http://a.example/\xff", b"http://a.example/robots.txt,Bot,/\xff,True"),
        ];
        for (record, expected) in cases {
            let mut counts = Counts::new(1);
            let mut out = Vec::new();
            let form = UrlForm { assumed_scheme: None, path_start: b"/?" };
            let list = [record, b"\n"].concat();
            let records = Records::new(&list, Terminator::LineFeed);
            let agents = ["Bot".to_owned()];
            let Ok(()) =
                write_chunk(records, &agents, form, &mut ByScheme(vec![]), &mut counts, &mut out);
            assert_eq!(
                out.escape_ascii().to_string(),
                [expected, b"\n"].concat().escape_ascii().to_string()
            );
        }
    }
}
