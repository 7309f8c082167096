//! Which elements of sparse datasets are defined.

use anyhow::Result;
use hyperslab::{Dataset, Region, Selection};

use super::places::Grid;
use super::step::in_step;

/// Elements of a box, unless a chunk has more.
const ELEMENTS: u64 = 1 << 18;

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
    let selection = Selection::region(region);
    // Both in C order.
    let (defined, _) = one.sparse().read_stored(&selection)?;
    let (other_defined, _) = other.sparse().read_stored(&selection)?;
    let (points, others): (Vec<_>, Vec<_>) = (defined.points().collect(), other_defined.points().collect());
    let (mut first, mut second) = (0_u64, 0_u64);
    for side in in_step(&points, &others, Ord::cmp) {
        match side {
            (Some(_), None) => first = first.saturating_add(1),
            (None, Some(_)) => second = second.saturating_add(1),
            _ => {}
        }
    }
    Ok((first, second))
}
