//! The value of chunks that do not exist.
//!
//! xarray takes the fill value of zarr version 2 for the attribute `_FillValue`, whose elements it
//! masks. The fill value of HDF5 has another meaning: the value of elements that were never
//! written. So the fill value of zarr is the attribute; chunks that do not exist are written into
//! the references if their value is another one.

use hyperslab::{Dataset, FillStatus, FillTime, Result, Value};

use crate::element::Element;
use crate::{Json, values};

/// The attribute with the value that netCDF programs mask.
pub(crate) const ATTRIBUTE: &str = "_FillValue";

/// The fill value of an array.
#[derive(Debug, Clone)]
pub(crate) struct Fill {
    /// The value in zarr's metadata.
    pub(crate) json: Json,
    /// The stored element of chunks that do not exist, if zarr would take another value for them.
    pub(crate) element: Option<Vec<u8>>,
    /// True if the value is the one of the attribute.
    pub(crate) is_attribute: bool,
}

/// Returns the fill value of a dataset.
pub(crate) fn fill(dataset: &Dataset, element: &Element) -> Result<Fill> {
    let of_file = dataset.fill_value();
    let stored = match of_file.status {
        FillStatus::User(bytes)
            if of_file.time != FillTime::Never && bytes.iter().any(|byte| *byte != 0) && !element.is_text =>
        {
            Some(bytes)
        }
        _ => None,
    };
    let value = match &stored {
        Some(_) => dataset.stored_fill_value()?.column()?.get(0),
        None => None,
    };
    let masked = masked(dataset).filter(|value| fits(&element.dtype, value));
    let json = masked.as_ref().and_then(values::fill);
    let is_same = match (&masked, &value) {
        (Some(masked), Some(value)) => is_equal(masked, value),
        (Some(masked), None) => is_zero(masked),
        (None, Some(_)) => false,
        (None, None) => true,
    };
    let is_attribute = json.is_some();
    let element = match (is_same, stored) {
        (true, _) => None,
        (false, Some(stored)) => Some(stored),
        (false, None) => Some(vec![0; hyperslab_exact::to_usize(u64::from(dataset.datatype().size))?]),
    };
    Ok(Fill { json: json.unwrap_or(Json::Null), element, is_attribute })
}

/// Returns the fill value of HDF5 in the form of zarr's metadata.
pub(crate) fn of_storage(dataset: &Dataset) -> Result<Option<Json>> {
    let value = dataset.stored_fill_value()?.column()?.get(0);
    Ok(value.as_ref().and_then(values::fill))
}

/// Returns the value of the attribute `_FillValue`, if it is a single value.
fn masked(dataset: &Dataset) -> Option<Value> {
    let values = dataset.attribute(ATTRIBUTE).ok()?.read_dyn().ok()?;
    let count: usize = values.shape().iter().product();
    if count == 1 { values.column().get(0) } else { None }
}

/// Returns whether a type of zarr has a value.
fn fits(dtype: &Json, value: &Value) -> bool {
    let Json::Text(name) = dtype else { return false };
    let bits = name.get(2..).and_then(|size| size.parse::<u32>().ok()).map_or(0, |size| 8 * size.min(16));
    match (name.chars().nth(1), value) {
        (Some('u'), Value::Integer(value)) => *value >= 0 && (bits > 64 || *value >> bits.min(64) == 0),
        (Some('i'), Value::Integer(value)) => {
            let half = 1_i128 << (bits.clamp(1, 64) - 1);
            (-half..half).contains(value)
        }
        (Some('f'), Value::Float(_) | Value::Integer(_))
        | (Some('b'), Value::Bool(_))
        | (Some('S'), Value::Text(_) | Value::Bytes(_)) => true,
        _ => false,
    }
}

fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one == other || (one.is_nan() && other.is_nan()),
        (Value::Integer(one) | Value::Enumeration { value: one, .. }, Value::Integer(other))
        | (Value::Integer(one), Value::Enumeration { value: other, .. }) => one == other,
        _ => one == other,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Integer(value) | Value::Enumeration { value, .. } => *value == 0,
        Value::Float(value) => value.to_bits() == 0,
        Value::Text(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use hyperslab::FileOptions;

    use super::*;

    fn fill_of(dataset: &Dataset) -> Fill {
        fill(dataset, &Element::of(dataset.datatype(), crate::element::Texts::Stored).unwrap()).unwrap()
    }

    #[test]
    fn the_attribute_is_the_fill_value_of_zarr() {
        let file = FileOptions::new().create_in_memory().unwrap();
        let plain = file.new_dataset("plain").of::<i16>().shape(&[4]).create().unwrap();
        let found = fill_of(&plain);
        assert_eq!((found.json, found.element), (Json::Null, None));
        let filled = file.new_dataset("filled").of::<i16>().shape(&[4]).fill(7_i16).create().unwrap();
        let found = fill_of(&filled);
        assert_eq!((found.json, found.element), (Json::Null, Some(7_i16.to_le_bytes().to_vec())));
        filled.set_attribute(ATTRIBUTE, 7_i16).unwrap();
        let found = fill_of(&filled);
        assert_eq!((found.json, found.element, found.is_attribute), (Json::Integer(7), None, true));
        plain.set_attribute(ATTRIBUTE, -1_i16).unwrap();
        let found = fill_of(&plain);
        assert_eq!((found.json, found.element), (Json::Integer(-1), Some(vec![0, 0])));
        plain.set_attribute(ATTRIBUTE, 1_000_000).unwrap();
        assert!(!fill_of(&plain).is_attribute);
    }
}
