//! Dirty chunks: decoded chunks that were changed in memory and are not yet written.
//!
//! The table serves all chunked layouts. A flat chunk is a `Vec` of its elements; a structured
//! chunk is a [`DefinedChunk`].

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperslab_dataspace::Dims;

use super::DefinedChunk;
use crate::data::chunk_index::ChunkBox;

/// Largest number of removed dirty chunks whose memory is kept in reserve for new chunks.
const MAX_SPARE_CHUNKS: usize = 8;

/// A trait of decoded chunks that a table of dirty chunks can hold.
pub(in crate::data) trait DirtyChunk: Clone {
    /// Returns the number of bytes that the dirty chunk takes in memory.
    fn dirty_bytes(&self) -> usize;
}

impl DirtyChunk for Vec<u8> {
    fn dirty_bytes(&self) -> usize {
        self.len()
    }
}

impl DirtyChunk for DefinedChunk {
    fn dirty_bytes(&self) -> usize {
        self.memory_bytes()
    }
}

/// A table of the dirty chunks of one dataset, by their coordinates.
#[derive(Debug)]
pub(in crate::data) struct DirtyChunks<C> {
    chunks: BTreeMap<Dims, Dirty<C>>,
    bytes: usize,
    /// Bytes of the chunks that threads encode.
    encoding: usize,
    /// Bytes of the chunks that are likely to be complete, and that no thread encodes.
    complete: usize,
    /// The number of the last change of a chunk.
    changes: u64,
    /// The number of the last change before the current operation.
    before: u64,
    /// The largest number of bytes since this table was created.
    #[cfg(test)]
    peak_bytes: usize,
    /// Memory of removed chunks.
    spare: Vec<C>,
    /// Chunks that threads have read from the file and will insert, with one number for each read.
    fetched: BTreeMap<Dims, Vec<u64>>,
}

#[derive(Debug)]
struct Dirty<C> {
    /// The chunk, shared with the threads that encode it.
    chunk: Arc<C>,
    bytes: usize,
    /// The number of the last change.
    changed: u64,
    /// True if a thread encodes the chunk in its present state.
    encoding: bool,
    /// The number of elements minus the number of element writes; 0 if there were more writes.
    missing: u64,
}

impl<C> Dirty<C> {
    fn is_complete(&self) -> bool {
        self.missing == 0 && !self.encoding
    }
}

/// The choice of the dirty chunks that are due in a flush of a dataset: all chunks, the chunks that
/// lack no elements, or the least recently changed chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// All chunks.
    All,
    /// The chunks that no thread encodes and that are probably complete: at least as many elements
    /// were written as the chunk has. Further writes to these chunks are unlikely.
    Complete,
    /// The least recently changed chunks, except chunks that a thread encodes. Recently changed
    /// chunks are likely to change again.
    Oldest {
        /// Bytes of chunks that stay in memory.
        keep: usize,
    },
}

/// The memory load of a dataset's dirty chunks: the bytes of all chunks, of chunks that no thread
/// encodes, and of chunks that lack no elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::data) struct Load {
    /// The bytes of all chunks.
    pub(in crate::data) all: usize,
    /// The bytes of the chunks that no thread encodes.
    pub(in crate::data) idle: usize,
    /// The bytes of the idle chunks that are likely to be complete.
    pub(in crate::data) complete: usize,
}

/// A copy of a dirty chunk's state at one moment. A thread encodes the chunk from this copy.
pub(in crate::data) struct Snapshot<C> {
    pub(in crate::data) scaled: Dims,
    pub(in crate::data) chunk: Arc<C>,
    changed: u64,
}

impl<C> Default for DirtyChunks<C> {
    fn default() -> Self {
        Self {
            chunks: BTreeMap::new(),
            bytes: 0,
            encoding: 0,
            complete: 0,
            changes: 0,
            before: 0,
            #[cfg(test)]
            peak_bytes: 0,
            spare: Vec::new(),
            fetched: BTreeMap::new(),
        }
    }
}

impl<C: DirtyChunk> DirtyChunks<C> {
    pub(in crate::data) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the number of bytes of all dirty chunks in the table.
    pub(in crate::data) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the largest number of bytes of dirty chunks since the table of dirty chunks was
    /// created.
    #[cfg(test)]
    pub(in crate::data) fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// Returns the memory load of a dataset's dirty chunks: their bytes in each state.
    pub(in crate::data) fn load(&self) -> Load {
        let idle = self.bytes - self.encoding;
        Load { all: self.bytes, idle, complete: self.complete }
    }

