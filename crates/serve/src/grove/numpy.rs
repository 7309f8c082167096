//! The dtypes of NumPy that h5py has for HDF5 datatypes, and elements in the form of these dtypes.

use hyperslab::datatype::convert::Conversion;
use hyperslab::datatype::{ByteOrder, FixedPoint, FloatOrder, FloatingPoint, Member, Padding, StringPadding};
use hyperslab::{CharacterSet, Datatype, DatatypeClass};
use serde_json::{Map, Value};

use super::Failure;

/// A dtype of NumPy.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Dtype {
    Bool,
    Integer {
        signed: bool,
        bytes: u16,
        order: ByteOrder,
    },
    Float {
        bytes: u16,
        order: ByteOrder,
    },
    /// Complex numbers, with the size of one part.
    Complex {
        part: u16,
        order: ByteOrder,
    },
    Text {
        bytes: u32,
        charset: CharacterSet,
    },
    Opaque {
        bytes: u32,
    },
    /// A dtype that the tag of opaque data names.
    Tagged {
        name: String,
        bytes: u32,
    },
    /// Python objects: variable-length data and references.
    Object,
    Compound {
        members: Vec<(String, u32, Dtype)>,
        bytes: u32,
    },
    Array {
        dims: Vec<u32>,
        base: Box<Dtype>,
    },
}

impl Dtype {
    /// Returns the dtype of a datatype; `None` if h5py has none.
    pub(super) fn of(datatype: &Datatype) -> Option<Self> {
        let bytes = datatype.size;
        Some(match &datatype.class {
            DatatypeClass::FixedPoint(number) => {
                Self::Integer { signed: number.signed, bytes: integer_bytes(bytes)?, order: number.order }
            }
            DatatypeClass::Bitfield(bits) => {
                Self::Integer { signed: false, bytes: integer_bytes(bytes)?, order: bits.order }
            }
            DatatypeClass::FloatingPoint(number) => float(bytes, number)?,
            DatatypeClass::Time(_) => return None,
            DatatypeClass::String(text) => Self::Text { bytes, charset: text.charset },
            DatatypeClass::Opaque(opaque) => match opaque.tag.strip_prefix(b"NUMPY:") {
                Some(name) => Self::Tagged { name: String::from_utf8_lossy(name).into_owned(), bytes },
                None => Self::Opaque { bytes },
            },
            DatatypeClass::Reference(_) | DatatypeClass::VariableLength(_) => Self::Object,
            DatatypeClass::Enumeration(_) if datatype.is_bool() => Self::Bool,
            DatatypeClass::Enumeration(enumeration) => Self::of(&enumeration.base)?,
            DatatypeClass::Array(array) => {
                Self::Array { dims: array.dims.clone(), base: Box::new(Self::of(&array.base)?) }
            }
            DatatypeClass::Complex(complex) => complex_of(&complex.base)?,
            DatatypeClass::Compound(compound) => {
                if let Some(complex) = datatype.complex_part().and_then(complex_of) {
                    return Some(complex);
                }
                let mut members = Vec::with_capacity(compound.members.len());
                for member in &compound.members {
                    let name = String::from_utf8_lossy(&member.name).into_owned();
                    members.push((name, member.offset, Self::of(&member.datatype)?));
                }
                placed(members, bytes)
            }
        })
    }

