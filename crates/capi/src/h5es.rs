//! Event set functions (`H5ES*`). Each operation completes before its call returns, so a set only
//! counts operations.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::id::{self, Entry};
use crate::pointer::Out;

/// The identifier that a caller passes instead of an event set to request a synchronous call
/// (`H5ES_NONE`).
pub const NONE: hid_t = 0;

/// A set of asynchronous operations, for which the library stores only their number.
#[derive(Debug, Default)]
pub struct EventSet {
    /// The number of operations since the creation of the set.
    pub operations: Mutex<u64>,
}

/// Returns the event set to which an identifier refers.
fn find(id: hid_t) -> Outcome<Arc<EventSet>> {
    match id::find(id) {
        Some(Entry::EventSet(set)) => Ok(set),
        _ => Err(Failure::bad_type("not an event set")),
    }
}

/// Counts a completed asynchronous operation in an event set. Ignores identifiers of other kinds.
pub fn count(id: hid_t) {
    if let Ok(set) = find(id) {
        *set.operations.lock() += 1;
    }
}

export! {
    /// Creates an event set and returns its identifier.
    fn H5EScreate() -> hid_t {
        Ok(id::register(Entry::EventSet(Arc::new(EventSet::default()))))
    }

    /// Stores 0 in `in_progress` at once, because all operations of the event set are complete.
    fn H5ESwait(set: hid_t, timeout: u64, in_progress: Out<usize>, failed: Out<bool>) -> herr_t {
        let _ = timeout;
        find(set)?;
        in_progress.put(0);
        failed.put(false);
        Ok(0)
    }

    /// Stores 0 in `not_canceled`, because all operations of the event set are complete.
    fn H5EScancel(set: hid_t, not_canceled: Out<usize>, failed: Out<bool>) -> herr_t {
        find(set)?;
        not_canceled.put(0);
        failed.put(false);
        Ok(0)
    }

    /// Stores 0 in `count`, the number of operations of the event set in progress.
    fn H5ESget_count(set: hid_t, count: Out<usize>) -> herr_t {
        find(set)?;
        count.put(0);
        Ok(0)
    }

    /// Stores in `counter` the number of operations since the creation of the event set.
    fn H5ESget_op_counter(set: hid_t, counter: Out<u64>) -> herr_t {
        counter.put(*find(set)?.operations.lock());
        Ok(0)
    }

    /// Stores `false` in `failed`, because a failed operation of an event set reports its error
    /// immediately.
    fn H5ESget_err_status(set: hid_t, failed: Out<bool>) -> herr_t {
        find(set)?;
        failed.put(false);
        Ok(0)
    }

    /// Stores 0 in `count`, the number of failed operations of the event set.
    fn H5ESget_err_count(set: hid_t, count: Out<usize>) -> herr_t {
        find(set)?;
        count.put(0);
        Ok(0)
    }

    /// Stores 0 in `cleared`, the number of returned errors. An event set contains no failed
    /// operations.
    fn H5ESget_err_info(set: hid_t, count: usize, infos: Out<*mut c_void>, cleared: Out<usize>) -> herr_t {
        let _ = (count, infos);
        find(set)?;
        cleared.put(0);
        Ok(0)
    }

    /// Returns success without an effect: the library allocates no error information for event
    /// sets.
    fn H5ESfree_err_info(count: usize, infos: *mut c_void) -> herr_t {
        let _ = (count, infos);
        Ok(0)
    }

    /// Accepts and ignores a callback for operations that are added to an event set.
    fn H5ESregister_insert_func(set: hid_t, function: *const c_void, data: *mut c_void) -> herr_t {
        let _ = (function, data);
        find(set)?;
        Ok(0)
    }

    /// Accepts and ignores a callback for operations of an event set that complete.
    fn H5ESregister_complete_func(set: hid_t, function: *const c_void, data: *mut c_void) -> herr_t {
        let _ = (function, data);
        find(set)?;
        Ok(0)
    }

    /// Closes the identifier of an event set.
    fn H5ESclose(set: hid_t) -> herr_t {
        find(set)?;
        crate::h5i::release(set).because(codes::EVENTSET, codes::CANTDEC, "unable to close event set")?;
        Ok(0)
    }
}

/// The status number of an asynchronous operation that succeeded (`H5ES_STATUS_SUCCEED`).
pub const SUCCEEDED: c_int = 1;
