//! Tables: their datasets, their fields, and copies of records.

use std::ffi::{CStr, CString};

use crate::ctypes::{H5P_DEFAULT, class, hid_t, hsize_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::object;
use crate::pointer::{Buffer, Data, In, Text};
use crate::sys;

/// The attribute with the class of a table.
pub const CLASS: &CStr = c"CLASS";
/// The attribute with the title of a table.
pub const TITLE: &CStr = c"TITLE";
/// The largest number of bytes of records that a copy holds in memory.
const BLOCK: usize = 4 << 20;

/// An open table.
#[derive(Debug)]
pub struct Table {
    /// The dataset of the records.
    pub dataset: Id,
    /// The compound datatype of the records in the file.
    pub datatype: Id,
    /// The number of fields.
    pub fields: usize,
}

impl Table {
    /// Opens the table `name`.
    ///
    /// # Errors
    /// Fails if no dataset has the name, or if its elements have no fields.
    pub fn open(location: hid_t, name: Text) -> Outcome<Self> {
        Self::of(object::dataset(location, name)?)
    }

    /// Returns the table of a dataset.
    ///
    /// # Errors
    /// Fails if its elements have no fields.
    pub fn of(dataset: Id) -> Outcome<Self> {
        let datatype = Id::own(sys::H5Dget_type(dataset.get()))?;
        if check(sys::H5Tget_class(datatype.get()))? != class::COMPOUND {
            return Err(Failure::bad_type("the elements of the dataset have no fields"));
        }
        let fields = check(sys::H5Tget_nmembers(datatype.get()))?;
        let fields = usize::try_from(fields).map_err(|_| Failure::Reported)?;
        Ok(Self { dataset, datatype, fields })
    }

    /// Returns the number of records.
    ///
    /// # Errors
    /// Fails if the dataset has other than one dimension.
    pub fn records(&self) -> Outcome<hsize_t> {
        match object::dataset_dims(self.dataset.get())?.as_slice() {
            [records] => Ok(*records),
            _ => Err(Failure::bad_type("a table has one dimension")),
        }
    }

    /// Returns the name of a field.
    ///
    /// # Errors
    /// Fails if the table has no such field.
    pub fn name(&self, field: usize) -> Outcome<CString> {
        object::take_text(sys::H5Tget_member_name(self.datatype.get(), number(field)?))
    }

    /// Returns the datatype of a field in the file.
    ///
    /// # Errors
    /// Fails if the table has no such field.
    pub fn field(&self, field: usize) -> Outcome<Id> {
        Id::own(sys::H5Tget_member_type(self.datatype.get(), number(field)?))
    }

    /// Returns the number of the field `name`.
    ///
    /// # Errors
    /// Fails if the table has no such field.
    pub fn find(&self, name: &CStr) -> Outcome<usize> {
        let index = check(sys::H5Tget_member_index(self.datatype.get(), Text::of(name)))?;
        usize::try_from(index).map_err(|_| Failure::Reported)
    }

    /// Returns the datatype of records in memory with some of the fields, each with its offset and
    /// its size in memory.
    ///
    /// # Errors
    /// Fails if a field does not exist or does not fit.
    pub fn memory(&self, size: usize, fields: &[(usize, usize, usize)]) -> Outcome<Id> {
        let record = Id::own(sys::H5Tcreate(class::COMPOUND, size))?;
        for (field, offset, length) in fields {
            let member = object::native(self.field(*field)?.get())?;
            if object::size(member.get())? != *length {
                check(sys::H5Tset_size(member.get(), *length))?;
            }
            let name = self.name(*field)?;
            check(sys::H5Tinsert(record.get(), Text::of(&name), *offset, member.get()))?;
        }
        Ok(record)
    }

    /// Returns the datatype of records in memory with all fields, by the arguments of a C function.
    ///
    /// # Errors
    /// Fails if an array is null or a field does not fit.
    pub fn memory_of(&self, size: usize, offsets: In<usize>, sizes: In<usize>) -> Outcome<Id> {
        let offsets = offsets.array(self.fields, "offsets of the fields")?;
        let sizes = sizes.array(self.fields, "sizes of the fields")?;
        let places = offsets.into_iter().zip(sizes).enumerate();
        let fields: Vec<_> = places.map(|(field, (offset, size))| (field, offset, size)).collect();
        self.memory(size, &fields)
    }

    /// Reads records.
    ///
    /// # Errors
    /// Fails if the table has fewer records or they cannot be read.
    pub fn read(&self, start: hsize_t, count: hsize_t, memory_type: hid_t, buffer: Buffer) -> Outcome<()> {
        if count == 0 {
            return Ok(());
        }
        let (file, memory) = object::range(self.dataset.get(), start, count)?;
        let (dataset, none) = (self.dataset.get(), H5P_DEFAULT);
        check(sys::H5Dread(dataset, memory_type, memory.get(), file.get(), none, buffer)).map(drop)
    }

    /// Writes records, or some fields of them.
    ///
    /// # Errors
    /// Fails if the table has fewer records or they cannot be written.
    pub fn write(&self, start: hsize_t, count: hsize_t, memory_type: hid_t, data: Data) -> Outcome<()> {
        if count == 0 {
            return Ok(());
        }
        let (file, memory) = object::range(self.dataset.get(), start, count)?;
        let (dataset, none) = (self.dataset.get(), H5P_DEFAULT);
        check(sys::H5Dwrite(dataset, memory_type, memory.get(), file.get(), none, data)).map(drop)
    }

    /// Changes the number of records.
    ///
    /// # Errors
    /// Fails if the dataset cannot have the number.
    pub fn resize(&self, records: hsize_t) -> Outcome<()> {
        check(sys::H5Dset_extent(self.dataset.get(), In::to(&[records]))).map(drop)
    }

    /// Adds space for `count` records and returns the number of records before.
    ///
    /// # Errors
    /// Fails if the dataset cannot have the number.
    pub fn grow(&self, count: hsize_t) -> Outcome<hsize_t> {
        let records = self.records()?;
        self.resize(records.checked_add(count).ok_or_else(|| Failure::bad_range("too many records"))?)?;
        Ok(records)
    }

    /// Copies records to another table, or to another place of this one. Only the fields that both
    /// tables have are copied. The blocks of an overlapping copy have an order that keeps records
    /// which are not copied yet.
    ///
    /// # Errors
    /// Fails if a table has fewer records or they cannot be read and written.
    pub fn copy(&self, from: hsize_t, count: hsize_t, target: &Self, to: hsize_t) -> Outcome<()> {
        let record = &target.datatype;
        let size = object::size(record.get())?;
        let block = block_of(size);
        let mut done = 0;
        while done < count {
            let part = block.min(count - done);
            let start = if to > from { count - done - part } else { done };
            done += part;
            let length = hyperslab_exact::to_usize(part).ok().and_then(|part| part.checked_mul(size));
            let mut bytes = vec![0; length.ok_or_else(|| Failure::bad_range("the records are too large"))?];
            self.read(from + start, part, record.get(), Buffer::to(&mut bytes))?;
            let written = target.write(to + start, part, record.get(), Data::to(&bytes));
            let memory = object::space(&[part])?;
            check(sys::H5Treclaim(record.get(), memory.get(), H5P_DEFAULT, Buffer::to(&mut bytes)))?;
            written?;
        }
        Ok(())
    }

    /// Writes the same value into all records. The datatype in memory has `value`'s field only.
    ///
    /// # Errors
    /// Fails if the records cannot be written.
    pub fn fill(&self, memory_type: hid_t, value: &[u8]) -> Outcome<()> {
        let (records, block) = (self.records()?, block_of(value.len().max(1)));
        let mut done = 0;
        while done < records {
            let part = block.min(records - done);
            let count =
                hyperslab_exact::to_usize(part).map_err(|_| Failure::bad_range("too many records"))?;
            self.write(done, part, memory_type, Data::to(&value.repeat(count)))?;
            done += part;
        }
        Ok(())
    }

    /// Writes the attributes of a table: class, version, title and the names of the fields.
    ///
    /// # Errors
    /// Fails if an attribute cannot be written.
    pub fn describe(&self, title: &CStr) -> Outcome<()> {
        let dataset = self.dataset.get();
        object::set_text(dataset, CLASS, c"TABLE")?;
        object::set_text(dataset, c"VERSION", c"3.0")?;
        object::set_text(dataset, TITLE, title)?;
        for field in 0..self.fields {
            let attribute = object::c_text(format!("FIELD_{field}_NAME"))?;
            object::set_text(dataset, &attribute, &self.name(field)?)?;
        }
        Ok(())
    }

    /// Returns the name of the attribute with the fill value of a field.
    ///
    /// # Errors
    /// Never fails for the number of a field.
    pub fn fill_name(field: usize) -> Outcome<CString> {
        object::c_text(format!("FIELD_{field}_FILL"))
    }

    /// Copies the fill value of a field from another table, if that has one.
    ///
    /// # Errors
    /// Fails if the attribute cannot be read or written.
    pub fn copy_fill(&self, field: usize, from: &Self, of: usize) -> Outcome<()> {
        let Some(attribute) = object::attribute(from.dataset.get(), &Self::fill_name(of)?)? else {
            return Ok(());
        };
        let datatype = Id::own(sys::H5Aget_type(attribute.get()))?;
        let mut value = vec![0; object::size(datatype.get())?];
        check(sys::H5Aread(attribute.get(), datatype.get(), Buffer::to(&mut value)))?;
        self.set_fill(field, datatype.get(), Data::to(&value))
    }

    /// Writes the fill value of a field.
    ///
    /// # Errors
    /// Fails if the attribute cannot be written.
    pub fn set_fill(&self, field: usize, datatype: hid_t, value: Data) -> Outcome<()> {
        object::set_attribute(
            self.dataset.get(),
            &Self::fill_name(field)?,
            datatype,
            &object::scalar()?,
            value,
        )
    }

    /// Returns the title of the table. A table without the attribute has an empty title.
    ///
    /// # Errors
    /// Fails if the attribute cannot be read.
    pub fn title(&self) -> Outcome<CString> {
        let title = object::text_attribute(self.dataset.get(), TITLE)?;
        Ok(title.unwrap_or_else(|| c"".to_owned()))
    }
}

/// Returns the number of records of a size that are in memory at the same time.
fn block_of(size: usize) -> hsize_t {
    hyperslab_exact::to_u64((BLOCK / size).max(1))
}

/// Returns a number of a field as the C interface has it.
fn number(field: usize) -> Outcome<u32> {
    u32::try_from(field).map_err(|_| Failure::bad_range("too many fields"))
}
