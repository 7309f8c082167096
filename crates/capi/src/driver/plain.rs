//! Files without HDF5 content that programs open with a driver of the library (`H5FDopen`).

#![expect(unsafe_code, reason = "functions of a driver get their file as a pointer")]

use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::vfd::{Driver, LockKind};

use super::class::{H5FD_class_t, H5FD_t};
use crate::ctypes::{haddr_t, herr_t, hid_t};
use crate::error::Outcome;
use crate::file::open::Request;
use crate::file::{H5F_ACC_CREAT, H5F_ACC_EXCL, H5F_ACC_RDWR, H5F_ACC_TRUNC};
use crate::h5fd::{DEFAULT_COMPATIBLE, LIBRARY_FEATURES};
use crate::plist::settings::{FileAccess, FileCreate};
use crate::pointer::Buffer;

/// A file that a driver of the library has open for the low-level functions of drivers.
#[repr(C)]
#[derive(Debug)]
struct PlainFile {
    /// The part of each driver's file that the library knows.
    part: H5FD_t,
    /// The driver with the bytes of the file.
    driver: Arc<dyn Driver>,
    /// The end of allocation.
    end: AtomicU64,
}

/// A table of functions and texts that live as long as the library.
#[derive(Debug)]
struct Table(H5FD_class_t);

// SAFETY: the pointers of the table lead to constants.
unsafe impl Sync for Table {}

/// The functions of files that drivers of the library open.
static CLASS: Table = Table(H5FD_class_t {
    #[cfg(not(feature = "hdf5-1-10"))]
    version: 1,
    #[cfg(not(feature = "hdf5-1-10"))]
    value: 0,
    name: c"hyperslab".as_ptr(),
    maxaddr: i64::MAX.cast_unsigned(),
    fc_degree: 1,
    terminate: None,
    sb_size: None,
    sb_encode: None,
    sb_decode: None,
    fapl_size: 0,
    fapl_get: None,
    fapl_copy: None,
    fapl_free: None,
    dxpl_size: 0,
    dxpl_copy: None,
    dxpl_free: None,
    open: None,
    close: Some(close),
    cmp: None,
    query: Some(query),
    get_type_map: None,
    alloc: None,
    free: None,
    get_eoa: Some(end_of_allocation),
    set_eoa: Some(set_end_of_allocation),
    get_eof: Some(end_of_file),
    get_handle: None,
    read: Some(read),
    write: Some(write),
    #[cfg(not(feature = "hdf5-1-10"))]
    read_vector: std::ptr::null(),
    #[cfg(not(feature = "hdf5-1-10"))]
    write_vector: std::ptr::null(),
    #[cfg(not(feature = "hdf5-1-10"))]
    read_selection: std::ptr::null(),
    #[cfg(not(feature = "hdf5-1-10"))]
    write_selection: std::ptr::null(),
    flush: Some(flush),
    truncate: Some(truncate),
    lock: Some(lock),
    unlock: Some(unlock),
    #[cfg(not(feature = "hdf5-1-10"))]
    del: None,
    #[cfg(not(feature = "hdf5-1-10"))]
    ctl: None,
    fl_map: [0; 7],
});

/// Opens a file with a driver of the library. Returns the address of the file for the program,
/// which closes the file.
///
/// # Errors
/// Returns the errors of opening the file.
pub fn open(name: &[u8], flags: c_uint, access: FileAccess) -> Outcome<*mut c_void> {
    let driver_id = access.driver.id();
    let mut request = Request { name, flags, access, create: None };
    let exists = request.exists();
    if flags & H5F_ACC_TRUNC != 0 || flags & H5F_ACC_CREAT != 0 && (!exists || flags & H5F_ACC_EXCL != 0) {
        request.create = Some(FileCreate::default());
        request.flags = if flags & H5F_ACC_TRUNC != 0 { flags } else { flags | H5F_ACC_EXCL };
    }
    let driver = request.plain_driver()?;
    let part = H5FD_t {
        driver_id,
        cls: &raw const CLASS.0,
        fileno: 0,
        access_flags: flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT | H5F_ACC_EXCL),
        feature_flags: LIBRARY_FEATURES | DEFAULT_COMPATIBLE,
        maxaddr: CLASS.0.maxaddr,
        base_addr: 0,
        threshold: 1,
        alignment: 1,
        paged_aggr: false,
    };
    Ok(Box::into_raw(Box::new(PlainFile { part, driver, end: AtomicU64::new(0) })).cast())
}

