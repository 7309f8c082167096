//! Datatype functions for arrays, sequences, opaque datatypes and complex numbers (`H5T*`).

use std::ffi::{c_char, c_int, c_uint};

use hyperslab::dataspace::MAX_RANK;
use hyperslab::datatype::{Array, VariableLength, VariableLengthKind};
use hyperslab::{Datatype, DatatypeClass};

use crate::ctypes::{counted, herr_t, hid_t, hsize_t};
use crate::datatype::form::SEQUENCE_BYTES;
use crate::datatype::{self, class};
use crate::error::{Failure, Outcome};
use crate::pointer::{In, Out, Text};
use crate::{export, memory};

/// The maximum size of an opaque datatype's tag in bytes, including the zero byte
/// (`H5T_OPAQUE_TAG_MAX`).
const TAG_LIMIT: usize = 256;

/// Registers a new array datatype and returns its identifier.
fn array(base: hid_t, rank: usize, dims: In<hsize_t>) -> Outcome<hid_t> {
    if !(1..=MAX_RANK).contains(&rank) {
        return Err(Failure::bad_value("invalid number of dimensions"));
    }
    let dims = dims.array(rank, "dimensions")?;
    if dims.contains(&0) {
        return Err(Failure::bad_value("a dimension of the array is zero"));
    }
    let base = datatype::copy_of(base)?;
    let large = |_| Failure::bad_value("the array is too large");
    let dims = dims.iter().map(|size| u32::try_from(*size).map_err(large)).collect::<Outcome<Vec<u32>>>()?;
    let size = dims.iter().try_fold(base.size, |size, dim| size.checked_mul(*dim));
    if size.is_none() {
        return Err(Failure::bad_value("the array is too large"));
    }
    Ok(datatype::register(Datatype::array(dims, base)))
}

/// Returns the array properties of a datatype. Returns an error if the datatype is not an array.
fn as_array(datatype: &Datatype) -> Outcome<&Array> {
    match &datatype.class {
        DatatypeClass::Array(array) => Ok(array),
        _ => Err(Failure::bad_type("not an array")),
    }
}

/// Stores the dimensions of an array datatype and returns the number of dimensions.
fn dims_of(id: hid_t, dims: Out<hsize_t>) -> Outcome<c_int> {
    datatype::with(id, |datatype| {
        let array = as_array(datatype)?;
        let values: Vec<u64> = array.dims.iter().map(|size| u64::from(*size)).collect();
        dims.fill(&values, values.len())?;
        c_int::try_from(values.len()).map_err(|_| Failure::bad_value("too many dimensions"))
    })
}

