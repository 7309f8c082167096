//! Counts, bounds and offsets of selections.
//!
//! The C interface accepts selections that exceed the extent until a program accesses elements.
//! Therefore, these functions do not use the extent for limited hyperslabs.

use std::borrow::Cow;

use hyperslab::dataspace::{Axis, Dims};
use hyperslab::{Block, Dataspace, Hyperslab, Points, Region, RegularHyperslab, Selection, UNLIMITED};

use super::{CSpace, elements};
use crate::error::{Failure, Outcome, codes};

/// Returns the number of selected elements of a dataspace, or [`UNLIMITED`] for an unlimited
/// hyperslab.
///
/// # Errors
/// Fails if the number does not fit in 64 bits.
pub fn count(space: &CSpace) -> Outcome<u64> {
    count_in(&space.extent, &space.selection)
}

/// Returns the number of elements that `selection` selects in an array of the shape `extent`. For
/// an unlimited hyperslab, returns `UNLIMITED`.
///
/// # Errors
/// Fails if the number does not fit in 64 bits.
pub fn count_in(extent: &Dataspace, selection: &Selection) -> Outcome<u64> {
    let number = match selection {
        Selection::None => Some(0),
        Selection::All => elements(extent),
        Selection::Points(points) => u64::try_from(points.len()).ok(),
        Selection::Hyperslab(Hyperslab::Regular(slab)) if slab.is_unlimited() => Some(UNLIMITED),
        Selection::Hyperslab(Hyperslab::Regular(slab)) => slab
            .count
            .iter()
            .zip(&slab.block)
            .try_fold(1_u64, |product, (count, block)| product.checked_mul(count.checked_mul(*block)?)),
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => blocks
            .iter()
            .try_fold(0_u64, |sum, block| sum.checked_add(Region::from(block).element_count().ok()?)),
    };
    number.ok_or_else(|| {
        Failure::new(codes::DATASPACE, codes::CANTCOUNT, "the number of selected elements is too large")
    })
}

/// Returns the lowest and the highest selected coordinate of a selection in each dimension, without
/// the offset. Returns `None` if no element is selected. In an unlimited dimension, the highest
/// coordinate is [`UNLIMITED`].
pub fn corners(selection: &Selection, extent: &Dataspace) -> Option<(Dims, Dims)> {
    match selection {
        Selection::None => None,
        Selection::All => {
            let dims = extent.dims();
            let zeros = Dims::from_elem(0, dims.len());
            // The C library states the wrapped end 2⁶⁴ − 1 for an empty dimension.
            Some((zeros, dims.iter().map(|size| size.wrapping_sub(1)).collect()))
        }
        Selection::Points(points) => enclose(points.points().map(|point| (point, point))),
        Selection::Hyperslab(Hyperslab::Regular(slab)) => Some((slab.start.clone(), ends(slab))),
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            enclose(blocks.iter().map(|block| (block.start.as_slice(), block.end.as_slice())))
        }
    }
}

/// Returns the last coordinate of a regular hyperslab in each dimension. On overflow, returns
/// `UNLIMITED`, which is no coordinate of any dataspace.
fn ends(slab: &RegularHyperslab) -> Dims {
    let parts = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
    let last = |((start, stride), (count, block)): ((&u64, &u64), (&u64, &u64))| {
        if *count == UNLIMITED || *block == UNLIMITED {
            return UNLIMITED;
        }
        let span = count.saturating_sub(1).saturating_mul(*stride);
        start.saturating_add(span).saturating_add(block.saturating_sub(1))
    };
    parts.map(last).collect()
}

/// Returns the lowest and the highest corner of the smallest box of elements that encloses all
/// given boxes.
fn enclose<'a>(mut boxes: impl Iterator<Item = (&'a [u64], &'a [u64])>) -> Option<(Dims, Dims)> {
    let (start, end) = boxes.next()?;
    let (mut low, mut high) = (Dims::from_slice(start), Dims::from_slice(end));
    for (start, end) in boxes {
        low.iter_mut().zip(start).for_each(|(low, start)| *low = (*low).min(*start));
        high.iter_mut().zip(end).for_each(|(high, end)| *high = (*high).max(*end));
    }
    Some((low, high))
}

