//! Event sets (`H5ES*`): operations complete before the call returns, so a set only counts them.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::id::{self, Entry};
use crate::pointer::Out;

/// The event set that stands for a synchronous call (`H5ES_NONE`).
pub const NONE: hid_t = 0;

/// An event set.
#[derive(Debug, Default)]
pub struct EventSet {
    /// The number of operations since the set was created.
    pub operations: Mutex<u64>,
}

fn find(id: hid_t) -> Outcome<Arc<EventSet>> {
    match id::find(id) {
        Some(Entry::EventSet(set)) => Ok(set),
        _ => Err(Failure::bad_type("not an event set")),
    }
}

/// Counts an operation that just completed in an event set. Other identifiers count nothing.
pub fn count(id: hid_t) {
    if let Ok(set) = find(id) {
        *set.operations.lock() += 1;
    }
}

export! {
    /// Creates an event set.
    fn H5EScreate() -> hid_t {
        Ok(id::register(Entry::EventSet(Arc::new(EventSet::default()))))
    }

    /// Waits for the operations of a set, which are complete.
    fn H5ESwait(set: hid_t, timeout: u64, in_progress: Out<usize>, failed: Out<bool>) -> herr_t {
        let _ = timeout;
        find(set)?;
        in_progress.put(0);
        failed.put(false);
        Ok(0)
    }

    /// Cancels the operations of a set that are not complete: none.
    fn H5EScancel(set: hid_t, not_canceled: Out<usize>, failed: Out<bool>) -> herr_t {
        find(set)?;
        not_canceled.put(0);
        failed.put(false);
        Ok(0)
    }

    /// Returns the number of operations that are not complete.
    fn H5ESget_count(set: hid_t, count: Out<usize>) -> herr_t {
        find(set)?;
        count.put(0);
        Ok(0)
    }

    /// Returns the number of operations since the set was created.
    fn H5ESget_op_counter(set: hid_t, counter: Out<u64>) -> herr_t {
        counter.put(*find(set)?.operations.lock());
        Ok(0)
    }

    /// Returns `false`: a failed operation reports its failure at once.
    fn H5ESget_err_status(set: hid_t, failed: Out<bool>) -> herr_t {
        find(set)?;
        failed.put(false);
        Ok(0)
    }

    /// Returns the number of failed operations: none.
    fn H5ESget_err_count(set: hid_t, count: Out<usize>) -> herr_t {
        find(set)?;
        count.put(0);
        Ok(0)
    }

    /// Returns information on failed operations: none.
    fn H5ESget_err_info(set: hid_t, count: usize, infos: Out<*mut c_void>, cleared: Out<usize>) -> herr_t {
        let _ = (count, infos);
        find(set)?;
        cleared.put(0);
        Ok(0)
    }

    /// Frees information on failed operations.
    fn H5ESfree_err_info(count: usize, infos: *mut c_void) -> herr_t {
        let _ = (count, infos);
        Ok(0)
    }

    /// Accepts a function that is called when an operation is added.
    fn H5ESregister_insert_func(set: hid_t, function: *const c_void, data: *mut c_void) -> herr_t {
        let _ = (function, data);
        find(set)?;
        Ok(0)
    }

    /// Accepts a function that is called when an operation completes.
    fn H5ESregister_complete_func(set: hid_t, function: *const c_void, data: *mut c_void) -> herr_t {
        let _ = (function, data);
        find(set)?;
        Ok(0)
    }

    /// Closes an event set.
    fn H5ESclose(set: hid_t) -> herr_t {
        find(set)?;
        crate::h5i::release(set).because(codes::EVENTSET, codes::CANTDEC, "unable to close event set")?;
        Ok(0)
    }
}

/// The status of an operation (`H5ES_status_t`): succeeded.
pub const SUCCEEDED: c_int = 1;
