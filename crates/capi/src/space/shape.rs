//! Comparison of the shapes of two selections.

use hyperslab::dataspace::Dims;
use hyperslab::{Block, Hyperslab, Points, RegularHyperslab, Selection, UNLIMITED};

use super::{CSpace, corners, count};
use crate::error::Outcome;

/// The pattern of a regular selection along one dimension: number of blocks, stride and block size.
type Pattern = (u64, u64, u64);

/// Returns whether the selections of two dataspaces have the same shape, independent of their
/// position. If one selection has a higher rank, it must have a single coordinate in each
/// additional, slowest dimension.
///
/// # Errors
/// Fails if an element count does not fit in 64 bits.
pub fn same_shape(a: &CSpace, b: &CSpace) -> Outcome<bool> {
    let number = count(a)?;
    if number != count(b)? {
        return Ok(false);
    }
    if number == 0 {
        return Ok(true);
    }
    let (a, b) = if a.extent.rank() < b.extent.rank() { (b, a) } else { (a, b) };
    let extra = a.extent.rank() - b.extent.rank();
    let Some((low_a, high_a)) = corners(&a.selection, &a.extent) else { return Ok(false) };
    let Some((low_b, _)) = corners(&b.selection, &b.extent) else { return Ok(false) };
    if low_a.iter().zip(&high_a).take(extra).any(|(low, high)| low != high) {
        return Ok(false);
    }
    if number == 1 {
        return Ok(true);
    }
    if let (Some(a), Some(b)) = (patterns(a)?, patterns(b)?) {
        return Ok(a.iter().skip(extra).eq(b.iter()));
    }
    if matches!(a.selection, Selection::Points(_)) || matches!(b.selection, Selection::Points(_)) {
        let (Some(a), Some(b)) = (coordinates(a, number, &low_a)?, coordinates(b, number, &low_b)?) else {
            return Ok(false);
        };
        return Ok(a.iter().map(|at| at.get(extra..)).eq(b.iter().map(|at| at.get(..))));
    }
    let (Some(a), Some(b)) = (blocks(a, &low_a)?, blocks(b, &low_b)?) else { return Ok(false) };
    let cut = |corner: &Dims| corner.get(extra..).map(Dims::from_slice).unwrap_or_default();
    let a = a.iter().map(|block| (cut(&block.start), cut(&block.end)));
    Ok(a.eq(b.into_iter().map(|block| (block.start, block.end))))
}

/// Returns the pattern of a dataspace's regular selection in each dimension. Returns `None` for an
/// irregular selection.
fn patterns(space: &CSpace) -> Outcome<Option<Vec<Pattern>>> {
    Ok(match &space.selection {
        Selection::All => Some(space.extent.dims().iter().map(|size| (1, 1, *size)).collect()),
        Selection::Hyperslab(Hyperslab::Regular(slab)) => Some(regular(slab)),
        Selection::Hyperslab(_) => match space.selection.clone().simplified()? {
            Selection::Hyperslab(Hyperslab::Regular(slab)) => Some(regular(&slab)),
            _ => None,
        },
        _ => None,
    })
}

/// Returns the pattern (number of blocks, stride and block size) of a regular hyperslab in each
/// dimension.
fn regular(slab: &RegularHyperslab) -> Vec<Pattern> {
    let parts = slab.stride.iter().zip(slab.count.iter().zip(&slab.block));
    let pattern = |(stride, (count, block)): (&u64, (&u64, &u64))| match (*count, *block) {
        (1, block) => (1, 1, block),
        (UNLIMITED, block) if *stride == block => (1, 1, UNLIMITED),
        (count, block) if *stride == block => (1, 1, count.saturating_mul(block)),
        (count, block) => (count, *stride, block),
    };
    parts.map(pattern).collect()
}

/// Returns the blocks of a dataspace's hyperslab selection relative to its lowest corner, in C
/// order.
fn blocks(space: &CSpace, low: &[u64]) -> Outcome<Option<Vec<Block>>> {
    let Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) = space.selection.clone().simplified()?
    else {
        return Ok(None);
    };
    let relative = |at: &Dims| at.iter().zip(low).map(|(at, low)| at.saturating_sub(*low)).collect();
    let block = |block: &Block| Block { start: relative(&block.start), end: relative(&block.end) };
    Ok(Some(blocks.iter().map(block).collect()))
}

/// Returns the coordinates of a dataspace's selected elements relative to the lowest corner, in the
/// order of the selection. The selection is compared with a point selection of the same size.
fn coordinates(space: &CSpace, number: u64, low: &[u64]) -> Outcome<Option<Vec<Dims>>> {
    let relative = |at: &[u64]| at.iter().zip(low).map(|(at, low)| at.saturating_sub(*low)).collect::<Dims>();
    if let Selection::Points(Points { rank, coordinates }) = &space.selection {
        return Ok(Some(coordinates.chunks((*rank).max(1)).map(relative).collect()));
    }
    let endless = vec![u64::MAX; space.extent.rank()];
    let dims = if space.selection == Selection::All { space.extent.dims() } else { &endless };
    let mut found = Vec::new();
    for run in space.selection.runs(dims)? {
        for step in 0..run.length {
            let mut at = Dims::from_slice(&run.start);
            if let Some(last) = at.last_mut() {
                *last = last.saturating_add(step);
            }
            found.push(relative(&at));
        }
    }
    Ok((u64::try_from(found.len()) == Ok(number)).then_some(found))
}
