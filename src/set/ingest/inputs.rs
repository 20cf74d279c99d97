//! The inputs, and what became of each.

use std::path::PathBuf;

use crate::access::UnixSeconds;
use crate::capture::{BrokenRecord, CaptureError, CaptureFormat};
use crate::limits::BROKEN_RECORDS_NAMED;

use super::digest::Digest;
use super::known::Position;

/// Something to read captures from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it is: a file, or a folder of files named by host.
    pub path: PathBuf,
    /// What it is, if it need not be found out.
    pub format: Option<CaptureFormat>,
}

impl Input {
    /// What is at `path`, whatever it looks like.
    pub fn new(path: impl Into<PathBuf>) -> Input {
        Input { path: path.into(), format: None }
    }
}

/// What became of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// What it is, as far as it was said or its name tells.
    pub format: Option<CaptureFormat>,
    /// Bytes of it that were read, as they are stored.
    pub bytes: u64,
    /// Captures in it.
    pub captures: u64,
    /// Records that could not be read and were passed over.
    pub broken: u64,
    /// Those of them that the system would not give, such as files of a folder.
    pub unreadable: u64,
    /// The dates of its oldest and its newest capture, if any of them has one.
    pub captured: Option<(UnixSeconds, UnixSeconds)>,
    /// The first of the broken records, at most
    /// [`BROKEN_RECORDS_NAMED`].
    pub broken_named: Vec<BrokenRecord>,
    /// Why it could not be read, or not further; nothing if it was read to its end.
    pub failure: Option<String>,
}

impl InputReport {
    /// Whether the system gave all that is in it, whatever that means.
    pub fn is_readable(&self) -> bool {
        self.failure.is_none() && self.unreadable == 0
    }

    /// Whether all that is in it was read.
    pub fn is_whole(&self) -> bool {
        self.failure.is_none() && self.broken == 0
    }
}

/// A report that is being made, in whatever order the pieces of the input are read.
#[derive(Debug)]
pub(super) struct OpenReport {
    report: InputReport,
    /// The first broken records so far, in the order of the input.
    broken: Vec<(Position, BrokenRecord)>,
}

impl OpenReport {
    pub(super) fn new(input: &Input) -> OpenReport {
        let name = input.path.display().to_string();
        let format = input.format.or_else(|| match input.path.is_dir() {
            true => Some(CaptureFormat::Folder),
            false => CaptureFormat::of_name(&input.path),
        });
        let report = InputReport { name, format, ..InputReport::default() };
        OpenReport { report, broken: Vec::new() }
    }

    /// Adds a piece of so many bytes.
    pub(super) fn add(&mut self, bytes: u64, digest: &mut Digest) {
        let report = &mut self.report;
        report.bytes += bytes;
        report.captures += digest.captures().len() as u64;
        report.broken += digest.broken_count;
        report.unreadable += digest.unreadable_count;
        for captured_at in digest.captures().iter().filter_map(|(_, known)| known.facts.captured_at)
        {
            let (first, last) = report.captured.unwrap_or((captured_at, captured_at));
            report.captured = Some((first.min(captured_at), last.max(captured_at)));
        }
        if !digest.broken.is_empty() {
            self.broken.append(&mut digest.broken);
            self.broken.sort_unstable_by_key(|&(position, _)| position);
            self.broken.truncate(BROKEN_RECORDS_NAMED);
        }
    }

    /// Notes why the input cannot be read further.
    pub(super) fn set_failure(&mut self, error: &CaptureError) {
        self.report.failure = Some(error.to_string());
    }

    pub(super) fn close(self) -> InputReport {
        let broken_named = self.broken.into_iter().map(|(_, broken)| broken).collect();
        InputReport { broken_named, ..self.report }
    }
}
