//! The storage of written chunks: writes chunks to the file and their locations to the chunk index.

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::{ChunkPart, Dims, LinearRows};
use hyperslab_format::codec::Address;

use super::super::ChunkedSource;
use super::selected::Selected;
use super::{ChunkWriter, ChunkWriting};
use crate::data::chunk_index::ChunkLocation;
use crate::data::linear::{LinearTarget, are_far};
use crate::data::transfer::staged::{self, STAGE_BYTES, StageBuffer};
use crate::data::transfer::{WriteSource, byte_count, parallel};
use crate::error::{Error, Result};
use crate::store::{ByteRows, SpaceKind, Store};

/// Stores new chunks without filters in the file, with the selected elements of a write. All other
/// elements get the fill value.
pub(super) fn new_plain(
    source: &ChunkedSource,
    writing: &mut ChunkWriting<'_, '_>,
    selected: &Selected<'_>,
    chunks: &[Dims],
    from: &WriteSource<'_>,
) -> Result<()> {
    if chunks.is_empty() {
        return Ok(());
    }
    let size = source.chunk_bytes;
    let blocks = writing.edit.allocate_blocks(SpaceKind::RawData, size as u64, chunks.len())?;
    let store = writing.edit.store();
    let locate = |(scaled, address): (&Dims, &Address)| {
        (scaled.clone(), ChunkLocation { address: *address, size: size as u64, filter_mask: 0 })
    };
    let locations: Vec<(Dims, ChunkLocation)> = chunks.iter().zip(&blocks).map(locate).collect();
    let written = write_direct(source, store, selected, &locations, from)?;
    let places_left = locations.split_at(written).1;
    if !places_left.is_empty() {
        let per_stage = (STAGE_BYTES / size.max(1)).max(1);
        let stages: Vec<&[(Dims, ChunkLocation)]> = places_left.chunks(per_stage).collect();
        let stage = |at: usize| {
            let invariant = "each filled stage is in the list of stages";
            stages.get(at).copied().ok_or(Error::Internal { structure: "write of chunks", invariant })
        };
        let parallel = parallel::use_threads(store, parallel::chunks_bytes(places_left.len(), size));
        let fill =
            |at: usize, buffer: &mut StageBuffer| fill_stage(source, selected, stage(at)?, from, buffer);
        let write = |at: usize, buffer: &StageBuffer| {
            let mut rest = stage(at)?;
            let mut bytes = buffer.bytes(size * rest.len())?;
            while let Some((_, start)) = rest.first() {
                let count = contiguous_count(rest);
                // The buffer holds exactly the bytes of the chunks.
                let (now, after) = bytes.split_at(count * size);
                store.write_raw(start.address, now)?;
                (rest, bytes) = (rest.split_at(count).1, after);
            }
            Ok(())
        };
        staged::each(store, stages.len(), parallel, fill, write)?;
    }
    writing.table.insert(writing.edit, &locations)
}

/// Allocates new chunks without filters as zeros, so that the caller writes only the selected
/// elements.
pub(super) fn new_zeros(
    source: &ChunkedSource,
    writing: &mut ChunkWriting<'_, '_>,
    chunks: &[Dims],
) -> Result<Vec<(Dims, ChunkLocation)>> {
    if chunks.is_empty() {
        return Ok(Vec::new());
    }
    let size = source.chunk_bytes as u64;
    let blocks = writing.edit.allocate_zeroed_blocks(SpaceKind::RawData, size, chunks.len())?;
    let locate = |(scaled, address): (&Dims, Address)| {
        (scaled.clone(), ChunkLocation { address, size, filter_mask: 0 })
    };
    let locations: Vec<(Dims, ChunkLocation)> = chunks.iter().zip(blocks).map(locate).collect();
    writing.table.insert(writing.edit, &locations)?;
    Ok(locations)
}

