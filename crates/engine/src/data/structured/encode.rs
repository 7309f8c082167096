//! The encoding of a structured chunk.

use hyperslab_filter::{ChunkTarget, Scratch};
use hyperslab_format::codec::Address;
use hyperslab_format::structured_chunk::{
    ChunkSection, ChunkSections, HEAP_PREFIX_BYTES, SectionHeap, encode_defined, seal_section,
};

use super::{ChunkKind, EncodedChunk, StructuredForm};
use crate::data::chunk_index::{ChunkMetadataBytes, StructuredLocation};
use crate::data::transfer::DefinedChunk;
use crate::error::{Error, Result};
use crate::store::Store;

/// Sections are small, and their planes have nothing in common.
const LEAST_PLANE: usize = 128;

/// Bytes of a section that takes longer to get ready for than to encode, and how much larger it may become if it is
/// encoded fast.
const SMALL: usize = 4 << 10;
const FAST: (usize, usize) = (100, 140);

/// Seeking runs alone takes less time: it may make a section larger in this proportion.
const TUNING: (usize, usize) = (100, 102);

impl StructuredForm {
    /// The bytes to store for a chunk.
    ///
    /// # Errors
    /// The errors of mandatory filters.
    pub fn encode_chunk(&self, store: &Store, scaled: &[u64], chunk: &DefinedChunk) -> Result<EncodedChunk> {
        let contents = self.contents(chunk)?;
        thread_local! {
            static SCRATCH: std::cell::RefCell<Scratch> = std::cell::RefCell::default();
        }
        SCRATCH.with_borrow_mut(|scratch| self.filter(store, scaled, contents, scratch))
    }

    /// The sections of a chunk, without filters.
    fn contents(&self, chunk: &DefinedChunk) -> Result<Vec<Vec<u8>>> {
        let mut contents: Vec<Vec<u8>> = Vec::with_capacity(3);
        if self.kind.is_sparse() {
            contents.push(encode_defined(&chunk.defined, self.encoding.unwrap_or_default())?);
        }
        let mut values = chunk.values.clone();
        if self.kind == ChunkKind::Sparse {
            contents.push(values);
        } else {
            let counted = SectionHeap::decode(&chunk.heap, self.params)?;
            let mut heap = self.variable.take(&mut values, &counted, u64::MAX)?;
            if heap.len() <= HEAP_PREFIX_BYTES {
                heap.clear();
            }
            contents.push(values);
            contents.push(heap);
        }
        for (section, form) in contents.iter_mut().zip(&self.sections) {
            if form.checksum {
                seal_section(section);
            }
        }
        Ok(contents)
    }

    /// Finds out for each section whether seeking runs alone makes it smaller, or hardly larger, by encoding a chunk both
    /// ways.
    ///
    /// # Errors
    /// The errors of mandatory filters.
    pub(in crate::data) fn tune(&mut self, store: &Store, chunk: &DefinedChunk) -> Result<()> {
        let contents = self.contents(chunk)?;
        let mut scratch = Scratch::default();
        for (section, form) in contents.iter().zip(&mut self.sections) {
            if form.runs_only.is_some() || form.pipeline.is_empty() || section.is_empty() {
                continue;
            }
            let mut length = |runs_only: bool, fast: bool| {
                let target = ChunkTarget {
                    runs_only,
                    fast,
                    min_plane_bytes: LEAST_PLANE,
                    // No other program writes structured chunks.
                    only_smaller: true,
                    ..ChunkTarget::of_length(section.len())
                };
                let encoded = form.pipeline.encode_chunk_with(
                    store.filters(),
                    section.as_slice(),
                    &target,
                    &mut scratch,
                );
                let failed = |source| Error::Filter { address: Address::UNDEFINED, source };
                encoded.map(|(bytes, _)| bytes.len()).map_err(failed)
            };
            let (whole, runs) = (length(false, false)?, length(true, false)?);
            form.runs_only = Some(runs * TUNING.0 <= whole * TUNING.1);
            if section.len() < SMALL {
                let best = runs.min(whole);
                form.fast = length(false, true)? * FAST.0 <= best * FAST.1;
            }
        }
        Ok(())
    }

    fn filter(
        &self,
        store: &Store,
        scaled: &[u64],
        contents: Vec<Vec<u8>>,
        scratch: &mut Scratch,
    ) -> Result<EncodedChunk> {
        let plainly = self.passes_no_filter(scaled)?;
        let mut bytes = Vec::new();
        let mut sections = Vec::with_capacity(contents.len());
        for (mut section, form) in contents.into_iter().zip(&self.sections) {
            let unfiltered = section.len() as u64;
            let mut filter_mask = 0;
            if !plainly && !form.pipeline.is_empty() && !section.is_empty() {
                let target = ChunkTarget {
                    element_size: self.element_size,
                    runs_only: form.runs_only.unwrap_or(false),
                    fast: form.fast && section.len() < SMALL,
                    min_plane_bytes: LEAST_PLANE,
                    // No other program writes structured chunks.
                    only_smaller: true,
                    ..ChunkTarget::of_length(section.len())
                };
                (section, filter_mask) = form
                    .pipeline
                    .encode_chunk_with(store.filters(), section, &target, scratch)
                    .map_err(|source| Error::Filter { address: Address::UNDEFINED, source })?;
            }
            sections.push(ChunkSection { offset: 0, size: section.len() as u64, unfiltered, filter_mask });
            if bytes.is_empty() {
                bytes = section;
            } else {
                bytes.extend_from_slice(&section);
            }
        }
        Ok(EncodedChunk { bytes, sections: ChunkSections::consecutive(sections) })
    }

    /// What the index says of a stored chunk.
    ///
    /// # Errors
    /// If an offset does not fit its field.
    pub fn location(&self, address: Address, sections: &ChunkSections) -> Result<StructuredLocation> {
        let order = self.metadata_orders().first().copied().flatten();
        let metadata = sections.encode(self.offset_size, order)?;
        let metadata = ChunkMetadataBytes::new(&metadata)
            .ok_or_else(|| Error::Misuse("more chunk metadata than an index holds".into()))?;
        Ok(StructuredLocation { address, size: sections.chunk_size(), metadata })
    }
}
