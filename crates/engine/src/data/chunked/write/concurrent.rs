//! Concurrent writes of chunks: a thread gathers, decodes and encodes without exclusive access to
//! the file, and takes exclusive access only to store encoded chunks.
//!
//! The writing thread encodes filtered chunks that it replaces as a whole, and stores them in
//! batches. A partly written chunk becomes dirty: the thread first reads and decodes the stored
//! chunk, and inserts it unless another thread has replaced the stored chunk in the meantime. A
//! flush encodes a snapshot of a dirty chunk, and stores it if the chunk has not changed. If the
//! shape of the dataset changes during the write, the caller writes the rest with exclusive access.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{Dims, Selection};
use hyperslab_filter::Scratch;

use super::super::ChunkedSource;
use super::buffered::MAX_BUFFERED_CHUNK_BYTES;
use super::selected::Selected;
use super::{BATCH_BYTES, BATCH_CHUNKS, ChunkWriter, ChunkWriting, Encoded, encode, filled, reuse, store};
use crate::data::chunk_index::{ChunkLocation, ChunkTable};
use crate::data::transfer::{ChunkCache, Due, RowBuffers, Snapshot, WriteSource, parallel};
use crate::error::Result;
use crate::store::Store;

/// Number of bytes of complete dirty chunks from which a concurrent write flushes these chunks. A
/// dirty chunk counts as complete if all its elements were probably written.
const MIN_COMPLETE_BYTES: usize = 4 << 20;

impl ChunkedSource {
    /// Returns whether several threads can write to this chunked dataset at the same time.
    /// Otherwise, the dataset has small chunks without filters, which are buffered and written
    /// together.
    pub(crate) fn is_written_concurrently(&self) -> bool {
        !self.pipeline.is_empty() || self.chunk_bytes > MAX_BUFFERED_CHUNK_BYTES
    }
}

/// A trait for access to a dataset's chunk writer by several threads. The threads lock the file
/// exclusively only for short times.
pub trait ChunkAccess {
    /// Calls `work` with the dataset's chunk writer and the table of its chunks. Returns `None` if
    /// the chunk writer no longer exists.
    ///
    /// # Errors
    /// Returns the errors of `work`.
    fn writer<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &dyn ChunkTable) -> Result<T>,
    ) -> Result<Option<T>>;

    /// Calls `work` with the chunk cache, for reading chunks from the file. During the call, a lock
    /// keeps other threads from changing the structure of the file.
    ///
    /// # Errors
    /// Returns the errors of `work`.
    fn reading<T>(&self, work: impl FnOnce(&ChunkCache) -> Result<T>) -> Result<T>;

    /// Calls `work` with the dataset's chunk writer and exclusive access to the file. Returns
    /// `None` if the chunk writer no longer exists.
    ///
    /// # Errors
    /// Returns the errors of `work`. Returns an error if the file must not be changed.
    fn edit<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &mut ChunkWriting<'_, '_>) -> Result<T>,
    ) -> Result<Option<T>>;

    /// Returns the `Store` of the file that holds the chunked dataset: the access to the bytes of
    /// the file.
    fn store(&self) -> &Store;
}

/// The progress of a write to a chunked dataset by several threads: all elements are written, or
/// only some of the chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All elements are written.
    Done,
    /// The shape of the dataset changed after this number of chunks was written.
    Chunks(usize),
}