/// Fills the buffer of one stage of a write: copies the elements of several chunks from the write
/// source into the buffer, which is then written to the file.
fn fill_stage(
    source: &ChunkedSource,
    selected: &Selected<'_>,
    locations: &[(Dims, ChunkLocation)],
    from: &WriteSource<'_>,
    buffer: &mut StageBuffer,
) -> Result<()> {
    let size = source.chunk_bytes;
    let (bytes, rows) = buffer.parts(size * locations.len());
    for ((scaled, _), chunk) in locations.iter().zip(bytes.chunks_exact_mut(size.max(1))) {
        if !selected.covers(scaled) || from.is_partial() || source.grid.is_edge(scaled)? {
            source.fill.write(chunk);
        }
        selected.put(source, scaled, from, chunk, rows)?;
    }
    Ok(())
}

/// Returns the number of leading chunks in a list of locations that are contiguous in the file.
fn contiguous_count(locations: &[(Dims, ChunkLocation)]) -> usize {
    let next = |location: &ChunkLocation| location.address.raw().checked_add(location.size);
    let pairs = locations.iter().zip(locations.iter().skip(1));
    pairs.take_while(|((_, one), (_, other))| next(one) == Some(other.address.raw())).count() + 1
}

/// Writes unfiltered chunks directly from the caller's buffer, and returns the number of written
/// chunks. Stops at the first chunk whose elements need conversion or are not contiguous in the
/// buffer. Chunks that are neighbours both in the buffer and in the file are written with one call.
fn write_direct(
    source: &ChunkedSource,
    store: &Store,
    selected: &Selected<'_>,
    locations: &[(Dims, ChunkLocation)],
    from: &WriteSource<'_>,
) -> Result<usize> {
    let mut at = 0_usize;
    while let Some(rest) = locations.get(at..).filter(|rest| !rest.is_empty()) {
        let (Some((scaled, location)), all) = (rest.first(), contiguous_count(rest)) else { break };
        let Some((position, elements)) = run_of(source, selected, scaled)? else { return Ok(at) };
        let mut count = 1_usize;
        while let Some((scaled, _)) = rest.get(count).filter(|_| count < all) {
            let next = position + elements * count as u64;
            if run_of(source, selected, scaled)? != Some((next, elements)) {
                break;
            }
            count += 1;
        }
        let elements = elements * count as u64;
        let Some(bytes) = from.as_stored(position, elements) else { return Ok(at) };
        store.write_raw(location.address, bytes)?;
        at += count;
    }
    Ok(at)
}

/// Returns the contiguous run of elements in the caller's buffer that form a whole chunk: the index
/// of the first element, and the number of elements. Returns `None` if the write replaces only part
/// of the chunk, or if the elements are not contiguous in the buffer.
fn run_of(source: &ChunkedSource, selected: &Selected<'_>, scaled: &Dims) -> Result<Option<(u64, u64)>> {
    let Some(tiling) = selected.tiling() else { return Ok(None) };
    let pieces = tiling.pieces(scaled)?;
    let [piece] = pieces.as_slice() else { return Ok(None) };
    let Some((0, position, count)) = piece.as_run() else { return Ok(None) };
    Ok((count == source.grid.elements_per_chunk()?).then_some((position, count)))
}

/// Returns the bytes of a chunk in the caller's buffer, if the buffer holds all elements of the
/// chunk in the stored form.
pub(super) fn stored_bytes<'a>(
    source: &ChunkedSource,
    selected: &Selected<'_>,
    scaled: &Dims,
    from: &WriteSource<'a>,
) -> Result<Option<&'a [u8]>> {
    let run = run_of(source, selected, scaled)?;
    Ok(run.and_then(|(position, count)| from.as_stored(position, count)))
}

