//! Attributes in one call (`H5LTset_attribute_*`, `H5LTget_attribute*`).

use std::ffi::{
    c_char, c_double, c_float, c_int, c_long, c_longlong, c_short, c_uchar, c_uint, c_ulong, c_ulonglong,
    c_ushort,
};

use crate::ctypes::{H5P_DEFAULT, herr_t, hid_t, hsize_t};
use crate::failure::{Outcome, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Out, Text, TextBuffer};
use crate::{export, object, sys};

/// Writes numbers as an attribute with one dimension.
fn set(
    location: hid_t,
    object_name: Text,
    name: Text,
    datatype: hid_t,
    values: Data,
    count: usize,
) -> Outcome<herr_t> {
    let name = name.value("name of an attribute")?;
    let object = object::object(location, object_name)?;
    let space = object::space(&[hyperslab_exact::to_u64(count)])?;
    object::set_attribute(object.get(), &name, datatype, &space, values)?;
    Ok(0)
}

/// Opens an attribute of the object `object_name`.
fn open(location: hid_t, object_name: Text, name: Text) -> Outcome<Id> {
    let name = name.require("name of an attribute")?;
    let object = object::object(location, object_name)?;
    Id::own(sys::H5Aopen(object.get(), name, H5P_DEFAULT))
}

/// Reads an attribute. The datatype in memory is the one of the file if `datatype` is `None`.
fn get(
    location: hid_t,
    object_name: Text,
    name: Text,
    datatype: Option<hid_t>,
    buffer: Buffer,
) -> Outcome<herr_t> {
    let attribute = open(location, object_name, name)?;
    let of_file = Id::own(sys::H5Aget_type(attribute.get()))?;
    check(sys::H5Aread(attribute.get(), datatype.unwrap_or_else(|| of_file.get()), buffer))
}

export! {
    /// Writes a string attribute.
    fn H5LTset_attribute_string(loc_id: hid_t, obj_name: Text, attr_name: Text, attr_data: Text) -> herr_t {
        let (name, text) = (attr_name.value("name of an attribute")?, attr_data.value("text")?);
        object::set_text(object::object(loc_id, obj_name)?.get(), &name, &text)?;
        Ok(0)
    }

    /// Reads an attribute with the datatype of the file.
    fn H5LTget_attribute_string(loc_id: hid_t, obj_name: Text, attr_name: Text, data: TextBuffer) -> herr_t {
        get(loc_id, obj_name, attr_name, None, data.elements())
    }

    /// Reads an attribute.
    fn H5LTget_attribute(loc_id: hid_t, obj_name: Text, attr_name: Text, mem_type_id: hid_t, data: Buffer) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(mem_type_id), data)
    }

    /// Returns the number of dimensions of an attribute.
    fn H5LTget_attribute_ndims(loc_id: hid_t, obj_name: Text, attr_name: Text, rank: Out<c_int>) -> herr_t {
        let attribute = open(loc_id, obj_name, attr_name)?;
        let space = Id::own(sys::H5Aget_space(attribute.get()))?;
        rank.put(object::rank(&object::dims(space.get())?)?);
        Ok(0)
    }

    /// Returns the dimensions of an attribute, and the class and the size of its datatype.
    fn H5LTget_attribute_info(loc_id: hid_t, obj_name: Text, attr_name: Text, dims: Out<hsize_t>, type_class: Out<c_int>, type_size: Out<usize>) -> herr_t {
        let attribute = open(loc_id, obj_name, attr_name)?;
        let datatype = Id::own(sys::H5Aget_type(attribute.get()))?;
        type_class.put(check(sys::H5Tget_class(datatype.get()))?);
        type_size.put(object::size(datatype.get())?);
        let space = Id::own(sys::H5Aget_space(attribute.get()))?;
        dims.fill(&object::dims(space.get())?);
        Ok(0)
    }
}

export! {
    /// Writes an attribute of characters.
    fn H5LTset_attribute_char(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_char>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_SCHAR_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as characters.
    fn H5LTget_attribute_char(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_char>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_SCHAR_g), Buffer::elements(data))
    }

    /// Writes an attribute of unsigned characters.
    fn H5LTset_attribute_uchar(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_uchar>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_UCHAR_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as unsigned characters.
    fn H5LTget_attribute_uchar(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_uchar>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_UCHAR_g), Buffer::elements(data))
    }

    /// Writes an attribute of short integers.
    fn H5LTset_attribute_short(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_short>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_SHORT_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as short integers.
    fn H5LTget_attribute_short(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_short>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_SHORT_g), Buffer::elements(data))
    }

    /// Writes an attribute of unsigned short integers.
    fn H5LTset_attribute_ushort(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_ushort>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_USHORT_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as unsigned short integers.
    fn H5LTget_attribute_ushort(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_ushort>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_USHORT_g), Buffer::elements(data))
    }

    /// Writes an attribute of integers.
    fn H5LTset_attribute_int(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_int>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_INT_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as integers.
    fn H5LTget_attribute_int(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_int>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_INT_g), Buffer::elements(data))
    }

    /// Writes an attribute of unsigned integers.
    fn H5LTset_attribute_uint(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_uint>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_UINT_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as unsigned integers.
    fn H5LTget_attribute_uint(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_uint>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_UINT_g), Buffer::elements(data))
    }

    /// Writes an attribute of long integers.
    fn H5LTset_attribute_long(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_long>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_LONG_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as long integers.
    fn H5LTget_attribute_long(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_long>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_LONG_g), Buffer::elements(data))
    }

    /// Writes an attribute of long long integers.
    fn H5LTset_attribute_long_long(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_longlong>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_LLONG_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as long long integers.
    fn H5LTget_attribute_long_long(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_longlong>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_LLONG_g), Buffer::elements(data))
    }

    /// Writes an attribute of unsigned long integers.
    fn H5LTset_attribute_ulong(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_ulong>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_ULONG_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as unsigned long integers.
    fn H5LTget_attribute_ulong(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_ulong>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_ULONG_g), Buffer::elements(data))
    }

    /// Writes an attribute of unsigned long long integers.
    fn H5LTset_attribute_ullong(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_ulonglong>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_ULLONG_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as unsigned long long integers.
    fn H5LTget_attribute_ullong(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_ulonglong>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_ULLONG_g), Buffer::elements(data))
    }

    /// Writes an attribute of single-precision numbers.
    fn H5LTset_attribute_float(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_float>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_FLOAT_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as single-precision numbers.
    fn H5LTget_attribute_float(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_float>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_FLOAT_g), Buffer::elements(data))
    }

    /// Writes an attribute of double-precision numbers.
    fn H5LTset_attribute_double(loc_id: hid_t, obj_name: Text, attr_name: Text, buffer: In<c_double>, size: usize) -> herr_t {
        set(loc_id, obj_name, attr_name, sys::H5T_NATIVE_DOUBLE_g, Data::elements(buffer), size)
    }

    /// Reads an attribute as double-precision numbers.
    fn H5LTget_attribute_double(loc_id: hid_t, obj_name: Text, attr_name: Text, data: Out<c_double>) -> herr_t {
        get(loc_id, obj_name, attr_name, Some(sys::H5T_NATIVE_DOUBLE_g), Buffer::elements(data))
    }
}
