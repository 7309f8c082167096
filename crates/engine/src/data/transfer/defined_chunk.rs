//! The defined elements of one structured chunk in memory.

use std::sync::Arc;

use hyperslab_dataspace::DefinedSet;

use super::chunk_cache::CachedChunk;
use crate::error::{Error, Result};

/// The decoded form of a structured chunk: the chunk's defined elements and their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedChunk {
    /// The set of defined elements.
    pub defined: DefinedSet,
    /// The values of the defined elements, in ascending order of their offsets.
    pub values: Vec<u8>,
    /// The variable-length data of the values.
    pub heap: Vec<u8>,
}

impl DefinedChunk {
    /// Creates a decoded structured chunk of shape `chunk` without defined elements.
    pub(in crate::data) fn empty(chunk: &[u64]) -> Result<Self> {
        Ok(Self { defined: DefinedSet::empty(chunk)?, values: Vec::new(), heap: Vec::new() })
    }

    /// Returns the number of bytes that the decoded structured chunk takes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.defined.memory_bytes() + self.values.len() + self.heap.len()
    }

    /// Returns the values of `count` defined elements of a decoded structured chunk. The first of
    /// them is the defined element with the number `position`.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the chunk has fewer values than defined elements.
    pub(in crate::data) fn values(&self, position: u64, count: u64, element_size: usize) -> Result<&[u8]> {
        let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(element_size);
        let values = || self.values.get(bytes(position)?..)?.get(..bytes(count)?);
        let invariant = "each defined element has a value";
        values().ok_or(Error::Internal { structure: "structured chunk", invariant })
    }
}

impl CachedChunk for Arc<DefinedChunk> {
    fn weight_bytes(&self) -> u64 {
        self.memory_bytes() as u64
    }
}
