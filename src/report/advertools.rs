//! Rows as advertools has them, for notebooks: `robotstxt_url,user_agent,url_path,can_fetch`, as CSV.
//!
//! One row for each record and agent; [`HEADER`] stands above all of them. `robotstxt_url` is the URL
//! of the robots.txt that speaks for the record, `url_path` its path and query as they are written, and
//! `can_fetch` is `True` or `False`. It is empty where no policy is known and for a record that is no
//! URL, whose `robotstxt_url` is empty too, with the record as its `url_path`; so read by pandas they
//! are missing, and never false or true. Fields are quoted as RFC 4180 says, where they need it, and
//! lines end with LF.

use crate::batch::Session;
use crate::decision::Verdict;
use crate::input::Record;
use crate::set::Damage;
use crate::target::{ROBOTS_TXT_PATH, SplitUrl, host_key, split_assuming};

use super::{Counts, in_blocks};

/// The first line.
pub const HEADER: &[u8] = b"robotstxt_url,user_agent,url_path,can_fetch\n";

/// Appends one row for each record and each of `agents` to `out`.
///
/// # Errors
///
/// If the set is damaged; the blocks before are written.
pub fn write_chunk<'c>(
    records: impl Iterator<Item = Record<'c>>,
    agents: &[String],
    session: &mut Session<'_>,
    counts: &mut Counts,
    out: &mut Vec<u8>,
) -> Result<(), Damage> {
    let path_start = session.classifier().dialect().paths.path_start;
    let assumed_scheme = session.assumed_scheme();
    // The fields before and behind that of the agent.
    let (mut file, mut path) = (Vec::new(), Vec::new());
    in_blocks(records, |block| {
        let decisions = session.decide(block)?;
        for (record, decisions) in block.iter().zip(decisions.chunks_exact(agents.len())) {
            counts.add(record.whole().len(), decisions);
            let url = split_assuming(record.text(), path_start, assumed_scheme).ok();
            write_parts(record.text(), url, &mut file, &mut path);
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
fn write_parts(text: &[u8], url: Option<SplitUrl<'_>>, file: &mut Vec<u8>, path: &mut Vec<u8>) {
    file.clear();
    path.clear();
    let mut scratch = Vec::new();
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

/// Appends a field, in quotes if it has a byte that would end it.
fn push_field(field: &[u8], out: &mut Vec<u8>) {
    if !field.iter().any(|byte| b"\",\r\n".contains(byte)) {
        return out.extend_from_slice(field);
    }
    out.push(b'"');
    for &byte in field {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Classifier;
    use crate::dialect::RFC_9309;
    use crate::input::{Records, Terminator};
    use crate::policy::{AgentChain, Detail};
    use crate::set::{LoadConfig, PolicySet};
    use crate::target::Origin;

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
        let origin = |url: &str| Origin::of_robots_txt(url.as_bytes()).unwrap();
        let files: [(Origin, &[u8]); 3] = [
            (origin("http://a.example/robots.txt"), b""),
            (origin("http://a.example:81/robots.txt"), b""),
            (origin("https://a.example/robots.txt"), b"User-agent: *\nDisallow: /\n"),
        ];
        let files = files.iter().map(|(origin, text)| (origin, *text));
        let set = PolicySet::of_files(files, &LoadConfig::new(&RFC_9309));
        let agents = vec![AgentChain::parse("Bot", &RFC_9309).unwrap()];
        let classifier = Classifier::new(set, agents, Detail::Reason).unwrap();
        let mut session = Session::new(&classifier, None);
        for (record, expected) in cases {
            let (mut counts, mut out) = (Counts::new(1), Vec::new());
            let list = [record, b"\n"].concat();
            let records = Records::new(&list, Terminator::LineFeed);
            let agents = ["Bot".to_owned()];
            write_chunk(records, &agents, &mut session, &mut counts, &mut out).unwrap();
            assert_eq!(
                out.escape_ascii().to_string(),
                [expected, b"\n"].concat().escape_ascii().to_string()
            );
        }
    }
}