    /// Begins an operation on the dirty chunks of a dataset. From then on, [`newer`](Self::newer)
    /// returns the chunks that the operation has changed, and [`older`](Self::older) returns all
    /// other dirty chunks.
    pub(in crate::data) fn begin(&mut self) {
        self.before = self.changes;
    }

    /// Inserts a dirty chunk into the table of dirty chunks. The chunk probably lacks `missing`
    /// elements, which later writes add.
    pub(in crate::data) fn insert(&mut self, scaled: Dims, chunk: C, missing: u64) {
        let bytes = chunk.dirty_bytes();
        self.bytes += bytes;
        self.changes += 1;
        let dirty = Dirty { chunk: Arc::new(chunk), bytes, changed: self.changes, encoding: false, missing };
        if dirty.is_complete() {
            self.complete += bytes;
        }
        if let Some(before) = self.chunks.insert(scaled, dirty) {
            self.count_out(&before);
        }
        #[cfg(test)]
        (self.peak_bytes = self.peak_bytes.max(self.bytes));
    }

    /// Inserts a dirty chunk into the table of dirty chunks. The chunk has `elements` elements, of
    /// which `written` elements were written.
    pub(in crate::data) fn insert_partial(&mut self, scaled: Dims, chunk: C, elements: u64, written: u64) {
        self.insert(scaled, chunk, still_missing(elements, written));
    }

    /// Removes a dirty chunk from the table of dirty chunks and returns the chunk.
    pub(in crate::data) fn remove(&mut self, scaled: &Dims) -> Option<C> {
        let dirty = self.chunks.remove(scaled)?;
        self.count_out(&dirty);
        Some(Arc::unwrap_or_clone(dirty.chunk))
    }

    /// Removes a dirty chunk from the table of dirty chunks and discards the chunk's changes.
    pub(in crate::data) fn discard(&mut self, scaled: &Dims) {
        if let Some(dirty) = self.chunks.remove(scaled) {
            self.count_out(&dirty);
        }
    }

    fn count_out(&mut self, dirty: &Dirty<C>) {
        self.bytes -= dirty.bytes;
        if dirty.encoding {
            self.encoding -= dirty.bytes;
        }
        if dirty.is_complete() {
            self.complete -= dirty.bytes;
        }
    }

    pub(in crate::data) fn contains(&self, scaled: &Dims) -> bool {
        self.chunks.contains_key(scaled)
    }

    pub(in crate::data) fn get(&self, scaled: &Dims) -> Option<&C> {
        self.chunks.get(scaled).map(|dirty| &*dirty.chunk)
    }

    /// Returns a dirty chunk without a copy of its bytes. A later change of the dirty chunk does
    /// not affect the returned state.
    pub(in crate::data) fn shared(&self, scaled: &Dims) -> Option<Arc<C>> {
        self.chunks.get(scaled).map(|dirty| Arc::clone(&dirty.chunk))
    }

    /// Returns a dirty chunk for a change that writes `written` elements. The caller does not
    /// change the size of the chunk. Threads that currently encode the chunk still use its state
    /// before the change.
    pub(in crate::data) fn get_mut(&mut self, scaled: &Dims, written: u64) -> Option<&mut C> {
        let dirty = self.chunks.get_mut(scaled)?;
        self.changes += 1;
        let was_complete = dirty.is_complete();
        if std::mem::take(&mut dirty.encoding) {
            self.encoding -= dirty.bytes;
        }
        dirty.changed = self.changes;
        dirty.missing = still_missing(dirty.missing, written);
        if dirty.is_complete() && !was_complete {
            self.complete += dirty.bytes;
        }
        Some(Arc::make_mut(&mut dirty.chunk))
    }

    /// Returns the coordinates of the dirty chunks for which `which` returns true.
    pub(in crate::data) fn coordinates(&self, which: impl Fn(&Dims) -> bool) -> Vec<Dims> {
        self.chunks.keys().filter(|scaled| which(scaled)).cloned().collect()
    }

