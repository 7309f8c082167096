//! File images of file access lists, in memory that the functions of the user manage.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use hyperslab::vfd::Driver;
use parking_lot::Mutex;

use super::callbacks::ImageCallbacks;
use crate::error::{Because, Failure, Outcome, codes};
use crate::pointer::Buffer;
use crate::{call_user, memory};

/// The operations on images (`H5FD_file_image_op_t`), which the functions of the user receive.
pub mod operation {
    use std::ffi::c_int;

    /// A program stores an image in a list.
    pub const SET: c_int = 1;
    /// A list with an image is copied.
    pub const COPY: c_int = 2;
    /// A program takes the image of a list.
    pub const GET: c_int = 3;
    /// A list with an image is closed.
    pub const CLOSE: c_int = 4;
    /// A file in memory is opened.
    pub const OPEN: c_int = 5;
    /// A file in memory changes its size.
    pub const RESIZE: c_int = 6;
    /// A file in memory is closed.
    pub const CLOSE_FILE: c_int = 7;
}

/// The functions of the user for images, with the data that they receive. The data belongs to this
/// value, which frees it.
#[derive(Debug, Default)]
pub struct ImageFunctions {
    /// The functions and their data.
    pub callbacks: ImageCallbacks,
}

impl ImageFunctions {
    /// Returns the functions `callbacks` with a copy of their data.
    pub fn copied(callbacks: &ImageCallbacks) -> Arc<Self> {
        Arc::new(Self { callbacks: with_copied_data(callbacks) })
    }

    fn allocate(&self, length: usize, operation: c_int) -> Outcome<*mut c_void> {
        let block = match self.callbacks.image_malloc {
            Some(allocate) => call_user!(allocate, length, operation, self.callbacks.udata),
            None => memory::allocate(length, false),
        };
        if block.is_null() {
            return Err(Failure::new(codes::RESOURCE, codes::NOSPACE, "no memory for the image"));
        }
        Ok(block)
    }

    /// Copies the bytes of an image to a new block of memory for the given operation.
    ///
    /// # Errors
    /// Fails if a function of the user fails, or memory is exhausted.
    pub fn copy(&self, image: &[u8], operation: c_int) -> Outcome<*mut c_void> {
        let block = self.allocate(image.len(), operation)?;
        match self.callbacks.image_memcpy {
            None => Buffer::of(block).put(image, image.len()),
            Some(copy) => {
                let (from, data) = (image.as_ptr().cast(), self.callbacks.udata);
                let result = call_user!(copy, block, from, image.len(), operation, data);
                if result != block {
                    let text = "the user's function failed";
                    return Err(Failure::new(codes::RESOURCE, codes::CANTCOPY, text));
                }
            }
        }
        Ok(block)
    }

    fn free(&self, block: *mut c_void, operation: c_int) {
        match self.callbacks.image_free {
            // The caller of this function cannot receive an error of the user's function.
            Some(free) => drop(call_user!(free, block, operation, self.callbacks.udata)),
            None => memory::free(block),
        }
    }
}

impl Drop for ImageFunctions {
    fn drop(&mut self) {
        if let (false, Some(free)) = (self.callbacks.udata.is_null(), self.callbacks.udata_free) {
            let _ = call_user!(free, self.callbacks.udata); // As for `image_free`.
        }
    }
}

/// Returns the functions `callbacks` with a copy of their data, which belongs to the caller.
pub fn with_copied_data(callbacks: &ImageCallbacks) -> ImageCallbacks {
    let mut copy = *callbacks;
    if let (false, Some(function)) = (copy.udata.is_null(), copy.udata_copy) {
        copy.udata = call_user!(function, copy.udata);
    }
    copy
}

/// The image of a file access list, in a block of memory that the functions of the user manage.
#[derive(Debug)]
pub struct Image {
    /// The address of the block.
    block: usize,
    length: usize,
    functions: Arc<ImageFunctions>,
    /// The operation for which the block will be freed.
    freed_for: AtomicI32,
}

