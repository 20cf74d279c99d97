//! The data of a measurement: files, and URLs with a known file, the same for every engine.
//!
//! The files are texts as they were written, because other engines also spend time on comments.
//! [`Corpus::add`] makes a question of a URL: a file, and path and query in the normal form of the
//! dialect. The URLs themselves are kept too, because the oracle reads them as they are written.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use portcullis_build::{LoadConfig, LoadError, load, load_files, read_text};
use portcullis_captures::{BatchReader, Capture, ReadConfig, Subject, folder};
use portcullis_dialect::dialect::Dialect;
use portcullis_dialect::limits::ROBOTS_BYTES_MAX;
use portcullis_files::input::InputError;
use portcullis_robots::policy::Crawler;
use portcullis_robots::url::{Origin, compared_path, host_key, split};
use portcullis_set::PolicySet;

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
pub struct Corpus {
    /// The policies.
    pub set: Arc<PolicySet>,
    /// The agent.
    pub agent: Crawler,
    /// The questions, in the order of the list.
    pub questions: QuestionList,
    /// The records that are not measured.
    pub left_out: LeftOut,
    /// The files for http and https by the key of their host; empty if one file is for every URL.
    of_host: HashMap<Vec<u8>, [Option<usize>; 2]>,
    /// The text of each file.
    files: Vec<usize>,
    /// The distinct texts as they were written.
    texts: Vec<Box<[u8]>>,
    /// The URLs of all questions by their numbers, as they are written in the list.
    pub(super) urls: Vec<Box<[u8]>>,
}

impl Corpus {
    /// Returns the corpus of a robots.txt file for every URL, or of a folder of files named by host, without
    /// questions. Each host has a file, asked or not, or two if http and https differ. Unreadable files of
    /// a folder are left out.
    ///
    /// # Errors
    ///
    /// If the file or the folder cannot be read.
    pub fn load(
        path: &Path,
        agent: Crawler,
        dialect: &'static Dialect,
    ) -> Result<Corpus, LoadError> {
        let config = LoadConfig::new(dialect);
        let mut corpus = Corpus {
            set: load(path, &config)?.set.into(),
            agent,
            questions: QuestionList::default(),
            left_out: LeftOut::default(),
            of_host: HashMap::new(),
            files: Vec::new(),
            texts: Vec::new(),
            urls: Vec::new(),
        };
        if !path.is_dir() {
            corpus.texts.push(read_text(path, &config)?.0.into());
            corpus.files.push(0);
            return Ok(corpus);
        }
        let failed = |error: InputError| LoadError::Folder(error.to_string());
        let mut folder = folder::open(path).map_err(failed)?;
        let reading = ReadConfig { robots_bytes_max: config.robots_bytes_max };
        let mut known = HashMap::new();
        while let Some(batch) = folder.next_batch().map_err(failed)? {
            batch.read(&reading, &mut |read| {
                read.into_iter().for_each(|it| corpus.add_file(it, &mut known));
            });
        }
        Ok(corpus)
    }

    /// Returns a corpus without files and questions, for engines that get theirs elsewhere.
    ///
    /// # Errors
    ///
    /// If the set that a corpus has cannot be built.
    pub fn of_dialect(agent: Crawler, dialect: &'static Dialect) -> Result<Corpus, LoadError> {
        let config = LoadConfig::new(dialect);
        let none = std::iter::empty::<(&Origin, &[u8])>();
        Ok(Corpus {
            set: load_files(none, &config).into(),
            agent,
            questions: QuestionList::default(),
            left_out: LeftOut::default(),
            of_host: HashMap::new(),
            files: Vec::new(),
            texts: Vec::new(),
            urls: Vec::new(),
        })
    }

