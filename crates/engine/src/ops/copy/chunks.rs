//! Copies of encoded chunks.

use std::sync::Arc;

use hyperslab_dataspace::{Dims, Region};
use hyperslab_exact::{to_u64, to_usize};
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::message::Layout;

use super::{Copier, Task};
use crate::data::chunk_index::{ChunkBox, ChunkLocation};
use crate::data::chunked::ChunkedSource;
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::object::dataset::{DatasetDescription, Filters};
use crate::ops::{DatasetWriter, OpenDataset, OpenFile};
use crate::store::{Edit, SpaceKind, Store};

/// Largest number of bytes of chunks that a copy of a dataset holds in memory. A single chunk may
/// be larger.
const BATCH_BYTES: u64 = 16 << 20;

/// Largest number of chunks in one batch of a dataset's copy.
const BATCH_CHUNKS: usize = 64 << 10;

impl Copier<'_> {
    pub(super) fn copy_chunks(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        dataset: &OpenDataset,
        mut writer: DatasetWriter,
        task: &Task,
    ) -> Result<()> {
        let Some(chunks) = dataset.chunks(source)? else { return Ok(()) };
        let stored = stored_chunks(&source.container.store, &chunks)?;
        let sound = self.sound_chunks(source, &chunks, stored, task)?;
        if sound.chunks.is_empty() {
            return Ok(());
        }
        if writer.is_laid_out_at_once() {
            // All chunks of an implicit index are allocated before the first chunk is written.
            writer.allocate(self.target.writer_context(), edit)?;
        }
        let from = &source.container.store;
        let mut short = Vec::new();
        let mut whole = Vec::with_capacity(sound.chunks.len());
        for (scaled, location) in sound.chunks {
            let is_short = sound.short.contains(&scaled)
                || (location.size < chunks.chunk_bytes as u64 && chunks.is_plain(&scaled, &location)?);
            if is_short { &mut short } else { &mut whole }.push((scaled, location));
        }
        for (scaled, location) in short {
            let size = copy_whole(edit, from, &chunks, &mut writer, &scaled, &location)?;
            self.guide.copied(&task.path, size);
        }
        for batch in batches(&whole, |location| location.size) {
            let moved = copy_batch(edit, from, &mut writer, batch)?;
            self.guide.copied(&task.path, moved);
        }
        writer.flush(self.target.writer_context(), edit)
    }
}

/// Copies a chunk of a dataset that decodes to too few bytes. The copy is a whole chunk, in which
/// the missing elements have the fill value. Returns the number of written bytes.
///
/// # Errors
/// Returns filter and I/O errors.
fn copy_whole(
    edit: &mut Edit<'_>,
    from: &Store,
    chunks: &ChunkedSource,
    writer: &mut DatasetWriter,
    scaled: &Dims,
    location: &ChunkLocation,
) -> Result<u64> {
    let elements = chunks.chunk(from, scaled, location)?;
    let (bytes, filter_mask) = if chunks.is_plain(scaled, location)? {
        (elements, location.filter_mask)
    } else {
        chunks.encode(from, location.address, elements)?
    };
    let size = to_u64(bytes.len());
    let address = match writer.location_of(edit.store(), scaled)? {
        Some(reserved) if reserved.size == size => reserved.address,
        _ => edit.allocate(SpaceKind::RawData, size)?,
    };
    edit.store().write_raw(address, &bytes)?;
    let copied = ChunkLocation { address, size, filter_mask };
    writer.adopt(edit, &[(scaled.clone(), copied)])?;
    Ok(size)
}

/// Returns all stored chunks inside the shape of a dataset, in C order of their coordinates.
///
/// # Errors
/// Returns an error if the index is damaged.
pub(super) fn stored_chunks(store: &Store, chunks: &ChunkedSource) -> Result<Vec<(Dims, ChunkLocation)>> {
    let mut stored = Vec::new();
    let Some(index) = &chunks.index else { return Ok(stored) };
    let counts = chunks.grid.counts();
    if counts.contains(&0) {
        return Ok(stored);
    }
    let whole = Region::whole(counts);
    let last = whole.bounds().map(|(_, end)| end - 1).collect();
    let all = ChunkBox { first: whole.start.clone(), last };
    index.for_each_in(store, &all, &mut |scaled, location| {
        stored.push((Dims::from_slice(scaled), location));
        Ok(())
    })?;
    stored.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(stored)
}

