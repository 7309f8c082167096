//! Packet tables (`H5PT*`).

use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ctypes::{H5I_BADID, H5P_DEFAULT, H5S_UNLIMITED, class, herr_t, hid_t, hsize_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Data, In, Out, Text};
use crate::{export, object, sys};

/// An open packet table.
#[derive(Debug)]
struct Table {
    dataset: Id,
    /// The datatype of packets in memory.
    datatype: Id,
    /// The packet that the next read starts with.
    next: Mutex<hsize_t>,
}

/// The open packet tables by their numbers, and the kind of their identifiers.
#[derive(Debug)]
struct Tables {
    kind: c_int,
    /// The number of tables that were opened. The object of an identifier is such a number, which
    /// nothing dereferences.
    opened: usize,
    open: Option<HashMap<usize, Arc<Table>>>,
}

static TABLES: Mutex<Tables> = Mutex::new(Tables { kind: H5I_BADID, opened: 0, open: None });

export! {
    /// Creates a packet table with the properties of a list.
    fn H5PTcreate(loc_id: hid_t, dset_name: Text, dtype_id: hid_t, chunk_size: hsize_t, plist_id: hid_t) -> hid_t {
        let list = match plist_id {
            H5P_DEFAULT => Id::own(sys::H5Pcreate(sys::H5P_CLS_DATASET_CREATE_ID_g))?,
            list => Id::own(sys::H5Pcopy(list))?,
        };
        create(loc_id, dset_name, dtype_id, chunk_size, &list)
    }

    /// Creates a packet table. A compression from 0 to 9 is a level of deflate.
    fn H5PTcreate_fl(loc_id: hid_t, dset_name: Text, dtype_id: hid_t, chunk_size: hsize_t, compression: c_int) -> hid_t {
        let list = Id::own(sys::H5Pcreate(sys::H5P_CLS_DATASET_CREATE_ID_g))?;
        match c_uint::try_from(compression) {
            Ok(level @ 0..=9) => drop(check(sys::H5Pset_deflate(list.get(), level))?),
            Ok(_) => return Err(Failure::bad_range("the compression is at most 9")),
            Err(_) => {}
        }
        create(loc_id, dset_name, dtype_id, chunk_size, &list)
    }

    /// Opens a packet table.
    fn H5PTopen(loc_id: hid_t, dset_name: Text) -> hid_t {
        let dataset = object::dataset(loc_id, dset_name)?;
        if object::dataset_dims(dataset.get())?.len() != 1 {
            return Err(Failure::bad_type("a packet table has one dimension"));
        }
        let datatype = object::native(Id::own(sys::H5Dget_type(dataset.get()))?.get())?;
        register(dataset, datatype)
    }

    /// Closes a packet table.
    fn H5PTclose(table_id: hid_t) -> herr_t {
        find(table_id)?;
        let mut tables = TABLES.lock();
        let number = sys::H5Iremove_verify(table_id, tables.kind).addr();
        let closed = tables.open.as_mut().and_then(|open| open.remove(&number));
        drop(tables);
        drop(closed);
        Ok(0)
    }

    /// Writes packets at the end of a table.
    fn H5PTappend(table_id: hid_t, nrecords: usize, data: Data) -> herr_t {
        let table = find(table_id)?;
        let (held, count) = (table.count()?, hyperslab_exact::to_u64(nrecords));
        if count == 0 {
            return Ok(0);
        }
        let grown = held.checked_add(count).ok_or_else(|| Failure::bad_range("too many packets"))?;
        check(sys::H5Dset_extent(table.dataset.get(), In::to(&[grown])))?;
        let (file, memory) = object::range(table.dataset.get(), held, count)?;
        let (dataset, datatype) = (table.dataset.get(), table.datatype.get());
        check(sys::H5Dwrite(dataset, datatype, memory.get(), file.get(), H5P_DEFAULT, data))
    }

    /// Reads the next packets of a table.
    fn H5PTget_next(table_id: hid_t, nrecords: usize, data: Buffer) -> herr_t {
        let table = find(table_id)?;
        let mut next = table.next.lock();
        let count = hyperslab_exact::to_u64(nrecords);
        table.read(*next, count, data)?;
        *next += count;
        Ok(0)
    }

    /// Reads packets of a table.
    fn H5PTread_packets(table_id: hid_t, start: hsize_t, nrecords: usize, data: Buffer) -> herr_t {
        find(table_id)?.read(start, hyperslab_exact::to_u64(nrecords), data)?;
        Ok(0)
    }

    /// Sets the next packet to the first one.
    fn H5PTcreate_index(table_id: hid_t) -> herr_t {
        *find(table_id)?.next.lock() = 0;
        Ok(0)
    }

    /// Sets the next packet.
    fn H5PTset_index(table_id: hid_t, pt_index: hsize_t) -> herr_t {
        let table = find(table_id)?;
        if pt_index >= table.count()? {
            return Err(Failure::bad_range("the table has fewer packets"));
        }
        *table.next.lock() = pt_index;
        Ok(0)
    }

    /// Returns the next packet.
    fn H5PTget_index(table_id: hid_t, pt_index: Out<hsize_t>) -> herr_t {
        pt_index.put(*find(table_id)?.next.lock());
        Ok(0)
    }

    /// Returns the number of packets of a table.
    fn H5PTget_num_packets(table_id: hid_t, nrecords: Out<hsize_t>) -> herr_t {
        nrecords.put(find(table_id)?.count()?);
        Ok(0)
    }

    /// Returns 0 if the identifier is one of an open packet table, and fails if not.
    fn H5PTis_valid(table_id: hid_t) -> herr_t {
        find(table_id)?;
        Ok(0)
    }

    /// Returns 1 if packets have variable length, and 0 if not.
    fn H5PTis_varlen(table_id: hid_t) -> herr_t {
        let table = find(table_id)?;
        let kind = check(sys::H5Tget_class(table.datatype.get()))?;
        let is_text = kind == class::STRING && check(sys::H5Tis_variable_str(table.datatype.get()))? > 0;
        Ok(i32::from(kind == class::VLEN || is_text))
    }

    /// Returns the dataset of a table. The table keeps it open.
    fn H5PTget_dataset(table_id: hid_t) -> hid_t {
        Ok(find(table_id)?.dataset.get())
    }

    /// Returns the datatype of packets in memory. The table keeps it open.
    fn H5PTget_type(table_id: hid_t) -> hid_t {
        Ok(find(table_id)?.datatype.get())
    }

    /// Releases the memory of packets of variable length that were read.
    fn H5PTfree_vlen_buff(table_id: hid_t, bufflen: usize, buff: Buffer) -> herr_t {
        let table = find(table_id)?;
        let space = object::space(&[hyperslab_exact::to_u64(bufflen)])?;
        check(sys::H5Treclaim(table.datatype.get(), space.get(), H5P_DEFAULT, buff))
    }
}

