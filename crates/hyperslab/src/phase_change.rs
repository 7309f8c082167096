//! The storage parameters of groups and attributes: limits for compact and dense storage, and
//! expected links.

/// The limits for the number of links or attributes of an object at which their storage changes
/// between compact and dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PhaseChange {
    /// The largest number of links or attributes in compact storage.
    pub max_compact: u16,
    /// The smallest number of links or attributes in dense storage. With fewer links or attributes,
    /// the storage becomes compact again.
    pub min_dense: u16,
}

/// The expected number of links and the expected length of their names, for which a new group
/// reserves space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EstimatedLinks {
    /// The expected number of links.
    pub count: u16,
    /// The expected length of a link name in bytes.
    pub name_length: u16,
}
