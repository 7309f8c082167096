//! Reads in advance by one thread: its reads note missing bytes and fail, while reads of other
//! threads wait for their bytes.

use std::cell::RefCell;
use std::sync::Arc;

use crate::fetcher::Fetcher;
use crate::notes::{Missing, Notes};

thread_local! {
    /// The object that the thread reads in advance, and the notes of its reads.
    static AHEAD: RefCell<Option<(Arc<Fetcher>, Arc<Notes>)>> = const { RefCell::new(None) };
}

/// The reads in advance of this thread. They end when the value is dropped.
struct Ahead;

impl Drop for Ahead {
    fn drop(&mut self) {
        AHEAD.with_borrow_mut(|ahead| *ahead = None);
    }
}

/// Returns the notes of missing bytes, if this thread reads the object in advance.
pub(crate) fn notes_of(fetcher: &Arc<Fetcher>) -> Option<Arc<Notes>> {
    AHEAD.with_borrow(|ahead| {
        let (of, notes) = ahead.as_ref()?;
        Arc::ptr_eq(of, fetcher).then(|| Arc::clone(notes))
    })
}

/// Calls `work`, whose reads of the object note missing bytes and fail. Returns the missing bytes;
/// `None` if no read failed, or if the thread reads in advance already.
pub(crate) fn missing_of(fetcher: &Arc<Fetcher>, work: &mut dyn FnMut()) -> Option<Missing> {
    if AHEAD.with_borrow(Option::is_some) {
        return None;
    }
    let notes = Arc::new(Notes::default());
    let attempt = notes.begin();
    AHEAD.with_borrow_mut(|ahead| *ahead = Some((Arc::clone(fetcher), Arc::clone(&notes))));
    let ahead = Ahead;
    work();
    drop(ahead);
    Some(attempt.end()).filter(|missing| missing.has_failed)
}