export! {
    /// Creates an array datatype and returns its identifier. Ignores the argument with a
    /// permutation of the dimensions.
    fn H5Tarray_create1(base: hid_t, rank: c_int, dims: In<hsize_t>, permutation: In<c_int>) -> hid_t {
        let _ = permutation;
        array(base, counted(rank)?, dims)
    }

    /// Creates an array datatype and returns its identifier.
    fn H5Tarray_create2(base: hid_t, rank: c_uint, dims: In<hsize_t>) -> hid_t {
        array(base, counted(rank)?, dims)
    }

    /// Returns the number of dimensions of an array datatype.
    fn H5Tget_array_ndims(id: hid_t) -> c_int {
        datatype::with(id, |datatype| {
            c_int::try_from(as_array(datatype)?.dims.len())
                .map_err(|_| Failure::bad_value("too many dimensions"))
        })
    }

    /// Stores the dimensions of an array datatype and returns their number. Stores no permutation
    /// of the dimensions.
    fn H5Tget_array_dims1(id: hid_t, dims: Out<hsize_t>, permutation: Out<c_int>) -> c_int {
        let _ = permutation;
        dims_of(id, dims)
    }

    /// Stores the dimensions of an array datatype and returns their number.
    fn H5Tget_array_dims2(id: hid_t, dims: Out<hsize_t>) -> c_int {
        dims_of(id, dims)
    }

    /// Creates a variable-length sequence datatype and returns its identifier.
    fn H5Tvlen_create(base: hid_t) -> hid_t {
        let base = Box::new(datatype::copy_of(base)?);
        let class = VariableLength { kind: VariableLengthKind::Sequence, base };
        let class = DatatypeClass::VariableLength(class);
        Ok(datatype::register(Datatype { class, size: SEQUENCE_BYTES }))
    }

    /// Creates a complex datatype from a floating-point datatype and returns its identifier.
    fn H5Tcomplex_create(base: hid_t) -> hid_t {
        let base = datatype::copy_of(base)?;
        if !matches!(base.class, DatatypeClass::FloatingPoint(_)) {
            return Err(Failure::bad_type("not a floating-point datatype"));
        }
        Ok(datatype::register(Datatype::complex(base)))
    }

    /// Sets the tag of an opaque datatype.
    fn H5Tset_tag(id: hid_t, tag: Text) -> herr_t {
        datatype::change(id, |datatype| {
            let mut root = datatype;
            while class::base(root).is_some() {
                match class::base_mut(root) {
                    Some(base) => root = base,
                    None => return Err(Failure::bad_type("not an opaque datatype")),
                }
            }
            let DatatypeClass::Opaque(opaque) = &mut root.class else {
                return Err(Failure::bad_type("not an opaque datatype"));
            };
            let tag = tag.bytes("tag")?;
            if tag.len() >= TAG_LIMIT {
                return Err(Failure::bad_value("the tag is too long"));
            }
            opaque.tag = tag.to_vec();
            Ok(0)
        })
    }

    /// Returns a copy of the tag of an opaque datatype, which the program frees.
    fn H5Tget_tag(id: hid_t) -> *mut c_char {
        datatype::with(id, |datatype| match &class::root(datatype).class {
            DatatypeClass::Opaque(opaque) => Ok(memory::text(&opaque.tag)),
            _ => Err(Failure::bad_type("not an opaque datatype")),
        })
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "the tests call exported functions")]
mod tests {
    use super::*;
    use crate::h5t::{H5Tcreate, H5Tget_class, H5Tget_size};
    use crate::symbols::datatypes::{H5T_NATIVE_FLOAT_g, H5T_NATIVE_INT_g};

    #[test]
    fn composites() {
        let (dims, mut found) = ([2_u64, 3, 0], [0_u64; 2]);
        // SAFETY: the arrays have the stated numbers of values; the tag ends with a zero byte.
        unsafe {
            let id = H5Tarray_create2(H5T_NATIVE_INT_g, 2, In::of(dims.as_ptr()));
            assert_eq!((H5Tget_size(id), H5Tget_array_ndims(id)), (24, 2));
            assert_eq!((H5Tget_array_dims2(id, Out::of(found.as_mut_ptr())), found), (2, [2, 3]));
            assert_eq!(H5Tarray_create2(H5T_NATIVE_INT_g, 3, In::of(dims.as_ptr())), -1);
            assert_eq!(H5Tarray_create2(H5T_NATIVE_INT_g, 0, In::of(dims.as_ptr())), -1);
            let sequence = H5Tvlen_create(id);
            assert_eq!((H5Tget_class(sequence), H5Tget_size(sequence)), (class::VLEN, 16));
            assert_eq!(H5Tget_size(H5Tcomplex_create(H5T_NATIVE_FLOAT_g)), 8);
            assert_eq!(H5Tcomplex_create(H5T_NATIVE_INT_g), -1);
            let opaque = H5Tcreate(class::OPAQUE, 5);
            assert_eq!(H5Tset_tag(opaque, Text::of(c"tag".as_ptr())), 0);
            let tag = H5Tget_tag(opaque);
            assert_eq!(std::ffi::CStr::from_ptr(tag), c"tag");
            memory::free(tag.cast());
            assert!(H5Tget_tag(id).is_null());
        }
    }
}
