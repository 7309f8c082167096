//! The configuration of the metadata cache (`H5AC_cache_config_t`).
//!
//! hyperslab's cache of metadata adapts itself and has none of these parameters. Clients set and
//! read the configuration, so the library keeps it.

use std::ffi::{c_char, c_int};

/// The configuration.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the C interface")]
pub struct H5AC_cache_config_t {
    pub version: c_int,
    pub rpt_fcn_enabled: bool,
    pub open_trace_file: bool,
    pub close_trace_file: bool,
    pub trace_file_name: [c_char; 1025],
    pub evictions_enabled: bool,
    pub set_initial_size: bool,
    pub initial_size: usize,
    pub min_clean_fraction: f64,
    pub max_size: usize,
    pub min_size: usize,
    pub epoch_length: i64,
    pub incr_mode: c_int,
    pub lower_hr_threshold: f64,
    pub increment: f64,
    pub apply_max_increment: bool,
    pub max_increment: usize,
    pub flash_incr_mode: c_int,
    pub flash_multiple: f64,
    pub flash_threshold: f64,
    pub decr_mode: c_int,
    pub upper_hr_threshold: f64,
    pub decrement: f64,
    pub apply_max_decrement: bool,
    pub max_decrement: usize,
    pub epochs_before_eviction: c_int,
    pub apply_empty_reserve: bool,
    pub empty_reserve: f64,
    pub dirty_bytes_threshold: usize,
    pub metadata_write_strategy: c_int,
}

impl Default for H5AC_cache_config_t {
    fn default() -> Self {
        Self {
            version: 1,
            rpt_fcn_enabled: false,
            open_trace_file: false,
            close_trace_file: false,
            trace_file_name: [0; 1025],
            evictions_enabled: true,
            set_initial_size: true,
            initial_size: 2 << 20,
            min_clean_fraction: 0.3,
            max_size: 32 << 20,
            min_size: 1 << 20,
            epoch_length: 50_000,
            incr_mode: 1,
            lower_hr_threshold: 0.9,
            increment: 2.0,
            apply_max_increment: true,
            max_increment: 4 << 20,
            flash_incr_mode: 1,
            flash_multiple: 1.4,
            flash_threshold: 0.25,
            decr_mode: 3,
            upper_hr_threshold: 0.999,
            decrement: 0.9,
            apply_max_decrement: true,
            max_decrement: 1 << 20,
            epochs_before_eviction: 3,
            apply_empty_reserve: true,
            empty_reserve: 0.1,
            dirty_bytes_threshold: 256 << 10,
            metadata_write_strategy: 0,
        }
    }
}
