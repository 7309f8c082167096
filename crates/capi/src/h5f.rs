//! File functions (`H5F*`): opening, creation, flushes, and open objects.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use crate::ctypes::{IdKind, herr_t, hid_t, htri_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::file::open::{self, Request};
use crate::file::{
    self, FileHandle, H5F_ACC_EXCL, H5F_ACC_RDWR, H5F_ACC_SWMR_READ, H5F_ACC_SWMR_WRITE, H5F_ACC_TRUNC,
    SharedFile, closing,
};
use crate::id::{self, Entry};
use crate::plist::callbacks::FlushCallback;
use crate::plist::settings::{FileAccess, FileCreate};
use crate::plist::{self, Settings};
use crate::pointer::{Out, Text};
use crate::{call_user, export, symbols};

/// The file close degree that closes all identifiers of a file with the file (`H5F_CLOSE_STRONG`).
const CLOSE_STRONG: c_int = 3;
/// The file close degree that refuses to close a file with open objects (`H5F_CLOSE_SEMI`).
const CLOSE_SEMI: c_int = 2;
/// The flag that counts only objects that were opened through the given file identifier
/// (`H5F_OBJ_LOCAL`).
const OBJ_LOCAL: c_uint = 0x20;
/// The bit that stands for each kind of open object in the arguments of `H5Fget_obj_count`.
const KINDS: [(c_uint, IdKind); 5] = [
    (0x01, IdKind::File),
    (0x02, IdKind::Dataset),
    (0x04, IdKind::Group),
    (0x08, IdKind::Datatype),
    (0x10, IdKind::Attribute),
];

/// Writes the dirty data of a file whose last identifier was released, and closes the file.
///
/// # Errors
/// Returns the error of writing the file.
pub fn finish(file: &SharedFile) -> Outcome<()> {
    let mut closed = file.file.clone().close().map_err(Failure::from);
    if let Some(image) = &file.file_image {
        closed = closed.and_then(|()| image.update());
        image.close();
    }
    let driver = file.user_driver.as_ref().map_or(Ok(()), |driver| driver.close());
    closed?;
    driver
}

/// Returns the file that contains the object of an identifier table entry. Returns `None` if the
/// object is not in a file.
pub fn file_of(entry: &Entry) -> Option<Arc<SharedFile>> {
    match entry {
        Entry::File(file) => Some(Arc::clone(&file.shared)),
        Entry::Group(group) => Some(Arc::clone(&group.location.shared)),
        Entry::Dataset(dataset) => Some(Arc::clone(&dataset.location.shared)),
        Entry::Attribute(attribute) => Some(Arc::clone(&attribute.location.shared)),
        Entry::Datatype(datatype) => {
            datatype.0.read().committed.as_ref().map(|(_, place)| Arc::clone(&place.shared))
        }
        _ => None,
    }
}

/// Returns the number of a file handle: the handle through which the program reached the object of
/// an identifier.
fn handle_of(entry: &Entry) -> Option<u64> {
    match entry {
        Entry::File(file) => Some(file.number),
        Entry::Group(group) => Some(group.location.handle),
        Entry::Dataset(dataset) => Some(dataset.location.handle),
        Entry::Attribute(attribute) => Some(attribute.location.handle),
        Entry::Datatype(datatype) => datatype.0.read().committed.as_ref().map(|(_, place)| place.handle),
        _ => None,
    }
}

/// Returns the open objects of the given kinds in a file, or in all files, with their identifiers.
fn objects(shared: Option<&Arc<SharedFile>>, kinds: c_uint) -> Vec<(hid_t, Entry)> {
    let wanted = KINDS.iter().filter(|(bit, _)| kinds & bit != 0);
    let all = wanted.flat_map(|(_, kind)| id::list(*kind as c_int));
    let belongs = |entry: &Entry| match (shared, file_of(entry)) {
        (Some(shared), Some(file)) => Arc::ptr_eq(shared, &file),
        (None, Some(_)) => true,
        (_, None) => false,
    };
    all.filter(|(_, entry)| belongs(entry)).collect()
}