/// Writes the selected elements of a chunked dataset with several threads. `source` describes the
/// dataset at the start of the write.
///
/// # Errors
/// Returns [`Error::Misuse`](crate::Error::Misuse) if the number of elements in `from` differs from
/// the number of selected elements. Returns errors of filters, conversions and the driver.
pub fn write_concurrently(
    access: &impl ChunkAccess,
    source: &Arc<ChunkedSource>,
    selection: &Selection,
    from: &WriteSource<'_>,
) -> Result<Progress> {
    let grid = &source.grid;
    let selected = &Selected::new(selection, grid)?;
    from.check(selected.element_count())?;
    let mut chunks = selected.chunks(grid)?.peekable();
    let mut done = 0_usize;
    while chunks.peek().is_some() {
        let (mut batch, mut kept) = (Vec::new(), 0_usize);
        while let Some(scaled) = chunks.next_if(|_| kept < BATCH_BYTES && batch.len() < BATCH_CHUNKS) {
            kept += source.chunk_bytes;
            batch.push(scaled);
        }
        let count = batch.len();
        if !(Batch { access, source, selected, from }).write(batch)? {
            return Ok(Progress::Chunks(done));
        }
        done += count;
        limit_dirty(access)?;
    }
    Ok(Progress::Done)
}

/// Limits the dirty chunks of a dataset in memory: flushes some of them if their bytes exceed the
/// limit. The most recently changed chunks stay dirty, because their remaining elements may be
/// written soon.
fn limit_dirty(access: &impl ChunkAccess) -> Result<()> {
    let look = || access.writer(|writer, _| Ok((writer.dirty.load(), writer.dirty_limit)));
    let Some((load, limit)) = look()? else { return Ok(()) };
    if load.complete >= MIN_COMPLETE_BYTES {
        flush_concurrently(access, Due::Complete)?;
    }
    if load.idle - load.complete > limit {
        flush_concurrently(access, Due::Oldest { keep: limit / 2 })?;
    }
    // If this thread writes faster than the other threads encode, it encodes chunks, too, and
    // finally waits.
    let exceeds = |bytes: usize| bytes.div_ceil(2) > limit;
    if exceeds(load.all) {
        flush_concurrently(access, Due::Oldest { keep: 0 })?;
    }
    if look()?.is_some_and(|(load, _)| exceeds(load.all)) {
        access.edit(|writer, writing| writer.flush_dirty(writing, Due::All))?;
    }
    Ok(())
}

/// Encodes and stores the dirty chunks of a dataset that `due` selects, with several threads.
/// Chunks that change in the meantime stay dirty.
///
/// # Errors
/// Returns errors of filters and the driver. Chunks that could not be stored stay dirty.
pub fn flush_concurrently(access: &impl ChunkAccess, due: Due) -> Result<()> {
    let taken = access.writer(|writer, _| Ok((Arc::clone(&writer.source), writer.dirty.snapshots(due))))?;
    let Some((source, snapshots)) = taken else { return Ok(()) };
    let flush = Flush { access, source, snapshots };
    let per_batch = (BATCH_BYTES / flush.source.chunk_bytes.max(1)).max(1);
    flush.snapshots.chunks(per_batch).try_for_each(|batch| flush.store(batch))
}

/// One concurrent flush of a dataset: copies of the dirty chunks at its start, which the flush
/// encodes and stores.
struct Flush<'a, A: ChunkAccess> {
    access: &'a A,
    source: Arc<ChunkedSource>,
    snapshots: Vec<Snapshot<Vec<u8>>>,
}

impl<A: ChunkAccess> Flush<'_, A> {
    fn store(&self, batch: &[Snapshot<Vec<u8>>]) -> Result<()> {
        let (source, store) = (&*self.source, self.access.store());
        let encode = |snapshot: &Snapshot<Vec<u8>>| {
            let (bytes, mask) = encode(source, store, &snapshot.scaled, snapshot.chunk.as_slice())?;
            Ok((snapshot.scaled.clone(), bytes, mask))
        };
        let encoded: Result<Vec<Encoded>> = if allow_threads(store, source, batch.len()) {
            batch.par_iter().map(encode).collect()
        } else {
            batch.iter().map(encode).collect()
        };
        let encoded = encoded?;
        self.access.edit(|writer, writing| {
            let same_shape = Arc::ptr_eq(&writer.source, &self.source);
            let now = batch.iter().zip(encoded);
            let now = now.filter(|(snapshot, _)| same_shape && writer.dirty.is_unchanged(snapshot));
            let now: Vec<Encoded> = now.map(|(_, encoded)| encoded).collect();
            writer.store_encoded(writing, &now)?;
            reuse(now);
            Ok(())
        })?;
        Ok(())
    }
}

