//! Elements that a growing dataset has gained (`H5LD*`).

use crate::ctypes::{H5P_DEFAULT, H5S_SELECT_NOTB, H5S_SELECT_SET, class, herr_t, hid_t, hsize_t};
use crate::failure::{Failure, Outcome, check};
use crate::fields;
use crate::handle::Id;
use crate::pointer::{Buffer, In, Out, Text};
use crate::{export, object, sys};

export! {
    /// Returns the dimensions of a dataset.
    fn H5LDget_dset_dims(did: hid_t, cur_dims: Out<hsize_t>) -> herr_t {
        object::require_dataset(did)?;
        if cur_dims.is_null() {
            return Err(Failure::bad_value("no memory for the dimensions"));
        }
        cur_dims.fill(&object::dataset_dims(did)?);
        Ok(0)
    }

    /// Returns the size in memory of an element, or of the fields of a list.
    fn H5LDget_dset_type_size(did: hid_t, fields: Text) -> usize {
        object::require_dataset(did)?;
        total(&columns(did, fields)?)
    }

    /// Reads the elements that are within the dimensions `cur_dims` and not within `prev_dims`.
    fn H5LDget_dset_elmts(did: hid_t, prev_dims: In<hsize_t>, cur_dims: In<hsize_t>, fields: Text, buf: Buffer) -> herr_t {
        object::require_dataset(did)?;
        let file = Id::own(sys::H5Dget_space(did))?;
        let rank = object::dims(file.get())?.len();
        let (before, now) = (prev_dims.array(rank, "previous dimensions")?, cur_dims.array(rank, "dimensions")?);
        if buf.is_null() || !before.iter().zip(&now).any(|(before, now)| now > before) {
            return Err(Failure::bad_value("no buffer, or no dimension has grown"));
        }
        let columns = columns(did, fields)?;
        select(&file, &before, &now)?;
        let count = check(sys::H5Sget_select_npoints(file.get()))?.cast_unsigned();
        let memory = object::space(&[count])?;
        let read = |datatype: &Id, buffer| {
            check(sys::H5Dread(did, datatype.get(), memory.get(), file.get(), H5P_DEFAULT, buffer))
        };
        if let [only] = columns.as_slice() {
            return read(only, buf);
        }
        let (record, mut offset) = (total(&columns)?, 0);
        for column in &columns {
            let size = object::size(column.get())?;
            let length = hyperslab_exact::to_usize(count).ok().and_then(|count| count.checked_mul(size));
            let mut bytes = vec![0; length.ok_or_else(|| Failure::bad_range("the elements are too large"))?];
            read(column, Buffer::to(&mut bytes))?;
            for (element, value) in bytes.chunks_exact(size).enumerate() {
                buf.put(element * record + offset, value);
            }
            offset += size;
        }
        Ok(0)
    }
}

/// Selects the elements that are within the second dimensions and not within the first ones.
fn select(file: &Id, before: &[hsize_t], now: &[hsize_t]) -> Outcome<()> {
    let start = vec![0; now.len()];
    let common: Vec<hsize_t> = before.iter().zip(now).map(|(before, now)| *before.min(now)).collect();
    let (from, all, old) = (In::to(&start), In::to(now), In::to(&common));
    check(sys::H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, from, In::null(), all, In::null()))?;
    if common.iter().all(|count| *count > 0) {
        check(sys::H5Sselect_hyperslab(file.get(), H5S_SELECT_NOTB, from, In::null(), old, In::null()))?;
    }
    Ok(())
}

/// Returns the datatypes in memory that one element consists of: the native datatype of a dataset,
/// or one datatype for each field of a list.
fn columns(dataset: hid_t, list: Text) -> Outcome<Vec<Id>> {
    let native = object::native(Id::own(sys::H5Dget_type(dataset))?.get())?;
    let Some(list) = list.get() else { return Ok(vec![native]) };
    if check(sys::H5Tget_class(native.get()))? != class::COMPOUND {
        return Err(Failure::bad_type("the dataset has no fields"));
    }
    fields::parse(list.to_bytes())?.iter().map(|path| fields::column(native.get(), path)).collect()
}

/// Returns the size of all datatypes together.
fn total(columns: &[Id]) -> Outcome<usize> {
    let mut sum = 0_usize;
    for column in columns {
        let size = object::size(column.get())?;
        sum = sum.checked_add(size).ok_or_else(|| Failure::bad_range("the fields are too large"))?;
    }
    Ok(sum)
}
