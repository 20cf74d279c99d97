//! The texts of robots.txt files as they were written, for engines that read them themselves.
//!
//! A set keeps what decides. Other engines read whole files, with comments and all, and that costs them
//! time; so files that are at hand are read once more for them.

use std::collections::HashMap;
use std::path::Path;

use crate::capture::{
    BatchReader, BrokenRecord, Capture, CaptureSink, ReadConfig, Subject, folder,
};
use crate::set::{LoadConfig, LoadError, read_text};

/// Texts by the key of their host, for http and for https; or one for every URL.
#[derive(Debug)]
pub struct Originals {
    of_host: HashMap<Vec<u8>, [Option<usize>; 2]>,
    pub(super) texts: Vec<Box<[u8]>>,
}

impl Originals {
    /// Reads a file, or a folder of files named by host. What of a folder cannot be read is left out.
    ///
    /// # Errors
    ///
    /// If the file or the list of the folder's files cannot be read.
    pub fn load(path: &Path, config: &LoadConfig) -> Result<Originals, LoadError> {
        if !path.is_dir() {
            return Ok(Originals::of_text(&read_text(path, config)?.0));
        }
        let mut originals = Originals { of_host: HashMap::new(), texts: Vec::new() };
        let failed = |error: crate::capture::CaptureError| LoadError::Folder(error.to_string());
        let mut folder = folder::open(path).map_err(failed)?;
        let reading = ReadConfig { robots_bytes_max: config.robots_bytes_max };
        while let Some(batch) = folder.next_batch().map_err(failed)? {
            batch.read(&reading, &mut originals);
        }
        Ok(originals)
    }

    /// One text, for every URL.
    pub fn of_text(text: &[u8]) -> Originals {
        Originals { of_host: HashMap::new(), texts: vec![text.into()] }
    }

    /// The texts, in the order in which they were read.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.iter().map(|text| &**text)
    }

    /// The text of an origin, by the key of its host.
    pub fn text_of(&self, key: &[u8], https: bool) -> Option<&[u8]> {
        self.get(key, https).map(|at| &*self.texts[at])
    }

    /// The number of an origin's text.
    pub(super) fn get(&self, key: &[u8], https: bool) -> Option<usize> {
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
