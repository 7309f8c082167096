//! The handles of drivers that programs ask for: file descriptors and buffers in memory.

use std::ffi::{OsStr, c_int, c_void};
use std::os::fd::IntoRawFd as _;
use std::os::unix::ffi::OsStrExt as _;

use parking_lot::Mutex;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome, codes};
use crate::file::SharedFile;
use crate::plist::driver_choice::DriverChoice;

/// The descriptors that programs got, by the numbers of their files. Each lives in a box of its
/// own, whose address does not change.
static DESCRIPTORS: Mutex<Vec<(u64, Box<c_int>)>> = Mutex::new(Vec::new());

/// Returns the handle of a file's driver: a pointer to a file descriptor, a pointer to the buffer
/// of a file in memory, or the handle of a user's driver.
///
/// # Errors
/// Fails if the driver has no handle.
pub fn of(shared: &SharedFile, fapl: hid_t) -> Outcome<*mut c_void> {
    if let Some(driver) = &shared.user_driver {
        return driver.handle(fapl);
    }
    if matches!(shared.access.read().driver, DriverChoice::Core { .. }) {
        return image(shared);
    }
    let mut descriptors = DESCRIPTORS.lock();
    if let Some((_, descriptor)) = descriptors.iter_mut().find(|(number, _)| *number == shared.number) {
        return Ok((&raw mut **descriptor).cast());
    }
    let file = std::fs::File::open(OsStr::from_bytes(&shared.name))
        .map_err(|error| Failure::new(codes::VFL, codes::CANTGET, error.to_string()))?;
    let mut descriptor = Box::new(file.into_raw_fd());
    let pointer = (&raw mut *descriptor).cast();
    descriptors.push((shared.number, descriptor));
    Ok(pointer)
}

/// The images of files in memory that programs got, by the numbers of their files.
static IMAGES: Mutex<Vec<(u64, Box<usize>)>> = Mutex::new(Vec::new());

/// Returns a pointer to a pointer to a copy of a file's bytes.
fn image(shared: &SharedFile) -> Outcome<*mut c_void> {
    let copy = crate::memory::copy(&shared.file.to_bytes()?);
    let mut images = IMAGES.lock();
    images.retain(|(number, block)| {
        if *number == shared.number {
            crate::memory::free(**block as *mut c_void);
        }
        *number != shared.number
    });
    let mut block = Box::new(copy as usize);
    let pointer = (&raw mut *block).cast();
    images.push((shared.number, block));
    Ok(pointer)
}

/// Closes the handles that programs got of a file.
pub fn close(number: u64) {
    DESCRIPTORS.lock().retain(|(other, descriptor)| {
        if *other == number {
            crate::memory::close_descriptor(**descriptor);
        }
        *other != number
    });
    IMAGES.lock().retain(|(other, block)| {
        if *other == number {
            crate::memory::free(**block as *mut c_void);
        }
        *other != number
    });
}
