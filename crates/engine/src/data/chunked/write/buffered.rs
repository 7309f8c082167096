//! Buffering of whole unfiltered chunks: buffered chunks are allocated and written together.

use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;

use super::{ChunkWriter, ChunkWriting, store};
use crate::data::chunk_index::{ChunkLocation, ChunkTable, order_of, ordered};
use crate::data::transfer::{ChunkCache, WriteSource};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store};

/// Largest number of bytes of chunks that a chunk writer buffers.
const MAX_BUFFERED_BYTES: usize = 1 << 20;

/// Size in bytes of the largest chunk that a chunk writer buffers. Writing a larger chunk directly
/// is faster than copying it.
pub(super) const MAX_BUFFERED_CHUNK_BYTES: usize = 32 << 10;

/// The buffer of a chunk writer: whole unfiltered chunks that are later written to the file
/// together.
#[derive(Debug, Default)]
pub(super) struct BufferedChunks {
    /// The chunks, whose addresses are not yet defined.
    chunks: Vec<(Dims, ChunkLocation)>,
    /// True if the chunks were not added in C order of their coordinates, or if a chunk was added
    /// twice.
    scattered: bool,
    /// The bytes of all chunks, in the order in which the chunks were added.
    bytes: Vec<u8>,
}

impl BufferedChunks {
    /// Returns the number of bytes of all chunks in the buffer of a chunk writer.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether a chunk comes after all chunks in the buffer of a chunk writer. The order is
    /// the C order of the chunk coordinates.
    fn comes_after(&self, scaled: &[u64]) -> bool {
        self.chunks.last().is_none_or(|(last, _)| **last < *scaled)
    }

    /// Adds a chunk of `size` bytes to the buffer of a chunk writer. The elements of the chunk are
    /// the first elements of the write source `from`.
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

    /// Adds a chunk to the buffer of a chunk writer, from the stored bytes of the chunk.
    fn push_stored(&mut self, scaled: Dims, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.push_place(scaled, bytes.len());
    }

    fn push_place(&mut self, scaled: Dims, size: usize) {
        let location = ChunkLocation { address: Address::UNDEFINED, size: size as u64, filter_mask: 0 };
        self.chunks.push((scaled, location));
    }
}

impl ChunkWriter {
    /// Returns whether the chunk writer can add a whole chunk to the end of its buffer of chunks.
    fn can_buffer(&self, scaled: &[u64]) -> bool {
        self.can_buffer_chunks() && !self.buffered.scattered && self.buffered.comes_after(scaled)
    }

    fn can_buffer_chunks(&self) -> bool {
        self.source.pipeline.is_empty()
            && self.dirty.bytes() == 0
            && self.source.chunk_bytes <= self.dirty_limit.min(MAX_BUFFERED_CHUNK_BYTES)
    }

    /// Adds a whole chunk to the buffer of the chunk writer. The elements of the chunk are in the
    /// write source `from`. Returns whether the buffer accepted the chunk.
    pub(super) fn buffer_chunk(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        scaled: &Dims,
        from: &WriteSource<'_>,
    ) -> Result<bool> {
        if !self.can_buffer(scaled) {
            return Ok(false);
        }
        self.flush_if_full(writing)?;
        let elements = self.source.grid.elements_per_chunk()?;
        self.buffered.push(scaled.clone(), self.source.chunk_bytes, elements, from)?;
        Ok(true)
    }

    /// Adds the stored bytes of a chunk to the buffer of the chunk writer. Returns whether the
    /// buffer accepted the chunk. The order of the chunks does not matter.
    pub(super) fn buffer_stored(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        scaled: &Dims,
        bytes: &[u8],
    ) -> Result<bool> {
        if bytes.len() != self.source.chunk_bytes || !self.can_buffer_chunks() {
            return Ok(false);
        }
        self.flush_if_full(writing)?;
        self.buffered.scattered |= !self.buffered.comes_after(scaled);
        self.buffered.push_stored(scaled.clone(), bytes);
        Ok(true)
    }

    /// Appends one chunk to a dataset: extends the dataset along dimension `axis`, up to the length
    /// `maximum`, and buffers the elements of the chunk. Returns the new length of the dimension.
    /// If this fast way is impossible, for example because the chunks are filtered, returns `None`
    /// and changes nothing.
    ///
    /// # Errors
    /// Returns errors of conversions, without a change. Returns errors of the driver.
    pub fn append_chunk(
        &mut self,
        edit: &mut Edit<'_>,
        table: &mut dyn ChunkTable,
        cache: &ChunkCache,
        (axis, maximum): (usize, u64),
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
        let fills_others = others().all(|(_, (chunk, size))| chunk == size) && length.is_multiple_of(*step);
        let longer =
            length.checked_add(*step).filter(|longer| *longer <= maximum && is_chunk && fills_others);
        let Some(longer) = longer else { return Ok(None) };
        let mut scaled = Dims::from_elem(0, chunk.len());
        if let Some(at) = scaled.get_mut(axis) {
            *at = length / step;
        }
        if !self.can_buffer(&scaled) {
            return Ok(None);
        }
        let elements = grid.elements_per_chunk()?;
        from.check(elements)?;
        self.flush_if_full(&mut ChunkWriting { edit, table, cache })?;
        self.buffered.push(scaled, self.source.chunk_bytes, elements, from)?;
        Arc::make_mut(&mut self.source).grid.set_size(axis, longer);
        Ok(Some(longer))
    }

