//! Concurrent writes of chunks: a thread gathers, decodes and encodes without the right to change the file, and takes it only
//! to store encoded chunks.
//!
//! The writing thread encodes whole chunks that pass filters and stores them in batches. A chunk that is written in part
//! becomes dirty: the thread reads and decodes the stored chunk first, and inserts it unless another thread has replaced it
//! meanwhile. A flush encodes a snapshot of a dirty chunk, and stores it if the chunk is still the same. If the shape of the
//! dataset changes during the write, the caller writes the rest with the right to change the file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{Dims, Selection};
use hyperslab_filter::Scratch;

use super::super::ChunkedSource;
use super::run::LONGEST;
use super::selected::Selected;
use super::{BATCH, BATCH_BYTES, ChunkWriter, ChunkWriting, Encoded, encode, filled, store};
use crate::data::chunk_index::{ChunkLocation, ChunkTable};
use crate::data::transfer::{ChunkCache, Due, Rows, Snapshot, WriteSource, parallel};
use crate::error::Result;
use crate::store::Store;

/// Bytes of complete chunks that are worth being encoded before others come.
const COMPLETE: usize = 4 << 20;

impl ChunkedSource {
    /// Returns whether writes of this dataset run side by side. Small chunks without filters are written together
    /// instead.
    pub(crate) fn is_written_concurrently(&self) -> bool {
        !self.pipeline.is_empty() || self.chunk_bytes > LONGEST
    }
}

/// The way to the writer of a dataset for those who do not have the right to change the file all the time.
pub trait ChunkAccess {
    /// Does something with what waits in memory; not if the writer is gone.
    ///
    /// # Errors
    /// The errors of `work`.
    fn writer<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &dyn ChunkTable) -> Result<T>,
    ) -> Result<Option<T>>;

    /// Does something while nobody changes the file's structure.
    ///
    /// # Errors
    /// The errors of `work`.
    fn reading<T>(&self, work: impl FnOnce(&ChunkCache) -> Result<T>) -> Result<T>;

    /// Does something with the right to change the file; not if the writer is gone.
    ///
    /// # Errors
    /// The errors of `work`, and if the file may not be changed.
    fn edit<T>(
        &self,
        work: impl FnOnce(&mut ChunkWriter, &mut ChunkWriting<'_, '_>) -> Result<T>,
    ) -> Result<Option<T>>;

    /// The file.
    fn store(&self) -> &Store;
}

/// How far a write came that did not have the right to change the file all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All of it is done.
    Done,
    /// The shape of the dataset changed when so many chunks were written.
    Chunks(usize),
}

/// Writes the selected elements of the dataset as `source` says it was at the start.
///
/// # Errors
/// [`Error::Misuse`](crate::Error::Misuse) if `from` has another number of elements, those of filters, conversions and the
/// medium.
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
        while let Some(scaled) = chunks.next_if(|_| kept < BATCH_BYTES && batch.len() < BATCH) {
            kept += source.chunk_bytes;
            batch.push(scaled);
        }
        let count = batch.len();
        if !(Batch { access, source, selected, from }).write(batch)? {
            return Ok(Progress::Chunks(done));
        }
        done += count;
        make_room(access)?;
    }
    Ok(Progress::Done)
}

/// Lets no more wait than shall. What was changed last stays: the rest of those chunks may be on its way.
fn make_room(access: &impl ChunkAccess) -> Result<()> {
    let look = || access.writer(|writer, _| Ok((writer.dirty.load(), writer.dirty_limit)));
    let Some((load, limit)) = look()? else { return Ok(()) };
    if load.complete >= COMPLETE {
        flush_concurrently(access, Due::Complete)?;
    }
    if load.idle - load.complete > limit {
        flush_concurrently(access, Due::Oldest { keep: limit / 2 })?;
    }
    // Who writes faster than all others together encode helps them, and at last has to wait.
    let is_too_much = |bytes: usize| bytes.div_ceil(2) > limit;
    if is_too_much(load.all) {
        flush_concurrently(access, Due::Oldest { keep: 0 })?;
    }
    if look()?.is_some_and(|(load, _)| is_too_much(load.all)) {
        access.edit(|writer, writing| writer.flush_dirty(writing, Due::All))?;
    }
    Ok(())
}

/// Encodes and stores chunks that wait. Those that are changed meanwhile wait on.
///
/// # Errors
/// The errors of filters and the medium; what could not be stored waits on.
pub fn flush_concurrently(access: &impl ChunkAccess, due: Due) -> Result<()> {
    let taken = access.writer(|writer, _| Ok((Arc::clone(&writer.source), writer.dirty.snapshots(due))))?;
    let Some((source, snapshots)) = taken else { return Ok(()) };
    let flush = Flush { access, source, snapshots };
    let per_batch = (BATCH_BYTES / flush.source.chunk_bytes.max(1)).max(1);
    flush.snapshots.chunks(per_batch).try_for_each(|batch| flush.store(batch))
}

