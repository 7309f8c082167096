//! Chunks that go over as they are stored, filters and all.

use std::sync::Arc;

use hyperslab_dataspace::{Dims, Region};

use super::{Copier, Task};
use crate::data::ChunkedSource;
use crate::data::chunk_index::{ChunkBox, ChunkLocation};
use crate::error::Result;
use crate::ops::{DatasetWriter, OpenDataset, OpenFile};
use crate::store::{Edit, SpaceKind, Store};

/// Bytes of chunks that are in memory at once, but one chunk at least.
const BATCH_BYTES: u64 = 16 << 20;

/// Chunks that are written at once.
const BATCH: usize = 64 << 10;

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
        if stored.is_empty() {
            return Ok(());
        }
        if writer.is_laid_out_at_once() {
            // Every chunk has its place before the first of them comes.
            writer.allocate(self.target, edit)?;
        }
        let mut rest = stored.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0_u64;
            let fits = rest.iter().take(BATCH).take_while(|(_, location)| {
                bytes = bytes.saturating_add(location.size);
                bytes <= BATCH_BYTES
            });
            let count = fits.count().max(1);
            let (batch, behind) = rest.split_at(count);
            rest = behind;
            let moved = move_batch(edit, &source.container.store, &mut writer, batch)?;
            self.guide.copied(&task.path, moved);
        }
        writer.flush(self.target, edit)
    }
}

/// All stored chunks inside the extent, in C order of their coordinates.
pub(super) fn stored_chunks(store: &Store, chunks: &ChunkedSource) -> Result<Vec<(Dims, ChunkLocation)>> {
    let mut stored = Vec::new();
    let Some(index) = &chunks.index else { return Ok(stored) };
    let counts = chunks.grid.counts();
    if counts.contains(&0) {
        return Ok(stored);
    }
    let whole = Region::whole(counts);
    let last = whole.bounds().map(|(_, end)| end.saturating_sub(1)).collect();
    let all = ChunkBox { first: whole.start.clone(), last };
    index.for_each_in(store, &all, &mut |scaled, location| {
        stored.push((Dims::from_slice(scaled), location));
        Ok(())
    })?;
    stored.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(stored)
}

/// Reads chunks and writes them: neighbours in one go where they are neighbours on either side.
fn move_batch(
    edit: &mut Edit<'_>,
    from: &Store,
    writer: &mut DatasetWriter,
    batch: &[(Dims, ChunkLocation)],
) -> Result<u64> {
    let all = batch.iter().fold(0_u64, |sum, (_, location)| sum.saturating_add(location.size));
    for (_, location) in batch {
        from.check_inside(location.address, location.size, "chunk")?;
    }
    let mut buffer = vec![0; usize::try_from(all).unwrap_or(usize::MAX)];
    {
        let mut rest = buffer.as_mut_slice();
        let mut requests = Vec::with_capacity(batch.len());
        for (_, location) in batch {
            let size = usize::try_from(location.size).unwrap_or(usize::MAX).min(rest.len());
            let (piece, behind) = std::mem::take(&mut rest).split_at_mut(size);
            requests.push((location.address, piece));
            rest = behind;
        }
        requests.sort_by_key(|(address, _)| *address);
        from.read_raw_many(&mut requests)?;
    }
    let mut places = Vec::with_capacity(batch.len());
    for (scaled, location) in batch {
        let address = match writer.place_of(edit.store(), scaled)? {
            Some(place) if place.size == location.size => place.address,
            _ => edit.allocate(SpaceKind::RawData, location.size)?,
        };
        places.push((scaled.clone(), ChunkLocation { address, ..*location }));
    }
    write_runs(edit.store(), &places, &buffer)?;
    writer.adopt(edit, &places)?;
    Ok(all)
}

fn write_runs(store: &Store, places: &[(Dims, ChunkLocation)], bytes: &[u8]) -> Result<()> {
    let mut rest = bytes;
    let mut places = places.iter().map(|(_, location)| location).peekable();
    while let Some(first) = places.next() {
        let mut length = first.size;
        while let Some(next) = places.peek()
            && first.address.checked_add(length) == Some(next.address)
        {
            length = length.saturating_add(next.size);
            places.next();
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
        let (run, behind) = rest.split_at(length);
        store.write_raw(first.address, run)?;
        rest = behind;
    }
    Ok(())
}
