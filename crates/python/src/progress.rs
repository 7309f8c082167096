//! The progress of long reads and writes, for a thread that asks for it.

use std::cell::RefCell;

use hyperslab_exact::to_u64;
use pyo3::prelude::*;

/// The size in bytes of a part of a read without reports.
const PART_BYTES: usize = 64 << 20;

/// The number of reports of a long read or write.
const REPORTS: usize = 64;

/// The smallest size in bytes of a part between two reports.
const MIN_REPORTED_BYTES: usize = 4 << 20;

thread_local! {
    /// The function that gets the finished bytes and all bytes.
    static REPORT: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Sets the function that gets reports of the reads and writes of this thread: the number of
/// finished bytes, and the number of all bytes. Returns the function before.
#[pyfunction]
pub(crate) fn set_progress(report: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    REPORT.with_borrow_mut(|current| std::mem::replace(current, report))
}

/// Returns the size in bytes of the parts of a read or write of `length` bytes.
pub(crate) fn part_bytes(length: usize) -> usize {
    if is_wanted() { (length / REPORTS).max(MIN_REPORTED_BYTES) } else { PART_BYTES }
}

/// Returns whether this thread wants reports.
pub(crate) fn is_wanted() -> bool {
    REPORT.with_borrow(Option::is_some)
}

/// Reports progress if this thread wants reports.
///
/// # Errors
/// Raises the exceptions of the function, which end the read or write.
pub(crate) fn report(py: Python<'_>, done: usize, all: usize) -> PyResult<()> {
    let report = REPORT.with_borrow(|report| report.as_ref().map(|report| report.clone_ref(py)));
    match report {
        Some(report) => report.call1(py, (to_u64(done), to_u64(all))).map(drop),
        None => Ok(()),
    }
}
