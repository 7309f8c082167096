//! Functions for file access lists: the metadata cache with its log, the page buffer, and file
//! images in memory.

use std::ffi::{c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t};
use crate::error::{Failure, Outcome, codes};
use crate::export;
use crate::h5p::copy_text;
use crate::plist::callbacks::ImageCallbacks;
use crate::plist::image::{Image, ImageFunctions, operation, with_copied_data};
use crate::plist::metadata_cache::H5AC_cache_config_t;
use crate::plist::{change_file_access, file_access};
use crate::pointer::{Data, In, Out, Text, TextBuffer};

const _: () = assert!(size_of::<H5AC_cache_config_t>() == 1216 && size_of::<ImageCallbacks>() == 56);
const _: () = assert!(size_of::<H5AC_cache_image_config_t>() == 12);

/// The version of the metadata cache configuration's C struct.
const CONFIGURATION_VERSION: c_int = 1;
/// The configuration of the metadata cache image of a file, as a C struct.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5AC_cache_image_config_t {
    /// The version of this C struct.
    pub version: c_int,
    /// True if the library writes a cache image when the file is closed.
    pub generate_image: bool,
    /// True if the image contains the resize status of the cache.
    pub save_resize_status: bool,
    /// The number of times that an entry may be stored in images without an access.
    pub entry_ageout: c_int,
}

/// Checks the version and the value ranges of a configuration of the metadata cache.
///
/// # Errors
/// Fails with a bad value if the version is unknown or a value is out of range.
pub fn check_configuration(it: &H5AC_cache_config_t) -> Outcome<()> {
    if it.version != CONFIGURATION_VERSION {
        return Err(Failure::bad_value("unknown version of the cache configuration"));
    }
    let sizes = it.min_size <= it.max_size
        && (1024..=128 << 20).contains(&it.max_size)
        && it.min_size >= 1024
        && (!it.set_initial_size || (it.min_size..=it.max_size).contains(&it.initial_size));
    let fractions = [it.min_clean_fraction, it.lower_hr_threshold, it.upper_hr_threshold, it.empty_reserve];
    let fractions = fractions.iter().all(|value| (0.0..=1.0).contains(value));
    let modes = (0..=1).contains(&it.incr_mode)
        && (0..=1).contains(&it.flash_incr_mode)
        && (0..=3).contains(&it.decr_mode)
        && (100..=1_000_000).contains(&it.epoch_length);
    let changes = (it.incr_mode == 0 || it.increment >= 1.0)
        && (it.flash_incr_mode == 0 || (0.1..=10.0).contains(&it.flash_multiple))
        && (it.flash_incr_mode == 0 || (0.1..=1.0).contains(&it.flash_threshold))
        && (it.decr_mode != 1 || (0.0..=1.0).contains(&it.decrement))
        && (it.decr_mode < 2 || (1..=10).contains(&it.epochs_before_eviction));
    if sizes && fractions && modes && changes && (0..=1).contains(&it.metadata_write_strategy) {
        return Ok(());
    }
    Err(Failure::bad_value("a value of the cache configuration is out of range"))
}