/// Returns the lowest and the highest selected coordinate of a dataspace in each dimension, with
/// the selection's offset.
///
/// # Errors
/// Fails if no element is selected, or if the offset makes a coordinate negative.
pub fn bounds(space: &CSpace) -> Outcome<(Dims, Dims)> {
    let (mut low, mut high) = corners(&space.selection, &space.extent)
        .ok_or_else(|| Failure::new(codes::DATASPACE, codes::CANTGET, "no element is selected"))?;
    if space.selection != Selection::All {
        move_all(&mut low, &space.offset)?;
        move_all(&mut high, &space.offset)?;
    }
    Ok((low, high))
}

/// Returns the number of selected elements of a dataspace, and also counts selected elements
/// anywhere outside of its dimensions.
///
/// # Errors
/// Fails if the number does not fit in 64 bits.
pub fn count_anywhere(space: &CSpace) -> Outcome<u64> {
    let mut dims = Dims::from_slice(space.extent.dims());
    if let Some((_, high)) = corners(&space.selection, &space.extent) {
        // Saturates, because an unlimited selection has no element count.
        dims.iter_mut().zip(high).for_each(|(size, last)| *size = (*size).max(last.saturating_add(1)));
    }
    Ok(space.selection.element_count(&dims)?)
}

/// Returns whether all selected elements of a dataspace lie in its dimensions after the selection's
/// offset is applied.
pub fn is_valid(space: &CSpace) -> bool {
    match &space.selection {
        Selection::None | Selection::All => true,
        _ => bounds(space)
            .is_ok_and(|(_, high)| high.iter().zip(space.extent.dims()).all(|(last, size)| last < size)),
    }
}

/// Adds the offset of a selection to coordinates. Coordinates that are `UNLIMITED` stay unchanged.
fn move_all(coordinates: &mut [u64], offset: &[i64]) -> Outcome<()> {
    for (at, by) in coordinates.iter_mut().zip(offset).filter(|(at, _)| **at != UNLIMITED) {
        *at = at.checked_add_signed(*by).ok_or_else(|| {
            Failure::new(codes::DATASPACE, codes::BADRANGE, "the offset moves the selection out of bounds")
        })?;
    }
    Ok(())
}

/// Adds an offset to all coordinates of a selection and returns the new selection.
///
/// # Errors
/// Fails if the offset makes a coordinate negative.
pub fn shift(selection: &Selection, offset: &[i64]) -> Outcome<Selection> {
    let mut moved = selection.clone();
    if offset.iter().all(|by| *by == 0) {
        return Ok(moved);
    }
    match &mut moved {
        Selection::None | Selection::All => {}
        Selection::Points(Points { rank, coordinates }) => {
            for point in coordinates.chunks_mut((*rank).max(1)) {
                move_all(point, offset)?;
            }
        }
        Selection::Hyperslab(Hyperslab::Regular(slab)) => move_all(&mut slab.start, offset)?,
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            for Block { start, end } in blocks {
                move_all(start, offset)?;
                move_all(end, offset)?;
            }
        }
    }
    Ok(moved)
}

/// Returns the effective selection of a dataspace: the selection after it is moved by its offset.
///
/// # Errors
/// Fails if the offset makes a coordinate negative.
pub fn effective(space: &CSpace) -> Outcome<Cow<'_, Selection>> {
    if space.offset.iter().all(|by| *by == 0) {
        return Ok(Cow::Borrowed(&space.selection));
    }
    shift(&space.selection, &space.offset).map(Cow::Owned)
}

/// Returns whether a selection contains an element of the box from `low` to `high`, inclusive.
pub fn intersects(selection: &Selection, low: &[u64], high: &[u64]) -> bool {
    let meets = |start: &[u64], end: &[u64]| {
        start.iter().zip(high).all(|(start, high)| start <= high)
            && end.iter().zip(low).all(|(end, low)| end >= low)
    };
    match selection {
        Selection::None => false,
        Selection::All => true,
        Selection::Points(points) => points.points().any(|point| meets(point, point)),
        Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) => {
            blocks.iter().any(|block| meets(&block.start, &block.end))
        }
        Selection::Hyperslab(Hyperslab::Regular(slab)) => {
            let parts = slab.start.iter().zip(&slab.stride).zip(slab.count.iter().zip(&slab.block));
            parts.zip(low.iter().zip(high)).all(|(((start, stride), (count, block)), (low, high))| {
                let endless = *count == UNLIMITED || *block == UNLIMITED;
                let size = if endless { high.saturating_add(1) } else { u64::MAX };
                Axis::new(*start, *stride, *count, *block, size, 0)
                    .is_ok_and(|axis| !axis.positions_within(*low, high.saturating_add(1)).is_empty())
            })
        }
    }
}
