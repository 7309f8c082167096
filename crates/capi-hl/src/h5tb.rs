//! Tables: creation, and reads and writes of whole records (`H5TB*`).

use std::ffi::{c_char, c_int};

use crate::ctypes::{H5P_DEFAULT, H5S_ALL, H5S_UNLIMITED, class, herr_t, hid_t, hsize_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, Foreign, In, Text};
use crate::table::Table;
use crate::{export, sys};

/// The level of deflate of compressed tables.
const LEVEL: u32 = 6;

export! {
    /// Creates a table, and writes its records if `buf` is not null.
    fn H5TBmake_table(table_title: Text, loc_id: hid_t, dset_name: Text, nfields: hsize_t, nrecords: hsize_t, type_size: usize, field_names: In<*const c_char>, field_offset: In<usize>, field_types: In<hid_t>, chunk_size: hsize_t, fill_data: Data, compress: c_int, buf: Data) -> herr_t {
        let title = table_title.value("title")?;
        let count = hyperslab_exact::to_usize(nfields).map_err(|_| Failure::bad_range("too many fields"))?;
        let offsets = field_offset.array(count, "offsets of the fields")?;
        let types = field_types.array(count, "datatypes of the fields")?;
        let names = field_names.array(count, "names of the fields")?;
        let record = Id::own(sys::H5Tcreate(class::COMPOUND, type_size))?;
        for ((name, offset), datatype) in names.iter().zip(&offsets).zip(&types) {
            let name = Foreign::of(name.cast_mut().cast()).text();
            let name = name.ok_or_else(|| Failure::bad_value("a field has no name"))?;
            check(sys::H5Tinsert(record.get(), Text::of(&name), *offset, *datatype))?;
        }
        let list = creation(chunk_size, (compress != 0).then_some(LEVEL))?;
        if !fill_data.is_null() {
            check(sys::H5Pset_fill_value(list.get(), record.get(), fill_data))?;
        }
        let table = create(loc_id, Some(dset_name), &record, nrecords, &list)?;
        if !buf.is_null() && nrecords > 0 {
            let (all, none) = (H5S_ALL, H5P_DEFAULT);
            check(sys::H5Dwrite(table.dataset.get(), record.get(), all, all, none, buf))?;
        }
        table.describe(&title)?;
        if !fill_data.is_null() {
            for (field, (offset, datatype)) in offsets.iter().zip(&types).enumerate() {
                table.set_fill(field, *datatype, fill_data.at(*offset))?;
            }
        }
        table.dataset.close()?;
        Ok(0)
    }

    /// Writes records at the end of a table.
    fn H5TBappend_records(loc_id: hid_t, dset_name: Text, nrecords: hsize_t, type_size: usize, field_offset: In<usize>, dst_sizes: In<usize>, buf: Data) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = table.memory_of(type_size, field_offset, dst_sizes)?;
        let held = table.grow(nrecords)?;
        table.write(held, nrecords, record.get(), buf)?;
        table.dataset.close()?;
        Ok(0)
    }

    /// Writes records in the place of others.
    fn H5TBwrite_records(loc_id: hid_t, dset_name: Text, start: hsize_t, nrecords: hsize_t, type_size: usize, field_offset: In<usize>, dst_sizes: In<usize>, buf: Data) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = table.memory_of(type_size, field_offset, dst_sizes)?;
        table.write(start, nrecords, record.get(), buf)?;
        table.dataset.close()?;
        Ok(0)
    }

    /// Reads all records.
    fn H5TBread_table(loc_id: hid_t, dset_name: Text, dst_size: usize, dst_offset: In<usize>, dst_sizes: In<usize>, dst_buf: Buffer) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = table.memory_of(dst_size, dst_offset, dst_sizes)?;
        table.read(0, table.records()?, record.get(), dst_buf)?;
        Ok(0)
    }

    /// Reads records.
    fn H5TBread_records(loc_id: hid_t, dset_name: Text, start: hsize_t, nrecords: hsize_t, type_size: usize, dst_offset: In<usize>, dst_sizes: In<usize>, buf: Buffer) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = table.memory_of(type_size, dst_offset, dst_sizes)?;
        table.read(start, nrecords, record.get(), buf)?;
        Ok(0)
    }
}

/// Returns the properties of a table's dataset.
///
/// # Errors
/// Fails if the size of the chunks is not possible.
fn creation(chunk: hsize_t, level: Option<u32>) -> Outcome<Id> {
    let list = Id::own(sys::H5Pcreate(sys::H5P_CLS_DATASET_CREATE_ID_g))?;
    check(sys::H5Pset_chunk(list.get(), 1, In::to(&[chunk])))?;
    if let Some(level) = level {
        check(sys::H5Pset_deflate(list.get(), level))?;
    }
    Ok(list)
}

/// Creates the dataset of a table, which can grow. Without a name, the dataset has no link.
///
/// # Errors
/// Fails if the name is null or the dataset cannot be made.
pub fn create(
    location: hid_t,
    name: Option<Text>,
    record: &Id,
    records: hsize_t,
    list: &Id,
) -> Outcome<Table> {
    let (dims, most) = ([records], [H5S_UNLIMITED]);
    let space = Id::own(sys::H5Screate_simple(1, In::to(&dims), In::to(&most)))?;
    let (record, space, list, none) = (record.get(), space.get(), list.get(), H5P_DEFAULT);
    let made = match name {
        Some(name) => {
            sys::H5Dcreate2(location, name.require("name of a table")?, record, space, none, list, none)
        }
        None => sys::H5Dcreate_anon(location, record, space, list, none),
    };
    Table::of(Id::own(made)?)
}
