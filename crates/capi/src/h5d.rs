//! Dataset functions (`H5D*`): creation, reads and writes, shape, and memory buffers.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use hyperslab::{Layout, SpaceStatus};

use crate::call_user;
use crate::convert::{Rules, reclaim};
use crate::ctypes::{H5P_DEFAULT, HADDR_UNDEF, haddr_t, herr_t, hid_t, hsize_t};
use crate::dataset::create::{self, NewDataset};
use crate::dataset::scatter::{self, GatherFunction, ScatterFunction};
use crate::dataset::{elements, transfer};
use crate::datatype::{self, CType, TypeHandle, TypeState};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::location::{self, Location, Name};
use crate::file::traverse::{self, Parent};
use crate::id::{self, Entry};
use crate::plist::settings::DatasetAccess;
use crate::plist::{self, Settings};
use crate::pointer::{Buffer, Data, In, Out, Text};
use crate::space::{self, CSpace};
use crate::{dataset, symbols};

/// The C type of a user's function that visits an element of a memory buffer (`H5D_operator_t`).
pub type Operator = unsafe extern "C" fn(*mut c_void, hid_t, c_uint, *const hsize_t, *mut c_void) -> herr_t;

/// Returns the properties of the dataset access list to which an identifier refers.
fn access(dapl: hid_t) -> Outcome<DatasetAccess> {
    plist::dataset_access(dapl).because(codes::ARGS, codes::BADTYPE, "not a dataset access list")
}

/// Registers an open dataset and returns the dataset's new identifier.
fn register(dataset: &hyperslab::Dataset, location: Location, access: DatasetAccess) -> hid_t {
    id::register(Entry::Dataset(Arc::new(create::handle(dataset, location, access))))
}

/// The identifiers of the property lists of a call: link creation, dataset creation and access.
type Lists = (hid_t, hid_t, hid_t);

/// Creates a dataset with a link at the path `name` and returns the dataset's identifier.
fn create_linked(loc: hid_t, name: &[u8], types: (hid_t, hid_t), lists: Lists) -> Outcome<hid_t> {
    let (charset, intermediate) = traverse::link_creation(lists.0)?;
    let create =
        plist::dataset_create(lists.1).because(codes::ARGS, codes::BADTYPE, "not a dataset creation list")?;
    let access = access(lists.2)?;
    let Parent { group, place, last } = traverse::parent(loc, name, H5P_DEFAULT, intermediate)?;
    let new = NewDataset { datatype: types.0, space: types.1, create };
    let access = dataset::access::in_use(access, &place);
    let builder = new.builder(&group, &place)?.access(&dataset::access::choices(&access));
    let made = group.by_bytes().create_dataset(last, charset, builder)?;
    new.remember(&made, &place.shared);
    let location = place.with_name(place.name.join(last));
    Ok(register(&made, location, access))
}

/// Opens the dataset at the path `name` and returns the dataset's identifier.
fn open(loc: hid_t, name: Text, dapl: hid_t) -> Outcome<hid_t> {
    let access = access(dapl)?;
    let (object, place) = traverse::open(loc, name.name("dataset name")?, dapl)?;
    let access = dataset::access::in_use(access, &place);
    let dataset = object.into_dataset_with(&dataset::access::choices(&access)).map_err(Failure::from);
    let dataset = dataset.because(codes::DATASET, codes::BADTYPE, "not a dataset")?;
    dataset::access::check_folder(&dataset, &place, &access)?;
    let filters = dataset.filters();
    crate::filter::provide(&place.shared, filters.iter().map(|filter| filter.id.into()));
    Ok(register(&dataset, place, access))
}

/// Returns a new identifier of the dataset's datatype in memory form.
fn datatype_of(dataset_id: hid_t) -> Outcome<hid_t> {
    let handle = dataset::find(dataset_id)?;
    let committed = match handle.dataset.committed_datatype() {
        Some(token) => {
            let object = handle.location.shared.file.root().object_at(token)?;
            let place = handle.location.with_name(Name::default());
            Some((Arc::new(object.into_datatype()?), place))
        }
        None => None,
    };
    let state = CType { datatype: handle.memory.clone(), state: TypeState::ReadOnly, committed };
    Ok(id::register(Entry::Datatype(Arc::new(TypeHandle(state.into())))))
}

/// Returns a new dataset access list with the properties that are in use for the dataset, including
/// defaults of the file.
fn access_properties(dataset_id: hid_t) -> Outcome<hid_t> {
    let handle = dataset::find(dataset_id)?;
    let mut access = handle.access.clone();
    let file = handle.location.shared.access.read().cache;
    access.cache_slots.get_or_insert(file.slots);
    access.cache_bytes.get_or_insert(file.bytes);
    access.cache_preemption.get_or_insert(file.preemption);
    plist::make::register(symbols::CLASS_DATASET_ACCESS, Settings::DatasetAccess(access))
}

