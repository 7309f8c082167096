//! Reads of datasets with structured chunks into a buffer. Undefined elements have the fill value.

use std::sync::Arc;

use hyperslab_dataspace::{Dims, Ordered, Region, Selection};
use hyperslab_format::structured_chunk::{DefinedEncoding, SectionHeap};

use super::super::StructuredForm;
use crate::data::chunk_index::{ChunkBox, ChunkIndex, StructuredLocation};
use crate::data::transfer::{DefinedChunk, ReadContext, ReadTarget, parallel};
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::store::Store;

/// Largest number of stored bytes of structured chunks in one batch, which is decoded concurrently.
const BATCH_BYTES: u128 = 8 << 20;

/// Largest number of structured chunks in one batch, which is decoded concurrently.
const BATCH_CHUNKS: usize = 256;

/// The source of elements for reads of a dataset with structured chunks.
#[derive(Debug)]
pub struct StructuredSource {
    /// The form of the chunks.
    pub form: StructuredForm,
    /// The index of the chunks; `None` while no chunk is stored.
    pub index: Option<Arc<dyn ChunkIndex<StructuredLocation>>>,
}

/// A function that a read calls with each batch of decoded structured chunks.
type AtBatch<'a> = dyn FnMut(&[(LocatedChunk, Arc<DefinedChunk>)]) -> Result<()> + 'a;

/// The coordinates and the location of a stored structured chunk.
#[derive(Debug, Clone)]
pub(in crate::data) struct LocatedChunk {
    pub(in crate::data) scaled: Dims,
    pub(in crate::data) location: StructuredLocation,
}

impl StructuredSource {
    /// Reads the selected elements of a dataset with structured chunks into the read target, in the
    /// order of the selection. Copies the variable-length data of the elements to the heap
    /// `foreign` in memory.
    ///
    /// # Errors
    /// Returns errors of damaged chunks. Returns [`Error::Unsupported`] for variable-length
    /// elements without `foreign`.
    pub fn read(
        &self,
        context: ReadContext<'_>,
        selection: &Selection,
        to: &mut ReadTarget<'_>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<()> {
        let extent = self.form.grid.extent();
        to.fill(&self.form.fill)?;
        let Some(bounds) = selection.bounding_box(extent)? else { return Ok(()) };
        let wanted = Ordered::new(selection, extent)?;
        self.for_each_batch(context, &bounds, &wanted, &mut |batch| {
            for (found, chunk) in batch {
                self.place(&wanted, &found.scaled, chunk, to, foreign)?;
            }
            Ok(())
        })
    }

    /// Returns all stored structured chunks inside the shape of the dataset, in C order of their
    /// coordinates.
    ///
    /// # Errors
    /// Returns errors of reading the index.
    pub fn stored_chunks(&self, store: &Store) -> Result<Vec<(Dims, StructuredLocation)>> {
        let mut stored = Vec::new();
        self.for_each_chunk(store, &mut |scaled, location| {
            stored.push((Dims::from_slice(scaled), location));
            Ok(())
        })?;
        stored.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(stored)
    }

    /// Returns the encoding of the set of defined elements in a stored structured chunk.
    ///
    /// # Errors
    /// Returns errors of a damaged chunk.
    pub fn encoding_of(
        &self,
        store: &Store,
        (scaled, location): &(Dims, StructuredLocation),
    ) -> Result<DefinedEncoding> {
        self.form.encoding_of(store, scaled, location)
    }

    /// Copies the selected elements of a decoded structured chunk to their positions in the read
    /// target.
    fn place(
        &self,
        wanted: &Ordered,
        scaled: &[u64],
        chunk: &DefinedChunk,
        to: &mut ReadTarget<'_>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<()> {
        let heap = SectionHeap::decode(&chunk.heap, self.form.params)?;
        let size = self.form.element_size;
        self.form.for_each_run(wanted, scaled, |start, count, position| {
            let range = start..start + count;
            chunk.defined.try_for_each_run(range, |offset, at, count| {
                let position = position + (offset - start);
                let values = chunk.values(at, count, size)?;
                if self.form.variable.is_empty() {
                    return to.put(position, values);
                }
                let mut elements = values.to_vec();
                self.export(&mut elements, &heap, foreign)?;
                to.put(position, &elements)
            })
        })
    }

    /// Exports the variable-length data of `elements` from the heap of a structured chunk: copies
    /// the data to the heap `foreign` in memory.
    pub(in crate::data) fn export(
        &self,
        elements: &mut [u8],
        heap: &SectionHeap<'_>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<()> {
        let Some(foreign) = foreign else {
            return Err(Error::unsupported(
                "a read of variable-length elements of a sparse dataset that passes no heap for their data",
            ));
        };
        self.form.variable.export(elements, heap, foreign)
    }

    /// Calls `visit` with batches of the decoded structured chunks in a box of elements, in the
    /// order of the chunk index. Skips chunks that certainly have no selected elements.
    fn for_each_batch(
        &self,
        context: ReadContext<'_>,
        bounds: &Region,
        wanted: &Ordered,
        visit: &mut AtBatch<'_>,
    ) -> Result<()> {
        let chunks = self.form.grid.chunk_region(bounds)?;
        let (Some(index), false) = (&self.index, chunks.is_empty()) else { return Ok(()) };
        let last = chunks.bounds().map(|(_, end)| end - 1).collect();
        let all = ChunkBox { first: chunks.start.clone(), last };
        let (mut batch, mut bytes) = (Vec::new(), 0_u128);
        index.for_each_in(context.store, &all, &mut |scaled, location| {
            if !wanted.may_meet(&self.form.grid.region(scaled)?) {
                return Ok(());
            }
            bytes += u128::from(location.size);
            batch.push(LocatedChunk { scaled: Dims::from_slice(scaled), location });
            if batch.len() < BATCH_CHUNKS && bytes < BATCH_BYTES {
                return Ok(());
            }
            bytes = 0;
            visit(&self.load(context, std::mem::take(&mut batch))?)
        })?;
        visit(&self.load(context, batch)?)
    }

    /// Decodes the structured chunks of a batch, on several threads if that is faster.
    pub(in crate::data) fn load(
        &self,
        context: ReadContext<'_>,
        batch: Vec<LocatedChunk>,
    ) -> Result<Vec<(LocatedChunk, Arc<DefinedChunk>)>> {
        let bytes: u128 = batch.iter().map(|found| u128::from(found.location.size)).sum();
        let load = |found: LocatedChunk| {
            let chunk = self.chunk(context, &found)?;
            Ok((found, chunk))
        };
        let store = context.store;
        // Decoding a stored byte counts as much work as copying eight bytes.
        let parallel =
            batch.len() > 1 && parallel::use_threads(store, bytes * 8) && self.form.allows_threads(store);
        parallel::map(store, parallel, batch, load)
    }

    /// Returns a decoded structured chunk, from the chunk cache or from the file. Adds the chunk to
    /// the cache unless it is too large.
    pub(in crate::data) fn chunk(
        &self,
        context: ReadContext<'_>,
        found: &LocatedChunk,
    ) -> Result<Arc<DefinedChunk>> {
        let (cache, key) = (&context.resources.structured, (self.form.owner, found.location.address));
        if let Some(chunk) = cache.get(key) {
            return Ok(chunk);
        }
        let chunk = Arc::new(self.form.read_chunk(context.store, &found.scaled, &found.location)?);
        if cache.takes(chunk.memory_bytes() as u64) {
            cache.insert(key, Arc::clone(&chunk));
        }
        Ok(chunk)
    }
}
