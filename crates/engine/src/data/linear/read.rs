//! Reads of elements that lie side by side in C order: a selection of them becomes requests for bytes.

use hyperslab_dataspace::{Axis, Dims, Ordered, Selection, Tile, Tiles, Tiling, strides};

use crate::store::parallel::prelude::*;

use super::check_offsets;
use crate::data::transfer::{ReadContext, ReadTarget, Room, Transform, byte_count, parallel, room_of};
use crate::error::{Error, Result};

/// Bytes that are read in one go where more than they are wanted.
const BLOCK: u64 = 1 << 20;

/// Fewer bytes that go as they are stored are not worth other threads.
const ALONE: u64 = 6 << 20;

/// Bytes that are rather read than skipped.
const GAP: u64 = 4 << 10;

/// Runs fetched with one call of the driver.
const BATCH: usize = 16 << 10;

/// Bytes of a run up to which it is asked for with others.
const SHORT: u64 = 32 << 10;

/// Runs that are worth another thread.
const PER_TASK: usize = 256;

/// Tiles that are listed at once.
const LISTED: usize = 16 << 10;

/// Bytes from the first element on, and the buffer they go to.
pub(in crate::data) type Request<'a> = (u64, &'a mut [u8]);

/// The elements of a dataset as one row of bytes.
pub(in crate::data) trait LinearBytes: Sync {
    /// All bytes, where they are in memory.
    fn view(&self) -> Option<&[u8]> {
        None
    }

    /// That so many bytes from an offset on are there, before memory is taken for them. Nothing is checked for files
    /// that read as zeros behind their end.
    fn check(&self, offset: u64, length: usize) -> Result<()> {
        let _ = (offset, length);
        Ok(())
    }

    /// Fills buffers with the bytes from each offset on. A buffer may hold anything before.
    fn fetch(&self, requests: Vec<Request<'_>>) -> Result<()>;
}

/// Reads the selected elements of an array of that shape.
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

/// Returns whether blocks are single short runs that go as they are: then many are asked for at once.
fn is_by_rows(axes: &[Axis], block: &[u64], size: usize, to: &ReadTarget<'_>) -> bool {
    let Some((fastest, slower)) = axes.split_last() else { return false };
    let bytes = fastest.len() * size as u64;
    to.transform().is_copy()
        && fastest.block_count() == 1
        && bytes <= SHORT
        && block.iter().take(slower.len()).all(|length| *length == 1)
        && slower.iter().any(|axis| axis.len() > 1)
}

/// The shape of blocks that are each one stretch of bytes, as long as it is worth while; `None` if elements lie so
/// far apart that each is better read alone.
pub(in crate::data) fn block_shape(axes: &[Axis], dims: &[u64], size: usize) -> Option<Dims> {
    let mut shape = Dims::from_elem(1, dims.len());
    let fastest = dims.len().checked_sub(1);
    // Bytes between neighbours along the dimension, and those of them that reach to the last selected one.
    let (mut step, mut span) = (size as u64, size as u64);
    for (dimension, (axis, length)) in axes.iter().zip(dims).enumerate().rev() {
        let behind = step - span;
        let apart = if axis.block_count() > 1 { axis.stride() - axis.block_length(0) } else { 0 };
        let gap = behind + apart * step;
        let alone = axis.len() == 1;
        if gap > GAP && !alone {
            return (Some(dimension) != fastest).then_some(shape);
        }
        let most = (BLOCK / step.max(1)).max(1);
        let place = shape.get_mut(dimension)?;
        if most < *length {
            *place = most;
            return Some(shape);
        }
        *place = *length;
        let (start, end) = axis.bounds()?;
        span += (end - start - 1) * step;
        step *= *length;
    }
    Some(shape)
}

/// A selection cut into blocks.
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
        // To the cache of the system, one thread is faster than the others wake up.
        let work = if transform.is_copy() && bytes < ALONE { 0 } else { bytes };
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
            if listed.len() >= LISTED {
                flush(&mut listed)?;
            }
            // The next block in C order: dimensions whose numbers are at an end begin anew.
            let mut dimension = rank;
            loop {
                let Some(slower) = dimension.checked_sub(1) else { return flush(&mut listed) };
                dimension = slower;
                let (Some(number), Some(place)) = (numbers.get_mut(dimension), at.get_mut(dimension)) else {
                    return flush(&mut listed);
                };
                if let Some(next) = number.next() {
                    *place = next;
                    break;
                }
                *number = self.tiling.chunk_numbers(dimension);
                *place = number.next().unwrap_or(0);
            }
        }
    }

    /// So many that a task is worth being given to a thread.
    fn tiles_per_task(&self, count: usize) -> usize {
        let elements = self.tiling.chunk().iter().fold(1_u64, |product, size| product * *size);
        let bytes = (elements * self.size as u64).max(1);
        ((BLOCK / bytes).clamp(1, 256) as usize).min(count.div_ceil(2))
    }

    fn read_group(&self, tiles: Tiles<'_>, transform: Transform<'_>) -> Result<()> {
        self.context.in_room(|room| {
            let blocks = tiles.chunks();
            blocks
                .iter()
                .zip(tiles)
                .try_for_each(|(block, tile)| self.read_tile(block, tile?, transform, room))
        })
    }

    fn read_tile(
        &self,
        block: &[u64],
        mut tile: Tile<'_>,
        transform: Transform<'_>,
        room: &mut Room,
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
            return transform.tile(&mut tile, part.ok_or_else(short)?, wanted.start, &mut room.tiles);
        }
        if transform.is_copy()
            && let Some(place) = tile.as_slice()
        {
            return self.bytes.fetch(vec![(offset, place)]);
        }
        self.bytes.check(offset, length)?;
        let fetched = room_of(&mut room.fetched, length)?;
        self.bytes.fetch(vec![(offset, &mut *fetched)])?;
        transform.tile(&mut tile, fetched, wanted.start, &mut room.tiles)
    }
}

