//! Counts of requests and bytes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counts of an open object.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: AtomicU64,
    bytes: AtomicU64,
    rounds: AtomicU64,
}

/// The requests, the bytes, and the rounds of waiting that reads of a file have needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// The number of requests, without the ones that the store repeats after failures.
    pub requests: u64,
    /// The number of bytes that answers had.
    pub bytes: u64,
    /// The number of times that a reader waited for bytes: the requests of one round were sent
    /// together.
    pub rounds: u64,
}

impl Usage {
    /// Returns the difference to earlier counts of the same file.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        // Saturates at 0: `earlier` may belong to another file.
        Self {
            requests: self.requests.saturating_sub(earlier.requests),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            rounds: self.rounds.saturating_sub(earlier.rounds),
        }
    }
}

impl Counters {
    pub(crate) fn request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    pub(crate) fn answer(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn round(&self) {
        self.rounds.fetch_add(1, Relaxed);
    }

    pub(crate) fn usage(&self) -> Usage {
        Usage {
            requests: self.requests.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            rounds: self.rounds.load(Relaxed),
        }
    }
}
