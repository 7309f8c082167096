//! Whole chunks that pass no filter, each behind the one before: they wait for each other, get their room at once, and are
//! written in one piece.

use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;

use super::{ChunkWriter, ChunkWriting, store};
use crate::data::chunk_index::{ChunkLocation, ChunkTable, order_of, ordered};
use crate::data::transfer::{ChunkCache, WriteSource};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

/// Bytes that wait at most.
const WAITING: usize = 1 << 20;

/// Longer chunks are better written one by one than copied.
pub(super) const LONGEST: usize = 32 << 10;

/// The chunks that wait.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// They have no places yet.
    chunks: Vec<(Dims, ChunkLocation)>,
    /// They came in another order than the C order of their coordinates, or one of them twice.
    scattered: bool,
    /// Their bytes, one after the other.
    bytes: Vec<u8>,
}

impl Run {
    /// Bytes of all chunks.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether a chunk comes behind all that wait, in C order of the coordinates.
    fn is_behind(&self, scaled: &[u64]) -> bool {
        self.chunks.last().is_none_or(|(last, _)| **last < *scaled)
    }

    /// Takes a chunk of `size` bytes, whose elements are the first of `from`.
    fn push(&mut self, scaled: Dims, size: usize, elements: u64, from: &WriteSource<'_>) -> Result<()> {
        let before = self.bytes.len();
        if let Some(bytes) = from.as_stored(0, elements) {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.bytes.resize(before + size, 0);
            let put = from.put(0, elements, self.bytes.split_at_mut(before).1);
            if put.is_err() {
                self.bytes.truncate(before);
                return put;
            }
        }
        self.push_place(scaled, size);
        Ok(())
    }

    /// Takes a chunk as it is stored.
    fn push_stored(&mut self, scaled: Dims, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.push_place(scaled, bytes.len());
    }

    fn push_place(&mut self, scaled: Dims, size: usize) {
        let place = ChunkLocation { address: Address::UNDEFINED, size: size as u64, filter_mask: 0 };
        self.chunks.push((scaled, place));
    }
}

impl ChunkWriter {
    /// Returns whether a whole chunk, of which nothing waits yet, can wait behind those that do.
    fn may_wait(&self, scaled: &[u64]) -> bool {
        self.chunks_may_wait() && !self.run.scattered && self.run.is_behind(scaled)
    }

    fn chunks_may_wait(&self) -> bool {
        self.source.pipeline.is_empty()
            && self.dirty.bytes() == 0
            && self.source.chunk_bytes <= self.dirty_limit.min(LONGEST)
    }

    /// Takes a whole chunk that can wait, all elements of which are in `from`. Returns whether it did.
    pub(super) fn let_wait(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        scaled: &Dims,
        from: &WriteSource<'_>,
    ) -> Result<bool> {
        if !self.may_wait(scaled) {
            return Ok(false);
        }
        self.make_room(writing)?;
        let elements = self.source.grid.elements_per_chunk()?;
        self.run.push(scaled.clone(), self.source.chunk_bytes, elements, from)?;
        Ok(true)
    }

    /// As [`let_wait`](Self::let_wait), for a chunk as it is stored, which need not come behind those that wait.
    pub(super) fn let_stored_wait(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        scaled: &Dims,
        bytes: &[u8],
    ) -> Result<bool> {
        if bytes.len() != self.source.chunk_bytes || !self.chunks_may_wait() {
            return Ok(false);
        }
        self.make_room(writing)?;
        self.run.scattered |= !self.run.is_behind(scaled);
        self.run.push_stored(scaled.clone(), bytes);
        Ok(true)
    }

    /// Makes the dataset one chunk longer along a dimension, up to `most`, and takes the elements of that chunk, if there is
    /// nothing else to it: chunks pass no filter, and the dataset is one chunk wide in the other dimensions. Returns the new
    /// length if so.
    ///
    /// # Errors
    /// The errors of conversions, with nothing changed; those of the medium.
    pub fn append_chunk(
        &mut self,
        edit: &mut Edit<'_>,
        table: &mut dyn ChunkTable,
        cache: &ChunkCache,
        (axis, most): (usize, u64),
        added: &[u64],
        from: &WriteSource<'_>,
    ) -> Result<Option<u64>> {
        let grid = &self.source.grid;
        let (chunk, extent) = (grid.chunk(), grid.extent());
        let (Some(length), Some(step)) = (extent.get(axis), chunk.get(axis)) else { return Ok(None) };
        let is_chunk = added == chunk
            || (*step == 1
                && added.len().checked_add(1) == Some(chunk.len())
                && chunk.get(..axis) == added.get(..axis)
                && chunk.get(axis + 1..) == added.get(axis..));
        let others = || chunk.iter().zip(extent).enumerate().filter(|(dimension, _)| *dimension != axis);
        let is_alone = others().all(|(_, (chunk, size))| chunk == size) && length.is_multiple_of(*step);
        let longer = length.checked_add(*step).filter(|longer| *longer <= most && is_chunk && is_alone);
        let Some(longer) = longer else { return Ok(None) };
        let mut scaled = Dims::from_elem(0, chunk.len());
        if let Some(at) = scaled.get_mut(axis) {
            *at = length / step;
        }
        if !self.may_wait(&scaled) {
            return Ok(None);
        }
        let elements = grid.elements_per_chunk()?;
        from.check(elements)?;
        self.make_room(&mut ChunkWriting { edit, table, cache })?;
        self.run.push(scaled, self.source.chunk_bytes, elements, from)?;
        Arc::make_mut(&mut self.source).grid.set_size(axis, longer);
        Ok(Some(longer))
    }

