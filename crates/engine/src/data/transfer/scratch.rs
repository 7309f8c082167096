//! The memory that the filters of a thread reuse.

use std::cell::RefCell;

use hyperslab_filter::Scratch;

thread_local! {
    /// The buffers and codec states of this thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Calls `work` with the buffers of this thread. If a filter on this thread itself reads or writes
/// chunks, calls `work` for these chunks with new buffers.
pub(in crate::data) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => work(&mut scratch),
        Err(_) => work(&mut Scratch::default()),
    })
}
