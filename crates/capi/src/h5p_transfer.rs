//! Functions for data transfer lists.

use std::ffi::{c_int, c_uint, c_void};

use hyperslab::{Hyperslab, RegularHyperslab, Selection, SetOperation};

use crate::convert::transform::Transform;
use crate::ctypes::{herr_t, hid_t, hsize_t};
use crate::error::{Failure, codes};
use crate::export;
use crate::h5p::copy_text;
use crate::plist::callbacks::{Allocate, FilterCallback, Free, TypeConversionCallback};
use crate::plist::{change_transfer, transfer};
use crate::pointer::{In, Out, Text, TextBuffer};

/// The C type of a user's function that the library calls for exceptions of datatype conversions.
pub type ConversionFunction =
    unsafe extern "C" fn(c_int, hid_t, hid_t, *mut c_void, *mut c_void, *mut c_void) -> c_int;
/// The C type of a user's function that the library calls for failed filters.
pub type FilterFunction = unsafe extern "C" fn(c_int, *mut c_void, usize, *mut c_void) -> c_int;
/// The C type of a user's function that allocates memory for variable-length data.
pub type AllocateFunction = unsafe extern "C" fn(usize, *mut c_void) -> *mut c_void;
/// The C type of a user's function that frees memory of variable-length data.
pub type FreeFunction = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// The dimension size with which a transfer list combines hyperslabs for `H5S_PLIST`, because the
/// list does not know the dimensions of the dataset.
const UNKNOWN_DIMENSION: u64 = 1 << 62;

