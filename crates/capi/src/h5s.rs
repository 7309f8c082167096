//! Dataspace functions for extents (`H5S*`).

use std::ffi::c_int;

use hyperslab::Dataspace;
use hyperslab::dataspace::MAX_RANK;

use crate::ctypes::{H5S_UNLIMITED, herr_t, hid_t, hsize_t, hssize_t, htri_t};
use crate::error::{Failure, Outcome};
use crate::pointer::{In, Out};
use crate::space::{self, CSpace};
use crate::{export, id};

/// The class number of scalar dataspaces (`H5S_SCALAR`).
const SCALAR: c_int = 0;
/// The class number of simple dataspaces (`H5S_SIMPLE`).
const SIMPLE: c_int = 1;
/// The class number of null dataspaces (`H5S_NULL`).
const NULL: c_int = 2;

/// Returns the class number of a dataspace's extent: null, scalar or simple (`H5S_class_t`).
fn class_of(extent: &Dataspace) -> c_int {
    match extent {
        Dataspace::Null => NULL,
        Dataspace::Scalar => SCALAR,
        Dataspace::Simple(_) => SIMPLE,
    }
}

/// Returns the simple dataspace extent with the dimensions and maximum dimensions that a caller
/// passes.
fn extent_of(rank: c_int, dims: In<hsize_t>, max: In<hsize_t>) -> Outcome<Dataspace> {
    let rank = usize::try_from(rank).map_err(|_| Failure::bad_value("the rank is negative"))?;
    if rank > MAX_RANK {
        return Err(Failure::bad_value("the rank is too large"));
    }
    if rank == 0 {
        return Ok(Dataspace::Scalar);
    }
    let dims = dims.array(rank, "current dimensions")?;
    if dims.contains(&H5S_UNLIMITED) {
        return Err(Failure::bad_value("a current dimension is unlimited"));
    }
    let Some(max) = max.optional(rank, "maximum dimensions")? else { return Ok(Dataspace::simple(dims)) };
    if max.iter().zip(dims).any(|(max, size)| max < size) {
        return Err(Failure::bad_value("a maximum dimension is smaller than the current dimension"));
    }
    let max: Vec<Option<u64>> = max.iter().map(|max| (*max != H5S_UNLIMITED).then_some(*max)).collect();
    Dataspace::extendible(dims, &max).map_err(|error| Failure::bad_value(error.to_string()))
}

export! {
    /// Creates a dataspace of a class and returns the dataspace's identifier.
    fn H5Screate(class: c_int) -> hid_t {
        let extent = match class {
            SCALAR => Dataspace::Scalar,
            SIMPLE => space::empty_extent(),
            NULL => Dataspace::Null,
            _ => return Err(Failure::bad_value("not a dataspace class")),
        };
        Ok(space::register(CSpace::all(extent)))
    }

    /// Creates a simple dataspace with `rank` dimensions and returns the dataspace's identifier.
    fn H5Screate_simple(rank: c_int, dims: In<hsize_t>, max: In<hsize_t>) -> hid_t {
        Ok(space::register(CSpace::all(extent_of(rank, dims, max)?)))
    }

    /// Copies a dataspace with its selection and returns the identifier of the copy.
    fn H5Scopy(space: hid_t) -> hid_t {
        Ok(space::register(space::copy_of(space)?))
    }

    /// Closes a dataspace identifier.
    fn H5Sclose(space: hid_t) -> herr_t {
        space::find(space)?;
        id::decrement(space);
        Ok(0)
    }

    /// Returns the number of elements of a dataspace's extent.
    fn H5Sget_simple_extent_npoints(space: hid_t) -> hssize_t {
        let space = space::find(space)?;
        let number = space::elements(&space.0.read().extent);
        // The C library wraps a number that exceeds 64 bits; no array has so many elements.
        Ok(number.map_or(-1, u64::cast_signed))
    }

    /// Returns the number of dimensions of a dataspace's extent.
    fn H5Sget_simple_extent_ndims(space: hid_t) -> c_int {
        rank(&space::find(space)?.0.read().extent)
    }

    /// Stores the current and maximum dimensions of a dataspace's extent and returns the number of
    /// dimensions.
    fn H5Sget_simple_extent_dims(space: hid_t, dims: Out<hsize_t>, max: Out<hsize_t>) -> c_int {
        let space = space::find(space)?;
        let space = space.0.read();
        let extent = &space.extent;
        dims.fill(extent.dims(), extent.rank())?;
        if !max.is_null() {
            let values: Vec<u64> =
                extent.max_dims().iter().map(|size| size.unwrap_or(H5S_UNLIMITED)).collect();
            max.fill(&values, extent.rank())?;
        }
        rank(extent)
    }

    /// Returns the class of a dataspace's extent (`H5S_class_t`).
    fn H5Sget_simple_extent_type(space: hid_t) -> c_int {
        Ok(class_of(&space::find(space)?.0.read().extent))
    }

    /// Returns whether the extent of a dataspace is simple or scalar.
    fn H5Sis_simple(space: hid_t) -> htri_t {
        let class = class_of(&space::find(space)?.0.read().extent);
        Ok(htri_t::from(class == SIMPLE || class == SCALAR))
    }

    /// Replaces the extent of a dataspace by a simple extent with `rank` dimensions.
    fn H5Sset_extent_simple(space: hid_t, rank: c_int, dims: In<hsize_t>, max: In<hsize_t>) -> herr_t {
        let space = space::find(space)?;
        let extent = extent_of(rank, dims, max)?;
        space.0.write().set_extent(extent);
        Ok(0)
    }

    /// Removes the extent of a dataspace, which becomes a null dataspace.
    fn H5Sset_extent_none(space: hid_t) -> herr_t {
        space::find(space)?.0.write().set_extent(Dataspace::Null);
        Ok(0)
    }

    /// Replaces the extent of the dataspace `target` by the extent of the dataspace `source`.
    fn H5Sextent_copy(target: hid_t, source: hid_t) -> herr_t {
        let target = space::find(target)?;
        let extent = space::copy_of(source)?.extent;
        target.0.write().set_extent(extent);
        Ok(0)
    }

    /// Returns whether two dataspaces have equal extents.
    fn H5Sextent_equal(first: hid_t, second: hid_t) -> htri_t {
        let (a, b) = (space::copy_of(first)?.extent, space::copy_of(second)?.extent);
        let equal = class_of(&a) == class_of(&b) && a.dims() == b.dims() && a.max_dims() == b.max_dims();
        Ok(htri_t::from(equal))
    }

    /// Sets the offset by which the selection of a dataspace is moved.
    fn H5Soffset_simple(space: hid_t, offset: In<hssize_t>) -> herr_t {
        let space = space::find(space)?;
        let rank = space.0.read().extent.rank();
        if rank == 0 {
            let text = "a dataspace without dimensions has no offset";
            return Err(Failure::arguments(crate::error::codes::UNSUPPORTED, text));
        }
        let offset = offset.array(rank, "offset")?.to_vec();
        let zero = offset.iter().all(|by| *by == 0);
        space.0.write().offset = if zero { Vec::new() } else { offset };
        Ok(0)
    }
}

