//! The data of a measurement: files, and URLs with a known file, the same for every engine.
//!
//! The policies come from a [`PolicySet`]. The texts are the set's records, or [`Originals`], the
//! files as they were written, because other engines also spend time on comments. [`Corpus::add`]
//! makes a question of a URL: a file, and path and query in the normal form of the dialect. The
//! URLs themselves are kept too, because the oracle reads them as they are written. The caller
//! reads the list. A damaged set is the only failure.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use portcullis_build::{LoadConfig, LoadError, read_text};
use portcullis_captures::{
    BatchReader, BrokenRecord, Capture, CaptureError, CaptureSink, ReadConfig, Subject, folder,
};
use portcullis_dialect::dialect::Dialect;
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::{compared_path, host_key, split};
use portcullis_set::stored::PolicyNumber;
use portcullis_set::{Damage, PolicySet};

use super::questions::QuestionList;

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
    pub agent: Crawler,
    /// The questions, in the order of the list.
    pub questions: QuestionList,
    /// The records that are not measured.
    pub left_out: LeftOut,
    /// The distinct texts as they were read, each with the number of bytes within the limit.
    texts: Vec<(Box<[u8]>, usize)>,
    /// The limit on a file's size that applies to the texts.
    bytes_max: Option<usize>,
    source: TextSource,
    /// The text of each file.
    files: Vec<u32>,
    /// The file by host and text.
    file_of: HashMap<(Box<[u8]>, u32), u32>,
    /// The URLs of all questions as they are written, and the end of each.
    urls: Vec<u8>,
    ends: Vec<usize>,
}

type Texts = Vec<Box<[u8]>>;

/// Where the text of an origin is found.
#[derive(Debug)]
enum TextSource {
    /// The set's records, by policy.
    Set(HashMap<PolicyNumber, u32>),
    Originals(Originals),
}

impl Corpus {
    /// Returns a corpus without questions. Without `originals`, a file consists of its user-agent
    /// lines and rules, as stored in the set.
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    pub fn new(
        set: impl Into<Arc<PolicySet>>,
        originals: Option<Originals>,
        agent: Crawler,
    ) -> Result<Corpus, Damage> {
        let set = set.into();
        let limit = set.robots_bytes_max().filter(|_| originals.is_some());
        let bytes_max = limit.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let (texts, source) = match originals {
            Some(mut originals) => {
                let texts = std::mem::take(&mut originals.texts);
                (texts, TextSource::Originals(originals))
            }
            None => stored_texts(&set)?,
        };
        let counted = |text: Box<[u8]>| {
            let bytes = counted_bytes(&text, bytes_max);
            (text, bytes)
        };
        let mut corpus = Corpus {
            set,
            agent,
            questions: QuestionList::default(),
            left_out: LeftOut::default(),
            texts: texts.into_iter().map(counted).collect(),
            bytes_max,
            source,
            files: Vec::new(),
            file_of: HashMap::new(),
            urls: Vec::new(),
            ends: Vec::new(),
        };
        corpus.file_hosts()?;
        Ok(corpus)
    }

    /// Adds a file for each host of the set, in the order of their keys, asked or not.
    fn file_hosts(&mut self) -> Result<(), Damage> {
        let set = Arc::clone(&self.set);
        if set.is_universal() {
            return Ok(());
        }
        for host in set.hosts() {
            let host = host?;
            for https in host.schemes() {
                let scheme: &[u8] = if https { b"https" } else { b"http" };
                if let Some(text) = self.text_of(scheme, host.key())? {
                    self.file(host.key(), text);
                }
            }
        }
        Ok(())
    }

    /// Adds the question of a record of a list. A record that cannot be asked is counted in
    /// [`Corpus::left_out`].
    ///
    /// # Errors
    ///
    /// If the set is damaged.
    ///
    /// # Panics
    ///
    /// If the list exceeds 4 GiB.
    pub fn add(&mut self, record: &[u8]) -> Result<(), Damage> {
        let (dialect, mut host, mut path) = (self.dialect(), Vec::new(), Vec::new());
        let url = split(record, dialect.paths.path_start);
        let Ok((url, key)) = url.and_then(|url| Ok((url, host_key(&url, &mut host)?))) else {
            self.left_out.invalid += 1;
            return Ok(());
        };
        let Some(text) = self.text_of(url.scheme, key)? else {
            self.left_out.without_file += 1;
            return Ok(());
        };
        let path = compared_path(url.path, dialect.paths.escapes, &mut path);
        let normal = [&url.scheme.to_ascii_lowercase()[..], b"://", key, path].concat();
        let Ok(normal) = String::from_utf8(normal) else {
            self.left_out.not_text += 1;
            return Ok(());
        };
        // With one policy for every URL, all hosts share one file.
        let key = if self.set.is_universal() { b"" } else { key };
        let file = self.file(key, text);
        self.questions.push(file, &normal, path.len());
        self.urls.extend_from_slice(record);
        self.ends.push(self.urls.len());
        Ok(())
    }

    /// Returns the text for an origin. `None` if it has none: the state of the origin decides then,
    /// and no engine is called.
    fn text_of(&self, scheme: &[u8], key: &[u8]) -> Result<Option<u32>, Damage> {
        let Some(policy) = self.set.policy_of(scheme, key)? else { return Ok(None) };
        Ok(match &self.source {
            TextSource::Set(texts) => texts.get(&policy).copied(),
            TextSource::Originals(originals) => {
                let text = originals.get(key, scheme.eq_ignore_ascii_case(b"https"));
                text.map(|text| text as u32)
            }
        })
    }

    fn file(&mut self, host: &[u8], text: u32) -> usize {
        let files = &mut self.files;
        let file = self.file_of.entry((host.into(), text)).or_insert_with(|| {
            files.push(text);
            files.len() as u32 - 1
        });
        *file as usize
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

    /// Returns the number of distinct texts.
    pub fn distinct_texts(&self) -> usize {
        self.texts.len()
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
}

/// Returns the user-agent lines and rules of each policy as a robots.txt file.
fn stored_texts(set: &PolicySet) -> Result<(Texts, TextSource), Damage> {
    let (mut texts, mut of_policy) = (Vec::new(), HashMap::new());
    for policy in set.policies() {
        let policy = policy?;
        if policy.access()?.state.is_file() {
            let mut text = Vec::new();
            for record in policy.records()? {
                text.extend_from_slice(&record.text);
                text.push(b'\n');
            }
            of_policy.insert(policy.number(), texts.len() as u32);
            texts.push(text.into());
        }
    }
    Ok((texts, TextSource::Set(of_policy)))
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

/// The distinct texts of robots.txt files as they were written: by host for http and for https, or
/// one text for every URL.
#[derive(Debug, Default)]
pub struct Originals {
    of_host: HashMap<Vec<u8>, [Option<usize>; 2]>,
    texts: Texts,
    known: HashMap<Box<[u8]>, usize>,
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
        originals.known = HashMap::new();
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
        let text: Box<[u8]> = capture.body.into_owned().into();
        let texts = &mut self.texts;
        let number = *self.known.entry(text.clone()).or_insert_with(|| {
            texts.push(text);
            texts.len() - 1
        });
        for (scheme, key) in keys.into_iter().enumerate() {
            self.of_host.entry(key).or_default()[scheme] = Some(number);
        }
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