/// Returns the file to which a pointer leads.
fn file_of<'a>(file: *const H5FD_t) -> &'a PlainFile {
    // SAFETY: the functions of `CLASS` only receive files that `open` made, and the program closes
    // a file once.
    unsafe { &*file.cast() }
}

/// Converts the result of a driver to that of C.
fn status(outcome: hyperslab::vfd::Result<()>) -> herr_t {
    if outcome.is_ok() { 0 } else { -1 }
}

extern "C" fn close(file: *mut H5FD_t) -> herr_t {
    // SAFETY: `open` made the box, and the program closes a file once.
    let file = unsafe { Box::from_raw(file.cast::<PlainFile>()) };
    status(file.driver.flush())
}

extern "C" fn query(file: *const H5FD_t, flags: *mut c_ulong) -> herr_t {
    let _ = file;
    crate::pointer::Out::of(flags).put(LIBRARY_FEATURES | DEFAULT_COMPATIBLE);
    0
}

extern "C" fn end_of_allocation(file: *const H5FD_t, kind: c_int) -> haddr_t {
    let _ = kind;
    file_of(file).end.load(Ordering::Acquire)
}

extern "C" fn set_end_of_allocation(file: *mut H5FD_t, kind: c_int, end: haddr_t) -> herr_t {
    let _ = kind;
    file_of(file).end.store(end, Ordering::Release);
    0
}

extern "C" fn end_of_file(file: *const H5FD_t, kind: c_int) -> haddr_t {
    let _ = kind;
    file_of(file).driver.len().unwrap_or(haddr_t::MAX)
}

extern "C" fn read(
    file: *mut H5FD_t,
    kind: c_int,
    dxpl: hid_t,
    address: haddr_t,
    size: usize,
    buffer: *mut c_void,
) -> herr_t {
    let _ = (kind, dxpl);
    let file = file_of(file);
    let Ok(bytes) = Buffer::of(buffer).bytes(size, "buffer") else { return -1 };
    let (Ok(length), Some(end)) = (file.driver.len(), address.checked_add(hyperslab_exact::to_u64(size)))
    else {
        return -1;
    };
    if end > file.end.load(Ordering::Acquire) {
        return -1;
    }
    // Bytes after the end of the file are zeros.
    let left = length.checked_sub(address).map_or(Ok(0), usize::try_from);
    let stored = left.map_or(size, |left| left.min(size));
    let Some((stored, rest)) = bytes.split_at_mut_checked(stored) else { return -1 };
    rest.fill(0);
    status(if stored.is_empty() { Ok(()) } else { file.driver.read_at(address, stored) })
}

extern "C" fn write(
    file: *mut H5FD_t,
    kind: c_int,
    dxpl: hid_t,
    address: haddr_t,
    size: usize,
    bytes: *const c_void,
) -> herr_t {
    let _ = (kind, dxpl);
    let file = file_of(file);
    let Ok(bytes) = crate::pointer::Data::of(bytes).bytes(size, "buffer") else { return -1 };
    let end = address.checked_add(hyperslab_exact::to_u64(size));
    if end.is_none_or(|end| end > file.end.load(Ordering::Acquire)) {
        return -1;
    }
    status(file.driver.write_at(address, bytes))
}

extern "C" fn flush(file: *mut H5FD_t, dxpl: hid_t, closing: bool) -> herr_t {
    let _ = (dxpl, closing);
    status(file_of(file).driver.flush())
}

extern "C" fn truncate(file: *mut H5FD_t, dxpl: hid_t, closing: bool) -> herr_t {
    let _ = (dxpl, closing);
    let file = file_of(file);
    if file.driver.is_read_only() {
        return 0;
    }
    status(file.driver.set_len(file.end.load(Ordering::Acquire)))
}

extern "C" fn lock(file: *mut H5FD_t, exclusive: bool) -> herr_t {
    status(file_of(file).driver.lock(if exclusive { LockKind::Exclusive } else { LockKind::Shared }))
}

extern "C" fn unlock(file: *mut H5FD_t) -> herr_t {
    status(file_of(file).driver.unlock())
}