/// Reads the runs of a selection one after the other, batch by batch.
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
            batch.is_empty() || (batch.len() < BATCH && (all <= BLOCK || transform.is_copy()))
        }) {
            elements += run.length;
            batch.push(run);
        }
        if let ([run], false) = (batch.as_slice(), transform.is_copy()) {
            // A single run may be long: piece by piece then.
            let mut at = run.offset;
            let end = at + run.length;
            while at < end {
                let piece = (BLOCK / size.max(1) as u64).max(1).min(end - at);
                let length = byte_count(piece, size, "raw data")?;
                let offset = at * size as u64;
                bytes.check(offset, length)?;
                let buffer = room_of(&mut fetched, length)?;
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
            None => room_of(&mut fetched, length)?,
        };
        let mut rest = &mut *buffer;
        let mut requests = Vec::with_capacity(batch.len());
        for run in &batch {
            let Some((part, behind)) = rest.split_at_mut_checked(byte_count(run.length, size, "raw data")?)
            else {
                return Err(Error::internal("read of raw data", "a batch has room for its runs"));
            };
            requests.push((run.offset * size as u64, part));
            rest = behind;
        }
        fetch_all(context, bytes, requests)?;
        if !transform.is_copy() {
            to.put(position, fetched.split_at(length).0)?;
        }
        position += elements;
    }
    Ok(())
}

/// Copies what is in memory, and fetches the rest.
fn fetch_all(
    context: ReadContext<'_>,
    bytes: &dyn LinearBytes,
    mut requests: Vec<Request<'_>>,
) -> Result<()> {
    let Some(all) = bytes.view() else {
        let groups = (requests.len() / PER_TASK).min(4 * crate::store::parallel::current_num_threads());
        if groups < 2 || !context.store.may_share() {
            return bytes.fetch(requests);
        }
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
    fn blocks_are_as_large_as_worth_while() {
        // All of it: rows up to a mebibyte.
        assert_eq!(shape(&[(0, 1, 1, 8192), (0, 1, 1, 1024)], &[8192, 1024], 8), Some(vec![128, 1024]));
        // Small arrays at once, whatever is selected.
        assert_eq!(shape(&[(0, 2, 5, 1), (3, 1, 1, 2)], &[10, 10], 8), Some(vec![10, 10]));
        // Few columns of long rows: row by row.
        assert_eq!(shape(&[(0, 1, 1, 8192), (64, 1, 1, 64)], &[8192, 8192], 8), Some(vec![1, 8192]));
        // Every second element: with what is between.
        assert_eq!(shape(&[(0, 1, 1, 64), (0, 2, 4096, 1)], &[64, 8192], 8), Some(vec![16, 8192]));
        // Elements far from each other: each alone.
        assert_eq!(shape(&[(0, 100_000, 10, 1)], &[1_000_000], 8), None);
        // One element: its block is cut to it later.
        assert_eq!(shape(&[(77, 1, 1, 1), (5, 1, 1, 1)], &[100, 10], 4), Some(vec![100, 10]));
        assert_eq!(shape(&[], &[], 4), Some(vec![]));
        // Rows longer than a block.
        assert_eq!(shape(&[(0, 1, 1, 3), (0, 1, 1, 1 << 20)], &[3, 1 << 20], 4), Some(vec![1, 1 << 18]));
    }
}
