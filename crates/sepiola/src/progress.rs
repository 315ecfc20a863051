//! A line that shows how far long work has come: on a terminal only, and on standard error.

use std::fmt;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work under way.
pub struct Progress(ProgressBar);

impl Progress {
    /// Work whose length nobody knows, counted in `things`.
    pub fn counting(things: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {human_pos} {msg} in {elapsed} ({per_sec})");
        bar.set_style(style.expect("a valid template"));
        bar.set_message(things);
        Progress(bar)
    }

    /// Work of a known length in seconds, whose message says more.
    pub fn timed(seconds: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(seconds), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} s  {msg}");
        bar.set_style(style.expect("a valid template"));
        Progress(bar)
    }

    /// `n` more are done.
    pub fn add(&self, n: u64) {
        self.0.inc(n);
    }

    /// So many are done.
    pub fn at(&self, n: u64, message: String) {
        self.0.set_message(message);
        self.0.set_position(n);
    }

    /// Prints a line to standard output, above the progress.
    pub fn println(&self, line: fmt::Arguments<'_>) {
        self.0.suspend(|| say!("{line}"));
    }

    /// Does something that prints, above the progress.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Takes the line away.
    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}
