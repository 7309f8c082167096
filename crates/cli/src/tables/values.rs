//! The conversion of arrays of Arrow to dynamic values, for rows with lists.

use anyhow::{Context as _, Result, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Datatype, Value};

use super::elements::{NESTED, items_of_arrays, plain, plain_array, texts};
use super::types::Element;
use crate::formats::nulls::Nulls;

/// Converts an Arrow array to dynamic values. `nulls` is the representation of missing values.
pub(super) fn values(element: &Element, array: &dyn Array, nulls: &Nulls) -> Result<Vec<Value>> {
    if let Some(plain) = plain_array(array)? {
        return values(element, &plain, nulls);
    }
    match element {
        Element::Plain(datatype) => {
            let found = plain(datatype, array, nulls)?;
            let size = usize::try_from(datatype.size)?.max(1);
            found.bytes.chunks_exact(size).map(|bytes| number(datatype, bytes)).collect()
        }
        Element::Bool => {
            let missing = match nulls {
                Nulls::Value(value) => {
                    crate::typed::truth(value).context("a truth value must be `true` or `false`")?
                }
                Nulls::Absent if array.null_count() > 0 => {
                    bail!("a null truth value inside an array, list or structure cannot be stored in HDF5")
                }
                _ => false,
            };
            Ok(array.as_boolean().iter().map(|value| Value::Bool(value.unwrap_or(missing))).collect())
        }
        Element::Text => {
            Ok(texts(array, nulls)?.into_iter().map(|text| Value::Text(text.to_owned())).collect())
        }
        Element::Array(item, size) => {
            let length = usize::try_from(*size)?;
            let mut items = values(item, &items_of_arrays(array, *size)?, NESTED)?.into_iter();
            let arrays =
                (0..array.len()).map(|_| Value::Array(vec![length], items.by_ref().take(length).collect()));
            Ok(arrays.collect())
        }
        Element::Record(members) => {
            let columns = array.as_struct().columns();
            let parts: Vec<&Nulls> = members.iter().map(|_| NESTED).collect();
            rows(members, columns, &parts, array.len())
        }
        Element::List(item) => lists(item, array, nulls),
    }
}

/// Converts Arrow columns to compound values, with a member for each column.
pub(super) fn rows(
    members: &[(String, Element)],
    columns: &[ArrayRef],
    nulls: &[&Nulls],
    count: usize,
) -> Result<Vec<Value>> {
    let mut rows = vec![Vec::new(); count];
    for (((name, element), column), nulls) in members.iter().zip(columns).zip(nulls) {
        let column = values(element, column, nulls).with_context(|| format!("column `{name}`"))?;
        if column.len() != count {
            bail!("the column `{name}` has {} values for {count} rows", column.len());
        }
        rows.iter_mut().zip(column).for_each(|(row, value)| row.push((name.clone(), value)));
    }
    Ok(rows.into_iter().map(Value::Compound).collect())
}

/// Converts an Arrow list array to sequences. If the column has a mask, a missing list becomes an
/// empty sequence.
fn lists(item: &Element, array: &dyn Array, nulls: &Nulls) -> Result<Vec<Value>> {
    match nulls {
        Nulls::Absent if array.null_count() > 0 => {
            bail!("a null list inside an array, list or structure cannot be stored in HDF5")
        }
        Nulls::Value(_) if array.null_count() > 0 => bail!("--null does not work for a column of lists"),
        _ => {}
    }
    let (items, ends): (ArrayRef, Vec<(usize, usize)>) = match array.data_type() {
        DataType::Binary => {
            let found = array.as_binary::<i32>();
            (bytes(found.value_data()), ranges(found.value_offsets())?)
        }
        DataType::LargeBinary => {
            let found = array.as_binary::<i64>();
            (bytes(found.value_data()), ranges(found.value_offsets())?)
        }
        DataType::List(_) => {
            let found = array.as_list::<i32>();
            (found.values().clone(), ranges(found.value_offsets())?)
        }
        DataType::LargeList(_) => {
            let found = array.as_list::<i64>();
            (found.values().clone(), ranges(found.value_offsets())?)
        }
        other => bail!("the value {other} is not a list"),
    };
    let mut sequences = Vec::with_capacity(array.len());
    for (row, (start, end)) in ends.into_iter().enumerate() {
        if array.is_null(row) {
            sequences.push(Value::Sequence(Vec::new()));
            continue;
        }
        let length = end.checked_sub(start).context("the offsets of a list decrease")?;
        sequences.push(Value::Sequence(values(item, &items.slice(start, length), NESTED)?));
    }
    Ok(sequences)
}

fn bytes(data: &[u8]) -> ArrayRef {
    std::sync::Arc::new(arrow_array::UInt8Array::from(data.to_vec()))
}

/// Returns the start and the end of each list in an Arrow list array, from the offsets of the
/// array.
fn ranges<O: Copy + TryInto<usize>>(offsets: &[O]) -> Result<Vec<(usize, usize)>> {
    let at = |offset: O| offset.try_into().ok().context("an offset of a list is negative");
    offsets
        .windows(2)
        .map(|pair| match pair {
            [start, end] => Ok((at(*start)?, at(*end)?)),
            _ => bail!("the offsets of a list are incomplete"),
        })
        .collect()
}

/// Decodes a number in little-endian byte order from an Arrow array.
fn number(datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
    Ok(match &datatype.class {
        DatatypeClass::FixedPoint(fixed) => {
            let negative = fixed.signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
            let mut wide = if negative { [0xff; 16] } else { [0; 16] };
            wide.get_mut(..bytes.len()).context("an integer has more than 16 bytes")?.copy_from_slice(bytes);
            Value::Integer(i128::from_le_bytes(wide))
        }
        DatatypeClass::FloatingPoint(_) => Value::Float(match *bytes {
            [a, b] => half::f16::from_le_bytes([a, b]).to_f64(),
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => bail!("numbers of {} bytes are not supported", bytes.len()),
        }),
        _ => Value::Bytes(bytes.to_vec()),
    })
}
