//! The progress bar.
//!
//! It is drawn after a chunk is written, never in the loop over URLs. It appears after half a second, so
//! short runs show none. It is not drawn if records are printed to a terminal.

use std::fs::Metadata;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, HumanCount, ProgressBar, ProgressStyle};

/// The time before the bar is shown.
const SILENCE: Duration = Duration::from_millis(500);

pub struct Progress {
    started: Instant,
    /// `None` if it is not shown.
    bar: Option<ProgressBar>,
    /// The bytes read.
    pub bytes_done: AtomicU64,
}

impl Progress {
    /// Returns the progress over the bytes of `inputs`, shown if `wanted` and if standard error is
    /// a terminal.
    pub fn over(inputs: &[impl AsRef<Path>], wanted: bool) -> Progress {
        let bar = (wanted && io::stderr().is_terminal()).then(|| {
            let file = |path: &Path| path.metadata().ok().filter(Metadata::is_file);
            let bytes = inputs.iter().map(|path| file(path.as_ref()).map(|file| file.len()));
            // Unknown unless each input is a regular file.
            let (bar, template) = match bytes.sum::<Option<u64>>() {
                Some(total) => (
                    ProgressBar::new(total),
                    "{bar:40} {binary_bytes} of {binary_total_bytes}, {msg}, {eta} left",
                ),
                None => (ProgressBar::new_spinner(), "{spinner} {binary_bytes}, {msg}"),
            };
            bar.with_style(ProgressStyle::with_template(template).expect("it is a template"))
        });
        Progress { started: Instant::now(), bar, bytes_done: AtomicU64::new(0) }
    }

    /// Sets the bytes read to a share of the bytes of the inputs.
    pub fn set_share(&self, done: u64, all: u64) {
        let total = self.bar.as_ref().and_then(ProgressBar::length).unwrap_or(0);
        let bytes = total as f64 * (done as f64 / all as f64);
        self.bytes_done.store(bytes as u64, Ordering::Relaxed);
    }

    /// Updates the bar. It shows the rate of `records`, the number so far, or the rate of bytes if
    /// `records` is `None`.
    pub fn draw(&self, records: Option<u64>) {
        let elapsed = self.started.elapsed();
        if let Some(bar) = self.bar.as_ref().filter(|_| elapsed > SILENCE) {
            let bytes = self.bytes_done.load(Ordering::Relaxed);
            bar.set_position(bytes);
            let rate = |amount: u64| (amount as f64 / elapsed.as_secs_f64()) as u64;
            bar.set_message(match records {
                Some(records) => format!("{} URL/s", HumanCount(rate(records))),
                None => format!("{}/s", BinaryBytes(rate(bytes))),
            });
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.as_ref().filter(|bar| bar.position() > 0) {
            bar.finish_and_clear();
        }
    }
}
