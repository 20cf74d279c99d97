//! Reads a file from a position of its own, so that several threads can read one file.

use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, Read};

/// The bytes of a file from a position on.
#[derive(Debug)]
pub struct ReadAt<F> {
    file: F,
    position: u64,
}

impl<F: Borrow<File>> ReadAt<F> {
    /// Returns a reader of the bytes of `file` from `position` on.
    pub fn new(file: F, position: u64) -> ReadAt<F> {
        ReadAt { file, position }
    }
}

impl<F: Borrow<File>> Read for ReadAt<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = read_at(self.file.borrow(), out, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, position)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, position)
}
