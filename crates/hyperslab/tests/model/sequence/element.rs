//! Elements: small numbers, as bytes of many types.

use hyperslab::Datatype;
use hyperslab::datatype::{ByteOrder, CharacterSet, EnumerationMember, StringPadding};

/// A type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    U8,
    I16,
    I32Big,
    I64,
    F32,
    F64,
    Text,
    Compound,
    Array,
    Opaque,
    Enumeration,
    Bits,
}

pub(crate) const KINDS: [Kind; 12] = [
    Kind::U8,
    Kind::I32Big,
    Kind::F64,
    Kind::I16,
    Kind::I64,
    Kind::F32,
    Kind::Text,
    Kind::Compound,
    Kind::Array,
    Kind::Opaque,
    Kind::Enumeration,
    Kind::Bits,
];

/// The upper bound of values (exclusive).
pub(crate) const VALUES: u64 = 101;

impl Kind {
    pub(crate) fn datatype(self) -> Datatype {
        let little = ByteOrder::LittleEndian;
        match self {
            Self::U8 => Datatype::u8(),
            Self::I16 => Datatype::i16(little),
            Self::I32Big => Datatype::i32(ByteOrder::BigEndian),
            Self::I64 => Datatype::i64(little),
            Self::F32 => Datatype::f32(little),
            Self::F64 => Datatype::f64(little),
            Self::Text => Datatype::fixed_string(5, StringPadding::NullPadded, CharacterSet::Ascii),
            Self::Compound => Datatype::packed([("a", Datatype::u8()), ("b", Datatype::f64(little))]),
            Self::Array => Datatype::array([3], Datatype::u16(little)),
            Self::Opaque => Datatype::opaque(7, "tag"),
            Self::Enumeration => {
                let member = |value: u8| EnumerationMember {
                    name: format!("v{value}").into_bytes(),
                    value: vec![value],
                };
                Datatype::enumeration(Datatype::i8(), (0..VALUES as u8).map(member).collect())
            }
            Self::Bits => Datatype::bitfield(2, little),
        }
    }

    /// Returns the bytes of an element with a value. All bytes of the value 0 are 0.
    pub(crate) fn encode(self, value: u8) -> Vec<u8> {
        let small = u16::from(value).to_le_bytes();
        match self {
            Self::U8 | Self::Enumeration => vec![value],
            Self::I16 | Self::Bits => small.to_vec(),
            Self::I32Big => i32::from(value).to_be_bytes().to_vec(),
            Self::I64 => i64::from(value).to_le_bytes().to_vec(),
            Self::F32 => f32::from(value).to_le_bytes().to_vec(),
            Self::F64 => f64::from(value).to_le_bytes().to_vec(),
            Self::Text if value == 0 => vec![0; 5],
            Self::Text => {
                let mut bytes = format!("x{value}").into_bytes();
                bytes.resize(5, 0);
                bytes
            }
            Self::Compound => [&[value][..], &f64::from(value).to_le_bytes()].concat(),
            Self::Array => [small, small, small].concat(),
            Self::Opaque => vec![value; 7],
        }
    }

    pub(crate) fn encode_all(self, values: &[u8]) -> Vec<u8> {
        values.iter().flat_map(|value| self.encode(*value)).collect()
    }

    /// Returns true if numbers convert to this type and back.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::U8 | Self::I16 | Self::I32Big | Self::I64 | Self::F32 | Self::F64)
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::U8 | Self::I16 | Self::I32Big | Self::I64)
    }
}
