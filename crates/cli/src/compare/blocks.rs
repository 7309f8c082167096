//! The comparison of the elements of two datasets, block by block.

use anyhow::{Context as _, Result};
use hyperslab::{Dataset, Dataspace, FillStatus, Region, Selection, Stored};
use hyperslab_exact::to_u64;

use super::elements::{Elements, Leaf, Listener};
use super::grid::Grid;

/// The size in bytes of the blocks in which two datasets are compared. A block of one chunk may be
/// larger.
const BLOCK_BYTES: u64 = 8 << 20;

/// The largest number of elements in a block of a comparison. The limit `BLOCK_BYTES` alone is not
/// sufficient, because it does not count variable-length data.
const MAX_BLOCK_ELEMENTS: u64 = 1 << 20;

/// The order in which a comparison of two datasets visits the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// C order. Chunks may be read more than once.
    Elements,
    /// The order of blocks that read each chunk once.
    Chunks,
}

/// A receiver of differences between two datasets, with their coordinates.
pub(crate) trait PlacedListener {
    /// Receives two differing values, of two elements or of parts of them, with the coordinates of
    /// the elements. See [`Listener::found`].
    fn found(&mut self, coordinates: &[u64], part: &[u8], leaf: Leaf<'_>) -> Result<()>;

    /// Returns true if the receiver of differences needs no more differences, and the comparison
    /// may stop. The comparison may still report some more.
    fn is_enough(&self) -> bool {
        false
    }

    /// Receives the progress of the comparison: the number of compared elements and of all
    /// elements.
    fn progress(&mut self, _compared: u64, _all: u64) {}
}

/// Returns the number of elements of a shape, for display. On overflow, returns the largest number
/// of the type.
pub(crate) fn element_count(dims: &[u64]) -> u64 {
    dims.iter().fold(1, |product: u64, size| product.saturating_mul(*size))
}

/// Compares the elements of two datasets inside the dimensions `dims`. Both datasets contain this
/// region, which begins at the first coordinates.
pub(crate) fn compare(
    datasets: [&Dataset; 2],
    dims: &[u64],
    elements: &Elements,
    order: Order,
    listener: &mut dyn PlacedListener,
) -> Result<()> {
    let [one, other] = datasets;
    let is_null = datasets.iter().any(|dataset| dataset.dataspace() == Dataspace::Null);
    if is_null || dims.contains(&0) {
        return Ok(());
    }
    let all = element_count(dims);
    let size = u64::from(one.datatype().size.max(other.datatype().size)).max(1);
    let max_elements = (BLOCK_BYTES / size).clamp(1, MAX_BLOCK_ELEMENTS);
    let grid = match order {
        Order::Elements => Grid::in_order(dims, max_elements)?,
        Order::Chunks => {
            // At most 2²⁰ elements of at most 2³² bytes.
            let bytes = max_elements * u64::from(one.datatype().size);
            Grid::new(dims, one.blocks(bytes).shape())?
        }
    };
    let stored = if has_same_fill(datasets, elements)? { grid.stored(datasets)? } else { None };
    let mut compared = 0_u64;
    let mut compare_block = |number: u64| {
        let region = grid.region(number)?;
        let selection = if dims.is_empty() { Selection::All } else { Selection::region(&region) };
        let values = one.read_stored(&selection)?;
        let other_values = other.read_stored(&selection)?;
        elements.compare(
            &values,
            &other_values,
            0,
            &mut Within { region: &region, listener: &mut *listener },
        )?;
        compared += region.element_count()?;
        listener.progress(compared, all);
        Ok::<bool, anyhow::Error>(listener.is_enough())
    };
    match stored {
        Some(blocks) => {
            for number in blocks {
                if compare_block(number)? {
                    break;
                }
            }
        }
        None => {
            for number in 0..grid.len() {
                if compare_block(number)? {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Compares parts of two datasets with the shape `dims`, block by block in C order. Along a
/// dimension that `cut_anywhere` does not mark, a block has one coordinate or the whole dimension.
/// `read` reads a block of both parts.
pub(crate) fn compare_parts(
    dims: &[u64],
    cut_anywhere: &[bool],
    elements: &Elements,
    mut read: impl FnMut(&Region) -> Result<[Stored; 2]>,
    listener: &mut dyn PlacedListener,
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    let (size, other_size) = elements.sizes();
    let size = to_u64(size.max(other_size)).max(1);
    let max_elements = (BLOCK_BYTES / size).clamp(1, MAX_BLOCK_ELEMENTS);
    let grid = Grid::in_order(dims, max_elements)?.cut(cut_anywhere)?;
    for number in 0..grid.len() {
        let region = grid.region(number)?;
        let [one, other] = read(&region)?;
        elements.compare(&one, &other, 0, &mut Within { region: &region, listener: &mut *listener })?;
        if listener.is_enough() {
            break;
        }
    }
    Ok(())
}

/// Compares elements of two arrays in memory, both of the shape `dims`.
pub(crate) fn compare_values(
    values: [&Stored; 2],
    dims: &[u64],
    elements: &Elements,
    listener: &mut dyn PlacedListener,
) -> Result<()> {
    let [one, other] = values;
    elements.compare(one, other, 0, &mut Within { region: &Region::whole(dims), listener })
}

/// A receiver of differences inside one block. It converts positions in the block to coordinates in
/// the dataset, and passes each difference to another receiver.
struct Within<'a> {
    region: &'a Region,
    listener: &'a mut dyn PlacedListener,
}

impl Listener for Within<'_> {
    fn found(&mut self, element: u64, part: &[u8], leaf: Leaf<'_>) -> Result<()> {
        let mut rest = element;
        let mut coordinates = self.region.start.to_vec();
        for (at, count) in coordinates.iter_mut().zip(&self.region.count).rev() {
            // The sum is a coordinate of the region, so it cannot overflow.
            *at += rest.checked_rem(*count).unwrap_or(0);
            rest = rest.checked_div(*count).unwrap_or(0);
        }
        self.listener.found(&coordinates, part, leaf)
    }

    fn is_enough(&self) -> bool {
        self.listener.is_enough()
    }
}

/// Returns whether both datasets have equal values in elements that were never written.
fn has_same_fill([one, other]: [&Dataset; 2], elements: &Elements) -> Result<bool> {
    let value = |dataset: &Dataset| match dataset.fill_value().status {
        FillStatus::User(_) => dataset.stored_fill_value().map(Some),
        FillStatus::Undefined | FillStatus::Default => Ok(None),
    };
    match (value(one)?, value(other)?) {
        (None, None) => Ok(elements.are_zeros_equal()),
        (Some(fill), Some(other_fill)) => {
            let mut any = Any(false);
            elements.compare(&fill, &other_fill, 0, &mut any).context("fill values")?;
            Ok(!any.0)
        }
        // Only one dataset has zeros as its fill value: its elements are read instead.
        _ => Ok(false),
    }
}

/// A receiver of differences that only records whether any difference was found.
struct Any(bool);

impl Listener for Any {
    fn found(&mut self, _: u64, _: &[u8], leaf: Leaf<'_>) -> Result<()> {
        self.0 |= !matches!(leaf, Leaf::References(one, other) if one.target() == other.target());
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.0
    }
}
