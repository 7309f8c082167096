//! Event sets (`H5ES*`): operations complete before the call returns, so a set only counts them.

use parking_lot::Mutex;

/// An event set.
#[derive(Debug, Default)]
pub struct EventSet {
    /// The number of operations since the set was created.
    pub operations: Mutex<u64>,
}