    /// Adds the file of a host. `known` are the numbers of the texts so far.
    fn add_file(&mut self, capture: Capture<'_>, known: &mut HashMap<Box<[u8]>, usize>) {
        let Subject::Host(host) = capture.subject else { return };
        let Some(keys) = folder::host_keys(&host) else { return };
        let text: Box<[u8]> = capture.body.into_owned().into();
        let number = *known.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.texts.len() - 1
        });
        for (scheme, key) in keys.into_iter().enumerate() {
            let files = self.of_host.entry(key).or_default();
            let other = files[1 - scheme].filter(|&other| self.files[other] == number);
            files[scheme].get_or_insert_with(|| {
                other.unwrap_or_else(|| {
                    self.files.push(number);
                    self.files.len() - 1
                })
            });
        }
    }

    /// Returns the number of an origin's file, by the key of its host.
    pub fn file(&self, key: &[u8], https: bool) -> Option<usize> {
        match self.of_host.is_empty() {
            true => Some(0),
            false => self.of_host.get(key)?[usize::from(https)],
        }
    }

    /// Adds the question of a record of a list. A record that cannot be asked is counted in
    /// [`Corpus::left_out`].
    ///
    /// # Panics
    ///
    /// If the list exceeds 4 GiB.
    pub fn add(&mut self, record: &[u8]) {
        let (dialect, mut host, mut path) = (self.dialect(), Vec::new(), Vec::new());
        let url = split(record, dialect.paths.path_start);
        let Ok((url, key)) = url.and_then(|url| Ok((url, host_key(&url, &mut host)?))) else {
            self.left_out.invalid += 1;
            return;
        };
        let https = url.scheme.eq_ignore_ascii_case(b"https");
        // Without a file, the state of the origin decides, and no engine is called.
        let Some(file) = self.file(key, https) else {
            self.left_out.without_file += 1;
            return;
        };
        let path = compared_path(url.path, dialect.paths.escapes, &mut path);
        let normal = [&url.scheme.to_ascii_lowercase()[..], b"://", key, path].concat();
        let Ok(normal) = String::from_utf8(normal) else {
            self.left_out.not_text += 1;
            return;
        };
        self.questions.push(self.urls.len() as u32, file, &normal, path.len());
        self.urls.push(record.into());
    }

    /// Returns the dialect of the policies.
    pub fn dialect(&self) -> &'static Dialect {
        self.set.dialect()
    }

    /// Returns the files. Equal files of several hosts share their bytes in memory.
    pub fn files(&self) -> Vec<&[u8]> {
        self.files.iter().map(|&text| within_limit(&self.texts[text])).collect()
    }

    /// Returns the number of distinct texts, and of those that are longer than the limit.
    pub fn texts(&self) -> (usize, usize) {
        let cut = self.texts.iter().filter(|text| within_limit(text).len() < text.len());
        (self.texts.len(), cut.count())
    }

    /// Returns a file as it was read.
    pub fn text_as_read(&self, file: usize) -> &[u8] {
        &self.texts[self.files[file]]
    }
}

/// Returns a text up to the limit on its size, without the line that the limit cuts. Engines handle the
/// limit differently (one cuts, one refuses the file, others read on), and all must read the same bytes.
pub(super) fn within_limit(text: &[u8]) -> &[u8] {
    let is_end = |&byte: &u8| matches!(byte, b'\n' | b'\r');
    match text.get(ROBOTS_BYTES_MAX) {
        None => text,
        Some(next) if is_end(next) => &text[..ROBOTS_BYTES_MAX],
        Some(_) => {
            let last = text[..ROBOTS_BYTES_MAX].iter().rposition(is_end);
            &text[..last.map_or(0, |last| last + 1)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_the_limit_cuts_is_dropped() {
        let text = [b"a".repeat(ROBOTS_BYTES_MAX - 2), b"\nbc\nd".to_vec()].concat();
        for (bytes, within) in [(2, 2), (0, 0), (1, 1)] {
            assert_eq!(within_limit(&text[text.len() - bytes..]).len(), within);
        }
        assert_eq!(within_limit(&text).len(), ROBOTS_BYTES_MAX - 1);
        assert_eq!(within_limit(&text[1..]).len(), ROBOTS_BYTES_MAX);
        assert_eq!(within_limit(&b"a".repeat(ROBOTS_BYTES_MAX + 1)).len(), 0);
    }
}