    /// Returns the coordinates of the dirty chunks in a box of chunk coordinates.
    pub(in crate::data) fn coordinates_in(&self, chunks: &ChunkBox) -> Vec<Dims> {
        if chunks.first > chunks.last {
            return Vec::new();
        }
        let near = self.chunks.range(chunks.first.clone()..=chunks.last.clone());
        near.map(|(scaled, _)| scaled).filter(|scaled| chunks.contains(scaled)).cloned().collect()
    }

    /// Returns the coordinates of the older dirty chunks, which the current operation on the
    /// dataset has not changed.
    pub(in crate::data) fn older(&self) -> Vec<Dims> {
        self.changed(|changed| changed <= self.before)
    }

    /// Returns the coordinates of the newer dirty chunks, which the current operation on the
    /// dataset has changed.
    pub(in crate::data) fn newer(&self) -> Vec<Dims> {
        self.changed(|changed| changed > self.before)
    }

    fn changed(&self, which: impl Fn(u64) -> bool) -> Vec<Dims> {
        let wanted = self.chunks.iter().filter(|(_, dirty)| which(dirty.changed));
        wanted.map(|(scaled, _)| scaled.clone()).collect()
    }

    /// Returns the largest change number of the dirty chunks that a limited flush writes. Such a
    /// flush writes only the oldest dirty chunks, and a later change has a larger number. For an
    /// unlimited flush, returns the largest possible number.
    fn oldest(&self, due: Due) -> u64 {
        let Due::Oldest { mut keep } = due else { return u64::MAX };
        let idle = self.chunks.values().filter(|dirty| !dirty.encoding);
        let mut ages: Vec<(u64, usize)> = idle.map(|dirty| (dirty.changed, dirty.bytes)).collect();
        ages.sort_unstable_by(|one, other| other.cmp(one));
        let goes = ages.into_iter().find(|(_, bytes)| match keep.checked_sub(*bytes) {
            Some(rest) => {
                keep = rest;
                false
            }
            None => true,
        });
        goes.map_or(0, |(changed, _)| changed)
    }

    /// Returns snapshots (copies at this moment) of the dirty chunks that are due in a flush, for
    /// encoding.
    pub(in crate::data) fn snapshots(&mut self, due: Due) -> Vec<Snapshot<C>> {
        let until = self.oldest(due);
        let mut snapshots = Vec::new();
        for (scaled, dirty) in &mut self.chunks {
            let is_due = match due {
                Due::All => true,
                Due::Complete => dirty.is_complete(),
                Due::Oldest { .. } => !dirty.encoding && dirty.changed <= until,
            };
            if !is_due {
                continue;
            }
            if dirty.is_complete() {
                self.complete -= dirty.bytes;
            }
            if !std::mem::replace(&mut dirty.encoding, true) {
                self.encoding += dirty.bytes;
            }
            let chunk = Arc::clone(&dirty.chunk);
            snapshots.push(Snapshot { scaled: scaled.clone(), chunk, changed: dirty.changed });
        }
        snapshots
    }

    /// Returns whether a dirty chunk has not changed since its snapshot.
    pub(in crate::data) fn is_unchanged(&self, snapshot: &Snapshot<C>) -> bool {
        self.chunks.get(&snapshot.scaled).is_some_and(|dirty| dirty.changed == snapshot.changed)
    }

    /// Records that the thread that encoded a dirty chunk has finished.
    pub(in crate::data) fn end_encoding(&mut self, snapshot: &Snapshot<C>) {
        if let Some(dirty) = self.chunks.get_mut(&snapshot.scaled)
            && dirty.changed == snapshot.changed
            && std::mem::take(&mut dirty.encoding)
        {
            self.encoding -= dirty.bytes;
            if dirty.is_complete() {
                self.complete += dirty.bytes;
            }
        }
    }

    /// Keeps the memory of a removed dirty chunk for a new chunk, unless another thread holds the
    /// removed chunk.
    pub(in crate::data) fn keep_memory(&mut self, snapshot: Snapshot<C>) {
        if let Some(memory) = Arc::into_inner(snapshot.chunk).filter(|_| self.spare.len() < MAX_SPARE_CHUNKS)
        {
            self.spare.push(memory);
        }
    }

    /// Records that a thread begins to read a stored chunk from the file, to change the chunk.
    /// Returns a number that identifies the read.
    pub(in crate::data) fn fetch(&mut self, scaled: &Dims) -> u64 {
        self.changes += 1;
        self.fetched.entry(scaled.clone()).or_default().push(self.changes);
        self.changes
    }

