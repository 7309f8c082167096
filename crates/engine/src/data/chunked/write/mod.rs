//! Writes of chunked elements: all threads gather, convert and encode; then one thread allocates,
//! writes and indexes.

mod appended;
mod buffered;
mod concurrent;
mod partial;
mod resize;
mod selected;
mod sink;
mod store;
mod strips;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_concurrent;

use std::borrow::Cow;
use std::sync::Arc;

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{Dims, Hyperslab, Selection};
use hyperslab_filter::ChunkTarget;
use hyperslab_format::codec::Address;

use super::ChunkedSource;
use crate::data::chunk_index::{ChunkLocation, ChunkTable};
use crate::data::transfer::{
    ChunkCache, DirtyChunks, Due, RowBuffers, Snapshot, WriteSource, parallel, with_scratch,
};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

pub use appended::Appended;
use buffered::BufferedChunks;
pub use concurrent::{ChunkAccess, Progress, flush_concurrently, write_concurrently};
use selected::Selected;
pub use sink::ChunkedSink;

/// Largest number of bytes of chunks in one batch of a write to a chunked dataset.
const BATCH_BYTES: usize = 16 << 20;

/// Largest number of chunks in one batch of a write to a chunked dataset.
const BATCH_CHUNKS: usize = 64 << 10;

/// The writer of the chunks of one dataset, with its dirty chunks.
#[derive(Debug)]
pub struct ChunkWriter {
    /// The dataset as a source.
    pub source: Arc<ChunkedSource>,
    /// The limit of bytes in dirty chunks.
    pub dirty_limit: usize,
    dirty: DirtyChunks<Vec<u8>>,
    buffered: BufferedChunks,
}

/// The access to the file, to the table of chunk locations and to the chunk cache that one write to
/// a chunked dataset needs.
#[derive(Debug)]
pub struct ChunkWriting<'w, 'e> {
    /// The access to change the file.
    pub edit: &'w mut Edit<'e>,
    /// The locations of chunks.
    pub table: &'w mut dyn ChunkTable,
    /// Decoded chunks.
    pub cache: &'w ChunkCache,
}

/// An encoded chunk to store: its coordinates, its encoded bytes and its filter mask.
type Encoded = (Dims, Vec<u8>, u32);

/// A chunk that a write changes: its coordinates, its present location in the file and its present
/// elements.
struct ChunkJob {
    scaled: Dims,
    /// The present location.
    before: Option<ChunkLocation>,
    /// The present elements, if the chunk is in memory.
    known: Option<Vec<u8>>,
    /// True if the write replaces all elements.
    whole: bool,
    /// True if the chunk stays in memory after the write.
    stays: bool,
}

impl ChunkWriter {
    /// Creates a writer of the chunks of the dataset that `source` describes.
    pub fn new(source: ChunkedSource, dirty_limit: usize) -> Self {
        Self {
            source: Arc::new(source),
            dirty_limit,
            dirty: DirtyChunks::default(),
            buffered: BufferedChunks::default(),
        }
    }

    /// Returns the number of bytes in chunks of the chunk writer that are not yet stored.
    pub fn unstored_bytes(&self) -> usize {
        self.dirty.bytes() + self.buffered.bytes()
    }

    /// Writes the selected elements of a chunked dataset from the write source `from`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the number of elements in `from` differs from the number of
    /// selected elements. Returns errors of filters, conversions and the driver.
    pub fn write(
        &mut self,
        edit: &mut Edit<'_>,
        table: &mut dyn ChunkTable,
        cache: &ChunkCache,
        selection: &Selection,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        self.write_from(&mut ChunkWriting { edit, table, cache }, selection, 0, from)
    }

