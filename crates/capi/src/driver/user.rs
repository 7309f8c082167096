//! Drivers that users register with `H5FDregister`.

use std::ffi::c_void;

use super::class::{H5FD_class_t, H5FD_t};
use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome, codes};
use crate::pointer::Data;
use crate::{call_user, memory};

/// A driver of a user.
#[derive(Debug)]
pub struct UserDriver {
    /// The functions.
    pub class: Box<H5FD_class_t>,
    /// The identifier.
    pub id: std::sync::atomic::AtomicI64,
}

// SAFETY: the pointers of the table lead to functions and texts that the user keeps while the
// driver is registered; the library does not change them.
#[expect(unsafe_code, reason = "tables of functions cross threads")]
unsafe impl Send for UserDriver {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "tables of functions cross threads")]
unsafe impl Sync for UserDriver {}

impl UserDriver {
    /// Returns the identifier.
    pub fn id(&self) -> hid_t {
        self.id.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// The configuration of a driver, which the driver copies and frees.
#[derive(Debug)]
pub struct InfoBlock {
    /// The configuration; null if there is none.
    pub block: *mut c_void,
    /// The functions of the driver.
    pub class: H5FD_class_t,
}

impl InfoBlock {
    /// Returns a copy of the configuration of a driver, by the driver's function or as bytes.
    ///
    /// # Errors
    /// Fails if there is no memory, or the driver's function fails.
    pub fn copy_of(class: H5FD_class_t, info: Data) -> Outcome<Self> {
        let from = info.pointer();
        let block = if from.is_null() {
            std::ptr::null_mut()
        } else if let Some(copy) = class.fapl_copy {
            call_user!(copy, from)
        } else if class.fapl_size > 0 {
            memory::copy(info.bytes(class.fapl_size, "configuration")?)
        } else {
            return Err(Failure::new(codes::PLIST, codes::UNSUPPORTED, "the driver has no size or copy"));
        };
        if block.is_null() && !from.is_null() {
            return Err(Failure::new(codes::PLIST, codes::CANTCOPY, "the configuration cannot be copied"));
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
            // There is no caller who could get the error of the driver's function.
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

/// A file that a driver of the user has open.
#[derive(Debug)]
pub struct UserFile {
    /// The driver's open file.
    pub file: *mut H5FD_t,
    /// The functions of the driver.
    pub class: H5FD_class_t,
}

// SAFETY: the C interface calls drivers from any thread; the library calls the functions of one
// file one after another.
#[expect(unsafe_code, reason = "open files of drivers cross threads")]
unsafe impl Send for UserFile {}
// SAFETY: see above.
#[expect(unsafe_code, reason = "open files of drivers cross threads")]
unsafe impl Sync for UserFile {}
