//! Decoded chunks of which parts were written: they wait for the rest before they are encoded.

use std::collections::BTreeMap;

use hyperslab_dataspace::Dims;

/// Chunks by their coordinates.
#[derive(Debug, Default)]
pub(super) struct Pending {
    chunks: BTreeMap<Dims, Vec<u8>>,
    bytes: usize,
}

impl Pending {
    /// Bytes of all chunks.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn insert(&mut self, scaled: Dims, chunk: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(chunk.len());
        if let Some(before) = self.chunks.insert(scaled, chunk) {
            self.bytes = self.bytes.saturating_sub(before.len());
        }
    }

    pub(super) fn remove(&mut self, scaled: &Dims) -> Option<Vec<u8>> {
        let chunk = self.chunks.remove(scaled)?;
        self.bytes = self.bytes.saturating_sub(chunk.len());
        Some(chunk)
    }

    /// The first chunks in C order, about so many bytes of them; `None` if there are none.
    pub(super) fn take(&mut self, bytes: usize) -> Option<Vec<(Dims, Vec<u8>)>> {
        let mut taken = Vec::new();
        let mut sum = 0_usize;
        while sum < bytes {
            let Some((scaled, chunk)) = self.chunks.pop_first() else { break };
            sum = sum.saturating_add(chunk.len());
            taken.push((scaled, chunk));
        }
        self.bytes = self.bytes.saturating_sub(sum);
        (!taken.is_empty()).then_some(taken)
    }
}
