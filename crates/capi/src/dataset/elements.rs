//! Access to the elements of a memory buffer that a dataspace selects.

use hyperslab::{Dataspace, Selection};
use smallvec::{SmallVec, smallvec};

use crate::error::{Failure, Outcome, codes};
use crate::pointer::Buffer;
use crate::space::{CSpace, effective};

/// A function that receives an element of a memory buffer and its coordinates, and returns `false`
/// to stop the iteration.
pub type Visit<'a> = dyn FnMut(&mut [u8], &[u64]) -> Outcome<bool> + 'a;

/// The runs of selected elements in memory, in the order of the selection. Each run is the index of
/// its first element and the number of its elements.
pub type MemoryRuns = SmallVec<[(u64, u64); 1]>;

/// Returns the runs (ranges of contiguous elements) in memory that a dataspace selects.
///
/// # Errors
/// Fails if the selection exceeds the extent.
pub fn runs(space: &CSpace) -> Outcome<MemoryRuns> {
    runs_in(&space.extent, effective(space)?.as_ref())
}

/// Returns the runs in memory of the elements that `selection` selects in an array of the shape
/// `extent`. The selection already includes its offset.
///
/// # Errors
/// Fails if the selection exceeds the extent.
pub fn runs_in(extent: &Dataspace, selection: &Selection) -> Outcome<MemoryRuns> {
    match extent {
        Dataspace::Null => Ok(MemoryRuns::new()),
        Dataspace::Simple(simple) if simple.dims.is_empty() => Ok(MemoryRuns::new()),
        Dataspace::Scalar if *selection == Selection::None => Ok(MemoryRuns::new()),
        Dataspace::Scalar => Ok(smallvec![(0, 1)]),
        Dataspace::Simple(_) => {
            if let Some(run) = selection.single_run(extent.dims()) {
                return Ok(smallvec![(run.offset, run.length)]);
            }
            let runs = selection.linear_runs(extent.dims())?;
            Ok(runs.map(|run| (run.offset, run.length)).collect())
        }
    }
}

/// Returns the number of elements that a memory buffer must hold to contain all runs of selected
/// elements.
pub fn end(runs: &[(u64, u64)]) -> Outcome<usize> {
    let end = runs.iter().map(|(start, count)| start.checked_add(*count)).max().flatten();
    if runs.is_empty() {
        return Ok(0);
    }
    let end = end.ok_or_else(|| {
        Failure::new(codes::DATASPACE, codes::OVERFLOW, "the number of selected elements exceeds 64 bits")
    })?;
    Ok(hyperslab_exact::to_usize(end)?)
}

/// Returns the size in bytes of `count` elements of `size` bytes each.
///
/// # Errors
/// Fails if the number of bytes overflows `usize`.
pub fn bytes(count: usize, size: usize) -> Outcome<usize> {
    count.checked_mul(size).ok_or_else(|| {
        Failure::new(
            codes::RESOURCE,
            codes::OVERFLOW,
            "the selected elements have more bytes than memory can hold",
        )
    })
}

/// Calls `visit` for each element that the dataspace `space` selects in a memory buffer.
///
/// # Errors
/// Returns the errors of `visit`. Fails if the buffer is null or the extent was never set.
pub fn for_each(space: &CSpace, size: usize, buffer: Buffer, visit: &mut Visit<'_>) -> Outcome<()> {
    crate::space::require_extent(&space.extent)?;
    let runs = runs(space)?;
    let length = bytes(end(&runs)?, size)?;
    let dims = space.extent.dims().to_vec();
    let mut coordinates = vec![0; dims.len()];
    for (start, count) in runs {
        for element in start..start + count {
            let mut rest = element;
            for (coordinate, dim) in coordinates.iter_mut().zip(&dims).rev() {
                (*coordinate, rest) =
                    (rest.checked_rem(*dim).unwrap_or(0), rest.checked_div(*dim).unwrap_or(0));
            }
            let at = bytes(hyperslab_exact::to_usize(element)?, size)?;
            let all = buffer.bytes(length, "buffer")?;
            let Some(bytes) = all.get_mut(at..).and_then(|rest| rest.get_mut(..size)) else {
                return Err(Failure::new(
                    codes::INTERNAL,
                    codes::BADRANGE,
                    "an element lies outside of its buffer",
                ));
            };
            if !visit(bytes, &coordinates)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Copies the elements of the given runs (ranges of contiguous elements) from a memory buffer into
/// one contiguous block.
///
/// # Errors
/// Fails if a run lies outside of the buffer.
pub fn gather(memory: &[u8], runs: &[(u64, u64)], size: usize) -> Outcome<Vec<u8>> {
    let mut packed = Vec::new();
    for (start, count) in runs {
        packed.extend_from_slice(memory.get(range(*start, *count, size)?).ok_or_else(outside)?);
    }
    Ok(packed)
}

/// Copies the elements of one contiguous block into the given runs (ranges of contiguous elements)
/// of a memory buffer.
///
/// # Errors
/// Fails if a run lies outside of the buffer.
pub fn scatter(packed: &[u8], memory: &mut [u8], runs: &[(u64, u64)], size: usize) -> Outcome<()> {
    let mut rest = packed;
    for (start, count) in runs {
        let to = memory.get_mut(range(*start, *count, size)?).ok_or_else(outside)?;
        let (now, later) = rest.split_at_checked(to.len()).ok_or_else(outside)?;
        to.copy_from_slice(now);
        rest = later;
    }
    Ok(())
}

/// Returns the byte range in a memory buffer of a run of `count` elements that starts at the
/// element with the index `start`.
///
/// # Errors
/// Fails if the byte range overflows `usize`.
pub fn range(start: u64, count: u64, size: usize) -> Outcome<std::ops::Range<usize>> {
    let start = bytes(hyperslab_exact::to_usize(start)?, size)?;
    let length = bytes(hyperslab_exact::to_usize(count)?, size)?;
    Ok(start..start.checked_add(length).ok_or_else(outside)?)
}

/// Returns the internal error for a run of elements outside of its memory buffer.
fn outside() -> Failure {
    Failure::new(codes::INTERNAL, codes::BADRANGE, "a run of selected elements lies outside the buffer")
}
