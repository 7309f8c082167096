//! Chunks to their places in the file, and the places to the index.

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use rayon::prelude::*;

use super::super::chunk_index::ChunkLocation;
use super::super::linear_write::LinearTarget;
use super::super::origin::{Origin, Rows};
use super::super::{ChunkedSource, parallel};
use super::Writing;
use super::selected::Selected;
use crate::error::{Error, Result};
use crate::store::{SpaceKind, Store};

/// Bytes of chunks that are put together before they are written.
const STAGED: usize = 4 << 20;

/// Stores chunks that passed no filter and are not in the file yet.
pub(super) fn new_plain(
    source: &ChunkedSource,
    writing: &mut Writing<'_, '_>,
    selected: &Selected<'_>,
    chunks: &[Dims],
    from: &Origin<'_>,
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
    let places: Vec<(Dims, ChunkLocation)> = chunks.iter().zip(&blocks).map(locate).collect();
    let per_stage = (STAGED / size.max(1)).max(1);
    let stage = |buffer: &mut (Vec<u8>, Rows), places: &[(Dims, ChunkLocation)]| {
        write_stage(source, store, selected, places, from, buffer)
    };
    if parallel::is_worth((size as u64).saturating_mul(chunks.len() as u64)) {
        places.par_chunks(per_stage).try_for_each_init(Default::default, stage)?;
    } else {
        let mut buffer = Default::default();
        places.chunks(per_stage).try_for_each(|places| stage(&mut buffer, places))?;
    }
    writing.table.insert(writing.edit, &places)
}

/// Puts chunks together and writes those that lie side by side in one go.
fn write_stage(
    source: &ChunkedSource,
    store: &Store,
    selected: &Selected<'_>,
    places: &[(Dims, ChunkLocation)],
    from: &Origin<'_>,
    (buffer, rows): &mut (Vec<u8>, Rows),
) -> Result<()> {
    if let [(scaled, place)] = places
        && let Some(bytes) = as_it_is(source, selected, scaled, from)?
    {
        return store.write_raw(place.address, bytes);
    }
    let size = source.chunk_bytes;
    buffer.clear();
    buffer.resize(size.saturating_mul(places.len()), 0);
    for ((scaled, _), chunk) in places.iter().zip(buffer.chunks_exact_mut(size.max(1))) {
        let whole = selected.covers(scaled) && !source.grid.is_edge(scaled)?;
        if !whole && !source.fill.is_zero() {
            source.fill.write(chunk);
        }
        selected.put(source, scaled, from, chunk, rows)?;
    }
    let mut first = 0;
    while let Some((_, start)) = places.get(first) {
        let mut count = 1_usize;
        while let Some((_, next)) = places.get(first.saturating_add(count)) {
            let expected = start.address.raw().checked_add((count as u64).saturating_mul(size as u64));
            if expected != Some(next.address.raw()) {
                break;
            }
            count = count.saturating_add(1);
        }
        let bytes = buffer
            .get(first.saturating_mul(size)..)
            .and_then(|bytes| bytes.get(..count.saturating_mul(size)));
        store.write_raw(start.address, bytes.unwrap_or_default())?;
        first = first.saturating_add(count);
    }
    Ok(())
}

/// The bytes of a chunk, if they lie in the caller's buffer as they shall be stored.
fn as_it_is<'a>(
    source: &ChunkedSource,
    selected: &Selected<'_>,
    scaled: &Dims,
    from: &Origin<'a>,
) -> Result<Option<&'a [u8]>> {
    let Some(tiling) = selected.tiling() else { return Ok(None) };
    let pieces = tiling.pieces(scaled)?;
    let [piece] = pieces.as_slice() else { return Ok(None) };
    let Some((0, position, count)) = piece.as_run() else { return Ok(None) };
    Ok(from.as_stored(position, count).filter(|bytes| bytes.len() == source.chunk_bytes))
}