    /// Records the end of a read of a stored chunk for a change. The thread has either inserted the
    /// chunk that it has read into the table of dirty chunks, or dropped it.
    pub(in crate::data) fn fetched(&mut self, scaled: &Dims, number: u64) {
        if let Some(numbers) = self.fetched.get_mut(scaled) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.fetched.remove(scaled);
            }
        }
    }

    /// Returns whether a read of a stored chunk is still current: no thread has replaced the stored
    /// chunk since the read. The given number identifies the read.
    pub(in crate::data) fn is_current(&self, scaled: &Dims, number: u64) -> bool {
        self.fetched.get(scaled).is_some_and(|numbers| numbers.contains(&number))
    }

    /// Records that a stored chunk was replaced in the file, so that earlier reads of the chunk are
    /// out of date.
    pub(in crate::data) fn outdate(&mut self, scaled: &Dims) {
        self.fetched.remove(scaled);
    }

    /// Records that each stored chunk of a dataset may have been replaced, so that all earlier
    /// reads of chunks are out of date.
    pub(in crate::data) fn outdate_all(&mut self) {
        self.fetched.clear();
    }
}

/// Returns the number of elements that a dirty chunk lacks after `written` further element writes.
/// If more elements are written than the chunk lacks, returns 0, because an element may be written
/// twice.
fn still_missing(missing: u64, written: u64) -> u64 {
    missing.saturating_sub(written)
}

