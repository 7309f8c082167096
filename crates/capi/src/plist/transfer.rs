//! The properties of transfers of elements.

use std::ffi::c_int;

use hyperslab::Selection;

use super::callbacks::{FilterCallback, TypeConversionCallback, VariableLengthMemory};

/// Properties of transfers of elements.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The size of the conversion buffer in bytes, and the buffers of the user.
    pub buffer: (usize, usize, usize),
    /// The split ratios of B-trees.
    pub btree_ratios: [f64; 3],
    /// True if members that are not written keep their values.
    pub preserve: bool,
    /// True if checksums are verified (`H5Z_EDC_t`).
    pub check_errors: c_int,
    /// The function that is called when a filter fails.
    pub filter_callback: FilterCallback,
    /// The function that is called for exceptions of conversions.
    pub conversion_callback: TypeConversionCallback,
    /// The functions that allocate and free variable-length data.
    pub variable_memory: VariableLengthMemory,
    /// The number of vectors of a hyperslab transfer.
    pub hyper_vector_size: usize,
    /// The data transform expression.
    pub transform: Option<Vec<u8>>,
    /// The mode of selection input and output (`H5D_selection_io_mode_t`).
    pub selection_io: c_int,
    /// True if a write may change the caller's buffer.
    pub modify_buffer: bool,
    /// The selection of the file's elements that `H5S_PLIST` stands for.
    pub selection: Option<Selection>,
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            buffer: (1 << 20, 0, 0),
            btree_ratios: [0.1, 0.5, 0.9],
            preserve: false,
            check_errors: 1,
            filter_callback: FilterCallback::default(),
            conversion_callback: TypeConversionCallback::default(),
            variable_memory: VariableLengthMemory::default(),
            hyper_vector_size: 1024,
            transform: None,
            selection_io: 0,
            modify_buffer: false,
            selection: None,
        }
    }
}
