//! The data of a measurement: files, and URLs with a known file, the same for every engine.
//!
//! This module reads a [`UrlList`] and finds the file of each URL. The policies come from a [`PolicySet`].
//! The texts are the set's records, or [`Originals`], the files as they were written, because other
//! engines also spend time on comments. A URL becomes a question (a file, and path and query in the
//! normal form of the dialect). The URLs themselves are kept too, because the oracle reads them as
//! they are written. Reading fails if the list or the set cannot be read, or if no URL has a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use portcullis_dialect::decision::{PolicyState, Verdict};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::RECORDS_WITHOUT_URL_MAX;
use portcullis_io::input::{ChunkConfig, InputError, OpenConfig, Record, Source, Terminator};
use portcullis_io::list::{Arena, List, ListConfig, Problem};
use portcullis_io::{
    BatchReader, BrokenRecord, Capture, CaptureError, CaptureSink, ReadConfig, Subject, folder,
};
use portcullis_report::html::counted;
use portcullis_robots::policy::AgentChain;
use portcullis_robots::url::{compared_path, host_key, split};
use portcullis_robots::visible::cut_to_show;
use portcullis_set::stored::{PolicyNumber, StoredPolicy};
use portcullis_set::{Damage, LoadConfig, LoadError, PolicySet, read_text};

use super::judge::allows_without_file;
use super::questions::QuestionList;

/// The error of a corpus that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// The list cannot be read.
    #[error(transparent)]
    Unreadable(#[from] InputError),
    /// The list begins with too many records that are not URLs, or has no URL.
    #[error("{}: no URL in {found}", path.display())]
    NoUrl {
        /// The path of the list.
        path: PathBuf,
        /// What was read, and what to try.
        found: String,
    },
    /// The list has no URL with a file.
    #[error("{}: no URL is of an origin with a robots.txt; name a list that fits the policies", path.display())]
    NoQuestion {
        /// The path of the list.
        path: PathBuf,
    },
    /// The set is damaged.
    #[error(transparent)]
    Damaged(#[from] Damage),
}

/// A list of URLs.
#[derive(Clone, Debug)]
pub struct UrlList {
    /// The file, which is read several times.
    pub path: PathBuf,
    /// How the list is read.
    pub config: Arc<ListConfig>,
}

impl UrlList {
    /// Returns the list at `path`, whose format is detected.
    pub fn detected(path: &Path) -> UrlList {
        UrlList { path: path.to_owned(), config: Arc::default() }
    }
}

/// The number of records in a list that are not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The number of records that are not URLs.
    pub invalid: usize,
    /// The number of URLs of origins without a file.
    pub without_file: usize,
    /// The number of URLs whose normal form is not UTF-8, which most engines do not accept.
    pub not_text: usize,
}

/// The files and questions of a measurement.
#[derive(Debug)]
pub struct Corpus {
    /// The policies.
    pub set: Arc<PolicySet>,
    /// The agent.
    pub agent: AgentChain,
    /// The list.
    pub list: UrlList,
    /// How the list was read.
    pub read_as: Arc<List>,
    /// The number of records in the list, including empty ones.
    pub list_records: usize,
    /// The size of the list's file in bytes.
    pub list_bytes: u64,
    /// The questions, in the order of the list.
    pub questions: QuestionList,
    /// The records that are not measured.
    pub left_out: LeftOut,
    /// The number of URLs of origins without a file that the state of the origin allows. No engine
    /// decides them, but a run over the list includes them.
    pub allowed_without_file: u64,
    /// The distinct texts as they were read, each with the number of bytes within the limit.
    texts: Vec<(Box<[u8]>, usize)>,
    /// The limit on a file's size that applies to the texts.
    bytes_max: Option<usize>,
    /// The text of each file.
    files: Vec<u32>,
    /// The URLs of all questions as they are written, and the end of each.
    urls: Vec<u8>,
    ends: Vec<usize>,
}