/// Changes the shape of a dataset to `dims`. Checks the layout and the maximum dimensions first.
fn set_extent(dataset_id: hid_t, dims: In<hsize_t>) -> Outcome<()> {
    let handle = dataset::find(dataset_id)?;
    let dims = dims.array(handle.dataset.ndim(), "dimensions")?;
    let text = match handle.dataset.layout() {
        Layout::Compact => Some("dataset has compact storage"),
        Layout::Contiguous { .. } => Some("dataset has contiguous storage"),
        _ => None,
    };
    // External raw data is contiguous, and may grow.
    if let Some(text) = text.filter(|_| handle.dataset.external_files().is_empty()) {
        return Err(Failure::new(codes::DATASET, codes::CANTINIT, text));
    }
    let with_shape = handle.with_set_shape();
    let extent = with_shape.as_ref().unwrap_or(&handle).dataset.dataspace();
    if extent.dims() == dims {
        return Ok(());
    }
    for (size, max) in dims.iter().zip(extent.max_dims()) {
        if max.is_some_and(|max| *size > max) {
            let text = "dimension cannot exceed the existing maximal size";
            return Err(Failure::new(codes::DATASPACE, codes::BADVALUE, text));
        }
    }
    handle.dataset.resize(dims)?;
    if matches!(handle.dataset.layout(), Layout::Virtual) {
        let choices = dataset::access::choices(&handle.access).virtual_shape(dims);
        *handle.set_shape.lock() = Some(handle.dataset.with_access(&choices)?);
    }
    Ok(())
}

/// Returns the number of bytes that the variable-length data of a dataset's selected elements needs
/// in memory.
fn variable_bytes(dataset_id: hid_t, type_id: hid_t, space_id: hid_t) -> Outcome<u64> {
    let handle = dataset::find(dataset_id)?;
    let memory = datatype::copy_of(type_id)?;
    let space = space::copy_of(space_id)?;
    let count = hyperslab_exact::to_usize(space::count(&space)?)?;
    let mut buffer = vec![0_u8; elements::bytes(count, memory.size as usize)?];
    let pointer = Buffer::of(buffer.as_mut_ptr().cast());
    transfer::read(&handle, &memory, (crate::ctypes::H5S_BLOCK, space_id), H5P_DEFAULT, pointer)?;
    let heap = crate::convert::heap::Heap::default();
    let mut total = 0_u64;
    for element in buffer.chunks_exact_mut((memory.size as usize).max(1)) {
        total += crate::convert::heap::data_bytes(&memory, element);
        reclaim::element(&memory, element, &heap);
    }
    Ok(total)
}

/// Fills the selected elements of a memory buffer with one value. Converts the value to the
/// buffer's datatype first.
fn fill(value: Data, value_type: hid_t, buffer: Buffer, buffer_type: hid_t, space_id: hid_t) -> Outcome<()> {
    let (from, to) = (datatype::copy_of(value_type)?, datatype::copy_of(buffer_type)?);
    let space = space::copy_of(space_id)?;
    if buffer.is_null() {
        return Err(Failure::bad_value("no buffer"));
    }
    let mut element = vec![0; to.size as usize];
    if let Some(value) = value.get(from.size as usize) {
        Rules::of(H5P_DEFAULT)?.plan(&from, &to)?.convert(value, &mut element, 1)?;
    }
    elements::for_each(&space, to.size as usize, buffer, &mut |target, _| {
        target.copy_from_slice(&element);
        Ok(true)
    })
}

/// Calls the user's function `operator` for each selected element of a memory buffer. Stops when
/// the function returns a nonzero value.
fn iterate(
    buffer: Buffer,
    type_id: hid_t,
    space_id: hid_t,
    operator: Option<Operator>,
    data: *mut c_void,
) -> Outcome<herr_t> {
    let operator = operator.ok_or_else(|| Failure::bad_value("invalid operator"))?;
    if buffer.is_null() {
        return Err(Failure::bad_value("invalid buffer"));
    }
    let datatype = datatype::copy_of(type_id)?;
    let space = space::copy_of(space_id)?;
    let rank =
        c_uint::try_from(space.extent.rank()).map_err(|_| Failure::bad_value("the rank is too large"))?;
    let mut outcome = 0;
    elements::for_each(&space, datatype.size as usize, buffer, &mut |element, point| {
        let bytes = element.as_mut_ptr().cast();
        outcome = call_user!(operator, bytes, type_id, rank, point.as_ptr(), data);
        Ok(outcome == 0)
    })?;
    if outcome < 0 {
        return Err(Failure::new(codes::DATASET, codes::BADITER, "dataset iteration failed"));
    }
    Ok(outcome)
}

