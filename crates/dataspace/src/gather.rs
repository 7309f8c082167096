//! Copying of selected elements between an array and a packed buffer.

use crate::copy::{Nest, StrideLoop};
use crate::error::{Result, product};
use crate::linear::collapse;
use crate::{DataspaceError, Dims, Hyperslab, Selection};

/// Copies the selected elements of `src`, a C-order array of the shape `dims`, to the beginning of
/// `dst`, without gaps. Returns the number of copied elements.
///
/// ```
/// use hyperslab_dataspace::{Hyperslab, RegularHyperslab, Selection, gather};
/// let second = RegularHyperslab::strided(&[0], &[2], &[3]);
/// let mut to = [0; 3];
/// gather(b"abcdef", &[6], &Selection::Hyperslab(Hyperslab::Regular(second)), &mut to, 1)?;
/// assert_eq!(&to, b"ace");
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
///
/// # Errors
/// The errors of [`Selection::validate`]; [`DataspaceError::Buffer`] if a slice is too short.
pub fn gather(
    src: &[u8],
    dims: &[u64],
    selection: &Selection,
    dst: &mut [u8],
    element_size: usize,
) -> Result<u64> {
    let count = check(dims, selection, element_size, src.len(), dst.len())?;
    if count == 0 || element_size == 0 {
        return Ok(count);
    }
    if let Some((nest, base)) = nest(dims, selection, element_size, false)? {
        nest.copy(src, base, dst, 0);
        return Ok(count);
    }
    let mut packed = dst;
    for run in selection.linear_runs(dims)? {
        let (at, length) = bytes(run.offset, run.length, element_size)?;
        let from = src.get(at..).and_then(|tail| tail.get(..length)).ok_or(OUTSIDE)?;
        let (to, rest) = packed.split_at_mut_checked(length).ok_or(OUTSIDE)?;
        to.copy_from_slice(from);
        packed = rest;
    }
    Ok(count)
}

/// Copies packed elements from the beginning of `src` to the selected elements of `dst`, a C-order
/// array of the shape `dims`. Returns the number of copied elements.
///
/// # Errors
/// The errors of [`gather`].
pub fn scatter(
    src: &[u8],
    dst: &mut [u8],
    dims: &[u64],
    selection: &Selection,
    element_size: usize,
) -> Result<u64> {
    let count = check(dims, selection, element_size, dst.len(), src.len())?;
    if count == 0 || element_size == 0 {
        return Ok(count);
    }
    if let Some((nest, base)) = nest(dims, selection, element_size, true)? {
        nest.copy(src, 0, dst, base);
        return Ok(count);
    }
    let mut packed = src;
    for run in selection.linear_runs(dims)? {
        let (at, length) = bytes(run.offset, run.length, element_size)?;
        let to = dst.get_mut(at..).and_then(|tail| tail.get_mut(..length)).ok_or(OUTSIDE)?;
        let (from, rest) = packed.split_at_checked(length).ok_or(OUTSIDE)?;
        to.copy_from_slice(from);
        packed = rest;
    }
    Ok(count)
}

const OUTSIDE: DataspaceError = DataspaceError::Overflow { subject: "end of a run" };

/// Checks that a selection is valid for an array of the shape `dims`. Checks that the array and the
/// packed buffer are long enough. Returns the number of selected elements.
fn check(dims: &[u64], selection: &Selection, size: usize, array: usize, packed: usize) -> Result<u64> {
    let count = selection.element_count(dims)?;
    let all = product("number of elements", dims.iter().copied())?;
    let needed = |elements: u64| bytes(elements, 0, size).map(|(bytes, _)| bytes);
    for (subject, needed, got) in
        [("the array", needed(all)?, array), ("the packed buffer", needed(count)?, packed)]
    {
        if needed > got {
            return Err(DataspaceError::Buffer { subject, needed, got });
        }
    }
    Ok(count)
}

/// Converts the two numbers of elements `a` and `b` to numbers of bytes.
fn bytes(a: u64, b: u64, element_size: usize) -> Result<(usize, usize)> {
    let bytes = |elements: u64| usize::try_from(elements).ok()?.checked_mul(element_size);
    bytes(a).zip(bytes(b)).ok_or(DataspaceError::Overflow { subject: "number of bytes of an array" })
}

/// Returns the loops that copy the elements of a regular hyperslab, and the byte offset of the
/// first element in the array. Returns [`None`] for other selections, and for blocks of different
/// sizes in one dimension.
fn nest(
    dims: &[u64],
    selection: &Selection,
    element_size: usize,
    scatters: bool,
) -> Result<Option<(Nest, usize)>> {
    let Selection::Hyperslab(Hyperslab::Regular(hyperslab)) = selection else { return Ok(None) };
    let mut dims = Dims::from_slice(dims);
    let axes = collapse(hyperslab.axes(&dims)?, &mut dims)?;
    let (mut array, mut packed, mut base) = (1_u64, 1_u64, 0_u64);
    let mut loops = Vec::with_capacity(2 * axes.len());
    for (axis, size) in axes.iter().zip(&dims).rev() {
        let (Some(block), Some((start, _))) = (axis.equal_blocks(), axis.bounds()) else { return Ok(None) };
        let times = |stride: u64, count: u64| stride.checked_mul(count).ok_or(OUTSIDE);
        let strides = [
            (block, array, packed),
            (axis.block_count(), times(array, axis.stride())?, times(packed, block)?),
        ];
        for (count, array, packed) in strides {
            let (array, packed) = bytes(array, packed, element_size)?;
            let (src, dst) = if scatters { (packed, array) } else { (array, packed) };
            let count = usize::try_from(count).map_err(|_| OUTSIDE)?;
            loops.push(StrideLoop { count, src, dst });
        }
        base = times(array, start)?.checked_add(base).ok_or(OUTSIDE)?;
        (array, packed) = (times(array, *size)?, times(packed, axis.len())?);
    }
    let (base, _) = bytes(base, 0, element_size)?;
    Ok(Some((Nest::of_loops(element_size, loops), base)))
}
