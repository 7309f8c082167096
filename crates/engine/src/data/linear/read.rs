//! Reads of datasets whose elements are contiguous in C order: a selection becomes requests for
//! bytes.

use hyperslab_dataspace::{Axis, Dims, LinearRun, Ordered, Selection, Tile, Tiles, Tiling, strides};

use crate::store::parallel::prelude::*;

use super::check_offsets;
use crate::data::transfer::{
    Buffers, ReadContext, ReadTarget, Transform, byte_count, parallel, sized_buffer,
};
use crate::error::{Error, Result};

/// Target size in bytes of one block of a selection. A block is read with one request from linear
/// (not chunked) storage.
const BLOCK_BYTES: u64 = 1 << 20;

/// Smallest number of bytes of unconverted elements for which a read of contiguous storage uses
/// several threads.
const MIN_PARALLEL_COPY_BYTES: u64 = 6 << 20;

/// Largest gap in bytes between two runs of selected elements that a read of linear (not chunked)
/// storage reads with one request. The request includes the gap.
const MAX_GAP_BYTES: u64 = 4 << 10;

/// Largest number of runs of selected elements that a read of linear (not chunked) storage passes
/// to the driver in one call.
const BATCH_RUNS: usize = 16 << 10;

/// Size in bytes of the largest run of selected elements that is read together with other runs in
/// one call.
const MAX_SHARED_RUN_BYTES: u64 = 32 << 10;

/// Number of runs of selected elements that one task of a thread reads from linear (not chunked)
/// storage.
const TASK_RUNS: usize = 256;

/// Largest number of tiles (blocks of a selection) that a read of linear (not chunked) storage
/// lists before it reads them.
const LISTED_TILES: usize = 16 << 10;

/// Largest number of runs of selected elements that a read of linear (not chunked) storage
/// announces to the driver.
const MAX_ANNOUNCED_RUNS: usize = 1 << 20;

/// A request to read bytes of linear (not chunked) storage: the offset from the first element, and
/// the buffer to fill.
pub(in crate::data) type ByteRequest<'a> = (u64, &'a mut [u8]);

/// A trait for reads of linear (not chunked) storage: the contiguous bytes of all elements of a
/// dataset.
pub(in crate::data) trait LinearBytes: Sync {
    /// Returns a view of the bytes of all elements in linear (not chunked) storage, if the bytes
    /// are in memory.
    fn view(&self) -> Option<&[u8]> {
        None
    }

    /// Checks that linear (not chunked) storage has `length` bytes at an offset, before a caller
    /// allocates memory for these bytes. Every offset is valid if the bytes after the end of the
    /// storage read as zeros.
    fn check(&self, offset: u64, length: usize) -> Result<()> {
        let _ = (offset, length);
        Ok(())
    }

    /// Returns whether reads of linear (not chunked) storage are faster if they are announced.
    fn expects(&self) -> bool {
        false
    }

    /// Announces later reads of linear (not chunked) storage: the offsets from the first element,
    /// and the numbers of bytes.
    fn expect(&self, extents: &[(u64, u64)]) {
        let _ = extents;
    }

