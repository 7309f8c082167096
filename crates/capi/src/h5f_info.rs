//! Information about files (`H5F*`): sizes, names and file images (copies of all bytes).

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use crate::ctypes::{counted, herr_t, hid_t, hsize_t, hssize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::export;
use crate::file::{self, H5F_ACC_RDWR, SharedFile, location};
use crate::h5f::file_of;
use crate::id::{self, Entry};
use crate::plist::driver_choice::DriverChoice;
use crate::pointer::{Buffer, Out, TextBuffer};

/// Information about the storage of a file (`H5F_info2_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct H5F_info2_t {
    /// The version of the superblock.
    pub super_version: c_uint,
    /// The size of the superblock in bytes.
    pub super_size: hsize_t,
    /// The size of the superblock extension in bytes.
    pub super_ext_size: hsize_t,
    /// The version of the free-space manager.
    pub free_version: c_uint,
    /// The size of free-space metadata in bytes.
    pub free_meta_size: hsize_t,
    /// The free space of the file in bytes.
    pub free_tot_space: hsize_t,
    /// The version of the shared message table.
    pub sohm_version: c_uint,
    /// The size of the shared message table in bytes.
    pub sohm_hdr_size: hsize_t,
    /// The size of the indexes of shared messages in bytes.
    pub sohm_index_size: hsize_t,
    /// The size of the heaps of shared messages in bytes.
    pub sohm_heap_size: hsize_t,
}

/// Information about the storage of a file, in the HDF5 1.8 form (`H5F_info1_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct H5F_info1_t {
    /// The size of the superblock extension in bytes.
    pub super_ext_size: hsize_t,
    /// The size of the shared message table in bytes.
    pub sohm_hdr_size: hsize_t,
    /// The size of the indexes of shared messages in bytes.
    pub sohm_index_size: hsize_t,
    /// The size of the heaps of shared messages in bytes.
    pub sohm_heap_size: hsize_t,
}

const _: () = assert!(size_of::<H5F_info2_t>() == 80 && size_of::<H5F_info1_t>() == 32);

/// Returns the bytes of a file as an image without the user block, including dirty data.
fn image(shared: &SharedFile) -> Outcome<Vec<u8>> {
    if let DriverChoice::Multi(_) | DriverChoice::Split { .. } | DriverChoice::Family { .. } =
        shared.access.read().driver
    {
        return Err(Failure::unsupported("files with several members have no image"));
    }
    if *shared.flags.read() & H5F_ACC_RDWR != 0 {
        shared.file.release_unused_space()?;
    }
    let mut bytes = shared.file.to_bytes()?;
    let user_block = hyperslab_exact::to_usize(shared.file.info().user_block)?;
    bytes.drain(..user_block.min(bytes.len()));
    Ok(bytes)
}

export! {
    /// Returns the number of bytes of free space in a file.
    fn H5Fget_freespace(file_id: hid_t) -> hssize_t {
        let free = file::find(file_id)?.shared.file.free_space()?;
        counted(free)
    }

    /// Returns 0: hyperslab does not report the free-space sections of a file.
    fn H5Fget_free_sections(file_id: hid_t, kind: c_int, count: usize, sections: Out<[hsize_t; 2]>) -> isize {
        let _ = (kind, count, sections);
        file::find(file_id)?;
        Ok(0)
    }

    /// Stores the size of a file in bytes in `size`.
    fn H5Fget_filesize(file_id: hid_t, size: Out<hsize_t>) -> herr_t {
        let shared = Arc::clone(&file::find(file_id)?.shared);
        size.require("size")?.put(shared.file.stored_length()?);
        Ok(0)
    }

    /// Stores the file's end of allocation in `end`.
    fn H5Fget_eoa(file_id: hid_t, end: Out<u64>) -> herr_t {
        let shared = Arc::clone(&file::find(file_id)?.shared);
        end.put(shared.file.end_of_allocation()?);
        Ok(0)
    }

    /// Raises the file's end of allocation by `increment` bytes.
    fn H5Fincrement_filesize(file_id: hid_t, increment: hsize_t) -> herr_t {
        let _ = increment;
        file::find(file_id)?;
        Err(Failure::unsupported("H5Fincrement_filesize"))
    }

    /// Copies all bytes of a file to `buffer` and returns their number; a null buffer only requests
    /// the number.
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

    /// Copies the name of the file that contains `object` to `buffer` and returns the length of the
    /// name.
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

    /// Stores information about the storage of the file that contains `object` in `info`.
    fn H5Fget_info2(object: hid_t, info: Out<H5F_info2_t>) -> herr_t {
        let (_, place) = location::find(object)?;
        let found = place.shared.file.info();
        let super_size = match found.superblock_version {
            0 => 24 + 4 * u64::from(found.size_of_offsets) + 40,
            1 => 28 + 4 * u64::from(found.size_of_offsets) + 40,
            _ => 16 + 4 * u64::from(found.size_of_offsets),
        };
        let free_tot_space = place.shared.file.free_space()?;
        let sizes = place.shared.file.metadata_bytes()?;
        info.require("info")?.put(H5F_info2_t {
            super_version: found.superblock_version.into(),
            super_size,
            super_ext_size: sizes.superblock_extension,
            free_version: 0,
            free_meta_size: sizes.free_space_managers,
            free_tot_space,
            sohm_version: 0,
            sohm_hdr_size: sizes.shared_table,
            sohm_index_size: sizes.shared_index,
            sohm_heap_size: sizes.shared_heap,
        });
        Ok(0)
    }

    /// Stores information about the file that contains `object` in `info`, in the HDF5 1.8 form.
    fn H5Fget_info1(object: hid_t, info: Out<H5F_info1_t>) -> herr_t {
        let (_, place) = location::find(object)?;
        let sizes = place.shared.file.metadata_bytes()?;
        info.require("info")?.put(H5F_info1_t {
            super_ext_size: sizes.superblock_extension,
            sohm_hdr_size: sizes.shared_table,
            sohm_index_size: sizes.shared_index,
            sohm_heap_size: sizes.shared_heap,
        });
        Ok(0)
    }
}
