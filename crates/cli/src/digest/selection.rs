//! The descriptions of selections in a digest.

use hyperslab::{Error, Hyperslab, RegularHyperslab, Selection, UNLIMITED};
use sha2::{Digest as _, Sha256};

use super::hex;

/// The largest number of selected elements for which a digest contains a hash of the selection.
const MAX_HASHED_ELEMENTS: u64 = 1_000_000;

/// Describes a selection in JSON. The description does not depend on the shape of the dataset.
pub(super) fn describe(selection: &Selection) -> hyperslab::Result<String> {
    match selection {
        Selection::None => return Ok("none".into()),
        Selection::All => return Ok("all".into()),
        Selection::Hyperslab(Hyperslab::Regular(regular)) if regular.is_unlimited() => {
            return Ok(unlimited(regular));
        }
        Selection::Points(_) | Selection::Hyperslab(_) => {}
    }
    let dims = &smallest_shape(selection).ok_or_else(beyond_coordinates)?;
    let count = selection.element_count(dims)?;
    if count == 0 {
        return Ok("none".into());
    }
    let Some(bounds) = selection.bounding_box(dims)? else { return Ok("none".into()) };
    let low: Vec<u64> = bounds.start.to_vec();
    let last: Vec<u64> =
        bounds.bounds().map(|(start, end)| if end > start { end - 1 } else { start }).collect();
    let hash = if count > MAX_HASHED_ELEMENTS { "-".into() } else { hash(selection, dims)? };
    let kind = if matches!(selection, Selection::Points(_)) { "points" } else { "hyper" };
    Ok(format!("{kind}:{count}:{}..{}:{hash}", list(&low), list(&last)))
}

fn beyond_coordinates() -> Error {
    Error::corrupt("selection", "coordinates", "coordinates of 64 bits", "a larger coordinate")
}

/// Returns the shape of the smallest dataset that contains the selection. Returns `None` if a size
/// exceeds 64 bits.
fn smallest_shape(selection: &Selection) -> Option<Vec<u64>> {
    let mut dims = Vec::new();
    let mut widen = |corner: &mut dyn Iterator<Item = Option<u64>>| -> Option<()> {
        for (dimension, last) in corner.enumerate() {
            let size = last?.checked_add(1)?;
            match dims.get_mut(dimension) {
                Some(dim) => *dim = size.max(*dim),
                None => dims.push(size),
            }
        }
        Some(())
    };
    match selection {
        Selection::None | Selection::All => {}
        Selection::Points(points) => {
            points.points().try_for_each(|point| widen(&mut point.iter().copied().map(Some)))?;
        }
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            blocks.iter().try_for_each(|block| widen(&mut block.end.iter().copied().map(Some)))?;
        }
        Selection::Hyperslab(Hyperslab::Regular(regular)) => {
            // A selection of no blocks has the same extent as a selection of one block.
            let blocks = regular.count.iter().zip(&regular.block);
            let sizes = regular.start.iter().zip(&regular.stride).zip(blocks);
            widen(&mut sizes.map(|((start, stride), (count, block))| {
                let step = ((*count).max(1) - 1).checked_mul(*stride)?;
                start.checked_add(step)?.checked_add((*block).max(1) - 1)
            }))?;
        }
    }
    Some(dims)
}

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn hash(selection: &Selection, dims: &[u64]) -> hyperslab::Result<String> {
    let mut hash = Sha256::new();
    if let Selection::Points(points) = selection {
        for coordinate in &points.coordinates {
            hash.update(coordinate.to_le_bytes());
        }
        return Ok(hex(&hash.finalize()));
    }
    for run in selection.runs(dims)? {
        let mut at = run.start.to_vec();
        for _ in 0..run.length {
            for coordinate in &at {
                hash.update(coordinate.to_le_bytes());
            }
            // The run lies inside the shape, so that the sum fits in 64 bits.
            if let Some(last) = at.last_mut() {
                *last += 1;
            }
        }
    }
    Ok(hex(&hash.finalize()))
}

fn unlimited(regular: &RegularHyperslab) -> String {
    let list = |numbers: &[u64]| {
        let word = |number: &u64| if *number == UNLIMITED { "inf".into() } else { number.to_string() };
        numbers.iter().map(word).collect::<Vec<_>>().join(",")
    };
    format!(
        "unlimited:start={};stride={};count={};block={}",
        list(&regular.start),
        list(&regular.stride),
        list(&regular.count),
        list(&regular.block)
    )
}