impl<A: ChunkAccess> Drop for Flush<'_, A> {
    fn drop(&mut self) {
        let ended = self.access.writer(|writer, _| {
            self.snapshots.iter().for_each(|snapshot| writer.dirty.end_encoding(snapshot));
            Ok(())
        });
        debug_assert!(ended.is_ok(), "ending an encoding changes no file");
    }
}

/// A batch of chunks of one concurrent write. Other threads see all changes of a batch or none of
/// them.
struct Batch<'a, A> {
    access: &'a A,
    source: &'a Arc<ChunkedSource>,
    selected: &'a Selected<'a>,
    from: &'a WriteSource<'a>,
}

/// The state of a chunk before a write changes it: not stored in the file, read and decoded, or
/// read and not yet decoded.
enum StoredState {
    Nothing,
    Decoded(Vec<u8>),
    Stored(ChunkLocation, Vec<u8>),
}

/// The job of a thread for one chunk of a concurrent write: to encode a chunk that is replaced as a
/// whole, or to change some elements of a chunk.
enum BatchJob {
    Whole(Dims),
    Part(Dims, StoredState),
}

/// The result of a thread's job for one chunk of a concurrent write: the encoded chunk, or the
/// chunk with changed elements.
enum BatchResult {
    Encoded(Encoded),
    Changed(Dims, Vec<u8>),
}

/// Chunks that a concurrent write has read from the file and changed, and that are not yet in the
/// table of dirty chunks.
struct FetchedChunks<'a, A: ChunkAccess> {
    access: &'a A,
    /// The chunks that other threads may still replace in the file before this write makes them
    /// dirty, and the numbers of their reads.
    watched: BTreeMap<Dims, u64>,
    ready: BTreeMap<Dims, Vec<u8>>,
}

/// The result of one attempt to write a batch of chunks: all are written, some must be read from
/// the file first, or the shape of the dataset has changed.
enum Attempt {
    Written,
    /// These chunks must be read from the file first.
    Missing(Vec<Dims>),
    /// The shape of the dataset has changed.
    Reshaped,
}

impl<A: ChunkAccess> Drop for FetchedChunks<'_, A> {
    fn drop(&mut self) {
        if self.watched.is_empty() {
            return;
        }
        let ended = self.access.writer(|writer, _| {
            self.watched.iter().for_each(|(scaled, number)| writer.dirty.fetched(scaled, *number));
            Ok(())
        });
        debug_assert!(ended.is_ok(), "ending a read changes no file");
    }
}

