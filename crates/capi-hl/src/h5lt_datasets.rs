//! Datasets in one call (`H5LTmake_dataset*`, `H5LTread_dataset*`, `H5LTget_dataset_*`).

use std::ffi::{c_char, c_double, c_float, c_int, c_long, c_short};

use crate::ctypes::{H5P_DEFAULT, H5S_ALL, herr_t, hid_t, hsize_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Out, Text, TextBuffer};
use crate::{export, object, sys};

/// Creates a dataset and writes all elements. A null pointer leaves the elements unwritten.
///
/// # Errors
/// Fails if the name is null or the dataset cannot be made.
pub fn make(location: hid_t, name: Text, dims: &[hsize_t], datatype: hid_t, elements: Data) -> Outcome<Id> {
    let space = object::space(dims)?;
    let name = name.require("name of a dataset")?;
    let (none, space) = (H5P_DEFAULT, space.get());
    let dataset = Id::own(sys::H5Dcreate2(location, name, datatype, space, none, none, none))?;
    if !elements.is_null() {
        check(sys::H5Dwrite(dataset.get(), datatype, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements))?;
    }
    Ok(dataset)
}

/// Creates a dataset from the arguments of a C function.
fn make_from(
    location: hid_t,
    name: Text,
    rank: c_int,
    dims: In<hsize_t>,
    datatype: hid_t,
    elements: Data,
) -> Outcome<herr_t> {
    let rank = usize::try_from(rank).map_err(|_| Failure::bad_range("a negative number of dimensions"))?;
    make(location, name, &dims.array(rank, "dimensions")?, datatype, elements)?.close()?;
    Ok(0)
}

/// Reads all elements of the dataset `name`. The datatype in memory is the one of the file if
/// `datatype` is `None`.
///
/// # Errors
/// Fails if the dataset cannot be read.
pub fn read(location: hid_t, name: Text, datatype: Option<hid_t>, buffer: Buffer) -> Outcome<herr_t> {
    let dataset = object::dataset(location, name)?;
    let of_file = Id::own(sys::H5Dget_type(dataset.get()))?;
    let datatype = datatype.unwrap_or_else(|| of_file.get());
    check(sys::H5Dread(dataset.get(), datatype, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer))
}

export! {
    /// Creates a dataset and writes its elements.
    fn H5LTmake_dataset(loc_id: hid_t, dset_name: Text, rank: c_int, dims: In<hsize_t>, type_id: hid_t, buffer: Data) -> herr_t {
        make_from(loc_id, dset_name, rank, dims, type_id, buffer)
    }

    /// Reads all elements of a dataset.
    fn H5LTread_dataset(loc_id: hid_t, dset_name: Text, type_id: hid_t, buffer: Buffer) -> herr_t {
        read(loc_id, dset_name, Some(type_id), buffer)
    }

    /// Creates a dataset of one string and writes it.
    fn H5LTmake_dataset_string(loc_id: hid_t, dset_name: Text, buf: Text) -> herr_t {
        let text = buf.value("text")?;
        let datatype = object::string_type(text.count_bytes() + 1)?;
        let (name, space, none) = (dset_name.require("name of a dataset")?, object::scalar()?, H5P_DEFAULT);
        let dataset = Id::own(sys::H5Dcreate2(loc_id, name, datatype.get(), space.get(), none, none, none))?;
        check(sys::H5Dwrite(dataset.get(), datatype.get(), H5S_ALL, H5S_ALL, none, Data::text(&text)))?;
        dataset.close()?;
        Ok(0)
    }

    /// Reads the string of a dataset.
    fn H5LTread_dataset_string(loc_id: hid_t, dset_name: Text, buf: TextBuffer) -> herr_t {
        read(loc_id, dset_name, None, buf.elements())
    }

    /// Returns the number of dimensions of a dataset.
    fn H5LTget_dataset_ndims(loc_id: hid_t, dset_name: Text, rank: Out<c_int>) -> herr_t {
        let dataset = object::dataset(loc_id, dset_name)?;
        rank.put(object::rank(&object::dataset_dims(dataset.get())?)?);
        Ok(0)
    }

    /// Returns the dimensions of a dataset, and the class and the size of its datatype.
    fn H5LTget_dataset_info(loc_id: hid_t, dset_name: Text, dims: Out<hsize_t>, type_class: Out<c_int>, type_size: Out<usize>) -> herr_t {
        let dataset = object::dataset(loc_id, dset_name)?;
        let datatype = Id::own(sys::H5Dget_type(dataset.get()))?;
        type_class.put(check(sys::H5Tget_class(datatype.get()))?);
        type_size.put(object::size(datatype.get())?);
        dims.fill(&object::dataset_dims(dataset.get())?);
        Ok(0)
    }
}

