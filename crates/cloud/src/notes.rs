//! Notes of missing bytes: a read that cannot wait notes its range and fails, and the range is
//! fetched before the work is repeated.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The ranges that reads needed and did not find.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Missing {
    /// Ranges of whole lines, which stay in memory.
    pub(crate) lines: Vec<Range<u64>>,
    /// Ranges of raw data, which stay until the work is done.
    pub(crate) raw: Vec<Range<u64>>,
    /// True if a read has failed, so that the result of the work is not complete.
    pub(crate) has_failed: bool,
}

/// The notes of all attempts that run at the moment.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    attempts: Mutex<(u64, HashMap<u64, Missing>)>,
}

/// One attempt of work whose reads note missing ranges. A read cannot know to which of several
/// concurrent attempts it belongs, so it notes its range in all of them.
#[derive(Debug)]
pub(crate) struct Attempt {
    notes: Arc<Notes>,
    number: u64,
}

impl Notes {
    fn attempts(&self) -> MutexGuard<'_, (u64, HashMap<u64, Missing>)> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an attempt.
    pub(crate) fn begin(self: &Arc<Self>) -> Attempt {
        let mut attempts = self.attempts();
        attempts.0 = attempts.0.wrapping_add(1);
        let number = attempts.0;
        attempts.1.insert(number, Missing::default());
        Attempt { notes: Arc::clone(self), number }
    }

    /// Notes something in all attempts.
    pub(crate) fn note(&self, note: impl Fn(&mut Missing)) {
        self.attempts().1.values_mut().for_each(note);
    }
}

impl Attempt {
    /// Ends the attempt, and returns the missing ranges.
    pub(crate) fn end(self) -> Missing {
        self.notes
            .attempts()
            .1
            .remove(&self.number)
            .unwrap_or(Missing { has_failed: true, ..Missing::default() })
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.notes.attempts().1.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_running_attempt_gets_the_notes() {
        let notes = Arc::new(Notes::default());
        let (one, two) = (notes.begin(), notes.begin());
        notes.note(|missing| missing.raw.push(1..2));
        assert_eq!(one.end().raw.len(), 1);
        notes.note(|missing| missing.lines.push(5..6));
        let missing = two.end();
        assert_eq!((missing.lines.len(), missing.raw.len(), missing.has_failed), (1, 1, false));
        drop(notes.begin());
        assert!(notes.attempts().1.is_empty());
    }
}
