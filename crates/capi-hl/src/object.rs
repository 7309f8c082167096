//! Steps over objects that several families use: datasets, dataspaces, attributes, datatypes.

use std::ffi::{CStr, CString};

use crate::ctypes::{
    H5I_DATASET, H5P_DEFAULT, H5S_SCALAR, H5S_SELECT_SET, H5T_VARIABLE, class, hid_t, hsize_t,
};
use crate::failure::{Failure, Outcome, check, truth};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, Foreign, In, Out, Text};
use crate::sys;

/// Opens the dataset `name`.
///
/// # Errors
/// Fails if the name is null or no dataset has the name.
pub fn dataset(location: hid_t, name: Text) -> Outcome<Id> {
    Id::own(sys::H5Dopen2(location, name.require("name of a dataset")?, H5P_DEFAULT))
}

/// Opens the object `name`.
///
/// # Errors
/// Fails if the name is null or no object has the name.
pub fn object(location: hid_t, name: Text) -> Outcome<Id> {
    Id::own(sys::H5Oopen(location, name.require("name of an object")?, H5P_DEFAULT))
}

/// Checks that an identifier is one of a dataset.
///
/// # Errors
/// Fails for all other identifiers.
pub fn require_dataset(id: hid_t) -> Outcome<()> {
    if sys::H5Iget_type(id) == H5I_DATASET { Ok(()) } else { Err(Failure::bad_type("not a dataset")) }
}

/// Returns the dimensions of a dataspace.
///
/// # Errors
/// Fails if the dataspace is not valid.
pub fn dims(space: hid_t) -> Outcome<Vec<hsize_t>> {
    let rank = check(sys::H5Sget_simple_extent_ndims(space))?;
    let mut dims = vec![0; usize::try_from(rank).map_err(|_| Failure::Reported)?];
    check(sys::H5Sget_simple_extent_dims(space, Out::to(&mut dims), Out::null()))?;
    Ok(dims)
}

/// Returns the dimensions of a dataset.
///
/// # Errors
/// Fails if the dataset is not valid.
pub fn dataset_dims(dataset: hid_t) -> Outcome<Vec<hsize_t>> {
    dims(Id::own(sys::H5Dget_space(dataset))?.get())
}

/// Returns a number of dimensions as the C interface has it.
///
/// # Errors
/// Fails for numbers that `int` does not hold.
pub fn rank(dims: &[hsize_t]) -> Outcome<i32> {
    i32::try_from(dims.len()).map_err(|_| Failure::bad_range("too many dimensions"))
}

/// Creates a dataspace with the dimensions.
///
/// # Errors
/// Fails if the dimensions are not possible.
pub fn space(dims: &[hsize_t]) -> Outcome<Id> {
    Id::own(sys::H5Screate_simple(rank(dims)?, In::to(dims), In::null()))
}

/// Creates a dataspace of one element without dimensions.
///
/// # Errors
/// Fails if the library fails.
pub fn scalar() -> Outcome<Id> {
    Id::own(sys::H5Screate(H5S_SCALAR))
}

/// Returns a dataset's dataspace with a selection of `count` elements of one dimension from `start`
/// on, and a dataspace for the elements in memory.
///
/// # Errors
/// Fails if the dataset has other than one dimension, or fewer elements.
pub fn range(dataset: hid_t, start: hsize_t, count: hsize_t) -> Outcome<(Id, Id)> {
    let file = Id::own(sys::H5Dget_space(dataset))?;
    let held = match dims(file.get())?.as_slice() {
        [held] => *held,
        _ => return Err(Failure::bad_type("the dataset has other than one dimension")),
    };
    if start.checked_add(count).is_none_or(|end| end > held) {
        return Err(Failure::bad_range(format!("{count} records from {start} on, of {held}")));
    }
    let (from, number) = ([start], [count]);
    let set = sys::H5Sselect_hyperslab(
        file.get(),
        H5S_SELECT_SET,
        In::to(&from),
        In::null(),
        In::to(&number),
        In::null(),
    );
    check(set)?;
    Ok((file, space(&[count])?))
}

/// Returns the size of a datatype.
///
/// # Errors
/// Fails if the datatype is not valid.
pub fn size(datatype: hid_t) -> Outcome<usize> {
    match sys::H5Tget_size(datatype) {
        0 => Err(Failure::Reported),
        size => Ok(size),
    }
}

/// Returns the native datatype of a datatype.
///
/// # Errors
/// Fails if there is none.
pub fn native(datatype: hid_t) -> Outcome<Id> {
    Id::own(sys::H5Tget_native_type(datatype, 0))
}