    /// Fetches bytes of linear (not chunked) storage into the buffers of the requests. Overwrites
    /// the buffers.
    fn fetch(&self, requests: Vec<ByteRequest<'_>>) -> Result<()>;
}

/// Reads the selected elements of a dataset of shape `dims` from linear (not chunked) storage into
/// the read target.
pub(in crate::data) fn read(
    context: ReadContext<'_>,
    bytes: &dyn LinearBytes,
    dims: &[u64],
    selection: &Selection,
    to: &mut ReadTarget<'_>,
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    check_offsets(dims, to.transform().source_size())?;
    let size = to.transform().source_size();
    if bytes.expects() {
        let extents = announced(selection, dims, size)?;
        if extents.len() == 1 && to.transform().is_copy() && selection.linear_runs(dims)?.nth(1).is_none() {
            // One request for one run, which fills the caller's buffer.
            return read_runs(context, bytes, dims, selection, to);
        }
        bytes.expect(&extents);
    }
    if bytes.view().is_none() && is_short_run(selection, dims, size, to) {
        return read_runs(context, bytes, dims, selection, to);
    }
    if !matches!(selection, Selection::Points(_)) {
        let ordered = Ordered::new(selection, dims)?;
        if let Some(axes) = ordered.axes() {
            if axes.iter().any(Axis::is_empty) {
                return Ok(());
            }
            let block = block_shape(axes, dims, size).filter(|block| !is_by_rows(axes, block, size, to));
            if let Some(block) = block {
                let tiling = Tiling::new(axes, dims, &block)?;
                return Blocks { context, bytes, tiling, strides: strides(dims), size }.read(to);
            }
        }
    }
    read_runs(context, bytes, dims, selection, to)
}

/// Returns the extents of bytes that a read of the selection needs: the offsets from the first
/// element, and the numbers of bytes. Returns nothing if they are very many.
fn announced(selection: &Selection, dims: &[u64], size: usize) -> Result<Vec<(u64, u64)>> {
    let size = size as u64;
    let mut extents: Vec<(u64, u64)> = Vec::new();
    for (number, run) in selection.linear_runs(dims)?.enumerate() {
        if number >= MAX_ANNOUNCED_RUNS {
            return Ok(Vec::new());
        }
        let (start, length) = (run.offset * size, run.length * size);
        match extents.last_mut() {
            Some((first, bytes)) if start >= *first && start - *first <= *bytes + MAX_GAP_BYTES => {
                *bytes = (*bytes).max(start + length - *first);
            }
            _ => extents.push((start, length)),
        }
    }
    Ok(extents)
}

/// Returns whether the selection is one run of elements that needs no conversion, and that one
/// thread reads: one request then fills the caller's buffer.
fn is_short_run(selection: &Selection, dims: &[u64], size: usize, to: &ReadTarget<'_>) -> bool {
    let is_short = |run: LinearRun| run.length < MIN_PARALLEL_COPY_BYTES / (size as u64).max(1);
    to.transform().is_copy() && selection.single_run(dims).is_some_and(is_short)
}

/// Returns whether a read handles the selection row by row: each block of the selection is one
/// short run of elements, which needs no conversion. Many such runs can be read with one call.
fn is_by_rows(axes: &[Axis], block: &[u64], size: usize, to: &ReadTarget<'_>) -> bool {
    let Some((fastest, slower)) = axes.split_last() else { return false };
    let bytes = fastest.len() * size as u64;
    to.transform().is_copy()
        && fastest.block_count() == 1
        && bytes <= MAX_SHARED_RUN_BYTES
        && block.iter().take(slower.len()).all(|length| *length == 1)
        && slower.iter().any(|axis| axis.len() > 1)
}

/// Returns the shape of the blocks into which a read divides a selection. A block has about
/// [`BLOCK_BYTES`] bytes and is read as one run of bytes.
pub(in crate::data) fn block_shape(axes: &[Axis], dims: &[u64], size: usize) -> Option<Dims> {
    let mut shape = Dims::from_elem(1, dims.len());
    let fastest = dims.len().checked_sub(1);
    // The bytes between neighbours along the dimension, and the bytes up to the end of the last
    // selected neighbour.
    let (mut step, mut span) = (size as u64, size as u64);
    for (dimension, (axis, length)) in axes.iter().zip(dims).enumerate().rev() {
        let after = step - span;
        let between = if axis.block_count() > 1 { axis.stride() - axis.block_length(0) } else { 0 };
        let gap = after + between * step;
        let is_single = axis.len() == 1;
        if gap > MAX_GAP_BYTES && !is_single {
            return (Some(dimension) != fastest).then_some(shape);
        }
        let maximum = (BLOCK_BYTES / step.max(1)).max(1);
        let extent = shape.get_mut(dimension)?;
        if maximum < *length {
            *extent = maximum;
            return Some(shape);
        }
        *extent = *length;
        let (start, end) = axis.bounds()?;
        span += (end - start - 1) * step;
        step *= *length;
    }
    Some(shape)
}

/// A read of linear (not chunked) storage. The selection is divided into blocks, which are read
/// concurrently.
struct Blocks<'a> {
    context: ReadContext<'a>,
    bytes: &'a dyn LinearBytes,
    tiling: Tiling,
    strides: Dims,
    size: usize,
}

