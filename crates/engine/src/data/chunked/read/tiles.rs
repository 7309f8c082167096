//! Reads of a selection of a chunked dataset whose dimensions are selected independently of one
//! another: the elements of each chunk form a tile (a box) of the result. Any thread can copy a
//! tile to the result.

use std::sync::Arc;

use hyperslab_dataspace::{Canvas, Dims, Region, Tile, Tiles, Tiling};
use hyperslab_exact::to_usize;
use hyperslab_format::codec::Address;

use super::super::ChunkedSource;
use super::chunk_box;
use crate::data::chunk_index::{ChunkIndex, ChunkLocation};
use crate::data::transfer::{Buffers, ReadContext, ReadTarget, Transform, parallel, sized_buffer};
use crate::error::{Error, Result};
use crate::memory::zeros;

/// Largest number of stored chunks in the list of chunks that a read of a chunked dataset collects
/// before it reads the chunks.
const LISTED_CHUNKS: usize = 64 << 10;

/// Largest number of stored bytes in a group of chunks. One thread reads a group with one request,
/// because its chunks lie close together in the file.
const GROUP_BYTES: u64 = 256 << 10;

/// Largest gap in bytes between two stored chunks that are read with one request.
const MAX_GAP_BYTES: u64 = 4 << 10;

/// Smallest length in bytes of a chunk's row of elements that is read directly into the read
/// target.
const MIN_ROW_BYTES: usize = 512;

/// A read of a regular selection of a chunked dataset. A selection is regular if it consists of all
/// combinations of the coordinates that are selected in each dimension.
pub(super) struct Regular<'a> {
    pub(super) context: ReadContext<'a>,
    pub(super) source: &'a ChunkedSource,
    pub(super) index: &'a dyn ChunkIndex,
    pub(super) tiling: &'a Tiling,
    pub(super) chunks: &'a Region,
}

/// The list of the stored chunks with selected elements that a read has found: the chunks'
/// coordinates and locations.
#[derive(Debug, Default)]
struct Listed {
    chunks: Vec<Dims>,
    locations: Vec<ChunkLocation>,
}

/// A group of stored chunks that lie close together in the file. One thread reads the chunks of a
/// group in sequence.
struct ChunkGroup<'f> {
    locations: &'f [ChunkLocation],
    /// The decoded chunk, if the cache has it. Such a group has no other chunk.
    known: Option<Arc<Vec<u8>>>,
}

impl Listed {
    fn push(&mut self, scaled: &[u64], location: ChunkLocation) {
        self.chunks.push(Dims::from_slice(scaled));
        self.locations.push(location);
    }

    /// Sorts the listed chunks in C order of their coordinates. Returns an error if a chunk occurs
    /// twice.
    fn sort(&mut self) -> Result<()> {
        if self.chunks.is_sorted_by(|one, next| one < next) {
            return Ok(());
        }
        let mut both: Vec<(Dims, ChunkLocation)> =
            std::mem::take(&mut self.chunks).into_iter().zip(std::mem::take(&mut self.locations)).collect();
        both.sort_by(|(one, _), (next, _)| one.cmp(next));
        if let Some([(scaled, location), _]) = both.array_windows().find(|[(one, _), (next, _)]| one == next)
        {
            let got = format!("chunk {:?} twice", scaled.as_slice());
            return Err(
                Error::corrupt("chunk index", "coordinates", "every chunk once", got).at(location.address)
            );
        }
        (self.chunks, self.locations) = both.into_iter().unzip();
        Ok(())
    }
}

