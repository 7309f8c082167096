//! Elements side by side in C order: how a selection of them is written.

use hyperslab_dataspace::{Axis, Dims, Ordered, Piece, Selection, Tiling, strides};
use smallvec::SmallVec;

use super::linear::block_shape;
use super::origin::Origin;
use super::staged::{self, Room};
use super::{byte_count, parallel};
use crate::error::Result;
use crate::store::Store;

/// Bytes that are converted at once.
const BLOCK: u64 = 1 << 20;

/// Bytes side by side that are written as they lie in the caller's buffer.
const DIRECT: usize = 16 << 10;

/// Blocks that are listed at once.
const LISTED: usize = 16 << 10;

/// The elements of a dataset as one row of bytes that can be changed.
pub(super) trait LinearTarget: Sync {
    /// Fills a buffer with the bytes from an offset on.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Puts bytes to an offset. Threads put to different ones at once.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()>;
}

/// Writes the selected elements of an array of that shape. The number of elements was checked. The caller holds `store`.
pub(super) fn write(
    store: &Store,
    target: &dyn LinearTarget,
    dims: &[u64],
    selection: &Selection,
    from: &Origin<'_>,
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    if !matches!(selection, Selection::Points(_)) && !has_long_runs(dims, selection, from)? {
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
    write_runs(target, dims, selection, from)
}

/// Whether elements go into the file from where they are, many at a time.
fn has_long_runs(dims: &[u64], selection: &Selection, from: &Origin<'_>) -> Result<bool> {
    let Some(first) = selection.linear_runs(dims)?.next() else { return Ok(true) };
    Ok(from.as_stored(0, first.length).is_some_and(|bytes| bytes.len() > DIRECT))
}

/// A selection cut into blocks.
struct Blocks<'a> {
    store: &'a Store,
    target: &'a dyn LinearTarget,
    tiling: Tiling,
    strides: Dims,
    from: &'a Origin<'a>,
}

/// The selected elements of a block.
struct Block {
    pieces: SmallVec<[Piece; 1]>,
    /// The first of them, counted in the block, and the bytes up to the end of the last one.
    first: u64,
    length: usize,
    /// Where that is among all bytes.
    offset: u64,
    /// Other elements lie between them.
    has_gaps: bool,
    /// They are written one run after the other, without what lies between them.
    by_runs: bool,
}

/// Runs of a block are written one after the other if it is no longer than that and each stands for so many bytes of
/// it: they stay in memory then, where their neighbours will find the same pages.
const BY_RUNS: (usize, u64) = (128 << 10, 1500);

impl Blocks<'_> {
    fn write(&self) -> Result<()> {
        let elements = self.tiling.shape().iter().fold(1_u64, |product, size| product.saturating_mul(*size));
        let bytes = elements.saturating_mul(self.from.size() as u64);
        let mut blocks = self.tiling.chunk_coordinates();
        loop {
            let listed: Vec<Dims> = blocks.by_ref().take(LISTED).collect();
            if listed.is_empty() {
                return Ok(());
            }
            let block = |at: usize| listed.get(at).map_or_else(|| self.block(&[]), |block| self.block(block));
            let fill = |at: usize, room: &mut Room| self.fill(&block(at)?, room);
            let write = |at: usize, room: &Room| {
                let block = block(at)?;
                if block.by_runs {
                    return self.write_runs(&block);
                }
                self.target.write(block.offset, room.bytes(block.length))
            };
            staged::each(self.store, listed.len(), parallel::is_worth(self.store, bytes), fill, write)?;
        }
    }

    fn block(&self, block: &[u64]) -> Result<Block> {
        let size = self.from.size();
        let pieces = self.tiling.pieces(block)?;
        let first = pieces.iter().map(|piece| piece.span().0).min().unwrap_or(0);
        let end = pieces.iter().map(|piece| piece.span().1).max().unwrap_or(first);
        let places = block.iter().zip(self.tiling.chunk()).zip(&self.strides);
        let before = places.fold(first, |sum, ((at, size), stride)| {
            sum.saturating_add(at.saturating_mul(*size).saturating_mul(*stride))
        });
        let offset = before.saturating_mul(size as u64);
        let length = byte_count(end.saturating_sub(first), size, "raw data")?;
        let selected = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.element_count()));
        let has_gaps = selected != end.saturating_sub(first);
        let runs = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.runs().1));
        let by_runs = has_gaps
            && length <= BY_RUNS.0
            && runs.saturating_mul(BY_RUNS.1) < length as u64
            && self.from.as_stored(0, 0).is_some();
        Ok(Block { pieces, first, length, offset, has_gaps, by_runs })
    }

    fn write_runs(&self, block: &Block) -> Result<()> {
        let size = self.from.size() as u64;
        block.pieces.iter().try_for_each(|piece| {
            piece.for_each_run(|element, position, count| {
                let bytes = self.from.as_stored(position, count).unwrap_or_default();
                let offset = element.saturating_sub(block.first).saturating_mul(size);
                self.target.write(block.offset.saturating_add(offset), bytes)
            })
        })
    }

    fn fill(&self, block: &Block, room: &mut Room) -> Result<()> {
        if block.by_runs {
            return Ok(());
        }
        let (bytes, rows) = room.of(block.length);
        if block.has_gaps || self.from.is_partial() {
            self.target.read(block.offset, bytes)?;
        }
        for piece in &block.pieces {
            self.from.put_piece(&piece.clone().from_element(block.first), bytes, rows)?;
        }
        Ok(())
    }
}

/// Writes the runs of a selection one after the other.
fn write_runs(
    target: &dyn LinearTarget,
    dims: &[u64],
    selection: &Selection,
    from: &Origin<'_>,
) -> Result<()> {
    let size = from.size();
    let most = (BLOCK / size.max(1) as u64).max(1);
    let mut position = 0_u64;
    let mut buffer = Vec::new();
    for run in selection.linear_runs(dims)? {
        let mut at = run.offset;
        let end = run.offset.saturating_add(run.length);
        while at < end {
            let offset = at.saturating_mul(size as u64);
            if let Some(bytes) = from.as_stored(position, end - at) {
                target.write(offset, bytes)?;
                position = position.saturating_add(end - at);
                break;
            }
            let count = most.min(end - at);
            buffer.clear();
            buffer.resize(byte_count(count, size, "raw data")?, 0);
            if from.is_partial() {
                target.read(offset, &mut buffer)?;
            }
            from.put(position, count, &mut buffer)?;
            target.write(offset, &buffer)?;
            position = position.saturating_add(count);
            at = at.saturating_add(count);
        }
    }
    Ok(())
}
