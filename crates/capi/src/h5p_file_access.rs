//! Functions for file access lists, except drivers and caches.

use std::ffi::{c_int, c_uint, c_void};

use crate::ctypes::{herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, codes};
use crate::export;
use crate::id::{self, Entry};
use crate::plist::callbacks::FlushCallback;
use crate::plist::{change_file_access, file_access};
use crate::pointer::{Data, Out};

/// The C type of a user's function that the library calls when an object is flushed.
pub type FlushFunction = unsafe extern "C" fn(hid_t, *mut c_void) -> herr_t;

/// The number that stands for the newest library version (`H5F_LIBVER_LATEST`).
const LATEST: c_int = 5;

/// Defines a pair of functions that set and return a property without a check of the value.
macro_rules! values {
    ($($text:literal $set:ident $get:ident $type:ty = $field:ident;)*) => {$(
        export! {
            #[doc = concat!("Sets ", $text, ".")]
            fn $set(fapl_id: hid_t, value: $type) -> herr_t {
                change_file_access(fapl_id, |it| {
                    it.$field = value;
                    Ok(0)
                })
            }

            #[doc = concat!("Stores in `value` ", $text, ".")]
            fn $get(fapl_id: hid_t, value: Out<$type>) -> herr_t {
                value.put(file_access(fapl_id)?.$field);
                Ok(0)
            }
        }
    )*};
}

values! {
    "the garbage collection flag for references" H5Pset_gc_references H5Pget_gc_references c_uint = collect_references;
    "the minimum size in bytes of a block that is allocated for metadata"
        H5Pset_meta_block_size H5Pget_meta_block_size hsize_t = metadata_block;
    "the minimum size in bytes of a block that is allocated for small raw data"
        H5Pset_small_data_block_size H5Pget_small_data_block_size hsize_t = small_data_block;
    "the size of the sieve buffer in bytes" H5Pset_sieve_buf_size H5Pget_sieve_buf_size usize = sieve_buffer;
    "the file offset of the member whose descriptor the family driver returns"
        H5Pset_family_offset H5Pget_family_offset hsize_t = family_offset;
    "whether the library evicts an object's metadata when the object is closed"
        H5Pset_evict_on_close H5Pget_evict_on_close bool = evict_on_close;
    "the maximum number of external link files that stay open"
        H5Pset_elink_file_cache_size H5Pget_elink_file_cache_size c_uint = external_link_cache;
}

