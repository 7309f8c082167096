//! Insertions, deletions and combinations of tables (`H5TBinsert_*`, `H5TBdelete_*`,
//! `H5TBadd_records_from`, `H5TBcombine_tables`).

use std::ffi::{CStr, CString};

use crate::ctypes::{H5P_DEFAULT, class, herr_t, hid_t, hsize_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Out, Text};
use crate::table::Table;
use crate::{export, h5tb, object, sys};

/// The title of a table that two others are combined to.
const COMBINED: &CStr = c"Merge table";
/// The state of a fill value that the program has set.
const FILL_VALUE_OF_USER: i32 = 2;

export! {
    /// Deletes records; the later ones take their place.
    fn H5TBdelete_record(loc_id: hid_t, dset_name: Text, start: hsize_t, nrecords: hsize_t) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let records = table.records()?;
        let end = start.checked_add(nrecords).filter(|end| *end <= records);
        let end = end.ok_or_else(|| Failure::bad_range(format!("{nrecords} records from {start} on, of {records}")))?;
        table.copy(end, records - end, &table, start)?;
        table.resize(records - nrecords)?;
        table.dataset.close()?;
        Ok(0)
    }

    /// Inserts records before the record `start`.
    fn H5TBinsert_record(loc_id: hid_t, dset_name: Text, start: hsize_t, nrecords: hsize_t, dst_size: usize, dst_offset: In<usize>, dst_sizes: In<usize>, buf: Buffer) -> herr_t {
        let table = Table::open(loc_id, dset_name)?;
        let record = table.memory_of(dst_size, dst_offset, dst_sizes)?;
        make_space(&table, start, nrecords)?;
        table.write(start, nrecords, record.get(), buf.data())?;
        table.dataset.close()?;
        Ok(0)
    }

    /// Inserts records of one table into another one.
    fn H5TBadd_records_from(loc_id: hid_t, dset_name1: Text, start1: hsize_t, nrecords: hsize_t, dset_name2: Text, start2: hsize_t) -> herr_t {
        let from = Table::open(loc_id, dset_name1)?;
        let to = Table::open(loc_id, dset_name2)?;
        let records = from.records()?;
        if start1.checked_add(nrecords).is_none_or(|end| end > records) {
            return Err(Failure::bad_range(format!("{nrecords} records from {start1} on, of {records}")));
        }
        make_space(&to, start2, nrecords)?;
        from.copy(start1, nrecords, &to, start2)?;
        to.dataset.close()?;
        Ok(0)
    }

    /// Creates a table with the records of two others, which have the same fields.
    fn H5TBcombine_tables(loc_id1: hid_t, dset_name1: Text, loc_id2: hid_t, dset_name2: Text, dset_name3: Text) -> herr_t {
        let first = Table::open(loc_id1, dset_name1)?;
        let second = Table::open(loc_id2, dset_name2)?;
        let (before, after) = (first.records()?, second.records()?);
        let all = before.checked_add(after).ok_or_else(|| Failure::bad_range("too many records"))?;
        let list = Id::own(sys::H5Dget_create_plist(first.dataset.get()))?;
        let combined = h5tb::create(loc_id1, Some(dset_name3), &first.datatype, all, &list)?;
        combined.describe(COMBINED)?;
        for field in 0..first.fields {
            combined.copy_fill(field, &first, field)?;
        }
        first.copy(0, before, &combined, 0)?;
        second.copy(0, after, &combined, before)?;
        combined.dataset.close()?;
        Ok(0)
    }

    /// Inserts a field before the field `position`. The values of the field come from `buf`, or
    /// are the fill value if `buf` is null.
    fn H5TBinsert_field(loc_id: hid_t, dset_name: Text, field_name: Text, field_type: hid_t, position: hsize_t, fill_data: Data, buf: Data) -> herr_t {
        let old = Table::open(loc_id, dset_name)?;
        let name = field_name.value("name of a field")?;
        let position = hyperslab_exact::to_usize(position).ok().filter(|position| *position <= old.fields);
        let position = position.ok_or_else(|| Failure::bad_range("the table has fewer fields"))?;
        let mut fields = members(&old)?;
        fields.insert(position, Member { name, datatype: Id::own(sys::H5Tcopy(field_type))?, old: None });
        let size = object::size(old.datatype.get())?.checked_add(object::size(field_type)?);
        let new = rebuild(loc_id, &old, &fields, size)?;
        let column = Column { at: position, datatype: field_type, fill: fill_data, values: buf };
        column.write(&new, &fields)?;
        replace(loc_id, dset_name, old, new)?;
        Ok(0)
    }

    /// Deletes a field.
    fn H5TBdelete_field(loc_id: hid_t, dset_name: Text, field_name: Text) -> herr_t {
        let old = Table::open(loc_id, dset_name)?;
        let position = old.find(&field_name.value("name of a field")?)?;
        let mut fields = members(&old)?;
        if fields.len() <= 1 {
            return Err(Failure::bad_value("the only field of a table stays"));
        }
        let removed = object::size(fields.remove(position).datatype.get())?;
        let size = object::size(old.datatype.get())?.checked_sub(removed);
        let new = rebuild(loc_id, &old, &fields, size)?;
        replace(loc_id, dset_name, old, new)?;
        Ok(0)
    }
}

