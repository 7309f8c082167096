//! File drivers that users register with `H5FDregister`, as drivers of hyperslab.

use std::ffi::{CString, c_int, c_uint, c_ulong, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use hyperslab::vfd::{Driver, DriverError, FileIdentity, LockKind, Result};
use parking_lot::Mutex;

use super::class::{H5FD_class_t, H5FD_t};
use super::{DriverHandle, UserInfo};
use crate::ctypes::{H5P_DEFAULT, haddr_t, hid_t};
use crate::error::{Failure, Outcome, codes};
use crate::file::{H5F_ACC_CREAT, H5F_ACC_EXCL, H5F_ACC_RDWR, H5F_ACC_TRUNC};
use crate::plist::driver_choice::DriverChoice;
use crate::plist::settings::FileAccess;
use crate::plist::{Settings, make};
use crate::pointer::Data;
use crate::{call_user, memory};

/// The memory kind that the library passes to users' drivers for metadata (`H5FD_MEM_DEFAULT`).
const DEFAULT_MEMORY: c_int = 0;
/// The memory kind that the library passes to users' drivers for raw data (`H5FD_MEM_DRAW`).
const RAW_MEMORY: c_int = 3;

/// A file driver that a user registered.
#[derive(Debug)]
pub struct UserDriver {
    /// The driver's function table.
    pub class: Box<H5FD_class_t>,
    /// The driver's identifier; 0 until the driver is registered.
    pub id: AtomicI64,
}

// SAFETY: the pointers of the table lead to functions and texts that the user keeps while the
// driver is registered, and the library does not change them.
#[expect(unsafe_code, reason = "tables of functions cross threads")]
unsafe impl Send for UserDriver {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "tables of functions cross threads")]
unsafe impl Sync for UserDriver {}

impl UserDriver {
    /// Returns the identifier of the user's file driver.
    pub fn id(&self) -> hid_t {
        self.id.load(Ordering::Relaxed)
    }
}

/// A configuration of a user's driver in memory. The driver's own functions copy and free it.
#[derive(Debug)]
pub struct InfoBlock {
    /// The address of the configuration; null if the driver has none.
    pub block: *mut c_void,
    /// The driver's function table.
    pub class: H5FD_class_t,
}

impl InfoBlock {
    /// Copies the configuration of a user's driver with the driver's copy function, or as a block
    /// of `fapl_size` bytes.
    ///
    /// # Errors
    /// Fails if memory is exhausted, or if the driver's copy function fails.
    pub fn copy_of(class: H5FD_class_t, info: Data) -> Outcome<Self> {
        let from = info.pointer();
        let block = if from.is_null() {
            std::ptr::null_mut()
        } else if let Some(copy) = class.fapl_copy {
            call_user!(copy, from)
        } else if class.fapl_size > 0 {
            memory::copy(info.bytes(class.fapl_size, "configuration")?)
        } else {
            return Err(Failure::new(
                codes::PLIST,
                codes::UNSUPPORTED,
                "the driver states neither a configuration size nor a copy function",
            ));
        };
        if block.is_null() && !from.is_null() {
            return Err(Failure::new(
                codes::PLIST,
                codes::CANTCOPY,
                "the driver's copy function failed to copy the driver configuration",
            ));
        }
        Ok(Self { block, class })
    }
}

impl Drop for InfoBlock {
    fn drop(&mut self) {
        if self.block.is_null() {
            return;
        }
        match self.class.fapl_free {
            // The caller of `drop` cannot receive an error of the driver's function.
            Some(free) => drop(call_user!(free, self.block)),
            None => memory::free(self.block),
        }
    }
}

// SAFETY: the block belongs to this value alone until it is dropped; only the user's functions
// read it.
#[expect(unsafe_code, reason = "configurations of drivers cross threads")]
unsafe impl Send for InfoBlock {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "configurations of drivers cross threads")]
unsafe impl Sync for InfoBlock {}

