//! What is measured on: files, and URLs whose file is known, prepared for all engines alike.
//!
//! Owns reading a list and finding each URL's file; the policies are those of a [`PolicySet`], the files'
//! texts its records, or [`Originals`]. A URL becomes a [`Question`](super::Question): the file, and path
//! and query in the normal form of the policies' dialect. The list itself is kept too, because the
//! oracle reads URLs as they stand, and so does a batch from a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::decision::{PolicyState, Verdict};
use crate::dialect::Dialect;
use crate::input::{ChunkConfig, InputError, OpenConfig, Records, Source, Terminator};
use crate::kind::{FileKind, Wanted, WrongKind};
use crate::policy::AgentChain;
use crate::set::stored::{PolicyNumber, StoredPolicy};
use crate::set::{Damage, PolicySet};
use crate::target::{compared_path, host_key, split};

use super::judge::allows_without_file;
use super::originals::Originals;
use super::questions::QuestionList;

/// A corpus could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// The list cannot be read.
    #[error(transparent)]
    Unreadable(#[from] InputError),
    /// Nothing can be asked.
    #[error("{}: no URL is of an origin with a robots.txt; name a list that fits the policies", path.display())]
    NoQuestion {
        /// Where the list is.
        path: PathBuf,
    },
    /// The set is damaged.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

/// What of a list and a folder is not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Lines that are no URL.
    pub invalid: usize,
    /// URLs of origins without a file.
    pub without_file: usize,
    /// URLs whose normal form is not UTF-8, which most engines cannot take.
    pub not_text: usize,
}

/// Files and questions.
#[derive(Debug)]
pub struct Corpus {
    /// The policies.
    pub set: Arc<PolicySet>,
    /// Who asks.
    pub agent: AgentChain,
    /// Where the list is.
    pub list_path: PathBuf,
    /// The questions, in the order of the list.
    pub questions: QuestionList,
    /// What is not measured.
    pub left_out: LeftOut,
    /// URLs of origins without a file that are allowed all the same, because the answer in place of the
    /// file allows them. No engine is asked about them, but a run over the list meets them.
    pub allowed_without_file: u64,
    /// Distinct texts, as much of each as counts.
    texts: Vec<Box<[u8]>>,
    /// The texts as they were read, if they are the files' own.
    as_read: Vec<Box<[u8]>>,
    /// Texts that were cut.
    pub texts_cut: usize,
    /// By file: its text.
    files: Vec<u32>,
    list: Vec<u8>,
    /// By question: its line in `list`.
    lines: Vec<(usize, usize)>,
}

impl Corpus {
    /// Reads the list at `path` and finds the file of each URL. Without `originals` a file is what the set
    /// keeps of it: its user-agent lines and rules.
    ///
    /// # Errors
    ///
    /// If the list cannot be read, asks about no origin that has a file, or the set is damaged.
    pub fn load(
        set: impl Into<Arc<PolicySet>>,
        originals: Option<Originals>,
        agent: AgentChain,
        path: &Path,
    ) -> Result<Corpus, CorpusError> {
        let mut list = Vec::new();
        for chunk in Source::open(path, OpenConfig::default())?.chunks(ChunkConfig::default()) {
            list.extend_from_slice(&chunk?);
        }
        let kind = FileKind::of(&list);
        if kind.is_no_url_list() {
            let name = path.display().to_string();
            return Err(InputError::from(WrongKind { name, kind, wanted: Wanted::UrlList }).into());
        }
        let mut corpus = Corpus {
            set: set.into(),
            agent,
            list_path: path.to_owned(),
            questions: QuestionList::default(),
            left_out: LeftOut::default(),
            allowed_without_file: 0,
            texts: Vec::new(),
            as_read: Vec::new(),
            texts_cut: 0,
            files: Vec::new(),
            list,
            lines: Vec::new(),
        };
        let mut filing = corpus.file_hosts(originals)?;
        corpus.read_list(&mut filing)?;
        if corpus.questions.is_empty() {
            return Err(CorpusError::NoQuestion { path: path.to_owned() });
        }
        Ok(corpus)
    }