impl<A: ChunkAccess> Batch<'_, A> {
    /// Returns whether the write replaces all elements of a chunk.
    fn replaces(&self, scaled: &[u64]) -> bool {
        self.selected.covers(scaled) && !self.from.is_partial()
    }

    /// Writes the chunks of one batch of a concurrent write. Returns false, possibly before all
    /// chunks are written, if the shape of the dataset has changed since the start of the write.
    fn write(&self, chunks: Vec<Dims>) -> Result<bool> {
        let (mut whole, mut parts, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for scaled in chunks {
            if self.source.is_stored_plainly(&scaled)? {
                plain.push(scaled);
            } else if self.replaces(&scaled) && !self.source.may_grow(&scaled)? {
                whole.push(BatchJob::Whole(scaled));
            } else {
                parts.push(scaled);
            }
        }
        let mut encoded = Vec::new();
        let mut fetched =
            FetchedChunks { access: self.access, watched: BTreeMap::new(), ready: BTreeMap::new() };
        let parts_only = whole.is_empty() && plain.is_empty();
        let mut missing = Vec::new();
        loop {
            let Some(jobs) = self.fetch(missing, &mut fetched)? else { return Ok(false) };
            for done in self.work(whole.drain(..).chain(jobs).collect())? {
                match done {
                    BatchResult::Encoded(chunk) => encoded.push(chunk),
                    BatchResult::Changed(scaled, chunk) => _ = fetched.ready.insert(scaled, chunk),
                }
            }
            let attempt = if parts_only {
                self.access.writer(|writer, _| self.put_parts(writer, &parts, &mut fetched))?
            } else {
                self.access.edit(|writer, writing| {
                    let attempt = self.put_parts(writer, &parts, &mut fetched)?;
                    if matches!(attempt, Attempt::Written) {
                        writer.store_encoded(writing, &std::mem::take(&mut encoded))?;
                        let plain = std::mem::take(&mut plain);
                        writer.write_batch(writing, self.selected, plain, self.from)?;
                    }
                    Ok(attempt)
                })?
            };
            match attempt.unwrap_or(Attempt::Reshaped) {
                Attempt::Written => return Ok(true),
                Attempt::Missing(chunks) => missing = chunks,
                Attempt::Reshaped => return Ok(false),
            }
        }
    }

    /// Writes the selected elements into the partly written chunks of a batch. For this, each chunk
    /// must be in memory: as a dirty chunk, or as an up-to-date copy from the file. Otherwise,
    /// returns the list of missing chunks.
    fn put_parts(
        &self,
        writer: &mut ChunkWriter,
        parts: &[Dims],
        fetched: &mut FetchedChunks<'_, A>,
    ) -> Result<Attempt> {
        if !Arc::ptr_eq(&writer.source, self.source) {
            return Ok(Attempt::Reshaped);
        }
        let dirty = &mut writer.dirty;
        let missing: Vec<Dims> = parts
            .iter()
            .filter(|scaled| {
                let number = fetched.watched.get(*scaled).filter(|_| fetched.ready.contains_key(*scaled));
                let current = || number.is_some_and(|number| dirty.is_current(scaled, *number));
                !dirty.contains(scaled) && !current()
            })
            .cloned()
            .collect();
        if !missing.is_empty() {
            // Chunks that were read are read again.
            for scaled in &missing {
                fetched.ready.remove(scaled);
                if let Some(number) = fetched.watched.remove(scaled) {
                    dirty.fetched(scaled, number);
                }
            }
            return Ok(Attempt::Missing(missing));
        }
        let mut rows = RowBuffers::default();
        for scaled in parts {
            // A write of some members of compound elements does not count toward completeness.
            let written = if self.from.is_partial() { 0 } else { self.selected.count_in(scaled) };
            if let Some(chunk) = dirty.get_mut(scaled, written) {
                self.selected.put(self.source, scaled, self.from, chunk, &mut rows)?;
            } else if let Some(chunk) = fetched.ready.remove(scaled) {
                let elements = self.source.final_elements(scaled)?;
                dirty.insert_partial(scaled.clone(), chunk, elements, written);
            }
        }
        std::mem::take(&mut fetched.watched)
            .iter()
            .for_each(|(scaled, number)| dirty.fetched(scaled, *number));
        Ok(Attempt::Written)
    }

    /// Fetches the stored chunks of a batch from the file, so that a write can change them. Returns
    /// `None` if the shape of the dataset has changed.
    fn fetch(&self, chunks: Vec<Dims>, fetched: &mut FetchedChunks<'_, A>) -> Result<Option<Vec<BatchJob>>> {
        if chunks.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let (store, source) = (self.access.store(), self.source);
        self.access.reading(|cache| {
            let locations = self.access.writer(|writer, table| {
                if !Arc::ptr_eq(&writer.source, source) {
                    return Ok(None);
                }
                let mut locations = Vec::new();
                for scaled in chunks {
                    let unknown = table.is_empty() || self.replaces(&scaled);
                    let location = if unknown { None } else { table.get(store, &scaled)? };
                    fetched.watched.insert(scaled.clone(), writer.dirty.fetch(&scaled));
                    locations.push((scaled, location));
                }
                Ok(Some(locations))
            })?;
            let Some(locations) = locations.flatten() else { return Ok(None) };
            let mut jobs = Vec::with_capacity(locations.len());
            for (scaled, location) in locations {
                let base = match location {
                    None => StoredState::Nothing,
                    Some(location) => match cache.take((source.owner, location.address)) {
                        Some(chunk) => StoredState::Decoded(Arc::unwrap_or_clone(chunk)),
                        None => StoredState::Stored(
                            location,
                            store.read_raw_vec(location.address, location.size)?,
                        ),
                    },
                };
                jobs.push(BatchJob::Part(scaled, base));
            }
            Ok(Some(jobs))
        })
    }

    /// Performs the work of a concurrent write on the chunks of one batch: encodes chunks that are
    /// replaced as a whole, and writes the selected elements into all other chunks.
    fn work(&self, jobs: Vec<BatchJob>) -> Result<Vec<BatchResult>> {
        let (source, store, selected, from) = (&**self.source, self.access.store(), self.selected, self.from);
        let work = |rows: &mut RowBuffers, job: BatchJob| {
            let (scaled, base) = match job {
                BatchJob::Whole(scaled) => {
                    return encode_whole(source, store, selected, (scaled, from), rows)
                        .map(BatchResult::Encoded);
                }
                BatchJob::Part(scaled, base) => (scaled, base),
            };
            let mut chunk = match base {
                StoredState::Nothing => filled(source, true)?,
                StoredState::Decoded(chunk) => chunk,
                StoredState::Stored(location, stored) => {
                    let mut out = source.buffer(store, &location)?;
                    source.decode(store, &location, &stored, &mut out, &mut Scratch::default())?;
                    out
                }
            };
            selected.put(source, &scaled, from, &mut chunk, rows)?;
            Ok(BatchResult::Changed(scaled, chunk))
        };
        each((store, source), jobs, work)
    }
}