/// Closes a file handle whose identifier was already removed from the identifier table.
///
/// # Errors
/// Returns the error of writing the file.
pub fn close_handle(handle: Arc<FileHandle>) -> Outcome<()> {
    let (shared, number) = (Arc::clone(&handle.shared), handle.number);
    drop(handle);
    let is_last = objects(Some(&shared), 0x01).is_empty();
    let still_open = objects(Some(&shared), 0x01).iter().any(|(_, file)| handle_of(file) == Some(number));
    if !still_open && shared.access.read().close_degree == CLOSE_STRONG {
        for (id, entry) in objects(Some(&shared), 0x1e) {
            if is_last || handle_of(&entry) == Some(number) {
                drop(entry);
                let entry = id::take(id);
                closing(|| drop(entry))?;
            }
        }
    }
    closing(|| drop(shared))
}

/// Closes a file identifier according to the file's close degree, and writes the file's dirty data.
fn close(file_id: hid_t) -> Outcome<()> {
    let handle = file::find(file_id).because(codes::ARGS, codes::BADTYPE, "not a file")?;
    let last = id::references(file_id) == Some(1);
    if last && handle.shared.access.read().close_degree == CLOSE_SEMI {
        let files = objects(Some(&handle.shared), 0x01).len();
        let open = objects(Some(&handle.shared), 0x1e).len();
        if files == 1 && open > 0 {
            return Err(Failure::new(codes::FILE, codes::CANTCLOSEFILE, "objects of the file are open"));
        }
    }
    // The library flushes the file at each close, because other identifiers may keep the file open.
    if last && *handle.shared.flags.read() & H5F_ACC_RDWR != 0 {
        handle.shared.file.flush()?;
    }
    drop(handle);
    crate::h5i::release(file_id)?;
    Ok(())
}

/// Opens or creates a file with the properties of a file access list, and returns the file's new
/// identifier.
fn opened(name: &[u8], flags: c_uint, fapl: hid_t, create: Option<FileCreate>) -> Outcome<hid_t> {
    let access = plist::file_access(fapl).because(codes::ARGS, codes::BADTYPE, "not a file access list")?;
    let shared = Request { name, flags, access, create }.run()?;
    let kept = flags & (H5F_ACC_RDWR | H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE);
    Ok(open::register(shared, kept, name))
}

/// Creates a file and returns the file's identifier. Checks the creation flags first.
fn create(name: Text, flags: c_uint, fcpl: hid_t, fapl: hid_t) -> Outcome<hid_t> {
    let name = name.name("file name")?;
    let allowed = H5F_ACC_EXCL | H5F_ACC_TRUNC | H5F_ACC_SWMR_WRITE;
    if flags & !allowed != 0 || flags & H5F_ACC_EXCL != 0 && flags & H5F_ACC_TRUNC != 0 {
        return Err(Failure::bad_value("invalid flags"));
    }
    let create = plist::file_create(fcpl).because(codes::ARGS, codes::BADTYPE, "not a file creation list")?;
    let exclusive = if flags & (H5F_ACC_EXCL | H5F_ACC_TRUNC) == 0 { H5F_ACC_EXCL } else { 0 };
    let id = opened(name, flags | H5F_ACC_RDWR | exclusive, fapl, Some(create))?;
    if flags & H5F_ACC_SWMR_WRITE != 0
        && let Err(error) = file::find(id)?.shared.file.start_swmr_write()
    {
        drop(id::take(id)); // The file closes.
        return Err(error.into());
    }
    Ok(id)
}

/// Opens a file and returns the file's identifier. Checks the access flags first.
fn open_file(name: Text, flags: c_uint, fapl: hid_t) -> Outcome<hid_t> {
    let name = name.name("file name")?;
    let write_modes = H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE | H5F_ACC_SWMR_READ;
    if flags & !write_modes != 0 {
        return Err(Failure::bad_value("invalid flags"));
    }
    if flags & H5F_ACC_SWMR_WRITE != 0 && flags & H5F_ACC_RDWR == 0 {
        return Err(Failure::bad_value("SWMR writing requires write access"));
    }
    if flags & H5F_ACC_SWMR_READ != 0 && flags & H5F_ACC_RDWR != 0 {
        return Err(Failure::bad_value("SWMR reading excludes write access"));
    }
    opened(name, flags, fapl, None)
}

