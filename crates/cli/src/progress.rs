//! The progress of long work on the terminal: the number of bytes that were read and written.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyperslab::vfd::AccessLog;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// The time after which a progress display appears. Shorter work shows no display.
const SHOW_DELAY: Duration = Duration::from_millis(500);
/// The time between two updates of a progress display.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Hides a progress bar until `SHOW_DELAY` has passed. Short work therefore shows no bar.
pub(crate) fn delayed(bar: ProgressBar) -> ProgressBar {
    bar.set_draw_target(ProgressDrawTarget::hidden());
    let weak = bar.downgrade();
    let show = move || {
        thread::sleep(SHOW_DELAY);
        if let Some(bar) = weak.upgrade().filter(|bar| !bar.is_finished()) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    };
    // If the thread cannot be started, the bar stays hidden.
    let _ = thread::Builder::new().name("progress".into()).spawn(show);
    bar
}

/// A progress display of the accesses to a file. When the value is dropped, the display ends.
#[derive(Debug, Default)]
pub(crate) struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

/// Returns true if progress displays are visible, because standard error is a terminal.
pub(crate) fn is_visible() -> bool {
    std::io::stderr().is_terminal()
}

impl Progress {
    /// Starts a progress display of the bytes that the access log counts. `subject` names the work.
    pub(crate) fn new(log: Arc<AccessLog>, subject: &'static str) -> Self {
        let (sender, ended) = mpsc::channel();
        let watch = move || {
            if ended.recv_timeout(SHOW_DELAY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
                bar.set_style(style);
            }
            loop {
                let report = log.report();
                let bytes = report.reads.bytes + report.writes.bytes;
                bar.set_message(format!("{subject}: {}", output::bytes(bytes)));
                bar.tick();
                if ended.recv_timeout(UPDATE_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            bar.finish_and_clear();
        };
        // If the thread cannot be started, there is no display.
        Self(thread::Builder::new().name("progress".into()).spawn(watch).ok().map(|thread| (sender, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // A panic of the display thread does not affect the command.
            let _ = thread.join();
        }
    }
}
