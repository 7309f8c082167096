//! Sizes, names and images of files (`H5F*`).

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::ctypes::{herr_t, hid_t, hsize_t, hssize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::{self, SharedFile, location};
use crate::h5f::file_of;
use crate::id::{self, Entry};
use crate::pointer::{Buffer, Out, TextBuffer};

/// Information on a file (`H5F_info2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5F_info2_t {
    pub super_version: c_uint,
    pub super_size: hsize_t,
    pub super_ext_size: hsize_t,
    pub free_version: c_uint,
    pub free_meta_size: hsize_t,
    pub free_tot_space: hsize_t,
    pub sohm_version: c_uint,
    pub sohm_hdr_size: hsize_t,
    pub sohm_index_size: hsize_t,
    pub sohm_heap_size: hsize_t,
}

/// Information on a file (`H5F_info1_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5F_info1_t {
    pub super_ext_size: hsize_t,
    pub sohm_hdr_size: hsize_t,
    pub sohm_index_size: hsize_t,
    pub sohm_heap_size: hsize_t,
}

const _: () = assert!(size_of::<H5F_info2_t>() == 80 && size_of::<H5F_info1_t>() == 32);

fn image(shared: &SharedFile) -> Outcome<Vec<u8>> {
    let bytes = shared.file.to_bytes()?;
    Ok(bytes)
}

export! {
    /// Returns the free space of a file in bytes.
    fn H5Fget_freespace(file_id: hid_t) -> hssize_t {
        let free = file::find(file_id)?.shared.file.free_space()?;
        Ok(hssize_t::try_from(free).unwrap_or(hssize_t::MAX)) // Larger than any file.
    }

    /// Returns the free sections of a file. hyperslab reports none.
    fn H5Fget_free_sections(file_id: hid_t, kind: c_int, count: usize, sections: Out<[hsize_t; 2]>) -> isize {
        let _ = (kind, count, sections);
        file::find(file_id)?;
        Ok(0)
    }

    /// Returns the size of a file in bytes.
    fn H5Fget_filesize(file_id: hid_t, size: Out<hsize_t>) -> herr_t {
        let shared = Arc::clone(&file::find(file_id)?.shared);
        size.require("size")?.put(shared.file.stored_length()?);
        Ok(0)
    }

    /// Returns the end of the allocated space of a file.
    fn H5Fget_eoa(file_id: hid_t, end: Out<u64>) -> herr_t {
        let shared = Arc::clone(&file::find(file_id)?.shared);
        end.put(shared.file.end_of_allocation()?);
        Ok(0)
    }

    /// Increases the end of the allocated space of a file.
    fn H5Fincrement_filesize(file_id: hid_t, increment: hsize_t) -> herr_t {
        let _ = increment;
        file::find(file_id)?;
        Err(Failure::unsupported("H5Fincrement_filesize"))
    }

    /// Returns the bytes of a whole file.
    fn H5Fget_file_image(file_id: hid_t, buffer: Buffer, size: usize) -> isize {
        let bytes = image(&file::find(file_id)?.shared)
            .because(codes::FILE, codes::CANTGET, "unable to get file image")?;
        if !buffer.is_null() {
            if size < bytes.len() {
                return Err(Failure::new(codes::FILE, codes::CANTGET, "the buffer is too small for the image"));
            }
            buffer.put(&bytes, size);
        }
        Ok(bytes.len().cast_signed())
    }

    /// Returns the name of a file.
    fn H5Fget_name(object: hid_t, buffer: TextBuffer, size: usize) -> isize {
        let name = match id::find(object) {
            Some(Entry::File(file)) => file.name.clone(),
            Some(entry) => file_of(&entry)
                .map(|shared| shared.name.clone())
                .ok_or_else(|| Failure::bad_type("not a file or an object in a file"))?,
            None => return Err(Failure::bad_type("not a file or an object in a file")),
        };
        buffer.put(&name, size);
        crate::text::length(&name)
    }

    /// Returns information on a file.
    fn H5Fget_info2(object: hid_t, info: Out<H5F_info2_t>) -> herr_t {
        let (_, place) = location::find(object)?;
        let found = place.shared.file.info();
        let super_size = match found.superblock_version {
            0 => 24 + 4 * u64::from(found.size_of_offsets) + 40,
            1 => 28 + 4 * u64::from(found.size_of_offsets) + 40,
            _ => 16 + 4 * u64::from(found.size_of_offsets),
        };
        let free_tot_space = place.shared.file.free_space()?;
        info.require("info")?.put(H5F_info2_t {
            super_version: found.superblock_version.into(),
            super_size,
            free_tot_space,
            ..H5F_info2_t::default()
        });
        Ok(0)
    }

    /// Returns information on a file.
    fn H5Fget_info1(object: hid_t, info: Out<H5F_info1_t>) -> herr_t {
        location::find(object)?;
        info.require("info")?.put(H5F_info1_t::default());
        Ok(0)
    }
}
