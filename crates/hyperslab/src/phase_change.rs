//! The numbers that a group or an object was made for.

/// The numbers of links or attributes at which their storage changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PhaseChange {
    /// The largest number that the object header keeps.
    pub max_compact: u16,
    /// The number below which they return to the object header.
    pub min_dense: u16,
}

/// The links that a group expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EstimatedLinks {
    /// The number of links.
    pub count: u16,
    /// The bytes of a name.
    pub name_length: u16,
}
