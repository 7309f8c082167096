//! Named bounds on what a file may ask for.

/// Bounds on recursion and on memory that lengths in a file may claim. A decoder allocates only in
/// proportion to the bytes it was given; these limits bound what cannot be bounded that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one metadata block that is read as a whole.
    pub metadata_block: u64,
    /// Nodes visited in one walk of one index.
    pub index_nodes: u64,
    /// Continuation chunks of one object header.
    pub header_chunks: usize,
    /// Bytes of one chunk after decoding.
    pub chunk_bytes: u64,
    /// Ratio of decoded to stored bytes of one chunk beyond which it is refused.
    pub expansion: u64,
    /// Bytes that one read may allocate for its result.
    pub result_bytes: u64,
}

impl Limits {
    /// Depth of nested datatypes (compound members, array and sequence bases) that decoders accept.
    pub const MAX_DATATYPE_DEPTH: usize = 64;
    /// The largest rank of a dataspace (H5S_MAX_RANK).
    pub const MAX_RANK: usize = 32;
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
        }
    }
}
