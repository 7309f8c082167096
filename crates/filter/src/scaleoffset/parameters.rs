//! The client data of scaleoffset.

use hyperslab_datatype::{ByteOrder, Datatype, DatatypeClass};

use crate::FillValue;
use crate::facts::float_order;

/// How elements become integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Integers, in so many bits; 0 for as many as a chunk takes. Given bits that do not suffice lose values.
    Integer {
        /// Bits.
        bits: u32,
    },
    /// Floating-point numbers of which so many decimal digits behind the point stay.
    Decimal {
        /// Digits; below 0 for digits before the point that go.
        digits: i32,
    },
}

/// What kind of number an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// An unsigned integer.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// A floating-point number of IEEE 754.
    Float,
}

/// The parameters of scaleoffset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// How elements become integers.
    pub scale: Scale,
    /// Elements of a chunk.
    pub elements: u32,
    /// What they are.
    pub number: Number,
    /// Bytes of an element: 1, 2, 4 or 8; 4 or 8 for floating-point numbers.
    pub size: u32,
    /// The byte order of elements.
    pub big_endian: bool,
    /// The bits of the dataset's fill value, if it has one.
    pub fill: Option<u64>,
}

/// The parameters of chunks of a new dataset.
pub(super) fn of_dataset(
    asked: &[u32],
    elements: u32,
    datatype: &Datatype,
    fill: FillValue<'_>,
) -> Result<Parameters, &'static str> {
    let (scale, factor) = match asked {
        [0, digits, ..] => (Scale::Decimal { digits: digits.cast_signed() }, 0),
        [2, bits, ..] => (Scale::Integer { bits: *bits }, *bits),
        [_, _, ..] => return Err("an unknown scale"),
        _ => return Err("the scale and its factor are missing"),
    };
    let size = datatype.size;
    let (number, order) = match (&datatype.class, scale, size) {
        (DatatypeClass::FixedPoint(number), Scale::Integer { .. }, 1 | 2 | 4 | 8) => {
            (if number.signed { Number::Signed } else { Number::Unsigned }, number.order)
        }
        (DatatypeClass::FloatingPoint(number), Scale::Decimal { .. }, 4 | 8) => {
            (Number::Float, float_order(number.order).ok_or("numbers in the byte order of the VAX")?)
        }
        (DatatypeClass::FixedPoint(_), Scale::Decimal { .. }, _) => {
            return Err("digits are for floating-point numbers: integers take bits");
        }
        (DatatypeClass::FloatingPoint(_), Scale::Integer { .. }, _) => {
            return Err("bits are for integers: floating-point numbers take digits");
        }
        (DatatypeClass::FixedPoint(_) | DatatypeClass::FloatingPoint(_), ..) => {
            return Err("numbers of a size that C has no type for");
        }
        _ => return Err("elements are neither integers nor floating-point numbers"),
    };
    if factor > size.saturating_mul(8) {
        return Err("more bits than an element has");
    }
    let big_endian = order == ByteOrder::BigEndian;
    let fill = match fill {
        FillValue::Undefined => None,
        FillValue::Default => Some(0),
        FillValue::Element(element) => Some(bits_of(element, size, big_endian)?),
    };
    Ok(Parameters { scale, elements, number, size, big_endian, fill })
}

/// The bits of an element of up to 8 bytes.
fn bits_of(element: &[u8], size: u32, big_endian: bool) -> Result<u64, &'static str> {
    if u32::try_from(element.len()) != Ok(size) {
        return Err("the fill value is no element");
    }
    let shift = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    Ok(if big_endian { element.iter().fold(0, shift) } else { element.iter().rev().fold(0, shift) })
}

/// How many values of client data libhdf5 stores.
const COUNT: usize = 20;

impl Parameters {
    /// The client data of the filter.
    pub fn client_data(&self) -> Vec<u32> {
        let (scale, factor) = match self.scale {
            Scale::Decimal { digits } => (0, digits.cast_unsigned()),
            Scale::Integer { bits } => (2, bits),
        };
        let (class, sign) = match self.number {
            Number::Unsigned => (0, 0),
            Number::Signed => (0, 1),
            Number::Float => (1, 0),
        };
        let order = u32::from(self.big_endian);
        let mut data = vec![scale, factor, self.elements, class, self.size, sign, order];
        data.push(u32::from(self.fill.is_some()));
        if let Some(fill) = self.fill {
            let [low @ .., h0, h1, h2, h3] = self.extend_unsigned(fill).to_le_bytes();
            data.extend([u32::from_le_bytes(low), u32::from_le_bytes([h0, h1, h2, h3])]);
        }
        data.resize(COUNT, 0);
        data
    }

    pub(super) fn parse(data: &[u32]) -> Result<Self, &'static str> {
        let [scale, factor, elements, class, size, sign, order, has_fill, fill @ ..] = data else {
            return Err("client data are missing");
        };
        if !matches!(size, 1 | 2 | 4 | 8) {
            return Err("elements of a size no number has");
        }
        let number = match (class, sign) {
            (0, 0) => Number::Unsigned,
            (0, 1) => Number::Signed,
            (1, _) if *size >= 4 => Number::Float,
            _ => return Err("elements that are no numbers"),
        };
        let scale = match (number, scale) {
            (Number::Float, 0) => Scale::Decimal { digits: factor.cast_signed() },
            (Number::Signed | Number::Unsigned, 2) if *factor <= 8 * size => Scale::Integer { bits: *factor },
            _ => return Err("an unknown scale, or one that its elements cannot have"),
        };
        if *order > 1 {
            return Err("an unknown byte order");
        }
        let mut parameters =
            Self { scale, elements: *elements, number, size: *size, big_endian: *order == 1, fill: None };
        if *has_fill != 0 {
            let high = fill.get(1).copied().unwrap_or(0);
            let [low, ..] = fill else { return Err("its fill value is missing") };
            parameters.fill = Some(parameters.extend_unsigned(u64::from(high) << 32 | u64::from(*low)));
        }
        Ok(parameters)
    }

    /// Whether chunks stay as they are.
    pub(super) fn is_as_is(&self) -> bool {
        matches!(self.scale, Scale::Integer { bits } if bits == self.bits())
    }

    /// Bits of an element.
    pub(super) fn bits(&self) -> u32 {
        8 * self.size
    }

    /// Bytes of an element, not 0.
    pub(super) fn stride(&self) -> usize {
        self.size as usize
    }

    /// Bytes of a chunk.
    pub(super) fn chunk_length(&self) -> Option<usize> {
        usize::try_from(self.elements).ok()?.checked_mul(self.stride())
    }

    /// The value with all bits above those of an element equal to its sign, if it has one.
    pub(super) fn extend(&self, value: u64) -> u64 {
        let above = 64 - self.bits();
        if self.number == Number::Signed {
            ((value << above).cast_signed() >> above).cast_unsigned()
        } else {
            value << above >> above
        }
    }

    fn extend_unsigned(&self, value: u64) -> u64 {
        let above = 64 - self.bits();
        value << above >> above
    }
}
