//! The types of values in JSON, which follow from all values of a column.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use arrow_schema::{DataType, Field, Fields};
use serde_json::{Number, Value};

/// The type of a JSON lines column, which fits all values that were read so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// All values are null.
    Null,
    Bool,
    /// Integers.
    Integer {
        /// True if a value is negative.
        negative: bool,
        /// True if a value exceeds signed integers of 64 bits.
        large: bool,
        /// True if floating-point numbers of 64 bits represent all values.
        exact: bool,
    },
    Float,
    Text,
    List(Box<Self>),
    /// Objects with these members, in the order of their first appearance.
    Object(Vec<(String, Self)>),
}

/// The largest integer up to which 64-bit floating-point numbers represent every integer.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

impl Kind {
    /// Returns the type of one JSON value.
    fn of(value: &Value) -> Result<Self> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) => Self::of_number(number),
            Value::String(_) => Self::Text,
            Value::Array(items) => {
                let item = items.iter().try_fold(Self::Null, Self::with)?;
                Self::List(Box::new(item))
            }
            Value::Object(_) => Self::Object(Vec::new()).with(value)?,
        })
    }

    fn of_number(number: &Number) -> Self {
        let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
        let Some(magnitude) = magnitude else { return Self::Float };
        Self::Integer {
            negative: number.as_i64().is_some_and(i64::is_negative),
            large: number.as_i64().is_none(),
            exact: magnitude <= MAX_EXACT_INTEGER,
        }
    }

    /// Returns the type that fits all previous values of the JSON lines column and one more value.
    pub(super) fn with(self, value: &Value) -> Result<Self> {
        if let (Self::Object(mut members), Value::Object(object)) = (self.clone(), value) {
            for (name, value) in object {
                let position = members.iter().position(|(known, _)| known == name);
                match position.and_then(|at| members.get_mut(at)) {
                    Some((_, kind)) => {
                        *kind = kind.clone().with(value).with_context(|| format!("column `{name}`"))?;
                    }
                    None => members.push((name.clone(), Self::of(value)?)),
                }
            }
            return Ok(Self::Object(members));
        }
        self.joined(Self::of(value)?)
    }

    fn joined(self, other: Self) -> Result<Self> {
        Ok(match (self, other) {
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (one, other) if one == other => one,
            (
                Self::Integer { negative, large, exact },
                Self::Integer { negative: negative_too, large: large_too, exact: exact_too },
            ) => {
                let (negative, large) = (negative || negative_too, large || large_too);
                if negative && large {
                    bail!("negative integers and integers above {} do not fit in one type", i64::MAX);
                }
                Self::Integer { negative, large, exact: exact && exact_too }
            }
            (Self::Integer { exact, .. }, Self::Float) | (Self::Float, Self::Integer { exact, .. }) => {
                if !exact {
                    bail!("floating-point numbers of 64 bits do not represent all integers of the column");
                }
                Self::Float
            }
            (Self::List(one), Self::List(other)) => Self::List(Box::new(one.joined(*other)?)),
            (Self::Object(one), Self::Object(other)) => Self::Object(merged(one, other)?),
            (one, other) => {
                bail!("values of the kinds {} and {} do not fit in one column", one.name(), other.name())
            }
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "truth values",
            Self::Integer { .. } => "integers",
            Self::Float => "floating-point numbers",
            Self::Text => "text",
            Self::List(_) => "lists",
            Self::Object(_) => "objects",
        }
    }

    /// Returns the Arrow type of a JSON lines column. Columns without values are text.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Null | Self::Text => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Integer { large: true, .. } => DataType::UInt64,
            Self::Integer { .. } => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::List(item) => DataType::List(Arc::new(Field::new("item", item.data_type(), true))),
            Self::Object(members) => {
                let fields = members.iter().map(|(name, kind)| Field::new(name, kind.data_type(), true));
                DataType::Struct(fields.collect::<Fields>())
            }
        }
    }
}

fn merged(mut one: Vec<(String, Kind)>, other: Vec<(String, Kind)>) -> Result<Vec<(String, Kind)>> {
    for (name, kind) in other {
        let position = one.iter().position(|(known, _)| *known == name);
        match position.and_then(|at| one.get_mut(at)) {
            Some((_, known)) => *known = known.clone().joined(kind)?,
            None => one.push((name, kind)),
        }
    }
    Ok(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(values: &[&str]) -> Result<DataType> {
        let values = values.iter().map(|text| serde_json::from_str::<Value>(text).unwrap());
        let kind = values.into_iter().try_fold(Kind::Null, |kind, value| kind.with(&value))?;
        Ok(kind.data_type())
    }

    #[test]
    fn types_follow_from_all_values() {
        assert_eq!(kind(&["1", "null", "-2"]).unwrap(), DataType::Int64);
        assert_eq!(kind(&["1", "18446744073709551615"]).unwrap(), DataType::UInt64);
        assert_eq!(kind(&["1", "0.5"]).unwrap(), DataType::Float64);
        assert_eq!(kind(&["null"]).unwrap(), DataType::Utf8);
        assert_eq!(kind(&["true", "null"]).unwrap(), DataType::Boolean);
        assert!(
            matches!(kind(&["[]", "[1]"]).unwrap(), DataType::List(item) if *item.data_type() == DataType::Int64)
        );
        assert!(
            matches!(kind(&["{\"a\":1}", "{\"b\":\"x\"}"]).unwrap(), DataType::Struct(fields) if fields.len() == 2)
        );
        for wrong in [
            &["1", "\"x\""][..],
            &["-1", "18446744073709551615"],
            &["9007199254740993", "0.5"],
            &["[1]", "2"],
        ] {
            assert!(kind(wrong).is_err(), "{wrong:?}");
        }
    }
}