/// Writes the selected elements into chunks that are already stored without filters, in place in
/// the file.
pub(super) fn old_plain(
    source: &ChunkedSource,
    store: &Store,
    selected: &Selected<'_>,
    chunks: &[(Dims, ChunkLocation)],
    from: &WriteSource<'_>,
) -> Result<()> {
    let change = |buffer: &mut StageBuffer, (scaled, location): &(Dims, ChunkLocation)| {
        if let Some(bytes) = stored_bytes(source, selected, scaled, from)? {
            return store.write_raw(location.address, bytes);
        }
        if let Some(tiling) = selected.tiling() {
            return change_span(source, store, &tiling.pieces(scaled)?, location, from, buffer);
        }
        let (chunk, rows) = buffer.parts(source.chunk_bytes);
        store.read_raw(location.address, chunk)?;
        selected.put(source, scaled, from, chunk, rows)?;
        store.write_raw(location.address, chunk)
    };
    if parallel::use_threads(store, parallel::chunks_bytes(chunks.len(), source.chunk_bytes)) {
        return store.share(|| chunks.par_iter().try_for_each_init(StageBuffer::default, change));
    }
    let mut buffer = StageBuffer::default();
    chunks.iter().try_for_each(|chunk| change(&mut buffer, chunk))
}

/// Changes the selected elements of a stored unfiltered chunk in the file. Rewrites the whole span
/// of bytes from the first to the last selected element, unless the elements are far apart.
fn change_span(
    source: &ChunkedSource,
    store: &Store,
    pieces: &[ChunkPart],
    location: &ChunkLocation,
    from: &WriteSource<'_>,
    buffer: &mut StageBuffer,
) -> Result<()> {
    let first = pieces.iter().map(|piece| piece.span().0).min().unwrap_or(0);
    let end = pieces.iter().map(|piece| piece.span().1).max().unwrap_or(first);
    let selected = pieces.iter().fold(0_u64, |sum, piece| sum + piece.element_count());
    let span = Span { store, location, size: source.element_size as u64 };
    let length = byte_count(end - first, source.element_size, "chunk")?;
    if selected != end - first && from.as_stored(0, 0).is_some() {
        let runs = pieces.iter().fold(0_u64, |sum, piece| sum + piece.runs().1);
        if are_far(runs, length as u64) {
            return write_runs(source, store, pieces, location, from);
        }
    }
    let (bytes, rows) = buffer.parts(length);
    let offset = first * span.size;
    if selected != end - first || from.is_partial() {
        span.read(offset, bytes)?;
    }
    for piece in pieces {
        from.put_piece(&piece.clone().from_element(first), bytes, rows)?;
    }
    span.write(offset, bytes)
}

/// Writes the runs of selected elements of a stored unfiltered chunk to the file. Skips the
/// elements between the runs.
fn write_runs(
    source: &ChunkedSource,
    store: &Store,
    pieces: &[ChunkPart],
    location: &ChunkLocation,
    from: &WriteSource<'_>,
) -> Result<()> {
    let size = source.element_size as u64;
    let block = (location.address, location.size);
    for piece in pieces {
        // Rows that are contiguous in the buffer, and the position of the first row.
        let mut rows: Option<(u64, LinearRows)> = None;
        let write = |(position, rows): (u64, LinearRows)| {
            let bytes = from.as_stored(position, rows.length * rows.count);
            let bytes =
                bytes.ok_or_else(|| Error::Misuse("fewer elements are given than are selected".into()))?;
            let (offset, stride) = (rows.offset * size, rows.stride * size);
            let length = byte_count(rows.length, source.element_size, "chunk")?;
            store.write_raw_rows(block, &ByteRows { offset, stride, length, bytes })
        };
        piece.for_each_run(|offset, position, length| {
            if let Some((first, rows)) = &mut rows
                && position == *first + rows.length * rows.count
                && rows.take(offset, length)
            {
                return Ok(());
            }
            let single = LinearRows { offset, stride: 0, length, count: 1 };
            rows.replace((position, single)).map_or(Ok(()), write)
        })?;
        rows.map_or(Ok(()), write)?;
    }
    Ok(())
}

