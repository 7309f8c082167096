//! How far long work is, on the terminal: how much of a file was read so far.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyperslab::vfd::AccessLog;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Work that takes no longer shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often what is shown is put right.
const OFTEN: Duration = Duration::from_millis(200);

/// Shows what is read of a file, until it goes.
#[derive(Debug, Default)]
pub(crate) struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

/// Returns whether somebody looks.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

impl Progress {
    /// Shows what the log counts; `what` says what is done.
    pub(crate) fn new(log: Arc<AccessLog>, what: &'static str) -> Self {
        let (sender, ended) = mpsc::channel();
        let watch = move || {
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
                bar.set_style(style);
            }
            loop {
                let report = log.report();
                let moved = report.reads.bytes.saturating_add(report.writes.bytes);
                bar.set_message(format!("{what}: {}", output::bytes(moved)));
                bar.tick();
                if ended.recv_timeout(OFTEN) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            bar.finish_and_clear();
        };
        // Without a thread, nothing is shown.
        Self(thread::Builder::new().name("progress".into()).spawn(watch).ok().map(|thread| (sender, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // Nothing is lost if it had ended.
            let _ = thread.join();
        }
    }
}
