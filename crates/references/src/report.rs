//! The report of an export: counts, and the objects that have no references.

/// The result of an export of references.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// The number of groups.
    pub groups: u64,
    /// The number of arrays: datasets with references.
    pub arrays: u64,
    /// The number of chunks that stay in HDF5 files or external files.
    pub referenced_chunks: u64,
    /// The number of chunks in the references themselves.
    pub inline_chunks: u64,
    /// The bytes of the chunks in the references themselves.
    pub inline_bytes: u64,
    /// The number of chunks in the file of recoded chunks.
    pub recoded_chunks: u64,
    /// The bytes of the file of recoded chunks.
    pub recoded_bytes: u64,
    /// The objects that zarr cannot read, in the order of the walk.
    pub skipped: Vec<Skipped>,
    /// The attributes that JSON cannot represent: `PATH@NAME`.
    pub skipped_attributes: Vec<String>,
}

/// An object without references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The path of the object in the file.
    pub path: String,
    /// The reason in a few words.
    pub reason: String,
}
