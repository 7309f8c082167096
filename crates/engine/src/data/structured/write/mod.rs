//! Writes of structured chunks: new elements are merged into dirty chunks in memory. If the dirty
//! chunks exceed their limit, all threads encode chunks, and one thread stores them.

mod by_chunk;
mod coordinates;
mod defined;
mod points;
mod resize;
mod selected;
mod sink;
mod store;

use std::sync::Arc;

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{DefinedSet, Dims};

use super::StructuredForm;
use crate::data::chunk_index::{ChunkBox, StructuredIndexEditor, StructuredLocation};
use crate::data::transfer::{ChunkCache, DefinedChunk, DirtyChunks, parallel};
use crate::data::variable::ForeignHeap;
use crate::error::{Error, Result};
use crate::store::{Edit, Store};

pub use coordinates::PointCoordinates;
pub use defined::IsDefined;

/// The writer of the structured chunks of one dataset, with its dirty chunks.
#[derive(Debug)]
pub struct StructuredWriter {
    /// The form of the chunks.
    pub form: StructuredForm,
    /// The index of the chunks.
    pub table: StructuredIndexEditor,
    /// The limit of bytes in dirty chunks.
    pub limit: usize,
    dirty: DirtyChunks<DefinedChunk>,
}

/// The access to the file, to the chunk cache and to variable-length data that one change of a
/// dataset with structured chunks needs.
#[derive(Debug)]
pub struct StructuredWriting<'w, 'e> {
    /// The access to change the file.
    pub edit: &'w mut Edit<'e>,
    /// Decoded chunks.
    pub cache: &'w ChunkCache<Arc<DefinedChunk>>,
    /// The heap with the variable-length data of the written elements.
    pub heap: Option<&'w ForeignHeap>,
}

/// An update of one structured chunk: the elements to write, and their values.
struct Update {
    scaled: Dims,
    defined: DefinedSet,
    /// The values; `None` if the elements become undefined.
    values: Option<Vec<u8>>,
}

/// The result of merging an update into a structured chunk: the changed chunk, or an error together
/// with the dirty chunk before the update.
type Merged = std::result::Result<(Dims, DefinedChunk), Box<(Error, Option<(Dims, DefinedChunk)>)>>;

impl StructuredWriter {
    /// Creates a writer of the structured chunks of a dataset, with their form `form` and their
    /// chunk index `table`.
    pub fn new(form: StructuredForm, table: StructuredIndexEditor, limit: usize) -> Self {
        Self { form, table, limit, dirty: DirtyChunks::default() }
    }

    /// Returns the current state of a stored structured chunk, from the chunk cache or from the
    /// file. Returns `None` if the chunk is not stored.
    fn current(
        &self,
        store: &Store,
        cache: &ChunkCache<Arc<DefinedChunk>>,
        scaled: &Dims,
    ) -> Result<Option<DefinedChunk>> {
        if self.table.is_empty() {
            return Ok(None);
        }
        let Some(location) = self.table.get(store, scaled)? else { return Ok(None) };
        if let Some(chunk) = cache.get((self.form.owner, location.address)) {
            return Ok(Some(DefinedChunk::clone(&chunk)));
        }
        self.form.read_chunk(store, scaled, &location).map(Some)
    }