/// A file that a user's driver has open.
#[derive(Debug)]
pub struct UserFile {
    /// The address of the struct that the driver returned for the open file.
    pub file: *mut H5FD_t,
    /// The driver's function table.
    pub class: H5FD_class_t,
    /// The name of the file.
    name: String,
    /// True if the file is open for writing.
    writable: bool,
    /// The end of the bytes that the library wrote, or the length that it set.
    end: AtomicU64,
    /// True after the driver has closed the file.
    closed: AtomicBool,
    /// A lock that serializes the calls of the driver's functions for this file.
    calls: Mutex<()>,
}

// SAFETY: the C interface calls drivers from any thread; the library calls the functions of one
// file one after another.
#[expect(unsafe_code, reason = "open files of drivers cross threads")]
unsafe impl Send for UserFile {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "open files of drivers cross threads")]
unsafe impl Sync for UserFile {}

impl UserFile {
    /// Opens a file with a user's driver.
    ///
    /// # Errors
    /// Fails if the driver's open function fails.
    pub fn open(
        driver: &Arc<DriverHandle>,
        info: &UserInfo,
        name: &[u8],
        flags: c_uint,
        max_address: haddr_t,
    ) -> Outcome<Arc<Self>> {
        let DriverHandle::User(user) = &**driver else {
            return Err(Failure::new(codes::VFL, codes::BADVALUE, "not a user-defined driver"));
        };
        let class = *user.class;
        let open = class
            .open
            .ok_or_else(|| Failure::new(codes::VFL, codes::UNSUPPORTED, "the driver has no open function"))?;
        let access = FileAccess {
            driver: DriverChoice::User(Arc::clone(driver), info.clone()),
            ..FileAccess::default()
        };
        let list = make::register(crate::symbols::CLASS_FILE_ACCESS, Settings::FileAccess(access))?;
        let text: CString = crate::error::stack::text(name);
        let creates = flags & (H5F_ACC_TRUNC | H5F_ACC_EXCL) != 0;
        let passed = if creates { flags | H5F_ACC_CREAT } else { flags };
        let file = call_user!(open, text.as_ptr(), passed, list, max_address);
        crate::id::take(list);
        if file.is_null() {
            return Err(Failure::new(codes::VFL, codes::CANTINIT, "the driver cannot open the file"));
        }
        let opened = Self {
            file,
            class,
            name: String::from_utf8_lossy(name).into_owned(),
            writable: flags & H5F_ACC_RDWR != 0,
            end: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            calls: Mutex::default(),
        };
        opened.start(user.id(), flags);
        let length = opened.length();
        opened.end.store(length, Ordering::Release);
        Ok(Arc::new(opened))
    }

    /// Initializes the library's part (`H5FD_t`) of the C struct of a file that a user's driver
    /// opened.
    fn start(&self, driver: hid_t, flags: c_uint) {
        let mut features: c_ulong = 0;
        if let Some(query) = self.class.query {
            call_user!(query, self.file.cast_const(), &raw mut features);
        }
        let class = Box::leak(Box::new(self.class));
        let part = H5FD_t {
            driver_id: driver,
            cls: class,
            fileno: 0,
            access_flags: flags,
            feature_flags: features,
            maxaddr: self.class.maxaddr,
            base_addr: 0,
            threshold: 1,
            alignment: 1,
            paged_aggr: false,
        };
        memory::put(self.file, part);
    }

    /// Returns the length of the file according to the `get_eof` or `get_eoa` function of the
    /// user's driver.
    fn length(&self) -> u64 {
        let file = self.file.cast_const();
        let ends = [self.class.get_eof, self.class.get_eoa];
        let mut lengths =
            ends.into_iter().flatten().map(|function| call_user!(function, file, DEFAULT_MEMORY));
        let length = lengths.next().filter(|length| *length != haddr_t::MAX);
        length.unwrap_or(0)
    }

    /// Returns the handle of the file that the `get_handle` function of the user's driver states.
    ///
    /// # Errors
    /// Fails if the driver has no handle.
    pub fn handle(&self, fapl: hid_t) -> Outcome<*mut c_void> {
        let mut handle = std::ptr::null_mut();
        let _calls = self.calls.lock();
        match self.class.get_handle {
            Some(function) if call_user!(function, self.file, fapl, &raw mut handle) >= 0 => Ok(handle),
            _ => Err(Failure::new(codes::VFL, codes::CANTGET, "the driver has no handle")),
        }
    }

