//! The storage parameters of groups and objects.

/// The numbers of links or attributes at which their storage changes between compact and dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PhaseChange {
    /// The largest number in compact storage.
    pub max_compact: u16,
    /// The number below which they return from dense to compact storage.
    pub min_dense: u16,
}

/// The estimates by which a group reserves space for its first links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EstimatedLinks {
    /// The expected number of links.
    pub count: u16,
    /// The expected length of a link name in bytes.
    pub name_length: u16,
}