/// Moves the records from `start` on, so that `count` records fit before them.
fn make_space(table: &Table, start: hsize_t, count: hsize_t) -> Outcome<()> {
    let records = table.records()?;
    if start > records {
        return Err(Failure::bad_range(format!("the record {start} of {records}")));
    }
    table.grow(count)?;
    let to = start.checked_add(count).ok_or_else(|| Failure::bad_range("too many records"))?;
    table.copy(start, records - start, table, to)
}

/// A field of a table that is rebuilt.
struct Member {
    name: CString,
    datatype: Id,
    /// The number of the field in the old table.
    old: Option<usize>,
}

fn members(table: &Table) -> Outcome<Vec<Member>> {
    let member =
        |field| Ok(Member { name: table.name(field)?, datatype: table.field(field)?, old: Some(field) });
    (0..table.fields).map(member).collect()
}

/// Creates a table with other fields and copies the records of the old one. The size of a record
/// changes by the size of the field.
fn rebuild(location: hid_t, old: &Table, fields: &[Member], size: Option<usize>) -> Outcome<Table> {
    let size = size.ok_or_else(|| Failure::bad_range("the size of the records"))?;
    let record = Id::own(sys::H5Tcreate(class::COMPOUND, size))?;
    let mut offset = 0;
    for field in fields {
        check(sys::H5Tinsert(record.get(), Text::of(&field.name), offset, field.datatype.get()))?;
        offset += object::size(field.datatype.get())?;
    }
    let list = creation(old, &record, size)?;
    let records = old.records()?;
    let new = h5tb::create(location, None, &record, records, &list)?;
    old.copy(0, records, &new, 0)?;
    new.describe(&old.title()?)?;
    for (field, member) in fields.iter().enumerate() {
        if let Some(of) = member.old {
            new.copy_fill(field, old, of)?;
        }
    }
    Ok(new)
}

/// Returns the creation properties of the old table. A fill value gets the new fields.
fn creation(old: &Table, record: &Id, size: usize) -> Outcome<Id> {
    let list = Id::own(sys::H5Dget_create_plist(old.dataset.get()))?;
    let mut status = 0;
    check(sys::H5Pfill_value_defined(list.get(), Out::one(&mut status)))?;
    if status == FILL_VALUE_OF_USER {
        let mut fill = vec![0; size];
        check(sys::H5Pget_fill_value(list.get(), record.get(), Buffer::to(&mut fill)))?;
        check(sys::H5Pset_fill_value(list.get(), record.get(), Data::to(&fill)))?;
    }
    Ok(list)
}

/// The values of a new field.
struct Column {
    at: usize,
    datatype: hid_t,
    fill: Data,
    values: Data,
}

impl Column {
    fn write(&self, table: &Table, fields: &[Member]) -> Outcome<()> {
        let field = fields.get(self.at).ok_or_else(|| Failure::bad_range("the number of the field"))?;
        let size = object::size(self.datatype)?;
        let memory = Id::own(sys::H5Tcreate(class::COMPOUND, size))?;
        check(sys::H5Tinsert(memory.get(), Text::of(&field.name), 0, self.datatype))?;
        if !self.values.is_null() {
            table.write(0, table.records()?, memory.get(), self.values)?;
        } else if !self.fill.is_null() {
            table.fill(memory.get(), &self.fill.bytes(size, "fill value")?)?;
        }
        if !self.fill.is_null() {
            table.set_fill(self.at, self.datatype, self.fill)?;
        }
        Ok(())
    }
}

/// Links the new table in the place of the old one. Until then, the new table has no name, so that
/// a failure leaves only the old one.
fn replace(location: hid_t, name: Text, old: Table, new: Table) -> Outcome<()> {
    drop(old);
    check(sys::H5Ldelete(location, name, H5P_DEFAULT))?;
    check(sys::H5Olink(new.dataset.get(), location, name, H5P_DEFAULT, H5P_DEFAULT))?;
    new.dataset.close()
}
