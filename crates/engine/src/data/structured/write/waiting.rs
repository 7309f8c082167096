//! Chunks that were changed and are not in the file yet.

use std::collections::BTreeMap;

use hyperslab_dataspace::Dims;

use crate::data::chunk_index::ChunkBox;
use crate::data::transfer::DefinedChunk;

/// Chunks by their coordinates, with the number of the change that touched them last.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    chunks: BTreeMap<Dims, (u64, DefinedChunk)>,
    bytes: usize,
    change: u64,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Bytes of all chunks.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Says that another change begins.
    pub(super) fn begin(&mut self) {
        self.change = self.change.saturating_add(1);
    }

    pub(super) fn put(&mut self, scaled: Dims, chunk: DefinedChunk) {
        self.bytes = self.bytes.saturating_add(chunk.memory_bytes());
        if let Some((_, before)) = self.chunks.insert(scaled, (self.change, chunk)) {
            self.bytes = self.bytes.saturating_sub(before.memory_bytes());
        }
    }

    pub(super) fn get(&self, scaled: &Dims) -> Option<&DefinedChunk> {
        self.chunks.get(scaled).map(|(_, chunk)| chunk)
    }

    pub(super) fn take(&mut self, scaled: &Dims) -> Option<DefinedChunk> {
        let (_, chunk) = self.chunks.remove(scaled)?;
        self.bytes = self.bytes.saturating_sub(chunk.memory_bytes());
        Some(chunk)
    }

    /// The coordinates of the chunks for which `which` is true.
    pub(super) fn coordinates(&self, which: impl Fn(&Dims) -> bool) -> Vec<Dims> {
        self.chunks.keys().filter(|scaled| which(scaled)).cloned().collect()
    }

    /// The coordinates of the chunks of a box.
    pub(super) fn coordinates_in(&self, chunks: &ChunkBox) -> Vec<Dims> {
        if chunks.first > chunks.last {
            return Vec::new();
        }
        let near = self.chunks.range(chunks.first.clone()..=chunks.last.clone());
        near.map(|(scaled, _)| scaled).filter(|scaled| chunks.contains(scaled)).cloned().collect()
    }

    /// The coordinates of chunks that this change has not touched.
    pub(super) fn older(&self) -> Vec<Dims> {
        self.of_change(|change| change < self.change)
    }

    /// The coordinates of chunks that this change has touched.
    pub(super) fn newer(&self) -> Vec<Dims> {
        self.of_change(|change| change == self.change)
    }

    fn of_change(&self, which: impl Fn(u64) -> bool) -> Vec<Dims> {
        let wanted =
            |(scaled, (change, _)): (&Dims, &(u64, DefinedChunk))| which(*change).then(|| scaled.clone());
        self.chunks.iter().filter_map(wanted).collect()
    }
}