/// Chunks that are being encoded as they were at one moment.
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
        let encoded: Result<Vec<Encoded>> =
            if parallel::is_worth_concurrently(batch.len(), source.chunk_bytes) {
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
            writer.store_encoded(writing, &now)
        })?;
        Ok(())
    }
}

impl<A: ChunkAccess> Drop for Flush<'_, A> {
    fn drop(&mut self) {
        let given_up = self.access.writer(|writer, _| {
            self.snapshots.iter().for_each(|snapshot| writer.dirty.give_up(snapshot));
            Ok(())
        });
        debug_assert!(given_up.is_ok(), "giving up changes no file");
    }
}

/// Some chunks of one write, which others see as a whole or not at all.
struct Batch<'a, A> {
    access: &'a A,
    source: &'a Arc<ChunkedSource>,
    selected: &'a Selected<'a>,
    from: &'a WriteSource<'a>,
}

/// What the file holds of a chunk.
enum Base {
    Nothing,
    Decoded(Arc<[u8]>),
    Stored(ChunkLocation, Vec<u8>),
}

/// A chunk on its way.
enum Job {
    Whole(Dims),
    Part(Dims, Base),
}

/// What became of it.
enum Done {
    Encoded(Encoded),
    Changed(Dims, Vec<u8>),
}

/// Chunks that were fetched from the file, with the elements that are written.
struct Fetched<'a, A: ChunkAccess> {
    access: &'a A,
    /// Those that somebody may replace until they are let wait.
    watched: BTreeMap<Dims, u64>,
    ready: BTreeMap<Dims, Vec<u8>>,
}

/// True if a batch was written.
enum Attempt {
    Written,
    /// The file has to be asked for these chunks first.
    Missing(Vec<Dims>),
    /// The dataset has another shape by now.
    Reshaped,
}

impl<A: ChunkAccess> Drop for Fetched<'_, A> {
    fn drop(&mut self) {
        if self.watched.is_empty() {
            return;
        }
        let ended = self.access.writer(|writer, _| {
            self.watched.iter().for_each(|(scaled, number)| writer.dirty.fetched(scaled, *number));
            Ok(())
        });
        debug_assert!(ended.is_ok(), "nothing of it changes a file");
    }
}

