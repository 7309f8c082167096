//! Elements side by side in C order: how a selection of them is written.

use hyperslab_dataspace::{Axis, Dims, Ordered, Selection, Tiling, strides};
use rayon::prelude::*;

use super::linear::block_shape;
use super::origin::{Origin, Rows};
use super::{byte_count, parallel};
use crate::error::Result;

/// Bytes that are converted at once.
const BLOCK: u64 = 1 << 20;

/// The elements of a dataset as one row of bytes that can be changed.
pub(super) trait LinearTarget: Sync {
    /// Fills a buffer with the bytes from an offset on.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Puts bytes to an offset. Threads put to different ones at once.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()>;
}

/// Writes the selected elements of an array of that shape. The number of elements was checked.
pub(super) fn write(
    target: &dyn LinearTarget,
    dims: &[u64],
    selection: &Selection,
    from: &Origin<'_>,
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    if !matches!(selection, Selection::Points(_)) {
        let ordered = Ordered::new(selection, dims)?;
        if let Some(axes) = ordered.axes() {
            if axes.iter().any(Axis::is_empty) {
                return Ok(());
            }
            if let Some(block) = block_shape(axes, dims, from.size()) {
                let tiling = Tiling::new(axes, dims, &block)?;
                return Blocks { target, tiling, strides: strides(dims), from }.write();
            }
        }
    }
    write_runs(target, dims, selection, from)
}

/// A selection cut into blocks.
struct Blocks<'a> {
    target: &'a dyn LinearTarget,
    tiling: Tiling,
    strides: Dims,
    from: &'a Origin<'a>,
}

impl Blocks<'_> {
    fn write(&self) -> Result<()> {
        let elements = self.tiling.shape().iter().fold(1_u64, |product, size| product.saturating_mul(*size));
        let bytes = elements.saturating_mul(self.from.size() as u64);
        let blocks = self.tiling.chunk_coordinates();
        if !parallel::is_worth(bytes) {
            let mut rows = Rows::default();
            let mut buffer = Vec::new();
            return blocks.into_iter().try_for_each(|block| self.write_block(&block, &mut rows, &mut buffer));
        }
        blocks.into_iter().par_bridge().try_for_each_init(
            || (Rows::default(), Vec::new()),
            |(rows, buffer), block| self.write_block(&block, rows, buffer),
        )
    }

    fn write_block(&self, block: &[u64], rows: &mut Rows, buffer: &mut Vec<u8>) -> Result<()> {
        let size = self.from.size();
        let pieces = self.tiling.pieces(block)?;
        let Some(first) = pieces.iter().map(|piece| piece.span().0).min() else { return Ok(()) };
        let end = pieces.iter().map(|piece| piece.span().1).max().unwrap_or(first);
        let places = block.iter().zip(self.tiling.chunk()).zip(&self.strides);
        let before = places.fold(first, |sum, ((at, size), stride)| {
            sum.saturating_add(at.saturating_mul(*size).saturating_mul(*stride))
        });
        let offset = before.saturating_mul(size as u64);
        if let [piece] = pieces.as_slice()
            && let Some((_, position, count)) = piece.as_run()
            && let Some(run) = self.from.as_stored(position, count)
        {
            return self.target.write(offset, run);
        }
        let length = byte_count(end.saturating_sub(first), size, "raw data")?;
        buffer.clear();
        buffer.resize(length, 0);
        let selected = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.element_count()));
        if selected != end.saturating_sub(first) || self.from.is_partial() {
            self.target.read(offset, buffer)?;
        }
        for piece in pieces {
            self.from.put_piece(&piece.from_element(first), buffer, rows)?;
        }
        self.target.write(offset, buffer)
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
