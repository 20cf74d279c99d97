//! Stages like decompression, which make lines of an input in another form.
//!
//! A [`Stage`] appends lines, and [`StageLines`] delivers them as a stream: what reads lines reads them as any
//! others.

use std::io::{self, Read};

use super::InputError;

/// A source of lines.
pub trait Stage: Send + 'static {
    /// Appends the next whole lines to `lines`. There are none at the end.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, or is damaged. The lines before the damage are appended.
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> Result<(), InputError>;
}

/// The lines of a stage as a stream.
pub struct StageLines<S> {
    stage: S,
    lines: Vec<u8>,
    /// The number of delivered bytes of the lines.
    taken: usize,
    /// The error that follows the lines.
    failure: Option<InputError>,
}

impl<S> StageLines<S> {
    /// Returns the lines of `stage`. Nothing is read yet.
    pub fn new(stage: S) -> StageLines<S> {
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
