//! The datatypes of the columns of tables.

use anyhow::{Context as _, Result, bail};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use hyperslab::datatype::{ByteOrder, DatatypeClass};
use hyperslab::{CharacterSet, Datatype};

use crate::formats::record::packed;

/// The type of the elements of a table column. It determines both the Arrow type and the HDF5
/// datatype of the column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Element {
    /// Numbers, times and bytes, with this datatype.
    Plain(Datatype),
    Bool,
    Text,
    /// Arrays of this many elements.
    Array(Box<Self>, u32),
    /// Compounds.
    Record(Vec<(String, Self)>),
    /// Sequences of variable length.
    List(Box<Self>),
}

impl Element {
    pub(super) fn of(field: &Field) -> Result<Self> {
        Self::of_type(field.data_type()).with_context(|| format!("column `{}`", field.name()))
    }

    fn of_type(data: &DataType) -> Result<Self> {
        let order = ByteOrder::LittleEndian;
        Ok(match data {
            DataType::Boolean => Self::Bool,
            DataType::Int8 => Self::Plain(Datatype::i8()),
            DataType::Int16 => Self::Plain(Datatype::i16(order)),
            DataType::Int32 | DataType::Date32 | DataType::Time32(_) => Self::Plain(Datatype::i32(order)),
            DataType::Int64
            | DataType::Date64
            | DataType::Time64(_)
            | DataType::Timestamp(..)
            | DataType::Duration(_) => Self::Plain(Datatype::i64(order)),
            DataType::UInt8 => Self::Plain(Datatype::u8()),
            DataType::UInt16 => Self::Plain(Datatype::u16(order)),
            DataType::UInt32 => Self::Plain(Datatype::u32(order)),
            DataType::UInt64 => Self::Plain(Datatype::u64(order)),
            DataType::Float16 => Self::Plain(Datatype::f16(order)),
            DataType::Float32 => Self::Plain(Datatype::f32(order)),
            DataType::Float64 => Self::Plain(Datatype::f64(order)),
            DataType::FixedSizeBinary(size) => Self::Plain(Datatype::opaque(u32::try_from(*size)?, "")),
            // All values of a column of the type null count as missing texts.
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Self::Text,
            DataType::Binary | DataType::LargeBinary => Self::List(Box::new(Self::Plain(Datatype::u8()))),
            DataType::List(item) | DataType::LargeList(item) => {
                Self::List(Box::new(Self::of_type(item.data_type())?))
            }
            DataType::Dictionary(_, values) => Self::of_type(values)?,
            DataType::FixedSizeList(item, size) => {
                Self::Array(Box::new(Self::of_type(item.data_type())?), u32::try_from(*size)?)
            }
            DataType::Struct(fields) => Self::Record(of_fields(fields)?),
            other => bail!("HDF5 has no datatype for elements of the type {other}"),
        })
    }

    /// Returns the datatype of a table column's elements in an HDF5 file.
    pub(super) fn stored(&self, size_of_offsets: u8) -> Result<Datatype> {
        Ok(match self {
            Self::Plain(datatype) => datatype.clone(),
            Self::Bool => Datatype::bool(),
            Self::Text => Datatype::variable_string(CharacterSet::Utf8, size_of_offsets),
            Self::Array(item, size) => Datatype::array([*size], item.stored(size_of_offsets)?),
            Self::Record(members) => {
                let stored = members
                    .iter()
                    .map(|(name, element)| Ok((name.as_str(), element.stored(size_of_offsets)?)));
                packed(stored)?
            }
            Self::List(item) => Datatype::sequence(item.stored(size_of_offsets)?, size_of_offsets),
        })
    }

    /// Returns true if the elements of the table column contain sequences of variable length.
    pub(super) fn has_lists(&self) -> bool {
        match self {
            Self::Plain(_) | Self::Bool | Self::Text => false,
            Self::Array(item, _) => item.has_lists(),
            Self::Record(members) => members.iter().any(|(_, member)| member.has_lists()),
            Self::List(_) => true,
        }
    }

    /// Returns true if the table column has floating-point numbers.
    pub(super) fn is_float(&self) -> bool {
        matches!(self, Self::Plain(datatype) if matches!(datatype.class, DatatypeClass::FloatingPoint(_)))
    }
}

pub(super) fn of_fields(fields: &Fields) -> Result<Vec<(String, Element)>> {
    fields.iter().map(|field| Ok((field.name().clone(), Element::of(field)?))).collect()
}

/// Returns the unit of a column of times in the notation of the climate and forecast (CF)
/// conventions.
pub(super) fn units(data: &DataType) -> Option<String> {
    let of = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    };
    Some(match data {
        DataType::Date32 => "days since 1970-01-01".to_owned(),
        DataType::Date64 => "milliseconds since 1970-01-01".to_owned(),
        DataType::Timestamp(unit, zone) => {
            let zone = if zone.is_some() { "Z" } else { "" };
            format!("{} since 1970-01-01T00:00:00{zone}", of(unit))
        }
        DataType::Time32(unit) | DataType::Time64(unit) => format!("{} since midnight", of(unit)),
        DataType::Duration(unit) => of(unit).to_owned(),
        _ => return None,
    })
}