export! {
    /// Sets the size and the memory of the buffers for datatype conversion and background elements
    /// in a transfer list.
    fn H5Pset_buffer(plist_id: hid_t, size: usize, tconv: *mut c_void, bkg: *mut c_void) -> herr_t {
        if size == 0 {
            return Err(Failure::bad_value("the size of the buffer must be positive"));
        }
        change_transfer(plist_id, |it| {
            it.buffer = (size, tconv.addr(), bkg.addr());
            Ok(0)
        })
    }

    /// Stores the addresses of a transfer list's buffers for datatype conversion and background
    /// elements, and returns their size.
    fn H5Pget_buffer(plist_id: hid_t, tconv: Out<*mut c_void>, bkg: Out<*mut c_void>) -> usize {
        let (size, conversion, background) = transfer(plist_id)?.buffer;
        tconv.put(conversion as *mut c_void);
        bkg.put(background as *mut c_void);
        Ok(size)
    }

    /// Sets the split ratios of B-tree nodes in a transfer list. The ratios have no effect in this
    /// library.
    fn H5Pset_btree_ratios(plist_id: hid_t, left: f64, middle: f64, right: f64) -> herr_t {
        if ![left, middle, right].iter().all(|ratio| (0.0..=1.0).contains(ratio)) {
            return Err(Failure::bad_value("a split ratio must be from 0 to 1"));
        }
        change_transfer(plist_id, |it| {
            it.btree_ratios = [left, middle, right];
            Ok(0)
        })
    }

    /// Stores the split ratios of B-tree nodes from a transfer list.
    fn H5Pget_btree_ratios(plist_id: hid_t, left: Out<f64>, middle: Out<f64>, right: Out<f64>) -> herr_t {
        let ratios = transfer(plist_id)?.btree_ratios;
        for (out, ratio) in [left, middle, right].into_iter().zip(ratios) {
            out.put(ratio);
        }
        Ok(0)
    }

    /// Sets in a transfer list whether a write keeps the stored values of compound members that the
    /// memory datatype lacks.
    fn H5Pset_preserve(plist_id: hid_t, status: bool) -> herr_t {
        change_transfer(plist_id, |it| {
            it.preserve = status;
            Ok(0)
        })
    }

    /// Returns whether a write with the transfer list keeps the stored values of compound members
    /// that the memory datatype lacks.
    fn H5Pget_preserve(plist_id: hid_t) -> c_int {
        Ok(c_int::from(transfer(plist_id)?.preserve))
    }

    /// Sets whether reads with a transfer list verify checksums of chunks.
    fn H5Pset_edc_check(plist_id: hid_t, check: c_int) -> herr_t {
        if check != 0 && check != 1 {
            return Err(Failure::bad_value("unknown value for the verification of checksums"));
        }
        change_transfer(plist_id, |it| {
            it.check_errors = check;
            Ok(0)
        })
    }

    /// Returns whether reads with a transfer list verify checksums of chunks.
    fn H5Pget_edc_check(plist_id: hid_t) -> c_int {
        Ok(transfer(plist_id)?.check_errors)
    }

    /// Sets the user's function that is called for failed filters, in a transfer list.
    fn H5Pset_filter_callback(plist_id: hid_t, func: Option<FilterFunction>, op_data: *mut c_void) -> herr_t {
        change_transfer(plist_id, |it| {
            it.filter_callback = FilterCallback { function: func, data: op_data };
            Ok(0)
        })
    }

    /// Sets the user's function that is called for exceptions of datatype conversions, in a
    /// transfer list.
    fn H5Pset_type_conv_cb(dxpl_id: hid_t, op: Option<ConversionFunction>, operate_data: *mut c_void) -> herr_t {
        change_transfer(dxpl_id, |it| {
            it.conversion_callback = TypeConversionCallback { function: op, data: operate_data };
            Ok(0)
        })
    }

    /// Stores the user's function that is called for exceptions of datatype conversions, and its
    /// data.
    fn H5Pget_type_conv_cb(
        dxpl_id: hid_t,
        op: Out<Option<ConversionFunction>>,
        operate_data: Out<*mut c_void>,
    ) -> herr_t {
        let callback = transfer(dxpl_id)?.conversion_callback;
        op.put(callback.function);
        operate_data.put(callback.data);
        Ok(0)
    }

    /// Sets in a transfer list the user's functions that allocate and free variable-length data in
    /// memory.
    fn H5Pset_vlen_mem_manager(
        plist_id: hid_t,
        alloc_func: Option<AllocateFunction>,
        alloc_info: *mut c_void,
        free_func: Option<FreeFunction>,
        free_info: *mut c_void,
    ) -> herr_t {
        change_transfer(plist_id, |it| {
            it.variable_memory.allocate = Allocate { function: alloc_func, data: alloc_info };
            it.variable_memory.free = Free { function: free_func, data: free_info };
            Ok(0)
        })
    }

    /// Stores the user's functions that allocate and free variable-length data, and their data.
    fn H5Pget_vlen_mem_manager(
        plist_id: hid_t,
        alloc_func: Out<Option<AllocateFunction>>,
        alloc_info: Out<*mut c_void>,
        free_func: Out<Option<FreeFunction>>,
        free_info: Out<*mut c_void>,
    ) -> herr_t {
        let memory = transfer(plist_id)?.variable_memory;
        alloc_func.put(memory.allocate.function);
        alloc_info.put(memory.allocate.data);
        free_func.put(memory.free.function);
        free_info.put(memory.free.data);
        Ok(0)
    }

    /// Sets the number of I/O vectors for reading and writing hyperslab selections. The number has
    /// no effect in this library.
    fn H5Pset_hyper_vector_size(plist_id: hid_t, size: usize) -> herr_t {
        if size < 1 {
            return Err(Failure::bad_value("the number of vectors must be positive"));
        }
        change_transfer(plist_id, |it| {
            it.hyper_vector_size = size;
            Ok(0)
        })
    }

    /// Stores in `size` the number of I/O vectors for reading and writing hyperslab selections.
    fn H5Pget_hyper_vector_size(fapl_id: hid_t, size: Out<usize>) -> herr_t {
        size.put(transfer(fapl_id)?.hyper_vector_size);
        Ok(0)
    }
}