impl Image {
    /// Copies an image for the given operation.
    ///
    /// # Errors
    /// As [`ImageFunctions::copy`].
    pub fn copied(image: &[u8], functions: &Arc<ImageFunctions>, operation: c_int) -> Outcome<Arc<Self>> {
        let block = functions.copy(image, operation)? as usize;
        let functions = Arc::clone(functions);
        Ok(Arc::new(Self { block, length: image.len(), functions, freed_for: operation::CLOSE.into() }))
    }

    /// Returns the bytes of the image.
    pub fn bytes(&self) -> &[u8] {
        memory::bytes_of_user(self.block as *const c_void, self.length)
    }

    /// Sets the operation for which the memory of the image will be freed.
    pub fn free_for(&self, operation: c_int) {
        self.freed_for.store(operation, Ordering::Relaxed);
    }
}

impl PartialEq for Image {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.functions.free(self.block as *mut c_void, self.freed_for.load(Ordering::Relaxed));
    }
}

/// The copy of an open file in memory that the functions of the user manage. The copy has the bytes
/// of the file at the last flush; after the file is closed, those of the closed file.
#[derive(Debug)]
pub struct FileImage {
    driver: Arc<dyn Driver>,
    functions: Arc<ImageFunctions>,
    /// The address and the length of the block.
    block: Mutex<(usize, usize)>,
}

impl FileImage {
    /// Copies the bytes of a file in memory that was just opened. `image` is the image of the file
    /// access list; without an image, the bytes come from the driver. A new file has no bytes yet.
    ///
    /// # Errors
    /// As [`ImageFunctions::copy`], and the errors of the driver.
    pub fn open(
        driver: Arc<dyn Driver>,
        functions: Arc<ImageFunctions>,
        image: Option<&[u8]>,
        is_new: bool,
    ) -> Outcome<Self> {
        let block = match image {
            _ if is_new => (0, 0),
            Some(image) => (functions.copy(image, operation::OPEN)? as usize, image.len()),
            None => {
                let bytes = bytes_of(&*driver)?;
                let block = functions.allocate(bytes.len(), operation::OPEN)?;
                Buffer::of(block).put(&bytes, bytes.len());
                (block as usize, bytes.len())
            }
        };
        Ok(Self { driver, functions, block: Mutex::new(block) })
    }

    /// Copies the current bytes of the file to the memory of the user.
    ///
    /// # Errors
    /// Fails if the user's function cannot change the size, and returns the errors of the driver.
    pub fn update(&self) -> Outcome<()> {
        let bytes = bytes_of(&*self.driver)?;
        let (mut block, length) = *self.block.lock();
        if length != bytes.len() {
            let pointer = block as *mut c_void;
            let (callbacks, size) = (&self.functions.callbacks, bytes.len());
            let resized = match callbacks.image_realloc {
                Some(resize) => call_user!(resize, pointer, size, operation::RESIZE, callbacks.udata),
                None => memory::resize(pointer, size),
            };
            if resized.is_null() {
                let text = "the memory of the file image cannot change its size";
                return Err(Failure::new(codes::RESOURCE, codes::NOSPACE, text));
            }
            block = resized as usize;
        }
        Buffer::of(block as *mut c_void).put(&bytes, bytes.len());
        *self.block.lock() = (block, bytes.len());
        Ok(())
    }

    /// Returns the memory to the user, after the file is closed.
    pub fn close(&self) {
        let (block, _) = std::mem::take(&mut *self.block.lock());
        if block != 0 {
            self.functions.free(block as *mut c_void, operation::CLOSE_FILE);
        }
    }
}

fn bytes_of(driver: &dyn Driver) -> Outcome<Vec<u8>> {
    let failed =
        |error: hyperslab::vfd::DriverError| Failure::new(codes::VFL, codes::READERROR, error.to_string());
    let length = driver.len().map_err(failed).because(codes::FILE, codes::CANTGET, "no file image")?;
    let mut bytes = vec![0; hyperslab_exact::to_usize(length)?];
    driver.read_at(0, &mut bytes).map_err(failed)?;
    Ok(bytes)
}
