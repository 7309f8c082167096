//! Which elements of sparse datasets are defined.

use anyhow::Result;
use hyperslab::{Dataset, Region, Selection, SetOperation};

use super::places::Grid;

/// Elements of a box.
const ELEMENTS: u64 = 1 << 20;

/// How many elements are defined in the first dataset alone, and how many in the second alone, within a shape that both
/// have.
pub(crate) fn differences(datasets: [&Dataset; 2], dims: &[u64]) -> Result<(u64, u64)> {
    let [dataset, other_dataset] = datasets;
    if dims.contains(&0) {
        return Ok((0, 0));
    }
    let size = u64::from(dataset.datatype().size);
    let grid = Grid::new(dims, dataset.blocks(size.saturating_mul(ELEMENTS)).shape());
    let (mut one, mut other) = (0_u64, 0_u64);
    let mut add = |number: u64| {
        let region = grid.region(number)?;
        let (first, second) = box_differences(datasets, &region)?;
        (one, other) = (one.saturating_add(first), other.saturating_add(second));
        Ok::<(), anyhow::Error>(())
    };
    match grid.stored([dataset, other_dataset])? {
        Some(boxes) => boxes.into_iter().try_for_each(&mut add)?,
        None => (0..grid.len()).try_for_each(&mut add)?,
    }
    Ok((one, other))
}

fn box_differences([one, other]: [&Dataset; 2], region: &Region) -> Result<(u64, u64)> {
    let (dims, other_dims) = (one.dataspace().dims().to_vec(), other.dataspace().dims().to_vec());
    let selection = Selection::region(region);
    let (defined, other_defined) = (one.defined(&selection)?, other.defined(&selection)?);
    if defined == other_defined {
        return Ok((0, 0));
    }
    // Both selections are within both extents, since the box is.
    let apart = |first: &Selection, second: &Selection, dims: &[u64]| -> Result<u64> {
        Ok(first.combine(SetOperation::NotB, second, dims)?.element_count(dims)?)
    };
    Ok((apart(&defined, &other_defined, &dims)?, apart(&other_defined, &defined, &other_dims)?))
}