/// Returns a text with a zero byte at its end.
///
/// # Errors
/// Fails if the text has a zero byte.
pub fn c_text(text: impl Into<Vec<u8>>) -> Outcome<CString> {
    CString::new(text).map_err(|_| Failure::bad_value("a text with a zero byte"))
}

/// Returns a text that `libhdf5.so` allocated, and releases it.
///
/// # Errors
/// Fails if there is no text.
pub fn take_text(pointer: *mut std::ffi::c_char) -> Outcome<CString> {
    let text = Foreign::of(pointer.cast()).text().ok_or(Failure::Reported)?;
    sys::H5free_memory(pointer.cast());
    Ok(text)
}

/// Returns a string datatype for texts of `size` bytes.
///
/// # Errors
/// Fails if the size is not possible.
pub fn string_type(size: usize) -> Outcome<Id> {
    let datatype = Id::own(sys::H5Tcopy(sys::H5T_C_S1_g))?;
    check(sys::H5Tset_size(datatype.get(), size))?;
    Ok(datatype)
}

/// Returns whether an object has the attribute `name`.
///
/// # Errors
/// Fails if the object is not valid.
pub fn has_attribute(object: hid_t, name: &CStr) -> Outcome<bool> {
    truth(sys::H5Aexists(object, Text::of(name)))
}

/// Opens the attribute `name`, or returns `None` if the object does not have it.
///
/// # Errors
/// Fails if the object is not valid.
pub fn attribute(object: hid_t, name: &CStr) -> Outcome<Option<Id>> {
    if !has_attribute(object, name)? {
        return Ok(None);
    }
    Id::own(sys::H5Aopen(object, Text::of(name), H5P_DEFAULT)).map(Some)
}

/// Writes an attribute in the place of one with the same name.
///
/// # Errors
/// Fails if the attribute cannot be written.
pub fn set_attribute(object: hid_t, name: &CStr, datatype: hid_t, space: &Id, value: Data) -> Outcome<()> {
    if has_attribute(object, name)? {
        check(sys::H5Adelete(object, Text::of(name)))?;
    }
    let made = sys::H5Acreate2(object, Text::of(name), datatype, space.get(), H5P_DEFAULT, H5P_DEFAULT);
    let attribute = Id::own(made)?;
    check(sys::H5Awrite(attribute.get(), datatype, value))?;
    attribute.close()
}

/// Writes a text as a scalar attribute of fixed size, in the place of one with the same name.
///
/// # Errors
/// Fails if the attribute cannot be written.
pub fn set_text(object: hid_t, name: &CStr, text: &CStr) -> Outcome<()> {
    let datatype = string_type(text.count_bytes() + 1)?;
    set_attribute(object, name, datatype.get(), &scalar()?, Data::text(text))
}

/// Returns the text of a string attribute with one element, or `None` if the object does not have
/// the attribute or its value is another one.
///
/// # Errors
/// Fails if the attribute cannot be read.
pub fn text_attribute(object: hid_t, name: &CStr) -> Outcome<Option<CString>> {
    let Some(attribute) = attribute(object, name)? else { return Ok(None) };
    let datatype = Id::own(sys::H5Aget_type(attribute.get()))?;
    if check(sys::H5Tget_class(datatype.get()))? != class::STRING {
        return Ok(None);
    }
    let space = Id::own(sys::H5Aget_space(attribute.get()))?;
    if check(sys::H5Sget_simple_extent_npoints(space.get()))? != 1 {
        return Ok(None);
    }
    if truth(sys::H5Tis_variable_str(datatype.get()))? {
        let mut pointer = [std::ptr::null_mut()];
        check(sys::H5Aread(attribute.get(), datatype.get(), Buffer::values(&mut pointer)))?;
        let text = pointer.first().and_then(|pointer| Foreign::of(*pointer).text());
        check(sys::H5Treclaim(datatype.get(), space.get(), H5P_DEFAULT, Buffer::values(&mut pointer)))?;
        return Ok(text);
    }
    let mut bytes = vec![0; size(datatype.get())?];
    check(sys::H5Aread(attribute.get(), datatype.get(), Buffer::to(&mut bytes)))?;
    first_text(&bytes).map(Some)
}

/// Returns the bytes before the first zero byte.
fn first_text(bytes: &[u8]) -> Outcome<CString> {
    c_text(bytes.iter().copied().take_while(|byte| *byte != 0).collect::<Vec<u8>>())
}

/// Returns a string datatype of variable length.
///
/// # Errors
/// Fails if the library fails.
pub fn variable_string() -> Outcome<Id> {
    string_type(H5T_VARIABLE)
}
