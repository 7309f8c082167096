//! Labels of dimensions and names of scales (`H5DSset_label`, `H5DSget_label`,
//! `H5DSget_scale_name`).

use std::ffi::{CString, c_char, c_uint};

use crate::ctypes::{H5P_DEFAULT, class, herr_t, hid_t};
use crate::failure::{Failure, Outcome, check};
use crate::handle::Id;
use crate::pointer::{Buffer, Foreign, Text, TextBuffer};
use crate::scale::{self, DIMENSION_LABELS, NAME};
use crate::{export, object, sys};

export! {
    /// Writes the label of a dimension.
    fn H5DSset_label(did: hid_t, idx: c_uint, label: Text) -> herr_t {
        object::require_dataset(did)?;
        let label = label.value("label")?;
        let at = scale::dimension(did, idx)?;
        let mut labels = labels(did)?.map_or_else(|| Ok(vec![None; scale::rank(did)?]), Ok)?;
        let slot = labels.get_mut(at).ok_or_else(|| Failure::bad_range("dimension"))?;
        *slot = Some(label);
        write_labels(did, &labels)?;
        Ok(0)
    }

    /// Returns the length of the label of a dimension, and the label if the buffer is not null. A
    /// dimension without a label has an empty one.
    fn H5DSget_label(did: hid_t, idx: c_uint, label: TextBuffer, size: usize) -> isize {
        object::require_dataset(did)?;
        let at = scale::dimension(did, idx)?;
        let found = labels(did)?.and_then(|labels| labels.get(at).cloned().flatten());
        answer(found, label, size)
    }

    /// Returns the length of the name of a scale, and the name if the buffer is not null. A scale
    /// without a name has an empty one.
    fn H5DSget_scale_name(did: hid_t, name: TextBuffer, size: usize) -> isize {
        object::require_dataset(did)?;
        if !scale::is_scale(did)? {
            return Err(Failure::bad_value("the dataset is not a dimension scale"));
        }
        answer(object::text_attribute(did, NAME)?, name, size)
    }
}

/// Writes a text into the caller's buffer and returns the length of the whole text.
fn answer(text: Option<CString>, buffer: TextBuffer, size: usize) -> Outcome<isize> {
    let text = text.map_or_else(Vec::new, CString::into_bytes);
    buffer.put(&text, if buffer.is_null() { 0 } else { size });
    isize::try_from(text.len()).map_err(|_| Failure::bad_range("the text is too long"))
}

/// Returns the labels of a dataset's dimensions, or `None` if the dataset has none.
fn labels(dataset: hid_t) -> Outcome<Option<Vec<Option<CString>>>> {
    let Some(attribute) = object::attribute(dataset, DIMENSION_LABELS)? else { return Ok(None) };
    let datatype = Id::own(sys::H5Aget_type(attribute.get()))?;
    let is_text = check(sys::H5Tget_class(datatype.get()))? == class::STRING;
    if !is_text || check(sys::H5Tis_variable_str(datatype.get()))? == 0 {
        return Err(Failure::bad_type("DIMENSION_LABELS has no strings of variable length"));
    }
    let space = Id::own(sys::H5Aget_space(attribute.get()))?;
    let count = check(sys::H5Sget_simple_extent_npoints(space.get()))?;
    let rank = scale::rank(dataset)?;
    if usize::try_from(count).ok() != Some(rank) {
        return Err(Failure::bad_type(format!("DIMENSION_LABELS has {count} dimensions of {rank}")));
    }
    let mut pointers: Vec<*mut c_char> = vec![std::ptr::null_mut(); rank];
    check(sys::H5Aread(attribute.get(), datatype.get(), Buffer::values(&mut pointers)))?;
    let texts = pointers.iter().map(|pointer| Foreign::of(pointer.cast()).text()).collect();
    check(sys::H5Treclaim(datatype.get(), space.get(), H5P_DEFAULT, Buffer::values(&mut pointers)))?;
    Ok(Some(texts))
}

fn write_labels(dataset: hid_t, labels: &[Option<CString>]) -> Outcome<()> {
    let pointer = |label: &Option<CString>| label.as_ref().map_or(std::ptr::null(), |label| label.as_ptr());
    let mut pointers: Vec<*const c_char> = labels.iter().map(pointer).collect();
    let datatype = object::variable_string()?;
    let space = object::space(&[hyperslab_exact::to_u64(labels.len())])?;
    let value = Buffer::values(&mut pointers).data();
    object::set_attribute(dataset, DIMENSION_LABELS, datatype.get(), &space, value)
}