    /// The behaviour that the policies follow.
    pub fn dialect(&self) -> &'static Dialect {
        self.set.dialect()
    }

    /// The files: one for each host, two where http and https have different ones. Equal files of several
    /// hosts are the same bytes in memory.
    pub fn files(&self) -> Vec<&[u8]> {
        self.files.iter().map(|&text| &*self.texts[text as usize]).collect()
    }

    /// By file, the number of its text: equal files have the same.
    pub fn file_texts(&self) -> &[u32] {
        &self.files
    }

    /// Bytes of all files.
    pub fn file_bytes(&self) -> u64 {
        self.files().iter().map(|text| text.len() as u64).sum()
    }

    /// The file of the question with this number as it was read, and how much of it counts.
    pub fn text_as_read(&self, file: usize) -> (&[u8], Option<usize>) {
        let text = self.files[file] as usize;
        match self.as_read.get(text) {
            Some(text) => (text, self.robots_bytes_max()),
            None => (&self.texts[text], None),
        }
    }

    fn robots_bytes_max(&self) -> Option<usize> {
        self.set.robots_bytes_max().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// The line of the list that the question with this number comes from.
    pub fn record(&self, number: usize) -> &[u8] {
        let (start, end) = self.lines[number];
        &self.list[start..end]
    }

    /// Lines of the list, empty ones too.
    pub fn list_records(&self) -> usize {
        Records::new(&self.list, Terminator::LineFeed).count()
    }

    /// Bytes of the list.
    pub fn list_bytes(&self) -> u64 {
        self.list.len() as u64
    }

    fn read_list(&mut self, filing: &mut Filing) -> Result<(), Damage> {
        let dialect = self.dialect();
        let (mut host, mut scratch, mut normal) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        let list = std::mem::take(&mut self.list);
        for record in Records::new(&list, Terminator::LineFeed) {
            let start = end;
            end += record.whole().len();
            let url = split(record.text(), dialect.paths.path_start);
            let known = url.and_then(|url| Ok((url, host_key(&url, &mut host)?)));
            let Ok((url, key)) = known else {
                self.left_out.invalid += 1;
                continue;
            };
            let text = match self.found_for(filing, url.scheme, key)? {
                Found::Text(text) => text,
                Found::Access(verdict) => {
                    let allows = allows_without_file(dialect, verdict, record.text());
                    self.allowed_without_file += u64::from(allows);
                    self.left_out.without_file += 1;
                    continue;
                }
                Found::Nothing => {
                    self.left_out.without_file += 1;
                    continue;
                }
            };
            normal.clear();
            normal.extend(url.scheme.iter().map(u8::to_ascii_lowercase));
            normal.extend_from_slice(b"://");
            normal.extend_from_slice(key);
            let origin = normal.len();
            let path = compared_path(url.path, dialect.paths.escapes, &mut scratch);
            normal.extend_from_slice(path.as_bytes());
            let Ok(normal_text) = std::str::from_utf8(&normal) else {
                self.left_out.not_text += 1;
                continue;
            };
            // With one policy for everything, all hosts share one file.
            let key = if self.set.is_universal() { b"" } else { key };
            let file = filing.file(key, text, &mut self.files);
            self.questions.push(file, normal_text, normal.len() - origin);
            self.lines.push((start, start + record.text().len()));
        }
        self.list = list;
        Ok(())
    }

    /// What is known of an origin.
    fn found_for(&self, filing: &Filing, scheme: &[u8], key: &[u8]) -> Result<Found, Damage> {
        let Some(policy) = self.set.policy_of(scheme, key)? else { return Ok(Found::Nothing) };
        if let Some(&verdict) = filing.without_file.get(&policy) {
            return Ok(Found::Access(verdict));
        }
        let https = scheme.eq_ignore_ascii_case(b"https");
        let text = match &filing.originals {
            Some(originals) => originals.get(key, https).map(|at| filing.of_original[at]),
            None => filing.of_policy.get(&policy).copied(),
        };
        Ok(text.map_or(Found::Nothing, Found::Text))
    }

    /// A text for each policy that has a file, or each original; and a file for each host, in the order of
    /// their keys, two if http and https have different ones.
    fn file_hosts(&mut self, originals: Option<Originals>) -> Result<Filing, Damage> {
        let mut filing = Filing::default();
        let set = Arc::clone(&self.set);
        for policy in set.policies() {
            let policy = policy?;
            let access = policy.access()?;
            // Without a file, the state decides and no engine is asked.
            if !matches!(access.state, PolicyState::Rules | PolicyState::NoRules) {
                filing.without_file.insert(policy.number(), access.verdict);
            } else if originals.is_none() {
                filing.of_policy.insert(policy.number(), self.texts.len() as u32);
                self.texts.push(text_of(&policy)?.into());
            }
        }
        if let Some(mut originals) = originals {
            let mut known: HashMap<Box<[u8]>, u32> = HashMap::new();
            for text in std::mem::take(&mut originals.texts) {
                let new = self.texts.len() as u32;
                let number = *known.entry(text.clone()).or_insert(new);
                filing.of_original.push(number);
                if number == new {
                    let counted = cut(&text, self.robots_bytes_max());
                    self.texts_cut += usize::from(counted.len() < text.len());
                    self.texts.push(counted.into());
                    self.as_read.push(text);
                }
            }
            filing.originals = Some(originals);
        }
        if set.is_universal() {
            return Ok(filing);
        }
        for host in set.hosts() {
            let host = host?;
            for https in host.schemes() {
                let scheme: &[u8] = if https { b"https" } else { b"http" };
                if let Found::Text(text) = self.found_for(&filing, scheme, host.key())? {
                    filing.file(host.key(), text, &mut self.files);
                }
            }
        }
        Ok(filing)
    }
}