/// Returns the number of dimensions of a dataspace's extent as a C integer.
fn rank(extent: &Dataspace) -> Outcome<c_int> {
    c_int::try_from(extent.rank()).map_err(|_| Failure::bad_value("the rank is too large"))
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::error::{codes, stack};

    fn simple(dims: &[u64], max: Option<&[u64]>) -> hid_t {
        let max = max.map_or(In::of(std::ptr::null()), |max| In::of(max.as_ptr()));
        // SAFETY: the arrays have as many values as the rank states.
        unsafe { H5Screate_simple(c_int::try_from(dims.len()).unwrap(), In::of(dims.as_ptr()), max) }
    }

    #[test]
    fn extents() {
        let id = simple(&[3, 4], Some(&[3, H5S_UNLIMITED]));
        assert!(id > 0);
        let (mut dims, mut max) = ([0; 2], [0; 2]);
        // SAFETY: the arrays have two values.
        unsafe {
            assert_eq!(H5Sget_simple_extent_npoints(id), 12);
            assert_eq!(
                H5Sget_simple_extent_dims(id, Out::of(dims.as_mut_ptr()), Out::of(max.as_mut_ptr())),
                2
            );
            assert_eq!((dims, max), ([3, 4], [3, H5S_UNLIMITED]));
            assert_eq!((H5Sis_simple(id), H5Sget_simple_extent_type(id)), (1, SIMPLE));
            let other = simple(&[3, 4], None);
            assert_eq!(H5Sextent_equal(id, other), 0);
            assert_eq!(H5Sextent_copy(other, id), 0);
            assert_eq!(H5Sextent_equal(id, other), 1);
            assert_eq!(H5Sset_extent_none(other), 0);
            assert_eq!(H5Sget_simple_extent_type(other), NULL);
            assert_eq!((H5Sclose(id), H5Sclose(id)), (0, -1));
            assert_eq!(
                stack::copy().last().map(|record| (record.major, record.minor)),
                Some((codes::ARGS, codes::BADTYPE))
            );
        }
    }

    #[test]
    fn other_classes() {
        // SAFETY: no pointers are passed.
        unsafe {
            let (null, scalar) = (H5Screate(NULL), H5Screate(SCALAR));
            assert_eq!((H5Sget_simple_extent_npoints(null), H5Sget_simple_extent_npoints(scalar)), (0, 1));
            assert_eq!((H5Sis_simple(null), H5Sis_simple(scalar)), (0, 1));
            assert_eq!(H5Screate(7), -1);
        }
        assert_eq!(simple(&[H5S_UNLIMITED], None), -1);
        assert_eq!(simple(&[5], Some(&[4])), -1);
        assert_eq!(simple(&[1; 33], None), -1);
    }

    #[test]
    fn a_dataspace_without_extent_has_no_elements() {
        let int = crate::symbols::datatypes::H5T_NATIVE_INT_g;
        let mut value = [5_u8; 4];
        // SAFETY: the buffer has an element; the fill value may be null.
        unsafe {
            let unset = H5Screate(SIMPLE);
            let buffer = crate::pointer::Buffer::of(value.as_mut_ptr().cast());
            let none = crate::pointer::Data::of(std::ptr::null());
            assert_eq!(crate::h5d::H5Dfill(none, int, buffer, int, unset), -1);
            assert_eq!(crate::h5t_convert::H5Treclaim(int, unset, 0, buffer), -1);
            assert_eq!(H5Sclose(unset), 0);
        }
        assert_eq!(value, [5; 4]);
    }
}