/// Returns the creation properties of an existing, open file.
fn creation_of(shared: &SharedFile) -> Outcome<FileCreate> {
    let info = shared.file.info();
    let root = shared.file.root();
    let group = crate::h5g::creation_of(root)?;
    let strategy = match info.file_space.strategy {
        hyperslab::FileSpaceStrategy::FreeSpaceAndAggregators => 0,
        hyperslab::FileSpaceStrategy::Page => 1,
        hyperslab::FileSpaceStrategy::Aggregators => 2,
        hyperslab::FileSpaceStrategy::None => 3,
    };
    Ok(FileCreate {
        group,
        superblock_version: info.superblock_version.into(),
        user_block: info.user_block,
        offset_bytes: info.size_of_offsets,
        length_bytes: info.size_of_lengths,
        group_internal_k: info.group_internal_k.into(),
        group_leaf_k: info.group_leaf_k.into(),
        chunk_k: info.indexed_storage_k.into(),
        shared_indexes: info
            .shared_messages
            .indexes
            .iter()
            .map(|index| (index.types.into(), index.min_size))
            .collect(),
        shared_max_list: info.shared_messages.max_list.into(),
        shared_min_btree: info.shared_messages.min_btree.into(),
        strategy,
        persist: info.file_space.persist,
        threshold: info.file_space.threshold,
        page_size: info.file_space.page_size,
    })
}

/// Writes the dirty data of the file that contains the object of an identifier.
///
/// # Errors
/// Fails if the identifier does not refer to a file or an object in a file. Returns I/O errors.
pub fn flush(object: hid_t) -> Outcome<herr_t> {
    let entry = id::find(object).ok_or_else(|| Failure::bad_type("not a file or an object in a file"))?;
    let shared = file_of(&entry).ok_or_else(|| Failure::bad_type("not a file or an object in a file"))?;
    if *shared.flags.read() & H5F_ACC_RDWR != 0 {
        match &shared.file_image {
            None => shared.file.flush()?,
            Some(image) => {
                // The closed file must not differ from the flushed one.
                shared.file.release_unused_space()?;
                image.update()?;
            }
        }
    }
    Ok(0)
}

/// Writes the changes of the file of an open object, and then calls the function for flushes of
/// objects that the file access list states.
///
/// # Errors
/// Fails if the identifier is not that of an object in a file, if the write fails, or if the
/// user's function fails.
pub fn flush_object(object: hid_t) -> Outcome<herr_t> {
    flush(object)?;
    let callback =
        id::find(object).as_ref().and_then(file_of).map(|shared| shared.access.read().object_flush);
    let Some(FlushCallback { function: Some(function), data }) = callback else { return Ok(0) };
    if call_user!(function, object, data) < 0 {
        return Err(Failure::new(codes::FILE, codes::CANTFLUSH, "the user's function for flushes failed"));
    }
    Ok(0)
}

