//! The conversion of arrays of Arrow to elements in memory.

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use hyperslab::Datatype;

use super::types::Element;
use crate::formats::record::packed;
use crate::typed::memory_text;

/// Contiguous elements and their datatype.
pub(super) struct Elements {
    pub(super) datatype: Datatype,
    pub(super) bytes: Vec<u8>,
}

/// Converts an array to elements. Missing floating-point numbers become NaN, missing texts become
/// empty texts; other missing values are errors.
pub(super) fn elements(element: &Element, array: &dyn Array) -> Result<Elements> {
    if let DataType::Dictionary(..) = array.data_type() {
        let dictionary = array.as_any_dictionary();
        let plain = arrow_select::take::take(dictionary.values(), dictionary.keys(), None)?;
        return elements(element, &plain);
    }
    match element {
        Element::Plain(datatype) => plain(datatype, array),
        Element::Bool => {
            whole(array)?;
            let bytes = array.as_boolean().values().iter().map(u8::from).collect();
            Ok(Elements { datatype: Datatype::bool(), bytes })
        }
        Element::Text => text(array),
        Element::Array(item, size) => {
            whole(array)?;
            let list = array.as_fixed_size_list();
            // The values of a slice also have the items of lists outside the slice.
            let size = *size;
            let length = usize::try_from(size)?;
            let first = list.value_offset_at(0);
            let items = list
                .values()
                .slice(first, list.len().checked_mul(length).context("the items do not fit in memory")?);
            let items = elements(item, &items)?;
            Ok(Elements { datatype: Datatype::array([size], items.datatype), bytes: items.bytes })
        }
        Element::Record(members) => {
            whole(array)?;
            records(members, array.as_struct().columns(), array.len())
        }
    }
}

/// Converts columns to records.
pub(super) fn records(members: &[(String, Element)], columns: &[ArrayRef], count: usize) -> Result<Elements> {
    let mut parts = Vec::new();
    for ((name, element), column) in members.iter().zip(columns) {
        parts.push((name, elements(element, column).with_context(|| format!("column `{name}`"))?));
    }
    let datatype = packed(parts.iter().map(|(name, part)| Ok((name.as_str(), part.datatype.clone()))))?;
    let size = usize::try_from(datatype.size)?;
    let mut bytes = vec![0; size.checked_mul(count).context("the rows do not fit in memory")?];
    let mut offset = 0_usize;
    for (_, part) in &parts {
        let length = usize::try_from(part.datatype.size)?;
        if length.checked_mul(count) != Some(part.bytes.len()) {
            bail!("a column has {} bytes for {count} rows of {length} bytes", part.bytes.len());
        }
        // `packed` has checked that the end of the record does not overflow.
        let end = offset + length;
        for (row, value) in bytes.chunks_exact_mut(size.max(1)).zip(part.bytes.chunks_exact(length.max(1))) {
            row.get_mut(offset..end).context("a row is too short")?.copy_from_slice(value);
        }
        offset = end;
    }
    Ok(Elements { datatype, bytes })
}

/// Fails if a value is missing.
fn whole(array: &dyn Array) -> Result<()> {
    match (0..array.len()).find(|row| array.is_null(*row)) {
        Some(row) if array.null_count() > 0 => {
            bail!(
                "row {row} of the batch has no value, and {} has no value for missing data",
                array.data_type()
            )
        }
        _ => Ok(()),
    }
}

/// Converts numbers, times and bytes of fixed size.
fn plain(datatype: &Datatype, array: &dyn Array) -> Result<Elements> {
    use arrow_array::types::{Float16Type, Float32Type, Float64Type};
    let bytes: Vec<u8> = match array.data_type() {
        DataType::Float16 => {
            let missing = half::f16::NAN;
            array
                .as_primitive::<Float16Type>()
                .iter()
                .flat_map(|value| value.unwrap_or(missing).to_le_bytes())
                .collect()
        }
        DataType::Float32 => array
            .as_primitive::<Float32Type>()
            .iter()
            .flat_map(|value| value.unwrap_or(f32::NAN).to_le_bytes())
            .collect(),
        DataType::Float64 => array
            .as_primitive::<Float64Type>()
            .iter()
            .flat_map(|value| value.unwrap_or(f64::NAN).to_le_bytes())
            .collect(),
        _ => {
            whole(array)?;
            let size = usize::try_from(datatype.size)?;
            let data = array.to_data();
            let buffer = data.buffers().first().context("the values of an array are missing")?;
            let start = data.offset().checked_mul(size).context("the values do not fit in memory")?;
            let length = data.len().checked_mul(size).context("the values do not fit in memory")?;
            let end = start.checked_add(length).context("the values do not fit in memory")?;
            let values = buffer.as_slice().get(start..end);
            in_file_order(values.context("an array is too short")?, array.data_type(), size)
        }
    };
    Ok(Elements { datatype: datatype.clone(), bytes })
}

/// Converts values in memory to little-endian byte order.
fn in_file_order(values: &[u8], data: &DataType, size: usize) -> Vec<u8> {
    let mut bytes = values.to_vec();
    if cfg!(target_endian = "big") && !matches!(data, DataType::FixedSizeBinary(_)) {
        bytes.chunks_exact_mut(size.max(1)).for_each(<[u8]>::reverse);
    }
    bytes
}

/// Returns an empty text for a missing one: strings of HDF5 have no missing value.
fn or_empty(text: Option<&str>) -> &str {
    text.unwrap_or("")
}

fn text(array: &dyn Array) -> Result<Elements> {
    let texts: Vec<&str> = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(or_empty).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(or_empty).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(or_empty).collect(),
        other => bail!("{other} is not text"),
    };
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0).max(1);
    let mut bytes =
        Vec::with_capacity(longest.checked_mul(texts.len()).context("the texts do not fit in memory")?);
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len() + longest - text.len(), 0);
    }
    Ok(Elements { datatype: memory_text(longest)?, bytes })
}