export! {
    /// Sets the alignment of file blocks of at least `threshold` bytes in a file access list.
    fn H5Pset_alignment(fapl_id: hid_t, threshold: hsize_t, alignment: hsize_t) -> herr_t {
        if alignment < 1 {
            return Err(Failure::bad_value("the alignment must be positive"));
        }
        change_file_access(fapl_id, |it| {
            (it.alignment_threshold, it.alignment) = (threshold, alignment);
            Ok(0)
        })
    }

    /// Stores a file access list's minimum size of aligned file blocks, and their alignment.
    fn H5Pget_alignment(fapl_id: hid_t, threshold: Out<hsize_t>, alignment: Out<hsize_t>) -> herr_t {
        let list = file_access(fapl_id)?;
        threshold.put(list.alignment_threshold);
        alignment.put(list.alignment);
        Ok(0)
    }

    /// Sets the default chunk cache of the file's datasets, and ignores `mdc_nelmts`.
    fn H5Pset_cache(
        plist_id: hid_t,
        mdc_nelmts: c_int,
        rdcc_nslots: usize,
        rdcc_nbytes: usize,
        rdcc_w0: f64,
    ) -> herr_t {
        let _ = mdc_nelmts;
        if !(0.0..=1.0).contains(&rdcc_w0) {
            return Err(Failure::bad_value("the preemption factor must be from 0 to 1"));
        }
        change_file_access(plist_id, |it| {
            (it.cache.slots, it.cache.bytes, it.cache.preemption) = (rdcc_nslots, rdcc_nbytes, rdcc_w0);
            Ok(0)
        })
    }

    /// Stores the default chunk cache parameters of the file's datasets, and 0 in `mdc_nelmts`.
    fn H5Pget_cache(
        plist_id: hid_t,
        mdc_nelmts: Out<c_int>,
        rdcc_nslots: Out<usize>,
        rdcc_nbytes: Out<usize>,
        rdcc_w0: Out<f64>,
    ) -> herr_t {
        let cache = file_access(plist_id)?.cache;
        mdc_nelmts.put(0);
        rdcc_nslots.put(cache.slots);
        rdcc_nbytes.put(cache.bytes);
        rdcc_w0.put(cache.preemption);
        Ok(0)
    }

    /// Sets the close degree of files in a file access list.
    fn H5Pset_fclose_degree(fapl_id: hid_t, degree: c_int) -> herr_t {
        if !(0..=3).contains(&degree) {
            return Err(Failure::bad_value("unknown close degree"));
        }
        change_file_access(fapl_id, |it| {
            it.close_degree = degree;
            Ok(0)
        })
    }

    /// Stores in `degree` the close degree of files from a file access list.
    fn H5Pget_fclose_degree(fapl_id: hid_t, degree: Out<c_int>) -> herr_t {
        degree.put(file_access(fapl_id)?.close_degree);
        Ok(0)
    }

    /// Sets the version bounds of a file access list: the lowest and the highest library version
    /// whose format a file may use.
    fn H5Pset_libver_bounds(plist_id: hid_t, low: c_int, high: c_int) -> herr_t {
        if !(0..=LATEST).contains(&low) {
            return Err(Failure::bad_value("the low bound is not a library version"));
        }
        if !(0..=LATEST).contains(&high) {
            return Err(Failure::bad_value("the high bound is not a library version"));
        }
        if high == 0 || low > high {
            return Err(Failure::bad_value("the low bound exceeds the high bound"));
        }
        change_file_access(plist_id, |it| {
            it.libver = (low, high);
            Ok(0)
        })
    }

    /// Stores the version bounds of a file access list: the lowest and the highest library version
    /// whose format a file may use.
    fn H5Pget_libver_bounds(plist_id: hid_t, low: Out<c_int>, high: Out<c_int>) -> herr_t {
        let bounds = file_access(plist_id)?.libver;
        low.put(bounds.0);
        high.put(bounds.1);
        Ok(0)
    }

    /// Sets the kind of data (memory type) for which the multi driver returns its file handle.
    fn H5Pset_multi_type(fapl_id: hid_t, r#type: c_int) -> herr_t {
        if !(0..7).contains(&r#type) {
            return Err(Failure::bad_value("unknown kind of memory"));
        }
        change_file_access(fapl_id, |it| {
            it.multi_type = r#type;
            Ok(0)
        })
    }

    /// Stores in `type` the kind of data (memory type) for which the multi driver returns its file
    /// handle.
    fn H5Pget_multi_type(fapl_id: hid_t, r#type: Out<c_int>) -> herr_t {
        r#type.put(file_access(fapl_id)?.multi_type);
        Ok(0)
    }

    /// Sets two flags for file locks in a file access list: locks are used, and missing support for
    /// locks is ignored.
    fn H5Pset_file_locking(fapl_id: hid_t, use_file_locking: bool, ignore_when_disabled: bool) -> herr_t {
        change_file_access(fapl_id, |it| {
            it.locking = Some((use_file_locking, ignore_when_disabled));
            Ok(0)
        })
    }

    /// Stores two flags for file locks from a file access list: locks are used, and missing support
    /// for locks is ignored.
    fn H5Pget_file_locking(
        fapl_id: hid_t,
        use_file_locking: Out<bool>,
        ignore_when_disabled: Out<bool>,
    ) -> herr_t {
        let (locks, ignored) = file_access(fapl_id)?.locking.unwrap_or((true, true));
        use_file_locking.put(locks);
        ignore_when_disabled.put(ignored);
        Ok(0)
    }
}

