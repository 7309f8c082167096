//! Reads of structured chunks in which undefined elements have the fill value.

use std::sync::Arc;

use hyperslab_dataspace::{Dims, Ordered, Region, Selection};
use hyperslab_format::structured_chunk::{DefinedEncoding, SectionHeap};

use super::super::StructuredForm;
use crate::data::chunk_index::{ChunkBox, ChunkIndex, StructuredLocation};
use crate::data::transfer::{DefinedChunk, ReadContext, ReadTarget, parallel};
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::store::Store;

/// Stored bytes of chunks that are decoded side by side.
const BATCH_BYTES: u64 = 8 << 20;

/// Chunks that are.
const BATCH: usize = 256;

/// A dataset in structured chunks.
#[derive(Debug)]
pub struct StructuredSource {
    /// How chunks are made up.
    pub form: StructuredForm,
    /// Where they lie; `None` while there are none.
    pub index: Option<Arc<dyn ChunkIndex<StructuredLocation>>>,
}

/// What is done with decoded chunks.
type AtBatch<'a> = dyn FnMut(&[(Found, Arc<DefinedChunk>)]) -> Result<()> + 'a;

/// A chunk to be read.
#[derive(Debug, Clone)]
pub(in crate::data) struct Found {
    pub(in crate::data) scaled: Dims,
    pub(in crate::data) location: StructuredLocation,
}

impl StructuredSource {
    /// Reads the selected elements to their destination, in the order of the selection. What elements of variable length
    /// hold goes to `foreign`.
    ///
    /// # Errors
    /// Damaged chunks; [`Error::Unsupported`] for elements of variable length without `foreign`.
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

    /// All stored chunks inside the extent, in C order of their coordinates.
    ///
    /// # Errors
    /// The errors of reading the index.
    pub fn stored_chunks(&self, store: &Store) -> Result<Vec<(Dims, StructuredLocation)>> {
        let mut stored = Vec::new();
        self.for_each_chunk(store, &mut |scaled, location| {
            stored.push((Dims::from_slice(scaled), location));
            Ok(())
        })?;
        stored.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(stored)
    }

    /// How a stored chunk has its defined elements written down.
    ///
    /// # Errors
    /// A damaged chunk.
    pub fn encoding_of(
        &self,
        store: &Store,
        (scaled, location): &(Dims, StructuredLocation),
    ) -> Result<DefinedEncoding> {
        self.form.encoding_of(store, scaled, location)
    }

    /// Copies the wanted elements of one chunk to their positions.
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

    /// Lets elements lead to `foreign`.
    pub(in crate::data) fn export(
        &self,
        elements: &mut [u8],
        heap: &SectionHeap<'_>,
        foreign: Option<&ForeignHeap>,
    ) -> Result<()> {
        let Some(foreign) = foreign else {
            return Err(Error::unsupported(
                "elements of variable length in structured chunks, read this way",
            ));
        };
        self.form.variable.export(elements, heap, foreign)
    }

    /// Decodes the stored chunks of a box in which something may be wanted, in the order of the index, and gives them to
    /// `visit` a batch at a time.
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
        let (mut batch, mut bytes) = (Vec::new(), 0_u64);
        index.for_each_in(context.store, &all, &mut |scaled, location| {
            if !wanted.may_meet(&self.form.grid.region(scaled)?) {
                return Ok(());
            }
            // A sum beyond 64 bits ends the batch like any large one.
            bytes = bytes.saturating_add(location.size);
            batch.push(Found { scaled: Dims::from_slice(scaled), location });
            if batch.len() < BATCH && bytes < BATCH_BYTES {
                return Ok(());
            }
            bytes = 0;
            visit(&self.load(context, std::mem::take(&mut batch))?)
        })?;
        visit(&self.load(context, batch)?)
    }

    /// Decodes chunks on all threads.
    pub(in crate::data) fn load(
        &self,
        context: ReadContext<'_>,
        batch: Vec<Found>,
    ) -> Result<Vec<(Found, Arc<DefinedChunk>)>> {
        let bytes = batch.iter().map(|found| found.location.size);
        let bytes = bytes.fold(0, u64::saturating_add);
        let load = |found: Found| {
            let chunk = self.chunk(context, &found)?;
            Ok((found, chunk))
        };
        let store = context.store;
        let worth = batch.len() > 1 && parallel::is_worth(store, bytes.saturating_mul(8));
        parallel::map(store, worth, batch, load)
    }

    /// A chunk, decoded or from the cache, which keeps it if it leaves room for others.
    pub(in crate::data) fn chunk(
        &self,
        context: ReadContext<'_>,
        found: &Found,
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
