//! File driver functions (`H5FD*`): registration, and calls of a driver's functions.

use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::call_user;
use crate::ctypes::{haddr_t, herr_t, hid_t, htri_t};
use crate::driver::class::H5FD_t;
use crate::driver::user::UserDriver;
use crate::driver::{self, DriverHandle, H5FD_class_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::id::{self, Entry};
use crate::pointer::{Buffer, Data, In, Out, Text};
use crate::symbols;

/// Returns the function table of the driver that opened a file. Reads it from the file's C struct.
///
/// # Errors
/// Fails with a bad value if the pointer is null.
pub fn class_of(file: In<H5FD_t>) -> Outcome<H5FD_class_t> {
    let class = crate::memory::class_of_driver(file.pointer());
    class.because(codes::ARGS, codes::BADVALUE, "file pointer cannot be NULL")
}

/// Returns a failure of a file driver function with the given text.
fn failed(text: &'static str) -> Failure {
    Failure::new(codes::VFL, codes::CANTINIT, text)
}

export! {
    /// Registers a user's file driver and returns the driver's identifier.
    fn H5FDregister(class: In<H5FD_class_t>) -> hid_t {
        if class.is_null() {
            return Err(Failure::bad_value("null class pointer is disallowed"));
        }
        let class = crate::memory::driver_class(class.pointer());
        if !class.has_known_version() {
            return Err(Failure::new(codes::VFL, codes::VERSION, "wrong file driver version #"));
        }
        let complete = class.open.is_some()
            && class.close.is_some()
            && class.get_eoa.is_some()
            && class.set_eoa.is_some()
            && class.get_eof.is_some()
            && class.read.is_some()
            && class.write.is_some();
        if !complete {
            return Err(Failure::bad_value("a function of the driver is missing"));
        }
        let driver = UserDriver { class: Box::new(class), id: AtomicI64::new(0) };
        let handle = Arc::new(DriverHandle::User(driver));
        let id = id::register(Entry::Driver(Arc::clone(&handle)));
        if let DriverHandle::User(driver) = &*handle {
            driver.id.store(id, Ordering::Relaxed);
        }
        Ok(id)
    }

    /// Releases the identifier of a file driver.
    fn H5FDunregister(driver_id: hid_t) -> herr_t {
        let driver = driver::find(driver_id)?;
        crate::h5i::release(driver_id).because(codes::VFL, codes::CANTDEC, "unable to unregister file driver")?;
        if let (DriverHandle::User(user), None) = (&*driver, id::find(driver_id))
            && let Some(terminate) = user.class.terminate
            && call_user!(terminate,) < 0
        {
            return Err(Failure::new(codes::VFL, codes::CANTCLOSEOBJ, "the driver's function for its end failed"));
        }
        Ok(0)
    }

    /// Returns whether a file driver with the given name is registered.
    fn H5FDis_driver_registered_by_name(name: Text) -> htri_t {
        let name = name.name("driver name")?;
        let found = driver::by_name(name).is_some();
        Ok(htri_t::from(found))
    }

    /// Returns whether a file driver with the given number is registered.
    fn H5FDis_driver_registered_by_value(value: c_int) -> htri_t {
        if !(0..=65535).contains(&value) {
            return Err(Failure::bad_value("driver value is out of range"));
        }
        Ok(htri_t::from(driver::by_value(value).is_some()))
    }

    /// Stores in `flags` the features of the driver that opened a file (`H5FD_FEAT_*`).
    fn H5FDquery(file: In<H5FD_t>, flags: Out<c_ulong>) -> herr_t {
        let class = class_of(file)?;
        let mut features = 0;
        if let Some(query) = class.query {
            call_user!(query, file.pointer(), &raw mut features);
        }
        flags.put(features);
        Ok(0)
    }

    /// Opens a file with the driver of an access list and returns the driver's file struct.
    fn H5FDopen(name: Text, flags: c_uint, fapl: hid_t, max_address: haddr_t) -> *mut c_void {
        let access = crate::plist::file_access(fapl)?;
        let crate::plist::driver_choice::DriverChoice::User(handle, _) = &access.driver else {
            let _ = max_address;
            return driver::plain::open(name.name("file name")?, flags, access);
        };
        let DriverHandle::User(user) = &**handle else { return Err(failed("not a user-defined driver")) };
        let open = user.class.open.ok_or_else(|| failed("file driver has no `open' method"))?;
        let file = call_user!(open, name.pointer(), flags, fapl, max_address);
        if file.is_null() {
            return Err(failed("unable to open file"));
        }
        crate::memory::set_class(file, user.id(), &user.class);
        Ok(file.cast())
    }

    /// Closes a file that a driver opened.
    fn H5FDclose(file: In<H5FD_t>) -> herr_t {
        let class = class_of(file)?;
        let close = class.close.ok_or_else(|| failed("file driver has no `close' method"))?;
        Ok(call_user!(close, file.pointer().cast_mut()))
    }

    /// Compares two files that drivers opened; the result is negative, 0 or positive.
    fn H5FDcmp(one: In<H5FD_t>, other: In<H5FD_t>) -> c_int {
        if one.is_null() || other.is_null() {
            return Ok(i32::from(one.is_null()) - i32::from(other.is_null()));
        }
        match class_of(one)?.cmp {
            Some(compare) => Ok(call_user!(compare, one.pointer(), other.pointer())),
            None => Ok((one.pointer() as usize).cmp(&(other.pointer() as usize)) as c_int),
        }
    }

    /// Returns the end of allocation of a file that a driver opened.
    fn H5FDget_eoa(file: In<H5FD_t>, kind: c_int) -> haddr_t {
        let get = class_of(file)?.get_eoa.ok_or_else(|| failed("the driver has no such function"))?;
        Ok(call_user!(get, file.pointer(), kind))
    }

    /// Sets the end of allocation of a file that a driver opened.
    fn H5FDset_eoa(file: In<H5FD_t>, kind: c_int, address: haddr_t) -> herr_t {
        let set = class_of(file)?.set_eoa.ok_or_else(|| failed("the driver has no such function"))?;
        Ok(call_user!(set, file.pointer().cast_mut(), kind, address))
    }

    /// Returns the end of file, in bytes, of a file that a driver opened.
    fn H5FDget_eof(file: In<H5FD_t>, kind: c_int) -> haddr_t {
        let get = class_of(file)?.get_eof.ok_or_else(|| failed("the driver has no such function"))?;
        Ok(call_user!(get, file.pointer(), kind))
    }

    /// Reads `size` bytes at the address `address` from a file that a driver opened.
    fn H5FDread(file: In<H5FD_t>, kind: c_int, dxpl: hid_t, address: haddr_t, size: usize, buffer: Buffer) -> herr_t {
        let read = class_of(file)?.read.ok_or_else(|| failed("the driver has no such function"))?;
        if buffer.is_null() {
            return Err(Failure::bad_value("result buffer parameter can't be NULL"));
        }
        Ok(call_user!(read, file.pointer().cast_mut(), kind, dxpl, address, size, buffer.pointer()))
    }

    /// Writes `size` bytes at the address `address` to a file that a driver opened.
    fn H5FDwrite(file: In<H5FD_t>, kind: c_int, dxpl: hid_t, address: haddr_t, size: usize, bytes: Data) -> herr_t {
        let write = class_of(file)?.write.ok_or_else(|| failed("the driver has no such function"))?;
        Ok(call_user!(write, file.pointer().cast_mut(), kind, dxpl, address, size, bytes.pointer()))
    }

    /// Calls the driver's flush function for a file that the driver opened.
    fn H5FDflush(file: In<H5FD_t>, dxpl: hid_t, closing: bool) -> herr_t {
        match class_of(file)?.flush {
            Some(flush) => Ok(call_user!(flush, file.pointer().cast_mut(), dxpl, closing)),
            None => Ok(0),
        }
    }

    /// Calls the driver's truncate function, which sets the length of an open file to the end of
    /// allocation.
    fn H5FDtruncate(file: In<H5FD_t>, dxpl: hid_t, closing: bool) -> herr_t {
        match class_of(file)?.truncate {
            Some(truncate) => Ok(call_user!(truncate, file.pointer().cast_mut(), dxpl, closing)),
            None => Ok(0),
        }
    }

    /// Calls the driver's lock function for a file that the driver opened.
    fn H5FDlock(file: In<H5FD_t>, exclusive: bool) -> herr_t {
        match class_of(file)?.lock {
            Some(lock) => Ok(call_user!(lock, file.pointer().cast_mut(), exclusive)),
            None => Ok(0),
        }
    }

    /// Calls the driver's unlock function for a file that the driver opened.
    fn H5FDunlock(file: In<H5FD_t>) -> herr_t {
        match class_of(file)?.unlock {
            Some(unlock) => Ok(call_user!(unlock, file.pointer().cast_mut())),
            None => Ok(0),
        }
    }

    /// Stores in `handle` the driver's handle of a file that the driver opened.
    fn H5FDget_vfd_handle(file: In<H5FD_t>, fapl: hid_t, handle: Out<*mut c_void>) -> herr_t {
        let get = class_of(file)?.get_handle.ok_or_else(|| failed("the driver has no such function"))?;
        handle.require("file handle")?;
        let mut found = std::ptr::null_mut();
        let outcome = call_user!(get, file.pointer().cast_mut(), fapl, &raw mut found);
        handle.put(found);
        Ok(outcome)
    }

    /// Stores in `flags` the features that a file driver has (`H5FD_FEAT_*`).
    fn H5FDdriver_query(driver_id: hid_t, flags: Out<c_ulong>) -> herr_t {
        match &*driver::find(driver_id)? {
            DriverHandle::User(user) => {
                let mut features = 0;
                if let Some(query) = user.class.query {
                    call_user!(query, std::ptr::null(), &raw mut features);
                }
                flags.put(features);
            }
            DriverHandle::Library { name, .. } => {
                let is_one_file = ["sec2", "stdio", "core", "log", "direct"].contains(&&**name);
                flags.put(LIBRARY_FEATURES | if is_one_file { DEFAULT_COMPATIBLE } else { 0 });
            }
        }
        Ok(0)
    }

    /// Stores in `count` the number of revisions of a file of the onion driver.
    fn H5FDonion_get_revision_count(name: Text, fapl: hid_t, count: Out<u64>) -> herr_t {
        let _ = (name, fapl, count);
        Err(Failure::unsupported("H5FDonion_get_revision_count"))
    }
}

/// The features of the library's single-file drivers (`H5FD_FEAT_*`): aggregation, accumulation,
/// sieving, SWMR, and compatibility with the default driver.
pub const LIBRARY_FEATURES: c_ulong = 0x0000_1a7d;
/// The feature of drivers whose files the default driver can open
/// (`H5FD_FEAT_DEFAULT_VFD_COMPATIBLE`).
pub const DEFAULT_COMPATIBLE: c_ulong = 0x0000_8000;

/// The C type of a user's function that registers a file driver and returns its identifier.
pub type Initializer = unsafe extern "C" fn() -> hid_t;

export! {
    /// Calls a user's function that registers a file driver, and returns the driver's identifier.
    fn H5FDperform_init(initializer: Option<Initializer>) -> hid_t {
        let initializer = initializer.ok_or_else(|| Failure::bad_value("the callback function is null"))?;
        match call_user!(initializer,) {
            driver if driver < 0 => Err(Failure::new(codes::VFL, codes::CANTINIT, "cannot register the driver")),
            driver => Ok(driver),
        }
    }
}

/// Defines functions that return the identifier of a driver of the library.
macro_rules! initializers {
    ($($name:ident $driver:ident)*) => {
        export! {$(
            /// Returns the predefined identifier of a driver of the library.
            fn $name() -> hid_t {
                Ok(symbols::$driver)
            }
        )*}
    };
}

initializers! {
    H5FD_core_init CORE_DRIVER
    H5FD_family_init FAMILY_DRIVER
    H5FD_log_init LOG_DRIVER
    H5FD_multi_init MULTI_DRIVER
    H5FD_onion_init ONION_DRIVER
    H5FD_sec2_init SEC2_DRIVER
    H5FD_splitter_init SPLITTER_DRIVER
    H5FD_stdio_init STDIO_DRIVER
}