impl Regular<'_> {
    pub(super) fn read(&self, to: &mut ReadTarget<'_>) -> Result<()> {
        if self.chunks.element_count() == Ok(1) {
            return self.read_single(to);
        }
        let count = self.wanted_chunks();
        // If the chunks are few enough to list, only the missing ones are filled.
        let mut fill_first = count.is_none() && !to.holds(&self.source.fill);
        if fill_first {
            to.fill(&self.source.fill)?;
        }
        fill_first |= to.holds(&self.source.fill);
        let transform = to.transform();
        let mut canvas = to.canvas(self.tiling)?;
        let mut listed = Listed::default();
        self.for_each_found(count, &mut |scaled, location| {
            listed.push(scaled, location);
            if listed.chunks.len() >= LISTED_CHUNKS && count.is_none() {
                self.read_listed(&mut canvas, transform, std::mem::take(&mut listed))?;
            }
            Ok(())
        })?;
        if !fill_first && count != Some(listed.chunks.len() as u64) {
            self.fill_missing(&mut canvas, transform, &listed)?;
        }
        self.read_listed(&mut canvas, transform, listed)
    }

    /// Reads the selected elements from the only chunk of the selection into the read target.
    fn read_single(&self, to: &mut ReadTarget<'_>) -> Result<()> {
        let chunk = std::slice::from_ref(&self.chunks.start);
        let transform = to.transform();
        let Some(location) = self.index.get(self.context.store, &self.chunks.start)? else {
            return to.fill(&self.source.fill);
        };
        let mut canvas = to.canvas(self.tiling)?;
        let tiles = canvas.tiles(self.tiling, chunk)?;
        let known = self.known(location.address);
        let group = ChunkGroup { locations: std::slice::from_ref(&location), known };
        self.context.with_buffers(|buffers| self.read_group(tiles, &group, transform, self.keeps(1), buffers))
    }

    /// Returns the number of chunks with selected elements, which a read needs. Returns `None` if a
    /// list of these chunks would be too long.
    fn wanted_chunks(&self) -> Option<u64> {
        let mut count = 1_u64;
        for dimension in 0..self.tiling.shape().len() {
            let numbers = self.tiling.chunk_numbers(dimension).take(LISTED_CHUNKS + 1).count() as u64;
            count = count.checked_mul(numbers).filter(|count| *count <= LISTED_CHUNKS as u64)?;
        }
        Some(count)
    }

    /// Calls a function for each stored chunk of the chunk index that contains selected elements,
    /// with the chunk's coordinates and location.
    fn for_each_found(
        &self,
        wanted: Option<u64>,
        visit: &mut dyn FnMut(&[u64], ChunkLocation) -> Result<()>,
    ) -> Result<()> {
        let store = self.context.store;
        let all = self.chunks.element_count().unwrap_or(u64::MAX);
        // Look the chunks up one by one if that is faster than a walk over the box of chunks.
        if wanted.is_some_and(|wanted| wanted == 1 || wanted < all.div_ceil(4)) {
            for scaled in self.wanted_list() {
                if let Some(location) = self.index.get(store, &scaled)? {
                    visit(&scaled, location)?;
                }
            }
            return Ok(());
        }
        self.index.for_each_in(store, &chunk_box(self.chunks), &mut |scaled, location| {
            if self.tiling.meets(scaled) { visit(scaled, location) } else { Ok(()) }
        })
    }

    /// Returns the list of the coordinates of all chunks with selected elements, in C order. A read
    /// needs these chunks.
    fn wanted_list(&self) -> Vec<Dims> {
        (0..self.tiling.shape().len()).fold(vec![Dims::new()], |starts, dimension| {
            let numbers: Vec<u64> = self.tiling.chunk_numbers(dimension).collect();
            let with = |start: &Dims, at: u64| start.iter().copied().chain([at]).collect::<Dims>();
            starts.iter().flat_map(|start| numbers.iter().map(move |at| with(start, *at))).collect()
        })
    }

    fn fill_missing(&self, canvas: &mut Canvas<'_>, transform: Transform<'_>, listed: &Listed) -> Result<()> {
        let mut stored: Vec<&Dims> = listed.chunks.iter().collect();
        stored.sort_unstable();
        let mut missing = self.wanted_list();
        missing.retain(|scaled| stored.binary_search(&scaled).is_err());
        canvas
            .tiles(self.tiling, &missing)?
            .try_for_each(|tile| transform.fill_tile(&self.source.fill, &mut tile?))
    }

    /// Reads the listed chunks and copies their selected elements to the read target.
    fn read_listed(
        &self,
        canvas: &mut Canvas<'_>,
        transform: Transform<'_>,
        mut listed: Listed,
    ) -> Result<()> {
        listed.sort()?;
        let Listed { chunks, locations } = listed;
        if self.context.store.expects_raw() {
            self.announce(canvas.tiles(self.tiling, &chunks)?, &locations)?;
        }
        let keep = self.keeps(chunks.len());
        let tiles = canvas.tiles(self.tiling, &chunks)?;
        let groups = self.groups(&locations)?;
        let groups = groups.into_iter().map(|group| (group.locations.len(), group));
        parallel::each(self.context.store, tiles, groups, self.work(chunks.len()), |tiles, group| {
            self.context.with_buffers(|buffers| self.read_group(tiles, &group, transform, keep, buffers))
        })
    }

    /// Announces to the driver the stored bytes that a read of the listed chunks needs.
    fn announce(&self, tiles: Tiles<'_>, locations: &[ChunkLocation]) -> Result<()> {
        let size = self.source.element_size as u64;
        let mut extents = Vec::with_capacity(locations.len());
        for (tile, location) in tiles.zip(locations) {
            if self.known(location.address).is_some() {
                continue;
            }
            if self.source.pipeline.is_empty() && location.size >= self.source.chunk_bytes as u64 {
                let wanted = tile?.source();
                let start = location.address.checked_add(wanted.start * size);
                extents.extend(start.map(|start| (start, (wanted.end - wanted.start) * size)));
            } else {
                extents.push((location.address, location.size));
            }
        }
        self.context.store.expect_raw(&extents);
        Ok(())
    }

    /// Returns an estimate of a read's work in bytes. If the chunks are decoded, the estimate is
    /// the size of the whole chunks. Otherwise, the estimate is a quarter of the selected bytes,
    /// because copying is faster than decoding. The estimate is zero, which keeps the read on the
    /// calling thread, if a filter does not allow several threads.
    fn work(&self, chunks: usize) -> u128 {
        if !self.source.pipeline.is_empty() {
            if !self.source.pipeline.allows_threads(&self.context.store.filters()) {
                return 0;
            }
            return parallel::chunks_bytes(chunks, self.source.chunk_bytes);
        }
        let shape = self.tiling.shape().iter();
        u128::from(shape.fold(self.source.element_size as u64, |product, size| product * *size) / 4)
    }

    /// Returns whether a read of `count` chunks keeps the decoded chunks in the chunk cache.
    fn keeps(&self, count: usize) -> bool {
        let bytes = parallel::chunks_bytes(count, self.source.chunk_bytes);
        !self.source.pipeline.is_empty() && self.context.resources.chunks.takes(bytes)
    }

    /// Divides stored chunks into groups of chunks that lie close together in the file. Limits the
    /// size of the groups, so that every thread has chunks to read.
    fn groups<'f>(&self, locations: &'f [ChunkLocation]) -> Result<Vec<ChunkGroup<'f>>> {
        let mut groups = Vec::new();
        let mut rest = locations;
        let maximum = locations.len().div_ceil(crate::store::parallel::current_num_threads() * 4);
        while let Some((first, after)) = rest.split_first() {
            if let Some(known) = self.known(first.address) {
                let (locations, after) = rest.split_at(1);
                groups.push(ChunkGroup { locations, known: Some(known) });
                rest = after;
                continue;
            }
            let mut end = end_of(first)?;
            let mut count = 1;
            for next in after.iter().take(maximum - 1) {
                let next_end = end_of(next)?;
                let near = next.address.raw().checked_sub(end).is_some_and(|gap| gap <= MAX_GAP_BYTES);
                let is_small = || next_end - first.address.raw() <= GROUP_BYTES;
                if !near || !is_small() || self.known(next.address).is_some() {
                    break;
                }
                end = next_end;
                count += 1;
            }
            let (locations, after) = rest.split_at(count);
            groups.push(ChunkGroup { locations, known: None });
            rest = after;
        }
        Ok(groups)
    }

    fn known(&self, address: Address) -> Option<Arc<Vec<u8>>> {
        let is_decoded = !self.source.pipeline.is_empty();
        is_decoded.then(|| self.context.resources.chunks.get((self.source.owner, address)))?
    }

    fn read_group(
        &self,
        mut tiles: Tiles<'_>,
        group: &ChunkGroup<'_>,
        transform: Transform<'_>,
        keep: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let [first, .., last] = group.locations else {
            let scaled = tiles.chunks().first().cloned();
            let (Some(scaled), Some(location), Some(tile)) = (scaled, group.locations.first(), tiles.next())
            else {
                return Ok(());
            };
            return match &group.known {
                Some(chunk) => transform.tile(&mut tile?, chunk, 0, &mut buffers.tiles),
                None => self.read_one(tile?, &scaled, location, transform, keep, buffers),
            };
        };
        let length = to_usize(end_of(last)? - first.address.raw())?;
        let plain = self.source.pipeline.is_empty();
        if plain
            && transform.is_copy()
            && self.run_of(group.locations) == group.locations.len()
            && let Some(slice) = tiles.as_slice().filter(|slice| slice.len() == length)
        {
            return self.context.store.read_raw(first.address, slice);
        }
        let mut fetched = std::mem::take(&mut buffers.fetched);
        let bytes = sized_buffer(&mut fetched, length)?;
        let outcome = self
            .context
            .store
            .read_raw(first.address, bytes)
            .and_then(|()| self.place_fetched(tiles, group.locations, bytes, transform, keep, buffers));
        buffers.fetched = fetched;
        outcome
    }

    /// Returns the length of the run of chunks at the start of a list of locations. Each chunk of
    /// the run is unfiltered and wholly selected, and the chunks are contiguous in the file.
    fn run_of(&self, locations: &[ChunkLocation]) -> usize {
        let size = self.source.chunk_bytes as u64;
        let mut count = 0;
        let mut next = None;
        for location in locations {
            if next.is_some_and(|next| next != location.address.raw()) || location.size < size {
                break;
            }
            next = location.address.raw().checked_add(size);
            count += 1;
        }
        count
    }

    /// Copies the selected elements of a group of fetched chunks to the read target. `bytes` holds
    /// the stored bytes of the chunks, from the first byte of the first chunk on.
    fn place_fetched(
        &self,
        tiles: Tiles<'_>,
        locations: &[ChunkLocation],
        bytes: &[u8],
        transform: Transform<'_>,
        keep: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let Some(start) = locations.first().map(|location| location.address.raw()) else { return Ok(()) };
        let (mut tiles, mut locations) = (tiles, locations);
        while let Some(location) = locations.first() {
            let count = if self.source.pipeline.is_empty() { self.run_of(locations).max(1) } else { 1 };
            let (mut now, rest) = tiles.split_at(count);
            let run = count * self.source.chunk_bytes;
            if count > 1
                && let (Some(slice), Ok(at)) = (now.as_slice(), to_usize(location.address.raw() - start))
                && let Some(run) = bytes.get(at..).and_then(|rest| rest.get(..run))
            {
                transform.run(run, slice)?;
            } else {
                for location in locations.iter().take(count) {
                    self.place_one(&mut now, location, start, bytes, transform, keep, buffers)?;
                }
            }
            (tiles, locations) = (rest, locations.split_at(count).1);
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the arguments of one call have different types")]
    fn place_one(
        &self,
        tiles: &mut Tiles<'_>,
        location: &ChunkLocation,
        start: u64,
        bytes: &[u8],
        transform: Transform<'_>,
        keep: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let Some(scaled) = tiles.chunks().first() else { return Ok(()) };
        let Some(tile) = tiles.next() else { return Ok(()) };
        let mut tile = tile?;
        let at = usize::try_from(location.address.raw() - start).ok();
        let size = usize::try_from(location.size).ok();
        let stored = at.zip(size).and_then(|(at, size)| bytes.get(at..at.checked_add(size)?));
        let invariant = "the chunks of a group lie in the bytes that were read";
        let stored = stored.ok_or(Error::Internal { structure: "read of chunks", invariant })?;
        match self.source.to_decode(scaled, location)? {
            None => transform.tile(&mut tile, stored, 0, &mut buffers.tiles),
            Some(location) => self.decode(&mut tile, &location, stored, transform, keep, buffers),
        }
    }

    /// Reads one chunk that is alone in its group, and copies its selected elements to the read
    /// target.
    fn read_one(
        &self,
        mut tile: Tile<'_>,
        scaled: &[u64],
        location: &ChunkLocation,
        transform: Transform<'_>,
        keep: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let store = self.context.store;
        if let Some(location) = &self.source.to_decode(scaled, location)? {
            if let Some(stored) = store.view_raw(location.address, location.size) {
                return self.decode(&mut tile, location, stored, transform, keep, buffers);
            }
            store.check_inside(location.address, location.size, "raw data")?;
            let length = to_usize(location.size)?;
            let mut fetched = std::mem::take(&mut buffers.fetched);
            let stored = sized_buffer(&mut fetched, length)?;
            let outcome = self
                .source
                .read_stored(store, location, stored)
                .and_then(|()| self.decode(&mut tile, location, stored, transform, keep, buffers));
            buffers.fetched = fetched;
            return outcome;
        }
        // Of unfiltered bytes, only the selected part is read.
        let wanted = tile.source();
        let size = self.source.element_size as u64;
        let length = (wanted.end - wanted.start) * size;
        let address = location
            .address
            .checked_add(wanted.start * size)
            .ok_or_else(|| Error::corrupt("chunk", "address", "an end inside the file", location.address))?;
        if let Some(bytes) = store.view_raw(address, length) {
            return transform.tile(&mut tile, bytes, wanted.start, &mut buffers.tiles);
        }
        if transform.is_copy()
            && let Some(target) = tile.as_slice()
        {
            return store.read_raw(address, target);
        }
        if transform.is_copy()
            && let Some(mut rows) = tile.as_slices(MIN_ROW_BYTES)
            && store.read_raw_parts(address, &mut rows)?
        {
            return Ok(());
        }
        store.check_inside(address, length, "raw data")?;
        let bytes = sized_buffer(&mut buffers.fetched, to_usize(length)?)?;
        store.read_raw(address, bytes)?;
        transform.tile(&mut tile, bytes, wanted.start, &mut buffers.tiles)
    }

    fn decode(
        &self,
        tile: &mut Tile<'_>,
        location: &ChunkLocation,
        stored: &[u8],
        transform: Transform<'_>,
        keep: bool,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let (store, source) = (self.context.store, self.source);
        source.check_expansion(store, location)?;
        let is_whole = tile.source() == (0..(source.chunk_bytes / source.element_size.max(1)) as u64);
        let chunks = &self.context.resources.chunks;
        let keeps = keep && self.context.resources.keeps(is_whole);
        let key = (source.owner, location.address);
        if transform.is_copy()
            && is_whole
            && let Some(target) = tile.as_slice()
        {
            source.decode(store, location, stored, target, &mut buffers.filters)?;
            if keeps {
                chunks.insert(key, Arc::new(target.to_vec()));
            }
            return Ok(());
        }
        // A chunk for the cache gets memory of its own.
        let mut memory = match keeps {
            true => zeros(source.chunk_bytes, "chunk")?,
            false => std::mem::take(&mut buffers.decoded),
        };
        let chunk = sized_buffer(&mut memory, source.chunk_bytes)?;
        let outcome = source
            .decode(store, location, stored, chunk, &mut buffers.filters)
            .and_then(|()| transform.tile(tile, chunk, 0, &mut buffers.tiles));
        if !keeps {
            buffers.decoded = memory;
        } else if outcome.is_ok() {
            chunks.insert(key, Arc::new(memory));
        }
        outcome
    }
}

fn end_of(location: &ChunkLocation) -> Result<u64> {
    location
        .address
        .get()
        .and_then(|at| at.checked_add(location.size))
        .ok_or_else(|| Error::corrupt("chunk index", "address", "an end inside the file", location.address))
}
