//! Named bounds on what a file may ask for.

/// Bounds on recursion, on memory that lengths in a file may claim, and on work that a few bytes may ask for. A decoder
/// allocates only in proportion to the bytes it was given; these limits bound what cannot be bounded that way.
///
/// The default ones are such that no honest file meets them; [`cautious`](Limits::cautious) ones are for files of
/// strangers.
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
    /// Bytes that one read may hold in memory: elements as they are stored, and what is made of them.
    pub result_bytes: u64,
    /// Steps that virtual datasets may take in one operation, however they show each other: 16 for a source to look for, 1
    /// for a mapping, for a run of elements, and for 4 elements to copy. There are 16 more for each element that is asked
    /// for.
    pub virtual_steps: u64,
}

impl Limits {
    /// Depth of nested datatypes (compound members, array and sequence bases) that decoders accept.
    pub const MAX_DATATYPE_DEPTH: usize = 64;
    /// The largest rank of a dataspace (H5S_MAX_RANK).
    pub const MAX_RANK: usize = 32;

    /// Bounds for files of strangers: no read allocates more than a GiB, no chunk more than 256 MiB.
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
