//! Functions for the metadata cache and the page buffer of a file (`H5F*_mdc_*`,
//! `H5F*_page_buffering_stats`).
//!
//! The caches of hyperslab have different parameters. The library stores and returns configurations
//! without applying them. Hit rates are 0, because hyperslab does not count hits.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering;

use crate::ctypes::{haddr_t, herr_t, hid_t, hsize_t};
use crate::error::{Because, Failure, Outcome, codes};
use crate::plist::metadata_cache::H5AC_cache_config_t;
use crate::pointer::{In, Out};
use crate::{export, file};

/// The number of repeated reads for each kind of metadata (`H5F_retry_info_t`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct H5F_retry_info_t {
    /// The number of histogram bins of retry counts for each kind of metadata.
    pub nbins: c_uint,
    /// The arrays of retry counts, one for each kind of metadata; null without retries.
    pub retries: [*mut u32; 21],
}

/// Starts or stops the log of the file's metadata cache. Only the state changes, because hyperslab
/// writes no such log.
fn set_logging(file_id: hid_t, yes: bool) -> Outcome<herr_t> {
    let handle = file::find(file_id)?;
    if !handle.shared.access.read().cache_log.0 {
        return Err(Failure::new(codes::FILE, codes::LOGGING, "no log is set"));
    }
    if handle.shared.is_logging.swap(yes, Ordering::Relaxed) == yes {
        let text = if yes { "the log is already written" } else { "the log is not written" };
        return Err(Failure::new(codes::FILE, codes::LOGGING, text));
    }
    Ok(0)
}

export! {
    /// Stores the configuration of the file's metadata cache in `config`.
    fn H5Fget_mdc_config(file_id: hid_t, config: Out<H5AC_cache_config_t>) -> herr_t {
        let handle = file::find(file_id)?;
        let asked = config.require("configuration")?.get();
        if asked.is_none_or(|asked| asked.version != 1) {
            return Err(Failure::new(codes::FILE, codes::CANTGET, "unknown version of the configuration"));
        }
        config.put(handle.shared.access.read().metadata_cache);
        Ok(0)
    }

    /// Sets the configuration of the file's metadata cache.
    fn H5Fset_mdc_config(file_id: hid_t, config: In<H5AC_cache_config_t>) -> herr_t {
        let handle = file::find(file_id)?;
        let config = config.value("configuration")?;
        if config.version != 1 {
            return Err(Failure::new(codes::FILE, codes::CANTSET, "unknown version of the configuration"));
        }
        crate::h5p_file_cache::check_configuration(&config)
            .because(codes::FILE, codes::CANTSET, "invalid configuration of the metadata cache")?;
        handle.shared.access.write().metadata_cache = config;
        Ok(0)
    }

    /// Stores 0 in `rate`, the hit rate of the file's metadata cache.
    fn H5Fget_mdc_hit_rate(file_id: hid_t, rate: Out<f64>) -> herr_t {
        file::find(file_id)?;
        rate.require("hit rate")?.put(0.0);
        Ok(0)
    }

    /// Returns success without an effect: hyperslab does not count hits of the metadata cache.
    fn H5Freset_mdc_hit_rate_stats(file_id: hid_t) -> herr_t {
        file::find(file_id)?;
        Ok(0)
    }

    /// Stores the sizes of the file's metadata cache: maximum, minimum clean size, current size and
    /// entries.
    fn H5Fget_mdc_size(
        file_id: hid_t,
        max: Out<usize>,
        min_clean: Out<usize>,
        current: Out<usize>,
        entries: Out<c_int>,
    ) -> herr_t {
        let config = file::find(file_id)?.shared.access.read().metadata_cache;
        max.put(config.initial_size);
        min_clean.put(config.initial_size / 2);
        current.put(4096);
        entries.put(4);
        Ok(0)
    }

    /// Stores an undefined address and a size of 0, because files of hyperslab have no metadata
    /// cache image.
    fn H5Fget_mdc_image_info(file_id: hid_t, address: Out<haddr_t>, size: Out<hsize_t>) -> herr_t {
        let info = file::find(file_id)?.shared.file.info();
        address.put(crate::ctypes::HADDR_UNDEF);
        size.put(info.cache_image.unwrap_or(0));
        Ok(0)
    }

    /// Starts the log of the file's metadata cache. Only the state changes; hyperslab writes no
    /// log.
    fn H5Fstart_mdc_logging(file_id: hid_t) -> herr_t {
        set_logging(file_id, true)
    }

    /// Stops the log of the file's metadata cache.
    fn H5Fstop_mdc_logging(file_id: hid_t) -> herr_t {
        set_logging(file_id, false)
    }

    /// Stores whether the log of the file's metadata cache is configured and whether the log is
    /// started.
    fn H5Fget_mdc_logging_status(file_id: hid_t, enabled: Out<bool>, active: Out<bool>) -> herr_t {
        let handle = file::find(file_id)?;
        enabled.put(handle.shared.access.read().cache_log.0);
        active.put(handle.shared.is_logging.load(Ordering::Relaxed));
        Ok(0)
    }

    /// Stores zero repeated reads for each kind of the file's metadata in `info`.
    fn H5Fget_metadata_read_retry_info(file_id: hid_t, info: Out<H5F_retry_info_t>) -> herr_t {
        file::find(file_id)?;
        info.require("info")?.put(H5F_retry_info_t { nbins: 0, retries: [std::ptr::null_mut(); 21] });
        Ok(0)
    }

    /// Returns success without an effect if the file has a page buffer: hyperslab keeps no
    /// statistics of it.
    fn H5Freset_page_buffering_stats(file_id: hid_t) -> herr_t {
        let handle = file::find(file_id)?;
        if handle.shared.access.read().page_buffer.0 == 0 {
            return Err(Failure::new(codes::FILE, codes::CANTGET, "the file has no page buffer"));
        }
        Ok(0)
    }

    /// Stores the statistics of the file's page buffer for metadata and raw data, which are all 0.
    fn H5Fget_page_buffering_stats(
        file_id: hid_t,
        accesses: Out<[c_uint; 2]>,
        hits: Out<[c_uint; 2]>,
        misses: Out<[c_uint; 2]>,
        evictions: Out<[c_uint; 2]>,
        bypasses: Out<[c_uint; 2]>,
    ) -> herr_t {
        let handle = file::find(file_id)?;
        if handle.shared.access.read().page_buffer.0 == 0 {
            return Err(Failure::new(codes::FILE, codes::CANTGET, "the file has no page buffer"));
        }
        for counts in [accesses, hits, misses, evictions, bypasses] {
            counts.put([0, 0]);
        }
        Ok(0)
    }
}
