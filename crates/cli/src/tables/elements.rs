//! The conversion of arrays of Arrow to elements in memory.

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use hyperslab::Datatype;
use hyperslab::datatype::DatatypeClass;

use super::types::Element;
use crate::formats::nulls::Nulls;
use crate::formats::record::packed;
use crate::typed::{TypeName, elements as typed_elements, memory_text};

/// The bytes of contiguous elements, and their datatype.
#[derive(Debug)]
pub(super) struct Elements {
    pub(super) datatype: Datatype,
    pub(super) bytes: Vec<u8>,
}

/// The representation of missing values inside an array or compound element. A missing number is
/// NaN. Another missing value is an error.
pub(super) const NESTED: &Nulls = &Nulls::Absent;

/// Returns an Arrow array with its dictionary encoding removed.
pub(super) fn plain_array(array: &dyn Array) -> Result<Option<ArrayRef>> {
    if !matches!(array.data_type(), DataType::Dictionary(..)) {
        return Ok(None);
    }
    let dictionary = array.as_any_dictionary();
    Ok(Some(arrow_select::take::take(dictionary.values(), dictionary.keys(), None)?))
}

/// Converts an Arrow array to HDF5 elements. `nulls` is the representation of missing values.
pub(super) fn elements(element: &Element, array: &dyn Array, nulls: &Nulls) -> Result<Elements> {
    if let Some(plain) = plain_array(array)? {
        return elements(element, &plain, nulls);
    }
    match element {
        Element::Plain(datatype) => plain(datatype, array, nulls),
        Element::Bool => {
            let datatype = Datatype::bool();
            let mut bytes: Vec<u8> = array.as_boolean().values().iter().map(u8::from).collect();
            fill(&datatype, array, nulls, &mut bytes)?;
            Ok(Elements { datatype, bytes })
        }
        Element::Text => text(array, nulls),
        Element::Array(item, size) => {
            let items = items_of_arrays(array, *size)?;
            let items = elements(item, &items, NESTED)?;
            let mut found =
                Elements { datatype: Datatype::array([*size], items.datatype), bytes: items.bytes };
            fill(&found.datatype, array, nulls, &mut found.bytes)?;
            Ok(found)
        }
        Element::Record(members) => {
            let parts: Vec<&Nulls> = members.iter().map(|_| NESTED).collect();
            let mut found = records(members, array.as_struct().columns(), &parts, array.len())?;
            fill(&found.datatype, array, nulls, &mut found.bytes)?;
            Ok(found)
        }
        Element::List(_) => bail!("elements of the type {} have variable length", array.data_type()),
    }
}

/// Returns the child array of a fixed-size list array, which contains the items.
pub(super) fn items_of_arrays(array: &dyn Array, size: u32) -> Result<ArrayRef> {
    let list = array.as_fixed_size_list();
    // The values of a slice also contain items of lists outside of the slice.
    let length = usize::try_from(size)?;
    let first = list.value_offset_at(0);
    let count = list.len().checked_mul(length).context("the items do not fit in memory")?;
    Ok(list.values().slice(first, count))
}

/// Converts Arrow columns to compound elements, with a member for each column.
pub(super) fn records(
    members: &[(String, Element)],
    columns: &[ArrayRef],
    nulls: &[&Nulls],
    count: usize,
) -> Result<Elements> {
    let mut parts = Vec::new();
    for (((name, element), column), nulls) in members.iter().zip(columns).zip(nulls) {
        let part = elements(element, column, nulls).with_context(|| format!("column `{name}`"))?;
        parts.push((name.as_str(), part));
    }
    joined(&parts, count)
}

/// Interleaves the elements of several table columns into compound elements.
pub(super) fn joined(parts: &[(&str, Elements)], count: usize) -> Result<Elements> {
    let datatype = packed(parts.iter().map(|(name, part)| Ok((*name, part.datatype.clone()))))?;
    let size = usize::try_from(datatype.size)?;
    let mut bytes = vec![0; size.checked_mul(count).context("the rows do not fit in memory")?];
    let mut offset = 0_usize;
    for (_, part) in parts {
        let length = usize::try_from(part.datatype.size)?;
        if length.checked_mul(count) != Some(part.bytes.len()) {
            bail!("a column has {} bytes for {count} rows of {length} bytes", part.bytes.len());
        }
        // `packed` has checked that the end of the record does not overflow.
        let end = offset + length;
        for (row, value) in bytes.chunks_exact_mut(size.max(1)).zip(part.bytes.chunks_exact(length.max(1))) {
            row.get_mut(offset..end).context("a row of the table has too few bytes")?.copy_from_slice(value);
        }
        offset = end;
    }
    Ok(Elements { datatype, bytes })
}

/// Checks that an Arrow array is whole: it has no missing value.
fn whole(array: &dyn Array) -> Result<()> {
    match (0..array.len()).find(|row| array.is_null(*row)) {
        Some(row) if array.null_count() > 0 => {
            bail!(
                "row {row} has a missing value inside an array, list or structure, and elements of type {} \
                 cannot represent missing values",
                array.data_type()
            )
        }
        _ => Ok(()),
    }
}

