//! Writes to datasets whose elements are contiguous in C order.

use hyperslab_dataspace::{Axis, ChunkPart, Dims, LinearRuns, Ordered, Selection, Tiling, strides};
use smallvec::SmallVec;

use super::check_offsets;
use super::read::block_shape;
use crate::data::transfer::staged::{self, StageBuffer};
use crate::data::transfer::{WriteSource, byte_count, parallel};
use crate::error::{Error, Result};
use crate::memory::lengthen;
use crate::store::{ByteRows, Store};

/// Largest number of bytes that a write to linear (not chunked) storage converts together.
const BLOCK_BYTES: u64 = 1 << 20;

/// Size in bytes of the largest run of selected elements that a write copies into a buffer of its
/// own. Longer runs are written directly from the caller's buffer.
const MAX_COPIED_RUN_BYTES: usize = 16 << 10;

/// Largest average distance in bytes of runs of selected elements that are written together. The
/// write then also reads and rewrites the bytes between the runs. At larger distances, each run is
/// written separately.
const MAX_RUN_DISTANCE_BYTES: u64 = 256;

/// Largest number of blocks of a selection that a write lists before it writes them.
const LISTED_BLOCKS: usize = 16 << 10;

/// A trait for writes to the contiguous bytes of all elements of a dataset or of an unfiltered
/// chunk.
pub(in crate::data) trait LinearTarget: Sync {
    /// Reads stored bytes of linear (not chunked) storage into a buffer, from an offset on.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Writes bytes to linear (not chunked) storage, at an offset from the first element. Several
    /// threads may write different bytes at the same time.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Writes rows of bytes to linear (not chunked) storage, at their offsets from the first
    /// element.
    fn write_rows(&self, rows: &ByteRows<'_>) -> Result<()> {
        let offsets = std::iter::successors(Some(rows.offset), |offset| offset.checked_add(rows.stride));
        let mut rows = rows.bytes.chunks_exact(rows.length.max(1)).zip(offsets);
        rows.try_for_each(|(row, offset)| self.write(offset, row))
    }
}

/// Writes the selected elements of a dataset of shape `dims` to linear (not chunked) storage. The
/// caller has checked the number of elements and has locked the file.
pub(in crate::data) fn write(
    store: &Store,
    target: &dyn LinearTarget,
    dims: &[u64],
    selection: &Selection,
    from: &WriteSource<'_>,
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    check_offsets(dims, from.size())?;
    let runs = selection.linear_runs(dims)?;
    if !matches!(selection, Selection::Points(_)) && !are_written_directly(&runs, from) {
        let ordered = Ordered::new(selection, dims)?;
        if let Some(axes) = ordered.axes() {
            if axes.iter().any(Axis::is_empty) {
                return Ok(());
            }
            if let Some(block) = block_shape(axes, dims, from.size()) {
                let tiling = Tiling::new(axes, dims, &block)?;
                return Blocks { store, target, tiling, strides: strides(dims), from }.write();
            }
        }
    }
    write_runs(target, runs, from)
}

/// Returns whether runs of selected elements are written directly from the caller's buffer, each
/// with one write. This is better if the runs are long or far apart.
fn are_written_directly(runs: &LinearRuns<'_>, from: &WriteSource<'_>) -> bool {
    if let Some(spread) = runs.spread() {
        let is_far = || are_far(spread.runs, spread.span * from.size() as u64);
        return from
            .as_stored(0, spread.first)
            .is_some_and(|first| first.len() > MAX_COPIED_RUN_BYTES || is_far());
    }
    let Some(first) = runs.clone().next() else { return true };
    from.as_stored(0, first.length).is_some_and(|first| first.len() > MAX_COPIED_RUN_BYTES)
}

/// Returns whether runs of elements are far apart on average. `runs` is the number of runs, and
/// `span` is the number of bytes from the first to the last run. A write does not rewrite the bytes
/// between runs that are far apart.
pub(in crate::data) fn are_far(runs: u64, span: u64) -> bool {
    runs < span.div_ceil(MAX_RUN_DISTANCE_BYTES)
}

/// A write to linear (not chunked) storage. The selection is divided into blocks, which are written
/// concurrently.
struct Blocks<'a> {
    store: &'a Store,
    target: &'a dyn LinearTarget,
    tiling: Tiling,
    strides: Dims,
    from: &'a WriteSource<'a>,
}

