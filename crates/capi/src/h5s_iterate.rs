//! Selection iterator functions (`H5Ssel_iter_*`).

use std::ffi::c_uint;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ctypes::{counted, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::id::{self, Entry};
use crate::pointer::Out;
use crate::space::{self, CSpace, SelectionIterator};

/// All valid flags of a selection iterator: sorted sequences, and a selection shared with the
/// dataspace.
const ALL_FLAGS: c_uint = 3;

/// Returns the selection iterator to which an identifier refers.
fn find(id: hid_t) -> Outcome<Arc<SelectionIterator>> {
    match id::find(id) {
        Some(Entry::SelectionIterator(iterator)) => Ok(iterator),
        _ => Err(Failure::bad_type("not a selection iterator")),
    }
}

/// Returns the runs (ranges of contiguous elements) that a dataspace selects, as byte offsets and
/// lengths, in reverse order.
fn runs(space: &CSpace, element_size: u64) -> Outcome<Vec<(u64, u64)>> {
    if space::count(space)? == 0 {
        return Ok(Vec::new());
    }
    let selection = space::effective(space)?;
    let mut runs = Vec::new();
    for run in selection.linear_runs(space.extent.dims())? {
        let sizes = run.offset.checked_mul(element_size).zip(run.length.checked_mul(element_size));
        let text = "the selection is too large";
        runs.push(sizes.ok_or_else(|| Failure::new(codes::DATASPACE, codes::BADRANGE, text))?);
    }
    runs.reverse();
    Ok(runs)
}

/// Removes the next byte sequences from a selection iterator and returns them. Returns at most
/// `sequences` sequences and at most `bytes` bytes in total.
fn take(runs: &mut Vec<(u64, u64)>, sequences: usize, mut bytes: u64) -> Vec<(u64, u64)> {
    let mut taken = Vec::new();
    while taken.len() < sequences && bytes > 0 {
        let Some((offset, length)) = runs.pop() else { break };
        let part = length.min(bytes);
        if part < length {
            runs.push((offset + part, length - part));
        }
        taken.push((offset, part));
        bytes -= part;
    }
    taken
}

export! {
    /// Creates an iterator over the selection of a dataspace and returns the iterator's identifier.
    fn H5Ssel_iter_create(space: hid_t, element_size: usize, flags: c_uint) -> hid_t {
        let space = space::copy_of(space)?;
        let element_size = match u64::try_from(element_size) {
            Ok(size) if size > 0 => size,
            _ => return Err(Failure::bad_value("the element size must be greater than zero")),
        };
        if flags & !ALL_FLAGS != 0 {
            return Err(Failure::bad_value("invalid flags of a selection iterator"));
        }
        let runs = runs(&space, element_size).because(
            codes::DATASPACE,
            codes::CANTINIT,
            "cannot create the selection iterator",
        )?;
        let iterator = SelectionIterator { element_size, runs: Mutex::new(runs) };
        Ok(id::register(Entry::SelectionIterator(Arc::new(iterator))))
    }

    /// Stores the byte offsets and lengths of the next sequences of selected elements from a
    /// selection iterator.
    fn H5Ssel_iter_get_seq_list(
        iterator: hid_t,
        max_sequences: usize,
        max_elements: usize,
        sequences: Out<usize>,
        elements: Out<usize>,
        offsets: Out<hsize_t>,
        lengths: Out<usize>,
    ) -> herr_t {
        let iterator = find(iterator)?;
        let (sequences, elements) = (sequences.require("number")?, elements.require("number")?);
        let (offsets, lengths) = (offsets.require("offsets")?, lengths.require("lengths")?);
        let limit: u64 = counted(max_elements)?;
        // Saturates, because no selection contains so many bytes.
        let limit = limit.saturating_mul(iterator.element_size);
        let taken = take(&mut iterator.runs.lock(), max_sequences, limit);
        let bytes: u64 = taken.iter().map(|(_, length)| length).sum();
        let text = "a sequence is too long";
        let size = |length: u64| usize::try_from(length).map_err(|_| Failure::bad_value(text));
        let number = size(bytes.checked_div(iterator.element_size).unwrap_or(0))?;
        let starts: Vec<u64> = taken.iter().map(|(offset, _)| *offset).collect();
        let sizes = taken.iter().map(|(_, length)| size(*length)).collect::<Outcome<Vec<usize>>>()?;
        offsets.fill(&starts, starts.len())?;
        lengths.fill(&sizes, sizes.len())?;
        sequences.put(taken.len());
        elements.put(number);
        Ok(0)
    }

    /// Resets a selection iterator to the start of the selection of a dataspace.
    fn H5Ssel_iter_reset(iterator: hid_t, space: hid_t) -> herr_t {
        let iterator = find(iterator)?;
        let space = space::copy_of(space)?;
        *iterator.runs.lock() = runs(&space, iterator.element_size)?;
        Ok(0)
    }

    /// Closes the identifier of a selection iterator.
    fn H5Ssel_iter_close(iterator: hid_t) -> herr_t {
        find(iterator)?;
        id::decrement(iterator);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use hyperslab::{Dataspace, Region, Selection};

    #[test]
    fn sequences_are_cut_at_the_limits() {
        crate::init::start();
        let mut space = CSpace::all(Dataspace::simple(&[4, 10]));
        space.selection = Selection::region(&Region::from([1..3, 2..5]));
        let space = space::register(space);
        let (mut sequences, mut elements, mut offsets, mut lengths) = (0, 0, [0; 4], [0; 4]);
        // SAFETY: the arrays have space for as many sequences as the calls state.
        unsafe {
            let id = H5Ssel_iter_create(space, 2, 0);
            let mut next = |most| {
                let (a, b) = (Out::of(&raw mut sequences), Out::of(&raw mut elements));
                let (c, d) = (Out::of(offsets.as_mut_ptr()), Out::of(lengths.as_mut_ptr()));
                assert_eq!(H5Ssel_iter_get_seq_list(id, 4, most, a, b, c, d), 0);
                (sequences, elements, offsets, lengths)
            };
            assert_eq!(next(4), (2, 4, [24, 44, 0, 0], [6, 2, 0, 0]));
            assert_eq!(next(4), (1, 2, [46, 44, 0, 0], [4, 2, 0, 0]));
            assert_eq!(next(4).0, 0);
            assert_eq!(H5Ssel_iter_reset(id, space), 0);
            assert_eq!(next(9).1, 6);
            assert_eq!((H5Ssel_iter_close(id), H5Ssel_iter_close(id)), (0, -1));
            assert_eq!(H5Ssel_iter_create(space, 0, 0), -1);
        }
    }
}
