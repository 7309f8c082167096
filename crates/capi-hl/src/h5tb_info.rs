//! Questions about tables (`H5TBget_*`, `H5TBAget_*`).

use std::ffi::{c_char, c_uchar};

use crate::ctypes::{herr_t, hid_t, hsize_t, htri_t};
use crate::failure::{Failure, check};
use crate::handle::Id;
use crate::pointer::{Buffer, In, Out, Text, TextBuffer};
use crate::table::{TITLE, Table};
use crate::{export, object, sys};

export! {
    /// Returns the numbers of fields and records of a table.
    fn H5TBget_table_info(loc_id: hid_t, dset_name: Text, nfields: Out<hsize_t>, nrecords: Out<hsize_t>) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        nfields.put(hyperslab_exact::to_u64(table.fields));
        nrecords.put(table.records()?);
        Ok(0)
    }

    /// Returns the names, sizes and offsets of the fields in memory, and the size of a record. A
    /// null pointer leaves an answer out.
    fn H5TBget_field_info(loc_id: hid_t, dset_name: Text, field_names: In<*mut c_char>, field_sizes: Out<usize>, field_offsets: Out<usize>, type_size: Out<usize>) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let native = object::native(table.datatype.get())?;
        let (mut sizes, mut offsets) = (Vec::new(), Vec::new());
        for field in 0..table.fields {
            let number = u32::try_from(field).map_err(|_| Failure::bad_range("too many fields"))?;
            let member = Id::own(sys::H5Tget_member_type(native.get(), number))?;
            sizes.push(object::size(member.get())?);
            offsets.push(sys::H5Tget_member_offset(native.get(), number));
        }
        if !field_names.is_null() {
            let buffers = field_names.array(table.fields, "buffers of names")?;
            for (field, buffer) in buffers.into_iter().enumerate() {
                TextBuffer::of(buffer).put_whole(table.name(field)?.as_bytes());
            }
        }
        field_sizes.fill(&sizes);
        field_offsets.fill(&offsets);
        type_size.put(object::size(native.get())?);
        Ok(0)
    }

    /// Returns the title of an open table.
    fn H5TBAget_title(loc_id: hid_t, table_title: TextBuffer) -> herr_t {
        let title = object::text_attribute(loc_id, TITLE)?;
        let title = title.ok_or_else(|| Failure::bad_value("the object has no title"))?;
        table_title.put_whole(title.as_bytes());
        Ok(0)
    }

    /// Returns 1 if a table has fill values, and copies them to their places in a record in memory.
    /// Returns 0 if the table has none.
    fn H5TBAget_fill(loc_id: hid_t, dset_name: Text, dset_id: hid_t, dst_buf: Out<c_uchar>) -> htri_t {
        let table = Table::open(loc_id, dset_name)?;
        let native = object::native(table.datatype.get())?;
        let mut found = 0;
        for field in 0..table.fields {
            let Some(attribute) = object::attribute(dset_id, &Table::fill_name(field)?)? else { continue };
            found = 1;
            let number = u32::try_from(field).map_err(|_| Failure::bad_range("too many fields"))?;
            let member = Id::own(sys::H5Tget_member_type(native.get(), number))?;
            let mut value = vec![0; object::size(member.get())?];
            check(sys::H5Aread(attribute.get(), member.get(), Buffer::to(&mut value)))?;
            Buffer::elements(dst_buf).put(sys::H5Tget_member_offset(native.get(), number), &value);
        }
        Ok(found)
    }
}