    /// Returns the size of an element in bytes.
    pub(super) fn bytes(&self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Integer { bytes, .. } | Self::Float { bytes, .. } => u32::from(*bytes),
            Self::Complex { part, .. } => u32::from(*part) * 2,
            Self::Text { bytes, .. }
            | Self::Opaque { bytes }
            | Self::Tagged { bytes, .. }
            | Self::Compound { bytes, .. } => *bytes,
            Self::Object => 8,
            // Only shown: an array that is too large cannot be read.
            Self::Array { dims, base } => {
                dims.iter().fold(base.bytes(), |size, dim| size.saturating_mul(*dim))
            }
        }
    }

    /// Returns the name of the dtype, with its byte order and size, as NumPy writes it.
    pub(super) fn name(&self) -> String {
        let sign = |order: &ByteOrder, bytes: u16| match order {
            _ if bytes == 1 => '|',
            ByteOrder::LittleEndian => '<',
            ByteOrder::BigEndian => '>',
        };
        match self {
            Self::Bool => "|b1".into(),
            Self::Integer { signed, bytes, order } => {
                format!("{}{}{bytes}", sign(order, *bytes), if *signed { 'i' } else { 'u' })
            }
            Self::Float { bytes, order } => format!("{}f{bytes}", sign(order, *bytes)),
            Self::Complex { part, order } => format!("{}c{}", sign(order, *part), u32::from(*part) * 2),
            Self::Text { bytes, .. } => format!("|S{bytes}"),
            Self::Tagged { name, .. } => name.clone(),
            Self::Object => "|O".into(),
            Self::Opaque { .. } | Self::Compound { .. } | Self::Array { .. } => format!("|V{}", self.bytes()),
        }
    }

    /// Returns the description of the dtype in metadata: its name, or the members of a compound.
    pub(super) fn json(&self) -> Value {
        let Self::Compound { members, .. } = self else { return Value::String(self.name()) };
        let members = members.iter().map(|(name, _, member)| (name.clone(), member.json()));
        Value::Object(members.collect::<Map<_, _>>())
    }

    /// Returns the dtype of the items of arrays; for other dtypes, the dtype itself.
    pub(super) fn item(&self) -> &Self {
        match self {
            Self::Array { base, .. } => base.item(),
            _ => self,
        }
    }

    /// Returns true for numbers: integers, floats, complex numbers and booleans.
    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Bool | Self::Integer { .. } | Self::Float { .. } | Self::Complex { .. })
    }

    /// Returns the dtype that a typed array of JavaScript can hold, for a dtype of numbers.
    pub(super) fn safe(&self) -> Self {
        let order = ByteOrder::LittleEndian;
        match *self {
            Self::Float { bytes, .. } => Self::Float { bytes: bytes.clamp(4, 8), order },
            Self::Integer { signed, bytes, .. } => Self::Integer { signed, bytes, order },
            Self::Complex { part, .. } => Self::Complex { part, order },
            _ => self.clone(),
        }
    }

    /// Returns the datatype whose elements have the bytes of this dtype; `None` for Python objects.
    fn datatype(&self) -> Option<Datatype> {
        Some(match self {
            Self::Bool => Datatype::u8(),
            Self::Integer { signed, bytes, order } => Datatype::integer(*bytes, *signed, *order),
            Self::Float { bytes, order } => float_datatype(*bytes, *order),
            Self::Complex { part, order } => Datatype::complex_compound(float_datatype(*part, *order)),
            Self::Text { bytes, charset } => {
                Datatype::fixed_string(*bytes, StringPadding::NullPadded, *charset)
            }
            Self::Opaque { bytes } | Self::Tagged { bytes, .. } => Datatype::opaque(*bytes, ""),
            Self::Object => return None,
            Self::Compound { members, bytes } => {
                let member = |(name, offset, dtype): &(String, u32, Self)| {
                    let name = name.clone().into_bytes();
                    Some(Member { name, offset: *offset, datatype: dtype.datatype()? })
                };
                Datatype::compound(*bytes, members.iter().map(member).collect::<Option<_>>()?)
            }
            Self::Array { dims, base } => Datatype::array(dims.clone(), base.datatype()?),
        })
    }
}

/// The form of elements in an answer: the dtype, and the conversion of stored elements to it.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) dtype: Dtype,
    /// The size of an element in the answer in bytes.
    pub(super) bytes: usize,
    conversion: Option<Conversion>,
}

impl Form {
    /// Plans the conversion of stored elements of `stored` to elements of `dtype`.
    pub(super) fn new(stored: &Datatype, dtype: Dtype) -> Result<Self, Failure> {
        let memory = dtype.datatype();
        let (Some(memory), Some(carrier)) = (memory, carrier(stored)) else {
            return Err(Failure::refused("elements of variable length and references have no fixed size"));
        };
        let bytes = memory.size as usize;
        if memory == carrier {
            return Ok(Self { dtype, bytes, conversion: None });
        }
        let conversion = Conversion::new(&carrier, &memory).map_err(hyperslab::Error::from)?;
        let conversion = (!conversion.is_no_op()).then_some(conversion);
        Ok(Self { dtype, bytes, conversion })
    }

    /// Converts stored elements.
    pub(super) fn convert(&self, stored: Vec<u8>, count: usize) -> Result<Vec<u8>, Failure> {
        let Some(conversion) = &self.conversion else { return Ok(stored) };
        let length = self.bytes.checked_mul(count).ok_or_else(|| Failure::refused("too many elements"))?;
        let mut converted = vec![0; length];
        conversion.convert(&stored, &mut converted, count).map_err(hyperslab::Error::from)?;
        Ok(converted)
    }
}

