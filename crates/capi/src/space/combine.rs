//! Set operations on two selections of the same extent.

use std::ffi::c_int;

use hyperslab::dataspace::Dims;
use hyperslab::{Dataspace, Hyperslab, Region, Selection, SetOperation, UNLIMITED};

use super::corners;
use crate::error::{Failure, Outcome, codes};

/// Returns the set operation on selections with the given number (`H5S_seloper_t`).
///
/// # Errors
/// Fails for unknown numbers and for the operations that append points.
pub fn operation(number: c_int) -> Outcome<SetOperation> {
    Ok(match number {
        0 => SetOperation::Set,
        1 => SetOperation::Or,
        2 => SetOperation::And,
        3 => SetOperation::Xor,
        4 => SetOperation::NotB,
        5 => SetOperation::NotA,
        _ => return Err(Failure::arguments(codes::UNSUPPORTED, "not a selection operation")),
    })
}

/// Combines two selections of a dataspace by a set operation. Both selections already include their
/// offsets.
///
/// # Errors
/// Fails for point selections, and if the result is unlimited.
pub fn combine(
    a: &Selection,
    operation: SetOperation,
    b: &Selection,
    extent: &Dataspace,
) -> Outcome<Selection> {
    if operation == SetOperation::Set {
        return Ok(b.clone());
    }
    let (a, b) = (blocks_of(a, extent), blocks_of(b, extent));
    if a == Selection::None {
        return Ok(if operation.keeps(false, true) { b } else { a });
    }
    if b == Selection::None {
        return Ok(if operation.keeps(true, false) { a } else { b });
    }
    if matches!(a, Selection::Points(_)) || matches!(b, Selection::Points(_)) {
        let text = "hyperslabs and points cannot be combined";
        return Err(Failure::new(codes::DATASPACE, codes::UNSUPPORTED, text));
    }
    let limits = limits(&a, operation, &b, extent)?;
    Ok(a.combine(operation, &b, &limits)?)
}

/// Returns a selection of all elements as a hyperslab. Returns any other selection unchanged.
fn blocks_of(selection: &Selection, extent: &Dataspace) -> Selection {
    match selection {
        Selection::All if extent.dims().contains(&0) => Selection::None,
        Selection::All if extent.rank() > 0 => Selection::region(&Region::whole(extent.dims())),
        other => other.clone(),
    }
}

/// Returns the shape of an array that contains two selections to combine. An unlimited hyperslab
/// counts only up to the end of the other selection.
fn limits(a: &Selection, operation: SetOperation, b: &Selection, extent: &Dataspace) -> Outcome<Dims> {
    let limits = Dims::from_elem(u64::MAX, extent.rank());
    // Elements of the unlimited selection beyond the other selection must not belong to the result.
    let unlimited = match (is_unlimited(a), is_unlimited(b)) {
        (false, false) => return Ok(limits),
        (true, false) if !operation.keeps(true, false) => b,
        (false, true) if !operation.keeps(false, true) => a,
        _ => {
            let text = "the result of the selection operation is unlimited";
            return Err(Failure::new(codes::DATASPACE, codes::UNSUPPORTED, text));
        }
    };
    let Some((_, high)) = corners(unlimited, extent) else { return Ok(limits) };
    let open = open_dimensions(if std::ptr::eq(unlimited, b) { a } else { b });
    let limit = |(open, last): (bool, &u64)| if open { last.saturating_add(1) } else { u64::MAX };
    Ok(open.into_iter().zip(&high).map(limit).collect())
}

/// Returns true if a selection of elements is an unlimited hyperslab.
fn is_unlimited(selection: &Selection) -> bool {
    matches!(selection, Selection::Hyperslab(Hyperslab::Regular(slab)) if slab.is_unlimited())
}

/// Returns a flag for each dimension of a selection. The flag is true if the selection is a
/// hyperslab that is unlimited in this dimension.
fn open_dimensions(selection: &Selection) -> Vec<bool> {
    match selection {
        Selection::Hyperslab(Hyperslab::Regular(slab)) => {
            let counts = slab.count.iter().zip(&slab.block);
            counts.map(|(count, block)| *count == UNLIMITED || *block == UNLIMITED).collect()
        }
        _ => Vec::new(),
    }
}
