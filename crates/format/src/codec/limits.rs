//! Limits on memory and work when files are read.

/// Limits for decoders. They bound the recursion, the memory and the work that the bytes of a file
/// can cause.
///
/// A decoder allocates only in proportion to the bytes it decodes. These limits bound the remaining
/// costs. Valid files stay far below the default limits; [`cautious`](Limits::cautious) limits are
/// for untrusted files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest size in bytes of one metadata block that is read as a whole.
    pub metadata_block: u64,
    /// Largest number of nodes visited in one traversal of an index.
    pub index_nodes: u64,
    /// Largest number of continuation blocks of one object header.
    pub header_chunks: usize,
    /// Largest decoded size of one chunk in bytes.
    pub chunk_bytes: u64,
    /// Largest ratio of decoded to stored bytes of one chunk. A chunk with a larger ratio is
    /// refused.
    pub expansion: u64,
    /// Largest number of bytes that one read may hold in memory: the stored elements and the
    /// converted elements.
    pub result_bytes: u64,
    /// Work budget of one operation on virtual datasets, in steps. Each requested element adds 16
    /// steps to the budget. Searching for a source costs 16 steps; a mapping, a run of elements,
    /// and four copied elements cost 1 step each. Nested virtual datasets share the budget.
    pub virtual_steps: u64,
}

impl Limits {
    /// Largest depth of nested datatypes (compound members, array and sequence base types) that
    /// decoders accept.
    pub const MAX_DATATYPE_DEPTH: usize = 64;
    /// The largest rank of a dataspace (H5S_MAX_RANK).
    pub const MAX_RANK: usize = 32;

    /// Returns limits for the decoding of untrusted files: no read allocates more than 1 GiB, no
    /// chunk more than 256 MiB.
    ///
    /// ```
    /// use hyperslab_format::codec::Limits;
    /// let limits = Limits { result_bytes: 64 << 20, ..Limits::cautious() };
    /// assert!(limits.chunk_bytes < Limits::default().chunk_bytes);
    /// ```
    #[must_use]
    pub fn cautious() -> Self {
        Self {
            metadata_block: 16 << 20,
            index_nodes: 1 << 20,
            header_chunks: 1 << 10,
            chunk_bytes: 256 << 20,
            expansion: 1 << 12,
            result_bytes: 1 << 30,
            virtual_steps: 1 << 20,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            metadata_block: 64 << 20,
            index_nodes: 1 << 26,
            header_chunks: 1 << 16,
            chunk_bytes: 4 << 30,
            expansion: 1 << 16,
            result_bytes: 1 << 40,
            virtual_steps: 1 << 24,
        }
    }
}
