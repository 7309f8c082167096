//! The place of a structured chunk.

use std::fmt;
use std::ops::Deref;

use hyperslab_format::codec::Address;

/// The place of a structured chunk, and its metadata as the index stores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StructuredLocation {
    /// First byte.
    pub address: Address,
    /// Stored bytes of all sections.
    pub size: u64,
    /// The sizes of the sections and their filter masks.
    pub metadata: ChunkMetadataBytes,
}

/// The metadata of a structured chunk, not interpreted.
///
/// ```
/// use hyperslab_engine::data::chunk_index::ChunkMetadataBytes;
/// let metadata = ChunkMetadataBytes::new(&[45, 0, 0, 0, 0, 0, 0, 0]).unwrap();
/// assert_eq!((metadata.len(), metadata[0]), (8, 45));
/// assert!(ChunkMetadataBytes::new(&[0; 53]).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChunkMetadataBytes {
    length: u8,
    /// Zeros behind the length.
    bytes: [u8; Self::MAX],
}

impl ChunkMetadataBytes {
    /// Most bytes: three sections with offsets of eight bytes, filtered.
    pub const MAX: usize = 52;

    /// Returns metadata of these bytes; `None` if there are more than [`MAX`](Self::MAX).
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut metadata = Self { length: u8::try_from(bytes.len()).ok()?, bytes: [0; Self::MAX] };
        metadata.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(metadata)
    }

    /// Returns metadata of that many zeros.
    pub(super) fn zeros(length: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most `MAX`")]
        let length = length.min(Self::MAX) as u8;
        Self { length, bytes: [0; Self::MAX] }
    }
}

impl Deref for ChunkMetadataBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.split_at(usize::from(self.length)).0
    }
}

impl fmt::Debug for ChunkMetadataBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