impl<A: ChunkAccess> Batch<'_, A> {
    /// Writes the chunks. Returns whether the dataset still had the shape that it had at the start.
    fn write(&self, chunks: Vec<Dims>) -> Result<bool> {
        let (mut whole, mut parts, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for scaled in chunks {
            if self.source.is_stored_plainly(&scaled)? {
                plain.push(scaled);
            } else if self.selected.covers(&scaled) && !self.from.is_partial() {
                whole.push(Job::Whole(scaled));
            } else {
                parts.push(scaled);
            }
        }
        let mut encoded = Vec::new();
        let mut fetched = Fetched { access: self.access, watched: BTreeMap::new(), ready: BTreeMap::new() };
        let waits_only = whole.is_empty() && plain.is_empty();
        let mut missing = Vec::new();
        loop {
            let Some(jobs) = self.fetch(missing, &mut fetched)? else { return Ok(false) };
            for done in self.work(whole.drain(..).chain(jobs).collect())? {
                match done {
                    Done::Encoded(chunk) => encoded.push(chunk),
                    Done::Changed(scaled, chunk) => _ = fetched.ready.insert(scaled, chunk),
                }
            }
            let attempt = if waits_only {
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

    /// Puts the elements into the chunks of which parts are written, if all of them wait or were fetched and are still what
    /// they were in the file.
    fn put_parts(
        &self,
        writer: &mut ChunkWriter,
        parts: &[Dims],
        fetched: &mut Fetched<'_, A>,
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
            // Those that were fetched are fetched anew.
            for scaled in &missing {
                fetched.ready.remove(scaled);
                if let Some(number) = fetched.watched.remove(scaled) {
                    dirty.fetched(scaled, number);
                }
            }
            return Ok(Attempt::Missing(missing));
        }
        let mut rows = Rows::default();
        for scaled in parts {
            // Of members nobody knows how many there will be.
            let written = if self.from.is_partial() { 0 } else { self.selected.count_in(scaled) };
            if let Some(chunk) = dirty.get_mut(scaled, written) {
                self.selected.put(self.source, scaled, self.from, chunk, &mut rows)?;
            } else if let Some(chunk) = fetched.ready.remove(scaled) {
                let elements = self.source.grid.region(scaled)?.element_count()?;
                // Points may name an element more than once.
                dirty.insert(scaled.clone(), chunk, elements.saturating_sub(written));
            }
        }
        std::mem::take(&mut fetched.watched)
            .iter()
            .for_each(|(scaled, number)| dirty.fetched(scaled, *number));
        Ok(Attempt::Written)
    }

    /// What the file holds of chunks; `None` if the dataset has another shape by now.
    fn fetch(&self, chunks: Vec<Dims>, fetched: &mut Fetched<'_, A>) -> Result<Option<Vec<Job>>> {
        if chunks.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let (store, source) = (self.access.store(), self.source);
        self.access.reading(|cache| {
            let places = self.access.writer(|writer, table| {
                if !Arc::ptr_eq(&writer.source, source) {
                    return Ok(None);
                }
                let mut places = Vec::new();
                for scaled in chunks {
                    let place = if table.is_empty() { None } else { table.get(store, &scaled)? };
                    fetched.watched.insert(scaled.clone(), writer.dirty.fetch(&scaled));
                    places.push((scaled, place));
                }
                Ok(Some(places))
            })?;
            let Some(places) = places.flatten() else { return Ok(None) };
            let mut jobs = Vec::with_capacity(places.len());
            for (scaled, place) in places {
                let base = match place {
                    None => Base::Nothing,
                    Some(place) => match cache.get((source.owner, place.address)) {
                        Some(chunk) => Base::Decoded(chunk),
                        None => Base::Stored(place, store.read_raw_vec(place.address, place.size)?),
                    },
                };
                jobs.push(Job::Part(scaled, base));
            }
            Ok(Some(jobs))
        })
    }

    /// Encodes whole chunks, and puts the elements into decoded ones.
    fn work(&self, jobs: Vec<Job>) -> Result<Vec<Done>> {
        let (source, store, selected, from) = (&**self.source, self.access.store(), self.selected, self.from);
        let work = |rows: &mut Rows, job: Job| {
            let (scaled, base) = match job {
                Job::Whole(scaled) => {
                    return encode_whole(source, store, selected, (scaled, from), rows).map(Done::Encoded);
                }
                Job::Part(scaled, base) => (scaled, base),
            };
            let mut chunk = match base {
                Base::Nothing => filled(source, true)?,
                Base::Decoded(chunk) => chunk.to_vec(),
                Base::Stored(place, stored) => {
                    let mut out = source.buffer(store, &place)?;
                    source.decode(store, &place, &stored, &mut out, &mut Scratch::default())?;
                    out
                }
            };
            selected.put(source, &scaled, from, &mut chunk, rows)?;
            Ok(Done::Changed(scaled, chunk))
        };
        each(jobs, source.chunk_bytes, work)
    }
}

/// Does something with many chunks, on all threads if that is worth it.
pub(super) fn each<J: Send, D: Send>(
    jobs: Vec<J>,
    chunk_bytes: usize,
    work: impl Fn(&mut Rows, J) -> Result<D> + Sync + Send,
) -> Result<Vec<D>> {
    if jobs.len() > 1 && parallel::is_worth_concurrently(jobs.len(), chunk_bytes) {
        return jobs.into_par_iter().map_init(Rows::default, work).collect();
    }
    let mut rows = Rows::default();
    jobs.into_iter().map(|job| work(&mut rows, job)).collect()
}

/// The bytes to store for a chunk all of whose elements are written.
pub(super) fn encode_whole(
    source: &ChunkedSource,
    store: &Store,
    selected: &Selected<'_>,
    (scaled, from): (Dims, &WriteSource<'_>),
    rows: &mut Rows,
) -> Result<Encoded> {
    let elements = if let Some(elements) = store::as_it_is(source, selected, &scaled, from)? {
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
    /// Stores chunks that replace all that is known of them.
    pub(super) fn store_encoded<B: AsRef<[u8]>>(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        chunks: &[(Dims, B, u32)],
    ) -> Result<()> {
        if chunks.is_empty() {
            return Ok(());
        }
        store::encoded(&self.source, writing, chunks)?;
        for (scaled, ..) in chunks {
            self.dirty.forget(scaled);
            self.dirty.outdate(scaled);
        }
        Ok(())
    }

    /// Whoever fetched chunks from the file finds out that they may be something else by now.
    pub fn outdate_fetched(&mut self) {
        self.dirty.outdate_all();
    }

    /// Bytes of chunks of which parts were written.
    pub fn dirty_bytes(&self) -> usize {
        self.dirty.bytes()
    }
}