/// Returns the datatype as which the bytes of stored elements are converted: the integers of
/// enumerations and bit fields, the parts of complex numbers.
pub(super) fn carrier(datatype: &Datatype) -> Option<Datatype> {
    let bytes = datatype.size;
    Some(match &datatype.class {
        DatatypeClass::Enumeration(enumeration) => {
            if datatype.is_bool() {
                Datatype::u8()
            } else {
                carrier(&enumeration.base)?
            }
        }
        DatatypeClass::Bitfield(bits) => {
            let number = FixedPoint {
                order: bits.order,
                low_pad: Padding::Zero,
                high_pad: Padding::Zero,
                signed: false,
                bit_offset: bits.bit_offset,
                precision: bits.precision,
            };
            Datatype { class: DatatypeClass::FixedPoint(number), size: bytes }
        }
        DatatypeClass::Complex(complex) => Datatype::complex_compound((*complex.base).clone()),
        DatatypeClass::Opaque(_) => Datatype::opaque(bytes, ""),
        DatatypeClass::Array(array) => Datatype::array(array.dims.clone(), carrier(&array.base)?),
        DatatypeClass::Compound(compound) => {
            let member = |member: &Member| {
                Some(Member { datatype: carrier(&member.datatype)?, name: member.name.clone(), ..*member })
            };
            Datatype::compound(bytes, compound.members.iter().map(member).collect::<Option<_>>()?)
        }
        DatatypeClass::VariableLength(_) | DatatypeClass::Reference(_) => return None,
        _ => datatype.clone(),
    })
}

fn integer_bytes(bytes: u32) -> Option<u16> {
    match bytes.checked_next_power_of_two()? {
        1 => Some(1),
        2 => Some(2),
        4 => Some(4),
        8 => Some(8),
        _ => None,
    }
}

/// Returns the smallest dtype that holds all values of a floating-point datatype.
fn float(size: u32, number: &FloatingPoint) -> Option<Dtype> {
    // Size, bits of the exponent and the mantissa, and bias.
    const FLOATS: [(u16, u8, u8, u32); 4] =
        [(2, 5, 10, 15), (4, 8, 23, 127), (8, 11, 52, 1023), (16, 15, 112, 16383)];
    let order = match number.order {
        FloatOrder::BigEndian => ByteOrder::BigEndian,
        FloatOrder::LittleEndian | FloatOrder::Vax => ByteOrder::LittleEndian,
    };
    let largest = |bits: u8, bias: u32| 1_i64.checked_shl(bits.into())?.checked_sub(i64::from(bias));
    let holds = |&&(bytes, exponent, mantissa, bias): &&(u16, u8, u8, u32)| {
        (bytes > 2 || size <= 2)
            && number.mantissa_size <= mantissa
            && number.exponent_bias <= bias
            && largest(number.exponent_size, number.exponent_bias) <= largest(exponent, bias)
    };
    FLOATS.iter().find(holds).map(|(bytes, ..)| Dtype::Float { bytes: *bytes, order })
}

fn float_datatype(bytes: u16, order: ByteOrder) -> Datatype {
    match bytes {
        2 => Datatype::f16(order),
        4 => Datatype::f32(order),
        8 => Datatype::f64(order),
        // The long double of NumPy on this kind of machine.
        _ => Datatype::x87(16),
    }
}

/// Returns the complex dtype whose parts are floats of `part`. NumPy has none of 16-bit floats.
fn complex_of(part: &Datatype) -> Option<Dtype> {
    let DatatypeClass::FloatingPoint(number) = &part.class else { return None };
    match float(part.size, number)? {
        Dtype::Float { bytes, order } if bytes > 2 => Some(Dtype::Complex { part: bytes, order }),
        _ => None,
    }
}

/// Returns the compound with members at their offsets in the file; at packed offsets, if the
/// members are larger in memory than in the file.
fn placed(mut members: Vec<(String, u32, Dtype)>, bytes: u32) -> Dtype {
    let mut ranges: Vec<(u32, u32)> =
        members.iter().map(|(_, offset, dtype)| (*offset, dtype.bytes())).collect();
    ranges.sort_unstable();
    let end = ranges.iter().try_fold(
        0_u32,
        |end, (offset, size)| {
            if *offset < end { None } else { offset.checked_add(*size) }
        },
    );
    if end.is_some_and(|end| end <= bytes) {
        return Dtype::Compound { members, bytes };
    }
    let mut end = 0_u32;
    for (_, offset, dtype) in &mut members {
        *offset = end;
        // Only a compound of more than 4 GiB saturates; its conversion fails.
        end = end.saturating_add(dtype.bytes());
    }
    Dtype::Compound { members, bytes: end }
}