    /// Sees to it that one chunk more does not make too many.
    fn make_room(&mut self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        let after = self.run.bytes.len() + self.source.chunk_bytes;
        if after > self.dirty_limit.min(WAITING) { self.settle_run(writing) } else { Ok(()) }
    }

    /// Puts the chunks that wait into the file.
    pub(super) fn settle_run(&mut self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        if self.run.chunks.is_empty() {
            return Ok(());
        }
        let Run { chunks, bytes, scattered } = &mut self.run;
        let (store, size) = (writing.edit.store(), self.source.chunk_bytes);
        let are_new = if *scattered {
            let order = order_of(chunks);
            let mut sorted = ordered(chunks, &order);
            let come_once = sorted.is_sorted_by(|(one, _), (other, _)| one < other);
            let are_new = come_once && writing.table.has_none_of(store, &sorted)?;
            if are_new {
                write_chunks(writing, chunks, bytes, size)?;
                for ((_, place), number) in sorted.iter_mut().zip(order) {
                    chunks.get(number).into_iter().for_each(|(_, written)| *place = *written);
                }
                writing.table.insert(writing.edit, &sorted)?;
            }
            are_new
        } else {
            let are_new = writing.table.has_none_of(store, chunks)?;
            if are_new {
                write_new(writing, chunks, bytes, size)?;
            }
            are_new
        };
        if !are_new {
            self.write_each(writing)?;
        }
        self.run.chunks.clear();
        self.run.bytes.clear();
        self.run.scattered = false;
        Ok(())
    }

    /// As [`settle_run`](Self::settle_run), and no memory is kept for chunks to come.
    pub(super) fn end_run(&mut self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        self.settle_run(writing)?;
        self.run = Run::default();
        Ok(())
    }

    /// Chunks of which the file has some: those stay where they are.
    fn write_each(&self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        let store = writing.edit.store();
        let pieces = self.run.bytes.chunks_exact(self.source.chunk_bytes.max(1));
        for ((scaled, place), bytes) in self.run.chunks.iter().zip(pieces) {
            match writing.table.get(store, scaled)? {
                Some(before) if before.size == place.size => store.write_raw(before.address, bytes)?,
                Some(_) => {
                    let chunk = (scaled.clone(), bytes.to_vec(), 0);
                    store::encoded(&self.source, writing, &[chunk])?;
                }
                None => {
                    let address = writing.edit.allocate(SpaceKind::RawData, place.size)?;
                    store.write_raw(address, bytes)?;
                    let chunk = (scaled.clone(), ChunkLocation { address, ..*place });
                    writing.table.insert(writing.edit, &[chunk])?;
                }
            }
        }
        Ok(())
    }
}

/// Chunks that the file does not have yet, in C order of their coordinates: side by side.
pub(super) fn write_new(
    writing: &mut ChunkWriting<'_, '_>,
    chunks: &mut [(Dims, ChunkLocation)],
    bytes: &[u8],
    size: usize,
) -> Result<()> {
    write_chunks(writing, chunks, bytes, size)?;
    writing.table.insert(writing.edit, chunks)
}

/// Chunks to new places side by side.
fn write_chunks(
    writing: &mut ChunkWriting<'_, '_>,
    chunks: &mut [(Dims, ChunkLocation)],
    bytes: &[u8],
    size: usize,
) -> Result<()> {
    let blocks = writing.edit.allocate_blocks(SpaceKind::RawData, size as u64, chunks.len())?;
    let written = write_to(writing.edit.store(), &blocks, chunks, bytes, size);
    if written.is_err() {
        free(writing.edit, &blocks, size)?;
    }
    written
}

/// Writes chunks to blocks that they have got.
pub(super) fn write_to(
    store: &Store,
    blocks: &[Address],
    chunks: &mut [(Dims, ChunkLocation)],
    mut bytes: &[u8],
    size: usize,
) -> Result<()> {
    chunks.iter_mut().zip(blocks).for_each(|((_, place), address)| place.address = *address);
    let side_by_side = |one: &Address, other: &Address| one.checked_add(size as u64) == Some(*other);
    // Those that lie side by side are written in one go.
    for piece in blocks.chunk_by(side_by_side) {
        let Some((now, rest)) = bytes.split_at_checked(piece.len() * size) else {
            return Err(Error::internal("write of chunks", "each chunk has its bytes"));
        };
        if let Some(address) = piece.first() {
            store.write_raw(*address, now)?;
        }
        bytes = rest;
    }
    Ok(())
}

/// Gives blocks back that nothing came into.
pub(super) fn free(edit: &mut Edit<'_>, blocks: &[Address], size: usize) -> Result<()> {
    blocks.iter().try_for_each(|address| edit.free(SpaceKind::RawData, *address, size as u64))
}