    /// Writes the selected elements of a chunked dataset from a later chunk on. Skips the first
    /// `done` chunks with selected elements, which are already written.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn write_from(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        selection: &Selection,
        done: usize,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if !from.is_partial()
            && let Some(scaled) = self.only_chunk(selection)
        {
            from.check(self.source.grid.elements_per_chunk()?)?;
            if self.buffer_chunk(writing, &scaled, from)? {
                return Ok(());
            }
            self.flush_buffered(writing)?;
            self.write_chunk(writing, scaled.clone(), from)?;
            self.dirty.discard(&scaled);
            return Ok(());
        }
        self.flush_buffered(writing)?;
        let grid = self.source.grid.clone();
        let selected = Selected::new(selection, &grid)?;
        from.check(selected.element_count())?;
        let plain = self.source.pipeline.is_empty();
        let mut chunks = selected.chunks(&grid)?.peekable();
        if done == 0 && self.write_strips(writing, selection, &selected, from)? {
            return Ok(());
        }
        chunks.by_ref().take(done).for_each(drop);
        while chunks.peek().is_some() {
            let (mut batch, mut kept) = (Vec::new(), 0_usize);
            while let Some(scaled) = chunks.next_if(|_| kept < BATCH_BYTES && batch.len() < BATCH_CHUNKS) {
                // Chunks without filters take no memory here. Dirty chunks have a limit of their
                // own.
                if !plain {
                    kept += self.source.chunk_bytes;
                }
                batch.push(scaled);
            }
            self.write_batch(writing, &selected, batch, from)?;
            // Flush before the next chunk would exceed the limit.
            if self.dirty.bytes() + self.source.chunk_bytes > self.dirty_limit {
                self.flush_dirty(writing, Due::Oldest { keep: self.dirty_limit / 2 })?;
            }
        }
        Ok(())
    }

    /// Returns the coordinates of the only chunk in the selection. Returns `None` unless the
    /// selection consists of exactly the elements of this chunk, in the order of the chunk.
    fn only_chunk(&self, selection: &Selection) -> Option<Dims> {
        let Selection::Hyperslab(Hyperslab::Regular(slab)) = selection else { return None };
        let grid = &self.source.grid;
        let mut scaled = Dims::with_capacity(slab.start.len());
        let blocks = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
        for (((start, stride), (count, block)), size) in blocks.zip(grid.chunk()) {
            let length =
                if *count == 1 || *stride == *block { count.checked_mul(*block)? } else { return None };
            if length != *size || !start.is_multiple_of(*size) {
                return None;
            }
            scaled.push(start / size);
        }
        let inside = slab.start.len() == grid.rank() && !grid.is_edge(&scaled).ok()?;
        inside.then_some(scaled)
    }

    /// Writes all elements of one chunk from the write source `from`.
    fn write_chunk(
        &self,
        writing: &mut ChunkWriting<'_, '_>,
        scaled: Dims,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let (source, store) = (&self.source, writing.edit.store());
        let count = source.grid.elements_per_chunk()?;
        let mut converted = Vec::new();
        let elements = if let Some(elements) = from.as_stored(0, count) {
            elements
        } else {
            converted.resize(source.chunk_bytes, 0);
            from.put(0, count, &mut converted)?;
            &converted
        };
        let before = if writing.table.is_empty() { None } else { writing.table.get(store, &scaled)? };
        let size = source.chunk_bytes as u64;
        if !source.is_stored_plainly(&scaled)? || before.is_some_and(|before| before.size != size) {
            let (bytes, mask) = encode(source, store, &scaled, elements.to_vec())?;
            return store::encoded(source, writing, &[(scaled, bytes, mask)]);
        }
        if let Some(before) = before {
            return store.write_raw(before.address, elements);
        }
        let address = writing.edit.allocate(SpaceKind::RawData, size)?;
        store.write_raw(address, elements)?;
        writing.table.insert(writing.edit, &[(scaled, ChunkLocation { address, size, filter_mask: 0 })])
    }

    /// Encodes and stores all dirty chunks of a dataset's chunk writer.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn flush(
        &mut self,
        edit: &mut Edit<'_>,
        table: &mut dyn ChunkTable,
        cache: &ChunkCache,
    ) -> Result<()> {
        let mut writing = ChunkWriting { edit, table, cache };
        self.close_buffered(&mut writing)?;
        self.flush_dirty(&mut writing, Due::All)
    }

    /// Replaces the stored bytes and the filter mask of the chunk that holds the element with the
    /// coordinates `element`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if there is no such element, or if an unfiltered chunk gets a
    /// wrong number of bytes.
    pub fn put_stored(
        &mut self,
        edit: &mut Edit<'_>,
        table: &mut dyn ChunkTable,
        cache: &ChunkCache,
        element: &[u64],
        bytes: &[u8],
        filter_mask: u32,
    ) -> Result<()> {
        let (scaled, _) = self.source.grid.locate(element)?;
        if self.source.is_stored_plainly(&scaled)? && bytes.len() != self.source.chunk_bytes {
            let (got, size) = (bytes.len(), self.source.chunk_bytes);
            return Err(Error::Misuse(format!("an unfiltered chunk has {size} bytes, but {got} are given")));
        }
        self.dirty.remove(&scaled);
        let mut writing = ChunkWriting { edit, table, cache };
        if filter_mask == 0
            && !writing.edit.is_swmr_writer()
            && self.buffer_stored(&mut writing, &scaled, bytes)?
        {
            return Ok(());
        }
        self.flush_buffered(&mut writing)?;
        store::encoded(&self.source, &mut writing, &[(scaled, bytes, filter_mask)])
    }

    fn flush_dirty(&mut self, writing: &mut ChunkWriting<'_, '_>, due: Due) -> Result<()> {
        let snapshots = self.dirty.snapshots(due);
        let per_batch = (BATCH_BYTES / self.source.chunk_bytes.max(1)).max(1);
        let flushed = snapshots.chunks(per_batch).try_for_each(|batch| self.flush_batch(writing, batch));
        if flushed.is_err() {
            snapshots.iter().for_each(|snapshot| self.dirty.end_encoding(snapshot));
        }
        snapshots.into_iter().for_each(|snapshot| self.dirty.keep_memory(snapshot));
        flushed
    }

    fn flush_batch(&mut self, writing: &mut ChunkWriting<'_, '_>, batch: &[Snapshot<Vec<u8>>]) -> Result<()> {
        let store = writing.edit.store();
        if self.source.pipeline.is_empty() {
            let chunks = batch.iter().map(|one| (one.scaled.clone(), one.chunk.as_slice(), 0));
            let chunks: Vec<(Dims, &[u8], u32)> = chunks.collect();
            return self.store_encoded(writing, &chunks);
        }
        let encode = |snapshot: &Snapshot<Vec<u8>>| {
            let (bytes, mask) = encode(&self.source, store, &snapshot.scaled, snapshot.chunk.as_slice())?;
            Ok((snapshot.scaled.clone(), bytes, mask))
        };
        let work = (batch.len() * self.source.chunk_bytes) as u64;
        let parallel = parallel::use_threads_for(store, &self.source.pipeline, work);
        let encoded = parallel::map(store, parallel, batch.iter().collect(), encode)?;
        self.store_encoded(writing, &encoded)
    }

    fn write_batch(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        selected: &Selected<'_>,
        batch: Vec<Dims>,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        let (mut new_plain, mut parts) = (Vec::new(), Vec::new());
        let (mut old_plain, mut filtered) = (Vec::new(), Vec::new());
        let mut rows = RowBuffers::default();
        for scaled in batch {
            let whole = selected.covers(&scaled) && !from.is_partial();
            let plain = self.source.is_stored_plainly(&scaled)?;
            if plain && !whole && self.put_dirty(&scaled, selected, from, &mut rows)? {
                continue;
            }
            // A dirty plain chunk stays dirty until all its elements are replaced in the file.
            let known = if plain { None } else { self.dirty.remove(&scaled).filter(|_| !whole) };
            let before = if writing.table.is_empty() {
                None
            } else {
                writing.table.get(writing.edit.store(), &scaled)?
            };
            match before {
                Some(before) if plain && before.size == self.source.chunk_bytes as u64 => {
                    old_plain.push((scaled, before));
                }
                None if plain && !whole && self.stays_dirty(&scaled, selected, from)? => {
                    self.insert_part(scaled, selected, from, &mut rows)?;
                }
                None if plain && !whole && self.source.fill.is_zero() => {
                    parts.push(scaled);
                }
                None if plain => new_plain.push(scaled),
                _ => {
                    let stays = !whole || self.source.may_grow(&scaled)?;
                    filtered.push(ChunkJob { scaled, before, known, whole, stays });
                }
            }
        }
        store::new_plain(&self.source, writing, selected, &new_plain, from)?;
        new_plain.iter().for_each(|scaled| self.dirty.discard(scaled));
        old_plain.extend(store::new_zeros(&self.source, writing, &parts)?);
        store::old_plain(&self.source, writing.edit.store(), selected, &old_plain, from)?;
        old_plain.iter().for_each(|(scaled, _)| self.dirty.discard(scaled));
        self.write_filtered(writing, selected, filtered, from)?;
        if self.source.pipeline.is_empty() && self.dirty.load().complete > 0 {
            self.flush_dirty(writing, Due::Complete)?;
        }
        Ok(())
    }

    /// Writes the selected elements of filtered chunks from the write source. Encodes complete
    /// chunks immediately; partly written chunks and chunks that may grow become dirty.
    fn write_filtered(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        selected: &Selected<'_>,
        jobs: Vec<ChunkJob>,
        from: &WriteSource<'_>,
    ) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let (store, source, cache) = (writing.edit.store(), &self.source, writing.cache);
        let work = |rows: &mut RowBuffers, mut job: ChunkJob| {
            let mut chunk = job.elements(source, store, cache)?;
            selected.put(source, &job.scaled, from, &mut chunk, rows)?;
            if job.stays {
                return Ok(FilteredChunk::Dirty(job.scaled, chunk));
            }
            let (bytes, mask) = encode(source, store, &job.scaled, chunk)?;
            Ok(FilteredChunk::Encoded(job.scaled, bytes, mask))
        };
        let bytes = (jobs.len() * source.chunk_bytes) as u64;
        let done: Result<Vec<FilteredChunk>> = if parallel::use_threads_for(store, &source.pipeline, bytes) {
            store.share(|| jobs.into_par_iter().map_init(RowBuffers::default, work).collect())
        } else {
            let mut rows = RowBuffers::default();
            jobs.into_iter().map(|job| work(&mut rows, job)).collect()
        };
        let mut encoded = Vec::new();
        for done in done? {
            match done {
                FilteredChunk::Dirty(scaled, chunk) => self.dirty.insert(scaled, chunk, u64::MAX),
                FilteredChunk::Encoded(scaled, bytes, mask) => encoded.push((scaled, bytes, mask)),
            }
        }
        store::encoded(&self.source, writing, &encoded)
    }
}