impl Table {
    fn count(&self) -> Outcome<hsize_t> {
        match object::dataset_dims(self.dataset.get())?.as_slice() {
            [count] => Ok(*count),
            _ => Err(Failure::bad_type("a packet table has one dimension")),
        }
    }

    fn read(&self, start: hsize_t, count: hsize_t, data: Buffer) -> Outcome<()> {
        if count == 0 {
            return Ok(());
        }
        let (file, memory) = object::range(self.dataset.get(), start, count)?;
        let (dataset, datatype) = (self.dataset.get(), self.datatype.get());
        check(sys::H5Dread(dataset, datatype, memory.get(), file.get(), H5P_DEFAULT, data)).map(drop)
    }
}

/// Creates the dataset of a table and registers the table.
fn create(location: hid_t, name: Text, datatype: hid_t, chunk: hsize_t, list: &Id) -> Outcome<hid_t> {
    let name = name.require("name of a dataset")?;
    check(sys::H5Pset_chunk(list.get(), 1, In::to(&[chunk])))?;
    let (dims, most) = ([0], [H5S_UNLIMITED]);
    let space = Id::own(sys::H5Screate_simple(1, In::to(&dims), In::to(&most)))?;
    let (none, space) = (H5P_DEFAULT, space.get());
    let made = sys::H5Dcreate2(location, name, datatype, space, none, list.get(), none);
    register(Id::own(made)?, object::native(datatype)?)
}

/// Returns an identifier for a table.
fn register(dataset: Id, datatype: Id) -> Outcome<hid_t> {
    let mut tables = TABLES.lock();
    if tables.kind == H5I_BADID {
        tables.kind = check(sys::H5Iregister_type2(0, Some(release)))?;
    }
    tables.opened += 1;
    let number = tables.opened;
    let id = check(sys::H5Iregister(tables.kind, std::ptr::without_provenance_mut::<c_void>(number)))?;
    let table = Table { dataset, datatype, next: Mutex::new(0) };
    tables.open.get_or_insert_default().insert(number, Arc::new(table));
    Ok(id)
}

/// Returns the table of an identifier.
fn find(id: hid_t) -> Outcome<Arc<Table>> {
    let tables = TABLES.lock();
    let number = match tables.kind {
        H5I_BADID => 0,
        kind => sys::H5Iobject_verify(id, kind).addr(),
    };
    let table = tables.open.as_ref().and_then(|open| open.get(&number));
    table.cloned().ok_or_else(|| Failure::bad_type("not a packet table"))
}

/// Closes the table of an identifier that `libhdf5.so` releases, for example at the end of the
/// program.
extern "C" fn release(object: *mut c_void, _request: *mut *mut c_void) -> herr_t {
    let closed = TABLES.try_lock().and_then(|mut tables| tables.open.as_mut()?.remove(&object.addr()));
    drop(closed);
    0
}
