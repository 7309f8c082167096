//! The location of a structured chunk in the file, with the chunk's metadata.

use std::fmt;
use std::ops::Deref;

use hyperslab_format::codec::Address;

/// The location of a structured chunk in the file, and the chunk's metadata as stored in the chunk
/// index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StructuredLocation {
    /// The address of the first byte.
    pub address: Address,
    /// The number of stored bytes of all sections.
    pub size: u64,
    /// The sizes of the sections and their filter masks.
    pub metadata: ChunkMetadataBytes,
}

/// The bytes of a structured chunk's metadata, as stored in the chunk index.
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
    /// The metadata, and zeros after the length.
    bytes: [u8; Self::MAX_BYTES],
}

impl ChunkMetadataBytes {
    /// Largest number of bytes of a structured chunk's metadata: three filtered sections with
    /// offsets of eight bytes.
    pub const MAX_BYTES: usize = 52;

    /// Creates the metadata of a structured chunk from its stored bytes. Returns `None` for more
    /// than [`MAX_BYTES`](Self::MAX_BYTES) bytes.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut metadata = Self { length: u8::try_from(bytes.len()).ok()?, bytes: [0; Self::MAX_BYTES] };
        metadata.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(metadata)
    }

    /// Returns structured chunk metadata of `length` zero bytes.
    pub(super) fn zeros(length: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most `MAX_BYTES`")]
        let length = length.min(Self::MAX_BYTES) as u8;
        Self { length, bytes: [0; Self::MAX_BYTES] }
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