/// Returns whether several threads should encode or decode `count` chunks. The caller holds no lock
/// of the file.
fn allow_threads(store: &Store, source: &ChunkedSource, count: usize) -> bool {
    parallel::use_threads_unlocked(store, &source.pipeline, count, source.chunk_bytes)
}

/// Calls `work` with each job (one chunk) of a batch, on several threads if the chunks are large
/// enough and their filters allow it.
pub(super) fn each<J: Send, D: Send>(
    (store, source): (&Store, &ChunkedSource),
    jobs: Vec<J>,
    work: impl Fn(&mut RowBuffers, J) -> Result<D> + Sync + Send,
) -> Result<Vec<D>> {
    if jobs.len() > 1 && allow_threads(store, source, jobs.len()) {
        return jobs.into_par_iter().map_init(RowBuffers::default, work).collect();
    }
    let mut rows = RowBuffers::default();
    jobs.into_iter().map(|job| work(&mut rows, job)).collect()
}

/// Returns the encoded bytes of a chunk whose elements are all replaced by the write.
pub(super) fn encode_whole(
    source: &ChunkedSource,
    store: &Store,
    selected: &Selected<'_>,
    (scaled, from): (Dims, &WriteSource<'_>),
    rows: &mut RowBuffers,
) -> Result<Encoded> {
    let elements = if let Some(elements) = store::stored_bytes(source, selected, &scaled, from)? {
        Cow::Borrowed(elements)
    } else {
        let mut chunk = filled(source, source.grid.is_edge(&scaled)?)?;
        selected.put(source, &scaled, from, &mut chunk, rows)?;
        Cow::Owned(chunk)
    };
    let (bytes, mask) = encode(source, store, &scaled, elements)?;
    Ok((scaled, bytes, mask))
}

impl ChunkWriter {
    /// Marks the copies of a dataset's chunks that writing threads have read from the file as out
    /// of date.
    pub fn outdate_fetched(&mut self) {
        self.dirty.outdate_all();
    }

    /// Returns the number of bytes of the chunk writer's dirty chunks in memory.
    pub fn dirty_bytes(&self) -> usize {
        self.dirty.bytes()
    }
}