export! {
    /// Sets the configuration of the metadata cache in a file access list.
    fn H5Pset_mdc_config(plist_id: hid_t, config_ptr: In<H5AC_cache_config_t>) -> herr_t {
        let configuration = config_ptr.value("configuration")?;
        check_configuration(&configuration)?;
        change_file_access(plist_id, |it| {
            it.metadata_cache = configuration;
            Ok(0)
        })
    }

    /// Stores the metadata cache configuration of a file access list in `config_ptr`.
    fn H5Pget_mdc_config(plist_id: hid_t, config_ptr: Out<H5AC_cache_config_t>) -> herr_t {
        let version = In::of(config_ptr.pointer().cast::<c_int>().cast_const()).value("configuration")?;
        if version != CONFIGURATION_VERSION {
            return Err(Failure::bad_value("unknown version of the cache configuration"));
        }
        config_ptr.put(file_access(plist_id)?.metadata_cache);
        Ok(0)
    }

    /// Sets the configuration of the metadata cache image in a file access list.
    fn H5Pset_mdc_image_config(plist_id: hid_t, config_ptr: In<H5AC_cache_image_config_t>) -> herr_t {
        let it = config_ptr.value("configuration")?;
        if it.version != CONFIGURATION_VERSION || !(-1..=100).contains(&it.entry_ageout) {
            return Err(Failure::bad_value("a value of the cache image configuration is out of range"));
        }
        change_file_access(plist_id, |list| {
            list.cache_image = (it.generate_image, it.save_resize_status, it.entry_ageout);
            Ok(0)
        })
    }

    /// Stores the metadata cache image configuration of a file access list in `config_ptr`.
    fn H5Pget_mdc_image_config(plist_id: hid_t, config_ptr: Out<H5AC_cache_image_config_t>) -> herr_t {
        let version = In::of(config_ptr.pointer().cast::<c_int>().cast_const()).value("configuration")?;
        if version != CONFIGURATION_VERSION {
            return Err(Failure::bad_value("unknown version of the configuration"));
        }
        let (generate_image, save_resize_status, entry_ageout) = file_access(plist_id)?.cache_image;
        config_ptr.put(H5AC_cache_image_config_t { version, generate_image, save_resize_status, entry_ageout });
        Ok(0)
    }

    /// Sets the log of the metadata cache in a file access list: a flag that enables the log, its
    /// path, and a flag for its start.
    fn H5Pset_mdc_log_options(
        plist_id: hid_t,
        is_enabled: bool,
        location: Text,
        start_on_access: bool,
    ) -> herr_t {
        let location = location.bytes("path of the log")?.to_vec();
        change_file_access(plist_id, |it| {
            it.cache_log = (is_enabled, location, start_on_access);
            Ok(0)
        })
    }

    /// Stores the settings of the metadata cache log from a file access list. The size of the path
    /// includes the zero byte.
    fn H5Pget_mdc_log_options(
        plist_id: hid_t,
        is_enabled: Out<bool>,
        location: TextBuffer,
        location_size: Out<usize>,
        start_on_access: Out<bool>,
    ) -> herr_t {
        let (enabled, path, starts) = file_access(plist_id)?.cache_log;
        is_enabled.put(enabled);
        start_on_access.put(starts);
        if !location.is_null() {
            copy_text(&path, location, location_size.get().unwrap_or(path.len() + 1))?;
        }
        location_size.put(path.len() + 1);
        Ok(0)
    }

    /// Sets the size of the page buffer and its minimum percentages of metadata and raw data, in a
    /// file access list.
    fn H5Pset_page_buffer_size(
        plist_id: hid_t,
        buf_size: usize,
        min_meta_per: c_uint,
        min_raw_per: c_uint,
    ) -> herr_t {
        if min_meta_per > 100 || min_raw_per > 100 || min_meta_per + min_raw_per > 100 {
            return Err(Failure::bad_value("the percentages and their sum must be from 0 to 100"));
        }
        change_file_access(plist_id, |it| {
            it.page_buffer = (buf_size, min_meta_per, min_raw_per);
            Ok(0)
        })
    }

    /// Stores a file access list's size of the page buffer, and its minimum percentages of metadata
    /// and raw data.
    fn H5Pget_page_buffer_size(
        plist_id: hid_t,
        buf_size: Out<usize>,
        min_meta_perc: Out<c_uint>,
        min_raw_perc: Out<c_uint>,
    ) -> herr_t {
        let (size, metadata, raw) = file_access(plist_id)?.page_buffer;
        buf_size.put(size);
        min_meta_perc.put(metadata);
        min_raw_perc.put(raw);
        Ok(0)
    }
}

