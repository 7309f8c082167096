//! Functions that change selections (`H5Sselect_*`, `H5Scombine_*`, …).

use std::ffi::c_int;

use hyperslab::dataspace::Dims;
use hyperslab::{Dataspace, Hyperslab, Points, RegularHyperslab, Selection, SetOperation, UNLIMITED};

use crate::ctypes::{herr_t, hid_t, hsize_t, hssize_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::pointer::In;
use crate::space::{self, CSpace};

/// The number of the set operation that replaces the selection (`H5S_SELECT_SET`).
const SET: c_int = 0;
/// The number of the operation that adds points at the end of a point selection
/// (`H5S_SELECT_APPEND`).
const APPEND: c_int = 6;
/// The number of the operation that adds points at the start of a point selection
/// (`H5S_SELECT_PREPEND`).
const PREPEND: c_int = 7;

/// A set operation of a selection with a hyperslab, as the caller requests it.
struct Request {
    /// The set operation that combines the selection and the hyperslab.
    operation: SetOperation,
    /// The hyperslab; `None` if the hyperslab contains no element.
    slab: Option<RegularHyperslab>,
}

/// Returns the set operation and the hyperslab that the caller's arguments for a selection
/// describe.
fn request(
    extent: &Dataspace,
    operation: c_int,
    [start, stride, count, block]: [In<hsize_t>; 4],
) -> Outcome<Request> {
    if start.is_null() || count.is_null() {
        return Err(Failure::bad_value("the start or the count of the hyperslab is missing"));
    }
    let operation = space::operation(operation)?;
    let rank = extent.rank();
    match extent {
        Dataspace::Scalar => return Err(Failure::bad_value("a scalar dataspace has no hyperslabs")),
        Dataspace::Null => return Err(Failure::bad_value("a null dataspace has no hyperslabs")),
        Dataspace::Simple(_) if rank == 0 => return Err(Failure::bad_value("the dataspace has no extent")),
        Dataspace::Simple(_) => {}
    }
    let dims = |values: In<hsize_t>, name| {
        let values = values.optional(rank, name)?;
        Ok::<Dims, Failure>(values.map_or_else(|| Dims::from_elem(1, rank), Dims::from_slice))
    };
    let (start, stride) = (dims(start, "start")?, dims(stride, "stride")?);
    let (count, block) = (dims(count, "count")?, dims(block, "block")?);
    if stride.contains(&0) {
        return Err(Failure::bad_value("a stride of the hyperslab is zero"));
    }
    let mut open = 0;
    for (stride, (count, block)) in stride.iter().zip(count.iter().zip(&block)) {
        if *count == UNLIMITED && *block == UNLIMITED {
            return Err(Failure::bad_value("count and block must not both be unlimited"));
        }
        if *count > 1 && stride < block {
            return Err(Failure::bad_value("the blocks of the hyperslab overlap"));
        }
        open += u32::from(*count == UNLIMITED || *block == UNLIMITED);
    }
    if open > 1 {
        let text = "a hyperslab can have only one unlimited dimension";
        return Err(Failure::new(codes::DATASPACE, codes::UNSUPPORTED, text));
    }
    let empty = count.contains(&0) || block.contains(&0);
    let slab = (!empty).then_some(RegularHyperslab { start, stride, count, block });
    Ok(Request { operation, slab })
}

/// Combines a dataspace's selection with the hyperslab that the caller requests, and returns the
/// result.
fn with_hyperslab(space: &CSpace, request: Request) -> Outcome<Selection> {
    let Some(slab) = request.slab else {
        return Ok(if request.operation.keeps(true, false) {
            space.selection.clone()
        } else {
            Selection::None
        });
    };
    let slab = Selection::Hyperslab(Hyperslab::Regular(slab));
    if request.operation == SetOperation::Set {
        return Ok(slab);
    }
    space::combine(&space.selection, request.operation, &slab, &space.extent)
}

/// Combines the hyperslab selections of two dataspaces by a set operation, and returns the result.
fn combined(a: &CSpace, operation: c_int, b: &CSpace) -> Outcome<Selection> {
    let operation = match space::operation(operation)? {
        SetOperation::Set => return Err(Failure::arguments(codes::UNSUPPORTED, "not a selection operation")),
        operation => operation,
    };
    if a.extent.rank() != b.extent.rank() {
        return Err(Failure::bad_value("the dataspaces have different ranks"));
    }
    let are_hyperslabs = [a, b].iter().all(|space| matches!(space.selection, Selection::Hyperslab(_)));
    if !are_hyperslabs {
        return Err(Failure::bad_value("a selection is not a hyperslab"));
    }
    space::combine(&a.selection, operation, &b.selection, &a.extent)
}

/// Returns a point selection of the caller's points, combined with the points of the dataspace's
/// current selection.
fn points(space: &CSpace, operation: c_int, new: &[u64]) -> Points {
    let rank = space.extent.rank();
    let coordinates = match &space.selection {
        Selection::Points(points) if operation == APPEND => [points.coordinates.as_slice(), new].concat(),
        Selection::Points(points) if operation == PREPEND => [new, &points.coordinates].concat(),
        _ => new.to_vec(),
    };
    Points { rank, coordinates }
}

export! {
    /// Selects all elements of a dataspace.
    fn H5Sselect_all(space: hid_t) -> herr_t {
        space::find(space)?.0.write().selection = Selection::All;
        Ok(0)
    }

    /// Selects no element of a dataspace.
    fn H5Sselect_none(space: hid_t) -> herr_t {
        space::find(space)?.0.write().selection = Selection::None;
        Ok(0)
    }

    /// Selects a hyperslab in a dataspace, or combines a hyperslab with the dataspace's selection
    /// by a set operation.
    fn H5Sselect_hyperslab(
        space: hid_t,
        operation: c_int,
        start: In<hsize_t>,
        stride: In<hsize_t>,
        count: In<hsize_t>,
        block: In<hsize_t>,
    ) -> herr_t {
        let space = space::find(space)?;
        let mut space = space.0.write();
        let request = request(&space.extent, operation, [start, stride, count, block])?;
        let text = "cannot select the hyperslab";
        space.selection = with_hyperslab(&space, request).because(codes::DATASPACE, codes::CANTINIT, text)?;
        Ok(0)
    }

    /// Creates a dataspace whose selection combines the selection of the dataspace `space` with a
    /// hyperslab.
    fn H5Scombine_hyperslab(
        space: hid_t,
        operation: c_int,
        start: In<hsize_t>,
        stride: In<hsize_t>,
        count: In<hsize_t>,
        block: In<hsize_t>,
    ) -> hid_t {
        let mut space = space::copy_of(space)?;
        let request = request(&space.extent, operation, [start, stride, count, block])?;
        let text = "cannot combine the selections";
        space.selection = with_hyperslab(&space, request).because(codes::DATASPACE, codes::CANTINIT, text)?;
        Ok(space::register(space))
    }

    /// Creates a dataspace whose selection combines the hyperslab selections of two dataspaces.
    fn H5Scombine_select(first: hid_t, operation: c_int, second: hid_t) -> hid_t {
        let (mut a, b) = (space::copy_of(first)?, space::copy_of(second)?);
        a.selection = combined(&a, operation, &b)?;
        Ok(space::register(a))
    }

    /// Replaces the hyperslab selection of the dataspace `first` by its combination with the
    /// hyperslab selection of `second`.
    fn H5Smodify_select(first: hid_t, operation: c_int, second: hid_t) -> herr_t {
        let (handle, b) = (space::find(first)?, space::copy_of(second)?);
        let mut a = handle.0.write();
        a.selection = combined(&a, operation, &b)?;
        Ok(0)
    }

    /// Selects `number` points in a dataspace, or adds the points to the dataspace's point
    /// selection.
    fn H5Sselect_elements(
        space: hid_t,
        operation: c_int,
        number: usize,
        coordinates: In<hsize_t>,
    ) -> herr_t {
        let space = space::find(space)?;
        let mut space = space.0.write();
        let rank = space.extent.rank();
        match &space.extent {
            Dataspace::Scalar => return Err(Failure::bad_value("points cannot be selected in a scalar dataspace")),
            Dataspace::Null => return Err(Failure::bad_value("points cannot be selected in a null dataspace")),
            Dataspace::Simple(_) => {}
        }
        if coordinates.is_null() || number == 0 {
            return Err(Failure::bad_value("no points"));
        }
        if ![SET, APPEND, PREPEND].contains(&operation) {
            return Err(Failure::arguments(codes::UNSUPPORTED, "not an operation on points"));
        }
        let length = number.checked_mul(rank).ok_or_else(|| Failure::bad_value("too many points"))?;
        let new = coordinates.array(length, "points")?;
        space.selection = Selection::Points(points(&space, operation, new));
        Ok(0)
    }

    /// Replaces the selection of the dataspace `target` by the selection of the dataspace `source`.
    fn H5Sselect_copy(target: hid_t, source: hid_t) -> herr_t {
        let (target, source) = (space::find(target)?, space::copy_of(source)?);
        let mut target = target.0.write();
        target.selection = source.selection;
        target.offset = source.offset;
        Ok(0)
    }

    /// Subtracts `offset` from the coordinates of a dataspace's selection.
    fn H5Sselect_adjust(space: hid_t, offset: In<hssize_t>) -> herr_t {
        let space = space::find(space)?;
        let mut space = space.0.write();
        if offset.is_null() {
            return Err(Failure::bad_value("the offset of the selection is a null pointer"));
        }
        let offset = offset.array(space.extent.rank(), "offset")?;
        let back: Option<Vec<i64>> = offset.iter().map(|by| by.checked_neg()).collect();
        let back = back.ok_or_else(|| Failure::bad_value("the offset of the selection is too large"))?;
        space.selection = space::shift(&space.selection, &back)
            .because(codes::DATASPACE, codes::CANTSELECT, "cannot move the selection")?;
        Ok(0)
    }

    /// Returns whether the selection of a dataspace lies within the dataspace's extent.
    fn H5Sselect_valid(space: hid_t) -> htri_t {
        Ok(htri_t::from(space::is_valid(&space::find(space)?.0.read())))
    }

    /// Returns whether the selections of two dataspaces have the same shape.
    fn H5Sselect_shape_same(first: hid_t, second: hid_t) -> htri_t {
        let (a, b) = (space::copy_of(first)?, space::copy_of(second)?);
        let same = space::same_shape(&a, &b).because(
            codes::DATASPACE,
            codes::CANTCOMPARE,
            "cannot compare the selections",
        )?;
        Ok(htri_t::from(same))
    }

    /// Returns whether the selection of a dataspace contains an element of the box from `start` to
    /// `end`.
    fn H5Sselect_intersect_block(space: hid_t, start: In<hsize_t>, end: In<hsize_t>) -> htri_t {
        let space = space::find(space)?;
        let space = space.0.read();
        let rank = space.extent.rank();
        if start.is_null() || end.is_null() {
            return Err(Failure::bad_value("a corner of the block is missing"));
        }
        let (start, end) = (start.array(rank, "start")?, end.array(rank, "end")?);
        if start.iter().zip(end).any(|(start, end)| start > end) {
            return Err(Failure::bad_value("the block ends before it starts"));
        }
        Ok(htri_t::from(space::intersects(&space.selection, start, end)))
    }

    /// Creates a dataspace that selects elements of `target`. An element is selected if the element
    /// at the same position in the selection of `source` is also selected by `part`.
    fn H5Sselect_project_intersection(source: hid_t, target: hid_t, part: hid_t) -> hid_t {
        let (source, target) = (space::copy_of(source)?, space::copy_of(target)?);
        let part = space::copy_of(part)?;
        if source.extent.rank() != part.extent.rank() {
            return Err(Failure::bad_value("the dataspaces have different ranks"));
        }
        Ok(space::register(space::project(&source, &target, &part)?))
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::h5s_query::*;
    use crate::space::register;

    fn array(dims: &[u64]) -> hid_t {
        crate::init::start();
        register(CSpace::all(Dataspace::simple(dims)))
    }

    fn select(id: hid_t, operation: c_int, parts: [&[u64]; 4]) -> herr_t {
        let [start, stride, count, block] = parts.map(|part| In::of(part.as_ptr()));
        // SAFETY: the arrays have as many values as the dataspace has dimensions.
        unsafe { H5Sselect_hyperslab(id, operation, start, stride, count, block) }
    }

    #[test]
    fn set_operations() {
        let id = array(&[10]);
        assert_eq!(select(id, 0, [&[0], &[1], &[4], &[1]]), 0);
        assert_eq!(select(id, 1, [&[4], &[1], &[2], &[1]]), 0);
        // SAFETY: no pointers are passed.
        unsafe {
            assert_eq!(H5Sget_select_npoints(id), 6);
            assert_eq!(H5Sis_regular_hyperslab(id), 1);
            assert_eq!(select(id, 4, [&[2], &[1], &[1], &[1]]), 0);
            assert_eq!((H5Sget_select_npoints(id), H5Sget_select_hyper_nblocks(id)), (5, 2));
            assert_eq!(select(id, 2, [&[0], &[1], &[0], &[1]]), 0);
            assert_eq!(H5Sget_select_type(id), 0);
            assert_eq!(select(id, 0, [&[0], &[0], &[1], &[1]]), -1);
            assert_eq!(select(id, 0, [&[0], &[1], &[2], &[2]]), -1);
            assert_eq!(select(id, 9, [&[0], &[1], &[2], &[1]]), -1);
        }
    }

    #[test]
    fn endless_hyperslabs_are_cut_by_others() {
        let id = array(&[10]);
        assert_eq!(select(id, 0, [&[1], &[3], &[UNLIMITED], &[1]]), 0);
        // SAFETY: no pointers are passed.
        unsafe {
            assert_eq!(H5Sget_select_npoints(id), -1);
            assert_eq!(select(id, 1, [&[0], &[1], &[3], &[1]]), -1);
            assert_eq!(select(id, 2, [&[0], &[1], &[8], &[1]]), 0);
            assert_eq!(H5Sget_select_npoints(id), 3);
        }
    }

    #[test]
    fn points_keep_their_order() {
        let id = array(&[10]);
        let (first, second, third) = ([5_u64, 5], [1_u64], [9_u64]);
        // SAFETY: the arrays have the stated numbers of points.
        unsafe {
            assert_eq!(H5Sselect_elements(id, SET, 2, In::of(first.as_ptr())), 0);
            assert_eq!(H5Sselect_elements(id, APPEND, 1, In::of(second.as_ptr())), 0);
            assert_eq!(H5Sselect_elements(id, PREPEND, 1, In::of(third.as_ptr())), 0);
            let points = Points { rank: 1, coordinates: vec![9, 5, 5, 1] };
            assert_eq!(space::copy_of(id).unwrap().selection, Selection::Points(points));
            assert_eq!(H5Sselect_elements(id, 1, 1, In::of(third.as_ptr())), -1);
            assert_eq!(H5Sselect_valid(id), 1);
            assert_eq!(crate::h5s::H5Soffset_simple(id, In::of([1_i64].as_ptr())), 0);
            assert_eq!(H5Sselect_valid(id), 0);
        }
    }

    #[test]
    fn parts_are_projected() {
        let (source, target, part) = (array(&[4, 4]), array(&[16]), array(&[4, 4]));
        select(part, 0, [&[1, 1], &[1, 1], &[2, 2], &[1, 1]]);
        // SAFETY: no pointers are passed.
        unsafe {
            let id = H5Sselect_project_intersection(source, target, part);
            assert_eq!(H5Sget_select_npoints(id), 4);
            let space = space::copy_of(id).unwrap();
            let (low, high) = space::bounds(&space).unwrap();
            assert_eq!((low.as_slice(), high.as_slice()), (&[5][..], &[10][..]));
            assert_eq!(H5Sselect_shape_same(part, source), 0);
            let moved = H5Scopy_of(part);
            select(moved, 0, [&[2, 0], &[1, 1], &[1, 1], &[2, 2]]);
            assert_eq!(H5Sselect_shape_same(part, moved), 1);
            assert_eq!(
                H5Sselect_intersect_block(part, In::of([2_u64, 2].as_ptr()), In::of([3_u64, 3].as_ptr())),
                1
            );
            assert_eq!(
                H5Sselect_intersect_block(part, In::of([3_u64, 0].as_ptr()), In::of([3_u64, 3].as_ptr())),
                0
            );
        }
    }

    #[expect(non_snake_case, reason = "the name shows the tested function")]
    fn H5Scopy_of(id: hid_t) -> hid_t {
        // SAFETY: no pointers are passed.
        unsafe { crate::h5s::H5Scopy(id) }
    }
}