/// Changes chunks in place that passed no filter.
pub(super) fn old_plain(
    source: &ChunkedSource,
    store: &Store,
    selected: &Selected<'_>,
    chunks: &[(Dims, ChunkLocation)],
    from: &Origin<'_>,
) -> Result<()> {
    let change = |rows: &mut Rows, (scaled, place): &(Dims, ChunkLocation)| {
        if let Some(bytes) = as_it_is(source, selected, scaled, from)? {
            return store.write_raw(place.address, bytes);
        }
        if let Some(tiling) = selected.tiling() {
            return change_span(source, store, &tiling.pieces(scaled)?, place, from, rows);
        }
        let mut chunk = vec![0; source.chunk_bytes];
        store.read_raw(place.address, &mut chunk)?;
        selected.put(source, scaled, from, &mut chunk, rows)?;
        store.write_raw(place.address, &chunk)
    };
    if parallel::is_worth((chunks.len() as u64).saturating_mul(source.chunk_bytes as u64)) {
        return chunks.par_iter().try_for_each_init(Rows::default, change);
    }
    let mut rows = Rows::default();
    chunks.iter().try_for_each(|chunk| change(&mut rows, chunk))
}

/// Changes the part of a chunk from the first to the last selected element.
fn change_span(
    source: &ChunkedSource,
    store: &Store,
    pieces: &[hyperslab_dataspace::Piece],
    place: &ChunkLocation,
    from: &Origin<'_>,
    rows: &mut Rows,
) -> Result<()> {
    let first = pieces.iter().map(|piece| piece.span().0).min().unwrap_or(0);
    let end = pieces.iter().map(|piece| piece.span().1).max().unwrap_or(first);
    let selected = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.element_count()));
    let span = Span { store, place, size: source.element_size as u64 };
    let length = super::super::byte_count(end.saturating_sub(first), source.element_size, "chunk")?;
    let mut bytes = vec![0; length];
    let offset = first.saturating_mul(span.size);
    if selected != end.saturating_sub(first) || from.is_partial() {
        span.read(offset, &mut bytes)?;
    }
    for piece in pieces {
        from.put_piece(&piece.clone().from_element(first), &mut bytes, rows)?;
    }
    span.write(offset, &bytes)
}

/// A stored chunk as bytes.
struct Span<'a> {
    store: &'a Store,
    place: &'a ChunkLocation,
    size: u64,
}

impl Span<'_> {
    fn at(&self, offset: u64) -> Result<Address> {
        self.place.address.checked_add(offset).ok_or_else(|| {
            Error::corrupt("chunk index", "address", "an end inside the file", self.place.address)
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

/// Stores chunks that passed filters: in place where they take as many bytes as before.
pub(super) fn encoded(
    source: &ChunkedSource,
    writing: &mut Writing<'_, '_>,
    chunks: Vec<(Dims, Vec<u8>, u32)>,
) -> Result<()> {
    let mut places = Vec::with_capacity(chunks.len());
    for (scaled, bytes, filter_mask) in &chunks {
        let size = bytes.len() as u64;
        let before =
            if writing.table.is_empty() { None } else { writing.table.get(writing.edit.store(), scaled)? };
        if let Some(before) = &before {
            writing.cache.remove((source.owner, before.address));
        }
        let address = match before {
            Some(before) if before.size == size => before.address,
            Some(before) => {
                writing.edit.free(SpaceKind::RawData, before.address, before.size)?;
                writing.edit.allocate(SpaceKind::RawData, size)?
            }
            None => writing.edit.allocate(SpaceKind::RawData, size)?,
        };
        places.push((scaled.clone(), ChunkLocation { address, size, filter_mask: *filter_mask }));
    }
    let store = writing.edit.store();
    let all = chunks.iter().fold(0_u64, |sum, (_, bytes, _)| sum.saturating_add(bytes.len() as u64));
    let write = |((_, bytes, _), (_, place)): (&(Dims, Vec<u8>, u32), &(Dims, ChunkLocation))| {
        store.write_raw(place.address, bytes)
    };
    if parallel::is_worth(all / 4) {
        chunks.par_iter().zip(&places).try_for_each(write)?;
    } else {
        chunks.iter().zip(&places).try_for_each(write)?;
    }
    writing.table.insert(writing.edit, &places)
}