export! {
    /// Creates a dataset of characters and writes its elements.
    fn H5LTmake_dataset_char(loc_id: hid_t, dset_name: Text, rank: c_int, dims: In<hsize_t>, buffer: In<c_char>) -> herr_t {
        make_from(loc_id, dset_name, rank, dims, sys::H5T_NATIVE_SCHAR_g, Data::elements(buffer))
    }

    /// Reads all elements of a dataset as characters.
    fn H5LTread_dataset_char(loc_id: hid_t, dset_name: Text, buffer: Out<c_char>) -> herr_t {
        read(loc_id, dset_name, Some(sys::H5T_NATIVE_SCHAR_g), Buffer::elements(buffer))
    }

    /// Creates a dataset of short integers and writes its elements.
    fn H5LTmake_dataset_short(loc_id: hid_t, dset_name: Text, rank: c_int, dims: In<hsize_t>, buffer: In<c_short>) -> herr_t {
        make_from(loc_id, dset_name, rank, dims, sys::H5T_NATIVE_SHORT_g, Data::elements(buffer))
    }

    /// Reads all elements of a dataset as short integers.
    fn H5LTread_dataset_short(loc_id: hid_t, dset_name: Text, buffer: Out<c_short>) -> herr_t {
        read(loc_id, dset_name, Some(sys::H5T_NATIVE_SHORT_g), Buffer::elements(buffer))
    }

    /// Creates a dataset of integers and writes its elements.
    fn H5LTmake_dataset_int(loc_id: hid_t, dset_name: Text, rank: c_int, dims: In<hsize_t>, buffer: In<c_int>) -> herr_t {
        make_from(loc_id, dset_name, rank, dims, sys::H5T_NATIVE_INT_g, Data::elements(buffer))
    }

    /// Reads all elements of a dataset as integers.
    fn H5LTread_dataset_int(loc_id: hid_t, dset_name: Text, buffer: Out<c_int>) -> herr_t {
        read(loc_id, dset_name, Some(sys::H5T_NATIVE_INT_g), Buffer::elements(buffer))
    }

    /// Creates a dataset of long integers and writes its elements.
    fn H5LTmake_dataset_long(loc_id: hid_t, dset_name: Text, rank: c_int, dims: In<hsize_t>, buffer: In<c_long>) -> herr_t {
        make_from(loc_id, dset_name, rank, dims, sys::H5T_NATIVE_LONG_g, Data::elements(buffer))
    }

    /// Reads all elements of a dataset as long integers.
    fn H5LTread_dataset_long(loc_id: hid_t, dset_name: Text, buffer: Out<c_long>) -> herr_t {
        read(loc_id, dset_name, Some(sys::H5T_NATIVE_LONG_g), Buffer::elements(buffer))
    }

    /// Creates a dataset of single-precision numbers and writes its elements.
    fn H5LTmake_dataset_float(loc_id: hid_t, dset_name: Text, rank: c_int, dims: In<hsize_t>, buffer: In<c_float>) -> herr_t {
        make_from(loc_id, dset_name, rank, dims, sys::H5T_NATIVE_FLOAT_g, Data::elements(buffer))
    }

    /// Reads all elements of a dataset as single-precision numbers.
    fn H5LTread_dataset_float(loc_id: hid_t, dset_name: Text, buffer: Out<c_float>) -> herr_t {
        read(loc_id, dset_name, Some(sys::H5T_NATIVE_FLOAT_g), Buffer::elements(buffer))
    }

    /// Creates a dataset of double-precision numbers and writes its elements.
    fn H5LTmake_dataset_double(loc_id: hid_t, dset_name: Text, rank: c_int, dims: In<hsize_t>, buffer: In<c_double>) -> herr_t {
        make_from(loc_id, dset_name, rank, dims, sys::H5T_NATIVE_DOUBLE_g, Data::elements(buffer))
    }

    /// Reads all elements of a dataset as double-precision numbers.
    fn H5LTread_dataset_double(loc_id: hid_t, dset_name: Text, buffer: Out<c_double>) -> herr_t {
        read(loc_id, dset_name, Some(sys::H5T_NATIVE_DOUBLE_g), Buffer::elements(buffer))
    }
}