/// Fills the elements of missing values with the value that represents missing values: NaN, zero
/// for a mask, or the user's value.
fn fill(datatype: &Datatype, array: &dyn Array, nulls: &Nulls, bytes: &mut [u8]) -> Result<()> {
    if array.null_count() == 0 {
        return Ok(());
    }
    let size = usize::try_from(datatype.size)?;
    let missing = match nulls {
        Nulls::Absent => {
            whole(array)?;
            return Ok(());
        }
        Nulls::Nan => nan(datatype)?,
        Nulls::Mask => vec![0; size],
        Nulls::Value(value) => value_of(datatype, value)?,
    };
    for (row, element) in bytes.chunks_exact_mut(size.max(1)).enumerate() {
        if array.is_null(row) {
            element.copy_from_slice(&missing);
        }
    }
    Ok(())
}

/// Returns NaN as an element of a floating-point datatype.
fn nan(datatype: &Datatype) -> Result<Vec<u8>> {
    Ok(match datatype.size {
        2 => half::f16::NAN.to_le_bytes().to_vec(),
        4 => f32::NAN.to_le_bytes().to_vec(),
        8 => f64::NAN.to_le_bytes().to_vec(),
        other => bail!("NaN does not fit in {other} bytes"),
    })
}

/// Parses the value that represents missing values. Returns the value as an element of a datatype.
pub(super) fn value_of(datatype: &Datatype, value: &str) -> Result<Vec<u8>> {
    let kind = match (&datatype.class, datatype.size) {
        _ if datatype.is_bool() => TypeName::Bool,
        (DatatypeClass::FixedPoint(fixed), size) => match (fixed.signed, size) {
            (true, 1) => TypeName::I8,
            (true, 2) => TypeName::I16,
            (true, 4) => TypeName::I32,
            (true, 8) => TypeName::I64,
            (false, 1) => TypeName::U8,
            (false, 2) => TypeName::U16,
            (false, 4) => TypeName::U32,
            (false, 8) => TypeName::U64,
            _ => bail!("`{value}` is not a value of the type {datatype}"),
        },
        (DatatypeClass::FloatingPoint(_), 4) => TypeName::F32,
        (DatatypeClass::FloatingPoint(_), 8) => TypeName::F64,
        (DatatypeClass::FloatingPoint(_), 2) => {
            let number: f32 = value.parse().with_context(|| format!("`{value}` is not a number"))?;
            return Ok(half::f16::from_f32(number).to_le_bytes().to_vec());
        }
        _ => bail!("--null does not work for a column of the type {datatype}"),
    };
    Ok(typed_elements(kind, &[value])?.1)
}

/// Converts an Arrow array of numbers, times or bytes of fixed size.
pub(super) fn plain(datatype: &Datatype, array: &dyn Array, nulls: &Nulls) -> Result<Elements> {
    let size = usize::try_from(datatype.size)?;
    let data = array.to_data();
    let buffer = data.buffers().first().context("the values of an array are missing")?;
    let start = data.offset().checked_mul(size).context("the values do not fit in memory")?;
    let length = data.len().checked_mul(size).context("the values do not fit in memory")?;
    let end = start.checked_add(length).context("the values do not fit in memory")?;
    let values = buffer.as_slice().get(start..end).context("an array of the table has too few elements")?;
    let mut bytes = in_file_order(values, array.data_type(), size);
    let is_float = matches!(datatype.class, DatatypeClass::FloatingPoint(_));
    // Parts of elements have no mask, so a missing number in a part is NaN.
    let nulls = if is_float && *nulls == Nulls::Absent { &Nulls::Nan } else { nulls };
    fill(datatype, array, nulls, &mut bytes)?;
    Ok(Elements { datatype: datatype.clone(), bytes })
}

/// Returns the bytes of native values in little-endian byte order.
fn in_file_order(values: &[u8], data: &DataType, size: usize) -> Vec<u8> {
    let mut bytes = values.to_vec();
    if cfg!(target_endian = "big") && !matches!(data, DataType::FixedSizeBinary(_)) {
        bytes.chunks_exact_mut(size.max(1)).for_each(<[u8]>::reverse);
    }
    bytes
}

/// Returns the texts of an Arrow array. `nulls` is the representation of missing texts.
pub(super) fn texts<'a>(array: &'a dyn Array, nulls: &'a Nulls) -> Result<Vec<&'a str>> {
    let missing = match nulls {
        Nulls::Absent => {
            whole(array)?;
            ""
        }
        Nulls::Nan | Nulls::Mask => "",
        Nulls::Value(value) => value,
    };
    let or_missing = |text: Option<&'a str>| text.unwrap_or(missing);
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(or_missing).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(or_missing).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(or_missing).collect(),
        DataType::Null => vec![missing; array.len()],
        other => bail!("the value {other} is not text"),
    })
}

fn text(array: &dyn Array, nulls: &Nulls) -> Result<Elements> {
    let texts = texts(array, nulls)?;
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0).max(1);
    let mut bytes =
        Vec::with_capacity(longest.checked_mul(texts.len()).context("the texts do not fit in memory")?);
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len() + longest - text.len(), 0);
    }
    Ok(Elements { datatype: memory_text(longest)?, bytes })
}