export! {
    /// Creates a dataset with a link at the path `name` and returns the dataset's identifier.
    fn H5Dcreate2(
        loc: hid_t, name: Text, type_id: hid_t, space_id: hid_t, lcpl: hid_t, dcpl: hid_t, dapl: hid_t,
    ) -> hid_t {
        let name = name.name("dataset name")?;
        create_linked(loc, name, (type_id, space_id), (lcpl, dcpl, dapl))
            .because(codes::DATASET, codes::CANTCREATE, "unable to synchronously create dataset")
    }

    /// Creates a dataset with a link at the path `name` and returns its identifier (HDF5 1.6 form).
    fn H5Dcreate1(loc: hid_t, name: Text, type_id: hid_t, space_id: hid_t, dcpl: hid_t) -> hid_t {
        let name = name.name("dataset name")?;
        create_linked(loc, name, (type_id, space_id), (H5P_DEFAULT, dcpl, H5P_DEFAULT))
            .because(codes::DATASET, codes::CANTINIT, "unable to create dataset")
    }

    /// Creates a dataset without a link in the file of `loc` and returns the dataset's identifier.
    fn H5Dcreate_anon(loc: hid_t, type_id: hid_t, space_id: hid_t, dcpl: hid_t, dapl: hid_t) -> hid_t {
        let create = plist::dataset_create(dcpl)
            .because(codes::ARGS, codes::BADTYPE, "not a dataset creation list")?;
        let access = access(dapl)?;
        let (_, place) = location::find(loc)?;
        let group = place.shared.file.root().clone();
        let access = dataset::access::in_use(access, &place);
        let made = NewDataset { datatype: type_id, space: space_id, create }.builder(&group, &place)
            .and_then(|builder| Ok(builder.access(&dataset::access::choices(&access)).create_unlinked()?))
            .because(codes::DATASET, codes::CANTCREATE, "unable to synchronously create dataset")?;
        let location = place.with_name(Name::default());
        Ok(register(&made, location, access))
    }

    /// Opens the dataset at the path `name` and returns its identifier.
    fn H5Dopen2(loc: hid_t, name: Text, dapl: hid_t) -> hid_t {
        open(loc, name, dapl).because(codes::DATASET, codes::CANTOPENOBJ, "unable to synchronously open dataset")
    }

    /// Opens the dataset at the path `name` with default properties and returns its identifier.
    fn H5Dopen1(loc: hid_t, name: Text) -> hid_t {
        open(loc, name, H5P_DEFAULT).because(codes::DATASET, codes::CANTOPENOBJ, "unable to open dataset")
    }

    /// Closes a dataset identifier.
    fn H5Dclose(dataset_id: hid_t) -> herr_t {
        dataset::find(dataset_id)?;
        crate::h5i::release(dataset_id).because(codes::DATASET, codes::CANTDEC, "unable to close dataset")?;
        Ok(0)
    }

    /// Copies the dataset's dataspace and returns the identifier of the copy.
    fn H5Dget_space(dataset_id: hid_t) -> hid_t {
        let handle = dataset::find(dataset_id)?;
        *handle.set_shape.lock() = None;
        Ok(space::register(CSpace::all(handle.dataset.dataspace())))
    }

    /// Stores in `status` the allocation of the dataset's raw data: none, a part, or all.
    fn H5Dget_space_status(dataset_id: hid_t, status: Out<c_int>) -> herr_t {
        let handle = dataset::find(dataset_id)?;
        status.put(match handle.dataset.space_status()? {
            SpaceStatus::NotAllocated => 0,
            SpaceStatus::PartAllocated => 1,
            SpaceStatus::Allocated => 2,
        });
        Ok(0)
    }

    /// Returns a new identifier of the dataset's datatype.
    fn H5Dget_type(dataset_id: hid_t) -> hid_t {
        datatype_of(dataset_id)
    }

    /// Returns the identifier of a new creation list with the creation properties of a dataset.
    fn H5Dget_create_plist(dataset_id: hid_t) -> hid_t {
        let create = create::properties(&*dataset::find(dataset_id)?)?;
        plist::make::register(symbols::CLASS_DATASET_CREATE, Settings::DatasetCreate(create))
    }

    /// Returns the identifier of a new access list with the access properties of a dataset.
    fn H5Dget_access_plist(dataset_id: hid_t) -> hid_t {
        access_properties(dataset_id)
    }

    /// Returns the number of bytes that the dataset's raw data occupies in the file.
    fn H5Dget_storage_size(dataset_id: hid_t) -> hsize_t {
        let dataset = &dataset::find(dataset_id)?.dataset;
        if dataset.external_files().is_empty() {
            return Ok(dataset.storage_size()?);
        }
        // External elements count as if the file held them.
        let bytes = dataset.size()?.checked_mul(dataset.datatype().size.into());
        bytes.because(codes::DATASET, codes::OVERFLOW, "the size of the raw data exceeds 64 bits")
    }

    /// Returns the file offset of the dataset's contiguous raw data. Returns `HADDR_UNDEF` if no
    /// raw data is stored.
    fn H5Dget_offset(dataset_id: hid_t) -> haddr_t {
        let handle = dataset::find(dataset_id)?;
        if !handle.dataset.external_files().is_empty() {
            return Ok(HADDR_UNDEF);
        }
        let base = handle.location.shared.file.info().user_block;
        Ok(match handle.dataset.layout() {
            Layout::Contiguous { address: Some(address) } => address + base,
            _ => HADDR_UNDEF,
        })
    }

    /// Reads the selected elements of a dataset into `buffer` as elements of the datatype
    /// `mem_type`.
    fn H5Dread(
        dataset_id: hid_t, mem_type: hid_t, mem_space: hid_t, file_space: hid_t, dxpl: hid_t, buffer: Buffer,
    ) -> herr_t {
        let handle = dataset::find(dataset_id)?;
        let memory = datatype::copy_of(mem_type)?;
        transfer::read(&handle, &memory, (mem_space, file_space), dxpl, buffer)
            .because(codes::DATASET, codes::READERROR, "can't synchronously read data")?;
        Ok(0)
    }

    /// Writes the selected elements of `buffer`, whose elements have the datatype `mem_type`, to a
    /// dataset.
    fn H5Dwrite(
        dataset_id: hid_t, mem_type: hid_t, mem_space: hid_t, file_space: hid_t, dxpl: hid_t, buffer: Data,
    ) -> herr_t {
        let handle = dataset::find(dataset_id)?;
        let memory = datatype::copy_of(mem_type)?;
        transfer::write(&handle, &memory, (mem_space, file_space), dxpl, buffer)
            .because(codes::DATASET, codes::WRITEERROR, "can't synchronously write data")?;
        Ok(0)
    }

    /// Reads selected elements of `count` datasets into memory buffers, one for each dataset.
    fn H5Dread_multi(
        count: usize, datasets: In<hid_t>, mem_types: In<hid_t>, mem_spaces: In<hid_t>, file_spaces: In<hid_t>,
        dxpl: hid_t, buffers: In<Buffer>,
    ) -> herr_t {
        let datasets = dataset::in_one_file(datasets.array(count, "datasets")?)?;
        let all = (datasets, mem_types.array(count, "datatypes")?);
        let spaces = (mem_spaces.array(count, "dataspaces")?, file_spaces.array(count, "dataspaces")?);
        let spaces = spaces.0.iter().zip(spaces.1).zip(buffers.array(count, "buffers")?);
        for ((dataset, memory), ((mem, file), buffer)) in all.0.iter().zip(all.1).zip(spaces)
        {
            let handle = dataset::find(*dataset)?;
            transfer::read(&handle, &datatype::copy_of(*memory)?, (*mem, *file), dxpl, *buffer)?;
        }
        Ok(0)
    }

    /// Writes selected elements of memory buffers, one for each dataset, to `count` datasets.
    fn H5Dwrite_multi(
        count: usize, datasets: In<hid_t>, mem_types: In<hid_t>, mem_spaces: In<hid_t>, file_spaces: In<hid_t>,
        dxpl: hid_t, buffers: In<Data>,
    ) -> herr_t {
        let datasets = dataset::in_one_file(datasets.array(count, "datasets")?)?;
        let all = (datasets, mem_types.array(count, "datatypes")?);
        let spaces = (mem_spaces.array(count, "dataspaces")?, file_spaces.array(count, "dataspaces")?);
        let spaces = spaces.0.iter().zip(spaces.1).zip(buffers.array(count, "buffers")?);
        for ((dataset, memory), ((mem, file), buffer)) in all.0.iter().zip(all.1).zip(spaces)
        {
            let handle = dataset::find(*dataset)?;
            transfer::write(&handle, &datatype::copy_of(*memory)?, (*mem, *file), dxpl, *buffer)?;
        }
        Ok(0)
    }

    /// Changes the shape of a dataset to `dims`.
    fn H5Dset_extent(dataset_id: hid_t, dims: In<hsize_t>) -> herr_t {
        set_extent(dataset_id, dims)
            .because(codes::DATASET, codes::CANTSET, "unable to synchronously change dataset dimensions")?;
        Ok(0)
    }

    /// Enlarges the shape of a dataset to at least `dims`; no dimension shrinks.
    fn H5Dextend(dataset_id: hid_t, dims: In<hsize_t>) -> herr_t {
        let handle = dataset::find(dataset_id)?;
        let shape = handle.dataset.shape();
        let wanted = dims.array(shape.len(), "dimensions")?;
        let grown: Vec<u64> = shape.iter().zip(wanted).map(|(now, size)| *now.max(size)).collect();
        if grown != shape {
            handle.dataset.resize(&grown).because(codes::DATASET, codes::CANTINIT, "unable to extend dataset")?;
        }
        Ok(0)
    }

    /// Writes the dirty data of the file that contains the dataset.
    fn H5Dflush(dataset_id: hid_t) -> herr_t {
        dataset::find(dataset_id)?.sieved.store(false, std::sync::atomic::Ordering::Relaxed);
        crate::h5f::flush_object(dataset_id).because(codes::DATASET, codes::CANTFLUSH, "unable to flush dataset")
    }

    /// Discards cached metadata of a dataset and reads the metadata again from the file.
    fn H5Drefresh(dataset_id: hid_t) -> herr_t {
        dataset::find(dataset_id)?;
        crate::h5o::refresh(dataset_id).because(codes::DATASET, codes::CANTLOAD, "unable to refresh dataset")
    }

    /// Stores in `size` the bytes that the variable-length data of a dataset's selected elements
    /// needs in memory.
    fn H5Dvlen_get_buf_size(dataset_id: hid_t, type_id: hid_t, space_id: hid_t, size: Out<hsize_t>) -> herr_t {
        let bytes = variable_bytes(dataset_id, type_id, space_id)?;
        size.require("size")?.put(bytes);
        Ok(0)
    }

    /// Frees the variable-length data of the selected elements of the memory buffer `buffer`.
    fn H5Dvlen_reclaim(type_id: hid_t, space_id: hid_t, dxpl: hid_t, buffer: Buffer) -> herr_t {
        crate::h5t_convert::reclaim(type_id, space_id, dxpl, buffer)
    }

    /// Fills the selected elements of the memory buffer `buffer` with one value.
    fn H5Dfill(value: Data, value_type: hid_t, buffer: Buffer, buffer_type: hid_t, space_id: hid_t) -> herr_t {
        fill(value, value_type, buffer, buffer_type, space_id)
            .because(codes::DATASET, codes::CANTINIT, "unable to fill")?;
        Ok(0)
    }

    /// Calls `operator` for each selected element of `buffer` until `operator` returns a nonzero
    /// value.
    fn H5Diterate(
        buffer: Buffer, type_id: hid_t, space_id: hid_t, operator: Option<Operator>, data: *mut c_void,
    ) -> herr_t {
        iterate(buffer, type_id, space_id, operator, data)
    }

    /// Calls the function `function`, which supplies elements, and copies them to the selected
    /// elements of `target`.
    fn H5Dscatter(
        function: Option<ScatterFunction>, data: *mut c_void, type_id: hid_t, space_id: hid_t, target: Buffer,
    ) -> herr_t {
        scatter::scatter(function, Buffer::of(data), type_id, space_id, target)?;
        Ok(0)
    }

    /// Copies selected elements of `source` to `target` and calls `function` when `target` is full.
    fn H5Dgather(
        space_id: hid_t, source: Buffer, type_id: hid_t, size: usize, target: Buffer,
        function: Option<GatherFunction>, data: *mut c_void,
    ) -> herr_t {
        scatter::gather(space_id, source, type_id, (size, target), function, Buffer::of(data))?;
        Ok(0)
    }

    /// Checks a dataset identifier and prints nothing: hyperslab has no debug output for datasets.
    fn H5Ddebug(dataset_id: hid_t) -> herr_t {
        dataset::find(dataset_id)?;
        Ok(0)
    }

    /// Changes a dataset to the form that HDF5 1.8 reads: a layout message of version 3, and a
    /// version 1 B-tree as the chunk index.
    fn H5Dformat_convert(dataset_id: hid_t) -> herr_t {
        dataset::find(dataset_id)?.dataset.use_old_layout()?;
        Ok(0)
    }
}