/// The result of a write to one filtered chunk: the encoded bytes of the chunk, or its changed
/// elements.
enum FilteredChunk {
    Dirty(Dims, Vec<u8>),
    Encoded(Dims, Vec<u8>, u32),
}

impl ChunkJob {
    /// Returns the present elements of a chunk that a write changes. Returns fill values if the
    /// chunk is not stored, or if the write replaces all elements.
    fn elements(&mut self, source: &ChunkedSource, store: &Store, cache: &ChunkCache) -> Result<Vec<u8>> {
        if let Some(known) = self.known.take() {
            return Ok(known);
        }
        match &self.before {
            Some(before) if !self.whole => {
                if let Some(chunk) = cache.take((source.owner, before.address)) {
                    return Ok(Arc::unwrap_or_clone(chunk));
                }
                source.chunk(store, &self.scaled, before)
            }
            _ => filled(source, source.grid.is_edge(&self.scaled)? || !self.whole),
        }
    }
}

/// Creates a decoded chunk with the fill value in all elements. If `needs_fill` is false, the
/// values of the elements are unspecified.
fn filled(source: &ChunkedSource, needs_fill: bool) -> Result<Vec<u8>> {
    let mut chunk = vec![0; source.chunk_bytes];
    if needs_fill && !source.fill.is_zero() {
        source.fill.write(&mut chunk);
    }
    Ok(chunk)
}