export! {
    /// Sets the number of attempts to read metadata under SWMR access.
    fn H5Pset_metadata_read_attempts(plist_id: hid_t, attempts: c_uint) -> herr_t {
        if attempts == 0 {
            return Err(Failure::bad_value("the number of attempts must be positive"));
        }
        change_file_access(plist_id, |it| {
            it.read_attempts = attempts;
            Ok(0)
        })
    }

    /// Stores in `attempts` the number of attempts to read metadata under SWMR access.
    fn H5Pget_metadata_read_attempts(plist_id: hid_t, attempts: Out<c_uint>) -> herr_t {
        attempts.put(file_access(plist_id)?.read_attempts.max(1));
        Ok(0)
    }

    /// Sets the user's function that is called when an object is flushed, in a file access list.
    fn H5Pset_object_flush_cb(plist_id: hid_t, func: Option<FlushFunction>, udata: *mut c_void) -> herr_t {
        if func.is_none() && !udata.is_null() {
            return Err(Failure::bad_value("callback data was passed without a callback function"));
        }
        change_file_access(plist_id, |it| {
            it.object_flush = FlushCallback { function: func, data: udata };
            Ok(0)
        })
    }

    /// Stores the user's function that is called when an object is flushed, and its data.
    fn H5Pget_object_flush_cb(plist_id: hid_t, func: Out<Option<FlushFunction>>, udata: Out<*mut c_void>) -> herr_t {
        let callback = file_access(plist_id)?.object_flush;
        func.put(callback.function);
        udata.put(callback.data);
        Ok(0)
    }

    /// Sets the integrity checks that the library skips when it opens a file.
    fn H5Pset_relax_file_integrity_checks(plist_id: hid_t, flags: u64) -> herr_t {
        if flags & !1 != 0 {
            return Err(Failure::bad_value("unknown flags for relaxed integrity checks"));
        }
        change_file_access(plist_id, |it| {
            it.relaxed_checks = flags;
            Ok(0)
        })
    }

    /// Stores in `flags` the integrity checks that the library skips when it opens a file.
    fn H5Pget_relax_file_integrity_checks(plist_id: hid_t, flags: Out<u64>) -> herr_t {
        flags.put(file_access(plist_id)?.relaxed_checks);
        Ok(0)
    }

    /// Sets the virtual object layer connector in a file access list; only the native connector is
    /// accepted.
    fn H5Pset_vol(plist_id: hid_t, new_vol_id: hid_t, new_vol_info: Data) -> herr_t {
        let _ = new_vol_info;
        let Some(Entry::Connector(_)) = id::find(new_vol_id) else {
            return Err(Failure::bad_type("not a connector"));
        };
        change_file_access(plist_id, |it| {
            it.connector = new_vol_id;
            Ok(0)
        })
    }

    /// Stores in `vol_id` the identifier of a file access list's virtual object layer connector.
    fn H5Pget_vol_id(plist_id: hid_t, vol_id: Out<hid_t>) -> herr_t {
        let connector = file_access(plist_id)?.connector;
        id::increment(connector).because(codes::PLIST, codes::CANTINC, "the connector is closed")?;
        vol_id.put(connector);
        Ok(0)
    }

    /// Stores null in `vol_info`, because the native virtual object layer connector has no
    /// configuration.
    fn H5Pget_vol_info(plist_id: hid_t, vol_info: Out<*mut c_void>) -> herr_t {
        file_access(plist_id)?;
        vol_info.put(std::ptr::null_mut());
        Ok(0)
    }

    /// Stores the capabilities of the native virtual object layer connector: all except
    /// asynchronous operations.
    fn H5Pget_vol_cap_flags(plist_id: hid_t, cap_flags: Out<u64>) -> herr_t {
        file_access(plist_id)?;
        cap_flags.put(NATIVE_CAPABILITIES);
        Ok(0)
    }
}

/// The capabilities of the native virtual object layer connector (`H5VL_CAP_FLAG_*`).
pub const NATIVE_CAPABILITIES: u64 = 0x001f_ffff_9ffc;

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;

    #[test]
    fn values_are_validated() {
        // SAFETY: the calls have no pointers.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_FILE_ACCESS);
            assert_eq!((H5Pset_libver_bounds(list, 0, 0), H5Pset_libver_bounds(list, 5, 4)), (-1, -1));
            assert_eq!(H5Pset_libver_bounds(list, 2, 5), 0);
            assert_eq!(file_access(list).expect("list").libver, (2, 5));
            assert_eq!((H5Pset_alignment(list, 0, 0), H5Pset_fclose_degree(list, 4)), (-1, -1));
            assert_eq!(H5Pset_cache(list, 0, 1, 2, 3.0), -1);
            assert_eq!((H5Pset_sieve_buf_size(list, 3), H5Pset_sieve_buf_size(0, 3)), (0, -1));
            assert_eq!(H5Pset_vol(list, list, std::mem::zeroed()), -1);
        }
    }
}