impl DirtyChunks<Vec<u8>> {
    /// Returns a buffer of `length` bytes for a new dirty chunk, if possible from the memory of
    /// removed chunks. The bytes of the buffer have undefined values.
    pub(in crate::data) fn memory(&mut self, length: usize) -> Vec<u8> {
        self.spare.pop().filter(|memory| memory.len() == length).unwrap_or_else(|| vec![0; length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> Dims {
        Dims::from_slice(&[number])
    }

    #[test]
    fn a_chunk_that_is_changed_while_it_is_encoded_stays() {
        let mut dirty = DirtyChunks::<Vec<u8>>::default();
        dirty.insert(at(1), vec![1; 10], 10);
        dirty.insert(at(2), vec![2; 10], 10);
        let idle = Due::Oldest { keep: 0 };
        let [one, two] = <[Snapshot<Vec<u8>>; 2]>::try_from(dirty.snapshots(idle)).ok().unwrap();
        assert!(dirty.snapshots(idle).is_empty(), "one thread encodes each chunk");
        assert_eq!((dirty.bytes(), dirty.load().idle), (20, 0));
        assert_eq!(dirty.snapshots(Due::All).len(), 2);
        assert_eq!((dirty.bytes(), dirty.load().idle), (20, 0));
        dirty.get_mut(&at(1), 1).unwrap().fill(7);
        assert_eq!((dirty.bytes(), dirty.load().idle), (20, 10));
        assert_eq!((&*one.chunk, &*two.chunk), (&vec![1; 10], &vec![2; 10]));
        assert!(!dirty.is_unchanged(&one) && dirty.is_unchanged(&two));
        dirty.discard(&at(2));
        assert!(!dirty.is_unchanged(&two));
        assert_eq!((dirty.bytes(), dirty.load().idle), (10, 10));
        let again = dirty.snapshots(idle);
        assert_eq!((again.len(), dirty.load().idle), (1, 0));
        dirty.end_encoding(again.first().unwrap());
        assert_eq!(dirty.load().idle, 10);
        assert_eq!(dirty.snapshots(idle).len(), 1);
        // An equal chunk that replaces the old one counts as a change.
        dirty.insert(at(1), vec![7; 10], 10);
        assert!(!dirty.is_unchanged(again.first().unwrap()));
        assert_eq!(dirty.remove(&at(1)), Some(vec![7; 10]));
        assert_eq!((dirty.bytes(), dirty.load().idle), (0, 0));
    }

    #[test]
    fn the_least_recently_changed_chunks_go_first() {
        let mut dirty = DirtyChunks::<Vec<u8>>::default();
        (0..5).for_each(|number| dirty.insert(at(number), vec![0; 10], 10));
        dirty.get_mut(&at(0), 1).unwrap().fill(1);
        let names =
            |snapshots: &[Snapshot<Vec<u8>>]| snapshots.iter().map(|one| one.scaled[0]).collect::<Vec<_>>();
        assert!(dirty.snapshots(Due::Oldest { keep: 50 }).is_empty());
        assert_eq!(names(&dirty.snapshots(Due::Oldest { keep: 29 })), [1, 2, 3]);
        assert_eq!(dirty.load().idle, 20);
        // Chunks that threads encode do not count.
        assert!(dirty.snapshots(Due::Oldest { keep: 20 }).is_empty());
        assert_eq!(names(&dirty.snapshots(Due::Oldest { keep: 10 })), [4]);
        (1..5).for_each(|number| dirty.discard(&at(number)));
        assert_eq!((dirty.bytes(), dirty.load().idle), (10, 10));
        dirty.insert(at(7), vec![0; 10], 10);
        assert_eq!(names(&dirty.snapshots(Due::Oldest { keep: 10 })), [0]);
        assert_eq!(names(&dirty.snapshots(Due::All)), [0, 7]);
    }

    #[test]
    fn complete_chunks_are_known() {
        let mut dirty = DirtyChunks::<Vec<u8>>::default();
        dirty.insert(at(1), vec![1; 10], 4);
        dirty.insert(at(2), vec![2; 10], 0);
        assert_eq!(dirty.load().complete, 10);
        dirty.get_mut(&at(1), 3).unwrap().fill(3);
        assert_eq!(dirty.load().complete, 10);
        dirty.get_mut(&at(1), 3).unwrap().fill(4);
        dirty.get_mut(&at(1), 1).unwrap().fill(5);
        assert_eq!(dirty.load().complete, 20);
        let both = dirty.snapshots(Due::Complete);
        assert_eq!((both.len(), dirty.load().complete, dirty.load().idle), (2, 0, 0));
        assert!(dirty.snapshots(Due::Complete).is_empty());
        // A further change makes the chunk complete again.
        dirty.get_mut(&at(1), 1).unwrap().fill(6);
        assert_eq!((dirty.load().complete, dirty.load().idle), (10, 10));
        both.iter().for_each(|snapshot| dirty.end_encoding(snapshot));
        assert_eq!((dirty.load().complete, dirty.load().idle), (20, 20));
        dirty.discard(&at(1));
        dirty.remove(&at(2)).unwrap();
        assert_eq!((dirty.load().complete, dirty.load().idle, dirty.bytes()), (0, 0, 0));
    }

    #[test]
    fn every_read_of_a_replaced_chunk_is_outdated() {
        let mut dirty = DirtyChunks::<Vec<u8>>::default();
        let (one, other) = (dirty.fetch(&at(1)), dirty.fetch(&at(1)));
        let elsewhere = dirty.fetch(&at(2));
        dirty.outdate(&at(1));
        assert!(!dirty.is_current(&at(1), one) && dirty.is_current(&at(2), elsewhere));
        // A later read sees the new chunk, even while earlier reads are unfinished.
        let later = dirty.fetch(&at(1));
        dirty.fetched(&at(1), one);
        assert!(!dirty.is_current(&at(1), other) && dirty.is_current(&at(1), later));
        dirty.outdate_all();
        assert!(!dirty.is_current(&at(1), later) && !dirty.is_current(&at(2), elsewhere));
        assert!(dirty.fetched.is_empty());
    }

    #[test]
    fn an_operation_distinguishes_its_chunks_from_older_ones() {
        let mut dirty = DirtyChunks::<Vec<u8>>::default();
        dirty.insert(at(1), vec![1; 10], u64::MAX);
        assert_eq!((dirty.newer(), dirty.older()), (vec![at(1)], vec![]));
        dirty.begin();
        dirty.insert(at(2), vec![2; 10], u64::MAX);
        assert_eq!((dirty.newer(), dirty.older()), (vec![at(2)], vec![at(1)]));
        let chunk = dirty.remove(&at(1)).unwrap();
        dirty.insert(at(1), chunk, u64::MAX);
        assert_eq!((dirty.newer(), dirty.older()), (vec![at(1), at(2)], vec![]));
        let all = ChunkBox { first: Dims::from_slice(&[2]), last: Dims::from_slice(&[9]) };
        assert_eq!(dirty.coordinates_in(&all), [at(2)]);
        let none = ChunkBox { first: Dims::from_slice(&[9]), last: Dims::from_slice(&[2]) };
        assert!(dirty.coordinates_in(&none).is_empty());
    }
}
