//! Dimension scales: the lists of references between datasets and scales.

pub mod list;
pub mod reference;

use std::ffi::CStr;

use crate::ctypes::{hid_t, hsize_t};
use crate::failure::{Failure, Outcome};
use crate::object;

/// The attribute with the class of a scale.
pub const CLASS: &CStr = c"CLASS";
/// The value of the attribute for scales.
pub const CLASS_VALUE: &CStr = c"DIMENSION_SCALE";
/// The values of the attribute for images, palettes and tables.
const RESERVED: &[&CStr] = &[c"IMAGE", c"PALETTE", c"TABLE"];
/// The attribute with the name of a scale.
pub const NAME: &CStr = c"NAME";
/// The attribute of a dataset with the scales of each dimension.
pub const DIMENSION_LIST: &CStr = c"DIMENSION_LIST";
/// The attribute of a scale with the datasets and dimensions that have the scale.
pub const REFERENCE_LIST: &CStr = c"REFERENCE_LIST";
/// The attribute of a dataset with the labels of its dimensions.
pub const DIMENSION_LABELS: &CStr = c"DIMENSION_LABELS";

/// Returns whether a dataset is a dimension scale.
///
/// # Errors
/// Fails if its attribute cannot be read.
pub fn is_scale(dataset: hid_t) -> Outcome<bool> {
    Ok(object::text_attribute(dataset, CLASS)?.is_some_and(|text| text.as_c_str() == CLASS_VALUE))
}

/// Returns whether a dataset has a class that other specifications define.
///
/// # Errors
/// Fails if its attribute cannot be read.
pub fn is_reserved(dataset: hid_t) -> Outcome<bool> {
    let class = object::text_attribute(dataset, CLASS)?;
    Ok(class.is_some_and(|class| RESERVED.contains(&class.as_c_str())))
}

/// Returns the number of dimensions that can have scales: those of the dataset, and one for a
/// scalar dataset.
///
/// # Errors
/// Fails if the dataset is not valid.
pub fn rank(dataset: hid_t) -> Outcome<usize> {
    let dims: Vec<hsize_t> = object::dataset_dims(dataset)?;
    Ok(dims.len().max(1))
}

/// Returns the number of a dimension after the check that the dataset has it.
///
/// # Errors
/// Fails if the dataset has fewer dimensions.
pub fn dimension(dataset: hid_t, index: u32) -> Outcome<usize> {
    let rank = rank(dataset)?;
    usize::try_from(index)
        .ok()
        .filter(|index| *index < rank)
        .ok_or_else(|| Failure::bad_range(format!("dimension {index} of {rank}")))
}