/// Divides the chunks to copy into batches of at most [`BATCH_BYTES`] bytes, or of one larger
/// chunk. `bytes_of` counts the bytes of a chunk.
pub(super) fn batches<L>(
    chunks: &[(Dims, L)],
    bytes_of: impl Fn(&L) -> u64,
) -> impl Iterator<Item = &[(Dims, L)]> {
    let mut rest = chunks;
    std::iter::from_fn(move || {
        let mut remaining = Some(BATCH_BYTES);
        let fits = rest.iter().take(BATCH_CHUNKS).take_while(|(_, location)| {
            remaining = remaining.and_then(|remaining| remaining.checked_sub(bytes_of(location)));
            remaining.is_some()
        });
        let count = fits.count().max(1).min(rest.len());
        let (batch, remaining) = rest.split_at(count);
        rest = remaining;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Copies a batch of stored chunks to the target dataset. Reads and writes adjacent chunks
/// together. Returns the number of copied bytes.
///
/// # Errors
/// Returns I/O errors and the errors of the index.
fn copy_batch(
    edit: &mut Edit<'_>,
    from: &Store,
    writer: &mut DatasetWriter,
    batch: &[(Dims, ChunkLocation)],
) -> Result<u64> {
    let stored: Vec<(Address, u64)> =
        batch.iter().map(|(_, location)| (location.address, location.size)).collect();
    let bytes = read_batch(from, &stored)?;
    let mut locations = Vec::with_capacity(batch.len());
    for (scaled, location) in batch {
        let address = match writer.location_of(edit.store(), scaled)? {
            Some(reserved) if reserved.size == location.size => reserved.address,
            _ => edit.allocate(SpaceKind::RawData, location.size)?,
        };
        locations.push((scaled.clone(), ChunkLocation { address, ..*location }));
    }
    write_runs(
        edit.store(),
        locations.iter().map(|(_, location)| (location.address, location.size)),
        &bytes,
    )?;
    writer.adopt(edit, &locations)?;
    Ok(bytes.len() as u64)
}

/// Returns the concatenated stored bytes of chunks, each given by its address and size.
///
/// # Errors
/// Returns [`Error::Corrupt`] if a chunk lies outside the file, [`Error::Memory`] if memory is
/// short, and I/O errors.
pub(super) fn read_batch(from: &Store, chunks: &[(Address, u64)]) -> Result<Vec<u8>> {
    for (address, size) in chunks {
        from.check_inside(*address, *size, "chunk")?;
    }
    let all = hyperslab_exact::sum("bytes of chunks", chunks.iter().map(|(_, size)| *size));
    let all = all.map_err(|_| Error::internal("chunks to copy", "a batch fits in 64 bits"))?;
    let mut buffer = zeros(to_usize(all)?, "chunks to copy")?;
    let mut rest = buffer.as_mut_slice();
    let mut requests = Vec::with_capacity(chunks.len());
    for (address, size) in chunks {
        let parts = std::mem::take(&mut rest).split_at_mut_checked(to_usize(*size)?);
        let (chunk, remaining) = parts.ok_or_else(other_size)?;
        requests.push((*address, chunk));
        rest = remaining;
    }
    requests.sort_by_key(|(address, _)| *address);
    from.read_raw_many(&mut requests)?;
    Ok(buffer)
}

/// Writes the concatenated stored bytes of chunks to the addresses of the chunks. Writes each run
/// of adjacent chunks at once.
///
/// # Errors
/// Returns [`Error::Internal`] if `bytes` and the sizes of the chunks differ, and I/O errors.
pub(super) fn write_runs(
    store: &Store,
    locations: impl Iterator<Item = (Address, u64)>,
    bytes: &[u8],
) -> Result<()> {
    let mut rest = bytes;
    let mut locations = locations.peekable();
    while let Some((start, mut length)) = locations.next() {
        while let Some((next, more)) = locations.peek()
            && start.checked_add(length) == Some(*next)
        {
            length = length.checked_add(*more).ok_or_else(other_size)?;
            locations.next();
        }
        let (run, remaining) = rest.split_at_checked(to_usize(length)?).ok_or_else(other_size)?;
        store.write_raw(start, run)?;
        rest = remaining;
    }
    Ok(())
}

fn other_size() -> Error {
    Error::internal("chunks to copy", "the bytes are those of all chunks")
}

/// Returns whether a dataset and its copy have the same chunk shape and the same filters, also for
/// the chunks at the edges.
pub(super) fn same_chunks(before: &DatasetDescription, after: &DatasetDescription) -> bool {
    let (Layout::Chunked(from), Layout::Chunked(to)) = (&before.layout.layout, &after.layout.layout) else {
        return false;
    };
    let filters = match (&before.filters, &after.filters) {
        (Filters::Chunk(from), Filters::Chunk(to)) => same_filters(from, to),
        _ => false,
    };
    from.dims == to.dims && filters && from.leaves_edges_unfiltered() == to.leaves_edges_unfiltered()
}

/// Returns whether two filter pipelines encode with the same filters and parameters.
pub(super) fn same_filters(from: &Pipeline, to: &Pipeline) -> bool {
    from.stages.len() == to.stages.len()
        && from
            .stages
            .iter()
            .zip(&to.stages)
            .all(|(from, to)| from.id == to.id && from.client_data == to.client_data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_at_most_their_bytes_or_one_chunk() {
        let lengths = |sizes: &[u64]| -> Vec<usize> {
            let chunks: Vec<(Dims, u64)> = sizes.iter().map(|size| (Dims::new(), *size)).collect();
            batches(&chunks, |size| *size).map(<[_]>::len).collect()
        };
        let half = BATCH_BYTES / 2;
        assert_eq!(lengths(&[half, half, 1]), [2, 1]);
        assert_eq!(lengths(&[half, half + 1, 1]), [1, 2]);
        assert_eq!(lengths(&[u64::MAX, u64::MAX, 0]), [1, 1, 1]);
        assert!(lengths(&[]).is_empty());
    }
}