impl Blocks<'_> {
    fn read(&self, to: &mut ReadTarget<'_>) -> Result<()> {
        let transform = to.transform();
        let elements = self.tiling.shape().iter().fold(1_u64, |product, size| product * *size);
        let bytes = elements * self.size as u64;
        // Copying from the system's cache takes less time than waking other threads.
        let work = if transform.is_copy() && bytes < MIN_PARALLEL_COPY_BYTES { 0 } else { bytes };
        let mut canvas = to.canvas(&self.tiling)?;
        let mut listed = Vec::new();
        let mut flush = |listed: &mut Vec<Dims>| {
            let tiles = canvas.tiles(&self.tiling, listed)?;
            let per_task = (self.tiles_per_task(listed.len())).max(1);
            parallel::each_group(self.context.store, tiles, per_task, work, |tiles| {
                self.read_group(tiles, transform)
            })?;
            listed.clear();
            Ok::<(), Error>(())
        };
        let rank = self.strides.len();
        let mut numbers: Vec<_> = (0..rank).map(|dimension| self.tiling.chunk_numbers(dimension)).collect();
        let first: Option<Dims> = numbers.iter_mut().map(Iterator::next).collect();
        let Some(mut at) = first else { return Ok(()) };
        loop {
            listed.push(at.clone());
            if listed.len() >= LISTED_TILES {
                flush(&mut listed)?;
            }
            // Move to the next block in C order. A dimension at its end starts again.
            let mut dimension = rank;
            loop {
                let Some(slower) = dimension.checked_sub(1) else { return flush(&mut listed) };
                dimension = slower;
                let (Some(numbers), Some(extent)) = (numbers.get_mut(dimension), at.get_mut(dimension))
                else {
                    return flush(&mut listed);
                };
                if let Some(next) = numbers.next() {
                    *extent = next;
                    break;
                }
                *numbers = self.tiling.chunk_numbers(dimension);
                let restarts = || Error::internal("read of raw data", "a dimension has a first block");
                *extent = numbers.next().ok_or_else(restarts)?;
            }
        }
    }

    /// Returns the number of tiles (blocks of a selection) that one task of a thread reads. The
    /// number is large enough to keep a thread busy.
    fn tiles_per_task(&self, count: usize) -> usize {
        let elements = self.tiling.chunk().iter().fold(1_u64, |product, size| product * *size);
        let bytes = (elements * self.size as u64).max(1);
        ((BLOCK_BYTES / bytes).clamp(1, 256) as usize).min(count.div_ceil(2))
    }

    fn read_group(&self, tiles: Tiles<'_>, transform: Transform<'_>) -> Result<()> {
        self.context.with_buffers(|buffers| {
            let blocks = tiles.chunks();
            blocks
                .iter()
                .zip(tiles)
                .try_for_each(|(block, tile)| self.read_tile(block, tile?, transform, buffers))
        })
    }

    fn read_tile(
        &self,
        block: &[u64],
        mut tile: Tile<'_>,
        transform: Transform<'_>,
        buffers: &mut Buffers,
    ) -> Result<()> {
        let wanted = tile.source();
        let places = block.iter().zip(self.tiling.chunk()).zip(&self.strides);
        let before = places.fold(wanted.start, |sum, ((at, size), stride)| sum + at * *size * *stride);
        let length = byte_count(wanted.end - wanted.start, self.size, "raw data")?;
        let offset = before * self.size as u64;
        if let Some(all) = self.bytes.view() {
            let start = usize::try_from(offset).ok();
            let part = start.and_then(|start| all.get(start..start.checked_add(length)?));
            let expected = offset + length as u64;
            let short = || Error::corrupt("raw data", "size", format!("{expected} bytes"), all.len());
            return transform.tile(&mut tile, part.ok_or_else(short)?, wanted.start, &mut buffers.tiles);
        }
        if transform.is_copy()
            && let Some(extent) = tile.as_slice()
        {
            return self.bytes.fetch(vec![(offset, extent)]);
        }
        self.bytes.check(offset, length)?;
        let fetched = sized_buffer(&mut buffers.fetched, length)?;
        self.bytes.fetch(vec![(offset, &mut *fetched)])?;
        transform.tile(&mut tile, fetched, wanted.start, &mut buffers.tiles)
    }
}

/// Reads the runs of selected elements from linear (not chunked) storage in batches.
fn read_runs(
    context: ReadContext<'_>,
    bytes: &dyn LinearBytes,
    dims: &[u64],
    selection: &Selection,
    to: &mut ReadTarget<'_>,
) -> Result<()> {
    let transform = to.transform();
    let size = transform.source_size();
    let mut runs = selection.linear_runs(dims)?.peekable();
    let mut position = 0_u64;
    let mut fetched = Vec::new();
    while runs.peek().is_some() {
        let mut batch = Vec::new();
        let mut elements = 0_u64;
        while let Some(run) = runs.next_if(|run| {
            let all = (elements + run.length) * size as u64;
            batch.is_empty() || (batch.len() < BATCH_RUNS && (all <= BLOCK_BYTES || transform.is_copy()))
        }) {
            elements += run.length;
            batch.push(run);
        }
        if let ([run], false) = (batch.as_slice(), transform.is_copy()) {
            // A single run may be long, so read it in pieces.
            let mut at = run.offset;
            let end = at + run.length;
            while at < end {
                let piece = (BLOCK_BYTES / size.max(1) as u64).max(1).min(end - at);
                let length = byte_count(piece, size, "raw data")?;
                let offset = at * size as u64;
                bytes.check(offset, length)?;
                let buffer = sized_buffer(&mut fetched, length)?;
                fetch_all(context, bytes, vec![(offset, &mut *buffer)])?;
                to.put(position, buffer)?;
                position += piece;
                at += piece;
            }
            continue;
        }
        let length = byte_count(elements, size, "raw data")?;
        let buffer = match to.as_stored() {
            Some(_) => to.run(position, elements)?,
            None => sized_buffer(&mut fetched, length)?,
        };
        let mut rest = &mut *buffer;
        let mut requests = Vec::with_capacity(batch.len());
        for run in &batch {
            let Some((part, after)) = rest.split_at_mut_checked(byte_count(run.length, size, "raw data")?)
            else {
                return Err(Error::internal("read of raw data", "a batch has buffers for its runs"));
            };
            requests.push((run.offset * size as u64, part));
            rest = after;
        }
        fetch_all(context, bytes, requests)?;
        if !transform.is_copy() {
            to.put(position, fetched.split_at(length).0)?;
        }
        position += elements;
    }
    Ok(())
}

