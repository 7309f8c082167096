//! The C struct that configures the metadata cache (`H5AC_cache_config_t`).
//!
//! hyperslab sizes its metadata cache itself and ignores these parameters. The library stores the
//! configuration, because clients set it and read it back.

use std::ffi::{c_char, c_int};

/// The configuration of the C library's metadata cache, which hyperslab stores but does not apply.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct H5AC_cache_config_t {
    /// The version of this C struct.
    pub version: c_int,
    /// True if the metadata cache reports each change of its size.
    pub rpt_fcn_enabled: bool,
    /// True if the metadata cache opens a trace file.
    pub open_trace_file: bool,
    /// True if the metadata cache closes its trace file.
    pub close_trace_file: bool,
    /// The name of the metadata cache's trace file.
    pub trace_file_name: [c_char; 1025],
    /// True if the metadata cache may evict entries.
    pub evictions_enabled: bool,
    /// True if the metadata cache starts with the size `initial_size`.
    pub set_initial_size: bool,
    /// The initial size of the metadata cache in bytes.
    pub initial_size: usize,
    /// The minimum fraction of the metadata cache that stays clean.
    pub min_clean_fraction: f64,
    /// The maximum size of the metadata cache in bytes.
    pub max_size: usize,
    /// The minimum size of the metadata cache in bytes.
    pub min_size: usize,
    /// The number of cache accesses between two decisions about the cache size.
    pub epoch_length: i64,
    /// The rule that increases the cache size after a low hit rate.
    pub incr_mode: c_int,
    /// The hit rate below which the cache size increases.
    pub lower_hr_threshold: f64,
    /// The factor by which the cache size increases.
    pub increment: f64,
    /// True if `max_increment` limits an increase of the cache size.
    pub apply_max_increment: bool,
    /// The maximum increase of the cache size in bytes.
    pub max_increment: usize,
    /// The rule that increases the cache size immediately for a large entry.
    pub flash_incr_mode: c_int,
    /// The factor that determines the increase of the cache size for a large entry.
    pub flash_multiple: f64,
    /// The fraction of the cache size above which an entry is large.
    pub flash_threshold: f64,
    /// The rule that decreases the cache size.
    pub decr_mode: c_int,
    /// The hit rate above which the cache size decreases.
    pub upper_hr_threshold: f64,
    /// The factor by which the cache size decreases.
    pub decrement: f64,
    /// True if `max_decrement` limits a decrease of the cache size.
    pub apply_max_decrement: bool,
    /// The maximum decrease of the cache size in bytes.
    pub max_decrement: usize,
    /// The number of epochs after which the metadata cache evicts an unused entry.
    pub epochs_before_eviction: c_int,
    /// True if `empty_reserve` limits a decrease of the cache size.
    pub apply_empty_reserve: bool,
    /// The fraction of the cache that must be empty before the cache size decreases.
    pub empty_reserve: f64,
    /// The number of dirty bytes at which the processes of a parallel program synchronize.
    pub dirty_bytes_threshold: usize,
    /// The rule by which the processes of a parallel program write metadata.
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
