//! Stages like decompression, which make lines of an input in another form.
//!
//! A [`Stage`] appends lines, and [`StageLines`] delivers them as a stream. What follows in
//! [`input`](crate::input) and [`list`](super) is as for other lines. Sitemaps have one of their own.
//!
//! **WARC, WAT and WET** become the target URIs of their captures ([`Targets`]).
//!
//! **An array of JSON** becomes its items, in which line ends become blanks. It may be as long as a
//! record ([`RECORD_BYTES_MAX`]).

use std::io::{self, Read};
use std::mem;
use std::sync::{Arc, Mutex};

use memchr::memmem;
use serde_json::value::RawValue;

use super::advice;
use crate::input::{InputError, Source};
use crate::limits::STAGE_READ_BYTES;
use portcullis_captures::warc::Targets;
use portcullis_files::limits::RECORD_BYTES_MAX;

/// A source of lines.
pub(crate) trait Stage: Send + 'static {
    /// Appends the next whole lines to `lines`. There are none at the end.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, or is damaged. The lines before the damage are appended.
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError>;
}

/// The damage of an input that was tolerated, told by the thread that reads it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damages(Arc<Mutex<Vec<String>>>);

impl Damages {
    pub(crate) fn add(&self, error: &InputError) {
        self.0.lock().expect("no thread panics with it").push(error.to_string());
    }

    pub(super) fn take(&self) -> Vec<String> {
        mem::take(&mut self.0.lock().expect("no thread panics with it"))
    }
}

/// The lines of a stage as a stream.
pub(crate) struct StageLines<S> {
    stage: S,
    lines: Vec<u8>,
    /// The number of delivered bytes of the lines.
    taken: usize,
    /// The error that follows the lines.
    failure: Option<InputError>,
}

impl<S> StageLines<S> {
    pub(crate) fn new(stage: S) -> StageLines<S> {
        StageLines { stage, lines: Vec::new(), taken: 0, failure: None }
    }
}

impl<S: Stage> Read for StageLines<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.lines.len() {
            self.lines.clear();
            self.taken = 0;
            let next = match self.failure.take() {
                Some(failure) => Err(failure),
                None => self.stage.next_lines(&mut self.lines),
            };
            match next {
                Err(failure) if self.lines.is_empty() => return Err(io::Error::other(failure)),
                next => self.failure = next.err(),
            }
        }
        let count = (&self.lines[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

/// Whether all records at the start of a file are about robots.txt files, or the lookup of a host: it
/// is an archive to compile, and no list.
pub(super) fn is_of_robots_txt(text: &[u8]) -> bool {
    const NAME: &[u8] = b"\nWARC-Target-URI:";
    let targets = memmem::find_iter(text, NAME).map(|at| {
        let line = text[at + NAME.len()..].split(|&byte| byte == b'\n').next();
        line.unwrap_or_default().trim_ascii()
    });
    let pages = targets.filter(|target| !target.starts_with(b"dns:") && !target.is_empty());
    let mut are_robots_txt = pages.map(|page| page.ends_with(b"/robots.txt")).peekable();
    are_robots_txt.peek().is_some() && are_robots_txt.all(|it| it)
}

impl Stage for Targets {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError> {
        while lines.len() < STAGE_READ_BYTES && self.next(lines)? {}
        Ok(())
    }
}

/// The items of a JSON array, or of several that are the pages of an answer, which are read whole.
pub(super) struct JsonItems(pub Option<Source>);

impl Stage for JsonItems {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError> {
        let Some(mut stream) = self.0.take() else { return Ok(()) };
        let is_longer = stream.fill(RECORD_BYTES_MAX + 1);
        let text = stream.buffer();
        if is_longer {
            return Err(stream.problem(advice::json_array(stream.name(), text)));
        }
        let pages = serde_json::Deserializer::from_slice(text).into_iter::<Vec<&RawValue>>();
        let pages: Result<Vec<Vec<&RawValue>>, _> = pages.collect();
        let pages = match (pages, stream.has_failed()) {
            (Ok(pages), false) => pages,
            (Err(error), false) if !error.is_eof() => {
                return Err(stream.problem(format!("not a JSON array: {error}; fetch it again")));
            }
            _ => {
                let no_end = stream.problem("the JSON array has no end; fetch it again");
                return Err(stream.take_failure().unwrap_or(no_end));
            }
        };
        let names = pages.first().and_then(|page| page.first()).map(|row| row.get());
        for (number, page) in pages.iter().enumerate() {
            // Each page of an answer begins with the names.
            let are_names = |row: &&RawValue| number > 0 && Some(row.get()) == names;
            let has_names = page.first().is_some_and(are_names);
            for item in &page[usize::from(has_names)..] {
                let bytes = item.get().bytes();
                lines.extend(bytes.map(|byte| if b"\r\n".contains(&byte) { b' ' } else { byte }));
                lines.push(b'\n');
            }
        }
        Ok(())
    }
}