/// Fills the buffers of all read requests: copies bytes that are in memory, and otherwise reads the
/// file.
fn fetch_all(
    context: ReadContext<'_>,
    bytes: &dyn LinearBytes,
    mut requests: Vec<ByteRequest<'_>>,
) -> Result<()> {
    let Some(all) = bytes.view() else {
        let groups = requests.len() / TASK_RUNS;
        // The number of threads is asked for last, because the question starts the threads.
        if groups < 2 || !context.store.may_share() {
            return bytes.fetch(requests);
        }
        let groups = groups.min(4 * crate::store::parallel::current_num_threads());
        let each = requests.len().div_ceil(groups).max(1);
        let mut parts = Vec::with_capacity(groups);
        while requests.len() > each {
            parts.push(requests.split_off(requests.len() - each));
        }
        parts.push(requests);
        return context.store.share(|| parts.into_par_iter().rev().try_for_each(|part| bytes.fetch(part)));
    };
    for (offset, buffer) in requests {
        let start = usize::try_from(offset).ok();
        let part = start.and_then(|start| all.get(start..start.checked_add(buffer.len())?));
        let short = || Error::corrupt("raw data", "size", format!("more than {offset} bytes"), all.len());
        buffer.copy_from_slice(part.ok_or_else(short)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hyperslab_dataspace::Region;

    use super::*;

    fn shape(axes: &[(u64, u64, u64, u64)], dims: &[u64], size: usize) -> Option<Vec<u64>> {
        let axes: Vec<Axis> = axes
            .iter()
            .zip(dims)
            .map(|((start, stride, count, block), size)| {
                Axis::new(*start, *stride, *count, *block, *size, 0).unwrap()
            })
            .collect();
        block_shape(&axes, dims, size).map(|shape| shape.to_vec())
    }

    #[test]
    fn neighbouring_runs_are_announced_together() {
        let extents = |selection: Selection, dims: &[u64]| announced(&selection, dims, 4).unwrap();
        assert_eq!(extents(Selection::All, &[100, 50]), [(0, 20_000)]);
        let columns = |rows: u64, length: u64| {
            let region = Region::new(&[1, 2], &[rows, 3]).unwrap();
            extents(Selection::region(&region), &[1000, length])
        };
        // Gaps up to 4 KiB are read.
        assert_eq!(columns(3, 100), [(408, 812)]);
        assert_eq!(columns(2, 5000), [(20_008, 12), (40_008, 12)]);
        assert_eq!(extents(Selection::None, &[4]), []);
    }

    #[test]
    fn blocks_have_a_useful_size() {
        // All elements: whole rows, up to a mebibyte.
        assert_eq!(shape(&[(0, 1, 1, 8192), (0, 1, 1, 1024)], &[8192, 1024], 8), Some(vec![128, 1024]));
        // A small array is one block for all selections.
        assert_eq!(shape(&[(0, 2, 5, 1), (3, 1, 1, 2)], &[10, 10], 8), Some(vec![10, 10]));
        // A few columns of long rows: one row per block.
        assert_eq!(shape(&[(0, 1, 1, 8192), (64, 1, 1, 64)], &[8192, 8192], 8), Some(vec![1, 8192]));
        // Every second element: the block includes the elements between.
        assert_eq!(shape(&[(0, 1, 1, 64), (0, 2, 4096, 1)], &[64, 8192], 8), Some(vec![16, 8192]));
        // Elements far from each other: one element per block.
        assert_eq!(shape(&[(0, 100_000, 10, 1)], &[1_000_000], 8), None);
        // One element: the tile later cuts the block to the element.
        assert_eq!(shape(&[(77, 1, 1, 1), (5, 1, 1, 1)], &[100, 10], 4), Some(vec![100, 10]));
        assert_eq!(shape(&[], &[], 4), Some(vec![]));
        // Rows that are longer than a block.
        assert_eq!(shape(&[(0, 1, 1, 3), (0, 1, 1, 1 << 20)], &[3, 1 << 20], 4), Some(vec![1, 1 << 18]));
    }
}
