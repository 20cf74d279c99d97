//! Stages like decompression, which make lines of an input in another form.
//!
//! A [`Stage`] appends lines, and [`StageLines`] delivers them as a stream. What follows in
//! [`input`](crate::input) and [`list`](super) is as for other lines. Sitemaps have one of their own.
//!
//! **WARC, WAT and WET** become the target URIs of their captures ([`Targets`]).
//!
//! **An array of JSON** becomes its items, in which line ends become blanks.

use std::io::{self, Read};
use std::mem;
use std::sync::{Arc, Mutex};

use memchr::memmem;

use crate::input::{InputError, Source};
use crate::limits::STAGE_READ_BYTES;
use portcullis_captures::warc::Targets;

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

/// The items of a JSON array.
pub(super) struct JsonItems {
    stream: Source,
    scan: Scan,
}

/// Where the scan of an array is.
#[derive(Default)]
struct Scan {
    /// The number of open brackets, that of the array included.
    depth: usize,
    in_text: bool,
    in_escape: bool,
    is_over: bool,
}

impl JsonItems {
    pub(super) fn new(stream: Source) -> JsonItems {
        JsonItems { stream, scan: Scan::default() }
    }

    fn problem(&self, problem: &str) -> InputError {
        self.stream.problem(format!("after byte {}: {problem}", self.stream.position()))
    }
}

impl Stage for JsonItems {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError> {
        while lines.is_empty() {
            if !self.stream.fill(1) {
                return match self.stream.take_failure() {
                    Some(failure) => Err(failure),
                    None if self.scan.is_over => Ok(()),
                    None => Err(self.problem("the JSON array has no end; fetch it again")),
                };
            }
            let bytes = self.stream.bytes();
            let count = bytes.len();
            let scanned = bytes.iter().try_for_each(|&byte| self.scan.add(byte, lines));
            scanned.map_err(|problem| self.problem(problem))?;
            self.stream.consume(count);
        }
        Ok(())
    }
}

impl Scan {
    /// Adds the next byte of the array to `lines`.
    #[inline]
    fn add(&mut self, byte: u8, lines: &mut Vec<u8>) -> Result<(), &'static str> {
        if self.in_text {
            self.in_text = self.in_escape || byte != b'"';
            self.in_escape = !self.in_escape && byte == b'\\';
            lines.push(byte);
            return Ok(());
        }
        match (byte, self.depth) {
            (b' ' | b'\t' | b'\r' | b'\n', 0 | 1) => return Ok(()),
            (b'[', 0) if !self.is_over => self.depth = 1,
            (_, 0) => return Err("text behind the JSON array; remove it"),
            (b',', 1) => lines.push(b'\n'),
            (b']', 1) => {
                (self.depth, self.is_over) = (0, true);
                lines.push(b'\n');
            }
            (b'\r' | b'\n', _) => lines.push(b' '),
            _ => {
                match byte {
                    b'[' | b'{' => self.depth += 1,
                    b']' | b'}' => self.depth -= 1,
                    _ => self.in_text = byte == b'"',
                }
                lines.push(byte);
            }
        }
        Ok(())
    }
}
