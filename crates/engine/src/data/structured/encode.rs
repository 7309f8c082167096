//! The encoding of a structured chunk.

use hyperslab_filter::{ChunkTarget, Scratch};
use hyperslab_format::codec::Address;
use hyperslab_format::structured_chunk::{
    ChunkSection, ChunkSections, HEAP_PREFIX_BYTES, SectionHeap, encode_defined, seal_section,
};

use super::kept::KeptSection;
use super::{ChunkKind, EncodedChunk, StructuredForm};
use crate::data::chunk_index::{ChunkMetadataBytes, StructuredLocation};
use crate::data::transfer::{DefinedChunk, with_scratch};
use crate::error::{Error, Result};
use crate::store::Store;

/// Smallest byte plane of a structured chunk's section, in bytes, for which encoders use codes of
/// its own. A byte plane holds the bytes at one position of all elements.
const MIN_PLANE_BYTES: usize = 128;

/// Size in bytes of the largest section of a structured chunk that may be encoded with the
/// encoder's fast level. In such small sections, preparing the encoder takes longer than encoding.
const MAX_FAST_BYTES: usize = 4 << 10;
/// Largest ratio at which the encoder's fast level is used for a section of structured chunks. The
/// ratio is the encoded size with the fast level, divided by the size with other levels.
const FAST_RATIO: (usize, usize) = (100, 140);

/// Largest ratio at which encoders search a section of structured chunks only for runs
/// (repetitions) of one byte. The ratio is the encoded size after this fast search, divided by the
/// size after a complete search.
const RUNS_ONLY_RATIO: (usize, usize) = (100, 102);

impl StructuredForm {
    /// Encodes the sections of a structured chunk, each with its own filter pipeline, and returns
    /// the encoded chunk. `before` is the location of the chunk's stored form, if there is one: its
    /// sections with the same decoded bytes are not encoded again.
    ///
    /// # Errors
    /// Returns errors of mandatory filters. Returns [`Error::Internal`] if the encoding of defined
    /// elements is not yet chosen.
    pub fn encode_chunk(
        &self,
        store: &Store,
        scaled: &[u64],
        chunk: &DefinedChunk,
        before: Option<&StructuredLocation>,
    ) -> Result<EncodedChunk> {
        let contents = self.contents(chunk)?;
        with_scratch(|scratch| {
            let kept = match before {
                Some(before) if !self.passes_no_filter(scaled)? => {
                    self.kept_sections(store, before, &contents, scratch)?
                }
                _ => Vec::new(),
            };
            self.filter(store, scaled, contents, kept, scratch)
        })
    }

    /// Returns the sections of a decoded structured chunk before their filters are applied.
    fn contents(&self, chunk: &DefinedChunk) -> Result<Vec<Vec<u8>>> {
        let mut contents: Vec<Vec<u8>> = Vec::with_capacity(3);
        if self.kind.is_sparse() {
            let encoding = self.encoding.ok_or_else(|| {
                Error::internal("structured chunk", "the encoding is chosen before a chunk is encoded")
            })?;
            contents.push(encode_defined(&chunk.defined, encoding)?);
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

    /// Chooses the encoder options of each section of structured chunks. Encodes a chunk with three
    /// options: a complete search for repetitions, a search for repetitions of one byte only, and
    /// the fastest level.
    ///
    /// # Errors
    /// Returns errors of mandatory filters.
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
                    min_plane_bytes: MIN_PLANE_BYTES,
                    // No other program writes structured chunks.
                    only_smaller: true,
                    ..ChunkTarget::of_length(section.len())
                };
                let encoded = form.pipeline.encode_chunk_with(
                    &store.filters(),
                    section.as_slice(),
                    &target,
                    &mut scratch,
                );
                let failed = |source| Error::Filter { address: Address::UNDEFINED, source };
                encoded.map(|(bytes, _)| bytes.len()).map_err(failed)
            };
            let (whole, runs) = (length(false, false)?, length(true, false)?);
            form.runs_only = Some(runs * RUNS_ONLY_RATIO.0 <= whole * RUNS_ONLY_RATIO.1);
            if section.len() < MAX_FAST_BYTES {
                let best = runs.min(whole);
                form.fast = length(false, true)? * FAST_RATIO.0 <= best * FAST_RATIO.1;
            }
        }
        Ok(())
    }

    fn filter(
        &self,
        store: &Store,
        scaled: &[u64],
        contents: Vec<Vec<u8>>,
        kept: Vec<Option<KeptSection>>,
        scratch: &mut Scratch,
    ) -> Result<EncodedChunk> {
        let plainly = self.passes_no_filter(scaled)?;
        let mut bytes = Vec::new();
        let mut sections = Vec::with_capacity(contents.len());
        let mut kept = kept.into_iter();
        for (mut section, form) in contents.into_iter().zip(&self.sections) {
            let unfiltered = section.len() as u64;
            let mut filter_mask = 0;
            if let Some(stored) = kept.next().flatten() {
                (section, filter_mask) = stored;
            } else if !plainly && !form.pipeline.is_empty() && !section.is_empty() {
                let target = ChunkTarget {
                    element_size: self.element_size,
                    runs_only: form.runs_only.unwrap_or(false),
                    fast: form.fast && section.len() < MAX_FAST_BYTES,
                    min_plane_bytes: MIN_PLANE_BYTES,
                    // No other program writes structured chunks.
                    only_smaller: true,
                    ..ChunkTarget::of_length(section.len())
                };
                (section, filter_mask) = form
                    .pipeline
                    .encode_chunk_with(&store.filters(), section, &target, scratch)
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

    /// Returns the chunk index entry of a structured chunk that is stored at `address`.
    ///
    /// # Errors
    /// Returns an error if an offset does not fit into its field.
    pub fn location(&self, address: Address, sections: &ChunkSections) -> Result<StructuredLocation> {
        let order = self.metadata_orders().first().copied().flatten();
        let metadata = sections.encode(self.offset_size, order)?;
        let metadata = ChunkMetadataBytes::new(&metadata).ok_or_else(|| {
            Error::Misuse(
                "the metadata of a structured chunk is longer than its chunk index can store".into(),
            )
        })?;
        Ok(StructuredLocation { address, size: sections.chunk_size(), metadata })
    }
}
