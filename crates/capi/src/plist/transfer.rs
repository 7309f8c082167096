//! The properties of data transfers.

use std::ffi::c_int;

use hyperslab::Selection;

use crate::convert::transform::Transform;

use super::callbacks::{FilterCallback, TypeConversionCallback, VariableLengthMemory};

/// The properties of a transfer list (`H5Dread`, `H5Dwrite`).
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The size of the conversion buffer in bytes, and the addresses of the user's conversion and
    /// background buffers.
    pub buffer: (usize, usize, usize),
    /// The split ratios of B-tree nodes, which the library stores but does not use.
    pub btree_ratios: [f64; 3],
    /// True if a write keeps compound members of the file that the memory datatype lacks.
    pub preserve: bool,
    /// The rule for the verification of checksums (`H5Z_EDC_t`).
    pub check_errors: c_int,
    /// The callback for failed filters.
    pub filter_callback: FilterCallback,
    /// The callback for conversion exceptions.
    pub conversion_callback: TypeConversionCallback,
    /// The user's functions that allocate and free variable-length data.
    pub variable_memory: VariableLengthMemory,
    /// The number of vectors of a hyperslab transfer, which the library stores but does not use.
    pub hyper_vector_size: usize,
    /// The data transform expression.
    pub transform: Option<Transform>,
    /// The mode of selection I/O (`H5D_selection_io_mode_t`), which the library stores but does not
    /// use.
    pub selection_io: c_int,
    /// The mode of the last read or write (`H5D_SCALAR_IO` or 0).
    pub actual_io: u32,
    /// The causes for the last read or write without selection I/O (`H5D_SEL_IO_*`).
    pub no_selection_cause: u32,
    /// True if a write may change the program's buffer.
    pub modify_buffer: bool,
    /// The file selection that the dataspace argument `H5S_PLIST` stands for.
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
            actual_io: 0,
            no_selection_cause: 0,
            modify_buffer: false,
            selection: None,
        }
    }
}
