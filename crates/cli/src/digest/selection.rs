//! Selections in the document's words.

use hyperslab::{Hyperslab, RegularHyperslab, Selection, UNLIMITED};
use sha2::{Digest as _, Sha256};

use super::hex;

/// Selections of more elements are not hashed.
const MAX_HASHED: u64 = 1_000_000;

/// A selection, whatever the shape is that it selects from.
pub(super) fn describe(selection: &Selection) -> hyperslab::Result<String> {
    match selection {
        Selection::None => return Ok("none".into()),
        Selection::All => return Ok("all".into()),
        Selection::Hyperslab(Hyperslab::Regular(regular)) if regular.is_unlimited() => {
            return Ok(unlimited(regular));
        }
        Selection::Points(_) | Selection::Hyperslab(_) => {}
    }
    let dims = &reach(selection);
    let count = selection.element_count(dims)?;
    if count == 0 {
        return Ok("none".into());
    }
    let Some(bounds) = selection.bounding_box(dims)? else { return Ok("none".into()) };
    let low: Vec<u64> = bounds.start.to_vec();
    let high: Vec<u64> = bounds.bounds().map(|(_, end)| end.saturating_sub(1)).collect();
    let hash = if count > MAX_HASHED { "-".into() } else { hash(selection, dims)? };
    let kind = if matches!(selection, Selection::Points(_)) { "points" } else { "hyper" };
    Ok(format!("{kind}:{count}:{}..{}:{hash}", list(&low), list(&high)))
}

/// The smallest shape that holds the selection.
fn reach(selection: &Selection) -> Vec<u64> {
    let mut dims = Vec::new();
    let mut widen = |corner: &mut dyn Iterator<Item = u64>| {
        for (dimension, last) in corner.enumerate() {
            let size = last.saturating_add(1);
            match dims.get_mut(dimension) {
                Some(dim) => *dim = size.max(*dim),
                None => dims.push(size),
            }
        }
    };
    match selection {
        Selection::None | Selection::All => {}
        Selection::Points(points) => points.points().for_each(|point| widen(&mut point.iter().copied())),
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            blocks.iter().for_each(|block| widen(&mut block.end.iter().copied()));
        }
        Selection::Hyperslab(Hyperslab::Regular(regular)) => {
            let steps = regular
                .count
                .iter()
                .zip(&regular.stride)
                .map(|(count, stride)| count.saturating_sub(1).saturating_mul(*stride));
            let lasts = regular.start.iter().zip(steps).zip(&regular.block).map(|((start, step), block)| {
                start.saturating_add(step).saturating_add(block.saturating_sub(1))
            });
            widen(&mut { lasts });
        }
    }
    dims
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
            if let Some(last) = at.last_mut() {
                *last = last.saturating_add(1);
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