impl Corpus {
    /// Reads `list` and finds the file of each URL. Without `originals`, a file
    /// consists of its user-agent lines and rules, as stored in the set.
    ///
    /// # Errors
    ///
    /// If the list cannot be read, no URL has a file, or the set is damaged.
    pub fn load(
        set: impl Into<Arc<PolicySet>>,
        originals: Option<Originals>,
        agent: AgentChain,
        list: UrlList,
    ) -> Result<Corpus, CorpusError> {
        let set = set.into();
        let limit = set.robots_bytes_max().filter(|_| originals.is_some());
        let mut corpus = Corpus {
            set,
            agent,
            list,
            read_as: List::plain("", Terminator::LineFeed).into(),
            list_records: 0,
            list_bytes: 0,
            questions: QuestionList::default(),
            left_out: LeftOut::default(),
            allowed_without_file: 0,
            texts: Vec::new(),
            bytes_max: limit.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            files: Vec::new(),
            urls: Vec::new(),
            ends: Vec::new(),
        };
        let mut filing = corpus.file_hosts(originals)?;
        corpus.read_list(&mut filing)?;
        match corpus.questions.is_empty() {
            true => Err(CorpusError::NoQuestion { path: corpus.list.path }),
            false => Ok(corpus),
        }
    }

    /// Returns the dialect of the policies.
    pub fn dialect(&self) -> &'static Dialect {
        self.set.dialect()
    }

    /// Returns the files: one per host, or two if http and https differ. Equal files of several
    /// hosts share their bytes in memory.
    pub fn files(&self) -> Vec<&[u8]> {
        let file = |&text: &u32| {
            let (text, counted) = &self.texts[text as usize];
            &text[..*counted]
        };
        self.files.iter().map(file).collect()
    }

    /// Returns the number of distinct texts of files.
    pub fn distinct_texts(&self) -> usize {
        let mut texts = self.files.clone();
        texts.sort_unstable();
        texts.dedup();
        texts.len()
    }

    /// Returns the number of texts that are longer than the limit.
    pub fn texts_cut(&self) -> usize {
        self.texts.iter().filter(|(text, counted)| *counted < text.len()).count()
    }

    /// Returns a file as it was read, and the limit on its size.
    pub fn text_as_read(&self, file: usize) -> (&[u8], Option<usize>) {
        (&self.texts[self.files[file] as usize].0, self.bytes_max)
    }

    /// Returns the URL of the question with this number, as it is written in the list.
    pub fn url(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.urls[start..self.ends[number]]
    }

    fn read_list(&mut self, filing: &mut Filing) -> Result<(), CorpusError> {
        let source = Source::open(&self.list.path, OpenConfig::default())?;
        let (mut arena, mut scratch) = (Arena::new(), Scratch::default());
        let mut leading = Leading::default();
        for chunk in source.list(ChunkConfig::default(), Arc::clone(&self.list.config)) {
            let mut chunk = chunk?;
            chunk.load()?;
            self.read_as = Arc::clone(chunk.list());
            self.list_bytes += chunk.stored_bytes();
            arena.reset();
            for record in chunk.records(&arena) {
                if record.problem() == Some(Problem::OpenQuote) {
                    return Err(self.open_quote().into());
                }
                let is_url = self.read_url(record.url(), filing, &mut scratch)?;
                leading.add(self.list_records, &record, is_url);
                self.list_records += 1;
                if leading.records >= RECORDS_WITHOUT_URL_MAX {
                    return Err(self.no_url(&leading));
                }
            }
        }
        match leading.is_over {
            true => Ok(()),
            false => Err(self.no_url(&leading)),
        }
    }

    /// Adds the question of a URL. Returns whether it is a URL.
    fn read_url(
        &mut self,
        written: &[u8],
        filing: &mut Filing,
        Scratch { host, path, normal }: &mut Scratch,
    ) -> Result<bool, Damage> {
        let dialect = self.dialect();
        let url = split(written, dialect.paths.path_start);
        let known = url.and_then(|url| Ok((url, host_key(&url, host)?)));
        let Ok((url, key)) = known else {
            self.left_out.invalid += 1;
            return Ok(false);
        };
        let text = match self.found_for(filing, url.scheme, key)? {
            Some(Found::Text(text)) => text,
            found => {
                if let Some(Found::Access(verdict)) = found {
                    let allows = allows_without_file(dialect, verdict, written);
                    self.allowed_without_file += u64::from(allows);
                }
                self.left_out.without_file += 1;
                return Ok(true);
            }
        };
        normal.clear();
        normal.extend(url.scheme.iter().map(u8::to_ascii_lowercase));
        normal.extend_from_slice(b"://");
        normal.extend_from_slice(key);
        let origin = normal.len();
        let path = compared_path(url.path, dialect.paths.escapes, path);
        normal.extend_from_slice(path.as_bytes());
        let Ok(normal_text) = std::str::from_utf8(normal) else {
            self.left_out.not_text += 1;
            return Ok(true);
        };
        // With one policy for every URL, all hosts share one file.
        let key = if self.set.is_universal() { b"" } else { key };
        let file = filing.file(key, text, &mut self.files);
        self.questions.push(file, normal_text, normal.len() - origin);
        self.urls.extend_from_slice(written);
        self.ends.push(self.urls.len());
        Ok(true)
    }

    /// Returns the error of a list that begins with records that are not URLs.
    fn no_url(&self, leading: &Leading) -> CorpusError {
        let found = match &leading.first {
            None => "the list, which is empty".to_owned(),
            Some((record, text)) => format!(
                "{} ({}: `{text}`), read as {}; name the format with --input-format, or the place of \
                 the URL with --column or --field",
                counted(leading.records, "record", "records"),
                self.read_as.place(*record as u64),
                self.read_as.format().describe()
            ),
        };
        CorpusError::NoUrl { path: self.list.path.clone(), found }
    }

    fn open_quote(&self) -> InputError {
        let problem = format!(
            "{}: a quoted field is not closed, so every row behind it is part of it; close it, or pass \
             --input-format lines if quotes mean nothing",
            self.read_as.place(self.list_records as u64)
        );
        InputError::List { name: self.list.path.display().to_string(), problem }
    }

    fn found_for(
        &self,
        filing: &Filing,
        scheme: &[u8],
        key: &[u8],
    ) -> Result<Option<Found>, Damage> {
        let Some(policy) = self.set.policy_of(scheme, key)? else { return Ok(None) };
        if let Some(&verdict) = filing.without_file.get(&policy) {
            return Ok(Some(Found::Access(verdict)));
        }
        let https = scheme.eq_ignore_ascii_case(b"https");
        let text = match &filing.originals {
            Some(originals) => originals.get(key, https).map(|at| filing.of_original[at]),
            None => filing.of_policy.get(&policy).copied(),
        };
        Ok(text.map(Found::Text))
    }

    /// Adds a text for each policy that has one, or for each original, and a file for each host in
    /// the order of the hosts' keys.
    fn file_hosts(&mut self, originals: Option<Originals>) -> Result<Filing, Damage> {
        let mut filing = Filing::default();
        let set = Arc::clone(&self.set);
        for policy in set.policies() {
            let policy = policy?;
            let access = policy.access()?;
            // Without a file, the state decides, and no engine is called.
            if !matches!(access.state, PolicyState::Rules | PolicyState::NoRules) {
                filing.without_file.insert(policy.number(), access.verdict);
            } else if originals.is_none() {
                filing.of_policy.insert(policy.number(), self.texts.len() as u32);
                let text = text_of(&policy)?;
                self.texts.push((text.as_slice().into(), text.len()));
            }
        }
        if let Some(mut originals) = originals {
            let mut known: HashMap<Box<[u8]>, u32> = HashMap::new();
            for text in std::mem::take(&mut originals.texts) {
                let new = self.texts.len() as u32;
                let number = *known.entry(text.clone()).or_insert(new);
                filing.of_original.push(number);
                if number == new {
                    let counted = counted_bytes(&text, self.bytes_max);
                    self.texts.push((text, counted));
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
                if let Some(Found::Text(text)) = self.found_for(&filing, scheme, host.key())? {
                    filing.file(host.key(), text, &mut self.files);
                }
            }
        }
        Ok(filing)
    }
}

