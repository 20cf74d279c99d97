//! Files and URLs, read and prepared for all engines alike before anything is timed.
//!
//! Texts are leaked on purpose: they live as long as the program, so matchers may borrow them.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use portcullis::dialect::GOOGLE;
use portcullis::limits::ROBOTS_OCTETS_MAX;
use portcullis::target::{compared_path, host_key, split};

/// A URL and the file that speaks for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// The position of the file.
    pub file: usize,
    /// Path and query in normal form, ASCII: what is asked of a matcher.
    pub path: &'static str,
    /// The same with scheme and host in front.
    pub url: &'static str,
}

/// What is measured on.
#[derive(Default)]
pub struct Corpus {
    /// By the name of the host, cut at the limit.
    pub files: Vec<&'static [u8]>,
    /// Things in the folder that are no file named by a host, or the second for one.
    pub files_left_out: usize,
    /// Files that were cut.
    pub files_cut: usize,
    /// In the order given.
    pub records: Vec<Record>,
    /// Lines that are no URL.
    pub invalid: usize,
    /// URLs on hosts without a file.
    pub without_file: usize,
}

impl Corpus {
    /// Reads a folder of files named by host, and a list of URLs, one a line.
    pub fn load(robots: &Path, urls: &Path) -> Result<Corpus> {
        let mut corpus = Corpus::default();
        let hosts = corpus.read_files(robots)?;
        let list = std::fs::read(urls).with_context(|| format!("{}: not read", urls.display()))?;
        corpus.read_urls(&list, &hosts)?;
        if corpus.records.is_empty() {
            bail!(
                "{}: no URL is on a host that {} has a file for",
                urls.display(),
                robots.display()
            );
        }
        Ok(corpus)
    }

    /// The positions of files by host.
    fn read_files(&mut self, folder: &Path) -> Result<HashMap<Vec<u8>, usize>> {
        let unreadable = || format!("{}: not a readable folder of files", folder.display());
        let entries = std::fs::read_dir(folder).with_context(unreadable)?;
        let mut paths: Vec<_> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        paths.sort_unstable();
        let mut hosts = HashMap::new();
        for path in paths {
            let host = path.file_name().and_then(|name| host_of(name.as_encoded_bytes()));
            let Some(host) = host.filter(|host| path.is_file() && !hosts.contains_key(host)) else {
                self.files_left_out += 1;
                continue;
            };
            let text =
                std::fs::read(&path).with_context(|| format!("{}: not read", path.display()))?;
            self.files_cut += usize::from(text.len() > ROBOTS_OCTETS_MAX);
            hosts.insert(host, self.files.len());
            self.files.push(cut(text).leak());
        }
        Ok(hosts)
    }

    fn read_urls(&mut self, list: &[u8], hosts: &HashMap<Vec<u8>, usize>) -> Result<()> {
        let (mut host, mut path) = (Vec::new(), Vec::new());
        let list = list.strip_suffix(b"\n").unwrap_or(list);
        for line in list.split(|&octet| octet == b'\n') {
            let parts = split(line, GOOGLE.paths.path_start);
            let known = parts.and_then(|url| Ok((url, host_key(&url, &mut host)?)));
            let Ok((url, host)) = known else {
                self.invalid += 1;
                continue;
            };
            let web =
                [&b"http"[..], b"https"].iter().any(|web| url.scheme.eq_ignore_ascii_case(web));
            let Some(&file) = hosts.get(host).filter(|_| web) else {
                self.without_file += 1;
                continue;
            };
            let path = compared_path(url.path, GOOGLE.paths.escapes, &mut path);
            let url = [url.scheme, b"://", host, path].concat();
            let start = url.len() - path.len();
            let url: &str = String::from_utf8(url).context("a prepared URL is not ASCII")?.leak();
            self.records.push(Record { file, path: &url[start..], url });
        }
        self.records = lay_out(&self.records);
        Ok(())
    }
}

/// The host that a file is named by; `.txt` or `.robots.txt` may stand behind it.
fn host_of(name: &[u8]) -> Option<Vec<u8>> {
    let ending = [&b".robots.txt"[..], b".txt"].iter().find_map(|end| name.strip_suffix(*end));
    let url = [b"https://", ending.unwrap_or(name)].concat();
    let parts = split(&url, GOOGLE.paths.path_start).ok().filter(|_| !name.contains(&b'@'))?;
    host_key(&parts, &mut Vec::new()).ok().map(<[u8]>::to_vec)
}

/// Drops what lies past the limit, and the line that the limit cuts, so that all engines read the
/// same octets.
fn cut(mut text: Vec<u8>) -> Vec<u8> {
    if text.len() > ROBOTS_OCTETS_MAX {
        let ends = |&octet: &u8| matches!(octet, b'\n' | b'\r');
        let end = text[..ROBOTS_OCTETS_MAX].iter().rposition(ends).map_or(0, |last| last + 1);
        text.truncate(end);
    }
    text
}

/// Copies records into one text in their order, as a list of them would lie in memory.
pub fn lay_out(records: &[Record]) -> Vec<Record> {
    let text: &str = records.iter().map(|record| record.url).collect::<String>().leak();
    let mut start = 0;
    let place = |record: &Record| {
        let url = &text[start..start + record.url.len()];
        start += url.len();
        Record { url, path: &url[url.len() - record.path.len()..], ..*record }
    };
    records.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_the_limit_cuts_is_dropped() {
        let mut text = b"user-agent: *\n".to_vec();
        assert_eq!(cut(text.clone()), text);
        text.resize(ROBOTS_OCTETS_MAX + 1, b'#');
        assert_eq!(cut(text), b"user-agent: *\n");
    }

    #[test]
    fn files_are_named_by_hosts() {
        for name in ["a.example", "A.example.txt", "a.example.robots.txt", "a.example:443"] {
            assert_eq!(host_of(name.as_bytes()), Some(b"a.example".to_vec()), "{name}");
        }
        assert_eq!(host_of(b"user@a.example"), None);
    }

    #[test]
    fn records_keep_their_texts_when_laid_out() {
        let record = |url: &'static str| Record { file: 0, path: &url[10..], url };
        let records = [record("https://b./y"), record("https://a./x")];
        let laid_out = lay_out(&records);
        assert!(laid_out == records && laid_out[0].path == "/y");
    }
}
