//! A progress bar on standard error, for a person who waits.
//!
//! It is drawn when a chunk has been written, never in the loop over URLs, and only after half a
//! second, so that short runs leave no trace. Where records are printed to a terminal there is none:
//! it would stand between them.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::plan::StreamPlan;

/// How long a run goes on without a bar.
const SILENCE: Duration = Duration::from_millis(500);

pub struct Progress {
    started: Instant,
    wanted: bool,
    bytes_total: Option<u64>,
    bytes_done: AtomicU64,
}

/// What is drawn, once it is.
#[derive(Default)]
pub struct Bar(Option<ProgressBar>);

impl Progress {
    /// Progress of what `plan` says, drawn if it is wanted and somebody can see it.
    pub fn new(plan: &StreamPlan) -> Progress {
        let prints_to_terminal = plan.prints && io::stdout().is_terminal();
        Progress::over(&plan.inputs, plan.progress && !prints_to_terminal)
    }

    /// Progress over the bytes of `inputs`, drawn if it is wanted and somebody can see it.
    pub fn over(inputs: &[impl AsRef<Path>], wanted: bool) -> Progress {
        let wanted = wanted && io::stderr().is_terminal();
        Progress {
            started: Instant::now(),
            wanted,
            bytes_total: wanted.then(|| bytes_stored(inputs)).flatten(),
            bytes_done: AtomicU64::new(0),
        }
    }

    /// Where the bytes that were read are counted.
    pub fn bytes_done(&self) -> &AtomicU64 {
        &self.bytes_done
    }

    /// Draws the bar as far as the run has come.
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