export! {
    /// Returns true if the file `name` is an HDF5 file. The driver of the file access list must be
    /// able to open the file.
    fn H5Fis_accessible(name: Text, fapl: hid_t) -> htri_t {
        let name = name.name("file name")?;
        let access = plist::file_access(fapl)?;
        match (Request { name, flags: 0, access, create: None }).run() {
            Ok(file) => {
                closing(|| drop(file))?;
                Ok(1)
            }
            Err(failure) if failure.causes.iter().any(|cause| cause.minor == codes::NOTHDF5) => Ok(0),
            Err(failure) => Err(failure.then(codes::IO, codes::CANTINIT, "cannot open the file")),
        }
    }

    /// Returns whether the file `name` is an HDF5 file.
    fn H5Fis_hdf5(name: Text) -> htri_t {
        let name = name.name("file name")?;
        match (Request { name, flags: 0, access: FileAccess::default(), create: None }).run() {
            Ok(file) => {
                closing(|| drop(file))?;
                Ok(1)
            }
            Err(failure) if failure.causes.iter().any(|cause| cause.minor == codes::NOTHDF5) => Ok(0),
            Err(failure) => Err(failure.then(codes::IO, codes::CANTINIT, "cannot open the file")),
        }
    }

    /// Creates the file `name` and returns the file's identifier.
    fn H5Fcreate(name: Text, flags: c_uint, fcpl: hid_t, fapl: hid_t) -> hid_t {
        create(name, flags, fcpl, fapl)
            .because(codes::FILE, codes::CANTCREATE, "unable to synchronously create file")
    }

    /// Opens the file `name` and returns the file's identifier.
    fn H5Fopen(name: Text, flags: c_uint, fapl: hid_t) -> hid_t {
        open_file(name, flags, fapl)
            .because(codes::FILE, codes::CANTOPENFILE, "unable to synchronously open file")
    }

    /// Returns a new, independent identifier of an open file.
    fn H5Freopen(file_id: hid_t) -> hid_t {
        let handle = file::find(file_id)?;
        Ok(open::register(Arc::clone(&handle.shared), handle.flags, &handle.name))
    }

    /// Writes the dirty data of the file that contains `object`.
    fn H5Fflush(object: hid_t, scope: c_int) -> herr_t {
        if !(0..=1).contains(&scope) {
            return Err(Failure::bad_value("unknown flush scope"));
        }
        flush(object).because(codes::FILE, codes::CANTFLUSH, "unable to synchronously flush file")
    }

    /// Closes a file identifier.
    fn H5Fclose(file_id: hid_t) -> herr_t {
        close(file_id).because(codes::FILE, codes::CANTCLOSEFILE, "unable to synchronously close file")?;
        Ok(0)
    }

    /// Deletes the HDF5 file `name`, unless it is open.
    fn H5Fdelete(name: Text, fapl: hid_t) -> herr_t {
        let name = name.name("file name")?;
        let access = plist::file_access(fapl)?;
        let shared = Request { name, flags: 0, access: access.clone(), create: None }
            .run()
            .because(codes::FILE, codes::NOTHDF5, "not an HDF5 file")?;
        if Arc::strong_count(&shared) > 1 {
            return Err(Failure::new(codes::FILE, codes::CANTDELETEFILE, "the file is open"));
        }
        closing(|| drop(shared))?;
        crate::h5fd_blocks::delete(name, &access)
            .because(codes::FILE, codes::CANTDELETEFILE, "unable to delete the file")?;
        Ok(0)
    }

    /// Returns the identifier of a new file creation list with the file's creation properties.
    fn H5Fget_create_plist(file_id: hid_t) -> hid_t {
        let create = creation_of(&file::find(file_id)?.shared)?;
        plist::make::register(symbols::CLASS_FILE_CREATE, Settings::FileCreate(create))
    }

    /// Returns the identifier of a new file access list with the file's access properties.
    fn H5Fget_access_plist(file_id: hid_t) -> hid_t {
        let shared = Arc::clone(&file::find(file_id)?.shared);
        let mut access = shared.access.read().clone();
        if access.close_degree == 0 {
            access.close_degree = 1;
        }
        access.image = None;
        plist::make::register(symbols::CLASS_FILE_ACCESS, Settings::FileAccess(access))
    }

    /// Stores in `intent` the flags with which the file was opened.
    fn H5Fget_intent(file_id: hid_t, intent: Out<c_uint>) -> herr_t {
        let handle = file::find(file_id)?;
        let swmr = *handle.shared.flags.read() & (H5F_ACC_SWMR_READ | H5F_ACC_SWMR_WRITE);
        intent.put(handle.flags & H5F_ACC_RDWR | swmr);
        Ok(0)
    }

    /// Stores in `number` a number that identifies the file among all open files.
    fn H5Fget_fileno(file_id: hid_t, number: Out<u64>) -> herr_t {
        number.put(file::find(file_id)?.shared.number);
        Ok(0)
    }

    /// Returns the number of open objects of the given kinds in a file, or in all files.
    fn H5Fget_obj_count(file_id: hid_t, kinds: c_uint) -> isize {
        Ok(open_objects(file_id, kinds)?.len().cast_signed())
    }

    /// Stores the identifiers of at most `max` open objects of a file in an array and returns their
    /// number.
    fn H5Fget_obj_ids(file_id: hid_t, kinds: c_uint, max: usize, ids: Out<hid_t>) -> isize {
        let found: Vec<hid_t> = open_objects(file_id, kinds)?.into_iter().map(|(id, _)| id).collect();
        ids.require("identifiers")?.fill(&found, max)?;
        Ok(found.len().min(max).cast_signed())
    }

    /// Stores the file driver's handle in `handle`: a pointer to the file descriptor or to the
    /// buffer in memory.
    fn H5Fget_vfd_handle(file_id: hid_t, fapl: hid_t, handle: Out<*mut c_void>) -> herr_t {
        let shared = Arc::clone(&file::find(file_id)?.shared);
        handle.require("file handle")?;
        handle.put(crate::driver::handle::of(&shared, fapl)?);
        Ok(0)
    }

    /// Makes the process the SWMR writer of the open file.
    fn H5Fstart_swmr_write(file_id: hid_t) -> herr_t {
        let handle = file::find(file_id)?;
        let shared = &handle.shared;
        let access = shared.access.read().libver;
        if access.0 < 2 {
            return Err(Failure::new(codes::FILE, codes::CANTCONVERT, "the file's format does not allow SWMR"));
        }
        if *shared.flags.read() & H5F_ACC_RDWR == 0 {
            return Err(Failure::new(codes::FILE, codes::BADVALUE, "the file is open for reading only"));
        }
        shared.file.start_swmr_write()
            .because(codes::FILE, codes::CANTCONVERT, "unable to start SWMR writing")?;
        *shared.flags.write() |= H5F_ACC_SWMR_WRITE;
        Ok(0)
    }

    /// Returns success without an effect: hyperslab does not cache files of external links.
    fn H5Fclear_elink_file_cache(file_id: hid_t) -> herr_t {
        file::find(file_id)?;
        Ok(0)
    }

    /// Sets the version bounds of the file: the lowest and the highest library version whose format
    /// later writes may use.
    fn H5Fset_libver_bounds(file_id: hid_t, low: c_int, high: c_int) -> herr_t {
        let handle = file::find(file_id)?;
        handle.shared.file.set_libver(open::bounds((low, high))?)?;
        handle.shared.access.write().libver = (low, high);
        Ok(0)
    }

    /// Sets whether later writes to the file use the newest format.
    fn H5Fset_latest_format(file_id: hid_t, latest: bool) -> herr_t {
        let bounds = if latest { (5, 5) } else { (0, 5) };
        let handle = file::find(file_id)?;
        handle.shared.file.set_libver(open::bounds(bounds)?)?;
        handle.shared.access.write().libver = bounds;
        Ok(0)
    }

    /// Changes a superblock of version 3 to version 2, so that HDF5 1.8 can open the file.
    fn H5Fformat_convert(file_id: hid_t) -> herr_t {
        file::find(file_id)?.shared.file.use_old_superblock()?;
        Ok(0)
    }

    /// Stores in `minimize` whether object headers of new datasets in the file have the minimum
    /// size.
    fn H5Fget_dset_no_attrs_hint(file_id: hid_t, minimize: Out<bool>) -> herr_t {
        let handle = file::find(file_id)?;
        minimize.require("result")?.put(handle.shared.minimizes_headers());
        Ok(0)
    }

    /// Sets whether object headers of new datasets in the file have the minimum size.
    fn H5Fset_dset_no_attrs_hint(file_id: hid_t, minimize: bool) -> herr_t {
        file::find(file_id)?.shared.minimize_headers(minimize);
        Ok(0)
    }
}

/// Returns the open objects of given kinds in a file, for `H5Fget_obj_count` and `H5Fget_obj_ids`.
fn open_objects(file_id: hid_t, kinds: c_uint) -> Outcome<Vec<(hid_t, Entry)>> {
    if kinds & 0x1f == 0 {
        return Err(Failure::bad_value("the flags select no kind of objects"));
    }
    // The value `H5F_OBJ_ALL` in place of a file identifier stands for all files.
    if file_id == hid_t::from(0x1f) || file_id == hid_t::from(0x3f) {
        return Ok(objects(None, kinds));
    }
    let handle = file::find(file_id)?;
    let mut found = objects(Some(&handle.shared), kinds);
    if kinds & OBJ_LOCAL != 0 {
        found.retain(|(_, entry)| handle_of(entry) == Some(handle.number));
    }
    Ok(found)
}
