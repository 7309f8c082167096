//! Values of HDF5 as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyperslab::{DynArray, Value};

use crate::Json;

/// Returns the JSON of an array of values: one value for a scalar and for an array of one element,
/// nested lists otherwise. Returns `None` if JSON has no form of the values.
pub(crate) fn array(values: &DynArray) -> Option<Json> {
    let count: usize = values.shape().iter().product();
    let column = values.column();
    if count == 1 {
        return column.get(0).and_then(|value| json(&value));
    }
    let mut items = (0..count).map(|at| column.get(at).and_then(|value| json(&value)));
    nested(values.shape(), &mut items)
}

/// Takes as many items as the shape has and returns them as nested lists.
fn nested(shape: &[usize], items: &mut dyn Iterator<Item = Option<Json>>) -> Option<Json> {
    match shape.split_first() {
        None => items.next().flatten(),
        Some((count, rest)) => {
            let list: Option<Vec<Json>> = (0..*count).map(|_| nested(rest, items)).collect();
            list.map(Json::List)
        }
    }
}

/// Returns the JSON of one value; `None` for references and bytes without an interpretation.
pub(crate) fn json(value: &Value) -> Option<Json> {
    let list = |values: &[Value]| values.iter().map(json).collect::<Option<Vec<Json>>>();
    match value {
        Value::Bool(value) => Some(Json::Bool(*value)),
        Value::Integer(value) | Value::Enumeration { value, .. } => Some(Json::Integer(*value)),
        Value::Float(value) => Some(Json::Float(*value)),
        Value::Complex(value) => Some(Json::List(vec![Json::Float(value.re), Json::Float(value.im)])),
        Value::Text(text) => Some(Json::text(text.clone())),
        Value::Array(shape, items) => nested(shape, &mut items.iter().map(json)),
        Value::Sequence(items) => list(items).map(Json::List),
        Value::Compound(members) => {
            let members = members.iter().map(|(name, value)| Some((name.clone(), json(value)?)));
            members.collect::<Option<Vec<_>>>().map(Json::Object)
        }
        _ => None,
    }
}

/// Returns a fill value in the form of zarr's metadata; `None` if zarr has no form of the value.
pub(crate) fn fill(value: &Value) -> Option<Json> {
    match value {
        Value::Bool(value) => Some(Json::Bool(*value)),
        Value::Integer(value) | Value::Enumeration { value, .. } => Some(Json::Integer(*value)),
        Value::Float(value) if value.is_nan() => Some(Json::text("NaN")),
        Value::Float(value) if value.is_infinite() => {
            Some(Json::text(if *value > 0.0 { "Infinity" } else { "-Infinity" }))
        }
        Value::Float(value) => Some(Json::Float(*value)),
        Value::Text(text) => Some(Json::Text(STANDARD.encode(text))),
        Value::Bytes(bytes) => Some(Json::Text(STANDARD.encode(bytes))),
        _ => None,
    }
}
