//! Reads and writes of some fields of records (`H5TB*_fields_*`).

use std::ffi::c_int;

use crate::ctypes::{herr_t, hid_t, hsize_t};
use crate::export;
use crate::failure::{Failure, Outcome};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Text};
use crate::table::Table;

export! {
    /// Writes the fields of a list of names.
    fn H5TBwrite_fields_name(loc_id: hid_t, dset_name: Text, field_names: Text, start: hsize_t, nrecords: hsize_t, type_size: usize, field_offset: In<usize>, dst_sizes: In<usize>, buf: Data) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = memory(&table, &by_name(&table, field_names)?, type_size, field_offset, dst_sizes)?;
        table.write(start, nrecords, record.get(), buf)?;
        table.dataset.close()?;
        Ok(0)
    }

    /// Writes the fields of an array of numbers.
    fn H5TBwrite_fields_index(loc_id: hid_t, dset_name: Text, nfields: hsize_t, field_index: In<c_int>, start: hsize_t, nrecords: hsize_t, type_size: usize, field_offset: In<usize>, dst_sizes: In<usize>, buf: Data) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = memory(&table, &by_index(nfields, field_index)?, type_size, field_offset, dst_sizes)?;
        table.write(start, nrecords, record.get(), buf)?;
        table.dataset.close()?;
        Ok(0)
    }

    /// Reads the fields of a list of names.
    fn H5TBread_fields_name(loc_id: hid_t, dset_name: Text, field_names: Text, start: hsize_t, nrecords: hsize_t, type_size: usize, field_offset: In<usize>, dst_sizes: In<usize>, buf: Buffer) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = memory(&table, &by_name(&table, field_names)?, type_size, field_offset, dst_sizes)?;
        table.read(start, nrecords, record.get(), buf)?;
        Ok(0)
    }

    /// Reads the fields of an array of numbers.
    fn H5TBread_fields_index(loc_id: hid_t, dset_name: Text, nfields: hsize_t, field_index: In<c_int>, start: hsize_t, nrecords: hsize_t, type_size: usize, field_offset: In<usize>, dst_sizes: In<usize>, buf: Buffer) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = memory(&table, &by_index(nfields, field_index)?, type_size, field_offset, dst_sizes)?;
        table.read(start, nrecords, record.get(), buf)?;
        Ok(0)
    }
}

/// Returns the numbers of the fields whose names a list has, in the order of the table.
fn by_name(table: &Table, list: Text) -> Outcome<Vec<usize>> {
    let list = list.value("names of fields")?;
    let names: Vec<&[u8]> = list.to_bytes().split(|byte| *byte == b',').collect();
    let mut numbers = Vec::new();
    for field in 0..table.fields {
        if names.contains(&table.name(field)?.as_bytes()) {
            numbers.push(field);
        }
    }
    if numbers.is_empty() {
        return Err(Failure::bad_value("the table has none of the fields"));
    }
    Ok(numbers)
}

/// Returns the numbers of an array.
fn by_index(count: hsize_t, index: In<c_int>) -> Outcome<Vec<usize>> {
    let count = hyperslab_exact::to_usize(count).map_err(|_| Failure::bad_range("too many fields"))?;
    let numbers = index.array(count, "numbers of fields")?;
    let numbers = numbers.into_iter().map(usize::try_from).collect::<Result<_, _>>();
    numbers.map_err(|_| Failure::bad_range("a negative number of a field"))
}

/// Returns the datatype of records in memory. Without offsets, each field is at the start.
fn memory(table: &Table, fields: &[usize], size: usize, offsets: In<usize>, sizes: In<usize>) -> Outcome<Id> {
    let offsets = match offsets.is_null() {
        true => vec![0; fields.len()],
        false => offsets.array(fields.len(), "offsets of the fields")?,
    };
    let sizes = sizes.array(fields.len(), "sizes of the fields")?;
    let places = fields.iter().zip(offsets).zip(sizes);
    let places: Vec<_> = places.map(|((field, offset), size)| (*field, offset, size)).collect();
    table.memory(size, &places)
}
