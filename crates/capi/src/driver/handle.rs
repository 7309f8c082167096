//! Driver handles that programs request: pointers to file descriptors and to file images.

use std::ffi::{OsStr, c_int, c_void};
use std::os::fd::IntoRawFd as _;
use std::os::unix::ffi::OsStrExt as _;

use parking_lot::Mutex;

use crate::ctypes::hid_t;
use crate::error::{Failure, Outcome, codes};
use crate::file::SharedFile;
use crate::plist::driver_choice::DriverChoice;

/// The file descriptors that programs requested from drivers, each with the number of its file.
/// Each descriptor is in its own box and therefore keeps its address.
static DESCRIPTORS: Mutex<Vec<(u64, Box<Descriptor>)>> = Mutex::new(Vec::new());

/// A file descriptor for programs. Some programs read a number of eight bytes, so zeros follow the
/// descriptor.
#[repr(C)]
#[derive(Debug)]
struct Descriptor {
    number: c_int,
    zeros: c_int,
}

/// Returns the driver's handle of a file for the C program. The handle is a pointer to a file
/// descriptor, a pointer to the buffer of a file in memory, or the handle from a user's driver.
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
    let mut descriptor = Box::new(Descriptor { number: file.into_raw_fd(), zeros: 0 });
    let pointer = (&raw mut *descriptor).cast();
    descriptors.push((shared.number, descriptor));
    Ok(pointer)
}

/// The file images that programs requested, each with the number of its file.
static IMAGES: Mutex<Vec<(u64, Box<usize>)>> = Mutex::new(Vec::new());

/// Copies the bytes of the whole file, and returns the address of a pointer to the copy.
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

/// Releases the file descriptors and file images that programs requested for the file with the
/// number `number`.
pub fn close(number: u64) {
    DESCRIPTORS.lock().retain(|(other, descriptor)| {
        if *other == number {
            crate::memory::close_descriptor(descriptor.number);
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