/// Buffers that are reused from URL to URL.
#[derive(Default)]
struct Scratch {
    host: Vec<u8>,
    path: Vec<u8>,
    normal: Vec<u8>,
}

/// The records before the first URL of a list.
#[derive(Default)]
struct Leading {
    /// The number of nonempty records.
    records: u64,
    /// The number in the list and the text of the first nonempty record.
    first: Option<(usize, String)>,
    /// Whether a URL has followed.
    is_over: bool,
}

impl Leading {
    fn add(&mut self, number: usize, record: &Record<'_>, is_url: bool) {
        self.is_over |= is_url;
        if self.is_over || record.text().trim_ascii().is_empty() {
            return;
        }
        self.records += 1;
        let text = || String::from_utf8_lossy(&cut_to_show(record.text())).into_owned();
        self.first.get_or_insert_with(|| (number, text()));
    }
}

/// The result of a look-up of an origin in the set.
enum Found {
    /// A file with this text.
    Text(u32),
    /// No file. The state of the origin gives this verdict on every path.
    Access(Verdict),
}

/// The texts and files of a corpus that is being loaded.
#[derive(Default)]
struct Filing {
    originals: Option<Originals>,
    /// The text of each original.
    of_original: Vec<u32>,
    of_policy: HashMap<PolicyNumber, u32>,
    without_file: HashMap<PolicyNumber, Verdict>,
    /// The file by host and text.
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

/// Returns the number of bytes up to the limit, without the line that the limit cuts. Engines
/// handle the limit differently (one cuts, one refuses the file, others read on), and all must read
/// the same bytes.
fn counted_bytes(text: &[u8], bytes_max: Option<usize>) -> usize {
    let Some(bytes_max) = bytes_max.filter(|&bytes_max| text.len() > bytes_max) else {
        return text.len();
    };
    let is_end = |&byte: &u8| matches!(byte, b'\n' | b'\r');
    if is_end(&text[bytes_max]) {
        return bytes_max;
    }
    text[..bytes_max].iter().rposition(is_end).map_or(0, |last| last + 1)
}

/// Returns a stored policy's user-agent lines and rules as a robots.txt file.
fn text_of(policy: &StoredPolicy<'_>) -> Result<Vec<u8>, Damage> {
    let mut text = Vec::new();
    for record in policy.records()? {
        text.extend_from_slice(&record.text);
        text.push(b'\n');
    }
    Ok(text)
}

/// The texts of robots.txt files as they were written: by host for http and for https, or one text
/// for every URL.
#[derive(Debug, Default)]
pub struct Originals {
    of_host: HashMap<Vec<u8>, [Option<usize>; 2]>,
    texts: Vec<Box<[u8]>>,
}

impl Originals {
    /// Reads a file, or a folder of files named by host. Unreadable files of a folder are left out.
    ///
    /// # Errors
    ///
    /// If the file or the folder cannot be read.
    pub fn load(path: &Path, config: &LoadConfig) -> Result<Originals, LoadError> {
        let mut originals = Originals::default();
        if !path.is_dir() {
            originals.texts.push(read_text(path, config)?.0.as_slice().into());
            return Ok(originals);
        }
        let failed = |error: CaptureError| LoadError::Folder(error.to_string());
        let mut folder = folder::open(path).map_err(failed)?;
        let reading = ReadConfig { robots_bytes_max: config.robots_bytes_max };
        while let Some(batch) = folder.next_batch().map_err(failed)? {
            batch.read(&reading, &mut originals);
        }
        Ok(originals)
    }

    /// Returns the texts, in the order in which they were read.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.iter().map(|text| &**text)
    }

    /// Returns the number of an origin's text, by the key of its host.
    pub fn get(&self, key: &[u8], https: bool) -> Option<usize> {
        match self.of_host.is_empty() {
            true => Some(0),
            false => self.of_host.get(key)?[usize::from(https)],
        }
    }
}

impl CaptureSink for Originals {
    fn capture(&mut self, capture: Capture<'_>) {
        let Subject::Host(host) = capture.subject else { return };
        let Some(keys) = folder::host_keys(host) else { return };
        for (scheme, key) in keys.into_iter().enumerate() {
            self.of_host.entry(key).or_default()[scheme] = Some(self.texts.len());
        }
        self.texts.push(capture.body.into_owned().into());
    }

    fn broken(&mut self, _: BrokenRecord) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_the_limit_cuts_is_dropped() {
        let text = b"allow: /\nallow: /b\n";
        for (bytes_max, counted) in
            [(None, 19), (Some(19), 19), (Some(18), 18), (Some(17), 9), (Some(4), 0)]
        {
            assert_eq!(counted_bytes(text, bytes_max), counted, "{bytes_max:?}");
        }
    }
}
