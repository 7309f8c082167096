//! The conversion of columns of datasets to arrays of Arrow.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray,
    Float16Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeListArray,
    PrimitiveArray, StringArray, StructArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Fields};
use hyperslab::{Column, NamedValues, ObjectToken, ReferenceTarget, Value};
use hyperslab_exact::{product, to_u64, to_usize};

use crate::values::paths::Paths;

/// Converts elements to an Arrow array for a table export. References become the paths of their
/// targets.
pub(super) fn array(column: Column, paths: &Paths) -> Result<ArrayRef> {
    Ok(match column {
        Column::U8(values) => Arc::new(UInt8Array::from(values)),
        Column::U16(values) => Arc::new(UInt16Array::from(values)),
        Column::U32(values) => Arc::new(UInt32Array::from(values)),
        Column::U64(values) => Arc::new(UInt64Array::from(values)),
        Column::I8(values) => Arc::new(Int8Array::from(values)),
        Column::I16(values) => Arc::new(Int16Array::from(values)),
        Column::I32(values) => Arc::new(Int32Array::from(values)),
        Column::I64(values) => Arc::new(Int64Array::from(values)),
        Column::F16(values) => Arc::new(Float16Array::from(values)),
        Column::Bf16(values) => {
            Arc::new(values.into_iter().map(|value| Some(value.to_f32())).collect::<Float32Array>())
        }
        Column::F32(values) => Arc::new(Float32Array::from(values)),
        Column::F64(values) => Arc::new(Float64Array::from(values)),
        Column::Complex32(values) => {
            let (real, imaginary): (Vec<f32>, Vec<f32>) =
                values.iter().map(|value| (value.re, value.im)).unzip();
            complex(Arc::new(Float32Array::from(real)), Arc::new(Float32Array::from(imaginary)))?
        }
        Column::Complex64(values) => {
            let (real, imaginary): (Vec<f64>, Vec<f64>) =
                values.iter().map(|value| (value.re, value.im)).unzip();
            complex(Arc::new(Float64Array::from(real)), Arc::new(Float64Array::from(imaginary)))?
        }
        Column::Bool(values) => Arc::new(BooleanArray::from(values)),
        Column::Text(values) => Arc::new(StringArray::from(values)),
        Column::ByteText(values) => Arc::new(BinaryArray::from_iter_values(values)),
        Column::Bytes { size, bytes } => {
            let size = i32::try_from(size).context("an element has 2 GiB or more")?;
            Arc::new(FixedSizeBinaryArray::try_new(size, bytes.into(), None)?)
        }
        Column::Enumeration(named) => named_values(*named, paths)?,
        Column::Compound(members) => record(members, paths)?,
        Column::Array { shape, count, items } => lists(array(*items, paths)?, &shape, count)?,
        Column::Sequence { ends, items } => sequences(&ends, array(*items, paths)?)?,
        Column::Reference(values) => {
            let targets = values.iter().map(|reference| target(reference.target(), paths));
            Arc::new(targets.collect::<Result<StringArray>>()?)
        }
        _ => bail!("a column has a type that tables cannot store"),
    })
}

/// Returns the path of a reference's target, or its address if no path is known. Returns `None` for
/// a null reference.
fn target(target: &ReferenceTarget, paths: &Paths) -> Result<Option<String>> {
    let of = |token: &ObjectToken| paths.of(token.address()).unwrap_or_else(|| token.to_string());
    Ok(Some(match target {
        ReferenceTarget::Null => return Ok(None),
        ReferenceTarget::Object(token) | ReferenceTarget::Region(token, _) => of(token),
        ReferenceTarget::Attribute(token, name) => format!("{}@{}", of(token), String::from_utf8_lossy(name)),
        _ => bail!("references to other files cannot be stored in a table"),
    }))
}

fn complex(real: ArrayRef, imaginary: ArrayRef) -> Result<ArrayRef> {
    let field = |name: &str, array: &ArrayRef| Field::new(name, array.data_type().clone(), false);
    let fields = Fields::from(vec![field("re", &real), field("im", &imaginary)]);
    Ok(Arc::new(StructArray::try_new(fields, vec![real, imaginary], None)?))
}

fn record(members: Vec<(String, Column)>, paths: &Paths) -> Result<ArrayRef> {
    let (fields, arrays) = fields(members, paths)?;
    Ok(Arc::new(StructArray::try_new(fields, arrays, None)?))
}

/// Converts the members of compound elements to Arrow arrays.
pub(super) fn fields(members: Vec<(String, Column)>, paths: &Paths) -> Result<(Fields, Vec<ArrayRef>)> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, column) in members {
        let array = array(column, paths).with_context(|| format!("`{name}`"))?;
        fields.push(field(&name, &array));
        arrays.push(array);
    }
    Ok((fields.into(), arrays))
}

/// Returns the Arrow field for an array. The field is nullable, because references may be null and
/// enumeration values may have no name.
pub(super) fn field(name: &str, array: &ArrayRef) -> Field {
    Field::new(name, array.data_type().clone(), true)
}

/// Converts enumeration values to an array of their names. A value without a name becomes null.
fn named_values(named: NamedValues, paths: &Paths) -> Result<ArrayRef> {
    if named.names.is_empty() {
        return array(named.values, paths);
    }
    let key = |index: usize| -> Result<Option<i32>> {
        let Some(Value::Integer(number)) = named.values.get(index) else {
            bail!("a value of an enumeration is not an integer");
        };
        let position = named.names.iter().position(|(_, named)| *named == number);
        Ok(position.map(i32::try_from).transpose()?)
    };
    let keys: PrimitiveArray<Int32Type> = (0..named.values.len()).map(key).collect::<Result<_>>()?;
    let names: StringArray = named.names.iter().map(|(name, _)| Some(name.as_str())).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(names))?))
}

/// Converts a flat array of items to nested fixed-size list arrays of a shape.
pub(super) fn lists(items: ArrayRef, shape: &[usize], count: usize) -> Result<ArrayRef> {
    let mut lists = items;
    for (dimension, size) in shape.iter().enumerate().rev() {
        let field = Arc::new(field("item", &lists));
        let sizes = shape.iter().take(dimension).chain([&count]).map(|size| to_u64(*size));
        let outer = to_usize(product("number of items", sizes)?)?;
        let size = i32::try_from(*size).context("an array has 2^31 elements or more")?;
        lists = Arc::new(FixedSizeListArray::try_new_with_length(field, size, lists, None, outer)?);
    }
    Ok(lists)
}

fn sequences(ends: &[usize], items: ArrayRef) -> Result<ArrayRef> {
    let ends = ends.iter().map(|end| i64::try_from(*end));
    let offsets: Vec<i64> = std::iter::once(Ok(0)).chain(ends).collect::<Result<_, _>>()?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let field = Arc::new(field("item", &items));
    Ok(Arc::new(LargeListArray::try_new(field, offsets, items, None)?))
}