/// The range of bytes of one stored unfiltered chunk in the file, into which a write stores
/// elements.
struct Span<'a> {
    store: &'a Store,
    location: &'a ChunkLocation,
    size: u64,
}

impl Span<'_> {
    fn at(&self, offset: u64) -> Result<Address> {
        self.location.address.checked_add(offset).ok_or_else(|| {
            Error::corrupt("chunk index", "address", "an end inside the file", self.location.address)
        })
    }
}

impl LinearTarget for Span<'_> {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.store.read_raw(self.at(offset)?, buffer)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.store.write_raw(self.at(offset)?, bytes)
    }
}

/// Stores the bytes of encoded chunks in the file. A chunk keeps its address if its number of bytes
/// stays the same.
pub(super) fn encoded<B: AsRef<[u8]>>(
    source: &ChunkedSource,
    writing: &mut ChunkWriting<'_, '_>,
    chunks: &[(Dims, B, u32)],
) -> Result<()> {
    let (mut locations, mut replaced) = (Vec::with_capacity(chunks.len()), Vec::new());
    for (scaled, bytes, filter_mask) in chunks {
        let size = bytes.as_ref().len() as u64;
        let before =
            if writing.table.is_empty() { None } else { writing.table.get(writing.edit.store(), scaled)? };
        if let Some(before) = &before {
            writing.cache.remove((source.owner, before.address));
        }
        let address = match before {
            // A SWMR reader must never see a mixture of two chunks.
            Some(before) if before.size == size && !writing.edit.is_swmr_writer() => before.address,
            before => {
                replaced.extend(before);
                writing.edit.allocate(SpaceKind::RawData, size)?
            }
        };
        locations.push((scaled.clone(), ChunkLocation { address, size, filter_mask: *filter_mask }));
    }
    let parts = chunks
        .iter()
        .zip(&locations)
        .map(|((_, bytes, _), (_, location))| (location.address, bytes.as_ref()));
    staged::write_joined(writing.edit.store(), parts)?;
    writing.table.insert(writing.edit, &locations)?;
    // The index no longer refers to the old chunks, so they can be freed even if a later step
    // fails.
    replaced
        .into_iter()
        .try_for_each(|location| writing.edit.free(SpaceKind::RawData, location.address, location.size))
}

impl ChunkWriter {
    /// Stores encoded chunks in the file and removes the dirty chunks with the same coordinates.
    /// Marks copies of these chunks that threads have read from the file as out of date.
    pub(super) fn store_encoded<B: AsRef<[u8]>>(
        &mut self,
        writing: &mut ChunkWriting<'_, '_>,
        chunks: &[(Dims, B, u32)],
    ) -> Result<()> {
        if chunks.is_empty() {
            return Ok(());
        }
        encoded(&self.source, writing, chunks)?;
        for (scaled, ..) in chunks {
            self.keep_growing(writing, scaled)?;
            self.dirty.discard(scaled);
            self.dirty.outdate(scaled);
        }
        Ok(())
    }

    /// Keeps the elements of a dirty chunk in the chunk cache after the chunk was stored, if the
    /// chunk gets further elements when the dataset grows. The next write does not decode the
    /// chunk.
    fn keep_growing(&self, writing: &mut ChunkWriting<'_, '_>, scaled: &Dims) -> Result<()> {
        let Some(chunk) = self.dirty.shared(scaled) else { return Ok(()) };
        // Writes change chunks without filters in the file, not in the cache.
        let source = &self.source;
        if !writing.cache.takes(chunk.len() as u64)
            || source.is_stored_plainly(scaled)?
            || !source.may_grow(scaled)?
        {
            return Ok(());
        }
        if let Some(location) = writing.table.get(writing.edit.store(), scaled)? {
            writing.cache.insert((source.owner, location.address), chunk);
        }
        Ok(())
    }
}
