//! The comparison of the sets of defined elements of sparse datasets.

use anyhow::Result;
use hyperslab::{Dataset, Region, Selection};

use super::grid::Grid;
use super::step::{Side, in_step};

/// The number of elements in a block of a comparison of sparse datasets. A block of one chunk may
/// have more.
const BLOCK_ELEMENTS: u64 = 1 << 18;

/// Compares the sets of defined elements of two sparse datasets inside the dimensions `dims`.
/// Returns the number of elements that only the first dataset defines, and the number of elements
/// that only the second dataset defines.
pub(crate) fn differences(datasets: [&Dataset; 2], dims: &[u64]) -> Result<(u64, u64)> {
    let [dataset, other_dataset] = datasets;
    if dims.contains(&0) {
        return Ok((0, 0));
    }
    let size = u64::from(dataset.datatype().size);
    // A type has at most 2³² bytes, so that the product fits in 64 bits.
    let grid = Grid::new(dims, dataset.blocks(size * BLOCK_ELEMENTS).shape())?;
    let (mut one, mut other) = (0_u64, 0_u64);
    let mut add = |number: u64| {
        let region = grid.region(number)?;
        let (first, second) = block_differences(datasets, &region)?;
        (one, other) = (one + first, other + second);
        Ok::<(), anyhow::Error>(())
    };
    match grid.stored([dataset, other_dataset])? {
        Some(blocks) => blocks.into_iter().try_for_each(&mut add)?,
        None => (0..grid.len()).try_for_each(&mut add)?,
    }
    Ok((one, other))
}

fn block_differences([one, other]: [&Dataset; 2], region: &Region) -> Result<(u64, u64)> {
    let selection = Selection::region(region);
    // Both lists of points are in C order.
    let (defined, _) = one.sparse().read_stored(&selection)?;
    let (other_defined, _) = other.sparse().read_stored(&selection)?;
    let (points, others): (Vec<_>, Vec<_>) = (defined.points().collect(), other_defined.points().collect());
    let (mut first, mut second) = (0_u64, 0_u64);
    for side in in_step(&points, &others, Ord::cmp) {
        match side {
            Side::One(_) => first += 1,
            Side::Other(_) => second += 1,
            Side::Both(..) => {}
        }
    }
    Ok((first, second))
}