    /// Stores the buffered chunks of a chunk writer if one more chunk would exceed the limit of the
    /// buffer.
    fn flush_if_full(&mut self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        let after = self.buffered.bytes.len() + self.source.chunk_bytes;
        if after > self.dirty_limit.min(MAX_BUFFERED_BYTES) { self.flush_buffered(writing) } else { Ok(()) }
    }

    /// Stores all buffered chunks of a chunk writer in the file.
    pub(super) fn flush_buffered(&mut self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        if self.buffered.chunks.is_empty() {
            return Ok(());
        }
        let BufferedChunks { chunks, bytes, scattered } = &mut self.buffered;
        let (store, size) = (writing.edit.store(), self.source.chunk_bytes);
        let are_new = if *scattered {
            let order = order_of(chunks);
            let mut sorted = ordered(chunks, &order);
            let are_unique = sorted.is_sorted_by(|(one, _), (other, _)| one < other);
            let are_new = are_unique && writing.table.has_none_of(store, &sorted)?;
            if are_new {
                write_chunks(writing, chunks, bytes, size)?;
                for ((_, location), number) in sorted.iter_mut().zip(order) {
                    chunks.get(number).into_iter().for_each(|(_, written)| *location = *written);
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
        self.buffered.chunks.clear();
        self.buffered.bytes.clear();
        self.buffered.scattered = false;
        Ok(())
    }

    /// Stores the buffered chunks of a chunk writer and frees the memory of the buffer.
    pub(super) fn close_buffered(&mut self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        self.flush_buffered(writing)?;
        self.buffered = BufferedChunks::default();
        Ok(())
    }

    /// Writes each buffered chunk of a chunk writer separately, because the file already has some
    /// of the chunks. These chunks keep their addresses.
    fn write_each(&self, writing: &mut ChunkWriting<'_, '_>) -> Result<()> {
        let store = writing.edit.store();
        let pieces = self.buffered.bytes.chunks_exact(self.source.chunk_bytes.max(1));
        for ((scaled, location), bytes) in self.buffered.chunks.iter().zip(pieces) {
            match writing.table.get(store, scaled)? {
                Some(before) if before.size == location.size => store.write_raw(before.address, bytes)?,
                Some(_) => {
                    let chunk = (scaled.clone(), bytes.to_vec(), 0);
                    store::encoded(&self.source, writing, &[chunk])?;
                }
                None => {
                    let address = writing.edit.allocate(SpaceKind::RawData, location.size)?;
                    store.write_raw(address, bytes)?;
                    let chunk = (scaled.clone(), ChunkLocation { address, ..*location });
                    writing.table.insert(writing.edit, &[chunk])?;
                }
            }
        }
        Ok(())
    }
}

/// Stores new unfiltered chunks, which are in C order of their coordinates, in contiguous blocks of
/// the file.
pub(super) fn write_new(
    writing: &mut ChunkWriting<'_, '_>,
    chunks: &mut [(Dims, ChunkLocation)],
    bytes: &[u8],
    size: usize,
) -> Result<()> {
    write_chunks(writing, chunks, bytes, size)?;
    writing.table.insert(writing.edit, chunks)
}

/// Writes the bytes of new unfiltered chunks to new blocks of the file, which are contiguous if
/// possible.
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

/// Writes the bytes of unfiltered chunks to blocks of the file that are already allocated.
pub(super) fn write_to(
    store: &Store,
    blocks: &[Address],
    chunks: &mut [(Dims, ChunkLocation)],
    mut bytes: &[u8],
    size: usize,
) -> Result<()> {
    chunks.iter_mut().zip(blocks).for_each(|((_, location), address)| location.address = *address);
    let contiguous = |one: &Address, other: &Address| one.checked_add(size as u64) == Some(*other);
    // Contiguous blocks are written with one call.
    for piece in blocks.chunk_by(contiguous) {
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

/// Frees allocated blocks of the file to which no chunk was written.
pub(super) fn free(edit: &mut Edit<'_>, blocks: &[Address], size: usize) -> Result<()> {
    blocks.iter().try_for_each(|address| edit.free(SpaceKind::RawData, *address, size as u64))
}