/// The selected elements of one block of a write to linear (not chunked) storage.
struct SelectedBlock {
    pieces: SmallVec<[ChunkPart; 1]>,
    /// The number of the first selected element in the block.
    first: u64,
    /// The number of bytes from the first selected element to the end of the last one.
    length: usize,
    /// The offset of the first selected element in bytes from the first element of the dataset.
    offset: u64,
    /// True if unselected elements are between the selected ones.
    has_gaps: bool,
}

impl Blocks<'_> {
    fn write(&self) -> Result<()> {
        let elements = self.tiling.shape().iter().fold(1_u64, |product, size| product * *size);
        let bytes = elements * self.from.size() as u64;
        let mut blocks = self.tiling.chunk_coordinates();
        loop {
            let listed: Vec<Dims> = blocks.by_ref().take(LISTED_BLOCKS).collect();
            if listed.is_empty() {
                return Ok(());
            }
            let missing = || Error::internal("write of raw data", "each filled stage has a block");
            let block = |at: usize| self.block(listed.get(at).ok_or_else(missing)?);
            let fill = |at: usize, buffer: &mut StageBuffer| self.fill(&block(at)?, buffer);
            let write = |at: usize, buffer: &StageBuffer| {
                let block = block(at)?;
                self.target.write(block.offset, buffer.bytes(block.length)?)
            };
            staged::each(self.store, listed.len(), parallel::use_threads(self.store, bytes), fill, write)?;
        }
    }

    fn block(&self, block: &[u64]) -> Result<SelectedBlock> {
        let size = self.from.size();
        let pieces = self.tiling.pieces(block)?;
        let first = pieces.iter().map(|piece| piece.span().0).min().unwrap_or(0);
        let end = pieces.iter().map(|piece| piece.span().1).max().unwrap_or(first);
        let places = block.iter().zip(self.tiling.chunk()).zip(&self.strides);
        let before = places.fold(first, |sum, ((at, size), stride)| sum + at * *size * *stride);
        let offset = before * size as u64;
        let length = byte_count(end - first, size, "raw data")?;
        let selected = pieces.iter().fold(0_u64, |sum, piece| sum + piece.element_count());
        let has_gaps = selected != end - first;
        Ok(SelectedBlock { pieces, first, length, offset, has_gaps })
    }

    fn fill(&self, block: &SelectedBlock, buffer: &mut StageBuffer) -> Result<()> {
        let (bytes, rows) = buffer.parts(block.length);
        if block.has_gaps || self.from.is_partial() {
            self.target.read(block.offset, bytes)?;
        }
        for piece in &block.pieces {
            self.from.put_piece(&piece.clone().from_element(block.first), bytes, rows)?;
        }
        Ok(())
    }
}

/// Writes the runs of selected elements to linear (not chunked) storage one after the other.
fn write_runs(target: &dyn LinearTarget, mut runs: LinearRuns<'_>, from: &WriteSource<'_>) -> Result<()> {
    let size = from.size();
    let mut position = 0_u64;
    let mut buffer = Vec::new();
    while let Some(rows) = runs.next_rows() {
        let (offset, stride) = (rows.offset * size as u64, rows.stride * size as u64);
        if let Some(bytes) = from.as_stored(position, rows.count * rows.length) {
            let length = byte_count(rows.length, size, "raw data")?;
            target.write_rows(&ByteRows { offset, stride, length, bytes })?;
            position += rows.count * rows.length;
            continue;
        }
        for row in 0..rows.count {
            let offset = rows.offset + row * rows.stride;
            position = write_converted(target, offset..offset + rows.length, position, from, &mut buffer)?;
        }
    }
    Ok(())
}

/// Converts a run of elements piece by piece and writes each piece to linear (not chunked) storage.
/// Returns the index of the next element in the write source.
fn write_converted(
    target: &dyn LinearTarget,
    run: std::ops::Range<u64>,
    mut position: u64,
    from: &WriteSource<'_>,
    buffer: &mut Vec<u8>,
) -> Result<u64> {
    let size = from.size();
    let maximum = (BLOCK_BYTES / size.max(1) as u64).max(1);
    let mut at = run.start;
    while at < run.end {
        let count = maximum.min(run.end - at);
        buffer.clear();
        lengthen(buffer, byte_count(count, size, "raw data")?, "raw data")?;
        let offset = at * size as u64;
        if from.is_partial() {
            target.read(offset, buffer)?;
        }
        from.put(position, count, buffer)?;
        target.write(offset, buffer)?;
        position += count;
        at += count;
    }
    Ok(position)
}