    /// Merges updates into their structured chunks, which become dirty. Each update belongs to a
    /// different chunk.
    fn merge(&mut self, writing: &mut StructuredWriting<'_, '_>, updates: Vec<Update>) -> Result<()> {
        let (store, cache, heap) = (writing.edit.store(), writing.cache, writing.heap);
        let bytes = updates.iter().fold(0_usize, |sum, update| sum + update.bytes());
        let jobs: Vec<(Update, Option<DefinedChunk>)> = updates
            .into_iter()
            .map(|update| (self.dirty.remove(&update.scaled), update))
            .map(|(known, update)| (update, known))
            .collect();
        let this = &*self;
        // After an error, dirty chunks stay dirty.
        let work = |(update, known): (Update, Option<DefinedChunk>)| -> Merged {
            let (scaled, was_dirty) = (update.scaled.clone(), known.is_some());
            let mut before = known;
            let outcome = (|| {
                if !was_dirty && !update.replaces_all() {
                    before = this.current(store, cache, &scaled)?;
                }
                this.merged(store, &mut before, update, heap)
            })();
            match outcome {
                Ok(chunk) => Ok((scaled, chunk)),
                Err(error) => {
                    Err(Box::new((error, before.filter(|_| was_dirty).map(|chunk| (scaled, chunk)))))
                }
            }
        };
        let several = jobs.len() > 1 && (parallel::use_threads(store, bytes as u64) || jobs.len() > 16);
        let merged: Vec<Merged> = if several && store.may_share() && self.form.allows_threads(store) {
            store.share(|| jobs.into_par_iter().map(work).collect())
        } else {
            jobs.into_iter().map(work).collect()
        };
        let mut failed = None;
        for outcome in merged {
            match outcome {
                Ok((scaled, chunk)) => self.dirty.insert(scaled, chunk, u64::MAX),
                Err(failure) => {
                    let (error, before) = *failure;
                    before.into_iter().for_each(|(scaled, chunk)| self.dirty.insert(scaled, chunk, u64::MAX));
                    failed.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        if self.dirty.bytes() > self.limit {
            self.flush_to_limit(writing)?;
        }
        Ok(())
    }

    /// Returns the structured chunk that results from merging an update into the chunk `before`. If
    /// this fails, `before` still holds all its elements.
    fn merged(
        &self,
        store: &Store,
        before: &mut Option<DefinedChunk>,
        update: Update,
        heap: Option<&ForeignHeap>,
    ) -> Result<DefinedChunk> {
        let size = self.form.element_size;
        if before.is_none() {
            *before = Some(match update.values {
                Some(_) if !self.form.kind.is_sparse() && !update.defined.is_all() => self.filled(store)?,
                _ => DefinedChunk::empty(self.form.grid.chunk())?,
            });
        }
        let Some(before) = before else { return DefinedChunk::empty(self.form.grid.chunk()) };
        let Some(mut values) = update.values else {
            let (defined, remaining) = before.defined.without(&update.defined);
            let values = remaining.gather(&before.values, &[], size)?;
            return Ok(DefinedChunk { values, defined, heap: std::mem::take(&mut before.heap) });
        };
        if !self.form.variable.is_empty() {
            if before.heap.is_empty() {
                before.heap = hyperslab_format::structured_chunk::begin_heap();
            }
            let limit = store.limits().chunk_bytes;
            self.form.variable.import(&mut values, heap, &mut before.heap, limit)?;
        }
        if before.defined.is_empty() || update.defined.is_all() {
            return Ok(DefinedChunk {
                defined: update.defined,
                values,
                heap: std::mem::take(&mut before.heap),
            });
        }
        let (defined, pieces) = before.defined.overlay(&update.defined);
        let values = pieces.gather(&before.values, &values, size)?;
        Ok(DefinedChunk { defined, values, heap: std::mem::take(&mut before.heap) })
    }

    /// Creates a decoded structured chunk with the fill value in all elements.
    fn filled(&self, store: &Store) -> Result<DefinedChunk> {
        let defined = DefinedSet::all(self.form.grid.chunk())?;
        let limit = store.limits().chunk_bytes;
        let bytes = defined.len().checked_mul(self.form.element_size as u64);
        let length = bytes.filter(|bytes| *bytes <= limit).and_then(|bytes| usize::try_from(bytes).ok());
        let Some(length) = length else {
            // The largest number is reported if the product exceeds 64 bits.
            let bytes = bytes.unwrap_or(u64::MAX);
            return Err(Error::Limit { subject: "structured chunk: bytes".into(), got: bytes, limit });
        };
        let mut values = vec![0; length];
        self.form.fill.write(&mut values);
        let mut heap = hyperslab_format::structured_chunk::begin_heap();
        self.form.variable.import(&mut values, None, &mut heap, limit)?;
        Ok(DefinedChunk { defined, values, heap })
    }

    /// Returns the coordinates and locations of the stored structured chunks in a box of chunks.
    fn stored_in(&self, store: &Store, chunks: &ChunkBox) -> Result<Vec<(Dims, StructuredLocation)>> {
        let mut found = Vec::new();
        if self.table.is_empty() {
            return Ok(found);
        }
        self.table.for_each_in(store, chunks, &mut |scaled, location| {
            found.push((Dims::from_slice(scaled), location));
            Ok(())
        })?;
        Ok(found)
    }
}

impl Update {
    fn bytes(&self) -> usize {
        self.defined.memory_bytes() + self.values.as_ref().map_or(0, Vec::len)
    }

    /// Returns whether the update replaces all elements of its structured chunk.
    fn replaces_all(&self) -> bool {
        self.defined.is_all()
    }
}
