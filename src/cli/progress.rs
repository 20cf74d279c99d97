//! A progress bar on standard error.
//!
//! It is drawn after a chunk is written, never in the loop over URLs, and only after half a second, so
//! that short runs show none. There is none if records are printed to a terminal.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::plan::StreamPlan;

/// The time before the bar is shown.
const SILENCE: Duration = Duration::from_millis(500);

pub struct Progress {
    started: Instant,
    wanted: bool,
    bytes_total: Option<u64>,
    bytes_done: AtomicU64,
}

/// The bar, once it is shown.
#[derive(Default)]
pub struct Bar(Option<ProgressBar>);

impl Progress {
    /// The progress of `plan`, shown if it is wanted and standard error is a terminal.
    pub fn new(plan: &StreamPlan) -> Progress {
        let prints_to_terminal = plan.prints && io::stdout().is_terminal();
        Progress::over(&plan.inputs, plan.progress && !prints_to_terminal)
    }

    /// The progress over the bytes of `inputs`, shown if it is wanted and standard error is a terminal.
    pub fn over(inputs: &[impl AsRef<Path>], wanted: bool) -> Progress {
        let wanted = wanted && io::stderr().is_terminal();
        Progress {
            started: Instant::now(),
            wanted,
            bytes_total: wanted.then(|| bytes_stored(inputs)).flatten(),
            bytes_done: AtomicU64::new(0),
        }
    }

    /// The counter of bytes that were read.
    pub fn bytes_done(&self) -> &AtomicU64 {
        &self.bytes_done
    }

    /// Updates the bar.
    pub fn draw(&self, bar: &mut Bar) {
        if self.wanted && self.started.elapsed() > SILENCE {
            let bar = bar.0.get_or_insert_with(|| self.bar());
            bar.set_position(self.bytes_done.load(Ordering::Relaxed));
        }
    }

    fn bar(&self) -> ProgressBar {
        let (bar, template) = match self.bytes_total {
            Some(total) => (
                ProgressBar::new(total),
                "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left",
            ),
            None => {
                (ProgressBar::new_spinner(), "{spinner} {binary_bytes}, {binary_bytes_per_sec}")
            }
        };
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// The bytes of all inputs, if each is a regular file.
fn bytes_stored(inputs: &[impl AsRef<Path>]) -> Option<u64> {
    let bytes = |path: &Path| {
        let metadata = path.metadata().ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    inputs.iter().map(|path| bytes(path.as_ref())).sum()
}
