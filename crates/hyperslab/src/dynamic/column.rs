//! Columns: many elements of one datatype, with the values of each compound member stored
//! contiguously.

use half::{bf16, f16};
use num_complex::Complex;

use super::Value;
use crate::Reference;

/// A column of dynamic values: elements of one datatype. A column of numbers has the smallest Rust
/// number type that represents all values of the datatype in the file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names of the number types describe the variants")]
pub enum Column {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    F32(Vec<f32>),
    /// Floating-point numbers. Numbers of more than 64 bits are rounded.
    F64(Vec<f64>),
    Complex32(Vec<Complex<f32>>),
    Complex64(Vec<Complex<f64>>),
    Bool(Vec<bool>),
    /// Text. All elements are UTF-8.
    Text(Vec<String>),
    /// Text of which some elements are not UTF-8.
    ByteText(Vec<Vec<u8>>),
    /// Elements whose bytes hyperslab does not interpret, `size` bytes each: opaque data, times,
    /// integers of more than 64 bits.
    Bytes {
        /// The size of an element in bytes.
        size: usize,
        /// The elements in C order.
        bytes: Vec<u8>,
    },
    /// Values of an enumeration.
    Enumeration(Box<NamedValues>),
    /// Compound elements: the name and the column of each member.
    Compound(Vec<(String, Column)>),
    /// Arrays of one shape as elements.
    Array {
        /// The shape of each array.
        shape: Vec<usize>,
        /// The number of arrays.
        count: usize,
        /// The items of all arrays, array after array, each in C order.
        items: Box<Column>,
    },
    /// Sequences of variable length.
    Sequence {
        /// The end of each sequence in `items`. A sequence begins at the end of the previous
        /// sequence.
        ends: Vec<usize>,
        /// The items of all sequences, sequence after sequence.
        items: Box<Column>,
    },
    /// References.
    Reference(Vec<Reference>),
}

/// The values of an enumeration column, and the names of the enumeration's members.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedValues {
    /// The integer value of each element.
    pub values: Column,
    /// The name and the integer of each member of the enumeration.
    pub names: Vec<(String, i128)>,
}

impl NamedValues {
    /// Returns the name of the enumeration member with an integer value; `None` if the enumeration
    /// has no such member.
    pub fn name_of(&self, value: i128) -> Option<&str> {
        self.names.iter().find(|(_, named)| *named == value).map(|(name, _)| name.as_str())
    }
}

impl Column {
    /// Returns the number of elements of the column.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F16(values) => values.len(),
            Self::Bf16(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Complex32(values) => values.len(),
            Self::Complex64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::ByteText(values) => values.len(),
            Self::Bytes { size, bytes } => bytes.len().checked_div(*size).unwrap_or(0),
            Self::Enumeration(named) => named.values.len(),
            Self::Compound(members) => members.first().map_or(0, |(_, member)| member.len()),
            Self::Array { count, .. } => *count,
            Self::Sequence { ends, .. } => ends.len(),
            Self::Reference(values) => values.len(),
        }
    }

    /// Returns `true` if the column has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the column of the compound member `name`; `None` if the compounds have no member
    /// `name`, or if the elements are not compounds.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Compound(members) => {
                members.iter().find(|(member, _)| member == name).map(|(_, member)| member)
            }
            _ => None,
        }
    }

    /// Returns the element of the column at `index`, in C order; `None` if `index` is out of range.
    pub fn get(&self, index: usize) -> Option<Value> {
        Some(match self {
            Self::U8(values) => Value::Integer((*values.get(index)?).into()),
            Self::U16(values) => Value::Integer((*values.get(index)?).into()),
            Self::U32(values) => Value::Integer((*values.get(index)?).into()),
            Self::U64(values) => Value::Integer((*values.get(index)?).into()),
            Self::I8(values) => Value::Integer((*values.get(index)?).into()),
            Self::I16(values) => Value::Integer((*values.get(index)?).into()),
            Self::I32(values) => Value::Integer((*values.get(index)?).into()),
            Self::I64(values) => Value::Integer((*values.get(index)?).into()),
            Self::F16(values) => Value::Float((*values.get(index)?).into()),
            Self::Bf16(values) => Value::Float((*values.get(index)?).into()),
            Self::F32(values) => Value::Float((*values.get(index)?).into()),
            Self::F64(values) => Value::Float(*values.get(index)?),
            Self::Complex32(values) => {
                let value = values.get(index)?;
                Value::Complex(Complex::new(value.re.into(), value.im.into()))
            }
            Self::Complex64(values) => Value::Complex(*values.get(index)?),
            Self::Bool(values) => Value::Bool(*values.get(index)?),
            Self::Text(values) => Value::Text(values.get(index)?.clone()),
            Self::ByteText(values) => Value::Bytes(values.get(index)?.clone()),
            Self::Bytes { size, bytes } => {
                Value::Bytes(bytes.chunks_exact((*size).max(1)).nth(index)?.to_vec())
            }
            Self::Reference(values) => Value::Reference(values.get(index)?.clone()),
            _ => return self.get_composite(index),
        })
    }

    fn get_composite(&self, index: usize) -> Option<Value> {
        let items = |items: &Self, from: usize, to: usize| (from..to).map(|at| items.get(at)).collect();
        match self {
            Self::Enumeration(named) => {
                let Value::Integer(value) = named.values.get(index)? else { return None };
                Some(Value::Enumeration { name: named.name_of(value).map(str::to_owned), value })
            }
            Self::Compound(members) => {
                let one = |(name, member): &(String, Self)| Some((name.clone(), member.get(index)?));
                members.iter().map(one).collect::<Option<_>>().map(Value::Compound)
            }
            Self::Array { shape, count, items: all } if index < *count => {
                let each = all.len().checked_div(*count)?;
                let from = index.checked_mul(each)?;
                let values: Option<Vec<Value>> = items(all, from, from.checked_add(each)?);
                Some(Value::Array(shape.clone(), values?))
            }
            Self::Sequence { ends, items: all } => {
                let from = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
                let values: Option<Vec<Value>> = items(all, from, *ends.get(index)?);
                values.map(Value::Sequence)
            }
            _ => None,
        }
    }
}