/// What is known of an origin.
enum Found {
    /// A file with this text.
    Text(u32),
    /// No file, and what its absence means for every path.
    Access(Verdict),
    /// Nothing.
    Nothing,
}

/// Where texts are filed while a corpus is made.
#[derive(Default)]
struct Filing {
    originals: Option<Originals>,
    /// By original: its text.
    of_original: Vec<u32>,
    of_policy: HashMap<PolicyNumber, u32>,
    without_file: HashMap<PolicyNumber, Verdict>,
    /// By host and text: the file.
    files: HashMap<(Box<[u8]>, u32), u32>,
}

impl Filing {
    fn file(&mut self, host: &[u8], text: u32, files: &mut Vec<u32>) -> usize {
        let file = self.files.entry((host.into(), text)).or_insert_with(|| {
            files.push(text);
            files.len() as u32 - 1
        });
        *file as usize
    }
}

/// Drops what lies past the limit, and the line that the limit cuts: one engine cuts by itself, one
/// refuses the file, others read on, and all shall read the same bytes.
fn cut(text: &[u8], bytes_max: Option<usize>) -> &[u8] {
    let Some(bytes_max) = bytes_max.filter(|&bytes_max| text.len() > bytes_max) else {
        return text;
    };
    let is_end = |&byte: &u8| matches!(byte, b'\n' | b'\r');
    if is_end(&text[bytes_max]) {
        return &text[..bytes_max];
    }
    let end = text[..bytes_max].iter().rposition(is_end).map_or(0, |last| last + 1);
    &text[..end]
}

/// A stored policy's user-agent lines and rules as a file again.
fn text_of(policy: &StoredPolicy<'_>) -> Result<Vec<u8>, Damage> {
    let mut text = Vec::new();
    for record in policy.records()? {
        text.extend_from_slice(&record.text);
        text.push(b'\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_the_limit_cuts_is_dropped() {
        let text = b"allow: /\nallow: /b\n";
        assert_eq!(cut(text, None), text);
        assert_eq!(cut(text, Some(19)), text);
        assert_eq!(cut(text, Some(18)), b"allow: /\nallow: /b");
        assert_eq!(cut(text, Some(17)), b"allow: /\n");
        assert_eq!(cut(text, Some(4)), b"");
    }
}
