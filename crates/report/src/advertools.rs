//! Writes rows in the format of advertools, for notebooks:
//! `robotstxt_url,user_agent,url_path,can_fetch`, as CSV.
//!
//! One row per record and agent, below [`HEADER`]. `robotstxt_url` is the URL of the robots.txt
//! that applies to the record, `url_path` its path and query as written, and `can_fetch` is `True`
//! or `False`. Without a known policy, `can_fetch` is empty. If the record is not a URL,
//! `robotstxt_url` is empty too, and `url_path` has the text that should be a URL. So pandas reads
//! both as missing values, never as false or true. Fields are quoted where RFC 4180 requires it,
//! and lines end with LF.

use super::csv::Quoting;
use super::{Decided, Format};
use portcullis_dialect::decision::Verdict;
use portcullis_robots::url::{ROBOTS_TXT_PATH, host_key, split_assuming};
use portcullis_set::Damage;

/// The header line.
pub const HEADER: &[u8] = b"robotstxt_url,user_agent,url_path,can_fetch\n";

/// Rows for agents with these names.
#[derive(Clone, Debug)]
pub struct Advertools<'a> {
    agents: &'a [String],
    quoting: Quoting,
}

impl<'a> Advertools<'a> {
    /// Rows for agents with these names.
    pub fn new(agents: &'a [String]) -> Advertools<'a> {
        Advertools { agents, quoting: Quoting::default() }
    }
}

impl Format for Advertools<'_> {
    fn write(&self, record: Decided<'_>, out: &mut Vec<u8>) -> Result<(), Damage> {
        let path_start = record.session().classifier().dialect().paths.path_start;
        let url = split_assuming(record.url, path_start, record.session().assumed_scheme()).ok();
        let mut scratch = Vec::new();
        let url = url.as_ref().and_then(|url| Some((url, host_key(url, &mut scratch).ok()?)));
        let (file, path) = match url {
            Some((url, key)) => {
                let root: &[u8] = if url.path.first() == Some(&b'/') { b"" } else { b"/" };
                let scheme = url.scheme.to_ascii_lowercase();
                ([&scheme, &b"://"[..], key, ROBOTS_TXT_PATH].concat(), [root, url.path].concat())
            }
            None => (Vec::new(), record.url.to_vec()),
        };
        let Advertools { agents, quoting } = self;
        for (agent, decision) in agents.iter().zip(record.decisions) {
            let can_fetch: &[u8] = match decision.verdict {
                Verdict::Allow => b"True",
                Verdict::Disallow => b"False",
                Verdict::Unknown | Verdict::Invalid => b"",
            };
            quoting.push(&file, out);
            out.push(b',');
            quoting.push(agent.as_bytes(), out);
            out.push(b',');
            quoting.push(&path, out);
            out.push(b',');
            out.extend_from_slice(can_fetch);
            out.push(b'\n');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::written;
    use portcullis_io::input::Terminator;

    #[test]
    fn rows_are_csv() {
        let cases: [(&[u8], &[u8]); 10] = [
            (b"https://a/x?y=1#z", b"https://a/robots.txt,Bot,/x?y=1,True"),
            (b"HTTPS://D:443", b"https://d/robots.txt,Bot,/,False"),
            (b"https://a?q", b"https://a/robots.txt,Bot,/?q,True"),
            (b"https://a:81/", b"https://a:81/robots.txt,Bot,/,"),
            (b"ftp://a/", b"ftp://a/robots.txt,Bot,/,"),
            (b"https://a/a,b", b"https://a/robots.txt,Bot,\"/a,b\",True"),
            (b"https://a/\"", b"https://a/robots.txt,Bot,\"/\"\"\",True"),
            (b"x:, 1", b",Bot,\"x:, 1\","),
            (b"", b",Bot,,"),
            (b"https://a/\xff", b"https://a/robots.txt,Bot,/\xff,True"),
        ];
        let names = ["Bot".to_owned()];
        for (record, expected) in cases {
            let list = [record, b"\n"].concat();
            let (out, _) = written(&list, Terminator::LineFeed, 1, &Advertools::new(&names));
            assert_eq!(bstr::BStr::new(&out), bstr::BStr::new(&[expected, b"\n"].concat()));
        }
    }
}
