//! Files in memory (`H5LTopen_file_image`).

use std::ffi::c_uint;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ctypes::hid_t;
use crate::failure::{Failure, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Text};
use crate::{export, object, sys};

/// The flag that opens the file for reading and writing.
const OPEN_RW: c_uint = 1;
/// The flag that gives the buffer to the library.
const DONT_COPY: c_uint = 2;
/// The flag that leaves the release of the buffer to the program.
const DONT_RELEASE: c_uint = 4;
/// The number of bytes by which a file in memory grows.
const INCREMENT: usize = 64 * 1024;
/// The number of file images that were opened, which makes their names different.
static OPENED: AtomicU64 = AtomicU64::new(0);

export! {
    /// Opens a file whose bytes are in memory. The open file has a copy of the bytes. With
    /// `H5LT_FILE_IMAGE_DONT_COPY` alone, the buffer belongs to the library, which releases it.
    fn H5LTopen_file_image(buf_ptr: Buffer, buf_size: usize, flags: c_uint) -> hid_t {
        if buf_ptr.is_null() || buf_size == 0 {
            return Err(Failure::bad_value("no file image"));
        }
        if flags & !(OPEN_RW | DONT_COPY | DONT_RELEASE) != 0 {
            return Err(Failure::bad_value("unknown flags"));
        }
        let list = Id::own(sys::H5Pcreate(sys::H5P_CLS_FILE_ACCESS_ID_g))?;
        check(sys::H5Pset_fapl_core(list.get(), INCREMENT, 0))?;
        check(sys::H5Pset_file_image(list.get(), buf_ptr, buf_size))?;
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        let name = object::c_text(format!("file_image_{number}"))?;
        let file = check(sys::H5Fopen(Text::of(&name), flags & OPEN_RW, list.get()))?;
        if flags & (DONT_COPY | DONT_RELEASE) == DONT_COPY {
            buf_ptr.free();
        }
        Ok(file)
    }
}