export! {
    /// Sets the data transform expression in a transfer list: `x` for the element, numbers, the
    /// operators `+ - * /` and parentheses. A read applies the expression after the datatype
    /// conversion, and a write before the conversion.
    fn H5Pset_data_transform(plist_id: hid_t, expression: Text) -> herr_t {
        let transform = Transform::new(expression.bytes("expression")?)?;
        change_transfer(plist_id, |it| {
            it.transform = Some(transform);
            Ok(0)
        })
    }

    /// Copies a transfer list's data transform expression to `expression` and returns its length.
    fn H5Pget_data_transform(plist_id: hid_t, expression: TextBuffer, size: usize) -> isize {
        let list = transfer(plist_id)?;
        let text = list.transform.as_ref().map(|it| &it.text[..]);
        let none = || Failure::new(codes::PLIST, codes::BADVALUE, "the property list has no data transform");
        copy_text(text.ok_or_else(none)?, expression, size)
    }

    /// Sets the mode of selection I/O in a transfer list. The mode has no effect in this library.
    fn H5Pset_selection_io(plist_id: hid_t, selection_io_mode: c_int) -> herr_t {
        if !(0..=2).contains(&selection_io_mode) {
            return Err(Failure::bad_value("unknown transfer mode"));
        }
        change_transfer(plist_id, |it| {
            it.selection_io = selection_io_mode;
            Ok(0)
        })
    }

    /// Stores in `selection_io_mode` the mode of selection I/O from a transfer list.
    fn H5Pget_selection_io(plist_id: hid_t, selection_io_mode: Out<c_int>) -> herr_t {
        selection_io_mode.put(transfer(plist_id)?.selection_io);
        Ok(0)
    }

    /// Sets whether a write may change the program's buffer of elements.
    fn H5Pset_modify_write_buf(plist_id: hid_t, modify_write_buf: bool) -> herr_t {
        change_transfer(plist_id, |it| {
            it.modify_buffer = modify_write_buf;
            Ok(0)
        })
    }

    /// Stores in `modify_write_buf` whether a write may change the program's buffer of elements.
    fn H5Pget_modify_write_buf(plist_id: hid_t, modify_write_buf: Out<bool>) -> herr_t {
        modify_write_buf.put(transfer(plist_id)?.modify_buffer);
        Ok(0)
    }

    /// Stores in `no_selection_io_cause` the causes for which the last read or write with a
    /// transfer list had no selection I/O.
    fn H5Pget_no_selection_io_cause(plist_id: hid_t, no_selection_io_cause: Out<u32>) -> herr_t {
        no_selection_io_cause.put(transfer(plist_id)?.no_selection_cause);
        Ok(0)
    }

    /// Stores in `actual_selection_io_mode` the mode of the last read or write with a transfer
    /// list.
    fn H5Pget_actual_selection_io_mode(plist_id: hid_t, actual_selection_io_mode: Out<u32>) -> herr_t {
        actual_selection_io_mode.put(transfer(plist_id)?.actual_io);
        Ok(0)
    }

    /// Sets the file selection for which `H5S_PLIST` stands, in a transfer list. Set operations
    /// other than `H5S_SELECT_SET` combine the earlier selection with the given hyperslab.
    fn H5Pset_dataset_io_hyperslab_selection(
        plist_id: hid_t,
        rank: c_uint,
        op: c_int,
        start: In<hsize_t>,
        stride: In<hsize_t>,
        count: In<hsize_t>,
        block: In<hsize_t>,
    ) -> herr_t {
        let rank = usize::try_from(rank).ok().filter(|rank| (1..=32).contains(rank));
        let rank = rank.ok_or_else(|| Failure::bad_value("the rank must be from 1 to 32"))?;
        let operation = match op {
            0 => SetOperation::Set,
            1 => SetOperation::Or,
            2 => SetOperation::And,
            3 => SetOperation::Xor,
            4 => SetOperation::NotB,
            5 => SetOperation::NotA,
            _ => return Err(Failure::arguments(codes::UNSUPPORTED, "unknown operation")),
        };
        let ones = vec![1; rank];
        let stride = stride.optional(rank, "stride")?.unwrap_or(&ones);
        if stride.contains(&0) {
            return Err(Failure::bad_value("a stride of the hyperslab is zero"));
        }
        let part = Selection::Hyperslab(Hyperslab::Regular(RegularHyperslab {
            start: start.array(rank, "start")?.into(),
            stride: stride.into(),
            count: count.array(rank, "count")?.into(),
            block: block.optional(rank, "block")?.unwrap_or(&ones).into(),
        }));
        change_transfer(plist_id, |it| {
            let earlier = it.selection.take().filter(|_| operation != SetOperation::Set);
            it.selection = Some(match earlier {
                Some(earlier) => earlier.combine(operation, &part, &vec![UNKNOWN_DIMENSION; rank])?,
                None => part,
            });
            Ok(0)
        })
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "exported functions are unsafe")]
mod tests {
    use super::*;
    use crate::h5p::H5Pcreate;

    #[test]
    fn values_are_validated() {
        let none = std::ptr::null_mut();
        // SAFETY: the texts end with a zero byte.
        unsafe {
            let list = H5Pcreate(crate::symbols::CLASS_DATASET_XFER);
            assert_eq!(H5Pset_buffer(list, 0, none, none), -1);
            assert_eq!(H5Pset_buffer(list, 10, none, none), 0);
            assert_eq!(transfer(list).expect("list").buffer, (10, 0, 0));
            assert_eq!(H5Pset_btree_ratios(list, 0.5, 0.5, 1.5), -1);
            assert_eq!(H5Pset_data_transform(list, Text::of(c"(x+1".as_ptr())), -1);
            assert_eq!(H5Pset_data_transform(list, Text::of(c"(x+1)*2".as_ptr())), 0);
            let transform = transfer(list).expect("list").transform.expect("transform");
            assert_eq!(&transform.text[..], b"(x+1)*2");
            assert_eq!((H5Pset_edc_check(list, 2), H5Pset_edc_check(list, 0)), (-1, 0));
        }
    }
}