    /// Closes the file with the close function of the user's driver. Later calls have no effect.
    ///
    /// # Errors
    /// Fails if the driver's close function fails.
    pub fn close(&self) -> Outcome<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        match self.class.close {
            Some(close) if call_user!(close, self.file) < 0 => {
                Err(Failure::new(codes::VFL, codes::CANTCLOSEFILE, "the driver cannot close the file"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the error for a failed function of the user's driver. `action` names the action that
    /// failed.
    fn failed(&self, action: &'static str) -> DriverError {
        let error = std::io::Error::other("the function of the driver failed");
        DriverError::io(self.name.clone(), action, error)
    }

    /// Raises the end of allocation that the user's driver knows to `end`. A driver rejects
    /// accesses beyond its end of allocation.
    fn raise_end(&self, end: u64) -> bool {
        let known =
            self.class.get_eoa.map(|function| call_user!(function, self.file.cast_const(), DEFAULT_MEMORY));
        if known.is_some_and(|known| known != haddr_t::MAX && known >= end) {
            return true;
        }
        self.class.set_eoa.is_none_or(|function| call_user!(function, self.file, DEFAULT_MEMORY, end) >= 0)
    }
}

impl Driver for UserFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> Option<FileIdentity> {
        None
    }

    fn is_read_only(&self) -> bool {
        !self.writable
    }

    fn len(&self) -> Result<u64> {
        let _calls = self.calls.lock();
        Ok(self.length().max(self.end.load(Ordering::Acquire)))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        let end = offset + hyperslab_exact::to_u64(buf.len()); // A driver's file is below 2^63 bytes.
        let _calls = self.calls.lock();
        if !self.raise_end(end) {
            return Err(self.failed("read"));
        }
        let Some(read) = self.class.read else { return Err(self.failed("read")) };
        let bytes = buf.as_mut_ptr().cast();
        match call_user!(read, self.file, RAW_MEMORY, H5P_DEFAULT, offset, buf.len(), bytes) {
            outcome if outcome < 0 => Err(self.failed("read")),
            _ => Ok(()),
        }
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset + hyperslab_exact::to_u64(bytes.len()); // A driver's file is below 2^63 bytes.
        let _calls = self.calls.lock();
        if !self.raise_end(end) {
            return Err(self.failed("write"));
        }
        let Some(write) = self.class.write else { return Err(self.failed("write")) };
        let from = bytes.as_ptr().cast();
        if call_user!(write, self.file, RAW_MEMORY, H5P_DEFAULT, offset, bytes.len(), from) < 0 {
            return Err(self.failed("write"));
        }
        self.end.fetch_max(end, Ordering::AcqRel);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let _calls = self.calls.lock();
        if let Some(set) = self.class.set_eoa
            && call_user!(set, self.file, DEFAULT_MEMORY, len) < 0
        {
            return Err(self.failed("set the length"));
        }
        if let Some(truncate) = self.class.truncate
            && call_user!(truncate, self.file, H5P_DEFAULT, false) < 0
        {
            return Err(self.failed("set the length"));
        }
        self.end.store(len, Ordering::Release);
        Ok(())
    }

    fn flush(&self) -> Result<()> {
        let _calls = self.calls.lock();
        match self.class.flush {
            Some(flush) if call_user!(flush, self.file, H5P_DEFAULT, false) < 0 => Err(self.failed("flush")),
            _ => Ok(()),
        }
    }

    fn sync_data(&self) -> Result<()> {
        self.flush()
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        let _calls = self.calls.lock();
        let exclusive = kind == LockKind::Exclusive;
        match self.class.lock {
            Some(lock) if call_user!(lock, self.file, exclusive) < 0 => Err(self.failed("lock")),
            _ => Ok(()),
        }
    }

    fn unlock(&self) -> Result<()> {
        let _calls = self.calls.lock();
        match self.class.unlock {
            Some(unlock) if call_user!(unlock, self.file) < 0 => Err(self.failed("unlock")),
            _ => Ok(()),
        }
    }
}