/// Size in bytes of the largest chunk that may become longer through optional filters. For larger
/// chunks, optional filters are used only if they make the chunk shorter.
const MAX_GROWING_BYTES: u64 = (4 << 30) - (64 << 20);

/// Largest number of bytes of an encoded chunk whose memory is kept for the next chunk.
const MAX_REUSED_BYTES: usize = 1 << 20;

/// Keeps the memory of stored chunks for the next encoders of this thread.
fn reuse(encoded: Vec<Encoded>) {
    with_scratch(|scratch| {
        let small = encoded.into_iter().filter(|(_, bytes, _)| bytes.capacity() <= MAX_REUSED_BYTES);
        small.for_each(|(_, bytes, _)| scratch.reuse(bytes));
    });
}

/// Encodes a chunk with the filters of the dataset. Returns the bytes to store, and the filter mask
/// of the chunk.
fn encode<'a>(
    source: &ChunkedSource,
    store: &Store,
    scaled: &[u64],
    chunk: impl Into<Cow<'a, [u8]>>,
) -> Result<(Vec<u8>, u32)> {
    let chunk = chunk.into();
    if source.is_stored_plainly(scaled)? {
        return Ok((chunk.into_owned(), 0));
    }
    let target = ChunkTarget {
        element_size: source.element_size,
        // Version 1 B-trees store the size of a chunk in four bytes.
        only_smaller: chunk.len() as u64 > MAX_GROWING_BYTES,
        ..ChunkTarget::of_length(chunk.len())
    };
    with_scratch(|scratch| {
        source
            .pipeline
            .encode_chunk_with(&store.filters(), chunk, &target, scratch)
            .map_err(|source| Error::Filter { address: Address::UNDEFINED, source })
            .map_err(|error| error.context(format!("coordinates {scaled:?} in chunks")))
    })
}