export! {
    /// Sets the initial bytes of a file in memory (its file image) from a copy of the buffer. An
    /// empty buffer removes the image.
    fn H5Pset_file_image(fapl_id: hid_t, buf_ptr: Data, buf_len: usize) -> herr_t {
        if buf_ptr.pointer().is_null() != (buf_len == 0) {
            return Err(Failure::bad_value("a null image needs the size 0, and any other image a positive size"));
        }
        let bytes = buf_ptr.get(buf_len).filter(|image| !image.is_empty());
        let list = file_access(fapl_id)?;
        if let Some(old) = &list.image {
            old.free_for(operation::SET);
        }
        let functions = &list.image_callbacks;
        let mut image =
            bytes.map(|bytes| Image::copied(bytes, functions, operation::SET)).transpose()?;
        change_file_access(fapl_id, |it| {
            // The old image is freed after the call, because the list is locked here.
            std::mem::swap(&mut it.image, &mut image);
            Ok(0)
        })
    }

    /// Stores a copy of a file access list's file image in `buf_ptr_ptr`, which the program frees.
    fn H5Pget_file_image(fapl_id: hid_t, buf_ptr_ptr: Out<*mut c_void>, buf_len_ptr: Out<usize>) -> herr_t {
        let list = file_access(fapl_id)?;
        buf_len_ptr.put(list.image.as_ref().map_or(0, |image| image.bytes().len()));
        if !buf_ptr_ptr.is_null() {
            buf_ptr_ptr.put(match &list.image {
                Some(image) => list.image_callbacks.copy(image.bytes(), operation::GET)?,
                None => std::ptr::null_mut(),
            });
        }
        Ok(0)
    }

    /// Sets the functions that manage the memory of file images. The list must not have a file
    /// image yet.
    fn H5Pset_file_image_callbacks(fapl_id: hid_t, callbacks_ptr: In<ImageCallbacks>) -> herr_t {
        let functions = callbacks_ptr.value("functions")?;
        if file_access(fapl_id)?.image.is_some() {
            return Err(Failure::new(codes::PLIST, codes::SETDISALLOWED, "the list already has an image"));
        }
        let owned = functions.udata_copy.is_some() && functions.udata_free.is_some();
        if !functions.udata.is_null() && !owned {
            return Err(Failure::bad_value("user data requires functions that copy and free the data"));
        }
        let mut functions = ImageFunctions::copied(&functions);
        change_file_access(fapl_id, |it| {
            std::mem::swap(&mut it.image_callbacks, &mut functions);
            Ok(0)
        })
    }

    /// Stores the functions that manage the memory of file images, with a copy of their data.
    fn H5Pget_file_image_callbacks(fapl_id: hid_t, callbacks_ptr: Out<ImageCallbacks>) -> herr_t {
        let functions = with_copied_data(&file_access(fapl_id)?.image_callbacks.callbacks);
        callbacks_ptr.require("result")?.put(functions);
        Ok(0)
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;
    use crate::memory;
    use crate::pointer::Buffer;

    #[test]
    fn images_are_copied() {
        let (mut block, mut length) = (std::ptr::null_mut(), 0);
        // SAFETY: all pointers lead to values of the stated sizes.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_FILE_ACCESS);
            let image = std::mem::transmute::<*const u8, Data>(b"image".as_ptr());
            assert_eq!(H5Pset_file_image(list, image, 0), -1);
            assert_eq!(H5Pset_file_image(list, image, 5), 0);
            let out = std::mem::transmute::<*mut *mut c_void, Out<*mut c_void>>(&raw mut block);
            let size = std::mem::transmute::<*mut usize, Out<usize>>(&raw mut length);
            assert_eq!(H5Pget_file_image(list, out, size), 0);
            assert_eq!(Buffer::of(block).bytes(length, "image").expect("image"), b"image");
            memory::free(block);
            assert_eq!(H5Pset_page_buffer_size(list, 0, 60, 50), -1);
        }
    }

    #[test]
    fn configurations_are_checked() {
        let good = H5AC_cache_config_t::default();
        assert!(check_configuration(&good).is_ok());
        assert!(check_configuration(&H5AC_cache_config_t { version: 2, ..good }).is_err());
        assert!(check_configuration(&H5AC_cache_config_t { min_size: 64 << 20, ..good }).is_err());
    }
}
